//! PC-stable on an engine: "stable" and "stable.fast".

use super::level::{count_sets, CandidateOrder, Level, Neighbours, PairSide, Verdict, SHARD_TESTS};
use super::merge::Answer;
use super::{Method, Observer, Options, Skeleton};
use crate::engine::Engine;
use crate::graph::Adjacency;
use crate::{Error, Result};

/// Runs the skeleton phase. `p_max` is p x p, column by column, and is overwritten with pcalg's `pMax`.
///
/// # Errors
/// [`Error::Overflow`] before a level with a pair of more than 2^63 tests; whatever engine and observer return.
pub fn skeleton(
    engine: &mut dyn Engine,
    options: &Options,
    p_max: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    skeleton_in_shards(engine, options, p_max, observer, SHARD_TESTS)
}

/// [`skeleton`] with another size of shards, which changes nothing but the schedule.
pub fn skeleton_in_shards(
    engine: &mut dyn Engine,
    options: &Options,
    p_max: &mut [f64],
    observer: &mut dyn Observer,
    shard_tests: u64,
) -> Result<Skeleton> {
    options.check(p_max)?;
    if options.method == Method::Original {
        return super::original::skeleton(engine, options, p_max, observer);
    }
    let fast = options.method == Method::StableFast;
    let mut answer = Answer::new(options, options.start(), p_max);
    // pcalg's "stable" runs no level at all without an edge or below m.max; its counts are then one 0.
    if !fast && (answer.graph.edge_count() == 0 || !options.allows(0)) {
        answer.tests.push(0);
        return Ok(answer.finish(options, -1));
    }
    let tested = options.testable(&answer.graph);
    let mut go_on = marginal_level(engine, options, &mut answer, &tested, observer)?;
    let mut size = 1;
    while go_on && options.allows(size) && (fast || answer.graph.edge_count() > 0) {
        match conditional_level(engine, options, &mut answer, observer, size, shard_tests)? {
            Some(again) => go_on = again,
            None => break,
        }
        size += 1;
    }
    answer.raise_marginals(engine, &tested, observer)?;
    let levels = answer.tests.len() as i32;
    Ok(answer.finish(options, if fast { max_order_of_fast(levels) } else { levels - 1 }))
}

/// pcalg's `max.ord` of "stable.fast": one less than the last level, as its R code subtracts 1 twice.
pub(super) fn max_order_of_fast(levels: i32) -> i32 {
    levels - 2
}

/// Level 0. Returns whether another level may follow.
fn marginal_level(
    engine: &mut dyn Engine,
    options: &Options,
    answer: &mut Answer,
    tested: &Adjacency,
    observer: &mut dyn Observer,
) -> Result<bool> {
    let fast = options.method == Method::StableFast;
    let p = options.p;
    observer.level(0, if fast { answer.graph.edge_count() } else { 2 * answer.graph.edge_count() })?;
    let degree: Vec<usize> = (0..p).map(|x| answer.graph.degree(x)).collect();
    engine.marginal(tested, options.alpha, answer.p_max, observer)?;
    let mut count = 0u64;
    let mut go_on = false;
    for x in 0..p {
        for y in tested.neighbours(x).filter(|&y| y as usize > x) {
            let y = y as usize;
            let cell = answer.cell(x, y);
            if fast {
                // The C++ tests `pMax >= alpha` and `pMax < alpha` at level 0: a NaN removes the edge, whatever
                // NAdelete says, and leaves no separating set.
                count += 1;
                let value = *cell;
                if value >= options.alpha {
                    answer.sepsets.insert_empty(x, y);
                }
                if !(value < options.alpha) {
                    answer.graph.remove(x, y);
                }
            } else {
                *cell = options.read(*cell);
                let removed = *cell >= options.alpha;
                // Seen from x, then, if it is still there, from y.
                count += if removed { 1 } else { 2 };
                go_on |= degree[x] > 1 || (!removed && degree[y] > 1);
                if removed {
                    answer.sepsets.insert_empty(x, y);
                    answer.graph.remove(x, y);
                }
            }
        }
    }
    answer.tests.push(count);
    if fast {
        // A fixed edge is there even where a gap was asked for.
        if let Some(fixed) = &options.fixed_edges {
            for x in 0..p {
                for y in fixed.neighbours(x) {
                    answer.graph.insert(x, y as usize);
                }
            }
        }
        go_on = true;
    }
    Ok(go_on)
}

