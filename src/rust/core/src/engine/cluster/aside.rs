//! Large answers of ranks on the driver's own machine. The rank puts the answer into a file in shared memory, and the connection carries
//! only the file's name. A rank that cannot see the folder, or finds no room there, answers through the connection.
//!
//! The driver makes a folder with a random token in it, which proves that a rank sees this folder. The driver removes a file when it takes
//! it, and the folder when it ends. The next driver of the same user removes the folder of a driver that was killed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memmap2::Mmap;

use super::message::Request;
use super::Cluster;
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::search::wire::{envelope, Reader, Writer};
use crate::Result;

/// Folder whose files are pages of memory.
const MEMORY: &str = "/dev/shm";

/// Start of the folders' names. The process namespace and the number of the driver's process follow.
const NAME: &str = "pcgpu-";

/// Number of bytes that a thread writes at a time.
const WRITTEN: usize = 4 << 20;

/// Least number of bytes of an answer that is worth a file.
pub(super) const LARGE: u64 = 1 << 20;

/// Number of bytes of the token.
const WORD: usize = 32;

/// Name of the file that holds the token.
const WORD_FILE: &str = "word";

/// The folder where ranks of this machine put large answers.
pub(super) struct AnswerFolder {
    path: PathBuf,
    word: [u8; WORD],
    /// Least number of bytes of an answer in a file. Smaller answers go through the connection.
    least: u64,
}

impl AnswerFolder {
    /// Makes a new folder. Returns `None` if this machine has no shared memory.
    pub fn open(least: u64) -> Option<Self> {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let mut word = [0; WORD];
        for eight in word.chunks_exact_mut(8) {
            // The system seeds the keys of `RandomState`.
            eight.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
        }
        let (number, space) = (FOLDERS.fetch_add(1, Ordering::Relaxed), space_of_processes()?);
        clear(&space);
        let own = u64::from_le_bytes(word[..8].try_into().ok()?);
        let path = Path::new(MEMORY).join(format!("{NAME}{space}-{}-{number}-{own:x}", std::process::id()));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).ok()?;
        let folder = AnswerFolder { path, word, least };
        std::fs::write(folder.path.join(WORD_FILE), word).ok()?;
        Some(folder)
    }

    /// Returns the bytes that describe the folder to a rank: its path, the token and the smallest size of an answer.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Writer::default();
        bytes.text(self.path.to_str()?);
        bytes.0.extend_from_slice(&self.word);
        bytes.number(self.least);
        Some(bytes.0)
    }

    /// Takes the file that a rank has put there under this number. Returns `None` if there is no such file, or it has another length.
    pub fn take(&self, number: u64, length: u64) -> Option<Mmap> {
        let path = self.path.join(number.to_string());
        let file = File::open(&path).ok()?;
        // Nobody else wants the file, whatever happens next.
        std::fs::remove_file(&path).ok()?;
        (file.metadata().ok()?.len() == length && length > 0).then_some(())?;
        // SAFETY: the file has no name any more, and its writer has closed it.
        unsafe { Mmap::map(&file) }.ok()
    }
}

impl Cluster<'_> {
    /// Puts answers of at least `bytes` bytes into shared memory, instead of those for which that pays. For tests.
    pub fn aside_from(&mut self, bytes: u64) {
        (self.folder, self.aside_from) = (None, bytes);
        self.ranks.iter_mut().for_each(|rank| rank.knows_folder = false);
    }

    /// Sends a rank, once, the folder for large answers.
    pub(super) fn tell_folder(&mut self, rank: usize) -> Result<()> {
        if self.ranks[rank].knows_folder {
            return Ok(());
        }
        self.ranks[rank].knows_folder = true;
        if self.folder.is_none() {
            self.folder = AnswerFolder::open(self.aside_from);
        }
        let Some(told) = self.folder.as_ref().and_then(AnswerFolder::to_bytes) else { return Ok(()) };
        let request = Request::folder(&told);
        self.send(rank, &envelope::seal(request.kind(), 0, request.body()))
    }
}

