//! The enumeration of a row's sets of two or more candidates.

use std::ops::Range;

use super::super::quad::Quad;
use super::super::walk;
use super::row::Row;
use super::sets::{Sets, LANES};
use crate::graph::subsets;

/// Number of lanes at or below which they go to the walk of a pair, if that finds runs of at least `LONG_RUN` sets.
const FEW_LANES: u32 = 3;
const LONG_RUN: usize = 40;

/// Number of sets between two checks of the signal.
const LOOK: u64 = 1 << 12;

/// The state of the enumeration of a row's sets.
struct Cursor {
    /// Rank of the next set in the whole list.
    rank: u64,
    /// The undecided lanes, as bits.
    active: u64,
    /// Depths up to this one are up to date; `broken` is the first depth whose pivot is too small, if any.
    fresh: usize,
    broken: Option<usize>,
    /// Rank at which to check the signal.
    look_at: u64,
}

impl Sets {
    #[inline(always)]
    pub fn run<Q: Quad>(&mut self, simd: Q::Simd, row: &mut Row, lanes: Range<usize>, walks: &mut walk::Scratch) {
        if !self.start(row, lanes) {
            return;
        }
        let mut cursor = Cursor {
            rank: row.view.sets.start,
            active: if self.lanes.len() == LANES { !0u64 } else { (1u64 << self.lanes.len()) - 1 },
            fresh: 0,
            broken: None,
            look_at: row.view.sets.start + LOOK,
        };
        loop {
            // The compiler unrolls loops over a few registers if their number is known.
            let goes_on = match self.lanes.len().div_ceil(4) {
                1 => self.enumerate::<Q, 1>(simd, row, &mut cursor),
                2 => self.enumerate::<Q, 2>(simd, row, &mut cursor),
                3 => self.enumerate::<Q, 3>(simd, row, &mut cursor),
                4 => self.enumerate::<Q, 4>(simd, row, &mut cursor),
                _ => self.enumerate::<Q, 0>(simd, row, &mut cursor),
            };
            if !goes_on {
                break;
            }
            // Half of the lanes are decided: the others are closed up.
            self.close_up(cursor.active, cursor.fresh);
            cursor.active = (1u64 << self.lanes.len()) - 1;
        }
        if row.signal.stop_requested() {
            return;
        }
        self.finish(row, cursor.active, cursor.rank, walks);
    }

    /// Runs sets from the cursor on, with lanes in `W` fours (0: as many as there are). Returns `true` when it is time to close up the lanes.
    #[inline(always)]
    fn enumerate<Q: Quad, const W: usize>(&mut self, simd: Q::Simd, row: &mut Row, cursor: &mut Cursor) -> bool {
        let list = row.list();
        let (d, size) = (list.len(), row.view.size);
        let depth = size - 1;
        let fours = if W == 0 { self.lanes.len().div_ceil(4) } else { W };
        let Cursor { mut rank, mut active, mut fresh, mut broken, mut look_at } = *cursor;
        let mut close_up = false;
        while rank < row.view.sets.end && active != 0 {
            if active.count_ones() <= FEW_LANES && d / size >= LONG_RUN {
                break;
            }
            if rank >= look_at {
                look_at = rank + LOOK;
                if row.signal.stop_requested() {
                    break;
                }
                active &= !self.found_elsewhere(row.view);
            }
            if fours > 1 && active.count_ones() as usize <= 2 * fours {
                close_up = active != 0;
                break;
            }
            while fresh < depth && broken.is_none() {
                if self.eliminate::<Q, W>(simd, row, fresh, fours) {
                    fresh += 1;
                } else {
                    broken = Some(fresh);
                }
            }
            let first = self.positions[depth] as usize;
            let last = d.min(first + (row.view.sets.end - rank).min(d as u64) as usize);
            let blocked = self.positions[..depth].iter().fold(0, |lanes, &at| lanes | self.bit_at(at as usize));
            if broken.is_some() {
                row.set.clear();
                row.set.extend(self.positions.iter().map(|&at| list[at as usize]));
                for (s, &last_member) in list.iter().enumerate().take(last).skip(first) {
                    row.set[depth] = last_member;
                    self.positions[depth] = s as u32;
                    let allowed = active & !blocked & !self.bit_at(s);
                    active &= !self.all_exactly(row, allowed);
                }
            } else if active & !blocked != 0 {
                for s in first..last {
                    let allowed = active & !blocked & !self.bit_at(s);
                    if allowed == 0 {
                        continue;
                    }
                    let leaf = self.leaf::<Q, W>(simd, row, s, rank + (s - first) as u64, depth, fours);
                    let suspects = if leaf.trusted {
                        allowed & self.suspects::<Q, W>(simd, row, &leaf, depth, fours)
                    } else {
                        allowed
                    };
                    if suspects != 0 {
                        self.positions[depth] = s as u32;
                        row.set.clear();
                        row.set.extend(self.positions.iter().map(|&at| list[at as usize]));
                        active &= !self.look(row, &leaf, suspects);
                    }
                }
            }
            self.positions[depth] = first as u32;
            rank += (last - first) as u64;
            if rank >= row.view.sets.end {
                break;
            }
            let place = subsets::advance_prefix(d, &mut self.positions);
            fresh = fresh.min(place);
            if broken.is_some_and(|at| at >= place) {
                broken = None;
            }
        }
        *cursor = Cursor { rank, active, fresh, broken, look_at };
        close_up
    }
}
