//! Memory that may not be to be had.
//!
//! A failed allocation ends a Rust program, and R with it. So blocks that may be large are asked for in ways that can fail
//! ([`zeros`], [`copied`], [`grow`], ...), or are planned for ([`room`]) just before code that asks for many of them. What fails on a
//! worker is noted ([`Use::fails`]), and the notice is read wherever a run looks whether to stop ([`is_short`], [`check`]): the call
//! ends in [`Error::Memory`]. Small blocks come, once the system has none left, from a reserve ([`Careful`]), which lasts until
//! the next such look.
//!
//! Linux promises more memory than there is, and later kills who uses it. A block of [`LARGE`] bytes or more is therefore compared
//! with what the process may still get, see `limits`.

mod limits;
mod pages;
mod reserve;

use std::alloc::Layout;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{Error, Result};

pub use limits::{available, is_limited};
pub use pages::{fetch_ahead, prefer_large_pages, provide};
pub use reserve::Careful;

/// What memory is for, and so what to do where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// A p x p matrix, the graph, or lists of all pairs.
    Pairs,
    /// The p x p matrix and lists of a result.
    Square,
    /// The pairs of a level: neighbours, tasks, what is found.
    Level,
    /// Working memory of threads.
    Threads,
    /// Lists of separating sets.
    Sets,
    /// Correlations of data.
    Correlations,
    /// The addresses of a data file.
    File,
    /// Discrete data.
    Codes,
    /// Tables of counts.
    Tables,
    /// Data of the nearest-neighbour test.
    Samples,
    /// Its lists of neighbours.
    Neighbours,
    /// Its permutations.
    Permutations,
    /// Features of a selection.
    Features,
    /// Orientation.
    Orientation,
    /// Vectors of R in a compact form.
    Columns,
    /// Anything small.
    Other,
}

const USES: [Use; 16] = [
    Use::Pairs,
    Use::Square,
    Use::Level,
    Use::Threads,
    Use::Sets,
    Use::Correlations,
    Use::File,
    Use::Codes,
    Use::Tables,
    Use::Samples,
    Use::Neighbours,
    Use::Permutations,
    Use::Features,
    Use::Orientation,
    Use::Columns,
    Use::Other,
];

impl Use {
    /// In words, as the subject of "takes".
    pub fn what(self) -> &'static str {
        match self {
            Use::Pairs => "what is kept for every pair of variables",
            Use::Square => "a result of class pcAlgo, with its p x p matrix and lists,",
            Use::Level => "a level of the search",
            Use::Threads => "the working memory of the threads",
            Use::Sets => "the list of separating sets",
            Use::Correlations => "the correlations of the data, or the data less their means",
            Use::File => "a data file, mapped into memory,",
            Use::Codes => "the data as codes of levels",
            Use::Tables => "a table of counts",
            Use::Samples => "the data of the nearest-neighbour test",
            Use::Neighbours => "the list of `k_perm` neighbours of every sample",
            Use::Permutations => "what is kept of permutations",
            Use::Features => "the features as codes of levels",
            Use::Orientation => "the orientation",
            Use::Columns => "a vector that R kept in compact form, as 1:n,",
            Use::Other => "the next step",
        }
    }

    /// What to do about it, after "give R more memory, or".
    fn instead(self) -> &'static str {
        match self {
            Use::Pairs | Use::Other => "leave variables out",
            Use::Square => "ask for `result = \"compact\"`",
            Use::Level => "use a smaller `alpha` or `m.max`",
            Use::Threads => "use fewer threads (`numCores`) or a smaller `m.max`",
            Use::Sets => "use a smaller `alpha` or `m.max`, or leave variables out",
            Use::File => "raise the limit of its addresses (`ulimit -v`)",
            Use::Correlations | Use::Codes | Use::Columns => "leave variables or samples out",
            Use::Tables => "use fewer levels, fewer threads (`numCores`) or a smaller `m.max`",
            Use::Samples => "use fewer samples or variables",
            Use::Neighbours => "use a smaller `k_perm`, fewer samples or fewer threads (`numCores`)",
            Use::Permutations => "use fewer permutations, fewer samples or fewer threads (`numCores`)",
            Use::Features => "leave features out, or give columns that are mostly zero as a sparse matrix",
            Use::Orientation => "use a smaller `alpha`, so that fewer edges are left",
        }
    }

    /// The error of so many bytes that are not to be had.
    pub fn error(self, bytes: usize) -> Error {
        Error::Memory {
            bytes: bytes as u64,
            available: available(),
            what: self.what(),
            hint: format!("give R more memory, or {}", self.instead()),
        }
    }

    /// Notes the failure for whoever looks next; of several the first.
    pub fn fails(self, bytes: usize) {
        if BYTES.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            USE.store(self as usize, Ordering::Relaxed);
        }
        SHORT.store(true, Ordering::Release);
    }
}

