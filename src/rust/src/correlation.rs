//! Correlations of data from R.

use std::path::Path;

use extendr_api::prelude::*;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::file::{Content, DataFile, Writer};
use pcgpu_core::memory::Use;
use pcgpu_core::moments::{
    centred, correlation, of_centred, of_sparse, summaries, Centred, Kind, Rows, Sparse, Summary,
};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;

use crate::call::Call;
use crate::data_file;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::machine::Device;
use crate::respond::respond;
use crate::session::RObserver;
use crate::table::Table;
use crate::token::Token;
use crate::value::Value;
use crate::{input, output};

pub fn summary_list(found: &[Summary], n: usize) -> Vec<(&'static str, Value)> {
    let numbers = |of: fn(&Summary) -> f64| Value::from(found.iter().map(of).collect::<Vec<f64>>());
    vec![
        ("least", numbers(|column| column.least)),
        ("largest", numbers(|column| column.largest)),
        ("missing", numbers(|column| column.missing as f64)),
        ("n", Value::from(n as f64)),
    ]
}

/// Outcome of computing correlations, or of centring data.
struct Made {
    /// `n`, and the column summaries of `rust_summary()` if they were computed.
    about: Vec<(&'static str, Value)>,
    /// The matrix with its name and dimnames, or `None` if a column prevents it.
    matrix: Option<(&'static str, Robj, [Robj; 2])>,
}

/// Reads the request: the kind of correlation (`None` if the columns are centred), the rows, and the names.
fn asked(options: &List) -> Outcome<(Option<Kind>, Rows, Robj)> {
    let kinds = [("pearson", Some(Kind::Pearson)), ("spearman", Some(Kind::Spearman)), ("centred", None)];
    let rows = [("all", Rows::All), ("complete", Rows::Complete), ("pairwise", Rows::Pairwise)];
    let names = options.optional("names").cloned().unwrap_or_default();
    Ok((options.choice("kind", &kinds)?, options.choice("rows", &rows)?, names))
}

fn as_list(made: Made, token: &Token) -> Outcome<Value> {
    let mut result = made.about;
    if let Some((name, matrix, [rows, columns])) = made.matrix {
        output::set_dimnames(token, &matrix, [&rows, &columns])?;
        result.push((name, matrix.into()));
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
        of_centred(&x, &machine.pool, cells, watch)?;
        return Ok(Made {
            about: vec![("n", Value::from(x.n() as f64))],
            matrix: Some(("C", c, [names.clone(), names])),
        });
    };
    let (found, lost) = match &machine.device {
        Device::Cpu => (correlation(columns, kind, rows, &machine.pool, cells, watch)?, Vec::new()),
        #[cfg(feature = "cuda")]
        Device::Gpu(gpu) => {
            let mut lost = Vec::new();
            let made = centred(columns, kind, rows, &machine.pool, watch, |x, watch| {
                lost = gpu.correlation(x, &machine.pool, cells, watch)?;
                Ok(())
            });
            (made?, lost)
        }
    };
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
    let found = found?;
    let mut made = Made { about: summary_list(&found.summaries, found.rows), matrix: None };
    if let Some(written) = written {
        let (data, varies) = written?;
        made.about.push(("varies", Value::from(varies)));
        made.matrix = Some(("data", data, [().into(), names]));
    }
    Ok(made)
}

/// Returns whether C can be used as a correlation matrix: 0 for no, 1 for yes, 2 for yes, but with NA. It must have ones on the diagonal,
/// nothing beyond -1 and 1, and be symmetric, except for rounding.
/// @noRd
#[extendr]
fn rust_is_correlation(c: Robj, p: Robj, threads: Robj) -> Robj {
    respond([&c, &p, &threads], |_| {
        let p = input::count(&p, "p", 1)?;
        let threads = input::count(&threads, "threads", 1)?;
        let check = Check::new(input::square(&c, p, "C")?);
        // For fewer variables, one thread is quicker than several. Even asking the system for the number of threads takes time.
        let pool = if p < 1000 { Pool::none() } else { Pool::at_most(threads) };
        Ok(Value::from(match check.verdict(&pool) {
            None => 0,
            Some(has_na) => 1 + i32::from(has_na),
        }))
    })
}

/// Returns `list(least, largest, missing, n)` of the columns of x, which has n rows. With `complete`, only rows without missing values
/// count. The returned `n` is the number of rows that count.
/// @noRd
#[extendr]
fn rust_summary(x: Robj, n: Robj, complete: Robj, engine: Robj) -> Robj {
    respond([&x, &n, &complete, &engine], |token| {
        let (n, complete) = (input::count(&n, "n", 1)?, input::flag(&complete, "complete")?);
        let pool = Call::silent(&engine, token)?.machine.pool;
        let table = Table::new(&x)?;
        let columns = table.columns(n)?;
        let mut observer = RObserver::silent(token);
        let look = &mut || observer.look();
        let (found, n) = summaries(&columns, complete, &pool, look)?;
        Ok(output::named(summary_list(&found, n)))
    })
}

/// Returns `list(least, largest, missing, n, lost, C)`: the summary of `rust_summary()`, the GPUs that failed, and the correlations of the
/// columns of x. x has n rows. The names become dimnames. C is absent if a column prevents it. With `keep = "data"`, two others replace
/// `lost` and C: `data`, the centred columns, and `varies`, which says which of them vary to the precision of a double. `options` is
/// `list(kind, rows, names, keep)`. For such centred data, `kind = "centred"` returns `list(n, C)`, with the same C as from the original
/// data.
/// @noRd
#[extendr]
fn rust_correlation(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (n, options) = (input::count(&n, "n", 1)?, input::list(&options, "options")?);
        let (kind, rows, names) = asked(&options)?;
        let table = Table::new(&x)?;
        let columns = table.columns(n)?;
        let made = match (options.text("keep")?, kind) {
            ("correlations", _) => correlations(&columns, kind, rows, names, &call)?,
            ("data", Some(kind)) => data(&columns, kind, rows, names, &call)?,
            (other, _) => return Err(Failure::Input(format!("internal: `{other}` cannot be kept"))),
        };
        as_list(made, token)
    })
}

