//! The pairs of a level as tasks for threads.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use crate::graph::{subsets, Adjacency};
use crate::memory::{self, Use};
use crate::search::level::Neighbours;
use crate::search::progress::SetCounts;
use crate::Result;

/// Rows that stand together: their pairs are decided by blocks of the other vertex, so that what is read of it is used by
/// all of them while it is in the cache.
const TILE_ROWS: usize = 32;

/// Vertices in such a block.
const TILE_OTHERS: u32 = 256;

/// Lanes of a heavy row that are run together.
const HEAVY_LANES: usize = 64;

/// A heavy row is cut into at most this many ranges of sets.
const MOST_PIECES: u64 = 4096;

/// The pairs to be decided, by the row that their sets are chosen from: where the others stand in its list, ascending.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// By row: which of `places`.
    of_row: Vec<Range<usize>>,
    places: Vec<u32>,
}

impl Lanes {
    /// All pairs x < y of rows that have more than `size` neighbours; x is the row.
    pub fn of_first(neighbours: &Neighbours, size: usize) -> Self {
        let widest = (0..neighbours.p()).map(|x| neighbours.degree(x)).max().unwrap_or(0);
        let of_row = |x: usize| match neighbours.degree(x) {
            // The places 0, 1, 2, ... serve every row.
            degree if degree > size => neighbours.place(x, x) as usize..degree,
            _ => 0..0,
        };
        Lanes { of_row: (0..neighbours.p()).map(of_row).collect(), places: (0..widest as u32).collect() }
    }

    /// Those of [`Lanes::of_first`] that are in a graph.
    pub fn of_first_in(neighbours: &Neighbours, size: usize, pairs: &Adjacency) -> Self {
        let mut lanes = Lanes::default();
        for x in 0..neighbours.p() {
            let start = lanes.places.len();
            if neighbours.degree(x) > size {
                let list = neighbours.list(x);
                let places =
                    (neighbours.place(x, x)..list.len() as u32).filter(|&at| pairs.has(x, list[at as usize] as usize));
                lanes.places.extend(places);
            }
            lanes.of_row.push(start..lanes.places.len());
        }
        lanes
    }

    /// The pairs (x, y) with y as their row.
    pub fn of_second(neighbours: &Neighbours, pairs: &[[u32; 2]]) -> Self {
        let p = neighbours.p();
        let mut starts = vec![0; p + 1];
        for &[_, y] in pairs {
            starts[y as usize + 1] += 1;
        }
        for y in 0..p {
            starts[y + 1] += starts[y];
        }
        let mut next = starts.clone();
        let mut places = vec![0; pairs.len()];
        for &[x, y] in pairs {
            let y = y as usize;
            places[next[y]] = neighbours.place(y, x as usize);
            next[y] += 1;
        }
        let of_row: Vec<Range<usize>> = starts.windows(2).map(|ends| ends[0]..ends[1]).collect();
        for row in &of_row {
            places[row.clone()].sort_unstable();
        }
        Lanes { of_row, places }
    }

    /// The lanes of a row.
    pub fn of(&self, row: usize) -> &[u32] {
        &self.places[self.of_row[row].clone()]
    }

    /// Whether the row has any.
    pub fn any(&self, row: usize) -> bool {
        !self.of_row[row].is_empty()
    }
}

/// What one thread does at a time.
#[derive(Debug)]
pub(super) enum Task {
    /// All sets of the lanes of some rows whose other vertex lies in a range.
    Tile {
        /// The rows.
        rows: Range<usize>,
        /// The other vertices.
        others: Range<u32>,
    },
    /// Some sets of some lanes of a heavy row.
    Piece {
        /// The row.
        row: usize,
        /// Which of the row's lanes.
        lanes: Range<usize>,
        /// Which sets, by rank among the subsets of the row's whole list.
        sets: Range<u64>,
        /// Where the lanes' entries in [`Tasks::found`] start.
        found: usize,
    },
}

/// A level's tasks; every set of every lane is in exactly one.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Number of tests of each at most.
    pub costs: Vec<f64>,
    /// By lane of the rows that are cut: the smallest rank found to separate.
    pub found: Vec<AtomicU64>,
}

impl Tasks {
    /// Cuts the lanes of rows with at least `size` other neighbours into tasks of about `shard_tests` tests or, of the many
    /// sets that a level of single variables leaves out, somewhat more; in smaller ones where `threads` would wait.
    pub fn new(neighbours: &Neighbours, lanes: &Lanes, size: usize, shard_tests: u64, threads: usize) -> Result<Self> {
        let p = neighbours.p();
        let mut counts = SetCounts::new(size);
        let mut tests_a_lane = |row: usize| counts.of_row(neighbours.degree(row));
        let of_row: Vec<f64> = (0..p).map(|row| tests_a_lane(row) * lanes.of(row).len() as f64).collect();
        let total: f64 = of_row.iter().sum();
        let most = shard_tests as f64 * 32.0;
        let least = shard_tests as f64 / 8.0;
        let target = (total / (16 * threads) as f64).clamp(least, most);
        // Blocks of the other vertex pay where rows are long and most sets are left out.
        let blocks: u32 = if size == 1 { (p as u32).div_ceil(TILE_OTHERS) } else { 1 };
        let others =
            |block: u32| if blocks == 1 { 0..p as u32 } else { block * TILE_OTHERS..(block + 1) * TILE_OTHERS };

        let mut tasks = Tasks::default();
        let mut row = 0;
        while row < p {
            let (start, mut cost) = (row, 0.0);
            while row < p && row - start < TILE_ROWS && cost + of_row[row] <= target * f64::from(blocks) {
                cost += of_row[row];
                row += 1;
            }
            if row > start {
                if cost > 0.0 {
                    for block in 0..blocks {
                        memory::push(
                            &mut tasks.tasks,
                            Task::Tile { rows: start..row, others: others(block) },
                            Use::Level,
                        )?;
                        memory::push(&mut tasks.costs, cost / f64::from(blocks), Use::Level)?;
                    }
                }
            } else {
                tasks.cut(neighbours, lanes, row, size, tests_a_lane(row), target)?;
                row += 1;
            }
        }
        Ok(tasks)
    }

