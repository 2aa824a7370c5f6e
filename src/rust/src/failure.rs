//! Failures, as the list that R raises a classed condition from.
//!
//! Nothing goes through extendr's own error path: it hands the message to `Rf_error` as a format, where a `%` is
//! undefined behaviour.

use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use pcgpu_core::{memory, Error};

use crate::token::Token;

/// Why a call has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The core's reason.
    Core(Error),
    /// R is on its way elsewhere (an error, a condition caught further out): resume with `rust_continue_unwind()`.
    Unwind(Robj),
    /// An R object is not what the R side promised.
    Input(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Core(error)
    }
}

/// Result of the boundary.
pub type Outcome<T> = std::result::Result<T, Failure>;

fn one_based(x: usize) -> Robj {
    Robj::from(x as i32 + 1)
}

fn set(s: &[u32]) -> Robj {
    Robj::from(s.iter().map(|&v| v as i32 + 1).collect::<Vec<i32>>())
}

fn describe(class: &str, message: &str, fields: Vec<(&str, Robj)>) -> Robj {
    let mut entries = vec![("class", Robj::from(class)), ("message", Robj::from(message))];
    entries.extend(fields);
    let inner = List::from_pairs(entries);
    List::from_pairs([("error", Robj::from(inner))]).into()
}

impl Failure {
    fn into_list(self) -> Robj {
        match self {
            Failure::Unwind(token) => describe("unwind", "R continues elsewhere", vec![("token", token)]),
            Failure::Input(message) => describe("internal", &message, Vec::new()),
            Failure::Core(error) => {
                let message = error.to_string();
                let (class, fields) = match error {
                    Error::Device(device) => {
                        let class = format!("device_{}", device.kind.name());
                        return describe(
                            &class,
                            &message,
                            vec![("what", Robj::from(device.message)), ("mend", Robj::from(device.mend))],
                        );
                    }
                    Error::File(file) => {
                        let class = format!("file_{}", file.kind.name());
                        let fields = vec![
                            ("path", Robj::from(file.path)),
                            ("what", Robj::from(file.message)),
                            ("mend", Robj::from(file.mend)),
                        ];
                        return describe(&class, &message, fields);
                    }
                    Error::Memory { bytes, available, what, mend } => (
                        "memory",
                        vec![
                            ("bytes", Robj::from(bytes as f64)),
                            ("available", available.map_or_else(|| ().into(), |bytes| Robj::from(bytes as f64))),
                            ("what", Robj::from(what)),
                            ("mend", Robj::from(mend)),
                        ],
                    ),
                    Error::Interrupted => ("interrupt", Vec::new()),
                    Error::Cluster { message, mend } => {
                        ("cluster", vec![("what", Robj::from(message)), ("mend", Robj::from(mend))])
                    }
                    Error::TimeLimit { seconds } => ("time_limit", vec![("seconds", Robj::from(seconds))]),
                    Error::Checkpoint { kind, file, reason, mend } => (
                        "checkpoint",
                        vec![
                            ("reason", Robj::from(kind)),
                            ("file", Robj::from(file)),
                            ("what", Robj::from(reason)),
                            ("mend", Robj::from(mend)),
                        ],
                    ),
                    Error::Argument { argument, value, mend } => (
                        "argument",
                        vec![
                            ("argument", Robj::from(argument)),
                            ("value", Robj::from(value)),
                            ("mend", Robj::from(mend)),
                        ],
                    ),
                    Error::Test { x, y, s } => ("test", vec![("x", one_based(x)), ("y", one_based(y)), ("S", set(&s))]),
                    Error::Numeric { x, y, s, .. } => {
                        ("numeric", vec![("x", one_based(x)), ("y", one_based(y)), ("S", set(&s))])
                    }
                    Error::Overflow { x, y, level, candidates } => (
                        "overflow",
                        vec![
                            ("x", one_based(x)),
                            ("y", one_based(y)),
                            ("level", Robj::from(level as i32)),
                            ("candidates", Robj::from(candidates as i32)),
                        ],
                    ),
                };
                describe(class, &message, fields)
            }
        }
    }
}

/// A device's error, as a failed call has it.
pub fn of_device(error: Error) -> Robj {
    Failure::Core(error).into_list()
}

impl Token {
    /// The failure that resumes R's jump if there was one, else what it is given.
    pub fn explain(&self, error: Error) -> Failure {
        self.jump().map_or(Failure::Core(error), Failure::Unwind)
    }
}

/// Runs a boundary function; a failure, or a panic should there be one, becomes the error list.
pub fn respond(body: impl FnOnce(&Token) -> Outcome<Robj>) -> Robj {
    memory::forget();
    let token = Token::new();
    match catch_unwind(AssertUnwindSafe(|| body(&token))) {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => failure.into_list(),
        Err(panic) => {
            let what = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            describe(
                "internal",
                &format!("a bug in pcgpu: {what}. Please report it with the output of pcgpu_info()"),
                Vec::new(),
            )
        }
    }
}
