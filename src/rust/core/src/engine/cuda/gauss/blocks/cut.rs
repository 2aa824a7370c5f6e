//! How level 1 is cut into panels.

use std::ops::Range;

use crate::engine::cuda::gauss::rows::STEP;

/// Of the memory for panels, the part of the one that stays, in eighths; each of two that pass gets an eighth.
const STAYS: u64 = 6;

/// How many neighbours come before each row, and how many larger ones: p + 1 numbers.
pub(super) struct Ends {
    pub all: Vec<u64>,
    pub larger: Vec<u64>,
}

impl Ends {
    /// Of vertices with so many neighbours, whose pairs with larger ones are numbered from `larger` on.
    pub fn new(degrees: &[usize], larger: Vec<u64>) -> Self {
        let mut all = vec![0; degrees.len() + 1];
        for (x, &degree) in degrees.iter().enumerate() {
            all[x + 1] = all[x] + degree as u64;
        }
        Ends { all, larger }
    }

    /// Whether a block of rows that are taken together has so many neighbours.
    pub fn has_between(&self, range: Range<u64>) -> bool {
        let p = self.all.len() - 1;
        (0..p).step_by(STEP).any(|first| range.contains(&Self::within(&self.all, &(first..p.min(first + STEP)))))
    }

    pub fn within(ends: &[u64], rows: &Range<usize>) -> u64 {
        ends[rows.end] - ends[rows.start]
    }
}

/// The panels of a level.
pub(super) struct Cut {
    /// The panels that stay, and those that pass, of which the part beyond the staying one's rows counts; the latter may be none.
    pub stay: Vec<Range<usize>>,
    pub pass: Vec<Range<usize>>,
    pub room: Room,
}

/// What a pair of panels costs beside the cells that pass, in cells: a fifth of a millisecond.
const CELLS_OF_PAIR: u64 = 1 << 19;

impl Cut {
    /// The cells of correlations, p a row, that are brought or made for the panels, and what all pairs of them cost.
    pub fn cells(&self, p: usize) -> u64 {
        let of_staying = |rows: &Range<usize>| {
            let pass = self.pass.iter().filter(|pass| pass.end > rows.end);
            let (count, passing) =
                pass.fold((1, 0), |(n, sum), pass| (n + 1, sum + pass.end - pass.start.max(rows.end)));
            (p * (rows.len() + passing)) as u64 + count * CELLS_OF_PAIR
        };
        self.stay.iter().map(of_staying).sum()
    }
}

/// The most rows, neighbours, and larger ones that a panel has that stays; rows and neighbours of one that passes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub rows: u64,
    pub ends: u64,
    pub larger: u64,
    pub passing_rows: u64,
    pub passing_ends: u64,
}

impl Room {
    /// Bytes of the uses of memory, with p columns; `near`: with correlations by neighbour.
    pub fn uses(&self, p: u64, near: bool) -> [u64; 6] {
        let ends = self.ends + 2 * self.passing_ends;
        [
            8 * p * (self.rows + 2 * self.passing_rows),
            4 * ends,
            if near { 8 * ends } else { 0 },
            4 * self.ends,
            8 * self.larger,
            4 * self.larger,
        ]
    }
}

/// Panels whose cost is at most `share`, or of [`STEP`] rows.
fn panels(p: usize, share: u64, most: usize, cost: impl Fn(&Range<usize>) -> u64) -> Vec<Range<usize>> {
    let mut panels = Vec::new();
    let mut first = 0;
    while first < p {
        let mut end = p.min(first + STEP);
        while end < p && end - first + STEP <= most && cost(&(first..p.min(end + STEP))) <= share {
            end = p.min(end + STEP);
        }
        panels.push(first..end);
        first = end;
    }
    panels
}

