//! Results as flat arrays. The core fills and reads them; here they become R's vectors. R/class-compact.R describes them.

use std::cell::Cell;

use extendr_api::prelude::*;
use extendr_ffi::SEXPTYPE;
use pcgpu_core::flat::{self, Entries, Flat, Given, Listed, Sets, SetsMut, Values};
use pcgpu_core::graph::{Adjacency, SepSets};
use pcgpu_core::memory::Use;
use pcgpu_core::orient::Pdag;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::{Options, PairValues, Skeleton};

use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::output::{self, named, vector};
use crate::respond::respond;
use crate::token::Token;
use crate::value::{na, Value};

fn unlike() -> Failure {
    Failure::Input("internal: a vector has the wrong type".into())
}

fn start_vector(starts: &[u64]) -> Value {
    Value::from(starts.iter().map(|&start| start as f64).collect::<Vec<f64>>())
}

fn integers(token: &Token, count: usize) -> Outcome<Robj> {
    vector(token, SEXPTYPE::INTSXP, count, 4, Use::Level)
}

fn bytes(token: &Token, count: usize) -> Outcome<Robj> {
    vector(token, SEXPTYPE::RAWSXP, count, 1, Use::Level)
}

/// Returns `list(start, to, p)` of pairs.
fn listed(token: &Token, pool: &Pool, pairs: &Listed) -> Outcome<Vec<(&'static str, Value)>> {
    let (mut to, mut values) = (integers(token, pairs.count())?, bytes(token, 8 * pairs.count())?);
    let of_values = values.as_raw_slice_mut().ok_or_else(unlike)?;
    pairs.write(pool, to.as_integer_slice_mut().ok_or_else(unlike)?, of_values);
    Ok(vec![("start", start_vector(pairs.starts())), ("to", to.into()), ("p", values.into())])
}

/// Returns `list(start, to, p)` of the gaps, see [`Listed::gaps`].
pub fn gaps(token: &Token, pool: &Pool, found: &Skeleton, left: &PairValues, options: &Options) -> Outcome<Value> {
    Ok(named(listed(token, pool, &Listed::gaps(pool, found, left, options))?))
}

/// Returns a search's result except `gaps`: `edges`, `list(start, to, mark, p)`, and `sets`.
pub fn found(
    token: &Token,
    pool: &Pool,
    found: &Skeleton,
    left: &PairValues,
    pdag: Option<&Pdag>,
) -> Outcome<Vec<(&'static str, Value)>> {
    let pairs = Listed::edges(pool, &found.graph, left);
    let mut edges = listed(token, pool, &pairs)?;
    let mut mark = bytes(token, pairs.count())?;
    flat::marks(pool, &found.graph, pairs.starts(), pdag, mark.as_raw_slice_mut().ok_or_else(unlike)?);
    edges.insert(2, ("mark", mark.into()));
    Ok(vec![("edges", named(edges)), ("sets", sets(token, pool, &found.sepsets, &Values::Left(left))?)])
}

/// Returns `list(start, to, set, p, ends, members)`, see [`Sets`].
pub fn sets(token: &Token, pool: &Pool, sepsets: &SepSets, of_left: &Values) -> Outcome<Value> {
    let sets = Sets::new(pool, sepsets)?;
    let (mut to, mut set) = (integers(token, sets.count())?, bytes(token, sets.code_bytes())?);
    let mut values = bytes(token, 8 * sets.count())?;
    let mut ends = vector(token, SEXPTYPE::REALSXP, sets.large() + 1, 8, Use::Level)?;
    let mut members = integers(token, sets.members())?;
    let into = SetsMut {
        to: to.as_integer_slice_mut().ok_or_else(unlike)?,
        set: set.as_raw_slice_mut().ok_or_else(unlike)?,
        p: values.as_raw_slice_mut().ok_or_else(unlike)?,
        ends: output::cells(&mut ends)?,
        members: members.as_integer_slice_mut().ok_or_else(unlike)?,
    };
    sets.write(pool, of_left, into)?;
    Ok(named(vec![
        ("start", start_vector(sets.starts())),
        ("to", to.into()),
        ("set", set.into()),
        ("p", values.into()),
        ("ends", ends.into()),
        ("members", members.into()),
    ]))
}

/// Returns the values of `list$name`, in a part of a result.
fn slice<'l, T>(
    list: &'l List,
    name: &str,
    part: &'static str,
    values: impl FnOnce(&'l Robj) -> Option<&'l [T]>,
) -> Outcome<&'l [T]> {
    input::entry(list, name).and_then(values).ok_or(Failure::Part(part))
}

