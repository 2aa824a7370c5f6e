//! Cells that another machine makes: their definition, and the test's answer from them.

use super::cells::{domain, Cells, Known};
use super::moments::Question;
use super::rows::triangle;
use super::{which, Holes, Mixed, Work};

pub use super::cells::Which;
pub use super::rows::{CHUNK, FEW_CELLS, LANE_BITS};

/// The form of the cells that a test needs from each data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The rows. For rows that lack values, numbers are summed as they are; for others, as deviations from the means of their cells.
    pub which: Which,
    /// The bound below which all keys are: the product of the factors' numbers of levels.
    pub keys: u64,
    /// Number of variables of numbers.
    pub numbers: usize,
}

/// Number of words in a cell before its means.
pub const CELL_WORDS: usize = 2;

impl Form {
    /// Returns the number of 64-bit words in a cell, in the format that machines pass on. The first word is the cell's first row times 2^32
    /// plus its key, the second its number of rows. The rest are doubles: the means of its numbers (or their sums), and the upper triangle
    /// of the sums of their products, column by column.
    pub fn cell_words(&self) -> usize {
        CELL_WORDS + self.numbers + triangle(self.numbers)
    }

    /// Returns the largest number of words for the cells of `n` rows. The first word is the number of cells.
    pub fn words(&self, n: usize) -> usize {
        1 + self.cell_words() * self.keys.min(n as u64) as usize
    }
}

/// The definition of the cells that a test needs.
#[derive(Clone, Copy, Debug)]
pub struct Need<'w> {
    /// The variables of levels whose codes are the digits of a cell's key, lowest digit first.
    pub factors: &'w [u32],
    /// The variables of numbers.
    pub numbers: &'w [u32],
    /// The form of the cells.
    pub form: Form,
}

/// Cells in the words of a machine, data set after data set.
struct Made<'c> {
    form: Form,
    words: &'c [u64],
    /// Number of words for a data set.
    stride: usize,
}

impl Known for Made<'_> {
    fn take(&mut self, set: usize, which: Which, out: &mut Cells) -> bool {
        if which != self.form.which {
            return false;
        }
        let Form { keys, numbers: k, .. } = self.form;
        let of_set = &self.words[set * self.stride..][..self.stride];
        let all = of_set[1..].chunks_exact(self.form.cell_words()).take(of_set[0] as usize);
        (out.k, out.domain) = (k, keys);
        [&mut out.counts, &mut out.means, &mut out.products].into_iter().for_each(|values| values.clear());
        out.keys.clear();
        if k == 0 {
            // Counts are used in the order of keys.
            out.keys.extend(all.clone().map(|cell| cell[0] & u64::from(u32::MAX)));
            out.counts.extend(all.map(|cell| cell[1] as f64));
            return true;
        }
        let mut cells: Vec<&[u64]> = all.collect();
        cells.sort_unstable_by_key(|cell| cell[0]);
        for cell in cells {
            out.keys.push(cell[0] & u64::from(u32::MAX));
            out.counts.push(cell[1] as f64);
            let (means, products) = cell[CELL_WORDS..].split_at(k);
            out.means.extend(means.iter().map(|&bits| f64::from_bits(bits)));
            out.products.extend(products.iter().map(|&bits| f64::from_bits(bits)));
        }
        true
    }
}

