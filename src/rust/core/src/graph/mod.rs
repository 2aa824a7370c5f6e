//! Graphs as the search needs them: adjacency, separating sets, subsets and their ranks.

mod adjacency;
mod chordal;
mod ranked;
mod sepsets;
pub mod subsets;

pub use adjacency::Adjacency;
pub(crate) use adjacency::{bits, BITS};
pub(crate) use chordal::is_chordal;
pub use ranked::Ranked;
pub use sepsets::{SepSetLog, SepSets, Separations, Side, Singles};
