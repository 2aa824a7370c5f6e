//! Counting by bit planes: the samples of a stratum and a level of x as bits, met with the planes of y.

use super::data::{Coded, Codes};
use super::popcount::{count, count_common, intersect};
use crate::memory::{self, Use};

/// Words of a plane that are met at a time: what one step needs stays in the fastest cache.
const BLOCK: usize = 512;

/// Below this many samples a word, they are looked up one by one.
const SPARSE: f64 = 0.3;

/// The samples with a level of x and a combination of levels of the first members of a conditioning set, by depth, as in
/// [`Strata`](super::strata::Strata).
#[derive(Debug, Default)]
pub(super) struct Masks {
    x: u32,
    members: Vec<u32>,
    depths: Vec<Depth>,
    leaf: Vec<u64>,
    samples: Vec<u32>,
}

#[derive(Debug, Default)]
struct Depth {
    masks: Vec<u64>,
    /// By mask: its stratum and level of x. Ascending; masks without a sample are left out.
    keys: Vec<(u32, u32)>,
    /// How many strata occur.
    strata: u32,
}

impl Masks {
    /// Forgets what is kept.
    pub fn forget(&mut self) {
        self.depths.clear();
        self.members.clear();
    }

    /// Readies the masks of x and `prefix`; returns the number of strata, none where memory does not suffice, which is noted.
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
            if !below[0].split(data, member as usize, &above[at]) {
                return None;
            }
            self.members.push(member);
        }
        Some(self.depths[prefix.len()].strata as usize)
    }

    /// Adds the counts of x, each of `others` and the strata of `prefix` with each level of `last` to the tables, which
    /// stand one after the other by stratum, x and y.
    pub fn count(&mut self, data: &Coded, prefix: &[u32], last: Option<u32>, others: &[u32], tables: &mut [u32]) {
        let words = data.words();
        let Masks { x, depths, leaf, samples, .. } = self;
        let lx = data.levels(*x as usize);
        let depth = &depths[prefix.len()];
        let levels = last.map_or(1, |last| data.levels(last as usize));
        let strata = depth.strata as usize * levels;
        leaf.resize(BLOCK.min(words), 0);
        for from in (0..words).step_by(BLOCK) {
            let part = from..words.min(from + BLOCK);
            for (mask, &(stratum, of_x)) in depth.masks.chunks(words).zip(&depth.keys) {
                for level in 0..levels {
                    let leaf = &mut leaf[..part.len()];
                    let n = match last {
                        Some(last) => {
                            intersect(&mask[part.clone()], &data.plane(last as usize, level)[part.clone()], leaf)
                        }
                        None => {
                            leaf.copy_from_slice(&mask[part.clone()]);
                            count(leaf)
                        }
                    };
                    if n == 0 {
                        continue;
                    }
                    let row = (stratum as usize * levels + level) * lx + of_x as usize;
                    let few = f64::from(n) < SPARSE * part.len() as f64;
                    samples.clear();
                    let mut table = 0;
                    for &y in others {
                        let ly = data.levels(y as usize);
                        let cells = &mut tables[table + row * ly..table + (row + 1) * ly];
                        table += strata * lx * ly;
                        if few || !data.has_planes(y as usize) {
                            if samples.is_empty() {
                                list(leaf, from, samples);
                            }
                            match data.codes(y as usize) {
                                Codes::Bytes(codes) => tally(samples, codes, cells),
                                Codes::Words(codes) => tally(samples, codes, cells),
                            }
                        } else {
                            by_planes(data, y as usize, leaf, n, from, cells);
                        }
                    }
                }
            }
        }
    }
}

/// The samples of a mask.
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

fn by_planes(data: &Coded, y: usize, mask: &[u64], n: u32, first_word: usize, cells: &mut [u32]) {
    let part = first_word..first_word + mask.len();
    // Where nothing is missing the last level has the rest.
    let Some((rest, cells)) = cells.split_last_mut() else { return };
    let mut seen = 0;
    for (level, cell) in cells.iter_mut().enumerate() {
        let found = count_common(mask, &data.plane(y, level)[part.clone()]);
        *cell += found;
        seen += found;
    }
    *rest += if data.missing(y) { count_common(mask, &data.plane(y, cells.len())[part]) } else { n - seen };
}

impl Depth {
    /// False where memory does not suffice; so of `split`.
    fn of_variable(&mut self, data: &Coded, x: usize) -> bool {
        self.masks.clear();
        self.keys.clear();
        self.strata = 1;
        if !memory::prepare(&mut self.masks, data.levels(x) * data.words(), Use::Tables) {
            return false;
        }
        for level in 0..data.levels(x) {
            let plane = data.plane(x, level);
            if plane.iter().any(|&word| word != 0) {
                self.masks.extend_from_slice(plane);
                self.keys.push((0, level as u32));
            }
        }
        true
    }

    /// Splits the masks of the depth above by the levels of a variable.
    fn split(&mut self, data: &Coded, variable: usize, above: &Depth) -> bool {
        let words = data.words();
        self.keys.clear();
        self.masks.clear();
        self.strata = 0;
        let mut first = 0;
        for group in above.keys.chunk_by(|a, b| a.0 == b.0) {
            for level in 0..data.levels(variable) {
                let before = self.keys.len();
                for (at, &(_, of_x)) in group.iter().enumerate() {
                    let start = self.masks.len();
                    if !memory::grow(&mut self.masks, start + words, 0, Use::Tables) {
                        return false;
                    }
                    let mask = &above.masks[(first + at) * words..(first + at + 1) * words];
                    if intersect(mask, data.plane(variable, level), &mut self.masks[start..]) > 0 {
                        self.keys.push((self.strata, of_x));
                    } else {
                        self.masks.truncate(start);
                    }
                }
                self.strata += u32::from(self.keys.len() > before);
            }
            first += group.len();
        }
        true
    }
}
