//! Sets of one variable for vertices with many neighbours: all variables in order, in single precision, with the neighbours as a mask. Nothing
//! is gathered. If single precision cannot rule out that a test separates, double precision decides it ([`Rules::single`]).

use std::sync::atomic::{AtomicU64, Ordering};

use super::coarse::{self, Band, Coarse, Threshold, BLOCK};
use super::rules::{Rules, Single};
use super::scan::{between, fold, Least, Scan, Tests};
use crate::engine::cpu::kernel::Signal;
use crate::engine::LevelOne;
use crate::graph::{Adjacency, BITS};
use crate::search::level::{Neighbours, Verdict};
use crate::simd::Task;

/// The density from which masks are quicker than lists: one in this many of all variables is a neighbour of the vertex.
const ONE_IN: u64 = 12;

/// The number of variables from which masks are used. With fewer, C in single precision takes longer to make than it saves if most pairs are
/// separated by their first sets. On NCI-60 (p 1,190, 40 % of the pairs left after level 0, 12 tests a pair) masks throughout took up to 1.15
/// times as long.
const LEAST_VARIABLES: usize = 1500;

/// Number of remaining suspects in a word above which double precision checks the whole word, once one suspect is dependent.
const MANY: u32 = 6;

/// Number of pairs decided side by side, so that memory for one arrives while the others are checked.
const AT_ONCE: usize = 8;

/// The tests of (x, y) given neighbours of x.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    /// The index by which the caller knows the pair.
    pub at: usize,
    pub x: usize,
    pub y: usize,
    /// The range of places in the list of x to test.
    pub places: (usize, usize),
    /// Whether neighbours of y are left out.
    pub without_common: bool,
    /// The rank after which sets need not be asked.
    pub limit: Option<&'a AtomicU64>,
}

/// Working memory of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    lanes: [Lane; AT_ONCE],
}

/// Working memory and state of a pair.
#[derive(Default)]
struct Lane {
    /// The variables that are asked, as bits.
    words: Vec<u64>,
    least: Vec<Least>,
    found: Found,
    stage: Stage,
    /// Variables that double precision must check.
    low: Vec<u32>,
}

/// The next step for a pair.
#[derive(Clone, Copy, Default)]
enum Stage {
    /// None: it is decided.
    #[default]
    Done,
    /// Scan from this word on.
    Scan(usize),
    /// Ask about the suspects of this word.
    Ask(usize, u64),
    /// Find the smallest partial correlation among `low`: nothing separates.
    Smallest,
}

/// The verdict on a side, and the number of tests decided by the exact formula.
pub(super) struct Decided {
    pub verdict: Verdict,
    /// The variable that separates or has no answer, if there is one.
    pub member: Option<u32>,
    pub exact_tests: u64,
}

/// The findings of double precision on a side.
struct Found {
    decided: Decided,
    /// The largest p by the exact formula, and its rank.
    exact: (f64, u64),
    /// The smallest squared partial correlation, and its variable.
    smallest: (f64, usize),
}

impl Default for Decided {
    fn default() -> Self {
        Decided { verdict: Verdict::Dependent { rank: 0, p: -1.0 }, member: None, exact_tests: 0 }
    }
}

impl Default for Found {
    fn default() -> Self {
        Found { decided: Decided::default(), exact: (-1.0, 0), smallest: (f64::INFINITY, usize::MAX) }
    }
}

impl Found {
    /// Notes q at z if it is the smallest.
    #[inline(always)]
    fn lower(&mut self, q: f64, z: usize) {
        if (q, z) < self.smallest {
            self.smallest = (q, z);
        }
    }
}

