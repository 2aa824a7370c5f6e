//! Sets of one candidate: the candidates in order for all lanes at once, then the few remaining lanes one by one.

use std::ops::Range;

use super::super::rules::Single;
use super::super::scan::fetch;
use super::row::Row;
use crate::ci::gauss::Gauss;
use crate::engine::cpu::kernel::{RowView, Signal};
use crate::graph::BITS;
use crate::search::level::Verdict;

/// Number of lanes at or below which they are walked one by one, with the candidates side by side.
const FEW: usize = 12;

/// Number of candidates side by side: few at first, because most pairs are separated by one of their first sets.
const FIRST: usize = 16;
const BLOCK: usize = 64;

/// Working memory for sets of one candidate.
#[derive(Default)]
pub(super) struct Singles {
    /// For each lane left: index into [`RowView::places`], the other vertex, its correlation with x and with the candidate, and 1 if it must be
    /// checked.
    lane: Vec<u32>,
    other: Vec<u32>,
    with_x: Vec<f64>,
    with_candidate: Vec<f64>,
    suspect: Vec<u64>,
    /// The lanes to be checked.
    suspects: Vec<u32>,
    /// For each of the first candidates: its correlation with x, and the variance of x that it leaves.
    of_x: Vec<f64>,
    left_x: Vec<f64>,
    /// Number of tests by the exact formula, by index into [`RowView::places`].
    exact_tests: Vec<u64>,
    separated: Vec<Separated>,
}

/// A lane that one candidate separates for certain, with the values that give its p. They are collected, so that a machine computes several p
/// side by side.
struct Separated {
    lane: usize,
    place: usize,
    k: u32,
    rank: u64,
    q: f64,
    condition: f64,
    p: f64,
    exact_tests: u64,
}

/// The findings on a lane whose sets are walked by themselves.
struct Walked {
    smallest: (f64, u64),
    exact: (f64, u64),
}

impl Singles {
    #[inline(always)]
    pub fn run(&mut self, row: &mut Row) {
        let Row { rules, view, .. } = *row;
        let list = row.list();
        let cx = rules.gauss.column(row.x());
        let above = rules.cutoff.dependent_above;
        assert!(view.neighbours.p() <= cx.len(), "a graph on more vertices than the test has");
        self.start(view, rules.gauss);
        let (start, end) = (view.sets.start as usize, view.sets.end as usize);
        let mut n = view.places.len();
        let mut at = start;
        // A walk with candidates side by side needs only the columns of lanes, and there may be no others.
        let few = if rules.gauss.is_whole() { FEW } else { usize::MAX };
        while at < end && n > few {
            if at % 64 == 0 && row.signal.stop_requested() {
                return;
            }
            let ck = rules.gauss.column(list[at] as usize);
            for (value, &y) in self.with_candidate[..n].iter_mut().zip(&self.other[..n]) {
                debug_assert!((y as usize) < ck.len());
                // SAFETY: `other` holds vertices of the graph, and the graph has no more vertices than a column of C has entries, as asserted
                // above. Checks here would cost a third of level 1.
                *value = unsafe { *ck.get_unchecked(y as usize) };
            }
            self.reach(at + 1, list, cx);
            let (of_x, left_x) = (self.of_x[at], self.left_x[at]);
            let (least, trusted) = (above * left_x, rules.trusted_above);
            let mut any = 0u64;
            let lanes = self.with_candidate[..n].iter().zip(&self.with_x[..n]).zip(&mut self.suspect[..n]);
            for ((&r, &with_x), suspect) in lanes {
                let left_y = 1.0 - r * r;
                let cov = with_x - of_x * r;
                let clear = (cov * cov > least * left_y) & (left_y > trusted) & (left_x > trusted);
                *suspect = u64::from(!clear);
                any |= *suspect;
            }
            if any != 0 {
                n = self.look_at_suspects(row, n, at);
            }
            at += 1;
        }
        for i in 0..n {
            self.walk(row, self.lane[i] as usize, at);
        }
        self.tell_separated(row);
    }

