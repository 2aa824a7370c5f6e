//! Tests of variables that may be numbers or levels. They use all rows, the rows that have all values of a test, or imputed data sets.
//!
//! These are the tests of R. Foraita and J. Witte's package micd (1.1.1). The kinds of x, y and S determine the test:
//! * numbers only: Fisher's z of the partial correlation, pooled over imputed data sets by Rubin's rules;
//! * levels only: G², pooled as a likelihood ratio;
//! * both: the likelihood ratio 2 (L(xyS) - L(yS) - L(xS) + L(S)) of conditional Gaussian distributions ([`likelihood`]).
//!
//! If rows with missing values are left out test by test, each test has its own rows, numbers of levels and degrees of freedom.

mod cells;
mod counts;
mod data;
mod known;
mod likelihood;
mod moments;
mod pooled;
mod rows;
mod summed;

pub(crate) use data::has;
pub use data::{Frame, Given, Values};
pub use known::{Form, Need, Which, CELL_WORDS, CHUNK, FEW_CELLS, LANE_BITS};
pub use moments::Sums;

use super::chi_squared::upper_tail;
use super::discrete::Counter;
use crate::{Error, Result};
use cells::{domain, Cells, Filling, Known, Nothing};
use likelihood::{parameters, Normal, Part};
use moments::{Moments, Question};
use pooled::{Averages, Means};
use rows::Asked;

/// The treatment of missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holes {
    /// No values are missing.
    None,
    /// Each test uses the rows that have all its values.
    TestWise,
    /// Missing values were imputed several times, and tests pool the data sets.
    Imputed,
}

/// Further rules, in which micd's tests differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether empty cells lower the degrees of freedom of G², see [`Rule::Pcalg`](super::discrete::Rule::Pcalg).
    pub adapt: bool,
    /// Whether p = 1 if there are fewer than ten rows for each degree of freedom of G².
    pub ask_for_rows: bool,
    /// Whether a test of numbers has no answer (NaN) if x, y or a member of S is constant in its rows. Otherwise p is 1.
    pub constant_is_missing: bool,
}

/// A test on data that may mix numbers and levels.
#[derive(Clone, Debug)]
pub struct Mixed<'a> {
    frame: Option<Frame>,
    holes: Holes,
    rules: Rules,
    n: f64,
    p: usize,
    /// Sums of products, or correlations, of the variables of numbers, one for each data set.
    sums: Vec<Sums<'a>>,
    /// Number of rows behind each correlation, p x p, if they differ.
    sizes: Option<&'a [f64]>,
}

/// Working memory of a thread, for tests of the same data.
#[derive(Debug, Default)]
pub struct Work {
    set: Vec<u32>,
    rows: Vec<u64>,
    factors: Vec<u32>,
    numbers: Vec<u32>,
    filling: Filling,
    moments: Moments,
    /// For each data set the cells of x, y and S, and of three of its parts.
    cells: Vec<[Cells; 4]>,
    all: Vec<Cells>,
    counters: Vec<Counter>,
    others: Vec<u32>,
    normals: [Normal; 2],
    averages: Averages,
    /// Whether the last test of levels had too few rows, see [`Rules::ask_for_rows`].
    too_few: bool,
}

impl Work {
    /// Returns whether the last test gave p = 1 only because it had too few rows, see [`Rules::ask_for_rows`].
    pub fn too_few(&self) -> bool {
        self.too_few
    }
}

fn which(whole: bool) -> Which {
    if whole {
        Which::All
    } else {
        Which::Complete
    }
}

/// Returns how many rows a bitmap has.
pub(super) fn ones(words: &[u64]) -> f64 {
    words.iter().map(|word| f64::from(word.count_ones())).sum()
}

/// Returns the mean size of all pairs of these variables, or NaN if none is known.
fn mean_size(sizes: &[f64], p: usize, variables: &[u32]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (at, &x) in variables.iter().enumerate() {
        for &y in &variables[..at] {
            let size = sizes[x as usize * p + y as usize];
            if !size.is_nan() {
                sum += size;
                count += 1.0;
            }
        }
    }
    sum / count
}

/// The kinds of a test's variables x and y.
struct Kinds {
    x_is_number: bool,
    y_is_number: bool,
}

