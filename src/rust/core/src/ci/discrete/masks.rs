//! Counting by bit planes: the samples of a stratum and a level of x as bits, intersected with the planes of y.

use super::data::{Coded, Codes};
use super::lines::{self, Line};
use super::popcount::Bits;
use super::strata::ALL;
use crate::memory::{self, Use};

/// Number of words of a plane that are intersected at a time, so that the data of one step stay in the fastest cache.
const BLOCK: usize = 512;

/// Approximate nanoseconds for listing the samples of a mask, per word and per sample, and for looking up a sample in a table.
const WORD: f64 = 0.6;
const SAMPLE: f64 = 1.5;
const LOOKED_UP: f64 = 0.8;

/// The most planes that are intersected with a mask at a time.
const MOST_PLANES: usize = 32;

/// The samples with a level of x and a combination of levels of the first members of a conditioning set, by depth, as in
/// [`Strata`](super::strata::Strata).
#[derive(Debug, Default)]
pub(super) struct Masks {
    x: u32,
    members: Vec<u32>,
    depths: Vec<Depth>,
    leaf: Vec<Line>,
    samples: Vec<u32>,
    bits: Bits,
}

#[derive(Debug, Default)]
struct Depth {
    masks: Vec<Line>,
    /// The stratum and the level of x of each mask, ascending. Masks without a sample are left out.
    keys: Vec<(u32, u32)>,
    /// Number of numbered strata.
    strata: u32,
    /// Whether all strata are numbered, or only those that occur.
    all: bool,
}

impl Masks {
    /// Forgets everything that is kept.
    pub fn forget(&mut self) {
        self.depths.clear();
        self.members.clear();
    }

    /// Returns the approximate nanoseconds for intersecting a mask of this many words with a plane.
    pub fn cost(&self, words: usize) -> f64 {
        self.bits.cost(words as f64)
    }

    /// Counts the samples with each level of x and each level of y into their table (x, then y), except for the last levels.
    pub fn count_pair(&self, data: &Coded, x: usize, y: usize, table: &mut [u32]) {
        let ly = data.levels(y);
        let mut planes: [&[u64]; MOST_PLANES] = [&[]; MOST_PLANES];
        let planes = &mut planes[..ly - 1];
        planes.iter_mut().enumerate().for_each(|(level, plane)| *plane = data.plane(y, level));
        for (level, row) in table.chunks_exact_mut(ly).enumerate().take(data.levels(x) - 1) {
            self.bits.count_common(data.plane(x, level), planes, &mut row[..ly - 1]);
        }
    }

    /// Prepares the masks of x and `prefix`. Returns the number of strata, or `None` if there is not enough memory, which is noted.
    pub fn prepare(&mut self, data: &Coded, x: u32, prefix: &[u32]) -> Option<usize> {
        if self.depths.is_empty() || self.x != x {
            self.x = x;
            self.members.clear();
            if self.depths.is_empty() {
                self.depths.push(Depth::default());
            }
            if !self.depths[0].of_variable(data, x as usize) {
                self.depths.clear();
                return None;
            }
        }
        let same = self.members.iter().zip(prefix).take_while(|(a, b)| a == b).count();
        self.members.truncate(same);
        while self.depths.len() <= prefix.len() {
            self.depths.push(Depth::default());
        }
        for (at, &member) in prefix.iter().enumerate().skip(same) {
            let (above, below) = self.depths.split_at_mut(at + 1);
            if !below[0].split(data, member as usize, &above[at], self.bits) {
                return None;
            }
            self.members.push(member);
        }
        Some(self.depths[prefix.len()].strata as usize)
    }

