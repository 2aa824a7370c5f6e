//! The loop over levels, with pcalg's counts, for every order of visiting and any worker.

use super::checkpoint::{Keeper, Limits, State};
use super::largest::Largest;
use super::level::count_sets;
use super::levels::{LevelReport, Levels, Widest};
use super::one_by_one::OneByOne;
use super::order::ordered;
use super::original::Original;
use super::stable::Stable;
use super::worker::{Alone, Worker};
use super::{Method, Options, Skeleton};
use crate::ci::CiTest;
use crate::graph::Form;
use crate::matrix::symmetrise;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// Runs the skeleton phase on a worker. `largest` is p x p doubles, which are overwritten with pcalg's `pMax`, column by column, or
/// [`PairValues`](super::PairValues).
///
/// # Errors
/// [`Error::Overflow`](crate::Error) before a level that has a pair with more than 2^63 tests; any error of the worker or the observer.
pub fn skeleton<'l>(
    worker: &mut dyn Worker,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    skeleton_within(worker, options, largest, observer, &Limits::default())
}

/// Runs [`skeleton`] with a checkpoint and a time limit, both optional. See [`Skeleton::ended`] for a search that the limit ends.
///
/// # Errors
/// Those of [`skeleton`]; [`Error::Checkpoint`](crate::Error) if the file belongs to another search or cannot be created;
/// [`Error::TimeLimit`](crate::Error) if the time ends before any level has run.
pub fn skeleton_within<'l>(
    worker: &mut dyn Worker,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
    limits: &Limits,
) -> Result<Skeleton> {
    let mut largest = largest.into();
    let (mut keeper, state) = begin(options, &mut largest, observer, limits)?;
    let pool = worker.pool().clone();
    let whole = keeps_nothing(&keeper, &state)
        && options.tiers.is_none()
        && options.method != Method::Original
        && options.form == Form::Bits;
    let found = match if whole { worker.alone() } else { None } {
        Some(alone) => run_alone(alone, options, &mut largest, &mut keeper)?,
        None => None,
    };
    let found = match (found, options.method) {
        (Some(found), _) => found,
        (None, Method::Original) => {
            run(ordered(Original { worker }, options, largest.again(), pool.clone()), options, &mut keeper, state)?
        }
        (None, _) => run(by_shards(worker, options, largest.again()), options, &mut keeper, state)?,
    };
    finish(options, &mut largest, &pool);
    Ok(found)
}

/// Runs a search on one machine. Returns `None` if the search must begin again by shards. The results of finished levels are then dropped,
/// as these levels are the cheaper ones.
fn run_alone(
    alone: &mut dyn Alone,
    options: &Options,
    largest: &mut Largest,
    keeper: &mut Keeper,
) -> Result<Option<Skeleton>> {
    let has_helpers = alone.has_helpers();
    let ran = alone.begin(options, largest.again())?.map(|search| {
        keeper.begin_alone(has_helpers);
        run(search, options, keeper, None)
    });
    let error = match ran {
        Some(Ok(found)) => return Ok(Some(found)),
        Some(Err(error)) => Some(error),
        None => None,
    };
    let is_long = keeper.begin_again();
    match (alone.ends(error.as_ref().filter(|_| !is_long)), error) {
        (false, Some(error)) => Err(error),
        _ => Ok(None),
    }
}

/// Checks the arguments, and reads the state of an earlier call, if there is one.
fn begin<'o>(
    options: &Options,
    largest: &mut Largest,
    observer: &'o mut dyn Observer,
    limits: &'o Limits,
) -> Result<(Keeper<'o>, Option<State>)> {
    options.check(largest)?;
    options.room_to_start()?;
    let mut keeper = Keeper::new(observer, limits, options, largest);
    let state = keeper.open(options, largest)?;
    Ok((keeper, state))
}

/// Returns whether a search may stay on a machine until it ends, because it is neither saved on the way nor resumed.
fn keeps_nothing(keeper: &Keeper, state: &Option<State>) -> bool {
    !keeper.keeps() && state.is_none()
}

/// Begins "stable" or "stable.fast" by the shards of a worker, with graph and answers on the host.
fn by_shards<'s>(worker: &'s mut dyn Worker, options: &'s Options, largest: Largest<'s>) -> Box<dyn Levels + 's> {
    let pool = worker.pool().clone();
    ordered(Stable { worker }, options, largest, pool)
}

