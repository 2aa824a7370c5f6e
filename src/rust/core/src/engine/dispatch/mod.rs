//! Distribution of work to machines that work at the same time. Every unit is done once, even if machines are lost or slow.
//!
//! Each machine has a [`seat`]. The [`queue`] cuts work into pieces by the seats' [`pace`]. It gives late pieces to a second seat, and
//! takes back the pieces of a lost one. [`local`] runs pieces on threads of this process; `cluster` sends them to ranks. Work that must
//! stay with its data is cut into [`shares`].

pub(super) mod follow;
pub(super) mod local;
pub(super) mod pace;
pub(super) mod queue;
pub(super) mod seat;
pub(super) mod shares;
