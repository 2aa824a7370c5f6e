//! Questions in batches: the correlations of adjacent questions are computed together.

use std::ops::Range;
use std::sync::Mutex;

use super::GaussOfData;
use crate::ci::gauss::{Gauss, Undefined};
use crate::ci::Batch;
use crate::engine::cpu::failed::Failed;
use crate::memory::{self, Use};
use crate::moments::{Gathered, Tiles};
use crate::observer::Observer;
use crate::pool::Stop;
use crate::Result;

/// Maximal number of variables in questions that are answered together.
const VARIABLES: usize = 48;

/// The working memory of one thread.
#[derive(Default)]
struct Thread {
    variables: Vec<u32>,
    c: Vec<f64>,
    gathered: Gathered,
    set: Vec<u32>,
}

/// Cuts a batch into parts of adjacent questions, because callers ask about one pair after another. A part has up to `most` variables, or one
/// question.
fn cut(batch: &Batch, most: usize) -> Result<Vec<Range<usize>>> {
    let mut parts = Vec::new();
    let mut variables: Vec<u32> = Vec::new();
    let mut start = 0;
    for at in 0..batch.len() {
        let (x, y, s) = batch.get(at);
        for v in [x as u32, y as u32].iter().chain(s) {
            if !variables.contains(v) {
                variables.push(*v);
            }
        }
        if variables.len() > most && at > start {
            memory::push(&mut parts, start..at, Use::Level)?;
            start = at;
            variables.clear();
            variables.extend([x as u32, y as u32]);
            variables.extend_from_slice(s);
        }
    }
    if start < batch.len() {
        memory::push(&mut parts, start..batch.len(), Use::Level)?;
    }
    Ok(parts)
}

/// Returns the p-values of the questions, as [`CpuEngine`](crate::engine::cpu::CpuEngine) gives them.
pub(super) fn p_values(
    engine: &GaussOfData,
    tiles: &Tiles,
    batch: &Batch,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>> {
    let widest = (0..batch.len()).map(|at| batch.get(at).2.len() + 2).max().unwrap_or(2);
    let bytes = |variables: usize| size_of::<f64>() * variables * variables;
    if !engine.bound.fits(bytes(widest)) {
        let why = format!("the correlations of a test with {} conditioning variables", widest - 2);
        return Err(engine.bound.refuses(bytes(widest), why));
    }
    // The share of each thread, if possible.
    let share = engine.bound.bytes / (engine.pool.threads() * size_of::<f64>()) as u64;
    let parts = cut(batch, ((share as f64).sqrt() as usize).clamp(2, VARIABLES))?;
    let mut values: Vec<f64> = memory::zeros(batch.len(), Use::Level)?;
    let mut slots: Vec<Mutex<&mut [f64]>> = memory::space(parts.len(), Use::Level)?;
    let mut rest = &mut values[..];
    for part in &parts {
        let (own, behind) = rest.split_at_mut(part.len());
        slots.push(Mutex::new(own));
        rest = behind;
    }
    let failed = Failed::none();
    let work = |thread: &mut Thread, part: usize, stop: &Stop| {
        let Ok(mut out) = slots[part].lock() else { return };
        let Thread { variables, c, gathered, set } = thread;
        variables.clear();
        for at in parts[part].clone() {
            let (x, y, s) = batch.get(at);
            variables.extend([x as u32, y as u32]);
            variables.extend_from_slice(s);
        }
        variables.sort_unstable();
        variables.dedup();
        let d = variables.len();
        c.clear();
        if !memory::grow(c, d * d, 0.0, Use::Correlations) {
            return;
        }
        tiles.among(variables, c, gathered, stop);
        let gauss = Gauss::of_part(c, d, &[], engine.test);
        // A set may name a variable twice, so its numbers are looked up one by one.
        let number = |v: u32| variables.partition_point(|&known| known < v) as u32;
        for (at, value) in parts[part].clone().zip(out.iter_mut()) {
            let (x, y, s) = batch.get(at);
            set.clear();
            set.extend(s.iter().map(|&v| number(v)));
            match gauss.p_value(number(x as u32) as usize, number(y as u32) as usize, set) {
                Ok(p) => *value = p,
                Err(Undefined(reason)) => return failed.note(at, reason),
            }
        }
    };
    let inline = batch.len() < 64;
    engine.pool.run(parts.len(), inline, |part| parts[part].len() as f64, &mut |_| observer.look(), work)?;
    drop(slots);
    failed.check(|at| batch.get(at))?;
    Ok(values)
}
