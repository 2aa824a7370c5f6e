//! Level 0 as work for a worker, column by column, and what a p-value means for a pair there.

use std::sync::{Mutex, OnceLock};

use super::checkpoint::ClosedColumn;
use super::{Method, Options};
use crate::graph::{bits, Adjacency, BITS};

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
    /// Whether all pairs are tested, once a worker asks.
    is_complete: OnceLock<bool>,
    /// Columns whose values are not kept, for reuse.
    spare: Mutex<Vec<Vec<f64>>>,
}

impl<'a> Marginals<'a> {
    /// Describes level 0. `keeps`: whether the p-values are kept.
    pub(crate) fn new(options: &'a Options, pairs: &'a Adjacency, keeps: bool) -> Self {
        Marginals { options, pairs, keeps, is_complete: OnceLock::new(), spare: Mutex::default() }
    }

    /// Returns the options of the search.
    pub(crate) fn options(&self) -> &Options {
        self.options
    }

    /// Returns the pairs to be tested.
    pub fn pairs(&self) -> &Adjacency {
        self.pairs
    }

    /// Returns whether all pairs are to be tested. They are counted at the first call: 30 ms for 40,000 variables.
    pub fn is_complete(&self) -> bool {
        let p = self.pairs.p();
        *self.is_complete.get_or_init(|| self.pairs.edge_count() == p * p.saturating_sub(1) / 2)
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

/// What level 0 finds about the pairs of y with smaller vertices, as lists.
#[derive(Clone, Default)]
pub(super) struct Found {
    /// The vertices whose pair with y stays, ascending.
    pub rest: Vec<u32>,
    /// The vertices that the empty set does not separate from y, ascending.
    pub unseparated: Vec<u32>,
    /// Number of tested pairs that stay.
    pub left: u64,
}

impl Found {
    fn clear(&mut self) {
        self.rest.clear();
        self.unseparated.clear();
        self.left = 0;
    }
}

/// Storage for the findings of a column.
pub(super) enum Findings<'a> {
    /// The vertices x < y that the empty set separates from y, and those whose tested pair stays, as bits in words.
    Bits { separated: &'a mut [u64], kept: &'a mut [u64] },
    /// Lists, and the graph before level 0, in which pairs that are not tested may be edges.
    Lists { found: &'a mut Found, graph: &'a Adjacency },
}

impl Findings<'_> {
    fn lend(&mut self) -> Findings<'_> {
        match self {
            Findings::Bits { separated, kept } => Findings::Bits { separated, kept },
            Findings::Lists { found, graph } => Findings::Lists { found, graph },
        }
    }

    /// Removes what a worker that failed has entered.
    fn clear(&mut self) {
        if let Findings::Lists { found, .. } = self {
            found.clear();
        }
    }

    /// Enters word w of column y. `pairs`: the bits of the tested pairs. Words come in ascending order.
    #[inline]
    fn enter(&mut self, y: usize, w: usize, pairs: u64, [now_separated, now_kept]: [u64; 2]) {
        let (now_separated, now_kept) = (now_separated & pairs, now_kept & pairs);
        match self {
            Findings::Bits { separated, kept } => (separated[w], kept[w]) = (now_separated, now_kept),
            Findings::Lists { found, graph } => {
                let open = below(y, w) & !now_separated;
                if open != 0 {
                    found.left += u64::from(now_kept.count_ones());
                    found.rest.extend(bits(w, now_kept | graph.row(y).word(w) & open & !pairs));
                    found.unseparated.extend(bits(w, open));
                }
            }
        }
    }
}

/// A column of the p-values of level 0.
pub struct Column<'a> {
    pub(super) y: usize,
    pub(super) p_values: Values<'a>,
    pub(super) findings: Findings<'a>,
    /// Where the column goes when it is closed, or `None` if it is not needed.
    pub(super) closed: Option<&'a Closed<'a>>,
}

impl<'a> Column<'a> {
    /// Returns the same column for a worker that may fail. The lender [ends](Column::end) it.
    pub(crate) fn lend(&mut self) -> Column<'_> {
        let p_values = match &mut self.p_values {
            Values::Lent(p_values) => Values::Lent(p_values),
            Values::Spare(p_values) => Values::Spare(std::mem::take(p_values)),
        };
        Column { y: self.y, p_values, findings: self.findings.lend(), closed: None }
    }

    /// Ends a column that a borrower has filled.
    pub(crate) fn end(self) {
        let Column { y, p_values, findings, closed } = self;
        let values = match p_values {
            Values::Lent(p_values) => Some(&*p_values),
            Values::Spare(_) => None,
        };
        if let (Some(Ok(mut closed)), Findings::Bits { separated, kept }) = (closed.map(Mutex::lock), findings) {
            closed.push(ClosedColumn { y, separated, kept, values });
        }
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
    pub fn settle(mut self, level: &Marginals, separated: &[u64], kept: &[u64]) {
        let y = self.y;
        self.findings.clear();
        for w in 0..=y / 64 {
            let pairs = level.pairs.row(y).word(w) & below(y, w);
            self.findings.enter(y, w, pairs, [separated[w], kept[w] & !separated[w]]);
        }
        self.end();
    }

    /// Does the same as [`Column::settle`]. `open`: the vertices x < y that the empty set does not separate from y, in ascending order, and
    /// whether their pair stays. Pairs that are not tested may be among them.
    pub fn settle_open(mut self, level: &Marginals, open: impl Iterator<Item = (u32, bool)>) {
        let (y, tested) = (self.y, level.pairs.row(self.y));
        let open = open.filter(|&(x, _)| tested.has(x as usize));
        match &mut self.findings {
            Findings::Bits { separated, kept } => {
                for w in 0..=y / 64 {
                    (separated[w], kept[w]) = (tested.word(w) & below(y, w), 0);
                }
                for (x, stays) in open {
                    let bit = BITS[x as usize % 64];
                    separated[x as usize / 64] &= !bit;
                    kept[x as usize / 64] |= if stays { bit } else { 0 };
                }
            }
            Findings::Lists { found, graph } => {
                found.clear();
                for (x, stays) in open {
                    found.unseparated.push(x);
                    if stays {
                        found.rest.push(x);
                    }
                }
                found.left = found.rest.len() as u64;
                let is_tested = found.unseparated.len();
                for (w, untested) in level.pairs.gaps_of(y).take_while(|&(w, _)| w <= y / 64) {
                    found.rest.extend(bits(w, untested & below(y, w) & graph.row(y).word(w)));
                    found.unseparated.extend(bits(w, untested & below(y, w)));
                }
                if found.unseparated.len() > is_tested {
                    found.rest.sort_unstable();
                    found.unseparated.sort_unstable();
                }
            }
        }
        self.end();
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
        self.findings.clear();
        for w in 0..=y / 64 {
            let pairs = level.pairs.row(y).word(w) & below(y, w);
            if pairs == 0 {
                self.findings.enter(y, w, pairs, [0; 2]);
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
            self.findings.enter(y, w, pairs, [separated, kept]);
        }
        if let Values::Spare(used) = &mut self.p_values {
            if let Ok(mut spare) = level.spare.lock() {
                spare.push(std::mem::take(used));
            }
        }
        self.end();
    }
}
