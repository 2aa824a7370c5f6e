//! An undirected graph as bit rows: constant-time edge tests, neighbours in ascending order.

use std::ops::Range;

use crate::memory::{self, Use};
use crate::pool::{part_of, Pool};
use crate::simd::{self, Task};
use crate::Result;

/// Undirected graph on `p` vertices without self-loops.
#[derive(Debug, PartialEq, Eq)]
pub struct Adjacency {
    p: usize,
    words: usize,
    bits: Vec<u64>,
}

/// Returns words without a bit. Many words are put on large pages, because a large graph spends most of its time on the first touch of its
/// pages.
pub(crate) fn no_bits(words: usize) -> Vec<u64> {
    let mut bits = vec![0; words];
    memory::prefer_large_pages(&mut bits);
    bits
}

impl Clone for Adjacency {
    fn clone(&self) -> Self {
        let mut bits = no_bits(self.bits.len());
        bits.copy_from_slice(&self.bits);
        Adjacency { bits, ..*self }
    }
}

/// The task of counting the bits of words.
struct Ones<'w>(&'w [u64]);

impl<S> Task<S> for Ones<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, _: S) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Returns the number of bits in words.
#[inline]
fn ones(words: &[u64]) -> usize {
    simd::run(Ones(words))
}

/// One half of the bit rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The bits of each vertex with smaller ones.
    Lower,
    /// The bits of each vertex with larger ones.
    Upper,
}

impl Adjacency {
    /// Returns the number of bytes that a graph of `p` vertices takes.
    pub fn bytes(p: usize) -> usize {
        p.saturating_mul(p.div_ceil(64)).saturating_mul(size_of::<u64>())
    }

    /// Makes a graph without edges.
    pub fn empty(p: usize) -> Self {
        let words = p.div_ceil(64);
        Adjacency { p, words, bits: no_bits(p * words) }
    }

    /// Makes the complete graph.
    pub fn complete(p: usize) -> Self {
        Self::empty(p).complement(&Pool::none())
    }

