//! An undirected graph: bit rows, or lists if there are many vertices. Neighbours come in ascending order.
//!
//! Bit rows answer in constant time whether a pair is an edge, and take 64 vertices at a time. They take p x p bits, whatever they hold: 125 GB
//! for a million vertices. Lists take the memory of the edges, or of the pairs that are no edges.

mod bits;
mod constructors;
mod lists;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pool::{part_of, Pool};
pub(crate) use bits::{bits, no_bits, BITS};
use bits::{ones, Vertices};
use lists::{List, Lists};

/// The most vertices of a graph as bit rows, which then take 2 GiB.
const MOST_AS_BITS: usize = 1 << 17;

/// How a graph is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bit rows.
    Bits,
    /// Lists of neighbours, or of the vertices that are no neighbours.
    Lists,
}

impl Form {
    /// Returns the form for `p` vertices.
    pub fn of(p: usize) -> Self {
        if p <= MOST_AS_BITS {
            Form::Bits
        } else {
            Form::Lists
        }
    }
}

/// Undirected graph on `p` vertices without self-loops. Graphs with the same edges are equal, whatever their form.
#[derive(Debug)]
pub struct Adjacency {
    p: usize,
    words: usize,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    /// Bit rows, one after the other.
    Bits(Vec<u64>),
    Lists(Lists),
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        match self {
            Rows::Bits(from) => {
                let mut bits = no_bits(from.len());
                bits.copy_from_slice(from);
                Rows::Bits(bits)
            }
            Rows::Lists(lists) => Rows::Lists(lists.clone()),
        }
    }
}

impl Clone for Adjacency {
    fn clone(&self) -> Self {
        Adjacency { rows: self.rows.clone(), ..*self }
    }
}

impl PartialEq for Adjacency {
    fn eq(&self, other: &Self) -> bool {
        match (&self.rows, &other.rows) {
            (Rows::Bits(bits), Rows::Bits(others)) => self.p == other.p && bits == others,
            _ => self.p == other.p && (0..self.p).all(|x| self.neighbours(x).eq(other.neighbours(x))),
        }
    }
}

impl Eq for Adjacency {}

/// One half of the bit rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The bits of each vertex with smaller ones.
    Lower,
    /// The bits of each vertex with larger ones.
    Upper,
}

/// The row of a vertex: bit `y % 64` of word `y / 64` is set if y is a neighbour.
#[derive(Clone, Copy, Debug)]
pub enum Row<'g> {
    /// A bit row.
    Bits(&'g [u64]),
    /// A list that stands for one.
    List(List<'g>),
}

impl<'g> Row<'g> {
    /// Returns whether y is a neighbour.
    #[inline]
    pub fn has(self, y: usize) -> bool {
        match self {
            Row::Bits(bits) => bits[y / 64] >> (y % 64) & 1 == 1,
            Row::List(list) => list.has(y),
        }
    }

    /// Returns word w.
    #[inline]
    pub fn word(self, w: usize) -> u64 {
        match self {
            Row::Bits(bits) => bits[w],
            Row::List(list) => list.word(w),
        }
    }

    /// Returns how many neighbours are below y.
    #[inline]
    pub fn count_below(self, y: usize) -> usize {
        match self {
            Row::Bits(bits) if y % 64 == 0 => ones(&bits[..y / 64]),
            Row::Bits(bits) => ones(&bits[..y / 64]) + (bits[y / 64] & ((1 << (y % 64)) - 1)).count_ones() as usize,
            Row::List(list) => list.count_below(y),
        }
    }
}

/// The iterator of a row, in either form of the graph.
enum Either<I, J> {
    Bits(I),
    List(J),
}

impl<I: Iterator, J: Iterator<Item = I::Item>> Iterator for Either<I, J> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        match self {
            Either::Bits(of_bits) => of_bits.next(),
            Either::List(of_list) => of_list.next(),
        }
    }
}

impl Adjacency {
    /// Returns the number of bytes that a graph of `p` vertices takes as bit rows.
    pub fn bytes_of_bits(p: usize) -> usize {
        p.saturating_mul(p.div_ceil(64)).saturating_mul(size_of::<u64>())
    }

    /// Returns the number of bytes that a graph of `p` vertices takes in its usual form, without what lists hold.
    pub fn bytes(p: usize) -> usize {
        match Form::of(p) {
            Form::Bits => Self::bytes_of_bits(p),
            Form::Lists => p.saturating_mul(size_of::<Vec<u32>>()),
        }
    }

