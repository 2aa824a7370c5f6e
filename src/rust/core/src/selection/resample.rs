//! Samples redrawn from given ones: the replicates of an ensemble.

use super::{CountLogs, Criterion, FeatureCodes, FeatureColumn, Samples, Selection, SparseVariable};
use crate::ci::discrete::{Codes, Variable};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::random::{below, philox, Key, Purpose};
use crate::team::Moved;
use crate::{Error, Result};

/// Largest number of draws for a replicate whose rows have only one class, from which nothing can be learnt.
const MOST_DRAWS: u32 = 1000;

/// Sampling of rows for replicates: a replicate's draws depend only on the seed and its number, not on threads or machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of rows that a replicate draws.
    pub size: usize,
    /// Whether rows are drawn with replacement, as in the bootstrap (Breiman 1996), or without, as in stability selection (Meinshausen and
    /// Bühlmann 2010).
    pub replace: bool,
}

impl Resampling {
    /// Returns the rows, out of n, that a replicate draws, in ascending order. Each `draw` of a replicate is different.
    ///
    /// # Errors
    /// [`Error::Argument`] if `size` or n is 0, or if `size` exceeds n without replacement; [`Error::Memory`].
    pub fn rows(&self, n: usize, replicate: u32, draw: u32) -> Result<Vec<u32>> {
        if self.size == 0 || n == 0 || (self.size > n && !self.replace) {
            return Err(Error::Argument {
                argument: "ensemble",
                value: format!("a draw of {} from {n} rows", self.size),
                hint: "give a `fraction` above 0 and, without replacement, at most 1".into(),
            });
        }
        let key = Key::of_seed(self.seed);
        let word = |at: usize| {
            let words = philox([(at / 4) as u32, replicate, draw, Purpose::Rows as u32], key);
            words[at % 4]
        };
        let mut counts: Vec<u32> = memory::zeros(n, Use::Features)?;
        if self.replace {
            (0..self.size).for_each(|at| counts[below(word(at), n as u32) as usize] += 1);
        } else {
            // The first `size` elements of a permutation (Fisher and Yates).
            let mut order: Vec<u32> = memory::collected((0..n).map(|row| row as u32), Use::Features)?;
            for at in 0..self.size {
                order.swap(at, at + below(word(at), (n - at) as u32) as usize);
                counts[order[at] as usize] = 1;
            }
        }
        let mut rows = memory::space(self.size, Use::Features)?;
        for (row, &count) in counts.iter().enumerate() {
            rows.extend(std::iter::repeat_n(row as u32, count as usize));
        }
        Ok(rows)
    }

    /// Returns the rows that a replicate draws from these samples, and the number of the draw: the first with two classes.
    ///
    /// # Errors
    /// [`Error::Argument`] if no draw has two classes, and those of [`Resampling::rows`].
    pub fn draw(&self, samples: &Samples, replicate: u32) -> Result<(Vec<u32>, u32)> {
        let class = samples.codes(samples.class());
        for draw in 0..MOST_DRAWS {
            let rows = self.rows(samples.n(), replicate, draw)?;
            let mut classes = rows.iter().map(|&row| class.at(row as usize));
            let first = classes.next();
            if classes.any(|other| Some(other) != first) {
                return Ok((rows, draw));
            }
        }
        Err(Error::Argument {
            argument: "ensemble",
            value: format!("a draw of {} from {} rows, all of one class", self.size, samples.n()),
            hint: "give a larger `fraction`".into(),
        })
    }
}

impl FeatureCodes<'_> {
    /// Returns the code of a sample. For a sparse variable, this takes a search.
    pub fn at(&self, sample: usize) -> u32 {
        match self {
            FeatureCodes::Dense(codes) => codes.at(sample),
            FeatureCodes::Sparse(variable) => match variable.rows.binary_search(&(sample as u32)) {
                Ok(at) => u32::from(variable.codes[at]),
                Err(_) => u32::from(variable.usual),
            },
        }
    }
}

