//! Advice to the system and the processor about memory that is about to be used. The system zeroes a page when it is first touched, which
//! takes most of the time for a large block that is written once. Large pages have 2 MB, not 4 kB.

/// Asks the system for large pages for memory that is not touched yet, because touching it first takes most of the time.
pub fn prefer_large_pages<T>(memory: &mut [T]) {
    const MADV_HUGEPAGE: i32 = 14;
    advise(memory, MADV_HUGEPAGE);
}

/// Makes the system provide memory as large pages now, because it will be written soon. The system otherwise provides each page when it is
/// first touched. (Linux 5.14 and later; has no effect elsewhere.)
pub fn provide<T>(memory: &mut [T]) {
    const MADV_POPULATE_WRITE: i32 = 23;
    prefer_large_pages(memory);
    advise(memory, MADV_POPULATE_WRITE);
}

/// Advises the system about the whole pages of a large block.
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
            // SAFETY: whole pages of memory that the caller holds; neither advice changes contents or access. If the system refuses the
            // advice, nothing is lost.
            let _ = unsafe { madvise(from as *mut std::ffi::c_void, to - from, advice) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, advice);
}

/// Makes the processor fetch a number that will be read soon, if it can. Several fetches of numbers that lie far apart then overlap.
#[inline]
pub fn fetch_ahead<T>(number: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it changes nothing.
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
