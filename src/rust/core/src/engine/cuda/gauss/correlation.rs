//! The correlation matrix of a data matrix, on the GPU.

use crate::engine::cuda::arguments::{CorrelationArgs, CORRELATION_THREADS, PRODUCT_BYTES, TILE};
use std::thread::sleep;
use std::time::Duration;

use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::{Held, Holds};
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::pool::Pool;
use crate::{Error, Result};

/// Multiplications in a launch: some hundredths of a second, so that a user can interrupt.
const SLICE_PRODUCTS: u64 = 200_000_000_000;

/// Writes Pearson's correlations of the p columns of `x` (n x p, column by column, finite) to `c` (p x p): those of R's
/// `cor(x)` to 1e-12, with ones on the diagonal and all between -1 and 1. A constant column has NaN with the others. Two equal
/// columns have exactly 1. `ordinal` is the card's number, from 0; `budget` the most bytes of device memory to use, none: what is
/// free. `look` is called about every 0.2 ms while the card multiplies; its error ends the call.
///
/// # Errors
/// [`Error::Argument`] where the sizes do not fit or there is no card `ordinal`, [`Error::Device`] where the card cannot be used,
/// has too little memory or fails, and what `look` returns.
pub fn correlation(
    x: &[f64],
    n: usize,
    p: usize,
    ordinal: usize,
    budget: Option<u64>,
    c: &mut [f64],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let fits = |len: usize, rows: usize| rows.checked_mul(p) == Some(len);
    if n == 0 || p == 0 || !fits(x.len(), n) || !fits(c.len(), p) {
        return Err(Error::Argument {
            argument: "x",
            value: format!("of {} numbers", x.len()),
            mend: format!("give {n} x {p}, at least one of each, and {p} x {p} for the result"),
        });
    }
    Held::open(ordinal, Pool::none(), budget)?.watched(|held| on_card(held, x, n, p, c, look))
}

fn on_card(
    held: &mut Held,
    x: &[f64],
    n: usize,
    p: usize,
    c: &mut [f64],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    held.plan.set(Buffer::Scratch, 8 * x.len() as u64);
    held.plan.set(Buffer::Data, 8 * c.len() as u64);
    held.plan.set(Buffer::Batch, 8 * p as u64);
    held.commit()?;
    let mut args = CorrelationArgs {
        n: n as u64,
        p: p as u64,
        x: held.device(Buffer::Scratch)?.cast(),
        c: held.device(Buffer::Data)?.cast(),
        squares: held.device(Buffer::Batch)?.cast(),
        first_tile: 0,
    };
    // On the stream: any other copy might still be under way when the first kernel starts.
    held.upload(args.x, x)?;
    let card = held.card.clone();
    let launch = |kernel: Kernel<CorrelationArgs>, blocks: u32, shared: u64, args: &CorrelationArgs| {
        // SAFETY: the addresses are those of n x p, p x p and p doubles, planned above; the last launch is waited for. All
        // kernels take blocks of so many threads; `cor_product` has a block for each tile from `first_tile` on, and no more.
        unsafe { card.launch(kernel.on((blocks, 1), CORRELATION_THREADS, shared), args) }
    };
    let grid = |items: usize| items.div_ceil(CORRELATION_THREADS as usize).clamp(1, 65_535) as u32;
    launch(Kernel::cor_centre, p.min(65_535) as u32, u64::from(CORRELATION_THREADS / WARP) * 8, &args)?;
    let tiles = p.div_ceil(TILE as usize) as u64;
    let tiles = tiles * (tiles + 1) / 2;
    let slice = (SLICE_PRODUCTS / (n as u64 * u64::from(TILE * TILE))).clamp(1, 1 << 30);
    while args.first_tile < tiles {
        let count = slice.min(tiles - args.first_tile);
        launch(Kernel::cor_product, count as u32, PRODUCT_BYTES, &args)?;
        args.first_tile += count;
        while !card.is_idle("the correlations")? {
            look()?;
            sleep(Duration::from_micros(200));
        }
        look()?;
    }
    launch(Kernel::cor_squares, grid(p), 0, &args)?;
    launch(Kernel::cor_finish, grid(p * p), 0, &args)?;
    held.synchronize("the correlations")?;
    held.fetch(args.c, c, "copying the correlations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_do_not_fit_are_refused_before_a_card_is_looked_for() {
        for (data, n, p, cells) in [(6, 3, 2, 3), (5, 3, 2, 4), (0, 0, 2, 4), (0, 3, 0, 0), (6, usize::MAX, 2, 4)] {
            let (x, mut c) = (vec![1.0; data], vec![0.0; cells]);
            let refused = correlation(&x, n, p, 0, None, &mut c, &mut || Ok(()));
            assert!(matches!(refused, Err(Error::Argument { argument: "x", .. })), "{refused:?}");
        }
    }
}
