//! Discrete data and their tests from R.

use extendr_api::prelude::*;
use ndarray::ArrayView2;
use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic, MOST_LEVELS};
use pcgpu_core::engine::cpu::codes::{codes, look};
use pcgpu_core::matrix::{self, by_column};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::{shown, Error};

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::respond::respond;
use crate::session::RObserver;
use crate::table::Table;
use crate::value::Value;
use crate::{input, output};

/// Coded data with a test of them.
pub struct DiscreteTest {
    data: Coded,
    statistic: Statistic,
    rule: Rule,
}

impl DiscreteTest {
    /// Reads `list(dm, p, nlev, zero_elsewhere, statistic, rule, adapt, na)`. `dm` is a matrix of codes with p columns (integer, double or
    /// logical). `nlev` has numbers of levels, or is NULL. The rest is for [`Statistic`], [`Rule`] and [`Coded::of_any_codes`].
    pub fn from_list(test: &List, pool: &Pool) -> Outcome<Self> {
        let statistic = test.choice("statistic", &[("G2", Statistic::G2), ("X2", Statistic::X2)])?;
        let adapt = test.flag("adapt")?;
        let rule = test.choice("rule", &[("pcalg", Rule::Pcalg { adapt }), ("bnlearn", Rule::Bnlearn { adapt })])?;
        let na = test.flag("na")?;
        let p = test.count("p", 1)?;
        let dm = test.field("dm")?;
        let wrong = |len| Failure::Input(format!("internal: `dm` has {len} codes for {p} variables"));
        let own: Vec<i32>;
        let codes = if let Some(codes) = dm.as_integer_slice() {
            codes
        } else if let Some(codes) = dm.as_logical_slice() {
            let code = |code: &Rbool| if code.is_na() { i32::MIN } else { i32::from(code.is_true()) };
            own = memory::collected(codes.iter().map(code), Use::Codes)?;
            &own
        } else if let Some(codes) = dm.as_real_slice() {
            own = whole(by_column(codes, p).map_err(|_| wrong(codes.len()))?)?;
            &own
        } else {
            return Err(Failure::Input("internal: `dm` is not a matrix of numbers".into()));
        };
        let codes = by_column(codes, p).ok().filter(|codes| !codes.is_empty()).ok_or_else(|| wrong(codes.len()))?;
        let levels = test.optional("nlev").map(|nlev| declared(nlev, p)).transpose()?;
        let zero = test.flag("zero_elsewhere")?;
        let data = Coded::of_any_codes(codes, levels.as_deref(), na, zero, pool)?;
        Ok(DiscreteTest { data, statistic, rule })
    }

    /// Returns the test.
    pub fn test(&self) -> Discrete<'_> {
        Discrete::new(&self.data, self.statistic, self.rule)
    }

    /// Returns the data, and the statistic and rule of the test.
    pub fn parts(&self) -> (&Coded, Statistic, Rule) {
        (&self.data, self.statistic, self.rule)
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.data.p()
    }
}

/// Converts doubles to codes, column by column.
fn whole(codes: ArrayView2<f64>) -> Outcome<Vec<i32>> {
    let mut own = memory::space(codes.len(), Use::Codes)?;
    for (column, codes) in matrix::columns(codes).enumerate() {
        for (row, &code) in codes.iter().enumerate() {
            own.push(if code.is_nan() {
                i32::MIN
            } else if code.fract() == 0.0 && code.abs() < f64::from(i32::MAX) {
                code as i32
            } else {
                return Err(Failure::Core(Error::Argument {
                    argument: "suffStat$dm",
                    value: format!("has {} in row {}, column {}", shown(code), row + 1, column + 1),
                    hint: "give whole numbers from 0, or make `suffStat` with suff_discrete()".into(),
                }));
            });
        }
    }
    Ok(own)
}

/// Returns the numbers of levels. R has checked that `suffStat$nlev` has numbers.
fn declared(nlev: &Robj, p: usize) -> Outcome<Vec<u32>> {
    let numbers: Vec<f64> = match (nlev.as_integer_slice(), nlev.as_real_slice()) {
        (Some(numbers), _) => numbers.iter().map(|&v| f64::from(v)).collect(),
        (_, Some(numbers)) => numbers.to_vec(),
        _ => Vec::new(),
    };
    if numbers.len() != p {
        return Err(Failure::Input(format!("internal: `nlev` is not {p} numbers")));
    }
    let level = |(at, &value): (usize, &f64)| {
        if value.fract() == 0.0 && value >= 1.0 && value <= f64::from(MOST_LEVELS) {
            Ok(value as u32)
        } else {
            Err(Failure::Core(Error::Argument {
                argument: "suffStat$nlev",
                value: format!("has {} at place {}", shown(value), at + 1),
                hint: format!("give the number of levels of each variable, a whole number from 1 to {MOST_LEVELS}"),
            }))
        }
    };
    numbers.iter().enumerate().map(level).collect()
}

