//! Correlations of data from R.

use extendr_api::prelude::*;
use pcgpu_core::engine::cpu::correlation::{centred, correlation, of_centred, summaries, Centred, Kind, Rows, Summary};
use pcgpu_core::engine::cpu::Numbers;
use pcgpu_core::memory::Use;
use pcgpu_core::observer::Observer;

use crate::api::Call;
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

/// What is made of data.
struct Made {
    /// `n`, and of the columns what [`summary`] gives where it was looked at.
    about: Vec<(&'static str, Robj)>,
    /// The matrix, and the names of its rows and columns; none where there is none for a column.
    matrix: Option<(&'static str, Robj, [Robj; 2])>,
}

/// `list(least, largest, missing, n, lost, C)`: as [`summary`], which GPUs failed, and the correlations of the columns of x, which has n rows, with the names as
/// dimnames; NULL where there are none for a column. In place of C with `keep = "data"`: `data`, the columns less their means, and
/// `varies`, which of them vary to the precision of a double. From `options = list(kind, rows, names, keep)`; of such data, `kind =
/// "centred"` gives `list(n, C)` with the C that there would have been.
pub fn matrix(x: &Robj, n: usize, options: &List, call: &Call) -> Outcome<Robj> {
    let word = |name: &str| input::text(&input::field(options, name)?, name);
    let kind = match word("kind")?.as_str() {
        "pearson" => Some(Kind::Pearson),
        "spearman" => Some(Kind::Spearman),
        "centred" => None,
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
    let names: Robj = input::optional(options, "names").unwrap_or_default();
    let made = match (word("keep")?.as_str(), kind) {
        ("correlations", _) => correlations(&columns, kind, rows, names, call)?,
        ("data", Some(kind)) => data(&columns, kind, rows, names, call)?,
        (other, _) => return Err(Failure::Input(format!("internal: `{other}` cannot be kept"))),
    };
    let mut result = made.about;
    if let Some((name, mut matrix, names)) = made.matrix {
        if names.iter().any(|names| !names.is_null()) {
            let fits = matrix.set_attrib("dimnames", List::from_values(names));
            fits.map_err(|_| Failure::Input("internal: `names` do not fit".into()))?;
        }
        result.push((name, matrix));
    }
    Ok(output::named(result))
}

fn correlations(columns: &[Numbers], kind: Option<Kind>, rows: Rows, names: Robj, call: &Call) -> Outcome<Made> {
    let Call { machine, token, .. } = call;
    let mut c = output::matrix(token, columns.len(), columns.len(), Use::Pairs)?;
    let cells = output::cells(&mut c)?;
    let mut observer = call.observer();
    let watch = &mut |share| observer.preparing(share);
    let Some(kind) = kind else {
        let x = Centred::as_they_are(columns.to_vec());
        of_centred(&x, &machine.pool, cells, watch).map_err(|error| token.explain(error))?;
        return Ok(Made {
            about: vec![("n", Robj::from(x.n() as f64))],
            matrix: Some(("C", c, [names.clone(), names])),
        });
    };
    let mut lost = Vec::new();
    let found = match &machine.gpu {
        None => correlation(columns, kind, rows, &machine.pool, cells, watch),
        Some(gpu) => centred(columns, kind, rows, &machine.pool, watch, |x, watch| {
            lost = gpu.correlation(x, &machine.pool, cells, watch)?;
            Ok(())
        }),
    };
    let found = found.map_err(|error| token.explain(error))?;
    let matrix = found.is_done.then(|| ("C", c, [names.clone(), names]));
    let mut about = summary_list(&found.summaries, found.rows);
    about.push(("lost", output::lost(&lost)));
    Ok(Made { about, matrix })
}

fn data(columns: &[Numbers], kind: Kind, rows: Rows, names: Robj, call: &Call) -> Outcome<Made> {
    let Call { machine, token, .. } = call;
    let mut written: Option<Outcome<(Robj, Vec<bool>)>> = None;
    let mut observer = call.observer();
    let found = centred(columns, kind, rows, &machine.pool, &mut |_| observer.look(), |x, _| {
        let write = || {
            let mut data = output::matrix(token, x.n(), x.p(), Use::Correlations)?;
            let varies = x.write(output::cells(&mut data)?, &machine.pool);
            Ok((data, varies))
        };
        written = Some(write());
        Ok(())
    });
    let found = found.map_err(|error| token.explain(error))?;
    let mut made = Made { about: summary_list(&found.summaries, found.rows), matrix: None };
    if let Some(written) = written {
        let (data, varies) = written?;
        made.about.push(("varies", Robj::from(varies)));
        made.matrix = Some(("data", data, [().into(), names]));
    }
    Ok(made)
}
