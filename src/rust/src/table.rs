//! Tables of numbers from R.

use extendr_api::prelude::*;
use pcgpu_core::file::DataFile;
use pcgpu_core::numbers::Numbers;

use crate::data_file;
use crate::failure::{Failure, Outcome};
use crate::input::entries;

/// A table of numbers: a matrix, a list of vectors, or a data file.
pub struct Table<'a> {
    x: &'a Robj,
    /// Its vectors, if it is a list of vectors.
    parts: Option<List>,
    file: Option<DataFile>,
}

impl<'a> Table<'a> {
    pub fn new(x: &'a Robj) -> Outcome<Self> {
        let file = data_file::named_by(x)?;
        let parts = match &file {
            Some(_) => None,
            None => x.as_list(),
        };
        Ok(Table { x, parts, file })
    }

    /// Returns the number of columns of a list of vectors, 0 for other tables.
    pub fn width(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| entries(parts).len())
    }

    /// Returns its columns of n rows; doubles or integers.
    pub fn columns(&self, n: usize) -> Outcome<Vec<Numbers<'_>>> {
        if let Some(file) = &self.file {
            return Ok(file.cells().chunks_exact(n).map(Numbers::Doubles).collect());
        }
        let Some(parts) = &self.parts else { return cut(self.x, n) };
        let columns: Vec<Vec<Numbers>> = entries(parts).iter().map(|part| cut(part, n)).collect::<Outcome<_>>()?;
        match columns.iter().all(|column| column.len() == 1) {
            true => Ok(columns.concat()),
            false => Err(no_numbers()),
        }
    }
}

/// Cuts numbers into columns of n rows.
fn cut(values: &Robj, n: usize) -> Outcome<Vec<Numbers<'_>>> {
    let doubles = values.as_real_slice().map(|cells| cells.chunks_exact(n).map(Numbers::Doubles).collect());
    let integers = || values.as_integer_slice().map(|cells| cells.chunks_exact(n).map(Numbers::Integers).collect());
    doubles.or_else(integers).ok_or_else(no_numbers)
}

fn no_numbers() -> Failure {
    Failure::Input("internal: `x` is not a matrix or a list of numbers".into())
}