    /// Copies the graph on the pool's threads.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn copied(&self, pool: &Pool) -> Result<Self> {
        let mut bits: Vec<u64> = memory::zeros(self.bits.len(), Use::Pairs)?;
        memory::prefer_large_pages(&mut bits);
        let each = part_of(bits.len(), (bits.len() >> 17).clamp(1, pool.threads()));
        pool.each_of(bits.chunks_mut(each).zip(self.bits.chunks(each)).collect(), |_, (to, from)| {
            to.copy_from_slice(from);
        });
        Ok(Adjacency { bits, ..*self })
    }

    /// Makes a graph from neighbour lists (any order). An edge may be listed in one direction or both; the result is symmetric.
    pub fn from_lists<L: AsRef<[u32]>>(lists: &[L]) -> Self {
        let mut graph = Self::empty(lists.len());
        for (x, list) in lists.iter().enumerate() {
            for &y in list.as_ref() {
                if y as usize != x {
                    graph.insert(x, y as usize);
                }
            }
        }
        graph
    }

    /// Makes a graph from all bit rows, `p.div_ceil(64)` words each; see [`Adjacency::row`].
    ///
    /// # Panics
    /// If `bits` has another length.
    pub fn from_rows(p: usize, bits: Vec<u64>) -> Self {
        let words = p.div_ceil(64);
        assert_eq!(bits.len(), p * words, "bit rows of {p} vertices");
        let graph = Adjacency { p, words, bits };
        debug_assert!((0..p).all(|x| graph.neighbours(x).all(|y| y as usize != x && graph.has(y as usize, x))));
        graph
    }

    /// Makes a graph from the lower triangle alone. Word `w` of row `y` has bit `x % 64` set for each edge x - y with x / 64 = w and x < y.
    /// Bits on or above the diagonal must not be set.
    pub fn from_lower(p: usize, mut word: impl FnMut(usize, usize) -> u64) -> Self {
        let mut graph = Self::empty(p);
        for y in 0..p {
            for w in 0..=y / 64 {
                graph.bits[y * graph.words + w] = word(y, w);
            }
        }
        // Transposing blocks of 64 x 64 bits gives the upper triangle.
        for below in 0..graph.words {
            for left in 0..=below {
                let mut block = [0u64; 64];
                for (i, row) in block.iter_mut().enumerate().take(p - 64 * below) {
                    *row = graph.bits[(64 * below + i) * graph.words + left];
                }
                transpose(&mut block);
                for (i, row) in block.iter().enumerate().take((p - 64 * left).min(64)) {
                    graph.bits[(64 * left + i) * graph.words + below] |= row;
                }
            }
        }
        graph
    }

    /// Makes a graph from one [`Half`] of its bit rows. The pool's threads mirror it.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    ///
    /// # Panics
    /// If `rows` has another length than `p` rows.
    pub fn from_half(p: usize, rows: &[u64], half: Half, pool: &Pool) -> Result<Self> {
        let words = p.div_ceil(64);
        assert_eq!(rows.len(), p * words, "bit rows of {p} vertices");
        let mut bits: Vec<u64> = memory::zeros(rows.len(), Use::Pairs)?;
        memory::prefer_large_pages(&mut bits);
        let block_of = |at: usize, w: usize| {
            let mut block = [0u64; 64];
            for (i, row) in block.iter_mut().enumerate().take(p - 64 * at) {
                *row = rows[(64 * at + i) * words + w];
            }
            block
        };
        pool.each_of(bits.chunks_mut((64 * words).max(1)).collect(), |at, own: &mut [u64]| {
            for w in 0..words {
                let is_given = if half == Half::Upper { w > at } else { w < at };
                let mut block = if is_given || w == at { block_of(at, w) } else { block_of(w, at) };
                if block == [0; 64] {
                    continue;
                }
                if w == at {
                    let above = |i: usize| !0 << i << 1;
                    let of_half = |i: usize| if half == Half::Upper { above(i) } else { !above(i) ^ (1 << i) };
                    block.iter_mut().enumerate().for_each(|(i, row)| *row &= of_half(i));
                    let mut mirrored = block;
                    transpose(&mut mirrored);
                    block.iter_mut().zip(mirrored).for_each(|(row, image)| *row |= image);
                } else if !is_given {
                    transpose(&mut block);
                }
                own.chunks_mut(words).zip(block).for_each(|(row, word)| row[w] = word);
            }
        });
        Ok(Adjacency { p, words, bits })
    }

    /// Turns the graph into its complement, on the pool's threads: the graph of the pairs that are not edges here.
    pub fn complement(mut self, pool: &Pool) -> Self {
        let (p, words) = (self.p, self.words);
        let last = !0 >> ((64 - p % 64) % 64);
        let each = self.rows_together(pool);
        pool.each_of(self.bits.chunks_mut((each * words).max(1)).collect(), |part, rows: &mut [u64]| {
            for (x, row) in (part * each..).zip(rows.chunks_mut(words)) {
                row.iter_mut().for_each(|word| *word = !*word);
                row[x / 64] &= !(1 << (x % 64));
                if let Some(word) = row.last_mut() {
                    *word &= last;
                }
            }
        });
        self
    }

    /// Returns how many rows a thread takes at a time in a pass through all bits.
    pub(crate) fn rows_together(&self, pool: &Pool) -> usize {
        part_of(self.p, (self.bits.len() >> 17).clamp(1, pool.threads()))
    }

    /// Returns the value of `count` for each vertex, computed on the pool's threads.
    pub fn by_vertex<T: Clone + Default + Send>(&self, pool: &Pool, count: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let (mut counts, each) = (vec![T::default(); self.p], self.rows_together(pool));
        pool.each_of(counts.chunks_mut(each).collect(), |part, counts: &mut [T]| {
            counts.iter_mut().zip(part * each..).for_each(|(to, x)| *to = count(x));
        });
        counts
    }

    fn row_mut(&mut self, x: usize) -> &mut [u64] {
        &mut self.bits[x * self.words..(x + 1) * self.words]
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns the rows of bits, one after the other.
    pub fn words(&self) -> &[u64] {
        &self.bits
    }

    /// Returns the bit row of `x`: bit `y % 64` of word `y / 64` is set if x - y is an edge.
    pub fn row(&self, x: usize) -> &[u64] {
        &self.bits[x * self.words..(x + 1) * self.words]
    }

    /// Returns whether x - y is an edge.
    #[inline]
    pub fn has(&self, x: usize, y: usize) -> bool {
        self.bits[x * self.words + y / 64] >> (y % 64) & 1 == 1
    }

    /// Adds the edge x - y (x != y).
    pub fn insert(&mut self, x: usize, y: usize) {
        debug_assert_ne!(x, y);
        self.row_mut(x)[y / 64] |= 1 << (y % 64);
        self.row_mut(y)[x / 64] |= 1 << (x % 64);
    }

    /// Removes the edge x - y.
    pub fn remove(&mut self, x: usize, y: usize) {
        self.row_mut(x)[y / 64] &= !(1 << (y % 64));
        self.row_mut(y)[x / 64] &= !(1 << (x % 64));
    }

    /// Removes many edges.
    pub fn remove_all(&mut self, pairs: &[[u32; 2]]) {
        let words = self.words;
        for &[x, y] in pairs {
            let (x, y) = (x as usize, y as usize);
            self.bits[x * words + y / 64] &= !(1 << (y % 64));
            self.bits[y * words + x / 64] &= !(1 << (x % 64));
        }
    }

    /// Returns the number of neighbours of `x`.
    pub fn degree(&self, x: usize) -> usize {
        ones(self.row(x))
    }

    /// Returns how many neighbours of `x` are larger than `x`.
    pub fn degree_above(&self, x: usize) -> usize {
        let words = &self.row(x)[x / 64..];
        ones(words) - (words[0] & ((1 << (x % 64)) - 1)).count_ones() as usize
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        ones(&self.bits) / 2
    }

    /// Returns the neighbours of `x` in ascending order.
    pub fn neighbours(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        Vertices::within(self.row(x), 0..64 * self.words)
    }

    /// Returns how many neighbours `x` and `y` share.
    #[inline]
    pub fn common(&self, x: usize, y: usize) -> usize {
        let count = |(a, b): (&u64, &u64)| (a & b).count_ones() as usize;
        self.row(x).iter().zip(self.row(y)).map(count).sum()
    }

    /// Returns the neighbours of `x` in a range, in ascending order.
    pub fn neighbours_between(&self, x: usize, range: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        Vertices::within(self.row(x), range)
    }

    /// Returns the neighbours of `x` above it, in ascending order.
    pub fn neighbours_above(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        Vertices::within(self.row(x), x + 1..64 * self.words)
    }

    /// Returns word `w` of the neighbours of `x` that are neither neighbours of `y` nor `y` itself.
    #[inline]
    pub fn word_without(&self, x: usize, y: usize, w: usize) -> u64 {
        let word = self.row(x)[w] & !self.row(y)[w];
        if w == y / 64 {
            word & !(1 << (y % 64))
        } else {
            word
        }
    }

    /// Returns the vertices that are not neighbours of `x` but share one with it, in ascending order.
    pub fn at_distance_two(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        let mut reached = vec![0u64; self.words];
        for y in self.neighbours(x) {
            for (word, &more) in reached.iter_mut().zip(self.row(y as usize)) {
                *word |= more;
            }
        }
        for (word, &near) in reached.iter_mut().zip(self.row(x)) {
            *word &= !near;
        }
        reached[x / 64] &= !(1 << (x % 64));
        reached.into_iter().enumerate().flat_map(|(w, word)| bits(w, word))
    }

    /// Returns all neighbour lists, each in ascending order.
    pub fn to_lists(&self) -> Vec<Vec<u32>> {
        (0..self.p).map(|x| self.neighbours(x).collect()).collect()
    }
}

