//! Sets of one variable for vertices with many neighbours: all variables in order, in single precision, with the neighbours as a
//! mask. Nothing is gathered; what single precision cannot tell apart from separation is asked in double ([`Rules::single`]).

use std::ops::Range;

use super::coarse::{all_above, covering, least, over, suspects, Block, Coarse, Fused, BLOCK};
use super::quad::BITS;
use super::rows::Row;
use super::rules::{Rules, Single};
use crate::engine::cpu::kernel::{SideView, Signal};
use crate::engine::cpu::simd::Task;
use crate::engine::LevelOne;
use crate::graph::Adjacency;
use crate::search::level::{CandidateOrder, Neighbours, Verdict};

/// A vertex is taken so where at least one in so many of all variables is its neighbour: below, lists are quicker.
const ONE_IN: u64 = 12;

/// Of fewer variables, C in single precision takes longer to make than it saves where most pairs fall to their first sets: on NCI-60
/// (p 1,190, 40 % of the pairs left after level 0, 12 tests a pair) masks throughout took up to 1.15 times as long.
const LEAST_VARIABLES: usize = 1500;

/// What the tests given neighbours of one vertex x share.
#[derive(Default)]
struct Dense {
    /// Of what: the vertex, the places in its list, and where that list is.
    of: (usize, Range<usize>, usize),
    of_x: Vec<Block>,
    /// For neighbours of x in the range: the threshold times 1 - r²; -1 for others.
    limits: Vec<Block>,
    /// The neighbours in the range, as bits.
    words: Vec<u64>,
    /// How many neighbours of x come before each word, of the range or not.
    before: Vec<u32>,
}

/// Working memory of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    dense: Dense,
    /// Words that may hold the smallest partial correlation, with theirs over the threshold.
    low: Vec<(u32, f32)>,
}

/// What is known of a side, and the tests decided by the exact formula.
struct Decided {
    verdict: Verdict,
    /// The variable of that rank.
    member: Option<u32>,
    exact_tests: u64,
}

/// The tests of (x, y) given neighbours of x.
struct Pair<'a> {
    rules: &'a Rules<'a>,
    neighbours: &'a Neighbours,
    x: usize,
    y: usize,
    /// Bit row of y where its neighbours are left out.
    without: Option<&'a [u64]>,
    of_y: &'a [Block],
}

/// Whether sets of one neighbour of x are taken so.
pub(super) fn takes(rules: &Rules, coarse: &Coarse, level_one: LevelOne, neighbours: &Neighbours, x: usize) -> bool {
    rules.size == 1
        && match level_one {
            LevelOne::ByDensity => {
                neighbours.p() >= LEAST_VARIABLES
                    && neighbours.degree(x) as u64 >= LevelOne::fewest(neighbours.p() as u64, ONE_IN)
            }
            LevelOne::Lists | LevelOne::Columns => false,
            LevelOne::Masks => true,
        }
        && rules.cutoff.dependent_above < LevelOne::LARGEST_LIMIT
        && neighbours.graph().is_some()
        && coarse.fits()
}

impl Dense {
    /// For the neighbours of x whose place in its list is in a range. Working memory serves one level: what was made for the same
    /// list stays.
    #[inline(always)]
    fn start(
        &mut self,
        rules: &Rules,
        coarse: &Coarse,
        neighbours: &Neighbours,
        graph: &Adjacency,
        x: usize,
        places: Range<usize>,
    ) {
        let list = neighbours.list(x);
        let of = (x, places.clone(), list.as_ptr() as usize);
        if self.of == of {
            return;
        }
        self.of = of;
        let (first, end) = (list[places.start] as usize, list[places.end - 1] as usize + 1);
        self.of_x.clear();
        self.of_x.extend_from_slice(coarse.row(rules.gauss, x));
        self.words.clear();
        self.before.clear();
        let mut before = 0;
        for (w, &word) in graph.row(x).iter().enumerate() {
            let from = first.saturating_sub(w * BLOCK).min(BLOCK);
            let to = end.saturating_sub(w * BLOCK).min(BLOCK);
            self.words.push(if from < to { word & (!0 << from) & (!0 >> (BLOCK - to)) } else { 0 });
            self.before.push(before);
            before += word.count_ones();
        }
        let limit = covering(rules.cutoff.dependent_above);
        self.limits.clear();
        for ((of_x, &word), r) in self.of_x.iter_mut().zip(&self.words).zip(rules.gauss.column(x).chunks(BLOCK)) {
            let mut limits = Block::all(-1.0);
            for (i, (&r, &bit)) in r.iter().zip(&BITS).enumerate() {
                if word & bit == 0 {
                    of_x.0[i] = 0.0;
                } else {
                    // Rounded up, so that more is asked.
                    limits.0[i] = (limit * (1.0 - r * r) * (1.0 + 1e-6)) as f32;
                }
            }
            self.limits.push(limits);
        }
    }

