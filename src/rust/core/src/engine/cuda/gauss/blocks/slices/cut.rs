//! How level 1 is cut into slices, and its pairs into panels.

use std::ops::Range;

use crate::engine::cuda::gauss::source::{Gaussian, Source};
use crate::graph::Adjacency;
use crate::pool::Pool;

/// How many neighbours come before each row, and how many larger ones: p + 1 numbers.
pub(in super::super) struct Ends {
    pub all: Vec<u64>,
    pub larger: Vec<u64>,
}

impl Ends {
    /// Of a graph, with the help of these threads.
    pub fn new(graph: &Adjacency, pool: &Pool) -> Self {
        let p = graph.p();
        let (mut all, mut larger) = (vec![0; p + 1], vec![0; p + 1]);
        let degrees = graph.by_vertex(pool, |x| [graph.degree(x), graph.degree_above(x)]);
        for (x, [degree, above]) in degrees.into_iter().enumerate() {
            all[x + 1] = all[x] + degree as u64;
            larger[x + 1] = larger[x] + above as u64;
        }
        Ends { all, larger }
    }

    /// How many neighbours each variable has.
    pub fn degrees(&self) -> Vec<usize> {
        self.all.windows(2).map(|ends| (ends[1] - ends[0]) as usize).collect()
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        self.larger.last().copied().unwrap_or(0)
    }

    /// Number of pairs of some rows with larger vertices.
    pub fn of_rows(&self, rows: &Range<usize>) -> u64 {
        self.larger[rows.end] - self.larger[rows.start]
    }

    /// By row, the number of its first pair with a larger vertex, less how many smaller neighbours it has; it may wrap.
    pub fn less_smaller(&self) -> Vec<u64> {
        let rows = self.all.windows(2).zip(self.larger.windows(2));
        rows.map(|(all, larger)| larger[1].wrapping_sub(all[1] - all[0])).collect()
    }

    /// The most pairs of a row.
    pub fn most_of_row(&self) -> u64 {
        self.larger.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0)
    }
}

/// How many numbers are copied in about the time that one is gathered from a matrix.
pub(super) const GATHERING: usize = 8;

/// Where the pairs' own correlations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// The rows of a panel, each from the panel's first column on.
    Rows,
    /// The matrix on the host, of which those of pairs are gathered: where these are few.
    Pairs,
}

impl Own {
    pub fn of(gauss: &Gaussian, pairs: u64) -> Own {
        let is_matrix = matches!(gauss.source, Source::Matrix(_));
        match is_matrix && pairs * GATHERING as u64 * 2 < (gauss.p * gauss.p) as u64 {
            true => Own::Pairs,
            false => Own::Rows,
        }
    }
}

/// Bytes of a pair's state, with its number among the open ones.
pub(super) const STATE: u64 = size_of::<[u64; 3]>() as u64 + 4;

/// Bytes of what is found of a pair: its verdict and p.
pub(super) const FOUND: u64 = 4 + 8;

/// Widths of slices are multiples of this.
pub(super) const LEAST: usize = 64;

/// Variables of a slice that kernels take at a time.
const DEPTH: usize = 256;

/// Pairs that make a panel worth its launches.
pub(super) const AT_ONCE: u64 = 1 << 20;

/// A slice in single precision has at most about so many bytes, so that it stays in the GPU's cache.
const CACHED: usize = 40 << 20;

/// How level 1 is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Variables that pairs are tested given at a time.
    pub width: usize,
    /// Whether there is room for all correlations, so that each row crosses once, whatever passes later.
    pub keeps_all: bool,
    /// Rows of a panel, at most.
    pub rows: usize,
    /// Pairs of a panel, at most, and pairs that may wait for further slices.
    pub panel: u64,
    pub kept: u64,
}

/// Memory, in bytes, by use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    pub rows: u64,
    pub singles: u64,
    pub states: u64,
    pub open: u64,
    pub verdicts: u64,
    pub values: u64,
}

