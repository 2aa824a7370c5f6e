//! The parts of a sweep, and the order of its candidates.

use std::ops::Range;

use super::lanes::OF_LANES;
use crate::graph::subsets;
use crate::search::sweep::Sweep;

/// Maximal number of steps in a part's tree: about a millisecond.
const OF_PART: u64 = 1 << 13;

pub struct Plan {
    /// The candidates of the lanes, and those of the tree, as places among all candidates.
    pub of_lanes: Range<usize>,
    pub of_tree: Range<usize>,
    /// Number of the tree's candidates that define a part. Each subset of them that is no larger than the largest sets is a part.
    pub of_parts: usize,
    largest: usize,
}

impl Plan {
    pub fn new(sweep: &Sweep) -> Self {
        let (candidates, largest) = (sweep.candidates.len(), *sweep.sizes.end());
        // The lanes have the last candidates, so that sets which come first are run first.
        let tree = candidates - OF_LANES.min(candidates);
        let few = |of_parts: &usize| subsets_up_to(tree - of_parts, largest) <= OF_PART;
        let of_parts = (0..tree).find(few).unwrap_or(tree);
        Plan { of_lanes: tree..candidates, of_tree: 0..tree, of_parts, largest }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        subsets_up_to(self.of_parts, self.largest) as usize
    }

    /// Returns the candidates that define a part, by its number. Parts with fewer candidates come first.
    pub fn part(&self, number: usize) -> Vec<u32> {
        let (mut rank, mut size) = (number as u64, 0);
        while rank >= subsets_of(self.of_parts, size) {
            rank -= subsets_of(self.of_parts, size);
            size += 1;
        }
        let mut chosen = vec![0; size];
        subsets::unrank(self.of_parts, rank, &mut chosen);
        chosen
    }
}

fn subsets_of(of: usize, size: usize) -> u64 {
    subsets::binomial(of, size).unwrap_or(u64::MAX)
}

fn subsets_up_to(of: usize, largest: usize) -> u64 {
    (0..=of.min(largest)).fold(0, |sum, size| subsets_of(of, size).saturating_add(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_subsets_that_are_wanted() {
        for (candidates, largest) in [(2, 2), (10, 9), (24, 21), (26, 5), (40, 3), (60, 3)] {
            let sweep = Sweep { pair: [0, 1], candidates: (2..2 + candidates).collect(), sizes: 2..=largest };
            let plan = Plan::new(&sweep);
            let mut parts: Vec<Vec<u32>> = (0..plan.parts()).map(|number| plan.part(number)).collect();
            let wanted = (0..1u64 << plan.of_parts).filter(|set| set.count_ones() as usize <= largest).count();
            assert_eq!(parts.len(), wanted, "{candidates} {largest}");
            assert!(parts.iter().flatten().all(|&at| (at as usize) < plan.of_parts));
            parts.sort();
            parts.dedup();
            assert_eq!(parts.len(), wanted);
            assert!(subsets_up_to(plan.of_tree.len() - plan.of_parts, largest) <= OF_PART);
        }
    }
}
