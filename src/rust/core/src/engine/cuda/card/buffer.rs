//! What device memory is used for.

/// Defines the buffers on the card, each with the part of a plan that it counts in.
macro_rules! buffers {
    ($($(#[$doc:meta])* $name:ident $part:literal)*) => {
        /// What a piece of device memory holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::engine::cuda) enum Buffer {
            $($(#[$doc])* $name,)*
        }

        /// Number of [`Buffer`]s.
        pub(in crate::engine::cuda) const BUFFERS: usize = Buffer::ALL.len();

        impl Buffer {
            pub const ALL: &'static [Buffer] = &[$(Buffer::$name,)*];

            /// The part of a plan that it counts in.
            pub fn part(self) -> &'static str {
                match self {
                    $(Buffer::$name => $part,)*
                }
            }
        }
    };
}

buffers! {
    /// Correlations, or level codes.
    Data "data"
    /// Codes of feature selection.
    Codes "data"
    KnnData "data"
    Graph "graphs"
    Start "graphs"
    Fixed "graphs"
    /// Pairs that the empty set separates.
    Empty "graphs"
    PMax "p-values"
    /// Degrees, offsets, work counts.
    Rows "rows"
    Report "rows"
    List "edges"
    Verdicts "edges"
    Slots "edges"
    Twins "edges"
    Binomials "edges"
    /// Separating sets.
    Log "separating sets"
    /// Working memory of warps, tables that shared memory does not hold, data before they are correlated.
    Scratch "scratch"
    /// Questions of the card to the CPU.
    Asked "scratch"
    /// Questions to the card with their answers, answers of the CPU, sums of squares.
    Batch "scratch"
    /// What feature selection needs beside the codes.
    Selection "rows"
    KnnTests "tests"
    KnnSets "sets"
    KnnNeighbours "neighbours"
    KnnPermuted "permuted"
    KnnWalks "walks"
    KnnRows "distances"
    KnnPlanes "planes"
    KnnSlots "slots"
    KnnSums "sums"
}

impl Buffer {
    /// Whether its contents outlast a level, so that it must stay in place when a level makes room.
    pub fn lasts(self) -> bool {
        use Buffer::*;
        matches!(self, Data | Codes | KnnData | Graph | Start | Fixed | Empty | PMax | Rows | Report | Log | Selection)
    }
}
