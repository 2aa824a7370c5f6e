//! Graphs as the search needs them: adjacency, separating sets, subsets and their ranks. For directed edges: `marks`, `closure` (Meek's
//! rules), `cpdag`, `essential` (pcalg's `dag2cpdag`). `blocks` finds biconnected components.

mod adjacency;
mod blocks;
mod chordal;
mod closure;
mod cpdag;
mod cycles;
mod essential;
mod marks;
mod packed;
mod ranked;
mod sepsets;
pub mod subsets;
mod tiers;

pub(crate) use adjacency::{bits, no_bits, BITS};
pub use adjacency::{Adjacency, Form, Half, Row};
pub(crate) use blocks::each_block;
pub(crate) use chordal::is_chordal;
pub(crate) use closure::Closure;
pub(crate) use cpdag::{components_are_chordal, has_cycle, is_cpdag};
pub(crate) use cycles::arrows_on_cycles;
pub(crate) use essential::{essential_graph, topological_order};
pub(crate) use marks::Marks;
pub(crate) use packed::Packed;
pub use ranked::Ranked;
pub use sepsets::{SepSetLog, SepSets, Separations, Side, Singles};
pub use tiers::Tiers;
