//! The orientation rules R1 to R10 for partial ancestral graphs (Zhang 2008, "On the completeness of orientation rules for causal
//! discovery in the presence of latent confounders and selection bias", Artificial Intelligence 172), each a function of its own.
//!
//! Each rule takes its list of edges before it changes the first mark, and reads marks as they are when it comes to an edge: so does
//! pcalg, and where rules contradict each other the answer depends on it. An application of a rule takes a circle away and none brings one
//! back, so that repeating them ends.

mod arrowheads;
mod directed;
mod discriminating;
mod tails;

pub(super) use arrowheads::{rule1, rule2, rule3};
pub(super) use directed::{rule10, rule8, rule9};
pub(super) use discriminating::{orient_at, rule4, Discriminated, Told};
pub(super) use tails::{rule5, rule6, rule7};