    /// Adds to the tables the counts of x, each of `others`, and the strata of `prefix` with each level of `last`. The tables follow one
    /// another, each by stratum, x and y. `known` marks variables (the prefix, the last and x) as bits; nothing is counted at their last
    /// levels.
    pub fn count(
        &mut self,
        data: &Coded,
        prefix: &[u32],
        last: Option<u32>,
        others: &[u32],
        known: u32,
        tables: &mut [u32],
    ) {
        let lx = data.levels(self.x as usize);
        let rows = self.depths[prefix.len()].strata as usize * last.map_or(1, |last| data.levels(last as usize)) * lx;
        let (mut others, mut tables) = (others, tables);
        while !others.is_empty() {
            // As many as have planes that can be intersected at a time.
            let (mut some, mut planes, mut cells) = (0, 0, 0);
            while let Some(&y) = others.get(some) {
                let more = if data.has_planes(y as usize) { data.levels(y as usize) } else { 0 };
                if planes + more > MOST_PLANES {
                    break;
                }
                (some, planes, cells) = (some + 1, planes + more, cells + rows * data.levels(y as usize));
            }
            let (now, rest) = others.split_at(some);
            let (filled, after) = tables.split_at_mut(cells);
            self.count_some(data, prefix, last, now, known, filled);
            (others, tables) = (rest, after);
        }
    }

    /// Counts as [`Masks::count`] does, for others with at most [`MOST_PLANES`] planes.
    fn count_some(
        &mut self,
        data: &Coded,
        prefix: &[u32],
        last: Option<u32>,
        others: &[u32],
        known: u32,
        tables: &mut [u32],
    ) {
        let words = data.words();
        let Masks { x, depths, leaf, samples, bits, .. } = self;
        let lx = data.levels(*x as usize);
        let depth = &depths[prefix.len()];
        let levels = last.map_or(1, |last| data.levels(last as usize));
        let rows = depth.strata as usize * levels * lx;
        let is_known = |at: usize| at < 32 && known >> at & 1 == 1;
        let counted = levels - usize::from(last.is_some() && is_known(prefix.len()));
        let x_is_known = is_known(prefix.len() + usize::from(last.is_some()));
        let prefix_is_known = (0..prefix.len()).any(is_known);
        // Returns whether a stratum of the prefix is at the last level of a known variable. All strata must be numbered.
        let at_last = |stratum: u32| {
            let mut rest = stratum as usize;
            prefix.iter().enumerate().rev().any(|(at, &member)| {
                let (levels, of) = (data.levels(member as usize), rest);
                rest /= levels;
                of % levels == levels - 1 && is_known(at)
            })
        };
        leaf.resize(BLOCK / lines::WORDS, Line::default());
        let leaf = lines::words_mut(leaf);
        for from in (0..words).step_by(BLOCK) {
            let part = from..words.min(from + BLOCK);
            let mut planes: [&[u64]; MOST_PLANES] = [&[]; MOST_PLANES];
            let mut counts = [0; MOST_PLANES];
            let mut met = 0;
            for &y in others.iter().filter(|&&y| data.has_planes(y as usize)) {
                // If nothing is missing, the last level has the remaining samples.
                for level in 0..data.levels(y as usize) - usize::from(!data.missing(y as usize)) {
                    planes[met] = &data.plane(y as usize, level)[part.clone()];
                    met += 1;
                }
            }
            // The number of samples below which they are looked up one by one.
            let few = (met as f64 * bits.cost(part.len() as f64) - WORD * part.len() as f64)
                / (SAMPLE + LOOKED_UP * others.len() as f64);
            for (mask, &(stratum, of_x)) in depth.masks.chunks(lines_of(words)).zip(&depth.keys) {
                if (x_is_known && of_x as usize == lx - 1) || (prefix_is_known && at_last(stratum)) {
                    continue;
                }
                for level in 0..counted {
                    let of_last = last.map(|last| &data.plane(last as usize, level)[part.clone()]);
                    let mask = &lines::words(mask)[part.clone()];
                    let leaf = &mut leaf[..part.len()];
                    let n = bits.intersect(mask, of_last.unwrap_or(mask), leaf);
                    if n == 0 {
                        continue;
                    }
                    let row = (stratum as usize * levels + level) * lx + of_x as usize;
                    let few = f64::from(n) < few;
                    samples.clear();
                    if !few {
                        bits.count_common(leaf, &planes[..met], &mut counts);
                    }
                    let (mut table, mut counts) = (0, counts.iter());
                    for &y in others {
                        let ly = data.levels(y as usize);
                        let cells = &mut tables[table + row * ly..table + (row + 1) * ly];
                        table += rows * ly;
                        if few || !data.has_planes(y as usize) {
                            if samples.is_empty() {
                                list(leaf, from, samples);
                            }
                            match data.codes(y as usize) {
                                Codes::Bytes(codes) => tally(samples, codes, cells),
                                Codes::Words(codes) => tally(samples, codes, cells),
                            }
                            continue;
                        }
                        let found = counts.by_ref().take(ly - usize::from(!data.missing(y as usize)));
                        let mut rest = n;
                        for (cell, &count) in cells.iter_mut().zip(found) {
                            *cell += count;
                            rest = rest.wrapping_sub(count);
                        }
                        if !data.missing(y as usize) {
                            cells[ly - 1] += rest;
                        }
                    }
                }
            }
        }
    }
}

