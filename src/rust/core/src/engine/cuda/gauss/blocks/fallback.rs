//! A search that goes on by blocks where the card's memory turns out not to hold what it needs.

use super::BlockSearch;
use crate::engine::cuda::gauss::source::Gaussian;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::SearchStrategy;
use crate::error::{DeviceError, DeviceKind};
use crate::graph::{Adjacency, SepSets, Side};
use crate::observer::Observer;
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::{Error, Result};

/// The search.
pub(in crate::engine::cuda) struct Fallback<'s, 'a> {
    running: Running<'s, 'a>,
    gauss: Gaussian<'a>,
}

enum Running<'s, 'a> {
    Whole(Box<CudaSearch<'s, 'a>>),
    Blocks(Box<BlockSearch<'s, 'a>>),
    /// Between the two.
    Neither,
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
    pub fn new(search: CudaSearch<'s, 'a>, gauss: Gaussian<'a>) -> Self {
        let by_blocks =
            search.engine.options.block.is_some() && search.engine.options.strategy == SearchStrategy::Shared;
        let mut found = Fallback { running: Running::Whole(Box::new(search)), gauss };
        if by_blocks {
            found.change();
        }
        found
    }

    /// Goes over to blocks.
    fn change(&mut self) {
        self.running = match std::mem::replace(&mut self.running, Running::Neither) {
            Running::Whole(search) => {
                let (engine, options, largest) = search.into_parts();
                Running::Blocks(Box::new(BlockSearch::new(engine, options, self.gauss, largest)))
            }
            other => other,
        };
    }

    fn levels(&self) -> Option<&dyn Levels> {
        match &self.running {
            Running::Whole(search) => Some(search.as_ref()),
            Running::Blocks(search) => Some(search.as_ref()),
            Running::Neither => None,
        }
    }

    fn is_whole(&self) -> bool {
        match &self.running {
            Running::Whole(search) => search.engine.options.strategy == SearchStrategy::Shared,
            _ => false,
        }
    }

    /// Runs a level; where memory does not suffice, by blocks, after those before it.
    fn run(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let found = level(&mut self.running, size, observer);
        match found {
            Err(Error::Device(DeviceError { kind: DeviceKind::OutOfMemory, .. })) if self.is_whole() => {
                self.change();
                for before in 0..size {
                    level(&mut self.running, before, &mut Quiet(observer))?;
                }
                level(&mut self.running, size, observer)
            }
            found => found,
        }
    }
}

fn level(running: &mut Running, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
    let levels: &mut dyn Levels = match running {
        Running::Whole(search) => search.as_mut(),
        Running::Blocks(search) => search.as_mut(),
        Running::Neither => return Ok(LevelReport::default()),
    };
    match size {
        0 => levels.marginal(observer),
        _ => levels.conditional(size, observer),
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

    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        match self.running {
            Running::Whole(search) => search.finish(observer),
            Running::Blocks(search) => search.finish(observer),
            Running::Neither => Ok((Adjacency::empty(self.gauss.p), SepSets::new(self.gauss.p, Side::Smaller))),
        }
    }
}
