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

/// Time between two questions of the calling thread whether to stop.
const WATCH: Duration = Duration::from_millis(20);

/// A GPU and the memory that earlier runs left on it. When this is dropped, the memory is kept for the next run or freed; after
/// a failure the GPU's context is given up.
pub(in crate::engine::cuda) struct Held {
    pub gpu: Arc<Gpu>,
    /// Threads of the CPU that help.
    pub pool: Pool,
    memory: Option<Memory>,
    /// Which memory that is.
    pub(super) kind: MemoryKind,
    /// Whether a copy from pinned memory may be under way on the stream.
    sending: bool,
    /// Whether copies from pinned memory go beside the stream.
    pub(super) is_beside: bool,
    /// Whether one may be under way there; then the place of pinned memory, of those that take turns, that is the next.
    pub(super) ahead: Option<usize>,
    /// Bytes of the GPU that may be used; none: what is free.
    budget: Option<u64>,
    /// The memory that what runs next needs.
    pub plan: MemoryPlan,
    /// By use, the most that was committed so far.
    all: MemoryPlan,
    /// `all` while that fits the GPU, else the largest plan that was committed.
    largest: MemoryPlan,
    /// Whether memory ran out: it is then freed at the end, as it may be in the way of others.
    short: bool,
    /// Whether the GPU failed: nothing on it can then be relied on.
    failed: bool,
    /// When the caller was last asked whether to stop.
    looked: Instant,
    /// What was copied to the GPU and from it.
    account: Accounts,
}

impl Held {
    /// The GPU with this number, opened at the first call of a process, of which `budget` bytes may be used, of this kind.
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

    /// Whether the GPU has room for what is planned.
    pub fn fits(&mut self) -> Result<bool> {
        let available = self.available()?;
        Ok(self.plan.check(available, self.budget).is_ok())
    }

    /// Begins anew with an empty plan: nothing on the GPU is needed any more. Nothing may run.
    pub fn restart(&mut self) {
        self.memory().begin();
        self.plan = MemoryPlan::default();
    }

    /// Ends planning: refuses the plan where the GPU is too small for it, else makes room for it.
    pub fn commit(&mut self) -> Result<()> {
        let mut available = self.available()?;
        // What nobody uses makes room for what somebody does.
        if self.plan.total() > limit(available.on_gpu(), self.budget) && self.gpu.kept_memory() > 0 {
            self.gpu.drop_memory();
            available = self.available()?;
        }
        self.plan.check(available, self.budget)?;
        let (plan, exactly) = (self.plan.clone(), self.budget.is_some());
        let limit = limit(available.on_gpu(), self.budget);
        // Memory that one level needs and another does not is kept between levels where there is room for all of it.
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

    /// Likewise, and frees all that is not just as planned, once what was put on the stream is done.
    pub fn commit_exactly(&mut self) -> Result<()> {
        self.synchronize("what ran")?;
        let plan = self.plan.clone();
        // SAFETY: the stream has come to rest.
        unsafe { self.memory().keep_exact(&plan) };
        self.commit()
    }

    /// The address of the device memory for a use, as planned and committed. It keeps its contents if it was large enough, else
    /// they are undefined.
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

    /// Plans nothing for these uses, once what was put on the stream is done: what there is for them is freed where a later plan needs its room, and
    /// serves the same use then where it is large enough.
    pub fn spare(&mut self, uses: &[BufferId]) -> Result<()> {
        self.synchronize("what ran")?;
        uses.iter().for_each(|&what| self.plan.set(what, 0));
        self.memory().spare(uses);
        Ok(())
    }

    /// What was copied to the GPU and from it since it was opened.
    pub fn moved(&self) -> Moved {
        self.account.borrow().all()
    }

    /// What is copied from now on belongs to this level; none: to the answer, once all levels have run.
    pub fn begin(&self, level: Option<usize>) {
        self.account.borrow_mut().begin(level);
    }

    /// Notes that a level runs in pieces, for want of memory, and that this one has so many variables.
    pub fn piece(&self, variables: usize) {
        self.account.borrow_mut().piece(variables as u64);
    }

    /// By level, what was copied, and in how many pieces it ran, since this was asked last.
    pub fn shares(&self, machine: &str) -> Vec<Share> {
        self.account.borrow_mut().take(machine)
    }

    /// The same as what one GPU says of itself.
    pub fn report(&self, ordinal: usize) -> TeamReport {
        let mut report = TeamReport::default();
        self.shares(&format!("cuda:{ordinal}")).into_iter().for_each(|share| report.enter(share));
        report
    }

    /// Counts bytes that come to the GPU by another way: kernels read them in the host's memory, or another GPU gives them.
    pub fn note_moved(&self, bytes: u64) {
        self.account.borrow_mut().moved(Moved { to: bytes, from: 0 });
    }

    /// Checks the place of a copy of `count` elements.
    ///
    /// # Panics
    /// Where they are not all in one piece of the device memory that this run was given: the copy would go beyond it.
    pub(super) fn check<T>(&self, at: DevicePtr<T>, count: usize) {
        let within = self.memory.as_ref().is_some_and(|memory| memory.has(at, count));
        assert!(within, "{count} elements at {at:?} are not in the memory of this run");
    }

    /// Likewise of a copy from the GPU; counts its bytes.
    pub(super) fn check_read<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check(at, count);
        self.account.borrow_mut().moved(Moved { to: 0, from: (count * size_of::<T>()) as u64 });
    }

