//! Shards, and what a worker found in them.

use super::{Reader, Writer};
use crate::ci::reason_of;
use crate::search::answer::{Answers, PairAnswer};
use crate::search::level::Verdict;
use crate::search::shards::{Part, Shard};

impl Answers {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.number(self.shard);
        bytes.number(self.of_pairs.len() as u64);
        for PairAnswer { row, at, verdict, set, exact_tests } in &self.of_pairs {
            let (kind, p, reason) = match *verdict {
                Verdict::Independent { p, .. } => (0, p, ""),
                Verdict::Dependent { p, .. } => (1, p, ""),
                Verdict::Undefined { reason, .. } => (2, f64::NAN, reason),
            };
            bytes.vertex(*row);
            for number in [*at as u64, kind, verdict.rank(), p.to_bits(), *exact_tests] {
                bytes.number(number);
            }
            bytes.number(reason.len() as u64);
            bytes.0.extend_from_slice(reason.as_bytes());
            bytes.vertices(set);
        }
        bytes.0
    }

    /// From bytes; `None` where they are not those of [`Answers::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let mut answers = Answers { shard: bytes.number()?, of_pairs: Vec::new() };
        for _ in 0..bytes.number()? {
            let (row, at) = (bytes.vertex()?, bytes.index()?);
            let (kind, rank, p, exact_tests) =
                (bytes.number()?, bytes.number()?, f64::from_bits(bytes.number()?), bytes.number()?);
            let length = bytes.index()?;
            let reason = std::str::from_utf8(bytes.take(length)?).ok()?;
            let verdict = match kind {
                0 => Verdict::Independent { rank, p },
                1 => Verdict::Dependent { rank, p },
                2 => Verdict::Undefined { rank, reason: reason_of(reason) },
                _ => return None,
            };
            answers.of_pairs.push(PairAnswer { row, at, verdict, set: bytes.vertices()?, exact_tests });
        }
        bytes.0.is_empty().then_some(answers)
    }
}

impl Shard {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = match &self.part {
            Part::Tile { rows, others } => {
                [0, rows.start as u64, rows.end as u64, u64::from(others.start), u64::from(others.end), 0, 0]
            }
            Part::Lanes { row, lanes, sets, limits } => {
                [1, *row as u64, lanes.start as u64, lanes.end as u64, sets.start, sets.end, *limits as u64]
            }
            Part::Sides(sides) => [2, sides.start as u64, sides.end as u64, 0, 0, 0, 0],
            Part::Ranks { side, ranks, limit } => [3, *side as u64, ranks.start, ranks.end, *limit as u64, 0, 0],
        };
        let mut bytes = Writer::default();
        numbers.iter().for_each(|&number| bytes.number(number));
        bytes.number(self.cost.to_bits());
        bytes.0
    }

    /// From bytes; `None` where they are not those of [`Shard::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let mut n = [0; 7];
        for number in &mut n {
            *number = bytes.number()?;
        }
        let cost = f64::from_bits(bytes.number()?);
        let at = |number: u64| usize::try_from(number).ok();
        let part = match n[0] {
            0 => {
                Part::Tile { rows: at(n[1])?..at(n[2])?, others: u32::try_from(n[3]).ok()?..u32::try_from(n[4]).ok()? }
            }
            1 => Part::Lanes { row: at(n[1])?, lanes: at(n[2])?..at(n[3])?, sets: n[4]..n[5], limits: at(n[6])? },
            2 => Part::Sides(at(n[1])?..at(n[2])?),
            3 => Part::Ranks { side: at(n[1])?, ranks: n[2]..n[3], limit: at(n[4])? },
            _ => return None,
        };
        bytes.0.is_empty().then_some(Shard { part, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::gauss::{MISSING, TOO_FEW};
    use crate::search::answer::Answer;

    #[test]
    fn shards_and_answers_come_back_from_bytes() {
        let parts = [
            Part::Tile { rows: 3..35, others: 256..512 },
            Part::Lanes { row: 7, lanes: 64..128, sets: 1 << 40..u64::MAX >> 1, limits: 9 },
            Part::Sides(0..1),
            Part::Ranks { side: 12, ranks: 5..6, limit: 4 },
        ];
        for part in parts {
            let shard = Shard { part, cost: 1e300 };
            let bytes = shard.to_bytes();
            assert_eq!(Shard::from_bytes(&bytes), Some(shard));
            (0..bytes.len()).for_each(|cut| assert_eq!(Shard::from_bytes(&bytes[..cut]), None));
        }
        let mut answers = Answers::of_shard(70_000);
        let verdicts = [
            Verdict::Independent { rank: u64::MAX >> 1, p: 5e-324 },
            Verdict::Dependent { rank: 0, p: -1.0 },
            Verdict::Undefined { rank: 3, reason: MISSING.0 },
            Verdict::Undefined { rank: 4, reason: TOO_FEW.0 },
        ];
        for (at, verdict) in verdicts.into_iter().enumerate() {
            answers.push(at as u32 + 1, &Answer { at, verdict, set: &[4, u32::MAX, 0][..at.min(3)], exact_tests: 8 });
        }
        let bytes = answers.to_bytes();
        assert_eq!(Answers::from_bytes(&bytes), Some(answers));
        (0..bytes.len()).for_each(|cut| assert_eq!(Answers::from_bytes(&bytes[..cut]), None));
        // A reason of another version of this program.
        let strange = Verdict::Undefined { rank: 0, reason: "the moon" };
        let mut answers = Answers::of_shard(0);
        answers.push(0, &Answer { at: 0, verdict: strange, set: &[], exact_tests: 0 });
        let back = Answers::from_bytes(&answers.to_bytes()).unwrap();
        assert!(matches!(back.of_pairs[0].verdict, Verdict::Undefined { reason: "the test has no answer", .. }));
    }
}
