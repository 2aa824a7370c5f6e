//! Shards for machines that answer questions in batches.
//!
//! A level is asked in rounds. Each round takes the next few sets, in rank order, of every pair that is not decided, enough to
//! fill a batch. Answers of a pair after the first set that separates are dropped, so that results and counts are those of asking
//! one question after another.

use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::{PairSide, Verdict};
use crate::search::shards::Work;
use crate::search::worker::{Column, Marginals};
use crate::{Error, Result};

/// What a machine says of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The p-value; NaN where there is none.
    P(f64),
    /// pcalg stops with an error at this test; the reason.
    Undefined(&'static str),
}

/// Answers questions.
pub(crate) trait Asker {
    /// Number of questions that keep the machine busy, at least 1.
    fn batch(&self) -> usize;

    /// The replies, in the order of the batch. Calls `watch` with the share that is done, at least ten times a second.
    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>>;
}

/// The p-values of a batch, in its order.
///
/// # Errors
/// [`Error::Numeric`] for the first question without an answer, and what the asker returns.
pub(crate) fn p_values(asker: &mut dyn Asker, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
    let replies = asker.ask(batch, &mut |_| observer.look())?;
    let mut values = memory::space(batch.len(), Use::Level)?;
    for (reply, (x, y, s)) in replies.into_iter().zip(batch.iter()) {
        match reply {
            Reply::P(p) => values.push(p),
            Reply::Undefined(reason) => return Err(Error::Numeric { x, y, s: s.to_vec(), reason }),
        }
    }
    Ok(values)
}

/// A shard of whole pairs: rounds ask the more of each the fewer are left.
pub(crate) const SHARD_TESTS: u64 = u64::MAX;

/// Level 0, for a worker that is an asker.
pub(crate) fn marginal(
    asker: &mut dyn Asker,
    level: &Marginals,
    columns: Vec<Column>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let total = level.pairs().edge_count() as f64;
    let most = (4 * asker.batch()).max(1);
    let mut done = 0.0;
    let mut columns = columns.into_iter().peekable();
    while columns.peek().is_some() {
        // As many columns as fill a batch.
        let (mut some, mut pairs) = (Vec::new(), Vec::new());
        while let Some(column) = columns.next_if(|_| pairs.len() < most) {
            let y = column.y();
            pairs.extend(level.pairs().neighbours(y).map(|x| x as usize).filter(|&x| x < y).map(|x| (x, y)));
            some.push(column);
        }
        let mut answers = memory::space(pairs.len(), Use::Level)?;
        for part in pairs.chunks(most) {
            let mut batch = Batch::new();
            part.iter().for_each(|&(x, y)| batch.push(x, y, &[]));
            let cost = batch.len() as f64;
            answers.extend(asker.ask(&batch, &mut |share| observer.progress(0, done + share * cost, total))?);
            done += cost;
        }
        let mut answers = pairs.iter().zip(answers).peekable();
        for mut column in some {
            let y = column.y();
            let cells = column.open(level);
            while let Some((&(x, _), reply)) = answers.next_if(|((_, of), _)| *of == y) {
                cells[x] = match reply {
                    Reply::P(p) => p,
                    Reply::Undefined(reason) => return Err(Error::Numeric { x, y, s: Vec::new(), reason }),
                };
            }
            column.close(level);
        }
    }
    observer.progress(0, total, total)
}

/// A pair that is not decided.
struct Open {
    shard: usize,
    /// The index that its outcome is entered at.
    at: usize,
    side: PairSide,
    /// The next rank to ask, and where the shard's end; `next` is `u64::MAX` once the pair is decided.
    next: u64,
    end: u64,
    /// The largest p so far.
    largest: Verdict,
}

