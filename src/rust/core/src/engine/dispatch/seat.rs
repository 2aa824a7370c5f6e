//! A machine as the dispatcher sees it, and the pieces that it takes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use super::pace::Pace;
use crate::team::{Moved, Share, TeamReport};

/// Units that a seat takes at a time.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Piece {
    /// Its number, which no other piece has. A second seat may hold the same piece.
    pub task: u64,
    /// The number of the job to which it belongs.
    pub job: u64,
    pub units: Range<usize>,
    pub cost: f64,
    pub level: Option<usize>,
    /// The number of the report's shards that it counts for.
    pub(super) shards: usize,
    /// The seat that must do it, or `None` if any seat may.
    pub owner: Option<usize>,
}

/// The work of a seat at a level.
#[derive(Clone, Copy, Debug, Default)]
struct Did {
    shards: u64,
    moved: Moved,
    seconds: f64,
}

/// A machine that takes pieces.
pub(in crate::engine) struct Seat {
    /// Its name in reports ("cpu", "cuda:0").
    pub name: String,
    pub pace: Pace,
    pub is_lost: bool,
    /// The pieces that it holds, with the time since which it works on each.
    pub(super) held: Vec<(Piece, Instant)>,
    did: BTreeMap<Option<usize>, Did>,
}

impl Seat {
    pub fn new(name: impl Into<String>, pace: Pace) -> Self {
        Seat { name: name.into(), pace, is_lost: false, held: Vec::new(), did: BTreeMap::new() }
    }

    /// Returns the number of pieces that the seat holds.
    pub fn in_hand(&self) -> usize {
        self.held.len()
    }

    /// Records work of the seat, and what was copied for it.
    pub fn worked(&mut self, level: Option<usize>, shards: usize, moved: Moved, seconds: f64) {
        let did = self.did.entry(level).or_default();
        did.shards += shards as u64;
        did.moved += moved;
        did.seconds += seconds;
    }
}

/// Enters the work of seats during `elapsed` seconds, by seat and level. If there were several levels, each gets its share of the time.
pub(in crate::engine) fn report(seats: &mut [Seat], elapsed: f64, report: &mut TeamReport) {
    let mut busy: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    let all = seats.iter().flat_map(|seat| &seat.did);
    all.for_each(|(&level, did)| *busy.entry(level).or_default() += did.seconds);
    let all: f64 = busy.values().sum();
    for seat in seats {
        let did = std::mem::take(&mut seat.did);
        if seat.is_lost && did.is_empty() {
            continue;
        }
        for (&level, &of_level) in &busy {
            let Did { shards, moved, seconds } = did.get(&level).copied().unwrap_or_default();
            let elapsed = if busy.len() == 1 { elapsed } else { elapsed * of_level / all.max(1e-9) };
            let machine = seat.name.clone();
            report.enter(Share { machine, level, shards, moved, busy: seconds, elapsed, rows: 0 });
        }
    }
}
