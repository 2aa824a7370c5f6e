//! Correlations of data from R.

use std::path::Path;

use extendr_api::prelude::*;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::file::{Content, DataFile, Writer};
use pcgpu_core::memory::Use;
use pcgpu_core::moments::{
    centre_and_scale, centred, correlation, of_centred, of_pairs, of_sparse, Centred, Form, Found, Kind, Measure, Rows,
    Scale, Sparse, Summary, Treatment,
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

/// Returns the summary of columns, and `size`, the number of independent rows that they are worth.
fn found_list(found: &Found) -> Vec<(&'static str, Value)> {
    let mut about = summary_list(&found.summaries, found.rows);
    about.push(("size", Value::from(found.size)));
    about
}

/// Outcome of computing correlations, or of centring data.
struct Made {
    /// `n`, and the summaries of the columns if they were computed.
    about: Vec<(&'static str, Value)>,
    /// The matrix with its name and dimnames, or `None` if a column prevents it.
    matrix: Option<(&'static str, Robj, [Robj; 2])>,
}

/// What R wants to know of columns.
struct Asked<'a> {
    kind: &'a str,
    rows: Rows,
    names: Robj,
    weights: Option<&'a [f64]>,
    groups: Option<Vec<u32>>,
    /// Numbers of levels of the columns, for latent correlations.
    levels: Vec<u32>,
    /// Further columns, whose part is removed from the others.
    covariates: Option<Table<'a>>,
}

/// How correlations are computed.
enum How<'a> {
    /// As products of columns that are centred already.
    Centred,
    /// As products of columns, after this treatment.
    Products(Treatment<'a>),
    /// Pair by pair.
    Pairs(Measure<'a>),
}

impl<'a> Asked<'a> {
    /// Reads `list(kind, rows, names, weights, groups, levels, covariates)`. The last four may be absent.
    fn from_list(options: &'a List) -> Outcome<Self> {
        let rows = [("all", Rows::All), ("complete", Rows::Complete), ("pairwise", Rows::Pairwise)];
        let wrong = |name: &str| Failure::Input(format!("internal: `{name}` has the wrong type"));
        let whole = |name: &'static str| -> Outcome<Option<Vec<u32>>> {
            let Some(values) = options.optional(name) else { return Ok(None) };
            let values = values.as_integer_slice().ok_or_else(|| wrong(name))?;
            values.iter().map(|&value| u32::try_from(value).map_err(|_| wrong(name))).collect::<Outcome<_>>().map(Some)
        };
        Ok(Asked {
            kind: options.text("kind")?,
            rows: options.choice("rows", &rows)?,
            names: options.optional("names").cloned().unwrap_or_default(),
            weights: match options.optional("weights") {
                Some(weights) => Some(weights.as_real_slice().ok_or_else(|| wrong("weights"))?),
                None => None,
            },
            groups: whole("groups")?,
            levels: whole("levels")?.unwrap_or_default(),
            covariates: options.optional("covariates").map(Table::new).transpose()?,
        })
    }

    fn how(&self) -> Outcome<How<'_>> {
        let products = |kind| {
            How::Products(Treatment {
                kind,
                weights: self.weights,
                groups: self.groups.as_deref(),
                covariates: self.covariates.as_ref().map_or(0, Table::width),
            })
        };
        let robust = |scale, form| How::Pairs(Measure::Robust(scale, form));
        Ok(match self.kind {
            "centred" => How::Centred,
            "pearson" => products(Kind::Pearson),
            "spearman" => products(Kind::Spearman),
            "npn" => products(Kind::Scores),
            "kendall" => How::Pairs(Measure::Kendall),
            "Qn" => robust(Scale::Qn, Form::Cut),
            "QnStable" => robust(Scale::Qn, Form::Stable),
            "ogk" => robust(Scale::Tau, Form::Plain),
            "polychoric" => How::Pairs(Measure::Latent(&self.levels)),
            other => return Err(input::unknown("kind", other)),
        })
    }

    /// Returns the columns of `table`, and after them the covariates, all of n rows.
    fn columns<'t>(&'t self, table: &'t Table, n: usize) -> Outcome<Vec<Numbers<'t>>> {
        let mut columns = table.columns(n)?;
        if let Some(covariates) = &self.covariates {
            columns.extend(covariates.columns(n)?);
        }
        let fits = self.weights.is_none_or(|weights| weights.len() == n)
            && self.groups.as_ref().is_none_or(|groups| groups.len() == n)
            && (self.kind != "polychoric" || self.levels.len() == columns.len());
        match fits {
            true => Ok(columns),
            false => Err(Failure::Input("internal: weights, groups or levels do not fit the columns".into())),
        }
    }
}

fn as_list(made: Made, token: &Token) -> Outcome<Value> {
    let mut result = made.about;
    if let Some((name, matrix, [rows, columns])) = made.matrix {
        output::set_dimnames(token, &matrix, [&rows, &columns])?;
        result.push((name, matrix.into()));
    }
    Ok(output::named(result))
}

fn correlations(columns: &[Numbers], asked: &Asked, call: &Call) -> Outcome<Made> {
    let Call { machine, token, .. } = call;
    let how = asked.how()?;
    let p = columns.len() - if let How::Products(of) = &how { of.covariates } else { 0 };
    let mut c = output::matrix(token, p, p, Use::Pairs)?;
    let cells = output::cells(&mut c)?;
    let mut observer = call.observer();
    let watch = &mut |share| observer.preparing(share);
    let names = || [asked.names.clone(), asked.names.clone()];
    let mut lost = Vec::new();
    let found = match how {
        How::Centred => {
            let x = Centred::as_they_are(columns.to_vec());
            of_centred(&x, &machine.pool, cells, watch)?;
            let about = vec![("n", Value::from(x.n() as f64))];
            return Ok(Made { about, matrix: Some(("C", c, names())) });
        }
        How::Pairs(measure) => of_pairs(columns, measure, asked.rows, &machine.pool, cells, watch)?,
        How::Products(of) => match &machine.device {
            Device::Cpu => correlation(columns, of, asked.rows, &machine.pool, cells, watch)?,
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => centred(columns, of, asked.rows, &machine.pool, watch, |x, watch| {
                lost = gpu.correlation(x, &machine.pool, cells, watch)?;
                Ok(())
            })?,
        },
    };
    let matrix = found.is_done.then(|| ("C", c, names()));
    let mut about = found_list(&found);
    about.push(("lost", output::lost(&lost)));
    Ok(Made { about, matrix })
}

/// Returns the treatment of columns that are kept.
fn kept<'a>(asked: &'a Asked) -> Outcome<Treatment<'a>> {
    match asked.how()? {
        How::Products(of) => Ok(of),
        _ => Err(Failure::Input("internal: these correlations are not made of columns".into())),
    }
}

