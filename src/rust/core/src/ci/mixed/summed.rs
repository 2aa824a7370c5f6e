//! Sums of rows by cell. Tests that share factors and numbers compute each sum only once.

use super::rows::{add_lanes, each, in_blocks, triangle, Asked, Index, FEW_CELLS, LANE_BITS};

/// Sums that previous tests made of the rows, by data set.
#[derive(Debug, Default)]
pub(super) struct Kept {
    sets: Vec<[Summed; 2]>,
}

/// The most rows of data sets that have their own sums: 8 bytes per row in every thread. Further sets share one place.
const MOST_ROWS: usize = 1 << 23;

/// Sums over the cells of some factors. Tests of a row's pairs that share their set differ in one variable. If that is a number, the cells
/// are the same, and so are the sums of the other numbers.
#[derive(Debug, Default)]
pub(super) struct Summed {
    /// Whether the sums are those of all rows. Others are not kept.
    is_whole: bool,
    set: usize,
    /// Whether the sums were reused after they were made.
    is_used: bool,
    factors: Vec<u32>,
    bits: u32,
    /// For each row the index of the sums of its cell and lane.
    slots: Vec<u32>,
    pub keys: Vec<u64>,
    pub counts: Vec<f64>,
    numbers: Vec<u32>,
    /// For each number its mean in every cell.
    pub means: Vec<f64>,
    /// For each pair of numbers its sum of products in every cell; pairs as the upper triangle, column by column.
    pub products: Vec<f64>,
}

impl Kept {
    /// Returns the sums of the requested factors and numbers, over the rows in `some` or over all rows.
    pub fn sums(
        &mut self,
        asked: &Asked,
        (some, domain): (Option<&[u32]>, u64),
        index: &mut Index,
        buffers: &mut Buffers,
    ) -> &Summed {
        let at = asked.set.min(MOST_ROWS / asked.frame.n().max(1));
        if self.sets.len() <= at {
            self.sets.resize_with(at + 1, Default::default);
        }
        let pair = &mut self.sets[at];
        let has = |summed: &Summed| some.is_none() && summed.is_of(asked);
        // The sums used last come first. Those made for a single test are replaced before those that served several.
        if has(&pair[1]) || !has(&pair[0]) && pair[0].is_used {
            pair.swap(0, 1);
        }
        let summed = &mut pair[0];
        if !has(summed) {
            summed.count(asked, (some, domain), index, &mut buffers.keys);
        }
        summed.sum(asked, some, buffers);
        summed
    }
}

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The keys of some rows.
    keys: Vec<u64>,
    pub values: Vec<f64>,
    pub sums: Vec<f64>,
}

impl Summed {
    fn is_of(&self, asked: &Asked) -> bool {
        self.is_whole && self.set == asked.set && self.factors == asked.factors
    }

    /// Counts rows by cell.
    fn count(&mut self, asked: &Asked, of: (Option<&[u32]>, u64), index: &mut Index, keys: &mut Vec<u64>) {
        let ((some, domain), frame) = (of, asked.frame);
        let bits = if domain <= FEW_CELLS { LANE_BITS } else { 0 };
        let lane = |row: usize| (row as u32) & ((1 << bits) - 1);
        let row_of = |at: usize| some.map_or(at, |rows| rows[at] as usize);
        (self.is_whole, self.is_used, self.bits) = (some.is_none(), false, bits);
        self.set = asked.set;
        self.factors.clear();
        self.factors.extend_from_slice(asked.factors);
        self.numbers.clear();
        self.counts.clear();
        self.slots.clear();
        index.clear(domain);
        in_blocks(some, frame.n(), |range, _| {
            keys.clear();
            keys.resize(range.len(), 0);
            let mut stride = 1;
            for &factor in asked.factors {
                let codes = frame.codes(factor as usize, asked.set);
                each(codes, some, &range, |at, code| keys[at] += stride * u64::from(code));
                stride *= u64::from(frame.occurring(factor as usize));
            }
            for (at, &key) in range.zip(keys.iter()) {
                let place = index.place(key);
                if place == self.counts.len() {
                    self.counts.push(0.0);
                }
                self.counts[place] += 1.0;
                self.slots.push((place as u32) << bits | lane(row_of(at)));
            }
        });
        self.keys.clone_from(&index.keys);
    }

