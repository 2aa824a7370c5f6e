//! A worker for a test that is asked one question after another, such as an R function. It may be the worker of a cluster's rank.

use crate::ci::{Batch, CiTest};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::answer::Answer;
use crate::search::book::Book;
use crate::search::level::Verdict;
use crate::search::shards::{Part, Work};
use crate::search::worker::{Column, Marginals, Worker};
use crate::Result;
use std::sync::atomic::Ordering;

/// Moduli of L'Ecuyer's MRG32k3a (1999): the first three words of a seed are below the first modulus, the others below the second.
const MODULI: [u64; 2] = [4_294_967_087, 4_294_944_443];

/// Returns a seed of MRG32k3a (R's "L'Ecuyer-CMRG") for the test of a pair given a set. The seed depends on these and on the seed of the search,
/// not on the order of x and y or of the set. Its words are those of splitmix64 (Steele, Lea and Flood 2014) over all numbers, each below its
/// modulus.
pub fn test_stream(seed: u32, x: u32, y: u32, s: &[u32]) -> [u32; 6] {
    let mut set = s.to_vec();
    set.sort_unstable();
    let mut state = 0;
    for number in [seed, x.min(y), x.max(y), s.len() as u32].into_iter().chain(set) {
        state = mixed(state ^ u64::from(number));
    }
    std::array::from_fn(|word| {
        state = mixed(state);
        // Never 0, because a generator whose words are all 0 stays there.
        (1 + (state >> 32) % (MODULI[word / 3] - 1)) as u32
    })
}

fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Tests in a shard. Few, because each may take long, and several workers should finish a level together.
const SHARD_TESTS: u64 = 2;

/// A test as a worker. It asks (x, y | S) with the vertices in pcalg's order, and asks nothing unnecessary.
pub struct Sequential<'t> {
    test: &'t mut dyn CiTest,
    pool: Pool,
}

impl<'t> Sequential<'t> {
    /// Creates a worker that asks this test.
    pub fn new(test: &'t mut dyn CiTest) -> Self {
        Sequential { test, pool: Pool::none() }
    }
}

impl Worker for Sequential<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        SHARD_TESTS
    }

    fn hands(&self) -> usize {
        1
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn asks_both_sides(&self) -> bool {
        true
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        for mut column in columns {
            let y = column.y();
            let cells = column.open(level);
            for x in level.pairs().neighbours(y).map(|x| x as usize).take_while(|&x| x < y) {
                cells[x] = self.test.p_value(x, y, &[])?;
                observer.look()?;
            }
            column.close(level);
        }
        Ok(())
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        let mut set = Vec::new();
        for (number, shard) in work.shards.iter().enumerate() {
            let mut page = book.open(number);
            for (at, side, ranks) in work.pairs_of(shard).into_iter().filter(|(_, _, ranks)| !ranks.is_empty()) {
                let limit = match &shard.part {
                    Part::Lanes { lanes, limits, .. } => {
                        work.limits(*limits..limits + lanes.len()).get(at - lanes.start)
                    }
                    Part::Ranks { limit, .. } => work.limits(*limit..limit + 1).first(),
                    Part::Tile { .. } | Part::Sides(_) => None,
                };
                let mut verdict = Verdict::Dependent { rank: ranks.start, p: -1.0 };
                for rank in ranks {
                    // A smaller rank separates, so this rank cannot count.
                    if limit.is_some_and(|limit| limit.load(Ordering::Relaxed) < rank) {
                        break;
                    }
                    side.set_into(work.neighbours, work.size, rank, &mut set);
                    let p = work.options.read(self.test.p_value(side.row as usize, side.other as usize, &set)?);
                    observer.look()?;
                    if p >= work.options.alpha {
                        verdict = Verdict::Independent { rank, p };
                        break;
                    }
                    verdict = verdict.merge(Verdict::Dependent { rank, p });
                }
                let is_dependent = matches!(verdict, Verdict::Dependent { .. });
                let found = if is_dependent { &[][..] } else { &set[..] };
                page.enter(side.row, &Answer { at, verdict, set: found, exact_tests: 0 });
            }
            page.close();
        }
        observer.progress(work.size, work.cost(), work.cost())
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let ask = |(x, y, s): (usize, usize, &[u32])| {
            let p = self.test.p_value(x, y, s)?;
            observer.look()?;
            Ok(p)
        };
        batch.iter().map(ask).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_its_own_stream_whoever_asks() {
        let all =
            [(1, 2, 3, vec![]), (1, 2, 3, vec![4]), (1, 2, 4, vec![3]), (1, 2, 3, vec![4, 5]), (2, 2, 3, vec![4])];
        let streams: Vec<[u32; 6]> = all.iter().map(|(seed, x, y, s)| test_stream(*seed, *x, *y, s)).collect();
        for (at, stream) in streams.iter().enumerate() {
            assert!(!streams[..at].contains(stream));
            assert!(stream[..3].iter().all(|&word| word > 0 && u64::from(word) < MODULI[0]));
            assert!(stream[3..].iter().all(|&word| word > 0 && u64::from(word) < MODULI[1]));
        }
        assert_eq!(test_stream(1, 3, 2, &[5, 4]), streams[3]);
    }
}
