//! Which subsets of the neighbours separate the ends of an unshielded triple: the tests of `pc.cons.intern`.

use super::event::Event;
use super::poll::Poll;
use crate::ci::{Batch, CiTest};
use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::{Error, Result};
use std::collections::HashMap;

/// What the tests said about one triple a - b - c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Census {
    /// Number of subsets of adj(a) and of adj(c) given which a and c are independent.
    pub separating: u64,
    /// How many of them contain b.
    pub with_b: u64,
}

/// The largest number of neighbours of which all subsets can be numbered.
const MOST_NEIGHBOURS: usize = 62;

/// The tests of a and c of triples given every subset of a's and then of c's neighbours.
///
/// A test with `batch_size() == 1`, or one that is followed, is asked one question at a time, in pcalg's order, repetitions
/// included. Any other test is taken to be a function of its arguments: pcalg asks the same of a pair again for each of its
/// middle vertices, and again of c's side what it asked of a's; here each question is asked once, before the first triple is
/// judged, and counted as often as pcalg would.
pub(super) struct Censuses<'a> {
    skeleton: &'a Adjacency,
    alpha: f64,
    test: &'a mut dyn CiTest,
    poll: &'a Poll<'a>,
    known: Option<Vec<Census>>,
}

impl<'a> Censuses<'a> {
    pub fn new(
        triples: &[[u32; 3]],
        skeleton: &'a Adjacency,
        alpha: f64,
        test: &'a mut dyn CiTest,
        poll: &'a Poll,
    ) -> Result<Self> {
        refuse_too_many(triples, skeleton)?;
        let known = match test.batch_size() > 1 && !poll.is_followed() {
            true => Some(ask_in_batches(triples, skeleton, alpha, test, poll)?),
            false => None,
        };
        Ok(Censuses { skeleton, alpha, test, poll, known })
    }

    /// That of the triple with this number, each once and in order.
    pub fn of(&mut self, number: usize, triple: [u32; 3]) -> Result<Census> {
        match &self.known {
            Some(known) => Ok(known[number]),
            None => ask_in_turn(triple, self.skeleton, self.alpha, self.test, self.poll),
        }
    }
}

fn refuse_too_many(triples: &[[u32; 3]], skeleton: &Adjacency) -> Result<()> {
    let mut ends = memory::space(2 * triples.len(), Use::Orientation)?;
    ends.extend(triples.iter().flat_map(|&[a, _, c]| [a, c]));
    ends.sort_unstable();
    ends.dedup();
    for v in ends {
        let neighbours = skeleton.degree(v as usize);
        if neighbours > MOST_NEIGHBOURS {
            return Err(Error::Argument {
                argument: "conservative",
                value: format!("TRUE (or `maj.rule`) and variable {} has {neighbours} neighbours", v + 1),
                mend: format!("2^{neighbours} tests for one triple cannot be done; use a smaller `alpha`"),
            });
        }
    }
    Ok(())
}

fn is_independent(p: f64, alpha: f64, x: usize, y: usize, s: &[u32]) -> Result<bool> {
    if p.is_nan() {
        // pcalg: "missing value where TRUE/FALSE needed".
        let reason = "missing value where TRUE/FALSE needed; the conservative and the majority rule need every p-value";
        return Err(Error::Numeric { x, y, s: s.to_vec(), reason });
    }
    Ok(p >= alpha)
}

/// Writes the members of `candidates` that `mask` selects. Masks counted up from 0 give pcalg's order: `expand.grid`
/// varies its first factor fastest.
fn subset(candidates: &[u32], mask: u64, into: &mut Vec<u32>) {
    into.clear();
    into.extend(candidates.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &v)| v));
}

fn ask_in_turn(
    [a, b, c]: [u32; 3],
    skeleton: &Adjacency,
    alpha: f64,
    test: &mut dyn CiTest,
    poll: &Poll,
) -> Result<Census> {
    let mut census = Census::default();
    let mut s = Vec::new();
    for side in [a, c] {
        let candidates: Vec<u32> = skeleton.neighbours(side as usize).collect();
        for mask in 0..1u64 << candidates.len() {
            poll.step()?;
            subset(&candidates, mask, &mut s);
            let p = test.p_value(a as usize, c as usize, &s)?;
            poll.tell(&Event::Asked { of_c: side == c, s: &s, p: p.to_bits() })?;
            if is_independent(p, alpha, a as usize, c as usize, &s)? {
                census.separating += 1;
                census.with_b += u64::from(s.contains(&b));
            }
        }
    }
    Ok(census)
}

/// The censuses of all triples with the same ends.
struct Pair {
    separating: u64,
    /// The common neighbours, ascending, and how many separating sets contain each.
    middles: Vec<(u32, u64)>,
}

impl Pair {
    fn count(&mut self, s: &[u32], times: u64) {
        self.separating += times;
        for v in s {
            if let Ok(at) = self.middles.binary_search_by_key(v, |&(b, _)| b) {
                self.middles[at].1 += times;
            }
        }
    }
}

/// Questions on their way to the test, each with its pair and how often pcalg would ask it.
struct Pending {
    batch: Batch,
    of: Vec<(usize, u64)>,
}

impl Pending {
    fn ask(&mut self, pairs: &mut [Pair], alpha: f64, test: &mut dyn CiTest) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let answers = test.p_values(&self.batch)?;
        for ((p, (x, y, s)), &(pair, times)) in answers.into_iter().zip(self.batch.iter()).zip(&self.of) {
            if is_independent(p, alpha, x, y, s)? {
                pairs[pair].count(s, times);
            }
        }
        self.batch.clear();
        self.of.clear();
        Ok(())
    }
}

