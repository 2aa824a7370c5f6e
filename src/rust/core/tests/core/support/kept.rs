//! Searches that are kept: their files, and observers that see them and stop them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::answer::{Answer, Digits};
use pcgpu_core::observer::Observer;
use pcgpu_core::search::checkpoint::{Asked, Checkpoint, Limits};
use pcgpu_core::{Error, Result};

/// A file of this test alone, which goes with it.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // In memory, where there is such a folder: thousands of files wait for a disk.
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Place(folder.join(format!("pcgpu-checkpoint-{}-{number}", std::process::id())))
    }

    pub fn limits(&self, every: Duration) -> Limits {
        let asked = vec![Asked::word("suffStat", "some")];
        Limits { checkpoint: Some(Checkpoint { every, ..Checkpoint::new(&self.0, asked) }), deadline: None }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[track_caller]
pub fn same(label: &str, found: &Result<Answer>, wanted: &Result<Answer>) {
    compare(label, found, wanted, Digits::All);
}

#[track_caller]
pub fn compare(label: &str, found: &Result<Answer>, wanted: &Result<Answer>, digits: Digits) {
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => {
            let difference = found.difference(wanted, digits);
            assert!(difference.is_none(), "{label}: {}", difference.unwrap_or_default());
        }
        (found, wanted) => assert_eq!(found.as_ref().err(), wanted.as_ref().err(), "{label}"),
    }
}

/// Collects every file that a search leaves.
pub struct Collect<'f> {
    pub file: &'f Path,
    pub states: Vec<Vec<u8>>,
}

impl Collect<'_> {
    fn see(&mut self) -> Result<()> {
        let now = fs::read(self.file).unwrap();
        if self.states.last() != Some(&now) {
            self.states.push(now);
        }
        Ok(())
    }
}

impl Observer for Collect<'_> {
    fn level(&mut self, _level: usize, _edges: usize) -> Result<()> {
        self.see()
    }

    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.see()
    }

    fn look(&mut self) -> Result<()> {
        self.see()
    }
}

/// From where a search went on.
#[derive(Default)]
pub struct Told(pub Option<(usize, bool)>);

impl Observer for Told {
    fn resumed(&mut self, levels: usize, within: bool) -> Result<()> {
        self.0 = Some((levels, within));
        Ok(())
    }
}

/// The seconds that a search gets which is to be at work in a level when they are over, where all before that level took so long: a busy machine gives
/// longer.
pub fn allowed(before: Duration) -> f64 {
    0.03 + 3.0 * before.as_secs_f64()
}

/// Has the time pass at a level: as it begins, or after so many looks within it.
pub struct Late {
    pub level: usize,
    pub looks: Option<usize>,
    pub until: Instant,
    pub now: usize,
    pub stops: bool,
}

impl Late {
    fn pass(&mut self) -> Result<()> {
        if self.stops {
            return Err(Error::Interrupted);
        }
        std::thread::sleep(self.until.saturating_duration_since(Instant::now()));
        Ok(())
    }
}

impl Observer for Late {
    fn level(&mut self, level: usize, _edges: usize) -> Result<()> {
        self.now = level;
        if level == self.level && self.looks.is_none() {
            return self.pass();
        }
        Ok(())
    }

    fn progress(&mut self, level: usize, _done: f64, _total: f64) -> Result<()> {
        match (level == self.level, &mut self.looks) {
            (true, Some(0)) => self.pass(),
            (true, Some(looks)) => {
                *looks -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
