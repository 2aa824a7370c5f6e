//! Data files: written block by block, and opened where R names one.

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
use crate::token::Token;
use crate::value::Value;

/// R's class of a list that names a file.
pub const CLASS: &str = "pcgpu_file";

/// The file that x names; none where x is something else.
pub fn named_by(x: &Robj) -> Outcome<Option<DataFile>> {
    if input::has_class(x, CLASS) {
        open(x).map(Some)
    } else {
        Ok(None)
    }
}

/// The file that `list(path, digest, ...)` names.
pub fn open(x: &Robj) -> Outcome<DataFile> {
    let x = input::list(x, "x")?;
    let text = |name: &str| x.text(name);
    let digest = file::digest_of(text("digest")?);
    let digest = digest.ok_or_else(|| Failure::Input("internal: `digest` is none".into()))?;
    let file = DataFile::open(Path::new(&text("path")?), Some(digest))?;
    // A reference has neither, and an object may have been edited.
    for (name, count) in [("n", file.n()), ("p", file.p())] {
        if let Some(told) = x.optional(name).filter(|told| told.as_real() != Some(count as f64)) {
            let told = told.as_real().map_or_else(|| "something else".into(), shown);
            return Err(Failure::Core(Error::Argument {
                argument: "x",
                value: format!("says that `{name}` is {told}, and in its file it is {count}"),
                mend: "open the file again, by pcgpu_file()".into(),
            }));
        }
    }
    Ok(file)
}

/// Names of columns, where there are some.
pub fn names(names: &Robj) -> Option<Vec<String>> {
    names.as_string_vector().filter(|names| !names.is_empty())
}

/// `list(path, digest, n, p, content, names)`.
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

/// [`described`], of a file that has the digest, where one is given, and, where that is asked for, the numbers that were written.
pub fn look(path: &Robj, digest: &Robj, verify: bool, call: &Call) -> Outcome<Value> {
    let path = input::text(path, "path")?;
    let wanted = match digest.is_null() {
        true => None,
        false => match file::digest_of(input::text(digest, "digest")?) {
            None => return Err(Failure::Input("internal: `digest` is none".into())),
            digest => digest,
        },
    };
    let file = DataFile::open(Path::new(&path), wanted)?;
    if verify {
        let mut observer = call.observer();
        file.verify(&call.machine.pool, &mut |share| observer.preparing(share))?;
    }
    Ok(described(&file, path))
}

/// A file in the making.
pub fn create(path: &Robj, n: usize, p: usize, column_names: &Robj, token: &Token) -> Outcome<Value> {
    let path = input::text(path, "path")?;
    let names = names(column_names);
    let writer = Writer::create(Path::new(&path), Content::Values, n, p, names.as_deref())?;
    Ok(output::held(token, Some(writer))?.into())
}

type Making = ExternalPtr<Option<Writer>>;

/// The writer; none that was finished, or of another session.
fn making(writer: &Robj) -> Outcome<Making> {
    Making::try_from(writer.clone()).map_err(|_| Failure::Input("internal: `file` is not in the making".into()))
}

fn gone() -> Failure {
    Failure::Input("internal: the file is finished".into())
}

/// Writes a block of so many rows, whose first cell is in this row and column, from 0.
pub fn write(writer: &Robj, x: &Robj, row: usize, column: usize, rows: usize, token: &Token) -> Outcome<Value> {
    let making = making(writer)?;
    let writer = making.as_ref().as_ref().ok_or_else(gone)?;
    let cells = x.as_real_slice().ok_or_else(|| Failure::Input("internal: `x` is not a matrix of doubles".into()))?;
    // A disk may be slow: pieces of columns, and a look between them.
    let columns = (1 << 20) / rows.max(1) + 1;
    for (at, cells) in cells.chunks(columns * rows.max(1)).enumerate() {
        writer.put_block(row, column + at * columns, rows, cells)?;
        if token.wants_to_stop() {
            return Err(pcgpu_core::Error::Interrupted.into());
        }
    }
    Ok(().into())
}

/// Gives the file its name.
pub fn finish(writer: &Robj, call: &Call) -> Outcome<Value> {
    let mut making = making(writer)?;
    let writer = making.as_mut().take().ok_or_else(gone)?;
    let mut observer = call.observer();
    let digest = writer.finish(&call.machine.pool, &mut |_| observer.look());
    Ok(Value::from(file::shown(&digest?)))
}

/// Gives up a file in the making.
pub fn give_up(writer: &Robj) -> Outcome<Value> {
    *making(writer)?.as_mut() = None;
    Ok(().into())
}

/// Some rows and columns, from 1, of a file.
pub fn read(x: &Robj, rows: &Robj, columns: &Robj, token: &Token) -> Outcome<Value> {
    let file = open(x)?;
    let rows = match rows.is_null() {
        true => None,
        false => Some(input::vertices(rows, file.n(), "rows")?),
    };
    let columns = input::vertices(columns, file.p(), "columns")?;
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
}

/// What a data file is.
/// @noRd
#[extendr]
fn rust_file_look(path: Robj, digest: Robj, verify: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&path, &digest, &verify, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        look(&path, &digest, input::flag(&verify, "verify")?, &call)
    })
}

/// A data file in the making.
/// @noRd
#[extendr]
fn rust_file_create(path: Robj, n: Robj, p: Robj, names: Robj) -> Robj {
    respond([&path, &n, &p, &names], |token| {
        create(&path, input::count(&n, "n", 1)?, input::count(&p, "p", 1)?, &names, token)
    })
}

/// Writes a block of it.
/// @noRd
#[extendr]
fn rust_file_write(file: Robj, x: Robj, row: Robj, column: Robj, rows: Robj) -> Robj {
    respond([&file, &x, &row, &column, &rows], |token| {
        let (row, column) = (input::count(&row, "row", 0)?, input::count(&column, "column", 0)?);
        write(&file, &x, row, column, input::count(&rows, "rows", 1)?, token)
    })
}

/// Gives it its name; returns its digest.
/// @noRd
#[extendr]
fn rust_file_finish(file: Robj, engine: Robj) -> Robj {
    respond([&file, &engine], |token| finish(&file, &Call::silent(&engine, token)?))
}

/// Gives it up.
/// @noRd
#[extendr]
fn rust_file_give_up(file: Robj) -> Robj {
    respond([&file], |_| give_up(&file))
}

/// Some rows and columns of a data file.
/// @noRd
#[extendr]
fn rust_file_read(file: Robj, rows: Robj, columns: Robj) -> Robj {
    respond([&file, &rows, &columns], |token| read(&file, &rows, &columns, token))
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
