//! Steps of a GPU with too little memory for all codes. The host keeps all codes packed, a few bits each, in pinned memory that the GPU reads by
//! itself. The GPU keeps those of as many features as fit. In each step the codes become bytes, some features at a time, and are counted.
//!
//! Reading the codes takes longer than counting. So a step also counts with some partners that were not requested: those likely to be next.

use std::ops::Range;

use super::codes::{stride, write_codes};
use super::{CudaCounting, SelectionStrategy, STAGED_CODES};
use crate::engine::cuda::arguments::UNPACKED_SAMPLES;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::selection::{FeatureCodes, Partner, Sums};
use crate::Result;

/// Codes that become bytes in each step, one part after the other.
#[derive(Clone, Default)]
pub(super) struct Streamed {
    /// Features, in the GPU's order, whose codes are bytes at the same time.
    pub parts: Vec<Range<usize>>,
    /// Bytes for the codes of a part; 0: all codes are on the GPU. Packed codes follow.
    bytes: u64,
    /// Most bytes of packed codes on the GPU.
    room: u64,
    /// By position in the range: bytes that the GPU reads from the host.
    read: Vec<u64>,
    /// Features that may soon be partners, the likeliest first.
    likely: Vec<usize>,
    /// Sums with partners that were not requested yet.
    foreseen: Vec<(usize, Vec<Sums>)>,
}

/// Parts get 1 / `SHARE` of the bytes for codes, but at most `STAGED_CODES` and at least what one feature takes.
const SHARE: u64 = 2;

/// Most partners that a step counts with.
pub(super) const PARTNERS: usize = 8;

/// Most bytes of sums that are kept for later steps, unless those of `PARTNERS` partners take more.
const FORESEEN: usize = 64 << 20;

/// Packed codes of a feature begin at multiples of this. The lower bits of an address hold the number of bits per code.
const ALIGNED: u64 = 128;

/// Returns the bits per packed code of a feature.
fn bits_of(levels: usize) -> u64 {
    match levels {
        0..=2 => 1,
        3..=256 => u64::from((levels - 1).ilog2()) + 1,
        _ => 16,
    }
}

/// Returns the bytes of a feature's packed codes.
fn packed_bytes(n: usize, bits: u64) -> u64 {
    let samples = u64::from(UNPACKED_SAMPLES);
    (n as u64).div_ceil(samples) * (samples / 8) * bits
}

/// Packs codes; the bits beyond the samples are arbitrary.
fn pack(codes: FeatureCodes, n: usize, bits: u64, to: &mut [u8]) {
    let wide = bits > 8;
    let mut bytes = vec![0; stride(n, wide) as usize];
    write_codes(codes, wide, &mut bytes);
    if bits >= 8 {
        to[..bytes.len()].copy_from_slice(&bytes);
        return;
    }
    for (eight, to) in bytes.chunks_exact(8).zip(to.chunks_exact_mut(bits as usize)) {
        let side_by_side = eight.iter().rev().fold(0u64, |all, &code| all << bits | u64::from(code));
        to.copy_from_slice(&side_by_side.to_le_bytes()[..bits as usize]);
    }
}