impl<'a> Mixed<'a> {
    /// Makes a test on data.
    ///
    /// # Errors
    /// [`Error::Argument`] if `holes` does not fit the data.
    pub fn new(frame: Frame, holes: Holes, rules: Rules) -> Result<Self> {
        let wrong = |value: &str, hint: &str| {
            Err(Error::Argument { argument: "suffStat", value: value.into(), hint: hint.into() })
        };
        if frame.any_missing() && holes != Holes::TestWise {
            return wrong(
                "has missing values",
                "give na = \"testwise\", so that each test leaves out the rows that lack one of its variables",
            );
        }
        let (n, p) = (frame.n() as f64, frame.p());
        Ok(Mixed { frame: Some(frame), holes, rules, n, p, sums: Vec::new(), sizes: None })
    }

    /// Makes the pooled test of correlation matrices, each p x p, from imputed data sets of n rows.
    pub fn of_correlations(matrices: Vec<&'a [f64]>, p: usize, n: f64) -> Self {
        let rules = Rules { adapt: false, ask_for_rows: false, constant_is_missing: false };
        let sums = matrices.into_iter().map(|c| Sums::correlations(c.into(), (0..p as u32).collect())).collect();
        Mixed { frame: None, holes: Holes::Imputed, rules, n, p, sums, sizes: None }
    }

    /// Makes the test of correlations that come from different numbers of rows. `c` and `sizes` are p x p. A test has the mean of the sizes
    /// of all pairs of its variables, without those that are NaN, as in CI-GWAS. `n` is the mean size of all pairs. The diagonal of `sizes` is
    /// not used.
    pub fn of_sizes(c: &'a [f64], sizes: &'a [f64], p: usize, n: f64) -> Self {
        Mixed { holes: Holes::None, sizes: Some(sizes), ..Mixed::of_correlations(vec![c], p, n) }
    }

    /// Adds sums of products of the variables of numbers, one for each data set, which make tests of numbers quicker.
    pub fn with_sums(mut self, sums: Vec<Sums<'a>>) -> Self {
        self.sums = sums;
        self
    }

    /// Returns the test on these rows of the data, with repetitions, or `None` if there are only correlations.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn of_rows(&self, rows: &[u32]) -> Result<Option<Mixed<'static>>> {
        let Some(frame) = &self.frame else { return Ok(None) };
        let (holes, rules) = (self.holes, self.rules);
        let frame = Some(frame.of_rows(rows)?);
        Ok(Some(Mixed { frame, holes, rules, n: rows.len() as f64, p: self.p, sums: Vec::new(), sizes: None }))
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns the number of rows.
    pub fn n(&self) -> f64 {
        self.n
    }

    /// Returns the data, or `None` if there are only correlations.
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// Returns the treatment of missing values.
    pub fn holes(&self) -> Holes {
        self.holes
    }

    /// Returns the number of rows in the test of x and y given S.
    pub fn rows(&self, x: usize, y: usize, s: &[u32], work: &mut Work) -> f64 {
        let (Some(frame), Holes::TestWise) = (&self.frame, self.holes) else { return self.n };
        let all = [x, y].into_iter().chain(s.iter().map(|&variable| variable as usize));
        if frame.complete(all, &mut work.rows) {
            return self.n;
        }
        ones(&work.rows)
    }

    /// Returns the number of missing values of each variable if tests leave rows out; empty if every test has all rows.
    pub fn missing(&self) -> Vec<f64> {
        let (Some(frame), Holes::TestWise) = (&self.frame, self.holes) else { return Vec::new() };
        let of = |present: &[u64]| if present.is_empty() { 0.0 } else { self.n - ones(present) };
        (0..self.p).map(|variable| of(frame.present(variable))).collect()
    }

    fn is_number(&self, variable: usize) -> bool {
        self.frame.as_ref().is_none_or(|frame| frame.is_number(variable))
    }

    /// Returns p of (x, y) given S, which equals p of (y, x); NaN if there is no answer.
    pub fn p_value(&self, x: usize, y: usize, s: &[u32], work: &mut Work) -> f64 {
        self.p_with(x, y, s, work, &mut Nothing)
    }

    /// Returns [`Mixed::p_value`], using cells that are known.
    fn p_with(&self, x: usize, y: usize, s: &[u32], work: &mut Work, known: &mut impl Known) -> f64 {
        let (x, y) = (x.min(y), x.max(y));
        work.too_few = false;
        let Some(whole) = self.sort_out(x, y, s, work) else { return f64::NAN };
        match &self.frame {
            _ if work.factors.is_empty() => self.of_numbers(s.len(), whole, work, known),
            Some(frame) if work.numbers.is_empty() => counts::p(self, frame, whole, work, known),
            Some(frame) => {
                let kinds = Kinds { x_is_number: self.is_number(x), y_is_number: self.is_number(y) };
                self.of_both(frame, &kinds, s.is_empty(), whole, work, known)
            }
            None => f64::NAN,
        }
    }

