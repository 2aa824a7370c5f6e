//! The p x p slots of a `pcAlgo` object, `pMax` and `sepset`, as vectors that R keeps in a form of ours (ALTREP): they hold the flat result,
//! and make a cell when somebody asks for it.
//!
//! `src/lazy.c` has the methods that R calls. They may allocate and jump, so they are in C. They call the functions here, which do neither.

// All calls of these functions are in a guard.
#![allow(clippy::disallowed_methods)]

use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use extendr_ffi::{R_NilValue, SEXP};
use pcgpu_core::ci::gauss::{FisherZ, Reading};
use pcgpu_core::flat::{Correlations, Flat, PMax, Set};
use pcgpu_core::graph::SepSets;
use pcgpu_core::memory::Use;
use pcgpu_core::pool::{default_threads, Pool};

use crate::altrep::{opened as of, Opened};
use crate::compact::Found;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::output;
use crate::token::Token;
use crate::value::{allocate, Value};

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    fn pcgpu_lazy_p_max(state: SEXP, opened: SEXP) -> SEXP;
    /// Returns a vector with the same numbers whose address stays.
    fn pcgpu_lazy_plain(x: SEXP) -> SEXP;
    fn pcgpu_lazy_sepset(parts: SEXP, opened: SEXP) -> SEXP;
    /// Returns whether this R supports lazy lists (4.3 or newer).
    fn pcgpu_has_lazy_lists() -> i32;
}

/// Least number of variables of lazy slots. Below it the whole slots take milliseconds.
const LEAST: usize = 500;

/// The same for an R without lazy lists. It makes the whole list of separating sets in any case, so that a flat result is extra work. S. aureus
/// (2,810 variables) takes 0.36 s with a lazy `pMax` and 0.30 s without, 5,000 sparse variables 0.16 s and 0.7 s, on an H200.
const LEAST_WITH_LISTS: usize = 4000;

/// Returns the least number of variables of lazy slots in this R.
pub fn least() -> usize {
    if has_lazy_lists() {
        LEAST
    } else {
        LEAST_WITH_LISTS
    }
}

fn has_lazy_lists() -> bool {
    // SAFETY: it only answers.
    unsafe { pcgpu_has_lazy_lists() != 0 }
}

/// Reads a state: `list(p, method, edges, sets, gaps, n, C)`, with the part of C above its diagonal as `triangle`, or `data`, in place of
/// `C`. Without all of these, as for separating sets, there are no correlations.
fn open(state: &List, token: &Token, pool: &Pool) -> Outcome<Robj> {
    let found = Found::from_list(state)?;
    let flat = found.flat(pool)?;
    let p = flat.p();
    // SAFETY: the arrays belong to vectors in `state`, which the caller keeps as long as the result of this function.
    let flat = unsafe { std::mem::transmute::<Flat<'_>, Flat<'static>>(flat) };
    let cells = |name: &str| -> Option<&'static [f64]> {
        let cells = state.optional(name)?.as_real_slice()?;
        // SAFETY: as above.
        Some(unsafe { std::slice::from_raw_parts(cells.as_ptr(), cells.len()) })
    };
    let of = match (cells("C"), cells("triangle"), cells("data")) {
        (Some(c), ..) => Correlations::Matrix(c),
        (_, Some(triangle), _) => Correlations::Triangle(triangle),
        (.., Some(data)) => Correlations::Data(data, data.len() / p),
        _ => Correlations::None,
    };
    let n = if matches!(of, Correlations::None) { 1.0 } else { state.number("n")? };
    let reading = if flat.is_fast() { Reading::StableFast } else { Reading::GaussCItest };
    let whole = PMax::new(flat, FisherZ::new(n, reading)?, of).ok_or(Failure::Part("C"))?;
    output::held(token, Opened(whole))
}

