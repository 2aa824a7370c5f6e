//! The pairs that a call asks for, and where their outcomes go.

use std::ops::Range;

use super::found::SideFound;
use super::place::Placed;
use super::Level;
use crate::ci::gauss::{Undefined, MISSING};
use crate::engine::cuda::arguments::{SIDE_KEEPS, SIDE_MISSING, SIDE_SEPARATES};
use crate::engine::cuda::gpu::transfer::threads_for_steps;
use crate::engine::cuda::lists::Lists;
use crate::memory::{self, Use};
use crate::pool::{part_of, Pool};
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::{CandidateOrder, PairSide, Verdict};
use crate::search::shards::{Part, Work};
use crate::Result;

/// A pair that is asked: its row, the place of the other vertex in the row's list, and the shard and index of its outcome.
#[derive(Clone, Copy)]
pub(super) struct Open {
    row: u32,
    pub place: u32,
    shard: u32,
    at: u32,
}

/// The questions of a call, and the pages for the results.
pub(super) struct Asking<'a, 'b, 'w> {
    pub work: &'a Work<'a>,
    pub lists: Lists<'a>,
    book: &'b Book<'w>,
    pub level: Level,
    pub second: bool,
    /// Pairs that are asked, by row, then place.
    pub open: Vec<Open>,
    first_shard: usize,
    pub pages: Vec<Page<'b, 'w>>,
}

impl<'a, 'b, 'w> Asking<'a, 'b, 'w> {
    /// Collects the pairs of these shards; shards that hold only some sets of a pair have none.
    pub fn new(work: &'a Work<'a>, shards: &Range<usize>, book: &'b Book<'w>, of_data: bool) -> Result<Self> {
        let (neighbours, mut open) = (work.neighbours, Vec::new());
        let sides = |shard: usize| match &work.shards[shard].part {
            Part::Sides(sides) => work.sides[sides.clone()].iter().copied(),
            _ => [].iter().copied(),
        };
        let lists = Lists::new(neighbours, shards.clone().flat_map(sides));
        for shard in shards.clone() {
            let mut push = |row: u32, place: u32, at: usize| {
                let (shard, at) = (shard as u32, at as u32);
                memory::push(&mut open, Open { row, place, shard, at }, Use::Level)
            };
            match &work.shards[shard].part {
                Part::Tile { rows, others } => {
                    for row in rows.clone() {
                        for at in work.lanes_between(row, others) {
                            push(row as u32, work.lanes.of(row)[at], at)?;
                        }
                    }
                }
                Part::Sides(sides) => {
                    for at in sides.clone() {
                        push(work.sides[at].row, lists.place(&work.sides[at]), at)?;
                    }
                }
                Part::Lanes { .. } | Part::Ranks { .. } => {}
            }
        }
        open.sort_unstable_by_key(|open| (open.row, open.place));
        // The first sides, whose rows are the smaller vertices, have done the tests given common neighbours.
        let is_second = |open: &Open| neighbours.list(open.row as usize)[open.place as usize] < open.row;
        let second = match work.sides.first() {
            Some(side) => side.order == CandidateOrder::CommonLast,
            None => work.size == 1 && neighbours.graph().is_some() && open.iter().all(is_second),
        };
        let widest = (0..neighbours.p()).map(|x| neighbours.degree(x)).max().unwrap_or(0);
        let level = Level { size: work.size, widest, of_data };
        let pages = shards.clone().map(|shard| book.open(shard)).collect();
        Ok(Asking { work, lists, book, level, second, open, first_shard: shards.start, pages })
    }

    /// Returns the rows that are asked, ascending.
    pub fn rows(&self) -> Vec<u32> {
        self.open.chunk_by(|a, b| a.row == b.row).map(|of_row| of_row[0].row).collect()
    }

    /// Returns the pairs that are asked of a row.
    pub fn of_row(&self, row: u32) -> &[Open] {
        let first = self.open.partition_point(|open| open.row < row);
        let count = self.open[first..].partition_point(|open| open.row == row);
        &self.open[first..first + count]
    }

    /// Enters the results of a batch's pairs. The batch has taken `exact_tests` tests by the exact formula.
    pub fn enter(&mut self, placed: &Placed, found: &SideFound, exact_tests: u64, pool: &Pool) {
        let local = &placed.local;
        let mut asked: Vec<(Open, usize)> = Vec::new();
        for (row, &x) in local.rows.iter().enumerate() {
            asked.extend(self.of_row(x).iter().map(|open| (*open, local.starts[row] + open.place as usize)));
        }
        asked.sort_by_key(|(open, _)| open.shard);
        let (work, book, first_shard, pages) = (self.work, self.book, self.first_shard, &mut self.pages);
        let each = part_of(asked.len().max(1), threads_for_steps(pool, 64 * asked.len()));
        // Parts of whole shards, each with its pages.
        let (mut parts, mut rest, mut pages, mut first) = (Vec::new(), &asked[..], &mut pages[..], first_shard);
        while let Some((last, _)) = rest.get(each - 1).or(rest.last()) {
            let last = last.shard as usize;
            let (own, others) = rest.split_at(rest.partition_point(|(open, _)| open.shard as usize <= last));
            let (of_part, later) = std::mem::take(&mut pages).split_at_mut(last + 1 - first);
            parts.push((own, of_part, first));
            (rest, pages, first) = (others, later, last + 1);
        }
        pool.each_of(parts, |number, (asked, pages, first): (&[(Open, usize)], &mut [Page], usize)| {
            let mut exact_tests = if number == 0 { exact_tests } else { 0 };
            let mut set = Vec::new();
            for &(Open { row, place, shard, at }, entry) in asked {
                let side = match work.sides.get(at as usize) {
                    Some(side) => *side,
                    None => {
                        let other = work.neighbours.list(row as usize)[place as usize];
                        PairSide { row, other, place, order: CandidateOrder::Ascending, count: 0 }
                    }
                };
                set.clear();
                let verdict = match found.verdict(entry) {
                    verdict @ (SIDE_SEPARATES | SIDE_MISSING) => {
                        set.extend(found.set(entry).iter().map(|&number| local.vertex(number)));
                        let rank = side.rank_of(work.neighbours, &set);
                        match verdict {
                            SIDE_MISSING => Verdict::Undefined {
                                rank,
                                reason: {
                                    let Undefined(reason) = MISSING;
                                    reason
                                },
                            },
                            _ => Verdict::Independent { rank, p: found.value(entry) },
                        }
                    }
                    SIDE_KEEPS => Verdict::Dependent { rank: 0, p: found.value(entry) },
                    // The first side has done all its tests.
                    _ => Verdict::Dependent { rank: 0, p: -1.0 },
                };
                if !book.wants_sets() {
                    set.clear();
                }
                let exact_tests = std::mem::take(&mut exact_tests);
                pages[shard as usize - first].enter(row, &Answer { at: at as usize, verdict, set: &set, exact_tests });
            }
        });
    }
}
