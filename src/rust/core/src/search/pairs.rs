//! Level 1 pair by pair, for workers that decide both sides of a pair together, for all pairs of some rows at once. Second sides then need
//! no lists and no transfer of their own. The result is as short as can be read without a search: a verdict and a p-value for each pair.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::largest::Largest;
pub use super::report::LevelReport;
use super::singly::{kept_under, Singly};
pub use super::singly::{NO_SEPARATOR, SECOND};
use super::wire::Reader;
use super::Options;
use crate::graph::{Adjacency, Form, Half, Ranked, Singles};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// Number of rows in a block. Rows are given and taken in whole blocks, except the last ones.
pub const PAIR_ROWS: usize = 64;

/// How many numbers can be copied in the time that it takes to gather one.
const GATHERING: usize = 16;

/// Number of pairs that a thread takes at a time.
const TOGETHER: usize = 1 << 16;

/// Number of verdicts that are written at a time.
const WRITTEN: usize = 1 << 22;

/// The two-byte verdict that no variable separates.
const NONE: u16 = u16::MAX;

/// The [bit](SECOND) of the second side in a two-byte verdict.
const SECOND_SHORT: u16 = 1 << 15;

/// Level 1 as work for a [`Pairwise`] worker: each pair x < y of the graph is tested given each other neighbour of x, then of y.
#[derive(Clone, Copy, Debug)]
pub struct PairLevel<'a> {
    /// Number by which workers recognise the level if they are asked for several parts of it. No two levels share a number, and none has 0.
    pub number: u64,
    /// Options of the search.
    pub options: &'a Options,
    /// The frozen graph.
    pub graph: &'a Adjacency,
}

/// The outcomes for the pairs x < y of some rows x, in ascending order of x, then y. A worker writes them in place.
#[derive(Debug)]
pub struct PairRows<'r> {
    /// The rows.
    pub rows: Range<usize>,
    /// A verdict for each pair: the variable that separates it, with its [side](SECOND), or [`NO_SEPARATOR`] or above.
    pub verdicts: &'r mut [u32],
    /// The largest p-value of each pair, that of level 0 included.
    pub values: &'r mut [f64],
    /// The counts of these rows.
    pub counted: LevelReport,
}

/// A worker that decides pairs.
pub trait Pairwise {
    /// Returns whether the worker decides this level sooner by pairs than by shards.
    fn prefers_pairs(&mut self, _level: &PairLevel) -> Result<bool> {
        Ok(true)
    }

    /// Decides the pairs of some rows, whole [blocks](PAIR_ROWS) of them, and adds to their counts.
    fn pairs(&mut self, level: &PairLevel, rows: &mut PairRows, observer: &mut dyn Observer) -> Result<()>;
}

impl<'a> PairLevel<'a> {
    /// Describes level 1 of a search, with a new number.
    pub fn new(options: &'a Options, graph: &'a Adjacency) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        PairLevel { number: NUMBERS.fetch_add(1, Ordering::Relaxed), options, graph }
    }

    /// Returns whether copying all correlations takes no longer than gathering those of each row's neighbours, because rows have many.
    pub fn is_dense(&self) -> bool {
        let p = self.graph.p();
        gathers_much(p, (0..p).map(|x| self.graph.degree(x)))
    }

    /// Returns whether the pairs of a search can be decided in this way. The kernels that do so take bit rows, and do not support tiers.
    pub fn serves(options: &Options) -> bool {
        options.tiers.is_none() && options.form == Form::Bits
    }
}

/// Returns whether sending all correlations takes no longer than gathering those among each row's neighbours. `degrees`: those of the p
/// rows.
pub(crate) fn gathers_much(p: usize, degrees: impl Iterator<Item = usize>) -> bool {
    GATHERING * degrees.map(|degree| degree.pow(2) / 2).sum::<usize>() >= p * p
}

