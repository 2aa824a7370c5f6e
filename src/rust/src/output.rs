//! Core results to R objects, built once and without copies: p x p lists and matrices are the larger part of a call.

use extendr_api::prelude::*;
use extendr_ffi::{
    R_NilValue, R_do_slot_assign, Rf_allocMatrix, Rf_allocVector, Rf_protect, Rf_unprotect, INTEGER, RAW, REAL,
    SET_VECTOR_ELT, SEXP, SEXPTYPE,
};
use pcgpu_core::graph::SepSets;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::team::{Lost, Share, TeamReport};
use pcgpu_core::Error;

use crate::failure::{Failure, Outcome};
use crate::token::Token;

/// Runs `make`, which allocates in R, and protects what it returns.
pub fn allocate(token: &Token, make: impl FnMut() -> SEXP) -> Outcome<Robj> {
    match token.guard(make) {
        // SAFETY: the object was just made on R's thread.
        Some(sexp) => Ok(unsafe { Robj::from_sexp(sexp) }),
        None => Err(token.explain(Error::Interrupted)),
    }
}

/// Makes sure of memory for p x p cells of 8 bytes in R.
fn room_for_square(p: usize, why: Use) -> Outcome<()> {
    Ok(memory::room(p.saturating_mul(p).saturating_mul(8), why)?)
}

/// An R matrix of rows x columns doubles to be filled in place.
pub fn matrix(token: &Token, rows: usize, columns: usize, why: Use) -> Outcome<Robj> {
    memory::room(rows.saturating_mul(columns).saturating_mul(8), why)?;
    // SAFETY: on R's thread.
    let made = allocate(token, || unsafe { Rf_allocMatrix(SEXPTYPE::REALSXP, rows as i32, columns as i32) })?;
    Ok(untouched(made))
}

/// A raw vector of these bytes.
pub fn bytes(token: &Token, bytes: &[u8]) -> Outcome<Robj> {
    // SAFETY: on R's thread; the vector is new, and as long as the bytes.
    allocate(token, || unsafe {
        let made = Rf_allocVector(SEXPTYPE::RAWSXP, bytes.len() as isize);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), RAW(made), bytes.len());
        made
    })
}

/// An R vector of so many doubles to be filled in place.
pub fn doubles(token: &Token, len: usize, why: Use) -> Outcome<Robj> {
    memory::room(len.saturating_mul(8), why)?;
    // SAFETY: on R's thread.
    let made = allocate(token, || unsafe { Rf_allocVector(SEXPTYPE::REALSXP, len as isize) })?;
    Ok(untouched(made))
}

/// A vector that nobody has touched, in large pages where it is large.
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

/// An R matrix of rows x columns integers to be filled in place.
pub fn integer_matrix(token: &Token, rows: usize, columns: usize) -> Outcome<Robj> {
    memory::room(rows.saturating_mul(columns).saturating_mul(4), Use::Codes)?;
    // SAFETY: on R's thread.
    let made = allocate(token, || unsafe { Rf_allocMatrix(SEXPTYPE::INTSXP, rows as i32, columns as i32) })?;
    Ok(untouched(made))
}

unsafe fn integers(values: impl ExactSizeIterator<Item = u32>) -> SEXP {
    let vector = Rf_allocVector(SEXPTYPE::INTSXP, values.len() as isize);
    let cells = INTEGER(vector);
    for (i, v) in values.enumerate() {
        *cells.add(i) = v as i32 + 1;
    }
    vector
}

/// A list of integer vectors, shifted to count from 1.
pub fn vertex_lists(token: &Token, lists: &[Vec<u32>]) -> Outcome<Robj> {
    // SAFETY: the outer list is protected while its entries are made; nothing in here needs dropping.
    allocate(token, || unsafe {
        let outer = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, lists.len() as isize));
        for (i, list) in lists.iter().enumerate() {
            SET_VECTOR_ELT(outer, i as isize, integers(list.iter().copied()));
        }
        Rf_unprotect(1);
        outer
    })
}

/// A list of double vectors.
pub fn mark_lists(token: &Token, lists: &[Vec<u8>]) -> Outcome<Robj> {
    // SAFETY: as in `vertex_lists`.
    allocate(token, || unsafe {
        let outer = Rf_protect(Rf_allocVector(SEXPTYPE::VECSXP, lists.len() as isize));
        for (i, list) in lists.iter().enumerate() {
            let vector = Rf_allocVector(SEXPTYPE::REALSXP, list.len() as isize);
            SET_VECTOR_ELT(outer, i as isize, vector);
            for (k, &mark) in list.iter().enumerate() {
                *REAL(vector).add(k) = f64::from(mark);
            }
        }
        Rf_unprotect(1);
        outer
    })
}

