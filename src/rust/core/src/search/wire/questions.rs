//! Batches of questions as bytes.

use super::{Reader, Writer};
use crate::ci::Batch;
use std::ops::Range;

impl Batch {
    /// Returns some of the questions as bytes.
    pub fn to_bytes(&self, questions: Range<usize>) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.small(questions.len() as u64);
        for question in questions {
            let (x, y, s) = self.get(question);
            [x, y, s.len()].iter().for_each(|&number| bytes.small(number as u64));
            s.iter().for_each(|&member| bytes.small(u64::from(member)));
        }
        bytes.0
    }

    /// Reads questions from bytes. `None` if they are not those of [`Batch::to_bytes`] on p variables.
    pub fn from_bytes(bytes: &[u8], p: usize) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let count = bytes.small_index()?;
        let mut batch = Batch::with_space(bytes.fits(count, 3)?, 0).ok()?;
        let mut set = Vec::new();
        for _ in 0..count {
            let (x, y, size) = (bytes.small_index()?, bytes.small_index()?, bytes.small_index()?);
            set.clear();
            for _ in 0..bytes.fits(size, 1)? {
                set.push(u32::try_from(bytes.small()?).ok()?);
            }
            let are_vertices = x < p && y < p && set.iter().all(|&member| (member as usize) < p);
            are_vertices.then(|| batch.push(x, y, &set))?;
        }
        bytes.end(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_come_back() {
        let mut batch = Batch::new();
        let questions: [(usize, usize, &[u32]); 4] =
            [(0, 1, &[]), (300, 2, &[5, 4]), (7, 399, &[0]), (1, 0, &[9, 8, 7])];
        questions.iter().for_each(|&(x, y, s)| batch.push(x, y, s));
        let bytes = batch.to_bytes(1..4);
        let back = Batch::from_bytes(&bytes, 400).unwrap();
        assert!(back.iter().eq(questions[1..].iter().copied()));
        assert!(Batch::from_bytes(&bytes, 399).is_none());
        (0..bytes.len()).for_each(|cut| assert!(Batch::from_bytes(&bytes[..cut], 400).is_none()));
    }
}
