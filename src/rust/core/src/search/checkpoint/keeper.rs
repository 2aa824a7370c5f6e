//! The observer between driver and caller: it saves the states that it gets, and ends a search whose time is over.

use std::path::Path;
use std::time::Instant;

use super::asked::{self, Asked};
use super::state::State;
use super::{file, Checkpoint, Limits};
use crate::observer::{Observer, WriteState};
use crate::search::{Largest, Options};
use crate::{reason, Error, Result};

/// Seconds after which the duration of a level can be estimated.
const FIRST_LOOK: f64 = 0.1;

/// A level takes long if it has more seconds left than `MORE` plus `AGAIN` times the seconds of the earlier levels. Several machines must
/// run those again, and send all results to the host. What is left is overestimated at first. (Dense graphs of 20,000 variables on one and on
/// two H200: 0.57 and 0.68 s, 0.95 and 1.06 s if one began.)
const MORE: f64 = 2.0;
const AGAIN: f64 = 6.0;

/// A checkpoint file that is written from time to time.
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
    /// `None`: there is no limit any more.
    limits: Option<&'o Limits>,
    /// Whether the keeper has ended the search.
    is_over: bool,
    /// When the search and its level began, while one machine runs the search and others might help.
    alone: Option<(Instant, Instant)>,
    /// Whether a level takes so long that the others should help.
    is_long: bool,
    /// Numbers of levels that were announced to the observer, whose end was reported to it, and that run a second time.
    levels_told: usize,
    levels_ended: usize,
    levels_again: usize,
    /// The driver's counts, without its findings.
    done: State,
}

impl<'o> Keeper<'o> {
    pub fn new(observer: &'o mut dyn Observer, limits: &'o Limits, options: &Options, largest: &Largest) -> Self {
        let kept = limits.checkpoint.as_ref().map(|checkpoint| {
            let asked = asked::all(options, largest, &checkpoint.asked);
            Kept { checkpoint, asked, written: Instant::now(), failed: None }
        });
        let done = State::none();
        Keeper {
            observer,
            kept,
            limits: Some(limits),
            is_over: false,
            done,
            alone: None,
            is_long: false,
            levels_told: 0,
            levels_ended: 0,
            levels_again: 0,
        }
    }

    /// Notes that a search begins on one machine. If others might help, a level that takes long ends it.
    pub fn begin_alone(&mut self, has_helpers: bool) {
        self.alone = has_helpers.then(|| (Instant::now(), Instant::now()));
    }

    /// Prepares for the search to begin again. Returns whether it ended because a level takes long.
    pub fn begin_again(&mut self) -> bool {
        self.alone = None;
        self.levels_again = std::mem::replace(&mut self.done, State::none()).levels;
        std::mem::take(&mut self.is_long)
    }

    /// Reports the end of a level, unless its machines have.
    pub fn end_level(&mut self, level: usize) -> Result<()> {
        match level < self.levels_ended {
            true => Ok(()),
            // The limits end the next level.
            false => self.observer.progress(level, 1.0, 1.0),
        }
    }

    /// Returns the driver's counts.
    pub fn done(&mut self) -> &mut State {
        &mut self.done
    }

    /// Reads the file, or creates it, so that the caller learns at once if that is impossible.
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
            .map_err(|error| unwritten(file, &reason(&error)))?;
        Ok(None)
    }

    /// Reads the file of a search that has no levels, or creates it. Returns the bytes that an earlier call saved.
    pub fn open_table(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        let file = &kept.checkpoint.file;
        let table = file::read_table(file, &kept.asked)?.filter(|table| !table.is_empty());
        if table.is_none() {
            file::write(file, &kept.asked, &self.done, &mut |_| Ok(()))
                .map_err(|error| unwritten(file, &reason(&error)))?;
        }
        Ok(table)
    }

    /// Returns whether the error means that the time is over. Workers may turn that error into another on the way.
    pub fn is_over(&self, error: &Error) -> bool {
        self.is_over && matches!(error, Error::TimeLimit { .. } | Error::Interrupted)
    }

    /// Lifts all limits: little is left to do.
    pub fn lift(&mut self) {
        (self.limits, self.alone) = (None, None);
    }

    /// Returns why the file is not up to date, if it is not.
    pub fn unwritten(&self) -> Option<Error> {
        let kept = self.kept.as_ref()?;
        kept.failed.as_ref().map(|reason| unwritten(&kept.checkpoint.file, reason))
    }

    /// Ends the search on one machine if several would finish the level sooner. `share`: the finished share of the level, if known.
    fn hurry(&mut self, share: Option<f64>) -> Result<()> {
        let Some((began, level)) = self.alone else { return Ok(()) };
        let elapsed = level.elapsed().as_secs_f64();
        // If the share is unknown, the level is expected to take as long again.
        let left = share.map_or(elapsed, |share| elapsed * (1.0 - share) / share.max(1e-9));
        let before = level.duration_since(began).as_secs_f64();
        self.is_long |= elapsed > FIRST_LOOK && left > MORE + AGAIN * before;
        match self.is_long {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }

    fn watch(&mut self, told: Result<()>) -> Result<()> {
        told?;
        let in_time = self.limits.map_or(Ok(()), Limits::look);
        self.is_over |= in_time.is_err();
        in_time
    }
}

