//! The skeleton phase: which levels are run, and pcalg's counts of them, for every order of visiting and any worker.

use super::cells::symmetrise;
use super::largest::Largest;
use super::ledger::Ledger;
use super::level::count_sets;
use super::levels::{Levels, Widest};
use super::one_by_one::OneByOne;
use super::order::{ordered, with_ledger};
use super::original::Original;
use super::stable::Stable;
use super::worker::Worker;
use super::{Method, Options, Skeleton};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSetLog};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// Runs the skeleton phase on a worker. `largest`: p x p doubles, which are overwritten with pcalg's `pMax`, column by column, or
/// [`PairValues`](super::PairValues).
///
/// # Errors
/// [`Error::Overflow`](crate::Error) before a level with a pair of more than 2^63 tests; whatever worker and observer
/// return.
pub fn skeleton<'l>(
    worker: &mut dyn Worker,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    let mut largest = largest.into();
    options.check(&largest)?;
    options.room_to_start()?;
    let pool = worker.pool().clone();
    let found = match (worker.alone(), options.method) {
        (Some(alone), Method::Stable | Method::StableFast) => {
            run(alone.begin(options, largest.again())?, options, observer)?
        }
        (_, Method::Original) => run(ordered(Original { worker }, options, largest.again()), options, observer)?,
        (None, _) => run(ordered(Stable { worker }, options, largest.again()), options, observer)?,
    };
    finish(options, &mut largest, &pool);
    Ok(found)
}

/// "stable" or "stable.fast" by the shards of a worker, with graph and answers on the host: for a worker that takes whole levels where
/// they fit its machine, and shards where they do not. `found`: the graph and the separating sets that levels left which have run elsewhere,
/// whose p-values `largest` then has.
pub(crate) fn by_shards<'s>(
    worker: Box<dyn Worker + 's>,
    options: &'s Options,
    largest: Largest<'s>,
    found: Option<(Adjacency, SepSetLog)>,
) -> Box<dyn Levels + 's> {
    let ledger = match found {
        Some((graph, sepsets)) => Ledger::of_found(options, largest, graph, sepsets),
        None => Ledger::new(options, largest),
    };
    with_ledger(Stable { worker }, ledger)
}

/// Runs the skeleton phase with one question at a time, in the very order in which pcalg asks: for tests that only the caller can
/// run, such as an R function, which may have side effects or draw random numbers. Arguments as [`skeleton`] with a test in place
/// of a worker.
///
/// # Errors
/// Whatever test and observer return.
pub fn skeleton_one_by_one<'l>(
    test: &mut dyn CiTest,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    let mut largest = largest.into();
    options.check(&largest)?;
    options.room_to_start()?;
    let found = run(ordered(OneByOne { test }, options, largest.again()), options, observer)?;
    finish(options, &mut largest, &Pool::none());
    Ok(found)
}

/// Runs the levels that pcalg runs.
pub(super) fn run(
    mut search: Box<dyn Levels + '_>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    let fast = options.method == Method::StableFast;
    let mut tests = Vec::new();
    let mut exact_tests = 0;
    let mut size = 0;
    let mut go_on = true;
    // "stable.fast" always runs level 0; the others run no level without an edge or beyond m.max.
    let runs = |size: usize, edges: usize| {
        if fast {
            size == 0 || options.allows(size)
        } else {
            edges > 0 && options.allows(size)
        }
    };
    while go_on && runs(size, search.edge_count()) {
        observer.level(size, search.edge_count())?;
        let report = if size == 0 {
            search.marginal(observer)?
        } else {
            // Refuse what cannot be numbered, and see whether there is anything to do, before any work is done.
            match search.widest().filter(|widest| widest.degree > size) {
                // All of a row's neighbours: workers enumerate the sets of a row for all of its pairs at once.
                Some(Widest { x, y, degree }) if search.numbers_sets() => {
                    count_sets(x, y, degree, size)?;
                }
                // No pair has enough neighbours, and "stable.fast" does not count the level.
                None if fast => break,
                _ => {}
            }
            search.conditional(size, observer)?
        };
        tests.push(report.tests);
        exact_tests += report.exact_tests;
        // "stable.fast" asks by itself whether a level has work.
        go_on = fast || report.go_on;
        size += 1;
    }
    let (graph, sepsets) = search.finish(observer)?;
    // pcalg's `max.ord` of "stable.fast" is one less than the last level, as its R code subtracts 1 twice; that of the others is -1
    // without a level, as their loop begins with 0.
    let max_order = if fast { size as i32 - 2 } else { size as i32 - 1 };
    if tests.is_empty() {
        tests.push(0);
    }
    Ok(Skeleton { graph, sepsets, tests, max_order, exact_tests })
}

/// The R methods report a symmetric pMax with ones on its diagonal, the C++ one the upper triangle alone.
pub(super) fn finish(options: &Options, largest: &mut Largest, pool: &Pool) {
    if let (Largest::Square(p_max), Method::Stable | Method::Original) = (largest, options.method) {
        symmetrise(p_max, options.p, pool);
    }
}