/// Cuts the level so that it takes no more than `room` bytes, with panels of at most `most` rows; none where that cannot be. `near`: whether it
/// takes correlations by neighbour, none: no panels pass.
pub(super) fn cut(ends: &Ends, p: usize, room: u64, most: usize, near: Option<bool>) -> Option<Cut> {
    let (passes_any, near) = (near.is_some(), near == Some(true));
    let each = if near { 12 } else { 4 };
    let stays = |rows: &Range<usize>| {
        8 * (p * rows.len()) as u64 + (each + 4) * Ends::within(&ends.all, rows) + 12 * Ends::within(&ends.larger, rows)
    };
    let passes = |rows: &Range<usize>| 8 * (p * rows.len()) as u64 + each * Ends::within(&ends.all, rows);
    let mut share = room / 8;
    while share > 0 {
        let whole = most >= p && stays(&(0..p)) <= room;
        let stays_of = if passes_any { STAYS } else { 8 };
        let stay = if whole { std::iter::once(0..p).collect() } else { panels(p, stays_of * share, most, stays) };
        let pass = if stay.len() == 1 || !passes_any { Vec::new() } else { panels(p, share, most, passes) };
        let most_of =
            |panels: &[Range<usize>], of: &dyn Fn(&Range<usize>) -> u64| panels.iter().map(of).max().unwrap_or(0);
        let found = Room {
            rows: most_of(&stay, &|rows| rows.len() as u64),
            ends: most_of(&stay, &|rows| Ends::within(&ends.all, rows)),
            larger: most_of(&stay, &|rows| Ends::within(&ends.larger, rows)),
            passing_rows: most_of(&pass, &|rows| rows.len() as u64),
            passing_ends: most_of(&pass, &|rows| Ends::within(&ends.all, rows)),
        };
        // Panels with the most rows and with the most neighbours may be different ones.
        if found.uses(p as u64, near).iter().map(|bytes| bytes.max(&256).next_multiple_of(256)).sum::<u64>() <= room {
            return Some(Cut { stay, pass, room: found });
        }
        share = share * 7 / 8;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Adjacency, Ranked};
    use crate::pool::Pool;

    fn graph(p: usize, one_in: u64) -> Adjacency {
        let mut graph = Adjacency::empty(p);
        let mut random = 5u64;
        for x in 0..p {
            for y in x + 1..p {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if (random >> 33) % one_in == 0 {
                    graph.insert(x, y);
                }
            }
        }
        graph
    }

    #[test]
    fn every_pair_is_in_one_pair_of_panels_that_fit() {
        for (p, one_in) in [(65, 1), (300, 2), (700, 50), (130, 1000)] {
            let graph = graph(p, one_in);
            let degrees: Vec<usize> = (0..p).map(|x| graph.degree(x)).collect();
            let ends = Ends::new(&degrees, Ranked::new(graph.clone(), &Pool::none()).unwrap().firsts());
            for near in [false, true] {
                for room in (0..24).map(|k| 200_000u64 << k >> (k / 2)) {
                    let Some(cut) = cut(&ends, p, room, p, Some(near)) else { continue };
                    assert!(cut.room.uses(p as u64, near).iter().sum::<u64>() <= room);
                    let mut seen = 0;
                    for rows in &cut.stay {
                        assert!(rows.start % STEP == 0 && rows.len() as u64 <= cut.room.rows);
                        assert!(Ends::within(&ends.all, rows) <= cut.room.ends);
                        seen += rows.len() * (rows.len() - 1) / 2;
                        for pass in &cut.pass {
                            assert!(pass.start % STEP == 0 && pass.len() as u64 <= cut.room.passing_rows);
                            seen += rows.len() * (pass.start.max(rows.end)..pass.end).len();
                        }
                    }
                    assert_eq!(seen, p * (p - 1) / 2, "{p} {room}");
                }
                assert!(cut(&ends, p, 1000, p, Some(near)).is_none());
            }
            assert_eq!(ends.all[p] as usize, 2 * graph.edge_count());
            assert_eq!(ends.larger[p] as usize, graph.edge_count());
        }
    }
}
