//! Which codes stay on the card, and which are copied for each step, where the card has too little memory for all.

use std::ops::Range;

use super::{stride, CudaCounting, SelectionStrategy, STAGED_CODES};
use crate::observer::Observer;
use crate::Result;

/// The codes that are copied for each step, a part after the other.
#[derive(Clone, Default)]
pub(super) struct Streamed {
    /// Features, in the card's order, whose codes are there together. They come behind those that stay.
    pub parts: Vec<Range<usize>>,
    /// The byte where a part's codes begin on the card, and how many it may have; 0: all stay.
    at: u64,
    bytes: u64,
    /// The half of pinned memory that the next part is written to.
    turn: usize,
}

/// Parts take this share of the bytes for codes, unless that is more than pinned memory has or less than a feature takes.
const SHARE: u64 = 4;

impl CudaCounting<'_> {
    /// Bytes for codes on the card, where all take `all`; plans nothing. Where not all fit, places the features.
    pub(super) fn place_codes(&mut self, all: u64) -> Result<u64> {
        let n = self.samples.n();
        let room = self.held.room(&[])?.saturating_sub(self.of_tables);
        self.streamed = Streamed::default();
        if let SelectionStrategy::Joined { .. } = self.options.strategy {
            self.batch_bytes = self.batch_within(room);
            return Ok(2 * self.batch_bytes as u64);
        }
        if all <= room {
            return Ok(all);
        }
        let widest = self.features.iter().map(|f| stride(n, f.wide > 0)).max().unwrap_or(0);
        if widest > room {
            let others = self.held.plan.total() + self.of_tables;
            return Err(self.held.too_little(others + widest));
        }
        let room = room / 16 * 16;
        let bytes = (room / SHARE / 16 * 16).min(STAGED_CODES as u64 / 2).max(widest);
        self.streamed.bytes = bytes;
        self.streamed.at = room - bytes;
        let mut stays = 0;
        while stays < self.features.len() && self.end_of(stays) <= self.streamed.at {
            stays += 1;
        }
        self.cut_from(stays);
        Ok(room)
    }

    /// Where a feature's codes end on the card.
    fn end_of(&self, feature: usize) -> u64 {
        let feature = &self.features[feature];
        feature.at + stride(self.samples.n(), feature.wide > 0)
    }

    /// Cuts the features from this one on into parts.
    fn cut_from(&mut self, stays: usize) {
        let n = self.samples.n();
        let Streamed { at, bytes, .. } = self.streamed;
        self.streamed.parts.clear();
        let (mut from, mut end) = (stays, at);
        for feature in stays..self.features.len() {
            let size = stride(n, self.features[feature].wide > 0);
            if end + size > at + bytes {
                self.streamed.parts.push(from..feature);
                (from, end) = (feature, at);
            }
            self.features[feature].at = end;
            end += size;
        }
        if from < self.features.len() {
            self.streamed.parts.push(from..self.features.len());
        }
    }

    /// Cuts again what is copied, once features were given away.
    pub(super) fn cut_streamed(&mut self) {
        if self.streamed.bytes > 0 {
            let stays = self.features.partition_point(|feature| feature.at < self.streamed.at);
            self.cut_from(stays);
        }
    }

    /// How many features' codes stay on the card: the first.
    pub(super) fn staying(&self) -> usize {
        self.streamed.parts.first().map_or(self.features.len(), |part| part.start)
    }

    /// Whether the codes of the feature at this place of the range stay.
    pub(super) fn stays(&self, place: usize) -> bool {
        self.slots[place].0 < self.staying()
    }

    /// Copies the codes of a part. The CPU writes them to pinned memory while the card still counts the part before.
    pub(super) fn stream(&mut self, part: &Range<usize>, observer: &mut dyn Observer, done: f64) -> Result<()> {
        self.held.piece(part.len());
        let half = self.streamed.bytes as usize;
        let bytes = (self.end_of(part.end - 1) - self.streamed.at) as usize;
        let pinned = self.held.pinned_beside(2 * half)?;
        // SAFETY: a half holds `half` bytes, and the copy from it two parts ago is done: the part between waited for the stream.
        let filled = unsafe { std::slice::from_raw_parts_mut(pinned.add(self.streamed.turn * half), bytes) };
        self.write_all(&self.features[part.clone()], filled);
        self.wait("counting", observer, done, 1.0)?;
        // SAFETY: written above, and written again after the part between has waited for the stream.
        unsafe { self.held.upload_pinned(self.args.data.offset(self.streamed.at), filled)? };
        self.streamed.turn = 1 - self.streamed.turn;
        Ok(())
    }
}
