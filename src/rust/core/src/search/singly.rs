//! Verdicts of level 1 on pairs, by pair number, both sides of a pair together; and the separating sets that they describe.

use std::ops::Range;

use super::Options;
use crate::graph::{Ranked, Singles};
use crate::memory;
use crate::pool::{part_of, Pool};
use crate::Result;

/// The bit of a verdict that marks the second side. The other bits are the variable that separates.
pub const SECOND: u32 = 1 << 31;

/// The smallest verdict that means that no variable separates.
pub const NO_SEPARATOR: u32 = 0xffff_fffd;

/// Calls `take(x, y, number)` for the pairs x < y of rows of a graph with y among `columns`, ascending in x for each y.
pub(crate) fn each_pair(
    ranked: &Ranked,
    rows: &Range<usize>,
    columns: &Range<usize>,
    mut take: impl FnMut(usize, usize, usize),
) {
    for x in rows.start..rows.end.min(columns.end.saturating_sub(1)) {
        let low = columns.start.max(x + 1);
        let first = ranked.first_from(x, low);
        for (at, y) in (first..).zip(ranked.graph().neighbours_between(x, low..columns.end)) {
            take(x, y as usize, at);
        }
    }
}

/// Returns the vertex under which the set of a separated pair x < y is kept.
#[inline]
pub(super) fn kept_under(options: &Options, x: u32, y: u32, verdict: u32) -> u32 {
    let (row, other) = if verdict & SECOND == 0 { (x, y) } else { (y, x) };
    options.kept_under(row, other)[0]
}

/// Verdicts of level 1 by pair number.
pub(crate) struct Singly<'r> {
    pub ranked: &'r Ranked,
    pub verdicts: &'r [u32],
}

impl Singly<'_> {
    /// Calls `take(vertex, other, verdict)` for the separated pairs that are kept under these vertices. The other vertices of each ascend.
    fn each_kept(&self, options: &Options, vertices: &Range<usize>, mut take: impl FnMut(usize, usize, u32)) {
        let is_kept = |verdict: u32, by_larger: bool| {
            verdict < NO_SEPARATOR && (kept_under(options, 0, 1, verdict) == 1) == by_larger
        };
        // First smaller vertices, from the column of a vertex; then larger ones, from its row.
        each_pair(self.ranked, &(0..options.p), vertices, |x, y, at| {
            let verdict = self.verdicts[at];
            if is_kept(verdict, true) {
                take(y, x, verdict);
            }
        });
        if options.kept_under(0, 1)[0] == 1 {
            // All are kept under the larger vertex.
            return;
        }
        for x in vertices.clone() {
            for (y, &verdict) in self.ranked.larger(x).zip(&self.verdicts[self.ranked.first_of(x)..]) {
                if is_kept(verdict, false) {
                    take(x, y as usize, verdict);
                }
            }
        }
    }

    /// Returns the number of vertices that a thread takes at a time.
    fn at_once(&self, p: usize, pool: &Pool) -> usize {
        // The pass over the words of rows counts, too.
        let steps = self.verdicts.len() + p * p / 64;
        part_of(p, (steps >> 15).clamp(1, pool.threads()))
    }

    /// Returns the separating sets by the vertex that they are kept under. `counts`: the number of sets of each vertex.
    pub fn sets(&self, options: &Options, counts: &[u32], pool: &Pool) -> Result<Singles> {
        let (p, each) = (options.p, self.at_once(options.p, pool));
        let mut starts = memory::zeros::<u64>(p + 1, memory::Use::Sets)?;
        for (v, &count) in counts.iter().enumerate() {
            starts[v + 1] = starts[v] + u64::from(count);
        }
        let mut records: Vec<[u32; 2]> = memory::zeros(starts[p] as usize, memory::Use::Sets)?;
        memory::prefer_large_pages(&mut records);
        let mut shares = Vec::new();
        let mut rest = &mut records[..];
        for first in (0..p).step_by(each) {
            let end = p.min(first + each);
            let (share, behind) = std::mem::take(&mut rest).split_at_mut((starts[end] - starts[first]) as usize);
            rest = behind;
            shares.push((first..end, share));
        }
        pool.each_of(shares, |_, (vertices, share): (Range<usize>, &mut [[u32; 2]])| {
            let base = starts[vertices.start];
            let mut next: Vec<usize> = starts[vertices.clone()].iter().map(|start| (start - base) as usize).collect();
            self.each_kept(options, &vertices, |v, other, verdict| {
                let at = &mut next[v - vertices.start];
                share[*at] = [other as u32, verdict & !SECOND];
                *at += 1;
            });
        });
        Ok(Singles { starts, records })
    }
}
