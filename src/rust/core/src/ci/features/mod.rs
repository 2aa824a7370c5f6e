//! Kernel tests, for dependence of any form: [`kci`], and its approximations by random features RIT, RCIT and RCoT of E. V. Strobl, K. Zhang
//! and S. Visweswaran (2019), "Approximate kernel-based conditional independence tests for fast non-parametric causal discovery", Journal of
//! Causal Inference 7(1).
//!
//! Random features: x and y have a few features f each, S has many, g (see [`weights`]). r = f - g'β are the residuals of the regression on
//! g with a small ridge. With C the mean of the products of x's residuals with y's, the statistic is T = n c |C|²; see below for c. Under
//! independence T is about a sum of chi-squared variables, weighted by the eigenvalues of M, the mean of the products of the residuals'
//! products. p is the upper tail by Hall, Buckley and Eagleson: the gamma distribution with T's first three cumulants, which are tr M, 2 tr M²
//! and 8 tr M³.
//!
//! Choices that differ from the authors' program RCIT:
//! * T has the factor c, the sum of (1 - h)² over the rows divided by that of 1 - h, where h is a row's leverage in the regression. The
//!   residuals' variance in a row is proportional to 1 - h. So n |C|² has the mean of 1 - h as a factor, and M that of (1 - h)². Without
//!   c, 100 features and 500 rows have a size of 0.06 to 0.08 at a nominal 0.05.
//! * A variable's weights do not depend on S, and bandwidths follow from the size of S: numbers are scaled to the median distance of a
//!   normal variable. Both make features cheap, and the order of the rows does not matter.
//! * A level has a random number for each feature; x and y with few levels have an indicator for each but the first.
//! * RCIT and KCI join S to the variable with the larger number, so that p(x, y | S) = p(y, x | S).
//!
//! Each sum has one order of its terms (`linear`), so that all machines have the same p-values.

mod given;
mod kci;
mod kernel;
mod linear;
mod orthogonal;
mod scale;
pub(crate) mod tables;
mod weights;

use std::sync::Arc;

use crate::memory::{self, Use};
use crate::panels::{Row, DEEP, WIDE};
use crate::{Error, Result};

use super::chi_squared::upper_tail;
use super::mixed::Frame;
use given::Given;
use kernel::{centre, Kernel, Values};
use linear::{add_cross, add_gram, mean_square, traces};
use weights::{bandwidth, normal, phase, Features, Member, Role};

pub use given::Shared;

/// The test to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RCoT: features of x and y, residuals given S.
    Rcot,
    /// RCIT: S is joined to one of the two.
    Rcit,
    /// RIT: the same without S. A test with S has no answer.
    Rit,
    /// KCI: all values of the kernels.
    Kci(Approximation),
}

/// The distribution that approximates a statistic of KCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// The gamma distribution with the same mean and variance.
    Gamma,
    /// That of Hall, Buckley and Eagleson, which has the same third cumulant, too. It takes longer.
    Hbe,
}

/// The settings of the tests. KCI reads only its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The test.
    pub form: Form,
    /// Number of features of x and of y, 1 to [`MOST_SIDES`].
    pub sides: usize,
    /// Number of features of S, at least 1.
    pub given: usize,
    /// The seed of the features.
    pub seed: u64,
}

/// Most features of x or of y: a panel has no more columns.
pub const MOST_SIDES: usize = WIDE;

/// The ridge of the regression on the features of S, as in the authors' program.
pub(crate) const RIDGE: f64 = 1e-10;

/// The ridge ε of KCI, as in the authors' program.
const KERNEL_RIDGE: f64 = 1e-3;

/// Mean square of residuals below which x or y is a function of S.
pub(crate) const NOTHING: f64 = 1e-8;

/// A variable, prepared.
#[derive(Clone, Debug)]
struct Variable {
    /// The numbers, scaled; empty for levels.
    values: Vec<f64>,
    /// Features as x or y: a row of numbers for each row of the data. KCI: the columns of its kernel's factor, in panels.
    sides: Vec<Row>,
    /// Number of these features; 0 for KCI.
    count: usize,
    /// Weights as a member of S: for each level (numbers: one), a row for each panel of features. None for KCI.
    given: Vec<Row>,
    /// The same for a set joined to x or y.
    joint: Vec<Row>,
}

