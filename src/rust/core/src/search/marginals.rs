//! Level 0 as work for a worker, column by column, and what a p-value means for a pair there.

use std::sync::Mutex;

use super::checkpoint::ClosedColumn;
use super::{Method, Options};
use crate::graph::{Adjacency, BITS};

/// Returns the bits of word w of row y that stand for vertices below y.
pub(super) fn below(y: usize, w: usize) -> u64 {
    match w.cmp(&(y / 64)) {
        std::cmp::Ordering::Less => !0,
        std::cmp::Ordering::Equal => (1 << (y % 64)) - 1,
        std::cmp::Ordering::Greater => 0,
    }
}

/// The outcome of a pair at level 0.
#[derive(Clone, Copy)]
pub(super) struct Settled {
    p: f64,
    pub is_separated: bool,
    pub is_kept: bool,
}

/// Decides a pair at level 0. The C++ tests `pMax >= alpha` and `pMax < alpha`. So a NaN removes the edge whatever `NAdelete` is, leaves no
/// separating set, and stays in `pMax`. The R methods first replace it.
#[inline(always)]
pub(super) fn settled(options: &Options, p: f64) -> Settled {
    let p = if options.method == Method::StableFast { p } else { options.read(p) };
    Settled { p, is_separated: p >= options.alpha, is_kept: p < options.alpha }
}

/// Level 0 as work for a worker.
pub struct Marginals<'a> {
    options: &'a Options,
    pairs: &'a Adjacency,
    keeps: bool,
    /// Columns whose values are not kept, for reuse.
    spare: Mutex<Vec<Vec<f64>>>,
}

impl<'a> Marginals<'a> {
    /// Describes level 0. `keeps`: whether the p-values are kept.
    pub(crate) fn new(options: &'a Options, pairs: &'a Adjacency, keeps: bool) -> Self {
        Marginals { options, pairs, keeps, spare: Mutex::default() }
    }

    /// Returns the options of the search.
    pub(crate) fn options(&self) -> &Options {
        self.options
    }

    /// Returns the pairs to be tested.
    pub fn pairs(&self) -> &Adjacency {
        self.pairs
    }

    /// Returns the significance level. If p is below it, a worker may write any number from 0 to p instead.
    pub fn alpha(&self) -> f64 {
        self.options.alpha
    }

    /// Returns whether the p-values are kept. If they are not, and p is not below [alpha](Marginals::alpha), a worker may write any other
    /// number that is not below it.
    pub fn keeps(&self) -> bool {
        self.keeps
    }
}

/// Storage for the numbers of a column.
pub(super) enum Values<'a> {
    /// Storage of the caller, for p-values that are kept.
    Lent(&'a mut [f64]),
    /// Storage for p-values that are not kept; empty before the column is opened.
    Spare(Vec<f64>),
}

/// Columns that workers have closed, in any order.
pub(super) type Closed<'a> = Mutex<Vec<ClosedColumn<'a>>>;

/// A column of the p-values of level 0.
pub struct Column<'a> {
    pub(super) y: usize,
    pub(super) p_values: Values<'a>,
    pub(super) separated: &'a mut [u64],
    pub(super) kept: &'a mut [u64],
    /// Where the column goes when it is closed, or `None` if it is not needed.
    pub(super) closed: Option<&'a Closed<'a>>,
}

/// Adds a closed column to the list, if there is one.
fn tell<'a>(closed: Option<&'a Closed<'a>>, column: ClosedColumn<'a>) {
    if let Some(Ok(mut closed)) = closed.map(Mutex::lock) {
        closed.push(column);
    }
}

impl<'a> Column<'a> {
    /// Returns the same column for a worker that may fail. The lender [ends](Column::end) it.
    pub(crate) fn lend(&mut self) -> Column<'_> {
        let p_values = match &mut self.p_values {
            Values::Lent(p_values) => Values::Lent(p_values),
            Values::Spare(p_values) => Values::Spare(std::mem::take(p_values)),
        };
        Column { y: self.y, p_values, separated: self.separated, kept: self.kept, closed: None }
    }

    /// Ends a column that a borrower has filled.
    pub(crate) fn end(self) {
        let values = match self.p_values {
            Values::Lent(p_values) => Some(&*p_values),
            Values::Spare(_) => None,
        };
        tell(self.closed, ClosedColumn { y: self.y, separated: self.separated, kept: self.kept, values });
    }

    /// Returns the column's number, y.
    pub fn y(&self) -> usize {
        self.y
    }

    /// Opens the column. For each neighbour x < y of y in the level's pairs, the worker writes p of (x, y) to place x, or NaN if there is
    /// none. It writes nothing elsewhere.
    #[inline]
    pub fn open(&mut self, level: &Marginals) -> &mut [f64] {
        let p_values = match &mut self.p_values {
            Values::Lent(p_values) => &mut **p_values,
            Values::Spare(p_values) => {
                if let Some(used) = level.spare.lock().ok().and_then(|mut spare| spare.pop()) {
                    *p_values = used;
                }
                p_values.resize(level.options.p, 0.0);
                p_values
            }
        };
        p_values.fill(level.options.untested());
        p_values
    }

    /// Opens and closes the column if no p-values are kept. `separated`: the vertices x < y that the empty set separates from y. `kept`:
    /// those whose pair stays. Both are bits in words, as in a graph's row.
    pub fn settle(self, level: &Marginals, separated: &[u64], kept: &[u64]) {
        let y = self.y;
        for w in 0..=y / 64 {
            let pairs = level.pairs.row(y).word(w) & below(y, w);
            self.separated[w] = separated[w] & pairs;
            self.kept[w] = kept[w] & pairs & !separated[w];
        }
        tell(self.closed, ClosedColumn { y, separated: self.separated, kept: self.kept, values: None });
    }

    /// Closes the column: decides the pairs by their p-values.
    #[inline]
    pub fn close(mut self, level: &Marginals) {
        let (y, p) = (self.y, level.options.p);
        let (fast, alpha) = (level.options.method == Method::StableFast, level.options.alpha);
        let p_values = match &mut self.p_values {
            Values::Lent(p_values) => &mut **p_values,
            Values::Spare(p_values) => p_values,
        };
        for w in 0..=y / 64 {
            let pairs = level.pairs.row(y).word(w) & below(y, w);
            if pairs == 0 {
                continue;
            }
            let cells = &mut p_values[w * 64..(w * 64 + 64).min(p)];
            let (mut separated, mut kept, mut missing) = (0, 0, 0);
            // Without a branch, and without the extra work for NaN, as there may be a million pairs.
            for (&p, &bit) in cells.iter().zip(&BITS) {
                separated |= if p >= alpha { bit } else { 0 };
                kept |= if p < alpha { bit } else { 0 };
                missing |= if p.is_nan() { bit } else { 0 };
            }
            missing &= pairs;
            while missing != 0 {
                let cell = &mut cells[missing.trailing_zeros() as usize];
                let bit = missing & missing.wrapping_neg();
                missing ^= bit;
                let pair = settled(level.options, *cell);
                separated |= if pair.is_separated { bit } else { 0 };
                kept |= if pair.is_kept { bit } else { 0 };
                if !fast {
                    *cell = pair.p;
                }
            }
            self.separated[w] = separated & pairs;
            self.kept[w] = kept & pairs;
        }
        let values = match self.p_values {
            Values::Lent(p_values) => Some(&*p_values),
            Values::Spare(used) => {
                if let Ok(mut spare) = level.spare.lock() {
                    spare.push(used);
                }
                None
            }
        };
        tell(self.closed, ClosedColumn { y, separated: self.separated, kept: self.kept, values });
    }
}
