//! The allocator of last resort.
//!
//! Rust ends the process if an allocation fails that its caller cannot do without. There are thousands of small ones. So some memory is set
//! aside for the time between the first failure and the next check whether to stop.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Use, TRYING};

/// Number of bytes set aside. They are only address space until they are needed.
const SIZE: usize = 16 << 20;

/// How often, and how long each time, a thread waits for others to return memory before the process ends.
const WAITS: usize = 200;
const WAIT: Duration = Duration::from_millis(10);

#[repr(C, align(4096))]
struct Block(UnsafeCell<MaybeUninit<[u8; SIZE]>>);

// SAFETY: each part of it is given to one caller at a time, see `take`.
unsafe impl Sync for Block {}

static BLOCK: Block = Block(UnsafeCell::new(MaybeUninit::uninit()));

/// Number of parts in use, and the position of the first free byte: 32 bits each.
static STATE: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a reserve for when the system has no more memory. Use of the reserve makes [`is_short`](super::is_short)
/// true.
///
/// Intended for `#[global_allocator]`.
pub struct Careful;

fn start() -> usize {
    BLOCK.0.get() as usize
}

/// Takes a part of the block, or returns `None` if too little is left.
fn take(layout: Layout) -> Option<*mut u8> {
    let mut state = STATE.load(Ordering::Relaxed);
    loop {
        let (parts, end) = (state >> 32, (state & 0xffff_ffff) as usize);
        let from = (start() + end).checked_next_multiple_of(layout.align())? - start();
        let to = from.checked_add(layout.size())?;
        if to > SIZE {
            return None;
        }
        let next = (parts + 1) << 32 | to as u64;
        match STATE.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
            // SAFETY: `from` is within the block.
            Ok(_) => return Some(unsafe { BLOCK.0.get().cast::<u8>().add(from) }),
            Err(now) => state = now,
        }
    }
}

/// Frees a part. Its bytes become available again if it was the only part, or the one taken last.
fn put_back(at: *mut u8, size: usize) {
    let from = at as usize - start();
    let mut state = STATE.load(Ordering::Relaxed);
    loop {
        let (parts, end) = (state >> 32, (state & 0xffff_ffff) as usize);
        let end = match parts {
            1 => 0,
            _ if end == from + size => from,
            _ => end,
        };
        let next = (parts - 1) << 32 | end as u64;
        match STATE.compare_exchange_weak(state, next, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => state = now,
        }
    }
}

#[inline]
fn is_ours(at: *mut u8) -> bool {
    (at as usize).wrapping_sub(start()) < SIZE
}

/// Allocates from the reserve if the system has no more memory, or waits for other threads to return some.
#[cold]
#[inline(never)]
fn instead(layout: Layout, ask: impl Fn() -> *mut u8) -> *mut u8 {
    if TRYING.get() {
        return std::ptr::null_mut();
    }
    Use::Other.fails(layout.size());
    if let Some(part) = take(layout) {
        return part;
    }
    // Other threads end when they see that memory is short, and return theirs.
    for _ in 0..WAITS {
        std::thread::sleep(WAIT);
        let block = ask();
        if !block.is_null() {
            return block;
        }
    }
    std::ptr::null_mut()
}

// SAFETY: a block is the system's, or a part of the reserve that one caller has. Its size and alignment are those requested. The address
// shows which of the two it is.
unsafe impl GlobalAlloc for Careful {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = System.alloc(layout);
        if block.is_null() {
            return instead(layout, || System.alloc(layout));
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = System.alloc_zeroed(layout);
        if !block.is_null() {
            return block;
        }
        let block = instead(layout, || System.alloc_zeroed(layout));
        if is_ours(block) {
            block.write_bytes(0, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if is_ours(at) {
            return put_back(at, layout.size());
        }
        System.dealloc(at, layout);
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(at) {
            let block = System.realloc(at, layout, size);
            if !block.is_null() {
                return block;
            }
        }
        // The caller guarantees that size and alignment make a layout.
        let block = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !block.is_null() {
            std::ptr::copy_nonoverlapping(at, block, layout.size().min(size));
            self.dealloc(at, layout);
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_aligned_and_all_free_in_the_end() {
        let parts: Vec<_> = std::thread::scope(|scope| {
            let each = |thread: usize| {
                let layout = Layout::from_size_align(100 + thread, 64).unwrap();
                (0..200).map(|_| (take(layout).unwrap() as usize, layout.size())).collect::<Vec<_>>()
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || each(thread))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut sorted = parts.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().all(|&(at, _)| at % 64 == 0 && is_ours(at as *mut u8)));
        assert!(sorted.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
        assert!(take(Layout::from_size_align(SIZE, 1).unwrap()).is_none());
        parts.into_iter().for_each(|(at, size)| put_back(at as *mut u8, size));
        let all = take(Layout::from_size_align(SIZE, 1).unwrap()).unwrap();
        put_back(all, SIZE);
        assert_eq!(STATE.load(Ordering::Relaxed), 0);
    }
}
