//! The result of a function that R calls: its value, or a list that describes a failure. From the list, R raises a classed condition.
//!
//! Nothing goes through extendr's own error path. It passes the message to `Rf_error` as a format, and a `%` in it is undefined behaviour.

use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use pcgpu_core::{memory, Error};

use crate::altrep;
use crate::failure::{Failure, Outcome};
use crate::token::{self, Token};
use crate::value::Value;

fn one_based(x: usize) -> Value {
    Value::from(x as i32 + 1)
}

fn set(s: &[u32]) -> Value {
    Value::from(s.iter().map(|&v| v as i32 + 1).collect::<Vec<i32>>())
}

fn describe(class: &str, message: &str, fields: Vec<(&'static str, Value)>) -> Value {
    let mut entries = vec![("class", Value::from(class)), ("message", Value::from(message))];
    entries.extend(fields);
    Value::Named(vec![("error", Value::Named(entries))])
}

impl Failure {
    fn into_list(self) -> Value {
        match self {
            Failure::Condition(condition) => describe("condition", "R's error", vec![("condition", condition.into())]),
            Failure::Part(part) => {
                describe("internal", &format!("internal: `{part}` differs from what a search returns"), Vec::new())
            }
            Failure::Input(message) => describe("internal", &message, Vec::new()),
            Failure::Core(error) => {
                let message = error.to_string();
                let (class, fields) = match error {
                    Error::Device(device) => {
                        let class = format!("device_{}", device.kind.name());
                        return describe(
                            &class,
                            &message,
                            vec![("what", Value::from(device.message)), ("hint", Value::from(device.hint))],
                        );
                    }
                    Error::File(file) => {
                        let class = format!("file_{}", file.kind.name());
                        let fields = vec![
                            ("path", Value::from(file.path)),
                            ("what", Value::from(file.message)),
                            ("hint", Value::from(file.hint)),
                        ];
                        return describe(&class, &message, fields);
                    }
                    Error::Memory { bytes, available, what, hint } => (
                        "memory",
                        vec![
                            ("bytes", Value::from(bytes as f64)),
                            ("available", available.map(|bytes| bytes as f64).into()),
                            ("what", Value::from(what)),
                            ("hint", Value::from(hint)),
                        ],
                    ),
                    Error::Interrupted => ("interrupt", Vec::new()),
                    Error::Cluster { message, hint } => {
                        ("cluster", vec![("what", Value::from(message)), ("hint", Value::from(hint))])
                    }
                    Error::TimeLimit { seconds } => ("time_limit", vec![("seconds", Value::from(seconds))]),
                    Error::Checkpoint { kind, file, reason, hint } => (
                        "checkpoint",
                        vec![
                            ("reason", Value::from(kind)),
                            ("file", Value::from(file)),
                            ("what", Value::from(reason)),
                            ("hint", Value::from(hint)),
                        ],
                    ),
                    Error::Argument { argument, value, hint } => (
                        "argument",
                        vec![
                            ("argument", Value::from(argument)),
                            ("value", Value::from(value)),
                            ("hint", Value::from(hint)),
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
                            ("level", Value::from(level as i32)),
                            ("candidates", Value::from(candidates as i32)),
                        ],
                    ),
                };
                describe(class, &message, fields)
            }
        }
    }
}

/// Returns a device's error in the form in which a failed call returns it.
pub fn of_device(error: Error) -> Value {
    Failure::Core(error).into_list()
}

/// Runs a boundary function on these arguments. A failure, or a panic if there is one, becomes the error list.
pub fn respond<const N: usize>(arguments: [&Robj; N], body: impl FnOnce(&Token) -> Outcome<Value>) -> Robj {
    memory::forget();
    let Some(token) = Token::new() else { return token::spare_answer() };
    let run = || {
        altrep::expand(&token, arguments)?;
        body(&token)?.into_r(&token)
    };
    let failed = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(answer)) => return answer,
        // Whatever the result, R is jumping elsewhere. `rust_continue_unwind()` resumes the jump.
        Ok(Err(failure)) => match token.jump() {
            Some(jump) => describe("unwind", "R continues elsewhere", vec![("token", jump.into())]),
            None => failure.into_list(),
        },
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
    };
    failed.into_r(&token).unwrap_or_else(|_| token::spare_answer())
}
