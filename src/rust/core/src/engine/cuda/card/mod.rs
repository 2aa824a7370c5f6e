//! What every test needs of a card. Each module uses those above it alone.
//!
//! * `driver`: NVIDIA's driver and its errors.
//! * `buffer`: what memory is used for; [`plan`]: the bytes that a run needs of it; `memory`: the memory itself.
//! * `kernels`: the compiled kernels. [`about`]: their PTX version.
//! * `opened`: a card that this process has opened. [`device`]: the cards of this machine.
//! * `held`: a card while something runs on it; `transfer`: copies to and from it.

pub mod about;
pub(super) mod buffer;
pub mod device;
pub(super) mod driver;
pub(super) mod held;
pub(super) mod kernels;
pub(super) mod memory;
pub(super) mod opened;
pub mod plan;
pub(super) mod transfer;