/// Bytes from which a block is compared with what the process may get.
pub const LARGE: usize = 64 << 20;

/// Bytes up to which the reserve stands in for a plan.
const SMALL: usize = 1 << 20;

static SHORT: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static USE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread can take no for an answer, and the reserve is not to help.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Whether memory has run out: whatever runs is to end.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Forgets that memory has run out: a new call begins.
pub fn forget() {
    BYTES.store(0, Ordering::Relaxed);
    SHORT.store(false, Ordering::Relaxed);
}

/// The error, where memory has run out since it was last asked.
///
/// # Errors
/// [`Error::Memory`].
#[inline]
pub fn check() -> Result<()> {
    if is_short() {
        return Err(taken());
    }
    Ok(())
}

#[cold]
fn taken() -> Error {
    let why = USES.get(USE.load(Ordering::Relaxed)).copied().unwrap_or(Use::Other);
    let bytes = BYTES.load(Ordering::Relaxed);
    forget();
    why.error(bytes)
}

/// Runs `ask`, which asks for memory and takes no for an answer.
fn trying<R>(ask: impl FnOnce() -> R) -> R {
    TRYING.set(true);
    let answer = ask();
    TRYING.set(false);
    answer
}

/// Whether blocks of so many bytes together are to be had now.
fn is_to_be_had(bytes: usize) -> bool {
    bytes < LARGE || limits::is_available(bytes as u64)
}

/// Makes sure that so many bytes are to be had, in whatever blocks, by whoever asks next. For code that asks for many.
///
/// # Errors
/// [`Error::Memory`].
pub fn room(bytes: usize, why: Use) -> Result<()> {
    if bytes > SMALL && !(is_to_be_had(bytes) && limits::probe(bytes)) {
        return Err(why.error(bytes));
    }
    Ok(())
}

/// Of `most` threads with so many bytes each, how many there is room for.
pub fn threads_with_room(most: usize, bytes_each: usize) -> usize {
    let mut threads = most;
    let fits = |threads: usize| {
        room(threads.saturating_mul(bytes_each), Use::Threads).is_ok()
            && limits::has_addresses(threads.saturating_mul(bytes_each.saturating_add(limits::ADDRESSES_OF_THREAD)))
    };
    while threads > 0 && !fits(threads) {
        threads /= 2;
    }
    threads
}

/// Sees to it that `more` values fit behind those of the vector, without a further allocation. False where memory does not
/// suffice.
#[must_use]
pub fn has_space<T>(vector: &mut Vec<T>, more: usize) -> bool {
    if vector.capacity() - vector.len() >= more {
        return true;
    }
    let bytes = (vector.len().saturating_add(more)).saturating_mul(size_of::<T>());
    let has = is_to_be_had(bytes) && trying(|| vector.try_reserve_exact(more)).is_ok();
    if has && bytes >= LARGE {
        prefer_large_pages(vector.spare_capacity_mut());
    }
    has
}

fn bytes_of<T>(len: usize) -> usize {
    len.saturating_mul(size_of::<T>())
}

/// An empty vector with space for `len` values.
///
/// # Errors
/// [`Error::Memory`]; so of all that follow.
pub fn space<T>(len: usize, why: Use) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    if has_space(&mut vector, len) {
        Ok(vector)
    } else {
        Err(why.error(bytes_of::<T>(len)))
    }
}

/// Numbers whose zero is all bits 0.
pub trait Number: Copy + Default + private::Sealed {}

mod private {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl private::Sealed for $number {} impl Number for $number {})*
    };
}
numbers!(u8, u16, u32, u64, i32, i64, f64, [u32; 2]);

/// `len` zeros, which the system makes as they are touched.
pub fn zeros<T: Number>(len: usize, why: Use) -> Result<Vec<T>> {
    let refused = || why.error(bytes_of::<T>(len));
    let layout = Layout::array::<T>(len).map_err(|_| refused())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    if !is_to_be_had(layout.size()) {
        return Err(refused());
    }
    // SAFETY: the layout has a size.
    let block = trying(|| unsafe { std::alloc::alloc_zeroed(layout) });
    if block.is_null() {
        return Err(refused());
    }
    // SAFETY: a block of this allocator, of the layout of `len` values, each of them a zero.
    let mut vector = unsafe { Vec::from_raw_parts(block.cast(), len, len) };
    if layout.size() >= LARGE {
        prefer_large_pages(&mut vector);
    }
    Ok(vector)
}