fn unwritten(file: &Path, reason: &str) -> Error {
    let hint = "give a file in an existing folder with write permission and free space";
    file::failure("write", file, format!("cannot be written ({reason})"), hint)
}

impl Observer for Keeper<'_> {
    fn level(&mut self, level: usize, edges: usize) -> Result<()> {
        if let Some((_, since)) = &mut self.alone {
            *since = Instant::now();
        }
        if level < self.levels_told {
            return self.look();
        }
        self.levels_told = level + 1;
        let told = self.observer.level(level, edges);
        self.watch(told)
    }

    fn preparing(&mut self, share: f64) -> Result<()> {
        let told = self.observer.preparing(share);
        self.watch(told)
    }

    fn progress(&mut self, level: usize, done: f64, total: f64) -> Result<()> {
        if level < self.levels_again {
            return self.look();
        }
        if done >= total {
            self.levels_ended = self.levels_ended.max(level + 1);
        }
        let told = self.observer.progress(level, done, total);
        self.watch(told)?;
        self.hurry(Some(done / total.max(f64::MIN_POSITIVE)))
    }

    fn look(&mut self) -> Result<()> {
        let told = self.observer.look();
        self.watch(told)?;
        self.hurry(None)
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

    /// Saves a state. If the file cannot be written, the search continues, and the caller learns of it at the end: hours of work are not
    /// given up.
    fn keep(&mut self, write: &mut WriteState) -> Result<()> {
        if let Some(kept) = &mut self.kept {
            let written = file::write(&kept.checkpoint.file, &kept.asked, &self.done, write);
            kept.failed = written.err().map(|error| reason(&error));
            kept.written = Instant::now();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    /// What an observer was notified of.
    #[derive(Default)]
    struct Told(Vec<(usize, f64)>);

    impl Observer for Told {
        fn level(&mut self, level: usize, edges: usize) -> Result<()> {
            self.0.push((level, edges as f64));
            Ok(())
        }

        fn progress(&mut self, level: usize, done: f64, _total: f64) -> Result<()> {
            self.0.push((level, done));
            Ok(())
        }
    }

    #[test]
    fn a_long_level_ends_a_search_that_others_may_help_and_nothing_is_told_twice() {
        let (mut told, limits, options) = (Told::default(), Limits::default(), Options::new(3, 0.05));
        let mut values = [0.0; 9];
        let mut keeper = Keeper::new(&mut told, &limits, &options, &Largest::from(&mut values[..]));
        for has_helpers in [false, true] {
            keeper.begin_alone(has_helpers);
            keeper.level(0, 3).unwrap();
            keeper.progress(0, 1.0, 1.0).unwrap();
            keeper.done().levels = 1;
            keeper.level(1, 2).unwrap();
            keeper.progress(1, 0.1, 100.0).unwrap();
            sleep(Duration::from_secs_f64(1.2 * FIRST_LOOK));
            // Little is left of it.
            keeper.progress(1, 90.0, 100.0).unwrap();
            let outcome = keeper.progress(1, 1.0, 100.0);
            assert_eq!(outcome, if has_helpers { Err(Error::Interrupted) } else { Ok(()) });
            assert_eq!(keeper.begin_again(), has_helpers);
        }
        // Now by shards, however long that takes.
        keeper.level(0, 3).unwrap();
        keeper.progress(0, 0.5, 1.0).unwrap();
        keeper.level(1, 2).unwrap();
        sleep(Duration::from_secs_f64(1.2 * FIRST_LOOK));
        keeper.progress(1, 2.0, 100.0).unwrap();
        let of_level_1 = [(1, 0.1), (1, 90.0), (1, 1.0)];
        let first = [(0, 3.0), (0, 1.0), (1, 2.0)];
        assert_eq!(told.0, [&first[..], &of_level_1, &of_level_1, &[(1, 2.0)]].concat());
    }
}
