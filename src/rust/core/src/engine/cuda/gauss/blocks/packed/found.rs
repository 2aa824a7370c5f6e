//! Results of a side of a batch, by entry of its lists, in one copy.

use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::pointer::DevicePtr;
use crate::Result;

/// Results as words of 32 bits: p-values of two words each, then verdicts, then sets of `size` numbers, one of each for an entry.
pub(super) struct SideFound {
    words: Vec<u32>,
    entries: usize,
    size: usize,
}

impl SideFound {
    /// Returns the number of words for the results of `entries` with sets of `size`.
    pub fn words(entries: usize, size: usize) -> usize {
        (3 + size) * entries
    }

    /// Returns the addresses of p-values, verdicts and sets of results that start at `at`.
    pub fn places(at: DevicePtr<f64>, entries: usize) -> (DevicePtr<f64>, DevicePtr<u32>, DevicePtr<u32>) {
        let entries = entries as u64;
        (at, at.carve(8 * entries), at.carve(12 * entries))
    }

    /// Copies the results at `at` to the host. The copy must follow the kernel that writes them, see [`Held::bring`].
    pub fn bring(held: &mut Held, at: DevicePtr<f64>, entries: usize, size: usize) -> Result<Self> {
        let words = held.bring_all(at.cast(), Self::words(entries, size))?;
        Ok(SideFound { words, entries, size })
    }

    /// Returns the verdict on an entry.
    pub fn verdict(&self, entry: usize) -> u32 {
        self.words[2 * self.entries + entry]
    }

    /// Returns the largest p of an entry's tests, or that of the test that separates.
    pub fn value(&self, entry: usize) -> f64 {
        let [low, high] = [self.words[2 * entry], self.words[2 * entry + 1]].map(u64::from);
        f64::from_bits(high << 32 | low)
    }

    /// Returns the numbers of the set that separates an entry, or zeros.
    pub fn set(&self, entry: usize) -> &[u32] {
        &self.words[3 * self.entries + entry * self.size..][..self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_where_kernels_write_them() {
        let (entries, size) = (3, 2);
        let values = [0.5f64, f64::MIN_POSITIVE, 1.0 / 3.0];
        let mut words: Vec<u32> =
            values.iter().flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]).collect();
        words.extend([7, 8, 9, 10, 11, 20, 21, 30, 31]);
        let (at, verdict, sets) = SideFound::places(DevicePtr::at(4096), entries);
        let word_of = |address: u64| ((address - at.address()) / 4) as usize;
        assert_eq!((words[word_of(verdict.address())], words[word_of(sets.address())]), (7, 10));
        assert_eq!(words.len(), SideFound::words(entries, size));
        let found = SideFound { words, entries, size };
        for (entry, value) in values.into_iter().enumerate() {
            assert_eq!((found.verdict(entry), found.value(entry)), (7 + entry as u32, value));
            assert_eq!(found.set(entry), [10 * (entry + 1) as u32, 10 * (entry + 1) as u32 + 1]);
        }
    }
}