impl Uses {
    pub fn all(&self) -> [u64; 6] {
        [self.rows, self.singles, self.states, self.open, self.verdicts, self.values]
    }

    /// Bytes that they take as allocations.
    fn total(&self) -> u64 {
        self.all().iter().map(|bytes| bytes.max(&256).next_multiple_of(256)).sum()
    }
}

impl Cut {
    /// Whether all variables are in one slice.
    pub fn is_whole(&self, p: usize) -> bool {
        self.width >= p
    }

    /// Rows of the correlations that there is room for: all, or a slice with the panels' own, by turns, or two slices by turns.
    pub fn rows_there(&self, p: usize) -> usize {
        if self.keeps_all {
            p
        } else {
            2 * self.width
        }
    }

    /// The memory that it takes, of p variables.
    pub fn uses(&self, p: usize) -> Uses {
        let bytes_of_arrays = 8 * (p as u64 + 1) + 2 * 4 * p as u64;
        Uses {
            rows: 8 * (p * self.rows_there(p)) as u64,
            singles: 4 * (p * self.width) as u64,
            states: (STATE - 4) * (self.panel + self.kept) + bytes_of_arrays,
            open: 4 * (self.panel + self.kept),
            verdicts: 2 * 4 * self.panel,
            values: 2 * 8 * self.panel,
        }
    }

    /// The rows from `first` on, before `end`, that a panel takes; none of them may have pairs.
    pub fn panel_from(&self, first: usize, end: usize, ends: &Ends) -> Range<usize> {
        let most = end.min(first + self.rows);
        let fitting = ends.larger[first + 1..=most].partition_point(|&end| end - ends.larger[first] <= self.panel);
        first..first + fitting.max(1)
    }

    /// About how often all correlations pass.
    pub fn passes(&self, ends: &Ends) -> u64 {
        // More than half of the pairs seldom wait.
        match self.keeps_all {
            true => 1,
            false => (ends.pairs() / 2).div_ceil(self.kept.max(1)).max(1),
        }
    }
}

/// The least bytes that the level takes.
pub(super) fn least(ends: &Ends) -> u64 {
    let (p, row) = (ends.larger.len() - 1, ends.most_of_row());
    Cut { width: LEAST, keeps_all: p <= LEAST, rows: 1, panel: row, kept: row }.uses(p).total()
}

