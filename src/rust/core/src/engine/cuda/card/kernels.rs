//! The compiled kernels and their arguments.

use std::collections::HashMap;
use std::ffi::{c_void, CString};
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{result, sys};
use flate2::read::GzDecoder;

use super::driver::failure;
use crate::Result;

/// Threads of a warp.
pub(in crate::engine::cuda) const WARP: u32 = 32;

/// A source file: its name, its gzipped PTX as made by `tools/build-kernels`, its entry points.
type Module = (&'static str, &'static [u8], &'static [&'static str]);

macro_rules! module {
    ($name:literal, $($entry:literal),+ $(,)?) => {
        ($name, include_bytes!(concat!("../../../../kernels/ptx/", $name, ".ptx.gz")), &[$($entry),+])
    };
}

/// All modules.
pub(in crate::engine::cuda) const MODULES: &[Module] = &[
    module!("graph", "mirror", "pick", "degrees", "offsets", "log_offsets", "items", "fill", "slots", "removal"),
    module!("gauss_marginal", "marginal", "raise_marginal"),
    module!("gauss_single", "single", "settle_single", "log_single"),
    module!("gauss_shared_2", "shared_2"),
    module!("gauss_shared_3", "shared_3"),
    module!("gauss_shared_4", "shared_4"),
    module!("gauss_shared_5", "shared_5"),
    module!("gauss_shared_6", "shared_6"),
    module!("gauss_shared_7", "shared_7"),
    module!("gauss_shared_8", "shared_8"),
    module!("gauss_shared_any", "shared_any"),
    module!("gauss_papers", "edge", "set"),
    module!("gauss_settle", "settle"),
    module!("gauss_batch", "batch"),
    module!("discrete_marginal", "dis_planes", "dis_begin", "dis_marginal", "dis_removal"),
    module!("discrete_level", "dis_slots", "dis_items", "dis_close", "dis_count", "dis_planes_count", "dis_edge"),
    module!("discrete_settle", "dis_answer", "dis_settle"),
    module!("discrete_batch", "dis_batch"),
    module!("knn_single", "knn_neighbours_f", "knn_permute_f", "knn_paper_f"),
    module!(
        "knn_planes",
        "knn_permute_p",
        "knn_planes",
        "knn_slots",
        "knn_shared_0",
        "knn_shared_1",
        "knn_shared_2",
        "knn_shared_3",
        "knn_shared_more",
        "knn_slots_0",
        "knn_slots_1",
        "knn_slots_2",
        "knn_slots_3",
        "knn_slots_more"
    ),
    module!(
        "knn_double",
        "knn_neighbours_d",
        "knn_permute_d",
        "knn_sums_d2",
        "knn_sums_d8",
        "knn_sums_d16",
        "knn_sums_d32",
        "knn_sums_d0",
        "knn_paper_d"
    ),
    module!("correlation", "cor_centre", "cor_product", "cor_squares", "cor_finish"),
    module!("selection", "count_8", "count_16", "count_32", "join_16", "join_32", "total_16", "total_32", "modes"),
    module!("selection_large", "slices_16", "slices_32", "count_device"),
];

/// PTX as text; empty, which no driver loads, where the gzip data are broken.
pub(in crate::engine::cuda) fn inflated(ptx: &[u8]) -> String {
    let mut text = String::new();
    match GzDecoder::new(ptx).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}

/// Bytes of a slot: `Slot` of kernels/args.cuh.
pub(in crate::engine::cuda) const SLOT_BYTES: u64 = 48;

/// Doubles that the exact formula works in: `exact_doubles` of kernels/gauss.cuh.
pub(in crate::engine::cuda) fn exact_doubles(size: u64) -> u64 {
    2 * (size + 2) * (size + 2)
}

/// Doubles from the working memory of one exact test to that of the next: `exact_apart` of kernels/gauss.cuh.
pub(in crate::engine::cuda) fn exact_apart(size: u64) -> u64 {
    let bank = match size {
        0..=2 => 1,
        _ if size % 2 == 1 => 8,
        _ => 9,
    };
    exact_doubles(size) + (bank + 16 - exact_doubles(size) % 16) % 16
}

/// The loaded kernels. The driver compiles a module when one of its kernels is first asked for, and caches the result on disk.
pub(in crate::engine::cuda) struct Kernels {
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    modules: HashMap<&'static str, sys::CUmodule>,
    functions: HashMap<&'static str, sys::CUfunction>,
}

// SAFETY: handles of the driver, valid on every thread to which their context is bound.
unsafe impl Send for Loaded {}

impl Kernels {
    /// None loaded yet.
    pub fn new() -> Self {
        Kernels { loaded: Mutex::default() }
    }

    /// The kernel of this name, allowed up to `shared_limit` bytes of dynamic shared memory.
    pub fn get(&self, name: &'static str, shared_limit: u32) -> Result<sys::CUfunction> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(name) {
            return Ok(*function);
        }
        let loading = |e| failure("loading the kernels", e);
        let Some((module, ptx, _)) = MODULES.iter().find(|(_, _, entries)| entries.contains(&name)) else {
            return Err(loading(result::DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)));
        };
        let handle = match loaded.modules.get(module) {
            Some(handle) => *handle,
            None => {
                let text = CString::new(inflated(ptx)).unwrap_or_default();
                // SAFETY: the image is PTX that ends with a zero; the driver copies it.
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
        loaded.functions.insert(name, function);
        Ok(function)
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

#[cfg(test)]
mod tests {

    use super::*;
    use crate::engine::cuda::arguments::{CorrelationArgs, DiscreteArgs, KnnArgs, SearchArgs, SelectionArgs};

    #[test]
    fn every_kernel_is_in_the_ptx_that_drivers_of_cuda_12_load() {
        for (module, ptx, entries) in MODULES {
            let ptx = inflated(ptx);
            assert!(ptx.contains(".version 8.0") && ptx.contains(".target sm_75"), "{module}");
            let starts = ptx.lines().filter_map(|line| line.split(".visible .entry ").nth(1));
            let mut found: Vec<&str> = starts.filter_map(|start| start.split('(').next()).collect();
            let mut wanted = entries.to_vec();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{module}");
            // Each takes one struct, by value, of the size that it has in Rust.
            let size = match *module {
                "correlation" => size_of::<CorrelationArgs>(),
                name if name.starts_with("discrete") => size_of::<DiscreteArgs>(),
                "selection" | "selection_large" => size_of::<SelectionArgs>(),
                "knn_single" | "knn_double" | "knn_planes" => size_of::<KnnArgs>(),
                _ => size_of::<SearchArgs>(),
            };
            for entry in *entries {
                let parameter = format!(".b8 {entry}_param_0[{size}]");
                assert!(
                    ptx.contains(&parameter) && !ptx.contains(&format!("{entry}_param_1")),
                    "{entry}: no {parameter}"
                );
            }
        }
    }
}
