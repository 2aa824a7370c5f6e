//! Reasons why a call has no answer. `respond.rs` turns them into what R raises.

use extendr_api::prelude::*;
use pcgpu_core::flat::Unreadable;
use pcgpu_core::Error;

/// Reason why a call has no answer.
#[derive(Debug)]
pub enum Failure {
    /// An error of the core.
    Core(Error),
    /// An error of R, as a condition.
    Condition(Robj),
    /// The part of a result that is not as a search made it.
    Part(&'static str),
    /// An R object that is not what the R side promised.
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
    /// Converts the failure for the core. Any reason that is not the core's own becomes [`Error::Interrupted`].
    pub fn into_core(self) -> Error {
        match self {
            Failure::Core(error) => error,
            _ => Error::Interrupted,
        }
    }
}

/// Result of the boundary.
pub type Outcome<T> = std::result::Result<T, Failure>;
