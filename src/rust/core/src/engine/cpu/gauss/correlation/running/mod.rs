//! Correlations of rows that come block by block, and are not kept.
//!
//! Rows are gathered into segments of so many, however blocks are cut. Each segment is centred by its own means, multiplied out, and
//! joined with those before ([`Totals::join`]): so all digits of a deviation count, however large the mean, and any cut of the rows
//! into blocks, on any number of threads, gives the same bits. One pass; correlations of `cor()` to 1e-12, not to the last bit.

mod totals;

pub use totals::{Columns, Totals, Triangle};

use std::ops::Range;
use std::sync::Mutex;

use super::columns::{rows_that_count, summarise, Holding, Of, Summary};
use super::product::multiply;
use super::{Watch, AT_ONCE};
use crate::engine::cpu::numbers::{Numbers, SMALL};
use crate::engine::cpu::simd::{self, Task};
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::Result;
pub(super) use totals::{power_for, times_power};
use totals::{shape, Joint};

/// Up to this many columns, threads take segments; beyond, they take blocks of columns of one segment after the other.
const NARROW: usize = 512;

/// Rows of a segment.
fn rows_of_segment(p: usize) -> usize {
    if p <= NARROW {
        1024
    } else {
        2048
    }
}

/// Rows that have come, of p columns.
#[derive(Debug)]
pub struct Running {
    /// Whether rows that miss a value are left out.
    complete: bool,
    totals: Totals,
    /// Rows that wait for a segment to be full: its columns, one after the other.
    waiting: Vec<f64>,
    waits: usize,
}

/// A segment's row numbers: how many wait, and which are in the block.
struct Segment {
    waiting: usize,
    rows: Range<usize>,
}

impl Segment {
    fn len(&self) -> usize {
        self.waiting + self.rows.len()
    }
}

/// A column of a segment, centred in place.
struct Centred {
    /// What the block's rows hold.
    of_block: Summary,
    of_all: Summary,
    power: i32,
    origin: f64,
    mean: f64,
}

impl Running {
    /// Of p columns; `complete`: rows that miss a value are left out. Otherwise one that is missed makes what comes useless.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error); so of all that follow.
    pub fn new(p: usize, complete: bool) -> Result<Self> {
        let waiting = memory::zeros(rows_of_segment(p) * p, Use::Correlations)?;
        Ok(Running { complete, totals: Totals::none(p)?, waiting, waits: 0 })
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        self.totals.columns.p()
    }

    /// Adds a block of rows, which has a column for each; returns what its columns hold, in all rows.
    ///
    /// # Errors
    /// Also what `watch` returns. After an error there is nothing to be had.
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

    /// Centres column j of a segment, whose rows go to `out`.
    fn centre(&self, block: &Block, segment: &Segment, j: usize, out: &mut [f64]) -> Centred {
        let length = rows_of_segment(self.p());
        out[..segment.waiting].copy_from_slice(&self.waiting[j * length..][..segment.waiting]);
        let of_block = take(&block.columns[j], block.of, segment.rows.clone(), &mut out[segment.waiting..]);
        // Not joined of the parts: the sum would depend on where they were cut.
        let of_all = if segment.waiting > 0 { held(out) } else { of_block };
        let (power, origin, mean) = simd::run(Centre { values: out, summary: &of_all });
        Centred { of_block, of_all, power, origin, mean }
    }