/// A level of size 1 or more: first sides, then second sides of the pairs still there.
/// `None` when no pair has enough neighbours and "stable.fast" does not count the level.
fn conditional_level(
    engine: &mut dyn Engine,
    options: &Options,
    answer: &mut Answer,
    observer: &mut dyn Observer,
    size: usize,
    shard_tests: u64,
) -> Result<Option<bool>> {
    let fast = options.method == Method::StableFast;
    let neighbours = Neighbours::of(answer.graph.clone());
    let tested = options.testable(&answer.graph);
    let degree = |x: usize| neighbours.degree(x);

    let mut first = Vec::new();
    let mut second_alone = Vec::new();
    let mut go_on = false;
    for x in 0..options.p {
        for y in tested.neighbours(x).filter(|&y| y as usize > x) {
            let (dx, dy) = (degree(x) - 1, degree(y as usize) - 1);
            go_on |= dx > size;
            if dx >= size {
                let count = count_sets(x, y as usize, dx, size)?;
                let place = neighbours.place(x, y as usize);
                first.push(PairSide { row: x as u32, other: y, place, order: CandidateOrder::Ascending, count });
            } else if dy >= size {
                second_alone.push((x as u32, y));
            }
            // Refuse what cannot be numbered before any work is done.
            if dy >= size {
                count_sets(x, y as usize, dy, size)?;
            }
        }
    }
    let none = first.is_empty() && second_alone.is_empty();
    observer.level(size, if fast { answer.graph.edge_count() } else { 2 * answer.graph.edge_count() })?;
    if none && fast {
        return Ok(None);
    }

    let mut count = 0u64;
    let mut second = Vec::new();
    let mut set = Vec::new();
    let mut also_second = |x: u32, y: u32| -> Result<()> {
        let dy = degree(y as usize) - 1;
        if dy < size {
            return Ok(());
        }
        go_on |= dy > size;
        let all = count_sets(x as usize, y as usize, dy, size)?;
        let (order, sets) = if fast {
            let common = neighbours.common(x as usize, y as usize);
            (CandidateOrder::CommonLast, all - count_sets(x as usize, y as usize, common, size)?)
        } else {
            (CandidateOrder::Ascending, all)
        };
        if sets > 0 {
            let place = neighbours.place(y as usize, x as usize);
            second.push(PairSide { row: y, other: x, place, order, count: sets });
        }
        Ok(())
    };
    let level = Level::new(size, &neighbours, in_tiles(first, options.p), options.alpha, options.na_delete, shard_tests);
    let verdicts = engine.run(&level, observer)?;
    answer.exact_tests += engine.take_exact_tests();
    for (side, verdict) in level.sides.iter().zip(&verdicts) {
        count += visited(verdict, side.count);
        if !apply(answer, options, &neighbours, size, side, verdict, &mut set)? {
            also_second(side.row, side.other)?;
        }
    }
    for (x, y) in second_alone {
        also_second(x, y)?;
    }
    let level = Level::new(size, &neighbours, in_tiles(second, options.p), options.alpha, options.na_delete, shard_tests);
    let verdicts = engine.run(&level, observer)?;
    answer.exact_tests += engine.take_exact_tests();
    for (side, verdict) in level.sides.iter().zip(&verdicts) {
        count += visited(verdict, side.count);
        apply(answer, options, &neighbours, size, side, verdict, &mut set)?;
    }
    answer.tests.push(count);
    Ok(Some(fast || go_on))
}

/// Rows that stand together: their sides are handed out by the other vertex, so that what an engine reads of it is used
/// by all of them while it is in the cache.
const TILE_ROWS: usize = 32;

/// Sorts sides by (row / TILE_ROWS, other), by counting: the order decides nothing but speed.
fn in_tiles(sides: Vec<PairSide>, p: usize) -> Vec<PairSide> {
    let by_other = counting_sort(sides, p, |side| side.other as usize);
    counting_sort(by_other, p.div_ceil(TILE_ROWS), |side| side.row as usize / TILE_ROWS)
}

fn counting_sort<T: Copy>(items: Vec<T>, keys: usize, key: impl Fn(&T) -> usize) -> Vec<T> {
    let mut ends = vec![0usize; keys + 1];
    for item in &items {
        ends[key(item) + 1] += 1;
    }
    for k in 0..keys {
        ends[k + 1] += ends[k];
    }
    let mut sorted = items.clone();
    for item in &items {
        let at = &mut ends[key(item)];
        sorted[*at] = *item;
        *at += 1;
    }
    sorted
}

/// How many tests pcalg performs on a side with this outcome.
fn visited(verdict: &Verdict, all: u64) -> u64 {
    match verdict {
        Verdict::Independent { rank, .. } => rank + 1,
        _ => all,
    }
}

/// Enters a verdict; `true` when it removed the pair.
fn apply(
    answer: &mut Answer,
    options: &Options,
    neighbours: &Neighbours,
    size: usize,
    side: &PairSide,
    verdict: &Verdict,
    set: &mut Vec<u32>,
) -> Result<bool> {
    let (row, other) = (side.row as usize, side.other as usize);
    match *verdict {
        Verdict::Dependent { p, .. } => {
            answer.raise(row, other, p);
            Ok(false)
        }
        Verdict::Independent { rank, p } => {
            answer.raise(row, other, p);
            answer.graph.remove(row, other);
            side.set_into(neighbours, size, rank, set);
            let (x, y) = match options.method {
                // The C++ keeps every set under the larger vertex.
                Method::StableFast => (row.max(other), row.min(other)),
                _ => (row, other),
            };
            answer.sepsets.insert(x, y, set);
            Ok(true)
        }
        Verdict::Undefined { rank, reason } => {
            Err(Error::Numeric { x: row, y: other, s: side.set(neighbours, size, rank), reason })
        }
    }
}
