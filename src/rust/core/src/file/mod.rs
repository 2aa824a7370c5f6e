//! A table of numbers in a file that maps into memory. Processes of one machine share it, or machines with a common file system.
//!
//! All numbers are little-endian. The layout in bytes:
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `pcgpu`, 0, 13, 10 |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | the kind of content, see [`Content`] |
//! | 16 | 8 | n, the number of rows |
//! | 24 | 8 | p, the number of columns |
//! | 32 | 8 | 4,096: where the numbers begin, n x p doubles by column |
//! | 40 | 8 | 1,048,576: bytes in a block of numbers; the last block may be shorter |
//! | 48 | 8 | where the checksums begin, 8 bytes for each block (XXH3, 64 bits) |
//! | 56 | 8 | where the names begin; for each column the number of its bytes (4 bytes), then these bytes in UTF-8 |
//! | 64 | 8 | bytes of the names, 0 if there are none |
//! | 72 | 8 | bytes of the file |
//! | 80 | 16 | digest of bytes 0 to 79, the checksums and the names (XXH3, 128 bits) |
//! | 96 | | zeros, up to 4,096 |
//!
//! A file gets its name once it is complete, and does not change from then on. The digest covers everything in the file, and is checked
//! whenever the file is opened. Blocks are compared with their checksums only on request. Neither is a secret: they detect damage, not
//! malice.

mod bed;
mod header;
mod writing;

pub use bed::{names_in, Bed};
pub use header::Content;
pub use writing::Writer;

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{FileError, FileKind};
use crate::memory::Use;
use crate::pool::{Pool, Stop};
use crate::{reason, Error, Result};
use header::{Header, BLOCK, DATA};

/// The digest of a file, in bytes.
pub type Digest = [u8; 16];

/// A data file, mapped into memory.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    map: Mmap,
    header: Header,
    names: Option<Vec<String>>,
    digest: Digest,
}

/// Returns the error for an operation that the system refused, with the system's reason.
fn refused(kind: FileKind, path: &Path, error: &std::io::Error) -> Error {
    let (message, hint) = match kind {
        FileKind::Unwritable => ("cannot be written", "give a path with write permission and free space"),
        _ => ("cannot be read", "give the path of a readable file that write_pcgpu_file() wrote"),
    };
    failure(kind, path, format!("{message} ({})", reason(error)), hint)
}

/// Returns the error of a failed mapping. A lack of addresses in the process is not the file's fault.
fn unmapped(path: &Path, bytes: u64, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory => Use::File.error(bytes as usize),
        _ => refused(FileKind::Unreadable, path, error),
    }
}

fn failure(kind: FileKind, path: &Path, message: String, hint: &str) -> Error {
    Error::File(FileError { kind, path: path.display().to_string(), message, hint: hint.into() })
}

const REWRITE: &str = "write it again with write_pcgpu_file()";

impl DataFile {
    /// Opens a file and checks everything except the numbers. `wanted`: the digest that it must have.
    ///
    /// # Errors
    /// [`Error::File`], or [`Error::Memory`] if the process lacks the addresses to map it.
    pub fn open(path: &Path, wanted: Option<Digest>) -> Result<Self> {
        let unread = |error: std::io::Error| refused(FileKind::Unreadable, path, &error);
        // Opening a pipe would wait for its writer.
        if !std::fs::metadata(path).map_err(unread)?.is_file() {
            return Err(failure(FileKind::Foreign, path, "is not a regular file".into(), "give the path of a file"));
        }
        let file = File::open(path).map_err(unread)?;
        let about = file.metadata().map_err(unread)?;
        if about.len() == 0 {
            return Err(failure(FileKind::Foreign, path, "is empty".into(), REWRITE));
        }
        // SAFETY: no pcgpu process changes a file that has its name, and the file may be read-only. If another program truncates it, this
        // process ends by a signal, as with any mapped file.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| unmapped(path, about.len(), &error))?;
        let header = Header::read(path, &map)?;
        let whole = header.bytes();
        if (map.len() as u64) < whole {
            let message = format!("has only {} of its {whole} bytes", map.len());
            return Err(failure(
                FileKind::Truncated,
                path,
                message,
                "copy it again, or write it again with write_pcgpu_file()",
            ));
        }
        let damaged = |what: &str| failure(FileKind::Damaged, path, what.into(), REWRITE);
        if map.len() as u64 > whole {
            return Err(damaged("is damaged (it has bytes after its end)"));
        }
        let sums = header.sums.start as usize..header.sums.end as usize;
        let digest = header.digest(&map[sums.start..]);
        if digest[..] != map[header::AT_DIGEST..header::AT_DIGEST + digest.len()] {
            return Err(damaged("is damaged (its header, checksums or names have changed since it was written)"));
        }
        let names =
            header.names_of(&map[sums.end..]).ok_or_else(|| damaged("is damaged (its names cannot be read)"))?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != digest) {
            let message = format!("has digest {}, not {}", shown(&digest), shown(&wanted));
            let hint = "the file was replaced after it was opened; open it again with pcgpu_file()";
            return Err(failure(FileKind::Changed, path, message, hint));
        }
        Ok(DataFile { path: path.to_path_buf(), map, header, names, digest })
    }

    /// Compares all numbers with their checksums.
    ///
    /// # Errors
    /// [`Error::File`] if a block is not what was written, and the errors of `watch`.
    pub fn verify(&self, pool: &Pool, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let bytes = &self.map[DATA..self.header.sums.start as usize];
        let sums = &self.map[self.header.sums.start as usize..self.header.sums.end as usize];
        let count = bytes.len().div_ceil(BLOCK);
        let wrong = std::sync::Mutex::new(None);
        let work = |_: &mut (), block: usize, _: &Stop| {
            let sum = xxh3_64(&bytes[block * BLOCK..bytes.len().min((block + 1) * BLOCK)]);
            if sum.to_le_bytes()[..] != sums[block * 8..block * 8 + 8] {
                if let Ok(mut wrong) = wrong.lock() {
                    *wrong = Some(wrong.map_or(block, |other: usize| other.min(block)));
                }
            }
        };
        pool.run(count, bytes.len() < BLOCK, |_| 1.0, &mut |done| watch(done / count.max(1) as f64), work)?;
        let Ok(Some(block)) = wrong.into_inner() else { return Ok(()) };
        let column = |byte: usize| byte / 8 / self.n().max(1) + 1;
        let last = (bytes.len().min((block + 1) * BLOCK) - 1).max(block * BLOCK);
        let message = format!(
            "is damaged (numbers in columns {} to {} have changed since it was written)",
            column(block * BLOCK),
            column(last)
        );
        Err(failure(FileKind::Damaged, &self.path, message, REWRITE))
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        self.header.n as usize
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.header.p as usize
    }

    /// Returns the kind of content.
    pub fn content(&self) -> Content {
        self.header.content
    }

    /// Returns the names of the columns, or `None` if there are none.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns the digest, which is the same only for files with the same content.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the numbers, by column.
    pub fn cells(&self) -> &[f64] {
        let bytes = &self.map[DATA..self.header.sums.start as usize];
        // SAFETY: a mapping begins on a page, and `DATA` is a multiple of 8. The header, which is checked to fit, says that n x p doubles
        // are there. They are in this machine's byte order, and any bits are a double.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<f64>(), bytes.len() / 8) }
    }
}

/// Returns a digest as text.
pub fn shown(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses a digest, or returns `None` if the text is not one.
pub fn digest_of(text: &str) -> Option<Digest> {
    let mut digest = [0; 16];
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..32).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests;