/// A copy.
pub fn copied<T: Clone>(values: &[T], why: Use) -> Result<Vec<T>> {
    let mut vector = space(values.len(), why)?;
    vector.extend_from_slice(values);
    Ok(vector)
}

/// The values of an iterator that knows how many there are.
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>, why: Use) -> Result<Vec<T>> {
    let mut vector = space(values.len(), why)?;
    vector.extend(values);
    Ok(vector)
}

/// Appends a value. Grows by doubling, as `push` does.
#[inline]
pub fn push<T>(vector: &mut Vec<T>, value: T, why: Use) -> Result<()> {
    if vector.len() == vector.capacity() {
        let more = vector.len().max(16);
        // By half only where doubling asks too much.
        if !has_space(vector, more) && !has_space(vector, more / 4) {
            return Err(why.error(bytes_of::<T>(vector.len() + more / 4)));
        }
    }
    vector.push(value);
    Ok(())
}

/// For workers, whose failures are noted: sees to it that the vector has at least `len` values, in the end `value`. Where it
/// cannot, the caller leaves with anything, as when it is to stop.
#[inline]
#[must_use]
pub fn grow<T: Clone>(vector: &mut Vec<T>, len: usize, value: T, why: Use) -> bool {
    if vector.len() >= len {
        return true;
    }
    let enough = prepare(vector, len, why);
    if enough {
        vector.resize(len, value);
    }
    enough
}

/// For workers, whose failures are noted: sees to it that the vector has space for `len` values, those that it has among
/// them.
#[inline]
#[must_use]
pub fn prepare<T>(vector: &mut Vec<T>, len: usize, why: Use) -> bool {
    if vector.capacity() >= len {
        return true;
    }
    let more = len - vector.len().min(len);
    // Twice as much as there was where that is to be had, so that a slow growth does not copy each time.
    let twice = bytes_of::<T>(len.max(2 * vector.capacity()));
    if (is_to_be_had(twice) && trying(|| vector.try_reserve(more)).is_ok()) || has_space(vector, more) {
        return true;
    }
    why.fails(bytes_of::<T>(len));
    false
}

/// For workers, whose failures are noted: appends a value, or drops it where memory does not suffice.
#[inline]
pub fn push_noted<T>(vector: &mut Vec<T>, value: T, why: Use) {
    if vector.len() == vector.capacity() && !prepare(vector, (2 * vector.len()).max(16), why) {
        return;
    }
    vector.push(value);
}

/// For workers, whose failures are noted: a value, or none where making it fails.
pub fn noted<T>(made: Result<T>) -> Option<T> {
    match made {
        Ok(value) => Some(value),
        Err(Error::Memory { bytes, what, .. }) => {
            let why = USES.into_iter().find(|why| why.what() == what).unwrap_or(Use::Other);
            why.fails(bytes as usize);
            None
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error_with_its_bytes() {
        let wanted = usize::MAX / 16;
        let refused = |error| matches!(error, Error::Memory { bytes, .. } if bytes as usize == wanted / 8 * 8);
        assert!(zeros::<u64>(wanted / 8, Use::Pairs).is_err_and(refused));
        assert!(room(wanted / 8 * 8, Use::Level).is_err_and(refused));
        assert!(!has_space(&mut vec![1u8], usize::MAX));
        assert_eq!(threads_with_room(8, wanted), 0);
        assert_eq!(threads_with_room(3, 1), 3);
    }

    #[test]
    fn what_can_be_had_is_there() {
        assert_eq!(zeros::<f64>(3, Use::Pairs).unwrap(), [0.0; 3]);
        assert!(zeros::<u32>(0, Use::Pairs).unwrap().is_empty() && zeros::<u64>(usize::MAX / 8, Use::Pairs).is_err());
        assert_eq!(copied(&[1, 2], Use::Pairs).unwrap(), [1, 2]);
        assert_eq!(collected((0..3u32).rev(), Use::Pairs).unwrap(), [2, 1, 0]);
        let mut grown = Vec::new();
        for value in 0..100 {
            push(&mut grown, value, Use::Sets).unwrap();
        }
        assert!(grow(&mut grown, 200, -1, Use::Sets) && grow(&mut grown, 10, 0, Use::Sets));
        assert_eq!((grown.len(), grown[99], grown[199]), (200, 99, -1));
        room(100 << 20, Use::Level).unwrap();
    }

    #[test]
    fn messages_name_bytes_and_mend() {
        let error = Error::Memory { bytes: 160 << 30, available: Some(3 << 29), what: "it", hint: "do less".into() };
        assert_eq!(
            error.to_string(),
            "not enough memory: it takes 160 GiB, and this R process can get about 1.5 GiB more; do less"
        );
    }
}