/// Returns the number of lines in a mask.
fn lines_of(words: usize) -> usize {
    words.div_ceil(lines::WORDS)
}

/// Appends the samples of a mask.
fn list(mask: &[u64], first_word: usize, samples: &mut Vec<u32>) {
    for (at, &word) in mask.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            samples.push(((first_word + at) * 64) as u32 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

fn tally<C: Copy + Into<u32>>(samples: &[u32], codes: &[C], cells: &mut [u32]) {
    for &sample in samples {
        let code: u32 = codes[sample as usize].into();
        // A missing value has no cell.
        if let Some(cell) = cells.get_mut(code as usize) {
            *cell += 1;
        }
    }
}

impl Depth {
    /// Makes the masks of x alone. Returns false if there is not enough memory.
    fn of_variable(&mut self, data: &Coded, x: usize) -> bool {
        self.masks.clear();
        self.keys.clear();
        (self.strata, self.all) = (1, true);
        if !memory::prepare(&mut self.masks, data.levels(x) * lines_of(data.words()), Use::Tables) {
            return false;
        }
        for level in 0..data.levels(x) {
            let plane = data.plane(x, level);
            if plane.iter().any(|&word| word != 0) {
                let start = self.masks.len();
                self.masks.resize(start + lines_of(plane.len()), Line::default());
                lines::words_mut(&mut self.masks[start..])[..plane.len()].copy_from_slice(plane);
                self.keys.push((0, level as u32));
            }
        }
        true
    }

    /// Splits the masks of the depth above by the levels of a variable. Returns false if there is not enough memory.
    fn split(&mut self, data: &Coded, variable: usize, above: &Depth, bits: Bits) -> bool {
        let lines = lines_of(data.words());
        self.keys.clear();
        self.masks.clear();
        let levels = data.levels(variable) as u32;
        let combinations = u64::from(above.strata) * u64::from(levels);
        self.all = above.all && combinations <= (data.n() / ALL) as u64;
        self.strata = if self.all { combinations as u32 } else { 0 };
        let mut first = 0;
        for group in above.keys.chunk_by(|a, b| a.0 == b.0) {
            for level in 0..levels {
                let before = self.keys.len();
                let stratum = if self.all { group[0].0 * levels + level } else { self.strata };
                for (at, &(_, of_x)) in group.iter().enumerate() {
                    let start = self.masks.len();
                    if !memory::grow(&mut self.masks, start + lines, Line::default(), Use::Tables) {
                        return false;
                    }
                    let mask = lines::words(&above.masks[(first + at) * lines..(first + at + 1) * lines]);
                    let plane = data.plane(variable, level as usize);
                    let both = &mut lines::words_mut(&mut self.masks[start..])[..plane.len()];
                    if bits.intersect(&mask[..plane.len()], plane, both) > 0 {
                        self.keys.push((stratum, of_x));
                    } else {
                        self.masks.truncate(start);
                    }
                }
                self.strata += u32::from(!self.all && self.keys.len() > before);
            }
            first += group.len();
        }
        true
    }
}
