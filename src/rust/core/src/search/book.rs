//! Where workers enter the outcomes of a level's shards.

use std::sync::Mutex;

use super::answer::{Answer, Answers, PairAnswer};
use super::cells::Cells;
use super::level::Verdict;
use super::shards::{Part, Work};
use super::Options;
use crate::graph::{subsets, Separations};
use crate::memory::{self, Use};

/// The outcomes of a level's shards, entered from any thread, in any order.
pub struct Book<'a> {
    work: &'a Work<'a>,
    options: &'a Options,
    /// The largest p-values; none: verdicts are kept as they are, and change nothing.
    cells: Option<Cells<'a>>,
    founds: Mutex<Vec<(usize, Found)>>,
    pieces: Mutex<Vec<Piece>>,
    /// By shard, the answers as they came, where nothing else is made of them.
    answers: Option<Mutex<Vec<Answers>>>,
}

/// What one shard found.
pub(super) struct Found {
    pub separations: Separations,
    pub tests: u64,
    pub exact_tests: u64,
    pub undefined: Option<Undefined>,
    /// By index of the side, where verdicts are kept as they are.
    verdicts: Vec<(usize, Verdict)>,
}

/// A pair whose test has no answer.
pub(super) struct Undefined {
    pub x: u32,
    pub y: u32,
    pub set: Vec<u32>,
    pub reason: &'static str,
}

/// What a range of sets says about a pair whose sets are cut.
struct Piece {
    first_set: u64,
    of_pair: PairAnswer,
}

impl<'a> Book<'a> {
    pub(super) fn new(work: &'a Work, options: &'a Options, cells: Cells<'a>) -> Self {
        Book { cells: Some(cells), ..Self::of_verdicts(work, options) }
    }

    /// A book that keeps the verdicts on sides as they are.
    pub(super) fn of_verdicts(work: &'a Work, options: &'a Options) -> Self {
        Book { work, options, cells: None, founds: Mutex::default(), pieces: Mutex::default(), answers: None }
    }

    /// A book that keeps the answers as they come, without sets, for whoever asked from afar.
    pub(crate) fn of_answers(work: &'a Work, options: &'a Options) -> Self {
        Book { answers: Some(Mutex::default()), ..Self::of_verdicts(work, options) }
    }

    /// The answers of [`Book::of_answers`], by number of the shard.
    pub(crate) fn into_answers(self) -> Vec<Answers> {
        let mut answers = self.answers.and_then(|answers| answers.into_inner().ok()).unwrap_or_default();
        answers.sort_unstable_by_key(|answers| answers.shard);
        answers
    }

    /// Begins a shard, by its number.
    pub fn open(&self, shard: usize) -> Page<'_, 'a> {
        let part = &self.work.shards[shard].part;
        Page {
            book: self,
            shard,
            part,
            found: Found::of_size(self.work.size),
            pieces: Vec::new(),
            answers: self.answers.as_ref().map(|_| Answers::of_shard(shard)),
            entering: self.entering(),
        }
    }

    fn entering(&self) -> Entering<'a> {
        Entering {
            work: self.work,
            options: self.options,
            cells: self.cells,
            row_sets: (u32::MAX, 0),
            raises: Vec::new(),
        }
    }

    /// Whether sets are read that separate or have no answer.
    pub fn wants_sets(&self) -> bool {
        self.cells.is_some()
    }

    /// What the shards found, by number of the shard, which leaves separating sets in order.
    pub(super) fn close(self) -> Vec<Found> {
        let mut entering = self.entering();
        let mut founds = self.founds.into_inner().unwrap_or_default();
        founds.sort_unstable_by_key(|&(shard, _)| shard);
        let mut founds: Vec<Found> = founds.into_iter().map(|(_, found)| found).collect();
        founds.push(merge(self.pieces.into_inner().unwrap_or_default(), &mut entering));
        entering.flush();
        founds
    }

    /// The verdicts by side, and the number of exact tests.
    pub(super) fn verdicts(self) -> (Vec<Verdict>, u64) {
        let mut verdicts = vec![Verdict::Dependent { rank: 0, p: -1.0 }; self.work.sides.len()];
        let mut exact_tests = 0;
        for found in self.close() {
            exact_tests += found.exact_tests;
            found.verdicts.iter().for_each(|&(at, verdict)| verdicts[at] = verdict);
        }
        (verdicts, exact_tests)
    }
}

/// The outcomes of one shard, on one thread.
pub struct Page<'b, 'a> {
    book: &'b Book<'a>,
    shard: usize,
    part: &'b Part,
    found: Found,
    pieces: Vec<Piece>,
    answers: Option<Answers>,
    entering: Entering<'a>,
}

impl Page<'_, '_> {
    /// Enters an outcome; `row` is that of the pair.
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
        memory::push_noted(&mut self.pieces, Piece { first_set, of_pair: PairAnswer::new(row, outcome) }, Use::Level);
    }

    /// Enters what came over a wire.
    pub fn enter_all(&mut self, answers: &Answers) {
        answers.of_pairs.iter().for_each(|of_pair| self.enter(of_pair.row, &of_pair.answer()));
    }

    /// Ends the shard.
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
            let len = pieces.len() + self.pieces.len();
            if pieces.capacity() >= len || memory::prepare(&mut pieces, len + len / 2, Use::Level) {
                pieces.append(&mut self.pieces);
            }
        }
    }
}

impl Found {
    fn of_size(size: usize) -> Self {
        Found {
            separations: Separations::of_size(size),
            tests: 0,
            exact_tests: 0,
            undefined: None,
            verdicts: Vec::new(),
        }
    }
}

/// What is needed to enter verdicts.
struct Entering<'a> {
    work: &'a Work<'a>,
    options: &'a Options,
    cells: Option<Cells<'a>>,
    /// A row, and the number of sets of each of its pairs.
    row_sets: (u32, u64),
    /// Largest p-values that are to be raised.
    raises: Vec<(u32, u32, f64)>,
}

/// So many p-values are entered together: their cells come from memory side by side, and not each when its pair is decided.
const RAISED_TOGETHER: usize = 128;

impl Entering<'_> {
    /// Enters the p-values that wait for it.
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

    /// The other vertex of the pair, and the number of its sets.
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
    fn enter(&mut self, row: u32, outcome: &Answer, found: &mut Found) {
        if self.cells.is_none() {
            found.exact_tests += outcome.exact_tests;
            memory::push_noted(&mut found.verdicts, (outcome.at, outcome.verdict), Use::Level);
            return;
        }
        let (other, all) = self.pair(row, outcome.at);
        found.tests += outcome.verdict.visited(all);
        found.exact_tests += outcome.exact_tests;
        match outcome.verdict {
            Verdict::Dependent { p, .. } => self.raise(row, other, p),
            Verdict::Independent { p, .. } => {
                self.raise(row, other, p);
                let [x, y] = self.options.kept_under(row, other);
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

/// The verdicts on pairs whose sets are cut, from those on the pieces.
fn merge(mut pieces: Vec<Piece>, entering: &mut Entering) -> Found {
    let mut found = Found::of_size(entering.work.size);
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