/// Returns the bytes of a verdict on p variables.
fn bytes_of_verdict(p: usize) -> usize {
    // Values for all variables on either side, and for none.
    if p < 1 << 15 {
        size_of::<u16>()
    } else {
        size_of::<u32>()
    }
}

/// Writes verdicts on p variables.
fn verdicts_into_bytes(p: usize, verdicts: &[u32], bytes: &mut [u8]) {
    let each = bytes_of_verdict(p);
    // Written in place, several at a time.
    let to = bytes.chunks_exact_mut(each).zip(verdicts);
    if each == size_of::<u32>() {
        return to.for_each(|(to, verdict)| to.copy_from_slice(&verdict.to_le_bytes()));
    }
    let short = |verdict: u32| match verdict {
        NO_SEPARATOR.. => NONE,
        of_second if of_second & SECOND != 0 => of_second as u16 | SECOND_SHORT,
        first => first as u16,
    };
    to.for_each(|(to, &verdict)| to.copy_from_slice(&short(verdict).to_le_bytes()));
}

/// Reads as many verdicts on p variables as there is room for. Returns whether all are valid.
fn verdicts_from_bytes(p: usize, bytes: &[u8], verdicts: &mut [u32]) -> bool {
    let mut are_vertices = true;
    let mut enter = |to: &mut u32, verdict: u32| {
        are_vertices &= verdict >= NO_SEPARATOR || ((verdict & !SECOND) as usize) < p;
        *to = verdict;
    };
    if bytes_of_verdict(p) == size_of::<u32>() {
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        verdicts.iter_mut().zip(words).for_each(|(to, verdict)| enter(to, verdict));
        return are_vertices;
    }
    let long = |short: u16| match short {
        NONE => NO_SEPARATOR,
        of_second if of_second & SECOND_SHORT != 0 => u32::from(of_second & !SECOND_SHORT) | SECOND,
        first => u32::from(first),
    };
    let shorts = bytes.chunks_exact(2).map(|short| u16::from_le_bytes([short[0], short[1]]));
    verdicts.iter_mut().zip(shorts).for_each(|(to, short)| enter(to, long(short)));
    are_vertices
}

/// A function that writes bytes at a position.
type Write<'w> = &'w mut dyn FnMut(usize, &[u8]) -> Result<()>;

/// Bytes of the counts of a message.
const HEAD: usize = 24;

impl<'r> PairRows<'r> {
    /// Takes storage for the pairs of these rows, a verdict and a value each.
    pub fn new(rows: Range<usize>, verdicts: &'r mut [u32], values: &'r mut [f64]) -> Self {
        debug_assert_eq!(verdicts.len(), values.len());
        PairRows { rows, verdicts, values, counted: LevelReport::default() }
    }

