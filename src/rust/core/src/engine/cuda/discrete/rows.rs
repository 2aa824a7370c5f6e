//! Levels of sets in parts: some rows at a time, with the columns of their neighbours. On the card these variables are numbered from 0, in
//! their order, and only the rows have lists, so that the kernels of a search as a whole run them.

use std::collections::VecDeque;

use super::counting::{self, BESIDE_COLUMNS};
use super::parts::InParts;
use super::{Level, Way};
use crate::ci::discrete::Discrete;
use crate::engine::batched::Open;
use crate::engine::cuda::arguments::SLOT_BYTES;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::CudaSearch;
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::{CandidateOrder, Neighbours, Verdict};
use crate::search::shards::Work;
use crate::Result;

/// Words of 8 bytes of a slot, and what they hold: see `DiscreteSlot`.
const WORDS: usize = SLOT_BYTES as usize / 8;
const STOP: usize = 0;
const P_STOP: usize = 2;
const LARGEST: usize = 3;

type Slot = [u64; WORDS];

/// A slot of a side that takes part.
const OPEN: Slot = [u64::MAX, u64::MAX, 0, 0, 0, 0];

/// One of a side that does not: no rank is below its stop.
const CLOSED: Slot = [0, 0, 0, 0, 0, 0];

/// The pairs of a row.
type Row<'o> = &'o [Open];

fn row_of(pairs: Row) -> usize {
    pairs[0].side.row as usize
}

/// The variables of some rows and of their neighbours.
struct Near<'n> {
    neighbours: &'n Neighbours,
    by_common: bool,
    /// By variable: the bytes of its columns, and its number among those, from 1; 0: it is none of them.
    bytes: Vec<u64>,
    numbers: Vec<u32>,
    variables: Vec<u32>,
    /// Bytes of their columns, and neighbours of the rows.
    columns: u64,
    entries: u64,
}

impl Near<'_> {
    /// Forgets all rows, and takes these.
    fn set<'o>(&mut self, rows: impl IntoIterator<Item = Row<'o>>) {
        self.variables.iter().for_each(|&v| self.numbers[v as usize] = 0);
        self.variables.clear();
        (self.columns, self.entries) = (0, 0);
        rows.into_iter().for_each(|row| self.add(row));
    }

    fn add(&mut self, pairs: Row) {
        let row = row_of(pairs);
        for &v in std::iter::once(&(row as u32)).chain(self.neighbours.list(row)) {
            if std::mem::replace(&mut self.numbers[v as usize], 1) == 0 {
                self.columns += self.bytes[v as usize];
                self.variables.push(v);
            }
        }
        self.entries += self.neighbours.degree(row) as u64;
    }

    /// Bytes that they take on the card.
    fn needs(&self) -> u64 {
        let [.., end] = self.places();
        self.columns + 2 * BESIDE_COLUMNS + end
    }

    /// Numbers the variables in their order.
    fn number(&mut self) {
        self.variables.sort_unstable();
        for (number, &v) in (1..).zip(&self.variables) {
            self.numbers[v as usize] = number;
        }
    }

    /// A variable's number, from 0.
    fn of(&self, v: u32) -> u32 {
        self.numbers[v as usize] - 1
    }

    /// Where twins, lists, offsets, items and the graph's bits begin on the card, in bytes from the slots, and where these end.
    fn places(&self) -> [u64; 6] {
        let (count, entries) = (self.variables.len() as u64, self.entries);
        let sizes = [
            SLOT_BYTES * (entries + 1),
            4 * entries,
            4 * entries,
            8 * (count + 1),
            8 * (count + 1),
            if self.by_common { 8 * count * count.div_ceil(64) } else { 0 },
        ];
        let mut end = 0;
        sizes.map(|size| {
            end += size.next_multiple_of(256);
            end
        })
    }
}

