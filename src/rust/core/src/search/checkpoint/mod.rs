//! Searches that are saved on the way, resumed later, and ended when their time is over.
//!
//! * `state`: what a search knows after a level or in the middle of one; `bytes`: the state as bytes; `file`: the bytes in a file, which is
//!   replaced as a whole.
//! * `keeper`: the observer between driver and caller, which decides when to save, and ends a search whose time is over.
//! * `asked`: what the answer depends on; a file of other data or arguments is refused.
//! * `later`: answers to the tests that a call asks after its search.
//!
//! At the end of a level the driver has the search hand over its state. In the middle of a level, orders of visiting hand over what is
//! decided: the columns of level 0, the shards of a work that is cut, or how far visits have come if they run one after the other.
//! Largest p-values that were raised stay: to raise one again changes nothing.

mod asked;
mod bytes;
mod file;
mod keeper;
mod later;
mod state;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use asked::{Asked, Digest};
pub(super) use bytes::write_view;
pub(super) use keeper::Keeper;
pub use later::Later;
pub(super) use state::{ClosedColumn, Cut, DoneColumn, DoneShards, Mark, Part, State, View, OVER};
pub use state::{Found, Within};

/// The limits of a search, and where to save it.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Where to save the search.
    pub checkpoint: Option<Checkpoint>,
    /// When to end the search, and the time limit in seconds.
    pub deadline: Option<(Instant, f64)>,
}

impl Limits {
    /// Endings of the names of files for what follows a search: the possible-d-sep phase, and tests after that.
    pub(super) const PHASE: &'static str = ".pdsep";
    const LATER: &'static str = ".later";

    /// Returns the limits of a step after the search. Its checkpoint has a file of its own, and also depends on `more`.
    pub(super) fn beside(&self, end: &str, more: Option<Asked>) -> Self {
        let beside = |checkpoint: &Checkpoint| {
            let mut asked = checkpoint.asked.clone();
            asked.extend(more.clone());
            Checkpoint { file: checkpoint.beside(end), asked, ..*checkpoint }
        };
        Limits { checkpoint: self.checkpoint.as_ref().map(beside), deadline: self.deadline }
    }

    /// Returns [`Error::TimeLimit`](crate::Error) once the time is over.
    pub fn look(&self) -> crate::Result<()> {
        match self.deadline {
            Some((at, seconds)) if Instant::now() >= at => Err(crate::Error::TimeLimit { seconds }),
            _ => Ok(()),
        }
    }
}

/// The file that a search is saved in, and resumed from if it exists.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file.
    pub file: PathBuf,
    /// How often the file is written within a level.
    pub every: Duration,
    /// What the answer depends on in addition to [`Options`](super::Options): the test and its data.
    pub asked: Vec<Asked>,
    /// Digest of what the tests after the search depend on besides `asked`: rules, background knowledge.
    pub later: u128,
}

impl Checkpoint {
    /// Default time between two writes of the file in the middle of a level.
    pub const EVERY: Duration = Duration::from_secs(120);

    /// Makes a checkpoint in this file, with the default interval.
    pub fn new(file: impl Into<PathBuf>, asked: Vec<Asked>) -> Self {
        Checkpoint { file: file.into(), every: Self::EVERY, asked, later: 0 }
    }

    /// Removes the files of a call that has handed over its answer.
    pub fn remove(&self) {
        // The search's file goes last: the others are of no use without it.
        [Limits::LATER, Limits::PHASE].iter().for_each(|end| file::remove(&self.beside(end)));
        file::remove(&self.file);
    }

    /// Returns the name of the search's file with an ending.
    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.file.as_os_str().to_os_string();
        name.push(end);
        name.into()
    }
}
