//! The compiled kernels and their arguments.

use std::collections::HashMap;
use std::ffi::{c_void, CString};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{result, sys};

use super::driver::failure;
use super::image;
use crate::engine::cuda::arguments::{
    CorrelationArgs, DiscreteArgs, FeaturesArgs, KnnArgs, MixedArgs, ScreenArgs, SearchArgs, SelectionArgs, SliceArgs,
    SweepArgs,
};
use crate::Result;

pub(in crate::engine::cuda) use crate::engine::cuda::arguments::WARP;

/// A source file of kernels.
pub(in crate::engine::cuda) struct Module {
    pub name: &'static str,
    /// PTX and machine code, both packed by `tools/build-kernels`. Machine code is empty in a build without it.
    pub ptx: &'static [u8],
    pub cubin: &'static [u8],
    /// Names of the module's kernels.
    pub entries: &'static [&'static str],
    /// Size in bytes of the kernels' argument struct.
    #[cfg(test)]
    argument: usize,
}

/// A kernel that takes one `A`. With any other struct it would read invalid addresses.
pub(in crate::engine::cuda) struct Kernel<A> {
    name: &'static str,
    takes: PhantomData<fn(&A)>,
}

impl<A> Clone for Kernel<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Kernel<A> {}

/// A kernel with the shape of its grid.
pub(in crate::engine::cuda) struct Launch<A> {
    pub kernel: Kernel<A>,
    /// Blocks in the grid, (x, y).
    pub blocks: (u32, u32),
    /// Threads per block.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u64,
}

impl<A> Kernel<A> {
    /// Returns the kernel's name in the sources.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns a launch of this kernel: a grid of `blocks` (x, y), with `threads` threads and `shared` bytes of dynamic shared memory per block.
    pub fn on(self, blocks: (u32, u32), threads: u32, shared: u64) -> Launch<A> {
        Launch { kernel: self, blocks, threads, shared }
    }
}

#[cfg(feature = "machine-code")]
macro_rules! machine_code {
    ($file:literal) => {
        include_bytes!(concat!("../../../../kernels/ptx/", $file, ".cubin.lzma"))
    };
}
#[cfg(not(feature = "machine-code"))]
macro_rules! machine_code {
    ($file:literal) => {
        &[]
    };
}

/// Defines the modules: file, type of the argument, kernels.
macro_rules! modules {
    ($($file:literal $argument:ty: $($entry:ident)+;)+) => {
        /// All modules.
        pub(in crate::engine::cuda) const MODULES: &[Module] = &[$(Module {
            name: $file,
            ptx: include_bytes!(concat!("../../../../kernels/ptx/", $file, ".ptx.lzma")),
            cubin: machine_code!($file),
            entries: &[$(stringify!($entry)),+],
            #[cfg(test)]
            argument: size_of::<$argument>(),
        }),+];

        // Named as in the kernels' sources, so that a text search finds them.
        $(#[allow(non_upper_case_globals)]
        impl Kernel<$argument> {
            $(pub const $entry: Self = Kernel { name: stringify!($entry), takes: PhantomData };)+
        })+
    };
}

modules! {
    "search/graph" SearchArgs: mirror pick rank_words rank_rows rank_values degrees count_open list_open
        offsets log_offsets items fill removal;
    "gauss/marginal" SearchArgs: marginal raise_marginal check_cells;
    "gauss/single" SearchArgs: single settle_single count_single log_single log_tiles;
    "gauss/columns" SearchArgs: column_near column_first column_second;
    "gauss/masks" SearchArgs: mask_begin mask_tiles mask_rest;
    "gauss/slices" SliceArgs: slice_singles slice_symmetry slice_begin slice_tests slice_pack slice_place slice_keep slice_settle;
    "gauss/triangles" SliceArgs: triangle_tests;
    "gauss/shared_2" SearchArgs: shared_2;
    "gauss/shared_3" SearchArgs: shared_3;
    "gauss/shared_4" SearchArgs: shared_4;
    "gauss/shared_5" SearchArgs: shared_5;
    "gauss/shared_6" SearchArgs: shared_6;
    "gauss/shared_7" SearchArgs: shared_7;
    "gauss/shared_8" SearchArgs: shared_8;
    "gauss/shared_any" SearchArgs: shared_any;
    "gauss/wide_2" SearchArgs: wide_2;
    "gauss/wide_3" SearchArgs: wide_3;
    "gauss/wide_4" SearchArgs: wide_4;
    "gauss/wide_5" SearchArgs: wide_5;
    "gauss/wide_6" SearchArgs: wide_6;
    "gauss/wide_7" SearchArgs: wide_7;
    "gauss/wide_8" SearchArgs: wide_8;
    "gauss/cupc" SearchArgs: edge set;
    "gauss/gpucsl" SearchArgs: gpucsl_marginal gpucsl_single gpucsl_sets;
    "gauss/settle" SearchArgs: slots settle settle_sides side_single;
    "gauss/batch" SearchArgs: batch marginal_values;
    "gauss/sweep" SweepArgs: sweep;
    "discrete/marginal" DiscreteArgs: dis_unpack dis_planes dis_begin dis_marginal dis_removal;
    "discrete/level" DiscreteArgs: dis_items dis_close dis_count dis_planes_count dis_edge;
    "discrete/gpupc" DiscreteArgs: dis_gpupc_marginal dis_gpupc;
    "discrete/settle" DiscreteArgs: dis_slots dis_answer dis_settle;
    "discrete/batch" DiscreteArgs: dis_batch;
    "knn/single" KnnArgs: knn_neighbours_f knn_draw knn_vote knn_permute_f knn_paper_f knn_paper_long_f;
    "knn/planes" KnnArgs: knn_draw_p knn_permute_p knn_planes knn_slots knn_shared_0 knn_shared_1 knn_shared_2 knn_shared_3
        knn_shared_more knn_slots_0 knn_slots_1 knn_slots_2 knn_slots_3 knn_slots_more;
    "knn/double" KnnArgs: knn_neighbours_d knn_permute_d knn_sums_d2 knn_sums_d8 knn_sums_d16 knn_sums_d32 knn_sums_d0
        knn_paper_d knn_paper_long_d;
    "mixed/cells" MixedArgs: mixed_cells;
    "features/given" FeaturesArgs: features_given features_products features_factor features_orthogonal features_share;
    "features/sides" FeaturesArgs: features_joint features_cross features_subtract features_squares;
    "features/tests" FeaturesArgs: features_tests;
    "gauss/correlation" CorrelationArgs: cor_centre cor_product cor_squares cor_finish cor_norms cor_panel cor_pairs
        cor_blocks cor_spread;
    "gauss/screen" ScreenArgs: screen_halves screen screened_marginal;
    "selection/step" SelectionArgs: count_8 count_16 count_32 warps_8 warps_16 join_16 join_32 total_16 total_32 modes unpack;
    "selection/large" SelectionArgs: slices_16 slices_32 count_device;
}