/// Returns the namespace of process numbers, in which no two running processes have the same number.
fn space_of_processes() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let digits: String = link.to_str()?.chars().filter(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// Removes the folders of drivers that were killed.
fn clear(space: &str) {
    for entry in std::fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let of_space = name.to_str().and_then(|name| name.strip_prefix(NAME)?.strip_prefix(space)?.strip_prefix('-'));
        let process = of_space.and_then(|rest| rest.split('-').next()).filter(|process| process.parse::<u32>().is_ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for AnswerFolder {
    fn drop(&mut self) {
        // The folder is renamed first: then no rank adds a file during the removal, and nothing stays behind.
        let gone = self.path.with_extension("gone");
        let path = if std::fs::rename(&self.path, &gone).is_ok() { &gone } else { &self.path };
        let _ = std::fs::remove_dir_all(path);
    }
}

/// The folder for large answers as a rank sees it.
pub(super) struct Place {
    folder: PathBuf,
    least: u64,
}

impl Place {
    /// Reads what [`AnswerFolder::to_bytes`] wrote. Returns `None` if the folder is on another machine.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let folder = PathBuf::from(bytes.text()?);
        let word = bytes.take(WORD)?;
        let least = bytes.number()?;
        let found = std::fs::read(folder.join(WORD_FILE)).ok()?;
        bytes.end((found == word).then_some(Place { folder, least })?)
    }
}

/// Room for an answer: a file in the driver's folder, or this process's memory.
pub(super) enum Room {
    Memory(Vec<u8>),
    File { file: File, path: PathBuf, length: u64 },
}

impl Room {
    /// Makes room for `length` bytes, which are zero at first. The file is named by its number.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn new(place: Option<&Place>, number: u64, length: usize) -> Result<Self> {
        if let Some(place) = place.filter(|place| length > 0 && length as u64 >= place.least) {
            let path = place.folder.join(number.to_string());
            let created = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            if let Ok(file) = created.and_then(|file| file.set_len(length as u64).map(|()| file)) {
                return Ok(Room::File { file, path, length: length as u64 });
            }
        }
        Ok(Room::Memory(memory::zeros(length, Use::Level)?))
    }

    /// Writes bytes at an offset, on the pool's threads. If there is no room for the file, its contents move to memory.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn write(&mut self, at: usize, bytes: &[u8], pool: &Pool) -> Result<()> {
        if let Room::File { file, path, length } = self {
            let is_full = AtomicBool::new(false);
            let file = &*file;
            let pool = if cfg!(unix) { pool } else { &Pool::none() };
            // Most of the time goes into the first write to each page.
            pool.each(bytes.len().div_ceil(WRITTEN), |part| {
                let from = part * WRITTEN;
                let some = &bytes[from..bytes.len().min(from + WRITTEN)];
                if write_at(file, some, (at + from) as u64).is_err() {
                    is_full.store(true, Ordering::Relaxed);
                }
            });
            if !is_full.into_inner() {
                return Ok(());
            }
            let mut own = memory::zeros(*length as usize, Use::Level)?;
            // Bytes that were never written read as zeros: a file without room for bytes has no room for these either.
            let is_read = read_at(file, &mut own, 0);
            let _ = std::fs::remove_file(path);
            if is_read.is_err() {
                return Err(Use::Level.error(*length as usize));
            }
            *self = Room::Memory(own);
        }
        if let Room::Memory(own) = self {
            own[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_aside_is_taken_once() {
        let Some(folder) = AnswerFolder::open(100) else { return };
        let told = folder.to_bytes().unwrap();
        let place = Place::of_bytes(&told).unwrap();
        (0..told.len()).for_each(|cut| assert!(Place::of_bytes(&told[..cut]).is_none()));
        // The token does not match, as for a rank that sees another folder of this name.
        let mut other = told.clone();
        let at = other.len() - 9;
        other[at] ^= 1;
        assert!(Place::of_bytes(&other).is_none());
        let mut room = Room::new(Some(&place), 5, 300).unwrap();
        room.write(100, &[7; 200], &Pool::none()).unwrap();
        room.write(0, &[3; 50], &Pool::none()).unwrap();
        assert!(matches!(room, Room::File { length: 300, .. }));
        drop(room);
        assert!(folder.take(6, 300).is_none());
        let found = folder.take(5, 300).unwrap();
        assert!(found[..50].iter().all(|&b| b == 3) && found[50..100].iter().all(|&b| b == 0));
        assert!(found[100..].iter().all(|&b| b == 7));
        assert!(folder.take(5, 300).is_none());
        // Small answers, and answers of ranks elsewhere, stay in memory.
        for (place, length) in [(Some(&place), 99), (None, 300), (Some(&place), 0)] {
            assert!(matches!(Room::new(place, 6, length).unwrap(), Room::Memory(own) if own.len() == length));
        }
        // The file has another length than the message says.
        drop(Room::new(Some(&place), 7, 300).unwrap());
        assert!(folder.take(7, 299).is_none());
        let path = folder.path.clone();
        assert!(path.exists());
        drop(folder);
        assert!(!path.exists());
        // A rank that comes too late answers from memory.
        assert!(matches!(Room::new(Some(&place), 8, 300).unwrap(), Room::Memory(_)));
    }

    #[test]
    fn what_killed_drivers_left_goes_and_nothing_else() {
        let Some(space) = space_of_processes().filter(|_| Path::new(MEMORY).exists()) else { return };
        let folder = |space: &str, process: u32| {
            let folder = Path::new(MEMORY).join(format!("{NAME}{space}-{process}-0-tests"));
            std::fs::create_dir_all(&folder).unwrap();
            folder
        };
        // No process has such a number.
        let (dead, live, elsewhere) =
            (folder(&space, u32::MAX), folder(&space, std::process::id()), folder("17", u32::MAX));
        clear(&space);
        assert_eq!([&dead, &live, &elsewhere].map(|folder| folder.exists()), [false, true, true]);
        [live, elsewhere].iter().for_each(|folder| std::fs::remove_dir(folder).unwrap());
    }

    #[test]
    fn what_finds_no_room_there_comes_back_to_memory() {
        let Some(folder) = AnswerFolder::open(0) else { return };
        let place = Place::of_bytes(&folder.to_bytes().unwrap()).unwrap();
        let Room::File { file, path, length } = Room::new(Some(&place), 1, 20).unwrap() else { panic!("no file") };
        write_at(&file, &[5; 10], 0).unwrap();
        // The file can no longer be written.
        let file = File::open(&path).unwrap();
        let mut room = Room::File { file, path: path.clone(), length };
        room.write(10, &[6; 10], &Pool::none()).unwrap();
        let Room::Memory(own) = room else { panic!("in a file") };
        assert_eq!(own, [[5; 10], [6; 10]].concat());
        assert!(!path.exists());
    }
}
