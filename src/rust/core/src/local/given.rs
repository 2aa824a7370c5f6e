//! Partial correlations of candidates and the target.

use std::sync::Mutex;

use super::rule::Rule;
use crate::ci::gauss::{given_one, Gauss};
use crate::graph::subsets;
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::moments::Prepared;
use crate::pool::{Pool, Stop};
use crate::Result;

/// Numbers of correlations that are computed at a time: the first set often separates.
const FIRST: usize = 4;
const MOST: usize = 256;

/// The correlations of the candidates with each other.
pub trait Correlations: Sync {
    /// Writes the correlations of candidate x with others.
    fn row(&self, x: u32, with: &[u32], out: &mut [f64]);
}

/// Correlations that are computed from the candidates' columns.
#[derive(Clone, Copy, Debug)]
pub struct OfColumns<'a>(pub &'a Prepared);

impl Correlations for OfColumns<'_> {
    fn row(&self, x: u32, with: &[u32], out: &mut [f64]) {
        self.0.correlations(x, with, out);
    }
}

/// Correlations in a matrix of all p variables, by column.
#[derive(Clone, Copy, Debug)]
pub struct OfMatrix<'a> {
    /// The matrix, p x p.
    pub cells: &'a [f64],
    /// The number of variables.
    pub p: usize,
    /// The candidates' numbers.
    pub candidates: &'a [u32],
}

impl Correlations for OfMatrix<'_> {
    fn row(&self, x: u32, with: &[u32], out: &mut [f64]) {
        let column = &self.cells[self.candidates[x as usize] as usize * self.p..][..self.p];
        out.iter_mut().zip(with).for_each(|(out, &z)| *out = column[self.candidates[z as usize] as usize]);
    }
}

/// Working memory for some correlations.
#[derive(Default)]
pub(super) struct Row {
    with: Vec<u32>,
    r: Vec<f64>,
}

/// Passes the partial correlation of candidate x and the target given each of the others, in order, to `visit`, until it returns false.
/// `target`: the target's correlations with all candidates.
pub(super) fn each_one<C: Correlations + ?Sized, E>(
    of: &C,
    target: &[f64],
    x: u32,
    mut others: impl Iterator<Item = u32>,
    row: &mut Row,
    mut visit: impl FnMut(u32, f64) -> std::result::Result<bool, E>,
) -> std::result::Result<(), E> {
    let mut count = FIRST;
    loop {
        row.with.clear();
        if !memory::prepare(&mut row.with, count, Use::Level) || !memory::grow(&mut row.r, count, 0.0, Use::Level) {
            return Ok(());
        }
        row.with.extend(others.by_ref().take(count));
        if row.with.is_empty() {
            return Ok(());
        }
        of.row(x, &row.with, &mut row.r[..row.with.len()]);
        for (&z, &r) in row.with.iter().zip(&row.r) {
            if !visit(z, given_one(target[x as usize], r, target[z as usize]))? {
                return Ok(());
            }
        }
        count = MOST.min(2 * count);
    }
}

/// The correlations of the target, which comes first, and some candidates.
pub(super) struct Square {
    cells: Vec<f64>,
    pub members: Vec<u32>,
    rule: Rule,
}

impl Square {
    /// Computes the correlations of these candidates.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and errors of `look`.
    pub fn new<C: Correlations + ?Sized>(
        of: &C,
        target: &[f64],
        members: &[u32],
        rule: Rule,
        pool: &Pool,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let k = members.len() + 1;
        let mut cells = memory::zeros(k * k, Use::Correlations)?;
        cells[0] = 1.0;
        let columns: Vec<Mutex<&mut [f64]>> = cells.chunks_mut(k).skip(1).map(Mutex::new).collect();
        let work = |_: &mut (), task: usize, _: &Stop| {
            // The longest columns come first.
            let at = columns.len() - 1 - task;
            if let Ok(mut column) = columns[at].lock() {
                column[0] = target[members[at] as usize];
                of.row(members[at], &members[..at], &mut column[1..=at]);
                column[at + 1] = 1.0;
            }
        };
        pool.run(columns.len(), k < 64, |_| 1.0, &mut |_| look(), work)?;
        drop(columns);
        symmetrise(&mut cells, k, pool);
        Ok(Square { cells, members: memory::copied(members, Use::Level)?, rule })
    }

    /// Passes the partial correlation of the member in place x and the target given each set of `size` other places to `visit`, until it
    /// returns false. Sets come in lexicographic order; `visit` gets their members' numbers.
    pub fn each_set<E>(
        &self,
        x: usize,
        others: &[usize],
        size: usize,
        mut visit: impl FnMut(&[u32], f64) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let gauss = Gauss::of_part(&self.cells, self.members.len() + 1, &[], self.rule.test());
        let mut set: Vec<u32> = (0..size as u32).collect();
        let (mut places, mut numbers) = (vec![0; size], vec![0; size]);
        loop {
            for (at, &member) in set.iter().enumerate() {
                let place = others[member as usize];
                places[at] = place as u32 + 1;
                numbers[at] = self.members[place];
            }
            let r = gauss.partial(x + 1, 0, &places).unwrap_or(f64::NAN);
            if !visit(&numbers, r)? || !subsets::advance(others.len(), &mut set) {
                return Ok(());
            }
        }
    }
}