/// Cuts the level so that it takes no more than `room` bytes, with slices of at most `most` variables, of as many where this is `wished` and there is
/// room; none where that cannot be.
pub(super) fn cut(ends: &Ends, own: Own, room: u64, most: usize, wished: bool) -> Option<Cut> {
    let p = ends.larger.len() - 1;
    let (total, row) = (ends.pairs(), ends.most_of_row());
    // Where pairs' own correlations are gathered, there are no rows of them.
    let rows_of = |width: usize| if own == Own::Pairs { p } else { (width / 2).max(1) };
    let with = |width: usize, keeps_all: bool, panel: u64, kept: u64| {
        let keeps_all = keeps_all || width >= p;
        Cut { width, keeps_all, rows: rows_of(width), panel, kept }
    };
    let fit = |width: usize, keeps_all: bool| -> Option<Cut> {
        // What is found of a panel is brought while the next is worked on.
        let of_panel = STATE + 2 * FOUND;
        let taken = with(width, keeps_all, 0, 0).uses(p).total();
        let left = room.checked_sub(taken + 6 * 256)?;
        if width >= p {
            let panel = (left / of_panel).min(total);
            return (panel >= row).then(|| Cut { rows: p, ..with(width, keeps_all, panel, 0) });
        }
        let panel = (left / 8 / of_panel).clamp(row, total.max(row));
        let kept = left.checked_sub(panel * of_panel)? / STATE;
        // None of a panel's pairs may end.
        (kept >= panel).then(|| with(width, keeps_all, panel, kept.min(total)))
    };
    let all = p.next_multiple_of(LEAST);
    let most = most.max(1).next_multiple_of(LEAST).min(all);
    // At least a third is for slices, and what pairs do not need.
    let of_pairs = total * STATE + total.min(AT_ONCE) * (STATE + 2 * FOUND);
    let few = ((room - of_pairs.min(room / 3 * 2)) / (20 * p as u64)) as usize;
    let cached = if wished { most } else { (CACHED / (4 * p)).max(DEPTH) };
    let widest = few.min(cached).clamp(LEAST, most);
    if most == all {
        // One slice needs no other, and nobody waits.
        if let Some(whole) = fit(all, true).filter(|_| CACHED / (4 * p) >= p || widest == all) {
            return Some(whole);
        }
    }
    let step = |width: usize| if width > DEPTH { DEPTH } else { LEAST };
    let mut width = widest / step(widest) * step(widest);
    while width >= LEAST {
        let width_fits = |keeps_all| fit(width.min(most), keeps_all);
        if let Some(found) = (!wished).then(|| width_fits(true)).flatten().or_else(|| width_fits(false)) {
            return Some(found);
        }
        width -= step(width);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(p: usize, one_in: u64) -> Ends {
        let mut graph = Adjacency::empty(p);
        let mut random = 5u64;
        for x in 0..p {
            for y in x + 1..p {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if (random >> 33) % one_in == 0 {
                    graph.insert(x, y);
                }
            }
        }
        let ends = Ends::new(&graph, &Pool::new(3));
        assert_eq!((ends.all[p], ends.pairs()), (2 * graph.edge_count() as u64, graph.edge_count() as u64));
        ends
    }

    #[test]
    fn every_pair_is_in_one_panel_of_what_fits() {
        for (p, one_in) in [(2, 1), (65, 1), (300, 2), (700, 50), (1500, 3), (130, 1000)] {
            let ends = ends(p, one_in);
            let mut last: Option<Cut> = None;
            for room in (0..26).map(|k| (60_000u64 << k >> (k / 2)) + k % 3) {
                for most in [1, 100, usize::MAX / 2] {
                    let own = if room % 2 == 0 { Own::Rows } else { Own::Pairs };
                    let Some(cut) = cut(&ends, own, room, most, most == 100) else { continue };
                    assert!(cut.uses(p).total() <= room, "{p} {room} {cut:?}");
                    assert!(cut.width % LEAST == 0 && (cut.width <= most.next_multiple_of(LEAST)));
                    assert!(cut.is_whole(p) || cut.kept >= cut.panel);
                    let (mut first, mut pairs) = (0, 0);
                    while first < p {
                        let rows = cut.panel_from(first, p, &ends);
                        assert!(rows.start == first && !rows.is_empty() && rows.end <= p);
                        assert!(cut.is_whole(p) || own == Own::Pairs || rows.len() <= cut.width / 2);
                        let count = ends.of_rows(&rows);
                        assert!(count <= cut.panel, "{p} {room} {cut:?} {rows:?}");
                        pairs += count;
                        first = rows.end;
                    }
                    assert_eq!(pairs, ends.pairs());
                    last = Some(cut);
                }
            }
            assert!(last.is_some_and(|cut| cut.is_whole(p)), "{p}");
            assert_eq!(cut(&ends, Own::Rows, 1000, p, false), None);
        }
    }

    #[test]
    fn large_slices_stay_in_the_cache() {
        // Twenty thousand variables, of which a third are neighbours, within an eighth of seven gigabytes.
        let p = 20_000u64;
        let larger = (0..=p).map(|x| (x * p - x * x / 2) / 3).collect();
        let ends = Ends { all: vec![0; p as usize + 1], larger };
        let found = cut(&ends, Own::Rows, 750_000_000, usize::MAX / 2, false).unwrap();
        assert_eq!(found.width, 512);
        let wished = cut(&ends, Own::Rows, 7_500_000_000, 2048, true).unwrap();
        assert_eq!(wished.width, 2048);
        assert!(found.panel > 1 << 20 && found.kept > 14 << 20, "{found:?}");
        assert!(found.passes(&ends) > 1);
    }
}
