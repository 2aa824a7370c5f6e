//! Partial ancestral graphs (PAGs): causal knowledge if some variables are not measured, or samples are selected.
//!
//! The submodules:
//!
//! * `marks`: the graph; `rules`: R1 to R10, one function each; `paths`: the paths that they need.
//! * `orient`: from a skeleton to a PAG (pcalg's `udag2pag()`); `jci`: context variables; `context`: what all of these share.
//! * `reach`: the candidates of the possible-d-sep phase, which is a search: `search::possible_d_sep`.
//! * `rfci`: colliders and rules that check edges by tests (`rfci()`); `fci_plus`: `fciPlus()`.

mod context;
mod fci_plus;
mod jci;
mod marks;
mod orient;
mod paths;
mod reach;
mod rfci;
mod rules;

pub use context::{shown_rules, Paths, Say, Unclear};
pub use fci_plus::{fci_plus, Plus};
pub use jci::{Assumptions, Jci};
pub use marks::{Mark, Pag};
pub use orient::{orient, orient_marked, Options};
pub use reach::possible_d_sep;
pub use rfci::{rfci, Asked, Rfci};
