//! Why a call has no answer. `respond.rs` makes of it what R raises.

use extendr_api::prelude::*;
use pcgpu_core::flat::Unreadable;
use pcgpu_core::Error;

/// Why a call has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The core's reason.
    Core(Error),
    /// R's error, as a condition.
    Condition(Robj),
    /// This part of a result is not what a search made.
    Part(&'static str),
    /// An R object is not what the R side promised.
    Input(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Core(error)
    }
}

impl From<Unreadable> for Failure {
    fn from(reason: Unreadable) -> Self {
        match reason {
            Unreadable::Part(part) => Failure::Part(part),
            Unreadable::Other(error) => Failure::Core(error),
        }
    }
}

impl Failure {
    /// For the core, which stops at whatever is no reason of its own.
    pub fn into_core(self) -> Error {
        match self {
            Failure::Core(error) => error,
            _ => Error::Interrupted,
        }
    }
}

/// Result of the boundary.
pub type Outcome<T> = std::result::Result<T, Failure>;
