//! A search that goes on by shards where the GPU's memory turns out not to hold what it needs.

use super::CudaSearch;
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::by_shards;
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::{Error, Result};

/// A search that is on the GPU as a whole as long as it can be.
pub(in crate::engine::cuda) struct Fallback<'s, 'a> {
    running: Running<'s, 'a>,
    levels: usize,
}

enum Running<'s, 'a> {
    Whole(Box<CudaSearch<'s, 'a>>),
    Shards(Box<dyn Levels + 's>),
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

impl<'s, 'a> Fallback<'s, 'a> {
    pub fn new(search: CudaSearch<'s, 'a>) -> Self {
        Fallback { running: Running::Whole(Box::new(search)), levels: 0 }
    }

    /// Begins once more by shards, after `short` had been returned: what the levels before have found is not gathered, as they are the cheaper
    /// ones.
    fn change(&mut self, short: Error, observer: &mut dyn Observer) -> Result<()> {
        let running = std::mem::replace(&mut self.running, Running::Ended(short));
        let Running::Whole(search) = running else {
            self.running = running;
            return Ok(());
        };
        let (engine, options, largest) = search.into_parts();
        let mut search = by_shards(engine, options, largest);
        for before in 0..self.levels {
            search.level(before, &mut Quiet(observer))?;
        }
        self.running = Running::Shards(search);
        Ok(())
    }

    fn run(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if let Running::Whole(search) = &mut self.running {
            match search.level(size, observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, observer)?,
                found => {
                    self.levels = size + 1;
                    return found;
                }
            }
        }
        match &mut self.running {
            Running::Whole(search) => search.level(size, observer),
            Running::Shards(search) => search.level(size, observer),
            Running::Ended(error) => Err(error.clone()),
        }
    }

    fn levels(&self) -> Option<&dyn Levels> {
        match &self.running {
            Running::Whole(search) => Some(search.as_ref()),
            Running::Shards(search) => Some(search.as_ref()),
            Running::Ended(_) => None,
        }
    }
}

impl Levels for Fallback<'_, '_> {
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

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if let Running::Whole(search) = &mut self.running {
            match search.end(observer) {
                Err(error) if error.is_short_of_device_memory() => self.change(error, observer)?,
                found => return found,
            }
        }
        match self.running {
            Running::Whole(mut search) => search.end(observer),
            Running::Shards(search) => search.finish(observer),
            Running::Ended(error) => Err(error),
        }
    }
}