    #[inline(always)]
    fn decide<S: Fused>(&self, simd: S, pair: &Pair, signal: &Signal, low: &mut Vec<(u32, f32)>) -> Decided {
        let Pair { rules, x, y, of_y, .. } = *pair;
        let xy = rules.gauss.correlation(x, y) as f32;
        let mut decided = Decided { verdict: Verdict::Dependent { rank: 0, p: -1.0 }, member: None, exact_tests: 0 };
        let mut exact = (-1.0, 0);
        for (w, ((of_x, limits), of_y)) in self.of_x.iter().zip(&self.limits).zip(of_y).enumerate() {
            let word = self.word(pair, w);
            if word == 0 || all_above(simd, xy, of_x, limits, of_y, 1.0) {
                continue;
            }
            if signal.leave_at(self.rank(pair, w * BLOCK)) {
                return decided;
            }
            let mut suspects = word & suspects(simd, xy, of_x, limits, of_y, 1.0);
            while suspects != 0 {
                let z = w * BLOCK + suspects.trailing_zeros() as usize;
                suspects &= suspects - 1;
                let (found, exactly) = rules.single(x, y, z as u32);
                decided.exact_tests += u64::from(exactly);
                let rank = || self.rank(pair, z);
                decided.verdict = match found {
                    Single::Depends(_) => continue,
                    Single::DependsExactly(p) => {
                        if p > exact.0 {
                            exact = (p, rank());
                        }
                        continue;
                    }
                    Single::Separates(p) => Verdict::Independent { rank: rank(), p },
                    Single::Undefined(reason) => Verdict::Undefined { rank: rank(), reason },
                };
                decided.member = Some(z as u32);
                return decided;
            }
        }
        let mut verdict = Verdict::Dependent { rank: exact.1, p: exact.0 };
        if let Some(z) = self.smallest(simd, pair, xy, low) {
            // The quick form was trusted here, so pcalg's has an answer too.
            if let Ok(p) = rules.gauss.p_value(x, y, &[z]) {
                verdict = Verdict::Dependent { rank: self.rank(pair, z as usize), p }.merge(verdict);
            }
        }
        decided.verdict = verdict;
        decided
    }

    /// The variable at which the squared partial correlation is smallest, of those where double precision knows it. Single
    /// precision finds the words that may hold it, as double precision would wait for memory at each variable.
    #[inline(always)]
    fn smallest<S: Fused>(&self, simd: S, pair: &Pair, xy: f32, low: &mut Vec<(u32, f32)>) -> Option<u32> {
        let Pair { rules, x, y, of_y, .. } = *pair;
        let limit = covering(rules.cutoff.dependent_above);
        // Over the limit: the threshold, and what is smallest in the words that are not above.
        let mut scale = f32::INFINITY;
        low.clear();
        for (w, ((of_x, limits), of_y)) in self.of_x.iter().zip(&self.limits).zip(of_y).enumerate() {
            let word = self.word(pair, w);
            if word == 0 || (scale < f32::INFINITY && all_above(simd, xy, of_x, limits, of_y, scale)) {
                continue;
            }
            let (least, all_known) = least(simd, xy, of_x, limits, of_y, word);
            if least <= scale || !all_known {
                low.push((w as u32, if all_known { least } else { 0.0 }));
                // Twice the band: both come of single precision.
                scale = scale.min(over(limit, covering(covering(f64::from(least) * limit))));
            }
        }
        let mut smallest = (f64::INFINITY, None);
        for &(w, _) in low.iter().filter(|(_, least)| *least <= scale) {
            let w = w as usize;
            let mut suspects = self.word(pair, w) & suspects(simd, xy, &self.of_x[w], &self.limits[w], &of_y[w], scale);
            while suspects != 0 {
                let z = w * BLOCK + suspects.trailing_zeros() as usize;
                suspects &= suspects - 1;
                if let (Single::Depends(q), _) = rules.single(x, y, z as u32) {
                    if q < smallest.0 {
                        smallest = (q, Some(z as u32));
                    }
                }
            }
        }
        smallest.1
    }

