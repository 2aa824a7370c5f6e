//! How work is handed out to machines that work at the same time: every unit is done once, whoever is lost or slow.
//!
//! A machine has a [`seat`]. The [`queue`] cuts work into pieces by the seats' [`pace`], gives late pieces to a second seat, and takes back
//! the pieces of a lost one. [`local`] runs pieces on threads of this process; `cluster` sends them to ranks.
//! Work that has to stay where its data are is cut into [`shares`].

pub(super) mod local;
pub(super) mod pace;
pub(super) mod queue;
pub(super) mod seat;
pub(super) mod shares;
