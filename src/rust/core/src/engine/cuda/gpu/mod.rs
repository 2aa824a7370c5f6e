//! What every test needs of a GPU. Each module uses those above it alone.
//!
//! * `driver`: NVIDIA's driver and its errors.
//! * `buffer`: what memory is used for; [`plan`]: the bytes that a run needs of it; [`unified`]: memory of host and GPU; `memory`:
//!   the memory itself.
//! * `image`: machine code and PTX, unpacked; `kernels`: the loaded kernels. [`about`]: their PTX version.
//! * `opened`: a GPU that this process has opened. [`device`]: the GPUs of this machine.
//! * `account`: what was copied, level by level. `held`: a GPU while something runs on it; `transfer`: copies to a
//!   GPU and from it, `portions` of which are sent in one go.

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
