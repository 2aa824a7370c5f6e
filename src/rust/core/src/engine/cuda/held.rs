//! A card while something runs on it: its memory, waiting, and how what ran there ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::{self, Card};
use super::memory::{Memory, Use};
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
    /// Whether a failure was met after which nothing on the card can be relied on.
    failed: bool,
    /// When the caller was last asked whether to stop.
    looked: Instant,
}

impl Held {
    /// The card with this number, opened at the first call of a process.
    pub fn open(ordinal: usize, pool: Pool) -> Result<Self> {
        let card = Card::open(ordinal)?;
        let memory = Some(card.take_memory());
        Ok(Held { card, pool, memory, failed: false, looked: Instant::now() })
    }

    pub fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(Memory::default)
    }

    /// Device memory for a use.
    pub fn device(&mut self, what: Use, bytes: u64) -> Result<u64> {
        self.memory().device(what, bytes)
    }

    /// Bytes of the card that are free or held here.
    pub fn available(&mut self) -> Result<u64> {
        Ok(self.card.memory_info()?.0 + self.memory().held())
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
            if memory.is_modest() {
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
