//! R's jumps across Rust: stopped on their way through, and resumed once Rust has returned.

use std::ffi::c_void;

use extendr_api::prelude::*;
use extendr_ffi::{R_MakeUnwindCont, R_NilValue, SEXP};

// SEXPREC is opaque: only pointers to it pass.
#[allow(improper_ctypes)]
extern "C" {
    fn pcgpu_stop_jump(fun: unsafe extern "C" fn(*mut c_void) -> SEXP, data: *mut c_void, token: SEXP) -> SEXP;
    fn R_CheckUserInterrupt();
    fn R_ContinueUnwind(token: SEXP) -> !;
}

/// Remembers where R was going when it jumped out of a callback.
pub struct Token {
    sexp: Robj,
    jumped: std::cell::Cell<bool>,
}

impl Token {
    /// A fresh token.
    pub fn new() -> Self {
        // SAFETY: called on R's thread; the Robj protects the token.
        let sexp = unsafe { Robj::from_sexp(R_MakeUnwindCont()) };
        Token { sexp, jumped: std::cell::Cell::new(false) }
    }

    /// Runs `f`, which may call anything in R; `None` when R jumped.
    ///
    /// `f` must own nothing that needs dropping while it calls R: a jump leaves its frame without unwinding it.
    pub fn guard<F: FnMut() -> SEXP>(&self, mut f: F) -> Option<SEXP> {
        unsafe extern "C" fn call<F: FnMut() -> SEXP>(data: *mut c_void) -> SEXP {
            // SAFETY: `data` is the `&mut F` passed below, alive during the call.
            let f = unsafe { &mut *data.cast::<F>() };
            f()
        }
        // SAFETY: on R's thread; `call::<F>` fits `data`; the token is protected by `self.sexp`.
        let value = unsafe { pcgpu_stop_jump(call::<F>, std::ptr::from_mut(&mut f).cast(), self.sexp.get()) };
        if value.is_null() {
            self.jumped.set(true);
            return None;
        }
        Some(value)
    }

    /// Whether R wants to stop: Ctrl-C was pressed, or a time limit is over. R is then on its way to whoever handles that, and
    /// this has it; asked again, the answer stays yes.
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

    /// Itself for R, where R jumped.
    pub fn jump(&self) -> Option<Robj> {
        self.jumped.get().then(|| self.sexp.clone())
    }
}

/// Resumes the jump of a token. Owns nothing, for it does not return.
pub fn continue_unwind(token: Robj) -> Robj {
    // SAFETY: the argument is a .Call argument and so protected by R, beyond the Robj dropped here.
    let sexp = unsafe { token.get() };
    drop(token);
    // SAFETY: a token whose target frame, further out than this call, is still on R's stack.
    unsafe { R_ContinueUnwind(sexp) }
}