/// A result that R returns to Rust, `list(p, method, edges, sets, gaps)`.
pub struct Found {
    p: usize,
    fast: bool,
    edges: List,
    sets: List,
    gaps: List,
}

impl Found {
    pub fn from_list(list: &List) -> Outcome<Self> {
        let part = |name: &'static str| {
            list.field(name).and_then(|part| input::list(part, name)).map_err(|_| Failure::Part(name))
        };
        Ok(Found {
            p: list.count("p", 1)?,
            fast: list.text("method")? == "stable.fast",
            edges: part("edges")?,
            sets: part("sets")?,
            gaps: part("gaps")?,
        })
    }

    /// Returns its arrays, checked. The pool's threads read them.
    pub fn flat(&self, pool: &Pool) -> Outcome<Flat<'_>> {
        let doubles = |of, name, part| slice(of, name, part, Robj::as_real_slice);
        let integers = |of, name, part| slice(of, name, part, Robj::as_integer_slice);
        let bytes = |of, name, part| slice(of, name, part, Robj::as_raw_slice);
        let entries = |of, part| {
            let (start, to) = (doubles(of, "start", part)?, integers(of, "to", part)?);
            Ok::<_, Failure>(Entries { start, to, p: bytes(of, "p", part)? })
        };
        let Found { p, fast, edges, sets, gaps } = self;
        let given = Given {
            p: *p,
            fast: *fast,
            edges: entries(edges, "edges")?,
            mark: bytes(edges, "mark", "edges")?,
            sets: entries(sets, "sets")?,
            set: bytes(sets, "set", "sets")?,
            ends: doubles(sets, "ends", "sets")?,
            members: integers(sets, "members", "sets")?,
            gaps: entries(gaps, "gaps")?,
        };
        Ok(Flat::new(given, pool)?)
    }
}

/// Returns the marks of the edges under an orientation.
pub fn marks(token: &Token, pool: &Pool, flat: &Flat, (graph, pdag): (&Adjacency, &Pdag)) -> Outcome<Robj> {
    let mut marks = bytes(token, flat.edge_count())?;
    flat.marks(pool, graph, pdag, marks.as_raw_slice_mut().ok_or_else(unlike)?);
    Ok(marks)
}

/// Returns `pMax` of a result in flat arrays, and fills the slot `sepset` of `object`, which must be fresh. These are the p x p parts of
/// pcalg's class. `level0` has the p-values of level 0 as a p x p matrix, or is NULL if they are not known.
/// @noRd
#[extendr]
fn rust_expand(found: Robj, level0: Robj, object: Robj) -> Robj {
    respond([&found, &level0, &object], |token| {
        let found = input::list(&found, "found")?;
        let p = found.count("p", 1)?;
        let found = Found::from_list(&found)?;
        let flat = found.flat(&Pool::none())?;
        let mut p_max = output::matrix(token, p, p, Use::Square)?;
        let cells = output::cells(&mut p_max)?;
        if level0.is_null() {
            cells.fill(na());
        } else {
            let known = input::square(&level0, p, "level0")?;
            cells.copy_from_slice(
                known
                    .to_slice_memory_order()
                    .ok_or_else(|| Failure::Input("internal: `level0` is not contiguous".into()))?,
            );
        }
        flat.fill_p_max(cells);
        output::fill_sepsets(token, &object, &flat.sepsets(&flat.graph(&Pool::none())?, &Pool::none())?)?;
        Ok(p_max.into())
    })
}

thread_local! {
    /// The addresses of the parts of the last flat result that was found consistent. R copies a list before it changes it, and users ask
    /// about one result pair by pair.
    static WHOLE: Cell<[usize; 4]> = const { Cell::new([0; 4]) };
}

/// Checks whether the parts of a result in flat arrays fit together. Returns TRUE, or the name of a part that does not fit.
/// @noRd
#[extendr]
fn rust_check_flat(found: Robj) -> Robj {
    respond([&found], |_| {
        let found = input::list(&found, "found")?;
        // SAFETY: the addresses are only compared.
        let address = |name: &str| found.field(name).map(|part| unsafe { part.get() } as usize);
        let p = found.count("p", 1)?;
        let parts = [p, address("edges")?, address("sets")?, address("gaps")?];
        if WHOLE.get() == parts {
            return Ok(Value::from(true));
        }
        match Found::from_list(&found).and_then(|found| found.flat(&Pool::none()).map(|_| ())) {
            Ok(()) => {
                WHOLE.set(parts);
                Ok(Value::from(true))
            }
            Err(Failure::Part(part)) => Ok(Value::from(part)),
            Err(failure) => Err(failure),
        }
    })
}

extendr_module! {
    mod compact;
    fn rust_expand;
    fn rust_check_flat;
}
