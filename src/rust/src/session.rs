//! Calls back into R while the core runs: always from R's own thread, never with a jump across Rust frames.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use extendr_api::prelude::*;
use extendr_ffi::{
    R_BaseEnv, R_NilValue, Rf_ScalarInteger, Rf_cons, Rf_lcons, Rf_protect, Rf_unprotect, Rf_xlength, INTEGER,
    INTEGER_ELT, LOGICAL_ELT, RAW, REAL_ELT, SEXP, SEXPTYPE, TYPEOF,
};
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::CiTest;
use pcgpu_core::memory::Use;
use pcgpu_core::observer::Observer;
use pcgpu_core::orient::Event;
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::{memory, Error, Result};

use crate::altrep;
use crate::failure::Failure;
use crate::token::Token;
use crate::value::{texts, vector};

// SEXPREC is opaque: only pointers to it pass.
#[allow(improper_ctypes)]
extern "C" {
    // Parts of R's API that extendr-ffi leaves out.
    fn Rf_eval(expression: SEXP, environment: SEXP) -> SEXP;
    fn Rf_ScalarReal(value: f64) -> SEXP;
}

/// An argument of a callback.
enum Value<'a> {
    Index(usize),
    Real(f64),
    Set(&'a [u32]),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Calls an R function. `None` when R jumped. The value is unprotected: read it at once.
fn call(token: &Token, fun: &Robj, arguments: &[Value]) -> Option<SEXP> {
    // SAFETY: the function is protected by its Robj; all that is made here is protected until it hangs in the call.
    token.guard(|| unsafe {
        let mut list = Rf_protect(R_NilValue);
        for argument in arguments.iter().rev() {
            let value = match argument {
                Value::Index(x) => Rf_ScalarInteger(*x as c_int + 1),
                Value::Real(x) => Rf_ScalarReal(*x),
                Value::Text(text) => texts([*text].into_iter()),
                Value::Bytes(bytes) => vector(SEXPTYPE::RAWSXP, bytes, RAW, |&byte| byte),
                Value::Set(s) => vector(SEXPTYPE::INTSXP, s, INTEGER, |&v| v as c_int + 1),
            };
            Rf_protect(value);
            let longer = Rf_cons(value, list);
            Rf_unprotect(2);
            list = Rf_protect(longer);
        }
        let expression = Rf_protect(Rf_lcons(fun.get(), list));
        let value = Rf_eval(expression, R_BaseEnv);
        Rf_unprotect(2);
        value
    })
}

/// Likewise, for a value that is kept.
fn kept(token: &Token, fun: &Robj, arguments: &[Value]) -> Result<Robj> {
    let value = call(token, fun, arguments).ok_or(Error::Interrupted)?;
    // SAFETY: fresh from R; the Robj protects it.
    let value = unsafe { Robj::from_sexp(value) };
    altrep::expand(token, [&value]).map_err(|failure| match failure {
        Failure::Core(error) => error,
        _ => Use::Columns.error(0),
    })?;
    Ok(value)
}

/// A conditional independence test written in R.
pub struct RTest<'a> {
    fun: Robj,
    token: &'a Token,
    /// How many tests had no answer.
    pub unanswered: u64,
}

impl<'a> RTest<'a> {
    pub fn new(fun: &Robj, token: &'a Token) -> Self {
        RTest { fun: fun.clone(), token, unanswered: 0 }
    }
}

impl CiTest for RTest<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let failed = || Error::Test { x, y, s: s.to_vec() };
        let value =
            call(self.token, &self.fun, &[Value::Index(x), Value::Index(y), Value::Set(s)]).ok_or_else(failed)?;
        // SAFETY: read at once, before anything can be collected.
        unsafe {
            let whole = |v: c_int| if v == c_int::MIN { f64::NAN } else { f64::from(v) };
            if Rf_xlength(value) != 1 {
                return Err(failed());
            }
            // By element: of a compact vector, the whole would be allocated.
            let p = match TYPEOF(value) {
                SEXPTYPE::REALSXP => REAL_ELT(value, 0),
                SEXPTYPE::INTSXP => whole(INTEGER_ELT(value, 0)),
                SEXPTYPE::LGLSXP => whole(LOGICAL_ELT(value, 0)),
                _ => return Err(failed()),
            };
            self.unanswered += u64::from(p.is_nan());
            Ok(p)
        }
    }
}

/// Reports to R's callbacks and asks whether Ctrl-C was pressed.
pub struct RObserver<'a> {
    pub token: &'a Token,
    callbacks: Callbacks,
    /// When preparations end in an error.
    limits: Limits,
    /// Which the matrix has to pass.
    check: Option<&'a Check<'a>>,
    edges: f64,
    /// Tests of the level that were asked one at a time.
    tests: f64,
    began: Instant,
    /// Whether preparations were reported.
    prepared: bool,
    reported: Instant,
    looked: Instant,
}

