//! The compiled kernels, and what they are given.

use std::collections::HashMap;
use std::ffi::{c_void, CString};
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{result, sys};

use super::device::failure;
use crate::Result;

/// Source files with their entry points, made by `tools/build-kernels`.
pub(super) const MODULES: &[(&str, &str, &[&str])] = &[
    ("graph", include_str!("../../../kernels/ptx/graph.ptx"), &["mirror", "degrees", "offsets", "items", "fill", "slots", "removal"]),
    ("gauss_marginal", include_str!("../../../kernels/ptx/gauss_marginal.ptx"), &["marginal", "raise_marginal"]),
];

/// The loaded kernels. The driver compiles a module when one of its kernels is first asked for, and caches what it made.
pub(super) struct Kernels {
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    modules: HashMap<&'static str, sys::CUmodule>,
    functions: HashMap<&'static str, Function>,
}

/// A kernel.
#[derive(Clone, Copy)]
pub(super) struct Function(pub sys::CUfunction);

// SAFETY: handles of the driver, valid on every thread to which their context is bound.
unsafe impl Send for Function {}
// SAFETY: as above; they are only ever read.
unsafe impl Sync for Function {}
// SAFETY: as above for modules.
unsafe impl Send for Loaded {}

impl Kernels {
    /// None loaded yet.
    pub fn new() -> Self {
        Kernels { loaded: Mutex::default() }
    }

    /// The kernel of this name, whose dynamic shared memory may be up to `shared_limit` bytes.
    pub fn get(&self, name: &'static str, shared_limit: u32) -> Result<Function> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(name) {
            return Ok(*function);
        }
        let loading = |e| failure("loading the kernels", e);
        for (module, ptx, entries) in MODULES {
            if !entries.contains(&name) {
                continue;
            }
            let handle = match loaded.modules.get(module) {
                Some(handle) => *handle,
                None => {
                    let text = CString::new(*ptx).unwrap_or_default();
                    // SAFETY: the image is PTX and ends with a zero; the driver copies it.
                    let handle = unsafe { result::module::load_data(text.as_ptr().cast::<c_void>()) }.map_err(loading)?;
                    loaded.modules.insert(module, handle);
                    handle
                }
            };
            let entry = CString::new(name).unwrap_or_default();
            // SAFETY: the module was loaded above and is unloaded with the card alone.
            let function = unsafe { result::module::get_function(handle, entry) }.map_err(loading)?;
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function belongs to the module above.
            unsafe { result::function::set_function_attribute(function, attribute, shared_limit as i32) }
                .map_err(loading)?;
            let function = Function(function);
            loaded.functions.insert(name, function);
            return Ok(function);
        }
        Err(failure("looking for a kernel", result::DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)))
    }

    /// Unloads all. The context must be bound to the thread, and nothing may run.
    pub fn unload(&self) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.functions.clear();
        for (_, module) in loaded.modules.drain() {
            // SAFETY: loaded in `get`, and no function of it is left.
            let _ = unsafe { result::module::unload(module) };
        }
    }
}