    /// Sums the requested numbers by cell, except those summed before.
    fn sum(&mut self, asked: &Asked, some: Option<&[u32]>, buffers: &mut Buffers) {
        self.is_used |= !self.numbers.is_empty();
        if self.numbers == asked.numbers {
            return;
        }
        let Summed { bits, slots, counts, .. } = &*self;
        let (bits, cells, n) = (*bits, counts.len(), asked.frame.n());
        if cells == 0 {
            return;
        }
        let Buffers { values, sums, .. } = buffers;
        let width = cells << bits;
        let numbers = asked.numbers;
        let known: Vec<Option<usize>> =
            numbers.iter().map(|number| self.numbers.iter().position(|before| before == number)).collect();
        let mut means = vec![0.0; numbers.len() * cells];
        let mut products = vec![0.0; triangle(numbers.len()) * cells];
        let mut new = Vec::new();
        for (at, known) in known.iter().enumerate() {
            match known {
                Some(from) => means[at * cells..][..cells].copy_from_slice(&self.means[from * cells..][..cells]),
                None => new.push(at),
            }
        }
        // If all were summed before, no row is read.
        if !new.is_empty() {
            sums.clear();
            sums.resize(new.len() * width, 0.0);
            in_blocks(some, n, |range, ends| {
                let slots = &slots[range.clone()];
                for (&at, sums) in new.iter().zip(sums.chunks_exact_mut(width)) {
                    let column = asked.frame.numbers(numbers[at] as usize, asked.set);
                    each(column, some, &range, |at, value| sums[slots[at] as usize] += value);
                }
                if ends {
                    for (&at, sums) in new.iter().zip(sums.chunks_exact_mut(width)) {
                        add_lanes(sums, bits, &mut means[at * cells..][..cells]);
                    }
                }
            });
        }
        for &at in &new {
            means[at * cells..][..cells].iter_mut().zip(counts).for_each(|(sum, count)| *sum /= count);
        }
        // The pairs with a new number, and their indices.
        let mut wanted = Vec::new();
        let pairs = (0..numbers.len()).flat_map(|col| (0..=col).map(move |row| (row, col)));
        for (place, (row, col)) in pairs.enumerate() {
            match (known[row], known[col]) {
                (Some(a), Some(b)) => {
                    let from = triangle(a.max(b)) + a.min(b);
                    products[place * cells..][..cells].copy_from_slice(&self.products[from * cells..][..cells]);
                }
                _ => wanted.push((place, row, col)),
            }
        }
        if !wanted.is_empty() {
            sums.clear();
            sums.resize(wanted.len() * width, 0.0);
            in_blocks(some, n, |range, ends| {
                // For each variable the deviations of these rows.
                values.clear();
                let (many, slots) = (range.len(), &slots[range.clone()]);
                for (at, &number) in numbers.iter().enumerate() {
                    let column = asked.frame.numbers(number as usize, asked.set);
                    let means = &means[at * cells..][..cells];
                    each(column, some, &range, |at, value| values.push(value - means[(slots[at] >> bits) as usize]));
                }
                for (sums, &(place, row, col)) in sums.chunks_exact_mut(width).zip(&wanted) {
                    let (of_row, of_col) = (&values[row * many..][..many], &values[col * many..][..many]);
                    for ((&slot, a), b) in slots.iter().zip(of_row).zip(of_col) {
                        sums[slot as usize] += a * b;
                    }
                    if ends {
                        add_lanes(sums, bits, &mut products[place * cells..][..cells]);
                    }
                }
            });
        }
        (self.means, self.products) = (means, products);
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
    }
}

#[cfg(test)]
mod tests {
    use crate::ci::mixed::{Frame, Given, Holes, Mixed, Rules, Values, Work};

    /// Makes three numbers and three factors in turn, in `sets` data sets that differ; n exceeds a chunk.
    fn data(seed: u64, sets: usize) -> Mixed<'static> {
        let n = 5000;
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let columns: Vec<Vec<Vec<f64>>> =
            (0..6).map(|_| (0..sets).map(|_| (0..n).map(|_| next()).collect()).collect()).collect();
        let code = |value: &f64| (value * 3.0) as i32 + 1;
        let codes: Vec<Vec<Vec<i32>>> = columns
            .iter()
            .map(|versions| versions.iter().map(|values| values.iter().map(code).collect()).collect())
            .collect();
        let given: Vec<Given> = (0..6)
            .map(|at| match at % 2 {
                0 => Given { levels: 0, versions: columns[at].iter().map(|of| Values::Numbers(of)).collect() },
                _ => Given { levels: 3, versions: codes[at].iter().map(|of| Values::Codes(of)).collect() },
            })
            .collect();
        let rules = Rules { adapt: true, ask_for_rows: true, constant_is_missing: false };
        let holes = if sets > 1 { Holes::Imputed } else { Holes::None };
        Mixed::new(Frame::new(n, sets, &given).unwrap(), holes, rules).unwrap()
    }

    #[test]
    fn what_tests_before_had_changes_no_answer() {
        for test in [data(1, 1), data(2, 3)] {
            let mut work = Work::default();
            for x in 0..6 {
                for set in [&[][..], &[1], &[2], &[0, 3], &[1, 2, 5]] {
                    for y in (0..6).filter(|&y| y != x && !set.contains(&(y as u32)) && !set.contains(&(x as u32))) {
                        let fresh = test.p_value(x, y, set, &mut Work::default());
                        assert_eq!(test.p_value(x, y, set, &mut work).to_bits(), fresh.to_bits(), "{x} {y} {set:?}");
                    }
                }
            }
        }
    }
}
