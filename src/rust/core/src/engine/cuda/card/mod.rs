//! What every test needs of a card.
//!
//! * [`device`]: the cards, and what a process keeps on one. [`about`]: the PTX version of the kernels.
//! * `held`: a card while something runs on it.
//! * [`plan`]: the bytes that a run needs on a card; `memory`: the memory itself; `transfer`: copies to and from it.
//! * `kernels`: the compiled kernels.

pub mod about;
pub mod device;
pub(super) mod held;
pub(super) mod kernels;
pub(super) mod memory;
pub mod plan;
pub(super) mod transfer;
