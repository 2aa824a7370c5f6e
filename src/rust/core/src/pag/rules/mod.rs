//! The orientation rules R1 to R10 for partial ancestral graphs, one function each.
//!
//! Source: Zhang 2008, "On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection
//! bias", Artificial Intelligence 172.
//!
//! Like pcalg, each rule lists its edges before it changes the first mark, and reads the current marks when it visits an edge. If rules
//! contradict each other, the answer depends on this. Each application of a rule removes a circle and none adds one, so repetition ends.

mod arrowheads;
mod directed;
mod discriminating;
mod tails;

pub(super) use arrowheads::{rule1, rule2, rule3};
pub(super) use directed::{rule10, rule8, rule9};
pub(super) use discriminating::{orient_at, rule4, Discriminated, Told};
pub(super) use tails::{rule5, rule6, rule7};
