//! Frozen neighbourhoods: which vertices are neighbours throughout a level.
//!
//! Lists answer every question about neighbourhoods. Bit rows, of p x p bits, only answer some of them faster. Graphs of many vertices have
//! none (`graph::Form`).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::{Adjacency, Form, Tiers};

/// Value in place of an index into a list: the vertex is not in it.
pub const OUTSIDE: u32 = u32::MAX;

/// Number of words of bit rows that take as long as one step in a list.
const WORDS_A_STEP: usize = 4;

/// The number of some neighbourhoods. It is ignored when neighbourhoods are compared: those with the same lists are equal.
#[derive(Clone, Copy, Debug)]
struct Number(u64);

impl PartialEq for Number {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Neighbour lists frozen for a level, and the bit rows they came from, if available.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    number: Number,
    graph: Option<Adjacency>,
    lists: Vec<u32>,
    starts: Vec<usize>,
}

impl Neighbours {
    /// Freezes the neighbourhoods of a graph.
    pub fn of(graph: Adjacency) -> Self {
        let lists = Self::lists_of(&graph);
        Neighbours { graph: Some(graph).filter(|graph| graph.form() == Form::Bits), ..lists }
    }

    /// Narrows the neighbourhoods to those of `graph`, which is a part of their own graph.
    pub(super) fn narrowed(mut self, graph: &Adjacency) -> Self {
        let (mut from, mut end) = (0, 0);
        for x in 0..self.p() {
            let row = graph.row(x);
            for at in from..self.starts[x + 1] {
                let y = self.lists[at] as usize;
                if row.has(y) {
                    self.lists[end] = y as u32;
                    end += 1;
                } else if let Some(rows) = &mut self.graph {
                    rows.remove(x, y);
                }
            }
            from = std::mem::replace(&mut self.starts[x + 1], end);
        }
        self.lists.truncate(end);
        Neighbours { graph: self.graph, ..Self::checked(self.lists, self.starts) }
    }

    /// Freezes the lists of a graph, without bit rows.
    pub(super) fn lists_of(graph: &Adjacency) -> Self {
        let mut lists = vec![0; 2 * graph.edge_count()];
        let mut starts = Vec::with_capacity(graph.p() + 1);
        starts.push(0);
        let mut end = 0;
        for x in 0..graph.p() {
            if graph.form() == Form::Lists {
                for (to, y) in lists[end..].iter_mut().zip(graph.neighbours(x)) {
                    *to = y;
                    end += 1;
                }
            }
            for (w, &word) in graph.bit_row(x).iter().enumerate() {
                let mut rest = word;
                // There may be a million neighbours, so this loop keeps no state of an iterator or a vector.
                while rest != 0 {
                    lists[end] = w as u32 * 64 + rest.trailing_zeros();
                    end += 1;
                    rest &= rest - 1;
                }
            }
            starts.push(end);
        }
        Self::checked(lists, starts)
    }

    /// Makes neighbourhoods from the edges x < y of a graph, in ascending order of y, then of x; without bit rows.
    pub(super) fn of_pairs(p: usize, pairs: &[[u32; 2]]) -> Self {
        let mut starts = vec![0; p + 1];
        pairs.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
        (0..p).for_each(|x| starts[x + 1] += starts[x]);
        let (mut ends, mut lists) = (starts.clone(), vec![0; 2 * pairs.len()]);
        for &[x, y] in pairs {
            for (v, neighbour) in [(x as usize, y), (y as usize, x)] {
                lists[ends[v]] = neighbour;
                ends[v] += 1;
            }
        }
        Self::checked(lists, starts)
    }

    /// Checks that every neighbour is a vertex, as kernels rely on it.
    fn checked(lists: Vec<u32>, starts: Vec<usize>) -> Self {
        let p = starts.len() - 1;
        let in_range = |list: &[u32]| list.last().is_none_or(|&v| (v as usize) < p);
        assert!(starts.windows(2).all(|w| in_range(&lists[w[0]..w[1]])), "a neighbour that is no vertex");
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = Number(NUMBERS.fetch_add(1, Ordering::Relaxed));
        Neighbours { number, graph: None, lists, starts }
    }