fn data(columns: &[Numbers], asked: &Asked, call: &Call) -> Outcome<Made> {
    let Call { machine, token, .. } = call;
    let mut written: Option<Outcome<(Robj, Vec<bool>)>> = None;
    let mut observer = call.observer();
    let found = centred(columns, kept(asked)?, asked.rows, &machine.pool, &mut |_| observer.look(), |x, _| {
        let write = || {
            let mut data = output::matrix(token, x.n(), x.p(), Use::Correlations)?;
            let varies = x.write(output::cells(&mut data)?, &machine.pool);
            Ok((data, varies))
        };
        written = Some(write());
        Ok(())
    });
    let found = found?;
    let mut made = Made { about: found_list(&found), matrix: None };
    if let Some(written) = written {
        let (data, varies) = written?;
        made.about.push(("varies", Value::from(varies)));
        made.matrix = Some(("data", data, [().into(), asked.names.clone()]));
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

/// Returns `list(least, largest, missing, n, size, lost, C)`: for each column of x its smallest and largest value and its number of missing
/// values; the number of rows that count, and of independent rows that these are worth; the GPUs that failed; and the correlations. x has n
/// rows. The names become dimnames. C is absent if a column
/// prevents it. With `keep = "data"`, two others replace `lost` and C: `data`, the centred columns, and `varies`, which says which of them
/// vary to the precision of a double. `options` is `list(kind, rows, names, keep, weights, groups, levels, covariates)`, in which the last
/// four may be absent. For such centred data, `kind = "centred"` returns `list(n, C)`, with the same C as from the original
/// data.
/// @noRd
#[extendr]
fn rust_correlation(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (n, options) = (input::count(&n, "n", 1)?, input::list(&options, "options")?);
        let asked = Asked::from_list(&options)?;
        let table = Table::new(&x)?;
        let columns = asked.columns(&table, n)?;
        let made = match options.text("keep")? {
            "correlations" => correlations(&columns, &asked, &call)?,
            "data" => data(&columns, &asked, &call)?,
            other => return Err(Failure::Input(format!("internal: `{other}` cannot be kept"))),
        };
        as_list(made, token)
    })
}

/// Returns a matrix with the robust centre and scale of each column of x, which has n rows, without missing values; for the kinds "ogkQn"
/// and "ogkScaleTau2".
/// @noRd
#[extendr]
fn rust_centres_and_scales(x: Robj, n: Robj, kind: Robj) -> Robj {
    respond([&x, &n, &kind], |_| {
        let n = input::count(&n, "n", 1)?;
        let scale = match input::text(&kind, "kind")? {
            "ogkQn" => Scale::Qn,
            "ogkScaleTau2" => Scale::Tau,
            other => return Err(input::unknown("kind", other)),
        };
        let x = x.as_real_slice().ok_or_else(|| Failure::Input("internal: `x` is not a matrix of doubles".into()))?;
        let found = x.chunks_exact(n).flat_map(|column| centre_and_scale(column, scale));
        Ok(Value::from(found.collect::<Vec<f64>>()))
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
        let asked = Asked::from_list(&options)?;
        let kind = kept(&asked)?.kind;
        let p = starts.len() - 1;
        let mut c = output::matrix(token, p, p, Use::Pairs)?;
        let mut observer = call.observer();
        let watch = &mut |share| observer.preparing(share);
        let found = of_sparse(x, kind, asked.rows, pool, output::cells(&mut c)?, watch)?;
        let matrix = found.is_done.then(|| ("C", c, [asked.names.clone(), asked.names]));
        as_list(Made { about: found_list(&found), matrix }, token)
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
        let asked = Asked::from_list(&options)?;
        let path = options.text("path")?;
        let table = Table::new(&x)?;
        let mut observer = call.observer();
        let mut written = None;
        let (columns, of) = (asked.columns(&table, n)?, kept(&asked)?);
        let found = centred(&columns, of, asked.rows, pool, &mut |_| observer.look(), |x, watch| {
            let names = data_file::column_names(&asked.names);
            let writer = Writer::create(Path::new(path), Content::Centred, x.n(), x.p(), names.as_deref())?;
            let varies = x.put(pool, watch, &|first, cells| writer.put(first, cells))?;
            if varies.iter().all(|varies| *varies) {
                writer.finish(pool, watch)?;
            }
            written = Some(varies);
            Ok(())
        });
        let found = found?;
        let mut about = found_list(&found);
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
    fn rust_correlation;
    fn rust_centres_and_scales;
    fn rust_sparse_correlation;
    fn rust_centred_file;
}
