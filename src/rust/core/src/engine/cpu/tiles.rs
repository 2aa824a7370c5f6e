//! The order in which sides are handed out.

use crate::search::level::PairSide;
use crate::sort::counting_sort;

/// Rows that stand together: their sides are handed out by the other vertex, so that what is read of it is used by all of
/// them while it is in the cache.
const TILE_ROWS: usize = 32;

/// Sorts sides that stand by row into (row / TILE_ROWS, other); `p` is the number of vertices.
pub(super) fn in_tiles(sides: &mut [PairSide], spare: &mut Vec<PairSide>, p: usize) {
    let tile = |side: &PairSide| side.row as usize / TILE_ROWS;
    for part in sides.chunk_by_mut(|a, b| tile(a) == tile(b)) {
        counting_sort(part, spare, p, |side| side.other as usize);
    }
}
