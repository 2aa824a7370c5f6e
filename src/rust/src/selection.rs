//! Feature selection from R.

use extendr_api::prelude::*;
use pcgpu_core::engine::cluster::selection::Source;
use pcgpu_core::engine::cpu::selection::{encode, CpuCounting};
use pcgpu_core::engine::replicates::{on_machines, on_threads, Replicates};
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::file::DataFile;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::observer::Observer;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::selection::discretise::{Bins, Coding, Column, Discretise};
use pcgpu_core::selection::{select, CountLogs, Criterion, Machines, Resampling, Samples, Selection, Selector};
use pcgpu_core::team::TeamReport;

use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::machine::Machine;
use crate::respond::respond;
use crate::session::{Callbacks, RObserver};
use crate::token::Token;
use crate::value::Value;
use crate::{data_file, input, output};

/// The features in R's form.
enum Features {
    /// A matrix of `n` rows, double or integer.
    Matrix(Robj, usize),
    /// A data file.
    File(DataFile),
    /// Vectors. Factors are integers with that class.
    Columns(List),
    /// The slots `p`, `i` and `x` of a dgCMatrix.
    Sparse { starts: Robj, rows: Robj, values: Robj },
}

impl Features {
    /// Reads `list(kind, ...)`, see `selection_features()` in R/select-features.R.
    fn from_list(x: &List, n: usize) -> Outcome<Self> {
        match x.text("kind")? {
            "matrix" => Ok(Features::Matrix(x.field("x")?.clone(), n)),
            "file" => Ok(Features::File(data_file::open(x.field("x")?)?)),
            "columns" => Ok(Features::Columns(x.list("x")?)),
            "sparse" => {
                let [starts, rows, values] = ["p", "i", "x"].map(|name| x.field(name).cloned());
                Ok(Features::Sparse { starts: starts?, rows: rows?, values: values? })
            }
            other => Err(Failure::Input(format!("internal: there are no features of kind `{other}`"))),
        }
    }

    fn columns(&self) -> Outcome<Vec<Column<'_>>> {
        let wrong = |what: &str| Failure::Input(format!("internal: `x` is not {what}"));
        match self {
            Features::Matrix(x, n) => {
                if let Some(cells) = x.as_real_slice() {
                    Ok(cells.chunks(*n).map(Column::Doubles).collect())
                } else if let Some(cells) = x.as_integer_slice() {
                    Ok(cells.chunks(*n).map(Column::Integers).collect())
                } else {
                    Err(wrong("a matrix of numbers"))
                }
            }
            Features::File(file) => Ok(file.cells().chunks(file.n()).map(Column::Doubles).collect()),
            Features::Columns(columns) => input::entries(columns)
                .iter()
                .map(|column| column_of(column).ok_or_else(|| wrong("a list of numbers")))
                .collect(),
            Features::Sparse { starts, rows, values } => {
                let starts = starts.as_integer_slice().ok_or_else(|| wrong("sparse: p"))?;
                let rows = rows.as_integer_slice().ok_or_else(|| wrong("sparse: i"))?;
                let values = values.as_real_slice().ok_or_else(|| wrong("sparse: x"))?;
                let column = |ends: &[i32]| {
                    let range = usize::try_from(ends[0]).ok()?..usize::try_from(ends[1]).ok()?;
                    Some(Column::Sparse { rows: rows.get(range.clone())?, values: values.get(range)? })
                };
                starts.windows(2).map(|ends| column(ends).ok_or_else(|| wrong("sparse: p"))).collect()
            }
        }
    }
}

fn column_of(column: &Robj) -> Option<Column<'_>> {
    if input::has_class(column, "factor") {
        return column.as_integer_slice().map(Column::Codes);
    }
    column.as_real_slice().map(Column::Doubles).or_else(|| column.as_integer_slice().map(Column::Integers))
}

