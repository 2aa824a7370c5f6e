//! What several cards have found is brought while they are at work.

use std::sync::Arc;

use super::held::Held;
use super::opened::Card;
use super::transfer::{bring_by, copy, Pinned, PIECE};
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::pool::Pool;
use crate::Result;

/// Brings what several cards have found, on a thread of its own, by way of the pinned memory of one of them.
pub(in crate::engine::cuda) struct Courier {
    pinned: Pinned,
    pool: Pool,
}

/// Elements on a card that are to be brought.
pub(in crate::engine::cuda) struct Parcel<T> {
    card: Arc<Card>,
    from: DevicePtr<T>,
    count: usize,
}

impl Courier {
    /// Copies them to as many places, beside the card's stream. `look` may end it.
    ///
    /// # Safety
    /// Nothing may change or free them meanwhile. The card whose pinned memory this is must still be held, and not have brought anything else.
    ///
    /// # Panics
    /// Where there are not as many places.
    pub unsafe fn bring<T: Plain>(
        &self,
        parcel: &Parcel<T>,
        to: &mut [T],
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        assert_eq!(parcel.count, to.len(), "places for what is brought");
        if to.is_empty() {
            return Ok(());
        }
        parcel.card.bind()?;
        let (pinned, room) = (self.pinned.0.cast::<T>(), PIECE / size_of::<T>());
        let take = |at: usize, piece: &[T]| {
            copy(&self.pool, piece, &mut to[at..at + piece.len()]);
            look()
        };
        bring_by(&parcel.card, pinned, room, (parcel.from, parcel.count), |end| end, take)
    }
}

impl Held {
    /// Who brings what several cards have found: by way of this one's pinned memory, which brings nothing meanwhile.
    pub(in crate::engine::cuda) fn courier(&mut self) -> Result<Courier> {
        Ok(Courier { pinned: Pinned(self.brought(2 * PIECE)?), pool: self.pool.clone() })
    }

    /// Elements that are to be brought by a [`Courier`].
    pub(in crate::engine::cuda) fn parcel<T>(&self, from: DevicePtr<T>, count: usize) -> Parcel<T> {
        self.check_read(from, count);
        Parcel { card: self.card.clone(), from, count }
    }
}
