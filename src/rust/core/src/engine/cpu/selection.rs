//! Feature selection on the CPU: the tables of the candidates, up to a few hundred candidates a task.
//!
//! If a table has at most `DENSE` cells a sample, the counting engine of the discrete tests makes it as the table of (class, f | g). Larger
//! tables are not made. Instead the samples are ordered by (g, y) once for all candidates, and each group of equal g is counted by f alone. As
//! cells grow, t(c + 1) - t(c) is added up. For a sparse feature only the samples whose code is not the usual one are read: the others are the
//! rest of each group.

use std::ops::Range;
use std::sync::Mutex;

use crate::ci::discrete::{Codes, Counter, Table};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::selection::discretise::{discretise, Coding, Column, Flaw};
use crate::selection::{
    CountLogs, Counting, FeatureCodes, FeatureColumn, Joint, Partner, Samples, SparseVariable, Sums,
};
use crate::{Error, Result};

/// Bounds on the number of candidates of a task.
const MOST_CANDIDATES: usize = 256;
const FEWEST_CANDIDATES: usize = 16;

/// The number of samples times candidates below which the calling thread is done before others have started.
const INLINE: f64 = 3e4;

/// Maximal number of cells a sample in a table that is made whole.
const DENSE: usize = 4;

/// A counter for a range of features, on threads.
pub struct CpuCounting<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    range: Range<usize>,
    pool: Pool,
}

impl<'a> CpuCounting<'a> {
    /// Creates a counter for the features `range` of `samples` on these threads, or on this number of threads. `logs` must be those of the
    /// number of samples.
    pub fn new(samples: &'a Samples, logs: &'a CountLogs, range: Range<usize>, pool: impl Into<Pool>) -> Self {
        CpuCounting { samples, logs, range, pool: pool.into() }
    }
}

/// The partner and the class, in the forms that the ways of counting need.
struct Given<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    /// The conditioning set of the counting engine, if the partner is one.
    set: Option<Vec<u32>>,
    /// The order of the samples for the tables that are not made, if there are any.
    groups: Option<Groups>,
    /// The totals for sparse features, if there are any.
    totals: Option<Totals>,
}

impl<'a> Given<'a> {
    fn new(samples: &'a Samples, logs: &'a CountLogs, range: &Range<usize>, partner: Partner) -> Self {
        let set = match partner {
            Partner::Nothing => Some(Vec::new()),
            Partner::Feature(g) => samples.among_coded(g).map(|g| vec![g]),
            Partner::Joint(_) => None,
        };
        let mut given = Given { samples, logs, set, groups: None, totals: None };
        let mut ways = [false; 3];
        range.clone().for_each(|f| ways[given.way(f) as usize] = true);
        let [_, in_groups, sparse] = ways;
        if in_groups || sparse {
            let of_one;
            let joint = match partner {
                Partner::Joint(joint) => joint,
                Partner::Nothing => {
                    of_one = Joint::of_nothing(samples.n());
                    &of_one
                }
                Partner::Feature(g) => {
                    of_one = Joint::of_variable(samples, g);
                    &of_one
                }
            };
            given.groups = in_groups.then(|| Groups::new(samples, joint));
            given.totals = sparse.then(|| Totals::new(samples, joint, logs));
        }
        given
    }

    fn way(&self, f: usize) -> Counted {
        let samples = self.samples;
        if samples.among_coded(f).is_none() {
            return Counted::Sparse;
        }
        let data = samples.coded();
        let whole = self.set.as_ref().is_some_and(|set| {
            data.domain(set) * (samples.classes() * samples.levels(f)) as f64 <= (DENSE * samples.n()) as f64
        });
        if whole {
            Counted::Whole
        } else {
            Counted::InGroups
        }
    }
}

/// The way to count a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// With a table.
    Whole = 0,
    /// Group by group, without a table.
    InGroups = 1,
    /// By the samples that do not have the usual code.
    Sparse = 2,
}

