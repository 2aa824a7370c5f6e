//! Correlation matrix of a data matrix, computed on the GPU.

use std::thread::sleep;
use std::time::Duration;

use crate::engine::cuda::arguments::{CorrelationArgs, CORRELATION_THREADS, PRODUCT_BYTES, TILE};
use crate::engine::cuda::gauss::rows::{centre, Cells, Panel, Rows, SLICE_PRODUCTS, STEP};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::engine::cuda::pointer::DevicePtr;
use crate::moments::{Centred, Watch};
use crate::pool::Pool;
use crate::{Error, Result};

/// Writes the correlations of centred columns to `c` (p x p). They agree with R's `cor(x)` to 1e-12, with ones on the diagonal and all
/// values between -1 and 1. A constant column has NaN with the others. Two equal columns have exactly 1.
///
/// `ordinal` is the GPU's number, from 0, and `memory` the kind of memory to use. `budget` is the most bytes of it; `None` means all that
/// are free. `watch` is called about every 0.2 ms while the GPU multiplies.
///
/// # Errors
/// [`Error::Argument`] if the sizes do not fit or there is no GPU `ordinal`. [`Error::Device`] if the GPU cannot be used, has too little
/// memory or fails. Any error that `watch` returns.
pub fn correlation(
    x: &Centred,
    ordinal: usize,
    memory: MemoryKind,
    budget: Option<u64>,
    pool: &Pool,
    c: &mut [f64],
    watch: &mut Watch,
) -> Result<()> {
    let (n, p) = (x.n(), x.p());
    if n == 0 || p == 0 || p.checked_mul(p) != Some(c.len()) {
        return Err(Error::Argument {
            argument: "x",
            value: format!("a {n} x {p} matrix"),
            hint: "give at least one row and one column, and a p x p result".into(),
        });
    }
    Held::open(ordinal, pool.clone(), memory, budget)?.watched(|held| match make(held, x, watch) {
        Ok(from) => held.bring_into(from, c, &mut || watch(1.0)),
        // Some rows at a time take less memory than the whole only if there are many rows.
        Err(error) if error.is_short_of_device_memory() && p > 2 * STEP => by_rows(held, x, c, watch),
        Err(error) => Err(error),
    })
}

/// Writes the correlations to `c`, some rows at a time, with as many of the columns on the GPU as fit.
pub(super) fn by_rows(held: &mut Held, x: &Centred, c: &mut [f64], watch: &mut Watch) -> Result<()> {
    let p = x.p();
    let (cells, mut all) = (Cells::Data(x), Rows::default());
    held.plan = MemoryPlan::default();
    let room = held.room(&[])?;
    all.plan(held, cells, p, room);
    let row = 8 * p as u64;
    let rows = (held.room(&[])? / row) as usize / STEP * STEP;
    let rows = rows.clamp(STEP, all.most_rows(p).max(STEP)).min(p);
    held.plan.set(Buffer::Data, row * rows as u64);
    held.commit()?;
    all.begin(held, cells, p, &mut || watch(0.0))?;
    let at = held.device(Buffer::Data)?.cast();
    for (part, to) in c.chunks_mut(rows * p).enumerate() {
        let first = part * rows;
        let share = first as f64 / p as f64;
        let panel = Panel { rows: first..first + to.len() / p, columns: 0..p, at, ..Panel::default() };
        all.make(held, cells, p, &panel, &mut || watch(share))?;
        held.gpu.copies_follow()?;
        held.bring_into(at, to, &mut || watch(share))?;
    }
    watch(1.0)
}

/// Computes the correlations in [`Buffer::Data`], where they stay. This replaces the memory plan; the next plan need not have room for the
/// data.
pub(super) fn make(held: &mut Held, x: &Centred, watch: &mut Watch) -> Result<DevicePtr<f64>> {
    let (n, p) = (x.n(), x.p());
    held.plan = MemoryPlan::default();
    held.plan.set(Buffer::Columns, 8 * (n * p) as u64);
    held.plan.set(Buffer::Data, 8 * (p * p) as u64);
    held.plan.set(Buffer::Batch, 8 * p as u64);
    held.commit()?;
    let mut args = CorrelationArgs {
        n: n as u64,
        p: p as u64,
        x: held.device(Buffer::Columns)?,
        c: held.device(Buffer::Data)?.cast(),
        squares: held.device(Buffer::Batch)?.cast(),
        ..CorrelationArgs::default()
    };
    // On the stream, as any other copy might still be under way when the first kernel starts.
    held.send_numbers_with(args.x, n * p, 1, |from, numbers| x.fill(from, numbers), &mut || watch(0.0))?;
    // SAFETY: the columns are there.
    unsafe { centre(held, &args)? };
    let gpu = held.gpu.clone();
    let launch = |kernel: Kernel<CorrelationArgs>, blocks: u32, shared: u64, args: &CorrelationArgs| {
        // SAFETY: the addresses hold n x p, p x p and p doubles, planned above; the last launch is waited for. All kernels take blocks of
        // `CORRELATION_THREADS` threads; `cor_product` has one block for each tile from `first_tile` on.
        unsafe { gpu.launch(kernel.on((blocks, 1), CORRELATION_THREADS, shared), args) }
    };
    let grid = |items: usize| items.div_ceil(CORRELATION_THREADS as usize).clamp(1, 65_535) as u32;
    let tiles = p.div_ceil(TILE as usize) as u64;
    let tiles = tiles * (tiles + 1) / 2;
    let slice = (SLICE_PRODUCTS / (n as u64 * u64::from(TILE * TILE))).clamp(1, 1 << 30);
    while args.first_tile < tiles {
        let done = args.first_tile;
        let count = slice.min(tiles - done);
        launch(Kernel::cor_product, count as u32, PRODUCT_BYTES, &args)?;
        args.first_tile += count;
        while !gpu.is_idle("computing correlations")? {
            watch(done as f64 / tiles as f64)?;
            sleep(Duration::from_micros(200));
        }
        watch(args.first_tile as f64 / tiles as f64)?;
    }
    launch(Kernel::cor_squares, grid(p), 0, &args)?;
    launch(Kernel::cor_finish, grid(p * p), 0, &args)?;
    held.synchronize("computing correlations")?;
    Ok(args.c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_do_not_fit_are_refused_before_a_gpu_is_looked_for() {
        for (data, n, cells) in [(6, 3, 3), (6, 3, 9), (5, 6, 1), (0, 0, 4), (0, 3, 0)] {
            let (x, mut c) = (vec![1.0; data], vec![0.0; cells]);
            let x = Centred::of_cells(&x, n);
            let refused = correlation(&x, 0, MemoryKind::Device, None, &Pool::none(), &mut c, &mut |_| Ok(()));
            assert!(matches!(refused, Err(Error::Argument { argument: "x", .. })), "{refused:?}");
        }
    }
}
