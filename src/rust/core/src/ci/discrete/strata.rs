//! Strata by sample: the combination of levels of the conditioning variables that each sample has.

use super::data::{Coded, Codes};
use crate::memory::{self, Use};

/// The mark of a sample that lacks the value of a conditioning variable.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The strata of the first members of a conditioning set, by depth: depth d holds those of the first d members. If a set begins like the
/// previous one, the shared depths are kept.
///
/// Strata are numbered in lexicographic order of the members' levels. If there are few combinations, each has a number; otherwise only
/// those that occur.
#[derive(Debug, Default)]
pub(super) struct Strata {
    members: Vec<u32>,
    depths: Vec<Depth>,
    keys: Vec<u64>,
}

#[derive(Debug, Default)]
struct Depth {
    /// The stratum of each sample.
    codes: Vec<u32>,
    /// Number of numbered strata.
    count: usize,
    /// Whether samples may be marked [`NOWHERE`].
    lacking: bool,
}

/// The number of samples per combination from which all combinations are numbered: empty strata cost less than finding them.
pub(super) const ALL: usize = 8;

/// The largest table over all combinations that is used to number them; a few entries per sample are also allowed.
const SMALL: usize = 1 << 16;

impl Strata {
    /// Forgets everything that is kept.
    pub fn forget(&mut self) {
        self.members.clear();
    }

    /// Numbers the strata of `set`. Returns their codes by sample (`None`: all samples are in one) and the number of strata. There are no
    /// codes if there is not enough memory, which is noted.
    pub fn prepare(&mut self, data: &Coded, set: &[u32]) -> (Option<&[u32]>, usize) {
        let same = self.members.iter().zip(set).take_while(|(a, b)| a == b).count();
        self.members.truncate(same);
        while self.depths.len() < set.len() {
            self.depths.push(Depth::default());
        }
        for (at, &member) in set.iter().enumerate().skip(same) {
            let (above, below) = self.depths.split_at_mut(at);
            let parent = above.last();
            match data.codes(member as usize) {
                Codes::Bytes(codes) => below[0].number(data, member as usize, codes, parent, &mut self.keys),
                Codes::Words(codes) => below[0].number(data, member as usize, codes, parent, &mut self.keys),
            }
            if below[0].codes.len() < data.n() {
                return (Some(&[]), 1);
            }
            self.members.push(member);
        }
        match set.len() {
            0 => (None, 1),
            depth => (Some(&self.depths[depth - 1].codes), self.depths[depth - 1].count),
        }
    }
}

impl Depth {
    /// Numbers the combinations of the strata above with the levels of a variable.
    fn number<C: Copy + Into<u32>>(
        &mut self,
        data: &Coded,
        variable: usize,
        levels_of: &[C],
        above: Option<&Depth>,
        keys: &mut Vec<u64>,
    ) {
        let (n, levels) = (data.n(), data.levels(variable));
        let key = |sample: usize| {
            let level: u32 = levels_of[sample].into();
            let stratum = above.map_or(0, |above| above.codes[sample]);
            if level as usize == levels || stratum == NOWHERE {
                u64::MAX
            } else {
                u64::from(stratum) * levels as u64 + u64::from(level)
            }
        };
        let combinations = above.map_or(1, |above| above.count) as u64 * levels as u64;
        self.codes.clear();
        if !memory::prepare(&mut self.codes, n, Use::Tables) {
            return;
        }
        if combinations <= (n / ALL) as u64 {
            self.count = combinations as usize;
            let lacking = data.missing(variable) || above.is_some_and(|above| above.lacking);
            self.lacking = lacking;
            let levels = levels as u32;
            match above {
                None if !lacking => self.codes.extend(levels_of.iter().map(|&level| level.into())),
                Some(above) if !lacking => {
                    let both = above.codes.iter().zip(levels_of);
                    self.codes.extend(both.map(|(&stratum, &level)| stratum * levels + level.into()));
                }
                _ => self.codes.extend((0..n).map(|sample| u32::try_from(key(sample)).unwrap_or(NOWHERE))),
            }
            return;
        }
        self.lacking = true;
        if combinations <= SMALL.max(2 * n) as u64 {
            // First mark those that occur, then number them.
            let mut numbers = Vec::new();
            if !memory::grow(&mut numbers, combinations as usize, NOWHERE, Use::Tables) {
                return;
            }
            for sample in 0..n {
                if let Some(number) = numbers.get_mut(key(sample) as usize) {
                    *number = 0;
                }
            }
            let mut count = 0;
            for number in numbers.iter_mut().filter(|number| **number == 0) {
                *number = count;
                count += 1;
            }
            self.count = count as usize;
            self.codes.extend((0..n).map(|sample| numbers.get(key(sample) as usize).copied().unwrap_or(NOWHERE)));
            return;
        }
        keys.clear();
        if !memory::prepare(keys, n, Use::Tables) {
            return;
        }
        keys.extend((0..n).map(key).filter(|&key| key != u64::MAX));
        keys.sort_unstable();
        keys.dedup();
        self.count = keys.len();
        self.codes.extend((0..n).map(|sample| keys.binary_search(&key(sample)).map_or(NOWHERE, |at| at as u32)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_are_numbered_in_lexicographic_order() {
        let n = 300;
        let levels = [3, 4, 2, 40_000];
        let mut codes = Vec::new();
        for (v, &levels) in levels.iter().enumerate() {
            codes.extend((0..n as i32).map(|i| match i * (v as i32 + 3) % 23 {
                7 => i32::MIN,
                r => (r * 997 * (v as i32 + 1)) % levels as i32,
            }));
        }
        let data = Coded::new(crate::matrix::by_column(&codes, 4).unwrap(), &levels, true).unwrap();
        let mut strata = Strata::default();
        // Sets that begin like the previous one, and sets that do not.
        for set in [&[0u32, 1, 2][..], &[0, 1], &[0, 1, 3], &[0, 3, 1, 2], &[3, 0], &[1]] {
            let combination = |i: usize| -> Option<Vec<u32>> {
                let of = |&v: &u32| {
                    let code = data.codes(v as usize).at(i);
                    (code < levels[v as usize]).then_some(code)
                };
                set.iter().map(of).collect()
            };
            let mut occur: Vec<Vec<u32>> = (0..n).filter_map(combination).collect();
            occur.sort();
            occur.dedup();
            let (found, count) = strata.prepare(&data, set);
            // If there are few combinations, each has a number, whether it occurs or not.
            let product: usize = set.iter().map(|&v| levels[v as usize] as usize).product();
            assert_eq!(count, if product <= n / ALL { product } else { occur.len() });
            let number = |c: Vec<u32>| match product <= n / ALL {
                true => set.iter().zip(&c).fold(0, |number, (&v, &level)| number * levels[v as usize] + level),
                false => occur.binary_search(&c).unwrap() as u32,
            };
            for i in 0..n {
                assert_eq!(found.unwrap()[i], combination(i).map_or(NOWHERE, number));
            }
        }
        assert_eq!(strata.prepare(&data, &[]), (None, 1));
    }
}