/// Returns, as bits, the variables of a word that double precision does not clear: their squared partial correlation is not above the threshold,
/// or cannot be trusted.
#[inline(always)]
fn doubtful(rules: &Rules, x: usize, y: usize, w: usize, threshold: f64) -> u64 {
    let part = |of: usize| {
        let column = rules.gauss.column(of);
        &column[w * BLOCK..column.len().min((w + 1) * BLOCK)]
    };
    let (xy, trusted) = (rules.gauss.correlation(x, y), rules.trusted_above);
    let mut doubtful = 0;
    for ((&of_x, &of_y), &bit) in part(x).iter().zip(part(y)).zip(&BITS) {
        let (left_x, left_y) = (1.0 - of_x * of_x, 1.0 - of_y * of_y);
        let covariance = xy - of_x * of_y;
        let clear = (covariance * covariance > threshold * (left_x * left_y)) & (left_x > trusted) & (left_y > trusted);
        doubtful |= if clear { 0 } else { bit };
    }
    doubtful
}

/// Returns whether masks run the sets of one neighbour of x.
pub(super) fn takes(rules: &Rules, coarse: &Coarse, level_one: LevelOne, neighbours: &Neighbours, x: usize) -> bool {
    rules.size == 1
        && takes_row(level_one, neighbours, x)
        && rules.cutoff.dependent_above < LevelOne::LARGEST_LIMIT
        && coarse.fits()
}

/// Returns whether x has enough neighbours for masks.
pub(super) fn takes_row(level_one: LevelOne, neighbours: &Neighbours, x: usize) -> bool {
    let by_number = match level_one {
        LevelOne::ByDensity => {
            neighbours.p() >= LEAST_VARIABLES
                && neighbours.degree(x) as u64 >= LevelOne::fewest(neighbours.p() as u64, ONE_IN)
        }
        LevelOne::Lists | LevelOne::Columns => false,
        LevelOne::Masks => true,
    };
    by_number && neighbours.graph().is_some()
}

/// Returns the number of other vertices' rows, of p variables each, that stay in the cache along with one row.
pub(super) fn at_once(p: usize) -> usize {
    (CACHE / (p.div_ceil(BLOCK) * size_of::<coarse::Block>())).max(1)
}

/// Bytes of a core's second-level cache for rows in single precision; the cache has at least twice as many.
const CACHE: usize = 1 << 19;

/// A task that decides pairs, several side by side.
pub(super) struct Pairs<'a, 'b> {
    pub rules: &'a Rules<'a>,
    pub neighbours: &'a Neighbours,
    pub coarse: &'a Coarse,
    pub signal: &'a Signal<'a>,
    pub pairs: &'a [Pair<'a>],
    pub scratch: &'a mut Scratch,
    /// Gets the outcome of each pair.
    pub out: &'b mut dyn FnMut(&Pair, Decided),
}

/// A pair and its rows.
struct Rows<'a> {
    rules: &'a Rules<'a>,
    graph: &'a Adjacency,
    pair: &'a Pair<'a>,
    of_x: &'a coarse::Row,
    of_y: &'a coarse::Row,
}

impl<S: Scan> Task<S> for Pairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Pairs { rules, neighbours, coarse, signal, pairs, scratch, out } = self;
        let Some(graph) = neighbours.graph() else { return };
        for pairs in pairs.chunks(AT_ONCE) {
            if signal.stop_requested() {
                return;
            }
            let rows = |pair| -> Rows {
                Rows {
                    rules,
                    graph,
                    pair,
                    of_x: coarse.row(rules.gauss, pair.x),
                    of_y: coarse.row(rules.gauss, pair.y),
                }
            };
            let lanes = &mut scratch.lanes[..pairs.len()];
            for (pair, lane) in pairs.iter().zip(&mut *lanes) {
                rows(pair).start(neighbours, lane);
                simd.fetch(&rules.gauss.column(pair.y)[pair.x]);
            }
            let mut left = true;
            while left {
                for (pair, lane) in pairs.iter().zip(&mut *lanes) {
                    rows(pair).scan(simd, lane);
                }
                left = false;
                for (pair, lane) in pairs.iter().zip(&mut *lanes) {
                    rows(pair).settle(simd, lane, signal);
                    left |= !matches!(lane.stage, Stage::Done);
                }
            }
            if signal.stop_requested() {
                return;
            }
            for (pair, lane) in pairs.iter().zip(lanes) {
                out(pair, std::mem::take(&mut lane.found).decided);
            }
        }
    }
}

