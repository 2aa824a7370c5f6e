//! A GPU while something runs on it: its memory, waiting for it, and what to do after a failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::account::Accounts;
use super::buffer::{Buffer, BufferId};
use super::driver::guarded;
use super::memory::{most_kept, Memory};
use super::opened::Gpu;
use super::plan::{limit, out_of_memory, MemoryPlan, Room};
use super::unified::MemoryKind;
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::error::{DeviceError, DeviceKind};
use crate::pool::Pool;
use crate::team::{Moved, Share, TeamReport};
use crate::{Error, Result};

/// Time between two checks whether the caller wants to stop.
const WATCH: Duration = Duration::from_millis(20);

/// A GPU and the memory that earlier runs left on it. Dropping this keeps the memory for the next run or frees it; after a failure it abandons
/// the GPU's context.
pub(in crate::engine::cuda) struct Held {
    pub gpu: Arc<Gpu>,
    /// CPU threads that help.
    pub pool: Pool,
    memory: Option<Memory>,
    /// The kind of that memory.
    pub(super) kind: MemoryKind,
    /// Whether a copy from pinned memory may be under way on the stream.
    sending: bool,
    /// Whether copies from pinned memory go by the stream for sends instead of the main stream.
    pub(super) is_beside: bool,
    /// The next of the places in pinned memory that take turns, if a copy may be under way on the stream for sends; otherwise `None`.
    pub(super) ahead: Option<usize>,
    /// Bytes of GPU memory that may be used; `None`: all that is free.
    budget: Option<u64>,
    /// The memory that the next work needs.
    pub plan: MemoryPlan,
    /// The most bytes committed so far for each use.
    all: MemoryPlan,
    /// `all` if that fits the GPU, otherwise the largest plan that was committed.
    largest: MemoryPlan,
    /// Whether memory ran out. It is then freed at the end, as others may need it.
    short: bool,
    /// Whether the GPU failed, so that nothing on it can be relied on.
    failed: bool,
    /// When the caller was last asked whether to stop.
    looked: Instant,
    /// The bytes copied to and from the GPU.
    account: Accounts,
}

impl Held {
    /// Opens the GPU with this number, unless this process has opened it before. At most `budget` bytes of memory of this kind may be used.
    pub fn open(ordinal: usize, pool: Pool, kind: MemoryKind, budget: Option<u64>) -> Result<Self> {
        let gpu = Gpu::open(ordinal)?;
        let mut memory = gpu.take_memory(kind)?;
        memory.begin();
        let (plan, all, largest) = Default::default();
        let looked = Instant::now();
        Ok(Held {
            gpu,
            pool,
            memory: Some(memory),
            kind,
            sending: false,
            is_beside: false,
            ahead: None,
            budget,
            plan,
            all,
            largest,
            short: false,
            failed: false,
            looked,
            account: Accounts::default(),
        })
    }