    /// Sorts the variables of a test by kind, for x < y, and finds the rows that have all values. Returns whether all rows do, or `None` if
    /// fewer than two do.
    fn sort_out(&self, x: usize, y: usize, s: &[u32], work: &mut Work) -> Option<bool> {
        let Work { set, rows, factors, numbers, .. } = work;
        set.clear();
        set.extend_from_slice(s);
        set.sort_unstable();
        let pair = || [x as u32, y as u32].into_iter();
        factors.clear();
        factors.extend(pair().chain(set.iter().rev().copied()).filter(|&variable| !self.is_number(variable as usize)));
        numbers.clear();
        numbers.extend(pair().chain(set.iter().copied()).filter(|&variable| self.is_number(variable as usize)));
        let (Some(frame), Holes::TestWise) = (&self.frame, self.holes) else { return Some(true) };
        let all = pair().chain(set.iter().copied()).map(|variable| variable as usize);
        let whole = frame.complete(all, rows);
        let count = if whole { self.n } else { ones(rows) };
        (count >= 2.0).then_some(whole)
    }

    /// Runs the test of numbers only.
    fn of_numbers(&self, size: usize, whole: bool, work: &mut Work, known: &mut impl Known) -> f64 {
        let Work { rows, numbers, moments, filling, .. } = work;
        let rows = (!whole).then_some(&rows[..]);
        // The partial correlation of the first two numbers given the others, and its number of rows; NaN if a number is constant.
        let mut partial = |set: usize| {
            let question = Question { numbers, set, rows, n: self.n };
            moments.partial(question, self.frame.as_ref(), self.sums.get(set), known, filling)
        };
        if self.holes == Holes::Imputed {
            let sets = self.frame.as_ref().map_or(self.sums.len(), Frame::sets);
            let r: Vec<f64> = (0..sets).map(|set| partial(set).0).collect();
            return pooled::of_correlations(r.iter().copied(), self.n, size);
        }
        let (r, n) = partial(0);
        let n = self.sizes.map_or(n, |sizes| mean_size(sizes, self.p, numbers));
        if n.is_nan() {
            return f64::NAN;
        }
        if r.is_nan() && self.rules.constant_is_missing {
            return f64::NAN;
        }
        moments::fisher_z(r, n, size)
    }

