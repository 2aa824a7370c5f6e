//! Portions of data that are sent in one call, and the pieces in which they are sent.

use crate::engine::cuda::pointer::DevicePtr;

/// A target on the GPU and its number of bytes, at least 1. Several portions are sent in one call.
#[derive(Clone, Copy)]
pub(in crate::engine::cuda) struct Portion {
    pub to: DevicePtr<u8>,
    pub bytes: usize,
}

/// The pieces of all portions, numbered consecutively. `firsts` has the number of each portion's first piece, then the number of all pieces.
pub(super) struct Pieces {
    firsts: Vec<usize>,
    each: usize,
}

impl Pieces {
    pub fn of(portions: &[Portion], each: usize) -> Self {
        let mut end = 0;
        let ends = portions.iter().map(|portion| {
            end += portion.bytes.div_ceil(each);
            end
        });
        Pieces { firsts: std::iter::once(0).chain(ends).collect(), each }
    }

    pub fn count(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    /// Returns the portion of a piece, and the offset in bytes at which the piece starts there.
    pub fn place(&self, piece: usize) -> (usize, usize) {
        let portion = self.firsts.partition_point(|&first| first <= piece) - 1;
        (portion, (piece - self.firsts[portion]) * self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_portions_are_all_of_each() {
        let portions: Vec<Portion> =
            [1, 4096, 4097, 10_000, 8192].map(|bytes| Portion { to: DevicePtr::NULL, bytes }).into();
        let pieces = Pieces::of(&portions, 4096);
        let found: Vec<_> = (0..pieces.count()).map(|piece| pieces.place(piece)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (2, 0), (2, 4096), (3, 0), (3, 4096), (3, 8192), (4, 0), (4, 4096)]);
    }
}
