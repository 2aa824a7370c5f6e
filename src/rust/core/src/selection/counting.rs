//! The counts that an engine makes for a selection.

use super::Samples;
use crate::observer::Observer;
use crate::team::{Moved, TeamReport};
use crate::Result;

/// Sums of t(c) = c log₂ c, in the fixed point of [`CountLogs`](super::CountLogs), over the tables of a candidate f, a partner g and the
/// class y.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Sum over the cells of (f, g).
    pub pair: i64,
    /// Sum over the cells of (f, g, y).
    pub with_class: i64,
}

/// The partner of each candidate in a table.
#[derive(Clone, Copy, Debug)]
pub enum Partner<'a> {
    /// Nothing: the tables are those of f and of (f, y).
    Nothing,
    /// A feature.
    Feature(usize),
    /// Several features as one variable.
    Joint(&'a Joint),
}

/// Several discrete variables as one, whose levels are the combinations that occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    /// The code of each sample, below `levels`.
    pub codes: Vec<u32>,
    /// Number of combinations.
    pub levels: usize,
}

/// A machine that counts for a range of the features (a shard), which may be all of them.
///
/// Guarantee: the sums depend only on data and arguments, never on threads, devices or timing. The observer is called from the calling
/// thread, at least about ten times a second, with the finished share of the call.
pub trait Counting {
    /// Writes the sums of the features in the range; `skip` and `sums` have one element for each feature. Sums whose `skip` is true stay
    /// unchanged.
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()>;

    /// Returns whether it has no memory for more features. None move to it then.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns how many likely partners [`Counting::foresee`] can use.
    fn foresees(&self) -> usize {
        0
    }

    /// Receives features that may soon be partners, the likeliest first. This changes no sums.
    fn foresee(&mut self, _likely: &[usize]) {}

    /// Restricts the range to its first `count` features: from now on other machines have the others.
    fn narrow(&mut self, count: usize);

    /// Returns the bytes copied to and from the machine so far; none if it reads the caller's memory.
    fn moved(&self) -> Moved {
        Moved::default()
    }

    /// Reports the bytes copied, and the pieces in which features were counted, since the last call; empty for the CPU.
    fn report(&mut self) -> TeamReport {
        TeamReport::default()
    }
}

impl Joint {
    /// Returns a single combination, that of no variable.
    pub fn of_nothing(n: usize) -> Self {
        Joint { codes: vec![0; n], levels: 1 }
    }

    /// Returns a variable of the samples as a joint variable.
    pub fn of_variable(samples: &Samples, variable: usize) -> Self {
        let mut joint = Joint::of_nothing(samples.n());
        joint.refine(samples, variable);
        joint
    }

    /// Adds a variable of the samples. Combinations are numbered in ascending order: by the earlier combination, then by the new variable.
    pub fn refine(&mut self, samples: &Samples, variable: usize) {
        let (codes, levels) = (samples.codes(variable).to_vec(samples.n()), samples.levels(variable));
        let key = |sample: usize, before: u32| u64::from(before) * levels as u64 + u64::from(codes[sample]);
        let combinations = self.levels as u64 * levels as u64;
        let n = self.codes.len();
        if combinations <= 4 * n as u64 + 1024 {
            let mut numbers = vec![u32::MAX; combinations as usize];
            for (sample, &before) in self.codes.iter().enumerate() {
                numbers[key(sample, before) as usize] = 0;
            }
            let mut count = 0;
            for number in numbers.iter_mut().filter(|number| **number == 0) {
                *number = count;
                count += 1;
            }
            self.levels = count as usize;
            for (sample, code) in self.codes.iter_mut().enumerate() {
                *code = numbers[key(sample, *code) as usize];
            }
            return;
        }
        let keys: Vec<u64> = self.codes.iter().enumerate().map(|(sample, &before)| key(sample, before)).collect();
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        self.levels = distinct.len();
        for (code, key) in self.codes.iter_mut().zip(&keys) {
            *code = distinct.partition_point(|known| known < key) as u32;
        }
    }

    /// Returns the number of samples with each combination.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.levels];
        self.codes.iter().for_each(|&code| counts[code as usize] += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::Coded;

    #[test]
    fn combinations_are_numbered_in_ascending_order() {
        let n = 90;
        let column = |step: usize, levels: usize| (0..n).map(move |i| (i * step % levels) as i32);
        let codes: Vec<i32> = column(7, 5).chain(column(31, 90)).chain(column(11, 3)).chain(column(1, 2)).collect();
        let samples =
            Samples::new(Coded::new(crate::matrix::by_column(&codes, 4).unwrap(), &[5, 90, 3, 2], false).unwrap())
                .unwrap();
        let mut joint = Joint::of_nothing(n);
        let mut combinations: Vec<Vec<i32>> = vec![Vec::new(); n];
        for variable in [0, 2, 1] {
            joint.refine(&samples, variable);
            (0..n).for_each(|i| combinations[i].push(codes[variable * n + i]));
            let mut distinct = combinations.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(joint.levels, distinct.len());
            for i in 0..n {
                assert_eq!(distinct[joint.codes[i] as usize], combinations[i]);
            }
        }
        assert_eq!(joint.counts(), vec![1; n]);
        assert_eq!(Joint::of_variable(&samples, 3).counts(), vec![45, 45]);
    }
}