    /// Runs the test of numbers and levels.
    fn of_both(
        &self,
        frame: &Frame,
        kinds: &Kinds,
        s_is_empty: bool,
        whole: bool,
        work: &mut Work,
        known: &mut impl Known,
    ) -> f64 {
        let Some(domain) = domain(frame, &work.factors) else { return 1.0 };
        let level = |is_number: bool, at: usize| match is_number {
            true => 1,
            false => u64::from(frame.occurring(work.factors[at] as usize)),
        };
        let lx = level(kinds.x_is_number, 0);
        let ly = level(kinds.y_is_number, usize::from(!kinds.x_is_number));
        let sets = self.sets();
        work.cells.resize_with(sets.max(work.cells.len()), Default::default);
        work.all.resize_with(sets.max(work.all.len()), Default::default);
        for set in 0..sets {
            let rows = (!whole).then_some(&work.rows[..]);
            let [xys, ys, xs, only_s] = &mut work.cells[set];
            if !known.take(set, which(whole), xys) {
                let (factors, numbers) = (&work.factors, &work.numbers);
                let asked = Asked { frame, set, rows, factors, numbers };
                xys.fill(&asked, domain, &mut work.filling);
            }
            let index = &mut work.filling.index;
            xys.collapse(domain / lx, |key| key / lx, index, ys);
            xys.collapse(domain / ly, |key| key / (lx * ly) * lx + key % lx, index, xs);
            ys.collapse(domain / (lx * ly), |key| key / ly, index, only_s);
            only_s.collapse(1, |_| 0, index, &mut work.all[set]);
        }
        // The numbers and factors of each part: x and y come first among their kind.
        let (nx, ny) = (usize::from(kinds.x_is_number), usize::from(kinds.y_is_number));
        let kept = match kept(&work.all[..sets], nx + ny, &mut work.normals[0]) {
            Ok(kept) => kept,
            Err(p) => return p,
        };
        // S comes first, so that its remaining variances are the same in all parts.
        let of_s = kept.len();
        let numbers: Vec<usize> = kept.into_iter().chain(0..nx + ny).collect();
        let without_x: Vec<usize> = numbers.iter().copied().filter(|&at| nx == 0 || at != 0).collect();
        let of_part = [&numbers[..], &without_x[..], &numbers[..of_s + nx], &numbers[..of_s]];
        let declared =
            |of: &[u32]| of.iter().map(|&factor| f64::from(frame.variables[factor as usize].levels)).product();
        let of_s: f64 = declared(&work.factors[2 - nx - ny..]);
        let (of_x, of_y): (f64, f64) = (
            if nx == 1 { 1.0 } else { declared(&work.factors[..1]) },
            if ny == 1 { 1.0 } else { declared(&work.factors[1 - nx..2 - nx]) },
        );
        let levels = [of_x * of_y * of_s, of_y * of_s, of_x * of_s, of_s];
        let s_factors = work.factors.len() - (2 - nx - ny);
        let any_factor = [true, ny == 0 || s_factors > 0, nx == 0 || s_factors > 0, s_factors > 0];
        let df: Vec<f64> = (0..4).map(|at| parameters(levels[at], of_part[at].len())).collect();
        // micd counts one parameter for an empty S.
        let of_s = if s_is_empty { 1.0 } else { df[3] };
        let df = (df[0] - df[1] - df[2] + of_s).max(1.0);
        let part = |set: usize, at: usize| Part {
            cells: &work.cells[set][at],
            numbers: of_part[at],
            any_factor: any_factor[at],
        };
        let [normal, of_all] = &mut work.normals;
        let parts = if s_is_empty { 3 } else { 4 };
        if self.holes != Holes::Imputed {
            let mut l = |at: usize| part(0, at).log_likelihood(&work.all[0].products, normal, of_all);
            let mut ratio = l(0) - l(1) - l(2);
            if parts == 4 {
                ratio += l(3);
            }
            return match upper_tail(2.0 * ratio, df) {
                // The numbers are too large to square.
                p if p.is_nan() => 1.0,
                p => p,
            };
        }
        let mut ratio = Means::default();
        for (at, sign) in [2.0, -2.0, -2.0, 2.0].into_iter().enumerate().take(parts) {
            let of_sets: Vec<(Part, &[f64])> =
                (0..sets).map(|set| (part(set, at), &work.all[set].products[..])).collect();
            let found = pooled::means(&of_sets, normal, &mut work.averages);
            ratio.own += sign * found.own;
            ratio.shared += sign * found.shared;
        }
        match ratio.own {
            own if own.is_nan() => f64::NAN,
            f64::NEG_INFINITY => 1.0,
            f64::INFINITY => 0.0,
            own => match pooled::of_likelihoods(own, ratio.shared, df, sets as f64) {
                pooled if pooled.rise.is_nan() => 0.0,
                pooled => pooled.p,
            },
        }
    }
}

/// Returns the numbers of S that are not determined by its previous numbers, or a p-value: 1 if S determines x or y, 0 if S and x determine
/// y. The likelihood ratio would then be rounding noise. The first `of_pair` numbers are those of x and y. `all` holds for each data set a
/// cell of all rows.
fn kept(all: &[Cells], of_pair: usize, normal: &mut Normal) -> std::result::Result<Vec<usize>, f64> {
    let k = all[0].k;
    let mut is_free = |numbers: &[usize]| {
        all.iter().any(|cells| {
            let part = Part { cells, numbers, any_factor: false };
            let variances = part.variances(&cells.products, cells.rows());
            normal.of(part.covariance(&cells.products, cells.rows()), variances, numbers.len())
        })
    };
    let mut order: Vec<usize> = (of_pair..k).chain(0..of_pair).collect();
    if is_free(&order) {
        order.truncate(k - of_pair);
        return Ok(order);
    }
    let mut kept = Vec::new();
    for number in of_pair..k {
        kept.push(number);
        if !is_free(&kept) {
            kept.pop();
        }
    }
    for number in 0..of_pair {
        kept.push(number);
        if !is_free(&kept) {
            return Err(1.0);
        }
        kept.pop();
    }
    kept.extend(0..of_pair);
    if !is_free(&kept) {
        return Err(0.0);
    }
    kept.truncate(kept.len() - of_pair);
    Ok(kept)
}
