//! Memory on a GPU and pinned memory on the host. Both are kept from call to call, as allocating them takes long.

use std::cell::Cell;

use cudarc::driver::result;
use cudarc::driver::sys;

use super::buffer::{BufferId, BUFFERS};
use super::driver::failure;
use super::plan::{out_of_memory, MemoryPlan, Room};
use super::unified::Home;
use crate::engine::cuda::arguments::Report;
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::Result;

// SAFETY: integers of 8 bytes without padding between them.
unsafe impl Plain for Report {}

/// Bytes of device memory that may be kept for the next call on any GPU.
const KEPT: u64 = 8 << 30;

/// Returns the most bytes of device memory to keep for the next call on a GPU with `total` bytes: on a large GPU a quarter. A dense search of
/// 20,000 variables needs more than 8 GB; allocating that again takes a fifth of the search on an H200. Kept memory is freed if this process
/// needs the room, but other programs cannot reclaim it: they get the other three quarters.
pub(super) fn most_kept(total: u64) -> u64 {
    KEPT.max(total / 4)
}

/// Most bytes of pinned host memory that are kept.
const KEPT_PINNED: usize = 256 << 20;

/// A kept piece serves a smaller need if it is at most twice as large plus this many bytes.
const SPARE: u64 = 16 << 20;

/// Device memory by use, and pinned memory.
pub(in crate::engine::cuda) struct Memory {
    device: [Piece; BUFFERS],
    /// The GPU that unified memory belongs to; `None` for the GPU's own memory.
    home: Option<Home>,
    /// Whether a piece that is otherwise only read is being filled.
    filling: Cell<bool>,
    pinned: Option<(*mut u8, usize)>,
    /// Events that mark when copies from parts of `pinned` are done.
    sent: Vec<sys::CUevent>,
    /// Pinned memory that is the target of copies.
    brought: Option<(*mut u8, usize)>,
    /// Pinned memory that kernels read.
    lasting: Option<(*mut u8, usize)>,
    reports: Option<*mut Report>,
}

impl Default for Memory {
    fn default() -> Self {
        let (home, filling, pinned, sent, brought, lasting, reports) = Default::default();
        Memory { device: [Piece::default(); BUFFERS], home, filling, pinned, sent, brought, lasting, reports }
    }
}

/// A piece of device memory; `bytes` is 0 if there is none.
#[derive(Clone, Copy, Default)]
struct Piece {
    at: sys::CUdeviceptr,
    bytes: u64,
    /// `given`: the current run has the piece. `spared`: the run had it and no longer needs its contents.
    given: bool,
    spared: bool,
    /// Whether the driver has been advised that the piece is only read.
    only_read: bool,
}

impl Piece {
    fn free(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated in `Memory::device`, and freed once. All work that used it is done: levels and searches end with a synchronised
            // stream.
            let _ = unsafe { result::free_sync(self.at) };
        }
        *self = Piece::default();
    }
}

// SAFETY: plain addresses; a `Memory` has one owner at a time.
unsafe impl Send for Memory {}

impl Memory {
    /// Makes an empty `Memory`: unified memory if `home` is given, otherwise the GPU's own.
    pub fn new(home: Option<Home>) -> Self {
        Memory { home, ..Memory::default() }
    }

    pub fn is_unified(&self) -> bool {
        self.home.is_some()
    }

    /// Begins a new run: every piece may be given or freed.
    pub fn begin(&mut self) {
        self.device.iter_mut().for_each(|piece| (piece.given, piece.spared) = (false, false));
    }

    /// Marks the pieces of these uses as no longer needed by the current run: they may be freed.
    pub fn spare(&mut self, uses: &[BufferId]) {
        for &what in uses {
            let piece = &mut self.device[what as usize];
            (piece.given, piece.spared) = (false, piece.given || piece.spared);
        }
    }

