//! Levels of sets in parts: some rows at a time, with the columns of their neighbours. Columns that the next rows need stay on the GPU.
//!
//! On the GPU these variables are numbered from 0, in their order, and only the rows have lists. The kernels of a whole search can then run
//! them. While some rows run, the host enters the results of the previous ones and prepares the next.

use std::collections::VecDeque;

use super::column_cache::{Chosen, ColumnCache, Columns};
use super::columns::{table_bytes, Parts, Places, Table};
use super::counting;
use super::parts::{Asked, InParts};
use super::{Level, Way};
use crate::ci::discrete::Discrete;
use crate::engine::batched::Open;
use crate::engine::cuda::arguments::SLOT_BYTES;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::lists::Lists;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::{CudaEngine, SearchStrategy};
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::answer::Answer;
use crate::search::book::Page;
use crate::search::level::{CandidateOrder, Verdict};
use crate::Result;

/// Words of 8 bytes in a slot, and their indices, see `DiscreteSlot`.
const WORDS: usize = SLOT_BYTES as usize / 8;
const STOP: usize = 0;
const P_STOP: usize = 2;
const LARGEST: usize = 3;

type Slot = [u64; WORDS];

/// Slot of a side that takes part.
const OPEN: Slot = [u64::MAX, u64::MAX, 0, 0, 0, 0];

/// Slot of a side that does not take part: no rank is below its stop.
const CLOSED: Slot = [0, 0, 0, 0, 0, 0];

/// The pairs of a row.
type Row<'o> = &'o [Open];

fn row_of(pairs: Row) -> usize {
    pairs[0].side.row as usize
}

/// Columns of a level that stay on the GPU from one part of it to the next, as there is room for all.
pub(in crate::engine::cuda) struct Standing {
    of: (u64, usize, bool),
    cut: Cut,
    columns: Columns,
}

/// Data of a level's batches in addition to lists.
#[derive(Clone, Copy)]
struct More {
    /// The graph's bits, if common neighbours come last among candidates.
    by_common: bool,
    /// Numbers of candidates, if lists have other vertices, too.
    candidates: bool,
}

/// Returns the bytes of a batch's parts on the GPU besides its columns, each rounded up. The parts are slots, twins, lists, offsets, the
/// graph's bits, numbers of candidates, and items. The rows' lists have `entries` entries, of `count` variables.
fn sizes(more: More, count: u64, entries: u64) -> [u64; 7] {
    let sizes = [
        SLOT_BYTES * (entries + 1),
        4 * entries,
        4 * entries,
        8 * (count + 1),
        if more.by_common { 8 * count * count.div_ceil(64) } else { 0 },
        if more.candidates { 4 * count } else { 0 },
        8 * (count + 1),
    ];
    sizes.map(|size| size.next_multiple_of(256))
}

/// Cut of a level's rows.
#[derive(Clone, Copy)]
struct Cut {
    more: More,
    /// Bytes of a place for a column.
    place: u64,
    /// Variables that the rows need; neighbours of all rows together, and of the widest row.
    count: u64,
    entries: u64,
    widest: u64,
}

impl Cut {
    /// Returns how many neighbours the rows of a batch may have together, if there are `held` columns.
    fn entries(&self, held: u64) -> u64 {
        (self.entries * held).div_ceil(self.count).max(self.widest.min(held - 1))
    }

    /// Returns the bytes of one batch besides its columns. A GPU has two batches.
    fn area(&self, held: u64) -> u64 {
        table_bytes(held).next_multiple_of(256) + sizes(self.more, held, self.entries(held)).iter().sum::<u64>()
    }

    /// Returns the bytes of everything with `held` columns.
    fn total(&self, held: u64) -> u64 {
        (held * self.place).next_multiple_of(256) + 2 * self.area(held)
    }

    /// Returns how many columns `bytes` hold.
    fn held(&self, bytes: u64) -> u64 {
        let (mut least, mut most) = (0, self.count);
        while least < most {
            let middle = (least + most).div_ceil(2);
            if self.total(middle) <= bytes {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }
}

/// Rows that run together, ready to be copied to the GPU.
struct Batch<'o> {
    rows: Vec<Row<'o>>,
    variables: Vec<u32>,
    table: Table,
    /// Neighbours of all rows together, and of the widest row.
    entries: usize,
    widest: usize,
    /// Words after the table, and where their parts end.
    words: Vec<u64>,
    ends: [u64; 7],
    more: More,
}

/// A batch on the stream, and the address of its slots.
struct Launched<'o> {
    batch: Batch<'o>,
    level: Level,
    slots: DevicePtr<Slot>,
}

