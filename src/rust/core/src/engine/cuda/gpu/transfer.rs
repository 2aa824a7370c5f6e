//! Copies to and from the GPU through pinned memory, which several threads fill and empty.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cudarc::driver::sys;

use super::held::Held;
use super::opened::Gpu;
use super::portions::{Pieces, Portion};
use crate::engine::cuda::pointer::{DevicePtr, Plain};
use crate::memory;
use crate::pool::Pool;
use crate::Result;

/// Bytes per copy from the GPU; two such pieces of pinned memory take turns.
pub(super) const PIECE: usize = 16 << 20;

/// Most bytes per copy to the GPU: many, as each copy takes the sending thread some microseconds.
const SENT: usize = 1 << 20;

/// Most bytes per copy of gathered numbers to the GPU, before division by the effort: few, so that the first copies start soon.
const GATHERED: usize = 512 << 10;

/// Least bytes per copy to the GPU: smaller copies take no less time. For gathered numbers it is divided by the effort, as threads fill a piece
/// more slowly by that factor.
const LEAST_SENT: usize = 64 << 10;

/// Pieces in which a small amount is sent, so that several threads have some.
const PIECES: usize = 32;

/// Pieces of pinned memory for sending, which take turns: few, so that they stay in the processor's caches.
const STAGED: usize = 32;

/// The caller is asked whether to stop after this many pieces.
const LOOKED: usize = 512;

/// An address in pinned memory that threads share.
pub(super) struct Pinned(pub *mut u8);

// SAFETY: the threads write disjoint parts; see `Held::send_portions`.
unsafe impl Sync for Pinned {}
// SAFETY: a plain address; the owner decides who uses the memory.
unsafe impl Send for Pinned {}

/// Most threads that copy on the host: more would only wait for memory and for one another. On 32 cores, sending 3.2 GB to an H100 in pieces of
/// 2 MB took 0.10 s with 8 threads and 0.11 s with 24. In pieces of 512 kB, with half of the pinned memory, it took 0.15 and 0.17 s.
const COPYING_THREADS: usize = 8;

/// Most threads that gather numbers, each of which waits for one number at a time. 15 is the number that was measured.
const GATHERING_THREADS: usize = 15;

/// Most threads that copy to memory that may be fresh. They wait for the system to clear pages, each for its own.
const FRESH_THREADS: usize = 24;

/// Returns the bytes per piece when `bytes` are sent. Filling a byte takes as long as copying `effort` bytes; `most` is the limit for effort 1.
fn piece_of(bytes: usize, effort: usize, most: usize) -> usize {
    (bytes / PIECES).next_multiple_of(4096).clamp((LEAST_SENT / effort).max(4096), (most / effort).max(LEAST_SENT))
}

/// Returns the number of threads that fill `pieces` pieces while another thread sends.
fn filling_threads(pool: &Pool, pieces: usize, effort: usize) -> usize {
    let most =
        if effort > 1 { (pool.threads() - 1).clamp(1, GATHERING_THREADS) } else { COPYING_THREADS.min(pool.threads()) };
    (pieces / 2).clamp(1, most)
}

/// Numbers of 8 bytes that each thread gets at least; fewer are quicker on one thread.
const FEW_NUMBERS: usize = 1 << 18;

/// Returns the number of threads of the pool for work on `numbers` numbers of 8 bytes.
pub(in crate::engine::cuda) fn threads_for(pool: &Pool, numbers: usize) -> usize {
    (numbers / FEW_NUMBERS).clamp(1, COPYING_THREADS.min(pool.threads()))
}

/// Steps, each about a nanosecond, that justify waking a thread. Waking takes as long as some ten thousand steps.
const FEW_STEPS: usize = 1 << 16;

/// Returns the number of threads of the pool for `steps` steps of about a nanosecond.
pub(in crate::engine::cuda) fn threads_for_steps(pool: &Pool, steps: usize) -> usize {
    (steps / FEW_STEPS).clamp(1, COPYING_THREADS.min(pool.threads()))
}

