//! The sizes of the tables of a selection's kernels.

use crate::engine::cuda::arguments::counter_words;

/// Returns the bits of a counter for up to n samples.
pub(super) fn counter_bits(n: usize) -> u64 {
    match n {
        0..=0xff => 8,
        0x100..=0xffff => 16,
        _ => 32,
    }
}

/// Returns the words of the tables of a feature with up to `levels` levels: `rows` pairs (g, y), `groups` values g, n samples, counters of
/// `bits`. `stepwise` is as in `SelectionArgs`.
pub(super) fn table_words(levels: u64, rows: u64, groups: u64, n: u64, stepwise: u64, bits: u64) -> u64 {
    // As if every feature had a mode, which takes one more column. Every row starts with a new word.
    let cells = rows.saturating_mul((levels + 1).next_multiple_of(32 / bits));
    let more =
        if cells.saturating_mul(256) > n.saturating_mul(stepwise) { counter_words(groups * levels, bits) } else { 0 };
    counter_words(cells, bits) + more
}

/// Returns how many groups, of at most `classes` rows each, have tables that together fit into `words_there` words; `levels` and `bits` are as
/// in [`table_words`].
pub(super) fn groups_in(words_there: u64, levels: u64, classes: u64, bits: u64) -> u64 {
    words_there
        / (counter_words(classes * (levels + 1).next_multiple_of(32 / bits), bits) + counter_words(levels, bits))
}
