//! Expansion of vectors that R keeps in a compact form, such as `1:n`, before Rust reads them. R allocates at the first access to their
//! values, and may jump. Lists of separating sets in our own form (`lazy`) stay as they are: Rust reads the result behind them.

use std::ffi::c_void;

use extendr_api::prelude::*;
use extendr_ffi::{
    R_ExternalPtrAddr, R_NamesSymbol, R_NilValue, Rf_getAttrib, Rf_xlength, ALTREP, INTEGER, LOGICAL, RAW, REAL, SEXP,
    SEXPTYPE, TYPEOF, VECTOR_ELT,
};
use pcgpu_core::flat::{Flat, PMax};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::Error;

use crate::failure::{Failure, Outcome};
use crate::token::Token;

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    pub fn DATAPTR_RO(x: SEXP) -> *const c_void;
    fn pcgpu_opened_sepset(x: SEXP) -> SEXP;
}

/// A flat result whose arrays belong to an R object that outlives it.
pub struct Opened(pub PMax<'static>);

/// Returns the result that an external pointer to [`Opened`] holds, as `output::held` makes them.
///
/// # Safety
/// On R's thread; `pointer` is protected.
pub unsafe fn opened<'a>(pointer: SEXP) -> Option<&'a PMax<'static>> {
    let held = R_ExternalPtrAddr(pointer).cast::<Box<dyn std::any::Any>>();
    held.as_ref()?.downcast_ref::<Opened>().map(|opened| &opened.0)
}

/// Returns the flat result behind a list of separating sets, if it is one of ours.
pub fn flat_of(sepset: &Robj) -> Option<&Flat<'static>> {
    // SAFETY: on R's thread; the list is protected by its Robj, and holds the pointer.
    unsafe {
        let pointer = pcgpu_opened_sepset(sepset.get());
        (!pointer.is_null()).then(|| opened(pointer)).flatten().map(|found| &found.flat)
    }
}

/// Expands these objects, their list entries and their names.
pub fn expand<const N: usize>(token: &Token, objects: [&Robj; N]) -> Outcome<()> {
    // SAFETY: on R's thread; the objects are protected by their Robj.
    objects.into_iter().try_for_each(|object| unsafe { whole(token, object.get()) })
}

/// # Safety
/// On R's thread; the object is protected.
unsafe fn whole(token: &Token, object: SEXP) -> Outcome<()> {
    if !pcgpu_opened_sepset(object).is_null() {
        return Ok(());
    }
    let kind = TYPEOF(object);
    if ALTREP(object) != 0 {
        let bytes_each = if matches!(kind, SEXPTYPE::INTSXP | SEXPTYPE::LGLSXP) { 4 } else { 8 };
        memory::room((Rf_xlength(object) as usize).saturating_mul(bytes_each), Use::Columns)?;
        // The accessor is the one that reads the object later.
        let made = token.caught(|| {
            match kind {
                SEXPTYPE::INTSXP => drop(INTEGER(object)),
                SEXPTYPE::LGLSXP => drop(LOGICAL(object)),
                SEXPTYPE::REALSXP => drop(REAL(object)),
                SEXPTYPE::RAWSXP => drop(RAW(object)),
                _ => drop(DATAPTR_RO(object)),
            }
            R_NilValue
        });
        made.map_err(|condition| condition.map_or_else(|| Error::Interrupted.into(), Failure::Condition))?;
    }
    if kind == SEXPTYPE::VECSXP {
        let names = Rf_getAttrib(object, R_NamesSymbol);
        if names != R_NilValue {
            whole(token, names)?;
        }
        for at in 0..Rf_xlength(object) {
            let part = VECTOR_ELT(object, at);
            if part != R_NilValue {
                whole(token, part)?;
            }
        }
    }
    Ok(())
}
