//! PC-stable for machines that answer questions in batches and keep no graph: this keeps the graph and the answers.
//!
//! A level is asked in rounds. Each round takes the next few sets, in rank order, of every side that is not decided, enough to
//! fill a batch. Answers of a side after the first set that separates are dropped, so that results and counts are those of asking
//! one question after another.

use crate::ci::Batch;
use crate::engine::{LevelReport, Search, Widest};
use crate::graph::{subsets, Adjacency, SepSetLog, SepSets, Separations};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::search::level::{count_sets, CandidateOrder, Neighbours, PairSide, Verdict};
use crate::search::progress::LevelProgress;
use crate::search::{Method, Observer, Options};
use crate::Result;

/// Answers questions with p-values, none of which is NaN.
pub(crate) trait Asker {
    /// The threads that the call may use.
    fn pool(&self) -> &Pool;

    /// Number of questions that keep the machine busy, at least 1.
    fn batch(&self) -> usize;

    /// The p-values, in the order of the batch. Calls `watch` with the share that is done, at least ten times a second.
    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<f64>>;
}

/// A search whose questions an [`Asker`] answers.
pub(crate) struct BatchedSearch<'s, A> {
    asker: &'s mut A,
    options: &'s Options,
    p_max: &'s mut [f64],
    graph: Adjacency,
    sepsets: SepSetLog,
}

/// A side that is not decided.
struct Open {
    /// Its place in the list of sides.
    at: usize,
    /// The next rank to ask; `u64::MAX` once the side is decided.
    next: u64,
    /// The largest p so far.
    largest: Verdict,
}

impl<'s, A: Asker> BatchedSearch<'s, A> {
    pub fn new(asker: &'s mut A, options: &'s Options, p_max: &'s mut [f64]) -> Self {
        p_max.fill(options.untested());
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        BatchedSearch { asker, options, p_max, graph: options.start(), sepsets }
    }

    fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }

    fn raise(&mut self, x: usize, y: usize, p: f64) {
        let cell = &mut self.p_max[x.max(y) * self.options.p + x.min(y)];
        if p > *cell {
            *cell = p;
        }
    }

    /// The verdicts on sides, in their order.
    fn decide(
        &mut self,
        neighbours: &Neighbours,
        size: usize,
        sides: &[PairSide],
        progress: &mut LevelProgress,
    ) -> Result<Vec<Verdict>> {
        let each = 2 * size_of::<Verdict>() + size_of::<Open>() + 2 * size_of::<PairSide>();
        memory::room(sides.len().saturating_mul(each), Use::Level)?;
        let undecided = Verdict::Dependent { rank: 0, p: -1.0 };
        let mut verdicts = vec![undecided; sides.len()];
        let mut open: Vec<Open> = (0..sides.len()).map(|at| Open { at, next: 0, largest: undecided }).collect();
        let total: f64 = sides.iter().map(|side| side.count as f64).sum();
        let mut done = 0.0;
        let mut set = Vec::new();
        while !open.is_empty() {
            // The fewer sides are left, the more sets of each are asked.
            let each = (self.asker.batch() / open.len()).max(1) as u64;
            let mut batch = Batch::new();
            // Many more questions at once gain nothing, and delay the first answers.
            let asked = open.len().min(4 * self.asker.batch());
            for Open { at, next, .. } in &open[..asked] {
                let side = &sides[*at];
                for rank in *next..side.count.min(next + each) {
                    side.set_into(neighbours, size, rank, &mut set);
                    batch.push(side.row as usize, side.other as usize, &set);
                }
            }
            let cost = batch.len() as f64;
            let answers = self.asker.ask(&batch, &mut |share| progress.progress(size, done + share * cost, total))?;
            let mut answers = answers.into_iter();
            for side_open in &mut open[..asked] {
                let side = &sides[side_open.at];
                let until = side.count.min(side_open.next + each);
                let mut separates = None;
                for rank in side_open.next..until {
                    let Some(p) = answers.next() else { break };
                    if separates.is_none() && p >= self.options.alpha {
                        separates = Some(Verdict::Independent { rank, p });
                    } else if separates.is_none() {
                        side_open.largest = side_open.largest.merge(Verdict::Dependent { rank, p });
                    }
                }
                done += (until - side_open.next) as f64;
                side_open.next = until;
                if let Some(verdict) = separates {
                    done += (side.count - until) as f64;
                    verdicts[side_open.at] = verdict;
                    side_open.next = u64::MAX;
                } else if until == side.count {
                    verdicts[side_open.at] = side_open.largest;
                    side_open.next = u64::MAX;
                }
            }
            // Sides that were not asked come first in the next round.
            open.rotate_left(asked);
            open.retain(|side| side.next != u64::MAX);
        }
        progress.add(total);
        Ok(verdicts)
    }

    /// Enters verdicts; returns the sides that no set separates.
    fn enter(
        &mut self,
        neighbours: &Neighbours,
        size: usize,
        sides: &[PairSide],
        verdicts: &[Verdict],
        report: &mut LevelReport,
    ) -> Vec<PairSide> {
        let mut kept = Vec::new();
        let mut found = Separations::of_size(size);
        let mut set = Vec::new();
        for (side, verdict) in sides.iter().zip(verdicts) {
            report.tests += verdict.visited(side.count);
            match *verdict {
                Verdict::Independent { rank, p } => {
                    self.raise(side.row as usize, side.other as usize, p);
                    side.set_into(neighbours, size, rank, &mut set);
                    // The C++ keeps every set under the larger vertex.
                    let (x, y) = if self.fast() {
                        (side.row.max(side.other), side.row.min(side.other))
                    } else {
                        (side.row, side.other)
                    };
                    found.push(x, y, &set);
                }
                Verdict::Dependent { p, .. } => {
                    self.raise(side.row as usize, side.other as usize, p);
                    kept.push(*side);
                }
                Verdict::Undefined { .. } => kept.push(*side),
            }
        }
        // Found sets are dropped where memory runs out: the next look ends the search.
        self.graph.remove_all(&found.pairs);
        self.sepsets.extend(found);
        kept
    }
}

