//! The observer between driver and caller: it keeps what it is handed, and ends a search whose time is over.

use std::path::Path;
use std::time::Instant;

use super::asked::{self, Asked};
use super::state::State;
use super::{file, Checkpoint, Limits};
use crate::observer::{Observer, WriteState};
use crate::search::{Largest, Options};
use crate::{Error, Result};

/// A file that is written now and then.
struct Kept<'o> {
    checkpoint: &'o Checkpoint,
    asked: Vec<Asked>,
    written: Instant,
    /// Why the last file could not be written.
    failed: Option<String>,
}

/// Follows a search for an observer, within limits.
pub(in crate::search) struct Keeper<'o> {
    observer: &'o mut dyn Observer,
    kept: Option<Kept<'o>>,
    /// None: there is none any more.
    limits: Option<&'o Limits>,
    /// Whether it has ended the search.
    is_over: bool,
    /// What the driver has counted; without what was found.
    done: State,
}

impl<'o> Keeper<'o> {
    pub fn new(observer: &'o mut dyn Observer, limits: &'o Limits, options: &Options, largest: &Largest) -> Self {
        let kept = limits.checkpoint.as_ref().map(|checkpoint| {
            let asked = asked::all(options, largest, &checkpoint.asked);
            Kept { checkpoint, asked, written: Instant::now(), failed: None }
        });
        let done = State { levels: 0, tests: Vec::new(), exact_tests: 0, go_on: true, found: None, within: None };
        Keeper { observer, kept, limits: Some(limits), is_over: false, done }
    }

    /// What the driver has counted.
    pub fn done(&mut self) -> &mut State {
        &mut self.done
    }

    /// Reads the file, or makes one, so that the caller learns now that it cannot be.
    pub fn open(&mut self, options: &Options, largest: &mut Largest) -> Result<Option<State>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        let file = &kept.checkpoint.file;
        if let Some(state) = file::read(file, &kept.asked, options, largest)? {
            if state.levels > 0 || state.within.is_some() {
                self.observer.resumed(state.levels, state.within.is_some())?;
            }
            return Ok(Some(state));
        }
        file::write(file, &kept.asked, &self.done, &mut |_| Ok(()))
            .map_err(|error| unwritten(file, &error.to_string()))?;
        Ok(None)
    }

    /// Reads the file of a search that has no levels, or makes one: what was kept of it.
    pub fn open_table(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        let file = &kept.checkpoint.file;
        let table = file::read_table(file, &kept.asked)?.filter(|table| !table.is_empty());
        if table.is_none() {
            file::write(file, &kept.asked, &self.done, &mut |_| Ok(()))
                .map_err(|error| unwritten(file, &error.to_string()))?;
        }
        Ok(table)
    }

    /// Whether an error is that the time is over. Workers may make another of it on its way.
    pub fn is_over(&self, error: &Error) -> bool {
        self.is_over && matches!(error, Error::TimeLimit { .. } | Error::Interrupted)
    }

    /// From here on there is no limit: what is left is little.
    pub fn lift(&mut self) {
        self.limits = None;
    }

    /// Why the file is not what it should be, where it is not.
    pub fn unwritten(&self) -> Option<Error> {
        let kept = self.kept.as_ref()?;
        kept.failed.as_ref().map(|reason| unwritten(&kept.checkpoint.file, reason))
    }

    fn watch(&mut self, told: Result<()>) -> Result<()> {
        told?;
        let in_time = self.limits.map_or(Ok(()), Limits::look);
        self.is_over |= in_time.is_err();
        in_time
    }
}

fn unwritten(file: &Path, reason: &str) -> Error {
    let mend = "give a file in a folder that is there, may be written to and has room";
    file::failure("write", file, format!("cannot be written ({reason})"), mend)
}

impl Observer for Keeper<'_> {
    fn level(&mut self, level: usize, edges: usize) -> Result<()> {
        let told = self.observer.level(level, edges);
        self.watch(told)
    }

    fn preparing(&mut self, share: f64) -> Result<()> {
        let told = self.observer.preparing(share);
        self.watch(told)
    }

    fn progress(&mut self, level: usize, done: f64, total: f64) -> Result<()> {
        let told = self.observer.progress(level, done, total);
        self.watch(told)
    }

    fn look(&mut self) -> Result<()> {
        let told = self.observer.look();
        self.watch(told)
    }

    fn visiting(&mut self, number: usize, visits: usize) -> Result<()> {
        self.observer.visiting(number, visits)
    }

    fn possible_d_sep(&mut self, edges: usize, most_tests: f64) -> Result<()> {
        self.observer.possible_d_sep(edges, most_tests)
    }

    fn says(&self) -> bool {
        self.observer.says()
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.observer.say(text)
    }

    fn separated(&mut self, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
        self.observer.separated(x, y, s, p)
    }

    fn tested(&mut self, x: usize, y: usize, s: &[u32], p: f64) -> Result<()> {
        self.observer.tested(x, y, s, p)
    }

    fn keeps(&self) -> bool {
        self.kept.is_some() || self.limits.is_some_and(|limits| limits.deadline.is_some())
    }

    fn is_due(&self, ending: bool) -> bool {
        self.kept.as_ref().is_some_and(|kept| ending || kept.written.elapsed() >= kept.checkpoint.every)
    }

    /// A file that cannot be written later on is no reason to give up what has run for hours: the caller is told at the end.
    fn keep(&mut self, write: &mut WriteState) -> Result<()> {
        if let Some(kept) = &mut self.kept {
            let written = file::write(&kept.checkpoint.file, &kept.asked, &self.done, write);
            kept.failed = written.err().map(|error| error.to_string());
            kept.written = Instant::now();
        }
        Ok(())
    }
}
