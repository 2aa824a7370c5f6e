//! Causal effects from R.

use extendr_api::prelude::*;
use pcgpu_core::effects::{describe, Asked, Kind, Method, Own, Pairs, Plan, Technique, Together};
use pcgpu_core::memory::Use;

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::respond::respond;
use crate::value::{na, Value};
use crate::{input, output};

/// Replaces NaN by R's NA.
pub fn with_na(values: &mut [f64]) {
    values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = na());
}

/// Reads `list(method, type, x, y, y_notparent)`.
pub fn asked(asked: &List, p: usize) -> Outcome<Asked> {
    let methods = [("local", Method::Local), ("optimal", Method::Optimal), ("global", Method::Global)];
    Ok(Asked {
        method: asked.choice("method", &methods)?,
        kind: asked.choice("type", &[("cpdag", Kind::Cpdag), ("pdag", Kind::Pdag)])?,
        x: asked.vertices("x", p)?,
        y: asked.vertices("y", p)?,
        y_not_parent: asked.flag("y_notparent")?,
    })
}

/// Returns the effects of each x on each y: `list(columns, values, own, valid)`. With `smallest`, returns only the smallest absolute value
/// of each pair: `list(smallest, valid)`.
/// @noRd
#[extendr]
fn rust_effects(edges: Robj, asked: Robj, mcov: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&edges, &asked, &mcov, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let options = input::list(&asked, "asked")?;
        let (lists, pool) = (input::vertex_lists(&input::list(&edges, "edges")?)?, &call.machine.pool);
        let cov = input::square(&mcov, lists.len(), "mcov")?;
        let asked = self::asked(&options, lists.len())?;
        let rows = asked.y.len();
        let observer = &mut call.observer();
        let plan = Plan::new(&lists, asked, pool, observer)?;
        if options.flag("smallest")? {
            let mut smallest = output::matrix(token, rows, plan.columns().count(), Use::Pairs)?;
            let cells = output::cells(&mut smallest)?;
            plan.smallest(cov, cells, pool, observer)?;
            with_na(cells);
            return Ok(output::named(vec![("smallest", smallest.into()), ("valid", Value::from(plan.is_valid()))]));
        }
        let columns: usize = plan.columns().sum();
        let count: usize = plan.own().flatten().map(Own::count).sum();
        let mut values = output::doubles(token, columns.saturating_mul(rows), Use::Pairs)?;
        let mut own_values = output::doubles(token, count, Use::Pairs)?;
        {
            let (values, own) = (output::cells(&mut values)?, output::cells(&mut own_values)?);
            plan.effects(cov, values, own, pool, observer)?;
            with_na(values);
            with_na(own);
        }
        let own: Vec<[i32; 3]> = plan
            .own()
            .enumerate()
            .flat_map(|(x, own)| own.iter().map(move |own| [x as i32 + 1, own.y as i32 + 1, own.count() as i32]))
            .collect();
        let part = |at: usize| Value::from(own.iter().map(|own| own[at]).collect::<Vec<i32>>());
        Ok(output::named(vec![
            ("columns", Value::from(plan.columns().map(|count| count as i32).collect::<Vec<i32>>())),
            ("values", values.into()),
            (
                "own",
                output::named(vec![("x", part(0)), ("y", part(1)), ("count", part(2)), ("values", own_values.into())]),
            ),
            ("valid", Value::from(plan.is_valid())),
        ]))
    })
}

/// Returns the effects of all x together on each y: `list(columns, values, valid)`.
/// @noRd
#[extendr]
fn rust_joint_effects(edges: Robj, asked: Robj, mcov: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&edges, &asked, &mcov, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let options = input::list(&asked, "asked")?;
        let (lists, pool) = (input::vertex_lists(&input::list(&edges, "edges")?)?, &call.machine.pool);
        let cov = input::square(&mcov, lists.len(), "mcov")?;
        let asked = self::asked(&options, lists.len())?;
        let technique = options.choice("technique", &[("RRC", Technique::Rrc), ("MCD", Technique::Mcd)])?;
        let (rows, all_y) = (asked.x.len(), asked.y.len());
        let together = Together::new(&lists, asked, technique)?;
        let columns = together.columns();
        let mut values = output::doubles(token, rows.saturating_mul(columns).saturating_mul(all_y), Use::Pairs)?;
        let cells = output::cells(&mut values)?;
        together.effects(cov, cells, pool, &mut call.observer())?;
        with_na(cells);
        Ok(output::named(vec![
            ("columns", Value::from(columns as i32)),
            ("values", values.into()),
            ("valid", Value::from(together.is_valid())),
        ]))
    })
}

/// Summarises each pair of a result of `rust_effects()`: `list(smallest, median, count)`.
/// @noRd
#[extendr]
fn rust_effects_table(found: Robj, rows: Robj) -> Robj {
    respond([&found, &rows], |token| {
        let (found, rows) = (input::list(&found, "found")?, input::count(&rows, "rows", 0)?);
        let wrong =
            |what: &str| Failure::Input(format!("internal: `{what}` differs from what causal_effects() returns"));
        let counts = |value: &Robj, what: &str| {
            let counts = value.as_integer_slice().ok_or_else(|| wrong(what))?;
            counts.iter().map(|&count| usize::try_from(count).map_err(|_| wrong(what))).collect::<Outcome<Vec<usize>>>()
        };
        let columns = counts(found.field("columns")?, "columns")?;
        let own = found.list("own")?;
        let [x, y, count] = ["x", "y", "count"].map(|name| counts(own.field(name)?, name));
        let (x, y, count) = (x?, y?, count?);
        let (values, own_values) = (found.field("values")?, own.field("values")?);
        let values = values.as_real_slice().ok_or_else(|| wrong("values"))?;
        let own_values = own_values.as_real_slice().ok_or_else(|| wrong("own"))?;
        let fits = values.len() == columns.iter().sum::<usize>() * rows
            && own_values.len() == count.iter().sum::<usize>()
            && x.len() == y.len()
            && x.len() == count.len()
            && x.iter().chain(&y).chain(&count).chain(&columns).all(|&number| number > 0);
        if !fits {
            return Err(wrong("found"));
        }
        let own: Vec<(usize, usize, usize)> =
            x.iter().zip(&y).zip(&count).map(|((&x, &y), &count)| (x - 1, y - 1, count)).collect();
        let pairs = columns.len() * rows;
        let mut told = [(); 3].map(|()| output::doubles(token, pairs, Use::Pairs)).into_iter();
        let mut next = || told.next().unwrap_or_else(|| Err(wrong("found")));
        let (mut smallest, mut median, mut number) = (next()?, next()?, next()?);
        {
            let cells = [output::cells(&mut smallest)?, output::cells(&mut median)?, output::cells(&mut number)?];
            describe(&Pairs { rows, columns: &columns, values, own: &own, own_values }, |x, y, words| {
                cells[0][x * rows + y] = words.smallest;
                cells[1][x * rows + y] = words.median;
                cells[2][x * rows + y] = words.count as f64;
            });
            cells.into_iter().for_each(with_na);
        }
        Ok(output::named(vec![("smallest", smallest.into()), ("median", median.into()), ("count", number.into())]))
    })
}

extendr_module! {
    mod effects;
    fn rust_effects;
    fn rust_joint_effects;
    fn rust_effects_table;
}
