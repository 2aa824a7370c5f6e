//! Graphs as the search needs them: adjacency, separating sets, subsets and their ranks.

mod adjacency;
mod chordal;
mod ranked;
mod sepsets;
pub mod subsets;
mod tiers;

pub use adjacency::Adjacency;
pub(crate) use adjacency::{bits, BITS};
pub(crate) use chordal::is_chordal;
pub use ranked::Ranked;
pub use sepsets::{SepSetLog, SepSets, Separations, Side, Singles};
pub use tiers::Tiers;