/// A kernel test on data.
#[derive(Clone, Debug)]
pub struct KernelTest {
    frame: Frame,
    variables: Vec<Variable>,
    settings: Settings,
    /// The number of each column, which the features depend on.
    names: Vec<u32>,
    /// Phases of the features of S, and of S joined to x or y.
    phases: Vec<Row>,
    joint_phases: [Row; 1],
    has_holes: bool,
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub struct Work {
    given: Option<Arc<Given>>,
    x: Vec<Row>,
    y: Vec<Row>,
    products: Vec<Row>,
    cells: Vec<f64>,
    of_rows: kci::Cells,
    present: Vec<u64>,
    rows: Vec<u32>,
    panels: Vec<Row>,
}

fn wrong(argument: &'static str, value: String, hint: &str) -> Error {
    Error::Argument { argument, value, hint: hint.into() }
}

impl KernelTest {
    /// Prepares a test. `names`: the number of each column, ascending, which the features depend on.
    ///
    /// # Errors
    /// [`Error::Argument`] if the settings do not fit; [`Error::Memory`].
    pub fn new(frame: Frame, names: &[u32], settings: Settings) -> Result<Self> {
        let Settings { sides, given, .. } = settings;
        if !(1..=MOST_SIDES).contains(&sides) || given == 0 {
            return Err(wrong(
                "features",
                format!("{sides} and {given}"),
                "give 1 to 8 for x and y, and at least 1 for S",
            ));
        }
        if names.len() != frame.p() || frame.sets() != 1 {
            return Err(wrong("suffStat", format!("has {} names", names.len()), "give a number for each column"));
        }
        // A last column of the features of S has the constant.
        let (n, all) = (frame.n(), (given + 1).div_ceil(WIDE));
        memory::room(frame.p() * (n * (size_of::<f64>() + size_of::<Row>()) + all * size_of::<Row>()), Use::Samples)?;
        let row = |panel: usize, most: usize, of: &dyn Fn(u32) -> f64| {
            Row(std::array::from_fn(|l| match panel * WIDE + l {
                feature if feature < most => of(feature as u32),
                _ => 0.0,
            }))
        };
        let seed = settings.seed;
        let phases = |role, count: usize, panel| row(panel, count, &|feature| phase(seed, role, None, feature));
        let mut made = KernelTest {
            variables: memory::space(frame.p(), Use::Samples)?,
            phases: (0..all).map(|panel| phases(Role::Given, given, panel)).collect(),
            joint_phases: [phases(Role::Joint, sides, 0)],
            has_holes: frame.any_missing(),
            settings,
            names: names.to_vec(),
            frame,
        };
        for (at, &name) in names.iter().enumerate() {
            let weights = |role, count: usize, panels: usize| {
                let levels = if made.frame.is_number(at) { 1 } else { made.frame.occurring(at) };
                let far = if made.frame.is_number(at) { 1.0 } else { LEVELS_APART * bandwidth(1) / 2f64.sqrt() };
                let of = |level, panel| row(panel, count, &|feature| far * normal(seed, role, name, level, feature));
                (0..levels)
                    .flat_map(|level| (0..panels).map(move |panel| (level, panel)))
                    .map(|(l, p)| of(l, p))
                    .collect()
            };
            let (given, joint) = match made.is_kci() {
                true => Default::default(),
                false => (weights(Role::Given, given, all), weights(Role::Joint, sides, 1)),
            };
            let mut variable = Variable { values: Vec::new(), sides: Vec::new(), count: 0, given, joint };
            if made.frame.is_number(at) {
                variable.values = scale::scaled(made.frame.numbers(at, 0), made.frame.present(at));
            }
            let variable = match made.is_kci() {
                true => made.with_factor(at, variable)?,
                false => made.with_sides(at, name, variable),
            };
            made.variables.push(variable);
        }
        Ok(made)
    }

