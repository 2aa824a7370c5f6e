//! The progress of a level that is run in parts.

use std::ops::Range;

use super::level::Neighbours;
use super::Options;
use crate::graph::{subsets, Adjacency};
use crate::observer::{Observer, WriteState};
use crate::Result;

/// Numbers of conditioning sets by the number of neighbours, each computed once.
pub(crate) struct SetCounts {
    size: usize,
    of_row: Vec<Option<f64>>,
}

impl SetCounts {
    /// Prepares counts for sets of `size`.
    pub fn new(size: usize) -> Self {
        SetCounts { size, of_row: Vec::new() }
    }

    /// Returns the number of sets of a side whose row has `degree` neighbours, including the other vertex.
    pub fn of_row(&mut self, degree: usize) -> f64 {
        if self.of_row.len() <= degree {
            self.of_row.resize(degree + 1, None);
        }
        let size = self.size;
        *self.of_row[degree].get_or_insert_with(|| match degree {
            0 => 0.0,
            _ => subsets::binomial(degree - 1, size).map_or(f64::MAX, |count| count as f64),
        })
    }
}

/// Returns the number of tests of a level with conditioning sets of `size` on `graph`, for the pairs in `tested`, if none is skipped.
pub(super) fn most_tests(options: &Options, size: usize, graph: &Adjacency, tested: &Adjacency) -> f64 {
    let mut sets = SetCounts::new(size);
    let of_row = |x: usize| match options.tiers.is_none() {
        true => tested.degree(x) as f64 * sets.of_row(graph.degree(x)),
        false => {
            let candidates = options.candidate_count(graph, x);
            tested.neighbours(x).map(|y| sets.of_row(options.without(candidates, x, y as usize) + 1)).sum()
        }
    };
    (0..graph.p()).map(of_row).sum()
}

/// Reports the parts of a level as one whole. Tests that need not run count as done, so the total is known at once.
pub(crate) struct LevelProgress<'a> {
    observer: &'a mut dyn Observer,
    size: usize,
    before: f64,
    total: f64,
}

impl<'a> LevelProgress<'a> {
    /// Follows a level with conditioning sets of `size` on `graph`, for the pairs in `tested`.
    pub fn new(
        observer: &'a mut dyn Observer,
        options: &Options,
        size: usize,
        graph: &Adjacency,
        tested: &Adjacency,
    ) -> Self {
        Self::of_total(observer, size, most_tests(options, size, graph, tested))
    }

    /// Follows a level with conditioning sets of `size` that tests all pairs of these neighbourhoods.
    pub fn of_all(observer: &'a mut dyn Observer, size: usize, neighbours: &Neighbours) -> Self {
        let mut sets = SetCounts::new(size);
        let degrees = (0..neighbours.p()).map(|x| neighbours.degree(x));
        Self::of_total(observer, size, degrees.map(|degree| degree as f64 * sets.of_row(degree)).sum())
    }

    /// Follows a level of `total` tests with conditioning sets of `size`.
    pub fn of_total(observer: &'a mut dyn Observer, size: usize, total: f64) -> Self {
        LevelProgress { observer, size, before: 0.0, total }
    }

    /// Counts a part as done.
    pub fn add(&mut self, cost: f64) {
        self.before += cost;
    }

    /// Ends the level.
    pub fn finish(self) -> Result<()> {
        self.observer.progress(self.size, self.total, self.total)
    }
}

impl Observer for LevelProgress<'_> {
    fn progress(&mut self, level: usize, done: f64, _total: f64) -> Result<()> {
        // Stay below the total until `finish`: observers take the total for the end.
        let done = (self.before + done).min(self.total * (1.0 - 1e-9));
        self.observer.progress(level, done, self.total)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }

    fn keeps(&self) -> bool {
        self.observer.keeps()
    }

    fn is_due(&self, ending: bool) -> bool {
        self.observer.is_due(ending)
    }

    fn keep(&mut self, write: &mut WriteState) -> Result<()> {
        self.observer.keep(write)
    }
}

/// Reports a part of level 0, which is not saved on the way, as a share of the whole level.
pub(super) struct PartProgress<'a> {
    observer: &'a mut dyn Observer,
    share: Range<f64>,
}

impl<'a> PartProgress<'a> {
    /// Follows the part that is this share of the level.
    pub fn new(observer: &'a mut dyn Observer, share: Range<f64>) -> Self {
        PartProgress { observer, share }
    }
}

impl Observer for PartProgress<'_> {
    fn progress(&mut self, level: usize, done: f64, total: f64) -> Result<()> {
        let part = if total > 0.0 { done / total } else { 1.0 };
        self.observer.progress(level, self.share.start + part * (self.share.end - self.share.start), 1.0)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }

    fn preparing(&mut self, share: f64) -> Result<()> {
        self.observer.preparing(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Record(Vec<(f64, f64)>);

    impl Observer for Record {
        fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
            self.0.push((done, total));
            Ok(())
        }
    }

    #[test]
    fn parts_add_up_and_only_the_end_is_the_whole() {
        let graph = Adjacency::complete(5);
        let mut record = Record(Vec::new());
        let mut progress = LevelProgress::new(&mut record, &Options::new(5, 0.1), 1, &graph, &graph);
        progress.progress(1, 12.0, 30.0).unwrap();
        progress.add(30.0);
        progress.progress(1, 40.0, 30.0).unwrap();
        progress.finish().unwrap();
        assert_eq!(record.0[0], (12.0, 60.0));
        assert!(record.0[1].0 < 60.0 && record.0[1].0 > 59.9);
        assert_eq!(record.0[2], (60.0, 60.0));
    }
}
