//! Graphs as the search needs them: adjacency, separating sets, subsets and their ranks.

mod adjacency;
mod sepsets;
pub mod subsets;

pub use adjacency::Adjacency;
pub use sepsets::{SepSetLog, SepSets, Separations, Side, Singles};
