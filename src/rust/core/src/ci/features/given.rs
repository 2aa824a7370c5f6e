//! What tests given one set share: the features of S, made orthogonal, and residuals of variables.
//!
//! With A = Z'Z / n + ridge I = U'U, the columns V = ZU⁻¹ make the regression on Z simple: ZA⁻¹Z' = VV'. The residuals of f are f - VV'f / n, and
//! the leverage of a row v is |v|² / n.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::linear::{add_cross, add_gram, subtract, Factor};
use super::orthogonal::{add_left, Inverse};
use super::{KernelTest, Role, KERNEL_RIDGE, RIDGE};
use crate::memory::{self, Use};
use crate::panels::{Row, WIDE};

/// Rows whose features are made together if they are not kept.
const BLOCK: usize = 1 << 13;

/// Bytes of features that are kept with a set in any case.
const KEPT: usize = 64 << 20;

/// Bytes of all larger features that are kept.
const LARGE: usize = 2 << 30;

/// Bytes of sets that threads keep for each other.
const BUDGET: usize = 512 << 20;

/// A variable as x or y, and whether S is joined to it.
type Side = (usize, bool);

/// Residuals of sides, and the bytes that they count.
type Known = HashMap<Side, (Arc<[Row]>, Charge)>;

/// The shared part of tests given S.
#[derive(Debug)]
pub struct Given {
    /// S, ascending.
    pub(super) set: Vec<u32>,
    /// The rows of the data that count.
    pub(super) rows: Vec<u32>,
    /// The factor c of the statistic.
    pub(super) left: f64,
    /// V in all rows, panels one after the other; empty if it is made again when needed.
    features: Vec<Row>,
    panels: usize,
    /// U⁻¹, if V is made again.
    inverse: Inverse,
    /// Residuals of variables, of the rows of tests without missing values.
    known: Mutex<Known>,
    is_shared: bool,
    /// The bytes of all but the residuals, if threads keep this for each other.
    charge: OnceLock<Charge>,
    /// The bytes of large features.
    _large: Option<Charge>,
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
struct Charge(Arc<AtomicUsize>, usize);

impl Charge {
    /// Counts this many bytes among others, or returns `None` if together they would pass a limit.
    fn within(all: &Arc<AtomicUsize>, bytes: usize, limit: usize) -> Option<Charge> {
        let fits = |now: usize| (now + bytes <= limit).then_some(now + bytes);
        all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Charge(all.clone(), bytes))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Residuals of a side.
pub(super) enum Residuals<'a> {
    Own(&'a [Row]),
    Known(Arc<[Row]>),
}

impl Deref for Residuals<'_> {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        match self {
            Residuals::Own(rows) => rows,
            Residuals::Known(rows) => rows,
        }
    }
}

/// V in panels, how many, U⁻¹, the factor c of the statistic, and the bytes that large features count.
type Parts = (Vec<Row>, usize, Inverse, f64, Option<Charge>);

/// Makes the parts from random features. Returns `None` if memory is short, which is noted.
fn of_features(of: &KernelTest, set: &[u32], rows: &[u32], shared: &Shared, scratch: &mut Vec<Row>) -> Option<Parts> {
    // Without a set, the constant is alone.
    let panels = if set.is_empty() { 1 } else { of.phases.len() };
    let width = panels * WIDE;
    let mut gram = memory::noted(memory::zeros::<f64>(width * width, Use::Threads))?;
    let bytes = panels * rows.len() * size_of::<Row>();
    let large = if bytes > KEPT { Charge::within(&shared.large, bytes, LARGE) } else { None };
    let keeps = bytes <= KEPT || large.is_some();
    let mut features = Vec::new();
    let n = rows.len().max(1);
    let each = if keeps { n } else { BLOCK };
    for rows in rows.chunks(each) {
        let to = if keeps { &mut features } else { &mut *scratch };
        if !memory::grow(to, panels * rows.len(), Row::default(), Use::Threads) {
            return None;
        }
        let to = &mut to[..panels * rows.len()];
        of.features(set, Role::Given, rows, to);
        add_gram(to, rows.len(), &mut gram);
    }
    let inverse = Factor::of_products(gram, width, n as f64, RIDGE).inverse()?;
    let mut sums = [0.0; 2];
    for rows in rows.chunks(each) {
        let panels = if keeps { &mut features[..] } else { &mut scratch[..panels * rows.len()] };
        if !keeps {
            of.features(set, Role::Given, rows, panels);
        }
        inverse.multiply(panels, rows.len())?;
        add_left(panels, rows.len(), n as f64, &mut sums);
    }
    let inverse = if keeps { Inverse::default() } else { inverse };
    Some((features, panels, inverse, if sums[0] > 0.0 { sums[1] / sums[0] } else { 0.0 }, large))
}

/// Makes the parts from all values of the kernel of S. Returns `None` if memory is short, which is noted.
fn of_kernel(of: &KernelTest, set: &[u32], rows: &[u32]) -> Option<Parts> {
    let mut features = Vec::new();
    if !set.is_empty() {
        of.factor(set, rows, &mut features)?;
    }
    let n = rows.len().max(1);
    let (panels, ridge) = (features.len() / n, KERNEL_RIDGE / n as f64);
    let width = panels * WIDE;
    let mut gram = memory::noted(memory::zeros::<f64>(width * width, Use::Threads))?;
    add_gram(&features, rows.len(), &mut gram);
    let factor = Factor::of_products(gram, width, n as f64, ridge);
    let left = match panels {
        // Only the means are subtracted.
        0 => 1.0 - 1.0 / n as f64,
        _ => factor.share_of_diagonal(&features, rows.len(), ridge)?,
    };
    factor.inverse()?.multiply(&mut features, rows.len())?;
    Some((features, panels, Inverse::default(), left, None))
}

