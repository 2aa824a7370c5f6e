//! Several cards as one worker, for the Gaussian test and tests of discrete variables.
//!
//! * `member`: a card with its search; `cards`: which are left, and who leads; `correlations`: how these come to all; `copies`: what cards copy from one
//!   another; `answer`: what they bring together; `search`: PC-stable.

mod answer;
mod cards;
mod copies;
mod correlations;
mod member;
mod search;

use super::discrete::parts;
use super::gauss::blocks;
use super::gauss::sweep::{self, Sweeping};
use super::search::fallback::{Fallback, GivenUp};
use super::search::p_max::PMax;
use super::search::CudaSearch;
use super::{CudaEngine, CudaTest, SearchStrategy};
use crate::ci::Batch;
use crate::engine::cpu::Sweeps;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::levels::Levels;
use crate::search::pairs::Pairwise;
use crate::search::shards::Work;
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::search::worker::{Alone, Column, Marginals, Worker};
use crate::search::{Largest, Options};
use crate::team::{Lost, Moved, Share, TeamReport};
use crate::{Error, Result};
use cards::TeamSearch;

/// Several cards, each with the same test. They answer as one does: graph, separating sets, counts and p-values.
pub struct CudaTeam<'a> {
    engines: Vec<CudaEngine<'a>>,
    names: Vec<String>,
    /// Names of cards that failed, once that was told.
    gone: Vec<String>,
    report: TeamReport,
}

impl<'a> CudaTeam<'a> {
    /// Of the engines that `make` makes by number, all for the same test; `names` are those of their cards. A card that cannot be opened is
    /// left out, see [`Worker::team`].
    ///
    /// # Errors
    /// Where none can be opened, the last one's; any other error than [`Error::Device`]; [`Error::Argument`] for a strategy of the papers,
    /// which are those of one GPU.
    pub fn new(names: &[String], make: impl Fn(usize) -> Result<CudaEngine<'a>>) -> Result<Self> {
        let mut team =
            CudaTeam { engines: Vec::new(), names: Vec::new(), gone: Vec::new(), report: TeamReport::default() };
        let mut last = None;
        for (number, name) in names.iter().enumerate() {
            match make(number) {
                Ok(engine) if engine.options.strategy != SearchStrategy::Shared => {
                    return Err(Error::Argument {
                        argument: "strategy",
                        value: format!("{:?} on {} GPUs", engine.options.strategy, names.len()),
                        mend: "it runs on one GPU: give one, or strategy = \"shared\"".into(),
                    });
                }
                Ok(engine) => {
                    for other in &team.engines {
                        // Where a card does not reach another, copies go by way of the host.
                        let _ = engine.reach(other).and_then(|()| other.reach(&engine));
                    }
                    team.engines.push(engine);
                    team.names.push(name.clone());
                }
                Err(error @ Error::Device(_)) => {
                    team.report.lost.push(Lost::by(name.clone(), &error));
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match (team.engines.is_empty(), last) {
            (true, Some(error)) => Err(error),
            (true, None) => {
                Err(Error::Argument { argument: "device", value: "no GPU".into(), mend: "name at least one".into() })
            }
            _ => Ok(team),
        }
    }

    /// The first card that is left.
    fn first(&self) -> usize {
        self.left().iter().position(|left| *left).unwrap_or(0)
    }

    /// By card, whether it is left.
    fn left(&self) -> Vec<bool> {
        let failed = |name: &String| self.report.lost.iter().any(|lost| lost.machine == *name);
        self.names.iter().map(|name| !failed(name) && !self.gone.contains(name)).collect()
    }
}

impl Worker for CudaTeam<'_> {
    fn pool(&self) -> &Pool {
        self.engines[0].pool()
    }

    fn shard_tests(&self) -> u64 {
        self.engines[0].shard_tests()
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        let first = self.first();
        self.engines[first].marginal(level, columns, observer)
    }

    fn is_gradual(&self) -> bool {
        false
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        let first = self.first();
        self.engines[first].answer(work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        loop {
            let (first, left) = (self.first(), self.left().into_iter().filter(|left| *left).count());
            match self.engines[first].p_values(batch, observer) {
                Err(error @ Error::Device(_)) if left > 1 => {
                    self.report.lost.push(Lost::by(self.names[first].clone(), &error));
                }
                found => return found,
            }
        }
    }

    /// That of each card: they are the same.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        self.engines[self.first()].memory_plan()
    }

    fn team(&mut self) -> TeamReport {
        let mut report = std::mem::take(&mut self.report);
        for (engine, name) in self.engines.iter().zip(&self.names) {
            for share in engine.held.shares(name).into_iter().filter(|share| share.moved != Moved::default()) {
                // Shards that are handed out are counted there; of what one card answers alone nothing else is known.
                let known = report.shares.iter().any(|known| known.machine == *name && known.level == share.level);
                report.enter(Share { shards: if known { 0 } else { share.shards }, ..share });
            }
        }
        self.gone.extend(report.lost.iter().map(|lost| lost.machine.clone()));
        report
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        let first = self.first();
        match self.engines[first].sweeper() {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        let first = self.first();
        self.engines[first].pairwise()
    }

    fn alone(&mut self) -> Option<&mut dyn Alone> {
        Some(self)
    }
}

impl Sweeper for CudaTeam<'_> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        sweep::takes(candidates, size, largest)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        let (first, left, pool) = (self.first(), self.left(), self.pool().clone());
        let (report, names) = (&mut self.report, &self.names);
        let mut lost = Vec::new();
        let run = |host: &Sweeps, engines: &mut [CudaEngine], observer: &mut dyn Observer| {
            let engines = engines.iter_mut().zip(names).zip(left).filter(|(_, left)| *left);
            let engines = engines.map(|((engine, name), _)| (engine, name.clone()));
            Sweeping::new(engines, pool).sweep(sweeps, host, &mut lost, observer)
        };
        let found = sweep::with_host(&mut self.engines, first, rules, observer, run);
        report.lost.extend(lost);
        found
    }
}

impl Alone for CudaTeam<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, largest: Largest<'s>) -> Result<Box<dyn Levels + 's>> {
        let left = self.left();
        let p_max = PMax::new(largest, options.p);
        let of_left = p_max.is_of_left();
        let mut wanted = Some(p_max);
        let engines = self.engines.iter_mut().zip(&self.names).zip(left).filter(|(_, left)| *left);
        let searches: Vec<(String, CudaSearch)> = engines
            .map(|((engine, name), _)| {
                let p_max = wanted.take().unwrap_or_else(|| PMax::of_follower(of_left, options.p));
                (name.clone(), CudaSearch::with_p_max(engine, options, p_max))
            })
            .collect();
        if searches.is_empty() {
            return Err(Error::Argument {
                argument: "device",
                value: self.names.join(", "),
                mend: "all of these GPUs failed before: name others, or give device = \"cpu\"".into(),
            });
        }
        let team = TeamSearch::new(searches.into_iter(), options, &mut self.report);
        Ok(Box::new(Fallback::new(team, |given_up, observer| {
            // The correlations, or the codes, of all variables fit no card: one goes on in parts.
            let (search, levels) = (given_up.search.into_roomiest(), given_up.levels);
            let test = search.engine.test;
            let given_up = GivenUp { search, levels, is_whole: false };
            match test {
                CudaTest::Gauss(gauss) => Ok(blocks::go_over(given_up, gauss)),
                CudaTest::Discrete(test) => parts::go_over(given_up, test, observer),
            }
        })))
    }
}