    /// Returns a number that only copies of these neighbourhoods share. Workers recognise by it what they already have.
    pub fn number(&self) -> u64 {
        self.number.0
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.starts.len() - 1
    }

    /// Makes neighbourhoods of some rows only, with the neighbours that sets are chosen from ([`Tiers::candidates`]), ascending. They are
    /// for sides whose candidates stand in ascending order.
    pub(super) fn of_rows(tiers: &Tiers, graph: &Adjacency, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut lists = Vec::new();
        let mut starts = Vec::with_capacity(graph.p() + 1);
        starts.push(0);
        let mut rows = rows.into_iter().peekable();
        for x in 0..graph.p() {
            if rows.next_if_eq(&x).is_some() {
                lists.extend(tiers.candidates(graph, x));
            }
            starts.push(lists.len());
        }
        Self::checked(lists, starts)
    }

    /// Makes the neighbourhoods of a star: the centre has all other vertices as neighbours, and these have none. Without bit rows.
    pub(crate) fn of_star(p: usize, centre: usize) -> Self {
        let lists = (0..p as u32).filter(|&v| v as usize != centre).collect();
        let starts = (0..=p).map(|x| if x <= centre { 0 } else { p - 1 }).collect();
        Self::checked(lists, starts)
    }

    /// Makes neighbourhoods from ascending lists, without bit rows.
    pub(super) fn of_lists(lists: &[Vec<u32>]) -> Self {
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        });
        Self::checked(lists.concat(), std::iter::once(0).chain(ends).collect())
    }

    /// Returns the neighbours of x, ascending.
    #[inline]
    pub fn list(&self, x: usize) -> &[u32] {
        &self.lists[self.starts[x]..self.starts[x + 1]]
    }

    /// Returns the number of edges of the graph that the lists describe.
    pub fn edge_count(&self) -> usize {
        self.lists.len() / 2
    }

    /// Returns the number of neighbours of x.
    #[inline]
    pub fn degree(&self, x: usize) -> usize {
        self.starts[x + 1] - self.starts[x]
    }

    /// Returns the index of y in the list of x, or where it would stand.
    pub fn place(&self, x: usize, y: usize) -> u32 {
        self.list(x).partition_point(|&v| (v as usize) < y) as u32
    }

    /// Returns the index of y in the list of x, or [`OUTSIDE`].
    pub fn place_if_any(&self, x: usize, y: usize) -> u32 {
        self.list(x).binary_search(&(y as u32)).map_or(OUTSIDE, |place| place as u32)
    }

    /// Returns the graph that the lists describe.
    pub(super) fn to_graph(&self) -> Adjacency {
        Adjacency::from_lists(&(0..self.p()).map(|x| self.list(x)).collect::<Vec<_>>())
    }

    /// Returns the lists without bit rows.
    pub(super) fn to_lists(&self) -> Self {
        Neighbours { graph: None, ..self.clone() }
    }

    /// Returns the bit rows, if available.
    pub fn graph(&self) -> Option<&Adjacency> {
        self.graph.as_ref()
    }

    /// Returns whether y is a neighbour of x.
    #[inline]
    pub fn adjacent(&self, x: usize, y: usize) -> bool {
        match &self.graph {
            Some(graph) => graph.has(x, y),
            None => self.list(x).binary_search(&(y as u32)).is_ok(),
        }
    }

    /// Returns how many vertices are neighbours of both x and y.
    pub fn common(&self, x: usize, y: usize) -> usize {
        match self.quick_rows(x, y) {
            Some(graph) => graph.common(x, y),
            None => {
                let (mut list, mut others, mut count) = (self.list(x), self.list(y), 0);
                while let (Some(a), Some(b)) = (list.first(), others.first()) {
                    count += usize::from(a == b);
                    let (passes_a, passes_b) = (a <= b, b <= a);
                    list = &list[usize::from(passes_a)..];
                    others = &others[usize::from(passes_b)..];
                }
                count
            }
        }
    }

    /// Returns the neighbours of x that are neither y nor neighbours of y, ascending.
    #[inline]
    pub fn without(&self, x: usize, y: usize) -> Without<'_> {
        match self.quick_rows(x, y) {
            Some(graph) => Without(Source::Rows(Words { word: 0, next: 0, graph, x, y })),
            None => Without(Source::Lists { list: self.list(x), others: self.list(y), y: y as u32 }),
        }
    }

    /// Returns the bit rows, if a pass through those of x and y takes no longer than one through their lists.
    #[inline]
    fn quick_rows(&self, x: usize, y: usize) -> Option<&Adjacency> {
        let steps = self.degree(x) + self.degree(y);
        self.graph.as_ref().filter(|_| self.p().div_ceil(64) <= WORDS_A_STEP * steps)
    }
}

