//! How far a graph can be trusted: how many of its edges chance may have made, whether data agree with what it implies, and what sets it
//! apart from another.

mod comparison;
mod false_discovery;
mod graph;
mod markov;

pub use comparison::{compare, Comparison};
pub use false_discovery::{q_values, Correction};
pub use graph::Graph;
pub use markov::{dependences, independences, Extension, Given, Implied};
