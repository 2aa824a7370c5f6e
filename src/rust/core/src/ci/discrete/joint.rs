//! Tables that several tests share: the counts of variables W serve the test of any two of them given the others.
//!
//! Take l + 1 neighbours of x. Each is tested against x given the l others: l + 1 tests with one table. There are more if neighbours of x
//! are neighbours of each other.

use std::sync::atomic::Ordering::Relaxed;

use super::counter::{subtract, Counter, Rest, Way};
use super::data::Coded;
use super::store::{key, CacheHandle, Shared};
use super::strata::ALL;
use super::table::Table;
use crate::memory::{self, Use};

/// The number of samples below which counting a table is quicker than looking it up.
const FEWEST_SAMPLES: usize = 512;

/// The number of samples from which making a table from others is quicker than counting it.
const MANY_SAMPLES: usize = 8192;

/// The number of variables beyond which there are too many pairs to keep.
const MOST_VARIABLES: usize = 512;

/// A [`Counter`] of one data set that keeps tables, for all threads. With many samples a table is made from the tables that lack one of its
/// variables. If all of these are there, only Π (L(v) - 1) cells remain to be counted, with L(v) the number of levels of v.
#[derive(Debug)]
pub struct Joints {
    counter: Counter,
    cache: Option<CacheHandle>,
    table: Vec<u32>,
    lacking: Vec<usize>,
    margins: Vec<u32>,
    open: Vec<Open>,
    ys: Vec<u32>,
}

/// A table that remains to be counted.
#[derive(Debug)]
struct Open {
    /// Its index in `others`.
    at: usize,
    /// The variables of its rows (the members of the set in order, then x) whose margins are known, as bits. Such a margin is the table
    /// without the variable.
    known: u32,
    /// The index at which these margins begin.
    margins: usize,
}

impl CacheHandle {
    /// Appends a table to `cells`, in the order of the axes; returns false if it is not in the cache.
    #[inline]
    fn read(&self, key: u128, axes: &Axes, cells: &mut Vec<u32>) -> bool {
        let Some(kept) = self.get(key) else { return false };
        if !memory::prepare(cells, cells.len() + axes.cells(), Use::Tables) {
            return false;
        }
        axes.walk(|from| cells.push(kept[from].load(Relaxed)));
        true
    }

    fn keep(&mut self, shared: &Shared, key: u128, axes: &Axes, counts: &[u32]) {
        self.put(shared, key, counts.len(), |cells| {
            let mut counts = counts.iter();
            axes.walk(|to| cells[to].store(counts.next().copied().unwrap_or(0), Relaxed));
        });
    }
}

impl Joints {
    /// Makes a counter that counts in the given way whatever is not kept.
    pub fn new(way: Way) -> Self {
        Joints {
            counter: Counter::new(way),
            cache: None,
            table: Vec::new(),
            lacking: Vec::new(),
            margins: Vec::new(),
            open: Vec::new(),
            ys: Vec::new(),
        }
    }

    /// Keeps the table of two dependent variables, from which tables of more variables will be made.
    pub fn keep_pair(&mut self, data: &Coded, shared: &Shared, x: u32, y: u32, table: &Table) {
        if let (MANY_SAMPLES.., 0..=MOST_VARIABLES, Table::Dense { counts, .. }) = (data.n(), data.p(), *table) {
            let cache = self.cache.get_or_insert_with(|| shared.open());
            cache.keep(shared, key(both(x, y), [], bits_of(data)), &Axes::new(data, x, y, []), counts);
        }
    }