/// The single bit for each place of a word, for loops over all places.
pub(crate) const BITS: [u64; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < bits.len() {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// The vertices of a row, or of a range of it, in ascending order. Most words of a sparse graph are empty, and are skipped one by one.
struct Vertices<'g> {
    /// The unread bits of the current word; `first` is the vertex of its bit 0.
    word: u64,
    first: u32,
    /// The words after it. `last` masks the last one.
    rest: &'g [u64],
    last: u64,
}

impl<'g> Vertices<'g> {
    fn within(row: &'g [u64], range: Range<usize>) -> Self {
        if range.is_empty() {
            return Vertices { word: 0, first: 0, rest: &[], last: 0 };
        }
        let (from, last) = (range.start / 64, !0 >> (63 - (range.end - 1) % 64));
        let rest = &row[from + 1..range.end.div_ceil(64)];
        let word = row[from] & !0 << (range.start % 64) & if rest.is_empty() { last } else { !0 };
        Vertices { word, first: from as u32 * 64, rest, last }
    }
}

impl Iterator for Vertices<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            let (&next, rest) = self.rest.split_first()?;
            self.word = if rest.is_empty() { next & self.last } else { next };
            self.rest = rest;
            self.first += 64;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.first + bit)
    }
}

/// Returns the vertices of word `w` of a row.
pub(crate) fn bits(w: usize, word: u64) -> impl Iterator<Item = u32> {
    Vertices { word, first: w as u32 * 64, rest: &[], last: 0 }
}

