//! Correlations of rows that arrive block by block.

use extendr_api::prelude::*;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::moments::running::{Columns, Running, Totals};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;

use crate::call::Call;
use crate::correlation::summary_list;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::output;
use crate::respond::respond;
use crate::table::Table;
use crate::token::Token;
use crate::value::Value;

type Coming = ExternalPtr<Option<Running>>;

/// Takes out the totals of the rows so far. After an error, and at the end, they are not put back.
fn coming(state: &Robj) -> Outcome<(Coming, Running)> {
    let wrong = || Failure::Input("internal: `moments` are already complete".into());
    let mut state = Coming::try_from(state.clone()).map_err(|_| wrong())?;
    let running = state.as_mut().take().ok_or_else(wrong)?;
    Ok((state, running))
}

fn totals_of(state: &Robj, call: &Call) -> Outcome<Totals> {
    let (_, running) = coming(state)?;
    let mut observer = call.observer();
    Ok(running.totals(&call.machine.pool, &mut |_| observer.look())?)
}

/// Returns all totals of the rows: `list(n, left_out, least, largest, missing, power, origin, mean, products)`.
fn as_list(totals: &Totals, token: &Token) -> Outcome<Value> {
    let of = &totals.columns;
    let p = of.p();
    let mut products = output::doubles(token, p * (p + 1) / 2, Use::Correlations)?;
    let mut rest = output::cells(&mut products)?;
    for y in 0..p {
        let (column, others) = rest.split_at_mut(y + 1);
        column.copy_from_slice(totals.products.column(y));
        rest = others;
    }
    let mut list = about(of);
    list.extend([
        ("power", Value::from(of.power.clone())),
        ("origin", Value::from(of.origin.clone())),
        ("mean", Value::from(of.mean.clone())),
        ("products", products.into()),
    ]);
    Ok(output::named(list))
}

fn about(of: &Columns) -> Vec<(&'static str, Value)> {
    vec![
        ("n", Value::from(of.n as f64)),
        ("left_out", Value::from(of.left_out as f64)),
        ("least", Value::from(of.least.clone())),
        ("largest", Value::from(of.largest.clone())),
        ("missing", output::counts(&of.missing)),
    ]
}

/// Reads the list that [`as_list`] makes.
fn from_list(list: &List) -> Outcome<Totals> {
    let wrong = || Failure::Input("internal: the parts of `moments` do not match".into());
    let numbers = |name: &str| -> Outcome<Vec<f64>> {
        Ok(memory::copied(list.field(name)?.as_real_slice().ok_or_else(wrong)?, Use::Correlations)?)
    };
    let count = |value: f64| match value >= 0.0 && value <= 2f64.powi(53) {
        true => Ok(value as u64),
        false => Err(wrong()),
    };
    let one = |name: &str| count(list.number(name)?);
    let columns = Columns {
        n: one("n")?,
        left_out: one("left_out")?,
        least: numbers("least")?,
        largest: numbers("largest")?,
        missing: numbers("missing")?.into_iter().map(count).collect::<Outcome<_>>()?,
        power: memory::copied(list.field("power")?.as_integer_slice().ok_or_else(wrong)?, Use::Correlations)?,
        origin: numbers("origin")?,
        mean: numbers("mean")?,
    };
    let products = list.field("products")?;
    Totals::from_parts(columns, products.as_real_slice().ok_or_else(wrong)?)?.ok_or_else(wrong)
}

/// Joins a list of the lists that [`as_list`] makes.
fn joined(parts: &List, pool: &Pool, token: &Token) -> Outcome<Totals> {
    let mut all: Option<Totals> = None;
    for part in input::entries(parts) {
        let part = from_list(&input::list(part, "moments")?)?;
        all = Some(match all {
            None => part,
            Some(mut all) if all.columns.p() == part.columns.p() => {
                all.join(&part, pool)?;
                all
            }
            Some(_) => return Err(Failure::Input("internal: `moments` have different numbers of columns".into())),
        });
        if token.wants_to_stop() {
            return Err(pcgpu_core::Error::Interrupted.into());
        }
    }
    all.ok_or_else(|| Failure::Input("internal: there are no `moments`".into()))
}

/// Begins moments of rows of p columns. With `complete`, rows with a missing value are left out.
/// @noRd
#[extendr]
fn rust_moments_begin(p: Robj, complete: Robj) -> Robj {
    respond([&p, &complete], |token| {
        let (p, complete) = (input::count(&p, "p", 1)?, input::flag(&complete, "complete")?);
        Ok(output::held(token, Some(Running::new(p, complete)?))?.into())
    })
}

/// Adds a block of n rows. Returns `list(least, largest, missing, n)` of the block.
/// @noRd
#[extendr]
fn rust_moments_add(state: Robj, x: Robj, n: Robj, engine: Robj) -> Robj {
    respond([&state, &x, &n, &engine], |token| {
        let (n, call) = (input::count(&n, "n", 1)?, Call::silent(&engine, token)?);
        let (mut state, mut running) = coming(&state)?;
        let table = Table::new(&x)?;
        let columns = table.columns(n)?;
        if columns.len() != running.p() {
            let text = format!("internal: a block has {} columns instead of {}", columns.len(), running.p());
            return Err(Failure::Input(text));
        }
        let mut observer = call.observer();
        let found = running.add(&columns, &call.machine.pool, &mut |_| observer.look())?;
        *state.as_mut() = Some(running);
        Ok(output::named(summary_list(&found, n)))
    })
}

/// Returns the moments of all rows so far, see `as_list()`.
/// @noRd
#[extendr]
fn rust_moments_end(state: Robj, engine: Robj) -> Robj {
    respond([&state, &engine], |token| {
        let call = Call::silent(&engine, token)?;
        as_list(&totals_of(&state, &call)?, token)
    })
}

/// Joins the moments of several parts of the rows.
/// @noRd
#[extendr]
fn rust_moments_join(parts: Robj, engine: Robj) -> Robj {
    respond([&parts, &engine], |token| {
        let pool = Call::silent(&engine, token)?.machine.pool;
        as_list(&joined(&input::list(&parts, "parts")?, &pool, token)?, token)
    })
}

/// Returns `list(n, left_out, least, largest, missing, C)` of the rows so far, or of a list of moments.
/// @noRd
#[extendr]
fn rust_moments_correlations(moments: Robj, names: Robj, engine: Robj) -> Robj {
    respond([&moments, &names, &engine], |token| {
        let call = Call::silent(&engine, token)?;
        let pool = &call.machine.pool;
        let totals = match moments.as_list() {
            Some(parts) => joined(&parts, pool, token)?,
            None => totals_of(&moments, &call)?,
        };
        let p = totals.columns.p();
        let mut c = output::matrix(token, p, p, Use::Pairs)?;
        let mut observer = call.observer();
        totals.correlations(pool, output::cells(&mut c)?, &mut || observer.look())?;
        output::set_dimnames(token, &c, [&names, &names])?;
        let mut list = about(&totals.columns);
        list.push(("C", c.into()));
        Ok(output::named(list))
    })
}

extendr_module! {
    mod running;
    fn rust_moments_begin;
    fn rust_moments_add;
    fn rust_moments_end;
    fn rust_moments_join;
    fn rust_moments_correlations;
}
