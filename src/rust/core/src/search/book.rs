//! The book in which workers enter the outcomes of a level's shards.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::answer::{Answer, Answers, PairAnswer};
use super::cells::Cells;
use super::checkpoint::DoneShards;
use super::level::Verdict;
use super::shards::{Part, Shard, Work};
use crate::graph::{subsets, Separations};
use crate::memory::{self, Use};

/// The outcomes of a level's shards, entered from any thread, in any order.
pub struct Book<'a> {
    work: &'a Work<'a>,
    /// The largest p-values. `None`: verdicts are kept as they are, and change nothing.
    cells: Option<Cells<'a>>,
    founds: Mutex<Vec<(usize, ShardFound)>>,
    pieces: Mutex<Pieces>,
    /// Shards that an earlier call had done.
    restored: Vec<usize>,
    /// The answers of each shard as they came, in a book that only collects them.
    answers: Option<Mutex<Vec<Answers>>>,
}

/// Outcomes for pairs whose sets are cut, and the numbers of the closed shards that found them.
#[derive(Default)]
struct Pieces {
    list: Vec<Piece>,
    closed: Vec<usize>,
}

/// Value in place of a shard's number: all shards that an earlier call had done.
const RESTORED: usize = usize::MAX;

/// The outcome of one shard.
pub(super) struct ShardFound {
    pub separations: Separations,
    pub tests: u64,
    pub exact_tests: u64,
    pub undefined: Option<Undefined>,
    /// Verdicts with the row and the index of the lane or side, if the book keeps verdicts as they are.
    verdicts: Vec<(u32, usize, Verdict)>,
}

/// A pair whose test has no answer.
pub(super) struct Undefined {
    pub x: u32,
    pub y: u32,
    pub set: Vec<u32>,
    pub reason: &'static str,
}

/// The outcome of a range of sets, for a pair whose sets are cut.
struct Piece {
    shard: usize,
    first_set: u64,
    of_pair: PairAnswer,
}

impl<'a> Book<'a> {
    pub(super) fn new(work: &'a Work, cells: Cells<'a>) -> Self {
        Book { cells: Some(cells), ..Self::of_verdicts(work) }
    }

    /// Makes a book that keeps the verdicts on sides as they are.
    pub(super) fn of_verdicts(work: &'a Work) -> Self {
        Book {
            work,
            cells: None,
            founds: Mutex::default(),
            pieces: Mutex::default(),
            restored: Vec::new(),
            answers: None,
        }
    }

    /// Makes a book that keeps the answers as they come, without sets, for a remote caller.
    pub(crate) fn of_answers(work: &'a Work) -> Self {
        Book { answers: Some(Mutex::default()), ..Self::of_verdicts(work) }
    }

    /// Returns the answers of [`Book::of_answers`] by shard. A shard that was opened several times has all of its answers together. A shard
    /// that was never opened has none.
    pub(crate) fn into_answers(self) -> Vec<Answers> {
        let mut all: Vec<Answers> = (0..self.work.shards.len()).map(Answers::of_shard).collect();
        let entered = self.answers.and_then(|answers| answers.into_inner().ok()).unwrap_or_default();
        for mut some in entered {
            all[some.shard as usize].of_pairs.append(&mut some.of_pairs);
        }
        all
    }

    /// Adds the closed shards and their outcomes to `done`, except shards that ended at a test without an answer.
    pub(super) fn done(&self, done: &mut DoneShards) {
        done.separations.size = self.work.size;
        done.numbers.clone_from(&self.restored);
        if let Ok(founds) = self.founds.lock() {
            for (shard, found) in founds.iter().filter(|(_, found)| found.undefined.is_none()) {
                if *shard != RESTORED {
                    done.numbers.push(*shard);
                }
                done.separations.pairs.extend_from_slice(&found.separations.pairs);
                done.separations.members.extend_from_slice(&found.separations.members);
                done.tests += found.tests;
                done.exact_tests += found.exact_tests;
            }
        }
        if let Ok(pieces) = self.pieces.lock() {
            let mut by_shard: BTreeMap<usize, Answers> =
                pieces.closed.iter().map(|&shard| (shard, Answers::of_shard(shard))).collect();
            for Piece { shard, of_pair, .. } in &pieces.list {
                if let Verdict::Undefined { .. } = of_pair.verdict {
                    by_shard.remove(shard);
                } else if let Some(answers) = by_shard.get_mut(shard) {
                    answers.of_pairs.push(of_pair.clone());
                }
            }
            done.numbers.extend(by_shard.keys());
            done.pieces = by_shard.into_values().filter(|answers| !answers.of_pairs.is_empty()).collect();
        }
        // Shards from an earlier call are opened and closed once more, empty.
        done.numbers.sort_unstable();
        done.numbers.dedup();
    }