    /// Returns whether the test is KCI, which has no random features.
    pub fn is_kci(&self) -> bool {
        matches!(self.settings.form, Form::Kci(_))
    }

    /// Makes the factor of a variable's kernel over the rows that have a value.
    fn with_factor(&self, at: usize, mut variable: Variable) -> Result<Variable> {
        let n = self.frame.n();
        let mut rows = Vec::new();
        self.complete_rows([at].into_iter(), &mut Vec::new(), &mut rows);
        let kernel = Kernel { variables: vec![self.values(&variable, at)] };
        let mut panels = Vec::new();
        kernel.factor(&rows, &mut panels);
        memory::check()?;
        let cells = n * (panels.len() / rows.len().max(1));
        variable.sides = memory::space(cells, Use::Samples)?;
        variable.sides.resize(cells, Row::default());
        for (panel, to) in panels.chunks_exact(rows.len().max(1)).zip(variable.sides.chunks_exact_mut(n)) {
            panel.iter().zip(&rows).for_each(|(cells, &row)| to[row as usize] = *cells);
        }
        Ok(variable)
    }

    /// Returns what a kernel compares of a variable.
    fn values<'v>(&'v self, variable: &'v Variable, at: usize) -> Values<'v> {
        match self.frame.is_number(at) {
            true => Values::Numbers(&variable.values),
            false => Values::Levels(self.frame.codes(at, 0)),
        }
    }

    /// Writes the centred factor of the kernel of a set, in panels. Returns `None` if memory is short, which is noted.
    fn factor(&self, set: &[u32], rows: &[u32], out: &mut Vec<Row>) -> Option<()> {
        let of = |&v: &u32| self.values(&self.variables[v as usize], v as usize);
        Kernel { variables: set.iter().map(of).collect() }.factor(rows, out)?;
        centre(out, rows.len());
        Some(())
    }

    /// Makes the features of a variable as x or y: mean 0 and mean square 1 over the rows that have a value.
    fn with_sides(&self, at: usize, name: u32, mut variable: Variable) -> Variable {
        let (frame, Settings { sides, seed, .. }) = (&self.frame, self.settings);
        let n = frame.n();
        let weights: [f64; WIDE] = std::array::from_fn(|f| normal(seed, Role::Side, name, 0, f as u32));
        let phases: [f64; WIDE] = std::array::from_fn(|f| phase(seed, Role::Side, Some(name), f as u32));
        variable.sides = vec![Row::default(); n];
        if frame.is_number(at) {
            let all: Vec<u32> = (0..n as u32).collect();
            let parts = [Row(weights)];
            let members = [Member::Numbers(&variable.values, &parts)];
            variable.count = sides;
            Features {
                members: &members,
                phases: &[Row(phases)],
                scale: scale_of(1),
                count: sides,
                constant: false,
                rows: &all,
                out: &mut variable.sides,
            }
            .write();
        } else {
            let levels = frame.occurring(at);
            let indicators = levels as usize - 1;
            variable.count = indicators.min(sides);
            let of = |level: u16, f: usize| match indicators <= sides {
                true => f64::from(u8::from(usize::from(level) == f + 1)),
                false => normal(seed, Role::Side, name, u32::from(level), f as u32),
            };
            for (row, &level) in variable.sides.iter_mut().zip(frame.codes(at, 0)) {
                (0..variable.count).for_each(|f| row.0[f] = of(level, f));
            }
        }
        scale::standardise(&mut variable.sides, variable.count, frame.present(at));
        variable
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        self.frame.n()
    }

    /// Returns the time of a test, in rows of a test by random features.
    pub fn effort(&self) -> f64 {
        let n = self.n() as f64;
        match self.settings.form {
            Form::Kci(Approximation::Gamma) => n * n / 16.0,
            Form::Kci(Approximation::Hbe) => n * n / 16.0 + n * n * n / 1e4,
            _ => n,
        }
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.variables.len()
    }