/// R functions that a search reports to; see R/verbose.R and R/progress.R.
#[derive(Clone, Default)]
pub struct Callbacks {
    /// `progress(level, done, total, edges, tests)`; level -1 are preparations.
    pub progress: Option<Robj>,
    /// `level(level, edges)`.
    pub level: Option<Robj>,
    /// `visit(number, visits)`.
    pub visit: Option<Robj>,
    /// `test(x, y, S, p)`.
    pub test: Option<Robj>,
    /// `resumed(levels, within)`, where a search goes on from a checkpoint.
    pub resumed: Option<Robj>,
    /// `phase(edges, most)`, where the possible-d-sep phase of FCI begins, with the number of its tests at most.
    pub phase: Option<Robj>,
    /// `say(text)`: what pcalg prints of a phase, or of the marks of a graph.
    pub say: Option<Robj>,
}

/// Time between two reports.
const REPORT: Duration = Duration::from_millis(100);

/// Preparations that take no longer are not reported.
const UNTOLD: Duration = Duration::from_secs(1);

/// The level that preparations are reported as.
const PREPARATIONS: f64 = -1.0;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> RObserver<'a> {
    /// Observes with these callbacks.
    pub fn new(token: &'a Token, callbacks: Callbacks) -> Self {
        let now = Instant::now();
        let limits = Limits::default();
        RObserver {
            token,
            callbacks,
            limits,
            check: None,
            edges: 0.0,
            tests: 0.0,
            began: now,
            prepared: false,
            reported: now,
            looked: now,
        }
    }

    /// Likewise, within the time that a search has. What is kept in a file is worth more than the time that is left: it is read first, and the
    /// driver ends the search.
    pub fn within(mut self, limits: &Limits) -> Self {
        if limits.checkpoint.is_none() {
            self.limits = limits.clone();
        }
        self
    }

    /// Likewise, and ends a search whose matrix does not pass the check, soon after that is known.
    pub fn checking(mut self, check: Option<&'a Check<'a>>) -> Self {
        self.check = check;
        self
    }

    /// What the search's matrix is checked by, where that runs beside the search.
    pub fn check(&self) -> Option<&'a Check<'a>> {
        self.check
    }

    /// An error where the matrix is known not to pass its check: what the search finds is not asked for then.
    fn end_if_refused(&self) -> Result<()> {
        match self.check {
            Some(check) if check.is_refused() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// Only looks for Ctrl-C.
    pub fn silent(token: &'a Token) -> Self {
        RObserver::new(token, Callbacks::default())
    }

    fn report(&mut self, level: f64, done: f64, total: f64) -> Result<()> {
        self.look()?;
        if let Some(fun) = &self.callbacks.progress {
            if done >= total || self.reported.elapsed() >= REPORT {
                self.reported = Instant::now();
                return self.tell(fun, &[level, done, total, self.edges, self.tests].map(Value::Real));
            }
        }
        Ok(())
    }

    fn tell(&self, fun: &Robj, arguments: &[Value]) -> Result<()> {
        call(self.token, fun, arguments).map(|_| ()).ok_or(Error::Interrupted)
    }
}

impl Observer for RObserver<'_> {
    fn look(&mut self) -> Result<()> {
        memory::check()?;
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            if self.token.wants_to_stop() {
                return Err(Error::Interrupted);
            }
            self.limits.look()?;
        }
        self.end_if_refused()
    }

    fn level(&mut self, level: usize, edges: usize) -> Result<()> {
        self.end_if_refused()?;
        self.edges = edges as f64;
        self.tests = 0.0;
        match &self.callbacks.level {
            Some(fun) => self.tell(fun, &[Value::Real(level as f64), Value::Real(edges as f64)]),
            None => Ok(()),
        }
    }

    fn preparing(&mut self, share: f64) -> Result<()> {
        let ends = share >= 1.0 && self.prepared;
        if ends || share < 1.0 && self.began.elapsed() >= UNTOLD {
            self.prepared = !ends;
            return self.report(PREPARATIONS, share, 1.0);
        }
        self.look()
    }

    fn progress(&mut self, level: usize, done: f64, total: f64) -> Result<()> {
        self.report(level as f64, done, total)
    }

    fn visiting(&mut self, number: usize, visits: usize) -> Result<()> {
        match &self.callbacks.visit {
            Some(fun) => self.tell(fun, &[Value::Real(number as f64), Value::Real(visits as f64)]),
            None => Ok(()),
        }
    }

    fn resumed(&mut self, levels: usize, within: bool) -> Result<()> {
        match &self.callbacks.resumed {
            Some(fun) => self.tell(fun, &[levels as f64, f64::from(u8::from(within))].map(Value::Real)),
            None => Ok(()),
        }
    }

    fn possible_d_sep(&mut self, edges: usize, most_tests: f64) -> Result<()> {
        self.edges = edges as f64;
        self.tests = 0.0;
        match &self.callbacks.phase {
            Some(fun) => self.tell(fun, &[Value::Real(edges as f64), Value::Real(most_tests)]),
            None => Ok(()),
        }
    }

    fn says(&self) -> bool {
        self.callbacks.say.is_some()
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.callbacks.say.as_ref().map_or(Ok(()), |fun| say(self.token, fun, text))
    }

    fn separated(&mut self, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
        // Printed as any other test.
        match &self.callbacks.test {
            Some(fun) => asked(self.token, fun, x, y, s, p),
            None => Ok(()),
        }
    }

    fn tested(&mut self, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
        self.look()?;
        self.tests += 1.0;
        match &self.callbacks.test {
            Some(fun) => self.tell(fun, &[Value::Index(x), Value::Index(y), Value::Set(s), Value::Real(p)]),
            None => Ok(()),
        }
    }
}

