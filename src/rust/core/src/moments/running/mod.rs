//! Correlations of rows that arrive block by block and are not kept.
//!
//! Rows are collected into segments of fixed length, however the blocks are cut. Each segment is centred by its own means, multiplied, and
//! joined with those before ([`Totals::join`]). So all digits of a deviation count, even if the mean is large. Any cut of the rows into
//! blocks, on any number of threads, gives the same bits. It takes one pass; correlations agree with `cor()` to 1e-12, not to the last bit.

mod totals;

pub use totals::{Columns, Totals, Triangle};

use std::ops::Range;
use std::sync::Mutex;

use super::columns::{rows_that_count, summarise, Holding, Of, Summary};
use super::Watch;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::panels::{panels, Row, WIDE};
use crate::pool::{Pool, Stop};
use crate::simd::{self, Task};
use crate::Result;
use totals::{multiply, shape, Joint};
pub(super) use totals::{power_for, times_power};

/// Largest number of columns for which threads take segments. With more columns, they take blocks of columns of one segment after the
/// other.
const NARROW: usize = 512;

/// Returns the number of rows of a segment.
fn rows_of_segment(p: usize) -> usize {
    if p <= NARROW {
        1024
    } else {
        2048
    }
}

/// The totals of the rows so far, of p columns.
#[derive(Debug)]
pub struct Running {
    /// Whether rows with a missing value are left out.
    complete: bool,
    totals: Totals,
    /// Rows that wait for a full segment: its columns, one after the other. `waits` is their number.
    waiting: Vec<f64>,
    waits: usize,
    /// Working memory that is not in use.
    spare: Mutex<Vec<Working>>,
}

/// Working memory for a segment.
#[derive(Debug, Default)]
struct Working {
    /// The columns of a panel, one after the other.
    columns: Vec<f64>,
    /// Panels of a segment.
    centred: Vec<Row>,
}

/// The rows of a segment: the number of waiting rows, and the range of rows in the block.
struct Segment {
    waiting: usize,
    rows: Range<usize>,
}

impl Segment {
    fn len(&self) -> usize {
        self.waiting + self.rows.len()
    }
}

/// The statistics of a column of a segment.
struct Known {
    /// The summary of the block's rows; `of_all` is that of all the segment's rows.
    of_block: Summary,
    of_all: Summary,
    power: i32,
    origin: f64,
    mean: f64,
}

impl Running {
    /// Starts with no rows of `p` columns. With `complete`, rows with a missing value are left out; otherwise a missing value makes the
    /// totals useless.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), also from the other methods.
    pub fn new(p: usize, complete: bool) -> Result<Self> {
        let waiting = memory::zeros(rows_of_segment(p) * p, Use::Correlations)?;
        Ok(Running { complete, totals: Totals::none(p)?, waiting, waits: 0, spare: Mutex::default() })
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.totals.columns.p()
    }

    /// Adds a block of rows, given by its columns. Returns a summary of each of its columns, over all rows.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and errors of `watch`. After an error the totals are useless.
    pub fn add(&mut self, columns: &[Numbers], pool: &Pool, watch: &mut Watch) -> Result<Vec<Summary>> {
        let p = self.p();
        let all = columns.first().map_or(0, Numbers::len);
        let (of, n) = rows_that_count(columns, self.complete, pool)?;
        let mut found = match self.complete {
            true => summarise(columns, &Of::All, all, pool, &mut || watch(0.0))?,
            false => summaries_of_none(p)?,
        };
        for (count, found) in self.totals.columns.missing.iter_mut().zip(&found) {
            *count += found.missing as u64;
        }
        self.totals.columns.left_out += (all - n) as u64;
        let length = rows_of_segment(p);
        let segments = (self.waits + n) / length;
        let waits = self.waits;
        let segment = |number: usize| {
            let rows = (number * length).saturating_sub(waits)..(number + 1) * length - waits;
            Segment { waiting: if number == 0 { waits } else { 0 }, rows }
        };
        let mut block = Block { columns, of: &of, found: &mut found, joins: !self.complete };
        if p <= NARROW {
            self.narrow(&mut block, segments, &segment, n, pool, watch)?;
        } else {
            for number in 0..segments {
                let told = &mut |share: f64| watch((number as f64 + share) / segments as f64);
                self.wide(&mut block, &segment(number), pool, told)?;
            }
        }
        if segments > 0 {
            self.waits = 0;
        }
        let rest = (segments * length).saturating_sub(waits)..n;
        let parts = self.waiting.chunks_mut(length).zip(columns).zip(found.iter_mut()).collect();
        let (waits, complete) = (self.waits, self.complete);
        pool.each_of(parts, |_, ((cells, column), found)| {
            let of_rest = take(column, &of, rest.clone(), &mut cells[waits..]);
            if !complete {
                *found = found.join(of_rest);
            }
        });
        self.waits += rest.len();
        if !self.complete {
            self.totals
                .columns
                .missing
                .iter_mut()
                .zip(&found)
                .for_each(|(count, found)| *count += found.missing as u64);
        }
        Ok(found)
    }

