//! Conversion of core results to R objects, built once and without copies: p x p lists and matrices are the larger part of a call's work.

// All calls of these functions are in a guard.
#![allow(clippy::disallowed_methods)]

use std::any::Any;

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ClearExternalPtr, R_DimNamesSymbol, R_ExternalPtrAddr, R_MakeExternalPtr, R_NamesSymbol, R_NilValue,
    R_SetExternalPtrAddr, R_do_slot_assign, Rf_allocMatrix, Rf_allocVector, Rf_getAttrib, Rf_install, Rf_ncols,
    Rf_nrows, Rf_protect, Rf_setAttrib, Rf_unprotect, Rf_xlength, INTEGER, REAL, SET_VECTOR_ELT, SEXP, SEXPTYPE,
    STRING_ELT, VECTOR_ELT,
};
use pcgpu_core::graph::SepSets;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::team::{Lost, Share, TeamReport};
use pcgpu_core::Error;

use crate::failure::{Failure, Outcome};
use crate::input;
use crate::respond::respond;
use crate::token::Token;
use crate::value::{allocate, filled, vector as vector_of, Value};

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    // Parts of R's API that extendr-ffi lacks.
    fn R_RegisterCFinalizer(pointer: SEXP, finalise: unsafe extern "C" fn(SEXP));
    fn Rf_installChar(name: SEXP) -> SEXP;
}

/// Returns an R matrix of rows x columns doubles, to be filled in place.
pub fn matrix(token: &Token, rows: usize, columns: usize, why: Use) -> Outcome<Robj> {
    let bytes = rows.saturating_mul(columns).saturating_mul(8);
    // SAFETY: on R's thread.
    let made =
        allocate(token, bytes, why, || unsafe { Rf_allocMatrix(SEXPTYPE::REALSXP, rows as i32, columns as i32) })?;
    Ok(untouched(made))
}

/// Returns an R vector of `len` doubles, to be filled in place.
pub fn doubles(token: &Token, len: usize, why: Use) -> Outcome<Robj> {
    vector(token, SEXPTYPE::REALSXP, len, 8, why)
}

/// Returns an R vector of `len` values of a type, to be filled in place.
pub fn vector(token: &Token, kind: SEXPTYPE, len: usize, bytes_each: usize, why: Use) -> Outcome<Robj> {
    // SAFETY: on R's thread.
    let made = allocate(token, len.saturating_mul(bytes_each), why, || unsafe { Rf_allocVector(kind, len as isize) })?;
    Ok(untouched(made))
}

/// Gives a fresh matrix names of rows and columns; NULL means no names.
pub fn set_dimnames(token: &Token, matrix: &Robj, names: [&Robj; 2]) -> Outcome<()> {
    // SAFETY: on R's thread; the closure owns nothing.
    let [rows, columns] = unsafe { [Rf_nrows(matrix.get()), Rf_ncols(matrix.get())] };
    let fits = |names: &Robj, len: i32| names.is_null() || names.is_string() && names.len() == len as usize;
    if !fits(names[0], rows) || !fits(names[1], columns) {
        return Err(Failure::Input("internal: `names` do not fit".into()));
    }
    if names.iter().any(|names| !names.is_null()) {
        allocate(token, 0, Use::Other, || unsafe {
            let both = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, 2));
            SET_VECTOR_ELT(both, 0, names[0].get());
            SET_VECTOR_ELT(both, 1, names[1].get());
            Rf_setAttrib(matrix.get(), R_DimNamesSymbol, both);
            Rf_unprotect(1);
            both
        })?;
    }
    Ok(())
}

/// Returns an R object that holds a Rust value, and drops it when nothing refers to the object any more.
pub fn held<T: 'static>(token: &Token, value: T) -> Outcome<Robj> {
    unsafe extern "C" fn finalise(pointer: SEXP) {
        let held = R_ExternalPtrAddr(pointer).cast::<Box<dyn Any>>();
        if !held.is_null() {
            R_ClearExternalPtr(pointer);
            drop(Box::from_raw(held));
        }
    }
    // SAFETY: on R's thread; the pointer is empty until all that can fail is done.
    let pointer = allocate(token, 0, Use::Other, || unsafe {
        let pointer = Rf_protect(R_MakeExternalPtr(std::ptr::null_mut(), R_NilValue, R_NilValue));
        R_RegisterCFinalizer(pointer, finalise);
        Rf_unprotect(1);
        pointer
    })?;
    // This is the form that extendr's `ExternalPtr` reads.
    let boxed: Box<Box<dyn Any>> = Box::new(Box::new(value));
    // SAFETY: the finaliser frees it.
    unsafe { R_SetExternalPtrAddr(pointer.get(), Box::into_raw(boxed).cast()) };
    Ok(pointer)
}

