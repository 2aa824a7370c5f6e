//! The file of a checkpoint: `MAGIC`, the number of its form, a [head](super::bytes::head), a state, and the 128-bit XXH3 of all that.
//!
//! In every form, the magic and the number come first and the digest last. So any version can tell which files are of another version, and
//! which are damaged.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::{xxh3_128, Xxh3};

use super::asked::{self, Asked};
use super::bytes::{head, read_done, read_head, read_state};
use super::state::State;
use crate::memory::{self, Use};
use crate::search::wire::Reader;
use crate::search::{Largest, Options};
use crate::{reason, shown, Error, Result};

const MAGIC: &[u8; 8] = b"pcgpuCHK";
const FORM: u64 = 3;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A writer that also computes the digest of what it writes.
struct Digested<W> {
    out: W,
    digest: Xxh3,
}

impl<W: Write> Write for Digested<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the name under which a file is written before it replaces the other. No other process has that name, on this machine or another.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(format!(".{:016x}{PART}", number(&RandomState::new(), std::process::id())));
    name.into()
}

/// Returns a number that hardly any other process has. Forks have their parent's keys, and draw the same numbers from them.
fn number(keys: &RandomState, process: u32) -> u64 {
    keys.hash_one(process)
}

const PART: &str = ".part";

/// A live process writes to its unfinished file more often than this.
const LEFT: Duration = Duration::from_secs(600);