/// Selects features. `options` has `n`, `k`, `criterion`, `beta`, `gamma`, `discretise`, `bins`, `kept_levels`, `missing_level` and perhaps
/// `ensemble`, without which there is one criterion. `y` is a vector of n values.
pub fn run(
    x: &List,
    y: &Robj,
    options: &List,
    machine: &Machine,
    observer: &mut dyn Observer,
    token: &Token,
) -> Outcome<Value> {
    let n = options.count("n", 1)?;
    let k = options.count("k", 0)?;
    let bins = Bins { count: options.count("bins", 1)? as u32, kept_levels: options.count("kept_levels", 0)? };
    let how = options.choice(
        "discretise",
        &[
            ("equal-width", Discretise::EqualWidth(bins)),
            ("equal-frequency", Discretise::EqualFrequency(bins)),
            ("none", Discretise::None),
        ],
    )?;
    let coding = Coding { how, missing_level: options.flag("missing_level")? };
    let weights = [options.number("beta")?, options.number("gamma")?];
    let named = |name: &str| Criterion::from_name(name, weights).ok_or_else(|| input::unknown("criterion", name));
    let names = options.field("criterion")?.as_str_vector().unwrap_or_default();
    let criteria = names.into_iter().map(named).collect::<Outcome<Vec<Criterion>>>()?;
    let &[criterion, ..] = &criteria[..] else { return Err(input::unknown("criterion", "")) };
    let features = Features::from_list(x, n)?;
    let columns = features.columns()?;
    let class = column_of(y).ok_or_else(|| Failure::Input("internal: `y` is not a vector of numbers".into()))?;
    // Ranks read features in a file themselves. Here only the file's first column is read, for the class.
    let here = if named_file(x, machine)?.is_some() { &columns[..1] } else { &columns[..] };
    let samples: Samples = encode(n, here, class, coding, machine.pool.clone(), observer)?;
    // Memory for two tables by count.
    memory::room(24 * n, Use::Features)?;
    let logs = CountLogs::new(n);
    if let Some(ranks) = &machine.ranks {
        let path = named_file(x, machine)?;
        let source = match (&features, &path) {
            (Features::File(file), Some(path)) => Source::File { file, path, coding, first: &samples },
            _ => Source::Samples(&samples),
        };
        let mut cluster = ranks.cluster(token, machine.pool.clone())?;
        let (found, levels) = cluster.select(source, &logs, criterion, k, observer)?;
        return Ok(listed(found, levels, &samples, machine, &cluster.team()));
    }
    if let Some(ensemble) = options.optional_list("ensemble")? {
        return of_ensemble(&samples, &criteria, k, &ensemble, machine, observer);
    }
    let (found, team) = match machine.members(&samples, &logs) {
        None => {
            let mut counting = machine.counting(&samples, &logs)?;
            (select(&samples, &logs, &mut *counting, criterion, k, observer), counting.report())
        }
        Some(members) => {
            let mut shards = Shards::new(members)?;
            (select(&samples, &logs, &mut shards, criterion, k, observer), shards.report())
        }
    };
    let found = found?;
    let levels = found.index.iter().map(|&f| samples.levels(f)).collect();
    Ok(listed(found, levels, &samples, machine, &team))
}

/// Returns the path of the file with the features, if ranks should open it.
fn named_file(x: &List, machine: &Machine) -> Outcome<Option<String>> {
    if machine.ranks.is_none() || x.text("kind")? != "file" {
        return Ok(None);
    }
    Ok(Some(x.list("x")?.text("path")?.to_owned()))
}

/// Returns a selection in R's form.
fn listed(found: Selection, levels: Vec<usize>, samples: &Samples, machine: &Machine, team: &TeamReport) -> Value {
    let shifted: Vec<i32> = found.index.iter().map(|&f| f as i32 + 1).collect();
    let levels: Vec<i32> = levels.into_iter().map(|levels| levels as i32).collect();
    output::named(vec![
        ("index", Value::from(shifted)),
        ("score", Value::from(found.score)),
        ("relevance", Value::from(found.relevance)),
        ("levels", Value::from(levels)),
        ("classes", Value::from(samples.classes() as i32)),
        ("device", Value::from(machine.names(true))),
        ("team", output::shares(team)),
        ("lost", output::lost(&team.lost)),
    ])
}

/// Largest number of replicates, as in R/select-ensemble.R.
pub const MOST_REPLICATES: usize = 100_000;

/// Reads `seed`, `size` and `replace` of the list that `check_ensemble()` in R/select-ensemble.R makes, for n rows.
pub fn resampling(ensemble: &List, n: usize) -> Outcome<Resampling> {
    let size = ensemble.count("size", 1)?;
    if size > n {
        return Err(Failure::Input(format!("internal: samples of {size} of {n} rows")));
    }
    let seed = ensemble.count("seed", 0)? as u64;
    Ok(Resampling { seed, size, replace: ensemble.flag("replace")? })
}

