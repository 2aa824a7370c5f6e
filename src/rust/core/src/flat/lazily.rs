//! Computes single cells of pcalg's p x p matrices from a flat result, when R asks for them.

use super::na;
use super::read::{Flat, Rows};
use crate::ci::gauss::FisherZ;
use crate::matrix::symmetrise;
use crate::moments::{of_centred, of_two, Centred, Watch};
use crate::pool::Pool;
use crate::Result;

/// The correlations by which level 0 of the Gaussian test was decided.
#[derive(Clone, Copy)]
pub enum Correlations<'a> {
    /// A p x p matrix, by column.
    Matrix(&'a [f64]),
    /// The part of a matrix above its diagonal, by column: p (p - 1) / 2 numbers.
    Triangle(&'a [f64]),
    /// Data with this many rows: one centred column for each variable.
    Data(&'a [f64], usize),
    /// They are not known: the p-values of level 0 are NaN.
    None,
}

impl Correlations<'_> {
    /// Returns whether this is what p variables have.
    fn fits(&self, p: usize) -> bool {
        match *self {
            Correlations::Matrix(cells) => cells.len() == p * p,
            Correlations::Triangle(cells) => cells.len() == p * (p - 1) / 2,
            Correlations::Data(cells, n) => n > 0 && cells.len() == n * p,
            Correlations::None => true,
        }
    }

    /// Returns the correlation of x < y.
    fn get(&self, p: usize, x: usize, y: usize) -> f64 {
        match *self {
            Correlations::Matrix(cells) => cells[y * p + x],
            Correlations::Triangle(cells) => cells[y * (y - 1) / 2 + x],
            Correlations::Data(cells, n) => of_two(cells, n, [x, y]),
            Correlations::None => f64::NAN,
        }
    }
}

/// pcalg's `pMax` of a flat result of the Gaussian test. p-values of level 0 are computed from the correlations.
pub struct PMax<'a> {
    /// The flat result.
    pub flat: Flat<'a>,
    test: FisherZ,
    of: Correlations<'a>,
}

impl<'a> PMax<'a> {
    /// Returns `None` if the correlations do not belong to the result's variables.
    pub fn new(flat: Flat<'a>, test: FisherZ, of: Correlations<'a>) -> Option<Self> {
        of.fits(flat.p).then_some(PMax { flat, test, of })
    }

    /// Returns the p-value of x < y given the empty set.
    fn at_level_0(&self, r: f64) -> f64 {
        self.test.p_of_marginal(r).unwrap_or(f64::NAN)
    }

    /// Returns a cell.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let Flat { p, fast, .. } = self.flat;
        match (row == column, fast && row >= column) {
            (_, true) => -1.0,
            (true, false) => 1.0,
            (false, false) => {
                let (x, y) = (row.min(column), row.max(column));
                self.flat.largest(x, y).unwrap_or_else(|| self.at_level_0(self.of.get(p, x, y)))
            }
        }
    }

    /// Fills in all p x p cells, by column.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if there is none for the work; what `watch` returns.
    pub fn fill(&self, cells: &mut [f64], pool: &Pool, watch: &mut Watch) -> Result<()> {
        let Flat { p, fast, .. } = self.flat;
        if let Correlations::Data(data, n) = self.of {
            of_centred(&Centred::of_cells(data, n), pool, cells, watch)?;
        }
        let columns: Vec<(usize, &mut [f64])> = cells.chunks_mut(p).enumerate().collect();
        pool.each_of(columns, |_, (y, column)| {
            for (x, cell) in column[..y].iter_mut().enumerate() {
                let r = match self.of {
                    Correlations::Data(..) => *cell,
                    of => of.get(p, x, y),
                };
                *cell = self.at_level_0(r);
            }
        });
        if !fast {
            symmetrise(cells, p, pool);
        }
        self.flat.fill_p_max(cells);
        Ok(())
    }
}

/// A separating set as a flat result has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Set<'a> {
    /// The empty set.
    Empty,
    /// The only member, counted from 1.
    Single(i32),
    /// The members, counted from 1, and the number of the entry in its row.
    Large(&'a [i32], usize),
}

impl<'a> Rows<'a> {
    /// Returns the entry (x, y): its number in row x, and its number among all.
    pub(super) fn find(&self, x: usize, y: usize) -> Option<(usize, usize)> {
        let first = self.start[x] as usize;
        let row = &self.to[first..self.start[x + 1] as usize];
        row.binary_search(&(y as i32 + 1)).ok().map(|at| (at, first + at))
    }

    /// Returns the value of the entry (x, y), unless it is NA.
    fn value(&self, x: usize, y: usize) -> Option<f64> {
        let (_, at) = self.find(x, y)?;
        Some(self.p.get(at)).filter(|value| value.to_bits() != na().to_bits())
    }
}

impl<'a> Flat<'a> {
    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns whether the method "stable.fast" made the result.
    pub fn is_fast(&self) -> bool {
        self.fast
    }

    /// Returns the number of entries in a row of the separating sets.
    pub fn entries_of(&self, x: usize) -> usize {
        (self.sets.start[x + 1] - self.sets.start[x]) as usize
    }

    /// Returns the largest p-value of x < y that the result has: of a pair that level 0 kept, or that was not tested.
    fn largest(&self, x: usize, y: usize) -> Option<f64> {
        let of_sets = || self.sets.value(x, y).or_else(|| self.sets.value(y, x));
        of_sets().or_else(|| self.edges.value(x, y)).or_else(|| self.gaps.value(x, y))
    }

    /// Returns the set of an entry, by its number among all and in its row.
    pub(super) fn decoded(&self, number: usize, at: usize) -> Set<'a> {
        match self.codes[number] as usize {
            0 => Set::Empty,
            only if only <= self.p => Set::Single(only as i32),
            code => {
                let large = code - self.p;
                Set::Large(&self.members[self.ends[large - 1] as usize..self.ends[large] as usize], at)
            }
        }
    }

    /// Returns pcalg's `sepset[[x]][[y]]`; `None`: NULL.
    pub fn set(&self, x: usize, y: usize) -> Option<Set<'a>> {
        if let Some((at, number)) = self.sets.find(x, y) {
            return Some(self.decoded(number, at));
        }
        let (low, high) = (x.min(y), x.max(y));
        let is_side = if self.fast { x > y } else { x < y };
        let is_listed = || {
            self.edges.find(low, high).is_some()
                || self.gaps.find(low, high).is_some()
                || self.sets.find(y, x).is_some()
        };
        (is_side && !is_listed()).then_some(Set::Empty)
    }
}
