//! The first page of a data file, and the checksums and names after its numbers.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::{failure, Digest, REWRITE};
use crate::error::FileKind;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"pcgpu\0\r\n";

/// The format version that this code writes and reads.
const VERSION: u32 = 1;

/// Number of bytes before the numbers, a page.
pub(super) const DATA: usize = 4096;

/// Number of bytes in a block of numbers. Each block has a checksum.
pub(super) const BLOCK: usize = 1 << 20;

/// The position of the digest.
pub(super) const AT_DIGEST: usize = 80;

/// The kind of content of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Content {
    /// Values of variables, as given; NaN is a missing value.
    Values = 1,
    /// Gaussian data: columns minus their means, ready to be correlated.
    Centred = 2,
}

/// The contents of the header.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub content: Content,
    pub n: u64,
    pub p: u64,
    pub sums: Range<u64>,
    pub names: Range<u64>,
}

impl Header {
    /// Makes the header of a table with names of this many bytes, or returns `None` if that is too large for any file.
    pub fn new(content: Content, n: u64, p: u64, names: u64) -> Option<Self> {
        let cells = n.checked_mul(p)?.checked_mul(8)?;
        let end = (DATA as u64).checked_add(cells)?;
        let sums = end..end.checked_add(cells.div_ceil(BLOCK as u64) * 8)?;
        let names = sums.end..sums.end.checked_add(names)?;
        (names.end <= i64::MAX as u64).then_some(Header { content, n, p, sums, names })
    }

    /// Reads and checks the header of a file.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        let foreign =
            |what: &str| failure(FileKind::Foreign, path, what.into(), "give a file that write_pcgpu_file() wrote");
        if cfg!(target_endian = "big") {
            return Err(foreign("contains little-endian numbers, which this machine cannot read"));
        }
        if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
            return Err(foreign("is not a data file of pcgpu"));
        }
        if bytes.len() < DATA {
            return Err(failure(
                FileKind::Truncated,
                path,
                format!("has only {} bytes and no complete header", bytes.len()),
                REWRITE,
            ));
        }
        let version = short(bytes, 8);
        if version != VERSION {
            let message =
                format!("has format version {version}, but this version of pcgpu reads format version {VERSION}");
            return Err(failure(
                FileKind::Version,
                path,
                message,
                "write it again with write_pcgpu_file(), or use the version of pcgpu that wrote it",
            ));
        }
        let damaged = || failure(FileKind::Damaged, path, "is damaged (its header is invalid)".into(), REWRITE);
        let content = match short(bytes, 12) {
            1 => Content::Values,
            2 => Content::Centred,
            _ => return Err(damaged()),
        };
        let header = Header::new(content, long(bytes, 16), long(bytes, 24), long(bytes, 64)).ok_or_else(damaged)?;
        // All fields follow from the shape.
        match header.text() == bytes[..AT_DIGEST] {
            true => Ok(header),
            false => Err(damaged()),
        }
    }

    /// Returns the number of bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.names.end
    }

    /// Returns the header without the digest.
    pub fn text(&self) -> [u8; AT_DIGEST] {
        let mut text = [0; AT_DIGEST];
        text[..8].copy_from_slice(&MAGIC);
        text[8..12].copy_from_slice(&VERSION.to_le_bytes());
        text[12..16].copy_from_slice(&(self.content as u32).to_le_bytes());
        let (sums, names) = (self.sums.start, self.names.start);
        let numbers = [self.n, self.p, DATA as u64, BLOCK as u64, sums, names, self.names.end - names, self.bytes()];
        for (place, number) in text[16..].chunks_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        text
    }

    /// Computes the digest. `rest` is what follows the numbers: checksums and names.
    pub fn digest(&self, rest: &[u8]) -> Digest {
        let mut hash = Xxh3::new();
        hash.update(&self.text());
        hash.update(rest);
        hash.digest128().to_le_bytes()
    }

    /// Parses names. Returns `None` if they cannot be read, and `Some(None)` if there are none.
    pub fn names_of(&self, mut bytes: &[u8]) -> Option<Option<Vec<String>>> {
        if bytes.is_empty() {
            return Some(None);
        }
        let mut names = Vec::new();
        while !bytes.is_empty() {
            let length = bytes.get(..4).map(|length| short(length, 0) as usize)?;
            let name = String::from_utf8(bytes.get(4..4 + length)?.to_vec()).ok()?;
            // R's strings cannot contain NUL.
            names.push(Some(name).filter(|name| !name.contains('\0'))?);
            bytes = &bytes[4 + length..];
        }
        (names.len() as u64 == self.p).then_some(Some(names))
    }
}

/// Encodes names as bytes.
pub(super) fn bytes_of_names(names: Option<&[String]>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for name in names.into_iter().flatten() {
        let length = u32::try_from(name.len()).map_err(|_| Error::Argument {
            argument: "x",
            value: "has a column name of more than 4 GB".into(),
            hint: "give a shorter name".into(),
        })?;
        bytes.extend(length.to_le_bytes());
        bytes.extend(name.as_bytes());
    }
    Ok(bytes)
}

fn short(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(short(bytes, at)) | u64::from(short(bytes, at + 4)) << 32
}
