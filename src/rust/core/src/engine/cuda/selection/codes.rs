//! The codes of features in the GPU's form, and how they get to the GPU.

use super::{CudaCounting, STAGED_CODES};
use crate::ci::discrete::Codes;
use crate::engine::cuda::arguments::Feature;
use crate::engine::cuda::gpu::transfer::threads_for;
use crate::observer::Observer;
use crate::selection::FeatureCodes;
use crate::Result;

/// Returns the bytes from the codes of one feature to those of the next: a multiple of 16, as kernels read 16 bytes at a time.
pub(super) fn stride(n: usize, wide: bool) -> u64 {
    (n as u64 * if wide { 2 } else { 1 }).next_multiple_of(16)
}

/// Writes the codes of a feature in the GPU's form: one byte per code, or two if they are `wide`.
pub(super) fn write_codes(codes: FeatureCodes, wide: bool, to: &mut [u8]) {
    match codes {
        FeatureCodes::Dense(Codes::Bytes(codes)) => to[..codes.len()].copy_from_slice(codes),
        // 256 levels: the CPU uses two bytes per code, as one byte has no room for the missing value.
        FeatureCodes::Dense(Codes::Words(codes)) if !wide => {
            codes.iter().zip(to).for_each(|(&code, to)| *to = code as u8);
        }
        FeatureCodes::Dense(Codes::Words(codes)) => {
            codes.iter().zip(to.chunks_exact_mut(2)).for_each(|(code, to)| to.copy_from_slice(&code.to_ne_bytes()));
        }
        FeatureCodes::Sparse(variable) if !wide => {
            to.fill(variable.usual as u8);
            variable.rows.iter().zip(&variable.codes).for_each(|(&row, &code)| to[row as usize] = code as u8);
        }
        FeatureCodes::Sparse(variable) => {
            to.chunks_exact_mut(2).for_each(|to| to.copy_from_slice(&variable.usual.to_ne_bytes()));
            for (&row, code) in variable.rows.iter().zip(&variable.codes) {
                to[2 * row as usize..][..2].copy_from_slice(&code.to_ne_bytes());
            }
        }
    }
}

impl CudaCounting<'_> {
    /// Copies the codes to the GPU through pinned memory, which several threads fill.
    pub(super) fn upload_codes(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let n = self.samples.n();
        let half = (STAGED_CODES / 2).max(stride(n, true) as usize);
        let pinned = self.held.pinned(2 * half)?;
        let (mut from, mut turn) = (0, 0);
        let all = self.features.len();
        while from < all {
            observer.look()?;
            let start = self.features[from].at;
            let end = |f: &Feature| (f.at - start + stride(n, f.wide > 0)) as usize;
            let count = self.features[from..all].partition_point(|f| end(f) <= half);
            let part = &self.features[from..from + count];
            let bytes = end(&part[count - 1]);
            // SAFETY: a half holds `half` bytes, and the previous copy from it is done: the stream was synchronised before the half's next turn.
            let buffer = unsafe { std::slice::from_raw_parts_mut(pinned.add(turn * half), bytes) };
            self.write_all(part, buffer);
            // SAFETY: as above; this half is written again only after the next synchronisation.
            unsafe {
                let filled = std::slice::from_raw_parts(pinned.add(turn * half), bytes);
                self.held.upload_pinned(self.args.data.offset(start), filled)?;
            }
            if turn == 1 {
                self.held.synchronize("copying the data")?;
            }
            turn = 1 - turn;
            from += count;
        }
        self.held.synchronize("copying the data")
    }

    /// Writes the codes of features one after the other, on several threads.
    fn write_all(&self, part: &[Feature], buffer: &mut [u8]) {
        let (data, n, first) = (self.samples, self.samples.n(), self.range.start);
        let each = part.len().div_ceil(threads_for(&self.held.pool, buffer.len() / 4));
        let mut parts = Vec::new();
        let mut rest = buffer;
        for some in part.chunks(each.max(1)) {
            let length = some.iter().map(|f| stride(n, f.wide > 0) as usize).sum();
            let (own, later) = std::mem::take(&mut rest).split_at_mut(length);
            rest = later;
            parts.push((some, own));
        }
        self.held.pool.each_of(parts, |_, (some, mut own): (&[Feature], &mut [u8])| {
            for f in some {
                let (to, next) = own.split_at_mut(stride(n, f.wide > 0) as usize);
                write_codes(data.codes(first + f.place as usize), f.wide > 0, to);
                own = next;
            }
        });
    }
}