    /// Enters the outcomes of an earlier call's shards. The work no longer has these shards; `parts` has them by number.
    pub(super) fn restore(&mut self, done: DoneShards, parts: &BTreeMap<usize, Shard>) {
        let DoneShards { separations, tests, exact_tests, pieces, .. } = done;
        for answers in pieces {
            let number = answers.shard as usize;
            let Some(shard) = parts.get(&number) else { continue };
            let mut page = self.page(number, &shard.part);
            page.enter_all(&answers);
            page.close();
        }
        let found = ShardFound { separations, tests, exact_tests, ..ShardFound::of_size(self.work.size) };
        if let Ok(mut founds) = self.founds.lock() {
            founds.push((RESTORED, found));
        }
        self.restored = parts.keys().copied().collect();
    }

    /// Opens a page for the shard with this number.
    pub fn open(&self, shard: usize) -> Page<'_, 'a> {
        self.page(shard, &self.work.shards[shard].part)
    }

    fn page<'b>(&'b self, shard: usize, part: &'b Part) -> Page<'b, 'a> {
        Page {
            book: self,
            shard,
            part,
            found: ShardFound::of_size(self.work.size),
            pieces: Vec::new(),
            answers: self.answers.as_ref().map(|_| Answers::of_shard(shard)),
            entering: self.entering(),
        }
    }

    fn entering(&self) -> Entering<'a> {
        Entering { work: self.work, cells: self.cells, row_sets: (u32::MAX, 0), raises: Vec::new() }
    }

    /// Returns whether the book reads sets that separate or have no answer.
    pub fn wants_sets(&self) -> bool {
        self.cells.is_some()
    }

    /// Returns the outcomes by shard number, which puts the separating sets in order.
    pub(super) fn close(self) -> Vec<ShardFound> {
        let mut entering = self.entering();
        let mut founds = self.founds.into_inner().unwrap_or_default();
        founds.sort_unstable_by_key(|&(shard, _)| shard);
        let mut founds: Vec<ShardFound> = founds.into_iter().map(|(_, found)| found).collect();
        founds.push(merge(self.pieces.into_inner().unwrap_or_default().list, &mut entering));
        entering.flush();
        founds
    }

    /// Returns the verdicts with row and lane, and the number of exact tests.
    pub(super) fn verdicts_of_lanes(self) -> (Vec<(u32, usize, Verdict)>, u64) {
        let founds = self.close();
        let exact_tests = founds.iter().map(|found| found.exact_tests).sum();
        (founds.into_iter().flat_map(|found| found.verdicts).collect(), exact_tests)
    }

    /// Returns the verdicts by side, and the number of exact tests.
    pub(super) fn verdicts(self) -> (Vec<Verdict>, u64) {
        let mut verdicts = vec![Verdict::Dependent { rank: 0, p: -1.0 }; self.work.sides.len()];
        let mut exact_tests = 0;
        for found in self.close() {
            exact_tests += found.exact_tests;
            found.verdicts.iter().for_each(|&(_, at, verdict)| verdicts[at] = verdict);
        }
        (verdicts, exact_tests)
    }
}

/// The outcomes of one shard, on one thread.
pub struct Page<'b, 'a> {
    book: &'b Book<'a>,
    shard: usize,
    part: &'b Part,
    found: ShardFound,
    pieces: Vec<Piece>,
    answers: Option<Answers>,
    entering: Entering<'a>,
}

impl Page<'_, '_> {
    /// Enters an outcome. `row` is the row of its pair.
    #[inline]
    pub fn enter(&mut self, row: u32, outcome: &Answer) {
        let Answer { at, verdict, .. } = *outcome;
        let (limit, first_set) = match self.part {
            Part::Tile { .. } | Part::Sides(_) => {
                return match &mut self.answers {
                    Some(answers) => answers.push(row, outcome),
                    None => self.entering.enter(row, outcome, &mut self.found),
                }
            }
            Part::Lanes { lanes, sets, limits, .. } => (limits + at - lanes.start, sets.start),
            Part::Ranks { ranks, limit, .. } => (*limit, ranks.start),
        };
        if !matches!(verdict, Verdict::Dependent { .. }) {
            self.book.work.found(limit, verdict.rank());
        }
        if let Some(answers) = &mut self.answers {
            return answers.push(row, outcome);
        }
        memory::push_noted(
            &mut self.pieces,
            Piece { shard: self.shard, first_set, of_pair: PairAnswer::new(row, outcome) },
            Use::Level,
        );
    }

    /// Enters answers that came over a wire or from a checkpoint.
    pub fn enter_all(&mut self, answers: &Answers) {
        answers.of_pairs.iter().for_each(|of_pair| self.enter(of_pair.row, &of_pair.answer()));
    }

