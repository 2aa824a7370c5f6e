//! A new test and a new machine, as small as possible. They show what each needs, and that the driver asks no more of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use pcgpu_core::ci::{Batch, CiTest};
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::answer::{Answer, Answers};
use pcgpu_core::search::book::Book;
use pcgpu_core::search::level::Verdict;
use pcgpu_core::search::shards::{Shard, Work};
use pcgpu_core::search::worker::{Column, Marginals, Worker};
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options, Skeleton};
use pcgpu_core::{Error, Result};

use crate::support::problems::one_edge;
use crate::support::ranks::{self, with_ranks};

/// A test that counts to three. x and y are independent given S if at least three of these numbers are multiples of three: x, y, the members of
/// S, and their sum plus x, y or x y.
#[derive(Clone, Copy)]
struct Three;

fn p_value(x: usize, y: usize, s: &[u32]) -> f64 {
    let sum: usize = s.iter().map(|&v| v as usize).sum();
    let numbers = [x, y, x + sum, y + sum, x * y + sum];
    let threes = numbers.iter().filter(|number| *number % 3 == 0).count() + s.iter().filter(|v| *v % 3 == 0).count();
    if threes >= 3 {
        0.5 + sum as f64 * 1e-3
    } else {
        0.01 / (1.0 + sum as f64)
    }
}

impl CiTest for Three {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        Ok(p_value(x, y, s))
    }
}

/// How a worker behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    /// One shard after the other.
    Orderly,
    /// The last shard first, on several threads, some of them slow.
    OutOfOrder,
    /// Fails at this shard.
    Fails(usize),
}

struct Minimal {
    pool: Pool,
    shard_tests: u64,
    manner: Manner,
    /// Whether it answers a level at once, as a GPU does.
    at_once: bool,
    /// Number of levels that it answered.
    levels: Arc<AtomicUsize>,
}

impl Minimal {
    fn new(manner: Manner, shard_tests: u64) -> Self {
        Minimal { pool: Pool::new(2), shard_tests, manner, at_once: false, levels: Arc::default() }
    }
}

/// Returns the answers of a shard, computed one test after the other.
fn answers_of(work: &Work, shard: &Shard, number: usize) -> Answers {
    let mut answers = Answers::of_shard(number);
    for (at, side, ranks) in work.pairs_of(shard) {
        let mut verdict = Verdict::Dependent { rank: ranks.start, p: -1.0 };
        let mut set = Vec::new();
        for rank in ranks {
            side.set_into(work.neighbours, work.size, rank, &mut set);
            let p = p_value(side.row.min(side.other) as usize, side.row.max(side.other) as usize, &sorted(&set));
            if p >= work.options.alpha {
                verdict = Verdict::Independent { rank, p };
                break;
            }
            verdict = verdict.merge(Verdict::Dependent { rank, p });
        }
        answers.push(side.row, &Answer { at, verdict, set: &set, exact_tests: 0 });
    }
    answers
}

fn sorted(set: &[u32]) -> Vec<u32> {
    let mut set = set.to_vec();
    set.sort_unstable();
    set
}

impl Worker for Minimal {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.shard_tests
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, _observer: &mut dyn Observer) -> Result<()> {
        for mut column in columns.into_iter().rev() {
            let y = column.y();
            let cells = column.open(level);
            level
                .pairs()
                .neighbours(y)
                .filter(|&x| (x as usize) < y)
                .for_each(|x| cells[x as usize] = p_value(x as usize, y, &[]));
            column.close(level);
        }
        Ok(())
    }

    fn is_gradual(&self) -> bool {
        !self.at_once
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.levels.fetch_add(1, Ordering::Relaxed);
        let enter = |number: usize, answers: &Answers| {
            let mut page = book.open(number);
            page.enter_all(answers);
            page.close();
        };
        let shards = &work.shards;
        match self.manner {
            Manner::Orderly => {
                shards.iter().enumerate().for_each(|(number, shard)| enter(number, &answers_of(work, shard, number)));
            }
            Manner::OutOfOrder => {
                self.pool.each(shards.len(), |task| {
                    let number = shards.len() - 1 - task;
                    if number % 3 == 0 {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    enter(number, &answers_of(work, &shards[number], number));
                });
            }
            Manner::Fails(at) => {
                for (number, shard) in shards.iter().enumerate() {
                    if number == at {
                        return Err(Error::Interrupted);
                    }
                    enter(number, &answers_of(work, shard, number));
                }
            }
        }
        observer.progress(work.size, work.cost(), work.cost())
    }

    fn p_values(&mut self, batch: &Batch, _observer: &mut dyn Observer) -> Result<Vec<f64>> {
        Ok(batch.iter().map(|(x, y, s)| p_value(x, y, s)).collect())
    }
}

