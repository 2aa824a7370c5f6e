//! The PC algorithm as first published: a removal takes effect at once, so that later visits choose from fewer neighbours.
//!
//! The order of visits is part of the answer, yet visits can be run ahead of time. A window of them is decided on the
//! neighbourhoods as they are; then the verdicts are entered in order. Say the row of a visit has lost the neighbours R
//! meanwhile. The sets still to be visited are those of the window without those that meet R, in the same order. So the
//! first set that separates stays the first if it does not meet R (only its rank shrinks), no set separates if none did,
//! and the largest p stays if its set does not meet R. Otherwise, which is rare, the side is run again.

use super::level::{count_sets, CandidateOrder, Neighbours, PairSide, Verdict};
use super::merge::Answer;
use super::progress::LevelProgress;
use super::{Observer, Options, Skeleton};
use crate::engine::sides::Sides;
use crate::engine::SideEngine;
use crate::graph::{subsets, Adjacency};
use crate::memory::{self, Use};
use crate::{Error, Result};

/// Tests decided ahead of time in one window, about.
const WINDOW_TESTS: u64 = 1 << 20;

/// Runs the skeleton phase of `method = "original"`; arguments and errors as [`super::levels::skeleton`].
pub fn skeleton(
    engine: &mut dyn SideEngine,
    options: &Options,
    p_max: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    options.check(p_max)?;
    options.room_to_start()?;
    let mut answer = Answer::new(options, options.start(), p_max);
    answer.tests.push(0);
    let mut size = 0;
    let mut go_on = true;
    while go_on && answer.graph.edge_count() > 0 && options.allows(size) {
        let edges = answer.graph.edge_count();
        // The pairs that are tested, and the list of visits.
        memory::room(2 * Adjacency::bytes(options.p) + 2 * size_of::<(u32, u32)>() * edges, Use::Level)?;
        let (tests, again) = if size == 0 {
            observer.level(0, edges)?;
            marginal(engine, options, &mut answer, observer)?
        } else {
            let tested = options.testable(&answer.graph);
            observer.level(size, edges)?;
            let mut progress = LevelProgress::new(observer, size, &answer.graph, &tested);
            let found = conditional(engine, options, &mut answer, &mut progress, size)?;
            progress.finish()?;
            found
        };
        answer.tests.truncate(size);
        answer.tests.push(tests);
        go_on = again;
        size += 1;
    }
    if size > 0 {
        let tested = options.testable(&answer.graph);
        answer.raise_marginals(engine, &tested, observer)?;
    }
    answer.finish(options, size as i32 - 1, engine.pool())
}

/// The visits of a level: every edge from both ends, by row.
fn visits(answer: &Answer, options: &Options) -> Result<Vec<(u32, u32)>> {
    let visits = (0..options.p)
        .flat_map(|x| answer.graph.neighbours(x).map(move |y| (x as u32, y)))
        .filter(|&(x, y)| !options.is_fixed(x as usize, y as usize));
    let mut list = memory::space(2 * answer.graph.edge_count(), Use::Level)?;
    list.extend(visits);
    Ok(list)
}

fn marginal(
    engine: &mut dyn SideEngine,
    options: &Options,
    answer: &mut Answer,
    observer: &mut dyn Observer,
) -> Result<(u64, bool)> {
    let visits = visits(answer, options)?;
    let tested = options.testable(&answer.graph);
    engine.marginal_p(&tested, options.alpha, answer.p_max, observer)?;
    let mut degree: Vec<usize> = (0..options.p).map(|x| answer.graph.degree(x)).collect();
    let mut tests = 0;
    let mut go_on = false;
    for (x, y) in visits {
        let (x, y) = (x as usize, y as usize);
        if !answer.graph.has(x, y) {
            continue;
        }
        tests += 1;
        go_on |= degree[x] > 1;
        let cell = answer.cell(x, y);
        *cell = options.read(*cell);
        if *cell >= options.alpha {
            answer.graph.remove(x, y);
            degree[x] -= 1;
            degree[y] -= 1;
            answer.sepsets.insert(x, y, &[]);
        }
    }
    Ok((tests, go_on))
}