    /// Likewise of a copy to the GPU.
    pub(super) fn check_sent<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check_filled(at, count);
        self.account.borrow_mut().moved(Moved { to: (count * size_of::<T>()) as u64, from: 0 });
    }

    /// Checks a place that is filled.
    pub(super) fn check_filled<T>(&self, at: DevicePtr<T>, count: usize) {
        self.check(at, count);
        if let Some(memory) = &self.memory {
            memory.fills(at.address());
        }
    }

    /// Copies `from` to the device, once what was put on the stream before is done; `from` may change on return.
    pub fn upload<T: Copy>(&self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        self.check_sent(to, from.len());
        // SAFETY: there is room, as checked. Only who has made a slice of pinned memory could hand it to this, and
        // `Held::upload_pinned` is for that.
        unsafe { self.gpu.upload(to, from) }
    }

    /// Likewise from pinned memory, which the GPU still reads on return.
    ///
    /// # Safety
    /// `from` must not be written before the stream is synchronised. It is not freed before: see [`Held::pinned`].
    pub unsafe fn upload_pinned<T: Copy>(&mut self, to: DevicePtr<T>, from: &[T]) -> Result<()> {
        self.check_sent(to, from.len());
        if self.is_beside {
            self.gpu.upload_beside(to, from)
        } else {
            self.sending = true;
            self.gpu.upload(to, from)
        }
    }

    /// Has what `run` sends go ahead of what is put on the stream later, once what was put there before [`Gpu::sends_follow`] was called last
    /// is done. What needs it calls [`Gpu::follow_sends`].
    pub fn ahead<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        self.is_beside = true;
        let outcome = run(self);
        self.is_beside = false;
        outcome
    }

    /// Puts zeros on the device, once what was put on the stream before is done.
    pub fn clear<T: Plain>(&self, to: DevicePtr<T>, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.check_filled(to, count);
        // SAFETY: there is room, as checked.
        unsafe { self.gpu.clear(to, count) }
    }

    /// Copies from the device, once what was put on the stream before is done, and waits for it.
    pub fn fetch<T: Plain>(&mut self, from: DevicePtr<T>, to: &mut [T], doing: &str) -> Result<()> {
        self.check_read(from, to.len());
        // SAFETY: as many elements are there, as checked, and `to` is not given back before the stream is synchronised.
        unsafe { self.gpu.download(from, to.as_mut_ptr(), to.len())? };
        self.synchronize(doing)
    }

    /// Pinned memory of at least `bytes`, that which was given before if it is large enough. No copy is under way from there;
    /// [`Held::bring`] leaves none under way to there.
    pub fn pinned(&mut self, bytes: usize) -> Result<*mut u8> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        self.end_sends()?;
        // SAFETY: both streams have come to rest since the last copy from there.
        unsafe { self.memory().pinned(bytes) }
    }

    /// Pinned memory to which is copied; no copy to there is under way. What was sent before has come.
    pub(super) fn brought(&mut self, bytes: usize) -> Result<*mut u8> {
        if self.sending {
            self.synchronize("copying to the GPU")?;
        }
        // SAFETY: who copies there waits for it.
        unsafe { self.memory().brought(bytes) }
    }

    /// Waits for what goes ahead.
    fn end_sends(&mut self) -> Result<()> {
        if self.ahead.take().is_some() {
            self.gpu.end_sends()?;
        }
        Ok(())
    }

    /// Pinned memory of `bytes` that kernels may read by its address on the host, and that stays as long as this does: to be called once.
    pub fn lasting(&mut self, bytes: usize) -> Result<*mut u8> {
        self.memory().lasting(bytes)
    }

    /// Waits until all that was put on the stream, or beside it, is done.
    pub fn synchronize(&mut self, doing: &str) -> Result<()> {
        self.gpu.synchronize(doing)?;
        self.end_sends()?;
        self.rested();
        Ok(())
    }

    /// Notes that the stream has come to rest.
    fn rested(&mut self) {
        self.sending = false;
        self.memory().settle();
    }

    /// The largest plan so far: what ran was allocated no more.
    pub fn largest_plan(&self) -> &MemoryPlan {
        &self.largest
    }

    /// Bytes that may be planned for these uses, beside what is planned for all others.
    pub fn room(&mut self, uses: &[BufferId]) -> Result<u64> {
        let others = self.plan.total() - uses.iter().map(|&what| self.plan.of(what)).sum::<u64>();
        let available = self.available()?;
        let room = |free: Room| limit(free, self.budget).saturating_sub(others);
        // Who may choose should not fill the host, too: unified memory beyond the GPU is for what must be. A quarter of the GPU can do
        // with pages that come and go.
        Ok(room(available.on_gpu()).max(room(available).min(self.gpu.total_memory / 4)))
    }

    /// What is free or held here.
    fn available(&mut self) -> Result<Room> {
        let gpu = self.gpu.free_memory()? + self.memory().held();
        // Pages of unified memory that are on the host are held, and are not the GPU's.
        Ok(Room { gpu: gpu.min(self.gpu.total_memory), host: self.kind.of_host() })
    }

    /// The error that says that `needed` bytes are too many, with the bytes there are.
    pub fn too_little(&mut self, needed: u64) -> Error {
        match self.available() {
            Ok(available) => out_of_memory(needed, available, self.budget),
            Err(e) => e,
        }
    }

    /// Waits for the stream, then calls `look` if the last time is more than [`WATCH`] ago. Launches must be short, as the GPU
    /// cannot be interrupted.
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

    /// Whether the GPU has less memory than may be used of it.
    fn lacks_memory(&mut self) -> bool {
        match (self.budget, self.available()) {
            (Some(budget), Ok(available)) => limit(available.on_gpu(), None) < budget,
            _ => true,
        }
    }

    /// Notes whether a run on the GPU failed or ran out of memory; returns its outcome.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => (),
            Err(Error::Device(DeviceError { kind: DeviceKind::Failed, .. })) => self.failed = true,
            Err(error) if error.is_short_of_device_memory() => {
                self.short |= self.lacks_memory();
                self.failed |= self.synchronize("ending what ran").is_err();
            }
            // What was launched before the error still runs on memory that is about to be reused.
            Err(_) => self.failed |= self.synchronize("ending what ran").is_err(),
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
            // Copies and launches that no run has waited for still use the memory.
            if self.end_sends().and(self.gpu.synchronize("ending what ran")).is_err() {
                return self.gpu.abandon();
            }
            // SAFETY: the stream has come to rest.
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

/// Something that holds a GPU and runs on it.
pub(in crate::engine::cuda) trait Holds {
    fn held(&mut self) -> &mut Held;

    /// Binds the GPU to this thread and calls `run`; notes how that ended.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = guarded(|| {
            self.held().gpu.bind()?;
            run(self)
        });
        self.held().note(outcome)
    }
}