/// Compute capability of the oldest GPU that the kernels run on.
pub(in crate::engine::cuda) const OLDEST: (i32, i32) = (7, 5);

/// The loaded kernels. The first request for a kernel loads its module's machine code. If that fails, the driver compiles the kernel's PTX and
/// caches the result on disk.
pub(in crate::engine::cuda) struct Kernels {
    /// The GPU's compute capability.
    capability: (i32, i32),
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    /// Modules of machine code, by name.
    modules: HashMap<&'static str, sys::CUmodule>,
    /// Modules compiled from PTX, with one kernel each.
    compiled: Vec<sys::CUmodule>,
    functions: HashMap<&'static str, sys::CUfunction>,
}

// SAFETY: driver handles are valid on every thread to which their context is bound.
unsafe impl Send for Loaded {}

impl Kernels {
    /// Makes an empty cache of kernels for a GPU of this compute capability.
    pub fn new(capability: (i32, i32)) -> Self {
        Kernels { capability, loaded: Mutex::default() }
    }

    /// Returns the kernel of this name, which may use up to `shared_limit` bytes of dynamic shared memory.
    pub fn get(&self, name: &'static str, shared_limit: u32) -> Result<sys::CUfunction> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(name) {
            return Ok(*function);
        }
        let loading = |e| failure("loading the kernels", e);
        let Some(module) = MODULES.iter().find(|module| module.entries.contains(&name)) else {
            return Err(loading(result::DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)));
        };
        let code = loaded.modules.get(module.name).copied().or_else(|| {
            let image = image::machine_code(module.cubin, self.capability)?;
            // A driver that refuses it (CUDA_FORCE_PTX_JIT=1, or an unknown format) gets PTX. SAFETY: the image is a whole ELF image; the driver
            // copies it.
            unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) }.ok()
        });
        let handle = match code {
            Some(handle) => {
                loaded.modules.insert(module.name, handle);
                handle
            }
            None => {
                let text =
                    CString::new(image::only(&image::text(module.ptx, self.capability), name)).unwrap_or_default();
                // SAFETY: the image is PTX that ends with a zero; the driver copies it.
                let handle = unsafe { result::module::load_data(text.as_ptr().cast::<c_void>()) }.map_err(loading)?;
                loaded.compiled.push(handle);
                handle
            }
        };
        let entry = CString::new(name).unwrap_or_default();
        // SAFETY: the module was loaded above and is unloaded only together with the GPU.
        let function = unsafe { result::module::get_function(handle, entry) }.map_err(loading)?;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to the module above.
        unsafe { result::function::set_function_attribute(function, attribute, shared_limit as i32) }
            .map_err(loading)?;
        loaded.functions.insert(name, function);
        Ok(function)
    }

    /// Unloads all kernels; none may be running. Unloads nothing if the context is not bound to the thread.
    pub fn unload(&mut self) {
        let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
        loaded.functions.clear();
        for module in loaded.modules.drain().map(|(_, module)| module).chain(loaded.compiled.drain(..)) {
            // SAFETY: loaded in `get`; `functions` is cleared, and nobody else has these kernels now.
            let _ = unsafe { result::module::unload(module) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_in_the_ptx_that_drivers_of_cuda_12_load() {
        for Module { name, ptx, entries, argument, .. } in MODULES {
            let ptx = image::text(ptx, OLDEST);
            assert!(ptx.contains(".version 8.0") && ptx.contains(".target sm_75"), "{name}");
            let starts = ptx.lines().filter_map(|line| line.split(".visible .entry ").nth(1));
            let mut found: Vec<&str> = starts.filter_map(|start| start.split('(').next()).collect();
            let mut wanted = entries.to_vec();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{name}");
            // All shared memory must be dynamic: a launch can then use the most that a block may have.
            let own = ptx.lines().find(|line| line.contains(".shared .align") && !line.contains(".extern"));
            assert_eq!(own, None, "{name}");
            // Each kernel takes one struct by value, of the same size as in Rust.
            for entry in *entries {
                let parameter = format!(".b8 {entry}_param_0[{argument}]");
                assert!(
                    ptx.contains(&parameter) && !ptx.contains(&format!("{entry}_param_1")),
                    "{entry}: no {parameter}"
                );
            }
        }
    }
}