    /// Some segments at a time, each on a thread; their products are joined in order.
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
        let wave = (4 * pool.threads()).min(segments);
        let mut slots: Vec<Mutex<Slot>> = Vec::new();
        for _ in 0..wave {
            slots.push(Mutex::new(Slot { of_block: summaries_of_none(p)?, totals: Totals::none(p)? }));
        }
        for first in (0..segments).step_by(wave.max(1)) {
            let count = wave.min(segments - first);
            let (this, view) = (&*self, &*block);
            let work = |centred: &mut Vec<f64>, task: usize, _: &Stop| {
                let Ok(mut slot) = slots[task].lock() else { return };
                let segment = segment(first + task);
                let rows = segment.len();
                if !memory::grow(centred, rows * p, 0.0, Use::Correlations) {
                    return;
                }
                for (j, column) in centred.chunks_mut(rows).take(p).enumerate() {
                    let found = this.centre(view, &segment, j, column);
                    slot.enter(j, &found);
                }
                slot.totals.columns.n = rows as u64;
                for (number, product) in slot.totals.products.blocks.iter_mut().enumerate() {
                    let (columns, height) = shape(number, p);
                    let right = &centred[columns.start * rows..columns.end * rows];
                    multiply(&centred[..height * rows], right, rows, product, height, 0.0);
                }
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

    /// One segment, by all threads.
    fn wide(&mut self, block: &mut Block, segment: &Segment, pool: &Pool, watch: &mut Watch) -> Result<()> {
        let (p, rows) = (self.p(), segment.len());
        let mut centred = memory::zeros(rows * p, Use::Correlations)?;
        let mut slot = Slot { of_block: summaries_of_none(p)?, totals: Totals::none(0)? };
        slot.totals.columns = Columns::none(p)?;
        let shared = Mutex::new(&mut slot);
        let columns: Vec<Mutex<&mut [f64]>> = centred.chunks_mut(rows).map(Mutex::new).collect();
        let (this, view) = (&*self, &*block);
        let centre = |_: &mut (), j: usize, _: &Stop| {
            let Ok(mut column) = columns[j].lock() else { return };
            let found = this.centre(view, segment, j, &mut column);
            if let Ok(mut slot) = shared.lock() {
                slot.enter(j, &found);
            }
        };
        pool.run(p, false, |_| 1.0, &mut |_| watch(0.0), centre)?;
        drop(columns);
        slot.totals.columns.n = rows as u64;
        block.note(&slot.of_block);
        let totals = &mut self.totals;
        let joint = totals.columns.join(&slot.totals.columns)?;
        totals.columns.widen(&slot.totals.columns);
        if let Some(by) = &joint.second {
            for (column, by) in centred.chunks_mut(rows).zip(by) {
                column.iter_mut().for_each(|value| *value *= by);
            }
        }
        let count = totals.products.blocks.len();
        let blocks: Vec<Mutex<&mut Vec<f64>>> = totals.products.blocks.iter_mut().map(Mutex::new).collect();
        // The longest columns first.
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
            let right = &centred[columns.start * rows..columns.end * rows];
            for from in (0..height).step_by(AT_ONCE).take_while(|_| !stop.requested()) {
                let to = height.min(from + AT_ONCE);
                multiply(&centred[from * rows..to * rows], right, rows, &mut product[from..], height, 1.0);
                for (y, cells) in columns.clone().zip(product.chunks_mut(height)) {
                    joint.add_apart(y, from, &mut cells[from..to]);
                }
            }
        };
        pool.run(count, false, |task| (count - task) as f64, &mut |done| watch(done / total), work)
    }

    /// What is known of all rows.
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
    /// What its columns hold, as far as known, and whether that is to be found out.
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

/// What is made of a segment.
struct Slot {
    of_block: Vec<Summary>,
    totals: Totals,
}

impl Slot {
    fn enter(&mut self, j: usize, found: &Centred) {
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

/// Copies some rows of a column, and says what they hold.
fn take(column: &Numbers, of: &Of, rows: Range<usize>, out: &mut [f64]) -> Summary {
    let mut held = Holding::default();
    column.read(of, rows, |from, values| {
        out[from..from + values.len()].copy_from_slice(values);
        simd::run(Hold { values, held: &mut held });
    });
    held.summary()
}

/// What values hold.
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

/// Centres values; returns their power of two, and the mean as an origin and what that, which is rounded, leaves.
struct Centre<'a> {
    values: &'a mut [f64],
    summary: &'a Summary,
}

/// Where the mean that is left is beyond this share of the largest distance from it, it is taken away, too. It changes sums of squares of
/// n values, which are at least the square of that distance, by n times the square of this.
const LEFT: f64 = 1e-10;

impl<S> Task<S> for Centre<'_> {
    type Output = (i32, f64, f64);

    #[inline(always)]
    fn run(self, _simd: S) -> (i32, f64, f64) {
        let Centre { values, summary } = self;
        let n = values.len() as f64;
        let power = power_for(summary.least.abs().max(summary.largest.abs()));
        let mut origin = summary.sum() / n;
        if power != 0 {
            values.iter_mut().for_each(|value| *value = times_power(*value, power));
            origin = values.iter().sum::<f64>() / n;
        }
        let mean = less(values, origin) / n;
        let far = |value: f64| (times_power(value, power) - origin).abs();
        if mean.abs() > LEFT * far(summary.least).max(far(summary.largest)) {
            less(values, mean);
        }
        (power, times_power(origin, -power), mean)
    }
}

/// Takes a number from values; returns the sum of what is left.
#[inline(always)]
fn less(values: &mut [f64], number: f64) -> f64 {
    const LANES: usize = 16;
    let mut sum = [0.0; LANES];
    for values in values.chunks_mut(LANES) {
        for (value, sum) in values.iter_mut().zip(&mut sum) {
            *value -= number;
            *sum += *value;
        }
    }
    sum.iter().sum()
}

#[cfg(test)]
mod tests;
