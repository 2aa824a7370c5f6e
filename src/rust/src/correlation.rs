//! Correlations of data from R.

use extendr_api::prelude::*;
use pcgpu_core::engine::cpu::correlation::{correlation, summaries, Kind, Rows, Summary};
use pcgpu_core::memory::Use;
use pcgpu_core::observer::Observer;

use crate::failure::{Failure, Outcome};
use crate::machine::Machine;
use crate::session::RObserver;
use crate::token::Token;
use crate::{input, output};

/// `list(least, largest, missing, n)` of the columns of x, which has n rows; `complete`: of the rows without missing values, whose
/// number is the last.
pub fn summary(x: &Robj, n: usize, complete: bool, machine: &Machine, token: &Token) -> Outcome<Robj> {
    let parts = input::parts(x);
    let columns = input::columns(x, &parts, n)?;
    let mut observer = RObserver::silent(token);
    let look = &mut || observer.look();
    let (found, n) = summaries(&columns, complete, &machine.pool, look).map_err(|error| token.explain(error))?;
    Ok(output::named(summary_list(&found, n)))
}

fn summary_list(found: &[Summary], n: usize) -> Vec<(&'static str, Robj)> {
    let numbers = |of: fn(&Summary) -> f64| Robj::from(found.iter().map(of).collect::<Vec<f64>>());
    vec![
        ("least", numbers(|column| column.least)),
        ("largest", numbers(|column| column.largest)),
        ("missing", numbers(|column| column.missing as f64)),
        ("n", Robj::from(n as f64)),
    ]
}

/// `list(least, largest, missing, n, C)`: as [`summary`], and the correlations of the columns of x, which has n rows, with the
/// names as dimnames; NULL where there are none for a column. From `options = list(kind, rows, names)`; a GPU gives n and C alone.
pub fn matrix(x: &Robj, n: usize, options: &List, machine: &Machine, token: &Token) -> Outcome<Robj> {
    let word = |name: &str| input::text(&input::field(options, name)?, name);
    let kind = match word("kind")?.as_str() {
        "pearson" => Kind::Pearson,
        "spearman" => Kind::Spearman,
        other => return Err(Failure::Input(format!("internal: there is no correlation `{other}`"))),
    };
    let rows = match word("rows")?.as_str() {
        "all" => Rows::All,
        "complete" => Rows::Complete,
        "pairwise" => Rows::Pairwise,
        other => return Err(Failure::Input(format!("internal: there are no rows `{other}`"))),
    };
    let parts = input::parts(x);
    let columns = input::columns(x, &parts, n)?;
    let p = columns.len();
    let mut c = output::matrix(token, p, Use::Pairs)?;
    let cells = output::cells(&mut c)?;
    let mut observer = RObserver::silent(token);
    let look = &mut || observer.look();
    let (mut result, is_done) = match (&machine.gpu, x.as_real_slice()) {
        (None, _) => {
            let found = correlation(&columns, kind, rows, &machine.pool, cells, look);
            let found = found.map_err(|error| token.explain(error))?;
            (summary_list(&found.summaries, found.rows), found.is_done)
        }
        (Some(gpu), Some(x)) => {
            gpu.correlation(x, n, p, cells, look).map_err(|error| token.explain(error))?;
            (vec![("n", Robj::from(n as f64))], true)
        }
        (Some(_), None) => return Err(Failure::Input("internal: `x` is not a matrix of doubles".into())),
    };
    if let Some(names) = input::optional(options, "names") {
        let names = List::from_values([names.clone(), names]);
        c.set_attrib("dimnames", names).map_err(|_| Failure::Input("internal: `names` do not fit".into()))?;
    }
    result.push(("C", if is_done { c } else { ().into() }));
    Ok(output::named(result))
}
