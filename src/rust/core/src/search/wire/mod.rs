//! A level's work, its shards and their answers as bytes, for workers of other processes: numbers in little-endian order, lists with
//! their length before them. Bytes that were not made here come back as `None`.
//!
//! A worker that is far away has the data. It is sent the frozen neighbourhoods, whole or as what changed
//! ([`Neighbours::to_bytes`](super::level::Neighbours::to_bytes)), then the pairs to be decided
//! ([`Work::to_bytes`](super::shards::Work::to_bytes)), then shards, and sends back [`Answers`](super::answer::Answers).

mod level;
mod shards;

#[derive(Default)]
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn vertex(&mut self, vertex: u32) {
        self.0.extend_from_slice(&vertex.to_le_bytes());
    }

    pub fn vertices(&mut self, list: &[u32]) {
        self.number(list.len() as u64);
        list.iter().for_each(|&vertex| self.vertex(vertex));
    }
}

pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn index(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub fn vertex(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn vertices(&mut self) -> Option<Vec<u32>> {
        let count = self.count(4)?;
        (0..count).map(|_| self.vertex()).collect()
    }

    /// A number of elements that take at least so many bytes each: no more than there can be.
    pub fn fits(&self, count: usize, bytes: usize) -> Option<usize> {
        (count.saturating_mul(bytes) <= self.0.len()).then_some(count)
    }

    /// The length of a list, likewise.
    pub fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = self.index()?;
        self.fits(count, bytes)
    }
}
