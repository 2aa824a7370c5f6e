//! The pairs of a level, cut into shards.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lanes::Lanes;
use super::level::{CandidateOrder, Neighbours, PairSide, Verdict};
use super::progress::SetCounts;
use super::Options;
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::Result;

/// Number of rows that stand together. Their pairs are decided by blocks of the other vertex: a block's data stay in the cache for all of
/// the rows.
const TILE_ROWS: usize = 32;

/// Number of vertices in a block.
const TILE_OTHERS: u32 = 256;

/// Number of edges for each variable from which rows are long.
const LONG_ROWS: usize = 32;

/// Number of lanes of a heavy row that are run together.
const HEAVY_LANES: usize = 64;

/// Workers with fewer tests per shard ask them one after the other, and each test may take long. Threads that shared a pair would run sets
/// that another thread has made needless. So whole pairs stay together.
const FEW_TESTS: u64 = 8;

/// For workers with few tests per shard: how many times `shard_tests` a shard may have, and how many times the target a lane may have
/// uncut.
const TIMES_FEW: u64 = 8;
const WHOLE: f64 = 4.0;

/// Largest number of ranges into which the sets of a pair are cut.
const MOST_PIECES: u64 = 4096;

/// The part of a level that a shard covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All sets of the lanes of some rows whose other vertex lies in a range.
    Tile {
        /// The rows.
        rows: Range<usize>,
        /// The other vertices.
        others: Range<u32>,
    },
    /// Some sets of some lanes of a heavy row.
    Lanes {
        /// The row.
        row: usize,
        /// Range of the row's lanes.
        lanes: Range<usize>,
        /// Range of sets, by rank among the subsets of the row's whole list.
        sets: Range<u64>,
        /// Index of the first lane's limit, see [`Work::limits`].
        limits: usize,
    },
    /// All sets of some sides.
    Sides(Range<usize>),
    /// Some sets of a heavy side.
    Ranks {
        /// The side.
        side: usize,
        /// Range of sets, by rank.
        ranks: Range<u64>,
        /// Index of the side's limit.
        limit: usize,
    },
}

impl Part {
    /// Returns whether the part has all sets of its pairs.
    pub fn is_whole(&self) -> bool {
        matches!(self, Part::Tile { .. } | Part::Sides(_))
    }
}

/// A piece of work for one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    /// The part of the level.
    pub part: Part,
    /// Largest possible number of tests.
    pub cost: f64,
}

/// Pairs to be decided with conditioning sets of one size, cut into shards. Every set of every pair is in exactly one shard.
#[derive(Debug)]
pub struct Work<'a> {
    /// Size of the conditioning sets, at least 1.
    pub size: usize,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// Options of the search: the significance level, and how to read a test without an answer.
    pub options: &'a Options,
    /// The pairs, if their candidates stand in ascending order and a row's pairs are decided together.
    pub lanes: Lanes,
    /// The pairs one by one, if they are not in `lanes`.
    pub sides: Vec<PairSide>,
    /// The shards.
    pub shards: Vec<Shard>,
    /// Whether the caller reads the rank of a pair's largest p-value if no set separates.
    pub reads_largest: bool,
    /// For each pair whose sets are cut: the smallest rank found to separate. Other shards skip the sets after it.
    limits: Vec<AtomicU64>,
}

impl<'a> Work<'a> {
    /// Returns the same work for an order that reads the rank of a pair's largest p-value.
    pub fn reading_largest(self) -> Self {
        Work { reads_largest: true, ..self }
    }

    /// Makes a work from its parts, without shards.
    pub(super) fn of_parts(
        size: usize,
        neighbours: &'a Neighbours,
        options: &'a Options,
        lanes: Lanes,
        sides: Vec<PairSide>,
        limits: Vec<AtomicU64>,
    ) -> Self {
        Work { size, neighbours, options, lanes, sides, shards: Vec::new(), reads_largest: false, limits }
    }

    fn empty(size: usize, neighbours: &'a Neighbours, options: &'a Options) -> Self {
        Self::of_parts(size, neighbours, options, Lanes::default(), Vec::new(), Vec::new())
    }

