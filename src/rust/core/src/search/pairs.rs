//! Level 1 pair by pair, for workers that decide both sides of a pair together, for all pairs of some rows at once. Second sides then need
//! no lists and no transfer of their own. The result is as short as can be read without a search: a verdict and a p-value for each pair.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::largest::Largest;
pub use super::report::LevelReport;
use super::singly::Singly;
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

/// The outcomes for the pairs x < y of some rows x, in ascending order of x, then y.
#[derive(Clone, Debug)]
pub struct Decided<'d> {
    /// The rows.
    pub rows: Range<usize>,
    /// The counts of these rows.
    pub counted: LevelReport,
    /// The verdicts, as [`verdicts_to_bytes`] writes them.
    pub verdicts: &'d [u8],
    /// The largest p-value of each pair, that of level 0 included: doubles in little-endian order.
    pub values: &'d [u8],
}

/// A function that takes the outcomes of some rows. It returns `false` if they cannot be valid.
pub type Take<'t> = &'t mut (dyn FnMut(&Decided) -> Result<bool> + Send);

/// A worker that decides pairs.
pub trait Pairwise {
    /// Returns whether the worker decides this level sooner by pairs than by shards.
    fn prefers_pairs(&mut self, _level: &PairLevel) -> Result<bool> {
        Ok(true)
    }

    /// Decides the pairs of some rows, whole [blocks](PAIR_ROWS) of them. Passes the outcomes to `take`, some rows at a time, in any order.
    fn pairs(&mut self, level: &PairLevel, rows: &Range<usize>, take: Take, observer: &mut dyn Observer) -> Result<()>;
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
pub(crate) fn bytes_of_verdict(p: usize) -> usize {
    // Values for all variables on either side, and for none.
    if p < 1 << 15 {
        size_of::<u16>()
    } else {
        size_of::<u32>()
    }
}

/// Returns verdicts on p variables as bytes, see [`verdicts_into_bytes`].
pub fn verdicts_to_bytes(p: usize, verdicts: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; bytes_of_verdict(p) * verdicts.len()];
    verdicts_into_bytes(p, verdicts, &mut bytes);
    bytes
}

/// Writes verdicts on p variables. A verdict is the variable that separates with its [side](SECOND), or [`NO_SEPARATOR`] or above.
pub(crate) fn verdicts_into_bytes(p: usize, verdicts: &[u32], bytes: &mut [u8]) {
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

/// Returns where each row's pairs x < y begin if the pairs of `rows` are numbered from 0, and last the number of all pairs.
fn starts_of(graph: &Adjacency, rows: &Range<usize>) -> Vec<usize> {
    let mut starts = Vec::with_capacity(rows.len() + 1);
    let mut next = 0;
    starts.push(next);
    for x in rows.clone() {
        next += graph.degree_above(x);
        starts.push(next);
    }
    starts
}

/// Layout of a message with what was found in some rows: counts, verdicts, values.
pub(crate) struct PairPlaces {
    rows: Range<usize>,
    starts: Vec<usize>,
    each: usize,
    counted: LevelReport,
}

/// Bytes of the counts.
const HEAD: usize = 24;

/// A function that writes bytes at a position.
pub(crate) type Write<'w> = &'w mut dyn FnMut(usize, &[u8]) -> Result<()>;

impl PairPlaces {
    /// Lays out a message for these rows of a graph.
    pub fn new(graph: &Adjacency, rows: Range<usize>) -> Self {
        let (starts, each) = (starts_of(graph, &rows), bytes_of_verdict(graph.p()));
        PairPlaces { rows, starts, each, counted: LevelReport::default() }
    }

    /// Returns the position of the value with this number, or the end of all values.
    fn value(&self, number: usize) -> usize {
        let count = self.starts.last().copied().unwrap_or(0);
        HEAD + self.each * count + size_of::<f64>() * number
    }

    /// Returns the number of all bytes.
    pub fn length(&self) -> usize {
        self.value(self.starts.last().copied().unwrap_or(0))
    }

    /// Writes the outcomes of some of the rows.
    pub fn enter(&mut self, decided: &Decided, write: Write) -> Result<()> {
        let Decided { rows, counted, verdicts, values } = decided;
        let first = self.starts[rows.start - self.rows.start];
        self.counted.add(counted);
        write(HEAD + self.each * first, verdicts)?;
        write(self.value(first), values)
    }

    /// Writes the counts.
    pub fn close(self, write: Write) -> Result<()> {
        let LevelReport { tests, exact_tests, go_on } = self.counted;
        write(0, [tests, exact_tests, u64::from(go_on)].map(u64::to_le_bytes).as_flattened())
    }
}

impl<'d> Decided<'d> {
    /// Reads what [`PairPlaces`] laid out for these rows on p variables. `None` if the bytes are not valid. The caller checks the number of
    /// pairs.
    pub(crate) fn from_bytes(p: usize, rows: Range<usize>, bytes: &'d [u8]) -> Option<Self> {
        let (mut head, rest) = (Reader(bytes.get(..HEAD)?), &bytes[HEAD..]);
        let (tests, exact_tests, go_on) = (head.number()?, head.number()?, head.number()?);
        let each = bytes_of_verdict(p);
        let count = rest.len() / (each + size_of::<f64>());
        let (verdicts, values) = rest.split_at(each * count);
        let counted = LevelReport { tests, exact_tests, go_on: go_on == 1 };
        (go_on < 2).then_some(Decided { rows, counted, verdicts, values })
    }
}

/// The outcomes for a level's pairs while workers decide them.
pub(super) struct PairBook<'a> {
    level: PairLevel<'a>,
    pool: Pool,
    ranked: &'a Ranked,
    /// Verdicts by pair number.
    verdicts: Vec<u32>,
    counted: LevelReport,
}