/// The iterator of [`Neighbours::without`].
#[derive(Clone, Debug)]
pub struct Without<'a>(Source<'a>);

/// The source of the vertices: bit rows, or lists.
#[derive(Clone, Debug)]
enum Source<'a> {
    Rows(Words<'a>),
    Lists { list: &'a [u32], others: &'a [u32], y: u32 },
}

/// The unread rest of the bit rows of x and y.
#[derive(Clone, Debug)]
struct Words<'a> {
    /// The unread bits of a word, and the number of the next word.
    word: u64,
    next: usize,
    graph: &'a Adjacency,
    x: usize,
    y: usize,
}

impl Words<'_> {
    /// Loads the next word. Returns `None` if there is none.
    #[inline]
    fn load(&mut self) -> Option<()> {
        let is_there = self.next < self.graph.bit_row(self.x).len();
        self.word = if is_there { self.graph.word_without(self.x, self.y, self.next) } else { 0 };
        self.next += usize::from(is_there);
        is_there.then_some(())
    }
}

impl Iterator for Without<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        match &mut self.0 {
            Source::Rows(words) => {
                while words.word == 0 {
                    words.load()?;
                }
                let bit = words.word.trailing_zeros();
                words.word &= words.word - 1;
                Some((words.next as u32 - 1) * 64 + bit)
            }
            Source::Lists { list, others, y } => loop {
                let (&first, rest) = list.split_first()?;
                *list = rest;
                while others.first().is_some_and(|&other| other < first) {
                    *others = &others[1..];
                }
                if first != *y && others.first() != Some(&first) {
                    return Some(first);
                }
            },
        }
    }

    fn nth(&mut self, mut n: usize) -> Option<u32> {
        if let Source::Rows(words) = &mut self.0 {
            while n >= words.word.count_ones() as usize {
                n -= words.word.count_ones() as usize;
                words.load()?;
            }
        }
        for _ in 0..n {
            self.next()?;
        }
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowed_neighbourhoods_are_those_of_the_smaller_graph() {
        let mut graph = Adjacency::empty(70);
        for x in 0..70 {
            (x + 1..70).filter(|y| (x * 7 + y * 3) % 4 == 0 && x != 9).for_each(|y| graph.insert(x, y));
        }
        let (of_rows, of_lists) = (Neighbours::of(graph.clone()), Neighbours::lists_of(&graph));
        let mut smaller = graph.clone();
        for x in 0..70 {
            let removed = graph.neighbours(x).map(|y| y as usize).filter(|y| (x + y) % 3 == 0);
            removed.for_each(|y| smaller.remove(x, y));
        }
        let before = of_rows.number();
        let narrowed = of_rows.narrowed(&smaller);
        assert!(narrowed == Neighbours::of(smaller.clone()) && narrowed.number() != before);
        assert!(narrowed.graph() == Some(&smaller) && narrowed.edge_count() < graph.edge_count());
        assert_eq!(of_lists.narrowed(&smaller), Neighbours::lists_of(&smaller));
    }
}