/// Puts a vector that nothing has touched yet on large pages if it is large.
pub fn untouched(mut made: Robj) -> Robj {
    fn prefer<T>(cells: &mut [T]) {
        if size_of_val(cells) >= memory::LARGE {
            memory::prefer_large_pages(cells);
        }
    }
    if let Some(cells) = made.as_real_slice_mut() {
        prefer(cells);
    } else if let Some(cells) = made.as_integer_slice_mut() {
        prefer(cells);
    } else if let Some(bytes) = made.as_raw_slice_mut() {
        prefer(bytes);
    }
    made
}

/// Returns an R matrix of rows x columns integers, to be filled in place.
pub fn integer_matrix(token: &Token, rows: usize, columns: usize) -> Outcome<Robj> {
    let bytes = rows.saturating_mul(columns).saturating_mul(4);
    // SAFETY: on R's thread.
    let made = allocate(token, bytes, Use::Codes, || unsafe {
        Rf_allocMatrix(SEXPTYPE::INTSXP, rows as i32, columns as i32)
    })?;
    Ok(untouched(made))
}

/// # Safety
/// The conditions of [`vector_of`].
unsafe fn integers(values: &[u32]) -> SEXP {
    vector_of(SEXPTYPE::INTSXP, values, INTEGER, |&v| v as i32 + 1)
}

/// Returns a list of vectors.
fn lists<T>(token: &Token, lists: &[Vec<T>], bytes_each: usize, vector: impl Fn(&[T]) -> SEXP) -> Outcome<Robj> {
    let bytes = lists.iter().map(|list| 64 + bytes_each * list.len()).sum();
    // SAFETY: on R's thread; nothing in here needs dropping.
    allocate(token, bytes, Use::Pairs, || unsafe {
        filled(SEXPTYPE::VECSXP, lists.iter(), |outer, at, list| {
            SET_VECTOR_ELT(outer, at, vector(list));
        })
    })
}

/// Returns a list of integer vectors, shifted to count from 1.
pub fn vertex_lists(token: &Token, edges: &[Vec<u32>]) -> Outcome<Robj> {
    // SAFETY: called in the guard of `lists`.
    lists(token, edges, 4, |list| unsafe { integers(list) })
}

/// Returns a list of double vectors.
pub fn mark_lists(token: &Token, marks: &[Vec<u8>]) -> Outcome<Robj> {
    // SAFETY: as in `vertex_lists`.
    lists(token, marks, 8, |list| unsafe { vector_of(SEXPTYPE::REALSXP, list, REAL, |&mark| f64::from(mark)) })
}

/// Returns pcalg's list of p lists of p. All empty sets are one shared object, and so are equal sets of one variable, because there may be
/// millions. R copies such an object before it changes it.
pub fn sepsets(token: &Token, sets: &SepSets) -> Outcome<Robj> {
    // SAFETY: on R's thread; nothing in there needs dropping.
    allocate(token, bytes_of_sepsets(sets), Use::Square, || unsafe { make_sepsets(sets) })
}

fn bytes_of_sepsets(sets: &SepSets) -> usize {
    sets.p().saturating_mul(sets.p()).saturating_mul(8)
}

/// # Safety
/// On R's thread, where R may jump. `shared` and `outer` are protected, and hold all that is made.
unsafe fn make_sepsets(sets: &SepSets) -> SEXP {
    let p = sets.p();
    let shared = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, p as isize + 1));
    let empty = Rf_allocVector(SEXPTYPE::INTSXP, 0);
    SET_VECTOR_ELT(shared, p as isize, empty);
    let single = |v: u32| {
        let known = extendr_ffi::VECTOR_ELT(shared, v as isize);
        if known != R_NilValue {
            return known;
        }
        let made = integers(&[v]);
        SET_VECTOR_ELT(shared, v as isize, made);
        made
    };
    let outer = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, p as isize));
    for x in 0..p {
        let row = Rf_allocVector(SEXPTYPE::VECSXP, p as isize);
        SET_VECTOR_ELT(outer, x as isize, row);
        sets.empty_in_row(x).for_each(|y| unsafe {
            SET_VECTOR_ELT(row, y as isize, empty);
        });
        sets.each_listed(x, |y, set| unsafe {
            let entry = match *set {
                [] => empty,
                [v] => single(v),
                _ => integers(set),
            };
            SET_VECTOR_ELT(row, y as isize, entry);
        });
    }
    Rf_unprotect(2);
    outer
}

