//! Searches around one variable, the target, without the correlations of all pairs.
//!
//! A pass over the columns ([`scan`](crate::moments::scan)) gives the target's correlations with all other variables. Those that the empty
//! set does not separate from it are the candidates. Tests given sets of candidates remove further ones (PC-simple; Bühlmann, Kalisch and
//! Maathuis 2010, Biometrika 97). Correlations of candidates with each other are computed where a test given one variable needs them. From
//! sets of two on, few candidates are left, and their matrix is computed.
//!
//! * `rule`: when Fisher's z separates. `given`: the partial correlations given one variable, and given larger sets.
//! * [`select`]: `pcSelect()` of pcalg, in pcalg's order.
//! * [`neighbours`]: the same with candidates that stay until the end of a level, so that the order of the variables does not matter.
//! * [`weakest`]: the weakest tests of the edges of a graph.

mod given;
mod ordered;
mod rule;
mod stable;
mod weakest;

pub use given::{Correlations, OfColumns, OfMatrix};
pub use ordered::{select, Selected};
pub use rule::Rule;
pub use stable::{neighbours, Neighbours};
pub use weakest::{tests_at, weakest, Weakest};

#[cfg(test)]
mod tests;