/// Transposes a 64 x 64 matrix of bits (rows are words, bit j is column j) by halving blocks, as in Hacker's Delight 7-3.
fn transpose(block: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while width > 0 {
        let mut i = 0;
        while i < 64 {
            let swap = ((block[i] >> width) ^ block[i + width]) & mask;
            block[i] ^= swap << width;
            block[i + width] ^= swap;
            i = (i + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_triangle_is_mirrored() {
        for p in [1usize, 2, 63, 64, 65, 200] {
            let edge = |x: usize, y: usize| (x * 7919 + y * 104_729) % 3 == 0;
            let graph = Adjacency::from_lower(p, |y, w| {
                (0..64).filter(|b| w * 64 + b < y && edge(w * 64 + b, y)).map(|b| 1u64 << b).sum()
            });
            for x in 0..p {
                for y in 0..p {
                    assert_eq!(graph.has(x, y), x != y && edge(x.min(y), x.max(y)), "{p}: {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn a_half_is_mirrored_whatever_is_in_the_other() {
        for p in [1usize, 2, 63, 64, 65, 200] {
            let edge = |x: usize, y: usize| (x * 7919 + y * 104_729) % 3 == 0;
            for half in [Half::Lower, Half::Upper] {
                let word = |x: usize, w: usize| {
                    let is_its = |y: usize| if half == Half::Upper { y > x } else { y < x };
                    let is_set =
                        |y: usize| y < p && if is_its(y) { edge(x.min(y), x.max(y)) } else { (x + y) % 2 == 0 };
                    (0..64).filter(|b| is_set(64 * w + b)).map(|b| 1u64 << b).sum::<u64>()
                };
                let rows: Vec<u64> = (0..p).flat_map(|x| (0..p.div_ceil(64)).map(move |w| word(x, w))).collect();
                for threads in [1, 3] {
                    let graph = Adjacency::from_half(p, &rows, half, &Pool::new(threads)).unwrap();
                    for x in 0..p {
                        for y in 0..p {
                            assert_eq!(graph.has(x, y), x != y && edge(x.min(y), x.max(y)), "{p}: {x}, {y}");
                        }
                        assert_eq!(graph.degree_above(x), graph.neighbours_above(x).count());
                    }
                }
            }
        }
    }

    #[test]
    fn neighbours_are_those_of_their_range() {
        for p in [1usize, 2, 63, 64, 65, 128, 200] {
            let mut graph = Adjacency::empty(p);
            for x in 0..p {
                // Some rows are full, some words empty.
                let is_edge = |y: &usize| x % 5 == 0 || (x * 7919 + y * 104_729) % 61 == 0;
                (x + 1..p).filter(is_edge).for_each(|y| graph.insert(x, y));
            }
            for x in 0..p {
                let within = |range: Range<usize>| -> Vec<u32> {
                    range.filter(|&y| graph.has(x, y)).map(|y| y as u32).collect()
                };
                assert_eq!(graph.neighbours(x).collect::<Vec<_>>(), within(0..p));
                assert_eq!(graph.neighbours_above(x).collect::<Vec<_>>(), within(x + 1..p));
                for (from, to) in
                    (0..=p).flat_map(|from| [from, from + 1, from + 64, p, 70].map(|to| (from, to.min(p))))
                {
                    assert_eq!(
                        graph.neighbours_between(x, from..to).collect::<Vec<_>>(),
                        within(from..to),
                        "{from} {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn all_rows_are_taken_as_they_are() {
        for p in [1usize, 64, 65, 130] {
            let graph =
                Adjacency::from_lower(p, |y, w| if w == y / 64 { (1 << (y % 64)) - 1 } else { !0 } & 0x5555_5555);
            let bits = (0..p).flat_map(|x| graph.row(x).to_vec()).collect();
            assert_eq!(Adjacency::from_rows(p, bits), graph);
        }
    }

    #[test]
    fn complete_graph_has_all_pairs_and_no_loops() {
        for p in [2, 3, 63, 64, 65, 130] {
            let graph = Adjacency::complete(p);
            assert_eq!(graph.edge_count(), p * (p - 1) / 2);
            assert!((0..p).all(|x| !graph.has(x, x) && graph.degree(x) == p - 1));
        }
    }

    #[test]
    fn insert_and_remove_are_symmetric_and_lists_are_sorted() {
        let mut graph = Adjacency::empty(100);
        graph.insert(70, 3);
        graph.insert(70, 99);
        graph.insert(70, 64);
        assert!(graph.has(3, 70) && graph.has(70, 3));
        assert_eq!(graph.neighbours(70).collect::<Vec<_>>(), [3, 64, 99]);
        graph.remove(64, 70);
        assert_eq!(graph.neighbours(70).collect::<Vec<_>>(), [3, 99]);
        assert_eq!(Adjacency::from_lists(&graph.to_lists()), graph);
        graph.insert(70, 64);
        graph.insert(70, 10);
        graph.insert(3, 64);
        assert_eq!(graph.at_distance_two(10).collect::<Vec<_>>(), [3, 64, 99]);
        assert_eq!(graph.at_distance_two(64).collect::<Vec<_>>(), [10, 99]);
    }
}
