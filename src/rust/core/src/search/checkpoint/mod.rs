//! Searches that are kept on the way, gone on with later, and ended when their time is over.
//!
//! * `state`: what a search knows after a level or in the middle of one; `bytes`: that as bytes; `file`: these in a file, which is replaced as a
//!   whole.
//! * `keeper`: the observer between driver and caller, which says when something is due and ends a search whose time is over.
//! * `asked`: what the answer depends on; a file of other data or arguments is refused.
//! * `later`: answers to the tests that a call asks after its search.
//!
//! At the end of a level the driver has the search hand over its state. In the middle of one, orders of visiting hand over what
//! is decided: the columns of level 0, the shards of a work that is cut, or how far visits have come that are made one after the other.
//! All that was raised of the largest p-values stays: to raise one again changes nothing.

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

/// Bounds of a search, and where it is kept.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Where to keep it.
    pub checkpoint: Option<Checkpoint>,
    /// When to end it, and after how many seconds that is.
    pub deadline: Option<(Instant, f64)>,
}

impl Limits {
    /// Ends of the names of files for what follows a search: the possible-d-sep phase, and tests after that.
    pub(super) const PHASE: &'static str = ".pdsep";
    const LATER: &'static str = ".later";

    /// Those of what follows a search, with a file of its own, which depends on `more`.
    pub(super) fn beside(&self, end: &str, more: Option<Asked>) -> Self {
        let beside = |checkpoint: &Checkpoint| {
            let mut asked = checkpoint.asked.clone();
            asked.extend(more.clone());
            Checkpoint { file: checkpoint.beside(end), asked, ..*checkpoint }
        };
        Limits { checkpoint: self.checkpoint.as_ref().map(beside), deadline: self.deadline }
    }

    /// [`Error::TimeLimit`](crate::Error) once the time is over.
    pub fn look(&self) -> crate::Result<()> {
        match self.deadline {
            Some((at, seconds)) if Instant::now() >= at => Err(crate::Error::TimeLimit { seconds }),
            _ => Ok(()),
        }
    }
}

/// The file that a search is kept in, and gone on from where it is there.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file.
    pub file: PathBuf,
    /// Within a level it is written so often.
    pub every: Duration,
    /// What the answer depends on in addition to [`Options`](super::Options): the test and its data.
    pub asked: Vec<Asked>,
    /// Digest of what the tests after the search depend on in addition to that: rules, background knowledge.
    pub later: u128,
}

impl Checkpoint {
    /// Time between two files in the middle of a level, unless the caller wants another.
    pub const EVERY: Duration = Duration::from_secs(120);

    /// Kept in this file.
    pub fn new(file: impl Into<PathBuf>, asked: Vec<Asked>) -> Self {
        Checkpoint { file: file.into(), every: Self::EVERY, asked, later: 0 }
    }

    /// Removes the files of a call that has handed over its answer.
    pub fn remove(&self) {
        // That of the search last: the others are of no use without it.
        [Limits::LATER, Limits::PHASE].iter().for_each(|end| file::remove(&self.beside(end)));
        file::remove(&self.file);
    }

    /// A file whose name is that of the search's and this end.
    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.file.as_os_str().to_os_string();
        name.push(end);
        name.into()
    }
}