impl<A: Asker> Search for BatchedSearch<'_, A> {
    fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        let tested = self.options.testable(&self.graph);
        let with_pair = (0..self.options.p).filter_map(|x| Some((x, tested.neighbours(x).next()? as usize)));
        let widest = with_pair.map(|(x, y)| Widest { x, y, degree: self.graph.degree(x) });
        widest.reduce(|widest, other| if other.degree > widest.degree { other } else { widest })
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Options { p, alpha, .. } = *self.options;
        let pair = 2 * size_of::<(usize, usize)>();
        memory::room(4 * Adjacency::bytes(p) + pair * self.graph.edge_count(), Use::Level)?;
        let start = self.graph.clone();
        let tested = self.options.testable(&start);
        let pairs: Vec<(usize, usize)> =
            (0..p).flat_map(|x| tested.neighbours(x).map(move |y| (x, y as usize))).filter(|(x, y)| x < y).collect();
        let total = pairs.len() as f64;
        let mut separated = Adjacency::empty(p);
        let mut done = 0.0;
        for some in pairs.chunks((4 * self.asker.batch()).max(1)) {
            let mut batch = Batch::new();
            some.iter().for_each(|&(x, y)| batch.push(x, y, &[]));
            let cost = batch.len() as f64;
            let answers = self.asker.ask(&batch, &mut |share| observer.progress(0, done + share * cost, total))?;
            for (&(x, y), p) in some.iter().zip(answers) {
                self.raise(x, y, p);
                if p >= alpha {
                    separated.insert(x, y);
                    self.graph.remove(x, y);
                }
            }
            done += cost;
        }
        observer.progress(0, total, total)?;
        let mut report = LevelReport { tests: total as u64, exact_tests: 0, go_on: true };
        if self.fast() {
            // A fixed edge is there even where a gap was asked for.
            if let Some(fixed) = &self.options.fixed_edges {
                for x in 0..p {
                    fixed.neighbours(x).for_each(|y| self.graph.insert(x, y as usize));
                }
            }
        } else {
            // pcalg tests each pair from the smaller vertex, then, if it is still adjacent, from the larger.
            report.tests += pairs.len() as u64 - separated.edge_count() as u64;
            report.go_on = (0..p).filter(|&x| start.degree(x) > 1).any(|x| {
                let visited_first = tested.neighbours(x).any(|y| y as usize > x);
                visited_first || self.graph.neighbours(x).any(|y| (y as usize) < x && tested.has(x, y as usize))
            });
        }
        self.sepsets.set_empty(separated);
        Ok(report)
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let fast = self.fast();
        // Neighbourhoods as bits and as lists, and a side of each pair.
        let edges = self.graph.edge_count();
        let each = 8 + 2 * size_of::<PairSide>() + 2 * size_of::<[u32; 2]>();
        memory::room(3 * Adjacency::bytes(self.options.p) + edges * each, Use::Level)?;
        let tested = self.options.testable(&self.graph);
        let neighbours = Neighbours::of(self.graph.clone());
        let mut progress = LevelProgress::new(observer, size, &self.graph, &tested);
        let mut report = LevelReport { go_on: fast, ..LevelReport::default() };
        let candidates = |x: u32| neighbours.degree(x as usize).saturating_sub(1);
        let all_sets = |x: u32| subsets::binomial(candidates(x), size).unwrap_or(u64::MAX);
        let side = |row: u32, other: u32, order, count| PairSide {
            row,
            other,
            place: neighbours.place(row as usize, other as usize),
            order,
            count,
        };
        let mut first = Vec::new();
        let mut survivors: Vec<[u32; 2]> = Vec::new();
        for x in 0..self.options.p as u32 {
            for y in tested.neighbours(x as usize).filter(|&y| y > x) {
                if candidates(x) < size {
                    survivors.push([x, y]);
                } else {
                    first.push(side(x, y, CandidateOrder::Ascending, all_sets(x)));
                }
            }
        }
        report.go_on |= first.iter().any(|side| candidates(side.row) > size);
        let verdicts = self.decide(&neighbours, size, &first, &mut progress)?;
        let kept = self.enter(&neighbours, size, &first, &verdicts, &mut report);
        survivors.extend(kept.iter().map(|side| [side.row, side.other]));

        survivors.retain(|&[_, y]| candidates(y) >= size);
        report.go_on |= survivors.iter().any(|&[_, y]| candidates(y) > size);
        survivors.sort_unstable_by_key(|&[x, y]| (y, x));
        let mut second = Vec::new();
        for &[x, y] in &survivors {
            let all = all_sets(y);
            if !fast {
                second.push(side(y, x, CandidateOrder::Ascending, all));
                continue;
            }
            let common = neighbours.common(x as usize, y as usize);
            let count = all - count_sets(x as usize, y as usize, common, size)?;
            if count > 0 {
                second.push(side(y, x, CandidateOrder::CommonLast, count));
            }
        }
        let verdicts = self.decide(&neighbours, size, &second, &mut progress)?;
        self.enter(&neighbours, size, &second, &verdicts, &mut report);
        progress.finish()?;
        memory::check()?;
        Ok(report)
    }

    fn finish(self: Box<Self>, _observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        Ok((self.graph, self.sepsets.finish(self.asker.pool())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::knn::{Estimator, Knn, Settings, Transform};
    use crate::engine::cpu::{CpuEngine, KnnKernel};
    use crate::engine::Engine;
    use crate::search::{levels, Unobserved};

    /// An engine that asks another one, in batches of the given size.
    struct Asking<'a>(CpuEngine<KnnKernel<'a>>, usize);

    impl Asker for Asking<'_> {
        fn pool(&self) -> &Pool {
            self.0.pool()
        }

        fn batch(&self) -> usize {
            self.1
        }

        fn ask(&mut self, batch: &Batch, _watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<f64>> {
            self.0.p_values(batch, &mut Unobserved)
        }
    }

    impl Engine for Asking<'_> {
        fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>> {
            Ok(Box::new(BatchedSearch::new(self, options, p_max)))
        }

        fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
            self.0.p_values(batch, observer)
        }

        fn pool(&self) -> &Pool {
            self.0.pool()
        }
    }

    #[test]
    fn batches_of_any_size_give_the_answer_of_the_cpu_engine() {
        let (n, p) = (50, 8);
        let mut data: Vec<f64> = Vec::new();
        for at in 0..n * p {
            let noise = ((at * 7919 + 13) % 1009) as f64 / 1009.0;
            let before = if at >= n { data[at - n] } else { 0.0 };
            data.push(noise + before * before);
        }
        let settings = Settings {
            k: 4,
            k_perm: 5,
            permutations: 10,
            estimator: Estimator::FrenzelPompe,
            transform: Transform::Ranks,
            add_one: false,
            seed: 3,
            early_stop: None,
        };
        let knn = Knn::new(n, &data, &vec![false; p], settings).unwrap();
        let pair = |x, y| {
            let mut graph = Adjacency::empty(p);
            graph.insert(x, y);
            Some(graph)
        };
        for method in [Method::Stable, Method::StableFast] {
            for (fixed_gaps, fixed_edges, m_max) in
                [(None, None, f64::INFINITY), (pair(1, 2), pair(4, 6), f64::INFINITY), (None, pair(0, 5), 1.0)]
            {
                let options = Options { method, fixed_gaps, fixed_edges, m_max, ..Options::new(p, 0.35) };
                let mut wanted = vec![0.0; p * p];
                let mut cpu = CpuEngine::new(KnnKernel::new(&knn), 2);
                let plain = levels::skeleton(&mut cpu, &options, &mut wanted, &mut Unobserved).unwrap();
                assert!(plain.tests.len() > 1, "{:?}", plain.tests);
                for batch in [1, 3, 17, 10_000] {
                    let mut p_max = vec![0.0; p * p];
                    let mut engine = Asking(CpuEngine::new(KnnKernel::new(&knn), 2), batch);
                    let found = levels::skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                    assert_eq!((&found.graph, &found.tests), (&plain.graph, &plain.tests), "{method:?}, {batch}");
                    assert_eq!(found.max_order, plain.max_order);
                    assert_eq!(p_max, wanted, "{method:?}, {batch}");
                    for x in 0..p {
                        for y in 0..p {
                            assert_eq!(found.sepsets.get(x, y), plain.sepsets.get(x, y), "{method:?}, {x}, {y}");
                        }
                    }
                }
            }
        }
    }
}