    /// Returns how many rows a thread takes at a time in a pass through all bits.
    pub(crate) fn rows_together(&self, pool: &Pool) -> usize {
        let steps = match &self.rows {
            Rows::Bits(bits) => bits.len(),
            Rows::Lists(_) => 64 * self.p,
        };
        part_of(self.p, (steps >> 17).clamp(1, pool.threads()))
    }

    /// Returns the value of `count` for each vertex, computed on the pool's threads.
    pub fn by_vertex<T: Clone + Default + Send>(&self, pool: &Pool, count: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let (mut counts, each) = (vec![T::default(); self.p], self.rows_together(pool));
        pool.each_of(counts.chunks_mut(each).collect(), |part, counts: &mut [T]| {
            counts.iter_mut().zip(part * each..).for_each(|(to, x)| *to = count(x));
        });
        counts
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns how the graph is kept.
    pub fn form(&self) -> Form {
        match self.rows {
            Rows::Bits(_) => Form::Bits,
            Rows::Lists(_) => Form::Lists,
        }
    }

    /// Returns the bit rows, one after the other; nothing if the graph is kept as lists.
    pub fn words(&self) -> &[u64] {
        match &self.rows {
            Rows::Bits(bits) => bits,
            Rows::Lists(_) => &[],
        }
    }

    /// Returns the bit row of `x`; nothing if the graph is kept as lists.
    #[inline]
    pub fn bit_row(&self, x: usize) -> &[u64] {
        match &self.rows {
            Rows::Bits(bits) => &bits[x * self.words..(x + 1) * self.words],
            Rows::Lists(_) => &[],
        }
    }

    /// Returns the row of `x`.
    #[inline]
    pub fn row(&self, x: usize) -> Row<'_> {
        match &self.rows {
            Rows::Bits(bits) => Row::Bits(&bits[x * self.words..(x + 1) * self.words]),
            Rows::Lists(lists) => Row::List(lists.row(x)),
        }
    }

    /// Iterates over the words of the row of `x` that are not empty, each with its place.
    pub fn words_of(&self, x: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        match self.row(x) {
            Row::Bits(row) => Either::Bits(row.iter().copied().enumerate().filter(|(_, word)| *word != 0)),
            Row::List(list) => Either::List(list.words(false)),
        }
    }

    /// Iterates over the words of the vertices that are neither neighbours of `x` nor `x`, as [`Adjacency::words_of`] does.
    pub fn gaps_of(&self, x: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let last = (self.words.max(1) - 1, !0 >> ((64 - self.p % 64) % 64));
        match self.row(x) {
            Row::Bits(row) => {
                let gaps = move |(w, word): (usize, &u64)| {
                    let own = if w == x / 64 { 1 << (x % 64) } else { 0 };
                    (w, !word & !own & if w == last.0 { last.1 } else { !0 })
                };
                Either::Bits(row.iter().enumerate().map(gaps).filter(|(_, word)| *word != 0))
            }
            Row::List(list) => Either::List(list.words(true)),
        }
    }

    /// Returns whether x - y is an edge.
    #[inline]
    pub fn has(&self, x: usize, y: usize) -> bool {
        match &self.rows {
            Rows::Bits(bits) => bits[x * self.words + y / 64] >> (y % 64) & 1 == 1,
            Rows::Lists(lists) => lists.row(x).has(y),
        }
    }

    /// Adds the edge x - y (x != y).
    pub fn insert(&mut self, x: usize, y: usize) {
        debug_assert_ne!(x, y);
        match &mut self.rows {
            Rows::Bits(bits) => {
                bits[x * self.words + y / 64] |= 1 << (y % 64);
                bits[y * self.words + x / 64] |= 1 << (x % 64);
            }
            Rows::Lists(lists) => lists.set(x, y, true),
        }
    }

    /// Adds edges that `add` finds for each part of some work, on the pool's threads.
    pub fn insert_all(&mut self, pool: &Pool, parts: usize, add: impl Fn(usize, &mut dyn FnMut(usize, usize)) + Sync) {
        let words = self.words;
        match &mut self.rows {
            Rows::Bits(bits) => {
                let shared: Vec<AtomicU64> = std::mem::take(bits).into_iter().map(AtomicU64::new).collect();
                let set = |x: usize, y: usize| shared[x * words + y / 64].fetch_or(1 << (y % 64), Ordering::Relaxed);
                pool.each(parts, |part| {
                    add(part, &mut |x, y| {
                        set(x, y);
                        set(y, x);
                    });
                });
                *bits = shared.into_iter().map(AtomicU64::into_inner).collect();
            }
            Rows::Lists(lists) => (0..parts).for_each(|part| add(part, &mut |x, y| lists.set(x, y, true))),
        }
    }

