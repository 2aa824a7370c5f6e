//! Words that begin with a line of the cache: a register of eight that lies across two lines takes twice as long to come.

/// A line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Line([u64; WORDS]);

/// Words of a line.
pub(super) const WORDS: usize = 8;

/// The words of lines.
#[inline]
pub(super) fn words(lines: &[Line]) -> &[u64] {
    // SAFETY: a line is eight words, without padding.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WORDS) }
}

/// [`words`], to be written to.
#[inline]
pub(super) fn words_mut(lines: &mut [Line]) -> &mut [u64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * WORDS) }
}
