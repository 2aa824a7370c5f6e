//! The frozen neighbourhoods of a level, and its pairs.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use super::{Reader, Writer};
use crate::graph::{subsets, Adjacency};
use crate::search::answer::Answers;
use crate::search::lanes::Lanes;
use crate::search::level::{CandidateOrder, Neighbours, PairSide, Verdict};
use crate::search::shards::{Part, Shard, Work};

/// How neighbourhoods are written.
const BITS: u64 = 0;
const PAIRS: u64 = 1;
const ROWS: u64 = 2;
const REMOVED: u64 = 3;

impl Neighbours {
    /// As bytes: whole, or, where that is shorter, as the pairs that are gone since `before`, which the receiver has.
    pub fn to_bytes(&self, before: Option<&Neighbours>) -> Vec<u8> {
        let p = self.p();
        let mut bytes = Writer::default();
        bytes.number(p as u64);
        let Some(graph) = self.graph() else {
            bytes.number(ROWS);
            (0..p).for_each(|x| bytes.vertices(self.list(x)));
            return bytes.0;
        };
        let before = before.and_then(Neighbours::graph).filter(|before| before.p() == p);
        let removed = before.map(|before| (before, before.edge_count().saturating_sub(graph.edge_count())));
        let pairs_shorter = 8 * graph.edge_count() < Adjacency::bytes(p);
        let whole = if pairs_shorter { 8 * graph.edge_count() } else { Adjacency::bytes(p) };
        let larger = |of: &Adjacency, x: usize| of.neighbours(x).filter(|&y| y as usize > x).collect::<Vec<u32>>();
        match removed {
            Some((before, count)) if 8 * count < whole && is_within(graph, before) => {
                bytes.number(REMOVED);
                bytes.number(count as u64);
                for x in 0..p {
                    for y in larger(before, x).into_iter().filter(|&y| !graph.has(x, y as usize)) {
                        bytes.vertex(x as u32);
                        bytes.vertex(y);
                    }
                }
            }
            _ if pairs_shorter => {
                bytes.number(PAIRS);
                (0..p).for_each(|x| bytes.vertices(&larger(graph, x)));
            }
            _ => {
                bytes.number(BITS);
                (0..p).flat_map(|x| graph.row(x)).for_each(|&word| bytes.number(word));
            }
        }
        bytes.0
    }

    /// From bytes; `before` as in [`Neighbours::to_bytes`]. `None` where they are not those of it.
    pub fn from_bytes(bytes: &[u8], before: Option<&Neighbours>) -> Option<Neighbours> {
        let mut bytes = Reader(bytes);
        let p = bytes.index()?;
        let form = bytes.number()?;
        let pair = |x: usize, y: u32| (x < y as usize && (y as usize) < p).then_some((x, y as usize));
        let found = match form {
            BITS | PAIRS => {
                let mut graph = Adjacency::empty(bytes.fits(p, 8 * if form == BITS { p.div_ceil(64) } else { 1 })?);
                for x in 0..p {
                    if form == PAIRS {
                        for y in bytes.vertices()? {
                            let (x, y) = pair(x, y)?;
                            graph.insert(x, y);
                        }
                        continue;
                    }
                    for w in 0..p.div_ceil(64) {
                        let mut word = bytes.number()?;
                        while word != 0 {
                            let y = w * 64 + word.trailing_zeros() as usize;
                            word &= word - 1;
                            // The other half says the same.
                            if y > x {
                                graph.insert(x, pair(x, y as u32)?.1);
                            }
                        }
                    }
                }
                Neighbours::of(graph)
            }
            ROWS => {
                let rows = (0..bytes.fits(p, 8)?).map(|_| bytes.vertices()).collect::<Option<Vec<_>>>()?;
                let ascends = |row: &Vec<u32>| row.windows(2).all(|two| two[0] < two[1]);
                let ends = |row: &Vec<u32>| row.last().is_none_or(|&y| (y as usize) < p);
                rows.iter().all(|row| ascends(row) && ends(row)).then(|| Neighbours::of_lists(&rows))?
            }
            REMOVED => {
                let mut graph = before.filter(|before| before.p() == p)?.graph()?.clone();
                for _ in 0..bytes.count(8)? {
                    let (x, y) = pair(bytes.vertex()? as usize, bytes.vertex()?)?;
                    graph.remove(x, y);
                }
                Neighbours::of(graph)
            }
            _ => return None,
        };
        bytes.0.is_empty().then_some(found)
    }
}

