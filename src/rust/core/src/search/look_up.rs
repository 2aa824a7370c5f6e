//! Looks up the values of many pairs (x, y) at once in [`PairValues`], which stores them by the smaller vertex. It takes 64 vertices x at a
//! time.

use std::ops::Range;

use super::largest::PairValues;
use crate::graph::{Ranked, Row};
use crate::memory;

/// Number of smaller vertices that are taken together. The values of 64 vertices x stand in this many places. They stay in the processor's
/// own cache while all these x are read.
const TOGETHER: usize = 512;

/// Values in one cache line.
const LINE: usize = 8;

/// Looks up values, one word of vertices after the other.
pub struct LookUp<'v> {
    left: Option<(&'v Ranked, &'v [f64])>,
    /// The word that is expected next.
    word: usize,
    /// For every vertex before that word: the number of its first pair with a vertex of that word, or of a later one.
    numbers: Vec<usize>,
}

impl PairValues {
    /// Prepares to look up many values.
    pub fn look_up(&self) -> LookUp<'_> {
        LookUp { left: self.parts(), word: 0, numbers: Vec::new() }
    }
}

impl LookUp<'_> {
    /// Puts the values of pairs (x, y) into `values`, for vertices x that stand in one word of a row. The i-th vertex has the pairs
    /// `rows[i]`; `y_of` returns the y of a pair, ascending. Pairs that level 0 did not leave get `none`.
    ///
    /// # Panics
    /// If the vertices do not stand in one word.
    pub fn put(
        &mut self,
        vertices: Range<usize>,
        rows: &[Range<usize>],
        y_of: impl Fn(usize) -> usize,
        none: f64,
        values: &mut [f64],
    ) {
        let Some((pairs, all)) = self.left else {
            return rows.iter().for_each(|row| values[row.clone()].fill(none));
        };
        let word = vertices.start / 64;
        assert!(vertices.end <= 64 * (word + 1), "vertices {vertices:?} stand in more than one word");
        self.turn_to(word, pairs);
        let first = 64 * word;
        let mut open: Vec<Range<usize>> = rows.to_vec();
        let (mut left, mut numbers) = ([0u64; TOGETHER], [0usize; TOGETHER]);
        for from in (0..first).step_by(TOGETHER) {
            let to = first.min(from + TOGETHER);
            turned_rows(pairs, word, from..to, &mut left);
            for ((number, left), next) in numbers.iter_mut().zip(&left).zip(&mut self.numbers[from..to]) {
                *number = *next;
                *next += left.count_ones() as usize;
                for at in (*number..*next).step_by(LINE) {
                    memory::fetch_ahead(&all[at]);
                }
            }
            for (x, open) in vertices.clone().zip(&mut open) {
                let bit = 1u64 << (x - first);
                while open.start < open.end {
                    let y = y_of(open.start);
                    if y >= to {
                        break;
                    }
                    let (left, number) = (left[y - from], numbers[y - from]);
                    let place = number + (left & (bit - 1)).count_ones() as usize;
                    values[open.start] = if left & bit != 0 { all[place] } else { none };
                    open.start += 1;
                }
            }
        }
        for (x, mut open) in vertices.zip(open) {
            while open.start < open.end && y_of(open.start) < x {
                let y = y_of(open.start);
                let is_left = pairs.graph().has(x, y);
                values[open.start] = if is_left { all[pairs.number(x, y)] } else { none };
                open.start += 1;
            }
            let mut larger = Larger::of(pairs, x);
            for at in open {
                values[at] = larger.number(y_of(at)).map_or(none, |number| all[number]);
            }
        }
        self.pass(word, pairs);
    }

    /// Computes `numbers` for a word, unless it is the expected one.
    fn turn_to(&mut self, word: usize, pairs: &Ranked) {
        if self.word != word {
            self.word = word;
            self.numbers.clear();
            self.numbers.extend((0..64 * word).map(|y| pairs.first_from(y, 64 * word)));
        }
    }

    /// Moves on to the next word. The numbers of the vertices before this word already belong to the next one.
    fn pass(&mut self, word: usize, pairs: &Ranked) {
        let (first, next) = (64 * word, 64 * (word + 1));
        if next < pairs.graph().p() {
            self.word = word + 1;
            self.numbers.extend((first..next).map(|y| pairs.first_from(y, next)));
        } else {
            self.word = 0;
            self.numbers.clear();
        }
    }
}