/// Returns the selections of an ensemble, replicate by replicate and criterion by criterion, and the relevance and levels of all features in all rows.
fn of_ensemble(
    samples: &Samples,
    criteria: &[Criterion],
    k: usize,
    ensemble: &List,
    machine: &Machine,
    observer: &mut dyn Observer,
) -> Outcome<Value> {
    let count = ensemble.count("replicates", 1)?.min(MOST_REPLICATES);
    let (logs, p) = (CountLogs::new(samples.n()), samples.p());
    let mut relevance = Selector::new(samples, &logs, Criterion::Mim, 0..p);
    relevance
        .prepare(&mut CpuCounting::new(samples, &logs, 0..p, machine.pool.clone()), &mut Looking(&mut *observer))?;
    memory::check()?;
    let first = ensemble.count("first", 0)?;
    let of = Replicates { samples, resampling: resampling(ensemble, samples.n())?, first, count, criteria, k };
    let (found, team) = match machine.device.is_cpu() {
        true => (on_threads(of, &machine.pool, observer)?, TeamReport::default()),
        false => on_machines(of, machine.runners(), observer)?,
    };
    let selections = || found.iter().flat_map(|replicate| &replicate.selections);
    let index: Vec<i32> = selections().flat_map(|found| found.index.iter().map(|&f| f as i32 + 1)).collect();
    let score: Vec<f64> = selections().flat_map(|found| found.score.iter().copied()).collect();
    let draws: Vec<i32> = found.iter().map(|replicate| replicate.draw as i32).collect();
    let relevance: Vec<f64> = (0..p).map(|f| logs.bits(i128::from(relevance.choice(f).relevance), 1)).collect();
    let levels: Vec<i32> = (0..p).map(|f| samples.levels(f) as i32).collect();
    Ok(output::named(vec![
        ("index", Value::from(index)),
        ("score", Value::from(score)),
        ("draw", Value::from(draws)),
        ("relevance", Value::from(relevance)),
        ("levels", Value::from(levels)),
        ("classes", Value::from(samples.classes() as i32)),
        ("device", Value::from(machine.names(true))),
        ("team", output::shares(&team)),
        ("lost", output::lost(&team.lost)),
    ]))
}

/// An observer that polls for a stop and reports nothing, because the work is too short a part of the whole.
struct Looking<'a>(&'a mut dyn Observer);

impl Observer for Looking<'_> {
    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> pcgpu_core::Result<()> {
        self.0.look()
    }

    fn look(&mut self) -> pcgpu_core::Result<()> {
        self.0.look()
    }
}

/// Selects features by mutual information.
/// @noRd
#[extendr]
fn rust_select(x: Robj, y: Robj, options: Robj, engine: Robj, progress: Robj) -> Robj {
    respond([&x, &y, &options, &engine, &progress], |token| {
        let (x, options) = (input::list(&x, "x")?, input::list(&options, "options")?);
        let engine = input::list(&engine, "engine")?;
        let machine = Machine::from_list(&engine)?;
        let progress = (!progress.is_null()).then(|| progress.clone());
        let mut observer = RObserver::new(token, Callbacks { progress, ..Callbacks::default() });
        run(&x, &y, &options, &machine, &mut observer, token)
    })
}

/// Returns the rows of a replicate of n rows, counted from 1.
/// @noRd
#[extendr]
fn rust_ensemble_rows(n: Robj, ensemble: Robj, replicate: Robj, draw: Robj) -> Robj {
    respond([&n, &ensemble, &replicate, &draw], |_| {
        let (n, draw) = (input::count(&n, "n", 1)?, input::count(&draw, "draw", 0)?);
        let (ensemble, replicate) = (input::list(&ensemble, "ensemble")?, input::count(&replicate, "replicate", 1)?);
        let rows = resampling(&ensemble, n)?.rows(n, (replicate - 1) as u32, draw as u32)?;
        Ok(Value::from(rows.into_iter().map(|row| row as i32 + 1).collect::<Vec<i32>>()))
    })
}

extendr_module! {
    mod selection;
    fn rust_select;
    fn rust_ensemble_rows;
}
