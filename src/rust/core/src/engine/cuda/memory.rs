//! Memory on a card and pinned memory on the host, kept from call to call: what is measured is the second call.

use cudarc::driver::result;
use cudarc::driver::sys;

use super::device::failure;
use super::kernels::Report;
use super::plan::out_of_memory;
use crate::Result;

/// What a piece of device memory is for. Each is allocated once and grown where a later search needs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Data,
    Graph,
    Start,
    Fixed,
    Empty,
    PMax,
    Rows,
    Report,
    List,
    Verdicts,
    Slots,
    Twins,
    Binomials,
    Log,
    Scratch,
    Asked,
    Batch,
    Codes,
    Selection,
    KnnData,
    KnnTests,
    KnnSets,
    KnnNeighbours,
    KnnPermuted,
    KnnWalks,
    KnnRows,
    KnnPlanes,
    KnnSlots,
    KnnSums,
}

/// Number of [`Use`]s.
const USES: usize = Use::KnnSums as usize + 1;

/// More than this is not kept for the next call.
const KEPT: u64 = 8 << 30;

/// Pinned host memory beyond this is not kept.
const KEPT_PINNED: usize = 256 << 20;

/// Device memory by use, and one pinned buffer.
#[derive(Default)]
pub(super) struct Memory {
    device: [(sys::CUdeviceptr, u64); USES],
    pinned: Option<(*mut u8, usize)>,
    reports: Option<*mut Report>,
}

// SAFETY: plain addresses; a `Memory` has one owner at a time.
unsafe impl Send for Memory {}

impl Memory {
    /// The address of at least `bytes` for this use; their contents are undefined.
    pub fn device(&mut self, what: Use, bytes: u64) -> Result<sys::CUdeviceptr> {
        let bytes = bytes.max(256);
        let slot = &mut self.device[what as usize];
        if slot.1 < bytes {
            if slot.1 > 0 {
                // SAFETY: allocated below, and everything that used it is done: searches end with a synchronised stream.
                let _ = unsafe { result::free_sync(slot.0) };
                *slot = (0, 0);
            }
            // SAFETY: freed above or in `free`.
            match unsafe { result::malloc_sync(bytes as usize) } {
                Ok(address) => *slot = (address, bytes),
                Err(e) if e.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    let free = result::mem_get_info().map_or(0, |(free, _)| free as u64);
                    return Err(out_of_memory(bytes, free, None));
                }
                Err(e) => return Err(failure("allocating memory", e)),
            }
        }
        Ok(slot.0)
    }

    /// Bytes on the device that this holds.
    pub fn held(&self) -> u64 {
        self.device.iter().map(|slot| slot.1).sum()
    }

    /// Bytes on the device that this holds for a use.
    pub fn held_for(&self, what: Use) -> u64 {
        self.device[what as usize].1
    }

    /// Pinned memory of at least `bytes`, for copies that run beside the calling thread.
    pub fn pinned(&mut self, bytes: usize) -> Result<*mut u8> {
        if let Some((at, size)) = self.pinned {
            if size >= bytes {
                return Ok(at);
            }
            // SAFETY: allocated below; the stream is idle whenever this is called.
            let _ = unsafe { result::free_host(at.cast()) };
            self.pinned = None;
        }
        // SAFETY: freed above or in `free`.
        let at = unsafe { result::malloc_host(bytes, 0) }.map_err(|e| failure("allocating pinned memory", e))?;
        self.pinned = Some((at.cast(), bytes));
        Ok(at.cast())
    }

    /// Pinned memory for two reports: one to be sent and one to be received.
    pub fn reports(&mut self) -> Result<*mut Report> {
        if let Some(at) = self.reports {
            return Ok(at);
        }
        // SAFETY: freed in `free`.
        let at = unsafe { result::malloc_host(2 * size_of::<Report>(), 0) }
            .map_err(|e| failure("allocating pinned memory", e))?;
        self.reports = Some(at.cast());
        Ok(at.cast())
    }

    /// Whether this is little enough to be kept for the next call.
    pub fn is_modest(&self) -> bool {
        self.held() <= KEPT && self.pinned.is_none_or(|(_, size)| size <= KEPT_PINNED)
    }

    /// Gives it back. The context must be bound to the thread.
    pub fn free(self) {
        for (address, bytes) in self.device {
            if bytes > 0 {
                // SAFETY: allocated in `device`, freed once as `self` ends here.
                let _ = unsafe { result::free_sync(address) };
            }
        }
        if let Some(at) = self.reports {
            // SAFETY: allocated in `reports`, freed once.
            let _ = unsafe { result::free_host(at.cast()) };
        }
        if let Some((at, _)) = self.pinned {
            // SAFETY: allocated in `pinned`, freed once.
            let _ = unsafe { result::free_host(at.cast()) };
        }
    }
}
