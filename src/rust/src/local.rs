//! Searches around one variable, and files of genotypes, from R.

use std::path::Path;

use extendr_api::prelude::*;
use pcgpu_core::file::{names_in, Bed};
use pcgpu_core::local::{
    neighbours, select, tests_at, weakest, Correlations, Neighbours, OfColumns, OfMatrix, Rule, Weakest,
};
use pcgpu_core::moments::{scan, Genotypes, Near, Prepared, Table as Columns};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::output;
use crate::respond::respond;
use crate::session::RObserver;
use crate::table::Table;
use crate::value::Value;

fn numbers(of: &[u32]) -> Value {
    Value::from(of.iter().map(|&v| v as i32 + 1).collect::<Vec<i32>>())
}

/// Opens the file that `list(path, samples, markers)` names.
fn bed(x: &List) -> Outcome<Bed> {
    let (n, p) = (input::count(x.field("n")?, "n", 0)?, input::count(x.field("p")?, "p", 0)?);
    Ok(Bed::open(Path::new(x.text("path")?), n, p)?)
}

/// Columns of R: numbers, and then genotypes.
struct Data<'a> {
    n: usize,
    numbers: Option<Table<'a>>,
    bed: Option<Bed>,
}

impl<'a> Data<'a> {
    /// Reads `list(n, numbers, bed)`, of which one may be NULL.
    fn new(x: &'a List) -> Outcome<Self> {
        let bed = match x.optional("bed") {
            Some(of) => Some(bed(&input::list(of, "bed")?)?),
            None => None,
        };
        let numbers = x.optional("numbers").map(Table::new).transpose()?;
        Ok(Data { n: input::count(x.field("n")?, "n", 1)?, numbers, bed })
    }

    fn columns(&self) -> Outcome<Columns<'_>> {
        let numbers = self.numbers.as_ref().map_or(Ok(Vec::new()), |table| table.columns(self.n))?;
        let genotypes = self.bed.as_ref().map(|bed| Genotypes::new(bed.genotypes(), self.n));
        Ok(Columns::new(self.n, numbers, genotypes))
    }
}

/// The candidates of a target, with the target's correlations with them.
struct Candidates {
    with: Vec<u32>,
    r: Vec<f64>,
}

impl Candidates {
    /// Reads `list(with, r)`; `with` are numbers of p columns.
    fn new(x: &Robj, p: usize) -> Outcome<Self> {
        let x = input::list(x, "candidates")?;
        let with = x.vertices("with", p)?;
        let r = x.field("r")?.as_real_vector().unwrap_or_default();
        match r.len() == with.len() {
            true => Ok(Candidates { with, r }),
            false => Err(Failure::Input("internal: each candidate needs a correlation".into())),
        }
    }
}

