//! What the cards of a search bring to the host together: the p-values while they still work at the last level, and level 1's separating sets
//! at the end.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};
use std::time::Duration;

use super::cards::TeamSearch;
use super::copies::PartsOf;
use super::member::Step;
use crate::engine::cuda::card::courier::{Courier, Parcel};
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::Shard;
use crate::graph::{Adjacency, Ranked};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::levels::LevelReport;
use crate::{Error, Result};

/// Values, or records, fewer than this are brought by one card at the end: that is 8 MB.
const FEW: f64 = 1e6;

/// Records whose memory is asked for at a time: 64 MB.
const RECORDS: usize = 8 << 20;

/// Where the values of shards go that have not been brought, by the first row of the shard.
type Places<'v> = HashMap<usize, &'v mut [f64]>;

/// What is brought ends where the search has.
fn look(is_over: &AtomicBool) -> Result<()> {
    if is_over.load(Ordering::Relaxed) {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

/// Brings the values of shards that are done, until no more are told of.
fn bring(courier: &Courier, jobs: mpsc::Receiver<(usize, Parcel<f64>)>, places: &Mutex<Places>, is_over: &AtomicBool) {
    let places = || places.lock().unwrap_or_else(PoisonError::into_inner);
    for (row, parcel) in jobs {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let Some(place) = places().remove(&row) else { continue };
        // SAFETY: a card is done with what it has found of a shard until the level ends, which this thread does not outlive.
        if unsafe { courier.bring(&parcel, place, &mut || look(is_over)) }.is_err() {
            // It is brought at the end, by a card that is left.
            places().insert(row, place);
        }
    }
}

/// Memory for as many records of separating sets, at most, which the system provides while cards work; none unless there is plenty beside the `others` bytes that are promised.
fn records(count: usize, others: usize, is_over: &AtomicBool) -> Vec<[u32; 2]> {
    let needed = others.saturating_add(count.saturating_mul(size_of::<[u32; 2]>())) as u64;
    if memory::available().is_none_or(|available| available / 2 < needed) {
        return Vec::new();
    }
    let mut records: Vec<[u32; 2]> = memory::zeros(count, Use::Level).unwrap_or_default();
    for some in records.chunks_mut(RECORDS) {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        memory::provide(some);
    }
    records
}

/// Brings the rows of a graph of p vertices, and numbers its pairs. Where that fails, a card that is left does so at the end.
fn number(
    courier: &Courier,
    (rows, words): (&Parcel<u64>, usize),
    p: usize,
    pool: &Pool,
    is_over: &AtomicBool,
) -> Result<Ranked> {
    let mut bits: Vec<u64> = memory::zeros(words, Use::Pairs)?;
    // SAFETY: the graph that level 0 left stays as it is.
    unsafe { courier.bring(rows, &mut bits, &mut || look(is_over))? };
    Ranked::new(Adjacency::from_rows(p, bits), pool)
}

impl TeamSearch<'_, '_> {
    /// Whether so many values, or records, are worth more than one card's work.
    fn are_many(&self, count: usize) -> bool {
        count as f64 >= FEW * self.leader().engine.options.launch_share
    }

    /// Whether p-values are final, and worth bringing, as soon as a shard of level 1 is done.
    pub(super) fn may_bring_early(&self, firsts: &[u64]) -> bool {
        let is_last = !self.options.allows(2);
        is_last && !self.leader().is_kept && self.are_many(firsts.last().map_or(0, |&count| count as usize))
    }

    /// Has the cards do the shards of level 1, and brings the p-values of each as soon as it is done.
    pub(super) fn share_and_bring(
        &mut self,
        shards: &[Shard],
        parts_of: &PartsOf,
        firsts: &[u64],
        observer: &mut dyn Observer,
    ) -> Result<LevelReport> {
        let numbers = |rows: &Range<usize>| firsts[rows.start] as usize..firsts[rows.end] as usize;
        let count = firsts.last().map_or(0, |&count| count as usize);
        let mut values = memory::zeros(count, Use::Pairs)?;
        let mut places = Places::new();
        let (mut rest, mut from) = (&mut values[..], 0);
        for Shard { rows, .. } in shards {
            // No row outside the shards has a pair.
            let Range { start, end } = numbers(rows);
            let (place, later) = rest[start - from..].split_at_mut(end - start);
            (rest, from) = (later, end);
            places.insert(rows.start, place);
        }
        let places = Mutex::new(places);
        let p = self.options.p;
        let (courier, pool, rows, words) = self.by_leader(|search| {
            let (rows, words) = search.left_rows()?;
            let held = &mut search.engine.held;
            Ok((held.courier()?, held.pool.clone(), held.parcel(rows, words), words))
        })?;
        let (tell, jobs) = mpsc::channel();
        let (is_over, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
        self.seats.iter_mut().for_each(|seat| seat.machine.is_last = true);
        let counted = std::thread::scope(|scope| {
            // The pairs are numbered here before the first shard is done.
            let work = || {
                let ranked = number(&courier, (&rows, words), p, &pool, &is_over);
                bring(&courier, jobs, &places, &is_over);
                ranked.ok()
            };
            // Without a thread all are brought at the end.
            let thread = std::thread::Builder::new().name("pcgpu-courier".into()).spawn_scoped(scope, work);
            let provider = std::thread::Builder::new().name("pcgpu-records".into());
            let provider = provider.spawn_scoped(scope, || records(count, 8 * (count + 2 * words), &is_done));
            let mut ended = |search: &CudaSearch, rows: &Range<usize>| {
                let numbers = numbers(rows);
                let from = search.args.p_max.offset(numbers.start as u64);
                let _ = tell.send((rows.start, search.engine.held.parcel(from, numbers.len())));
            };
            let mut counted = self.share(Step::Singles, shards, parts_of, &mut ended, [0.0, 1.0], observer);
            is_over.store(counted.is_err(), Ordering::Relaxed);
            is_done.store(true, Ordering::Relaxed);
            drop(tell);
            while thread.as_ref().is_ok_and(|thread| !thread.is_finished()) {
                if let (Ok(_), Err(stop)) = (&counted, observer.look()) {
                    is_over.store(true, Ordering::Relaxed);
                    counted = Err(stop);
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            let ranked = match thread.map(|thread| thread.join()) {
                Ok(Ok(ranked)) => ranked,
                Ok(Err(panic)) => resume_unwind(panic),
                Err(_) => None,
            };
            let records = provider.map_or_else(|_| Vec::new(), |thread| thread.join().unwrap_or_default());
            counted.map(|counted| (counted, ranked, records))
        });
        self.seats.iter_mut().for_each(|seat| seat.machine.is_last = false);
        let (counted, ranked, records) = counted?;
        self.records = records;
        for (row, place) in places.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.by_leader(|search| {
                let from = search.args.p_max.offset(firsts[row]);
                search.engine.held.bring_into(from, place, &mut || observer.look())
            })?;
        }
        self.leading().p_max.came(values, ranked);
        Ok(counted)
    }

    /// Has each card bring a part of the separating sets of level 1, which all have, unless they have been brought.
    pub(super) fn bring_singles(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let (count, cards) = (self.leader().log.waiting(), self.left());
        let mut records = std::mem::take(&mut self.records);
        if cards < 2 || count == 0 || !self.are_many(count) {
            return Ok(());
        }
        if records.len() < count {
            records = memory::zeros(count, Use::Level)?;
        }
        records.truncate(count);
        records.shrink_to_fit();
        let part = count.div_ceil(cards);
        let places: Vec<_> = records.chunks_mut(part).enumerate().map(|place| Mutex::new(Some(place))).collect();
        let numbers: Vec<usize> = (0..self.seats.len()).filter(|&number| !self.seats[number].is_lost).collect();
        self.at_once(observer, |number, member| {
            let at = numbers.iter().position(|&left| left == number);
            let place = at.and_then(|at| places.get(at)?.lock().unwrap_or_else(PoisonError::into_inner).take());
            let Some((at, place)) = place else { return Ok(()) };
            member.run(|search| search.log.bring_some(search.engine, part * at, place))
        })?;
        drop(places);
        // Without what a card was to bring that failed meanwhile the leading one brings all.
        if self.left() == cards {
            self.leading().log.take_brought(records);
        }
        Ok(())
    }
}
