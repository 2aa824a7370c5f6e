//! How far a graph can be trusted: how many of its edges may be due to chance, whether data agree with what it implies, and how it differs
//! from another graph.

mod comparison;
mod false_discovery;
mod graph;
mod markov;

pub use comparison::{compare, Comparison};
pub use false_discovery::{q_values, Correction};
pub use graph::Graph;
pub use markov::{dependences, independences, Extension, Given, Implied};
