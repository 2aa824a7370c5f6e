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
    /// Its number, from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Memory in bytes.
    pub total_memory: u64,
    /// Memory in bytes that no process holds; none where that was not asked for, or the GPU would not say.
    pub free_memory: Option<u64>,
    /// Compute capability, (major, minor).
    pub compute_capability: (i32, i32),
    /// Number of multiprocessors.
    pub processors: i32,
    /// Its place in the machine, domain:bus:device.function, as `lspci -D` shows it; empty where the driver does not know.
    pub pci: String,
    /// What names it in any machine: 32 hexadecimal digits in groups, as `nvidia-smi -L` shows them; empty
    /// where the driver does not know.
    pub uuid: String,
    /// Whether unified memory works on it, see [`MemoryKind`](super::unified::MemoryKind).
    pub unified: bool,
    /// Whether its memory corrects errors.
    pub ecc: bool,
    /// Numbers of the other GPUs whose memory it reads without the host.
    pub peers: Vec<usize>,
    /// The CUDA version that the driver offers, 1000 * major + 10 * minor.
    pub driver_version: i32,
}

/// The GPUs of this machine.
///
/// Free memory is known to a context alone. One costs 0.2 s and some 0.5 GB of the GPU: it is made for a moment where `all` is
/// true, else the free memory of a GPU on which the process has none stays unknown.
///
/// # Errors
/// [`Error::Device`]: no driver, a driver too old, no GPU, or a process that was forked from one with a context.
pub fn devices(all: bool) -> Result<Vec<DeviceInfo>> {
    guarded(|| {
        let driver_version = start()?;
        let count = count()?;
        (0..count).map(|ordinal| describe(ordinal, count, driver_version, all)).collect()
    })
}

/// Whether there is a driver with a GPU, or a failure that says more. Opens nothing.
pub fn may_be_there() -> bool {
    let none =
        |e: &Error| matches!(e, Error::Device(e) if matches!(e.kind, DeviceKind::NoDriver | DeviceKind::NoDevice));
    let found = guarded(|| {
        start()?;
        count()
    });
    found.map_or_else(|e| !none(&e), |count| count > 0)
}

/// Gives back what the process holds on all GPUs: memory, kernels, contexts. A later call makes them anew.
///
/// Does nothing in a process that was forked from the one that made them.
pub fn release() {
    opened::close_all();
}

fn describe(ordinal: usize, count: usize, driver_version: i32, all: bool) -> Result<DeviceInfo> {
    use sys::CUdevice_attribute as Attribute;
    let asking = |e| failure("asking for the GPU's properties", e);
    let get = |ordinal| result::device::get(ordinal as c_int).map_err(asking);
    let device = get(ordinal)?;
    let reads = |other: &usize| *other != ordinal && get(*other).is_ok_and(|other| can_read(device, other));
    // A GPU that another process has to itself is listed, too.
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

/// Whether a GPU reads another's memory by itself.
fn can_read(device: sys::CUdevice, other: sys::CUdevice) -> bool {
    let mut can: c_int = 0;
    // SAFETY: writes one integer; the devices came from `cuDeviceGet`.
    unsafe { sys::cuDeviceCanAccessPeer(&mut can, device, other) }.result().is_ok() && can != 0
}

/// Whether this process has a context on the GPU, ours or another package's.
fn has_context(device: sys::CUdevice) -> bool {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: writes two integers; the device came from `cuDeviceGet`.
    let asked = unsafe { sys::cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) }.result();
    asked.is_ok() && active != 0
}

fn free_memory(device: sys::CUdevice) -> std::result::Result<u64, DriverError> {
    // SAFETY: what is retained here is released here, and was made current by nobody else.
    unsafe {
        let context = result::primary_ctx::retain(device)?;
        let free = result::ctx::set_current(context).and_then(|()| result::mem_get_info()).map(|(free, _)| free as u64);
        result::primary_ctx::release(device)?;
        free
    }
}

fn pci(device: sys::CUdevice) -> std::result::Result<String, DriverError> {
    // Thirteen characters and a zero at least, as the driver's manual has it.
    let mut text = [0u8; 32];
    // SAFETY: writes no more than it has room for; the device came from `cuDeviceGet`.
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
