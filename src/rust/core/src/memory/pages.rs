//! What the processor does about memory before it is used. Large pages, of 2 MB for 4 kB: the system zeroes a page when it is touched first, and that is most of the time of a large block that is written once.

/// Asks the system for large pages for memory that is not touched yet, as most of the time goes to touching it first.
pub fn prefer_large_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        extern "C" {
            fn madvise(address: *mut std::ffi::c_void, length: usize, advice: std::ffi::c_int) -> std::ffi::c_int;
        }
        const PAGE: usize = 4096;
        const MADV_HUGEPAGE: std::ffi::c_int = 14;
        let start = memory.as_mut_ptr() as usize;
        let (from, to) = (start.next_multiple_of(PAGE), (start + size_of_val(memory)) / PAGE * PAGE);
        if to > from && to - from >= 4 << 20 {
            // SAFETY: whole pages of memory that the caller holds; the advice changes neither contents nor access. Where the
            // system does not take it, nothing is lost.
            let _ = unsafe { madvise(from as *mut std::ffi::c_void, to - from, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
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