    /// Computes p of the lanes that are separated for certain, and reports them.
    #[inline(always)]
    fn tell_separated(&mut self, row: &mut Row) {
        let (rules, list, x) = (row.rules, row.list(), row.x());
        for of in &mut self.separated {
            of.p = rules.p_of_square(of.q, of.condition, x, list[of.place] as usize, &[of.k]);
        }
        for &Separated { lane, k, rank, p, exact_tests, .. } in &self.separated {
            row.set.clear();
            row.set.push(k);
            row.tell(lane, Verdict::Independent { rank, p }, exact_tests);
        }
    }

    #[inline(always)]
    fn start(&mut self, row: &RowView, gauss: &Gauss) {
        let x = row.row as usize;
        let (list, cx) = (row.neighbours.list(x), gauss.column(x));
        self.lane.clear();
        self.lane.extend(0..row.places.len() as u32);
        self.other.clear();
        self.other.extend(row.places.iter().map(|&place| list[place as usize]));
        self.with_x.clear();
        self.with_x.extend(self.other.iter().map(|&y| cx[y as usize]));
        self.exact_tests.clear();
        self.exact_tests.resize(row.places.len(), 0);
        self.with_candidate.resize(row.places.len().max(self.with_candidate.len()), 0.0);
        self.suspect.resize(row.places.len().max(self.suspect.len()), 0);
        self.of_x.clear();
        self.left_x.clear();
        self.separated.clear();
        // Prefetched, because a test reads these correlations with x again from the columns of the other vertices.
        self.other.iter().for_each(|&y| fetch(&gauss.column(y as usize)[x]));
    }

    /// Lays out the data of the first candidates up to `end`, and of a block more: few candidates of a long list are ever asked.
    #[inline(always)]
    fn reach(&mut self, end: usize, list: &[u32], cx: &[f64]) {
        let from = self.of_x.len();
        if from < end {
            let more = &list[from..list.len().min(end + BLOCK)];
            self.of_x.extend(more.iter().map(|&k| cx[k as usize]));
            self.left_x.extend(self.of_x[from..].iter().map(|r| 1.0 - r * r));
        }
    }

    /// Checks the lanes marked by `suspect`, and closes up those that stay. Returns their number.
    #[inline(always)]
    fn look_at_suspects(&mut self, row: &mut Row, n: usize, at: usize) -> usize {
        self.suspects.resize(n.max(self.suspects.len()), 0);
        let mut hits = 0;
        for (i, &suspect) in self.suspect[..n].iter().enumerate() {
            self.suspects[hits] = i as u32;
            hits += suspect as usize;
        }
        for hit in 0..hits {
            let i = self.suspects[hit] as usize;
            if !self.decides(row, self.lane[i] as usize, at) {
                self.suspect[i] = 0;
            }
        }
        let first = self.suspects[0] as usize;
        let mut left = first;
        for i in first..n {
            self.other[left] = self.other[i];
            self.with_x[left] = self.with_x[i];
            self.lane[left] = self.lane[i];
            left += (1 - self.suspect[i]) as usize;
        }
        left
    }

    /// Tests one lane given the candidate `at`. Returns `true` if that decides the lane.
    #[inline(always)]
    fn decides(&mut self, row: &mut Row, lane: usize, at: usize) -> bool {
        let (rules, list, x) = (row.rules, row.list(), row.x());
        let place = row.view.places[lane] as usize;
        if at == place {
            return false;
        }
        let (k, y) = (list[at], list[place] as usize);
        let rank = (at - usize::from(at > place)) as u64;
        let (found, exactly) = rules.single(x, y, k);
        self.exact_tests[lane] += u64::from(exactly);
        let verdict = match found {
            Single::Depends(_) | Single::DependsExactly(_) => return false,
            Single::Separates { q, condition } => {
                let exact_tests = self.exact_tests[lane];
                self.separated.push(Separated { lane, place, k, rank, q, condition, p: 0.0, exact_tests });
                return true;
            }
            Single::SeparatesExactly(p) => Verdict::Independent { rank, p },
            Single::Undefined(reason) => Verdict::Undefined { rank, reason },
        };
        row.set.clear();
        row.set.push(k);
        row.tell(lane, verdict, self.exact_tests[lane]);
        true
    }

