//! How the Gaussian test's sets of one variable are run.

/// By lists of neighbours, on a GPU by lists from which a column in shared memory is asked, or over all variables with the
/// neighbours as a mask. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelOne {
    /// Each vertex by what is quicker for so many neighbours.
    #[default]
    ByDensity,
    /// Lists. For tests, and to measure where masks pay.
    Lists,
    /// Columns, on a GPU that has shared memory for one; elsewhere lists. Likewise.
    Columns,
    /// Masks. Likewise.
    Masks,
}

impl LevelOne {
    /// Masks do not serve where the critical r² is not below this: too much lies within the band of single precision.
    pub(super) const LARGEST_LIMIT: f64 = 0.25;

    /// Number of neighbours, of p variables, from which columns or masks pay, where they do if one in `one_in` of all variables is a
    /// neighbour. Fewer than 64 are listed in any case: they are one word of a mask.
    pub(super) fn fewest(p: u64, one_in: u64) -> u64 {
        p.div_ceil(one_in).max(64)
    }
}
