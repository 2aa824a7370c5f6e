//! Rows whose vertices have numbers of their own: each row has a block, of itself and its neighbours in ascending order.
//!
//! Block b has the numbers from b w on. Its width w is at least the number of its vertices: 8, 16, or a multiple of 32. Correlations stand
//! in rows of w numbers, so that cell (i, j) of a block is at (b w + i) w + b w + j. The blocks are thus w (w + 1) cells apart, without
//! gaps, and kernels that take a matrix of all vertices take blocks as well. Bits of graphs stand in rows of whole words of 32 in the same
//! way. A row's word of a narrow block has bits at the places of its block, and zeros at all others.
//!
//! If all correlations are on the GPU, the rows' vertices keep their numbers.

use std::ops::Range;

use crate::engine::cuda::arguments::NO_COLUMN;
use crate::engine::cuda::gpu::transfer::threads_for_steps;
use crate::engine::cuda::lists::Lists;
use crate::pool::{part_of, Pool};
use crate::search::level::Neighbours;

/// Bits of a word of the GPU's graphs.
pub(super) const BITS: usize = 32;

/// The width of the narrowest block.
const NARROWEST: usize = 8;

/// Returns the width of a block for this many vertices. There are few widths, as blocks of different widths are run one after the other.
pub(super) fn width_of(vertices: usize) -> usize {
    if vertices <= BITS {
        return vertices.next_power_of_two().max(NARROWEST);
    }
    let step = (vertices / 8).max(1).next_power_of_two().max(BITS);
    vertices.next_multiple_of(step)
}

/// Returns the words in a row of bits of a block.
pub(super) fn words_of_row(width: usize) -> usize {
    width.div_ceil(BITS)
}

/// Returns the cells of a block.
pub(super) fn cells_of(width: usize) -> usize {
    width * (width + 1)
}

/// Returns the cells of the upper triangle, with the diagonal, of a block with this many vertices.
pub(super) fn closely(vertices: usize) -> usize {
    vertices * (vertices + 1) / 2
}

/// Returns the words of bits before block number `block`, which is what `block` blocks take.
pub(super) fn words_before(block: usize, width: usize) -> usize {
    let numbers = block * width;
    numbers * words_of_row(width) + numbers / BITS
}

/// Some rows, in blocks of one width.
pub(super) struct Local {
    pub width: usize,
    pub rows: Vec<u32>,
    /// Vertices of the blocks, `width` each; [`NO_COLUMN`] after the last. Empty if vertices keep their numbers, which are below `width`.
    pub vertices: Vec<u32>,
    /// Place of each row's vertex in its block.
    own: Vec<u32>,
    /// Start of each row's list, then the length of all lists.
    pub starts: Vec<usize>,
    /// Number of candidates in each row's list; empty if all are.
    candidates: Vec<u32>,
}

impl Local {
    /// Creates these rows, without blocks.
    fn of_rows(lists: &Lists, rows: Vec<u32>, width: usize) -> Self {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        rows.iter().for_each(|&x| starts.push(starts[starts.len() - 1] + lists.degree(x as usize)));
        let candidates = match lists.are_candidates() {
            true => Vec::new(),
            false => rows.iter().map(|&x| lists.candidates(x as usize) as u32).collect(),
        };
        Local { width, rows, vertices: Vec::new(), own: Vec::new(), starts, candidates }
    }

    /// Creates these rows, ascending, of p vertices that keep their numbers.
    pub fn whole(lists: &Lists, rows: Vec<u32>, p: usize) -> Self {
        Self::of_rows(lists, rows, p)
    }

    /// Creates blocks of these rows with the vertices of their lists.
    pub fn new(lists: &Lists, rows: Vec<u32>, width: usize, pool: &Pool) -> Self {
        let mut vertices = vec![NO_COLUMN; rows.len() * width];
        let mut own = vec![0; rows.len()];
        let local = Self::of_rows(lists, rows, width);
        let Local { rows, starts, .. } = &local;
        let neighbours = lists.neighbours();
        let steps = 4 * starts[rows.len()];
        let each = part_of(rows.len(), threads_for_steps(pool, steps));
        let parts = rows.chunks(each).zip(vertices.chunks_mut(each * width)).zip(own.chunks_mut(each)).collect();
        pool.each_of(parts, |_, ((rows, vertices), own): ((&[u32], &mut [u32]), &mut [u32])| {
            for ((&x, block), own) in rows.iter().zip(vertices.chunks_exact_mut(width)).zip(own) {
                let place = neighbours.place(x as usize, x as usize) as usize;
                let mut list = lists.of(x as usize);
                block.iter_mut().zip(list.by_ref().take(place)).for_each(|(to, v)| *to = v);
                block[place] = x;
                block[place + 1..].iter_mut().zip(list).for_each(|(to, v)| *to = v);
                *own = place as u32;
            }
        });
        Local { vertices, own, ..local }
    }