impl Counting for CpuCounting<'_> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        let (samples, logs, first) = (self.samples, self.logs, self.range.start);
        // Groups and totals have a dozen numbers a sample, some of them only while they are made.
        memory::room(96 * samples.n(), Use::Features)?;
        let given = Given::new(samples, logs, &self.range, partner);
        let each = (sums.len() / (8 * self.pool.threads())).clamp(FEWEST_CANDIDATES, MOST_CANDIDATES);
        let tasks = sums.len().div_ceil(each);
        let total = sums.len() as f64;
        let inline = total * (samples.n() as f64) < INLINE;
        let slots: Vec<Mutex<&mut [Sums]>> = sums.chunks_mut(each).map(Mutex::new).collect();
        let work = |scratch: &mut Scratch, task: usize, stop: &Stop| {
            let Ok(mut sums) = slots[task].lock() else { return };
            let from = task * each;
            let candidates = (0..sums.len()).filter(|at| !skip[from + at]).map(|at| (at, first + from + at));
            scratch.count(&given, candidates, &mut sums, stop);
        };
        self.pool.run(tasks, inline, |_| each as f64, &mut |done| observer.progress(0, done, total), work)
    }

    fn narrow(&mut self, count: usize) {
        self.range.end = self.range.end.min(self.range.start + count);
    }
}

/// Working memory of a thread.
#[derive(Default)]
struct Scratch {
    counter: Counter,
    dense: Vec<u32>,
    /// The places in `sums` of the features in `dense`.
    at: Vec<usize>,
    margin: Vec<u32>,
    counts: Vec<[u32; 2]>,
    keys: Vec<u64>,
}

impl Scratch {
    /// Writes the sums of the candidates, given as places in `sums` with their features.
    fn count(
        &mut self,
        given: &Given,
        candidates: impl Iterator<Item = (usize, usize)>,
        sums: &mut [Sums],
        stop: &Stop,
    ) {
        let Given { samples, logs, .. } = *given;
        let data = samples.coded();
        self.dense.clear();
        self.at.clear();
        for (at, f) in candidates {
            if let (Counted::Whole, Some(coded)) = (given.way(f), samples.among_coded(f)) {
                self.dense.push(coded);
                self.at.push(at);
                continue;
            }
            if stop.requested() {
                return;
            }
            let levels = samples.levels(f);
            // `groups` exist if a table is not made, and `totals` if a feature is sparse.
            sums[at] = match (samples.codes(f), &given.groups, &given.totals) {
                (FeatureCodes::Sparse(codes), _, Some(totals)) => totals.sums(codes, logs, &mut self.keys),
                (FeatureCodes::Dense(Codes::Bytes(codes)), Some(groups), _) => {
                    groups.sums(codes, levels, logs, &mut self.counts)
                }
                (FeatureCodes::Dense(Codes::Words(codes)), Some(groups), _) => {
                    groups.sums(codes, levels, logs, &mut self.counts)
                }
                _ => return,
            };
        }
        let Some(set) = &given.set else { return };
        let Scratch { counter, dense, at, margin, .. } = self;
        let class = data.p() as u32 - 1;
        // A few at a time, so that a request to stop is noticed even with many samples.
        let batch = (4_000_000 / samples.n()).clamp(1, MOST_CANDIDATES);
        for (part, at) in dense.chunks(batch).zip(at.chunks(batch)) {
            if stop.requested() {
                return;
            }
            counter.count(data, class, set, part, &mut |i, table| sums[at[i]] = of_table(table, logs, margin));
        }
    }
}

/// Returns the sums of a table of (class, f | g).
fn of_table(table: &Table, logs: &CountLogs, margin: &mut Vec<u32>) -> Sums {
    let t = logs.table();
    let mut sums = Sums::default();
    match *table {
        Table::Dense { counts, lx, ly } => {
            for stratum in counts.chunks_exact(lx * ly) {
                margin.clear();
                margin.resize(ly, 0);
                for row in stratum.chunks_exact(ly) {
                    for (&count, margin) in row.iter().zip(margin.iter_mut()) {
                        *margin += count;
                        sums.with_class += t[count as usize];
                    }
                }
                sums.pair += margin.iter().map(|&count| t[count as usize]).sum::<i64>();
            }
        }
        Table::Cells(cells) => {
            for stratum in cells.chunk_by(|a, b| a.0 == b.0) {
                let mut by_f: Vec<(u32, u32)> = stratum.iter().map(|&(_, _, f, count)| (f, count)).collect();
                by_f.sort_unstable();
                sums.with_class += by_f.iter().map(|&(_, count)| t[count as usize]).sum::<i64>();
                let margin =
                    by_f.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|&(_, count)| count as usize).sum());
                sums.pair += margin.map(|count: usize| t[count]).sum::<i64>();
            }
        }
    }
    sums
}

