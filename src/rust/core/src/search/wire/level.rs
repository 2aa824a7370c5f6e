//! The pairs of a level as bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Reader, Writer};
use crate::graph::subsets;
use crate::search::lanes::Lanes;
use crate::search::level::{CandidateOrder, Neighbours, PairSide};
use crate::search::shards::{Part, Shard, Work};
use crate::search::Options;

/// The order of a side's candidates, and whether the other vertex is outside the row's list.
const ASCENDING: u8 = 0;
const COMMON_LAST: u8 = 1;
const OUTSIDE: u8 = 2;

impl<'a> Work<'a> {
    /// Returns some of the shards as bytes, with their pairs and the known limits, without the neighbourhoods.
    pub fn piece_to_bytes(&self, shards: Range<usize>) -> Vec<u8> {
        let shards = &self.shards[shards];
        let mut bytes = Writer::default();
        bytes.small(self.size as u64);
        bytes.float(self.options.alpha);
        let form = [self.options.na_delete, !self.sides.is_empty(), self.reads_largest];
        bytes.0.push((0..).zip(form).map(|(bit, is)| u8::from(is) << bit).sum());
        if self.sides.is_empty() {
            self.write_rows(shards, &mut bytes);
        } else {
            self.write_sides(shards, &mut bytes);
        }
        bytes.0
    }

    /// Writes rows with all of their lanes, as shards refer to these by number; then the shards.
    fn write_rows(&self, shards: &[Shard], bytes: &mut Writer) {
        let mut rows: Vec<u32> = Vec::new();
        let mut limits = Limits::default();
        let mut starts = Vec::new();
        for shard in shards {
            match &shard.part {
                Part::Tile { rows: of_tile, .. } => {
                    let more = of_tile.clone().filter(|&row| self.lanes.any(row)).map(|row| row as u32);
                    rows.extend(more);
                    starts.push(0);
                }
                Part::Lanes { row, lanes, limits: from, .. } => {
                    rows.push(*row as u32);
                    starts.push(limits.place(*from..*from + lanes.len()));
                }
                Part::Sides(_) | Part::Ranks { .. } => starts.push(0),
            }
        }
        rows.sort_unstable();
        rows.dedup();
        bytes.runs(&rows);
        rows.iter().for_each(|&row| bytes.runs(self.lanes.of(row as usize)));
        limits.write(self, bytes);
        bytes.small(shards.len() as u64);
        shards.iter().zip(starts).for_each(|(shard, start)| shard.write(start, bytes));
    }

    /// Writes the sides of the shards, counted from the first of them; then the shards.
    fn write_sides(&self, shards: &[Shard], bytes: &mut Writer) {
        let of_shard = |shard: &Shard| match &shard.part {
            Part::Sides(sides) => sides.clone(),
            Part::Ranks { side, .. } => *side..side + 1,
            Part::Tile { .. } | Part::Lanes { .. } => 0..0,
        };
        let first = shards.iter().map(|shard| of_shard(shard).start).min().unwrap_or(0);
        let end = shards.iter().map(|shard| of_shard(shard).end).max().unwrap_or(first);
        bytes.small((end - first) as u64);
        for side in &self.sides[first..end] {
            bytes.small(u64::from(side.row));
            bytes.small(u64::from(side.other));
            bytes.0.push(match side.order {
                CandidateOrder::CommonLast => COMMON_LAST,
                CandidateOrder::Ascending if side.is_outside() => OUTSIDE,
                CandidateOrder::Ascending => ASCENDING,
            });
            bytes.small(side.count);
        }
        let mut limits = Limits::default();
        let mut moved = Vec::with_capacity(shards.len());
        for shard in shards {
            moved.push(match &shard.part {
                Part::Ranks { side, ranks, limit } => {
                    let part = Part::Ranks { side: side - first, ranks: ranks.clone(), limit: *limit };
                    (Shard { part, cost: shard.cost }, limits.place(*limit..limit + 1))
                }
                _ => {
                    let sides = of_shard(shard);
                    (Shard { part: Part::Sides(sides.start - first..sides.end - first), cost: shard.cost }, 0)
                }
            });
        }
        limits.write(self, bytes);
        bytes.small(shards.len() as u64);
        moved.iter().for_each(|(shard, start)| shard.write(*start, bytes));
    }

    /// Reads the search's options from a piece on p variables. `None` if the bytes are not a piece.
    pub fn options_of_piece(bytes: &[u8], p: usize) -> Option<Options> {
        let (_, alpha, form) = read_head(&mut Reader(bytes))?;
        Some(Options { na_delete: form & 1 != 0, ..Options::new(p, alpha) })
    }