    /// Returns whether vertices keep their numbers.
    pub fn is_whole(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Returns the vertex that has a number.
    pub fn vertex(&self, number: u32) -> u32 {
        self.vertices.get(number as usize).copied().unwrap_or(number)
    }

    /// Returns whether some vertices in the lists are no candidates.
    pub fn has_candidates(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// Returns how many vertices of each number's list are candidates; empty if all are.
    pub fn candidates(&self) -> Vec<u32> {
        if self.candidates.is_empty() {
            return Vec::new();
        }
        let mut by_number = vec![0; self.count()];
        for (row, &count) in self.candidates.iter().enumerate() {
            by_number[self.number(row)] = count;
        }
        by_number
    }

    /// Returns the number of a row's own vertex.
    fn number(&self, row: usize) -> usize {
        match self.is_whole() {
            true => self.rows[row] as usize,
            false => row * self.width + self.own[row] as usize,
        }
    }

    /// Returns the length of all rows' lists.
    pub fn entries(&self) -> usize {
        self.starts[self.rows.len()]
    }

    /// Returns how many numbers vertices have.
    pub fn count(&self) -> usize {
        match self.is_whole() {
            true => self.width,
            false => self.rows.len() * self.width,
        }
    }

    /// Returns the vertices of a row's block.
    pub fn block(&self, row: usize) -> &[u32] {
        let vertices = &self.vertices[row * self.width..][..self.width];
        &vertices[..self.starts[row + 1] - self.starts[row] + 1]
    }

    /// Returns where each number's list starts, and the lists by number. Only the rows' own vertices have lists.
    pub fn lists(&self, of: &Lists, pool: &Pool) -> (Vec<u64>, Vec<u32>) {
        if self.is_whole() {
            let mut offsets = vec![self.entries() as u64; self.count() + 1];
            let mut next = 0;
            for (row, &x) in self.rows.iter().enumerate() {
                offsets[next..=x as usize].fill(self.starts[row] as u64);
                next = x as usize + 1;
            }
            let list = self.rows.iter().flat_map(|&x| of.of(x as usize)).collect();
            return (offsets, list);
        }
        let (mut offsets, mut list) = (vec![self.entries() as u64; self.count() + 1], vec![0; self.entries()]);
        let each = part_of(self.rows.len(), threads_for_steps(pool, self.count()));
        let (mut parts, mut rest) = (Vec::new(), &mut list[..]);
        for (part, offsets) in offsets[..self.count()].chunks_mut(each * self.width).enumerate() {
            let rows = part * each..self.rows.len().min((part + 1) * each);
            let (own, later) = std::mem::take(&mut rest).split_at_mut(self.starts[rows.end] - self.starts[rows.start]);
            rest = later;
            parts.push((rows, offsets, own));
        }
        pool.each_of(parts, |_, (rows, offsets, list): (Range<usize>, &mut [u64], &mut [u32])| {
            let mut to = list.iter_mut();
            for (row, offsets) in rows.zip(offsets.chunks_exact_mut(self.width)) {
                let own = self.own[row] as usize;
                let (before, after) = offsets.split_at_mut(own + 1);
                before.fill(self.starts[row] as u64);
                after.fill(self.starts[row + 1] as u64);
                let first = (row * self.width) as u32;
                let places = (0..self.block(row).len()).filter(|&place| place != own);
                places.zip(&mut to).for_each(|(place, number)| *number = first + place as u32);
            }
        });
        (offsets, list)
    }

    /// Fills `to` with cells of the blocks, from cell `from` on; cell (i, j) of the matrix, of two vertices, is `cell(i, j)`.
    pub fn fill(&self, cell: impl Fn(usize, usize) -> f64, from: usize, to: &mut [f64]) {
        let (width, each) = (self.width, cells_of(self.width));
        let (mut at, mut done) = (from, 0);
        while done < to.len() {
            let (row, within) = (at / each, at % each);
            let (i, j) = (within / width, within % width);
            let some = (width - j).min(each - within).min(to.len() - done);
            let own = &mut to[done..done + some];
            let block = self.block(row);
            own.fill(0.0);
            if let Some(&x) = block.get(i) {
                for (place, cell_of) in (j..block.len()).zip(own) {
                    *cell_of = cell(x as usize, block[place] as usize);
                }
            }
            at += some;
            done += some;
        }
    }

    /// Returns where the cells of each block start in the layout of [`Local::fill_closely`], then the number of all cells.
    pub fn cell_starts(&self) -> Vec<u64> {
        let mut starts = Vec::with_capacity(self.rows.len() + 1);
        starts.push(0);
        for row in 0..self.rows.len() {
            starts.push(starts[row] + closely(self.block(row).len()) as u64);
        }
        starts
    }

    /// Fills `to` with cells from `from` on of the upper triangles of the blocks of a symmetric matrix, row by row from the diagonal on.
    /// `ahead(i, j)` is called before most of the cells.
    pub fn fill_closely(
        &self,
        cell: impl Fn(usize, usize) -> f64,
        ahead: impl Fn(usize, usize),
        starts: &[u64],
        from: usize,
        to: &mut [f64],
    ) {
        let mut row = starts.partition_point(|&start| start <= from as u64) - 1;
        let mut i = 0;
        // The place in row i of the block.
        let mut j = from - starts[row] as usize;
        while j >= self.block(row).len() - i {
            j -= self.block(row).len() - i;
            i += 1;
        }
        let mut rest = to;
        while !rest.is_empty() {
            let block = &self.block(row)[i..];
            let next = match block.len() {
                0..=2 if row + 1 < self.rows.len() => self.block(row + 1),
                _ => &block[1..],
            };
            next.iter().skip(1).for_each(|&y| ahead(next[0] as usize, y as usize));
            let some = (block.len() - j).min(rest.len());
            let (own, later) = rest.split_at_mut(some);
            own.iter_mut().zip(&block[j..]).for_each(|(to, &y)| *to = cell(block[0] as usize, y as usize));
            rest = later;
            (i, j) = (i + 1, 0);
            if block.len() == 1 {
                (row, i) = (row + 1, 0);
            }
        }
    }

    /// Returns the words of a row of bits.
    pub fn words(&self) -> usize {
        match self.is_whole() {
            true => 2 * self.width.div_ceil(64),
            false => words_of_row(self.width),
        }
    }

    /// Returns the bits of the graph among the vertices of each block; none if only rows were frozen.
    pub fn bits(&self, neighbours: &Neighbours, pool: &Pool) -> Vec<u32> {
        if self.is_whole() {
            let mut bits = vec![0u32; self.words() * self.width];
            let each = self.words();
            pool.each_of(bits.chunks_mut(each).collect(), |x, row: &mut [u32]| {
                neighbours.list(x).iter().for_each(|&y| row[y as usize / BITS] |= 1 << (y as usize % BITS));
            });
            return bits;
        }
        let (width, rows) = (self.width, self.rows.len());
        let mut bits = vec![0u32; words_before(rows, width)];
        // Parts begin with a whole word.
        let cells = (0..rows).map(|row| self.block(row).len().pow(2)).sum::<usize>();
        let some = part_of(rows, threads_for_steps(pool, 2 * cells)).next_multiple_of(BITS / NARROWEST);
        pool.each_of(bits.chunks_mut(words_before(some, width)).collect(), |part, bits: &mut [u32]| {
            for row in part * some..rows.min((part + 1) * some) {
                let block = self.block(row);
                let (first, own) = (row * width % BITS, &mut bits[words_before(row - part * some, width)..]);
                let mut set =
                    |i: usize, j: usize| own[i * words_of_row(width) + (first + j) / BITS] |= 1 << ((first + j) % BITS);
                for (i, &x) in block.iter().enumerate() {
                    for (j, _) in
                        block[..i].iter().enumerate().filter(|(_, &y)| neighbours.adjacent(x as usize, y as usize))
                    {
                        set(i, j);
                        set(j, i);
                    }
                }
            }
        });
        bits
    }

    /// Returns the vertices of all blocks, each once, in ascending order.
    pub fn all_vertices(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.vertices.iter().copied().filter(|&v| v != NO_COLUMN).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;

    /// Creates a graph with an edge for at least one in `of` + 4 pairs.
    fn graph(of: usize) -> Adjacency {
        let mut graph = Adjacency::empty(100);
        for x in 0..100usize {
            for y in x + 1..100 {
                if (x * 7 + y * 13) % (of + x % 5) == 0 {
                    graph.insert(x, y);
                }
            }
        }
        graph
    }

    #[test]
    fn blocks_are_found_as_a_matrix_of_all_is() {
        let cell = |i: usize, j: usize| (1000 * i + j) as f64;
        let mut widths = std::collections::BTreeSet::new();
        let some = [vec![0u32, 1, 50, 99], vec![7], (0..100).collect()];
        for (of, rows) in [2, 12, 30].into_iter().flat_map(|of| some.iter().map(move |rows| (of, rows.clone()))) {
            let graph = graph(of);
            let most = rows.iter().map(|&x| graph.degree(x as usize) + 1).max().unwrap();
            let width = width_of(most);
            widths.insert(width);
            let neighbours = Neighbours::of(graph.clone());
            let lists = Lists::new(&neighbours, std::iter::empty());
            let local = Local::new(&lists, rows.clone(), width, &Pool::new(3));
            let (offsets, list) = local.lists(&lists, &Pool::new(3));
            assert_eq!((offsets.len(), list.len()), (local.count() + 1, local.entries()));
            let all = cells_of(width) * rows.len();
            let mut cells = vec![f64::NAN; all];
            for (part, to) in cells.chunks_mut(37).enumerate() {
                local.fill(cell, part * 37, to);
            }
            let starts = local.cell_starts();
            let all = starts[rows.len()] as usize;
            for size in [1, 37, all] {
                let mut found = vec![f64::NAN; all];
                for (part, to) in found.chunks_mut(size).enumerate() {
                    local.fill_closely(cell, |_, _| (), &starts, part * size, to);
                }
                let of_block = |row: usize| {
                    let block = local.block(row);
                    let of_row = move |i: usize| block[i..].iter().map(move |&y| cell(block[i] as usize, y as usize));
                    (0..block.len()).flat_map(of_row)
                };
                assert_eq!(found, (0..rows.len()).flat_map(of_block).collect::<Vec<f64>>());
            }
            let bits = local.bits(&neighbours, &Pool::none());
            assert!(bits == local.bits(&neighbours, &Pool::new(3)) && bits.len() == words_before(rows.len(), width));
            let words = words_of_row(width);
            for (row, &x) in rows.iter().enumerate() {
                let x = x as usize;
                let number = row * width + local.own[row] as usize;
                let own = &list[offsets[number] as usize..offsets[number + 1] as usize];
                let vertices: Vec<u32> = own.iter().map(|&v| local.vertices[v as usize]).collect();
                assert_eq!(vertices, graph.neighbours(x).collect::<Vec<_>>());
                assert!(own.iter().all(|&v| (v as usize > number) == (local.vertices[v as usize] as usize > x)));
                for &i in own.iter().chain([&(number as u32)]) {
                    for &j in own {
                        let (a, b) = (local.vertices[i as usize] as usize, local.vertices[j as usize] as usize);
                        assert_eq!(cells[i as usize * width + j as usize], cell(a, b));
                        let word = bits[i as usize * words + j as usize / BITS];
                        assert_eq!(word >> (j % 32) & 1 == 1, graph.has(a, b), "{x} {a} {b}");
                    }
                }
            }
            assert!((0..local.count()).all(|v| offsets[v] <= offsets[v + 1]));
        }
        assert!([8, 16, 32].iter().all(|width| widths.contains(width)) && widths.len() > 3, "{widths:?}");
    }

    #[test]
    fn widths_are_few_and_hold_their_vertices() {
        let widths: std::collections::BTreeSet<usize> = (2..20_000).map(width_of).collect();
        assert!(widths.len() < 100 && widths.iter().all(|width| width % BITS == 0 || BITS % width == 0));
        assert!((2..20_000).all(|n| width_of(n) >= n && width_of(n) <= n + n / 4 + BITS));
    }
}