impl CudaCounting<'_> {
    /// Returns the bytes for codes on the GPU, if all codes take `all` bytes; plans nothing. If not all fit, places the features in parts.
    pub(super) fn place_codes(&mut self, all: u64) -> Result<u64> {
        let n = self.samples.n();
        let room = self.held.room(&[])?.saturating_sub(self.of_tables);
        self.streamed = Streamed::default();
        if let SelectionStrategy::Joined { .. } = self.options.strategy {
            self.batch_bytes = self.batch_within(room);
            return Ok(2 * self.batch_bytes as u64);
        }
        if all <= room {
            return Ok(all);
        }
        let widest = self.features.iter().map(|f| stride(n, f.wide > 0)).max().unwrap_or(0);
        if widest > room {
            let others = self.held.plan.total() + self.of_tables;
            return Err(self.held.too_little(others + widest));
        }
        let room = room / 16 * 16;
        let bytes = (room / SHARE / ALIGNED * ALIGNED).min(STAGED_CODES as u64).max(widest);
        self.streamed.bytes = bytes;
        self.streamed.room = (room - bytes).saturating_sub(ALIGNED);
        self.cut_streamed();
        Ok(room)
    }

    /// Returns whether codes become bytes for each step.
    pub(super) fn streams(&self) -> bool {
        self.streamed.bytes > 0
    }

    /// Cuts the features into parts, at first and after some features have moved to other machines.
    pub(super) fn cut_streamed(&mut self) {
        if !self.streams() {
            return;
        }
        let n = self.samples.n();
        self.streamed.parts.clear();
        let (mut from, mut end) = (0, 0);
        for (number, feature) in self.features.iter_mut().enumerate() {
            let size = stride(n, feature.wide > 0);
            if end + size > self.streamed.bytes {
                self.streamed.parts.push(from..number);
                (from, end) = (number, 0);
            }
            feature.at = end;
            end += size;
        }
        if from < self.features.len() {
            self.streamed.parts.push(from..self.features.len());
        }
        self.streamed.foreseen.clear();
    }

    /// Packs all codes, and copies those that fit to the GPU.
    pub(super) fn pack_codes(&mut self) -> Result<()> {
        let (data, n, first) = (self.samples, self.samples.n(), self.range.start);
        let size = |place: u32| packed_bytes(n, bits_of(data.levels(first + place as usize)));
        let all: u64 = self.features.iter().map(|f| size(f.place)).sum();
        memory::room(all as usize, Use::Features)?;
        let at = self.held.lasting(all as usize)?;
        // SAFETY: as many bytes are there, which nobody else uses, and which are written before they are read.
        let mut rest = unsafe { std::slice::from_raw_parts_mut(at, all as usize) };
        let base: DevicePtr<u8> = self.args.data.carve(self.streamed.bytes.next_multiple_of(ALIGNED));
        let (mut host, mut there) = (0, 0);
        self.streamed.read = vec![0; self.slots.len()];
        let mut columns = Vec::with_capacity(self.features.len());
        for feature in &mut self.features {
            let (bytes, levels) = (size(feature.place), data.levels(first + feature.place as usize));
            let (own, others) = rest.split_at_mut(bytes as usize);
            rest = others;
            columns.push((feature.place, own));
            // The first features stay on the GPU.
            let stays = there == host && host + bytes <= self.streamed.room;
            let address = if stays { base.address() + there } else { at as u64 + host };
            there += if stays { bytes } else { 0 };
            host += bytes;
            self.streamed.read[feature.place as usize] = if stays { 0 } else { bytes };
            feature.packed = address | bits_of(levels);
        }
        self.held.pool.each_of(columns, |_, (place, to): (u32, &mut [u8])| {
            let f = first + place as usize;
            pack(data.codes(f), n, bits_of(data.levels(f)), to);
        });
        // SAFETY: written above, and not written again before the stream was waited for.
        unsafe { self.held.upload_pinned(base, std::slice::from_raw_parts(at, there as usize)) }
    }

    /// Has the GPU turn the codes of a part's features into bytes, except features that are left out.
    pub(super) fn unpack(&mut self, part: &Range<usize>) -> Result<()> {
        self.held.piece(part.len());
        let mut args = self.args;
        (args.first, args.count) = (part.start as u64, part.len() as u64);
        let in_block = 256 / WARP;
        let pieces = (self.samples.n() as u32).div_ceil(UNPACKED_SAMPLES).div_ceil(in_block);
        let launch =
            Kernel::unpack.on((pieces, part.len().min(65_535) as u32), 256, u64::from(in_block * WARP * 8 * 4));
        // SAFETY: the features' packed codes are there, with room for a part's bytes; shared memory has 8 words for each thread.
        unsafe { self.held.gpu.launch(launch, &args)? };
        let left_out = |place: u32| self.left_out[place as usize];
        let read = self.features[part.clone()].iter().filter(|f| !left_out(f.place));
        self.held.note_moved(read.map(|f| self.streamed.read[f.place as usize]).sum());
        Ok(())
    }

    /// Notes which features may soon be partners.
    pub(super) fn note_likely(&mut self, likely: &[usize]) {
        self.streamed.likely = likely.to_vec();
    }

    /// Runs a step that turns all codes into bytes once, for all partners that it counts with.
    pub(super) fn count_streamed(
        &mut self,
        partner: Partner,
        skip: &[bool],
        sums: &mut [Sums],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if self.left_out.iter().zip(skip).any(|(&was, &is)| was && !is) {
            // Another selection has begun: the kept sums lack features that are needed again.
            self.streamed.foreseen.clear();
        }
        let known = |g| self.streamed.foreseen.iter().position(|&(other, _)| other == g);
        let mut partners = vec![partner];
        if let Partner::Feature(g) = partner {
            if let Some(at) = known(g) {
                let (_, found) = self.streamed.foreseen.swap_remove(at);
                let wanted = sums.iter_mut().zip(found).zip(skip).filter(|(_, &skip)| !skip);
                wanted.for_each(|((sum, found), _)| *sum = found);
                return Ok(());
            }
            let likely = self.streamed.likely.iter().copied();
            let more = likely.filter(|&other| other != g && self.forms(other) && known(other).is_none());
            partners.extend(more.take(self.partners - 1).map(Partner::Feature));
        }
        self.leave_out(skip)?;
        let mut formed = Vec::with_capacity(partners.len());
        for (number, &partner) in partners.iter().enumerate() {
            let rows = self.rows_of(partner, number)?;
            formed.push((rows, self.args.partner, self.args.partner_wide));
        }
        let base = self.args.sums;
        let (count, total) = (self.slots.len(), self.features.len() * partners.len());
        for part in self.streamed.parts.clone() {
            self.wait("counting", observer, part.start as f64, self.features.len() as f64)?;
            self.unpack(&part)?;
            for (number, (rows, partner, wide)) in formed.iter().enumerate() {
                (self.args.partner, self.args.partner_wide) = (*partner, *wide);
                self.args.sums = base.offset((number * count) as u64);
                let counted = self.count_part(rows, part.clone(), total, observer);
                self.args.sums = base;
                counted?;
            }
        }
        self.bring_sums(skip, sums)?;
        let most = (FORESEEN / size_of_val(sums).max(1)).max(PARTNERS);
        for (number, partner) in partners.into_iter().enumerate().skip(1) {
            let Partner::Feature(g) = partner else { continue };
            let mut found = memory::collected((0..count).map(|_| Sums::default()), Use::Features)?;
            self.args.sums = base.offset((number * count) as u64);
            let brought = self.bring_sums(skip, &mut found);
            self.args.sums = base;
            brought?;
            if self.streamed.foreseen.len() >= most {
                self.streamed.foreseen.remove(0);
            }
            self.streamed.foreseen.push((g, found));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::Codes;

    #[test]
    fn codes_are_packed_side_by_side() {
        let n = 37;
        for levels in [2usize, 3, 4, 5, 8, 9, 64, 100, 129, 256, 300] {
            let bits = bits_of(levels);
            assert!(levels <= 1 << bits && (bits == 1 || bits == 16 || levels > 1 << (bits - 1)), "{levels}");
            let code = |i: usize| (i * 7 + i * i) % levels;
            let codes = match levels {
                0..=255 => Codes::Bytes((0..n).map(|i| code(i) as u8).collect()),
                _ => Codes::Words((0..n).map(|i| code(i) as u16).collect()),
            };
            let mut packed = vec![0xff; packed_bytes(n, bits) as usize];
            assert_eq!(packed.len() as u64 % ALIGNED, 0);
            pack(FeatureCodes::Dense(&codes), n, bits, &mut packed);
            for i in 0..n {
                let bit = |b: usize| usize::from(packed[b / 8] >> (b % 8) & 1);
                let found = (0..bits as usize).map(|b| bit(i * bits as usize + b) << b).sum::<usize>();
                assert_eq!(found, code(i), "{levels} levels, sample {i}");
            }
        }
    }
}
