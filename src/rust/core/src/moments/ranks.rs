//! Ranks, with ties at their mean rank.

use std::sync::Mutex;

use super::columns::Of;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::Result;

/// Returns the ranks of the columns, one column after the other.
pub(super) fn ranks(
    columns: &[Numbers],
    of: &Of,
    n: usize,
    pool: &Pool,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    let mut ranks = memory::zeros(n * columns.len(), Use::Correlations)?;
    let slots: Vec<Mutex<&mut [f64]>> = ranks.chunks_mut(n.max(1)).map(Mutex::new).collect();
    let work = |values: &mut Vec<(f64, u32)>, task: usize, _: &Stop| {
        values.clear();
        if !memory::prepare(values, n, Use::Correlations) {
            return;
        }
        columns[task]
            .read(of, 0..n, |from, some| values.extend((from as u32..).zip(some).map(|(at, &value)| (value, at))));
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        if let Ok(mut slot) = slots[task].lock() {
            enter_ranks(values, &mut slot);
        }
    };
    pool.run(slots.len(), n * columns.len() < SMALL, |_| 1.0, &mut |_| look(), work)?;
    drop(slots);
    Ok(ranks)
}

/// Writes ranks from 1 of values in ascending order, with ties at their mean rank, to the places given with the values.
pub(super) fn enter_ranks(ascending: &[(f64, u32)], ranks: &mut [f64]) {
    let mut before = 0;
    for tied in ascending.chunk_by(|a, b| a.0 == b.0) {
        let rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
        tied.iter().for_each(|&(_, at)| ranks[at as usize] = rank);
        before += tied.len();
    }
}