fn conditional(
    engine: &mut dyn SideEngine,
    options: &Options,
    answer: &mut Answer,
    progress: &mut LevelProgress,
    size: usize,
) -> Result<(u64, bool)> {
    let visits = visits(answer, options)?;
    let mut tests = 0;
    let mut go_on = false;
    let mut next = 0;
    while next < visits.len() {
        let mut sides = Vec::new();
        let mut rows = Vec::new();
        let mut cost = 0u64;
        let mut degree_of_row = (u32::MAX, 0);
        let start = next;
        while next < visits.len() && cost < WINDOW_TESTS {
            let (x, y) = visits[next];
            next += 1;
            if !answer.graph.has(x as usize, y as usize) {
                continue;
            }
            if degree_of_row.0 != x {
                degree_of_row = (x, answer.graph.degree(x as usize));
                rows.push(x);
            }
            let candidates = degree_of_row.1 - 1;
            if candidates < size {
                continue;
            }
            let count = count_sets(x as usize, y as usize, candidates, size)?;
            cost = cost.saturating_add(count);
            memory::push(
                &mut sides,
                PairSide { row: x, other: y, place: 0, order: CandidateOrder::Ascending, count },
                Use::Level,
            )?;
        }
        if sides.is_empty() {
            debug_assert!(next > start);
            continue;
        }
        // Their lists, which grow as they are made, and the window in shards with a verdict each.
        let neighbours: usize = rows.iter().map(|&x| answer.graph.degree(x as usize)).sum();
        memory::room(8 * (answer.graph.p() + neighbours) + Sides::bytes(sides.len()), Use::Level)?;
        let frozen = Neighbours::of_rows(&answer.graph, &rows);
        for side in &mut sides {
            side.place = frozen.place(side.row as usize, side.other as usize);
        }
        let level = Sides::new(size, &frozen, sides, options.alpha, options.na_delete, engine.shard_tests());
        let mut verdicts = Vec::new();
        answer.exact_tests += engine.decide(&level, &mut verdicts, progress)?;
        progress.add(level.cost());
        for (side, verdict) in level.sides.iter().zip(verdicts) {
            let (x, y) = (side.row as usize, side.other as usize);
            if !answer.graph.has(x, y) {
                continue;
            }
            let candidates = answer.graph.degree(x) - 1;
            if candidates < size {
                continue;
            }
            go_on |= candidates > size;
            let (verdict, set, count) = settle(engine, options, answer, progress, &level, side, verdict)?;
            tests += count;
            memory::check()?;
            match verdict {
                Verdict::Independent { p, .. } => {
                    answer.raise(x, y, p);
                    answer.graph.remove(x, y);
                    answer.sepsets.insert(x, y, &set);
                }
                Verdict::Dependent { p, .. } => answer.raise(x, y, p),
                Verdict::Undefined { reason, .. } => return Err(Error::Numeric { x, y, s: set, reason }),
            }
        }
    }
    Ok((tests, go_on))
}

/// The verdict that holds on the neighbourhood as it is now, with its set and the number of tests that pcalg performs.
fn settle(
    engine: &mut dyn SideEngine,
    options: &Options,
    answer: &Answer,
    progress: &mut LevelProgress,
    level: &Sides,
    side: &PairSide,
    verdict: Verdict,
) -> Result<(Verdict, Vec<u32>, u64)> {
    let (x, size) = (side.row as usize, level.size);
    let now: Vec<u32> = answer.graph.neighbours(x).filter(|&v| v != side.other).collect();
    let rank_of = |verdict: &Verdict| match *verdict {
        Verdict::Independent { rank, .. } | Verdict::Dependent { rank, .. } | Verdict::Undefined { rank, .. } => rank,
    };
    let mut verdict = verdict;
    let mut set = side.set(level.neighbours, size, rank_of(&verdict));
    if set.iter().any(|v| now.binary_search(v).is_err()) {
        let fresh = Neighbours::of_rows(&answer.graph, &[side.row]);
        let now_side = PairSide {
            place: fresh.place(x, side.other as usize),
            count: count_sets(x, side.other as usize, now.len(), size)?,
            ..*side
        };
        let again = Sides::new(size, &fresh, vec![now_side], options.alpha, options.na_delete, engine.shard_tests());
        let mut verdicts = Vec::new();
        // The window has counted these tests already.
        engine.decide(&again, &mut verdicts, progress)?;
        verdict = verdicts[0];
        set = now_side.set(&fresh, size, rank_of(&verdict));
    }
    let count = match verdict {
        Verdict::Dependent { .. } => count_sets(x, side.other as usize, now.len(), size)?,
        _ => {
            let mut positions = Vec::with_capacity(size);
            for v in &set {
                positions.push(now.binary_search(v).unwrap_or(usize::MAX) as u32);
            }
            subsets::rank(now.len(), &positions) + 1
        }
    };
    Ok((verdict, set, count))
}