    /// Makes room for a plan. First frees pieces that are too small for it, and kept lasting pieces that are much larger (with `exactly`: larger
    /// at all). Then, while plan and pieces together exceed `limit` bytes, frees the piece that most exceeds the plan, except lasting pieces in
    /// use.
    pub fn arrange(&mut self, plan: &MemoryPlan, limit: u64, exactly: bool) {
        let surplus = |what: BufferId, piece: &Piece| piece.bytes.saturating_sub(plan.of(what));
        for &what in BufferId::ALL {
            let piece = &mut self.device[what as usize];
            let planned = plan.of(what);
            let wasteful = piece.bytes > if exactly { planned } else { 2 * planned + SPARE };
            let is_kept = !piece.given && !piece.spared;
            if piece.bytes < planned || (planned > 0 && is_kept && wasteful && what.lasts()) {
                piece.free();
            }
        }
        let all = |memory: &Memory| -> u64 {
            BufferId::ALL.iter().map(|&what| plan.of(what).max(memory.device[what as usize].bytes)).sum()
        };
        while all(self) > limit {
            let free =
                BufferId::ALL.iter().copied().filter(|what| !(what.lasts() && self.device[*what as usize].given));
            let largest = free.max_by_key(|&what| surplus(what, &self.device[what as usize]));
            match largest {
                // Freeing a piece that does not exceed the plan gains nothing, as it would be allocated again.
                Some(what) if surplus(what, &self.device[what as usize]) > 0 => self.device[what as usize].free(),
                _ => break,
            }
        }
    }

    /// Frees every piece that does not have exactly its planned size. Later levels may free larger pieces, so nothing is then in the way of
    /// their plans.
    ///
    /// # Safety
    /// Nothing may run on it.
    pub unsafe fn keep_exact(&mut self, plan: &MemoryPlan) {
        for &what in BufferId::ALL {
            let piece = &mut self.device[what as usize];
            if piece.bytes != plan.of(what) {
                piece.free();
            }
        }
    }

    /// Returns the address of at least `bytes` for this use. The contents are undefined if the piece was too small before.
    pub fn device(&mut self, what: BufferId, bytes: u64) -> Result<sys::CUdeviceptr> {
        let home = self.home;
        let piece = &mut self.device[what as usize];
        if piece.bytes < bytes {
            piece.free();
            // SAFETY: freed by `Piece::free`.
            let allocated = match home {
                None => unsafe { result::malloc_sync(bytes as usize) },
                Some(home) => unsafe { home.allocate(bytes) },
            };
            match allocated {
                Ok(at) => *piece = Piece { at, bytes, ..Piece::default() },
                Err(e) if e.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    let gpu = result::mem_get_info().map_or(0, |(free, _)| free as u64);
                    return Err(out_of_memory(bytes, Room::from(gpu), None));
                }
                Err(e) => return Err(failure("allocating memory", e)),
            }
        }
        if let Some(home) = home.filter(|_| !piece.given) {
            // SAFETY: allocated by `home` above, now or for an earlier run.
            unsafe {
                if piece.only_read {
                    home.only_read(piece.at, piece.bytes, false);
                    piece.only_read = false;
                }
                home.bring(piece.at, piece.bytes);
            }
        }
        (piece.given, piece.spared) = (true, false);
        Ok(piece.at)
    }

    /// Notes that a copy to `at` fills a piece.
    pub fn fills(&self, at: sys::CUdeviceptr) {
        let within = |what: &BufferId| {
            let piece = &self.device[*what as usize];
            what.is_read() && at >= piece.at && at - piece.at < piece.bytes
        };
        if self.home.is_some() && BufferId::ALL.iter().any(within) {
            self.filling.set(true);
        }
    }

    /// Advises the driver which unified memory is only read, once that memory is filled: at the second call after a copy there. Call it when the
    /// stream is idle.
    pub fn settle(&mut self) {
        let Some(home) = self.home.filter(|_| !self.filling.replace(false)) else { return };
        for what in BufferId::ALL.iter().filter(|what| what.is_read()) {
            let piece = &mut self.device[*what as usize];
            if piece.given && !piece.only_read {
                // SAFETY: allocated by `home` in `device`.
                unsafe { home.only_read(piece.at, piece.bytes, true) };
                piece.only_read = true;
            }
        }
    }

    /// Returns whether `count` elements from an address on are in one piece that the current run was given.
    pub fn has<T>(&self, at: DevicePtr<T>, count: usize) -> bool {
        let (from, bytes) = (at.address(), (size_of::<T>() * count) as u64);
        let within = |piece: &Piece| {
            from >= piece.at && from - piece.at <= piece.bytes && bytes <= piece.bytes - (from - piece.at)
        };
        count == 0 || self.device.iter().any(|piece| piece.given && within(piece))
    }

    /// Returns the bytes of device memory that this holds.
    pub fn held(&self) -> u64 {
        self.device.iter().map(|piece| piece.bytes).sum()
    }

    /// Returns pinned memory of at least `bytes`, for copies that run while the calling thread continues.
    ///
    /// # Safety
    /// No copy from or to pinned memory that this returned before may be under way: that memory is returned again, or freed.
    pub unsafe fn pinned(&mut self, bytes: usize) -> Result<*mut u8> {
        at_least(&mut self.pinned, bytes)
    }

    /// Returns other pinned memory of at least `bytes`, as the target of copies.
    ///
    /// # Safety
    /// No copy from or to memory that this returned before may be under way: that memory is returned again, or freed.
    pub unsafe fn brought(&mut self, bytes: usize) -> Result<*mut u8> {
        at_least(&mut self.brought, bytes)
    }

    /// Returns events for `count` copies, for the owner of this memory only.
    pub fn events(&mut self, count: usize) -> Result<Vec<sys::CUevent>> {
        while self.sent.len() < count {
            let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
            self.sent.push(event.map_err(|e| failure("copying to the GPU", e))?);
        }
        Ok(self.sent[..count].to_vec())
    }

    /// Returns pinned memory of at least `bytes` that kernels can read: host and GPU share one address space. Call it once per owner.
    pub fn lasting(&mut self, bytes: usize) -> Result<*mut u8> {
        // SAFETY: the memory there belonged to an earlier owner, whose kernels have ended.
        unsafe { at_least(&mut self.lasting, bytes) }
    }

    /// Returns pinned memory for two reports: one to send and one to receive.
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

    /// Returns whether this is small enough to keep for the next call, if at most `most` bytes of device memory may be kept.
    pub fn is_modest(&self, most: u64) -> bool {
        let pinned = [self.pinned, self.brought, self.lasting].iter().flatten().map(|(_, size)| size).sum::<usize>();
        self.held() <= most && pinned <= KEPT_PINNED
    }

    /// Frees all memory. Frees nothing if the context is not bound to the thread.
    ///
    /// # Safety
    /// Nothing may be running on this memory, and no copy from or to it may be under way.
    pub unsafe fn free(mut self) {
        self.device.iter_mut().for_each(Piece::free);
        if let Some(at) = self.reports {
            // SAFETY: allocated in `reports`, freed once.
            let _ = unsafe { result::free_host(at.cast()) };
        }
        for event in std::mem::take(&mut self.sent) {
            // SAFETY: created in `events`, destroyed once; nothing waits for it.
            let _ = unsafe { result::event::destroy(event) };
        }
        for (at, _) in [self.pinned, self.brought, self.lasting].into_iter().flatten() {
            // SAFETY: allocated in `at_least`, freed once.
            let _ = unsafe { result::free_host(at.cast()) };
        }
    }
}

