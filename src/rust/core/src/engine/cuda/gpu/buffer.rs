//! The uses of device memory.

use std::marker::PhantomData;

use crate::engine::cuda::arguments::Report;

/// Device memory for one use, which holds `T`s. `T` is `u8` if the memory is carved up, or if the run decides what it holds.
pub(in crate::engine::cuda) struct Buffer<T> {
    what: BufferId,
    holds: PhantomData<fn() -> T>,
}

impl<T> From<Buffer<T>> for BufferId {
    fn from(buffer: Buffer<T>) -> BufferId {
        buffer.what
    }
}

/// Defines the uses of device memory, each with its element type and the part of a plan that it counts in.
macro_rules! buffers {
    ($($(#[$doc:meta])* $name:ident $holds:ty, $part:literal)*) => {
        /// The use of a piece of device memory; [`Buffer`] also knows the element type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::engine::cuda) enum BufferId {
            $($(#[$doc])* $name,)*
        }

        // Each constant has the name of its use.
        $(#[allow(non_upper_case_globals)]
        impl Buffer<$holds> {
            $(#[$doc])*
            pub const $name: Self = Buffer { what: BufferId::$name, holds: PhantomData };
        })*

        /// Number of [`BufferId`]s.
        pub(in crate::engine::cuda) const BUFFERS: usize = BufferId::ALL.len();

        impl BufferId {
            pub const ALL: &'static [BufferId] = &[$(BufferId::$name,)*];

            /// Returns the part of a plan that this use counts in.
            pub fn part(self) -> &'static str {
                match self {
                    $(BufferId::$name => $part,)*
                }
            }
        }
    };
}

buffers! {
    /// Correlations, or level codes.
    Data u8, "data"
    /// Data before they are correlated.
    Columns f64, "data"
    /// Columns of data in half precision, and a bound of each one's error.
    Halves u8, "data"
    /// What a screen of pairs finds, by tile.
    Tiles u32, "data"
    /// Codes of feature selection.
    Codes u8, "data"
    KnnData u8, "data"
    Graph u32, "graphs"
    Start u32, "graphs"
    Fixed u32, "graphs"
    /// Pairs that the empty set separates.
    Empty u32, "graphs"
    PMax f64, "p-values"
    /// The numbers of the pairs that level 0 left.
    Ranks u64, "p-values"
    /// Degrees, offsets, work counts.
    Rows u8, "rows"
    Report Report, "rows"
    List u32, "edges"
    Verdicts u32, "edges"
    /// A slice of the correlations in single precision.
    Singles f32, "data"
    /// Neighbours with their correlations.
    Near [u32; 2], "edges"
    Slots u8, "edges"
    Twins u32, "edges"
    Binomials u64, "edges"
    /// Separating sets.
    Log u32, "separating sets"
    /// Working memory of warps, and tables that do not fit into shared memory.
    Scratch u8, "scratch"
    /// Questions that the GPU leaves to the CPU.
    Asked u32, "scratch"
    /// Questions to the GPU with their answers, answers of the CPU, sums of squares.
    Batch u8, "scratch"
    /// What feature selection needs besides the codes.
    Selection u8, "rows"
    KnnTests u8, "tests"
    KnnSets u8, "sets"
    KnnNeighbours u32, "neighbours"
    KnnPermuted u8, "permuted"
    /// Permutations of samples, drawn for the tests of a set.
    KnnDrawn u8, "permuted"
    KnnClaims u64, "claims"
    KnnRows u8, "distances"
    KnnPlanes u8, "planes"
    KnnSlots u32, "slots"
    KnnSums i64, "sums"
    MixedData u8, "data"
    /// Tests of mixed data: the questions whose cells are computed.
    MixedJobs u8, "tests"
    MixedCells u64, "cells"
    FeaturesData u8, "data"
    /// Tests by random features: their lists, and the answers.
    FeaturesTests u8, "tests"
    /// Tests by random features: what the tests given one set share.
    FeaturesSets u8, "sets"
    /// Tests by random features: residuals of variables given a set.
    FeaturesSides u8, "residuals"
}

impl BufferId {
    /// Returns whether the memory is filled once for a run, by a copy or on the GPU, and then only read.
    pub fn is_read(self) -> bool {
        matches!(
            self,
            BufferId::Data | BufferId::Codes | BufferId::KnnData | BufferId::MixedData | BufferId::FeaturesData
        )
    }

    /// Returns whether the contents outlast a level, so that the memory must stay in place when a level makes room.
    pub fn lasts(self) -> bool {
        use BufferId::*;
        matches!(
            self,
            Data | Codes
                | KnnData
                | MixedData
                | FeaturesData
                | Graph
                | Start
                | Fixed
                | Empty
                | PMax
                | Ranks
                | Rows
                | Report
                | Log
                | Selection
        )
    }
}
