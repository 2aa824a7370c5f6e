//! R's jumps across Rust: they are stopped on their way, and resumed once Rust has returned.
//!
//! Every call of R that can end in a jump (an allocation, an evaluation, the expansion of a compact vector) runs in [`Token::guard`] or
//! [`attempt`]. A jump across Rust frames would leak what these hold, including locks. `src/rust/clippy.toml` names what must not be called
//! elsewhere.

use std::ffi::c_void;

use extendr_api::prelude::*;
use extendr_ffi::{R_MakeUnwindCont, R_NilValue, SEXP};

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    fn pcgpu_stop_jump(fun: unsafe extern "C" fn(*mut c_void) -> SEXP, data: *mut c_void, token: SEXP) -> SEXP;
    fn pcgpu_spare_token() -> SEXP;
    fn pcgpu_spare_answer() -> SEXP;
    fn R_CheckUserInterrupt();
    fn R_ContinueUnwind(token: SEXP) -> !;
    fn R_tryCatchError(
        body: unsafe extern "C" fn(*mut c_void) -> SEXP,
        data: *mut c_void,
        handler: unsafe extern "C" fn(SEXP, *mut c_void) -> SEXP,
        failed: *mut c_void,
    ) -> SEXP;
}

/// A token that remembers the target of R's jump out of a callback.
pub struct Token {
    sexp: Robj,
    jumped: std::cell::Cell<bool>,
}

/// Runs the `F` at `data`.
///
/// # Safety
/// `data` is an `&mut F`, alive during the call.
unsafe extern "C" fn call<F: FnMut() -> SEXP>(data: *mut c_void) -> SEXP {
    (*data.cast::<F>())()
}

/// Runs `f`, which may call anything in R. Returns `None` if R jumped.
///
/// # Safety
/// On R's thread; `token` is a protected token. `f` must own nothing that needs dropping while it calls R: a jump leaves its frame without
/// unwinding it.
unsafe fn stop_jump<F: FnMut() -> SEXP>(token: SEXP, mut f: F) -> Option<SEXP> {
    let value = pcgpu_stop_jump(call::<F>, std::ptr::from_mut(&mut f).cast(), token);
    (!value.is_null()).then_some(value)
}

/// Runs `f`, which allocates in R and evaluates nothing. Returns `None` if R jumped for lack of memory; the jump ends here. It does not use
/// the token of a call, which would forget the target of an earlier jump.
///
/// `f` must own nothing that needs dropping while it calls R.
pub fn attempt<F: FnMut() -> SEXP>(f: F) -> Option<SEXP> {
    // SAFETY: on R's thread; R keeps the spare token; the caller guarantees the rest.
    unsafe { stop_jump(pcgpu_spare_token(), f) }
}

/// Returns the answer of a call for which R has no memory. It was made when the library was loaded.
pub fn spare_answer() -> Robj {
    // SAFETY: R keeps it.
    unsafe { Robj::from_sexp(pcgpu_spare_answer()) }
}

impl Token {
    /// Makes a fresh token, or returns `None` if R has no memory for it.
    pub fn new() -> Option<Self> {
        // SAFETY: called on R's thread; the Robj protects the token that is made.
        let sexp = unsafe { Robj::from_sexp(attempt(|| R_MakeUnwindCont())?) };
        Some(Token { sexp, jumped: std::cell::Cell::new(false) })
    }

    /// Runs `f`, which may call anything in R. Returns `None` if R jumped; [`Token::jump`] helps to resume the jump. After a jump, nothing
    /// runs any more.
    ///
    /// `f` must own nothing that needs dropping while it calls R: a jump leaves its frame without unwinding it.
    pub fn guard<F: FnMut() -> SEXP>(&self, f: F) -> Option<SEXP> {
        if self.jumped.get() {
            return None;
        }
        // SAFETY: on R's thread; the token is protected by `self.sexp`; the caller guarantees the rest.
        let value = unsafe { stop_jump(self.sexp.get(), f) };
        if value.is_none() {
            self.jumped.set(true);
        }
        value
    }

    /// Works as [`Token::guard`], with R's error as a condition; it takes R some microseconds more. `Err(None)` means that R jumped without
    /// an error, as for Ctrl-C.
    pub fn caught<F: FnMut() -> SEXP>(&self, mut f: F) -> Result<SEXP, Option<Robj>> {
        unsafe extern "C" fn note(condition: SEXP, failed: *mut c_void) -> SEXP {
            *failed.cast::<bool>() = true;
            condition
        }
        let mut failed = false;
        let (data, flag) = (std::ptr::from_mut(&mut f).cast(), std::ptr::from_mut(&mut failed).cast());
        // SAFETY: `call` and `note` fit what is passed with them; nothing in here needs dropping.
        match self.guard(|| unsafe { R_tryCatchError(call::<F>, data, note, flag) }) {
            // SAFETY: the condition that R has just handed over.
            Some(condition) if failed => Err(Some(unsafe { Robj::from_sexp(condition) })),
            value => value.ok_or(None),
        }
    }

    /// Returns whether R wants to stop because Ctrl-C was pressed or a time limit has passed. R is then jumping to the handler, and this
    /// token stores the jump. Later calls also return true.
    pub fn wants_to_stop(&self) -> bool {
        // SAFETY: on R's thread; the closure owns nothing.
        self.jumped.get()
            || self
                .guard(|| unsafe {
                    R_CheckUserInterrupt();
                    R_NilValue
                })
                .is_none()
    }

    /// Returns the token as an R object if R jumped.
    pub fn jump(&self) -> Option<Robj> {
        self.jumped.get().then(|| self.sexp.clone())
    }
}

/// Resumes a jump of R that was stopped on its way through Rust.
/// @noRd
#[extendr]
fn rust_continue_unwind(token: Robj) -> Robj {
    // This function owns nothing, because it does not return.
    // SAFETY: the argument is a .Call argument and so protected by R, beyond the Robj dropped here.
    let sexp = unsafe { token.get() };
    drop(token);
    // SAFETY: the token's target frame, further out than this call, is still on R's stack.
    unsafe { R_ContinueUnwind(sexp) }
}

extendr_module! {
    mod token;
    fn rust_continue_unwind;
}