    /// Those of a word's variables that are asked.
    #[inline(always)]
    fn word(&self, pair: &Pair, w: usize) -> u64 {
        let word = self.words[w] & !pair.without.map_or(0, |without| without[w]);
        if w == pair.y / BLOCK {
            word & !(1 << (pair.y % BLOCK))
        } else {
            word
        }
    }

    /// How many of the pair's candidates come before z.
    fn rank(&self, pair: &Pair, z: usize) -> u64 {
        let (w, below) = (z / BLOCK, (1 << (z % BLOCK)) - 1);
        let Some(graph) = pair.neighbours.graph() else { return 0 };
        match pair.without {
            None => {
                let before = self.before[w] + (graph.row(pair.x)[w] & below).count_ones();
                u64::from(before) - u64::from(pair.y < z)
            }
            Some(_) => {
                let word = |w| graph.word_without(pair.x, pair.y, w);
                (0..w).map(word).chain([word(w) & below]).map(|word| u64::from(word.count_ones())).sum()
            }
        }
    }
}

/// All lanes of a row.
pub(super) struct Lanes<'a> {
    pub row: Row<'a>,
    pub scratch: &'a mut Scratch,
    pub coarse: &'a Coarse,
}

impl<S: Fused> Task<S> for Lanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Lanes { mut row, scratch: Scratch { dense, low }, coarse } = self;
        let (rules, view, x, list) = (row.rules, row.view, row.x(), row.list());
        let Some(graph) = view.neighbours.graph() else { return };
        let places = view.sets.start as usize..(view.sets.end as usize).min(list.len());
        if places.is_empty() {
            return;
        }
        dense.start(rules, coarse, view.neighbours, graph, x, places);
        for (lane, &place) in view.places.iter().enumerate() {
            let signal = row.signal.for_lane(view.found.map(|found| &found[lane]));
            if signal.stop_requested() {
                return;
            }
            let y = list[place as usize] as usize;
            let of_y = coarse.row(rules.gauss, y);
            let pair = Pair { rules, neighbours: view.neighbours, x, y, without: None, of_y };
            let Decided { verdict, member, exact_tests } = dense.decide(simd, &pair, &signal, low);
            row.set.clear();
            row.set.extend(member);
            row.tell(lane, verdict, exact_tests);
        }
    }
}

/// A whole side.
pub(super) struct Side<'a> {
    pub rules: &'a Rules<'a>,
    pub view: &'a SideView<'a>,
    pub signal: &'a Signal<'a>,
    pub scratch: &'a mut Scratch,
    pub coarse: &'a Coarse,
}

impl<S: Fused> Task<S> for Side<'_> {
    type Output = Verdict;

    #[inline(always)]
    fn run(self, simd: S) -> Verdict {
        let Side { rules, view, signal, scratch: Scratch { dense, low }, coarse } = self;
        let none = Verdict::Dependent { rank: 0, p: -1.0 };
        let Some(graph) = view.neighbours.graph() else { return none };
        let (x, y) = (view.side.row as usize, view.side.other as usize);
        dense.start(rules, coarse, view.neighbours, graph, x, 0..view.neighbours.degree(x));
        let without = (view.side.order == CandidateOrder::CommonLast).then(|| graph.row(y));
        let of_y = coarse.row(rules.gauss, y);
        let pair = Pair { rules, neighbours: view.neighbours, x, y, without, of_y };
        let decided = dense.decide(simd, &pair, signal, low);
        (0..decided.exact_tests).for_each(|_| signal.count_exact());
        decided.verdict
    }
}
