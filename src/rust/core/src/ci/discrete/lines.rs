//! Words aligned to cache lines: loading a register of eight words takes twice as long if they cross a line.

/// A cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Line([u64; WORDS]);

/// Number of words in a line.
pub(super) const WORDS: usize = 8;

/// Returns the words of lines.
#[inline]
pub(super) fn words(lines: &[Line]) -> &[u64] {
    // SAFETY: a line is eight words, without padding.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WORDS) }
}

/// Returns the words of lines for writing.
#[inline]
pub(super) fn words_mut(lines: &mut [Line]) -> &mut [u64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * WORDS) }
}
