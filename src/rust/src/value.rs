//! The values that a function returns to R, and the one place that builds R objects from them. R may jump out of any allocation (no
//! memory). So the tree is built inside a guard, from values that Rust still owns.

// All calls of these functions are in a guard.
#![allow(clippy::disallowed_methods)]

use extendr_api::prelude::*;
use extendr_ffi::{
    cetype_t, R_NamesSymbol, R_NilValue, Rf_ScalarInteger, Rf_allocVector, Rf_mkCharLenCE, Rf_protect, Rf_setAttrib,
    Rf_unprotect, INTEGER, LOGICAL, RAW, REAL, SET_STRING_ELT, SET_VECTOR_ELT, SEXP, SEXPTYPE,
};
pub use pcgpu_core::flat::na;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::Error;

use crate::failure::Outcome;
use crate::token::{self, Token};

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    // Parts of R's API that extendr-ffi lacks.
    fn Rf_ScalarLogical(value: i32) -> SEXP;
    fn Rf_ScalarReal(value: f64) -> SEXP;
}

/// Number of bytes from which R's own error is caught, so that it is not printed.
const LARGE: usize = 1 << 20;

/// Runs `make`, which allocates this many bytes in R, and protects what it returns.
pub fn allocate(token: &Token, bytes: usize, why: Use, make: impl FnMut() -> SEXP) -> Outcome<Robj> {
    memory::room(bytes, why)?;
    let made = match bytes {
        LARGE.. => token.caught(make).map_err(|condition| match condition {
            Some(_) => why.error(bytes),
            None => Error::Interrupted,
        })?,
        _ => token::attempt(make).ok_or_else(|| why.error(bytes))?,
    };
    // SAFETY: the object was just made on R's thread.
    Ok(unsafe { Robj::from_sexp(made) })
}

/// A value for R.
#[derive(Debug)]
pub enum Value {
    /// NULL.
    Null,
    /// An existing R object.
    Object(Robj),
    Flag(bool),
    Flags(Vec<bool>),
    Integer(i32),
    Integers(Vec<i32>),
    Number(f64),
    Numbers(Vec<f64>),
    Text(String),
    Texts(Vec<String>),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// A list with names.
    Named(Vec<(&'static str, Value)>),
}

impl Value {
    /// Converts the value to an R object.
    pub fn into_r(self, token: &Token) -> Outcome<Robj> {
        if let Value::Object(object) = self {
            return Ok(object);
        }
        // SAFETY: on R's thread; the closure borrows the tree and owns nothing.
        allocate(token, self.bytes(), Use::Other, || unsafe { build(&self) })
    }

    /// Returns the number of bytes that R allocates for it, except headers.
    fn bytes(&self) -> usize {
        match self {
            Value::Flags(values) => 4 * values.len(),
            Value::Integers(values) => 4 * values.len(),
            Value::Numbers(values) => 8 * values.len(),
            Value::Texts(values) => values.iter().map(|text| 64 + text.len()).sum(),
            Value::Text(text) => text.len(),
            Value::Bytes(values) => values.len(),
            Value::List(values) => values.iter().map(|value| 64 + value.bytes()).sum(),
            Value::Named(values) => values.iter().map(|(_, value)| 64 + value.bytes()).sum(),
            _ => 0,
        }
    }
}

/// # Safety
/// On R's thread, inside a guard.
pub unsafe fn vector<T, U>(
    kind: SEXPTYPE,
    values: &[T],
    cells: unsafe extern "C" fn(SEXP) -> *mut U,
    cell: impl Fn(&T) -> U,
) -> SEXP {
    let made = Rf_allocVector(kind, values.len() as isize);
    let to = cells(made);
    for (at, value) in values.iter().enumerate() {
        *to.add(at) = cell(value);
    }
    made
}

/// Makes a list, or a vector of texts. `put` makes an entry and puts it in its place.
///
/// # Safety
/// The conditions of [`vector`].
pub unsafe fn filled<T>(
    kind: SEXPTYPE,
    values: impl ExactSizeIterator<Item = T>,
    put: impl Fn(SEXP, isize, T),
) -> SEXP {
    let made = Rf_protect(Rf_allocVector(kind, values.len() as isize));
    for (at, value) in values.enumerate() {
        put(made, at as isize, value);
    }
    Rf_unprotect(1);
    made
}

/// # Safety
/// The conditions of [`vector`].
pub unsafe fn texts<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> SEXP {
    let string = |text: &str| Rf_mkCharLenCE(text.as_ptr().cast(), text.len() as i32, cetype_t::CE_UTF8);
    filled(SEXPTYPE::STRSXP, values, |made, at, text| SET_STRING_ELT(made, at, string(text)))
}

/// # Safety
/// The conditions of [`vector`].
unsafe fn list<'a>(values: impl ExactSizeIterator<Item = &'a Value>) -> SEXP {
    filled(SEXPTYPE::VECSXP, values, |made, at, value| {
        SET_VECTOR_ELT(made, at, build(value));
    })
}

/// # Safety
/// The conditions of [`vector`].
unsafe fn build(value: &Value) -> SEXP {
    match value {
        Value::Null => R_NilValue,
        Value::Object(object) => object.get(),
        Value::Flag(flag) => Rf_ScalarLogical(i32::from(*flag)),
        Value::Flags(values) => vector(SEXPTYPE::LGLSXP, values, LOGICAL, |&flag| i32::from(flag)),
        Value::Integer(number) => Rf_ScalarInteger(*number),
        Value::Integers(values) => vector(SEXPTYPE::INTSXP, values, INTEGER, |&number| number),
        Value::Number(number) => Rf_ScalarReal(*number),
        Value::Numbers(values) => vector(SEXPTYPE::REALSXP, values, REAL, |&number| number),
        Value::Text(text) => texts([text.as_str()].into_iter()),
        Value::Texts(values) => texts(values.iter().map(String::as_str)),
        Value::Bytes(values) => vector(SEXPTYPE::RAWSXP, values, RAW, |&byte| byte),
        Value::List(values) => list(values.iter()),
        Value::Named(values) => {
            let made = Rf_protect(list(values.iter().map(|(_, value)| value)));
            let names = Rf_protect(texts(values.iter().map(|(name, _)| *name)));
            Rf_setAttrib(made, R_NamesSymbol, names);
            Rf_unprotect(2);
            made
        }
    }
}

macro_rules! values {
    ($($kind:ident: $from:ty),*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Value::$kind(value)
            }
        })*
    };
}
values!(
    Object: Robj, Flag: bool, Flags: Vec<bool>, Integer: i32, Integers: Vec<i32>, Number: f64, Numbers: Vec<f64>, Text: String,
    Texts: Vec<String>, Bytes: Vec<u8>, List: Vec<Value>
);

impl From<()> for Value {
    fn from((): ()) -> Self {
        Value::Null
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

/// Converts numbers to R, with `None` as NA.
impl From<Vec<Option<f64>>> for Value {
    fn from(values: Vec<Option<f64>>) -> Self {
        Value::Numbers(values.into_iter().map(|value| value.unwrap_or(na())).collect())
    }
}

/// Converts an optional value to R, with `None` as NULL.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