impl Samples {
    /// Returns these rows of the samples, ascending, each as often as it is listed. Features keep all their levels, even those that no
    /// longer occur. Their tables have the same counts as tables of all samples in which each row is weighted by how often it is listed.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn of_rows(&self, rows: &[u32], pool: &Pool) -> Result<Samples> {
        // Index of the first copy of each row.
        let mut starts: Vec<u32> = memory::zeros(self.n() + 1, Use::Features)?;
        rows.iter().for_each(|&row| starts[row as usize + 1] += 1);
        (0..self.n()).for_each(|row| starts[row + 1] += starts[row]);
        let column = |v: usize| -> Result<FeatureColumn> {
            Ok(match self.codes(v) {
                FeatureCodes::Dense(codes) => {
                    let of = |row: &u32| *row as usize;
                    let codes = match codes {
                        Codes::Bytes(codes) => {
                            Codes::Bytes(memory::collected(rows.iter().map(|row| codes[of(row)]), Use::Features)?)
                        }
                        Codes::Words(codes) => {
                            Codes::Words(memory::collected(rows.iter().map(|row| codes[of(row)]), Use::Features)?)
                        }
                    };
                    FeatureColumn::Dense(Variable::complete(self.levels(v) as u32, codes)?)
                }
                FeatureCodes::Sparse(variable) => {
                    let SparseVariable { levels, usual, .. } = *variable;
                    let listed = variable.rows.iter().zip(&variable.codes);
                    let copies = |row: u32| starts[row as usize]..starts[row as usize + 1];
                    let count = variable.rows.iter().map(|&row| copies(row).len()).sum();
                    let (mut rows, mut codes) =
                        (memory::space(count, Use::Features)?, memory::space(count, Use::Features)?);
                    for (&row, &code) in listed {
                        rows.extend(copies(row));
                        codes.extend(copies(row).map(|_| code));
                    }
                    FeatureColumn::Sparse(SparseVariable { levels, usual, rows, codes })
                }
            })
        };
        let p = self.p();
        memory::room(2 * size_of::<FeatureColumn>() * (p + 1), Use::Features)?;
        let mut columns: Vec<Option<Result<FeatureColumn>>> = (0..=p).map(|_| None).collect();
        let each = p.div_ceil(8 * pool.threads()).max(1);
        let parts = columns.chunks_mut(each).collect();
        pool.each_of(parts, |part, slots: &mut [Option<Result<FeatureColumn>>]| {
            slots.iter_mut().enumerate().for_each(|(at, slot)| *slot = Some(column(part * each + at)));
        });
        memory::check()?;
        let mut columns = columns.into_iter().flatten().collect::<Result<Vec<FeatureColumn>>>()?;
        match columns.pop() {
            Some(FeatureColumn::Dense(class)) if columns.len() == p => Samples::drawn(rows.len(), columns, class),
            _ => Err(Use::Features.error(self.bytes(rows.len()))),
        }
    }

    /// Returns about how many bytes the codes of all features take for `rows` rows.
    pub fn bytes(&self, rows: usize) -> usize {
        let of = |f: usize| match self.codes(f) {
            // The codes, and bit planes of features with few levels.
            FeatureCodes::Dense(Codes::Bytes(_)) => 2 * rows,
            FeatureCodes::Dense(Codes::Words(_)) => 2 * rows,
            FeatureCodes::Sparse(variable) => 6 * variable.rows.len() * rows.div_ceil(self.n()),
        };
        (0..self.p()).map(of).sum()
    }
}

/// A function that selects features from samples by each criterion on a machine. It also returns the bytes copied to and from the machine.
pub type Run<'a> = Box<
    dyn FnMut(&Samples, &CountLogs, &[Criterion], usize, &mut dyn Observer) -> Result<(Vec<Selection>, Moved)>
        + Send
        + 'a,
>;

/// A machine that runs whole selections at the same time as others.
pub struct Runner<'a> {
    /// The machine's name, as in R: "cpu", "cuda:0".
    pub name: String,
    /// CPU threads that draw the machine's samples.
    pub pool: Pool,
    /// The function that selects.
    pub run: Run<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_replicate_and_draw_alone() {
        let bootstrap = Resampling { seed: 5, size: 80, replace: true };
        let half = Resampling { seed: 5, size: 40, replace: false };
        for how in [bootstrap, half] {
            let rows = how.rows(80, 3, 0).unwrap();
            assert_eq!(rows, how.rows(80, 3, 0).unwrap());
            assert!(rows.len() == how.size && rows.is_sorted() && rows.iter().all(|&row| row < 80));
            for other in [how.rows(80, 4, 0), how.rows(80, 3, 1), Resampling { seed: 6, ..how }.rows(80, 3, 0)] {
                assert_ne!(rows, other.unwrap());
            }
        }
        assert!(half.rows(80, 0, 0).unwrap().windows(2).all(|pair| pair[0] < pair[1]));
        let all = Resampling { size: 80, ..half };
        assert_eq!(all.rows(80, 7, 0).unwrap(), (0..80).collect::<Vec<u32>>());
        assert!(Resampling { size: 81, ..half }.rows(80, 0, 0).is_err());
        assert!(Resampling { size: 0, ..bootstrap }.rows(80, 0, 0).is_err());
    }

    #[test]
    fn every_row_is_drawn_equally_often() {
        for (size, replace) in [(50, true), (20, false)] {
            let how = Resampling { seed: 11, size, replace };
            let mut counts = [0u32; 50];
            (0..4000).for_each(|b| how.rows(50, b, 0).unwrap().iter().for_each(|&row| counts[row as usize] += 1));
            let mean = 80 * size as u32;
            assert!(
                counts.iter().all(|&count| f64::from(count.abs_diff(mean)) < 6.0 * f64::from(mean).sqrt()),
                "{counts:?}"
            );
        }
    }
}