    /// Returns the test on these rows, with repetitions.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn of_rows(&self, rows: &[u32]) -> Result<Self> {
        Self::new(self.frame.of_rows(rows)?, &self.names, self.settings)
    }

    /// Returns about how many bytes a thread needs for the features of `rows` rows.
    pub fn bytes_of_sets(&self, rows: usize) -> usize {
        let many = rows.min(MOST_COLUMNS);
        let of_kci = 8 * (4 * many * rows + 3 * many * many);
        match self.settings.form {
            Form::Kci(Approximation::Gamma) => of_kci,
            Form::Kci(Approximation::Hbe) => of_kci + 8 * rows * rows,
            _ => (self.settings.given + 2 * WIDE) * 8 * rows,
        }
    }

    fn member(&self, variable: u32, role: Role) -> Member<'_> {
        let Variable { values, given, joint, .. } = &self.variables[variable as usize];
        let weights = if role == Role::Given { given } else { joint };
        match self.frame.is_number(variable as usize) {
            true => Member::Numbers(values, weights),
            false => Member::Levels(self.frame.codes(variable as usize, 0), weights),
        }
    }

    /// Writes features of a set: of S, with a constant, or of x or y together with S.
    fn features(&self, set: &[u32], role: Role, rows: &[u32], out: &mut [Row]) {
        let members: Vec<Member> = set.iter().map(|&variable| self.member(variable, role)).collect();
        let is_given = role == Role::Given;
        Features {
            members: &members,
            phases: if is_given { &self.phases[..out.len() / rows.len().max(1)] } else { &self.joint_phases },
            scale: scale_of(set.len()),
            count: match is_given {
                true if set.is_empty() => 0,
                true => self.settings.given,
                false => self.settings.sides,
            },
            constant: is_given,
            rows,
            out,
        }
        .write();
    }

    /// Returns p of (x, y) given S, or NaN once `stop` says so. `shared`: what threads keep for each other, if no values are missing.
    pub fn p_value(
        &self,
        (x, y, s): (usize, usize, &[u32]),
        shared: &Shared,
        work: &mut Work,
        stop: &dyn Fn() -> bool,
    ) -> f64 {
        if !self.answers(s) {
            return f64::NAN;
        }
        let [x, y] = [x.min(y), x.max(y)];
        let Some(given) = self.given_for(x, y, s, shared, work) else { return f64::NAN };
        let n = given.rows.len();
        if n == 0 {
            return f64::NAN;
        }
        let joins = self.joins(s);
        let (mut own, mut other) = (std::mem::take(&mut work.x), std::mem::take(&mut work.y));
        let x_rows = given.residuals(self, (x, false), shared, &mut own, &mut work.panels);
        let y_rows = given.residuals(self, (y, joins), shared, &mut other, &mut work.panels);
        let sides = x_rows.as_deref().zip(y_rows.as_deref()).map(|(x, y)| [x, y]);
        let p = match self.settings.form {
            Form::Kci(approximation) => sides.and_then(|sides| {
                kci::p_value(sides, n, (given.left, s.is_empty()), approximation, &mut work.of_rows, stop)
            }),
            _ => sides.map(|sides| {
                let count =
                    [self.variables[x].count, if joins { self.settings.sides } else { self.variables[y].count }];
                statistic(sides, count, given.left, &mut work.products, &mut work.cells)
            }),
        };
        drop((x_rows, y_rows));
        (work.x, work.y) = (own, other);
        p.unwrap_or(f64::NAN)
    }

    /// Writes the features of a variable as x or y in some rows; `joins`: together with S. Returns `None` if memory is short, which is noted.
    fn side(&self, (variable, joins): (usize, bool), s: &[u32], rows: &[u32], out: &mut Vec<Row>) -> Option<()> {
        let joint = || {
            let mut set = s.to_vec();
            set.push(variable as u32);
            set.sort_unstable();
            set
        };
        match (self.is_kci(), joins) {
            (true, true) => self.factor(&joint(), rows, out)?,
            (false, true) => {
                out.clear();
                out.resize(rows.len(), Row::default());
                self.features(&joint(), Role::Joint, rows, out);
                scale::standardise(out, self.settings.sides, &[]);
            }
            (is_kci, false) => {
                out.clear();
                for panel in self.variables[variable].sides.chunks_exact(self.n()) {
                    out.extend(rows.iter().map(|&row| panel[row as usize]));
                }
                if is_kci {
                    centre(out, rows.len());
                }
            }
        }
        Some(())
    }

    /// Returns what tests given S share: of the thread's last test, of another thread, or made now. `None` if memory is short.
    fn given_for(&self, x: usize, y: usize, s: &[u32], shared: &Shared, work: &mut Work) -> Option<Arc<Given>> {
        let mut set = s.to_vec();
        set.sort_unstable();
        if !self.has_holes {
            if let Some(given) = work.given.as_ref().filter(|given| given.set == set) {
                return Some(given.clone());
            }
            let given = shared.given(set, |set| Given::new(self, set, None, shared, &mut work.panels))?;
            work.given = Some(given.clone());
            return Some(given);
        }
        self.complete_rows(s.iter().map(|&v| v as usize).chain([x, y]), &mut work.present, &mut work.rows);
        Given::new(self, set, Some(&work.rows), shared, &mut work.panels).map(Arc::new)
    }
}

