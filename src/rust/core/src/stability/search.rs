//! The work on each replicate's data: a search for the skeleton, and its orientation, as for any other data.

use std::cell::RefCell;

use crate::ci::CiTest;
use crate::observer::Observer;
use crate::orient::{self, orient, ColliderRule, Knowledge, Pdag};
use crate::pool::Pool;
use crate::random::{below, philox, Key, Purpose};
use crate::search::worker::{Worker, WorkerTest};
use crate::search::{skeleton, skeleton_one_by_one, Options, PairValues, Skeleton};
use crate::Result;

/// Options of the search and orientation of replicates; shared by threads.
#[derive(Clone, Debug)]
pub struct Search {
    options: Options,
    method: orient::Method,
    collider_rule: ColliderRule,
    bound: Option<orient::Bound>,
    solve_conflicts: bool,
    version_unf: [u8; 2],
    knowledge: Knowledge,
    seed: u64,
}

impl Search {
    /// Makes a search with these options. Of `orientation`, only the options that `pc()` has are used. `seed`: seed of the random numbers
    /// of [`orient::Method::Rand`] and [`orient::Method::Retry`]; each replicate has its own numbers.
    pub fn new(options: Options, orientation: &orient::Options, seed: u64) -> Self {
        let orient::Options { method, collider_rule, bound, solve_conflicts, version_unf, .. } = *orientation;
        let knowledge = orientation.knowledge.clone();
        Search { options, method, collider_rule, bound, solve_conflicts, version_unf, knowledge, seed }
    }

    /// Returns the options of the search.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the graph that a worker's tests lead to. `replicate`: its number.
    ///
    /// # Errors
    /// Those of [`skeleton`] and [`orient()`], and errors of the observer.
    pub fn graph(&self, worker: &mut dyn Worker, replicate: usize, observer: &mut dyn Observer) -> Result<Pdag> {
        let pool = worker.pool().clone();
        let mut found = skeleton(worker, &self.options, &mut PairValues::default(), observer)?;
        if self.collider_rule == ColliderRule::Standard && !self.knowledge.is_some() {
            let observer = RefCell::new(observer);
            return self.orient(&mut found, None, replicate, &|| observer.borrow_mut().look().is_err(), pool);
        }
        // The tests check whether to stop.
        self.orient(&mut found, Some(&mut WorkerTest { worker, observer }), replicate, &|| false, pool)
    }

    /// Returns the graph that a test leads to, asked one question after the other. `wants_to_stop` ends the orientation.
    ///
    /// # Errors
    /// Those of [`Search::graph`].
    pub fn graph_one_by_one(
        &self,
        test: &mut dyn CiTest,
        replicate: usize,
        observer: &mut dyn Observer,
        wants_to_stop: &dyn Fn() -> bool,
    ) -> Result<Pdag> {
        let mut found = skeleton_one_by_one(test, &self.options, &mut PairValues::default(), observer)?;
        self.orient(&mut found, Some(test), replicate, wants_to_stop, Pool::none())
    }

    fn orient(
        &self,
        found: &mut Skeleton,
        test: Option<&mut dyn CiTest>,
        replicate: usize,
        wants_to_stop: &dyn Fn() -> bool,
        pool: Pool,
    ) -> Result<Pdag> {
        let mut drawn = 0;
        let mut permutation = |k: usize| {
            drawn += 1;
            Ok(permutation(k, drawn, replicate as u32, self.seed))
        };
        let mut options = orient::Options {
            method: self.method,
            collider_rule: self.collider_rule,
            bound: self.bound,
            solve_conflicts: self.solve_conflicts,
            version_unf: self.version_unf,
            knowledge: self.knowledge.clone(),
            largest_set: (found.max_order + 1).max(0) as usize,
            pool,
            wants_to_stop: Some(wants_to_stop),
            ..orient::Options::default()
        };
        options.settle(&found.graph, found.tests.iter().sum())?;
        orient(&found.graph, &mut found.sepsets, &options, self.options.alpha, test, &mut permutation)
    }
}

/// Returns a random permutation of 0 .. k-1 (Fisher and Yates).
fn permutation(k: usize, number: u32, replicate: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..k as u32).collect();
    let key = Key::of_seed(seed);
    for at in 0..k.saturating_sub(1) {
        let word = philox([at as u32, replicate, number, Purpose::Orientation as u32], key)[0];
        order.swap(at, at + below(word, (k - at) as u32) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_those_of_their_numbers() {
        let first = permutation(50, 1, 0, 7);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<u32>>());
        assert_eq!(first, permutation(50, 1, 0, 7));
        for other in [permutation(50, 2, 0, 7), permutation(50, 1, 1, 7), permutation(50, 1, 0, 8)] {
            assert_ne!(first, other);
        }
        assert_eq!((permutation(0, 1, 0, 7), permutation(1, 1, 0, 7)), (vec![], vec![0]));
    }
}
