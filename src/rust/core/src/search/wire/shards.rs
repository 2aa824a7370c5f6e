//! Shards, and what a worker found in them, as bytes.

use super::{Reader, Writer};
use crate::ci::reason_of;
use crate::search::answer::{Answers, PairAnswer};
use crate::search::level::Verdict;
use crate::search::shards::{Part, Shard, Work};

/// The kind of a verdict. `EXACT` is added if the exact formula decided tests.
const INDEPENDENT: u8 = 0;
const DEPENDENT: u8 = 1;
const UNDEFINED: u8 = 2;
const EXACT: u8 = 4;

impl Answers {
    /// Returns the answers as bytes, in the order of [`Work::pairs_of`]. Ranks stand for the sets.
    pub fn to_bytes(&self, work: &Work) -> Vec<u8> {
        let mut bytes = Writer(Vec::with_capacity(16 * self.of_pairs.len() + 16));
        bytes.small(self.of_pairs.len() as u64);
        let of_rows = work.sides.is_empty();
        let first = work.shards.get(self.shard as usize).map_or(0, Shard::first_side);
        let key = |answer: &PairAnswer| (if of_rows { answer.row } else { 0 }, answer.at - first);
        let mut order: Vec<&PairAnswer> = self.of_pairs.iter().collect();
        if !order.is_sorted_by_key(|answer| key(answer)) {
            order.sort_unstable_by_key(|answer| key(answer));
        }
        let mut last = (0, 0);
        for answer in order {
            let (row, at) = key(answer);
            if of_rows {
                bytes.small(u64::from(row - last.0));
            }
            bytes.small((at - if row == last.0 { last.1 } else { 0 }) as u64);
            last = (row, at);
            let (kind, reason) = match answer.verdict {
                Verdict::Independent { .. } => (INDEPENDENT, None),
                Verdict::Dependent { .. } => (DEPENDENT, None),
                Verdict::Undefined { reason, .. } => (UNDEFINED, Some(reason)),
            };
            bytes.0.push(kind | if answer.exact_tests > 0 { EXACT } else { 0 });
            bytes.small(answer.verdict.rank());
            if answer.exact_tests > 0 {
                bytes.small(answer.exact_tests);
            }
            match (answer.verdict, reason) {
                (_, Some(reason)) => bytes.text(reason),
                (Verdict::Independent { p, .. } | Verdict::Dependent { p, .. }, None) => bytes.float(p),
                _ => {}
            }
        }
        bytes.0
    }

    /// Reads answers from bytes. `None` if they do not fit the pairs of this shard. `wants_sets`: whether to work out the sets that
    /// separate or have no answer.
    pub fn from_bytes(bytes: &[u8], work: &Work, shard: usize, wants_sets: bool) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let mut answers = Answers::of_shard(shard);
        let of_rows = work.sides.is_empty();
        let shard = work.shards.get(shard)?;
        let first = shard.first_side();
        let mut pairs = work.pairs_of(shard).into_iter();
        let count = bytes.small_index()?;
        answers.of_pairs.reserve_exact(bytes.fits(count, 4)?);
        let mut last = (0, 0);
        for _ in 0..count {
            let row = if of_rows { bytes.small()?.checked_add(last.0)? } else { 0 };
            let at = bytes.small_index()?.checked_add(if row == last.0 { last.1 } else { 0 })?;
            last = (row, at);
            // Both ends have the same order, so nothing is searched for.
            let is_it =
                |side_row: u32, side_at: usize| side_at - first == at && (!of_rows || u64::from(side_row) == row);
            let (at, side, _) = pairs.find(|(side_at, side, _)| is_it(side.row, *side_at))?;
            let kind = bytes.take(1)?[0];
            let rank = bytes.small()?;
            let exact_tests = if kind & EXACT != 0 { bytes.small()? } else { 0 };
            let verdict = match kind & !EXACT {
                INDEPENDENT => Verdict::Independent { rank, p: bytes.float()? },
                DEPENDENT => Verdict::Dependent { rank, p: bytes.float()? },
                UNDEFINED => Verdict::Undefined { rank, reason: reason_of(bytes.text()?) },
                _ => return None,
            };
            let mut set = Vec::new();
            if matches!(verdict, Verdict::Dependent { .. }) {
                (rank <= side.count).then_some(())?;
            } else {
                (rank < side.count).then_some(())?;
                if wants_sets {
                    side.set_into(work.neighbours, work.size, rank, &mut set);
                }
            }
            answers.of_pairs.push(PairAnswer { row: side.row, at, verdict, set, exact_tests });
        }
        bytes.end(answers)
    }
}