/// Whether every edge of a graph is one of another.
fn is_within(graph: &Adjacency, other: &Adjacency) -> bool {
    (0..graph.p()).all(|x| graph.row(x).iter().zip(other.row(x)).all(|(a, b)| a & !b == 0))
}

impl<'a> Work<'a> {
    /// As bytes, without the neighbourhoods and the shards.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.number(self.size as u64);
        bytes.number(self.alpha.to_bits());
        bytes.number(u64::from(self.na_delete));
        bytes.number(self.limit_count() as u64);
        bytes.number(self.sides.len() as u64);
        for side in &self.sides {
            bytes.vertex(side.row);
            bytes.vertex(side.other);
            bytes.vertex(u32::from(side.order == CandidateOrder::CommonLast));
            bytes.number(side.count);
        }
        if self.sides.is_empty() {
            (0..self.neighbours.p()).for_each(|row| bytes.vertices(self.lanes.of(row)));
        }
        bytes.0
    }

    /// From bytes, without shards; `None` where they are not those of [`Work::to_bytes`] on these neighbourhoods.
    pub fn from_bytes(bytes: &[u8], neighbours: &'a Neighbours) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let p = neighbours.p();
        let (size, alpha) = (bytes.index()?, f64::from_bits(bytes.number()?));
        let na_delete = [false, true].get(bytes.index()?).copied()?;
        let limits = bytes.index()?;
        let mut sides = Vec::new();
        for _ in 0..bytes.count(20)? {
            let (row, other, order, count) = (bytes.vertex()?, bytes.vertex()?, bytes.vertex()?, bytes.number()?);
            let order = if order == 1 { CandidateOrder::CommonLast } else { CandidateOrder::Ascending };
            let place = ((row as usize) < p).then(|| neighbours.place(row as usize, other as usize))?;
            let list = neighbours.list(row as usize);
            let mut all = subsets::binomial(list.len().checked_sub(1)?, size)?;
            if order == CandidateOrder::CommonLast {
                // Common neighbours are known from bit rows alone; sets of them are left out.
                neighbours.graph()?;
                all -= subsets::binomial(neighbours.common(row as usize, other as usize), size)?;
            }
            ((other as usize) < p && list.get(place as usize) == Some(&other) && count <= all).then_some(())?;
            sides.push(PairSide { row, other, place, order, count });
        }
        let mut rows = Vec::new();
        for row in 0..if sides.is_empty() { p } else { 0 } {
            let places = bytes.vertices()?;
            let ends = places.last().is_none_or(|&place| (place as usize) < neighbours.degree(row));
            (ends && places.windows(2).all(|two| two[0] < two[1])).then(|| rows.push(places))?;
        }
        // Of each side one limit, or one of each lane.
        let lanes: usize = rows.iter().map(Vec::len).sum();
        let limits = (limits <= lanes.max(sides.len())).then(|| (0..limits).map(|_| AtomicU64::new(u64::MAX)))?;
        let work = Work::of_parts(size, neighbours, (alpha, na_delete), Lanes::of_rows(rows), sides, limits.collect());
        (bytes.0.is_empty() && (1..p).contains(&size)).then_some(work)
    }

    /// Whether a shard is one of this work's pairs.
    pub fn holds(&self, shard: &Shard) -> bool {
        let p = self.neighbours.p();
        match &shard.part {
            Part::Tile { rows, .. } => rows.start <= rows.end && rows.end <= p && self.sides.is_empty(),
            Part::Lanes { row, lanes, sets, limits } => {
                let all = |row: usize| subsets::binomial(self.neighbours.degree(row), self.size);
                *row < p
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

    /// Whether answers are those of a shard that this work [holds](Work::holds): its pairs, ranks among theirs, sets of vertices.
    /// Others must not be [entered](crate::search::book::Page::enter_all).
    pub fn accepts(&self, shard: &Shard, answers: &Answers) -> bool {
        let p = self.neighbours.p();
        let of_shard = |(at, side, _): (usize, PairSide, _)| ((side.row, at), side.count);
        let counts: HashMap<(u32, usize), u64> = self.pairs_of(shard).into_iter().map(of_shard).collect();
        answers.of_pairs.iter().all(|answer| {
            let is_set = answer.set.len() == self.size && answer.set.iter().all(|&member| (member as usize) < p);
            match (counts.get(&(answer.row, answer.at)), answer.verdict) {
                (Some(&count), Verdict::Dependent { rank, .. }) => rank <= count,
                (Some(&count), verdict) => verdict.rank() < count && is_set,
                (None, _) => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Options;

    fn graph(p: u32, keeps: impl Fn(u32, u32) -> bool) -> Adjacency {
        let list = |x: u32| (0..p).filter(|&y| x != y && keeps(x.min(y), x.max(y))).collect();
        Adjacency::from_lists(&(0..p).map(list).collect::<Vec<Vec<u32>>>())
    }

    fn same(found: Option<Neighbours>, wanted: &Neighbours) {
        let found = found.unwrap();
        assert_eq!(found.graph(), wanted.graph());
        assert_eq!(found.p(), wanted.p());
        (0..found.p()).for_each(|x| assert_eq!(found.list(x), wanted.list(x)));
    }

    #[test]
    fn neighbourhoods_come_back_whole_or_as_what_changed() {
        let p = 130;
        let dense = Neighbours::of(graph(p, |x, y| (x * 31 + y * 17) % 3 != 0));
        let less = Neighbours::of(graph(p, |x, y| (x * 31 + y * 17) % 3 != 0 && (x + y) % 40 != 0));
        let sparse = Neighbours::of(graph(p, |x, y| (x * 31 + y * 17) % 3 != 0 && (x + y) % 40 == 1));
        let rows = Neighbours::of_rows(dense.graph().unwrap(), &[3, 70, 129]);
        for (found, before, form) in [
            (&dense, None, BITS),
            (&less, Some(&dense), REMOVED),
            (&sparse, Some(&dense), PAIRS),
            // What grows is sent whole.
            (&dense, Some(&less), BITS),
            (&less, Some(&rows), BITS),
            (&rows, Some(&dense), ROWS),
            (&dense, Some(&dense), REMOVED),
        ] {
            let bytes = found.to_bytes(before);
            assert_eq!(Reader(&bytes[8..]).number(), Some(form));
            same(Neighbours::from_bytes(&bytes, before), found);
            for cut in 0..bytes.len().min(300) {
                assert!(Neighbours::from_bytes(&bytes[..cut], before).is_none());
            }
        }
        assert!(Neighbours::from_bytes(&less.to_bytes(Some(&dense)), None).is_none());
        // A vertex that is none.
        let mut bytes = sparse.to_bytes(None);
        bytes[24..28].fill(255);
        assert!(Neighbours::from_bytes(&bytes, None).is_none());
    }

    #[test]
    fn work_comes_back_and_strange_shards_are_seen() {
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
        let sides = Work::of_sides(2, &neighbours, sides.collect(), &options, 20).unwrap();
        for work in [rows, sides] {
            let bytes = work.to_bytes();
            let back = Work::from_bytes(&bytes, &neighbours).unwrap();
            assert_eq!((back.size, back.alpha, back.na_delete), (2, 0.03, false));
            assert_eq!(back.sides, work.sides);
            (0..40).for_each(|row| assert_eq!(back.lanes.of(row), work.lanes.of(row)));
            assert!(work.shards.len() > 10 && work.shards.iter().all(|shard| back.holds(shard)));
            (0..bytes.len()).for_each(|cut| assert!(Work::from_bytes(&bytes[..cut], &neighbours).is_none()));
            let few = Neighbours::of(Adjacency::empty(40));
            assert!(Work::from_bytes(&bytes, &few).is_none());
            for part in [
                Part::Tile { rows: 0..41, others: 0..3 },
                Part::Lanes { row: 41, lanes: 0..1, sets: 0..1, limits: 0 },
                Part::Lanes { row: 1, lanes: 0..100, sets: 0..1, limits: 0 },
                Part::Sides(0..21),
                Part::Ranks { side: 20, ranks: 0..1, limit: 0 },
                Part::Ranks { side: 20, ranks: 0..0, limit: 0 },
                Part::Ranks { side: 0, ranks: 0..1000, limit: 0 },
            ] {
                assert!(!back.holds(&Shard { part, cost: 1.0 }));
            }
        }
    }
}
