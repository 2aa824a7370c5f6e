//! Rows of a graph as lists, which take the memory of what they list.

use std::ops::Range;

/// By vertex, ascending: its neighbours, or, in a complement, the other vertices that are no neighbours. Lists are symmetric.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    pub listed: Vec<Vec<u32>>,
    pub is_complement: bool,
}

impl Lists {
    /// Makes a pair an edge, or no edge.
    pub fn set(&mut self, x: usize, y: usize, is_edge: bool) {
        let is_listed = is_edge != self.is_complement;
        for (a, b) in [(x, y as u32), (y, x as u32)] {
            let list = &mut self.listed[a];
            // Most pairs come in ascending order.
            let place = if list.last().is_none_or(|&last| last < b) { Err(list.len()) } else { list.binary_search(&b) };
            match place {
                Ok(at) if !is_listed => drop(list.remove(at)),
                Err(at) if is_listed => list.insert(at, b),
                _ => {}
            }
        }
    }

    pub fn row(&self, x: usize) -> List<'_> {
        List { listed: &self.listed[x], is_complement: self.is_complement, x: x as u32, p: self.listed.len() as u32 }
    }
}

/// A row of [`Lists`].
#[derive(Clone, Copy, Debug)]
pub struct List<'g> {
    listed: &'g [u32],
    is_complement: bool,
    x: u32,
    p: u32,
}

impl<'g> List<'g> {
    pub fn has(self, y: usize) -> bool {
        y != self.x as usize && self.listed.binary_search(&(y as u32)).is_ok() != self.is_complement
    }

    /// Returns word w of the bit row that the list stands for.
    pub fn word(self, w: usize) -> u64 {
        let (first, end) = (64 * w as u32, 64 * (w as u32 + 1));
        let from = self.listed.partition_point(|&v| v < first);
        let listed = self.listed[from..].iter().take_while(|&&v| v < end).fold(0, |word, &v| word | 1 << (v - first));
        match self.is_complement {
            true => !listed & self.all_of(w),
            false => listed,
        }
    }

    /// Returns the vertices of word w, without the row's own.
    fn all_of(self, w: usize) -> u64 {
        let vertices = self.p.saturating_sub(64 * w as u32).min(64);
        let all = if vertices == 0 { 0 } else { !0 >> (64 - vertices) };
        if self.x as usize / 64 == w {
            all & !(1 << (self.x % 64))
        } else {
            all
        }
    }

    /// Returns how many neighbours are below y.
    pub fn count_below(self, y: usize) -> usize {
        let listed = self.listed.partition_point(|&v| (v as usize) < y);
        match self.is_complement {
            true => y.min(self.p as usize) - usize::from(y > self.x as usize) - listed,
            false => listed,
        }
    }

    /// Returns the neighbours in a range, ascending.
    pub fn within(self, range: Range<usize>) -> Listed<'g> {
        let at = |v: usize| self.listed.partition_point(|&other| (other as usize) < v);
        let (start, end) = (range.start.min(self.p as usize), range.end.min(self.p as usize));
        let end = end.max(start);
        let listed = &self.listed[at(start)..at(end)];
        let rest = if self.is_complement { start as u32..end as u32 } else { 0..0 };
        Listed { listed, rest, x: self.x }
    }

    /// Returns the words of the row, or, with `gaps`, of the pairs that are no edges. Each comes with its place. Empty words are left out.
    pub fn words(self, gaps: bool) -> ListedWords<'g> {
        let words = (self.p as usize).div_ceil(64);
        let rest = if gaps == self.is_complement { 0..0 } else { 0..words };
        ListedWords { listed: self.listed, rest, list: List { is_complement: true, ..self } }
    }
}

/// The neighbours of a vertex: those listed, or those of `rest` that are neither listed nor the vertex itself.
pub struct Listed<'g> {
    listed: &'g [u32],
    rest: Range<u32>,
    x: u32,
}

impl Iterator for Listed<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.rest.is_empty() {
            let (&first, rest) = self.listed.split_first()?;
            self.listed = rest;
            return Some(first);
        }
        for v in self.rest.by_ref() {
            match self.listed.split_first() {
                Some((&first, rest)) if first == v => self.listed = rest,
                _ if v == self.x => {}
                _ => return Some(v),
            }
        }
        self.listed = &[];
        None
    }
}

/// The words of listed vertices, or all words of the others.
pub struct ListedWords<'g> {
    listed: &'g [u32],
    rest: Range<usize>,
    /// The row of the others.
    list: List<'g>,
}

impl Iterator for ListedWords<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        if !self.rest.is_empty() {
            let list = self.list;
            let found = self.rest.by_ref().map(|w| (w, list.word(w))).find(|(_, word)| *word != 0);
            if self.rest.is_empty() {
                self.listed = &[];
            }
            return found;
        }
        let w = *self.listed.first()? as usize / 64;
        let count = self.listed.iter().take_while(|&&v| v as usize / 64 == w).count();
        let (now, later) = self.listed.split_at(count);
        self.listed = later;
        Some((w, now.iter().fold(0, |word, &v| word | 1 << (v % 64))))
    }
}
