//! Resampled rows of discrete data.

use super::data::{Coded, Codes, Variable};
use crate::memory::{self, Use};
use crate::Result;

impl Coded {
    /// Returns the listed rows, with repetitions. Variables keep their levels, even if some no longer occur.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and those of [`Coded::of_variables`] if there is no row.
    pub fn of_rows(&self, rows: &[u32]) -> Result<Self> {
        let mut variables = memory::space(self.p(), Use::Codes)?;
        for v in (0..self.p()).filter(|_| !rows.is_empty()) {
            let levels = self.levels(v) as u32;
            let codes = match self.codes(v) {
                Codes::Bytes(codes) => Codes::Bytes(drawn(codes, rows)?),
                Codes::Words(codes) => Codes::Words(drawn(codes, rows)?),
            };
            let missing = self.missing(v) && (0..rows.len()).any(|row| codes.at(row) == levels);
            variables.push(Variable::of_checked(levels, codes, missing)?);
        }
        Coded::of_variables(rows.len(), variables)
    }
}

fn drawn<T: Copy>(codes: &[T], rows: &[u32]) -> Result<Vec<T>> {
    memory::collected(rows.iter().map(|&row| codes[row as usize]), Use::Codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;

    #[test]
    fn rows_keep_levels_and_missing_values() {
        let codes = [0, 1, 2, i32::MIN, 1, 0, 299, 0];
        let data = Coded::new(by_column(&codes, 2).unwrap(), &[3, 300], true).unwrap();
        let drawn = data.of_rows(&[0, 0, 2, 3, 3]).unwrap();
        let of = |v: usize| (0..5).map(|row| drawn.codes(v).at(row)).collect::<Vec<u32>>();
        assert_eq!((of(0), of(1)), (vec![0, 0, 2, 3, 3], vec![1, 1, 299, 0, 0]));
        assert_eq!((drawn.n(), drawn.levels(0), drawn.levels(1), drawn.missing(0)), (5, 3, 300, true));
        assert_eq!(drawn.counts(0), [2, 0, 1]);
        let whole = data.of_rows(&[1, 2]).unwrap();
        assert!(!whole.missing(0) && !whole.any_missing() && drawn.any_missing());
        assert!(data.of_rows(&[]).is_err());
    }
}
