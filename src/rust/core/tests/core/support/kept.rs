//! Helpers for searches with checkpoints: their files, and observers that watch and stop them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::answer::{Answer, Digits};
use pcgpu_core::observer::Observer;
use pcgpu_core::search::checkpoint::{Asked, Checkpoint, Limits};
use pcgpu_core::{Error, Result};

/// The path of a checkpoint for one test. Dropping it deletes the file.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // In memory if there is such a folder, because thousands of files on a disk take long.
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

/// An observer that collects every state of the file that a search writes.
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

/// An observer that keeps the report of where a search resumed: how many levels had run, and whether it was within the next.
#[derive(Default)]
pub struct Told(pub Option<(usize, bool)>);

impl Observer for Told {
    fn resumed(&mut self, levels: usize, within: bool) -> Result<()> {
        self.0 = Some((levels, within));
        Ok(())
    }
}

/// Returns a time limit in seconds, meant to expire within a level if everything before that level took `before`. A busy machine thus gets a
/// longer limit.
pub fn allowed(before: Duration) -> f64 {
    0.03 + 3.0 * before.as_secs_f64()
}

/// An observer that lets time pass at a level: when it begins or, if `looks` is given, after this many calls of `progress()` within it.
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
