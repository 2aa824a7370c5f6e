//! Shared by the integration tests: pcalg's recorded answers, random problems, a plain reference of pcalg's loops.
#![allow(dead_code)]

pub mod golden;
pub mod mixed;
pub mod problems;
pub mod reference;
