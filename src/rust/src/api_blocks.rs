//! The functions that R calls for data that it does not hold: sparse, coming block by block, or in files.

use extendr_api::prelude::*;

use crate::api::Call;
use crate::failure::respond;
use crate::{correlation, data_file, input, running};

/// The correlations of the columns of a sparse matrix of n rows.
/// @noRd
#[extendr]
fn rust_sparse_correlation(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (x, options) = (input::list(&x, "x")?, input::list(&options, "options")?);
        correlation::sparse_matrix(&x, input::count(&n, "n", 1)?, &options, &call)
    })
}

/// The data ready to be correlated, in a file.
/// @noRd
#[extendr]
fn rust_centred_file(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        correlation::centred_file(&x, input::count(&n, "n", 1)?, &input::list(&options, "options")?, &call)
    })
}

/// Moments of rows that are to come.
/// @noRd
#[extendr]
fn rust_moments_begin(p: Robj, complete: Robj) -> Robj {
    respond([&p, &complete], |token| {
        running::begin(input::count(&p, "p", 1)?, input::flag(&complete, "complete")?, token)
    })
}

/// Adds a block of rows.
/// @noRd
#[extendr]
fn rust_moments_add(state: Robj, x: Robj, n: Robj, engine: Robj) -> Robj {
    respond([&state, &x, &n, &engine], |token| {
        running::add(&state, &x, input::count(&n, "n", 1)?, &Call::silent(&engine, token)?)
    })
}

/// The moments of all rows that came.
/// @noRd
#[extendr]
fn rust_moments_end(state: Robj, engine: Robj) -> Robj {
    respond([&state, &engine], |token| running::end(&state, &Call::silent(&engine, token)?))
}

/// Moments of several parts of the rows as one.
/// @noRd
#[extendr]
fn rust_moments_join(parts: Robj, engine: Robj) -> Robj {
    respond([&parts, &engine], |token| running::join(&input::list(&parts, "parts")?, &Call::silent(&engine, token)?))
}

/// The correlations of rows that came, or of moments.
/// @noRd
#[extendr]
fn rust_moments_correlations(moments: Robj, names: Robj, engine: Robj) -> Robj {
    respond([&moments, &names, &engine], |token| {
        running::correlations(&moments, &names, &Call::silent(&engine, token)?)
    })
}

/// What a data file is.
/// @noRd
#[extendr]
fn rust_file_look(path: Robj, digest: Robj, verify: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&path, &digest, &verify, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        data_file::look(&path, &digest, input::flag(&verify, "verify")?, &call)
    })
}

/// A data file in the making.
/// @noRd
#[extendr]
fn rust_file_create(path: Robj, n: Robj, p: Robj, names: Robj) -> Robj {
    respond([&path, &n, &p, &names], |token| {
        data_file::create(&path, input::count(&n, "n", 1)?, input::count(&p, "p", 1)?, &names, token)
    })
}

/// Writes a block of it.
/// @noRd
#[extendr]
fn rust_file_write(file: Robj, x: Robj, row: Robj, column: Robj, rows: Robj) -> Robj {
    respond([&file, &x, &row, &column, &rows], |token| {
        let (row, column) = (input::count(&row, "row", 0)?, input::count(&column, "column", 0)?);
        data_file::write(&file, &x, row, column, input::count(&rows, "rows", 1)?, token)
    })
}

/// Gives it its name; returns its digest.
/// @noRd
#[extendr]
fn rust_file_finish(file: Robj, engine: Robj) -> Robj {
    respond([&file, &engine], |token| data_file::finish(&file, &Call::silent(&engine, token)?))
}

/// Gives it up.
/// @noRd
#[extendr]
fn rust_file_give_up(file: Robj) -> Robj {
    respond([&file], |_| data_file::give_up(&file))
}

/// Some rows and columns of a data file.
/// @noRd
#[extendr]
fn rust_file_read(file: Robj, rows: Robj, columns: Robj) -> Robj {
    respond([&file, &rows, &columns], |token| data_file::read(&file, &rows, &columns, token))
}

extendr_module! {
    mod api_blocks;
    fn rust_sparse_correlation;
    fn rust_centred_file;
    fn rust_moments_begin;
    fn rust_moments_add;
    fn rust_moments_end;
    fn rust_moments_join;
    fn rust_moments_correlations;
    fn rust_file_look;
    fn rust_file_create;
    fn rust_file_write;
    fn rust_file_finish;
    fn rust_file_give_up;
    fn rust_file_read;
}
