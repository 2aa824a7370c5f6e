//! The GPUs that this process has opened, and what it keeps on each: context, kernels, memory.
//!
//! A context costs 0.2 s, and loading kernels takes time, so both live until [`close_all`].

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::driver::{attribute, capability, count, driver_process, error, failure, guarded, start, USE_CPU};
use super::kernels::{Kernels, Launch};
use super::memory::Memory;
use super::unified::{Home, MemoryKind};
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::error::DeviceKind;
use crate::{Error, Result};

/// The oldest compute capability that our kernels are built for.
pub const OLDEST_CAPABILITY: (i32, i32) = (7, 5);

/// GPUs that this process has opened.
#[derive(Default)]
struct Gpus {
    /// The process that started the driver; the driver's state does not survive a fork.
    pid: Option<u32>,
    open: Vec<Arc<Gpu>>,
}

fn gpus() -> MutexGuard<'static, Gpus> {
    static GPUS: OnceLock<Mutex<Gpus>> = OnceLock::new();
    GPUS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes all GPUs of this process; see `device::release`.
pub(in crate::engine::cuda) fn close_all() {
    let mut gpus = gpus();
    if gpus.pid == Some(std::process::id()) {
        gpus.open.clear();
        gpus.pid = None;
    }
}

/// A GPU that this process uses: its context, its kernels, one stream, and memory that is kept between calls.
pub(in crate::engine::cuda) struct Gpu {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Stream for copies to the host that run in parallel with `stream`.
    copies: sys::CUstream,
    /// Stream for copies from the host that run in parallel with `stream`.
    sends: sys::CUstream,
    /// `reached`: the point of `stream` that `copies` and `sends` wait for. `sent`: the point of `sends` that `stream` waits for.
    reached: sys::CUevent,
    sent: sys::CUevent,
    /// Number of multiprocessors.
    pub processors: u32,
    /// Bytes of dynamic shared memory that a block may request.
    pub shared_limit: u32,
    /// The time of a product of doubles, in those of a data-centre GPU: 1, or 16 and more.
    pub double_cost: u64,
    /// Bytes of the GPU's memory.
    pub total_memory: u64,
    /// Whether unified memory works on the GPU: pages that move while kernels run.
    unified: bool,
    kernels: Kernels,
    /// Memory that earlier searches left for the next; an engine takes it for its lifetime.
    memory: Mutex<Vec<Memory>>,
    /// Whether the context is lost.
    lost: AtomicBool,
}