impl Shard {
    /// Returns the shard's first side, from which its sides are counted, as the other end numbers sides differently. Lanes have the same
    /// numbers on both ends.
    fn first_side(&self) -> usize {
        match &self.part {
            Part::Tile { .. } | Part::Lanes { .. } => 0,
            Part::Sides(sides) => sides.start,
            Part::Ranks { side, .. } => *side,
        }
    }

    /// Writes the shard. `limit`: where its limits start among those that are sent.
    pub(super) fn write(&self, limit: usize, bytes: &mut Writer) {
        let (kind, numbers) = match &self.part {
            Part::Tile { rows, others } => {
                (0, [rows.start as u64, rows.end as u64, u64::from(others.start), u64::from(others.end)])
            }
            Part::Lanes { row, lanes, sets, .. } => {
                bytes.small(*row as u64);
                (1, [lanes.start as u64, lanes.end as u64, sets.start, sets.end])
            }
            Part::Sides(sides) => (2, [sides.start as u64, sides.end as u64, 0, 0]),
            Part::Ranks { side, ranks, .. } => (3, [*side as u64, ranks.start, ranks.end, 0]),
        };
        if !matches!(self.part, Part::Lanes { .. }) {
            bytes.small(0);
        }
        bytes.0.push(kind);
        numbers.iter().for_each(|&number| bytes.small(number));
        bytes.small(limit as u64);
        bytes.float(self.cost);
    }

    /// Reads a shard that [`Shard::write`] has written.
    pub(super) fn read(bytes: &mut Reader) -> Option<Self> {
        let row = bytes.small_index()?;
        let kind = bytes.take(1)?[0];
        let mut n = [0; 4];
        for number in &mut n {
            *number = bytes.small()?;
        }
        let limit = bytes.small_index()?;
        let cost = bytes.float()?;
        let at = |number: u64| usize::try_from(number).ok();
        let vertex = |number: u64| u32::try_from(number).ok();
        let part = match kind {
            0 => Part::Tile { rows: at(n[0])?..at(n[1])?, others: vertex(n[2])?..vertex(n[3])? },
            1 => Part::Lanes { row, lanes: at(n[0])?..at(n[1])?, sets: n[2]..n[3], limits: limit },
            2 => Part::Sides(at(n[0])?..at(n[1])?),
            3 => Part::Ranks { side: at(n[0])?, ranks: n[1]..n[2], limit },
            _ => return None,
        };
        Some(Shard { part, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_come_back_from_bytes() {
        let parts = [
            (Part::Tile { rows: 3..35, others: 256..512 }, 0),
            (Part::Lanes { row: 7, lanes: 64..128, sets: 1 << 40..u64::MAX >> 1, limits: 9 }, 9),
            (Part::Sides(0..1), 0),
            (Part::Ranks { side: 12, ranks: 5..6, limit: 4 }, 4),
        ];
        for (part, limit) in parts {
            let shard = Shard { part, cost: 1e300 };
            let mut bytes = Writer::default();
            shard.write(limit, &mut bytes);
            let bytes = bytes.0;
            let read = |bytes: &[u8]| {
                let mut bytes = Reader(bytes);
                let found = Shard::read(&mut bytes)?;
                bytes.end(found)
            };
            assert_eq!(read(&bytes), Some(shard));
            (0..bytes.len()).for_each(|cut| assert_eq!(read(&bytes[..cut]), None));
        }
    }
}
