//! pcalg's `pcSelect()`: a candidate is removed at once, so the order of the variables may matter.

use super::given::{each_one, Correlations, Row, Square};
use super::rule::{weaker, Rule};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// Number of tests after which the caller may stop the search.
const AT_ONCE: u64 = 1 << 12;

/// The outcome of a selection.
#[derive(Debug)]
pub struct Selected {
    /// Whether each candidate is left.
    pub is_kept: Vec<bool>,
    /// By candidate, the smallest |z| of its tests.
    pub z_min: Vec<f64>,
}

/// Tests the candidates, in their order, given sets of one and more others. `target`: the target's correlations with them. `each_test`:
/// whether the observer gets every test, with z in place of a p-value.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of the observer.
pub fn select<C: Correlations + ?Sized>(
    of: &C,
    target: &[f64],
    rule: Rule,
    pool: &Pool,
    each_test: bool,
    observer: &mut dyn Observer,
) -> Result<Selected> {
    let p = target.len();
    let mut is_kept = memory::space(p, Use::Level)?;
    is_kept.resize(p, true);
    let mut z_min = memory::collected(target.iter().map(|&r| rule.z(r, 0)), Use::Level)?;
    let mut left = p;
    let mut tests = 0u64;
    let mut row = Row::default();
    let mut size = 1;
    let mut goes_on = p > 0;
    while goes_on && left > 0 {
        goes_on = false;
        let mut all: Vec<u32> = memory::space(left, Use::Level)?;
        all.extend((0..p as u32).filter(|&x| is_kept[x as usize]));
        observer.level(size, all.len())?;
        let bounds = rule.at(size);
        let square = match size {
            1 => None,
            _ => Some(Square::new(of, target, &all, rule, pool, &mut || observer.look())?),
        };
        for (at, &x) in all.iter().enumerate() {
            observer.visiting(at + 1, all.len())?;
            if left <= size {
                continue;
            }
            goes_on |= left - 1 > size;
            let (mut weakest, mut separated) = (f64::INFINITY, false);
            let mut visit = |set: &[u32], r: f64| {
                tests += 1;
                if each_test {
                    observer.tested(x as usize, 0, set, rule.signed_z(r, size))?;
                } else if tests % AT_ONCE == 0 {
                    observer.progress(size, at as f64, all.len() as f64)?;
                }
                weakest = weaker(weakest, r);
                separated = bounds.separates(r);
                Ok(!separated)
            };
            match &square {
                None => {
                    let others = all.iter().copied().filter(|&z| z != x && is_kept[z as usize]);
                    each_one(of, target, x, others, &mut row, |z, r| visit(&[z], r))?;
                }
                Some(square) => {
                    let others: Vec<usize> =
                        (0..all.len()).filter(|&place| place != at && is_kept[all[place] as usize]).collect();
                    square.each_set(at, &others, size, visit)?;
                }
            }
            z_min[x as usize] = bounds.smaller_z(z_min[x as usize], weakest);
            if separated {
                is_kept[x as usize] = false;
                left -= 1;
            }
        }
        memory::check()?;
        observer.progress(size, 1.0, 1.0)?;
        size += 1;
    }
    Ok(Selected { is_kept, z_min })
}
