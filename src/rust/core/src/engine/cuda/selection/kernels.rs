//! The arguments of the kernels of a selection, and the sizes of their tables.

/// [`Feature::mode`] where no level is that of more than half of the samples, or none is known.
pub(super) const NO_MODE: u32 = u32::MAX;

/// Bits of a counter of up to n samples.
pub(super) fn counter_bits(n: usize) -> u64 {
    match n {
        0..=0xff => 8,
        0x100..=0xffff => 16,
        _ => 32,
    }
}

/// Words that `cells` counters take: `Counters::words` of kernels/selection.cuh.
fn words(cells: u64, bits: u64) -> u64 {
    cells.div_ceil(4 * 32 / bits) * 4
}

/// Words of the tables of a feature with up to `levels` levels: `rows` (g, y), `groups` g, n samples, counters of `bits`;
/// `stepwise` as in [`SelectionArgs`].
pub(super) fn table_words(levels: u64, rows: u64, groups: u64, n: u64, stepwise: u64, bits: u64) -> u64 {
    // As if every feature had a mode, which takes one more column. Rows start with a word.
    let cells = rows.saturating_mul((levels + 1).next_multiple_of(32 / bits));
    let more = if cells.saturating_mul(256) > n.saturating_mul(stepwise) { words(groups * levels, bits) } else { 0 };
    words(cells, bits) + more
}

/// How many groups, of `classes` rows each at most, have tables that fit in `words_there` words together; `levels` as above.
pub(super) fn groups_in(words_there: u64, levels: u64, classes: u64, bits: u64) -> u64 {
    words_there / (words(classes * (levels + 1).next_multiple_of(32 / bits), bits) + words(levels, bits))
}

/// Bytes of shared memory before a table: the partial sums of up to 32 warps.
pub(super) const PARTIAL_BYTES: u64 = 512;