/// Calls `work(y, column)` for each of `columns` on several threads. They are the columns of a matrix with `p` rows, from column `first` on.
/// `weight(y)` is the amount of work for the columns before y.
pub(in crate::engine::cuda) fn each_column(
    pool: &Pool,
    columns: &mut [f64],
    p: usize,
    first: usize,
    weight: impl Fn(usize) -> usize,
    work: impl Fn(usize, &mut [f64]) + Sync,
) {
    let last = first + columns.len() / p;
    let threads = threads_for(pool, columns.len());
    let total = weight(last) - weight(first);
    let mut parts = Vec::with_capacity(threads);
    let (mut rest, mut from) = (columns, first);
    for t in 1..=threads {
        let goal = weight(first) + total * t / threads;
        let mut to = from;
        while to < last && (t == threads || weight(to + 1) <= goal) {
            to += 1;
        }
        let (part, later) = std::mem::take(&mut rest).split_at_mut((to - from) * p);
        rest = later;
        parts.push((from, part));
        from = to;
    }
    pool.each_of(parts, |_, (from, part): (usize, &mut [f64])| {
        for (i, column) in part.chunks_exact_mut(p).enumerate() {
            work(from + i, column);
        }
    });
}

impl Held {
    /// Copies numbers to the GPU.
    pub(in crate::engine::cuda) fn send(&mut self, to: DevicePtr<f64>, from: &[f64]) -> Result<()> {
        self.send_telling(to, from, &mut |_, _| Ok(()))
    }

    /// Copies numbers to the GPU and calls `sent(self, numbers)` from time to time with how many are on the way; the last call has all of them.
    pub(in crate::engine::cuda) fn send_telling(
        &mut self,
        to: DevicePtr<f64>,
        from: &[f64],
        sent: &mut dyn FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        if from.len() < FEW_NUMBERS {
            self.upload(to, from)?;
            return sent(self, from.len());
        }
        let bytes = memory::bytes(from);
        let fill = |offset, piece: &mut [u8]| piece.copy_from_slice(&bytes[offset..offset + piece.len()]);
        self.send_by(1, to.cast(), bytes.len(), fill, &mut |held, bytes| sent(held, bytes / 8))
    }

    /// Copies `bytes` bytes to the GPU through pinned memory. Several threads fill pieces by `fill(offset, piece)`, and each full piece is sent
    /// at once. Its place is filled again once its copy is done. The driver alone copies pageable memory at a third of that speed.
    pub(in crate::engine::cuda) fn send_with(
        &mut self,
        to: DevicePtr<u8>,
        bytes: usize,
        fill: impl Fn(usize, &mut [u8]) + Sync,
    ) -> Result<()> {
        self.send_by(1, to, bytes, fill, &mut |_, _| Ok(()))
    }

    /// Copies bytes as [`Held::send_with`] does; filling a byte takes as long as copying `effort` bytes. After each piece `sent(self, bytes)`
    /// gets the bytes sent so far, and its error ends the copy.
    fn send_by(
        &mut self,
        effort: usize,
        to: DevicePtr<u8>,
        bytes: usize,
        fill: impl Fn(usize, &mut [u8]) + Sync,
        sent: &mut dyn FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let fill = |_: usize, offset: usize, piece: &mut [u8]| fill(offset, piece);
        self.send_portions(effort, &[Portion { to, bytes }], fill, &mut |held, _, bytes| sent(held, bytes))
    }