/// The correlations of all variables: columns, or a matrix.
enum Known<'a> {
    Columns(Columns<'a>),
    Matrix { cells: &'a [f64], p: usize },
}

impl<'a> Known<'a> {
    /// Reads `list(C)`, or uses the columns of `data`.
    fn new(x: &'a List, data: Option<&'a Data>) -> Outcome<Self> {
        if let Some(data) = data {
            return Ok(Known::Columns(data.columns()?));
        }
        let cells = x.field("C")?.as_real_slice();
        let cells = cells.ok_or_else(|| Failure::Input("internal: `C` is not a matrix of doubles".into()))?;
        let p = (cells.len() as f64).sqrt() as usize;
        match p * p == cells.len() {
            true => Ok(Known::Matrix { cells, p }),
            false => Err(Failure::Input("internal: `C` is not square".into())),
        }
    }

    fn p(&self) -> usize {
        match self {
            Known::Columns(columns) => columns.p(),
            Known::Matrix { p, .. } => *p,
        }
    }

    /// Calls `take` with the correlations of candidates with each other.
    fn among<T>(
        &self,
        candidates: &[u32],
        pool: &Pool,
        observer: &mut dyn Observer,
        take: impl FnOnce(&dyn Correlations, &mut dyn Observer) -> pcgpu_core::Result<T>,
    ) -> pcgpu_core::Result<T> {
        match self {
            Known::Columns(columns) => {
                let prepared = Prepared::new(columns, candidates, pool, &mut || observer.look())?;
                take(&OfColumns(&prepared), observer)
            }
            Known::Matrix { cells, p } => take(&OfMatrix { cells, p: *p, candidates }, observer),
        }
    }
}

/// Returns `list(z, left, removed, ends, members, tests)`: the smallest |z| by candidate, the candidates that are left, and the sets of the
/// others. The set of `removed[i]` is `members[(ends[i] + 1):ends[i + 1]]`.
fn described(found: Neighbours, candidates: &Candidates) -> Value {
    let (mut left, mut removed, mut ends, mut members) = (Vec::new(), Vec::new(), vec![0.0], Vec::new());
    for (&x, set) in candidates.with.iter().zip(&found.sets) {
        match set {
            None => left.push(x),
            Some(set) => {
                removed.push(x);
                members.extend(set.iter().map(|&member| candidates.with[member as usize]));
                ends.push(members.len() as f64);
            }
        }
    }
    output::named(vec![
        ("z", Value::from(found.z_min)),
        ("left", numbers(&left)),
        ("removed", numbers(&removed)),
        ("ends", Value::from(ends)),
        ("members", numbers(&members)),
        ("tests", Value::from(found.tests)),
    ])
}

/// Opens PLINK's files, and returns `list(n, p, samples, markers)`.
/// @noRd
#[extendr]
fn rust_bed_open(path: Robj, fam: Robj, bim: Robj) -> Robj {
    respond([&path, &fam, &bim], |_| {
        let samples = names_in(Path::new(input::text(&fam, "fam")?), 6)?;
        let markers = names_in(Path::new(input::text(&bim, "bim")?), 6)?;
        let bed = Bed::open(Path::new(input::text(&path, "path")?), samples.len(), markers.len())?;
        Ok(output::named(vec![
            ("n", Value::from(bed.n() as f64)),
            ("p", Value::from(bed.p() as f64)),
            ("samples", Value::from(samples)),
            ("markers", Value::from(markers)),
        ]))
    })
}

/// Returns some rows and columns of genotypes as integers.
/// @noRd
#[extendr]
fn rust_bed_read(x: Robj, rows: Robj, columns: Robj) -> Robj {
    respond([&x, &rows, &columns], |token| {
        let bed = bed(&input::list(&x, "x")?)?;
        let (rows, columns) =
            (input::vertices(&rows, bed.n(), "rows")?, input::vertices(&columns, bed.p(), "columns")?);
        let genotypes = Genotypes::new(bed.genotypes(), bed.n());
        let made = output::integer_matrix(token, rows.len(), columns.len())?;
        let mut observer = RObserver::silent(token);
        let mut matrix = made.clone();
        let cells = matrix
            .as_integer_slice_mut()
            .ok_or_else(|| Failure::Input("internal: the matrix does not hold integers".into()))?;
        for (cells, &j) in cells.chunks_mut(rows.len().max(1)).zip(&columns) {
            for (cell, &row) in cells.iter_mut().zip(&rows) {
                let copies = genotypes.at(row as usize, j as usize);
                *cell = if copies.is_nan() { i32::MIN } else { copies as i32 };
            }
            observer.look()?;
        }
        Ok(made.into())
    })
}

/// Correlates targets, the columns of a table, with all columns of x, `list(n, numbers, bed)`. Returns `list(near, constant, missing,
/// infinite)`; `near` has for each target `list(with, r)`, the columns with |r| of at least `least`.
/// @noRd
#[extendr]
fn rust_scan(x: Robj, targets: Robj, least: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &targets, &least, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (x, pool, least) = (input::list(&x, "x")?, &call.machine.pool, input::number(&least, "least")?);
        let data = Data::new(&x)?;
        let targets = Table::new(&targets)?;
        let targets = Columns::new(data.n, targets.columns(data.n)?, None);
        let mut observer = call.observer();
        let all: Vec<u32> = (0..targets.p() as u32).collect();
        let targets = Prepared::new(&targets, &all, pool, &mut || observer.look())?;
        let found = scan(&data.columns()?, &targets, least, pool, &mut |share| observer.preparing(share))?;
        let near = |near: Vec<Near>| {
            let with = Value::from(near.iter().map(|near| near.0 as i32 + 1).collect::<Vec<i32>>());
            let r = Value::from(near.iter().map(|near| near.1).collect::<Vec<f64>>());
            output::named(vec![("with", with), ("r", r)])
        };
        Ok(output::named(vec![
            ("near", Value::from(found.near.into_iter().map(near).collect::<Vec<Value>>())),
            ("constant", numbers(&found.constant)),
            ("missing", numbers(&found.missing)),
            ("infinite", numbers(&found.infinite)),
        ]))
    })
}

/// Finds which candidates of each target are its neighbours. x: `list(n, numbers, bed)` or `list(C)`; `candidates`: for each target
/// `list(with, r)`; n: the sample size of the tests; `cutoff`: the |z| up to which a set separates; `most`: the size of the largest sets.
/// @noRd
#[extendr]
fn rust_neighbours(
    x: Robj,
    candidates: Robj,
    n: Robj,
    cutoff: Robj,
    most: Robj,
    engine: Robj,
    callbacks: Robj,
) -> Robj {
    respond([&x, &candidates, &n, &cutoff, &most, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (x, pool) = (input::list(&x, "x")?, &call.machine.pool);
        let rule = Rule::new(input::number(&n, "n")?, input::number(&cutoff, "cutoff")?)?;
        let most = input::number(&most, "most")? as usize;
        let data = x.optional("n").map(|_| Data::new(&x)).transpose()?;
        let known = Known::new(&x, data.as_ref())?;
        let mut observer = call.observer();
        let mut all = Vec::new();
        for of in input::entries(&input::list(&candidates, "candidates")?) {
            let of = Candidates::new(of, known.p())?;
            let found = known.among(&of.with, pool, &mut observer, |among, observer| {
                neighbours(among, &of.r, rule, most, pool, observer)
            })?;
            all.push(described(found, &of));
        }
        Ok(Value::from(all))
    })
}