/// Returns the slot `pMax` of a Gaussian search's result, and fills the slot `sepset` of `object`, which must be fresh. `parts` is the flat
/// result, `list(p, method, edges, sets, gaps)`, and `of` its correlations: the name `C` or `data`, the matrix, and the number of
/// observations. An R that has no lists of this kind gets all `sets`.
pub fn slots(
    token: &Token,
    parts: Vec<(&'static str, Value)>,
    (name, cells, n): (&'static str, &Robj, f64),
    (object, sets): (&Robj, &SepSets),
    pool: &Pool,
) -> Outcome<Robj> {
    let parts = output::named(parts).into_r(token)?;
    let listed = input::list(&parts, "parts")?;
    let mut state: Vec<(&'static str, Value)> = Vec::new();
    for part in ["p", "method", "edges", "sets", "gaps"] {
        state.push((part, listed.field(part)?.clone().into()));
    }
    // SAFETY: on R's thread; `cells` is protected by its Robj.
    let plain = allocate(token, 0, Use::Correlations, || unsafe { pcgpu_lazy_plain(cells.get()) })?;
    state.extend([("n", n.into()), (name, plain.into())]);
    let state = output::named(state).into_r(token)?;
    let opened = open(&input::list(&state, "state")?, token, pool)?;
    if !has_lazy_lists() {
        output::fill_sepsets(token, object, sets)?;
    } else {
        // SAFETY: on R's thread; the objects are protected by their Robj; the closures own nothing.
        output::fill_sepset(token, object, 0, || unsafe { pcgpu_lazy_sepset(parts.get(), opened.get()) })?;
    }
    // SAFETY: as above.
    allocate(token, 0, Use::Square, || unsafe { pcgpu_lazy_p_max(state.get(), opened.get()) })
}

/// Opens a state that was read from a file, or returns NULL if it is damaged.
///
/// # Safety
/// On R's thread; `state` is protected.
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_open(state: SEXP) -> SEXP {
    let run = || {
        let token = Token::new()?;
        let state = Robj::from_sexp(state);
        let opened = open(&input::list(&state, "state").ok()?, &token, &Pool::none()).ok()?;
        Some(opened.get())
    };
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(R_NilValue)
}

/// Returns a cell of `pMax`, by its number in the matrix.
///
/// # Safety
/// On R's thread; `opened` is a protected object of [`open`], and there is a cell with this number.
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_cell(opened: SEXP, at: usize) -> f64 {
    match of(opened) {
        Some(found) => found.get(at % found.flat.p(), at / found.flat.p()),
        None => f64::NAN,
    }
}

/// Fills in all cells of `pMax`. Returns 0, or 1 if there was no memory for the work, or 2 if the user interrupted it.
///
/// # Safety
/// On R's thread; `opened` is a protected object of [`open`]; there are p x p cells.
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_fill(opened: SEXP, cells: *mut f64) -> i32 {
    let run = || {
        let (token, found) = (Token::new()?, of(opened)?);
        let cells = std::slice::from_raw_parts_mut(cells, found.flat.p() * found.flat.p());
        let mut look = |_| match token.wants_to_stop() {
            true => Err(pcgpu_core::Error::Interrupted),
            false => Ok(()),
        };
        Some(found.fill(cells, &Pool::at_most(default_threads()), &mut look))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Some(Ok(()))) => 0,
        Ok(Some(Err(pcgpu_core::Error::Interrupted))) => 2,
        _ => 1,
    }
}

/// Returns the size of `sepset[[x]][[y]]`, counted from 0; -1: NULL. A set of one member is in `single`. A larger one is at `members`, and is
/// the entry `at` of row x.
///
/// # Safety
/// On R's thread; `opened` is a protected object of [`open`], x and y are below p, and the other pointers can be written.
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_set(
    opened: SEXP,
    x: usize,
    y: usize,
    single: *mut i32,
    members: *mut *const i32,
    at: *mut usize,
) -> isize {
    match of(opened).and_then(|found| found.flat.set(x, y)) {
        None => -1,
        Some(Set::Empty) => 0,
        Some(Set::Single(member)) => {
            *single = member;
            1
        }
        Some(Set::Large(set, number)) => {
            (*members, *at) = (set.as_ptr(), number);
            set.len() as isize
        }
    }
}

/// Returns the number of variables.
///
/// # Safety
/// On R's thread; `opened` is a protected object of [`open`].
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_p(opened: SEXP) -> usize {
    of(opened).map_or(0, |found| found.flat.p())
}

/// Returns the number of entries in row x of the separating sets.
///
/// # Safety
/// On R's thread; `opened` is a protected object of [`open`], and x is below p.
#[no_mangle]
pub unsafe extern "C" fn pcgpu_lazy_row(opened: SEXP, x: usize) -> usize {
    of(opened).map_or(0, |found| found.flat.entries_of(x))
}
