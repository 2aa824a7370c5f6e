//! A card while something runs on it: its memory, waiting, and how what ran there ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::{self, Card};
use super::memory::{Memory, Use};
use super::plan::{limit, out_of_memory, Plan};
use crate::error::{DeviceError, DeviceKind};
use crate::pool::Pool;
use crate::{Error, Result};

/// Time between two looks of the calling thread at whether to stop.
const WATCH: Duration = Duration::from_millis(20);

/// A card and the memory that was left on it. At the end the memory is kept for the next, or the card given up where nothing on
/// it can be relied on.
pub(super) struct Held {
    pub card: Arc<Card>,
    /// Threads that work for it.
    pub pool: Pool,
    memory: Option<Memory>,
    /// Bytes of the card that may be used; none: what is free.
    budget: Option<u64>,
    /// What will be needed.
    pub plan: Plan,
    /// The most that was committed by use, all together, and the largest of plans that fit the card.
    all: Plan,
    largest: Plan,
    /// Whether memory ran out: what is kept may be in the way of others.
    short: bool,
    /// Whether a failure was met after which nothing on the card can be relied on.
    failed: bool,
    /// When the caller was last asked whether to stop.
    looked: Instant,
}

impl Held {
    /// The card with this number, opened at the first call of a process, of which `budget` bytes may be used.
    pub fn open(ordinal: usize, pool: Pool, budget: Option<u64>) -> Result<Self> {
        let card = Card::open(ordinal)?;
        let mut memory = card.take_memory();
        memory.begin();
        let (plan, all, largest) = Default::default();
        let looked = Instant::now();
        Ok(Held { card, pool, memory: Some(memory), budget, plan, all, largest, short: false, failed: false, looked })
    }

    pub fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(Memory::default)
    }

    /// Ends planning: refuses the plan where the card is too small for it, and makes room for it.
    pub fn commit(&mut self) -> Result<()> {
        let available = self.available()?;
        self.plan.check(available, self.budget)?;
        let (plan, limit, exactly) = (self.plan.clone(), limit(available, self.budget), self.budget.is_some());
        // What one level needs and another does not is kept from level to level where there is room for all of it.
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

    /// Device memory for a use, as planned and committed; its contents are undefined, but for what was there if that was enough.
    pub fn device(&mut self, what: Use) -> Result<u64> {
        let bytes = self.plan.of(what);
        debug_assert!(bytes > 0, "{what:?} is not planned");
        self.memory().device(what, bytes)
    }

    /// What was planned at most: no more was allocated for what was run.
    pub fn largest_plan(&self) -> &Plan {
        &self.largest
    }

    /// Bytes that may be planned beside what is planned, but for these uses.
    pub fn room(&mut self, uses: &[Use]) -> Result<u64> {
        let others = self.plan.total() - uses.iter().map(|&what| self.plan.of(what)).sum::<u64>();
        Ok(limit(self.available()?, self.budget).saturating_sub(others))
    }

    /// Bytes of the card that are free or held here.
    fn available(&mut self) -> Result<u64> {
        Ok(self.card.memory_info()?.0 + self.memory().held())
    }

    /// The error that names what is needed and what there is.
    pub fn too_little(&mut self, needed: u64) -> Error {
        match self.available() {
            Ok(available) => out_of_memory(needed, available, self.budget),
            Err(e) => e,
        }
    }

    /// Waits for the stream, looking up now and then. The card cannot be interrupted, so that what was launched must be short.
    pub fn wait(&mut self, doing: &str, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let began = Instant::now();
        while !self.card.is_idle(doing)? {
            if began.elapsed() < Duration::from_millis(2) {
                std::hint::spin_loop();
                continue;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        if self.looked.elapsed() <= WATCH {
            return Ok(());
        }
        let outcome = look();
        self.looked = Instant::now();
        outcome
    }

    /// Remembers how something on the card ended.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => (),
            Err(Error::Device(DeviceError { kind: DeviceKind::Failed, .. })) => self.failed = true,
            Err(Error::Device(DeviceError { kind: DeviceKind::OutOfMemory, .. })) => {
                self.short = true;
                self.failed |= self.card.synchronize("ending what ran").is_err();
            }
            // What was launched before the error still runs on memory that is about to be reused.
            Err(_) => self.failed |= self.card.synchronize("ending what ran").is_err(),
        }
        outcome
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        if self.failed {
            self.card.abandon();
        } else if self.card.is_ours() && self.card.bind().is_ok() {
            if memory.is_modest() && !self.short {
                self.card.keep_memory(memory);
            } else {
                memory.free();
            }
        }
    }
}

impl Holds for Held {
    fn held(&mut self) -> &mut Held {
        self
    }
}

/// What runs on a card that it holds.
pub(super) trait Holds {
    fn held(&mut self) -> &mut Held;

    /// Runs something on the card, and remembers when it failed for good.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = device::guarded(|| {
            self.held().card.bind()?;
            run(self)
        });
        self.held().note(outcome)
    }
}