    /// Centres the columns of a segment that are in a panel, and writes them to `out`. `columns` is working memory. Calls `enter` with the
    /// statistics of each column.
    fn centre(
        &self,
        block: &Block,
        segment: &Segment,
        panel: usize,
        columns: &mut [f64],
        out: &mut [Row],
        mut enter: impl FnMut(usize, &Known),
    ) {
        let (length, rows) = (rows_of_segment(self.p()), segment.len());
        let of = panel * WIDE..self.p().min((panel + 1) * WIDE);
        let mut known: [Option<Known>; WIDE] = Default::default();
        let mut centres = [Centre { values: &[], origin: 0.0 }; WIDE];
        let parts = of.clone().zip(columns.chunks_mut(rows)).zip(known.iter_mut().zip(&mut centres));
        for ((j, column), (known, centre)) in parts {
            let (values, of_block, of_all) = match (&block.columns[j], block.of, segment.waiting) {
                (Numbers::Doubles(values), Of::All, 0) => {
                    let values = &values[segment.rows.clone()];
                    let of_all = held(values);
                    (values, of_all, of_all)
                }
                (numbers, of, waiting) => {
                    column[..waiting].copy_from_slice(&self.waiting[j * length..][..waiting]);
                    let of_block = take(numbers, of, segment.rows.clone(), &mut column[waiting..]);
                    // The summaries of the parts are not joined, because the sum would depend on the cut.
                    (&*column, of_block, if waiting > 0 { held(column) } else { of_block })
                }
            };
            let power = power_for(of_all.least.abs().max(of_all.largest.abs()));
            let origin = of_all.sum() / rows as f64;
            *centre = Centre { values, origin };
            *known = Some(Known { of_block, of_all, power, origin, mean: 0.0 });
        }
        for (centre, known) in centres.iter_mut().zip(&mut known) {
            let Some(known) = known.as_mut().filter(|known| known.power != 0) else { continue };
            let scaled = centre.values.iter().map(|value| times_power(*value, known.power));
            known.origin = scaled.sum::<f64>() / rows as f64;
        }
        simd::run(Panel { centres: &centres, out });
        for (l, (j, known)) in of.zip(&mut known).enumerate() {
            let Some(known) = known else { continue };
            if known.power != 0 {
                let scaled = centres[l].values.iter().map(|value| times_power(*value, known.power) - known.origin);
                out.iter_mut().zip(scaled).for_each(|(row, value)| row.0[l] = value);
            }
            let ends = [known.of_all.least, known.of_all.largest].map(|value| times_power(value, known.power));
            let far = ends.map(|value| (value - known.origin).abs()).into_iter().fold(0.0, f64::max);
            if known.origin.abs() > NEAR * far {
                known.mean = out.iter().map(|row| row.0[l]).sum::<f64>() / rows as f64;
                if known.mean.abs() > LEFT * far {
                    out.iter_mut().for_each(|row| row.0[l] -= known.mean);
                }
            }
            known.origin = times_power(known.origin, -known.power);
            enter(j, known);
        }
    }

    /// Returns working memory for a segment of `rows` rows, or `None` if there is not enough memory.
    fn working(&self, rows: usize) -> Option<Working> {
        let mut working = self.spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        let fits = memory::grow(&mut working.columns, rows * WIDE, 0.0, Use::Correlations)
            && memory::grow(&mut working.centred, rows * panels(self.p()), Row::default(), Use::Correlations);
        fits.then_some(working)
    }