/// pcalg's list of p lists of p. Empty sets, and sets of one variable, are one shared object each: there may be millions
/// (R copies such an object before it changes it).
pub fn sepsets(token: &Token, sets: &SepSets) -> Outcome<Robj> {
    room_for_square(sets.p(), Use::Square)?;
    // SAFETY: on R's thread; nothing in there needs dropping.
    allocate(token, || unsafe { make_sepsets(sets) })
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
        let made = integers([v].into_iter());
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
                _ => integers(set.iter().copied()),
            };
            SET_VECTOR_ELT(row, y as isize, entry);
        });
    }
    Rf_unprotect(2);
    outer
}

fn check_object(object: &Robj) -> Outcome<()> {
    // SEXPTYPE names it differently from R 4.4 on.
    if object.rtype() == Rtype::S4 {
        Ok(())
    } else {
        Err(Failure::Input("internal: `object` is no object with slots".into()))
    }
}

/// Puts values into slots of an S4 object that nothing else refers to yet.
pub fn fill_slots(token: &Token, object: &Robj, slots: &List) -> Outcome<Robj> {
    check_object(object)?;
    let filled = slots.iter().map(|(name, value)| (r!(name), value)).collect::<Vec<_>>();
    // SAFETY: the object is protected by its Robj, names and values by theirs; the closure owns nothing.
    allocate(token, || unsafe {
        for (name, value) in &filled {
            R_do_slot_assign(object.get(), name.get(), value.get());
        }
        object.get()
    })
}

/// [`sepsets`] in the slot of that name of a fresh object. R searches a value that something refers to for cycles, which
/// takes longer than to make it: so the slot gets it before anything else does.
pub fn fill_sepsets(token: &Token, object: &Robj, sets: &SepSets) -> Outcome<()> {
    check_object(object)?;
    room_for_square(sets.p(), Use::Square)?;
    let name = r!("sepset");
    // SAFETY: as in `fill_slots`; the list is protected until the object holds it.
    allocate(token, || unsafe {
        let list = Rf_protect(make_sepsets(sets));
        R_do_slot_assign(object.get(), name.get(), list);
        Rf_unprotect(1);
        object.get()
    })?;
    Ok(())
}

/// What machines did, as parallel vectors; NULL where none says anything.
pub fn shares(team: &TeamReport) -> Robj {
    if team.shares.is_empty() {
        return ().into();
    }
    let numbers = |number: &dyn Fn(&Share) -> f64| Robj::from(team.shares.iter().map(number).collect::<Vec<f64>>());
    named(vec![
        ("machine", Robj::from(team.shares.iter().map(|share| share.machine.clone()).collect::<Vec<String>>())),
        (
            "level",
            Robj::from(team.shares.iter().map(|share| share.level.map(|level| level as f64)).collect::<Vec<_>>()),
        ),
        ("shards", numbers(&|share| share.shards as f64)),
        ("rows", numbers(&|share| share.rows as f64)),
        ("to", numbers(&|share| share.moved.to as f64)),
        ("from", numbers(&|share| share.moved.from as f64)),
        ("busy", numbers(&|share| share.busy)),
        ("elapsed", numbers(&|share| share.elapsed)),
    ])
}

/// Those that failed, and why.
pub fn lost(lost: &[Lost]) -> Robj {
    let texts = |text: &dyn Fn(&Lost) -> String| Robj::from(lost.iter().map(text).collect::<Vec<String>>());
    named(vec![
        ("machine", texts(&|lost| lost.machine.clone())),
        ("reason", texts(&|lost| lost.reason.clone())),
        ("failed", Robj::from(lost.iter().map(|lost| lost.failed).collect::<Vec<bool>>())),
    ])
}

/// A named list.
pub fn named(entries: Vec<(&str, Robj)>) -> Robj {
    List::from_pairs(entries).into()
}

/// Numbers too large for R's integers, as doubles.
pub fn counts(values: &[u64]) -> Robj {
    Robj::from(values.iter().map(|&v| v as f64).collect::<Vec<f64>>())
}

/// The cells of a fresh R matrix.
pub fn cells(matrix: &mut Robj) -> Outcome<&mut [f64]> {
    matrix.as_real_slice_mut().ok_or_else(|| Failure::Input("internal: no matrix".into()))
}
