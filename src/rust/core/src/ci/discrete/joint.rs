//! Tables that several tests share: the counts of variables W serve each test of two of them given the others.
//!
//! Of the neighbours of x, l + 1 at a time, each is tested against x given the l others: l + 1 tests with one table, and more where
//! neighbours of x are neighbours of each other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::counter::{Counter, Way};
use super::data::Coded;
use super::strata::ALL;
use super::table::Table;
use crate::memory::{self, Use};

/// With fewer samples a table is counted sooner than looked up.
const FEWEST_SAMPLES: usize = 512;

/// Cells that are kept: what a core has close by.
const MOST_CELLS: usize = 1 << 19;

/// A [`Counter`] of one data set that keeps the tables of sets of one size.
#[derive(Debug)]
pub struct Joints {
    counter: Counter,
    size: usize,
    /// Table after table: the members of W stand in ascending order, the levels of the last one side by side.
    cells: Vec<u32>,
    /// By the numbers of the members, side by side as bits: where the table begins.
    starts: HashMap<u128, usize, BuildHasherDefault<Mixed>>,
    table: Vec<u32>,
    lacking: Vec<usize>,
    asked: Vec<u32>,
}

impl Joints {
    /// Counts in one way what is not kept.
    pub fn new(way: Way) -> Self {
        Joints {
            counter: Counter::new(way),
            size: 0,
            cells: Vec::new(),
            starts: HashMap::default(),
            table: Vec::new(),
            lacking: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// As [`Counter::count`], in any order of `others`.
    pub fn count(&mut self, data: &Coded, x: u32, set: &[u32], others: &[u32], each: &mut dyn FnMut(usize, &Table)) {
        let bits = u32::BITS - (data.p() as u32).leading_zeros();
        let pays = data.n() >= FEWEST_SAMPLES && data.domain(set) <= (data.n() / ALL) as f64;
        if !pays || set.is_empty() || !set.is_sorted() || (set.len() + 2) * bits as usize > u128::BITS as usize {
            self.counter.count(data, x, set, others, each);
            return;
        }
        if self.size != set.len() {
            self.size = set.len();
            self.forget();
        }
        let Joints { counter, cells, starts, table, lacking, asked, .. } = self;
        lacking.clear();
        asked.clear();
        for (at, &y) in others.iter().enumerate() {
            let Some(&start) = starts.get(&key(x, y, set, bits)) else {
                lacking.push(at);
                asked.push(y);
                continue;
            };
            let axes = Axes::new(data, x, y, set);
            table.clear();
            if !memory::prepare(table, axes.cells(), Use::Tables) {
                return;
            }
            let kept = &cells[start..start + axes.cells()];
            axes.walk(|from| table.push(kept[from]));
            each(at, &Table::Dense { counts: table, lx: data.levels(x as usize), ly: data.levels(y as usize) });
        }
        if asked.is_empty() {
            return;
        }
        counter.count(data, x, set, asked, &mut |i, table| {
            each(lacking[i], table);
            let axes = Axes::new(data, x, asked[i], set);
            match *table {
                Table::Dense { counts, .. } if counts.len() == axes.cells() && counts.len() <= data.n() => {
                    if cells.len() + counts.len() > MOST_CELLS {
                        cells.clear();
                        starts.clear();
                    }
                    let start = cells.len();
                    if memory::grow(cells, start + counts.len(), 0, Use::Tables) {
                        let mut counts = counts.iter();
                        axes.walk(|to| cells[start + to] = counts.next().copied().unwrap_or(0));
                        starts.insert(key(x, asked[i], set, bits), start);
                    }
                }
                // Far larger than the number of samples, or without the strata that are empty.
                _ => {}
            }
        });
    }

    fn forget(&mut self) {
        self.cells.clear();
        self.starts.clear();
    }
}

/// The members of W in ascending order, side by side.
fn key(x: u32, y: u32, set: &[u32], bits: u32) -> u128 {
    let (first, second) = (x.min(y), x.max(y));
    let (mut key, mut before) = (0u128, [Some(first), Some(second)]);
    let mut add = |member: u32| key = key << bits | u128::from(member);
    for &member in set {
        for own in &mut before {
            if let Some(own) = own.take_if(|own| *own < member) {
                add(own);
            }
        }
        add(member);
    }
    before.into_iter().flatten().for_each(add);
    key
}

/// How the cells of a test of (x, y | set), by stratum, x and y, stand in the table of all, in which the variables ascend: by those
/// before both x and y, the smaller of x and y, those between, the larger, and those after.
struct Axes {
    before: usize,
    smaller: usize,
    between: usize,
    larger: usize,
    after: usize,
    x_is_smaller: bool,
}

impl Axes {
    fn new(data: &Coded, x: u32, y: u32, set: &[u32]) -> Self {
        let (small, large) = (x.min(y), x.max(y));
        let mut axes = Axes {
            before: 1,
            smaller: data.levels(small as usize),
            between: 1,
            larger: data.levels(large as usize),
            after: 1,
            x_is_smaller: x < y,
        };
        for &member in set {
            let levels = data.levels(member as usize);
            match member {
                _ if member < small => axes.before *= levels,
                _ if member < large => axes.between *= levels,
                _ => axes.after *= levels,
            }
        }
        axes
    }

    fn cells(&self) -> usize {
        self.before * self.smaller * self.between * self.larger * self.after
    }

    /// Calls `each` with the place in the table of all of each cell of the test.
    #[inline(always)]
    fn walk(&self, mut each: impl FnMut(usize)) {
        let of_larger = self.after;
        let of_smaller = self.between * self.larger * self.after;
        for before in 0..self.before {
            for between in 0..self.between {
                for after in 0..self.after {
                    let stratum = (before * self.smaller * self.between + between) * self.larger * self.after + after;
                    if self.x_is_smaller {
                        for x in 0..self.smaller {
                            (0..self.larger).for_each(|y| each(stratum + x * of_smaller + y * of_larger));
                        }
                    } else {
                        for x in 0..self.larger {
                            (0..self.smaller).for_each(|y| each(stratum + x * of_larger + y * of_smaller));
                        }
                    }
                }
            }
        }
    }
}

/// A quick hash: the keys are nobody's choice.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    fn write_u128(&mut self, key: u128) {
        for half in [key as u64, (key >> 64) as u64] {
            let product = u128::from(self.0 ^ half ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
            self.0 = (product >> 64) as u64 ^ product as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::{Margins, Order, Statistic};
    use crate::matrix::by_column;

    #[test]
    fn tables_that_are_kept_are_those_that_are_counted() {
        let (n, p) = (3000, 7);
        let levels = [2, 3, 4, 2, 9, 5, 3];
        let mut state = 11u64;
        let mut codes = Vec::new();
        for &levels in &levels {
            codes.extend((0..n).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % u64::from(levels)) as i32
            }));
        }
        for holes in [false, true] {
            if holes {
                codes.iter_mut().step_by(97).for_each(|code| *code = i32::MIN);
            }
            let data = Coded::new(by_column(&codes, p).unwrap(), &levels, true).unwrap();
            for way in [Way::Quickest, Way::Planes, Way::Codes, Way::Cells] {
                let (mut joints, mut counter, mut margins) = (Joints::new(way), Counter::new(way), Margins::default());
                let (mut tables, mut kept) = (0, 0);
                for size in 0..4 {
                    for members in 0u32..1 << p {
                        let set: Vec<u32> = (0..p as u32).filter(|v| members >> v & 1 == 1).collect();
                        let free: Vec<u32> = (0..p as u32).filter(|v| members >> v & 1 == 0).collect();
                        for &x in free.iter().filter(|_| set.len() == size) {
                            let others: Vec<u32> = free.iter().copied().filter(|&y| y != x).collect();
                            let mut sum = |y: u32, table: &Table| {
                                table.summary(Statistic::G2, Order::of(x as usize, y as usize), &mut margins)
                            };
                            let (mut want, mut found) = (vec![None; others.len()], vec![None; others.len()]);
                            counter.count(&data, x, &set, &others, &mut |at, table| {
                                want[at] = Some(sum(others[at], table))
                            });
                            joints.count(&data, x, &set, &others, &mut |at, table| {
                                found[at] = Some(sum(others[at], table))
                            });
                            assert_eq!(found, want, "{x}, {others:?} | {set:?}, {way:?}");
                            tables += others.len();
                        }
                    }
                    kept += joints.starts.len();
                }
                assert!(tables > 1000 && (way == Way::Cells || kept > 60), "{tables} tables, {kept} kept");
            }
        }
    }
}