/// Calls R's `say(text)`.
fn say(token: &Token, fun: &Robj, text: &str) -> Result<()> {
    call(token, fun, &[Value::Text(text)]).map(|_| ()).ok_or(Error::Interrupted)
}

/// What says a text to R, where the callbacks have `say`.
pub fn sayer<'a>(token: &'a Token, callbacks: &'a Callbacks) -> Option<impl Fn(&str) -> Result<()> + 'a> {
    callbacks.say.as_ref().map(|fun| move |text: &str| say(token, fun, text))
}

/// Calls R's `test(x, y, S, p)`.
pub fn asked(token: &Token, fun: &Robj, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
    let arguments = [Value::Index(x), Value::Index(y), Value::Set(s), Value::Real(p)];
    call(token, fun, &arguments).map(|_| ()).ok_or(Error::Interrupted)
}

/// Calls R's `send(rank, message)`, ranks from 1.
pub fn send(token: &Token, fun: &Robj, rank: usize, message: &[u8]) -> Result<()> {
    call(token, fun, &[Value::Index(rank), Value::Bytes(message)]).map(|_| ()).ok_or(Error::Interrupted)
}

/// Calls R's `fun(number)`, for its value.
pub fn ask(token: &Token, fun: &Robj, number: f64) -> Result<Robj> {
    kept(token, fun, &[Value::Real(number)])
}

/// Hands an event of the orientation to R's `event(kind, vertices, p)`: the kind as text, vertices from 1.
pub fn event(token: &Token, fun: &Robj, event: &Event) -> Result<()> {
    let one_of = |name: &'static str, other: &'static str, is_other: bool| if is_other { other } else { name };
    let mut vertices = Vec::new();
    let mut p_value = f64::NAN;
    let kind = match *event {
        Event::Triple { triple, sepset } => {
            vertices.extend(triple);
            vertices.extend(sepset.unwrap_or(&[]));
            one_of("triple", "triple without", sepset.is_none())
        }
        Event::Asked { of_c, s, p } => {
            vertices.extend(s);
            p_value = f64::from_bits(p);
            one_of("a", "c", of_c)
        }
        Event::Ambiguous => "ambiguous",
        Event::Rule1 { on, conflict } => {
            vertices.extend(on);
            one_of("rule1", "rule1 conflict", conflict)
        }
        Event::Rule2 { on, conflict } => {
            vertices.extend(on);
            one_of("rule2", "rule2 conflict", conflict)
        }
        Event::Rule3 { on, conflict } => {
            vertices.extend(on);
            one_of("rule3", "rule3 conflict", conflict)
        }
    };
    let arguments = [Value::Text(kind), Value::Set(&vertices), Value::Real(p_value)];
    call(token, fun, &arguments).map(|_| ()).ok_or(Error::Interrupted)
}

/// A permutation of 0 .. k-1 from R's random numbers.
pub fn permutation(token: &Token, fun: &Robj, k: usize) -> Result<Vec<u32>> {
    let value = kept(token, fun, &[Value::Real(k as f64)])?;
    let drawn = value.as_integer_slice().map(|s| s.iter().map(|&v| (v - 1) as u32).collect::<Vec<u32>>());
    match drawn {
        Some(order) if order.len() == k && order.iter().all(|&v| (v as usize) < k) => Ok(order),
        _ => Err(Error::Argument {
            argument: "permutation",
            value: "no permutation".into(),
            hint: format!("sample.int({k}) is needed"),
        }),
    }
}
