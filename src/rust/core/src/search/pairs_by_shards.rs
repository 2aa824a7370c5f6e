//! Pairs of level 1 by the shards of a worker that decides no pairs: where a machine that does has no room for a level.

use std::ops::Range;

use super::checkpoint::Found;
use super::largest::{Largest, PairValues};
use super::ledger::Ledger;
use super::order::with_ledger;
use super::pairs::{verdicts_to_bytes, Decided, PairLevel, Take, NO_SEPARATOR, SECOND};
use super::stable::Stable;
use super::worker::Worker;
use super::Options;
use crate::graph::{Ranked, SepSetLog};
use crate::observer::Observer;
use crate::{Error, Result};

/// Decides the pairs of some rows by the shards of a worker: the level of a search in which all other pairs stay.
///
/// # Errors
/// Those of the worker and of `take`.
pub fn pairs_by_shards(
    worker: &mut dyn Worker,
    level: &PairLevel,
    rows: &Range<usize>,
    take: Take,
    observer: &mut dyn Observer,
) -> Result<()> {
    let PairLevel { options, graph, .. } = *level;
    let pool = worker.pool().clone();
    let mut others = graph.clone();
    for x in rows.clone() {
        graph.neighbours_above(x).for_each(|y| others.remove(x, y as usize));
    }
    let options = Options { fixed_edges: Some(others), ..options.clone() };
    let mut values = PairValues::default();
    values.open(&options, graph, &options.testable(graph), 0.0)?;
    let sepsets = SepSetLog::new(options.p, options.empty_side());
    let found = Found { levels: 1, graph: graph.clone(), sepsets, is_exact: false };
    let mut ledger = Ledger::new(&options, Largest::Left(&mut values));
    ledger.resume(found, None);
    let mut search = with_ledger(Stable { worker }, ledger);
    let counted = search.conditional(1, observer)?;
    let (_, sepsets) = search.finish(observer)?;
    let ranked = Ranked::new(graph.clone(), &pool)?;
    let (mut verdicts, mut found) = (Vec::new(), Vec::new());
    for (x, y) in rows.clone().flat_map(|x| ranked.larger(x).map(move |y| (x, y as usize))) {
        let of = |row: usize, other: usize| {
            let [row, other] = options.kept_under(row as u32, other as u32).map(|v| v as usize);
            sepsets.get(row, other).and_then(|set| set.first().copied())
        };
        verdicts.push(match (of(x, y), of(y, x)) {
            (Some(z), _) => z,
            (None, Some(z)) => z | SECOND,
            (None, None) => NO_SEPARATOR,
        });
        found.extend(values.get(x, y).unwrap_or(options.untested()).to_le_bytes());
    }
    let bytes = verdicts_to_bytes(options.p, &verdicts);
    match take(&Decided { rows: rows.clone(), counted, verdicts: &bytes, values: &found })? {
        true => Ok(()),
        false => Err(Error::Interrupted),
    }
}