/// The samples in the order of (g, y).
struct Groups {
    order: Vec<u32>,
    /// The end of each group of equal g, in `rows`.
    ends: Vec<usize>,
    /// The end of each group of equal (g, y), in `order`.
    rows: Vec<usize>,
}

impl Groups {
    fn new(samples: &Samples, partner: &Joint) -> Self {
        let mut both = partner.clone();
        both.refine(samples, samples.class());
        // Combinations are ordered by g, then by y, so a counting sort by them sorts by both.
        let mut rows = Vec::with_capacity(both.levels);
        let mut end = 0;
        for count in both.counts() {
            end += count as usize;
            rows.push(end);
        }
        let mut next: Vec<usize> = (0..both.levels).map(|row| if row == 0 { 0 } else { rows[row - 1] }).collect();
        let mut order = vec![0; samples.n()];
        for (sample, &row) in both.codes.iter().enumerate() {
            order[next[row as usize]] = sample as u32;
            next[row as usize] += 1;
        }
        let of_row = |row: usize| partner.codes[order[rows[row] - 1] as usize];
        let last = |&row: &usize| row + 1 == both.levels || of_row(row) != of_row(row + 1);
        let ends = (0..both.levels).filter(last).map(|row| row + 1).collect();
        Groups { order, ends, rows }
    }

    /// Returns the sums of a candidate; `counts` are 0 before and after. Not inlined, because its loops have no registers to spare.
    #[inline(never)]
    fn sums<C: Copy + Into<u32>>(
        &self,
        codes: &[C],
        levels: usize,
        logs: &CountLogs,
        counts: &mut Vec<[u32; 2]>,
    ) -> Sums {
        let steps = logs.steps();
        let code = |&sample: &u32| -> usize { codes[sample as usize].into() as usize };
        if counts.len() < levels {
            counts.resize(levels, [0; 2]);
        }
        let mut sums = Sums::default();
        let (mut row, mut start) = (0, 0);
        for &end in &self.ends {
            let group = start;
            while row < end {
                let samples = &self.order[start..self.rows[row]];
                for sample in samples {
                    let [of_pair, of_three] = &mut counts[code(sample)];
                    sums.pair += steps[*of_pair as usize];
                    sums.with_class += steps[*of_three as usize];
                    *of_pair += 1;
                    *of_three += 1;
                }
                samples.iter().for_each(|sample| counts[code(sample)][1] = 0);
                start = self.rows[row];
                row += 1;
            }
            self.order[group..start].iter().for_each(|sample| counts[code(sample)][0] = 0);
        }
        sums
    }
}

/// The groups of equal g and of equal (g, y), and the sums of a feature with one code in all samples.
struct Totals {
    of_pair: Vec<u32>,
    of_three: Vec<u32>,
    pairs: Vec<u32>,
    threes: Vec<u32>,
    sums: Sums,
}

impl Totals {
    fn new(samples: &Samples, partner: &Joint, logs: &CountLogs) -> Self {
        let mut both = partner.clone();
        both.refine(samples, samples.class());
        let (pairs, threes) = (partner.counts(), both.counts());
        let t = |counts: &[u32]| counts.iter().map(|&count| logs.table()[count as usize]).sum::<i64>();
        let sums = Sums { pair: t(&pairs), with_class: t(&threes) };
        Totals { of_pair: partner.codes.clone(), of_three: both.codes, pairs, threes, sums }
    }

    /// Returns the sums of a sparse candidate; `keys` is working memory.
    fn sums(&self, codes: &SparseVariable, logs: &CountLogs, keys: &mut Vec<u64>) -> Sums {
        let mut change = |groups: &[u32], counts: &[u32]| -> i64 {
            keys.clear();
            let unusual = codes.rows.iter().zip(&codes.codes).filter(|(_, &code)| code != codes.usual);
            keys.extend(unusual.map(|(&row, &code)| u64::from(groups[row as usize]) << 16 | u64::from(code)));
            keys.sort_unstable();
            let t = logs.table();
            let mut change = 0;
            for group in keys.chunk_by(|a, b| a >> 16 == b >> 16) {
                let all = counts[(group[0] >> 16) as usize] as usize;
                change += t[all - group.len()] - t[all];
                change += group.chunk_by(|a, b| a == b).map(|cell| t[cell.len()]).sum::<i64>();
            }
            change
        };
        Sums {
            pair: self.sums.pair + change(&self.of_pair, &self.pairs),
            with_class: self.sums.with_class + change(&self.of_three, &self.threes),
        }
    }
}

