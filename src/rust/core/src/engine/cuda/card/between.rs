//! Copies between cards.

use super::held::Held;
use super::opened::Card;
use super::unified::MemoryKind;
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::Result;

impl Held {
    /// Copies from another card (or within this one), which has come to rest, once what was put on this one's stream before is done. What is copied may not
    /// change before this one has come to rest, too.
    pub fn copy_from<T: Plain>(
        &mut self,
        to: DevicePtr<T>,
        other: &Card,
        from: DevicePtr<T>,
        count: usize,
    ) -> Result<()> {
        match std::ptr::eq(other, &*self.card) {
            true => self.check_filled(to, count),
            false => self.check_sent(to, count),
        }
        // SAFETY: there is room, as checked; the other card's member has that many there, as both hold the same, and waits.
        unsafe {
            match self.kind {
                MemoryKind::Device => self.card.copy_from(to, other, from, count),
                MemoryKind::Unified { .. } => self.card.copy_unified(to, from, count),
            }
        }
    }

    /// Likewise beside what is on the stream, which must leave the place alone, as must what is put there later before [`Held::follow_copies`]. The other
    /// card need not have come to rest, but no longer change what is copied.
    pub fn copy_beside<T: Plain>(
        &mut self,
        to: DevicePtr<T>,
        other: &Card,
        from: DevicePtr<T>,
        count: usize,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if let MemoryKind::Unified { .. } = self.kind {
            return self.copy_from(to, other, from, count);
        }
        self.check_sent(to, count);
        self.sharing = true;
        // SAFETY: there is room, as checked; that many are there, as both hold the same. Whoever ends a run waits for it.
        unsafe { self.card.copy_from_beside(to, other, from, count) }
    }

    /// Copies to another card what was put on the stream before, beside what is put there later. That card must not use the place before this one's
    /// [`Held::synchronize`], which waits for it; its copy is not counted.
    ///
    /// # Safety
    /// The other card must have room for `count` elements at `to`.
    pub unsafe fn give_beside<T: Plain>(
        &mut self,
        to: DevicePtr<T>,
        other: &Card,
        from: DevicePtr<T>,
        count: usize,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.check(from, count);
        if let MemoryKind::Unified { .. } = self.kind {
            return self.card.copy_unified(to, from, count);
        }
        self.sharing = true;
        self.card.sends_follow()?;
        self.card.copy_to_beside(to, other, from, count)
    }

    /// Has what is put on the stream later wait for copies by [`Held::copy_beside`].
    pub fn follow_copies(&self) -> Result<()> {
        match self.sharing {
            true => self.card.follow_sends(),
            false => Ok(()),
        }
    }
}
