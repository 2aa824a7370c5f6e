//! How work is handed out to machines that work at the same time: every unit is done once, whoever is lost or slow.
//!
//! A machine has a [`seat`]. The [`queue`] cuts work into pieces by the seats' [`pace`], gives late pieces to a second seat, and takes back
//! the pieces of a lost one. [`local`] runs pieces on threads of this process; `cluster` sends them to ranks.

pub(super) mod local;
#[allow(dead_code)]
pub(super) mod pace;
pub(super) mod pieces;
// Ranks are the next to use it.
#[allow(dead_code)]
pub(super) mod queue;
pub(super) mod rank_pace;
#[allow(dead_code)]
pub(super) mod seat;