/// Discretises the columns of features, and then that of the class, on threads.
///
/// # Errors
/// [`Error::Argument`] for the first column that cannot be coded; see [`Samples::new`] for the rest.
pub fn encode(
    n: usize,
    features: &[Column],
    class: Column,
    coding: impl Into<Coding>,
    pool: impl Into<Pool>,
    observer: &mut dyn Observer,
) -> Result<Samples> {
    encode_from(0, n, features, class, coding.into(), &pool.into(), observer)
}

/// Discretises as [`encode`] does. `before` other features precede these, and errors count from them.
///
/// # Errors
/// Those of [`encode`].
pub fn encode_from(
    before: usize,
    n: usize,
    features: &[Column],
    class: Column,
    coding: Coding,
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<Samples> {
    let p = features.len();
    // For each feature: a slot, the column in it, and its place.
    let each = 2 * (size_of::<Mutex<Option<FeatureColumn>>>() + size_of::<FeatureColumn>());
    memory::room(each * (p + 1), Use::Features)?;
    let slots: Vec<Mutex<Option<FeatureColumn>>> = (0..=p).map(|_| Mutex::new(None)).collect();
    let flaw = Mutex::new(None);
    let work = |numbers: &mut Vec<f64>, at: usize, _: &Stop| {
        let column = features.get(at).copied().unwrap_or(class);
        match discretise(column, n, coding, numbers) {
            Ok(variable) => {
                if let Ok(mut slot) = slots[at].lock() {
                    *slot = Some(variable);
                }
            }
            Err(Flaw::Memory(bytes)) => Use::Features.fails(bytes),
            Err(found) => {
                if let Ok(mut flaw) = flaw.lock() {
                    if flaw.as_ref().is_none_or(|&(first, _)| at < first) {
                        *flaw = Some((at, found));
                    }
                }
            }
        }
    };
    let inline = (n as f64) * (p as f64) < INLINE;
    pool.run(p + 1, inline, |_| 1.0, &mut |_| observer.look(), work)?;
    if let Some((at, flaw)) = flaw.into_inner().unwrap_or(None) {
        if let Flaw::Memory(bytes) = flaw {
            return Err(Use::Features.error(bytes));
        }
        let (argument, column) = if at < p { ("x", before + at + 1) } else { ("y", 0) };
        let (value, hint) = flaw.describe(column);
        return Err(Error::Argument { argument, value, hint: hint.into() });
    }
    let mut columns: Vec<FeatureColumn> =
        slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or(None)).collect();
    match columns.pop() {
        Some(FeatureColumn::Dense(class)) if columns.len() == p => Samples::of_columns(n, columns, class),
        _ => Err(Error::Argument {
            argument: "y",
            value: "a sparse column".into(),
            hint: "give a vector with one value for each row".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_of_cells_have_the_same_sums() {
        let (lx, ly) = (3, 4);
        let counts: Vec<u32> = (0..24).map(|i| i * 7 % 5).collect();
        let n = counts.iter().sum::<u32>() as usize;
        let logs = CountLogs::new(n);
        let cell = |i: usize| ((i / 12) as u32, (i % 12 / ly) as u32, (i % ly) as u32, counts[i]);
        let cells: Vec<_> = (0..24).filter(|&i| counts[i] > 0).map(cell).collect();
        let mut margin = Vec::new();
        let dense = of_table(&Table::Dense { counts: &counts, lx, ly }, &logs, &mut margin);
        assert_eq!(dense, of_table(&Table::Cells(&cells), &logs, &mut margin));
        let t = |count: u32| logs.table()[count as usize];
        assert_eq!(dense.with_class, counts.iter().map(|&count| t(count)).sum::<i64>());
        let pairs = (0..8).map(|i| (0..3).map(|x| counts[i / 4 * 12 + x * 4 + i % 4]).sum::<u32>());
        assert_eq!(dense.pair, pairs.map(t).sum::<i64>());
    }
}