/// Runs the skeleton phase with one question at a time, in pcalg's exact order. It is for tests that only the caller can run, such as an R
/// function, which may have side effects or draw random numbers. The arguments are those of [`skeleton`], with a test in place of a worker.
///
/// # Errors
/// Any error of the test or the observer.
pub fn skeleton_one_by_one<'l>(
    test: &mut dyn CiTest,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    skeleton_one_by_one_within(test, options, largest, observer, &Limits::default())
}

/// Runs [`skeleton_one_by_one`] within limits, as [`skeleton_within`] does.
///
/// # Errors
/// Those of [`skeleton_one_by_one`] and [`skeleton_within`].
pub fn skeleton_one_by_one_within<'l>(
    test: &mut dyn CiTest,
    options: &Options,
    largest: impl Into<Largest<'l>>,
    observer: &mut dyn Observer,
    limits: &Limits,
) -> Result<Skeleton> {
    let mut largest = largest.into();
    let (mut keeper, state) = begin(options, &mut largest, observer, limits)?;
    let found = run(ordered(OneByOne::new(test), options, largest.again(), Pool::none()), options, &mut keeper, state)?;
    finish(options, &mut largest, &Pool::none());
    Ok(found)
}

/// Runs the levels that pcalg runs, from a saved state if there is one.
pub(super) fn run(
    mut search: Box<dyn Levels + '_>,
    options: &Options,
    keeper: &mut Keeper,
    state: Option<State>,
) -> Result<Skeleton> {
    let fast = options.method == Method::StableFast;
    if let Some(State { levels, tests, exact_tests, go_on, found: Some(found), within }) = state {
        *keeper.done() = State { levels, tests, exact_tests, go_on, found: None, within: None };
        search.resume(found, within, keeper)?;
    }
    // "stable.fast" always runs level 0. The other methods run no level without an edge or beyond `m.max`.
    let runs = |size: usize, edges: usize| {
        if fast {
            size == 0 || options.allows(size)
        } else {
            edges > 0 && options.allows(size)
        }
    };
    let mut ended = false;
    while keeper.done().go_on && runs(keeper.done().levels, search.edge_count()) {
        let size = keeper.done().levels;
        let report = match level(&mut *search, size, fast, keeper) {
            Ok(Some(report)) => report,
            Ok(None) => break,
            Err(error) if size > 0 && keeper.is_over(&error) => {
                ended = true;
                break;
            }
            Err(error) => return Err(error),
        };
        keeper.end_level(size)?;
        let done = keeper.done();
        done.tests.push(report.tests);
        done.exact_tests += report.exact_tests;
        // For "stable.fast", `level` finds out whether a level has work.
        done.go_on = fast || report.go_on;
        done.levels += 1;
        if keeper.keeps() {
            search.keep(keeper)?;
        }
    }
    keeper.lift();
    let (graph, sepsets) = if ended { search.give_up(keeper)? } else { search.finish(keeper)? };
    let unkept = keeper.unwritten();
    let State { levels, mut tests, exact_tests, .. } = keeper.done().clone();
    // pcalg's `max.ord` of "stable.fast" is one less than the last level, as its R code subtracts 1 twice. That of the other methods is -1
    // without a level, as their loop begins with 0.
    let max_order = if fast { levels as i32 - 2 } else { levels as i32 - 1 };
    if tests.is_empty() {
        tests.push(0);
    }
    Ok(Skeleton { graph, sepsets, tests, max_order, exact_tests, ended: ended.then_some(levels), unkept })
}

/// Runs a level. Returns `None` if "stable.fast" has no pair for it.
fn level(search: &mut dyn Levels, size: usize, fast: bool, keeper: &mut Keeper) -> Result<Option<LevelReport>> {
    keeper.level(size, search.edge_count())?;
    if size == 0 {
        return search.marginal(keeper).map(Some);
    }
    // Refuse sets that cannot be numbered, and find out whether there is work, before any work is done.
    match search.widest().filter(|widest| widest.degree > size) {
        // Count with all of a row's neighbours: workers enumerate the sets of a row for all of its pairs at once.
        Some(Widest { x, y, degree }) if search.numbers_sets() => {
            count_sets(x, y, degree, size)?;
        }
        // No pair has enough neighbours, and "stable.fast" does not count the level.
        None if fast => return Ok(None),
        _ => {}
    }
    search.conditional(size, keeper).map(Some)
}

/// Completes `pMax` as pcalg reports it: the R methods symmetric with ones on the diagonal, the C++ as the upper triangle alone.
pub(super) fn finish(options: &Options, largest: &mut Largest, pool: &Pool) {
    if let (Largest::Square(p_max), Method::Stable | Method::Original) = (largest, options.method) {
        symmetrise(p_max, options.p, pool);
    }
}