    /// Reads a piece from bytes. `None` if they are not those of [`Work::piece_to_bytes`] on these neighbourhoods. Shards keep the order in
    /// which they were sent. `options`: those of [`Work::options_of_piece`].
    pub fn piece_from_bytes(bytes: &[u8], neighbours: &'a Neighbours, options: &'a Options) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let p = neighbours.p();
        let (size, _, form) = read_head(&mut bytes)?;
        if !(1..p).contains(&size) || form > 7 {
            return None;
        }
        let mut sides = Vec::new();
        let mut lanes = Lanes::default();
        if form & 2 == 0 {
            let rows = bytes.runs(p)?;
            let mut of_rows = vec![Vec::new(); p];
            for row in rows {
                of_rows[row as usize] = bytes.runs(neighbours.degree(row as usize))?;
            }
            lanes = Lanes::of_rows(of_rows);
        } else {
            let count = bytes.small_index()?;
            for _ in 0..bytes.fits(count, 4)? {
                sides.push(read_side(&mut bytes, neighbours, size)?);
            }
        }
        let count = bytes.small_index()?;
        let mut limits = Vec::new();
        for _ in 0..bytes.fits(count, 1)? {
            // 0 stands for nothing found yet.
            limits.push(AtomicU64::new(bytes.small()?.wrapping_sub(1)));
        }
        let mut work = Work::of_parts(size, neighbours, options, lanes, sides, limits);
        work.reads_largest = form & 4 != 0;
        let count = bytes.small_index()?;
        for _ in 0..bytes.fits(count, 8)? {
            let shard = Shard::read(&mut bytes)?;
            work.holds(&shard).then_some(())?;
            work.shards.push(shard);
        }
        bytes.end(work)
    }

    /// Returns whether a shard fits this work's pairs.
    fn holds(&self, shard: &Shard) -> bool {
        let p = self.neighbours.p();
        let of_rows = self.sides.is_empty();
        match &shard.part {
            Part::Tile { rows, .. } => of_rows && rows.start <= rows.end && rows.end <= p,
            Part::Lanes { row, lanes, sets, limits } => {
                let all = |row: usize| subsets::binomial(self.neighbours.degree(row), self.size);
                of_rows
                    && *row < p
                    && lanes.start <= lanes.end
                    && lanes.end <= self.lanes.of(*row).len()
                    && sets.start <= sets.end
                    && all(*row).is_none_or(|all| sets.end <= all)
                    && limits.checked_add(lanes.len()).is_some_and(|end| end <= self.limit_count())
            }
            Part::Sides(sides) => sides.start <= sides.end && sides.end <= self.sides.len(),
            Part::Ranks { side, ranks, limit } => {
                let within = |side: &PairSide| ranks.start <= ranks.end && ranks.end <= side.count;
                self.sides.get(*side).is_some_and(within) && *limit < self.limit_count()
            }
        }
    }
}

/// Reads the head of a piece: the size of its sets, the significance level, and its form.
fn read_head(bytes: &mut Reader) -> Option<(usize, f64, u8)> {
    Some((bytes.small_index()?, bytes.float()?, bytes.take(1)?[0]))
}

/// Reads a side. `None` if it does not fit these neighbourhoods, or has more sets than it can have.
fn read_side(bytes: &mut Reader, neighbours: &Neighbours, size: usize) -> Option<PairSide> {
    let p = neighbours.p();
    let (row, other) = (u32::try_from(bytes.small()?).ok()?, u32::try_from(bytes.small()?).ok()?);
    let form = bytes.take(1)?[0];
    let order = if form == COMMON_LAST { CandidateOrder::CommonLast } else { CandidateOrder::Ascending };
    let count = bytes.small()?;
    let place = ((row as usize) < p).then(|| neighbours.place_if_any(row as usize, other as usize))?;
    let side = PairSide { row, other, place, order, count };
    let mut all = subsets::binomial(side.candidates_of(neighbours.degree(row as usize)), size)?;
    if order == CandidateOrder::CommonLast {
        // Sets of common neighbours alone are left out.
        all -= subsets::binomial(neighbours.common(row as usize, other as usize), size)?;
    }
    let is_side = (other as usize) < p && other != row && side.is_outside() == (form == OUTSIDE) && count <= all;
    is_side.then_some(side)
}

/// The limits that are sent with some shards, and the position of each range among them.
#[derive(Default)]
struct Limits {
    ranges: Vec<Range<usize>>,
    places: HashMap<usize, usize>,
    count: usize,
}

impl Limits {
    /// Returns the position of this range. Shards that share limits name the same range.
    fn place(&mut self, range: Range<usize>) -> usize {
        *self.places.entry(range.start).or_insert_with(|| {
            self.count += range.len();
            self.ranges.push(range.clone());
            self.count - range.len()
        })
    }

