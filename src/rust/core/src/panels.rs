//! Products of columns in panels. A panel has eight columns side by side, row after row, so the kernel reads its data in order.

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Plain, Task};

/// Number of columns of a panel. Zeros fill up the last one.
pub(crate) const WIDE: usize = 8;

/// A row of a panel, in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Row(pub [f64; WIDE]);

/// Number of rows that are multiplied at a time. All panels of this many rows stay in the cache.
pub(crate) const DEEP: usize = 256;

/// Number of panels that are multiplied by one panel at a time.
pub(crate) const HIGH: usize = 3;

/// Returns the number of panels for `p` columns.
pub(crate) fn panels(p: usize) -> usize {
    p.div_ceil(WIDE)
}

/// Writes the products of the columns of the first `count` panels of x and those of y. Each panel of x has a tile with one row for each
/// column of y.
pub(crate) struct Multiply<'a> {
    pub x: [&'a [Row]; HIGH],
    pub count: usize,
    pub y: &'a [Row],
    pub tiles: &'a mut [Row; HIGH * WIDE],
    /// Whether products are fused with sums on machines without the instruction, too. This is slow there, but all machines then have the
    /// same sums.
    pub fused: bool,
}

impl Task<Plain> for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Plain) {
        for (x, tile) in self.x.iter().zip(self.tiles.chunks_mut(WIDE)).take(self.count) {
            for (half, tile) in tile.chunks_mut(WIDE / 2).enumerate() {
                let mut sums = [[0.0; WIDE]; WIDE / 2];
                for (x, y) in x.iter().zip(self.y) {
                    for (sums, y) in sums.iter_mut().zip(&y.0[half * WIDE / 2..]) {
                        match self.fused {
                            true => sums.iter_mut().zip(&x.0).for_each(|(sum, x)| *sum = x.mul_add(*y, *sum)),
                            false => sums.iter_mut().zip(&x.0).for_each(|(sum, x)| *sum += x * y),
                        }
                    }
                }
                tile.iter_mut().zip(sums).for_each(|(row, sums)| row.0 = sums);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Task<Avx2> for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Avx2) {
        use std::arch::x86_64::{
            _mm256_broadcast_sd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_setzero_pd, _mm256_storeu_pd,
        };
        for (x, tile) in self.x.iter().zip(self.tiles.chunks_mut(WIDE)).take(self.count) {
            for (half, tile) in tile.chunks_mut(WIDE / 2).enumerate() {
                // SAFETY: an `Avx2` exists only if the machine has AVX2 and fused multiply-adds. Rows have eight values.
                unsafe {
                    let mut sums = [[_mm256_setzero_pd(); 2]; WIDE / 2];
                    for (x, y) in x.iter().zip(self.y) {
                        let x = [_mm256_loadu_pd(x.0.as_ptr()), _mm256_loadu_pd(x.0[4..].as_ptr())];
                        for (sums, y) in sums.iter_mut().zip(&y.0[half * WIDE / 2..]) {
                            let y = _mm256_broadcast_sd(y);
                            *sums = [_mm256_fmadd_pd(x[0], y, sums[0]), _mm256_fmadd_pd(x[1], y, sums[1])];
                        }
                    }
                    for (row, sums) in tile.iter_mut().zip(sums) {
                        _mm256_storeu_pd(row.0.as_mut_ptr(), sums[0]);
                        _mm256_storeu_pd(row.0[4..].as_mut_ptr(), sums[1]);
                    }
                }
            }
        }
    }
}

/// Sets the sums with a column of y to zero.
#[cfg(target_arch = "x86_64")]
macro_rules! zero {
    ($($sum:literal)+) => { concat!($("vpxorq zmm", $sum, ", zmm", $sum, ", zmm", $sum, "\n"),+) };
}

/// Multiplies a column of y by those of x.
#[cfg(target_arch = "x86_64")]
macro_rules! column {
    ($at:literal: $($x:literal $sum:literal),+) => {
        concat!(
            "vbroadcastsd zmm3, qword ptr [{y} + ", $at, "]\n",
            $("vfmadd231pd zmm", $sum, ", zmm", $x, ", zmm3\n"),+
        )
    };
}

/// Stores the sums with a panel of x.
#[cfg(target_arch = "x86_64")]
macro_rules! store {
    ($($at:literal $sum:literal),+) => { concat!($("vmovapd [{tiles} + ", $at, "], zmm", $sum, "\n"),+) };
}

#[cfg(target_arch = "x86_64")]
impl Task<Avx512> for Multiply<'_> {
    type Output = ();

