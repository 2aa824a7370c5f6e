//! A minimal example: an order that visits the pairs of a level at random. It shows what a new order of visiting needs: what to ask of a
//! worker at each level, and the ledger for the rest. As the pairs of a level are independent, its answers are those of "stable".

use super::checkpoint::{Cut, Keeper, Limits, Part};
use super::largest::Largest;
use super::ledger::Ledger;
use super::level::{count_sets, CandidateOrder, Neighbours, PairSide};
use super::levels::LevelReport;
use super::order::{ordered, Order};
use super::progress::LevelProgress;
use super::saving::Step;
use super::shards::Work;
use super::worker::Worker;
use super::{driver, Options, Skeleton};
use crate::graph::{Adjacency, SepSets};
use crate::observer::{Observer, Unobserved};
use crate::Result;

struct Shuffled<'w> {
    worker: &'w mut dyn Worker,
    random: u64,
}

impl Shuffled<'_> {
    /// Decides pairs (row, other) in random order.
    fn visit(
        &mut self,
        ledger: &mut Ledger,
        neighbours: &Neighbours,
        mut pairs: Vec<[u32; 2]>,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        for at in (1..pairs.len()).rev() {
            self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            pairs.swap(at, (self.random >> 33) as usize % (at + 1));
        }
        let mut sides = Vec::new();
        for [row, other] in pairs {
            let (x, y) = (row as usize, other as usize);
            let candidates = neighbours.degree(x) - 1;
            report.go_on |= candidates > size;
            if candidates >= size {
                let count = count_sets(x, y, candidates, size)?;
                let place = neighbours.place(x, y);
                sides.push(PairSide { row, other, place, order: CandidateOrder::Ascending, count });
            }
        }
        let mut work =
            Work::of_sides(size, neighbours, sides, ledger.options, self.worker.shard_tests(), self.worker.hands())?;
        let cut = Cut { shard_tests: self.worker.shard_tests(), threads: 1, sides_at_once: usize::MAX };
        ledger.decide(self.worker, &mut work, Step::new(None, 0..0, cut), report, progress)
    }
}

impl Order for Shuffled<'_> {
    fn goes_on_from(&self, _size: usize, _part: &Part) -> bool {
        false
    }

    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        let tests = ledger.tested().edge_count() as u64;
        let (_, left) = ledger.marginal(self.worker, observer)?;
        Ok(LevelReport { tests: tests + left, exact_tests: 0, go_on: true })
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let graph = ledger.graph.clone();
        let neighbours = Neighbours::of(graph.clone());
        let mut progress = LevelProgress::new(observer, ledger.options, size, &graph, &graph);
        let mut report = LevelReport::default();
        let pairs = (0..graph.p() as u32).flat_map(|x| graph.neighbours(x as usize).map(move |y| [x, y]));
        let first = pairs.filter(|[x, y]| x < y).collect();
        self.visit(ledger, &neighbours, first, size, &mut report, &mut progress)?;
        let left = ledger.graph.clone();
        let second = (0..left.p() as u32).flat_map(|x| left.neighbours(x as usize).map(move |y| [x, y]));
        let second = second.filter(|[x, y]| x > y).collect();
        self.visit(ledger, &neighbours, second, size, &mut report, &mut progress)?;
        progress.finish()?;
        Ok(report)
    }

    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        ledger.complete(self.worker, observer)
    }
}

fn shuffled(worker: &mut dyn Worker, options: &Options, p_max: &mut [f64], random: u64) -> Result<Skeleton> {
    let pool = worker.pool().clone();
    let (limits, mut unobserved) = (Limits::default(), Unobserved);
    let mut keeper = Keeper::new(&mut unobserved, &limits, options, &Largest::Square(&mut []));
    let search = ordered(Shuffled { worker, random }, options, Largest::Square(p_max), pool.clone());
    let found = driver::run(search, options, &mut keeper, None)?;
    driver::finish(options, &mut Largest::Square(p_max), &pool);
    Ok(found)
}

#[test]
fn the_order_of_pairs_within_a_level_changes_nothing() {
    use crate::ci::gauss::{Gauss, Reading};
    use crate::engine::cpu::{CpuEngine, GaussKernel};
    let p = 14;
    // Correlations of a ring with long chords, which decrease with the distance.
    let near = |x: usize, y: usize| (x.abs_diff(y)).min(p - x.abs_diff(y)) as i32;
    let c: Vec<f64> = (0..p * p)
        .map(|at| (at / p, at % p))
        .map(|(x, y)| if x == y { 1.0 } else { 0.62f64.powi(near(x, y)) + 0.01 * ((x * y) % 5) as f64 })
        .collect();
    let options = Options::new(p, 0.05);
    let mut wanted = vec![0.0; p * p];
    let kernel = || {
        GaussKernel::new(
            Gauss::new(crate::matrix::by_column(&c, p).unwrap(), 90.0, Reading::GaussCItest).unwrap(),
            0.05,
        )
    };
    let plain = driver::skeleton(&mut CpuEngine::new(kernel(), 2), &options, &mut wanted, &mut Unobserved).unwrap();
    assert!(plain.tests.len() > 2, "{:?}", plain.tests);
    for (seed, shard_tests) in [(1, 1), (2, 5), (3, 1 << 16)] {
        let mut p_max = vec![0.0; p * p];
        let mut worker = CpuEngine::with_shards(kernel(), 2, shard_tests);
        let found = shuffled(&mut worker, &options, &mut p_max, seed).unwrap();
        assert_eq!((&found.graph, &found.tests, found.max_order), (&plain.graph, &plain.tests, plain.max_order));
        assert_eq!(p_max, wanted);
        for x in 0..p {
            (0..p).for_each(|y| assert_eq!(found.sepsets.get(x, y), plain.sepsets.get(x, y)));
        }
    }
}
