//! A test on one thread, and the data that the next test on it can use.

use super::given::{Drawn, Given, Table};
use super::loops::padded;
use super::sums::{Estimates, Rows};
use super::wide::{Machine, Packed};
use crate::ci::knn::{Knn, Outcome};
use crate::memory::{self, Use};
use crate::random::Key;
use crate::simd::{self, Task};

/// Bytes of permuted x that are processed together, so that they stay in the cache.
const PERMUTED_BYTES: usize = 1 << 20;

/// Number of permutations in the first part of a test that may stop early; later parts grow.
const FIRST_PART: usize = 4;

/// Working memory of one thread.
pub(super) struct Work<C> {
    given: Option<Given<C>>,
    buffers: Buffers<C>,
}

/// Buffers of a test.
pub(super) struct Buffers<C> {
    rows: Rows<C>,
    y_values: Vec<C>,
    x_sorted: Vec<C>,
    permuted: Vec<C>,
    drawn: Drawn,
    sums: Vec<i64>,
}

impl<C> Default for Work<C> {
    fn default() -> Self {
        Work { given: None, buffers: Buffers::default() }
    }
}

impl<C> Default for Buffers<C> {
    fn default() -> Self {
        Buffers {
            rows: Rows { of_s: Vec::new(), of_y: Vec::new(), joint: Vec::new(), candidates: Vec::new() },
            y_values: Vec::new(),
            x_sorted: Vec::new(),
            permuted: Vec::new(),
            drawn: Drawn::default(),
            sums: Vec::new(),
        }
    }
}

/// A question in a form that does not depend on the order in which it is asked: x < y, S ascending.
pub(super) struct Question {
    pub x: usize,
    pub y: usize,
    pub s: Vec<u32>,
    pub key: Key,
}

impl Question {
    pub fn new(knn: &Knn, x: usize, y: usize, s: &[u32]) -> Self {
        let mut sorted = s.to_vec();
        sorted.sort_unstable();
        Question { x: x.min(y), y: x.max(y), key: knn.key(s), s: sorted }
    }
}

/// A question about data.
pub(super) struct QuestionOnData<'a, C> {
    pub table: &'a Table<'a, C>,
    pub knn: &'a Knn,
    pub question: &'a Question,
}

impl<C: Packed> QuestionOnData<'_, C> {
    /// Returns the column that orders the samples.
    fn guide(&self) -> usize {
        Given::guide(self.table, self.question.y, &self.question.s)
    }

    /// Returns the data shared with other tests; `None` if `stop` says so, or if memory does not suffice, which is noted.
    pub fn given(&self, stop: &dyn Fn() -> bool) -> Option<Given<C>> {
        simd::run(Find { test: self, stop })
    }

    /// Writes to `sums` the sums of terms of the estimates `first` .. `first + sums.len()`. Number 0 is that of the data, number m + 1 that of
    /// permutation m. Ends early, with any sums, if `stop` says so.
    pub fn sums(
        &self,
        given: &Given<C>,
        first: usize,
        buffers: &mut Buffers<C>,
        stop: &dyn Fn() -> bool,
        sums: &mut [i64],
    ) {
        simd::run(Sum { test: self, given, first, buffers, stop, sums });
    }
}

/// The task of [`QuestionOnData::given`].
struct Find<'a, C> {
    test: &'a QuestionOnData<'a, C>,
    stop: &'a dyn Fn() -> bool,
}

impl<C: Packed, S: Machine<C>> Task<S> for Find<'_, C> {
    type Output = Option<Given<C>>;

    #[inline(always)]
    fn run(self, simd: S) -> Self::Output {
        let QuestionOnData { table, knn, question } = self.test;
        Given::new::<S::Wide>(simd, table, knn, self.test.guide(), &question.s, self.stop)
    }
}

/// The task of [`QuestionOnData::sums`].
struct Sum<'a, C> {
    test: &'a QuestionOnData<'a, C>,
    given: &'a Given<C>,
    first: usize,
    buffers: &'a mut Buffers<C>,
    stop: &'a dyn Fn() -> bool,
    sums: &'a mut [i64],
}

