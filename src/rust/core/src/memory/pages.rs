//! What the processor does about memory before it is used. Large pages, of 2 MB for 4 kB: the system zeroes a page when it is touched first, and that is most of the time of a large block that is written once.

/// Asks the system for large pages for memory that is not touched yet, as most of the time goes to touching it first.
pub fn prefer_large_pages<T>(memory: &mut [T]) {
    const MADV_HUGEPAGE: i32 = 14;
    advise(memory, MADV_HUGEPAGE);
}

/// Has the system provide memory now, as large pages, that is going to be written soon: it else does so when each page is touched first. (Linux 5.14 and later; elsewhere
/// nothing is lost.)
pub fn provide<T>(memory: &mut [T]) {
    const MADV_POPULATE_WRITE: i32 = 23;
    prefer_large_pages(memory);
    advise(memory, MADV_POPULATE_WRITE);
}

/// Tells the system about the whole pages of a large block.
fn advise<T>(memory: &mut [T], advice: i32) {
    #[cfg(target_os = "linux")]
    {
        extern "C" {
            fn madvise(address: *mut std::ffi::c_void, length: usize, advice: std::ffi::c_int) -> std::ffi::c_int;
        }
        const PAGE: usize = 4096;
        let start = memory.as_mut_ptr() as usize;
        let (from, to) = (start.next_multiple_of(PAGE), (start + size_of_val(memory)) / PAGE * PAGE);
        if to > from && to - from >= 4 << 20 {
            // SAFETY: whole pages of memory that the caller holds; neither advice changes contents or access. Where the
            // system does not take it, nothing is lost.
            let _ = unsafe { madvise(from as *mut std::ffi::c_void, to - from, advice) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, advice);
}

/// Has the processor fetch a number that is going to be read, where it knows how: of many that lie far apart several are then under way.
#[inline]
pub fn fetch_ahead<T>(number: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind knows the instruction, which changes nothing.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(number).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = number;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_provided_keeps_what_it_has() {
        let mut numbers = vec![0u64; 3 << 20];
        numbers[1 << 20] = 7;
        provide(&mut numbers);
        assert!(numbers.iter().enumerate().all(|(i, &number)| number == if i == 1 << 20 { 7 } else { 0 }));
        provide::<u64>(&mut []);
    }
}
