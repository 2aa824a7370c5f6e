//! Writing a data file.

use std::fs::{remove_file, rename, File, Metadata, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::header::{bytes_of_names, Content, Header, BLOCK, DATA};
use super::{failure, refused, unmapped, Digest};
use crate::error::FileKind;
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::{Error, Result};

/// A writer of a data file. It writes under a temporary name, and removes this name when the file is complete or abandoned.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    header: Header,
    names: Vec<u8>,
    /// Number of cells written.
    written: AtomicU64,
}

/// A number that distinguishes the writers of a process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Writer {
    /// Begins an n x p table with these column names.
    ///
    /// # Errors
    /// [`Error::File`] if the system refuses.
    pub fn create(path: &Path, content: Content, n: usize, p: usize, names: Option<&[String]>) -> Result<Self> {
        let names = bytes_of_names(names)?;
        let header =
            Header::new(content, n as u64, p as u64, names.len() as u64).filter(|_| cfg!(target_endian = "little"));
        let header = header.ok_or_else(|| {
            failure(
                FileKind::Unwritable,
                path,
                format!("cannot hold {n} x {p} numbers on this machine"),
                "write a smaller table",
            )
        })?;
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.{}.part", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let beside = path.with_file_name(name);
        let made = OpenOptions::new().read(true).write(true).create_new(true).open(&beside);
        let file = made.map_err(|error| refused(FileKind::Unwritable, path, &error))?;
        let writer = Writer { path: path.to_path_buf(), beside, file, header, names, written: AtomicU64::new(0) };
        writer.file.set_len(writer.header.bytes()).map_err(|error| writer.refused(&error))?;
        Ok(writer)
    }

    fn refused(&self, error: &std::io::Error) -> Error {
        refused(FileKind::Unwritable, &self.path, error)
    }

    /// Writes cells from number `first` on, counted by column. Fails with [`Error::File`].
    pub fn put(&self, first: usize, cells: &[f64]) -> Result<()> {
        let all = self.header.n * self.header.p;
        let fits = (first as u64).checked_add(cells.len() as u64).is_some_and(|end| end <= all);
        if !fits {
            return Err(failure(
                FileKind::Unwritable,
                &self.path,
                "does not have these cells".into(),
                "write only cells of the table",
            ));
        }
        self.file
            .write_all_at(memory::bytes(cells), DATA as u64 + 8 * first as u64)
            .map_err(|error| self.refused(&error))?;
        self.written.fetch_add(cells.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes a column-major block of the table, whose first cell is at this row and column. Fails with [`Error::File`].
    pub fn put_block(&self, row: usize, column: usize, rows: usize, cells: &[f64]) -> Result<()> {
        let n = self.header.n as usize;
        if rows == n {
            return self.put(column * n, cells);
        }
        if row + rows > n {
            return self.put(usize::MAX, cells);
        }
        let columns = cells.chunks(rows.max(1));
        columns.enumerate().try_for_each(|(j, cells)| self.put((column + j) * n + row, cells))
    }

    /// Adds checksums and header, gives the file its name, and returns its digest. Every cell must have been written once.
    pub fn finish(self, pool: &Pool, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Digest> {
        let (all, written) = (self.header.n * self.header.p, self.written.load(Ordering::Relaxed));
        if written != all {
            let message = format!("received {written} numbers instead of {all}");
            return Err(failure(FileKind::Unwritable, &self.path, message, "write each block of the table once"));
        }
        let count = (8 * all).div_ceil(BLOCK as u64) as usize;
        let mut sums: Vec<u64> = memory::zeros(count, Use::Other)?;
        // SAFETY: only this writer knows the file, and it does not write while the file is read.
        let map = unsafe { Mmap::map(&self.file) };
        let map = map.map_err(|error| unmapped(&self.path, self.header.bytes(), &error))?;
        let bytes = &map[DATA..self.header.sums.start as usize];
        let slots: Vec<Mutex<&mut u64>> = sums.iter_mut().map(Mutex::new).collect();
        let work = |_: &mut (), block: usize, _: &Stop| {
            if let Ok(mut sum) = slots[block].lock() {
                **sum = xxh3_64(&bytes[block * BLOCK..bytes.len().min((block + 1) * BLOCK)]);
            }
        };
        pool.run(count, count < 2, |_| 1.0, &mut |done| watch(done / count.max(1) as f64), work)?;
        drop(slots);
        let mut rest: Vec<u8> = memory::space(8 * count + self.names.len(), Use::Other)?;
        sums.iter().for_each(|sum| rest.extend(sum.to_le_bytes()));
        rest.extend(&self.names);
        let digest = self.header.digest(&rest);
        let put = |bytes: &[u8], at: u64| self.file.write_all_at(bytes, at).map_err(|error| self.refused(&error));
        put(&rest, self.header.sums.start)?;
        put(&self.header.text(), 0)?;
        put(&digest, self.header.text().len() as u64)?;
        // Nobody writes to the file any more. The process's umask determines who may read it.
        let mode = |about: Metadata| PermissionsExt::from_mode(about.permissions().mode() & 0o777 & !0o222);
        let kept = self.file.metadata().and_then(|about| self.file.set_permissions(mode(about)));
        kept.and_then(|()| self.file.sync_all())
            .and_then(|()| rename(&self.beside, &self.path))
            .map_err(|error| self.refused(&error))?;
        Ok(digest)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A complete file no longer has this name.
        _ = remove_file(&self.beside);
    }
}
