//! Counting N(x, y, s) for one x, one conditioning set and many y. What depends only on x and the set is computed once.
//!
//! The counts are whole numbers, so both ways, bit planes and codes, give the same tables. The choice follows an estimate of their times.

use super::data::{Coded, Codes};
use super::masks::Masks;
use super::strata::{Strata, NOWHERE};
use super::table::Table;
use crate::memory::{self, Use};

/// Approximate nanoseconds for adding a sample to a table, and for computing its row.
const SAMPLE: f64 = 1.1;
const ROW: f64 = 1.5;

/// The most cells of tables that are filled together.
const MOST_CELLS: usize = 1 << 20;

/// The largest number of cells for which a table has all cells; a few per sample are also allowed. Larger tables have only those that
/// occur.
const DENSE_CELLS: usize = 1 << 22;

/// The largest table that is filled in [`PARTS`] parts. Otherwise a cell hit twice in a row would have to wait for itself.
const SMALL_TABLE: usize = 1 << 10;
const PARTS: usize = 4;

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The way that is estimated to be quicker.
    Quickest,
    /// By bit planes; by codes if a variable lacks planes.
    Planes,
    /// By codes.
    Codes,
    /// By codes, with only the cells that occur.
    Cells,
}

/// Counts tables. Keeps what consecutive sets with the same beginning share.
#[derive(Debug)]
pub struct Counter {
    way: Way,
    masks: Masks,
    strata: Strata,
    rows: Vec<u32>,
    tables: Vec<u32>,
    keys: Vec<u64>,
    cells: Vec<(u32, u32, u32, u32)>,
    sorted: Vec<u32>,
}

/// The cells of a table that are not counted: those at the last level of any variable in `known`. `known` holds the members of the set and
/// then x, as bits. `complete` writes the cells.
pub(super) struct Rest<'a> {
    pub known: u32,
    pub complete: &'a mut dyn FnMut(usize, &mut [u32]),
}

impl Default for Counter {
    fn default() -> Self {
        Counter::new(Way::Quickest)
    }
}

