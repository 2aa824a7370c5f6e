//! Data files: how R writes them block by block, and opens those that it names.

use std::path::Path;

use extendr_api::prelude::*;
use pcgpu_core::file::{self, Content, DataFile, Writer};
use pcgpu_core::memory::Use;
use pcgpu_core::observer::Observer;
use pcgpu_core::{shown, Error};

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::output;
use crate::respond::respond;
use crate::value::Value;

/// R's class of a list that names a file.
pub const CLASS: &str = "pcgpu_file";

/// Returns the file that x names, or `None` if x is something else.
pub fn named_by(x: &Robj) -> Outcome<Option<DataFile>> {
    if input::has_class(x, CLASS) {
        open(x).map(Some)
    } else {
        Ok(None)
    }
}

/// Opens the file that `list(path, digest, ...)` names.
pub fn open(x: &Robj) -> Outcome<DataFile> {
    let x = input::list(x, "x")?;
    let text = |name: &str| x.text(name);
    let digest = file::digest_of(text("digest")?);
    let digest = digest.ok_or_else(|| Failure::Input("internal: `digest` is not a digest".into()))?;
    let file = DataFile::open(Path::new(&text("path")?), Some(digest))?;
    // A reference has neither field, and a user may have edited the object.
    for (name, count) in [("n", file.n()), ("p", file.p())] {
        if let Some(told) = x.optional(name).filter(|told| told.as_real() != Some(count as f64)) {
            let told = told.as_real().map_or_else(|| "another value".into(), shown);
            return Err(Failure::Core(Error::Argument {
                argument: "x",
                value: format!("has `{name}` = {told}, but its file has {count}"),
                hint: "open the file again with pcgpu_file()".into(),
            }));
        }
    }
    Ok(file)
}

/// Returns the names of columns, if there are any.
pub fn column_names(names: &Robj) -> Option<Vec<String>> {
    names.as_string_vector().filter(|names| !names.is_empty())
}

/// Returns `list(path, digest, n, p, content, names)`.
pub fn described(file: &DataFile, path: &str) -> Value {
    let content = match file.content() {
        Content::Values => "values",
        Content::Centred => "centred",
    };
    output::named(vec![
        ("path", Value::from(path)),
        ("digest", Value::from(file::shown(&file.digest()))),
        ("n", Value::from(file.n() as f64)),
        ("p", Value::from(file.p() as f64)),
        ("content", Value::from(content)),
        ("names", file.names().map_or_else(|| ().into(), |names| Value::from(names.to_vec()))),
    ])
}

type Making = ExternalPtr<Option<Writer>>;

/// Returns the writer. Refuses a pointer that is not a writer, such as one of another session.
fn making(writer: &Robj) -> Outcome<Making> {
    Making::try_from(writer.clone()).map_err(|_| Failure::Input("internal: `file` is not open for writing".into()))
}

fn gone() -> Failure {
    Failure::Input("internal: the file is already complete".into())
}

/// Describes a data file as `described()` does. A given digest must match. With `verify`, checks that the file has the numbers that were
/// written.
/// @noRd
#[extendr]
fn rust_file_look(path: Robj, digest: Robj, verify: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&path, &digest, &verify, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let path = input::text(&path, "path")?;
        let wanted = match digest.is_null() {
            true => None,
            false => match file::digest_of(input::text(&digest, "digest")?) {
                None => return Err(Failure::Input("internal: `digest` is not a digest".into())),
                digest => digest,
            },
        };
        let file = DataFile::open(Path::new(path), wanted)?;
        if input::flag(&verify, "verify")? {
            let mut observer = call.observer();
            file.verify(&call.machine.pool, &mut |share| observer.preparing(share))?;
        }
        Ok(described(&file, path))
    })
}

/// Begins to write a data file.
/// @noRd
#[extendr]
fn rust_file_create(path: Robj, n: Robj, p: Robj, names: Robj) -> Robj {
    respond([&path, &n, &p, &names], |token| {
        let (n, p) = (input::count(&n, "n", 1)?, input::count(&p, "p", 1)?);
        let path = input::text(&path, "path")?;
        let writer = Writer::create(Path::new(path), Content::Values, n, p, column_names(&names).as_deref())?;
        Ok(output::held(token, Some(writer))?.into())
    })
}

/// Writes a block of `rows` rows. Its first cell is in this row and column, counted from 0.
/// @noRd
#[extendr]
fn rust_file_write(file: Robj, x: Robj, row: Robj, column: Robj, rows: Robj) -> Robj {
    respond([&file, &x, &row, &column, &rows], |token| {
        let (row, column) = (input::count(&row, "row", 0)?, input::count(&column, "column", 0)?);
        let rows = input::count(&rows, "rows", 1)?;
        let making = making(&file)?;
        let writer = making.as_ref().as_ref().ok_or_else(gone)?;
        let cells =
            x.as_real_slice().ok_or_else(|| Failure::Input("internal: `x` is not a matrix of doubles".into()))?;
        // A disk may be slow, so columns are written in pieces, with a check for Ctrl-C after each.
        let columns = (1 << 20) / rows.max(1) + 1;
        for (at, cells) in cells.chunks(columns * rows.max(1)).enumerate() {
            writer.put_block(row, column + at * columns, rows, cells)?;
            if token.wants_to_stop() {
                return Err(pcgpu_core::Error::Interrupted.into());
            }
        }
        Ok(().into())
    })
}

/// Finishes a data file: gives it its name, and returns its digest.
/// @noRd
#[extendr]
fn rust_file_finish(file: Robj, engine: Robj) -> Robj {
    respond([&file, &engine], |token| {
        let call = Call::silent(&engine, token)?;
        let mut making = making(&file)?;
        let writer = making.as_mut().take().ok_or_else(gone)?;
        let mut observer = call.observer();
        let digest = writer.finish(&call.machine.pool, &mut |_| observer.look());
        Ok(Value::from(file::shown(&digest?)))
    })
}

/// Abandons a data file that is not finished.
/// @noRd
#[extendr]
fn rust_file_give_up(file: Robj) -> Robj {
    respond([&file], |_| {
        *making(&file)?.as_mut() = None;
        Ok(().into())
    })
}

/// Returns some rows and columns of a file, counted from 1.
/// @noRd
#[extendr]
fn rust_file_read(file: Robj, rows: Robj, columns: Robj) -> Robj {
    respond([&file, &rows, &columns], |token| {
        let file = open(&file)?;
        let rows = match rows.is_null() {
            true => None,
            false => Some(input::vertices(&rows, file.n(), "rows")?),
        };
        let columns = input::vertices(&columns, file.p(), "columns")?;
        let height = rows.as_ref().map_or(file.n(), Vec::len);
        let mut made = output::matrix(token, height, columns.len(), Use::Correlations)?;
        let cells = output::cells(&mut made)?;
        for (out, &j) in cells.chunks_mut(height.max(1)).zip(&columns) {
            let column = &file.cells()[j as usize * file.n()..][..file.n()];
            match &rows {
                None => out.copy_from_slice(column),
                Some(rows) => out.iter_mut().zip(rows).for_each(|(to, &row)| *to = column[row as usize]),
            }
            if token.wants_to_stop() {
                return Err(pcgpu_core::Error::Interrupted.into());
            }
        }
        Ok(made.into())
    })
}

extendr_module! {
    mod data_file;
    fn rust_file_look;
    fn rust_file_create;
    fn rust_file_write;
    fn rust_file_finish;
    fn rust_file_give_up;
    fn rust_file_read;
}
