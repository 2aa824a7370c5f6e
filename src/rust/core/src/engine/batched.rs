//! Shards for machines that answer questions in batches.
//!
//! A level is asked in rounds. Each round takes the next few sets, in rank order, of every undecided pair, enough to fill a batch. Answers of a
//! pair after the first set that separates are dropped. So results and counts equal those of asking one question after another.
//!
//! A machine that answers one batch after another is an [`Asker`]. Several machines may form a [`Desk`] (`question team`). A desk gets a second
//! round, of other pairs, while it answers the first.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::{PairSide, Verdict};
use crate::search::shards::Work;
use crate::search::sweep::Sweeper;
use crate::search::worker::{Column, Marginals};
use crate::team::Moved;
use crate::{Error, Result};

/// A machine's reply to a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// The p-value; NaN if there is none.
    P(f64),
    /// The reason why pcalg stops with an error at this test.
    Undefined(&'static str),
}

/// A machine that answers questions.
pub trait Asker {
    /// Returns the number of questions that keep the machine busy, at least 1.
    fn batch(&self) -> usize;

    /// Returns the number of questions, at least [`Asker::batch`], that a batch may have if few are asked in vain: more if questions about one
    /// set are cheaper together.
    fn largest(&self) -> usize {
        self.batch()
    }

    /// Returns the replies, in the order of the batch. Calls `watch` with the share that is done, at least ten times a second.
    ///
    /// # Errors
    /// What `watch` returns; [`Error::Device`] if the machine fails; [`Error::Memory`].
    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>>;

    /// Returns what was copied to and from the machine so far.
    fn moved(&self) -> Moved {
        Moved::default()
    }

    /// Returns the bytes of device memory that the machine has planned, by use.
    fn planned(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Returns this machine as a sweeper, or `None` if it does not sweep.
    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        None
    }
}

/// A queue that has batches answered by one or more machines.
pub(super) trait Desk {
    /// Returns the number of questions that keep all machines behind the desk busy, at least 1.
    fn batch(&self) -> usize;

    /// Returns the most questions of a batch; see [`Asker::largest`].
    fn largest(&self) -> usize {
        self.batch()
    }

    /// Returns the number of rounds to give before taking answers: 1 if no machine would begin a second round.
    fn ahead(&self) -> usize;

    /// Accepts a batch.
    fn give(&mut self, batch: Batch) -> Result<()>;

    /// Returns the replies to the oldest batch that was given and not yet taken, in its order. `watch` gets the number of questions answered in
    /// all batches that are not yet taken.
    fn take(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>>;
}

/// One machine, which answers only when its replies are taken.
struct One<'a> {
    asker: &'a mut dyn Asker,
    given: VecDeque<Batch>,
}

impl<'a> One<'a> {
    fn new(asker: &'a mut dyn Asker) -> Self {
        One { asker, given: VecDeque::new() }
    }
}

impl Desk for One<'_> {
    fn batch(&self) -> usize {
        self.asker.batch()
    }

    fn largest(&self) -> usize {
        self.asker.largest()
    }

    fn ahead(&self) -> usize {
        1
    }

    fn give(&mut self, batch: Batch) -> Result<()> {
        self.given.push_back(batch);
        Ok(())
    }

    fn take(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let batch = self.given.pop_front().unwrap_or_default();
        let cost = batch.len() as f64;
        self.asker.ask(&batch, &mut |share| watch(share * cost))
    }
}

/// The size of a shard: whole pairs, because a round asks more questions per pair when fewer pairs are left.
pub const SHARD_TESTS: u64 = u64::MAX;

/// Returns the p-values of a batch, in its order.
///
/// # Errors
/// [`Error::Numeric`] for the first question without an answer, and what the asker returns.
pub fn p_values(asker: &mut dyn Asker, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
    let replies = asker.ask(batch, &mut |_| observer.look())?;
    values(replies, batch)
}

/// Returns the p-values in the replies.
///
/// # Errors
/// [`Error::Numeric`] for the first question without an answer.
pub(super) fn values(replies: Vec<Reply>, batch: &Batch) -> Result<Vec<f64>> {
    let mut values = memory::space(batch.len(), Use::Level)?;
    for (reply, (x, y, s)) in replies.into_iter().zip(batch.iter()) {
        match reply {
            Reply::P(p) => values.push(p),
            Reply::Undefined(reason) => return Err(Error::Numeric { x, y, s: s.to_vec(), reason }),
        }
    }
    Ok(values)
}