/// Returns pinned memory of at least `bytes`: the memory in `there` if it is large enough, otherwise new memory.
///
/// # Safety
/// Nothing may be using the memory in `there`.
unsafe fn at_least(there: &mut Option<(*mut u8, usize)>, bytes: usize) -> Result<*mut u8> {
    if let Some((at, size)) = *there {
        if size >= bytes {
            return Ok(at);
        }
        let _ = result::free_host(at.cast());
        *there = None;
    }
    let at: *mut u8 = result::malloc_host(bytes.max(1), 0).map_err(|e| failure("allocating pinned memory", e))?.cast();
    *there = Some((at, bytes));
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_gpus_keep_more() {
        assert_eq!([6, 24, 32, 80, 144].map(|gigabytes| most_kept(gigabytes << 30) >> 30), [8, 8, 8, 20, 36]);
        let mut memory = Memory::default();
        memory.device[0] = Piece { at: 1000, bytes: 9 << 30, ..Piece::default() };
        assert!(memory.is_modest(most_kept(80 << 30)) && !memory.is_modest(most_kept(24 << 30)));
    }

    #[test]
    fn copies_stay_in_one_piece_that_was_given() {
        let mut memory = Memory::default();
        memory.device[0] = Piece { at: 1000, bytes: 80, given: true, ..Piece::default() };
        memory.device[1] = Piece { at: 1080, bytes: 80, given: true, ..Piece::default() };
        memory.device[2] = Piece { at: 2000, bytes: 80, ..Piece::default() };
        let at = |address| DevicePtr::<f64>::at(address);
        assert!(memory.has(at(1000), 10) && memory.has(at(1072), 1) && memory.has(at(1080), 10));
        assert!(!memory.has(at(1000), 11) && !memory.has(at(1079), 1) && !memory.has(at(992), 1));
        assert!(!memory.has(at(2000), 1) && !memory.has(DevicePtr::<f64>::NULL, 1) && memory.has(at(0), 0));
    }
}
