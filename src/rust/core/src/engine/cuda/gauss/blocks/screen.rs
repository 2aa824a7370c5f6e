//! A screen of level 0 in half precision, which finds the tiles of pairs that have to be computed in doubles.

use std::ops::Range;

use super::Blocks;
use crate::engine::cuda::arguments::{
    ScreenArgs, SearchArgs, PAIR_TILE, SCREEN_BYTES, SCREEN_DEPTH, SCREEN_THREADS, SCREEN_TILE, TILE,
};
use crate::engine::cuda::gauss::rules::surely_independent_below;
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::{blocks_on, USUAL_THREADS};
use crate::graph::Form;
use crate::search::worker::Marginals;
use crate::Result;

// The list of tiles is for `cor_panel`.
const _: () = assert!(PAIR_TILE == TILE);

/// Rows of a panel that is screened, as far as memory allows.
pub(super) const ROWS: usize = 512;

/// Fewest variables for which a screen pays if the graph is kept as bits.
const LEAST: usize = 1 << 14;

/// Largest expected number of pairs of a tile that pass for dependent by chance. Above this, most tiles contain such a pair.
const MOST_BY_CHANCE: f64 = 2.0;

/// Multiplications of a launch: some hundredths of a second on tensor cores, and half a second on a GPU without them.
const PRODUCTS: u64 = 1_000_000_000_000;

/// Returns the error of a sum of `depth` products, for columns whose sum of squares is 1. See `kernels/gauss/screen.cu`.
fn rounding(depth: u64) -> f64 {
    18.0 * 0.5f64.powi(22) * (depth / 16) as f64
}

/// A screen of the pairs of all columns of data, which are on the GPU.
#[derive(Clone, Copy)]
pub(super) struct Screen {
    args: ScreenArgs,
}

impl Screen {
    /// Returns the bytes of the columns in half precision.
    pub fn bytes(&self, p: usize) -> u64 {
        2 * self.args.depth * p as u64 + 4 * p as u64
    }

    /// Returns the bytes of the marks and of the list of the tiles of a panel with `rows` rows.
    pub fn bytes_of_tiles(p: usize, rows: usize) -> u64 {
        let tiles = p.div_ceil(PAIR_TILE as usize) * rows.div_ceil(PAIR_TILE as usize);
        4 * (2 * tiles + 1) as u64
    }

    /// Sets the addresses, and makes the columns in half precision if they are not there. All columns must be on the GPU.
    pub fn begin(&mut self, blocks: &mut Blocks) -> Result<()> {
        let (p, state) = (blocks.gauss.p as u64, &mut blocks.state);
        let Some(all) = state.rows.all() else { return Ok(()) };
        let held = &mut blocks.search.engine.held;
        let args = &mut self.args;
        (args.x, args.squares) = (all.columns, all.squares);
        args.halves = held.device(Buffer::Halves)?.cast();
        args.errors = args.halves.carve(2 * args.depth * p);
        args.tiles = held.device(Buffer::Tiles)?;
        if !state.has_halves {
            args.a.p = p;
            let launch = Kernel::screen_halves.on(
                (p.min(65_535) as u32, 1),
                SCREEN_THREADS,
                u64::from(SCREEN_THREADS / WARP) * 8,
            );
            // SAFETY: the columns are there, and room for their halves and errors.
            unsafe { held.gpu.launch(launch, args)? };
            state.has_halves = true;
        }
        Ok(())
    }

