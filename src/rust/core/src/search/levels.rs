//! PC-stable on an engine: "stable" and "stable.fast".

use super::level::{count_sets, CandidateOrder, Level, Neighbours, PairSide, Verdict};
use super::merge::Answer;
use super::progress::LevelProgress;
use super::{Method, Observer, Options, Skeleton};
use crate::engine::Engine;
use crate::graph::Adjacency;
use crate::sort::counting_sort;
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
        match conditional_level(engine, options, &mut answer, observer, size)? {
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
    let start = answer.graph.clone();
    let degree: Vec<usize> = (0..p).map(|x| start.degree(x)).collect();
    engine.marginal(tested, options.alpha, answer.p_max, observer)?;
    // By words of 64 pairs: there may be millions.
    let columns: &mut [f64] = answer.p_max;
    let alpha = options.alpha;
    let mut separated = Vec::new();
    let (mut count, mut removed) = (0u64, 0u64);
    // "stable.fast" asks by itself whether a level has work.
    let mut go_on = true;
    answer.graph = Adjacency::from_lower(p, |y, w| {
        let below = if w == y / 64 { (1 << (y % 64)) - 1 } else { !0u64 };
        let pairs = tested.row(y)[w] & below;
        let mut independent = 0u64;
        let mut dependent = 0u64;
        if pairs != 0 {
            let cells = &mut columns[y * p + w * 64..y * p + (w * 64 + 64).min(p)];
            for (bit, cell) in cells.iter_mut().enumerate() {
                // The C++ tests `pMax >= alpha` and `pMax < alpha` at level 0: a NaN removes the edge, whatever NAdelete
                // says, and leaves no separating set.
                let value = if fast { *cell } else { options.read(*cell) };
                independent |= u64::from(value >= alpha) << bit;
                dependent |= u64::from(value < alpha) << bit;
                if !fast && cell.is_nan() && pairs >> bit & 1 == 1 {
                    *cell = value;
                }
            }
            independent &= pairs;
            dependent &= pairs;
        }
        count += u64::from(pairs.count_ones());
        removed += u64::from((pairs & !dependent).count_ones());
        separated.push(independent);
        // Untested pairs stay as they are.
        (start.row(y)[w] & below & !tested.row(y)[w]) | dependent
    });
    let mut separated = separated.into_iter();
    answer.sepsets.set_empty(Adjacency::from_lower(p, |_, _| separated.next().unwrap_or(0)));
    if !fast {
        // Seen from the smaller vertex, then, if the pair is still there, from the larger.
        count += count - removed;
        go_on = (0..p).filter(|&x| degree[x] > 1).any(|x| {
            let visited_first = tested.neighbours(x).any(|y| y as usize > x);
            visited_first || answer.graph.neighbours(x).any(|y| (y as usize) < x && tested.has(x, y as usize))
        });
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
    }
    Ok(go_on)
}