    fn write(&self, work: &Work, bytes: &mut Writer) {
        bytes.small(self.count as u64);
        for limit in self.ranges.iter().flat_map(|range| work.limits(range.clone())) {
            bytes.small(limit.load(Ordering::Relaxed).wrapping_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;

    fn graph(p: u32, keeps: impl Fn(u32, u32) -> bool) -> Adjacency {
        let list = |x: u32| (0..p).filter(|&y| x != y && keeps(x.min(y), x.max(y))).collect();
        Adjacency::from_lists(&(0..p).map(list).collect::<Vec<Vec<u32>>>())
    }

    #[test]
    fn shards_come_back_with_their_pairs_and_limits() {
        let neighbours = Neighbours::of(graph(40, |x, y| (x + y) % 3 != 0));
        let options = Options { na_delete: false, ..Options::new(40, 0.03) };
        let lanes = Lanes::of_first(&neighbours, 2);
        let rows = Work::of_lanes(2, &neighbours, lanes, &options, 100, 3).unwrap();
        let side = |row: usize, order| {
            let other = neighbours.list(row)[1];
            let common = if order == CandidateOrder::CommonLast { neighbours.common(row, other as usize) } else { 0 };
            let of = |n| subsets::binomial(n, 2).unwrap();
            let count = of(neighbours.degree(row) - 1) - of(common);
            PairSide { row: row as u32, other, place: 1, order, count }
        };
        let sides = (0..20).map(|row| side(row, [CandidateOrder::Ascending, CandidateOrder::CommonLast][row % 2]));
        let sides = Work::of_sides(2, &neighbours, sides.collect(), &options, 20, 3).unwrap();
        for work in [rows, sides] {
            assert!(work.shards.len() > 10 && work.limit_count() > 3);
            work.found(2, 5);
            for from in 0..work.shards.len() {
                let shards = from..work.shards.len().min(from + 1 + from % 7);
                let bytes = work.piece_to_bytes(shards.clone());
                let read = |bytes: &[u8], neighbours| Work::piece_from_bytes(bytes, neighbours, &options).is_some();
                let known = Work::options_of_piece(&bytes, 40).unwrap();
                let back = Work::piece_from_bytes(&bytes, &neighbours, &known).unwrap();
                assert_eq!((back.size, known.alpha, known.na_delete), (2, 0.03, false));
                assert_eq!(back.shards.len(), shards.len());
                for (shard, known) in back.shards.iter().zip(&work.shards[shards]) {
                    let of = |work: &Work, shard: &Shard| {
                        work.pairs_of(shard).into_iter().map(|(_, side, ranks)| (side, ranks)).collect::<Vec<_>>()
                    };
                    assert_eq!(of(&back, shard), of(&work, known));
                    let limits = |work: &Work, shard: &Shard| {
                        let range = match &shard.part {
                            Part::Lanes { lanes, limits, .. } => *limits..limits + lanes.len(),
                            Part::Ranks { limit, .. } => *limit..limit + 1,
                            _ => 0..0,
                        };
                        work.limits(range).iter().map(|limit| limit.load(Ordering::Relaxed)).collect::<Vec<_>>()
                    };
                    assert_eq!(limits(&back, shard), limits(&work, known));
                }
                (0..bytes.len()).for_each(|cut| assert!(!read(&bytes[..cut], &neighbours)));
                let few = Neighbours::of(Adjacency::empty(40));
                assert!(!read(&bytes, &few));
            }
        }
    }

    #[test]
    fn shards_that_are_not_the_works_are_seen() {
        let neighbours = Neighbours::of(graph(40, |x, y| (x + y) % 3 != 0));
        let options = Options::new(40, 0.03);
        let rows = Work::of_lanes(2, &neighbours, Lanes::of_first(&neighbours, 2), &options, 100, 3).unwrap();
        let other = neighbours.list(0)[0];
        let side = PairSide { row: 0, other, place: 0, order: CandidateOrder::Ascending, count: 90 };
        let sides = Work::of_sides(2, &neighbours, vec![side; 20], &options, 20, 3).unwrap();
        for work in [rows, sides] {
            for part in [
                Part::Tile { rows: 0..41, others: 0..3 },
                Part::Lanes { row: 41, lanes: 0..1, sets: 0..1, limits: 0 },
                Part::Lanes { row: 1, lanes: 0..100, sets: 0..1, limits: 0 },
                Part::Sides(0..21),
                Part::Ranks { side: 20, ranks: 0..1, limit: 0 },
                Part::Ranks { side: 20, ranks: 0..0, limit: 0 },
                Part::Ranks { side: 0, ranks: 0..1000, limit: 0 },
            ] {
                assert!(!work.holds(&Shard { part, cost: 1.0 }));
            }
        }
    }
}
