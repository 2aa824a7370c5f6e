//! Allocations that can fail.
//!
//! A failed allocation ends a Rust program, and R with it. So code asks for possibly large blocks in ways that can fail ([`zeros`],
//! [`copied`], [`grow`], ...), or plans for them ([`room`]) just before it asks for many. A worker notes its failure ([`Use::fails`]). The
//! note is read wherever a run checks whether to stop ([`is_short`], [`check`]): the call ends in [`Error::Memory`]. Once the system has no
//! memory left, small blocks come from a reserve ([`Careful`]), which lasts until the next such check.
//!
//! Linux promises more memory than there is, and later kills processes that use it. So blocks of [`LARGE`] bytes or more are compared with
//! what the process may still get, see `limits`.

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

/// What memory is for, and so what to do if there is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// A p x p matrix, the graph, or lists of all pairs.
    Pairs,
    /// The p x p matrix and lists of a result.
    Square,
    /// The pairs of a level: neighbours, tasks, results.
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
    /// Lists of neighbours for the nearest-neighbour test.
    Neighbours,
    /// Permutations for the nearest-neighbour test.
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
    /// Returns the use in words, as the subject of "takes".
    pub fn what(self) -> &'static str {
        match self {
            Use::Pairs => "the table of all pairs of variables",
            Use::Square => "a result of class pcAlgo, with its p x p matrix and lists,",
            Use::Level => "a level of the search",
            Use::Threads => "the working memory of the threads",
            Use::Sets => "the list of separating sets",
            Use::Correlations => "a matrix of correlations or of centred data",
            Use::File => "the mapping of a data file into memory",
            Use::Codes => "a matrix of level codes",
            Use::Tables => "a table of counts",
            Use::Samples => "a matrix of data",
            Use::Neighbours => "the list of the `k_perm` nearest neighbours of each sample",
            Use::Permutations => "a table of permutations",
            Use::Features => "the table of features",
            Use::Orientation => "the orientation of the edges",
            Use::Columns => "a vector that R stored in compact form, such as 1:n,",
            Use::Other => "the next step",
        }
    }

    /// Returns what to do about it, after "give R more memory, or".
    fn instead(self) -> &'static str {
        match self {
            Use::Pairs | Use::Other => "leave variables out",
            Use::Square => "ask for `result = \"compact\"`",
            Use::Level => "use a smaller `alpha` or `m.max`",
            Use::Threads => "use fewer threads (`numCores`) or a smaller `m.max`",
            Use::Sets => "use a smaller `alpha` or `m.max`, or leave variables out",
            Use::File => "raise the limit on its address space (`ulimit -v`)",
            Use::Correlations | Use::Codes | Use::Columns => "leave variables or samples out",
            Use::Tables => "use fewer levels, fewer threads (`numCores`) or a smaller `m.max`",
            Use::Samples => "use fewer samples or variables",
            Use::Neighbours => "use a smaller `k_perm`, fewer samples or fewer threads (`numCores`)",
            Use::Permutations => "use fewer permutations, fewer samples or fewer threads (`numCores`)",
            Use::Features => "give columns that are mostly zero as a sparse matrix",
            Use::Orientation => "use a smaller `alpha`, which leaves fewer edges",
        }
    }

    /// Returns the error that this many bytes are not available.
    pub fn error(self, bytes: usize) -> Error {
        Error::Memory {
            bytes: bytes as u64,
            available: available(),
            what: self.what(),
            hint: format!("give R more memory, or {}", self.instead()),
        }
    }

    /// Notes the failure for the next check. If several fail, the first one counts.
    pub fn fails(self, bytes: usize) {
        if BYTES.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            USE.store(self as usize, Ordering::Relaxed);
        }
        SHORT.store(true, Ordering::Release);
    }
}

/// Number of bytes from which a block is compared with what the process may get.
pub const LARGE: usize = 64 << 20;

/// Number of bytes up to which the reserve replaces a plan.
const SMALL: usize = 1 << 20;

static SHORT: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static USE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread handles a failed allocation itself, so that the reserve must not help.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether memory has run out, so that every run must end.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Forgets that memory has run out, because a new call begins.
pub fn forget() {
    BYTES.store(0, Ordering::Relaxed);
    SHORT.store(false, Ordering::Relaxed);
}

/// Fails if memory has run out since the last check.
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

/// Runs `ask`, which asks for memory and handles a failure itself.
fn trying<R>(ask: impl FnOnce() -> R) -> R {
    TRYING.set(true);
    let answer = ask();
    TRYING.set(false);
    answer
}

