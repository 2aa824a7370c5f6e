//! Graphs as the search needs them: adjacency, separating sets, subsets and their ranks.

mod adjacency;
mod ranked;
mod sepsets;
pub mod subsets;

pub use adjacency::Adjacency;
pub(crate) use adjacency::{bits, BITS};
pub use ranked::Ranked;
pub use sepsets::{SepSetLog, SepSets, Separations, Side, Singles};
