//! Columns of level 0, and what a worker found in them.

use std::ops::Range;

use super::wire::{Reader, Writer};
use crate::graph::Adjacency;
use crate::search::marginals::{Column, Findings, Marginals, Values};
use crate::search::{Method, Options};

/// Columns of level 0 that a worker is asked for. The pairs to test are sent separately.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The search's options that matter here.
    pub options: Options,
    /// Whether the p-values are kept.
    pub keeps: bool,
    /// Range of columns.
    pub columns: Range<usize>,
}

impl Columns {
    /// Describes these columns of a level.
    pub fn of(level: &Marginals, columns: Range<usize>) -> Self {
        Columns { options: level.options().clone(), keeps: level.keeps(), columns }
    }

    /// Returns the request as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.small(self.options.p as u64);
        bytes.float(self.options.alpha);
        let method = match self.options.method {
            Method::Stable => 0,
            Method::Original => 1,
            Method::StableFast => 2,
        };
        bytes.0.extend([method, u8::from(self.options.na_delete), u8::from(self.keeps)]);
        bytes.small(self.columns.start as u64);
        bytes.small(self.columns.end as u64);
        bytes.0
    }

    /// Reads a request from bytes. `None` if they are not those of [`Columns::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let (p, alpha) = (bytes.small_index()?, bytes.float()?);
        let flags = bytes.take(3)?;
        let method = [Method::Stable, Method::Original, Method::StableFast].into_iter().nth(flags[0].into())?;
        let columns = bytes.small_index()?..bytes.small_index()?;
        let are_columns = columns.start <= columns.end && columns.end <= p && flags[1..].iter().all(|&flag| flag < 2);
        let options = Options { method, na_delete: flags[1] == 1, ..Options::new(p, alpha) };
        are_columns.then(|| bytes.end(Columns { options, keeps: flags[2] == 1, columns }))?
    }

    /// Returns what `run` finds in the columns, as bytes. `exact`: whether the p-values of pairs that stay are included.
    ///
    /// # Errors
    /// Any error of `run`.
    pub fn found(
        &self,
        level: &Marginals,
        exact: bool,
        run: impl FnOnce(Vec<Column>) -> crate::Result<()>,
    ) -> crate::Result<Vec<u8>> {
        let (p, count) = (self.options.p, self.columns.len());
        let words = p.div_ceil(64);
        let sends_values = self.keeps || exact;
        let mut p_values = vec![0.0; if sends_values { p * count } else { 0 }];
        let mut separated = vec![0u64; words * count];
        let mut kept = vec![0u64; words * count];
        let bits = separated.chunks_mut(words).zip(kept.chunks_mut(words));
        let mut lent = p_values.chunks_mut(p);
        let column = |(y, (separated, kept))| Column {
            y,
            p_values: lent.next().map_or(Values::Spare(Vec::new()), Values::Lent),
            findings: Findings::Bits { separated, kept },
            closed: None,
        };
        run(self.columns.clone().zip(bits).map(column).collect())?;
        let mut bytes = Writer::default();
        for (at, y) in self.columns.clone().enumerate() {
            let (own, used) = (at * words..(at + 1) * words, y / 64 + 1);
            let (separated, kept) = (&separated[own.clone()][..used], &kept[own][..used]);
            separated.iter().chain(kept).for_each(|&word| bytes.number(word));
            for x in told_of(level.pairs(), y, kept, self.keeps, exact) {
                bytes.float(p_values[at * p + x]);
            }
        }
        Ok(bytes.0)
    }
}

/// Returns how many pairs (x, y) with x < y are tested.
pub(crate) fn pairs_of_column(pairs: &Adjacency, y: usize) -> usize {
    pairs.row(y).count_below(y)
}

/// Returns each x < y whose pair with y is tested.
fn tested(pairs: &Adjacency, y: usize) -> impl Iterator<Item = usize> + use<'_> {
    pairs.neighbours(y).map(|x| x as usize).take_while(move |&x| x < y)
}

fn has(bits: &[u64], x: usize) -> bool {
    bits[x / 64] >> (x % 64) & 1 != 0
}

/// Returns the vertices x of the pairs (x, y) whose p-values are sent. As a rule there are none if no p-values are kept.
fn told_of<'a>(
    pairs: &'a Adjacency,
    y: usize,
    kept: &'a [u64],
    keeps: bool,
    exact: bool,
) -> impl Iterator<Item = usize> + 'a {
    let of_some = (keeps || exact).then(|| tested(pairs, y));
    of_some.into_iter().flatten().filter(move |&x| if has(kept, x) { exact } else { keeps })
}

/// The contents of [`Columns::found`] for one column.
pub(crate) struct Told {
    separated: Vec<u64>,
    kept: Vec<u64>,
    /// P-values of the pairs for which they are sent, in order.
    p_values: Vec<f64>,
}

impl Told {
    /// Reads column y. `None` if the bytes are not valid.
    pub fn read(level: &Marginals, y: usize, exact: bool, bytes: &mut Reader) -> Option<Self> {
        let words = |bytes: &mut Reader| (0..=y / 64).map(|_| bytes.number()).collect::<Option<Vec<u64>>>();
        let (separated, kept) = (words(bytes)?, words(bytes)?);
        let are_told = told_of(level.pairs(), y, &kept, level.keeps(), exact);
        let p_values = are_told.map(|_| bytes.float()).collect::<Option<Vec<f64>>>()?;
        Some(Told { separated, kept, p_values })
    }

    /// Enters the results in a column. For pairs that stay, a p of 0 stands for one that was not sent.
    pub fn enter(self, mut column: Column, level: &Marginals, exact: bool) {
        let (y, keeps) = (column.y(), level.keeps());
        if !keeps && !exact {
            return column.settle(level, &self.separated, &self.kept);
        }
        let mut p_values = self.p_values.into_iter();
        let cells = column.open(level);
        for x in tested(level.pairs(), y) {
            let is_told = if has(&self.kept, x) { exact } else { keeps };
            cells[x] = match if is_told { p_values.next() } else { None } {
                Some(p) => p,
                None if has(&self.kept, x) => 0.0,
                None if has(&self.separated, x) => f64::INFINITY,
                // pcalg's C++ removes a pair that has no p, and keeps no separating set.
                None => f64::NAN,
            };
        }
        column.close(level);
    }
}
