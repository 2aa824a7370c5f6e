//! How the Gaussian test's sets of one variable are run.

/// By lists of neighbours, or over all variables with the neighbours as a mask. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelOne {
    /// Each vertex by what is quicker for so many neighbours.
    #[default]
    ByDensity,
    /// Lists. For tests, and to measure where masks pay.
    Lists,
    /// Masks. Likewise.
    Masks,
}

impl LevelOne {
    /// Fewer neighbours than this are listed: they are one word of a mask.
    const FEWEST: usize = 64;

    /// Whether a vertex with this number of neighbours, of p variables, is taken by mask, where that pays if one in `one_in` of
    /// all variables is a neighbour.
    pub(super) fn takes_masks(self, degree: usize, p: usize, one_in: usize) -> bool {
        match self {
            LevelOne::ByDensity => degree >= Self::FEWEST && degree * one_in >= p,
            LevelOne::Lists => false,
            LevelOne::Masks => true,
        }
    }
}