    /// Counts as [`Counter::count`] does, but calls `each` in any order of `others`.
    pub fn count(
        &mut self,
        data: &Coded,
        shared: &Shared,
        x: u32,
        set: &[u32],
        others: &[u32],
        each: &mut dyn FnMut(usize, &Table),
    ) {
        let (bits, many) = (bits_of(data), data.n() >= MANY_SAMPLES);
        let pays = data.n() >= FEWEST_SAMPLES && data.domain(set) <= (data.n() / ALL) as f64;
        let fits = (set.len() + 2) * bits as usize <= u128::BITS as usize;
        if !pays || (set.is_empty() && !many) || !set.is_sorted() || !fits {
            self.counter.count(data, x, set, others, each);
            return;
        }
        let Joints { counter, cache, table, lacking, margins, open, ys } = self;
        let cache = cache.get_or_insert_with(|| shared.open());
        lacking.clear();
        ys.clear();
        for (at, &y) in others.iter().enumerate() {
            table.clear();
            let axes = Axes::new(data, x, y, set.iter().copied());
            if cache.read(key(both(x, y), set.iter().copied(), bits), &axes, table) {
                each(at, &Table::Dense { counts: table, lx: data.levels(x as usize), ly: data.levels(y as usize) });
            } else {
                lacking.push(at);
                ys.push(y);
            }
        }
        if lacking.is_empty() {
            return;
        }
        let made = many && !set.is_empty() && set.len() < 31 && counter.by_planes(data, x, set, ys);
        open.clear();
        margins.clear();
        for &at in lacking.iter() {
            let start = margins.len();
            let known = if made { known(data, (shared, cache), counter, x, others[at], set, margins) } else { 0 };
            open.push(Open { at, known, margins: start });
        }
        // Tables with the same known margins are counted together.
        open.sort_by_key(|open| open.known);
        for group in open.chunk_by(|a, b| a.known == b.known) {
            let known = group[0].known;
            ys.clear();
            ys.extend(group.iter().map(|open| others[open.at]));
            let complete = &mut |i: usize, table: &mut [u32]| {
                complete(data, x, others[group[i].at], set, known, &margins[group[i].margins..], table);
            };
            counter.count_open(data, x, set, ys, &mut Rest { known, complete }, &mut |i, table| {
                let at = group[i].at;
                each(at, table);
                let axes = Axes::new(data, x, others[at], set.iter().copied());
                match *table {
                    Table::Dense { counts, .. } if counts.len() == axes.cells() && counts.len() <= data.n() => {
                        cache.keep(shared, key(both(x, others[at]), set.iter().copied(), bits), &axes, counts);
                    }
                    // Too large for the number of samples, or without the empty strata.
                    _ => {}
                }
            });
        }
    }
}

/// Returns the number of bits that the number of a variable takes, counted from 1.
fn bits_of(data: &Coded) -> u32 {
    u32::BITS - (data.p() as u32).leading_zeros()
}

/// Returns two variables in ascending order.
fn both(x: u32, y: u32) -> [Option<u32>; 2] {
    [Some(x.min(y)), Some(x.max(y))]
}

/// Appends known margins of the table of (x, y | set), each without one variable of its rows, and returns these variables as bits. Margins
/// of two variables are counted. There is no margin without a variable that has missing values.
fn known(
    data: &Coded,
    (shared, cache): (&Shared, &mut CacheHandle),
    counter: &Counter,
    x: u32,
    y: u32,
    set: &[u32],
    margins: &mut Vec<u32>,
) -> u32 {
    let bits = bits_of(data);
    let mut known = 0;
    for (at, &left_out) in set.iter().chain([&x]).enumerate() {
        if data.missing(left_out as usize) {
            continue;
        }
        let rest = set.iter().copied().filter(|&member| member != left_out);
        let (key, axes) = match left_out == x {
            true => (key([Some(y), None], rest.clone(), bits), Axes::of_one(data, y, rest)),
            false => (key(both(x, y), rest.clone(), bits), Axes::new(data, x, y, rest)),
        };
        let mut found = cache.read(key, &axes, margins);
        if let (false, &[member]) = (found, set) {
            let (other, start) = (if left_out == x { member } else { x }, margins.len());
            found = counter.count_pair(data, other, y, margins);
            if found {
                cache.keep(shared, key, &Axes::new(data, other, y, []), &margins[start..]);
            }
        }
        known |= u32::from(found) << at;
    }
    known
}

