//! Shared by the integration tests: pcalg's recorded answers, random problems, Gaussian and
//! discrete, a plain reference of pcalg's loops.
#![allow(dead_code)]

#[cfg(feature = "cuda")]
pub mod cuda;
pub mod discrete;
pub mod golden;
pub mod mixed;
pub mod problems;
pub mod reference;
