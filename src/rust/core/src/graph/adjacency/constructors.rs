//! Constructors of graphs: from lists, from bit rows or a half of them, and from other graphs.

use super::bits::{no_bits, transpose};
use super::lists::Lists;
use super::{Adjacency, Form, Half, Rows};
use crate::memory::{self, Use};
use crate::pool::{part_of, Pool};
use crate::Result;

impl Adjacency {
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
        let mut more = vec![0; p];
        listed.iter().flatten().for_each(|&x| more[x as usize] += 1);
        listed.iter_mut().zip(more).for_each(|(list, more)| list.reserve_exact(more));
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
}
