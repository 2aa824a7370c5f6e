//! The ways to run the Gaussian test's sets of one variable.

/// The way to run conditioning sets of one variable: by lists of neighbours, by lists that query a column in a GPU's shared memory, or over all
/// variables with the neighbours as a mask. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelOne {
    /// For each vertex, the way that is quicker for its number of neighbours.
    #[default]
    ByDensity,
    /// Lists. For tests, and to measure from which density masks pay.
    Lists,
    /// Columns, on a GPU whose shared memory holds one; lists elsewhere. For tests and measurements.
    Columns,
    /// Masks. For tests and measurements.
    Masks,
}

impl LevelOne {
    /// The limit on the critical r² below which masks work. Above it, too many values lie within the error band of single precision.
    pub(super) const LARGEST_LIMIT: f64 = 0.25;

    /// Returns the number of neighbours, among p variables, from which columns or masks pay. They pay if one in `one_in` of all variables is a
    /// neighbour, but not below 64 neighbours, one word of a mask: these always go by lists.
    pub(super) fn fewest(p: u64, one_in: u64) -> u64 {
        p.div_ceil(one_in).max(64)
    }
}
