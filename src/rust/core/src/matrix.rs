//! Matrices by column, as R keeps them: views of what the caller has.

use ndarray::{ArrayView2, ShapeBuilder};

use crate::{Error, Result};

/// A view of a matrix with so many columns, whose cells stand column by column.
///
/// # Errors
/// [`Error::Argument`] where the cells do not fill the columns.
pub fn by_column<T>(cells: &[T], columns: usize) -> Result<ArrayView2<'_, T>> {
    let rows = cells.len().checked_div(columns).filter(|rows| rows * columns == cells.len());
    rows.and_then(|rows| ArrayView2::from_shape((rows, columns).f(), cells).ok()).ok_or_else(|| Error::Argument {
        argument: "matrix",
        value: format!("of {} cells", cells.len()),
        mend: format!("give as many for each of its {columns} columns"),
    })
}

/// All cells, column by column, of a matrix that is kept so.
pub fn cells<T>(matrix: ArrayView2<'_, T>) -> Option<&[T]> {
    matrix.reversed_axes().to_slice()
}

/// The columns of a matrix that is kept by column; none of another.
pub fn columns<T>(matrix: ArrayView2<'_, T>) -> impl Iterator<Item = &[T]> {
    cells(matrix).unwrap_or_default().chunks_exact(matrix.nrows().max(1))
}
