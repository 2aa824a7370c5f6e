//! Cut of level 1 into slices, and of its pairs into panels.

use std::ops::Range;

use crate::engine::cuda::gauss::source::{Gaussian, Source};
use crate::graph::Adjacency;
use crate::pool::Pool;

/// Number of neighbours before each row, of all (`all`) and of larger ones (`larger`): p + 1 numbers each.
pub(in super::super) struct Ends {
    pub all: Vec<u64>,
    pub larger: Vec<u64>,
}

impl Ends {
    /// Counts the neighbours in a graph, on these threads.
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

    /// Returns the number of neighbours of each variable.
    pub fn degrees(&self) -> Vec<usize> {
        self.all.windows(2).map(|ends| (ends[1] - ends[0]) as usize).collect()
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.larger.last().copied().unwrap_or(0)
    }

    /// Returns the number of pairs of some rows with larger vertices.
    pub fn of_rows(&self, rows: &Range<usize>) -> u64 {
        self.larger[rows.end] - self.larger[rows.start]
    }

    /// Returns for each row: (index of its first pair with a larger vertex) - (number of smaller neighbours). It may wrap.
    pub fn less_smaller(&self) -> Vec<u64> {
        let rows = self.all.windows(2).zip(self.larger.windows(2));
        rows.map(|(all, larger)| larger[1].wrapping_sub(all[1] - all[0])).collect()
    }

    /// Returns the most pairs of a row.
    pub fn most_of_row(&self) -> u64 {
        self.larger.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0)
    }
}

/// Numbers that are copied in about the time of gathering one from a matrix.
pub(super) const GATHERING: usize = 8;

/// Source of the pairs' own correlations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// The rows of a panel, each from the panel's first column on.
    Rows,
    /// The matrix on the host, from which those of pairs are gathered, if these are few.
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

/// Bytes of a pair's results: its verdict and p.
pub(super) const FOUND: u64 = 4 + 8;

/// Widths of slices are multiples of this number.
pub(super) const LEAST: usize = 64;

/// Variables of a slice that kernels take at a time.
const DEPTH: usize = 256;

/// Pairs that make a panel worth its launches.
pub(super) const AT_ONCE: u64 = 1 << 20;

/// Most bytes of a slice in single precision, roughly, so that it stays in the GPU's cache.
const CACHED: usize = 40 << 20;

/// Cut of level 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Variables that pairs are tested given at a time.
    pub width: usize,
    /// Whether there is room for all correlations. Each row then crosses once, however often slices pass.
    pub keeps_all: bool,
    /// Most rows of a panel.
    pub rows: usize,
    /// Most pairs of a panel, and most pairs that wait for further slices (`kept`).
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

    /// Returns the bytes that all uses take as allocations.
    fn total(&self) -> u64 {
        self.all().iter().map(|bytes| bytes.max(&256).next_multiple_of(256)).sum()
    }
}

impl Cut {
    /// Returns whether all variables are in one slice.
    pub fn is_whole(&self, p: usize) -> bool {
        self.width >= p
    }

    /// Returns the rows of correlations that there is room for: all, or twice a slice. In the latter case two slices take turns, or panels'
    /// own rows take turns behind a slice.
    pub fn rows_there(&self, p: usize) -> usize {
        if self.keeps_all {
            p
        } else {
            2 * self.width
        }
    }

    /// Returns the memory that the cut takes with p variables.
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

    /// Returns the rows of a panel, from `first` on and before `end`. It may be that none of them has pairs.
    pub fn panel_from(&self, first: usize, end: usize, ends: &Ends) -> Range<usize> {
        let most = end.min(first + self.rows);
        let fitting = ends.larger[first + 1..=most].partition_point(|&end| end - ends.larger[first] <= self.panel);
        first..first + fitting.max(1)
    }

    /// Returns roughly how often all correlations pass.
    pub fn passes(&self, ends: &Ends) -> u64 {
        // It is rare that more than half of the pairs wait.
        match self.keeps_all {
            true => 1,
            false => (ends.pairs() / 2).div_ceil(self.kept.max(1)).max(1),
        }
    }
}

/// Returns the least bytes that the level takes.
pub(super) fn least(ends: &Ends) -> u64 {
    let (p, row) = (ends.larger.len() - 1, ends.most_of_row());
    Cut { width: LEAST, keeps_all: p <= LEAST, rows: 1, panel: row, kept: row }.uses(p).total()
}

/// Cuts the level so that it takes no more than `room` bytes, with slices of at most `most` variables. With `wished`, slices have `most`
/// variables if there is room. Returns `None` if the level does not fit.
pub(super) fn cut(ends: &Ends, own: Own, room: u64, most: usize, wished: bool) -> Option<Cut> {
    let p = ends.larger.len() - 1;
    let (total, row) = (ends.pairs(), ends.most_of_row());
    // If the pairs' own correlations are gathered, no rows of them are held.
    let rows_of = |width: usize| if own == Own::Pairs { p } else { (width / 2).max(1) };
    let with = |width: usize, keeps_all: bool, panel: u64, kept: u64| {
        let keeps_all = keeps_all || width >= p;
        Cut { width, keeps_all, rows: rows_of(width), panel, kept }
    };
    let fit = |width: usize, keeps_all: bool| -> Option<Cut> {
        // The results of a panel are copied while the next one is tested.
        let of_panel = STATE + 2 * FOUND;
        let taken = with(width, keeps_all, 0, 0).uses(p).total();
        let left = room.checked_sub(taken + 6 * 256)?;
        if width >= p {
            let panel = (left / of_panel).min(total);
            return (panel >= row).then(|| Cut { rows: p, ..with(width, keeps_all, panel, 0) });
        }
        let panel = (left / 8 / of_panel).clamp(row, total.max(row));
        let kept = left.checked_sub(panel * of_panel)? / STATE;
        // It may be that none of a panel's pairs ends.
        (kept >= panel).then(|| with(width, keeps_all, panel, kept.min(total)))
    };
    let all = p.next_multiple_of(LEAST);
    let most = most.max(1).next_multiple_of(LEAST).min(all);
    // Slices get at least a third, and what pairs do not need.
    let of_pairs = total * STATE + total.min(AT_ONCE) * (STATE + 2 * FOUND);
    let few = ((room - of_pairs.min(room / 3 * 2)) / (20 * p as u64)) as usize;
    let cached = if wished { most } else { (CACHED / (4 * p)).max(DEPTH) };
    let widest = few.min(cached).clamp(LEAST, most);
    if most == all {
        // With one slice no pair waits.
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
        // Twenty thousand variables, a third of them neighbours, within 750 MB.
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