    /// Copies portions one after the other as [`Held::send_with`] does, filled by `fill(portion, offset, piece)`. Filling a byte takes as long
    /// as copying `effort` bytes. After each piece `sent(self, portion, bytes)` gets the bytes of that portion sent so far, and its error ends
    /// the copy. While it runs, threads fill later pieces.
    pub(in crate::engine::cuda) fn send_portions(
        &mut self,
        effort: usize,
        portions: &[Portion],
        fill: impl Fn(usize, usize, &mut [u8]) + Sync,
        sent: &mut dyn FnMut(&mut Self, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let most = if effort > 1 { GATHERED } else { SENT };
        let each = piece_of(portions.iter().map(|portion| portion.bytes).sum(), effort, most);
        let pieces = Pieces::of(portions, each);
        // Copies of `Held::ahead` keep their places from call to call.
        let apart = if self.is_beside { SENT } else { each };
        let count = pieces.count();
        let threads = filling_threads(&self.pool, count, effort);
        // They use all places in turn; copies of the previous call may still occupy some.
        let places = if self.is_beside { STAGED } else { count.min(STAGED) };
        let (pinned, first) = match self.ahead.filter(|_| self.is_beside) {
            // SAFETY: as large as before, so that nothing is freed; a place is written once its event was reached.
            Some(next) => (unsafe { self.memory().pinned(places * apart)? }, next),
            None => (self.pinned(places * apart)?, 0),
        };
        let pinned = &Pinned(pinned);
        let next = self.is_beside.then_some((first + count) % places);
        self.ahead = next.or(self.ahead);
        let events = self.memory().events(places)?;
        let (pool, caller) = (self.pool.clone(), std::thread::current().id());
        let gives_way = pool.threads() < 2 * threads;
        let ready: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
        // Pieces taken by threads, pieces whose places are free, and whether the call has ended.
        let (drawn, free, is_over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        // Returns a piece's portion, its start there, its length, and its place in pinned memory.
        let piece_at = |i: usize| {
            let (portion, start) = pieces.place(i);
            (portion, start, each.min(portions[portion].bytes - start), (first + i) % places * apart)
        };
        // Takes the next piece that has a place, unless it is beyond `last`, and fills it; false if there is none.
        let fill_next = |last: usize| {
            let may = |i: usize| (i < count && i <= last && i < free.load(Ordering::Acquire)).then_some(i + 1);
            let Ok(i) = drawn.fetch_update(Ordering::Relaxed, Ordering::Relaxed, may) else { return false };
            let (portion, start, len, place) = piece_at(i);
            // SAFETY: the pinned memory has room for a piece at each place. Only the thread that took this number writes the piece: after the
            // copy of the previous piece in this place, and before the piece is marked as ready.
            let piece = unsafe { std::slice::from_raw_parts_mut(pinned.0.add(place), len) };
            fill(portion, start, piece);
            ready[i].store(true, Ordering::Release);
            true
        };
        let work = || {
            // If no thread could be started, the caller runs this. It must not wait here, as it has to send the pieces that fill the places.
            let waits = std::thread::current().id() != caller;
            let mut waited = 0;
            while drawn.load(Ordering::Relaxed) < count && !is_over.load(Ordering::Relaxed) {
                if fill_next(usize::MAX) {
                    waited = 0;
                } else if waits && gives_way {
                    // `sent` may have work for these threads.
                    Pool::give_way(&mut waited);
                } else if waits {
                    // Another copy's work would keep this thread until that copy has ended.
                    Pool::pause(&mut waited);
                } else {
                    break;
                }
            }
        };
        let helpers = if threads == 1 { 0 } else { threads };
        pool.beside(helpers, work, || {
            let mut send = || {
                for i in 0..count {
                    let mut waited = 0;
                    while !ready[i].load(Ordering::Acquire) {
                        // SAFETY: the pieces before i were sent, each with its event.
                        unsafe { self.note_free(&free, &events, first, i)? };
                        if !fill_next(i) {
                            Pool::give_way(&mut waited);
                        }
                    }
                    let (portion, start, len, place) = piece_at(i);
                    // SAFETY: the piece is written by now. Nothing writes there again before its event is reached or the stream is synchronised:
                    // all other users get this memory from `Held::pinned`, which ensures that.
                    unsafe {
                        let piece = std::slice::from_raw_parts(pinned.0.add(place), len);
                        self.upload_pinned(portions[portion].to.offset(start as u64), piece)?;
                        self.gpu.mark(events[(first + i) % places], self.is_beside)?;
                        self.note_free(&free, &events, first, i + 1)?;
                    }
                    sent(self, portion, start + len)?;
                }
                Ok(())
            };
            let outcome = send();
            is_over.store(true, Ordering::Relaxed);
            // `sent` may have waited for all copies so far, which resets this.
            self.ahead = next.or(self.ahead);
            outcome
        })
    }

    /// Counts the pieces whose places are free after `sent` pieces were sent: the last copy from such a place is done. The first piece has place
    /// `first`.
    ///
    /// # Safety
    /// Every copy from pinned memory under way must have been marked by the event of its place, in turn.
    unsafe fn note_free(&self, free: &AtomicUsize, events: &[sys::CUevent], first: usize, sent: usize) -> Result<()> {
        let mut next = free.load(Ordering::Relaxed);
        while next < sent + events.len() && self.gpu.has_reached(events[(first + next) % events.len()])? {
            next += 1;
            free.store(next, Ordering::Release);
        }
        Ok(())
    }

    /// Copies `count` numbers as [`Held::send_with`] copies bytes. `fill(first, piece)` makes the numbers from number `first` on, each in as
    /// long as copying `effort` numbers. An error of `look` ends the copy.
    pub(in crate::engine::cuda) fn send_numbers_with(
        &mut self,
        to: DevicePtr<f64>,
        count: usize,
        effort: usize,
        fill: impl Fn(usize, &mut [f64]) + Sync,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let fill_bytes = |offset: usize, piece: &mut [u8]| fill(offset / 8, numbers_of(piece));
        let mut pieces = 0;
        self.send_by(effort, to.cast(), 8 * count, fill_bytes, &mut |_, _| {
            pieces += 1;
            if pieces % LOOKED == 0 {
                look()
            } else {
                Ok(())
            }
        })
    }

    /// Copies `count` elements from the GPU in pieces: `take(offset, piece)` gets each piece in turn while the next is being copied. A piece
    /// ends at `cut(end)`, where `end` is the largest end for which there is room.
    ///
    /// The copies run in parallel with the stream. The elements must already be there, or [`Gpu::copies_follow`] must have been called after the
    /// work that writes them. Later work on the stream must not change them.
    pub(in crate::engine::cuda) fn bring<T: Plain>(
        &mut self,
        from: DevicePtr<T>,
        count: usize,
        cut: impl Fn(usize) -> usize,
        take: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.check_read(from, count);
        let room = count.min(PIECE / size_of::<T>());
        let pinned = self.brought(2 * room * size_of::<T>())?.cast::<T>();
        // SAFETY: as many elements are there, as checked. The pinned memory has room for two pieces, and nothing else is copied to it.
        unsafe { bring_by(&self.gpu, pinned, room, (from, count), cut, take) }
    }

    /// Copies numbers from the GPU into memory that may be fresh; see [`Held::bring`]. An error of `look` ends the copy.
    pub(in crate::engine::cuda) fn bring_into<T: Plain>(
        &mut self,
        from: DevicePtr<T>,
        to: &mut [T],
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        memory::prefer_large_pages(to);
        let pool = self.pool.clone();
        let count = to.len();
        let end = |end| end;
        self.bring(from, count, end, |at, piece| {
            copy(&pool, piece, &mut to[at..at + piece.len()]);
            look()
        })
    }

    /// Copies `count` elements from the GPU into a new vector; see [`Held::bring`].
    pub(in crate::engine::cuda) fn bring_all<T: Plain>(&mut self, from: DevicePtr<T>, count: usize) -> Result<Vec<T>> {
        let mut all: Vec<T> = memory::space(count, memory::Use::Level)?;
        memory::prefer_large_pages(all.spare_capacity_mut());
        let pool = self.pool.clone();
        self.bring(
            from,
            count,
            |end| end,
            |_, piece| {
                append(&pool, &mut all, piece);
                Ok(())
            },
        )?;
        Ok(all)
    }
}

/// Returns the numbers in a piece of pinned memory that is sent as numbers.
pub(in crate::engine::cuda) fn numbers_of(piece: &mut [u8]) -> &mut [f64] {
    // SAFETY: any bits are doubles. Pieces begin at multiples of 8 bytes, in pinned memory that is aligned to 8 bytes.
    unsafe { piece.align_to_mut() }.1
}

/// Copies elements from a GPU through two pieces of pinned memory that take turns; see [`Held::bring`].
///
/// # Safety
/// `count` elements must be at `from`. `pinned` must have room for `2 * room` elements, for this caller only.
pub(super) unsafe fn bring_by<T: Plain>(
    gpu: &Gpu,
    pinned: *mut T,
    room: usize,
    (from, count): (DevicePtr<T>, usize),
    cut: impl Fn(usize) -> usize,
    mut take: impl FnMut(usize, &[T]) -> Result<()>,
) -> Result<()> {
    let end_of = |start: usize| if count - start <= room { count } else { cut(start + room) };
    // `end` is at most `count`, and that many elements are there. Each half holds `room` elements, and is read only after `end_copies`.
    let start_copy = |half: usize, start: usize, end: usize| {
        gpu.download_beside(from.offset(start as u64), pinned.add(half * room), end - start)
    };
    let (mut start, mut end) = (0, end_of(0));
    start_copy(0, start, end)?;
    let mut half = 0;
    while start < end {
        gpu.end_copies()?;
        let next = if end < count { end_of(end) } else { end };
        if next > end {
            start_copy(1 - half, end, next)?;
        }
        // `end - start` elements were copied to this half, for which any bits are values; the copy under way goes to the other half. Pinned
        // memory is aligned to pages, so each half is aligned to its elements.
        let taken = take(start, std::slice::from_raw_parts(pinned.add(half * room), end - start));
        if taken.is_err() {
            gpu.end_copies()?;
            return taken;
        }
        (start, end) = (end, next);
        half = 1 - half;
    }
    Ok(())
}

/// Least bytes that a thread copies to memory that may be fresh.
const FEW_FRESH: usize = 1 << 19;

/// Copies to memory that may be fresh, on several threads: touching fresh memory takes most of the time.
pub(super) fn copy<T: Copy + Sync + Send>(pool: &Pool, from: &[T], to: &mut [T]) {
    let threads = (size_of_val(from) / FEW_FRESH).clamp(1, FRESH_THREADS.min(pool.threads()));
    if threads == 1 {
        return to.copy_from_slice(from);
    }
    let part = from.len().div_ceil(threads);
    pool.each_of(to.chunks_mut(part).zip(from.chunks(part)).collect(), |_, (to, from)| to.copy_from_slice(from));
}

/// Appends to a list that has room, on several threads: touching fresh memory takes most of the time.
fn append<T: Copy + Sync + Send>(pool: &Pool, all: &mut Vec<T>, more: &[T]) {
    let threads = (size_of_val(more) / FEW_FRESH).clamp(1, FRESH_THREADS.min(pool.threads()));
    let room = &mut all.spare_capacity_mut()[..more.len()];
    let copy = |to: &mut [std::mem::MaybeUninit<T>], from: &[T]| {
        to.iter_mut().zip(from).for_each(|(to, from)| {
            to.write(*from);
        });
    };
    if threads == 1 {
        copy(room, more);
    } else {
        let part = more.len().div_ceil(threads);
        pool.each_of(room.chunks_mut(part).zip(more.chunks(part)).collect(), |_, (to, from)| copy(to, from));
    }
    // SAFETY: there was room for them, and each has been written.
    unsafe { all.set_len(all.len() + more.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_appended_whatever_the_threads() {
        let more: Vec<u64> = (0..3 * FEW_NUMBERS as u64 + 5).collect();
        let mut all = Vec::with_capacity(more.len() + 2);
        append(&Pool::new(3), &mut all, &[7, 8]);
        append(&Pool::new(3), &mut all, &more);
        assert!(all[..2] == [7, 8] && all[2..] == more);
    }

    #[test]
    fn pieces_are_few_and_of_whole_numbers() {
        for bytes in [8, 4096, 100_000, 1 << 20, 5_000_000, 1 << 34] {
            for effort in [1, 8, 100] {
                let each = piece_of(bytes, effort, SENT);
                assert!(
                    each % 4096 == 0 && ((LEAST_SENT / effort).max(4096)..=SENT).contains(&each),
                    "{bytes} {effort}"
                );
                let threads = filling_threads(&Pool::new(3), bytes.div_ceil(each), effort);
                assert!((1..=3).contains(&threads) && (effort == 1 || threads < 3));
                assert!(threads == 1 || bytes >= 2 * threads * each - each, "{bytes} {effort} {threads}");
            }
        }
        assert_eq!((piece_of(1 << 34, 1, SENT), piece_of(1 << 34, 8, GATHERED)), (SENT, LEAST_SENT));
    }

    #[test]
    fn every_column_is_visited_once_whatever_the_weights() {
        for p in [1usize, 7, 300, 517] {
            for first in [0, p / 3] {
                let mut m = vec![0.0; (p - first) * p];
                each_column(
                    &Pool::new(3),
                    &mut m,
                    p,
                    first,
                    |y| y * y.saturating_sub(1) / 2,
                    |y, column| {
                        column.iter_mut().for_each(|cell| *cell += 1.0 + y as f64);
                    },
                );
                for (i, cell) in m.iter().enumerate() {
                    assert_eq!(*cell, 1.0 + (first + i / p) as f64, "{p} {first}");
                }
            }
        }
    }
}
