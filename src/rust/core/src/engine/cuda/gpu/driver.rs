//! NVIDIA's driver: starts it and explains its errors. It is loaded at run time, so that the package also loads on a machine without a driver.

use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::OnceLock;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::error::{DeviceError, DeviceKind};
use crate::{Error, Result};

/// The oldest driver interface that loads our kernels: PTX 8.0 came with CUDA 12.0.
pub const OLDEST_DRIVER: i32 = 12_000;

/// Returns the process that called this first, before its `cuInit`. Unlike `Gpus::pid` of `opened` this never changes: a driver started before a
/// fork is of no use after it, with contexts or without.
pub(in crate::engine::cuda) fn driver_process() -> u32 {
    static PROCESS: OnceLock<u32> = OnceLock::new();
    *PROCESS.get_or_init(std::process::id)
}

/// Returns an error about a device, with advice.
pub(in crate::engine::cuda) fn error(kind: DeviceKind, message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::Device(DeviceError { kind, message: message.into(), hint: hint.into() })
}

pub(in crate::engine::cuda) const USE_CPU: &str = "give device = \"cpu\" (device = \"auto\" does so by itself)";

/// Translates a failed call of the driver into an error; `doing` says what was being done.
pub(in crate::engine::cuda) fn failure(doing: &str, e: DriverError) -> Error {
    use sys::CUresult as Code;
    let name = e.error_name().map_or_else(|_| format!("error {}", e.0 as u32), |n| n.to_string_lossy().into_owned());
    match e.0 {
        Code::CUDA_ERROR_NO_DEVICE => {
            error(DeviceKind::NoDevice, "the NVIDIA driver finds no GPU".to_string(), USE_CPU)
        }
        Code::CUDA_ERROR_DEVICE_UNAVAILABLE | Code::CUDA_ERROR_DEVICE_NOT_LICENSED => error(
            DeviceKind::Busy,
            format!("the GPU is in exclusive use by another process or not available ({name}, {doing})"),
            format!("try again once it is free, choose another GPU (device = \"cuda:1\"), or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_OUT_OF_MEMORY => error(
            DeviceKind::OutOfMemory,
            format!("the GPU is out of memory ({doing})"),
            format!("end other programs on it, choose another GPU (device = \"cuda:1\"), or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION | Code::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => error(
            DeviceKind::OldDriver,
            format!("the NVIDIA driver does not load kernels made for CUDA 12.0 ({name}, {doing})"),
            format!("update it to version 525 or newer, or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU | Code::CUDA_ERROR_INVALID_PTX => error(
            DeviceKind::OldDevice,
            format!("the GPU does not run our kernels ({name}, {doing})"),
            format!("a GPU of compute capability 7.5 or newer is needed; {USE_CPU}"),
        ),
        _ => error(
            DeviceKind::Failed,
            format!("the GPU failed: {name} ({doing})"),
            format!("try again; if it comes back, {USE_CPU} and report it with pcgpu_info()"),
        ),
    }
}

/// Runs calls of the driver, and turns a panic of cudarc into an error. cudarc panics if the library lacks a function.
pub(in crate::engine::cuda) fn guarded<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            match text {
                Some(text) if text.contains("symbol") => Err(error(
                    DeviceKind::OldDriver,
                    format!("the NVIDIA driver lacks a function of CUDA 12.0 ({text})"),
                    format!("update it to version 525 or newer, or {USE_CPU}"),
                )),
                _ => std::panic::resume_unwind(panic),
            }
        }
    }
}

/// Loads and starts the driver; returns its version.
pub(in crate::engine::cuda) fn start() -> Result<i32> {
    // SAFETY: asks the system's loader for the driver's library, which is made to be loaded in this way.
    if !unsafe { sys::is_culib_present() } {
        return Err(error(
            DeviceKind::NoDriver,
            "there is no NVIDIA driver on this machine (libcuda was not found)",
            format!("install the driver for the GPU, or {USE_CPU}"),
        ));
    }
    let mut version: c_int = 0;
    // SAFETY: writes one integer.
    let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    asked.map_err(|e| failure("asking for the driver's version", e))?;
    if version < OLDEST_DRIVER {
        return Err(error(
            DeviceKind::OldDriver,
            format!("the NVIDIA driver offers CUDA {}.{}", version / 1000, version % 1000 / 10),
            format!("CUDA 12.0 is needed: update the driver to version 525 or newer, or {USE_CPU}"),
        ));
    }
    if driver_process() != std::process::id() {
        return Err(error(
            DeviceKind::Forked,
            "this process was forked from one that had used the GPU, and CUDA does not survive a fork",
            "use a cluster of fresh processes (parallel::makePSOCKcluster) in place of mclapply, or give device = \"cpu\"",
        ));
    }
    result::init().map_err(|e| failure("starting the driver", e))?;
    Ok(version)
}

/// Returns the number of GPUs.
pub(in crate::engine::cuda) fn count() -> Result<usize> {
    result::device::get_count().map(|count| count.max(0) as usize).map_err(|e| failure("counting the GPUs", e))
}

pub(in crate::engine::cuda) fn attribute(device: sys::CUdevice, which: sys::CUdevice_attribute) -> Result<i32> {
    // SAFETY: the device came from `cuDeviceGet`.
    unsafe { result::device::get_attribute(device, which) }.map_err(|e| failure("asking for the GPU's properties", e))
}

/// Returns the compute capability, (major, minor).
pub(in crate::engine::cuda) fn capability(device: sys::CUdevice) -> Result<(i32, i32)> {
    use sys::CUdevice_attribute as Attribute;
    Ok((
        attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ))
}
