//! Shared code of the tests: recorded answers, random problems, plain reference implementations.

pub mod answer;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
pub mod cuda;
pub mod discrete;
pub mod fci;
pub mod frames;
pub mod golden;
pub mod kept;
pub mod micd;
pub mod mixed;
pub mod orient;
pub mod pairs;
pub mod patience;
pub mod problems;
pub mod ranks;
pub mod reference;
pub mod selection;
pub mod steps;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
pub mod ways;
