//! A level's work, its shards and their answers as bytes, for workers of other processes. Numbers are in little-endian order or, if most
//! are small, in groups of seven bits (LEB128). Bytes that were not made here are read as `None`.
//!
//! A remote worker has the data. It gets the frozen neighbourhoods, whole or as changes ([`Frozen::to_bytes`](graph::Frozen::to_bytes)),
//! then shards with their pairs ([`Work::piece_to_bytes`](super::shards::Work::piece_to_bytes)). It returns
//! [`Answers`](super::answer::Answers): verdicts with ranks, from which the receiver works out the sets. Columns of level 0, pairs of level
//! 1 ([`pairs`](super::pairs)) and batches of questions are sent in the same way. Each message is in an [envelope](envelope).

pub mod envelope;
pub mod graph;
mod level;
mod questions;
mod shards;

/// Bytes that are being written.
#[derive(Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a number that is small as a rule.
    pub fn small(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn float(&mut self, value: f64) {
        self.number(value.to_bits());
    }

    pub fn vertex(&mut self, vertex: u32) {
        self.0.extend_from_slice(&vertex.to_le_bytes());
    }

    pub fn vertices(&mut self, list: &[u32]) {
        self.number(list.len() as u64);
        list.iter().for_each(|&vertex| self.vertex(vertex));
    }

    pub fn text(&mut self, text: &str) {
        self.small(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes ascending numbers as runs of consecutive ones.
    pub fn runs(&mut self, list: &[u32]) {
        let runs = || list.chunk_by(|a, b| a + 1 == *b);
        self.small(runs().count() as u64);
        let mut next = 0;
        for run in runs() {
            self.small(u64::from(run[0] - next));
            self.small(run.len() as u64);
            next = run[0] + run.len() as u32;
        }
    }
}

/// Bytes that are being read.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Reads a number that [`Writer::small`] has written.
    #[inline]
    pub fn small(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn float(&mut self) -> Option<f64> {
        self.number().map(f64::from_bits)
    }

    pub fn index(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub fn small_index(&mut self) -> Option<usize> {
        usize::try_from(self.small()?).ok()
    }

    pub fn vertex(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn vertices(&mut self) -> Option<Vec<u32>> {
        let count = self.count(4)?;
        (0..count).map(|_| self.vertex()).collect()
    }

    /// Reads text. `None` if it has a NUL: R has no such texts, and nothing here writes one.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.small_index()?;
        std::str::from_utf8(self.take(length)?).ok().filter(|text| !text.contains('\0'))
    }

    /// Reads numbers that [`Writer::runs`] has written, all below `end`.
    pub fn runs(&mut self, end: usize) -> Option<Vec<u32>> {
        let mut list = Vec::new();
        let mut next = 0;
        for _ in 0..self.small()? {
            let from = self.small_index()?.checked_add(next)?;
            next = self.small_index()?.checked_add(from).filter(|&to| to <= end)?;
            list.extend(from as u32..next as u32);
        }
        Some(list)
    }

    /// Returns `count` if the bytes suffice for as many elements with at least `bytes` bytes each.
    pub fn fits(&self, count: usize, bytes: usize) -> Option<usize> {
        (count.saturating_mul(bytes) <= self.0.len()).then_some(count)
    }

    /// Reads the length of a list whose elements take at least `bytes` bytes each. `None` if the bytes do not suffice.
    pub fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = self.index()?;
        self.fits(count, bytes)
    }

    /// Returns `found` if all bytes have been read.
    pub fn end<T>(self, found: T) -> Option<T> {
        self.0.is_empty().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_runs_and_text_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let runs: [&[u32]; 4] = [&[], &[0, 1, 2, 9], &[5], &[1, 3, 5, 6, 7]];
        let mut bytes = Writer::default();
        numbers.iter().for_each(|&number| bytes.small(number));
        runs.iter().for_each(|run| bytes.runs(run));
        bytes.text("größer");
        let all = bytes.0;
        let read = |bytes: &[u8]| {
            let mut bytes = Reader(bytes);
            let found: Vec<u64> = (0..numbers.len()).map(|_| bytes.small()).collect::<Option<_>>()?;
            let lists: Vec<Vec<u32>> = (0..runs.len()).map(|_| bytes.runs(10)).collect::<Option<_>>()?;
            let text = bytes.text()?.to_owned();
            bytes.end((found, lists, text))
        };
        let (found, lists, text) = read(&all).unwrap();
        assert_eq!((found, text.as_str()), (numbers.to_vec(), "größer"));
        assert_eq!(lists, runs);
        (0..all.len()).for_each(|cut| assert!(read(&all[..cut]).is_none()));
        // A number of more than 64 bits, and a run beyond the end.
        assert_eq!(Reader(&[0xff; 11]).small(), None);
        assert_eq!(Reader(&[1, 8, 3]).runs(10), None);
        assert_eq!((Reader(b"\x03a\0b").text(), Reader(b"\x03abc").text()), (None, Some("abc")));
    }
}