/// Columns of a kernel's factor that are seldom exceeded with up to three variables in S.
const MOST_COLUMNS: usize = 1024;

/// Distance of two levels, in bandwidths of one variable.
const LEVELS_APART: f64 = 2.0;

/// Returns 1 / (2 π σ) for this many variables.
pub(crate) fn scale_of(count: usize) -> f64 {
    1.0 / (std::f64::consts::TAU * bandwidth(count))
}

/// Returns p for residuals of x and y, with `count` features each; `left`: see [`Given::left`].
fn statistic(sides: [&[Row]; 2], count: [usize; 2], left: f64, products: &mut Vec<Row>, cells: &mut Vec<f64>) -> f64 {
    let [x, y] = sides;
    let [of_x, of_y] = count;
    let n = x.len() as f64;
    let mut cross = [Row::default(); WIDE];
    add_cross(x, y, &mut cross);
    if mean_square(x) < NOTHING || mean_square(y) < NOTHING {
        return 1.0;
    }
    let mut sum = 0.0;
    for row in &cross[..of_x] {
        sum += row.0[..of_y].iter().map(|cell| cell / n * (cell / n)).sum::<f64>();
    }
    let of_products = of_x * of_y;
    let (panels, width) = (of_products.div_ceil(WIDE), of_products.next_multiple_of(WIDE));
    cells.clear();
    cells.resize(width * width, 0.0);
    for (x, y) in x.chunks(DEEP).zip(y.chunks(DEEP)) {
        let rows = x.len();
        products.clear();
        products.resize(rows * panels, Row::default());
        for (row, (x, y)) in x.iter().zip(y).enumerate() {
            let mut at = 0;
            for x in &x.0[..of_x] {
                for y in &y.0[..of_y] {
                    products[at / WIDE * rows + row].0[at % WIDE] = x * y;
                    at += 1;
                }
            }
        }
        add_gram(products, x.len(), cells);
    }
    cells.iter_mut().for_each(|cell| *cell /= n);
    let [first, second, third] = traces(cells, width);
    upper_tail_of_sum(n * left * sum, [first, second, third])
}

/// Returns the upper tail at t of a weighted sum of chi-squared variables, from the sums of their weights, of the squares and of the cubes:
/// P. Hall 1983, "Chi squared approximations to the distribution of a sum of independent random variables", The Annals of Probability 11;
/// M. J. Buckley and G. K. Eagleson 1988, Australian Journal of Statistics 30.
pub(crate) fn upper_tail_of_sum(t: f64, [first, second, third]: [f64; 3]) -> f64 {
    if !(second > 0.0 && third > 0.0) {
        return 1.0;
    }
    let df = second * second * second / (third * third);
    upper_tail((t - first) * (df / second).sqrt() + df, df)
}