/// Works as `rust_correlation()` for a sparse matrix of n rows, `list(starts, rows, values)`.
/// @noRd
#[extendr]
fn rust_sparse_correlation(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (n, options) = (input::count(&n, "n", 1)?, input::list(&options, "options")?);
        let x = input::list(&x, "x")?;
        let pool = &call.machine.pool;
        let wrong = || Failure::Input("internal: `x` has no slots of a sparse matrix".into());
        let (starts, of_rows, values) = (x.field("starts")?, x.field("rows")?, x.field("values")?);
        let (starts, of_rows) =
            (starts.as_integer_slice().ok_or_else(wrong)?, of_rows.as_integer_slice().ok_or_else(wrong)?);
        let x = Sparse::new(n, starts, of_rows, values.as_real_slice().ok_or_else(wrong)?, pool)?;
        let (Some(kind), rows @ (Rows::All | Rows::Complete), names) = asked(&options)? else {
            return Err(Failure::Input("internal: a sparse matrix does not have these correlations".into()));
        };
        let p = starts.len() - 1;
        let mut c = output::matrix(token, p, p, Use::Pairs)?;
        let mut observer = call.observer();
        let watch = &mut |share| observer.preparing(share);
        let found = of_sparse(x, kind, rows, pool, output::cells(&mut c)?, watch)?;
        let matrix = found.is_done.then(|| ("C", c, [names.clone(), names]));
        as_list(Made { about: summary_list(&found.summaries, found.rows), matrix }, token)
    })
}

/// Works as `rust_correlation()` with `keep = "data"`, but writes the data to the file `options$path`. The fields of the file replace
/// `data`.
/// @noRd
#[extendr]
fn rust_centred_file(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (n, options) = (input::count(&n, "n", 1)?, input::list(&options, "options")?);
        let pool = &call.machine.pool;
        let (Some(kind), rows, names) = asked(&options)? else {
            return Err(Failure::Input("internal: the columns are centred".into()));
        };
        let path = options.text("path")?;
        let table = Table::new(&x)?;
        let mut observer = call.observer();
        let mut written = None;
        let found = centred(&table.columns(n)?, kind, rows, pool, &mut |_| observer.look(), |x, watch| {
            let names = data_file::column_names(&names);
            let writer = Writer::create(Path::new(path), Content::Centred, x.n(), x.p(), names.as_deref())?;
            let varies = x.put(pool, watch, &|first, cells| writer.put(first, cells))?;
            if varies.iter().all(|varies| *varies) {
                writer.finish(pool, watch)?;
            }
            written = Some(varies);
            Ok(())
        });
        let found = found?;
        let mut about = summary_list(&found.summaries, found.rows);
        if let Some(varies) = written {
            if varies.iter().all(|varies| *varies) {
                about.push(("file", data_file::described(&DataFile::open(Path::new(path), None)?, path)));
            }
            about.push(("varies", Value::from(varies)));
        }
        Ok(output::named(about))
    })
}

extendr_module! {
    mod correlation;
    fn rust_is_correlation;
    fn rust_summary;
    fn rust_correlation;
    fn rust_sparse_correlation;
    fn rust_centred_file;
}