impl Mixed<'_> {
    /// Returns the number of data sets whose cells a test needs.
    pub fn sets(&self) -> usize {
        self.frame.as_ref().filter(|_| self.holes == Holes::Imputed).map_or(1, |frame| frame.sets())
    }

    /// Returns the cells that the test of (x, y) given S needs, or `None` if it needs none.
    pub fn need<'w>(&self, x: usize, y: usize, s: &[u32], work: &'w mut Work) -> Option<Need<'w>> {
        let frame = self.frame.as_ref()?;
        let whole = self.sort_out(x.min(y), x.max(y), s, work)?;
        let Work { rows, factors, numbers, .. } = work;
        let which = match factors.is_empty() {
            true => {
                let rows = (!whole).then_some(&rows[..]);
                Question { numbers, set: 0, rows, n: self.n }.which(self.sums.first())?
            }
            false => which(whole),
        };
        let form = Form { which, keys: domain(frame, factors)?, numbers: numbers.len() };
        Some(Need { factors, numbers, form })
    }

    /// Returns [`Mixed::p_value`] to the last bit, from cells of this form. `words` holds [`Form::words`] words for each data set.
    pub fn p_of_cells(&self, x: usize, y: usize, s: &[u32], form: Form, words: &[u64], work: &mut Work) -> f64 {
        let stride = words.len() / self.sets();
        self.p_with(x, y, s, work, &mut Made { form, words, stride })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::mixed::{Frame, Given, Rules, Values};

    /// Encodes `cells` as a machine would pass them on, in the order of their keys.
    fn words(cells: &Cells, form: Form, n: usize) -> Vec<u64> {
        let (k, t) = (cells.k, triangle(cells.k));
        let mut order: Vec<usize> = (0..cells.keys.len()).collect();
        order.sort_by_key(|&cell| cells.keys[cell]);
        let mut words = vec![order.len() as u64];
        for cell in order {
            // Cells are in the order in which they are first met.
            words.extend([(cell as u64) << 32 | cells.keys[cell], cells.counts[cell] as u64]);
            words.extend(cells.means[cell * k..][..k].iter().map(|mean| mean.to_bits()));
            words.extend(cells.products[cell * t..][..t].iter().map(|product| product.to_bits()));
        }
        words.resize(form.words(n), 0);
        words
    }

    #[test]
    fn handed_on_cells_give_the_test_to_the_last_bit() {
        let n = 300;
        let number = |at: usize, column: usize| ((at * 7919 + column * 104_729 + at * at * 31) % 1009) as f64 / 100.0;
        let columns: Vec<Vec<f64>> = (0..3).map(|column| (0..n).map(|at| number(at, column)).collect()).collect();
        let codes: Vec<Vec<i32>> =
            (3..6).map(|column| (0..n).map(|at| 1 + number(at, column) as i32 % 3).collect()).collect();
        let given: Vec<Given> = columns
            .iter()
            .map(|values| Given { levels: 0, versions: vec![Values::Numbers(values)] })
            .chain(codes.iter().map(|codes| Given { levels: 3, versions: vec![Values::Codes(codes)] }))
            .collect();
        let rules = Rules { adapt: true, ask_for_rows: false, constant_is_missing: false };
        let test = Mixed::new(Frame::new(n, 1, &given).unwrap(), Holes::None, rules).unwrap();
        let (mut work, mut filling) = (Work::default(), Default::default());
        for (x, y, s) in [(0, 3, vec![]), (0, 1, vec![4]), (3, 4, vec![5]), (3, 5, vec![1, 2, 4]), (0, 2, vec![1])] {
            let need = test.need(x, y, &s, &mut work).unwrap();
            let (factors, numbers) = (need.factors.to_vec(), need.numbers.to_vec());
            let mut cells = Cells::default();
            let asked = super::super::rows::Asked {
                frame: test.frame().unwrap(),
                set: 0,
                rows: None,
                factors: &factors,
                numbers: &numbers,
            };
            let form = need.form;
            cells.fill(&asked, form.keys, &mut filling);
            let found = test.p_of_cells(x, y, &s, form, &words(&cells, form, n), &mut work);
            let wanted = test.p_value(x, y, &s, &mut work);
            assert!(wanted.is_finite());
            assert_eq!(found.to_bits(), wanted.to_bits(), "{x}, {y}, {s:?}");
            // The answer depends on these words.
            let mut other = words(&cells, form, n);
            match factors.is_empty() {
                // The product of the first two numbers.
                true => other[2 + CELL_WORDS + numbers.len()] = 1.0_f64.to_bits(),
                false => other[2] += 40,
            }
            assert_ne!(test.p_of_cells(x, y, &s, form, &other, &mut work), wanted, "{x}, {y}, {s:?}");
        }
    }
}
