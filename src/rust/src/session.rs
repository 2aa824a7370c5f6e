//! Calls back into R while the core runs. They always come from R's own thread, and never jump across Rust frames.

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

// SEXPREC is opaque: only pointers to it are passed.
#[allow(improper_ctypes)]
extern "C" {
    // Parts of R's API that extendr-ffi lacks.
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

/// Calls an R function. Returns `None` if R jumped. The value is unprotected: read it at once.
fn call(token: &Token, fun: &Robj, arguments: &[Value]) -> Option<SEXP> {
    // SAFETY: the function is protected by its Robj. All that is made here is protected until the call holds it.
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

/// Calls an R function, and returns its value protected and expanded.
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
    /// Number of tests that had no answer.
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
        // SAFETY: it is read at once, before anything can be collected.
        unsafe {
            let whole = |v: c_int| if v == c_int::MIN { f64::NAN } else { f64::from(v) };
            if Rf_xlength(value) != 1 {
                return Err(failed());
            }
            // Elements are read one by one, because reading a compact vector as a whole would allocate it.
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

/// An observer that reports to R's callbacks and polls for Ctrl-C.
pub struct RObserver<'a> {
    pub token: &'a Token,
    callbacks: Callbacks,
    /// The limits that end preparations with an error.
    limits: Limits,
    /// The check that the matrix must pass.
    check: Option<&'a Check<'a>>,
    edges: f64,
    /// Number of tests of the level that were asked one at a time.
    tests: f64,
    began: Instant,
    /// Whether preparations were reported.
    prepared: bool,
    reported: Instant,
    looked: Instant,
}

/// R functions to which a search reports; see R/search-verbose.R and R/search-progress.R.
#[derive(Clone, Default)]
pub struct Callbacks {
    /// `progress(level, done, total, edges, tests)`; level -1 means preparations.
    pub progress: Option<Robj>,
    /// `level(level, edges)`.
    pub level: Option<Robj>,
    /// `visit(number, visits)`.
    pub visit: Option<Robj>,
    /// `test(x, y, S, p)`.
    pub test: Option<Robj>,
    /// `resumed(levels, within)`, called when a search continues from a checkpoint.
    pub resumed: Option<Robj>,
    /// `phase(edges, most)`, called when the possible-d-sep phase of FCI begins, with its largest number of tests.
    pub phase: Option<Robj>,
    /// `say(text)`: what pcalg prints about a phase, or about the marks of a graph.
    pub say: Option<Robj>,
}

/// Time between two reports.
const REPORT: Duration = Duration::from_millis(100);

/// Longest time of preparations that are not reported.
const UNTOLD: Duration = Duration::from_secs(1);

/// The level under which preparations are reported.
const PREPARATIONS: f64 = -1.0;

/// Time between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> RObserver<'a> {
    /// Makes an observer with these callbacks.
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

    /// Adds the search's time limit. With a checkpoint it adds none: the file's contents are worth more than the time, so the file is read
    /// first, and the driver ends the search.
    pub fn within(mut self, limits: &Limits) -> Self {
        if limits.checkpoint.is_none() {
            self.limits = limits.clone();
        }
        self
    }

    /// Adds a check of the search's matrix. The search ends soon after the check is known to fail.
    pub fn checking(mut self, check: Option<&'a Check<'a>>) -> Self {
        self.check = check;
        self
    }

    /// Returns the check of the search's matrix, if it runs during the search.
    pub fn check(&self) -> Option<&'a Check<'a>> {
        self.check
    }

    /// Returns an error if the matrix is known to fail its check, because the search's result is then not needed.
    fn end_if_refused(&self) -> Result<()> {
        match self.check {
            Some(check) if check.is_refused() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// Makes an observer that only polls for Ctrl-C.
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
        // The test is printed as any other.
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

/// Returns a function that passes a text to R's `say`, if the callbacks have one.
pub fn sayer<'a>(token: &'a Token, callbacks: &'a Callbacks) -> Option<impl Fn(&str) -> Result<()> + 'a> {
    callbacks.say.as_ref().map(|fun| move |text: &str| say(token, fun, text))
}

/// Calls R's `test(x, y, S, p)`.
pub fn asked(token: &Token, fun: &Robj, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
    let arguments = [Value::Index(x), Value::Index(y), Value::Set(s), Value::Real(p)];
    call(token, fun, &arguments).map(|_| ()).ok_or(Error::Interrupted)
}

/// Calls R's `send(rank, message)`, with ranks from 1.
pub fn send(token: &Token, fun: &Robj, rank: usize, message: &[u8]) -> Result<()> {
    call(token, fun, &[Value::Index(rank), Value::Bytes(message)]).map(|_| ()).ok_or(Error::Interrupted)
}

/// Calls R's `fun(number)`, and returns its value.
pub fn ask(token: &Token, fun: &Robj, number: f64) -> Result<Robj> {
    kept(token, fun, &[Value::Real(number)])
}

/// Passes an event of the orientation to R's `event(kind, vertices, p)`: the kind as text, vertices from 1.
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

/// Returns a permutation of 0 .. k-1 from R's random numbers.
pub fn permutation(token: &Token, fun: &Robj, k: usize) -> Result<Vec<u32>> {
    let value = kept(token, fun, &[Value::Real(k as f64)])?;
    let drawn = value.as_integer_slice().map(|s| s.iter().map(|&v| (v - 1) as u32).collect::<Vec<u32>>());
    match drawn {
        Some(order) if order.len() == k && order.iter().all(|&v| (v as usize) < k) => Ok(order),
        _ => Err(Error::Argument {
            argument: "permutation",
            value: "not a permutation".into(),
            hint: format!("return a permutation such as sample.int({k})"),
        }),
    }
}