    /// Returns parts of these rows of a graph, which end at `ends`.
    pub fn parts(&mut self, graph: &Adjacency, ends: impl Iterator<Item = usize>) -> Vec<PairRows<'_>> {
        let (mut verdicts, mut values, mut first) = (&mut *self.verdicts, &mut *self.values, self.rows.start);
        ends.map(|end| {
            let rows = std::mem::replace(&mut first, end)..end;
            let count = rows.clone().map(|x| graph.degree_above(x)).sum();
            let (own, later) = std::mem::take(&mut verdicts).split_at_mut(count);
            let (own_values, later_values) = std::mem::take(&mut values).split_at_mut(count);
            (verdicts, values) = (later, later_values);
            PairRows::new(rows, own, own_values)
        })
        .collect()
    }

    /// Returns the length of the message with `count` outcomes on p variables: counts, verdicts, values.
    pub(crate) fn length(p: usize, count: usize) -> usize {
        HEAD + (bytes_of_verdict(p) + size_of::<f64>()) * count
    }

    /// Writes the message with these outcomes on p variables.
    pub(crate) fn to_bytes(&self, p: usize, pool: &Pool, write: Write) -> Result<()> {
        let LevelReport { tests, exact_tests, go_on } = self.counted;
        write(0, [tests, exact_tests, u64::from(go_on)].map(u64::to_le_bytes).as_flattened())?;
        let each = bytes_of_verdict(p);
        let mut bytes = Vec::new();
        for (part, verdicts) in self.verdicts.chunks(WRITTEN).enumerate() {
            bytes.resize(each * verdicts.len(), 0);
            let some = bytes.chunks_mut(each * TOGETHER).zip(verdicts.chunks(TOGETHER)).collect();
            pool.each_of(some, |_, (bytes, verdicts): (&mut [u8], &[u32])| verdicts_into_bytes(p, verdicts, bytes));
            write(HEAD + part * each * WRITTEN, &bytes)?;
        }
        let values = HEAD + each * self.verdicts.len();
        if cfg!(target_endian = "little") {
            return write(values, memory::bytes(self.values));
        }
        write(values, &self.values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
    }

    /// Reads the message of [`PairRows::to_bytes`]. Returns `false` if it is not valid.
    pub(crate) fn enter(&mut self, p: usize, bytes: &[u8], pool: &Pool) -> bool {
        let count = self.verdicts.len();
        if bytes.len() != PairRows::length(p, count) {
            return false;
        }
        let (mut head, rest) = (Reader(&bytes[..HEAD]), &bytes[HEAD..]);
        let (Some(tests), Some(exact_tests), Some(go_on @ 0..=1)) = (head.number(), head.number(), head.number())
        else {
            return false;
        };
        let each = bytes_of_verdict(p);
        let (verdicts, values) = rest.split_at(each * count);
        let are_vertices = AtomicBool::new(true);
        let own = self.verdicts.chunks_mut(TOGETHER).zip(verdicts.chunks(each * TOGETHER));
        pool.each_of(own.collect(), |_, (own, bytes): (&mut [u32], &[u8])| {
            if !verdicts_from_bytes(p, bytes, own) {
                are_vertices.store(false, Ordering::Relaxed);
            }
        });
        if !are_vertices.into_inner() {
            return false;
        }
        let own = self.values.chunks_mut(TOGETHER).zip(values.chunks(size_of::<f64>() * TOGETHER));
        pool.each_of(own.collect(), |_, (own, bytes): (&mut [f64], &[u8])| {
            let of_eight = bytes.chunks_exact(8).map(|eight| eight.try_into().map_or(f64::NAN, f64::from_le_bytes));
            own.iter_mut().zip(of_eight).for_each(|(to, value)| *to = value);
        });
        self.counted.add(&LevelReport { tests, exact_tests, go_on: go_on == 1 });
        true
    }
}

/// The outcomes for all pairs of a level while workers decide them.
pub(super) struct PairBook<'a> {
    level: PairLevel<'a>,
    pool: Pool,
    ranked: &'a Ranked,
    /// Verdicts by pair number.
    verdicts: Vec<u32>,
    /// Values by pair number, if the largest p-values are stored in another order.
    values: Vec<f64>,
}

impl<'a> PairBook<'a> {
    /// Makes a book for the level on this graph, with its edges' numbers. `largest`: where the p-values go.
    pub fn new(options: &'a Options, ranked: &'a Ranked, pool: Pool, largest: &mut Largest) -> Result<Self> {
        let level = PairLevel::new(options, ranked.graph());
        let verdicts = memory::zeros(ranked.len(), Use::Level)?;
        let others = if largest.numbered(ranked).is_some() { 0 } else { ranked.len() };
        Ok(PairBook { level, pool, ranked, verdicts, values: memory::zeros(others, Use::Level)? })
    }

    /// Has a worker decide all pairs. Returns the counts.
    pub fn decide(
        &mut self,
        worker: &mut dyn Pairwise,
        largest: &mut Largest,
        observer: &mut dyn Observer,
    ) -> Result<LevelReport> {
        let values = largest.numbered(self.ranked).unwrap_or(&mut self.values);
        let mut rows = PairRows::new(0..self.ranked.graph().p(), &mut self.verdicts, values);
        worker.pairs(&self.level, &mut rows, observer)?;
        let counted = rows.counted;
        if !self.values.is_empty() {
            largest.raise_numbered(self.ranked, &self.values, &self.pool);
        }
        Ok(counted)
    }