type Found = (Skeleton, Vec<f64>);

fn compare(found: &Found, wanted: &Found, info: &str) {
    let ((a, a_max), (b, b_max)) = (found, wanted);
    assert_eq!((&a.graph, &a.tests, a.max_order), (&b.graph, &b.tests, b.max_order), "{info}");
    assert_eq!(a_max, b_max, "{info}");
    for x in 0..a.graph.p() {
        (0..a.graph.p()).for_each(|y| assert_eq!(a.sepsets.get(x, y), b.sepsets.get(x, y), "{info}: {x}, {y}"));
    }
}

#[test]
fn a_test_that_counts_to_three_runs_on_any_worker_in_any_order() {
    let p = 11;
    let pair = |x, y| Some(one_edge(p, x, y));
    for method in [Method::Stable, Method::StableFast, Method::Original] {
        for (fixed_gaps, fixed_edges) in [(None, None), (pair(1, 2), pair(1, 4))] {
            let options = Options { method, fixed_gaps, fixed_edges, ..Options::new(p, 0.05) };
            let mut p_max = vec![0.0; p * p];
            let skeleton_found = skeleton_one_by_one(&mut Three, &options, &mut p_max, &mut Unobserved).unwrap();
            let wanted = (skeleton_found, p_max);
            assert!(wanted.0.tests.len() > 3, "{:?}", wanted.0.tests);
            for manner in [Manner::Orderly, Manner::OutOfOrder] {
                for shard_tests in [1, 4, 100, 1 << 30] {
                    let mut p_max = vec![0.0; p * p];
                    let mut worker = Minimal::new(manner, shard_tests);
                    let found = skeleton(&mut worker, &options, &mut p_max, &mut Unobserved).unwrap();
                    compare(&(found, p_max), &wanted, &format!("{method:?}, {manner:?}, {shard_tests}"));
                }
            }
            for shard_tests in [1, 4, 100, 1 << 30] {
                let make =
                    |run: &mut dyn FnMut(&mut dyn Worker)| run(&mut Minimal::new(Manner::OutOfOrder, shard_tests));
                let mut p_max = vec![0.0; p * p];
                let found = with_ranks(&[ranks::Manner::Sound; 3], make, |cluster| {
                    skeleton(cluster, &options, &mut p_max, &mut Unobserved).unwrap()
                });
                compare(&(found, p_max), &wanted, &format!("{method:?}, ranks, {shard_tests}"));
            }
        }
    }
}

#[test]
fn a_worker_that_fails_ends_the_search_and_can_be_used_again() {
    let p = 11;
    let options = Options::new(p, 0.05);
    let mut worker = Minimal::new(Manner::Fails(2), 1);
    let mut p_max = vec![0.0; p * p];
    assert_eq!(skeleton(&mut worker, &options, &mut p_max, &mut Unobserved).map(drop), Err(Error::Interrupted));
    worker.manner = Manner::Orderly;
    let again = skeleton(&mut worker, &options, &mut p_max, &mut Unobserved).unwrap();
    let mut wanted = vec![0.0; p * p];
    let plain = skeleton_one_by_one(&mut Three, &options, &mut wanted, &mut Unobserved).unwrap();
    compare(&(again, p_max), &(plain, wanted), "after a failure");
}

#[test]
fn the_driver_does_little_work_itself_unless_ranks_have_gpus() {
    let p = 11;
    let options = Options::new(p, 0.05);
    for at_once in [false, true] {
        let make =
            |run: &mut dyn FnMut(&mut dyn Worker)| run(&mut Minimal { at_once, ..Minimal::new(Manner::Orderly, 4) });
        let own = Minimal::new(Manner::Orderly, 4);
        let levels = own.levels.clone();
        with_ranks(&[ranks::Manner::Sound; 2], make, |cluster| {
            cluster.set_own(Box::new(own));
            skeleton(cluster, &options, &mut vec![0.0; p * p], &mut Unobserved).unwrap();
        });
        assert_eq!(levels.load(Ordering::Relaxed) > 0, !at_once);
    }
}
