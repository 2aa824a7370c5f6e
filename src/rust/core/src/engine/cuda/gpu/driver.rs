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

pub(in crate::engine::cuda) const USE_CPU: &str = "give device = \"cpu\"";

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
            format!("another process has exclusive use of the GPU, or the GPU is not available ({name}, {doing})"),
            format!("try again later, or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_OUT_OF_MEMORY => error(
            DeviceKind::OutOfMemory,
            format!("the GPU is out of memory ({doing})"),
            format!("end other programs that use the GPU, or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION | Code::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => error(
            DeviceKind::OldDriver,
            format!("the NVIDIA driver cannot load kernels for CUDA 12.0 ({name}, {doing})"),
            format!("update the driver to version 525 or newer, or {USE_CPU}"),
        ),
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU | Code::CUDA_ERROR_INVALID_PTX => error(
            DeviceKind::OldDevice,
            format!("the GPU cannot run the kernels of pcgpu ({name}, {doing})"),
            format!("choose a GPU of compute capability 7.5 or newer, or {USE_CPU}"),
        ),
        _ => error(
            DeviceKind::Failed,
            format!("the GPU failed: {name} ({doing})"),
            format!("try again; if it fails repeatedly, {USE_CPU} and report it with the output of pcgpu_info()"),
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
                    format!("update the driver to version 525 or newer, or {USE_CPU}"),
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
            "this machine has no NVIDIA driver (libcuda was not found)",
            format!("install the driver of the GPU, or {USE_CPU}"),
        ));
    }
    let mut version: c_int = 0;
    // SAFETY: writes one integer.
    let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    asked.map_err(|e| failure("reading the driver's version", e))?;
    if version < OLDEST_DRIVER {
        return Err(error(
            DeviceKind::OldDriver,
            format!("the NVIDIA driver supports only CUDA {}.{}", version / 1000, version % 1000 / 10),
            format!("update the driver to version 525 or newer, which supports CUDA 12.0, or {USE_CPU}"),
        ));
    }
    if driver_process() != std::process::id() {
        return Err(error(
            DeviceKind::Forked,
            "this process is a fork of one that used the GPU, and CUDA does not work after a fork",
            "use parallel::makePSOCKcluster() instead of mclapply(), or give device = \"cpu\"",
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
    unsafe { result::device::get_attribute(device, which) }.map_err(|e| failure("reading the GPU's properties", e))
}

/// Returns the compute capability, (major, minor).
pub(in crate::engine::cuda) fn capability(device: sys::CUdevice) -> Result<(i32, i32)> {
    use sys::CUdevice_attribute as Attribute;
    Ok((
        attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ))
}
