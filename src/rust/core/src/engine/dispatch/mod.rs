//! How work is handed out to machines that work at the same time: every unit is done once, whoever is lost or slow.

pub(super) mod pace;
pub(super) mod pieces;