impl Rows<'_> {
    #[inline(always)]
    fn start(&self, neighbours: &Neighbours, lane: &mut Lane) {
        let Pair { x, y, places, without_common, .. } = *self.pair;
        let row = self.graph.bit_row(x);
        lane.found = Found::default();
        lane.stage = Stage::Done;
        if places.0 >= places.1 || self.of_x.blocks.len() != row.len() || self.of_y.blocks.len() != row.len() {
            // No set, or memory has run out, which ends the run.
            return;
        }
        lane.stage = Stage::Scan(0);
        lane.least.resize(row.len(), Least::NONE);
        lane.words.clear();
        if without_common {
            lane.words.extend(row.iter().zip(self.graph.bit_row(y)).map(|(word, common)| word & !common));
        } else {
            lane.words.extend_from_slice(row);
        }
        lane.words[y / BLOCK] &= !(1 << (y % BLOCK));
        let list = neighbours.list(x);
        if places != (0, list.len()) {
            let (first, end) = (list[places.0] as usize, list[places.1 - 1] as usize + 1);
            for (w, word) in lane.words.iter_mut().enumerate() {
                let from = first.saturating_sub(w * BLOCK).min(BLOCK);
                let to = end.saturating_sub(w * BLOCK).min(BLOCK);
                *word = if from < to { *word & (!0 << from) & (!0 >> (BLOCK - to)) } else { 0 };
            }
        }
    }

    #[inline(always)]
    fn tests<'a>(&'a self, words: &'a [u64]) -> Tests<'a> {
        let xy = self.rules.gauss.column(self.pair.x)[self.pair.y] as f32;
        Tests { xy, of_x: &self.of_x.blocks, of_y: &self.of_y.blocks, words, band: Band::new(self.of_x, self.of_y) }
    }

    /// Returns the threshold above which single precision must find a test to be dependent.
    #[inline(always)]
    fn above(&self, band: Band) -> Threshold {
        // If xy is not a correlation, single precision knows nothing: all tests are asked.
        let xy = self.rules.gauss.column(self.pair.x)[self.pair.y];
        if xy.abs() < 2.0 {
            band.above(self.rules.cutoff.dependent_above.sqrt())
        } else {
            Threshold::ALL
        }
    }

    /// Finds the variables that double precision must check, and prefetches their data.
    #[inline(always)]
    fn scan<S: Scan>(&self, simd: S, lane: &mut Lane) {
        let Stage::Scan(from) = lane.stage else { return };
        let tests = self.tests(&lane.words);
        let above = self.above(tests.band);
        let w = simd.next(&tests, from, above, &mut lane.least);
        if w < lane.words.len() {
            let suspects = between(simd, &tests, w, None, above);
            lane.stage = Stage::Ask(w, suspects);
            if suspects != 0 {
                self.fetch(simd, w * BLOCK + suspects.trailing_zeros() as usize);
            }
            return;
        }
        lane.stage = Stage::Smallest;
        lane.low.clear();
        let mut least = Least::NONE;
        lane.least.iter().for_each(|of_word| least.lower(of_word));
        let Some(smallest) = least.smallest() else { return };
        let below = tests.band.above_smallest(smallest);
        for w in (0..lane.least.len()).filter(|&w| lane.least[w].any_below(below)) {
            let mut low = between(simd, &tests, w, Some(above), below);
            while low != 0 {
                let z = w * BLOCK + low.trailing_zeros() as usize;
                low &= low - 1;
                lane.low.push(z as u32);
                self.fetch(simd, z);
            }
        }
    }

    /// Takes the steps that need double precision.
    #[inline(always)]
    fn settle<S: Scan>(&self, simd: S, lane: &mut Lane, signal: &Signal) {
        match lane.stage {
            Stage::Done | Stage::Scan(_) => {}
            Stage::Ask(w, suspects) => {
                let beyond = |limit: &AtomicU64| self.rank(w * BLOCK) > limit.load(Ordering::Relaxed);
                let leaves = signal.stop_requested() || self.pair.limit.is_some_and(beyond);
                if leaves || self.ask(w, suspects, &mut lane.found) {
                    lane.stage = Stage::Done;
                } else {
                    let Tests { xy, of_x, of_y, words, .. } = self.tests(&lane.words);
                    lane.least[w] = fold(simd, xy, &of_x[w], &of_y[w], words[w] & !suspects);
                    lane.stage = Stage::Scan(w + 1);
                }
            }
            Stage::Smallest => {
                for &z in &lane.low {
                    if let (Single::Depends(q), _) = self.rules.single(self.pair.x, self.pair.y, z) {
                        lane.found.lower(q, z as usize);
                    }
                }
                let Found { exact, smallest: (smallest, z), ref mut decided } = lane.found;
                decided.verdict = Verdict::Dependent { rank: exact.1, p: exact.0 };
                if smallest < f64::INFINITY {
                    // The quick form was trusted here, so pcalg's formula has an answer too.
                    if let Ok(p) = self.rules.gauss.p_value(self.pair.x, self.pair.y, &[z as u32]) {
                        decided.verdict = Verdict::Dependent { rank: self.rank(z), p }.merge(decided.verdict);
                    }
                }
                lane.stage = Stage::Done;
            }
        }
    }

    /// Prefetches the data of z for double precision.
    #[inline(always)]
    fn fetch<S: Scan>(&self, simd: S, z: usize) {
        let Rows { rules, pair, .. } = self;
        if rules.gauss.is_whole() {
            let column = rules.gauss.column(z);
            simd.fetch(&column[pair.x]);
            simd.fetch(&column[pair.y]);
        } else {
            simd.fetch(&rules.gauss.column(pair.x)[z]);
            simd.fetch(&rules.gauss.column(pair.y)[z]);
        }
    }

    /// Asks double precision about the suspects of a word, in order. Returns `true` if that decides the pair.
    #[inline(always)]
    fn ask(&self, w: usize, mut suspects: u64, found: &mut Found) -> bool {
        let (rules, &Pair { x, y, .. }) = (self.rules, self.pair);
        let mut looked = false;
        while suspects != 0 {
            let z = w * BLOCK + suspects.trailing_zeros() as usize;
            suspects &= suspects - 1;
            let (single, exactly) = rules.single(x, y, z as u32);
            found.decided.exact_tests += u64::from(exactly);
            found.decided.verdict = match single {
                Single::Depends(q) => {
                    found.lower(q, z);
                    // If a pair can be separated, its first suspect mostly does so.
                    if !looked && suspects.count_ones() > MANY {
                        suspects &= doubtful(rules, x, y, w, rules.cutoff.dependent_above.max(found.smallest.0));
                        looked = true;
                    }
                    continue;
                }
                Single::DependsExactly(p) => {
                    if p > found.exact.0 {
                        found.exact = (p, self.rank(z));
                    }
                    continue;
                }
                Single::Separates { q, condition } => {
                    let p = rules.p_of_square(q, condition, x, y, &[z as u32]);
                    Verdict::Independent { rank: self.rank(z), p }
                }
                Single::SeparatesExactly(p) => Verdict::Independent { rank: self.rank(z), p },
                Single::Undefined(reason) => Verdict::Undefined { rank: self.rank(z), reason },
            };
            found.decided.member = Some(z as u32);
            return true;
        }
        false
    }

    /// Returns the number of the pair's candidates that come before z.
    #[inline(always)]
    fn rank(&self, z: usize) -> u64 {
        let Pair { x, y, without_common, .. } = *self.pair;
        let row = self.graph.bit_row(x);
        let (w, below) = (z / BLOCK, (1u64 << (z % BLOCK)) - 1);
        let count = |word: u64| u64::from(word.count_ones());
        if without_common {
            let word = |w: usize| self.graph.word_without(x, y, w);
            (0..w).map(|w| count(word(w))).sum::<u64>() + count(word(w) & below)
        } else {
            row[..w].iter().map(|&word| count(word)).sum::<u64>() + count(row[w] & below) - u64::from(y < z)
        }
    }
}