    /// Cuts the lanes of rows with at least `size` other neighbours into shards. A shard has about 1 / (16 * `threads`) of all tests, so
    /// that no thread waits. Bounds are `shard_tests` / 8 and 32 * `shard_tests`, or 8 * `shard_tests` if that argument is small.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    pub fn of_lanes(
        size: usize,
        neighbours: &'a Neighbours,
        lanes: Lanes,
        options: &'a Options,
        shard_tests: u64,
        threads: usize,
    ) -> Result<Self> {
        let p = neighbours.p();
        let mut counts = SetCounts::new(size);
        let mut tests_a_lane = |row: usize| counts.of_row(neighbours.degree(row));
        let of_row: Vec<f64> = (0..p).map(|row| tests_a_lane(row) * lanes.of(row).len() as f64).collect();
        let total: f64 = of_row.iter().sum();
        let is_few = shard_tests < FEW_TESTS;
        let most = shard_tests as f64 * if is_few { TIMES_FEW as f64 } else { 32.0 };
        let least = shard_tests as f64 / 8.0;
        let target = (total / (16 * threads) as f64).clamp(least, most);
        // Blocks of the other vertex pay if rows are long and most sets are skipped.
        let are_long = size == 1 && neighbours.edge_count() >= LONG_ROWS * p;
        let blocks: u32 = if are_long { (p as u32).div_ceil(TILE_OTHERS) } else { 1 };
        let others =
            |block: u32| if blocks == 1 { 0..p as u32 } else { block * TILE_OTHERS..(block + 1) * TILE_OTHERS };

        let mut work = Work { lanes, ..Work::empty(size, neighbours, options) };
        let mut row = 0;
        while row < p {
            let (start, mut cost) = (row, 0.0);
            while row < p && row - start < TILE_ROWS && cost + of_row[row] <= target * f64::from(blocks) {
                cost += of_row[row];
                row += 1;
            }
            if row > start {
                if cost > 0.0 {
                    for block in 0..blocks {
                        let part = Part::Tile { rows: start..row, others: others(block) };
                        work.push(part, cost / f64::from(blocks))?;
                    }
                }
            } else {
                work.cut(row, tests_a_lane(row), target, is_few)?;
                row += 1;
            }
        }
        Ok(work)
    }

    fn push(&mut self, part: Part, cost: f64) -> Result<()> {
        memory::push(&mut self.shards, Shard { part, cost }, Use::Level)
    }

    fn push_limit(&mut self) -> Result<()> {
        memory::push(&mut self.limits, AtomicU64::new(u64::MAX), Use::Level)
    }

    /// Cuts one heavy row into groups of a few lanes, and heavy groups into ranges of sets.
    fn cut(&mut self, row: usize, tests_a_lane: f64, target: f64, is_few: bool) -> Result<()> {
        let count = self.lanes.of(row).len();
        let all = subsets::binomial(self.neighbours.degree(row), self.size).unwrap_or(u64::MAX);
        // Either as many lanes as fit with all their sets, or as many as share the data that a set needs.
        let (width, target) = match is_few {
            true => (((target / tests_a_lane) as usize).clamp(1, count.max(1)), WHOLE * target),
            false => (count.min(HEAVY_LANES), target),
        };
        for from in (0..count).step_by(width.max(1)) {
            let part = from..(from + width).min(count);
            let cost = tests_a_lane * part.len() as f64;
            let pieces = ((cost / target).ceil() as u64).clamp(1, MOST_PIECES);
            let step = all.div_ceil(pieces);
            let limits = self.limits.len();
            for _ in part.clone() {
                self.push_limit()?;
            }
            let mut next = 0;
            while next < all {
                let end = next.saturating_add(step).min(all);
                let cost = cost * (end - next) as f64 / all as f64;
                self.push(Part::Lanes { row, lanes: part.clone(), sets: next..end, limits }, cost)?;
                next = end;
            }
        }
        Ok(())
    }

    /// Cuts sides into shards of about `shard_tests` tests. If that is [`u64::MAX`], a worker takes any number of tests at once. A shard then
    /// has about 1 / (16 * `threads`) of all tests, so that several workers can share them.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    pub fn of_sides(
        size: usize,
        neighbours: &'a Neighbours,
        sides: Vec<PairSide>,
        options: &'a Options,
        shard_tests: u64,
        threads: usize,
    ) -> Result<Self> {
        let shard_tests = if shard_tests < FEW_TESTS { TIMES_FEW * shard_tests } else { shard_tests };
        let together = match shard_tests {
            u64::MAX => {
                let total = sides.iter().fold(0u64, |sum, side| sum.saturating_add(side.count));
                total.div_ceil(16 * threads.max(1) as u64)
            }
            _ => shard_tests,
        };
        let mut work = Work::empty(size, neighbours, options);
        let (mut start, mut cost) = (0, 0u64);
        for (at, side) in sides.iter().enumerate() {
            if side.count > shard_tests.saturating_mul(2) {
                if start < at {
                    work.push(Part::Sides(start..at), cost as f64)?;
                }
                let step = shard_tests.max(side.count.div_ceil(MOST_PIECES));
                let limit = work.limits.len();
                work.push_limit()?;
                let mut from = 0;
                while from < side.count {
                    let to = side.count.min(from.saturating_add(step));
                    work.push(Part::Ranks { side: at, ranks: from..to, limit }, (to - from) as f64)?;
                    from = to;
                }
                (start, cost) = (at + 1, 0);
            } else {
                cost = cost.saturating_add(side.count);
                if cost >= together {
                    work.push(Part::Sides(start..at + 1), cost as f64)?;
                    (start, cost) = (at + 1, 0);
                }
            }
        }
        if start < sides.len() {
            work.push(Part::Sides(start..sides.len()), cost as f64)?;
        }
        work.sides = sides;
        Ok(work)
    }

    /// Empties a shard, and returns what it was.
    pub(super) fn clear(&mut self, shard: usize) -> Shard {
        let part = if self.sides.is_empty() { Part::Tile { rows: 0..0, others: 0..0 } } else { Part::Sides(0..0) };
        std::mem::replace(&mut self.shards[shard], Shard { part, cost: 0.0 })
    }

    /// Returns about how many bytes `sides` sides take with their shards and verdicts. A shard has several sides.
    pub(super) fn bytes(sides: usize) -> usize {
        sides.saturating_mul(2 * size_of::<PairSide>() + 3 * size_of::<Verdict>())
    }

    /// Returns the number of tests if none is skipped, as a float because it may exceed 64 bits.
    pub fn cost(&self) -> f64 {
        self.shards.iter().map(|shard| shard.cost).sum()
    }

    /// Returns the lanes of a row whose other vertex lies in a range.
    pub fn lanes_between(&self, row: usize, others: &Range<u32>) -> Range<usize> {
        let (list, places) = (self.neighbours.list(row), self.lanes.of(row));
        let before = |places: &[u32], end: u32| places.partition_point(|&place| list[place as usize] < end);
        let first = before(places, others.start);
        let most = others.len().min(places.len() - first);
        first..first + before(&places[first..first + most], others.end)
    }

    /// Returns what a shard asks, pair by pair: the index under which to enter the outcome, the side, and the range of the side's ranks. It
    /// is for workers that take one pair after the other.
    pub fn pairs_of(&self, shard: &Shard) -> Vec<(usize, PairSide, Range<u64>)> {
        match &shard.part {
            Part::Tile { rows, others } => {
                let of_row = |row: usize| self.lanes_between(row, others).map(move |lane| (row, lane));
                let pair = |(row, lane)| {
                    let side = self.side_of(row, lane);
                    (lane, side, 0..side.count)
                };
                rows.clone().flat_map(of_row).map(pair).collect()
            }
            Part::Lanes { row, lanes, sets, .. } => {
                let pair = |lane| {
                    let side = self.side_of(*row, lane);
                    (lane, side, self.own_rank(&side, sets.start)..self.own_rank(&side, sets.end))
                };
                lanes.clone().map(pair).collect()
            }
            Part::Sides(sides) => sides.clone().map(|at| (at, self.sides[at], 0..self.sides[at].count)).collect(),
            Part::Ranks { side, ranks, .. } => vec![(*side, self.sides[*side], ranks.clone())],
        }
    }

    /// Returns a lane as a side.
    fn side_of(&self, row: usize, lane: usize) -> PairSide {
        let place = self.lanes.of(row)[lane];
        let count = subsets::binomial(self.neighbours.degree(row) - 1, self.size).unwrap_or(u64::MAX);
        let other = self.neighbours.list(row)[place as usize];
        PairSide { row: row as u32, other, place, order: CandidateOrder::Ascending, count }
    }

    /// Returns how many sets of a side come before the set of this rank among the subsets of the row's whole list.
    fn own_rank(&self, side: &PairSide, rank: u64) -> u64 {
        let degree = self.neighbours.degree(side.row as usize);
        if rank >= subsets::binomial(degree, self.size).unwrap_or(u64::MAX) {
            return side.count;
        }
        let mut set = vec![0; self.size];
        subsets::unrank(degree, rank, &mut set);
        subsets::rank_without(degree, &set, side.place as usize)
    }

    /// Returns the smallest ranks found to separate pairs whose sets are cut. Sets of a higher rank need no test.
    pub fn limits(&self, of: Range<usize>) -> &[AtomicU64] {
        &self.limits[of]
    }

    /// Returns the number of limits.
    pub(super) fn limit_count(&self) -> usize {
        self.limits.len()
    }

    /// Lowers a limit to `rank`, if that is smaller.
    pub(super) fn found(&self, limit: usize, rank: u64) {
        self.limits[limit].fetch_min(rank, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;

    #[test]
    fn shards_cover_every_set_of_every_lane_once() {
        let p = 70;
        let lists: Vec<Vec<u32>> =
            (0..p as u32).map(|x| (0..p as u32).filter(|y| (x * 31 + y * 17) % 3 != 0).collect()).collect();
        let neighbours = Neighbours::of(Adjacency::from_lists(&lists));
        let asked: Vec<Vec<u32>> =
            (0..p as u32).map(|x| (0..p as u32).filter(|y| (x + y) % 5 != 0).collect()).collect();
        let asked = Adjacency::from_lists(&asked);
        for (size, shard_tests, threads) in [(1, 1, 1), (1, 1 << 16, 2), (2, 3, 1), (3, 500, 8), (2, 1 << 30, 3)] {
            let lanes = Lanes::of_first_in(&neighbours, size, &asked);
            let options = Options::new(p, 0.05);
            let work = Work::of_lanes(size, &neighbours, lanes, &options, shard_tests, threads).unwrap();
            let lanes = &work.lanes;
            let mut seen: Vec<Vec<Range<u64>>> = vec![Vec::new(); p * p];
            for shard in &work.shards {
                match &shard.part {
                    Part::Tile { rows, others } => {
                        for row in rows.clone() {
                            let all = subsets::binomial(neighbours.degree(row), size).unwrap();
                            for &place in lanes.of(row) {
                                let other = neighbours.list(row)[place as usize];
                                if others.contains(&other) {
                                    seen[row * p + other as usize].push(0..all);
                                }
                            }
                        }
                    }
                    Part::Lanes { row, lanes: part, sets, .. } => {
                        for &place in &lanes.of(*row)[part.clone()] {
                            seen[row * p + neighbours.list(*row)[place as usize] as usize].push(sets.clone());
                        }
                    }
                    other => panic!("{other:?} among lanes"),
                }
            }
            for x in 0..p {
                let all = subsets::binomial(neighbours.degree(x), size).unwrap();
                for y in 0..p {
                    let mut next = 0;
                    for range in &seen[x * p + y] {
                        assert_eq!(range.start, next);
                        next = range.end;
                    }
                    let wanted = x < y && neighbours.adjacent(x, y) && (x + y) % 5 != 0;
                    assert_eq!(next, if wanted { all } else { 0 }, "{x}, {y} at size {size}");
                }
            }
        }
    }

    #[test]
    fn shards_cover_every_rank_of_every_side_once() {
        let neighbours = Neighbours::of(Adjacency::complete(3));
        let counts = [3u64, 900, 5, 0, 64, 64, 64, 1, 2000];
        let sides: Vec<PairSide> = counts
            .iter()
            .map(|&count| PairSide { row: 0, other: 1, place: 0, order: CandidateOrder::Ascending, count })
            .collect();
        for shard_tests in [1, 7, 100, 1 << 20, u64::MAX] {
            let options = Options::new(3, 0.05);
            let work = Work::of_sides(1, &neighbours, sides.clone(), &options, shard_tests, 2).unwrap();
            if shard_tests == u64::MAX {
                // No side is cut, and no shard could be halved: one side has most of the tests.
                assert!(work.shards.len() > 2 && work.shards.iter().all(|shard| shard.part.is_whole()));
            }
            let mut seen: Vec<Vec<Range<u64>>> = vec![Vec::new(); counts.len()];
            for shard in &work.shards {
                match &shard.part {
                    Part::Sides(some) => some.clone().for_each(|at| seen[at].push(0..counts[at])),
                    Part::Ranks { side, ranks, .. } => seen[*side].push(ranks.clone()),
                    other => panic!("{other:?} among sides"),
                }
            }
            for (ranges, &count) in seen.iter().zip(&counts) {
                let mut next = 0;
                for range in ranges {
                    assert_eq!(range.start, next);
                    next = range.end;
                }
                assert_eq!(next, count);
            }
        }
    }

    #[test]
    fn pairs_of_shards_have_every_rank_of_every_pair_once() {
        let neighbours = Neighbours::of(Adjacency::complete(9));
        for (size, shard_tests) in [(1, 1), (2, 3), (3, 1), (3, 40), (4, 1 << 20)] {
            let lanes = Lanes::of_first(&neighbours, size);
            let options = Options::new(9, 0.05);
            let work = Work::of_lanes(size, &neighbours, lanes, &options, shard_tests, 4).unwrap();
            let mut next = vec![0; 81];
            for shard in &work.shards {
                for (at, side, ranks) in work.pairs_of(shard) {
                    assert_eq!(work.lanes.of(side.row as usize)[at], side.place);
                    let seen = &mut next[side.row as usize * 9 + side.other as usize];
                    assert_eq!(*seen, ranks.start, "{shard:?}");
                    *seen = ranks.end;
                }
            }
            let all = subsets::binomial(7, size).unwrap();
            for x in 0..9 {
                for y in 0..9 {
                    assert_eq!(next[x * 9 + y], if x < y { all } else { 0 }, "{x}, {y} at size {size}");
                }
            }
        }
    }
}
