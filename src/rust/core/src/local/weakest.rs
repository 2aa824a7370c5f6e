//! How strongly adjacent variables depend on each other: the weakest partial correlation given neighbours.

use std::sync::Mutex;

use super::given::{Correlations, Square};
use super::rule::Rule;
use crate::graph::subsets::binomial_float;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of tests below which the calling thread makes all of them.
const FEW: f64 = 2000.0;

/// The weakest test of an edge: that with the smallest |z|.
#[derive(Clone, Debug, PartialEq)]
pub struct Weakest {
    /// The partial correlation.
    pub r: f64,
    /// Fisher's |z|.
    pub z: f64,
    /// The variables that are given.
    pub set: Vec<u32>,
}

/// Returns the number of tests of the edges at a variable of this degree, given up to `most` other neighbours.
pub fn tests_at(degree: usize, most: usize) -> f64 {
    let others = degree.saturating_sub(1);
    degree as f64 * (0..=most.min(others)).map(|size| binomial_float(others, size)).sum::<f64>()
}

/// Finds for each variable and each of its neighbours `near` the weakest partial correlation of the two, given any set of up to `most` of
/// the variable's other neighbours. `tiers`: a number for each variable, if none of a later tier may be given. The first of equal ones
/// counts, and small sets come first.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of the observer.
pub fn weakest<C: Correlations + ?Sized>(
    of: &C,
    near: &[Vec<u32>],
    rule: Rule,
    most: usize,
    tiers: Option<&[f64]>,
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<Weakest>>> {
    let cost = |x: usize| tests_at(near[x].len(), most);
    let all: f64 = (0..near.len()).map(cost).sum();
    let mut found: Vec<Mutex<Vec<Weakest>>> = memory::space(near.len(), Use::Level)?;
    found.resize_with(near.len(), Mutex::default);
    let work = |target: &mut Vec<f64>, x: usize, stop: &Stop| {
        if let (Ok(mut slot), false) = (found[x].lock(), near[x].is_empty()) {
            if memory::grow(target, near.len(), 0.0, Use::Level) {
                // If memory runs out, the next check ends the search.
                let allowed = |z: u32| !tiers.is_some_and(|tiers| tiers[z as usize] > tiers[x]);
                *slot = at_variable(of, x as u32, &near[x], rule, most, &allowed, target, stop).unwrap_or_default();
            }
        }
    };
    pool.run(near.len(), all < FEW, cost, &mut |done| observer.progress(0, done, all), work)?;
    memory::check()?;
    memory::collected(found.into_iter().map(|slot| slot.into_inner().unwrap_or_default()), Use::Level)
}

/// Finds the weakest tests of the edges at x. `allowed`: whether a variable may be given; `target`: memory for the correlations of x with
/// all variables.
#[allow(clippy::too_many_arguments)]
fn at_variable<C: Correlations + ?Sized>(
    of: &C,
    x: u32,
    near: &[u32],
    rule: Rule,
    most: usize,
    allowed: &dyn Fn(u32) -> bool,
    target: &mut [f64],
    stop: &Stop,
) -> Result<Vec<Weakest>> {
    let mut r = vec![0.0; near.len()];
    of.row(x, near, &mut r);
    near.iter().zip(&r).for_each(|(&y, &r)| target[y as usize] = r);
    let square = Square::new(of, target, near, rule, &Pool::none(), &mut || Ok(()))?;
    let weakest = |at: usize| {
        let others: Vec<usize> = (0..near.len()).filter(|&other| other != at && allowed(near[other])).collect();
        let mut found = Weakest { r: r[at], z: rule.z(r[at], 0), set: Vec::new() };
        for size in 1..=most.min(others.len()) {
            let visit = |set: &[u32], r: f64| {
                let z = rule.z(r, size);
                if z < found.z {
                    found = Weakest { r, z, set: set.to_vec() };
                }
                Ok::<bool, crate::Error>(!stop.requested())
            };
            square.each_set(at, &others, size, visit)?;
        }
        Ok(found)
    };
    (0..near.len()).map(weakest).collect()
}

#[cfg(test)]
mod tests {
    use super::super::OfMatrix;
    use super::*;
    use crate::ci::gauss::{FisherZ, Gauss, Reading};
    use crate::observer::Unobserved;

    #[test]
    fn the_weakest_of_all_sets_is_found_on_any_threads() {
        let (p, n) = (9, 50.0);
        let draw = |at: usize| (at * 7919 + at * at % 10_007 * 31 + 13) % 10_009;
        let rows: Vec<Vec<f64>> =
            (0..30).map(|row| (0..p).map(|x| draw(row * 13 + x * 7) as f64 / 10_009.0 - 0.5).collect()).collect();
        let dot = |x: usize, y: usize| rows.iter().map(|row| (row[x] + row[0]) * (row[y] + row[0])).sum::<f64>();
        let mut cells = vec![0.0; p * p];
        (0..p * p).for_each(|at| {
            let (x, y) = (at / p, at % p);
            cells[at] = if x == y { 1.0 } else { dot(x, y) / (dot(x, x) * dot(y, y)).sqrt() };
        });
        let near: Vec<Vec<u32>> = vec![
            vec![1, 2, 3, 4, 5],
            vec![0, 2],
            vec![0, 1, 3],
            vec![0, 2, 4],
            vec![0, 3],
            vec![0],
            vec![7],
            vec![6],
            vec![],
        ];
        let all: Vec<u32> = (0..p as u32).collect();
        let of = OfMatrix { cells: &cells, p, candidates: &all };
        let rule = Rule::new(n, 0.0).unwrap();
        let test = FisherZ::new(n, Reading::GaussCItest).unwrap();
        let gauss = Gauss::of_part(&cells, p, &[], test);
        for most in [0, 1, 2, 8] {
            for tiers in [None, Some(&[1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0][..])] {
                let one = weakest(&of, &near, rule, most, tiers, &Pool::none(), &mut Unobserved).unwrap();
                assert_eq!(one, weakest(&of, &near, rule, most, tiers, &Pool::new(3), &mut Unobserved).unwrap());
                for (x, found) in one.iter().enumerate() {
                    assert_eq!(found.len(), near[x].len());
                    for (&y, found) in near[x].iter().zip(found) {
                        let allowed = |z: u32| !tiers.is_some_and(|tiers| tiers[z as usize] > tiers[x]);
                        let others: Vec<u32> = near[x].iter().copied().filter(|&z| z != y && allowed(z)).collect();
                        let sets = (0..1u32 << others.len()).map(|bits| {
                            (0..others.len()).filter(|i| bits >> i & 1 == 1).map(|i| others[i]).collect::<Vec<u32>>()
                        });
                        let least = sets
                            .filter(|set| set.len() <= most)
                            .map(|set| rule.z(gauss.partial(x, y as usize, &set).unwrap(), set.len()))
                            .fold(f64::INFINITY, f64::min);
                        assert!((found.z - least).abs() < 1e-12 && found.set.len() <= most, "{x} {y} {most}");
                        let r = gauss.partial(x, y as usize, &found.set).unwrap();
                        assert!((r - found.r).abs() < 1e-12);
                    }
                }
            }
        }
        assert_eq!(tests_at(5, 2), 5.0 * (1.0 + 4.0 + 6.0));
        assert_eq!(tests_at(0, 2), 0.0);
    }
}
