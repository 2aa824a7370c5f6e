//! The edges and the gaps of a flat result: for each vertex x the vertices y > x, each with a p-value.

use std::ops::Range;

use super::{counted, na, parts, starts, CONFLICT, TO_LARGER, TO_SMALLER, UNDIRECTED};
use crate::graph::{bits, Adjacency};
use crate::orient::Pdag;
use crate::planes::{cut, DoublesMut};
use crate::pool::Pool;
use crate::search::{Options, PairValues, Skeleton};

/// A function that writes the pairs of a vertex x.
type Put<'a> = dyn Fn(usize, &mut Row) + Sync + 'a;

/// Pairs x < y to write, each with a p-value.
pub struct Listed<'a> {
    starts: Vec<u64>,
    put: Box<Put<'a>>,
}

/// A row that is being written.
struct Row<'a> {
    to: std::slice::IterMut<'a, i32>,
    values: Vec<f64>,
}

impl Row<'_> {
    fn put(&mut self, y: usize, value: f64) {
        self.to.by_ref().take(1).for_each(|to| *to = y as i32 + 1);
        self.values.push(value);
    }
}

impl<'a> Listed<'a> {
    /// Lists the edges of a graph, with the largest p-values of the pairs that level 0 left.
    pub fn edges(pool: &Pool, graph: &'a Adjacency, left: &'a PairValues) -> Self {
        let starts = starts(counted(pool, graph.p(), |x| graph.degree_above(x) as u64).into_iter());
        let put = |x: usize, row: &mut Row| left.each_edge(x, graph, |y, value| row.put(y, value.unwrap_or(na())));
        Listed { starts, put: Box::new(put) }
    }

    /// Lists the pairs that are not adjacent and have no separating set. These are gaps from the start, and pairs that "stable.fast"
    /// removes at level 0 for lack of a p-value. An orientation may add separating sets, so the gaps are listed before it.
    pub fn gaps(pool: &Pool, found: &'a Skeleton, left: &'a PairValues, options: &'a Options) -> Self {
        let p = found.graph.p();
        let starts = starts(counted(pool, p, |x| apart(found, left, x).count() as u64).into_iter());
        let put = move |x: usize, row: &mut Row| {
            for y in apart(found, left, x) {
                let is_gap = options.fixed_gaps.as_ref().is_some_and(|gaps| gaps.has(x, y));
                row.put(y, if is_gap { options.untested() } else { f64::NAN });
            }
        };
        Listed { starts, put: Box::new(put) }
    }

    /// Returns for each vertex the index of its first pair, then the number of all pairs.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> usize {
        self.starts[self.starts.len() - 1] as usize
    }

    /// Fills the arrays: for each pair the other vertex, counted from 1, and the p-value, in 8 bytes (`planes`).
    pub fn write(&self, pool: &Pool, to: &mut [i32], values: &mut [u8]) {
        let starts = &self.starts;
        let parts = parts(pool, starts);
        let slots = cut(to, starts, &parts).into_iter().zip(DoublesMut::cut(values, starts, &parts));
        let work = parts.iter().cloned().zip(slots);
        let some = work.filter(|(rows, _)| starts[rows.start] < starts[rows.end]).collect();
        pool.each_of(some, |_, (rows, (to, mut values)): (Range<usize>, (&mut [i32], DoublesMut))| {
            let (mut at, mut row) = (0, Row { to: to.iter_mut(), values: Vec::new() });
            for x in rows {
                row.values.clear();
                (self.put)(x, &mut row);
                values.put(at, &row.values);
                at += row.values.len();
            }
        });
    }
}

/// Iterates over the vertices y > x that are not adjacent to x and have no set that separates them from x.
fn apart<'a>(found: &'a Skeleton, left: &'a PairValues, x: usize) -> impl Iterator<Item = usize> + 'a {
    let Skeleton { graph, sepsets, .. } = found;
    let (graph, left) = (graph.row(x), left.row(x));
    let known = move |w: usize| graph.word(w) | left.map_or(0, |row| row.word(w));
    let above = sepsets.empty().gaps_of(x).skip_while(move |&(w, _)| w < x / 64);
    above
        .flat_map(move |(w, word)| bits(w, word & !known(w)))
        .map(|y| y as usize)
        .filter(move |&y| y > x)
        .filter(move |&y| sepsets.get(x, y).is_none() && sepsets.get(y, x).is_none())
}

/// Number of marks of undirected edges that a thread writes at a time.
const MARKS_TOGETHER: usize = 4 << 20;

/// Fills in the marks of the edges x < y. `starts` holds where each row's edges begin. Without a `pdag` no edge has a direction.
pub fn marks(pool: &Pool, graph: &Adjacency, starts: &[u64], pdag: Option<&Pdag>, slots: &mut [u8]) {
    let Some(pdag) = pdag else {
        return pool.each_of(slots.chunks_mut(MARKS_TOGETHER).collect(), |_, slots: &mut [u8]| slots.fill(UNDIRECTED));
    };
    let parts = parts(pool, starts);
    let work = parts.iter().cloned().zip(cut(slots, starts, &parts)).collect();
    pool.each_of(work, |_, (rows, slots): (Range<usize>, &mut [u8])| {
        let all = rows.flat_map(|x| graph.neighbours_above(x).map(move |y| (x, y as usize)));
        for ((x, y), slot) in all.zip(slots) {
            *slot = match (pdag.mark(x, y), pdag.mark(y, x)) {
                (2, _) => CONFLICT,
                (1, 0) => TO_LARGER,
                (0, _) => TO_SMALLER,
                _ => UNDIRECTED,
            };
        }
    });
}
