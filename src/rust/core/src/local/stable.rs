//! The neighbours of a variable, whatever the order of the variables: removed candidates stay in the sets until the end of a level.

use std::sync::Mutex;

use super::given::{each_one, Correlations, Row, Square};
use super::rule::{weaker, Rule};
use crate::graph::subsets::binomial_float;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of tests below which the calling thread finishes before others have started.
const FEW: f64 = 2000.0;

/// The outcome of a search for the neighbours of a variable.
#[derive(Debug)]
pub struct Neighbours {
    /// By candidate, the set that separates it from the target, or `None` if it is left.
    pub sets: Vec<Option<Vec<u32>>>,
    /// By candidate, the smallest |z| of its tests.
    pub z_min: Vec<f64>,
    /// Number of tests, by size of the sets, from 1.
    pub tests: Vec<f64>,
}

/// What the tests of a candidate say at one level.
#[derive(Clone)]
struct Outcome {
    weakest: f64,
    tests: f64,
    set: Option<Vec<u32>>,
}

/// Tests the candidates given sets of one and more others, up to `most`. Sets take the candidates by the strength of their correlation with
/// the target, as strong ones separate most; equal ones by their number. `target`: the target's correlations with them.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of the observer.
pub fn neighbours<C: Correlations + ?Sized>(
    of: &C,
    target: &[f64],
    rule: Rule,
    most: usize,
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<Neighbours> {
    let p = target.len();
    let mut sets: Vec<Option<Vec<u32>>> = memory::space(p, Use::Level)?;
    sets.resize(p, None);
    let mut z_min = memory::collected(target.iter().map(|&r| rule.z(r, 0)), Use::Level)?;
    let mut left: Vec<u32> = memory::collected((0..p).map(|x| x as u32), Use::Level)?;
    let strength = |x: u32| target[x as usize].abs();
    left.sort_unstable_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
    let mut tests = Vec::new();
    for size in 1..=most {
        if left.len() <= size {
            break;
        }
        let level = Level { of, target, rule, size, left: &left };
        let found = level.run(pool, observer)?;
        tests.push(found.iter().map(|outcome| outcome.tests).sum());
        let bounds = rule.at(size);
        for (&x, outcome) in left.iter().zip(found) {
            let z = &mut z_min[x as usize];
            *z = bounds.smaller_z(*z, outcome.weakest);
            sets[x as usize] = outcome.set;
        }
        left.retain(|&x| sets[x as usize].is_none());
    }
    Ok(Neighbours { sets, z_min, tests })
}

/// The tests given sets of one size.
struct Level<'a, C: ?Sized> {
    of: &'a C,
    target: &'a [f64],
    rule: Rule,
    size: usize,
    /// The candidates at its beginning, the strongest first.
    left: &'a [u32],
}

impl<C: Correlations + ?Sized> Level<'_, C> {
    fn run(&self, pool: &Pool, observer: &mut dyn Observer) -> Result<Vec<Outcome>> {
        let Level { of, target, rule, size, left } = *self;
        let count = left.len();
        let square = match size {
            1 => None,
            _ => Some(Square::new(of, target, left, rule, pool, &mut || observer.look())?),
        };
        let mut found = memory::space(count, Use::Level)?;
        found.resize_with(count, || Mutex::new(Outcome { weakest: f64::INFINITY, tests: 0.0, set: None }));
        let work = |row: &mut Row, at: usize, stop: &Stop| {
            if let Ok(mut outcome) = found[at].lock() {
                self.decide(at, square.as_ref(), row, stop, &mut outcome);
            }
        };
        let is_short = count as f64 * binomial_float(count - 1, size) < FEW;
        pool.run(count, is_short, |_| 1.0, &mut |done| observer.progress(size, done, count as f64), work)?;
        Ok(found.into_iter().filter_map(|outcome| outcome.into_inner().ok()).collect())
    }

    fn decide(&self, at: usize, square: Option<&Square>, row: &mut Row, stop: &Stop, outcome: &mut Outcome) {
        let (x, bounds) = (self.left[at], self.rule.at(self.size));
        let visit = |set: &[u32], r: f64| -> std::result::Result<bool, ()> {
            outcome.tests += 1.0;
            outcome.weakest = weaker(outcome.weakest, r);
            let separates = bounds.separates(r);
            if separates {
                outcome.set = Some(set.to_vec());
            }
            Ok(!separates && !stop.requested())
        };
        // `visit` never fails.
        _ = match square {
            None => {
                let mut visit = visit;
                let others = self.left.iter().copied().filter(|&z| z != x);
                each_one(self.of, self.target, x, others, row, |z, r| visit(&[z], r))
            }
            Some(square) => {
                let others: Vec<usize> = (0..self.left.len()).filter(|&place| place != at).collect();
                square.each_set(at, &others, self.size, visit)
            }
        };
    }
}