impl<C: Packed, S: Machine<C>> Task<S> for Sum<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Sum { test: QuestionOnData { table, knn, question }, given, first, buffers, stop, sums } = self;
        let n = table.n;
        let Buffers { rows, y_values, x_sorted, permuted, drawn, .. } = buffers;
        // The bytes that a thread keeps for each sample, besides the permutations' x; see `Shuffler` and `Rows`.
        let by_sample = 6 * size_of::<C>() + 4 * size_of::<u32>();
        let enough = memory::prepare(permuted, sums.len() * padded(n), Use::Permutations)
            && (rows.of_s.len() >= padded(n)
                || memory::noted(memory::room(padded(n) * by_sample, Use::Threads)).is_some());
        if !enough {
            return;
        }
        y_values.clear();
        y_values.extend(given.order.iter().map(|&sample| table.column(question.y)[sample as usize]));
        x_sorted.clear();
        if question.s.is_empty() {
            x_sorted.extend(table.order(question.x).iter().map(|&sample| table.column(question.x)[sample as usize]));
        }
        y_values.resize(padded(n), C::ZERO);
        permuted.resize(sums.len() * padded(n), C::ZERO);
        let x = table.column(question.x);
        for (m, out) in permuted.chunks_exact_mut(padded(n)).enumerate() {
            match (first + m).checked_sub(1) {
                None => out.iter_mut().zip(&given.order).for_each(|(to, &sample)| *to = x[sample as usize]),
                Some(m) => drawn.permute(given, question.key, m, x, out),
            }
        }
        sums.fill(0);
        let estimates = Estimates {
            table,
            terms: knn.terms(),
            given,
            x_discrete: table.discrete[question.x],
            y: question.y,
            y_values,
            x_sorted,
        };
        estimates.add::<S::Wide>(simd, permuted, rows, stop, sums);
    }
}

/// Returns the number of permutations whose x are processed together.
pub(super) fn part<C>(n: usize) -> usize {
    (PERMUTED_BYTES / (n * size_of::<C>())).clamp(16, 1024)
}

impl<C: Packed> Work<C> {
    /// Returns p of (x, y) given S; `None` if the run should end, or if memory does not suffice, which is noted.
    pub fn p(
        &mut self,
        table: &Table<C>,
        knn: &Knn,
        x: usize,
        y: usize,
        s: &[u32],
        stop: impl Fn() -> bool,
    ) -> Option<f64> {
        if knn.constant(x, y) {
            return Some(1.0);
        }
        let question = Question::new(knn, x, y, s);
        let test = QuestionOnData { table, knn, question: &question };
        let guide = test.guide();
        if !self.given.as_ref().is_some_and(|known| known.guide == guide && known.s == question.s) {
            self.buffers.drawn.forget();
            self.given = test.given(&stop);
        }
        let given = self.given.as_ref()?;
        let decision = knn.decision();
        let all = decision.permutations();
        let most = part::<C>(table.n);
        let mut size = if decision.stops_early() { FIRST_PART.min(most) } else { most };
        let (mut own, mut drawn, mut count) = (0, 0, 0);
        let mut first = 0;
        loop {
            let mut sums = std::mem::take(&mut self.buffers.sums);
            sums.resize(size.min(all + 1 - first), 0);
            test.sums(given, first, &mut self.buffers, &stop, &mut sums);
            if stop() {
                return None;
            }
            for (&sum, number) in sums.iter().zip(first..) {
                if number == 0 {
                    own = sum;
                } else if let Some(p) = decision.next(&mut drawn, &mut count, sum >= own) {
                    self.buffers.sums = sums;
                    return Some(p);
                }
            }
            first += sums.len();
            size = (2 * size).min(most);
            self.buffers.sums = sums;
        }
    }
}

/// Returns the outcome of a test from the sums of terms of all estimates, the data's first; `None` if more sums are needed.
pub(super) fn outcome(knn: &Knn, sums: &[i64]) -> Option<Outcome> {
    let (&own, permuted) = sums.split_first()?;
    let (mut drawn, mut count) = (0, 0);
    for &sum in permuted {
        if let Some(p) = knn.decision().next(&mut drawn, &mut count, sum >= own) {
            return Some(Outcome { estimate: knn.terms().estimate(own, knn.columns().n()), p, drawn, count });
        }
    }
    None
}
