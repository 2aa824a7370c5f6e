//! An undirected graph: bit rows, or lists if there are many vertices. Neighbours come in ascending order.
//!
//! Bit rows answer in constant time whether a pair is an edge, and take 64 vertices at a time. They take p x p bits, whatever they hold: 125 GB
//! for a million vertices. Lists take the memory of the edges, or of the pairs that are no edges.

mod bits;
mod lists;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::{self, Use};
use crate::pool::{part_of, Pool};
use crate::Result;
pub(crate) use bits::{bits, no_bits, BITS};
use bits::{ones, transpose, Vertices};
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

    /// Makes a graph without edges.
    pub fn empty(p: usize) -> Self {
        Self::empty_as(p, Form::of(p))
    }

    /// Makes a graph without edges in a given form.
    pub fn empty_as(p: usize, form: Form) -> Self {
        let words = p.div_ceil(64);
        let rows = match form {
            Form::Bits => Rows::Bits(no_bits(p * words)),
            Form::Lists => Rows::Lists(Lists { listed: vec![Vec::new(); p], is_complement: false }),
        };
        Adjacency { p, words, rows }
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
        let Rows::Bits(from) = &self.rows else { return Ok(self.clone()) };
        let mut bits: Vec<u64> = memory::zeros(from.len(), Use::Pairs)?;
        memory::prefer_large_pages(&mut bits);
        let each = part_of(bits.len(), (bits.len() >> 17).clamp(1, pool.threads()));
        pool.each_of(bits.chunks_mut(each).zip(from.chunks(each)).collect(), |_, (to, from)| {
            to.copy_from_slice(from);
        });
        Ok(Adjacency { rows: Rows::Bits(bits), ..*self })
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
        let graph = Adjacency { p, words, rows: Rows::Bits(bits) };
        debug_assert!((0..p).all(|x| graph.neighbours(x).all(|y| y as usize != x && graph.has(y as usize, x))));
        graph
    }

    /// Makes a graph from the lower triangle alone. Word `w` of row `y` has bit `x % 64` set for each edge x - y with x / 64 = w and x < y.
    /// Bits on or above the diagonal must not be set.
    pub fn from_lower(p: usize, mut word: impl FnMut(usize, usize) -> u64) -> Self {
        let words = p.div_ceil(64);
        let mut bits = no_bits(p * words);
        for y in 0..p {
            for w in 0..=y / 64 {
                bits[y * words + w] = word(y, w);
            }
        }
        // Transposing blocks of 64 x 64 bits gives the upper triangle.
        for below in 0..words {
            for left in 0..=below {
                let mut block = [0u64; 64];
                for (i, row) in block.iter_mut().enumerate().take(p - 64 * below) {
                    *row = bits[(64 * below + i) * words + left];
                }
                transpose(&mut block);
                for (i, row) in block.iter().enumerate().take((p - 64 * left).min(64)) {
                    bits[(64 * left + i) * words + below] |= row;
                }
            }
        }
        Adjacency { p, words, rows: Rows::Bits(bits) }
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
        Ok(Adjacency { p, words, rows: Rows::Bits(bits) })
    }

    /// Makes a graph as lists from the vertices that each row has below it, ascending: those of its edges or, for a complement, those of the
    /// other pairs.
    pub fn from_lower_lists(mut listed: Vec<Vec<u32>>, is_complement: bool) -> Self {
        let p = listed.len();
        let ends: Vec<usize> = listed.iter().map(Vec::len).collect();
        for (y, &end) in ends.iter().enumerate() {
            // A list grows by larger vertices only after its own turn, and these come in ascending order.
            for at in 0..end {
                let x = listed[y][at] as usize;
                listed[x].push(y as u32);
            }
        }
        Adjacency { p, words: p.div_ceil(64), rows: Rows::Lists(Lists { listed, is_complement }) }
    }

    /// Turns the graph into its complement, on the pool's threads: the graph of the pairs that are not edges here.
    pub fn complement(mut self, pool: &Pool) -> Self {
        let (p, words, each) = (self.p, self.words, self.rows_together(pool));
        let last = !0 >> ((64 - p % 64) % 64);
        let bits = match &mut self.rows {
            Rows::Bits(bits) => bits,
            Rows::Lists(lists) => {
                lists.is_complement = !lists.is_complement;
                return self;
            }
        };
        pool.each_of(bits.chunks_mut((each * words).max(1)).collect(), |part, rows: &mut [u64]| {
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
mod tests {
    use super::*;
    use crate::graph::Ranked;

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
            let bits = (0..p).flat_map(|x| graph.bit_row(x).to_vec()).collect();
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
        assert_eq!(graph.at_distance_two(10), [3, 64, 99]);
        assert_eq!(graph.at_distance_two(64), [10, 99]);
    }

    /// Returns a graph with these edges in each form: bits, lists of neighbours, and lists of the others.
    fn in_each_form(p: usize, edge: impl Fn(usize, usize) -> bool) -> [Adjacency; 3] {
        let below = |y: usize, is_listed: bool| -> Vec<u32> {
            (0..y).filter(|&x| edge(x, y) == is_listed).map(|x| x as u32).collect()
        };
        let mut bits = Adjacency::empty_as(p, Form::Bits);
        (0..p).for_each(|y| below(y, true).into_iter().for_each(|x| bits.insert(x as usize, y)));
        let lists = |is_listed: bool| (0..p).map(|y| below(y, is_listed)).collect();
        [bits, Adjacency::from_lower_lists(lists(true), false), Adjacency::from_lower_lists(lists(false), true)]
    }

    #[test]
    fn all_forms_are_the_same_graph() {
        for p in [1usize, 2, 63, 64, 65, 200] {
            let edge = |x: usize, y: usize| (x.min(y) * 7919 + x.max(y) * 104_729) % 7 < 2 || x + y == p;
            let [bits, mut lists, mut others] = in_each_form(p, edge);
            for step in 0..2 {
                for graph in [&lists, &others] {
                    assert!(graph == &bits && graph.edge_count() == bits.edge_count(), "{p}");
                    assert!(Ranked::new(graph.clone(), &Pool::none()).unwrap().len() == bits.edge_count());
                    for x in 0..p {
                        let of = |graph: &Adjacency| {
                            let words: Vec<_> = graph.words_of(x).collect();
                            let gaps: Vec<_> = graph.gaps_of(x).collect();
                            let above: Vec<_> = graph.neighbours_above(x).collect();
                            (words, gaps, above, graph.degree(x), graph.degree_above(x), graph.at_distance_two(x))
                        };
                        assert_eq!(of(graph), of(&bits), "{p}: {x}");
                        for y in 0..p {
                            assert_eq!(graph.has(x, y), bits.has(x, y));
                            assert_eq!(graph.common(x, y), bits.common(x, y));
                            assert_eq!(graph.row(x).count_below(y), bits.row(x).count_below(y));
                            let within =
                                |graph: &Adjacency| graph.neighbours_between(x, x.min(y)..y).collect::<Vec<_>>();
                            assert_eq!(within(graph), within(&bits), "{p}: {x} to {y}");
                        }
                        for w in 0..p.div_ceil(64) {
                            assert_eq!(graph.row(x).word(w), bits.row(x).word(w));
                        }
                    }
                    assert_eq!(graph.clone().complement(&Pool::none()), bits.clone().complement(&Pool::new(2)));
                }
                if step == 0 {
                    let mut changed = bits.clone();
                    for graph in [&mut changed, &mut lists, &mut others] {
                        (1..p).filter(|x| x % 3 == 0).for_each(|x| graph.remove(x, x / 2));
                        graph
                            .insert_all(&Pool::new(2), p, |x, insert| (x + 1..p.min(x + 3)).for_each(|y| insert(y, x)));
                    }
                    assert!(changed == lists && changed == others, "{p}");
                    let same = in_each_form(p, |x, y| changed.has(x, y));
                    assert_eq!(same[0], changed);
                    (lists, others) = (same[1].clone(), same[2].clone());
                    if p > 2 {
                        assert_ne!(changed, bits);
                    }
                    return_to(&mut lists, &bits);
                    return_to(&mut others, &bits);
                }
            }
        }
    }

    /// Makes the edges of a graph those of another.
    fn return_to(graph: &mut Adjacency, wanted: &Adjacency) {
        for (x, y) in (0..wanted.p()).flat_map(|x| (0..x).map(move |y| (x, y))) {
            match wanted.has(x, y) {
                true => graph.insert(x, y),
                false => graph.remove(x, y),
            }
        }
    }
}