    /// Returns the remaining graph and the separating sets, once all pairs are decided.
    pub fn close(self) -> Result<(Adjacency, Singles)> {
        let PairBook { level, pool, ranked, verdicts, values } = self;
        drop(values);
        let (p, words) = (ranked.graph().p(), ranked.graph().p().div_ceil(64));
        let mut left: Vec<u64> = memory::zeros(p * words, Use::Pairs)?;
        // The number of sets that are kept under each vertex.
        let counts: Mutex<Vec<u32>> = Mutex::new(memory::zeros(p, Use::Sets)?);
        let each = p.div_ceil(8 * pool.threads()).max(1);
        pool.each_of(left.chunks_mut((each * words).max(1)).collect(), |part, rows: &mut [u64]| {
            let mut own = vec![0u32; p];
            for (i, row) in rows.chunks_mut(words).enumerate() {
                let x = part * each + i;
                row.copy_from_slice(ranked.graph().bit_row(x));
                for (y, &verdict) in ranked.larger(x).zip(&verdicts[ranked.first_of(x)..]) {
                    if verdict < NO_SEPARATOR {
                        row[y as usize / 64] &= !(1 << (y % 64));
                        own[kept_under(level.options, x as u32, y, verdict) as usize] += 1;
                    }
                }
            }
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.iter_mut().zip(own).for_each(|(count, own)| *count += own);
        });
        let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let graph = Adjacency::from_half(p, &left, Half::Upper, &pool)?;
        drop(left);
        let singly = Singly { ranked, verdicts: &verdicts };
        Ok((graph, singly.sets(level.options, &counts, &pool)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_back_short_and_long() {
        for p in [3usize, 32_767, 32_768, 70_000] {
            let last = p as u32 - 1;
            let mut verdicts = [0, last, SECOND, last | SECOND, NO_SEPARATOR, 1];
            let mut values = [0.5, 1.0, 0.0, f64::MIN_POSITIVE, 1e-300, 0.25];
            let known = (verdicts, values);
            let mut bytes = vec![0; PairRows::length(p, 6)];
            assert_eq!(bytes.len(), HEAD + 6 * if p < 32_768 { 10 } else { 12 });
            let mut rows = PairRows::new(0..3, &mut verdicts, &mut values);
            rows.counted = LevelReport { tests: 7, exact_tests: 2, go_on: true };
            let mut write = |at: usize, some: &[u8]| {
                bytes[at..at + some.len()].copy_from_slice(some);
                Ok(())
            };
            rows.to_bytes(p, &Pool::none(), &mut write).unwrap();
            let back = |bytes: &[u8]| {
                let (mut verdicts, mut values) = ([7; 6], [7.0; 6]);
                let mut rows = PairRows::new(0..3, &mut verdicts, &mut values);
                let is_valid = rows.enter(p, bytes, &Pool::new(2));
                (is_valid, rows.counted, (verdicts, values))
            };
            let counted = LevelReport { tests: 7, exact_tests: 2, go_on: true };
            assert_eq!(back(&bytes), (true, counted, known));
            assert!(!back(&bytes[1..]).0);
            // A variable that does not exist.
            let mut wrong = bytes.clone();
            verdicts_into_bytes(p, &[p as u32], &mut wrong[HEAD..]);
            assert!(!back(&wrong).0);
            // All values that mean "none separates" become the same value, or stay.
            verdicts_into_bytes(p, &[u32::MAX, u32::MAX - 1], &mut bytes[HEAD..]);
            let (is_valid, _, (verdicts, _)) = back(&bytes);
            assert!(is_valid && verdicts[..2].iter().all(|&verdict| verdict >= NO_SEPARATOR));
        }
    }
}
