//! What every test needs of a card. Each module uses those above it alone.
//!
//! * `driver`: NVIDIA's driver and its errors.
//! * `buffer`: what memory is used for; [`plan`]: the bytes that a run needs of it; [`unified`]: memory of host and card; `memory`:
//!   the memory itself.
//! * `image`: machine code and PTX, unpacked; `kernels`: the loaded kernels. [`about`]: their PTX version.
//! * `opened`: a card that this process has opened. [`device`]: the cards of this machine.
//! * `account`: what was copied, level by level. `held`: a card while something runs on it; `transfer`: copies to a
//!   card and from it, `portions` of which are sent in one go.

pub mod about;
mod account;
pub(super) mod buffer;
pub mod device;
pub(super) mod driver;
pub(super) mod held;
mod image;
pub(super) mod kernels;
pub(super) mod memory;
pub(super) mod opened;
pub mod plan;
pub(super) mod portions;
pub(super) mod transfer;
pub mod unified;