    /// Uses assembly, because the intrinsics of AVX-512 need Rust 1.89, which is newer than our minimum.
    #[inline(always)]
    fn run(self, _: Avx512) {
        let Multiply { x, count, y, tiles, .. } = self;
        let rows = y.len();
        assert!(x.iter().all(|x| x.len() == rows));
        if rows == 0 {
            return;
        }
        let [first, second, third] = x.map(<[Row]>::as_ptr);
        if count == HIGH {
            // SAFETY: an `Avx512` exists only if the machine has AVX-512 F. All panels have `rows` rows, and there are 24 tile rows, which
            // are aligned.
            unsafe {
                std::arch::asm!(
                    zero!(8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
                    "2:",
                    "vmovapd zmm0, [{x0}]",
                    "vmovapd zmm1, [{x1}]",
                    "vmovapd zmm2, [{x2}]",
                    column!(0: 0 8, 1 16, 2 24),
                    column!(8: 0 9, 1 17, 2 25),
                    column!(16: 0 10, 1 18, 2 26),
                    column!(24: 0 11, 1 19, 2 27),
                    column!(32: 0 12, 1 20, 2 28),
                    column!(40: 0 13, 1 21, 2 29),
                    column!(48: 0 14, 1 22, 2 30),
                    column!(56: 0 15, 1 23, 2 31),
                    "add {x0}, 64",
                    "add {x1}, 64",
                    "add {x2}, 64",
                    "add {y}, 64",
                    "dec {rows}",
                    "jnz 2b",
                    store!(0 8, 64 9, 128 10, 192 11, 256 12, 320 13, 384 14, 448 15),
                    store!(512 16, 576 17, 640 18, 704 19, 768 20, 832 21, 896 22, 960 23),
                    store!(1024 24, 1088 25, 1152 26, 1216 27, 1280 28, 1344 29, 1408 30, 1472 31),
                    "vzeroupper",
                    x0 = inout(reg) first => _,
                    x1 = inout(reg) second => _,
                    x2 = inout(reg) third => _,
                    y = inout(reg) y.as_ptr() => _,
                    rows = inout(reg) rows => _,
                    tiles = in(reg) tiles.as_mut_ptr(),
                    out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                    out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                    out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                    out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _,
                    out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
                    options(nostack),
                );
            }
            return;
        }
        // Two panels; if there is only one, the second repeats the first.
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                zero!(8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23),
                "2:",
                "vmovapd zmm0, [{x0}]",
                "vmovapd zmm1, [{x1}]",
                column!(0: 0 8, 1 16),
                column!(8: 0 9, 1 17),
                column!(16: 0 10, 1 18),
                column!(24: 0 11, 1 19),
                column!(32: 0 12, 1 20),
                column!(40: 0 13, 1 21),
                column!(48: 0 14, 1 22),
                column!(56: 0 15, 1 23),
                "add {x0}, 64",
                "add {x1}, 64",
                "add {y}, 64",
                "dec {rows}",
                "jnz 2b",
                store!(0 8, 64 9, 128 10, 192 11, 256 12, 320 13, 384 14, 448 15),
                store!(512 16, 576 17, 640 18, 704 19, 768 20, 832 21, 896 22, 960 23),
                "vzeroupper",
                x0 = inout(reg) first => _,
                x1 = inout(reg) second => _,
                y = inout(reg) y.as_ptr() => _,
                rows = inout(reg) rows => _,
                tiles = in(reg) tiles.as_mut_ptr(),
                out("zmm0") _, out("zmm1") _, out("zmm3") _,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
                options(nostack),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd;

    /// Tests all instruction sets that this machine has, on panels of any depth, the last of them not full.
    #[test]
    fn panels_have_the_products_of_their_columns() {
        for (rows, p) in [(1, 1), (3, 8), (128, 9), (129, 70), (300, 130)] {
            let value = |row: usize, j: usize| ((row * 31 + j * 17 + 5) % 101) as f64 - 50.0;
            let mut cells = vec![Row::default(); panels(p) * rows];
            for j in 0..p {
                (0..rows).for_each(|row| cells[j / WIDE * rows + row].0[j % WIDE] = value(row, j));
            }
            let last = &cells[(panels(p) - 1) * rows..];
            let second = &cells[panels(p) / 2 * rows..][..rows];
            for count in 1..=HIGH {
                let made = |run: &dyn Fn(Multiply)| {
                    let mut tiles = [Row([7.0; WIDE]); HIGH * WIDE];
                    run(Multiply { x: [&cells[..rows], second, last], count, y: last, tiles: &mut tiles, fused: true });
                    tiles[..count * WIDE].iter().map(|row| row.0).collect::<Vec<_>>()
                };
                let plain = made(&|task| task.run(Plain));
                assert_eq!(made(&|task| simd::run(task)), plain);
                assert_eq!(made(&|task| simd::run_wide(task)), plain);
            }
        }
    }
}
