//! A search that goes on in parts where the card's memory turns out not to hold what it needs.

use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::checkpoint::{Found, Within};
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::{Error, Result};

/// A search with all that it needs on the card.
pub(in crate::engine::cuda) trait Whole: Levels {
    /// [`Levels::finish`], after which it can still be given up.
    fn end(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A search that is given up.
pub(in crate::engine::cuda) struct GivenUp<W> {
    pub search: W,
    /// How many levels have run.
    pub levels: usize,
    /// Whether what they found can still be brought.
    pub is_whole: bool,
}

/// A search in parts that takes the place of another.
pub(in crate::engine::cuda) struct Parts<'s> {
    pub search: Box<dyn Levels + 's>,
    /// How many levels, from 0 on, are to run again.
    pub again: usize,
}

type GoOver<'s, W> = dyn FnOnce(GivenUp<W>, &mut dyn Observer) -> Result<Parts<'s>> + 's;

/// A search that is whole as long as it can be.
pub(in crate::engine::cuda) struct Fallback<'s, W> {
    running: Running<'s, W>,
    levels: usize,
}

enum Running<'s, W> {
    Whole(W, Box<GoOver<'s, W>>),
    Parts(Box<dyn Levels + 's>),
    /// It could not go on.
    Ended(Error),
}

/// An observer that is asked whether to stop, and told nothing: of levels that it has been told of.
struct Quiet<'o>(&'o mut dyn Observer);

impl Observer for Quiet<'_> {
    fn look(&mut self) -> Result<()> {
        self.0.look()
    }

    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.0.look()
    }
}

impl<'s, W: Whole> Fallback<'s, W> {
    /// `go_over` makes of the search one in parts.
    pub fn new(search: W, go_over: impl FnOnce(GivenUp<W>, &mut dyn Observer) -> Result<Parts<'s>> + 's) -> Self {
        Fallback { running: Running::Whole(search, Box::new(go_over)), levels: 0 }
    }

    /// Goes over to parts, after `short` had been returned.
    fn change(&mut self, short: Error, is_whole: bool, observer: &mut dyn Observer) -> Result<()> {
        let running = std::mem::replace(&mut self.running, Running::Ended(short));
        let Running::Whole(search, go_over) = running else {
            self.running = running;
            return Ok(());
        };
        let Parts { mut search, again } = go_over(GivenUp { search, levels: self.levels, is_whole }, observer)?;
        for before in 0..again {
            search.level(before, &mut Quiet(observer))?;
        }
        self.running = Running::Parts(search);
        Ok(())
    }

    fn run(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if let Running::Whole(search, _) = &mut self.running {
            match search.level(size, observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, true, observer)?,
                found => {
                    self.levels = size + 1;
                    return found;
                }
            }
        }
        self.search()?.level(size, observer)
    }

    /// The search that runs.
    fn search(&mut self) -> Result<&mut dyn Levels> {
        match &mut self.running {
            Running::Whole(search, _) => Ok(search),
            Running::Parts(search) => Ok(search.as_mut()),
            Running::Ended(error) => Err(error.clone()),
        }
    }

    fn levels(&self) -> Option<&dyn Levels> {
        match &self.running {
            Running::Whole(search, _) => Some(search),
            Running::Parts(search) => Some(search.as_ref()),
            Running::Ended(_) => None,
        }
    }
}

impl<W: Whole> Levels for Fallback<'_, W> {
    fn edge_count(&self) -> usize {
        self.levels().map_or(0, Levels::edge_count)
    }

    fn widest(&self) -> Option<Widest> {
        self.levels().and_then(Levels::widest)
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.run(0, observer)
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.run(size, observer)
    }

    fn resume(&mut self, found: Found, within: Option<Within>, observer: &mut dyn Observer) -> Result<()> {
        if let Running::Whole(search, _) = &mut self.running {
            match search.resume(found.clone(), None, observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, false, observer)?,
                resumed => {
                    self.levels = found.levels;
                    return resumed;
                }
            }
        }
        self.search()?.resume(found, within, observer)
    }

    fn keep(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if let Running::Whole(search, _) = &mut self.running {
            match search.keep(observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, false, observer)?,
                kept => return kept,
            }
        }
        self.search()?.keep(observer)
    }

    fn give_up(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        match self.running {
            Running::Whole(search, _) => Box::new(search).give_up(observer),
            Running::Parts(search) => search.give_up(observer),
            Running::Ended(error) => Err(error),
        }
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if let Running::Whole(search, _) = &mut self.running {
            match search.end(observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, false, observer)?,
                found => return found,
            }
        }
        match self.running {
            Running::Whole(mut search, _) => search.end(observer),
            Running::Parts(search) => search.finish(observer),
            Running::Ended(error) => Err(error),
        }
    }
}