    pub fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(Memory::default)
    }

    /// Returns whether the GPU has room for the plan.
    pub fn fits(&mut self) -> Result<bool> {
        let available = self.available()?;
        Ok(self.plan.check(available, self.budget).is_ok())
    }

    /// Starts again with an empty plan: nothing on the GPU is needed any more. Nothing may be running.
    pub fn restart(&mut self) {
        self.memory().begin();
        self.plan = MemoryPlan::default();
    }

    /// Ends planning: refuses the plan if the GPU is too small for it, otherwise makes room for it.
    pub fn commit(&mut self) -> Result<()> {
        let mut available = self.available()?;
        // Memory kept for later calls, which nobody uses now, is freed first.
        if self.plan.total() > limit(available.on_gpu(), self.budget) && self.gpu.kept_memory() > 0 {
            self.gpu.drop_memory();
            available = self.available()?;
        }
        self.plan.check(available, self.budget)?;
        let (plan, exactly) = (self.plan.clone(), self.budget.is_some());
        let limit = limit(available.on_gpu(), self.budget);
        // Memory that only some levels need is kept between levels if there is room for all uses together.
        self.all = self.all.or(&plan);
        if self.all.total() <= limit {
            self.largest = self.all.clone();
            self.memory().arrange(&plan, limit, exactly);
        } else {
            if plan.total() > self.largest.total() {
                self.largest = plan.clone();
            }
            let most = self.largest.total();
            self.memory().arrange(&plan, most, exactly);
        }
        Ok(())
    }

    /// Waits for the stream, frees every piece that does not have exactly its planned size, and commits the plan.
    pub fn commit_exactly(&mut self) -> Result<()> {
        self.synchronize("waiting for earlier work")?;
        let plan = self.plan.clone();
        // SAFETY: the stream is idle.
        unsafe { self.memory().keep_exact(&plan) };
        self.commit()
    }

    /// Returns the address of the device memory for a use, as planned and committed. The memory keeps its contents if it was large enough;
    /// otherwise they are undefined.
    pub fn device<T>(&mut self, what: Buffer<T>) -> Result<DevicePtr<T>> {
        let what = BufferId::from(what);
        let bytes = self.plan.of(what);
        debug_assert!(bytes > 0, "{what:?} is not planned");
        let mut at = self.memory().device(what, bytes);
        if at.as_ref().is_err_and(Error::is_short_of_device_memory) && self.gpu.kept_memory() > 0 {
            self.gpu.drop_memory();
            at = self.memory().device(what, bytes);
        }
        Ok(DevicePtr::at(at?))
    }

    /// Waits for the stream and plans nothing for these uses. Their memory is freed if a later plan needs the room; otherwise it serves the same
    /// use again if it is large enough.
    pub fn spare(&mut self, uses: &[BufferId]) -> Result<()> {
        self.synchronize("waiting for earlier work")?;
        uses.iter().for_each(|&what| self.plan.set(what, 0));
        self.memory().spare(uses);
        Ok(())
    }

    /// Returns the bytes copied to and from the GPU since it was opened here.
    pub fn moved(&self) -> Moved {
        self.account.borrow().all()
    }

    /// Enters copies from now on under this level; `None`: under the answer, after all levels.
    pub fn begin(&self, level: Option<usize>) {
        self.account.borrow_mut().begin(level);
    }

    /// Counts a piece, with this many variables, of a level that runs in pieces because memory is short.
    pub fn piece(&self, variables: usize) {
        self.account.borrow_mut().piece(variables as u64);
    }

    /// Returns the bytes copied and the number of pieces by level, since the last call.
    pub fn shares(&self, machine: &str) -> Vec<Share> {
        self.account.borrow_mut().take(machine)
    }

    /// Returns the shares since the last call as the report of one GPU.
    pub fn report(&self, ordinal: usize) -> TeamReport {
        let mut report = TeamReport::default();
        self.shares(&format!("cuda:{ordinal}")).into_iter().for_each(|share| report.enter(share));
        report
    }

    /// Counts bytes that reach the GPU in other ways: kernels read them from host memory, or another GPU sends them.
    pub fn note_moved(&self, bytes: u64) {
        self.account.borrow_mut().moved(Moved { to: bytes, from: 0 });
    }

    /// Checks that `count` elements from `at` on are in this run's device memory.
    ///
    /// # Panics
    /// If the elements are not all in one piece of that memory: a copy would go beyond it.
    pub(super) fn check<T>(&self, at: DevicePtr<T>, count: usize) {
        let within = self.memory.as_ref().is_some_and(|memory| memory.has(at, count));
        assert!(within, "{count} elements at {at:?} are not in the memory of this run");
    }

    /// Checks the source of a copy from the GPU as [`Held::check`] does, and counts its bytes.
    pub(super) fn check_read<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check(at, count);
        self.account.borrow_mut().moved(Moved { to: 0, from: (count * size_of::<T>()) as u64 });
    }

    /// Checks the target of a copy to the GPU as [`Held::check`] does, and counts its bytes.
    pub(super) fn check_sent<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check_filled(at, count);
        self.account.borrow_mut().moved(Moved { to: (count * size_of::<T>()) as u64, from: 0 });
    }

    /// Checks device memory that is about to be filled as [`Held::check`] does, and notes the filling.
    pub(super) fn check_filled<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check(at, count);
        if let Some(memory) = &self.memory {
            memory.fills(at.address());
        }
    }

    /// Copies `from` to the device after all earlier work on the stream. `from` may change once this returns.
    pub fn upload<T: Copy>(&self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        self.check_sent(to, from.len());
        // SAFETY: there is room, as checked. `from` is not pinned: only code that has made a slice of pinned memory could pass one, and it uses
        // `Held::upload_pinned`.
        unsafe { self.gpu.upload(to, from) }
    }

    /// Copies from pinned memory, which the GPU still reads when this returns.
    ///
    /// # Safety
    /// `from` must not be written before the stream is synchronised. It is not freed before that; see [`Held::pinned`].
    pub unsafe fn upload_pinned<T: Copy>(&mut self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        self.check_sent(to, from.len());
        if self.is_beside {
            self.gpu.upload_beside(to, from)
        } else {
            self.sending = true;
            self.gpu.upload(to, from)
        }
    }

    /// Sends the copies in `run` in parallel with work on the stream. They wait only for what was on the stream when [`Gpu::sends_follow`] was
    /// last called. Work on the stream that needs them must wait by [`Gpu::follow_sends`].
    pub fn ahead<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        self.is_beside = true;
        let outcome = run(self);
        self.is_beside = false;
        outcome
    }

    /// Fills `count` elements on the device with zeros, after all earlier work on the stream.
    pub fn clear<T: Plain>(&self, to: DevicePtr<T>, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.check_filled(to, count);
        // SAFETY: there is room, as checked.
        unsafe { self.gpu.clear(to, count) }
    }

    /// Copies from the device after all earlier work on the stream, and waits for the copy.
    pub fn fetch<T: Plain>(&mut self, from: DevicePtr<T>, to: &mut [T], doing: &str) -> Result<()> {
        self.check_read(from, to.len());
        // SAFETY: as many elements are there, as checked, and `to` is borrowed until the stream is synchronised.
        unsafe { self.gpu.download(from, to.as_mut_ptr(), to.len())? };
        self.synchronize(doing)
    }

    /// Returns pinned memory of at least `bytes`: the earlier memory if it is large enough. No copy from it is under way, and [`Held::bring`]
    /// leaves no copy to it under way.
    pub fn pinned(&mut self, bytes: usize) -> Result<*mut u8> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        self.end_sends()?;
        // SAFETY: both streams have been idle since the last copy from there.
        unsafe { self.memory().pinned(bytes) }
    }

    /// Returns pinned memory as the target of copies. No copy to it is under way, and earlier copies to the GPU on the main stream are done.
    pub(super) fn brought(&mut self, bytes: usize) -> Result<*mut u8> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        // SAFETY: every caller that copies to this memory waits for the copy.
        unsafe { self.memory().brought(bytes) }
    }

    /// Waits for the copies of [`Held::ahead`].
    fn end_sends(&mut self) -> Result<()> {
        if self.ahead.take().is_some() {
            self.gpu.end_sends()?;
        }
        Ok(())
    }

    /// Returns pinned memory of `bytes` that kernels may read by its host address, and that lasts as long as `self`. Call it only once.
    pub fn lasting(&mut self, bytes: usize) -> Result<*mut u8> {
        self.memory().lasting(bytes)
    }

    /// Waits for all work on the stream and for the copies of [`Held::ahead`].
    pub fn synchronize(&mut self, doing: &str) -> Result<()> {
        self.gpu.synchronize(doing)?;
        self.end_sends()?;
        self.rested();
        Ok(())
    }

    /// Notes that the stream is idle.
    fn rested(&mut self) {
        self.sending = false;
        self.memory().settle();
    }

    /// Returns the largest plan so far; no run allocated more.
    pub fn largest_plan(&self) -> &MemoryPlan {
        &self.largest
    }

    /// Returns the bytes that may be planned for these uses together, given the plan for all other uses.
    pub fn room(&mut self, uses: &[BufferId]) -> Result<u64> {
        let others = self.plan.total() - uses.iter().map(|&what| self.plan.of(what)).sum::<u64>();
        let available = self.available()?;
        let room = |free: Room| limit(free, self.budget).saturating_sub(others);
        // A size that is free to choose should not fill the host: unified memory beyond the GPU is for what must be there. A quarter of the GPU
        // may be pages that come and go.
        Ok(room(available.on_gpu()).max(room(available).min(self.gpu.total_memory / 4)))
    }

    /// Returns the memory that is free or already held here.
    fn available(&mut self) -> Result<Room> {
        let gpu = self.gpu.free_memory()? + self.memory().held();
        // Pages of unified memory on the host count as held, but do not occupy the GPU.
        Ok(Room { gpu: gpu.min(self.gpu.total_memory), host: self.kind.of_host() })
    }

    /// Returns the error that `needed` bytes are too many, with the bytes available.
    pub fn too_little(&mut self, needed: u64) -> Error {
        match self.available() {
            Ok(available) => out_of_memory(needed, available, self.budget),
            Err(e) => e,
        }
    }

    /// Waits for the stream, then calls `look` if its last call is more than [`WATCH`] ago. Launches must be short, as the GPU cannot be
    /// interrupted.
    pub fn wait(&mut self, doing: &str, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let began = Instant::now();
        while !self.gpu.is_idle(doing)? {
            if began.elapsed() < Duration::from_millis(2) {
                std::hint::spin_loop();
                continue;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        self.rested();
        if self.looked.elapsed() <= WATCH {
            return Ok(());
        }
        let outcome = look();
        self.looked = Instant::now();
        outcome
    }

    /// Returns whether the GPU has less memory than the budget; true without a budget.
    fn lacks_memory(&mut self) -> bool {
        match (self.budget, self.available()) {
            (Some(budget), Ok(available)) => limit(available.on_gpu(), None) < budget,
            _ => true,
        }
    }

    /// Notes whether a run on the GPU failed or ran out of memory; returns the run's outcome.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => (),
            Err(Error::Device(DeviceError { kind: DeviceKind::Failed, .. })) => self.failed = true,
            Err(error) if error.is_short_of_device_memory() => {
                self.short |= self.lacks_memory();
                self.failed |= self.synchronize("waiting for the work to end").is_err();
            }
            // Kernels launched before the error may still use memory that is about to be reused.
            Err(_) => self.failed |= self.synchronize("waiting for the work to end").is_err(),
        }
        outcome
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        if self.failed {
            self.gpu.abandon();
        } else if self.gpu.is_ours() && self.gpu.bind().is_ok() {
            // Copies and kernels that no run has waited for may still use the memory.
            if self.end_sends().and(self.gpu.synchronize("waiting for the work to end")).is_err() {
                return self.gpu.abandon();
            }
            // SAFETY: the stream is idle.
            unsafe {
                if memory.is_modest(most_kept(self.gpu.total_memory)) && !self.short {
                    self.gpu.keep_memory(memory);
                } else {
                    memory.free();
                }
            }
        }
    }
}

impl Holds for Held {
    fn held(&mut self) -> &mut Held {
        self
    }
}

/// A type that holds a GPU and runs work on it.
pub(in crate::engine::cuda) trait Holds {
    fn held(&mut self) -> &mut Held;

    /// Binds the GPU to this thread, calls `run` and notes whether it failed.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = guarded(|| {
            self.held().gpu.bind()?;
            run(self)
        });
        self.held().note(outcome)
    }
}
