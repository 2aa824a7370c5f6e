//! Unified memory: pages that move between the host and a GPU, so that a run may use more memory than the GPU has.

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::memory;

/// Bytes of host memory that unified memory leaves to the rest of the run, and to other programs.
pub(super) const HOST_RESERVE: u64 = 1 << 30;

/// The kind of memory that a run allocates on a GPU. The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryKind {
    /// The GPU's own.
    #[default]
    Device,
    /// Unified memory, whose preferred location is the GPU. If the GPU is too small, pages move to the host, and back when a kernel touches
    /// them. That is slow: it is for problems slightly larger than the GPU.
    Unified {
        /// Number of GPUs that work together, at least 1. Each may use an equal part of the host's memory.
        gpus: u32,
    },
}

impl MemoryKind {
    /// Returns the bytes of host memory that pages of one GPU may take.
    pub(super) fn of_host(self) -> u64 {
        match self {
            MemoryKind::Device => 0,
            MemoryKind::Unified { gpus } => {
                memory::available().unwrap_or(0).saturating_sub(HOST_RESERVE) / u64::from(gpus.max(1))
            }
        }
    }
}

/// The GPU that unified memory belongs to.
///
/// Advice and prefetching only change when pages move. So their failure is ignored; a GPU that has failed reports that at the next call.
#[derive(Clone, Copy)]
pub(in crate::engine::cuda) struct Home {
    pub device: sys::CUdevice,
    /// The stream on which pages are brought to the GPU.
    pub stream: sys::CUstream,
}

impl Home {
    /// Allocates `bytes` of unified memory that stay on this GPU as far as there is room, also if the host or another GPU reads them.
    ///
    /// # Safety
    /// A context of the GPU must be bound. The memory is uninitialised.
    pub unsafe fn allocate(self, bytes: u64) -> Result<sys::CUdeviceptr, DriverError> {
        let at = result::malloc_managed(bytes as usize, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)?;
        self.advise(at, bytes, sys::CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
        Ok(at)
    }

    /// Brings `bytes` at `at` to the GPU if they fit its free memory, before kernels request them page by page. If they do not fit, this does
    /// nothing, as other pages would have to leave.
    ///
    /// # Safety
    /// `at` must be the address of `bytes` of unified memory.
    pub unsafe fn bring(self, at: sys::CUdeviceptr, bytes: u64) {
        if result::mem_get_info().is_ok_and(|(free, _)| free as u64 >= bytes) {
            // The function of CUDA 8; that of 12.2 has another name in the library.
            let _ = sys::cuMemPrefetchAsync(at, bytes as usize, self.device, self.stream);
        }
    }

    /// Advises the driver whether (`so`) `bytes` at `at` are only read from now on. The host keeps a copy of such pages, so that they need not
    /// be sent back to make room on the GPU.
    ///
    /// # Safety
    /// `at` must be the address of `bytes` of unified memory.
    pub unsafe fn only_read(self, at: sys::CUdeviceptr, bytes: u64, so: bool) {
        use sys::CUmem_advise as Advice;
        let advice = if so { Advice::CU_MEM_ADVISE_SET_READ_MOSTLY } else { Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY };
        self.advise(at, bytes, advice);
    }

    unsafe fn advise(self, at: sys::CUdeviceptr, bytes: u64, advice: sys::CUmem_advise) {
        let _ = sys::cuMemAdvise(at, bytes as usize, advice, self.device);
    }
}