// SAFETY: contexts, streams and events may be used from any thread to which the context is bound. `Holds::watched` binds it before a run; on any
// other thread a call fails.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver has its own locks, and `kernels` and `memory` have theirs.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// Returns the GPU with this number, and opens it at the first call.
    pub fn open(ordinal: usize) -> Result<Arc<Gpu>> {
        guarded(|| {
            start()?;
            let mut gpus = gpus();
            let count = count()?;
            if count == 0 {
                return Err(failure("counting the GPUs", DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)));
            }
            if ordinal >= count {
                return Err(Error::Argument {
                    argument: "device",
                    value: format!("\"cuda:{ordinal}\""),
                    hint: format!("this machine has {count} GPU(s), numbered from 0; pcgpu_devices() lists them"),
                });
            }
            let device = result::device::get(ordinal as c_int).map_err(|e| failure("opening the GPU", e))?;
            if let Some(gpu) = gpus.open.iter().find(|gpu| gpu.device == device) {
                gpu.bind()?;
                return Ok(gpu.clone());
            }
            let (major, minor) = capability(device)?;
            if (major, minor) < OLDEST_CAPABILITY {
                return Err(error(
                    DeviceKind::OldDevice,
                    format!("the GPU has compute capability {major}.{minor}"),
                    format!("choose a GPU of compute capability 7.5 (Turing) or newer, or {USE_CPU}"),
                ));
            }
            let gpu = Arc::new(Gpu::new(device, (major, minor))?);
            gpus.pid = Some(std::process::id());
            gpus.open.push(gpu.clone());
            Ok(gpu)
        })
    }

    fn new(device: sys::CUdevice, capability: (i32, i32)) -> Result<Self> {
        use sys::CUdevice_attribute as Attribute;
        let opening = |e| failure("opening the GPU", e);
        // SAFETY: the device came from `cuDeviceGet`; `Retained` or the GPU releases the context when dropped.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(opening)?;
        let opened = Retained(device);
        // SAFETY: the context was retained above.
        unsafe { result::ctx::set_current(context) }.map_err(opening)?;
        let kernels = Kernels::new(capability);
        let make = || result::stream::create(result::stream::StreamKind::NonBlocking).map_err(opening);
        let (stream, copies, sends) = (make()?, make()?, make()?);
        let event = || result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(opening);
        let (reached, sent) = (event()?, event()?);
        let gpu = Gpu {
            device,
            context,
            stream,
            copies,
            sends,
            reached,
            sent,
            processors: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32,
            shared_limit: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?.max(0)
                as u32,
            double_cost: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)
                .map_or(1, |ratio| (ratio / 2).max(1) as u64),
            // SAFETY: the device came from `cuDeviceGet`.
            total_memory: unsafe { result::device::total_mem(device) }.map_err(opening)? as u64,
            unified: attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)? != 0,
            kernels,
            memory: Mutex::default(),
            lost: AtomicBool::new(false),
        };
        std::mem::forget(opened);
        Ok(gpu)
    }

    /// Binds this GPU's context to the calling thread.
    pub fn bind(&self) -> Result<()> {
        // SAFETY: the context lives as long as the GPU.
        unsafe { result::ctx::set_current(self.context) }.map_err(|e| failure("binding the GPU", e))
    }

    /// Returns whether the driver belongs to this process, which is false after a fork.
    pub fn is_ours(&self) -> bool {
        driver_process() == std::process::id()
    }

    /// Returns the bytes of the GPU's memory that are free.
    pub fn free_memory(&self) -> Result<u64> {
        result::mem_get_info().map(|(free, _)| free as u64).map_err(|e| failure("reading the free memory", e))
    }

    /// Puts a kernel with its arguments on the stream; does nothing if the grid has no blocks.
    ///
    /// # Safety
    /// Blocks, threads and shared memory must be what the kernel expects. Each address in `args` that the kernel uses must point to device
    /// memory of the size that it expects. Until the kernel has run, that memory must stay allocated and no copy may change it.
    pub unsafe fn launch<A: Copy>(&self, launch: Launch<A>, args: &A) -> Result<()> {
        let Launch { kernel, blocks, threads, shared } = launch;
        if blocks.0 == 0 || blocks.1 == 0 {
            return Ok(());
        }
        let function = self.kernels.get(kernel.name(), self.shared_limit)?;
        let mut args = *args;
        let mut parameters = [std::ptr::from_mut(&mut args).cast::<c_void>()];
        let grid = (blocks.0, blocks.1, 1);
        // The driver copies the arguments before this returns.
        result::launch_kernel(function, grid, (threads, 1, 1), shared as u32, self.stream, &mut parameters)
            .map_err(|e| failure(kernel.name(), e))
    }

    /// Copies `from` to the device after all earlier work on the stream. If `from` is not pinned, the driver has read it when this returns.
    ///
    /// # Safety
    /// There must be room for `from.len()` elements at `to`. If `from` is pinned, it must not be written or freed before the stream is
    /// synchronised.
    pub unsafe fn upload<T: Copy>(&self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        result::memcpy_htod_async(to.address(), from, self.stream).map_err(|e| failure("copying to the GPU", e))
    }

    /// Fills `count` elements on the device with zeros, after all earlier work on the stream.
    ///
    /// # Safety
    /// There must be room for `count` elements at `to`.
    pub unsafe fn clear<T: Plain>(&self, to: DevicePtr<T>, count: usize) -> Result<()> {
        result::memset_d8_async(to.address(), 0, count * size_of::<T>(), self.stream)
            .map_err(|e| failure("clearing memory", e))
    }

    /// Copies from pinned memory in parallel with work on the stream, which must not use the target; see [`Gpu::sends_follow`].
    ///
    /// # Safety
    /// That of [`Gpu::upload`]. `from` must not be written or freed before [`Gpu::end_sends`], or before an event marks this copy as done.
    pub unsafe fn upload_beside<T: Copy>(&self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        result::memcpy_htod_async(to.address(), from, self.sends).map_err(|e| failure("copying to the GPU", e))
    }

    /// Makes later copies by [`Gpu::upload_beside`], and later copies from and to other GPUs, wait for what is on the stream now.
    pub fn sends_follow(&self) -> Result<()> {
        self.follow(self.reached, self.stream, self.sends)
    }

    /// Makes later work on the stream wait for all copies so far by [`Gpu::upload_beside`].
    pub fn follow_sends(&self) -> Result<()> {
        self.follow(self.sent, self.sends, self.stream)
    }

    /// Waits for the copies by [`Gpu::upload_beside`].
    pub fn end_sends(&self) -> Result<()> {
        // SAFETY: the stream lives as long as the GPU.
        unsafe { result::stream::synchronize(self.sends) }.map_err(|e| failure("copying to the GPU", e))
    }

    /// Makes later work on the stream `later` wait for what is on the stream `on` now.
    fn follow(&self, reached: sys::CUevent, on: sys::CUstream, later: sys::CUstream) -> Result<()> {
        let waiting = |e| failure("waiting for the GPU", e);
        // SAFETY: events and streams live as long as the GPU. With two engines on a GPU, each may wait for more than its own work.
        unsafe {
            result::event::record(reached, on).map_err(waiting)?;
            let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            result::stream::wait_event(later, reached, flags).map_err(waiting)
        }
    }

    /// Records an event that marks the end of all copies so far on the stream, or with `is_beside` of those by [`Gpu::upload_beside`].
    ///
    /// # Safety
    /// The event must be alive and belong to this caller only.
    pub unsafe fn mark(&self, event: sys::CUevent, is_beside: bool) -> Result<()> {
        let stream = if is_beside { self.sends } else { self.stream };
        result::event::record(event, stream).map_err(|e| failure("copying to the GPU", e))
    }

    /// Returns whether the copies before an event's [`Gpu::mark`] are done.
    ///
    /// # Safety
    /// That of [`Gpu::mark`], which must have been called for the event.
    pub unsafe fn has_reached(&self, event: sys::CUevent) -> Result<bool> {
        match sys::cuEventQuery(event) {
            sys::CUresult::CUDA_SUCCESS => Ok(true),
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Err(failure("copying to the GPU", DriverError(code))),
        }
    }

    /// Copies from the device after all earlier work on the stream; fastest to pinned memory.
    ///
    /// # Safety
    /// `count` elements must be at `from`. `to` must have room for them, and must not be read, written or freed before the stream is
    /// synchronised.
    pub unsafe fn download<T: Plain>(&self, from: DevicePtr<T>, to: *mut T, count: usize) -> Result<()> {
        self.copy_back(from, to, count, self.stream)
    }

    /// Puts a copy from the device to the host on a stream.
    ///
    /// # Safety
    /// That of [`Gpu::download`], for this stream.
    unsafe fn copy_back<T: Plain>(
        &self,
        from: DevicePtr<T>,
        to: *mut T,
        count: usize,
        stream: sys::CUstream,
    ) -> Result<()> {
        // The driver gets a bare pointer, as a slice of `T` must not cover memory that may be uninitialised.
        sys::cuMemcpyDtoHAsync_v2(to.cast(), from.address(), count * size_of::<T>(), stream)
            .result()
            .map_err(|e| failure("copying from the GPU", e))
    }

    /// Makes later copies by [`Gpu::download_beside`] wait for what is on the stream now.
    pub fn copies_follow(&self) -> Result<()> {
        self.follow(self.reached, self.stream, self.copies)
    }

    /// Copies from the device to pinned memory in parallel with work on the stream, which must not change the source; see
    /// [`Gpu::copies_follow`].
    ///
    /// # Safety
    /// `count` elements must be at `from`. `to` must have room for them, and must not be read, written or freed before [`Gpu::end_copies`].
    pub unsafe fn download_beside<T: Plain>(&self, from: DevicePtr<T>, to: *mut T, count: usize) -> Result<()> {
        self.copy_back(from, to, count, self.copies)
    }

    /// Waits for the copies by [`Gpu::download_beside`].
    pub fn end_copies(&self) -> Result<()> {
        // SAFETY: the stream lives as long as the GPU.
        unsafe { result::stream::synchronize(self.copies) }.map_err(|e| failure("copying from the GPU", e))
    }

    /// Waits for all work on the stream.
    pub fn synchronize(&self, doing: &str) -> Result<()> {
        // SAFETY: the stream lives as long as the GPU.
        unsafe { result::stream::synchronize(self.stream) }.map_err(|e| failure(doing, e))
    }

    /// Returns whether all work on the stream is done.
    pub fn is_idle(&self, doing: &str) -> Result<bool> {
        // SAFETY: the stream lives as long as the GPU.
        match unsafe { sys::cuStreamQuery(self.stream) } {
            sys::CUresult::CUDA_SUCCESS => Ok(true),
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Err(failure(doing, DriverError(code))),
        }
    }

    /// Returns memory for a search: what an earlier search left, or an empty `Memory`. Frees kept memory of the other kind.
    pub fn take_memory(&self, kind: MemoryKind) -> Result<Memory> {
        let home = match kind {
            MemoryKind::Device => None,
            MemoryKind::Unified { .. } if self.unified => Some(Home { device: self.device, stream: self.stream }),
            MemoryKind::Unified { .. } => {
                return Err(error(
                    DeviceKind::NoUnified,
                    "the GPU or its driver does not support unified memory that the CPU and kernels use at the same time",
                    "leave out memory = \"unified\"; column `unified` of pcgpu_devices() shows which GPUs support it",
                ));
            }
        };
        let kept = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(match kept {
            Some(memory) if memory.is_unified() == home.is_some() => memory,
            Some(other) => {
                // SAFETY: the memory was idle when it was kept, and nobody has taken it since.
                unsafe { other.free() };
                Memory::new(home)
            }
            None => Memory::new(home),
        })
    }

    /// Returns the bytes of device memory kept for later calls.
    pub fn kept_memory(&self) -> u64 {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Memory::held).sum()
    }

    /// Keeps the memory of a successful search for the next. Frees it if other memory is already kept.
    ///
    /// # Safety
    /// Nothing may be running on this memory, and no copy from or to it may be under way.
    pub unsafe fn keep_memory(&self, memory: Memory) {
        let mut kept = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_empty() {
            kept.push(memory);
        } else {
            memory.free();
        }
    }

    /// Frees the memory that earlier searches left.
    pub fn drop_memory(&self) {
        for memory in self.memory.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: the memory was idle when it was kept, and nobody has taken it since.
            unsafe { memory.free() };
        }
    }

    /// Forgets this GPU after a failure that its context does not survive, so that the next call opens it again.
    pub fn abandon(self: &Arc<Self>) {
        let mut gpus = gpus();
        gpus.open.retain(|gpu| !Arc::ptr_eq(gpu, self));
        if self.lost.swap(true, Ordering::Relaxed) {
            return;
        }
        // SAFETY: the device came from `cuDeviceGet`. Calls in the old context fail after the reset, as they did before it.
        let _ = unsafe { sys::cuDevicePrimaryCtxReset_v2(self.device) };
    }
}

/// A retained context without an owner yet.
struct Retained(sys::CUdevice);

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: retained when this was made.
        let _ = unsafe { result::primary_ctx::release(self.0) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if driver_process() != std::process::id() {
            return;
        }
        if self.lost.load(Ordering::Relaxed) {
            // SAFETY: retained in `Gpu::new`; everything in the context was lost with it.
            let _ = unsafe { result::primary_ctx::release(self.device) };
            return;
        }
        if self.bind().is_err() {
            return;
        }
        self.drop_memory();
        self.kernels.unload();
        // SAFETY: all were made in `Gpu::new`, and nothing uses them any more.
        unsafe {
            let _ = result::stream::destroy(self.stream);
            let _ = result::stream::destroy(self.copies);
            let _ = result::stream::destroy(self.sends);
            let _ = result::event::destroy(self.reached);
            let _ = result::event::destroy(self.sent);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