impl InParts<'_, '_> {
    /// Decides pairs, and enters them in the pages; returns those of rows whose neighbours' columns do not fit together.
    pub(super) fn answer_rows(
        &mut self,
        work: &Work,
        book: &Book,
        pages: &mut [Page],
        open: VecDeque<Open>,
        observer: &mut dyn Observer,
    ) -> Result<VecDeque<Open>> {
        let (test, size, neighbours) = (self.test, work.size, work.neighbours);
        let mut open: Vec<Open> = open.into();
        open.sort_unstable_by_key(|pair| (pair.side.row, pair.side.place));
        let Some(side) = open.first().map(|pair| pair.side) else { return Ok(VecDeque::new()) };
        let rows: Vec<Row> = open.chunk_by(|a, b| a.side.row == b.side.row).collect();
        let p = test.data().p();
        memory::room(12 * p + 16 * rows.len(), Use::Level)?;
        let bytes = (0..p).map(|v| counting::column_bytes(&test, v)).collect();
        let by_common = side.order == CandidateOrder::CommonLast;
        let (numbers, variables) = (vec![0; p], Vec::new());
        let mut near = Near { neighbours, by_common, bytes, numbers, variables, columns: 0, entries: 0 };
        let mut needs_of = |row: &Row| {
            near.set([*row]);
            near.needs()
        };
        let needs: Vec<u64> = rows.iter().map(&mut needs_of).collect();
        near.set(rows.iter().copied());
        let range = [needs.iter().copied().min().unwrap_or(0), near.needs()];
        let widest = rows.iter().map(|row| neighbours.degree(row_of(row))).max().unwrap_or(0);
        let mut search = self.search();
        let piece = search.plan_piece(&test, size, widest, range);
        let piece = match piece {
            Err(error) if error.is_short_of_device_memory() => return Ok(open.into()),
            piece => piece?,
        };

        let second = u64::from(side.other < side.row);
        let total = work.cost();
        let mut done = 0.0;
        let mut next = 0;
        while next < rows.len() {
            let mut some: Vec<Row> = Vec::new();
            near.set([]);
            while next < rows.len()
                && (needs[next] > piece || {
                    near.add(rows[next]);
                    near.needs() <= piece
                })
            {
                if needs[next] <= piece {
                    some.push(rows[next]);
                }
                next += 1;
            }
            if some.is_empty() {
                continue;
            }
            near.set(some.iter().copied());
            near.number();
            let slots = search.run_rows(&test, &near, &some, second, &mut || observer.progress(size, done, total))?;
            let mut slots = &slots[..];
            for row in some {
                let (own, others) = slots.split_at(neighbours.degree(row_of(row)));
                enter(work, book, pages, row, own);
                done += row.iter().map(|pair| pair.end as f64).sum::<f64>();
                slots = others;
            }
        }
        let is_left: Vec<bool> = needs.iter().map(|&need| need > piece).collect();
        let left_of = rows.iter().zip(is_left).filter(|(_, left)| *left).map(|(row, _)| row_of(row) as u32);
        let left_of: Vec<u32> = left_of.collect();
        open.retain(|pair| left_of.binary_search(&pair.side.row).is_ok());
        Ok(open.into())
    }
}

/// Enters what a row's slots say of its pairs.
fn enter(work: &Work, book: &Book, pages: &mut [Page], row: Row, slots: &[Slot]) {
    let mut set = vec![0; work.size];
    for pair in row {
        let slot = &slots[pair.side.place as usize];
        let verdict = match (slot[STOP], slot[LARGEST]) {
            (u64::MAX, 0) => Verdict::Dependent { rank: 0, p: -1.0 },
            (u64::MAX, largest) => Verdict::Dependent { rank: 0, p: f64::from_bits(largest - 1) },
            (stop, _) => {
                let rank = match pair.side.order {
                    CandidateOrder::CommonLast => stop,
                    CandidateOrder::Ascending => {
                        // The kernels number the sets of the row's whole list.
                        set.resize(work.size, 0);
                        subsets::unrank(slots.len(), stop, &mut set);
                        subsets::rank_without(slots.len(), &set, pair.side.place as usize)
                    }
                };
                Verdict::Independent { rank, p: f64::from_bits(slot[P_STOP]) }
            }
        };
        set.clear();
        if let (true, Verdict::Independent { rank, .. }) = (book.wants_sets(), verdict) {
            pair.side.set_into(work.neighbours, work.size, rank, &mut set);
        }
        let outcome = Answer { at: pair.at, verdict, set: &set, exact_tests: 0 };
        pages[pair.shard].enter(pair.side.row, &outcome);
    }
}