fn ask_in_batches(
    triples: &[[u32; 3]],
    skeleton: &Adjacency,
    alpha: f64,
    test: &mut dyn CiTest,
    poll: &Poll,
) -> Result<Vec<Census>> {
    let full = test.batch_size();
    let mut pending = Pending { batch: Batch::new(), of: Vec::new() };
    let mut pairs = Vec::new();
    // A table of twice as many entries as there can be, while it grows.
    let entry = size_of::<((u32, u32), usize)>();
    memory::room(triples.len().saturating_mul(2 * entry + 2 * size_of::<Pair>()), Use::Orientation)?;
    let mut known = HashMap::new();
    let mut s = Vec::new();
    for &[a, _, c] in triples {
        if known.contains_key(&(a, c)) {
            continue;
        }
        let pair = pairs.len();
        known.insert((a, c), pair);
        let (a, c) = (a as usize, c as usize);
        let middles = skeleton.neighbours(a).filter(|&v| skeleton.has(v as usize, c)).map(|v| (v, 0)).collect();
        pairs.push(Pair { separating: 0, middles });
        for (side, other) in [(a, c), (c, a)] {
            let candidates: Vec<u32> = skeleton.neighbours(side).collect();
            let common = candidates.iter().enumerate().filter(|(_, &v)| skeleton.has(v as usize, other));
            let common = common.fold(0u64, |mask, (bit, _)| mask | 1 << bit);
            for mask in 0..1u64 << candidates.len() {
                poll.step()?;
                let in_both = mask & !common == 0;
                if in_both && side == c {
                    continue;
                }
                subset(&candidates, mask, &mut s);
                pending.batch.push(a, c, &s);
                pending.of.push((pair, if in_both { 2 } else { 1 }));
                if pending.batch.len() >= full {
                    pending.ask(&mut pairs, alpha, test)?;
                }
            }
        }
    }
    pending.ask(&mut pairs, alpha, test)?;
    let census = |&[a, b, c]: &[u32; 3]| {
        let pair: &Pair = &pairs[known[&(a, c)]];
        let with_b = pair.middles.binary_search_by_key(&b, |&(v, _)| v).map_or(0, |at| pair.middles[at].1);
        Census { separating: pair.separating, with_b }
    };
    memory::collected(triples.iter().map(census), Use::Orientation)
}

#[cfg(test)]
mod tests {
    use super::super::triples::unshielded;
    use super::*;

    fn censuses(
        triples: &[[u32; 3]],
        skeleton: &Adjacency,
        alpha: f64,
        test: &mut dyn CiTest,
        poll: &Poll,
    ) -> Result<Vec<Census>> {
        let mut censuses = Censuses::new(triples, skeleton, alpha, test, poll)?;
        triples.iter().enumerate().map(|(number, &triple)| censuses.of(number, triple)).collect()
    }

    struct Recorder {
        batch_size: usize,
        asked: Vec<(usize, usize, Vec<u32>)>,
    }

    impl CiTest for Recorder {
        fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
            self.asked.push((x, y, s.to_vec()));
            let mix = s.iter().fold(7 * x + 3 * y, |h, &v| (h * 31 + v as usize) % 101);
            Ok((mix % 10) as f64 / 10.0)
        }
        fn batch_size(&self) -> usize {
            self.batch_size
        }
    }

    fn graph() -> Adjacency {
        let lists: [&[u32]; 6] = [&[2, 3, 4], &[2, 3, 5], &[5], &[], &[5], &[]];
        Adjacency::from_lists(&lists)
    }

    #[test]
    fn one_question_at_a_time_is_pcalgs_order() {
        let mut test = Recorder { batch_size: 1, asked: Vec::new() };
        let lists: [&[u32]; 4] = [&[1, 2], &[3], &[], &[]];
        censuses(&[[0, 1, 3]], &Adjacency::from_lists(&lists), 0.5, &mut test, &Poll::silent()).unwrap();
        let sets: Vec<_> = test.asked.iter().map(|(_, _, s)| s.as_slice()).collect();
        assert_eq!(sets, [&[][..], &[1], &[2], &[1, 2], &[], &[1]]);
    }

    #[test]
    fn batches_count_what_single_questions_count() {
        let graph = graph();
        let triples = unshielded(&graph).unwrap();
        let mut single = Recorder { batch_size: 1, asked: Vec::new() };
        let expected = censuses(&triples, &graph, 0.5, &mut single, &Poll::silent()).unwrap();
        for batch_size in [2, 5, 1000] {
            let mut test = Recorder { batch_size, asked: Vec::new() };
            assert_eq!(censuses(&triples, &graph, 0.5, &mut test, &Poll::silent()).unwrap(), expected);
            let asked = test.asked.len();
            test.asked.sort();
            test.asked.dedup();
            assert!(asked == test.asked.len() && asked < single.asked.len());
        }
    }

    #[test]
    fn a_missing_p_value_and_a_hub_are_errors() {
        struct Missing;
        impl CiTest for Missing {
            fn p_value(&mut self, _: usize, _: usize, _: &[u32]) -> Result<f64> {
                Ok(f64::NAN)
            }
        }
        let found = censuses(&[[0, 2, 1]], &graph(), 0.5, &mut Missing, &Poll::silent());
        assert!(matches!(found, Err(Error::Numeric { x: 0, y: 1, .. })));
        // 0 has 63 neighbours, one of them with a neighbour of its own: 0 is an end of a triple.
        let mut star = Adjacency::empty(65);
        (1..64).for_each(|leaf| star.insert(0, leaf));
        star.insert(63, 64);
        let found = censuses(&unshielded(&star).unwrap(), &star, 0.5, &mut Missing, &Poll::silent());
        assert!(matches!(found, Err(Error::Argument { argument: "conservative", .. })));
    }
}
