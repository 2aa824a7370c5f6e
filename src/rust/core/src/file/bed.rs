//! PLINK's files of genotypes: a `.bed` file, mapped into memory, and its tables of samples (`.fam`) and markers (`.bim`).
//!
//! A `.bed` file has three bytes, 6c, 1b and 01, and then for each marker two bits for each sample, filled up to whole bytes. 00 as the
//! third byte is an older order, by sample. The tables are text with a line for each sample or marker; the second field is its name.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use super::{failure, unmapped};
use crate::error::FileKind;
use crate::memory::{self, Use};
use crate::{reason, Error, Result};

/// The bytes before the first marker.
const MAGIC: [u8; 3] = [0x6c, 0x1b, 0x01];

/// Genotypes of n samples and p markers in a mapped file.
#[derive(Debug)]
pub struct Bed {
    map: Mmap,
    n: usize,
    p: usize,
}

fn unread(path: &Path, error: &std::io::Error) -> Error {
    let hint = "give the path of a .bed file that has its .bim and .fam beside it";
    failure(FileKind::Unreadable, path, format!("cannot be read ({})", reason(error)), hint)
}

impl Bed {
    /// Opens a file of `n` samples and `p` markers.
    ///
    /// # Errors
    /// [`Error::File`] if it is no such file, or [`Error::Memory`] if the process lacks the addresses to map it.
    pub fn open(path: &Path, n: usize, p: usize) -> Result<Self> {
        let refused = |error: std::io::Error| unread(path, &error);
        let foreign = |what: &str, hint: &str| failure(FileKind::Foreign, path, what.into(), hint);
        if !std::fs::metadata(path).map_err(refused)?.is_file() {
            return Err(foreign("is not a regular file", "give the path of a .bed file"));
        }
        let file = File::open(path).map_err(refused)?;
        let bytes = file.metadata().map_err(refused)?.len();
        if bytes < MAGIC.len() as u64 {
            return Err(foreign("is too short for a .bed file", "give the path of a .bed file of PLINK 1"));
        }
        // SAFETY: the file is only read. If another program truncates it, this process ends by a signal, as with any mapped file.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| unmapped(path, bytes, &error))?;
        if map[..2] != MAGIC[..2] {
            return Err(foreign("is not a .bed file of PLINK", "give the path of a .bed file of PLINK 1"));
        }
        if map[2] != MAGIC[2] {
            let hint = "write it again with plink --make-bed";
            return Err(failure(FileKind::Version, path, "has the older order, by sample".into(), hint));
        }
        let wanted = p as u128 * n.div_ceil(4) as u128 + MAGIC.len() as u128;
        if u128::from(bytes) != wanted {
            let kind = if u128::from(bytes) < wanted { FileKind::Truncated } else { FileKind::Damaged };
            let message = format!("has {bytes} bytes, not {wanted} as for {n} samples (.fam) and {p} markers (.bim)");
            return Err(failure(kind, path, message, "copy the three files again, from one data set"));
        }
        Ok(Bed { map, n, p })
    }

    /// Returns the number of samples.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of markers.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns the genotypes, two bits each, by marker.
    pub fn genotypes(&self) -> &[u8] {
        &self.map[MAGIC.len()..]
    }
}

/// Returns the names in a table of samples or markers, the second of `fields` fields of each line.
///
/// # Errors
/// [`Error::File`] if the table cannot be read or a line lacks fields, and [`Error::Memory`].
pub fn names_in(path: &Path, fields: usize) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).map_err(|error| unread(path, &error))?;
    let damaged = |line: usize, what: String| {
        let message = format!("is damaged (line {line} {what})");
        failure(FileKind::Damaged, path, message, "copy the three files again, from one data set")
    };
    let mut names = Vec::new();
    for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = std::str::from_utf8(line).map_err(|_| damaged(at + 1, "is not UTF-8".into()))?;
        let count = line.split_ascii_whitespace().count();
        if count == 0 {
            continue;
        }
        match line.split_ascii_whitespace().nth(1).filter(|name| count >= fields && !name.contains('\0')) {
            Some(name) => memory::push(&mut names, name.to_string(), Use::File)?,
            None => return Err(damaged(at + 1, format!("has {count} fields instead of {fields}"))),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a file with these bytes.
    fn opened(name: &str, bytes: &[u8], n: usize, p: usize) -> Result<Bed> {
        let path = std::env::temp_dir().join(format!("pcgpu-{}-{name}.bed", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let found = Bed::open(&path, n, p);
        std::fs::remove_file(&path).unwrap();
        found
    }

    fn kind(found: Result<Bed>) -> FileKind {
        match found {
            Err(Error::File(error)) => error.kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_must_have_the_size_of_its_tables() {
        let bytes = [0x6c, 0x1b, 1, 7, 8, 9, 10];
        let bed = opened("good", &bytes, 5, 2).unwrap();
        assert_eq!((bed.n(), bed.p(), bed.genotypes()), (5, 2, &bytes[3..]));
        assert_eq!(kind(opened("few", &bytes, 5, 3)), FileKind::Truncated);
        assert_eq!(kind(opened("many", &bytes, 5, 1)), FileKind::Damaged);
        assert_eq!(kind(opened("short", &bytes[..2], 5, 2)), FileKind::Foreign);
        assert_eq!(kind(opened("other", b"PK\x03\x04567", 5, 2)), FileKind::Foreign);
        assert_eq!(kind(opened("by-sample", &[0x6c, 0x1b, 0, 7], 4, 1)), FileKind::Version);
        assert_eq!(kind(Bed::open(Path::new("/nowhere/x.bed"), 1, 1)), FileKind::Unreadable);
    }

    #[test]
    fn names_are_the_second_fields() {
        let path = std::env::temp_dir().join(format!("pcgpu-{}.fam", std::process::id()));
        std::fs::write(&path, "f1 s1 0 0 1 -9\r\nf1\ts2\t0 0 2 1.5\n\n").unwrap();
        assert_eq!(names_in(&path, 6).unwrap(), ["s1", "s2"]);
        std::fs::write(&path, "f1 s1 0 0 1 -9\nf1 s2 0\n").unwrap();
        let error = names_in(&path, 6).unwrap_err().to_string();
        assert!(error.contains("line 2 has 3 fields instead of 6"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