/// Selects candidates in pcalg's order. The arguments are those of `rust_neighbours()`, for one target. Returns `list(left, z)`.
/// @noRd
#[extendr]
fn rust_pc_select(x: Robj, candidates: Robj, n: Robj, cutoff: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &candidates, &n, &cutoff, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (x, pool) = (input::list(&x, "x")?, &call.machine.pool);
        let rule = Rule::new(input::number(&n, "n")?, input::number(&cutoff, "cutoff")?)?;
        let data = x.optional("n").map(|_| Data::new(&x)).transpose()?;
        let known = Known::new(&x, data.as_ref())?;
        let of = Candidates::new(&candidates, known.p())?;
        let each_test = call.listener.callbacks.test.is_some();
        let mut observer = RObserver::new(token, call.listener.callbacks.clone());
        let found = known.among(&of.with, pool, &mut observer, |among, observer| {
            select(among, &of.r, rule, pool, each_test, observer)
        })?;
        Ok(output::named(vec![("left", Value::from(found.is_kept)), ("z", Value::from(found.z_min))]))
    })
}

/// Returns the weakest tests of edges, `list(r, z, start, members)`: the set of edge i is `members[(start[i] + 1):start[i + 1]]`. x:
/// `list(n, numbers, bed)` or `list(C)`; `near`: the neighbours of each variable; `from`, `to`: the edges; n: the sample size of the tests;
/// `most`: the size of the largest sets; `tiers`: a number for each variable, or NULL. Returns the number of tests instead if it is above
/// `bound`.
/// @noRd
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rust_weakest(
    x: Robj,
    near: Robj,
    from: Robj,
    to: Robj,
    n: Robj,
    most: Robj,
    tiers: Robj,
    bound: Robj,
    engine: Robj,
    callbacks: Robj,
) -> Robj {
    respond([&x, &near, &from, &to, &n, &most, &tiers, &bound, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (x, pool) = (input::list(&x, "x")?, &call.machine.pool);
        let rule = Rule::new(input::number(&n, "n")?, 0.0)?;
        let most = input::number(&most, "most")? as usize;
        let data = x.optional("n").map(|_| Data::new(&x)).transpose()?;
        let known = Known::new(&x, data.as_ref())?;
        let p = known.p();
        let near = input::vertex_lists(&input::list(&near, "near")?)?;
        let (from, to) = (input::vertices(&from, p, "from")?, input::vertices(&to, p, "to")?);
        if near.len() != p || from.len() != to.len() {
            return Err(Failure::Input("internal: these are not the neighbours of all variables".into()));
        }
        let tiers = tiers.as_real_slice();
        if tiers.is_some_and(|tiers| tiers.len() != p) {
            return Err(Failure::Input("internal: each variable needs a tier".into()));
        }
        let tests: f64 = near.iter().map(|near| tests_at(near.len(), most)).sum();
        if tests > input::number(&bound, "bound")? {
            return Ok(Value::from(tests));
        }
        let all: Vec<u32> = (0..p as u32).collect();
        let found = known.among(&all, pool, &mut call.observer(), |among, observer| {
            weakest(among, &near, rule, most, tiers, pool, observer)
        })?;
        let at = |x: u32, y: u32| {
            let place = near[x as usize].iter().position(|&z| z == y);
            place.and_then(|place| found[x as usize].get(place))
        };
        let (mut r, mut z, mut start, mut members) = (Vec::new(), Vec::new(), vec![0.0], Vec::new());
        for (&x, &y) in from.iter().zip(&to) {
            let sides = at(x, y).into_iter().chain(at(y, x));
            let Some(Weakest { r: own, z: size, set }) = sides.min_by(|a, b| a.z.total_cmp(&b.z)) else {
                return Err(Failure::Input("internal: an edge does not join neighbours".into()));
            };
            r.push(*own);
            z.push(*size);
            members.extend_from_slice(set);
            start.push(members.len() as f64);
        }
        Ok(output::named(vec![
            ("r", Value::from(r)),
            ("z", Value::from(z)),
            ("start", Value::from(start)),
            ("members", numbers(&members)),
        ]))
    })
}

extendr_module! {
    mod local;
    fn rust_weakest;
    fn rust_bed_open;
    fn rust_bed_read;
    fn rust_scan;
    fn rust_neighbours;
    fn rust_pc_select;
}
