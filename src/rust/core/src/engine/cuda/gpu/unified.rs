//! Unified memory: pages that move between the host and a GPU, so that a run may take more than the GPU has.

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::memory;

/// Bytes of the host's memory that unified memory leaves to the rest of the run, and to others.
pub(super) const HOST_RESERVE: u64 = 1 << 30;

/// Which memory a run takes for what it keeps on a GPU. The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryKind {
    /// The GPU's own.
    #[default]
    Device,
    /// Unified memory, which belongs on the GPU, and of which pages go to the host where the GPU is too small, and come back
    /// when a kernel touches them. That is slow: it serves problems a little larger than the GPU.
    Unified {
        /// GPUs that work together: each counts on that part of the host's memory. At least 1.
        gpus: u32,
    },
}

impl MemoryKind {
    /// Bytes of the host's memory that pages of a GPU may take.
    pub(super) fn of_host(self) -> u64 {
        match self {
            MemoryKind::Device => 0,
            MemoryKind::Unified { gpus } => {
                memory::available().unwrap_or(0).saturating_sub(HOST_RESERVE) / u64::from(gpus.max(1))
            }
        }
    }
}

/// Where unified memory belongs.
///
/// Advice and prefetching change when pages move and nothing else, so that a GPU that does not take them is no failure; one that has
/// failed says so at the next call.
#[derive(Clone, Copy)]
pub(in crate::engine::cuda) struct Home {
    pub device: sys::CUdevice,
    /// On which pages are brought to the GPU.
    pub stream: sys::CUstream,
}

impl Home {
    /// `bytes` of unified memory that stay on this GPU as far as there is room, also where the host or another GPU reads them.
    ///
    /// # Safety
    /// A context of the GPU must be bound. It begins as rubbish.
    pub unsafe fn allocate(self, bytes: u64) -> Result<sys::CUdeviceptr, DriverError> {
        let at = result::malloc_managed(bytes as usize, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)?;
        self.advise(at, bytes, sys::CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
        Ok(at)
    }

    /// Brings `bytes` to the GPU before kernels ask for them page by page, where there is room: else others would have to leave.
    ///
    /// # Safety
    /// They must be unified memory at `at`.
    pub unsafe fn bring(self, at: sys::CUdeviceptr, bytes: u64) {
        if result::mem_get_info().is_ok_and(|(free, _)| free as u64 >= bytes) {
            // As of CUDA 8; that of 12.2 has another name in the library.
            let _ = sys::cuMemPrefetchAsync(at, bytes as usize, self.device, self.stream);
        }
    }

    /// Says whether `bytes` are read alone from now on. Of such pages the host keeps a copy, which need not be sent there again to make
    /// room on the GPU.
    ///
    /// # Safety
    /// They must be unified memory at `at`.
    pub unsafe fn only_read(self, at: sys::CUdeviceptr, bytes: u64, so: bool) {
        use sys::CUmem_advise as Advice;
        let advice = if so { Advice::CU_MEM_ADVISE_SET_READ_MOSTLY } else { Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY };
        self.advise(at, bytes, advice);
    }

    unsafe fn advise(self, at: sys::CUdeviceptr, bytes: u64, advice: sys::CUmem_advise) {
        let _ = sys::cuMemAdvise(at, bytes as usize, advice, self.device);
    }
}