/// The shards of a level, for a worker that is an asker.
pub(crate) fn answer(asker: &mut dyn Asker, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
    let mut pages: Vec<Page> = (0..work.shards.len()).map(|shard| book.open(shard)).collect();
    let mut open: Vec<Open> = Vec::new();
    for (shard, part) in work.shards.iter().enumerate() {
        let pairs = work.pairs_of(part);
        memory::room((open.len() + pairs.len()).saturating_mul(2 * size_of::<Open>()), Use::Level)?;
        open.extend(pairs.into_iter().filter(|(_, _, ranks)| !ranks.is_empty()).map(|(at, side, ranks)| {
            let largest = Verdict::Dependent { rank: ranks.start, p: -1.0 };
            Open { shard, at, side, next: ranks.start, end: ranks.end, largest }
        }));
    }
    let total = work.cost();
    let mut done = 0.0;
    let mut set = Vec::new();
    while !open.is_empty() {
        // The fewer pairs are left, the more sets of each are asked.
        let each = (asker.batch() / open.len()).max(1) as u64;
        let mut batch = Batch::new();
        // Many more questions at once gain nothing, and delay the first answers.
        let asked = open.len().min(4 * asker.batch());
        for Open { side, next, end, .. } in &open[..asked] {
            for rank in *next..(*end).min(next + each) {
                side.set_into(work.neighbours, work.size, rank, &mut set);
                batch.push(side.row as usize, side.other as usize, &set);
            }
        }
        let cost = batch.len() as f64;
        let answers = asker.ask(&batch, &mut |share| observer.progress(work.size, done + share * cost, total))?;
        let mut answers = answers.into_iter();
        for pair in &mut open[..asked] {
            let until = pair.end.min(pair.next + each);
            let mut ends = None;
            for rank in pair.next..until {
                match answers.next() {
                    Some(_) if ends.is_some() => {}
                    Some(Reply::Undefined(reason)) => ends = Some(Verdict::Undefined { rank, reason }),
                    Some(Reply::P(p)) => match work.read(p) {
                        p if p >= work.alpha => ends = Some(Verdict::Independent { rank, p }),
                        p => pair.largest = pair.largest.merge(Verdict::Dependent { rank, p }),
                    },
                    None => break,
                }
            }
            done += (until - pair.next) as f64;
            pair.next = until;
            if ends.is_some() || until == pair.end {
                done += (pair.end - until) as f64;
                pair.next = u64::MAX;
                let verdict = ends.unwrap_or(pair.largest);
                set.clear();
                if book.wants_sets() && ends.is_some() {
                    pair.side.set_into(work.neighbours, work.size, verdict.rank(), &mut set);
                }
                let outcome = Answer { at: pair.at, verdict, set: &set, exact_tests: 0 };
                pages[pair.shard].enter(pair.side.row, &outcome);
            }
        }
        // Pairs that were not asked come first in the next round.
        open.rotate_left(asked);
        open.retain(|pair| pair.next != u64::MAX);
    }
    pages.into_iter().for_each(Page::close);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::knn::{Estimator, Knn, Settings, Transform};
    use crate::engine::cpu::{CpuEngine, KnnKernel};
    use crate::graph::Adjacency;
    use crate::observer::Unobserved;
    use crate::pool::Pool;
    use crate::search::worker::Worker;
    use crate::search::{skeleton, Method, Options};

    /// An engine that asks another one, in batches of the given size.
    struct Asking<'a>(CpuEngine<KnnKernel<'a>>, usize);

    impl Asker for Asking<'_> {
        fn batch(&self) -> usize {
            self.1
        }

        fn ask(&mut self, batch: &Batch, _watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
            Ok(self.0.p_values(batch, &mut Unobserved)?.into_iter().map(Reply::P).collect())
        }
    }

    impl Worker for Asking<'_> {
        fn pool(&self) -> &Pool {
            self.0.pool()
        }

        fn shard_tests(&self) -> u64 {
            // Whole pairs, or pieces of them.
            if self.1 % 2 == 0 {
                SHARD_TESTS
            } else {
                self.1 as u64
            }
        }

        fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
            marginal(self, level, columns, observer)
        }

        fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
            answer(self, work, book, observer)
        }

        fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
            self.0.p_values(batch, observer)
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
        let knn = Knn::new(crate::matrix::by_column(&data, p).unwrap(), &vec![false; p], settings).unwrap();
        let pair = |x, y| {
            let mut graph = Adjacency::empty(p);
            graph.insert(x, y);
            Some(graph)
        };
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            for (fixed_gaps, fixed_edges, m_max) in
                [(None, None, f64::INFINITY), (pair(1, 2), pair(4, 6), f64::INFINITY), (None, pair(0, 5), 1.0)]
            {
                let options = Options { method, fixed_gaps, fixed_edges, m_max, ..Options::new(p, 0.35) };
                let mut wanted = vec![0.0; p * p];
                let mut cpu = CpuEngine::new(KnnKernel::new(&knn), 2);
                let plain = skeleton(&mut cpu, &options, &mut wanted, &mut Unobserved).unwrap();
                assert!(plain.tests.len() > 1, "{:?}", plain.tests);
                for batch in [1, 3, 17, 10_000] {
                    let mut p_max = vec![0.0; p * p];
                    let mut engine = Asking(CpuEngine::new(KnnKernel::new(&knn), 2), batch);
                    let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
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