impl Counter {
    /// Makes a counter that counts in the given way.
    pub fn new(way: Way) -> Self {
        Counter {
            way,
            masks: Masks::default(),
            strata: Strata::default(),
            rows: Vec::new(),
            tables: Vec::new(),
            keys: Vec::new(),
            cells: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Forgets all data. Must be called before use with other data.
    pub fn forget(&mut self) {
        self.masks.forget();
        self.strata.forget();
    }

    /// Calls `each` with the index in `others` and the table of (x, y | set), for every y of `others`. Samples that lack a value of x, y or
    /// the set are left out. Strata follow the order of the ascending set, whatever the order of `set`. `each` is not called if there is
    /// not enough memory, which is noted ([`memory::check`]).
    pub fn count(&mut self, data: &Coded, x: u32, set: &[u32], others: &[u32], each: &mut dyn FnMut(usize, &Table)) {
        if !set.is_sorted() {
            let mut sorted = std::mem::take(&mut self.sorted);
            sorted.clear();
            sorted.extend_from_slice(set);
            sorted.sort_unstable();
            self.count(data, x, &sorted, others, each);
            self.sorted = sorted;
            return;
        }
        let mut rest = Rest { known: 0, complete: &mut |_, _| () };
        let mut of_y = |at: usize, table: &mut [u32]| {
            let y = others[at] as usize;
            subtract(table, data.counts(y), data.levels(x as usize), data.levels(y));
        };
        if set.is_empty() && !data.missing(x as usize) && others.iter().all(|&y| data.has_planes(y as usize)) {
            rest = Rest { known: 1, complete: &mut of_y };
        }
        self.count_open(data, x, set, others, &mut rest, each);
    }

    /// Counts as [`Counter::count`] does, for an ascending set. Counting by planes leaves some cells to `rest`.
    pub(super) fn count_open(
        &mut self,
        data: &Coded,
        x: u32,
        set: &[u32],
        others: &[u32],
        rest: &mut Rest,
        each: &mut dyn FnMut(usize, &Table),
    ) {
        let (last, prefix) = match set.split_last() {
            Some((&last, prefix)) => (Some(last), prefix),
            None => (None, set),
        };
        if self.by_planes(data, x, set, others) {
            let Some(strata) = self.masks.prepare(data, x, prefix) else { return };
            let strata = strata * last.map_or(1, |last| data.levels(last as usize));
            let lx = data.levels(x as usize);
            let rows = strata * lx;
            self.in_batches(data, rows, others, each, lx, |counter, from, batch, tables| {
                counter.masks.count(data, prefix, last, batch, rest.known, tables);
                let mut tables = tables;
                for (at, &y) in batch.iter().enumerate().filter(|_| rest.known != 0) {
                    let (table, after) = tables.split_at_mut(rows * data.levels(y as usize));
                    (rest.complete)(from + at, table);
                    tables = after;
                }
            });
        } else {
            self.by_codes(data, x, set, others, each);
        }
    }

    /// Appends the table of two variables to `cells`, by x and y. Returns false if one of them has no planes or has missing values, or if
    /// there is not enough memory, which is noted.
    pub(super) fn count_pair(&self, data: &Coded, x: u32, y: u32, cells: &mut Vec<u32>) -> bool {
        let [x, y] = [x as usize, y as usize];
        let ([lx, ly], start) = ([x, y].map(|v| data.levels(v)), cells.len());
        let counted = [x, y].iter().all(|&v| data.has_planes(v) && !data.missing(v));
        if !counted || !memory::grow(cells, start + lx * ly, 0, Use::Tables) {
            return false;
        }
        let table = &mut cells[start..];
        self.masks.count_pair(data, x, y, table);
        subtract(&mut table[..(lx - 1) * ly], &data.counts(x)[..lx - 1], ly, 1);
        subtract(table, data.counts(y), lx, ly);
        true
    }

    pub(super) fn by_planes(&self, data: &Coded, x: u32, set: &[u32], others: &[u32]) -> bool {
        let possible = data.has_planes(x as usize) && set.iter().all(|&s| data.has_planes(s as usize));
        match self.way {
            Way::Planes => possible,
            Way::Codes | Way::Cells => false,
            Way::Quickest => {
                let (n, plane) = (data.n() as f64, self.masks.cost(data.words()));
                let masks = data.levels(x as usize) as f64 * data.domain(set);
                if !possible || masks > n {
                    return false;
                }
                let of_y = |&y: &u32| match data.has_planes(y as usize) {
                    true => (masks * (data.levels(y as usize) - 1) as f64 * plane).min(n * SAMPLE),
                    false => n * SAMPLE,
                };
                masks * plane + others.iter().map(of_y).sum::<f64>() < n * (ROW + SAMPLE * others.len() as f64)
            }
        }
    }

    /// Fills the tables of a few y at a time with `fill`, and calls `each` with them.
    fn in_batches(
        &mut self,
        data: &Coded,
        rows: usize,
        others: &[u32],
        each: &mut dyn FnMut(usize, &Table),
        lx: usize,
        mut fill: impl FnMut(&mut Self, usize, &[u32], &mut [u32]),
    ) {
        let mut tables = std::mem::take(&mut self.tables);
        let mut from = 0;
        while from < others.len() {
            let mut to = from;
            let mut size = 0;
            while to < others.len() {
                let more = rows * data.levels(others[to] as usize);
                if to > from && size + more > MOST_CELLS {
                    break;
                }
                size += more;
                to += 1;
            }
            tables.clear();
            if !memory::grow(&mut tables, size, 0, Use::Tables) {
                return;
            }
            fill(self, from, &others[from..to], &mut tables);
            let mut start = 0;
            for (at, &y) in others.iter().enumerate().take(to).skip(from) {
                let ly = data.levels(y as usize);
                let counts = &tables[start..start + rows * ly];
                each(at, &Table::Dense { counts, lx, ly });
                start += rows * ly;
            }
            from = to;
        }
        self.tables = tables;
    }

    fn by_codes(&mut self, data: &Coded, x: u32, set: &[u32], others: &[u32], each: &mut dyn FnMut(usize, &Table)) {
        let (n, lx) = (data.n(), data.levels(x as usize));
        // The last member's levels need no stratum numbers while the table stays small.
        let (prefix, last) = match set.split_last() {
            Some((&last, prefix)) if self.way != Way::Cells => {
                let levels = data.levels(last as usize);
                let (_, count) = self.strata.prepare(data, prefix);
                if count * levels * lx <= n {
                    (prefix, Some(last))
                } else {
                    (set, None)
                }
            }
            _ => (set, None),
        };
        let (codes, count) = self.strata.prepare(data, prefix);
        if codes.is_some_and(|codes| codes.len() < n) {
            return;
        }
        let levels = last.map_or(1, |last| data.levels(last as usize));
        let limit = DENSE_CELLS.max(4 * n).min(u32::MAX as usize);
        let most = others.iter().map(|&y| data.levels(y as usize)).max().unwrap_or(1);
        if self.way == Way::Cells || count * levels * lx > limit / most {
            self.rows.clear();
            if !memory::prepare(&mut self.rows, n, Use::Tables) {
                return;
            }
            match codes {
                Some(codes) => self.rows.extend_from_slice(codes),
                None => self.rows.resize(n, 0),
            }
            for (at, &y) in others.iter().enumerate() {
                self.cells(data, x as usize, y as usize);
                each(at, &Table::Cells(&self.cells));
            }
            return;
        }
        let rows = &mut self.rows;
        rows.clear();
        if !memory::prepare(rows, n, Use::Tables) {
            return;
        }
        match codes {
            Some(codes) => rows.extend_from_slice(codes),
            None => rows.resize(n, 0),
        }
        let missing = data.missing(x as usize) || set.iter().any(|&s| data.missing(s as usize));
        for variable in last.into_iter().chain([x]) {
            match data.codes(variable as usize) {
                Codes::Bytes(codes) => refine(rows, codes, data.levels(variable as usize), missing),
                Codes::Words(codes) => refine(rows, codes, data.levels(variable as usize), missing),
            }
        }
        let rows = std::mem::take(&mut self.rows);
        let all = count * levels * lx;
        self.in_batches(data, all, others, each, lx, |_, _, batch, tables| {
            let mut rest = tables;
            for &y in batch {
                let ly = data.levels(y as usize);
                let (table, after) = rest.split_at_mut(all * ly);
                rest = after;
                let missing = missing || data.missing(y as usize);
                match data.codes(y as usize) {
                    Codes::Bytes(codes) => tally(&rows, codes, ly, missing, table),
                    Codes::Words(codes) => tally(&rows, codes, ly, missing, table),
                }
            }
        });
        self.rows = rows;
    }

    /// Makes the list of cells that occur; `rows` holds the strata.
    fn cells(&mut self, data: &Coded, x: usize, y: usize) {
        let (lx, ly) = (data.levels(x), data.levels(y));
        self.keys.clear();
        self.cells.clear();
        if !memory::prepare(&mut self.keys, self.rows.len(), Use::Tables) {
            return;
        }
        for (sample, &stratum) in self.rows.iter().enumerate() {
            let (a, b) = (data.codes(x).at(sample), data.codes(y).at(sample));
            if stratum != NOWHERE && (a as usize) < lx && (b as usize) < ly {
                // A level takes 16 bits.
                self.keys.push(u64::from(stratum) << 32 | u64::from(a) << 16 | u64::from(b));
            }
        }
        self.keys.sort_unstable();
        let runs = self.keys.chunk_by(|a, b| a == b);
        let count = 1 + self.keys.windows(2).filter(|two| two[0] != two[1]).count();
        if !memory::prepare(&mut self.cells, count, Use::Tables) {
            return;
        }
        self.cells.extend(runs.map(|run| {
            let key = run[0];
            ((key >> 32) as u32, (key >> 16) as u32 & 0xffff, key as u32 & 0xffff, run.len() as u32)
        }));
    }
}

/// Computes the cells at the last level of a variable: the margin without it minus the other cells. `stride` is the distance between
/// levels.
pub(super) fn subtract(table: &mut [u32], margin: &[u32], levels: usize, stride: usize) {
    for (block, margin) in table.chunks_exact_mut(levels * stride).zip(margin.chunks_exact(stride)) {
        let (others, last) = block.split_at_mut((levels - 1) * stride);
        last.copy_from_slice(margin);
        for other in others.chunks_exact(stride) {
            last.iter_mut().zip(other).for_each(|(last, &other)| *last = last.wrapping_sub(other));
        }
    }
}

/// Splits rows by the levels of a variable.
fn refine<C: Copy + Into<u32>>(rows: &mut [u32], codes: &[C], levels: usize, missing: bool) {
    if !missing {
        rows.iter_mut().zip(codes).for_each(|(row, &code)| *row = *row * levels as u32 + code.into());
        return;
    }
    for (row, &code) in rows.iter_mut().zip(codes) {
        let code: u32 = code.into();
        *row = if *row == NOWHERE || code as usize >= levels { NOWHERE } else { *row * levels as u32 + code };
    }
}

fn tally<C: Copy + Into<u32>>(rows: &[u32], codes: &[C], ly: usize, missing: bool, table: &mut [u32]) {
    if missing {
        for (&row, &code) in rows.iter().zip(codes) {
            let code: u32 = code.into();
            if row != NOWHERE && (code as usize) < ly {
                table[row as usize * ly + code as usize] += 1;
            }
        }
        return;
    }
    if table.len() > SMALL_TABLE {
        for (&row, &code) in rows.iter().zip(codes) {
            table[row as usize * ly + code.into() as usize] += 1;
        }
        return;
    }
    let mut parts = [[0u32; SMALL_TABLE]; PARTS];
    let (rows_of, codes_of) = (rows.chunks_exact(PARTS), codes.chunks_exact(PARTS));
    for (&row, &code) in rows_of.remainder().iter().zip(codes_of.remainder()) {
        table[row as usize * ly + code.into() as usize] += 1;
    }
    for (rows, codes) in rows_of.zip(codes_of) {
        for ((part, &row), &code) in parts.iter_mut().zip(rows).zip(codes) {
            part[(row as usize * ly + code.into() as usize) & (SMALL_TABLE - 1)] += 1;
        }
    }
    for part in &parts {
        table.iter_mut().zip(part).for_each(|(cell, part)| *cell += part);
    }
}