/// A level of size 1 or more: first sides, then second sides of the pairs still there, in waves.
/// `None` when no pair has enough neighbours and "stable.fast" does not count the level.
fn conditional_level(
    engine: &mut dyn Engine,
    options: &Options,
    answer: &mut Answer,
    observer: &mut dyn Observer,
    size: usize,
) -> Result<Option<bool>> {
    let fast = options.method == Method::StableFast;
    let neighbours = Neighbours::of(answer.graph.clone());
    let tested = options.testable(&answer.graph);
    let degree = |x: usize| neighbours.degree(x);

    // Refuse what cannot be numbered, and see whether there is anything to do, before any work is done.
    let mut any = false;
    let mut go_on = false;
    for x in 0..options.p {
        if tested.degree(x) > 0 && degree(x) > size {
            any = true;
            count_sets(x, neighbours.list(x)[0] as usize, degree(x) - 1, size)?;
        }
    }
    let remaining = answer.graph.edge_count() * if fast { 1 } else { 2 };
    let progress = LevelProgress::start(observer, size, remaining, &answer.graph, &tested)?;
    if !any && fast {
        return Ok(None);
    }

    let wave_sides = engine.layout().wave_sides;
    let mut wave = Wave {
        engine,
        options,
        answer,
        progress,
        neighbours: &neighbours,
        size,
        tests: 0,
        set: Vec::new(),
        verdicts: Vec::new(),
    };
    let mut first = Vec::new();
    let mut second = Vec::new();
    let mut survivors: Vec<(u32, u32)> = Vec::new();
    for x in 0..options.p {
        let dx = degree(x).saturating_sub(1);
        let count = count_sets(x, x, dx, size)?;
        for (place, &y) in neighbours.list(x).iter().enumerate() {
            if y as usize <= x || !tested.has(x, y as usize) {
                continue;
            }
            if dx >= size {
                go_on |= dx > size;
                let place = place as u32;
                first.push(PairSide { row: x as u32, other: y, place, order: CandidateOrder::Ascending, count });
            } else {
                survivors.push((x as u32, y));
            }
        }
        if first.len() >= wave_sides || x + 1 == options.p {
            wave.run(&mut first, |side| survivors.push((side.row, side.other)))?;
            for (x, y) in survivors.drain(..) {
                let dy = degree(y as usize) - 1;
                if dy < size {
                    continue;
                }
                go_on |= dy > size;
                let all = count_sets(x as usize, y as usize, dy, size)?;
                let (order, count) = if fast {
                    let common = neighbours.common(x as usize, y as usize);
                    (CandidateOrder::CommonLast, all - count_sets(x as usize, y as usize, common, size)?)
                } else {
                    (CandidateOrder::Ascending, all)
                };
                if count > 0 {
                    let place = neighbours.place(y as usize, x as usize);
                    second.push(PairSide { row: y, other: x, place, order, count });
                }
            }
        }
    }
    let mut spare = Vec::new();
    counting_sort(&mut second, &mut spare, options.p, |side| side.row as usize);
    for part in second.chunks(wave_sides) {
        first.extend_from_slice(part);
        wave.run(&mut first, |_| ())?;
    }
    let Wave { tests, progress, .. } = wave;
    progress.finish()?;
    answer.tests.push(tests);
    Ok(Some(fast || go_on))
}

/// Runs the sides of a level, a wave at a time.
struct Wave<'a, 'b> {
    engine: &'a mut dyn Engine,
    options: &'a Options,
    answer: &'a mut Answer<'b>,
    progress: LevelProgress<'a>,
    neighbours: &'a Neighbours,
    size: usize,
    tests: u64,
    /// Memory that the waves share.
    set: Vec<u32>,
    verdicts: Vec<Verdict>,
}

impl Wave<'_, '_> {
    /// Runs and enters the sides, leaving none; `kept` gets those whose pair is still there.
    fn run(&mut self, sides: &mut Vec<PairSide>, mut kept: impl FnMut(&PairSide)) -> Result<()> {
        let Options { alpha, na_delete, .. } = *self.options;
        let shard_tests = self.engine.layout().shard_tests;
        self.engine.arrange(sides);
        let level = Level::new(self.size, self.neighbours, std::mem::take(sides), alpha, na_delete, shard_tests);
        let mut verdicts = std::mem::take(&mut self.verdicts);
        self.engine.run(&level, &mut verdicts, &mut self.progress)?;
        self.progress.add(&level);
        self.answer.exact_tests += self.engine.take_exact_tests();
        for (side, verdict) in level.sides.iter().zip(&verdicts) {
            self.tests += visited(verdict, side.count);
            if !self.enter(side, verdict)? {
                kept(side);
            }
        }
        self.verdicts = verdicts;
        *sides = level.sides;
        sides.clear();
        Ok(())
    }

    /// Enters a verdict; `true` when it removed the pair.
    fn enter(&mut self, side: &PairSide, verdict: &Verdict) -> Result<bool> {
        let (row, other) = (side.row as usize, side.other as usize);
        match *verdict {
            Verdict::Dependent { p, .. } => {
                self.answer.raise(row, other, p);
                Ok(false)
            }
            Verdict::Independent { rank, p } => {
                self.answer.raise(row, other, p);
                self.answer.graph.remove(row, other);
                side.set_into(self.neighbours, self.size, rank, &mut self.set);
                let (x, y) = match self.options.method {
                    // The C++ keeps every set under the larger vertex.
                    Method::StableFast => (row.max(other), row.min(other)),
                    _ => (row, other),
                };
                self.answer.sepsets.insert(x, y, &self.set);
                Ok(true)
            }
            Verdict::Undefined { rank, reason } => {
                Err(Error::Numeric { x: row, y: other, s: side.set(self.neighbours, self.size, rank), reason })
            }
        }
    }
}

/// How many tests pcalg performs on a side with this outcome.
fn visited(verdict: &Verdict, all: u64) -> u64 {
    match verdict {
        Verdict::Independent { rank, .. } => rank + 1,
        _ => all,
    }
}