    /// Decides a lane by the candidates from `at` on; those before do not separate it.
    #[inline(always)]
    fn walk(&mut self, row: &mut Row, lane: usize, at: usize) {
        let Row { rules, view, .. } = *row;
        let (start, end) = (view.sets.start as usize, view.sets.end as usize);
        let mut walked = Walked { smallest: (f64::INFINITY, 0), exact: (-1.0, 0) };
        let known = self.exact_tests[lane];
        let signal = row.signal.for_lane(view.found.map(|found| &found[lane]));
        if self.walk_part(row, lane, at..end, &mut walked, &signal) {
            return;
        }
        // Only the largest p of the first candidates is not known yet, and few lanes ever need it.
        let exact_tests = self.exact_tests[lane];
        self.exact_tests[lane] = known;
        if self.walk_part(row, lane, start..at, &mut walked, &signal.for_lane(None)) {
            return;
        }
        let list = row.list();
        let place = view.places[lane];
        let mut verdict = Verdict::Dependent { rank: walked.exact.1, p: walked.exact.0 };
        let (smallest, rank) = walked.smallest;
        if smallest < f64::INFINITY {
            let k = list[rank as usize + usize::from(rank >= u64::from(place))];
            // The quick form was trusted here, so pcalg's formula has an answer too.
            if let Ok(p) = rules.gauss.p_value(row.x(), list[place as usize] as usize, &[k]) {
                verdict = Verdict::Dependent { rank, p }.merge(verdict);
            }
        }
        row.set.clear();
        row.tell(lane, verdict, exact_tests);
    }

    /// Walks a range of candidates for one lane. Returns `true` if that decides the lane.
    #[inline(always)]
    fn walk_part(
        &mut self,
        row: &mut Row,
        lane: usize,
        part: Range<usize>,
        walked: &mut Walked,
        signal: &Signal,
    ) -> bool {
        let (rules, list, x) = (row.rules, row.list(), row.x());
        let place = row.view.places[lane] as usize;
        let y = list[place] as usize;
        let (cx, cy) = (rules.gauss.column(x), rules.gauss.column(y));
        let with_x = rules.gauss.correlation(x, y);
        let mut r_y = [0.0; BLOCK];
        let Range { start: mut from, end: to } = part;
        let mut width = FIRST;
        while from < to {
            let own = |at: usize| (at - usize::from(at > place)) as u64;
            if signal.leave_at(own(from)) {
                break;
            }
            let n = (to - from).min(width);
            self.reach(from + n, list, cx);
            for (value, &k) in r_y[..n].iter_mut().zip(&list[from..from + n]) {
                debug_assert!((k as usize) < cy.len());
                // SAFETY: as in `run`.
                *value = unsafe { *cy.get_unchecked(k as usize) };
            }
            let look_below = rules.cutoff.dependent_above.max(walked.smallest.0);
            let trusted = rules.trusted_above;
            let mut suspects = 0u64;
            let of_x = self.of_x[from..from + n].iter().zip(&self.left_x[from..from + n]);
            for ((&r, (&of_x, &left_x)), &bit) in r_y[..n].iter().zip(of_x).zip(&BITS) {
                let left_y = 1.0 - r * r;
                let cov = with_x - of_x * r;
                let clear = (cov * cov > look_below * (left_x * left_y)) & (left_y > trusted) & (left_x > trusted);
                suspects |= if clear { 0 } else { bit };
            }
            while suspects != 0 {
                let i = suspects.trailing_zeros() as usize;
                suspects &= suspects - 1;
                let at = from + i;
                let (left_x, left_y) = (self.left_x[at], 1.0 - r_y[i] * r_y[i]);
                let cov = with_x - self.of_x[at] * r_y[i];
                let q = cov * cov / (left_x * left_y);
                if (left_x > trusted) & (left_y > trusted) & (q > rules.cutoff.dependent_above) {
                    if q < walked.smallest.0 {
                        walked.smallest = (q, own(at));
                    }
                    continue;
                }
                let before = self.exact_tests[lane];
                if self.decides(row, lane, at) {
                    return true;
                }
                if self.exact_tests[lane] > before {
                    // Not separated by the exact formula: asked again for its p, which is rare.
                    if let Ok((p, _)) = rules.exactly(x, y, &[list[at]]) {
                        if p > walked.exact.0 {
                            walked.exact = (p, own(at));
                        }
                    }
                }
            }
            from += n;
            width = BLOCK;
        }
        false
    }
}
