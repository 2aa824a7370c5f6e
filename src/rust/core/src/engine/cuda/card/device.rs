//! The cards of this machine.

use std::ffi::c_int;

use cudarc::driver::result;

use super::driver::{capability, count, failure, guarded, start};
use super::opened;
use crate::{DeviceKind, Error, Result};

/// A card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Memory in bytes.
    pub total_memory: u64,
    /// Memory in bytes that no process holds; 0 where the card would not say.
    pub free_memory: u64,
    /// Compute capability, (major, minor).
    pub compute_capability: (i32, i32),
    /// The CUDA version that the driver offers, 1000 * major + 10 * minor.
    pub driver_version: i32,
}

/// The cards of this machine.
///
/// Makes no context where the process has none on the card: free memory is then asked for through a short-lived one.
///
/// # Errors
/// [`Error::Device`]: no driver, a driver too old, no card, or a process that was forked from one with a context.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    guarded(|| {
        let driver_version = start()?;
        (0..count()?).map(|ordinal| describe(ordinal, driver_version)).collect()
    })
}

/// Whether there is a driver with a card, or a failure that says more. Opens nothing.
pub fn may_be_there() -> bool {
    let none =
        |e: &Error| matches!(e, Error::Device(e) if matches!(e.kind, DeviceKind::NoDriver | DeviceKind::NoDevice));
    let found = guarded(|| {
        start()?;
        count()
    });
    found.map_or_else(|e| !none(&e), |count| count > 0)
}

/// Gives back what the process holds on all cards: memory, kernels, contexts. A later call makes them anew.
///
/// Does nothing in a process that was forked from the one that made them.
pub fn release() {
    opened::close_all();
}

fn describe(ordinal: usize, driver_version: i32) -> Result<DeviceInfo> {
    let doing = "asking for the card's properties";
    let device = result::device::get(ordinal as c_int).map_err(|e| failure(doing, e))?;
    let name = result::device::get_name(device).map_err(|e| failure(doing, e))?;
    // SAFETY: the device came from `cuDeviceGet`.
    let total = unsafe { result::device::total_mem(device) }.map_err(|e| failure(doing, e))?;
    // Free memory takes a context. A card that another process has to itself is still listed.
    // SAFETY: what is retained here is released here, and was made current by nobody else.
    let free = unsafe {
        result::primary_ctx::retain(device).and_then(|context| {
            let free = result::ctx::set_current(context).and_then(|()| result::mem_get_info()).map(|(free, _)| free);
            result::primary_ctx::release(device)?;
            free
        })
    };
    Ok(DeviceInfo {
        ordinal,
        name,
        total_memory: total as u64,
        free_memory: free.unwrap_or(0) as u64,
        compute_capability: capability(device)?,
        driver_version,
    })
}