/// Runs level 0 for a worker that is an asker.
///
/// # Errors
/// [`Error::Numeric`] for a pair without an answer, and what the asker and the observer return.
pub fn marginal(
    asker: &mut dyn Asker,
    level: &Marginals,
    columns: Vec<Column>,
    observer: &mut dyn Observer,
) -> Result<()> {
    marginal_at(&mut One::new(asker), level, columns, observer)
}

/// Answers the shards of a level for a worker that is an asker.
///
/// # Errors
/// What the asker and the observer return.
pub fn answer(asker: &mut dyn Asker, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
    answer_at(&mut One::new(asker), work, book, observer)
}

/// Columns of level 0 whose pairs are asked together.
struct Group<'c> {
    columns: Vec<Column<'c>>,
    pairs: Vec<(usize, usize)>,
    batches: usize,
}

/// Runs level 0 as [`marginal`], for a desk.
pub(super) fn marginal_at(
    desk: &mut dyn Desk,
    level: &Marginals,
    columns: Vec<Column>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let total = level.pairs().edge_count() as f64;
    let most = (4 * desk.batch()).max(1);
    let mut done = 0.0;
    let mut columns = columns.into_iter().peekable();
    let mut groups: VecDeque<Group> = VecDeque::new();
    loop {
        while groups.len() < desk.ahead() && columns.peek().is_some() {
            // Takes columns until they have `most` pairs.
            let mut group = Group { columns: Vec::new(), pairs: Vec::new(), batches: 0 };
            while let Some(column) = columns.next_if(|_| group.pairs.len() < most) {
                let y = column.y();
                let before = level.pairs().neighbours(y).map(|x| x as usize).filter(|&x| x < y);
                group.pairs.extend(before.map(|x| (x, y)));
                group.columns.push(column);
            }
            for part in group.pairs.chunks(most) {
                let mut batch = Batch::with_space(part.len(), 0)?;
                part.iter().for_each(|&(x, y)| batch.push(x, y, &[]));
                desk.give(batch)?;
                group.batches += 1;
            }
            groups.push_back(group);
        }
        let Some(Group { columns: some, pairs, batches }) = groups.pop_front() else { break };
        let mut answers = memory::space(pairs.len(), Use::Level)?;
        for _ in 0..batches {
            let replies = desk.take(&mut |answered| observer.progress(0, done + answered, total))?;
            done += replies.len() as f64;
            answers.extend(replies);
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

/// An undecided pair.
pub(super) struct Open {
    pub shard: usize,
    /// The index at which its outcome is entered.
    pub at: usize,
    pub side: PairSide,
    /// The first rank, the next one to ask, the end of those asked in this round, and the end of the shard's ranks.
    first: u64,
    next: u64,
    until: u64,
    pub end: u64,
    /// The largest p so far.
    largest: Verdict,
}

/// Answers the shards of a level as [`answer`], for a desk.
pub(super) fn answer_at(desk: &mut dyn Desk, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
    let shards = 0..work.shards.len();
    let mut pages: Vec<Page> = shards.clone().map(|shard| book.open(shard)).collect();
    let (mut open, mut partial) = open_pairs(work, shards)?;
    open.append(&mut partial);
    answer_some(desk, work, book, (&mut pages, 0), open, observer)?;
    pages.into_iter().for_each(Page::close);
    Ok(())
}

/// Returns all pairs of these shards that have sets, shard by shard, in two queues. The first has the pairs of whole shards whose work does not
/// read the largest p; the second has all others.
pub(super) fn open_pairs(work: &Work, shards: Range<usize>) -> Result<(VecDeque<Open>, VecDeque<Open>)> {
    let (mut whole, mut others) = (VecDeque::new(), VecDeque::new());
    for shard in shards {
        let part = &work.shards[shard];
        let pairs = work.pairs_of(part);
        memory::room((whole.len() + others.len() + pairs.len()).saturating_mul(2 * size_of::<Open>()), Use::Level)?;
        for (at, side, ranks) in pairs.into_iter().filter(|(_, _, ranks)| !ranks.is_empty()) {
            let largest = Verdict::Dependent { rank: ranks.start, p: -1.0 };
            let Range { start, end } = ranks;
            let open = Open { shard, at, side, first: start, next: start, until: start, end, largest };
            match part.part.is_whole() && !work.reads_largest {
                true => whole.push_back(open),
                false => others.push_back(open),
            }
        }
    }
    Ok((whole, others))
}

/// Answers as [`answer`] on one machine, for some of the pairs. `pages` are the pages of the shards from the given number on.
#[cfg(feature = "cuda")]
pub(super) fn answer_open(
    asker: &mut dyn Asker,
    work: &Work,
    book: &Book,
    pages: (&mut [Page], usize),
    open: VecDeque<Open>,
    observer: &mut dyn Observer,
) -> Result<()> {
    answer_some(&mut One::new(asker), work, book, pages, open, observer)
}

fn answer_some(
    desk: &mut dyn Desk,
    work: &Work,
    book: &Book,
    (pages, first_shard): (&mut [Page], usize),
    mut open: VecDeque<Open>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let total = work.cost();
    let mut done = 0.0;
    let mut set = Vec::new();
    let mut lists: [Vec<u32>; 3] = Default::default();
    // The pairs of each round, whose next sets are being asked.
    let mut rounds: VecDeque<Vec<Open>> = VecDeque::new();
    loop {
        while rounds.len() < desk.ahead() && !open.is_empty() {
            let left = open.len() + rounds.iter().map(Vec::len).sum::<usize>();
            // The fewer pairs are left, the more sets of each pair are asked.
            let each = (desk.batch() / left).max(1) as u64;
            // A pair not separated by the sets asked so far is next asked about as many sets again.
            let again = (desk.largest() / left) as u64;
            // A larger round gains nothing and delays the first answers.
            let asked = open.len().min(4 * desk.batch()).min(left.div_ceil(desk.ahead()));
            let mut questions = 0;
            for Open { first, next, until, end, .. } in open.range_mut(..asked) {
                *until = (*end).min(*next + each.max(again.min(*next - *first)));
                questions += (*until - *next) as usize;
            }
            let mut batch = Batch::with_space(questions, questions * work.size)?;
            for Open { side, next, until, .. } in open.range(..asked) {
                side.each_set(work.neighbours, work.size, *next..*until, &mut lists, |set| {
                    batch.push(side.row as usize, side.other as usize, set);
                });
            }
            desk.give(batch)?;
            // Pairs that were not asked come first in the next round.
            rounds.push_back(open.drain(..asked).collect());
        }
        let Some(pairs) = rounds.pop_front() else { break };
        let answers = desk.take(&mut |answered| observer.progress(work.size, done + answered, total))?;
        let mut answers = answers.into_iter();
        for mut pair in pairs {
            let until = pair.until;
            let mut ends = None;
            for rank in pair.next..until {
                match answers.next() {
                    Some(_) if ends.is_some() => {}
                    Some(Reply::Undefined(reason)) => ends = Some(Verdict::Undefined { rank, reason }),
                    Some(Reply::P(p)) => match work.options.read(p) {
                        p if p >= work.options.alpha => ends = Some(Verdict::Independent { rank, p }),
                        p => pair.largest = pair.largest.merge(Verdict::Dependent { rank, p }),
                    },
                    None => break,
                }
            }
            done += (until - pair.next) as f64;
            pair.next = until;
            if ends.is_none() && until < pair.end {
                open.push_back(pair);
                continue;
            }
            done += (pair.end - until) as f64;
            let verdict = ends.unwrap_or(pair.largest);
            set.clear();
            if book.wants_sets() && ends.is_some() {
                pair.side.set_into(work.neighbours, work.size, verdict.rank(), &mut set);
            }
            let outcome = Answer { at: pair.at, verdict, set: &set, exact_tests: 0 };
            pages[pair.shard - first_shard].enter(pair.side.row, &outcome);
        }
    }
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

    /// An engine that asks another engine, in batches of the given size.
    struct Asking<'a>(CpuEngine<KnnKernel<'a>>, usize);

    impl Asker for Asking<'_> {
        fn batch(&self) -> usize {
            self.1
        }

        fn largest(&self) -> usize {
            // Pairs that stay are asked about more and more sets.
            5 * self.1
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
