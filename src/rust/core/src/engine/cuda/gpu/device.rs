//! The GPUs of this machine.

use std::ffi::c_int;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::driver::{attribute, capability, count, failure, guarded, start};
use super::opened;
use crate::{DeviceKind, Error, Result};

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// Name of the GPU.
    pub name: String,
    /// Memory in bytes.
    pub total_memory: u64,
    /// Bytes of memory that no process holds; `None` if not queried, or if the GPU did not report them.
    pub free_memory: Option<u64>,
    /// Compute capability, (major, minor).
    pub compute_capability: (i32, i32),
    /// Number of multiprocessors.
    pub processors: i32,
    /// PCI address, domain:bus:device.function, as in `lspci -D`; empty if the driver does not know it.
    pub pci: String,
    /// Identifier that is the same in any machine: 32 hexadecimal digits in groups, as in `nvidia-smi -L`. Empty if the driver does not know it.
    pub uuid: String,
    /// Whether unified memory works on the GPU; see [`MemoryKind`](super::unified::MemoryKind).
    pub unified: bool,
    /// Whether the GPU's memory corrects errors.
    pub ecc: bool,
    /// Numbers of the other GPUs whose memory this GPU can read without the host.
    pub peers: Vec<usize>,
    /// The CUDA version that the driver supports, 1000 * major + 10 * minor.
    pub driver_version: i32,
}

/// Returns the GPUs of this machine.
///
/// Only a context can query free memory, and making one costs 0.2 s and about 0.5 GB of the GPU. If `all` is true, a context is made for a
/// moment. Otherwise the free memory of a GPU on which this process has no context stays unknown.
///
/// # Errors
/// [`Error::Device`] if there is no driver, the driver is too old, there is no GPU, or the process was forked from one that had started CUDA.
pub fn devices(all: bool) -> Result<Vec<DeviceInfo>> {
    guarded(|| {
        let driver_version = start()?;
        let count = count()?;
        (0..count).map(|ordinal| describe(ordinal, count, driver_version, all)).collect()
    })
}

/// Returns whether there is a driver with a GPU; also true if looking for them fails for another reason than their absence. Opens nothing.
pub fn may_be_there() -> bool {
    let none =
        |e: &Error| matches!(e, Error::Device(e) if matches!(e.kind, DeviceKind::NoDriver | DeviceKind::NoDevice));
    let found = guarded(|| {
        start()?;
        count()
    });
    found.map_or_else(|e| !none(&e), |count| count > 0)
}

/// Frees what the process holds on all GPUs: memory, kernels, contexts. A later call makes them again.
///
/// Does nothing in a process that was forked from the one that made them.
pub fn release() {
    opened::close_all();
}

fn describe(ordinal: usize, count: usize, driver_version: i32, all: bool) -> Result<DeviceInfo> {
    use sys::CUdevice_attribute as Attribute;
    let asking = |e| failure("reading the GPU's properties", e);
    let get = |ordinal| result::device::get(ordinal as c_int).map_err(asking);
    let device = get(ordinal)?;
    let reads = |other: &usize| *other != ordinal && get(*other).is_ok_and(|other| can_read(device, other));
    // A GPU in exclusive use by another process is listed, too.
    let free_memory = if all || has_context(device) { free_memory(device).ok() } else { None };
    Ok(DeviceInfo {
        ordinal,
        name: result::device::get_name(device).map_err(asking)?,
        // SAFETY: the device came from `cuDeviceGet`.
        total_memory: unsafe { result::device::total_mem(device) }.map_err(asking)? as u64,
        free_memory,
        compute_capability: capability(device)?,
        processors: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        pci: pci(device).unwrap_or_default(),
        uuid: uuid(device).unwrap_or_default(),
        unified: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)? != 0,
        ecc: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED)? != 0,
        peers: (0..count).filter(reads).collect(),
        driver_version,
    })
}

/// Returns whether a GPU can read another GPU's memory without the host.
fn can_read(device: sys::CUdevice, other: sys::CUdevice) -> bool {
    let mut can: c_int = 0;
    // SAFETY: writes one integer; the devices came from `cuDeviceGet`.
    unsafe { sys::cuDeviceCanAccessPeer(&mut can, device, other) }.result().is_ok() && can != 0
}

/// Returns whether this process has a context on the GPU, made by us or by another package.
fn has_context(device: sys::CUdevice) -> bool {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: writes two integers; the device came from `cuDeviceGet`.
    let asked = unsafe { sys::cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) }.result();
    asked.is_ok() && active != 0
}

fn free_memory(device: sys::CUdevice) -> std::result::Result<u64, DriverError> {
    // SAFETY: this function releases the context that it retains, and nobody else has made it current.
    unsafe {
        let context = result::primary_ctx::retain(device)?;
        let free = result::ctx::set_current(context).and_then(|()| result::mem_get_info()).map(|(free, _)| free as u64);
        result::primary_ctx::release(device)?;
        free
    }
}

fn pci(device: sys::CUdevice) -> std::result::Result<String, DriverError> {
    // The driver's manual requires at least 13 characters and a zero.
    let mut text = [0u8; 32];
    // SAFETY: the call gets the buffer's length and writes no more; the device came from `cuDeviceGet`.
    unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), text.len() as c_int, device) }.result()?;
    Ok(text.iter().take_while(|&&byte| byte != 0).map(|&byte| char::from(byte).to_ascii_lowercase()).collect())
}

fn uuid(device: sys::CUdevice) -> std::result::Result<String, DriverError> {
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    // SAFETY: writes 16 bytes; the device came from `cuDeviceGet`.
    unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, device) }.result()?;
    let hex = |bytes: &[std::ffi::c_char]| bytes.iter().map(|&byte| format!("{:02x}", byte as u8)).collect::<String>();
    Ok([0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&uuid.bytes[part])).join("-"))
}