    fn give_back(&self, working: Working) {
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(working);
        }
    }

    /// Processes several segments at a time, each on one thread. Their products are joined in order.
    fn narrow(
        &mut self,
        block: &mut Block,
        segments: usize,
        segment: &(dyn Fn(usize) -> Segment + Sync),
        n: usize,
        pool: &Pool,
        watch: &mut Watch,
    ) -> Result<()> {
        let p = self.p();
        let of_memory = WAVE / (p * p * size_of::<f64>());
        let wave = of_memory.clamp(4 * pool.threads(), 64 * pool.threads()).min(segments);
        let mut slots: Vec<Mutex<Slot>> = Vec::new();
        for _ in 0..wave {
            slots.push(Mutex::new(Slot { of_block: summaries_of_none(p)?, totals: Totals::none(p)? }));
        }
        for first in (0..segments).step_by(wave.max(1)) {
            let count = wave.min(segments - first);
            let (this, view) = (&*self, &*block);
            let work = |_: &mut (), task: usize, stop: &Stop| {
                let Ok(mut slot) = slots[task].lock() else { return };
                let segment = segment(first + task);
                let rows = segment.len();
                let Some(mut working) = this.working(rows) else { return };
                let centred = &mut working.centred[..rows * panels(p)];
                for (panel, out) in centred.chunks_mut(rows).enumerate() {
                    this.centre(view, &segment, panel, &mut working.columns, out, |j, known| slot.enter(j, known));
                }
                slot.totals.columns.n = rows as u64;
                for (number, product) in slot.totals.products.blocks.iter_mut().enumerate() {
                    product.fill(0.0);
                    multiply(centred, rows, p, number, product, &|| stop.requested());
                }
                this.give_back(working);
            };
            let told = &mut |done: f64| watch((first as f64 + done) / segments as f64);
            pool.run(count, n * p < SMALL, |_| 1.0, told, work)?;
            for slot in slots.iter().take(count) {
                let Ok(slot) = slot.lock() else { continue };
                block.note(&slot.of_block);
                self.totals.join(&slot.totals, &Pool::none())?;
            }
        }
        Ok(())
    }

    /// Processes one segment on all threads.
    fn wide(&mut self, block: &mut Block, segment: &Segment, pool: &Pool, watch: &mut Watch) -> Result<()> {
        let (p, rows) = (self.p(), segment.len());
        let mut working = self.working(rows).ok_or_else(|| Use::Correlations.error(rows * p * size_of::<f64>()))?;
        let centred = &mut working.centred[..rows * panels(p)];
        let mut slot = Slot { of_block: summaries_of_none(p)?, totals: Totals::none(0)? };
        slot.totals.columns = Columns::none(p)?;
        let shared = Mutex::new(&mut slot);
        let parts: Vec<Mutex<&mut [Row]>> = centred.chunks_mut(rows).map(Mutex::new).collect();
        let (this, view) = (&*self, &*block);
        let centre = |columns: &mut Vec<f64>, panel: usize, _: &Stop| {
            let Ok(mut out) = parts[panel].lock() else { return };
            if memory::grow(columns, rows * WIDE, 0.0, Use::Correlations) {
                this.centre(view, segment, panel, columns, &mut out, |j, known| {
                    _ = shared.lock().map(|mut slot| slot.enter(j, known));
                });
            }
        };
        pool.run(panels(p), false, |_| 1.0, &mut |_| watch(0.0), centre)?;
        drop(parts);
        slot.totals.columns.n = rows as u64;
        block.note(&slot.of_block);
        let totals = &mut self.totals;
        let joint = totals.columns.join(&slot.totals.columns)?;
        totals.columns.widen(&slot.totals.columns);
        if let Some(by) = &joint.second {
            for (panel, by) in centred.chunks_mut(rows).zip(by.chunks(WIDE)) {
                for row in panel {
                    row.0.iter_mut().zip(by).for_each(|(value, by)| *value *= by);
                }
            }
        }
        let count = totals.products.blocks.len();
        let blocks: Vec<Mutex<&mut Vec<f64>>> = totals.products.blocks.iter_mut().map(Mutex::new).collect();
        // The longest columns come first.
        let total = (count * (count + 1)) as f64 / 2.0;
        let work = |_: &mut (), task: usize, stop: &Stop| {
            let number = count - 1 - task;
            let Ok(mut product) = blocks[number].lock() else { return };
            let (columns, height) = shape(number, p);
            if joint.first.is_some() {
                for (y, cells) in columns.clone().zip(product.chunks_mut(height)) {
                    Joint::scale(joint.first.as_ref(), y, cells);
                }
            }
            multiply(centred, rows, p, number, &mut product, &|| stop.requested());
            for (y, cells) in columns.zip(product.chunks_mut(height)) {
                joint.add_apart(y, &mut cells[..=y]);
            }
        };
        pool.run(count, false, |task| (count - task) as f64, &mut |done| watch(done / total), work)?;
        drop(blocks);
        self.give_back(working);
        Ok(())
    }

    /// Returns the totals of all rows.
    pub fn totals(mut self, pool: &Pool, watch: &mut Watch) -> Result<Totals> {
        if self.waits > 0 {
            let none: Vec<Numbers> = vec![Numbers::Doubles(&[]); self.p()];
            let mut found = summaries_of_none(self.p())?;
            let mut block = Block { columns: &none, of: &Of::All, found: &mut found, joins: false };
            let waits = self.waits;
            let segment = move |_| Segment { waiting: waits, rows: 0..0 };
            match self.p() <= NARROW {
                true => self.narrow(&mut block, 1, &segment, waits, pool, watch)?,
                false => self.wide(&mut block, &segment(0), pool, watch)?,
            }
        }
        Ok(self.totals)
    }
}