/// Computes the cells at the last level of each variable with a known margin: the margin minus the other cells.
fn complete(data: &Coded, x: u32, y: u32, set: &[u32], known: u32, margins: &[u32], table: &mut [u32]) {
    let mut margins = margins;
    for (at, &variable) in set.iter().chain([&x]).enumerate().filter(|(at, _)| known >> at & 1 == 1) {
        let levels = data.levels(variable as usize);
        let after = set.iter().chain([&x]).skip(at + 1).chain([&y]);
        let stride: usize = after.map(|&variable| data.levels(variable as usize)).product();
        let (margin, rest) = margins.split_at(table.len() / levels);
        margins = rest;
        // A cell at the last level of two variables becomes correct once both are processed.
        subtract(table, margin, levels, stride);
    }
}

/// A mapping from the cells of a test of (x, y | set) to the shared table. The cells are ordered by stratum, x and y; the table has its
/// variables in ascending order. A field holds the number of combinations of levels: of the smaller of x and y, of the larger, or of the
/// variables before, between and after both.
struct Axes {
    before: usize,
    smaller: usize,
    between: usize,
    larger: usize,
    after: usize,
    x_is_smaller: bool,
}

impl Axes {
    fn new(data: &Coded, x: u32, y: u32, set: impl IntoIterator<Item = u32>) -> Self {
        let (small, large) = (x.min(y), x.max(y));
        let mut axes = Axes {
            before: 1,
            smaller: data.levels(small as usize),
            between: 1,
            larger: data.levels(large as usize),
            after: 1,
            x_is_smaller: x < y,
        };
        for member in set {
            let levels = data.levels(member as usize);
            match member {
                _ if member < small => axes.before *= levels,
                _ if member < large => axes.between *= levels,
                _ => axes.after *= levels,
            }
        }
        axes
    }

    /// Makes the axes of a margin without x: over the set, and y.
    fn of_one(data: &Coded, y: u32, set: impl IntoIterator<Item = u32>) -> Self {
        let axes =
            Axes { before: 1, smaller: data.levels(y as usize), between: 1, larger: 1, after: 1, x_is_smaller: false };
        set.into_iter().fold(axes, |axes, member| match data.levels(member as usize) {
            levels if member < y => Axes { before: axes.before * levels, ..axes },
            levels => Axes { between: axes.between * levels, ..axes },
        })
    }

    fn cells(&self) -> usize {
        self.before * self.smaller * self.between * self.larger * self.after
    }

    /// Calls `each` with the index in the shared table of each cell of the test.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::{Margins, Order, Statistic};
    use crate::matrix::by_column;

    #[test]
    fn tables_that_are_kept_are_those_that_are_counted() {
        for n in [3000, 9000] {
            tables_of(n);
        }
    }

    fn tables_of(n: usize) {
        let p = 7;
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
                let shared = Shared::default();
                let (mut joints, mut counter, mut margins) = (Joints::new(way), Counter::new(way), Margins::default());
                let mut tables = 0;
                for size in 0..4 {
                    for members in 0u32..1 << p {
                        let set: Vec<u32> = (0..p as u32).filter(|v| members >> v & 1 == 1).collect();
                        let free: Vec<u32> = (0..p as u32).filter(|v| members >> v & 1 == 0).collect();
                        // Without some tables of size 2, those of size 3 lack margins.
                        let asked = |&&x: &&u32| set.len() == size && (size != 2 || (members + x) % 9 != 0);
                        for &x in free.iter().filter(asked) {
                            let others: Vec<u32> = free.iter().copied().filter(|&y| y != x).collect();
                            let mut sum = |y: u32, table: &Table| {
                                table.summary(Statistic::G2, Order::of(x as usize, y as usize), &mut margins)
                            };
                            let (mut want, mut found) = (vec![None; others.len()], vec![None; others.len()]);
                            counter.count(&data, x, &set, &others, &mut |at, table| {
                                want[at] = Some(sum(others[at], table))
                            });
                            joints.count(&data, &shared, x, &set, &others, &mut |at, table| {
                                found[at] = Some(sum(others[at], table))
                            });
                            assert_eq!(found, want, "{x}, {others:?} | {set:?}, {way:?}");
                            tables += others.len();
                        }
                    }
                }
                let kept = joints.cache.as_ref().map_or(0, CacheHandle::len);
                assert!(tables > 1000 && (way == Way::Cells || kept > 60), "{tables} tables, {kept} kept");
            }
        }
    }
}