/// Returns whether blocks of this many bytes in total are available now.
fn is_to_be_had(bytes: usize) -> bool {
    bytes < LARGE || limits::is_available(bytes as u64)
}

/// Makes sure that this many bytes are available in blocks of any size. For code that then asks for many blocks.
///
/// # Errors
/// [`Error::Memory`] if they are not.
pub fn room(bytes: usize, why: Use) -> Result<()> {
    if bytes > SMALL && !(is_to_be_had(bytes) && limits::probe(bytes)) {
        return Err(why.error(bytes));
    }
    Ok(())
}

/// Returns how many of `most` threads there is room for, if each needs this many bytes.
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

/// Makes room for `more` values after those of the vector, so that appending them does not allocate. Returns false if there is not enough
/// memory.
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

/// Returns an empty vector with space for `len` values.
///
/// # Errors
/// [`Error::Memory`].
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

/// Returns the bytes of numbers, in the order of this machine.
pub fn bytes<T: Number>(numbers: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// Returns `len` zeros, whose pages the system provides when they are first touched. Fails with [`Error::Memory`].
pub fn zeros<T: Number>(len: usize, why: Use) -> Result<Vec<T>> {
    let refused = || why.error(bytes_of::<T>(len));
    let layout = Layout::array::<T>(len).map_err(|_| refused())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    if !is_to_be_had(layout.size()) {
        return Err(refused());
    }
    // SAFETY: the size of the layout is not 0.
    let block = trying(|| unsafe { std::alloc::alloc_zeroed(layout) });
    if block.is_null() {
        return Err(refused());
    }
    // SAFETY: the block is from this allocator, with the layout of `len` values, and all bits 0 is a value.
    let mut vector = unsafe { Vec::from_raw_parts(block.cast(), len, len) };
    if layout.size() >= LARGE {
        prefer_large_pages(&mut vector);
    }
    Ok(vector)
}

/// Copies values to a new vector. Fails with [`Error::Memory`].
pub fn copied<T: Clone>(values: &[T], why: Use) -> Result<Vec<T>> {
    let mut vector = space(values.len(), why)?;
    vector.extend_from_slice(values);
    Ok(vector)
}

/// Collects an iterator of known length. Fails with [`Error::Memory`].
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>, why: Use) -> Result<Vec<T>> {
    let mut vector = space(values.len(), why)?;
    vector.extend(values);
    Ok(vector)
}

/// Appends a value. Grows by doubling, as `push` does. Fails with [`Error::Memory`].
#[inline]
pub fn push<T>(vector: &mut Vec<T>, value: T, why: Use) -> Result<()> {
    if vector.len() == vector.capacity() {
        let more = vector.len().max(16);
        // If doubling asks for too much, by a quarter.
        if !has_space(vector, more) && !has_space(vector, more / 4) {
            return Err(why.error(bytes_of::<T>(vector.len() + more / 4)));
        }
    }
    vector.push(value);
    Ok(())
}

/// Makes the vector at least `len` values long, filled up with `value`. For workers: a failure is noted. It returns false then, and the
/// worker leaves as if asked to stop; its result does not matter.
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

/// Makes space for `len` values in total, including those that the vector has. For workers: a failure is noted, and it returns false.
#[inline]
#[must_use]
pub fn prepare<T>(vector: &mut Vec<T>, len: usize, why: Use) -> bool {
    if vector.capacity() >= len {
        return true;
    }
    let more = len - vector.len().min(len);
    // Twice the capacity if that is available, so that slow growth does not copy each time.
    let twice = bytes_of::<T>(len.max(2 * vector.capacity()));
    if (is_to_be_had(twice) && trying(|| vector.try_reserve(more)).is_ok()) || has_space(vector, more) {
        return true;
    }
    why.fails(bytes_of::<T>(len));
    false
}

/// Appends a value, or drops it if there is not enough memory. For workers: a failure is noted.
#[inline]
pub fn push_noted<T>(vector: &mut Vec<T>, value: T, why: Use) {
    if vector.len() == vector.capacity() && !prepare(vector, (2 * vector.len()).max(16), why) {
        return;
    }
    vector.push(value);
}

/// Returns a value, or `None` if making it failed. For workers: a lack of memory is noted.
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
    fn messages_name_bytes_and_hint() {
        let error = Error::Memory { bytes: 160 << 30, available: Some(3 << 29), what: "it", hint: "do less".into() };
        assert_eq!(
            error.to_string(),
            "not enough memory: it takes 160 GiB, but this R process can get only about 1.5 GiB more; do less"
        );
    }
}