fn check_object(object: &Robj) -> Outcome<()> {
    // From R 4.4 on, SEXPTYPE has another name for it.
    if object.rtype() == Rtype::S4 {
        Ok(())
    } else {
        Err(Failure::Input("internal: `object` does not have slots".into()))
    }
}

/// Fills slots of an S4 object that nothing else refers to yet.
pub fn fill_slots(token: &Token, object: &Robj, slots: &List) -> Outcome<Value> {
    check_object(object)?;
    // SAFETY: the arguments are protected; the closure owns nothing.
    let filled = token.guard(|| unsafe {
        let names = Rf_protect(Rf_getAttrib(slots.get(), R_NamesSymbol));
        for at in 0..Rf_xlength(names) {
            R_do_slot_assign(object.get(), Rf_installChar(STRING_ELT(names, at)), VECTOR_ELT(slots.get(), at));
        }
        Rf_unprotect(1);
        object.get()
    });
    filled.map(|_| object.clone().into()).ok_or(Failure::Core(Error::Interrupted))
}

/// Puts [`sepsets`] into the slot `sepset` of a fresh object.
pub fn fill_sepsets(token: &Token, object: &Robj, sets: &SepSets) -> Outcome<()> {
    // SAFETY: as in `fill_slots`.
    fill_sepset(token, object, bytes_of_sepsets(sets), || unsafe { make_sepsets(sets) })
}

/// Puts a list of lists, for which `make` allocates this many bytes, into the slot `sepset` of a fresh object. R searches a value for cycles
/// if something refers to it, which takes longer than making the value. So the slot gets it first.
pub fn fill_sepset(token: &Token, object: &Robj, bytes: usize, mut make: impl FnMut() -> SEXP) -> Outcome<()> {
    check_object(object)?;
    // SAFETY: as in `fill_slots`; the list is protected until the object holds it.
    allocate(token, bytes, Use::Square, || unsafe {
        let list = Rf_protect(make());
        R_do_slot_assign(object.get(), Rf_install(c"sepset".as_ptr()), list);
        Rf_unprotect(1);
        object.get()
    })?;
    Ok(())
}

/// Returns what machines did, as parallel vectors, or NULL if there is no report.
pub fn shares(team: &TeamReport) -> Value {
    if team.shares.is_empty() {
        return ().into();
    }
    let numbers = |number: &dyn Fn(&Share) -> f64| Value::from(team.shares.iter().map(number).collect::<Vec<f64>>());
    named(vec![
        ("machine", Value::from(team.shares.iter().map(|share| share.machine.clone()).collect::<Vec<String>>())),
        (
            "level",
            Value::from(team.shares.iter().map(|share| share.level.map(|level| level as f64)).collect::<Vec<_>>()),
        ),
        ("shards", numbers(&|share| share.shards as f64)),
        ("rows", numbers(&|share| share.rows as f64)),
        ("to", numbers(&|share| share.moved.to as f64)),
        ("from", numbers(&|share| share.moved.from as f64)),
        ("busy", numbers(&|share| share.busy)),
        ("elapsed", numbers(&|share| share.elapsed)),
    ])
}

/// Returns the machines that failed, and why.
pub fn lost(lost: &[Lost]) -> Value {
    let texts = |text: &dyn Fn(&Lost) -> String| Value::from(lost.iter().map(text).collect::<Vec<String>>());
    named(vec![
        ("machine", texts(&|lost| lost.machine.clone())),
        ("reason", texts(&|lost| lost.reason.clone())),
        ("failed", Value::from(lost.iter().map(|lost| lost.failed).collect::<Vec<bool>>())),
    ])
}

/// Returns a named list.
pub fn named(entries: Vec<(&'static str, Value)>) -> Value {
    Value::Named(entries)
}

/// Returns as doubles numbers that are too large for R's integers.
pub fn counts(values: &[u64]) -> Value {
    Value::from(values.iter().map(|&v| v as f64).collect::<Vec<f64>>())
}

/// Returns the cells of a fresh R matrix of doubles.
pub fn cells(matrix: &mut Robj) -> Outcome<&mut [f64]> {
    matrix.as_real_slice_mut().ok_or_else(|| Failure::Input("internal: the matrix does not contain numbers".into()))
}

/// Returns the object with these slots filled in place. The object must be fresh.
/// @noRd
#[extendr]
fn rust_fill_slots(object: Robj, slots: Robj) -> Robj {
    // The values only pass through. Those that R keeps in another form stay in it.
    respond([], |token| fill_slots(token, &object, &input::list(&slots, "slots")?))
}

extendr_module! {
    mod output;
    fn rust_fill_slots;
}
