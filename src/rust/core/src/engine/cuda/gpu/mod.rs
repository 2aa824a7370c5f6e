//! What every test uses on a GPU. Each module uses only modules above its own in this list.
//!
//! * `driver`: NVIDIA's driver and its errors.
//! * `buffer`: the uses of device memory. [`plan`]: the bytes that a run needs for each use. [`unified`]: memory that host and GPU share.
//!   `memory`: the memory itself.
//! * `image`: machine code and PTX, unpacked. `kernels`: the loaded kernels. [`about`]: their PTX version.
//! * `opened`: a GPU that this process has opened. [`device`]: the GPUs of this machine.
//! * `account`: what was copied, level by level. `held`: a GPU while something runs on it. `transfer`: copies to and from a GPU, which sends
//!   `portions` in one call.

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