    /// Removes the edge x - y.
    pub fn remove(&mut self, x: usize, y: usize) {
        match &mut self.rows {
            Rows::Bits(bits) => {
                bits[x * self.words + y / 64] &= !(1 << (y % 64));
                bits[y * self.words + x / 64] &= !(1 << (x % 64));
            }
            Rows::Lists(lists) => lists.set(x, y, false),
        }
    }

    /// Removes many edges.
    pub fn remove_all(&mut self, pairs: &[[u32; 2]]) {
        pairs.iter().for_each(|&[x, y]| self.remove(x as usize, y as usize));
    }

    /// Returns the number of neighbours of `x`.
    pub fn degree(&self, x: usize) -> usize {
        self.row(x).count_below(64 * self.words)
    }

    /// Returns how many neighbours of `x` are larger than `x`.
    pub fn degree_above(&self, x: usize) -> usize {
        match self.row(x) {
            Row::Bits(row) => {
                let words = &row[x / 64..];
                ones(words) - (words[0] & ((1 << (x % 64)) - 1)).count_ones() as usize
            }
            Row::List(list) => list.count_below(self.p) - list.count_below(x),
        }
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        match &self.rows {
            Rows::Bits(bits) => ones(bits) / 2,
            Rows::Lists(_) => (0..self.p).map(|x| self.degree(x)).sum::<usize>() / 2,
        }
    }

    /// Returns the neighbours of `x` in ascending order.
    pub fn neighbours(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        self.neighbours_between(x, 0..64 * self.words)
    }

    /// Returns how many neighbours `x` and `y` share.
    #[inline]
    pub fn common(&self, x: usize, y: usize) -> usize {
        match (self.row(x), self.row(y)) {
            (Row::Bits(of_x), Row::Bits(of_y)) => {
                of_x.iter().zip(of_y).map(|(a, b)| (a & b).count_ones() as usize).sum()
            }
            _ => self.words_of(x).map(|(w, word)| (word & self.row(y).word(w)).count_ones() as usize).sum(),
        }
    }

    /// Returns the neighbours of `x` in a range, in ascending order.
    pub fn neighbours_between(&self, x: usize, range: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        match self.row(x) {
            Row::Bits(row) => Either::Bits(Vertices::within(row, range)),
            Row::List(list) => Either::List(list.within(range)),
        }
    }

    /// Returns the neighbours of `x` above it, in ascending order.
    pub fn neighbours_above(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        self.neighbours_between(x, x + 1..64 * self.words)
    }

    /// Returns word `w` of the neighbours of `x` that are neither neighbours of `y` nor `y` itself.
    #[inline]
    pub fn word_without(&self, x: usize, y: usize, w: usize) -> u64 {
        let word = self.row(x).word(w) & !self.row(y).word(w);
        if w == y / 64 {
            word & !(1 << (y % 64))
        } else {
            word
        }
    }

    /// Returns the vertices that are not neighbours of `x` but share one with it, in ascending order.
    pub fn at_distance_two(&self, x: usize) -> Vec<u32> {
        let is_far = |&v: &u32| v as usize != x && !self.has(x, v as usize);
        let Rows::Bits(_) = self.rows else {
            let mut reached: Vec<u32> = self.neighbours(x).flat_map(|y| self.neighbours(y as usize)).collect();
            reached.sort_unstable();
            reached.dedup();
            reached.retain(is_far);
            return reached;
        };
        let mut reached = vec![0u64; self.words];
        for y in self.neighbours(x) {
            for (word, &more) in reached.iter_mut().zip(self.bit_row(y as usize)) {
                *word |= more;
            }
        }
        reached.into_iter().enumerate().flat_map(|(w, word)| bits(w, word)).filter(is_far).collect()
    }

    /// Calls `tell` with numbers that distinguish this graph from others of the same form.
    pub fn each_number(&self, mut tell: impl FnMut(u64)) {
        match &self.rows {
            Rows::Bits(bits) => bits.iter().for_each(|&word| tell(word)),
            Rows::Lists(Lists { listed, is_complement }) => {
                tell(u64::from(*is_complement));
                for list in listed {
                    tell(list.len() as u64);
                    list.iter().for_each(|&v| tell(u64::from(v)));
                }
            }
        }
    }

    /// Returns all neighbour lists, each in ascending order.
    pub fn to_lists(&self) -> Vec<Vec<u32>> {
        (0..self.p).map(|x| self.neighbours(x).collect()).collect()
    }
}

#[cfg(test)]
mod tests;