/// Removes unfinished files of processes that were killed while they wrote.
fn sweep(file: &Path) {
    let Some(name) = file.file_name().map(|name| [name.as_encoded_bytes(), b"."].concat()) else { return };
    for entry in fs::read_dir(folder_of(file)).into_iter().flatten().flatten() {
        let digits = |bytes: &[u8]| bytes.len() == 16 && bytes.iter().all(u8::is_ascii_hexdigit);
        let other = entry.file_name();
        let middle =
            other.as_encoded_bytes().strip_prefix(&name[..]).and_then(|rest| rest.strip_suffix(PART.as_bytes()));
        let age = || entry.metadata().and_then(|about| about.modified()).ok()?.elapsed().ok();
        if middle.is_some_and(digits) && age().is_some_and(|age| age > LEFT) {
            // Another process may do the same.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Replaces a file as a whole. A process that is killed at any time leaves a complete file, the old one or the new one.
pub(super) fn write(
    file: &Path,
    asked: &[Asked],
    done: &State,
    state: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let part = beside(file);
    let written = write_whole(&part, &head(VERSION, asked, done), state).and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        let _ = fs::remove_file(&part);
        return written;
    }
    // The new name must outlive a crash of the system, too. On systems where folders cannot be opened, this cannot be requested.
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder_of(file)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_whole(part: &Path, head: &[u8], state: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let out = BufWriter::with_capacity(1 << 18, File::create_new(part)?);
    let mut out = Digested { out, digest: Xxh3::new() };
    out.write_all(MAGIC)?;
    out.write_all(&FORM.to_le_bytes())?;
    out.write_all(head)?;
    state(&mut out)?;
    let digest = out.digest.digest128();
    out.write_all(&digest.to_le_bytes())?;
    out.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Removes a file, and unfinished files next to it.
pub(super) fn remove(file: &Path) {
    // The file may not exist.
    let _ = fs::remove_file(file);
    sweep(file);
}

/// Returns a checkpoint error of this kind.
pub(super) fn failure(kind: &'static str, file: &Path, reason: impl Into<String>, hint: &str) -> Error {
    Error::Checkpoint { kind, file: file.display().to_string(), reason: reason.into(), hint: hint.into() }
}

const ANOTHER: &str = "give another file, or delete this one to start again";

/// A file of this version and of these arguments: its bytes, and the range of them after the head.
struct Opened {
    bytes: Vec<u8>,
    rest: Range<usize>,
}

/// Reads the state in a file, and puts its p-values into `largest`. `None` if there is no file.
pub(super) fn read(file: &Path, asked: &[Asked], options: &Options, largest: &mut Largest) -> Result<Option<State>> {
    let Some(Opened { bytes, rest }) = open(file, asked)? else { return Ok(None) };
    let state = read_state(&mut Reader(&bytes[rest]), options, largest)?.ok_or_else(|| damaged(file))?;
    if !state.is_allowed(options) {
        let begun = state.levels + usize::from(state.within.is_some());
        let reason = format!("contains level {}, but `m.max` is {}", begun - 1, shown(options.m_max));
        return Err(failure("arguments", file, reason, "give an `m.max` of at least this level, or another file"));
    }
    Ok(Some(state))
}

/// Reads a file that holds no state of a search by levels. Returns the bytes that were written after `done`, or `None` if there is no file.
pub(super) fn read_table(file: &Path, asked: &[Asked]) -> Result<Option<Vec<u8>>> {
    let Some(Opened { bytes, rest }) = open(file, asked)? else { return Ok(None) };
    let mut rest = Reader(&bytes[rest]);
    read_done(&mut rest).ok_or_else(|| damaged(file))?;
    Ok(Some(rest.0.to_vec()))
}

fn damaged(file: &Path) -> Error {
    failure("damaged", file, "is damaged", ANOTHER)
}

fn open(file: &Path, asked: &[Asked]) -> Result<Option<Opened>> {
    let unreadable = |error: io::Error| failure("read", file, format!("cannot be read ({})", reason(&error)), ANOTHER);
    let bytes = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        // Opening a pipe would wait for its writer.
        Ok(about) if !about.is_file() => {
            return Err(failure("other_file", file, "is not a regular file", "give the name of a new file"));
        }
        Ok(about) => {
            memory::room(usize::try_from(about.len()).unwrap_or(usize::MAX), Use::Pairs)?;
            fs::read(file).map_err(unreadable)?
        }
    };
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(failure("other_file", file, "is not a checkpoint of pcgpu", "give the name of a new file"));
    };
    let (whole, digest) = bytes.split_at_checked(bytes.len().saturating_sub(16)).ok_or_else(|| damaged(file))?;
    if whole.len() < MAGIC.len() || xxh3_128(whole).to_le_bytes() != digest {
        return Err(damaged(file));
    }
    let mut rest = Reader(&rest[..rest.len() - 16]);
    let of_version = |version: &str| {
        let reason = format!("was written by pcgpu {version}, but this is pcgpu {VERSION}");
        failure("version", file, reason, "continue with that version, or delete the file to start again")
    };
    if rest.number() != Some(FORM) {
        return Err(of_version("of an unknown version"));
    }
    let (version, of_file) = read_head(&mut rest).ok_or_else(|| damaged(file))?;
    if version != VERSION {
        return Err(of_version(&version));
    }
    if let Some(difference) = asked::difference(&of_file, asked) {
        return Err(failure("arguments", file, format!("belongs to another search ({difference})"), ANOTHER));
    }
    let end = bytes.len() - 16;
    let rest = end - rest.0.len()..end;
    Ok(Some(Opened { bytes, rest }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn a_fork_has_names_of_its_own() {
        let keys = RandomState::new();
        assert_ne!(number(&keys, 100), number(&keys, 101));
        assert_ne!(beside(Path::new("a")), beside(Path::new("a")));
    }

    #[test]
    fn what_a_killed_process_has_left_goes_some_minutes_later() {
        let folder = std::env::temp_dir().join(format!("pcgpu-sweep-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a");
        let hour = Duration::from_secs(3600);
        let [old, new] = [beside(&file), beside(&file)];
        let others = ["a", "a.part", "a.b.part", "b.0123456789abcdef.part"].map(|name| folder.join(name));
        for (path, age) in others.iter().map(|path| (path, hour)).chain([(&old, hour), (&new, Duration::ZERO)]) {
            File::create(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
        sweep(&file);
        assert!(!old.exists() && new.exists() && others.iter().all(|path| path.exists()));
        remove(&file);
        assert!(!file.exists() && new.exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