impl CudaSearch<'_, '_> {
    /// Runs the pairs of some rows; the slots of all of the rows' neighbours, row after row.
    fn run_rows(
        &mut self,
        test: &Discrete,
        near: &Near,
        rows: &[Row],
        second: u64,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Slot>> {
        let size = self.args.size as usize;
        let (mut args, counted, taken) = self.take_columns(test, &near.variables)?;
        let slot: DevicePtr<Slot> = args.codes.carve(taken);
        let [twin, list, offset, items, graph, _] = near.places();
        let widest = rows.iter().map(|row| near.neighbours.degree(row_of(row))).max().unwrap_or(0);
        let Way { beta, gamma, kernel, stages } = self.way(test, size, widest);
        args.tile = (2 * near.entries / u64::from(counted.scratch.blocks)).next_power_of_two().clamp(4, args.tile);
        args.a.beta = beta;
        args.a.gamma = gamma;
        args.a.slot = slot.cast();
        args.a.twin = slot.carve(twin);
        args.a.list = slot.carve(list);
        args.a.offset = slot.carve(offset);
        args.a.first_item = slot.carve(items);
        if near.by_common {
            args.a.graph = slot.carve(graph);
            args.a.words = 2 * near.variables.len().div_ceil(64) as u64;
            self.engine.held.upload(args.a.graph.cast(), &bits(near))?;
        }

        let entries = near.entries as usize;
        let mut slots = vec![CLOSED; entries];
        let mut neighbours = Vec::with_capacity(entries);
        let mut offsets = Vec::with_capacity(near.variables.len() + 1);
        for row in rows {
            let number = near.of(row_of(row) as u32) as usize;
            offsets.resize(number + 1, neighbours.len() as u64);
            for pair in *row {
                slots[neighbours.len() + pair.side.place as usize] = OPEN;
            }
            neighbours.extend(near.neighbours.list(row_of(row)).iter().map(|&v| near.of(v)));
        }
        offsets.resize(near.variables.len() + 1, entries as u64);
        // The twin of all: a first side that separates nothing.
        slots.push(OPEN);
        let held = &self.engine.held;
        held.upload(slot, &slots)?;
        held.upload(args.a.twin, &vec![entries as u32; entries])?;
        held.upload(args.a.list, &neighbours)?;
        held.upload(args.a.offset, &offsets)?;

        let (blocks, threads, shared) = (counted.scratch.blocks, counted.threads, counted.shared);
        let mut level = Level { args, kernel, blocks, threads, shared, stages, variables: near.variables.clone() };
        self.begin_rows(&mut level, second, 0..near.variables.len())?;
        loop {
            self.engine.held.wait("a level of sets", look)?;
            let report = self.read_report()?;
            if self.go_on_rows(test, &mut level, second, &report, look)? {
                break;
            }
        }
        slots.truncate(entries);
        self.engine.held.fetch(slot, &mut slots, "a level of sets")?;
        Ok(slots)
    }
}

/// The graph among the variables: rows of whole words of 64 bits.
fn bits(near: &Near) -> Vec<u64> {
    let words = near.variables.len().div_ceil(64);
    let mut bits = vec![0; near.variables.len() * words];
    for (row, &v) in bits.chunks_exact_mut(words).zip(&near.variables) {
        for &other in near.neighbours.list(v as usize) {
            if let Some(number) = (near.numbers[other as usize] as usize).checked_sub(1) {
                row[number / 64] |= 1 << (number % 64);
            }
        }
    }
    bits
}