    /// Closes the page, and adds its outcomes to the book.
    pub fn close(mut self) {
        self.entering.flush();
        if let (Some(own), Some(all)) = (self.answers, &self.book.answers) {
            if let Ok(mut all) = all.lock() {
                memory::push_noted(&mut all, own, Use::Level);
            }
        } else if self.part.is_whole() {
            if let Ok(mut founds) = self.book.founds.lock() {
                founds.push((self.shard, self.found));
            }
        } else if let Ok(mut pieces) = self.book.pieces.lock() {
            let Pieces { list, closed } = &mut *pieces;
            let len = list.len() + self.pieces.len();
            if list.capacity() >= len || memory::prepare(list, len + len / 2, Use::Level) {
                list.append(&mut self.pieces);
            }
            memory::push_noted(closed, self.shard, Use::Level);
        }
    }
}

impl ShardFound {
    fn of_size(size: usize) -> Self {
        ShardFound {
            separations: Separations::of_size(size),
            tests: 0,
            exact_tests: 0,
            undefined: None,
            verdicts: Vec::new(),
        }
    }
}

/// The state that is needed to enter verdicts.
struct Entering<'a> {
    work: &'a Work<'a>,
    cells: Option<Cells<'a>>,
    /// A row, and the number of sets of each of its pairs.
    row_sets: (u32, u64),
    /// Largest p-values that wait to be raised.
    raises: Vec<(u32, u32, f64)>,
}

/// Number of p-values that are entered together. Their cells are then fetched from memory side by side, not one by one as pairs are
/// decided.
const RAISED_TOGETHER: usize = 128;

impl Entering<'_> {
    /// Enters the waiting p-values.
    fn flush(&mut self) {
        if let Some(cells) = self.cells {
            self.raises.iter().for_each(|&(x, y, p)| cells.raise(x as usize, y as usize, p));
        }
        self.raises.clear();
    }

    #[inline]
    fn raise(&mut self, x: u32, y: u32, p: f64) {
        if self.raises.len() == RAISED_TOGETHER {
            self.flush();
        }
        self.raises.push((x, y, p));
    }

    /// Returns the other vertex of the pair, and the number of its sets.
    #[inline]
    fn pair(&mut self, row: u32, at: usize) -> (u32, u64) {
        if let Some(side) = self.work.sides.get(at) {
            return (side.other, side.count);
        }
        let (neighbours, x) = (self.work.neighbours, row as usize);
        if self.row_sets.0 != row {
            self.row_sets = (row, subsets::binomial(neighbours.degree(x) - 1, self.work.size).unwrap_or(u64::MAX));
        }
        (neighbours.list(x)[self.work.lanes.of(x)[at] as usize], self.row_sets.1)
    }

    /// Enters the verdict on all sets of a side.
    #[inline]
    fn enter(&mut self, row: u32, outcome: &Answer, found: &mut ShardFound) {
        if self.cells.is_none() {
            found.exact_tests += outcome.exact_tests;
            memory::push_noted(&mut found.verdicts, (row, outcome.at, outcome.verdict), Use::Level);
            return;
        }
        let (other, all) = self.pair(row, outcome.at);
        found.tests += outcome.verdict.visited(all);
        found.exact_tests += outcome.exact_tests;
        match outcome.verdict {
            Verdict::Dependent { p, .. } => self.raise(row, other, p),
            Verdict::Independent { p, .. } => {
                self.raise(row, other, p);
                let [x, y] = self.work.options.kept_under(row, other);
                found.separations.push(x, y, outcome.set);
            }
            Verdict::Undefined { reason, .. } => {
                let first = found.undefined.as_ref().is_none_or(|known| (row, other) < (known.x, known.y));
                if first {
                    found.undefined = Some(Undefined { x: row, y: other, set: outcome.set.to_vec(), reason });
                }
            }
        }
    }
}

/// Merges the verdicts on pieces into verdicts on the pairs whose sets are cut.
fn merge(mut pieces: Vec<Piece>, entering: &mut Entering) -> ShardFound {
    let mut found = ShardFound::of_size(entering.work.size);
    pieces.sort_unstable_by_key(|piece| (piece.of_pair.row, piece.of_pair.at, piece.first_set));
    for pieces in pieces.chunk_by(|a, b| (a.of_pair.row, a.of_pair.at) == (b.of_pair.row, b.of_pair.at)) {
        let Some(Piece { of_pair: first, .. }) = pieces.first() else { continue };
        let mut outcome = Answer { exact_tests: 0, ..first.answer() };
        // Pieces after the one that separates ran until they learnt of it, or not at all: their outcomes depend on timing.
        for Piece { of_pair, .. } in pieces {
            outcome.exact_tests += of_pair.exact_tests;
            outcome.verdict = outcome.verdict.merge(of_pair.verdict);
            if !matches!(of_pair.verdict, Verdict::Dependent { .. }) {
                outcome.set = &of_pair.set;
                break;
            }
        }
        entering.enter(first.row, &outcome, &mut found);
    }
    found
}