impl<'a> PairBook<'a> {
    /// Makes a book for the level on this graph, with its edges' numbers.
    pub fn new(options: &'a Options, ranked: &'a Ranked, pool: Pool) -> Result<Self> {
        let level = PairLevel::new(options, ranked.graph());
        let mut verdicts = memory::zeros(ranked.len(), Use::Level)?;
        memory::prefer_large_pages(&mut verdicts);
        Ok(PairBook { level, pool, ranked, verdicts, counted: LevelReport::default() })
    }

    /// Returns the level.
    pub fn level(&self) -> PairLevel<'a> {
        self.level
    }

    /// Enters the outcomes of some rows, each row once. Returns `false` if they cannot be valid: the rows must then be entered again, from
    /// another answer.
    pub fn enter(&mut self, decided: &Decided, largest: &mut Largest) -> bool {
        let Decided { rows, counted, verdicts, values } = decided;
        let p = self.ranked.graph().p();
        if rows.start > rows.end || rows.end > p {
            return false;
        }
        let numbers = self.ranked.numbers_of(rows);
        let each = bytes_of_verdict(p);
        if verdicts.len() != each * numbers.len() || values.len() != size_of::<f64>() * numbers.len() {
            return false;
        }
        let are_vertices = AtomicBool::new(true);
        let own = self.verdicts[numbers.clone()].chunks_mut(TOGETHER).zip(verdicts.chunks(each * TOGETHER));
        self.pool.each_of(own.collect(), |_, (own, bytes): (&mut [u32], &[u8])| {
            if !verdicts_from_bytes(p, bytes, own) {
                are_vertices.store(false, Ordering::Relaxed);
            }
        });
        if !are_vertices.into_inner() {
            return false;
        }
        largest.raise_numbered(self.ranked, rows, values, &self.pool);
        self.counted.add(counted);
        true
    }

    /// Returns the remaining graph, the separating sets and the counts, once all rows are entered.
    pub fn close(self) -> Result<(Adjacency, Singles, LevelReport)> {
        let PairBook { level, pool, ranked, verdicts, counted } = self;
        let (p, words) = (ranked.graph().p(), ranked.graph().p().div_ceil(64));
        let mut left: Vec<u64> = memory::zeros(p * words, Use::Pairs)?;
        let each = p.div_ceil(8 * pool.threads()).max(1);
        pool.each_of(left.chunks_mut((each * words).max(1)).collect(), |part, rows: &mut [u64]| {
            for (i, row) in rows.chunks_mut(words).enumerate() {
                let x = part * each + i;
                row.copy_from_slice(ranked.graph().bit_row(x));
                for (y, &verdict) in ranked.larger(x).zip(&verdicts[ranked.first_of(x)..]) {
                    if verdict < NO_SEPARATOR {
                        row[y as usize / 64] &= !(1 << (y % 64));
                    }
                }
            }
        });
        let graph = Adjacency::from_half(p, &left, Half::Upper, &pool)?;
        drop(left);
        let singly = Singly { ranked, verdicts: &verdicts };
        let counts = singly.counts(level.options, &pool)?;
        Ok((graph, singly.sets(level.options, &counts, &pool)?, counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_come_back_short_and_long() {
        for p in [3usize, 32_767, 32_768, 70_000] {
            let last = p as u32 - 1;
            let verdicts = [0, last, SECOND, last | SECOND, NO_SEPARATOR, 1];
            let bytes = verdicts_to_bytes(p, &verdicts);
            assert_eq!(bytes.len(), verdicts.len() * if p < 32_768 { 2 } else { 4 });
            let mut back = [7; 6];
            assert!(verdicts_from_bytes(p, &bytes, &mut back));
            assert_eq!(back, verdicts);
            // All values that mean "none separates" become the same value.
            let bytes = verdicts_to_bytes(p, &[u32::MAX, u32::MAX - 1]);
            let mut back = [7; 2];
            assert!(verdicts_from_bytes(p, &bytes, &mut back) && back.iter().all(|&back| back >= NO_SEPARATOR));
            let bytes = verdicts_to_bytes(p, &[p as u32]);
            assert!(!verdicts_from_bytes(p, &bytes, &mut [0]));
        }
    }
}