/// Writes one word of the rows of some vertices, which are whole words themselves. By symmetry these are columns of the word's vertices,
/// which stand together in memory.
fn turned_rows(pairs: &Ranked, word: usize, of: Range<usize>, words: &mut [u64; TOGETHER]) {
    let graph = pairs.graph();
    let last = graph.p().min(64 * (word + 1));
    for (column, words) in (of.start / 64..of.end / 64).zip(words.chunks_exact_mut(64)) {
        words.fill(0);
        for (word, x) in words.iter_mut().zip(64 * word..last) {
            *word = graph.row(x).word(column);
        }
        turn(words);
    }
}

/// Transposes 64 words: bit j of word i becomes bit i of word j (Warren, Hacker's Delight, 7-3).
fn turn(words: &mut [u64]) {
    let (mut apart, mut mask) = (32, u64::MAX >> 32);
    while apart > 0 {
        for pair in words.chunks_exact_mut(2 * apart) {
            let (low, high) = pair.split_at_mut(apart);
            for (low, high) in low.iter_mut().zip(high) {
                let swapped = (*low >> apart ^ *high) & mask;
                *low ^= swapped << apart;
                *high ^= swapped;
            }
        }
        apart /= 2;
        mask ^= mask << apart;
    }
}

/// Numbers of the pairs of a vertex with larger vertices, queried in ascending order.
struct Larger<'g> {
    row: Row<'g>,
    word: usize,
    /// The unread bits of the word, and the number of the first of them.
    left: u64,
    number: usize,
}

impl<'g> Larger<'g> {
    fn of(pairs: &'g Ranked, x: usize) -> Self {
        let (row, word) = (pairs.graph().row(x), x / 64);
        Larger { row, word, left: row.word(word) & (!0 << (x % 64) << 1), number: pairs.first_of(x) }
    }

    /// Returns the number of the pair with y, if there is one.
    #[inline]
    fn number(&mut self, y: usize) -> Option<usize> {
        while self.word < y / 64 {
            self.number += self.left.count_ones() as usize;
            self.word += 1;
            self.left = self.row.word(self.word);
        }
        let bit = 1 << (y % 64);
        (self.left & bit != 0).then(|| self.number + (self.left & (bit - 1)).count_ones() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::pool::Pool;

    #[test]
    fn values_of_any_pairs_are_those_looked_up_one_by_one() {
        let mut random = 5u64;
        let mut one_in = |n: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % n == 0
        };
        for p in [1usize, 2, 63, 64, 65, 200, 576, 700] {
            let mut graph = Adjacency::empty(p);
            for (x, y) in (0..p).flat_map(|x| (x + 1..p).map(move |y| (x, y))) {
                if one_in(3) {
                    graph.insert(x, y);
                }
            }
            let pairs = Ranked::new(graph, &Pool::none()).unwrap();
            let mut left = PairValues::default();
            let mut values = [1.0];
            left.look_up().put(0..1, std::slice::from_ref(&(0..1)), |_| 0, -2.0, &mut values);
            assert_eq!(values, [-2.0], "level 0 has not run");
            let numbers = (0..pairs.len()).map(|number| 0.5 + number as f64).collect();
            left.enter(pairs, numbers);
            let mut looked_up = left.look_up();
            // One word after the other, from the start and from elsewhere, with and without gaps.
            let words = p.div_ceil(64);
            for word in (0..words).chain(words / 2..words).chain((0..words).step_by(2)) {
                let end = p.min(64 * (word + 1));
                for vertices in [64 * word..end, (64 * word + end) / 2..end] {
                    let (mut ys, mut rows) = (Vec::new(), Vec::new());
                    for x in vertices.clone() {
                        let start = ys.len();
                        ys.extend((0..p).filter(|&y| y != x && one_in(1 + x as u64 % 4)));
                        rows.push(start..ys.len());
                    }
                    let mut values = vec![0.0; ys.len()];
                    looked_up.put(vertices.clone(), &rows, |at| ys[at], -2.0, &mut values);
                    for (x, row) in vertices.zip(rows) {
                        for at in row {
                            assert_eq!(values[at], left.get(x, ys[at]).unwrap_or(-2.0), "{p}: {x} and {}", ys[at]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bits_are_turned() {
        let mut words: Vec<u64> = (0..64u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let before = words.clone();
        turn(&mut words);
        for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
            assert_eq!(words[j] >> i & 1, before[i] >> j & 1);
        }
    }
}