/// Writes numbers of 4 bytes to words, from byte `at` on.
fn write(words: &mut [u64], at: u64, numbers: impl Iterator<Item = u32>) {
    for (at, number) in (at as usize / 4..).zip(numbers) {
        words[at / 2] |= u64::from(number) << (32 * (at % 2));
    }
}

impl<'o> Batch<'o> {
    /// Prepares a batch of the chosen rows. `numbers` has a 0 for each variable, before and after.
    fn new(chosen: Chosen, all: &[Row<'o>], lists: &Lists, more: More, numbers: &mut [u32]) -> Self {
        let rows: Vec<Row> = chosen.rows.iter().map(|&row| all[row]).collect();
        let variables: Vec<u32> = chosen.variables.iter().map(|&(v, _)| v).collect();
        let degrees = || rows.iter().map(|row| lists.degree(row_of(row)));
        let (entries, widest) = (degrees().sum::<usize>(), degrees().max().unwrap_or(0));
        let mut end = 0;
        let ends = sizes(more, variables.len() as u64, entries as u64).map(|size| {
            end += size;
            end
        });
        let [twins, of_lists, offsets, graph, candidates, items, _] = ends;
        (1..).zip(&variables).for_each(|(number, &v)| numbers[v as usize] = number);
        // Only the GPU writes items.
        let mut words = vec![0; items as usize / 8];
        let mut set = |at: usize, slot: &Slot| words[at * WORDS..][..WORDS].copy_from_slice(slot);
        let mut first = 0;
        for row in &rows {
            let degree = lists.degree(row_of(row));
            (first..first + degree).for_each(|at| set(at, &CLOSED));
            row.iter().for_each(|pair| set(first + lists.place(&pair.side) as usize, &OPEN));
            first += degree;
        }
        // The twin of all sides: a first side that separates nothing.
        set(entries, &OPEN);
        write(&mut words, twins, std::iter::repeat_n(entries as u32, entries));
        let members = rows.iter().flat_map(|row| lists.of(row_of(row)));
        write(&mut words, of_lists, members.map(|v| numbers[v as usize] - 1));
        let mut rest = rows.iter().map(|row| row_of(row)).peekable();
        let mut first = 0;
        for (at, &v) in (offsets as usize / 8..).zip(&variables) {
            words[at] = first;
            if rest.next_if_eq(&(v as usize)).is_some() {
                first += lists.degree(v as usize) as u64;
            }
        }
        words[offsets as usize / 8 + variables.len()] = first;
        if more.candidates {
            let count = |&v: &u32| lists.candidates(v as usize) as u32;
            write(&mut words, candidates, variables.iter().map(count));
        }
        if more.by_common {
            let width = variables.len().div_ceil(64);
            let bits = words[graph as usize / 8..].chunks_exact_mut(width.max(1));
            for (row, &v) in bits.zip(&variables) {
                for &other in lists.neighbours().list(v as usize) {
                    if let Some(number) = (numbers[other as usize] as usize).checked_sub(1) {
                        row[number / 64] |= 1 << (number % 64);
                    }
                }
            }
        }
        variables.iter().for_each(|&v| numbers[v as usize] = 0);
        let table = Table::new(chosen.variables, &chosen.fresh);
        Batch { rows, variables, table, entries, widest, words, ends, more }
    }
}

impl InParts<'_, '_> {
    /// Decides pairs, and enters them in the pages. Returns the pairs of rows whose neighbours' columns do not fit together.
    pub(super) fn answer_rows(
        &mut self,
        asked: &Asked,
        pages: &mut [Page],
        open: VecDeque<Open>,
        observer: &mut dyn Observer,
    ) -> Result<VecDeque<Open>> {
        let Asked { work, .. } = *asked;
        let (test, size) = (self.test, work.size);
        let mut open: Vec<Open> = open.into();
        let lists = Lists::new(work.neighbours, open.iter().map(|pair| pair.side));
        open.sort_unstable_by_key(|pair| (pair.side.row, pair.side.place));
        let Some(side) = open.first().map(|pair| pair.side) else { return Ok(VecDeque::new()) };
        let mut rows: Vec<Row> = open.chunk_by(|a, b| a.side.row == b.side.row).collect();
        let p = test.data().p();
        let degree = |row: &Row| lists.degree(row_of(row)) as u64;
        let entries: u64 = rows.iter().map(degree).sum();
        // The rows with their neighbours, here and by neighbour, and what is kept by row and by variable.
        memory::room(8 * entries as usize + 64 * (rows.len() + p), Use::Level)?;
        let mut needs: Vec<u32> = Vec::with_capacity(entries as usize + rows.len());
        for row in &rows {
            needs.push(row_of(row) as u32);
            needs.extend(lists.of(row_of(row)));
        }
        let by_common = side.order == CandidateOrder::CommonLast;
        let of = (work.neighbours.number(), size, by_common);
        let options = self.engine.rules(&test, by_common);
        let standing = self.engine.standing.take().filter(|standing| standing.of == of && lists.are_candidates());
        let mut search = self.engine.launches(&options);
        let (cut, columns) = match standing {
            Some(Standing { cut, columns, .. }) => {
                search.begin_piece(size, cut.widest as usize)?;
                (cut, columns)
            }
            None => {
                let cut = search.cut_of(&test, size, &lists, (&rows, &needs), by_common);
                let least = cut.total(rows.iter().map(degree).min().unwrap_or(0) + 1);
                match search.plan_piece(&test, size, cut.widest as usize, [least, cut.total(cut.count)]) {
                    Err(error) if error.is_short_of_device_memory() => return Ok(open.into()),
                    piece => (cut, Columns::none(cut.held(piece?) as usize)),
                }
            }
        };
        let Cut { place, more, .. } = cut;
        let held = columns.places() as u64;
        let at: DevicePtr<u8> = search.engine.held.device(Buffer::Data)?;
        let places = Places { at, bytes: place, parts: search.engine.parts_of_sets(&test) };
        let area = |turn: u64| places.after::<u64>(held).carve(turn % 2 * cut.area(held));

        let mut of_rows = Vec::with_capacity(rows.len());
        let mut rest = &needs[..];
        rows.retain(|row| {
            let (own, others) = rest.split_at(lists.degree(row_of(row)) + 1);
            rest = others;
            let fits = own.len() as u64 <= held;
            of_rows.extend(fits.then_some(own));
            fits
        });
        let run: Vec<u32> = rows.iter().map(|row| row_of(row) as u32).collect();
        let mut cache = ColumnCache::new(columns, p, of_rows);
        let mut numbers = vec![0; p];
        let mut turn = 0;
        let mut next_batch = || {
            let room = sizes(more, held, cut.entries(held)).iter().sum::<u64>();
            let chosen = cache.next(|count, sum| {
                let entries = (sum as u64).saturating_sub(1);
                count as u64 <= held && sizes(more, count as u64, entries).iter().sum::<u64>() <= room
            });
            chosen.map(|chosen| Batch::new(chosen, &rows, &lists, more, &mut numbers))
        };
        let second = u64::from(by_common);
        let total = work.cost();
        let mut done = 0.0;
        let mut before: Option<Launched> = None;
        let mut next = next_batch();
        while next.is_some() || before.is_some() {
            let mut running = match next.take() {
                Some(batch) => Some(search.launch_batch(&test, batch, (&places, area(turn)), second)?),
                None => None,
            };
            turn += 1;
            if let Some(Launched { batch, slots, .. }) = before.take() {
                let slots: Vec<Slot> = search.engine.held.bring_all(slots, batch.entries)?;
                let mut slots = &slots[..];
                for row in batch.rows {
                    let (own, others) = slots.split_at(lists.degree(row_of(row)));
                    enter(asked, pages, &lists, row, own);
                    done += row.iter().map(|pair| pair.end as f64).sum::<f64>();
                    slots = others;
                }
            }
            if let Some(running) = &mut running {
                next = next_batch();
                search.end_batch(&test, running, second, &mut || observer.progress(size, done, total))?;
            }
            before = running;
        }
        let columns = cache.into_columns();
        let stands = held == cut.count && lists.are_candidates();
        self.engine.standing = stands.then_some(Standing { of, cut, columns });
        open.retain(|pair| run.binary_search(&pair.side.row).is_err());
        Ok(open.into())
    }
}

/// Enters the verdicts of a row's slots for its pairs.
fn enter(asked: &Asked, pages: &mut [Page], lists: &Lists, row: Row, slots: &[Slot]) {
    let Asked { work, book, first_shard } = *asked;
    let mut set = vec![0; work.size];
    for pair in row {
        let slot = &slots[lists.place(&pair.side) as usize];
        let verdict = match (slot[STOP], slot[LARGEST]) {
            (u64::MAX, 0) => Verdict::Dependent { rank: 0, p: -1.0 },
            (u64::MAX, largest) => Verdict::Dependent { rank: 0, p: f64::from_bits(largest - 1) },
            (stop, _) => {
                let rank = match pair.side.order {
                    CandidateOrder::CommonLast => stop,
                    CandidateOrder::Ascending if pair.side.is_outside() => stop,
                    CandidateOrder::Ascending => {
                        // The kernels number the sets of all of the row's candidates.
                        set.resize(work.size, 0);
                        let candidates = lists.candidates(pair.side.row as usize);
                        subsets::unrank(candidates, stop, &mut set);
                        subsets::rank_without(candidates, &set, pair.side.place as usize)
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
        pages[pair.shard - first_shard].enter(pair.side.row, &outcome);
    }
}

impl CudaEngine<'_> {
    /// Returns the parts of columns that levels of sets count with.
    fn parts_of_sets(&self, test: &Discrete) -> Parts {
        Parts::of_sets(self.options.strategy == SearchStrategy::Shared && counting::mostly_binary(test))
    }
}

impl CudaSearch<'_, '_> {
    /// Returns how rows are cut; `needs`: the rows with their neighbours. If lists hold only candidates, the cut is that of the whole
    /// level, so that its columns may stay. If not, it is that of these rows.
    fn cut_of(
        &self,
        test: &Discrete,
        size: usize,
        lists: &Lists,
        (rows, needs): (&[Row], &[u32]),
        by_common: bool,
    ) -> Cut {
        let (p, parts) = (test.data().p(), self.engine.parts_of_sets(test));
        let more = More { by_common, candidates: !lists.are_candidates() };
        let mut is_near = vec![false; p];
        let (mut entries, mut widest) = (0, 0);
        let mut add = |degree: u64| (entries, widest) = (entries + degree, widest.max(degree));
        if more.candidates {
            needs.iter().for_each(|&v| is_near[v as usize] = true);
            rows.iter().for_each(|row| add(lists.degree(row_of(row)) as u64));
        } else {
            // The rows that have sets, and all their neighbours.
            for x in (0..p).filter(|&x| lists.degree(x) > size) {
                is_near[x] = true;
                lists.of(x).for_each(|y| is_near[y as usize] = true);
                add(lists.degree(x) as u64);
            }
        }
        let near = || (0..p).filter(|&v| is_near[v]);
        let place = near().map(|v| parts.bytes(test, v)).max().unwrap_or(0);
        Cut { more, place, count: near().count() as u64, entries, widest }
    }

    /// Puts the kernels that decide a batch's pairs on the stream, with its columns in `places` and all other data at `at`.
    fn launch_batch<'o>(
        &mut self,
        test: &Discrete,
        batch: Batch<'o>,
        (places, at): (&Places, DevicePtr<u64>),
        second: u64,
    ) -> Result<Launched<'o>> {
        let size = self.args.size as usize;
        let count = batch.variables.len();
        let coding = self.send_table(test, &batch.table, (places, at), &batch.words)?;
        let (mut args, counted) = self.with_columns(test, coding, count as u64)?;
        let slots: DevicePtr<Slot> = at.carve(batch.table.bytes());
        let [twins, lists, offsets, graph, candidates, items, _] = batch.ends;
        let Way { beta, gamma, kernel, stages } = self.way(test, size, batch.widest);
        let tiles = 2 * batch.entries as u64 / u64::from(counted.scratch.blocks);
        args.tile = tiles.next_power_of_two().clamp(4, args.tile);
        (args.a.beta, args.a.any_side) = (beta, 1);
        args.a.gamma = gamma;
        args.a.slot = slots.cast();
        args.a.twin = slots.carve(twins);
        args.a.list = slots.carve(lists);
        args.a.offset = slots.carve(offsets);
        args.a.graph = slots.carve(graph);
        if batch.more.candidates {
            args.a.candidates = slots.carve(candidates);
        }
        args.a.words = 2 * count.div_ceil(64) as u64;
        args.a.first_item = slots.carve(items);
        let (blocks, threads, shared) = (counted.scratch.blocks, counted.threads, counted.shared);
        let mut level = Level { args, kernel, blocks, threads, shared, stages, variables: batch.variables.clone() };
        self.begin_rows(&mut level, second, 0..count)?;
        Ok(Launched { batch, level, slots })
    }

    /// Waits for a batch, and has the CPU answer what is left to it.
    fn end_batch(
        &mut self,
        test: &Discrete,
        Launched { level, .. }: &mut Launched,
        second: u64,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        loop {
            self.engine.held.wait("running a level of tests", look)?;
            let report = self.read_report()?;
            if self.go_on_rows(test, level, second, &report, look)? {
                return Ok(());
            }
        }
    }
}
