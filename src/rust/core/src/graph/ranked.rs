//! The edges of a graph by number, so that data of edges fit into one flat array.

use super::{Adjacency, Form, Row};
use crate::memory::{self, Use};
use crate::pool::{part_of, Pool};
use crate::Result;

/// Number of words of a row that share one count.
const BLOCK: usize = 8;

/// Least number of blocks for several threads: one thread counts fewer blocks sooner.
const FEW: usize = 1 << 14;

/// A graph whose edges x - y, x < y, are numbered in ascending order of x, then y.
#[derive(Clone, Debug)]
pub struct Ranked {
    graph: Adjacency,
    /// By vertex x: the number of its first edge to a larger vertex, minus the number of its smaller neighbours. It may be negative.
    start: Vec<i64>,
    /// By row and block of words: the number of neighbours before the block.
    before: Vec<u32>,
    len: usize,
}

impl Ranked {
    /// Numbers the edges of a graph, on the pool's threads.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn new(graph: Adjacency, pool: &Pool) -> Result<Self> {
        let p = graph.p();
        let blocks = if graph.form() == Form::Bits { p.div_ceil(64).div_ceil(BLOCK) } else { 0 };
        let mut ranked = Ranked {
            start: memory::zeros(p, Use::Pairs)?,
            before: memory::zeros(p * blocks, Use::Pairs)?,
            len: 0,
            graph,
        };
        let mut degrees: Vec<u32> = memory::zeros(p, Use::Pairs)?;
        let each = part_of(p, pool.threads().clamp(1, p * blocks / FEW + 1));
        let graph = &ranked.graph;
        if blocks == 0 {
            degrees.iter_mut().enumerate().for_each(|(x, degree)| *degree = graph.degree(x) as u32);
        }
        let parts = ranked.before.chunks_mut((each * blocks).max(1)).zip(degrees.chunks_mut(each)).collect();
        pool.each_of(parts, |part, (before, degrees): (&mut [u32], &mut [u32])| {
            for (i, (before, degree)) in before.chunks_mut(blocks).zip(degrees).enumerate() {
                for (before, words) in before.iter_mut().zip(graph.bit_row(part * each + i).chunks(BLOCK)) {
                    *before = *degree;
                    *degree += words.iter().map(|word| word.count_ones()).sum::<u32>();
                }
            }
        });
        for (x, degree) in degrees.into_iter().enumerate() {
            let smaller = ranked.place(x, x);
            ranked.start[x] = ranked.len as i64 - smaller as i64;
            ranked.len += degree as usize - smaller;
        }
        Ok(ranked)
    }

    /// Returns the number of neighbours of x below y.
    #[inline]
    fn place(&self, x: usize, y: usize) -> usize {
        let Row::Bits(row) = self.graph.row(x) else { return self.graph.row(x).count_below(y) };
        let (word, block) = (y / 64, y / 64 / BLOCK);
        let whole: u32 = row[block * BLOCK..word].iter().map(|word| word.count_ones()).sum();
        let part = (row[word] & ((1 << (y % 64)) - 1)).count_ones();
        (self.before[x * row.len().div_ceil(BLOCK) + block] + whole + part) as usize
    }

    /// Returns the number of neighbours of x.
    pub fn degree(&self, x: usize) -> usize {
        let Row::Bits(row) = self.graph.row(x) else { return self.graph.degree(x) };
        let blocks = row.len().div_ceil(BLOCK);
        let last: u32 = row[(blocks - 1) * BLOCK..].iter().map(|word| word.count_ones()).sum();
        (self.before[(x + 1) * blocks - 1] + last) as usize
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Adjacency {
        &self.graph
    }

    /// Returns the number of edges.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the graph has no edges.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of the edge x - y, which must exist.
    pub fn number(&self, x: usize, y: usize) -> usize {
        let (low, high) = (x.min(y), x.max(y));
        (self.start[low] + self.place(low, high) as i64) as usize
    }

    /// Returns the number of x's first edge to a larger vertex, or the next row's first number if x has none.
    pub fn first_of(&self, x: usize) -> usize {
        self.first_from(x, x)
    }

    /// Returns [`Ranked::first_of`] of all vertices, and then the number of edges.
    pub fn firsts(&self) -> Vec<u64> {
        (0..self.graph.p()).map(|x| self.first_of(x)).chain([self.len]).map(|number| number as u64).collect()
    }

    /// Returns the number of x's first edge to y or a later vertex, or the next row's first number if x has none. x must be at most y.
    pub fn first_from(&self, x: usize, y: usize) -> usize {
        (self.start[x] + self.place(x, y) as i64) as usize
    }

    /// Returns the larger neighbours of x in ascending order: the ends of its edges from [`Ranked::first_of`] on.
    pub fn larger(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        self.graph.neighbours_above(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_numbered_in_order() {
        for p in [1usize, 2, 64, 65, 600, 1100] {
            let mut graph = Adjacency::empty(p);
            let mut random = 7u64;
            for x in 0..p {
                for y in x + 1..p {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    if (random >> 33) % (1 + x as u64 % 5) == 0 {
                        graph.insert(x, y);
                    }
                }
            }
            let ranked = Ranked::new(graph.clone(), &Pool::new(3)).unwrap();
            let mut next = 0;
            for x in 0..p {
                assert_eq!((ranked.first_of(x), ranked.degree(x)), (next, graph.degree(x)));
                for y in x + 1..p {
                    assert_eq!(ranked.first_from(x, y), next + ranked.larger(x).filter(|&z| (z as usize) < y).count());
                }
                for y in ranked.larger(x) {
                    assert!(graph.has(x, y as usize) && y as usize > x);
                    assert_eq!((ranked.number(x, y as usize), ranked.number(y as usize, x)), (next, next));
                    next += 1;
                }
            }
            assert_eq!((ranked.len(), ranked.is_empty()), (graph.edge_count(), next == 0));
            assert_eq!(next, graph.edge_count());
        }
    }
}