    /// Lists the tiles of a panel that have to be computed. Returns the list's address; the panel has columns 0 to `rows.end` - 1.
    pub fn mark(
        &self,
        held: &mut Held,
        rows: &Range<usize>,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<DevicePtr<u32>> {
        let mut args = self.args;
        (args.a.first_row, args.a.end_row) = (rows.start as u64, rows.end as u64);
        args.pitch = (rows.end as u64).div_ceil(u64::from(PAIR_TILE));
        let tiles = args.pitch as usize * rows.len().div_ceil(PAIR_TILE as usize);
        args.listed = args.tiles.offset(tiles as u64);
        held.clear(args.tiles, tiles + 1)?;
        let down = (rows.len() as u64).div_ceil(u64::from(SCREEN_TILE));
        let across = (rows.end as u64).div_ceil(u64::from(SCREEN_TILE));
        let slice = (PRODUCTS / (args.depth * down * u64::from(SCREEN_TILE * SCREEN_TILE))).clamp(1, 65_535);
        while args.first_tile < across {
            let some = slice.min(across - args.first_tile);
            let launch = Kernel::screen.on((down as u32, some as u32), SCREEN_THREADS, SCREEN_BYTES);
            // SAFETY: the halves and errors of all columns are there, and two numbers for each tile.
            unsafe { held.gpu.launch(launch, &args)? };
            args.first_tile += some;
            if args.first_tile < across {
                held.wait("computing correlations", look)?;
            }
        }
        Ok(args.listed)
    }

    /// Runs level 0 for the rows of `args`, whose marked tiles are in the panel.
    ///
    /// # Safety
    /// The arguments must be those of `Kernel::marginal`.
    pub unsafe fn judge(&self, held: &Held, args: SearchArgs) -> Result<()> {
        // A warp takes as many words as it has lanes.
        let words = (args.end_row - args.first_row) * args.words;
        let blocks = blocks_on(&held.gpu, words.div_ceil(u64::from(WARP)));
        let pitch = args.end_row.div_ceil(u64::from(PAIR_TILE));
        held.gpu.launch(
            Kernel::screened_marginal.on((blocks, 1), USUAL_THREADS, 0),
            &ScreenArgs { a: args, pitch, ..self.args },
        )
    }
}

impl Blocks<'_, '_> {
    /// Returns a screen for a level, if it pays and fits in memory. The memory of level 0 must be planned.
    pub(super) fn screen(&mut self, level: &Marginals) -> Result<Option<Screen>> {
        let (p, alpha) = (self.gauss.p, self.search.engine.alpha);
        let (Source::Data(_, n), Some(_), false) = (self.gauss.source, self.state.rows.all(), level.keeps()) else {
            return Ok(None);
        };
        let is_large = p >= LEAST || level.pairs().form() == Form::Lists;
        if !is_large || alpha * f64::from(PAIR_TILE * PAIR_TILE) > MOST_BY_CHANCE {
            return Ok(None);
        }
        let depth = (n as u64).next_multiple_of(u64::from(SCREEN_DEPTH));
        let bound = surely_independent_below(&self.gauss.test, alpha);
        // The last term is for the rounding of correlations in doubles.
        let limit = bound - rounding(depth) - 1e-6;
        // With a lower limit, too many tiles would be marked.
        if !bound.is_finite() || limit < bound / 2.0 {
            return Ok(None);
        }
        let screen = Screen { args: ScreenArgs { n: n as u64, depth, limit, ..ScreenArgs::default() } };
        let room = self.search.engine.held.room(&[Buffer::Halves.into()])?;
        Ok((screen.bytes(p) <= room / 4).then_some(screen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_single_precision_stay_within_the_bound() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        };
        for depth in [32usize, 1024, 4096] {
            let mut column = || {
                let numbers: Vec<f64> = (0..depth).map(|_| random()).collect();
                let norm = numbers.iter().map(|v| v * v).sum::<f64>().sqrt();
                numbers.iter().map(|v| (v / norm) as f32).collect::<Vec<f32>>()
            };
            let (u, v) = (column(), column());
            // Correlated columns have the largest partial sums.
            for other in [&u, &v] {
                let exact: f64 = u.iter().zip(other).map(|(&u, &v)| f64::from(u) * f64::from(v)).sum();
                let single = u.iter().zip(other).fold(0.0f32, |sum, (&u, &v)| u.mul_add(v, sum));
                assert!((f64::from(single) - exact).abs() < rounding(depth as u64), "{depth}");
            }
        }
    }
}