/// A block of rows.
struct Block<'b> {
    columns: &'b [Numbers<'b>],
    of: &'b Of,
    /// Summaries of its columns so far; `joins` says whether the segments' summaries are added to them.
    found: &'b mut [Summary],
    joins: bool,
}

impl Block<'_> {
    fn note(&mut self, of_part: &[Summary]) {
        if self.joins {
            self.found.iter_mut().zip(of_part).for_each(|(found, part)| *found = found.join(*part));
        }
    }
}

/// The outcome of a segment.
struct Slot {
    of_block: Vec<Summary>,
    totals: Totals,
}

impl Slot {
    fn enter(&mut self, j: usize, found: &Known) {
        let Slot { of_block, totals: Totals { columns, .. } } = self;
        of_block[j] = found.of_block;
        (columns.least[j], columns.largest[j]) = (found.of_all.least, found.of_all.largest);
        (columns.power[j], columns.origin[j], columns.mean[j]) = (found.power, found.origin, found.mean);
    }
}

fn summaries_of_none(p: usize) -> Result<Vec<Summary>> {
    let mut none = memory::space(p, Use::Correlations)?;
    none.resize(p, Summary::NONE);
    Ok(none)
}

/// Copies some rows of a column, and returns their summary.
fn take(column: &Numbers, of: &Of, rows: Range<usize>, out: &mut [f64]) -> Summary {
    let mut held = Holding::default();
    column.read(of, rows, |from, values| {
        out[from..from + values.len()].copy_from_slice(values);
        simd::run(Hold { values, held: &mut held });
    });
    held.summary()
}

/// Returns the summary of values.
fn held(values: &[f64]) -> Summary {
    let mut held = Holding::default();
    simd::run(Hold { values, held: &mut held });
    held.summary()
}

struct Hold<'a> {
    values: &'a [f64],
    held: &'a mut Holding,
}

impl<S> Task<S> for Hold<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _simd: S) {
        self.held.add(self.values);
    }
}

/// Multiple of the largest distance from a mean beyond which the mean's rounding may matter. The mean of the centred values is then
/// computed.
const NEAR: f64 = 100.0;

/// Share of the largest distance beyond which the mean of the centred values is subtracted, too. Ignoring a smaller one changes a sum of n
/// squares by a share of at most n times this squared. The reason is that the sum is at least the square of the distance.
const LEFT: f64 = 1e-10;

/// Number of bytes of products that wait to be joined.
const WAVE: usize = 1 << 26;

/// A column, and the number that is subtracted from it.
#[derive(Clone, Copy)]
struct Centre<'a> {
    /// The column's values, or empty if the column only fills up a panel.
    values: &'a [f64],
    origin: f64,
}

/// Writes columns side by side, each minus its origin.
struct Panel<'a> {
    centres: &'a [Centre<'a>; WIDE],
    out: &'a mut [Row],
}

impl<S> Task<S> for Panel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _simd: S) {
        let Panel { centres, out } = self;
        for (number, rows) in out.chunks_mut(WIDE).enumerate() {
            let from = number * WIDE;
            for (l, Centre { values, origin }) in centres.iter().enumerate() {
                if values.is_empty() {
                    rows.iter_mut().for_each(|row| row.0[l] = 0.0);
                    continue;
                }
                let values = &values[from..from + rows.len()];
                match (<&[f64; WIDE]>::try_from(values), <&mut [Row; WIDE]>::try_from(&mut *rows)) {
                    (Ok(values), Ok(rows)) => {
                        for i in 0..WIDE {
                            rows[i].0[l] = values[i] - origin;
                        }
                    }
                    _ => rows.iter_mut().zip(values).for_each(|(row, value)| row.0[l] = value - origin),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