impl Given {
    /// Makes the shared part. `rows`: the rows that count; all if `None`. Returns `None` if memory is short, which is noted.
    pub(super) fn new(
        of: &KernelTest,
        set: Vec<u32>,
        rows: Option<&[u32]>,
        shared: &Shared,
        scratch: &mut Vec<Row>,
    ) -> Option<Self> {
        let is_shared = rows.is_none();
        let rows: Vec<u32> = rows.map_or_else(|| (0..of.n() as u32).collect(), <[u32]>::to_vec);
        let (features, panels, inverse, left, _large) = match of.is_kci() {
            true => of_kernel(of, &set, &rows)?,
            false => of_features(of, &set, &rows, shared, scratch)?,
        };
        let known = Mutex::default();
        Some(Given { set, rows, left, features, panels, inverse, known, is_shared, charge: OnceLock::new(), _large })
    }

    fn bytes(&self) -> usize {
        self.features.len() * size_of::<Row>() + self.inverse.bytes() + 4 * self.rows.len()
    }

    /// Replaces a panel of features of a side, in the rows that count, by their residuals. Returns `None` if memory is short, which is noted.
    fn leave_residuals(&self, of: &KernelTest, sides: &mut [Row], scratch: &mut Vec<Row>) -> Option<()> {
        let mut by = vec![Row::default(); self.panels * WIDE];
        let each = if self.features.is_empty() { BLOCK } else { self.rows.len().max(1) };
        let n = self.rows.len().max(1) as f64;
        let mut in_blocks = |work: &mut dyn FnMut(&[Row], &mut [Row])| {
            for (rows, sides) in self.rows.chunks(each).zip(sides.chunks_mut(each)) {
                if !self.features.is_empty() {
                    work(&self.features, sides);
                    continue;
                }
                if !memory::grow(scratch, self.panels * rows.len(), Row::default(), Use::Threads) {
                    return None;
                }
                let panels = &mut scratch[..self.panels * rows.len()];
                of.features(&self.set, Role::Given, rows, panels);
                self.inverse.multiply(panels, rows.len())?;
                work(panels, sides);
            }
            Some(())
        };
        in_blocks(&mut |panels, sides| add_cross(panels, sides, &mut by))?;
        by.iter_mut().for_each(|row| row.0.iter_mut().for_each(|cell| *cell /= n));
        in_blocks(&mut |panels, sides| subtract(panels, &by, sides))
    }

    /// Returns the residuals of a side. They are kept if threads share them and there is room; otherwise `own` has them. `None` if memory is
    /// short, which is noted.
    pub(super) fn residuals<'o>(
        &self,
        of: &KernelTest,
        side: Side,
        shared: &Shared,
        own: &'o mut Vec<Row>,
        scratch: &mut Vec<Row>,
    ) -> Option<Residuals<'o>> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_shared {
            if let Some((rows, _)) = known().get(&side) {
                return Some(Residuals::Known(rows.clone()));
            }
        }
        of.side(side, &self.set, &self.rows, own)?;
        if self.panels > 0 {
            for panel in own.chunks_exact_mut(self.rows.len()) {
                self.leave_residuals(of, panel, scratch)?;
            }
        }
        if let Some(charge) = shared.takes(size_of_val(&own[..])).filter(|_| self.is_shared) {
            let rows: Arc<[Row]> = Arc::from(&own[..]);
            known().insert(side, (rows.clone(), charge));
            return Some(Residuals::Known(rows));
        }
        Some(Residuals::Own(own))
    }
}

/// The sets that threads keep for each other, within a limit of memory.
#[derive(Debug, Default)]
pub struct Shared {
    sets: Mutex<HashMap<Vec<u32>, Arc<Given>>>,
    bytes: Arc<AtomicUsize>,
    large: Arc<AtomicUsize>,
}

impl Shared {
    /// Counts this many bytes, or returns `None` if there is no room for them.
    fn takes(&self, bytes: usize) -> Option<Charge> {
        Charge::within(&self.bytes, bytes, BUDGET)
    }

    /// Returns the shared part of a set, which `make` makes if it is not there.
    pub(super) fn given(&self, set: Vec<u32>, make: impl FnOnce(Vec<u32>) -> Option<Given>) -> Option<Arc<Given>> {
        let sets = || self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(given) = sets().get(&set) {
            return Some(given.clone());
        }
        let made = Arc::new(make(set)?);
        let mut sets = sets();
        let charge = self.takes(made.bytes()).or_else(|| {
            if made.bytes() > BUDGET {
                return None;
            }
            // Levels come in ascending order, so that smaller sets are no longer needed. Sets of this level stay: with more of them than
            // fit, each would be removed before its next use.
            sets.retain(|set, _| set.len() >= made.set.len() || set.is_empty());
            self.takes(made.bytes())
        });
        if let Some(charge) = charge {
            let _ = made.charge.set(charge);
            sets.insert(made.set.clone(), made.clone());
        }
        Some(made)
    }
}