/// Returns whether a value is NA or NaN, and whether all others are 0 or 1. Uses at most `threads` threads.
fn look_at_codes(x: &Robj, threads: usize) -> Outcome<(bool, bool)> {
    // One thread for each 4 million values, because reading these takes as long as starting some threads.
    let pool = match threads.min(x.len() >> 22) {
        0..=1 => Pool::none(),
        threads => Pool::at_most(threads),
    };
    if let Some(values) = x.as_integer_slice() {
        return Ok(look(values, |&value: &i32| (value == i32::MIN, value as u32 <= 1), &pool));
    }
    if let Some(values) = x.as_logical_slice() {
        return Ok(look(values, |value: &Rbool| (value.is_na(), true), &pool));
    }
    let values = x.as_real_slice().ok_or_else(|| Failure::Input("internal: `x` does not contain numbers".into()))?;
    Ok(look(values, |&value: &f64| (value.is_nan(), value == 0.0 || value == 1.0), &pool))
}

/// Returns `list(missing, are_binary)` of a vector of integers, logicals or numbers: whether a value is NA or NaN, and whether all others
/// are 0 or 1.
/// @noRd
#[extendr]
fn rust_look_at_codes(x: Robj, threads: Robj) -> Robj {
    respond([&x, &threads], |_| {
        let threads = input::count(&threads, "threads", 1)?;
        let (any_missing, are_binary) = look_at_codes(&x, threads)?;
        Ok(output::named(vec![("missing", Value::from(any_missing)), ("are_binary", Value::from(are_binary))]))
    })
}

/// Runs one test of discrete variables: of columns 1 and 2 of the data given all others.
/// @noRd
#[extendr]
fn rust_discrete_test(test: Robj) -> Robj {
    respond([&test], |_| {
        let test = DiscreteTest::from_list(&input::list(&test, "test")?, &Pool::none())?;
        if test.p() < 2 {
            return Err(Failure::Input("internal: `dm` has one column".into()));
        }
        let given: Vec<u32> = (2..test.p() as u32).collect();
        let test = test.test();
        let outcome = test.test(0, 1, &given);
        memory::check()?;
        Ok(output::named(vec![
            ("statistic", Value::from(outcome.statistic)),
            ("df", Value::from(outcome.df)),
            ("p", Value::from(outcome.p)),
            ("too_few", Value::from(outcome.too_few)),
            ("n", Value::from(test.data().n() as f64)),
            ("full_df", Value::from(test.full_df(0, 1, &given))),
        ]))
    })
}

/// Returns `list(dm, values, missing)` for the columns of x, which has n rows: the codes, with `names` (or NULL) as column names; each
/// column's different values; and its number of missing values. The values are NULL for a column that has no codes. `factors` says which
/// columns have the numbers of their levels.
/// @noRd
#[extendr]
fn rust_codes(x: Robj, n: Robj, factors: Robj, names: Robj, engine: Robj) -> Robj {
    respond([&x, &n, &factors, &names, &engine], |token| {
        let (n, pool) = (input::count(&n, "n", 1)?, Call::silent(&engine, token)?.machine.pool);
        let factors =
            factors.as_logical_slice().map(|factors| factors.iter().map(|factor| factor.is_true()).collect::<Vec<_>>());
        let factors = factors.ok_or_else(|| Failure::Input("internal: `factors` are not logical".into()))?;
        let table = Table::new(&x)?;
        let columns = table.columns(n)?;
        let mut dm = output::integer_matrix(token, n, columns.len())?;
        let cells = dm
            .as_integer_slice_mut()
            .ok_or_else(|| Failure::Input("internal: the matrix does not contain integers".into()))?;
        let mut observer = RObserver::silent(token);
        let found = codes(&columns, &factors, cells, &pool, &mut || observer.look())?;
        output::set_dimnames(token, &dm, [&().into(), &names])?;
        let missing: Vec<f64> = found.iter().map(|levels| levels.as_ref().map_or(0.0, |l| l.missing as f64)).collect();
        let values = found.into_iter().map(|levels| levels.map(|levels| levels.values).into()).collect();
        Ok(output::named(vec![("dm", dm.into()), ("values", Value::List(values)), ("missing", Value::from(missing))]))
    })
}

extendr_module! {
    mod discrete;
    fn rust_look_at_codes;
    fn rust_discrete_test;
    fn rust_codes;
}