    /// One heavy row: a few lanes at a time, and where these are heavy, a range of sets.
    fn cut(
        &mut self,
        neighbours: &Neighbours,
        lanes: &Lanes,
        row: usize,
        size: usize,
        tests_a_lane: f64,
        target: f64,
    ) -> Result<()> {
        let count = lanes.of(row).len();
        let all = subsets::binomial(neighbours.degree(row), size).unwrap_or(u64::MAX);
        let width = count.min(HEAVY_LANES);
        for from in (0..count).step_by(width.max(1)) {
            let part = from..(from + width).min(count);
            let cost = tests_a_lane * part.len() as f64;
            let pieces = ((cost / target).ceil() as u64).clamp(1, MOST_PIECES);
            let step = all.div_ceil(pieces);
            let found = self.found.len();
            for _ in part.clone() {
                memory::push(&mut self.found, AtomicU64::new(u64::MAX), Use::Level)?;
            }
            let mut next = 0;
            while next < all {
                let end = next.saturating_add(step).min(all);
                let task = Task::Piece { row, lanes: part.clone(), sets: next..end, found };
                memory::push(&mut self.tasks, task, Use::Level)?;
                memory::push(&mut self.costs, cost * (end - next) as f64 / all as f64, Use::Level)?;
                next = end;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of every lane once, whatever the sizes.
    #[test]
    fn tasks_cover_every_set_of_every_lane_once() {
        let p = 70;
        let lists: Vec<Vec<u32>> =
            (0..p as u32).map(|x| (0..p as u32).filter(|y| (x * 31 + y * 17) % 3 != 0).collect()).collect();
        let neighbours = Neighbours::of(Adjacency::from_lists(&lists));
        let asked: Vec<Vec<u32>> =
            (0..p as u32).map(|x| (0..p as u32).filter(|y| (x + y) % 5 != 0).collect()).collect();
        let asked = Adjacency::from_lists(&asked);
        for (size, shard_tests, threads) in [(1, 1, 1), (1, 1 << 16, 2), (2, 3, 1), (3, 500, 8), (2, 1 << 30, 3)] {
            let lanes = Lanes::of_first_in(&neighbours, size, &asked);
            let tasks = Tasks::new(&neighbours, &lanes, size, shard_tests, threads).unwrap();
            let mut seen: Vec<Vec<Range<u64>>> = vec![Vec::new(); p * p];
            for task in &tasks.tasks {
                match task {
                    Task::Tile { rows, others } => {
                        for row in rows.clone() {
                            let all = subsets::binomial(neighbours.degree(row), size).unwrap();
                            for &place in lanes.of(row) {
                                let other = neighbours.list(row)[place as usize];
                                if others.contains(&other) {
                                    seen[row * p + other as usize].push(0..all);
                                }
                            }
                        }
                    }
                    Task::Piece { row, lanes: part, sets, .. } => {
                        for &place in &lanes.of(*row)[part.clone()] {
                            seen[row * p + neighbours.list(*row)[place as usize] as usize].push(sets.clone());
                        }
                    }
                }
            }
            for x in 0..p {
                let all = subsets::binomial(neighbours.degree(x), size).unwrap();
                for y in 0..p {
                    let mut next = 0;
                    for range in &seen[x * p + y] {
                        assert_eq!(range.start, next);
                        next = range.end;
                    }
                    let wanted = x < y && neighbours.adjacent(x, y) && (x + y) % 5 != 0;
                    assert_eq!(next, if wanted { all } else { 0 }, "{x}, {y} at size {size}");
                }
            }
        }
    }

    #[test]
    fn first_sides_are_those_of_a_graph_or_all() {
        let neighbours = Neighbours::of(Adjacency::from_lists(&[vec![1, 2, 3], vec![2], vec![3], vec![4], vec![]]));
        for lanes in [Lanes::of_first(&neighbours, 2), Lanes::of_first_in(&neighbours, 2, &Adjacency::complete(5))] {
            assert_eq!((lanes.of(0), lanes.of(2), lanes.of(3)), (&[0, 1, 2][..], &[2][..], &[2][..]));
            assert!(!lanes.any(1) && !lanes.any(4));
        }
    }

    #[test]
    fn second_sides_stand_by_row() {
        let neighbours = Neighbours::of(Adjacency::complete(5));
        let lanes = Lanes::of_second(&neighbours, &[[2, 4], [0, 3], [0, 4], [2, 3]]);
        assert_eq!((lanes.of(3), lanes.of(4), lanes.any(2)), (&[0, 2][..], &[0, 2][..], false));
    }
}
