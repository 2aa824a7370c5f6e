//! The launches of a step of a feature selection.

use std::mem::offset_of;
use std::ops::Range;

use super::codes::{stride, write_codes};
use super::kernels::{counter_bits, groups_in, table_words};
use super::{CudaCounting, FEATURES_TOGETHER, MODES_FROM, WARP};
use crate::engine::cuda::arguments::{Feature, SelectionArgs, PARTIAL_BYTES};
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::observer::Observer;
use crate::selection::{Joint, Partner, Sums};
use crate::{Error, Result};

/// Most samples times features in a launch: some hundredths of a second, so that a user can interrupt. Tables in device memory take longer.
const LAUNCH_SAMPLES: u64 = 20_000_000_000;
const LAUNCH_SAMPLES_DEVICE: u64 = 500_000_000;

/// Rows that a kernel with 16 bits per row can distinguish.
const ROWS_16: u64 = 1 << 16;

/// Most bytes that tables in device memory take together, unless one alone is larger.
const TABLES: u64 = 2 << 30;

/// Most passes over the samples that make a table slice by slice: counting in device memory is about this many times slower.
const MOST_PASSES: u64 = 64;

/// With at most `FEW_SAMPLES` samples, each warp takes a feature, if a block has room for the tables of `WARPS` warps. A multiprocessor takes
/// `BLOCKS_OF_WARPS` such blocks.
const FEW_SAMPLES: u64 = 512;
const WARPS: u64 = 8;
const BLOCKS_OF_WARPS: u32 = 8;

/// Most rows whose totals are first counted in shared memory.
const TOTALS_SHARED: u64 = 8192;

/// Where a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In shared memory, as a whole.
    Shared,
    /// In shared memory, slice by slice.
    Slices,
    /// In device memory.
    Device,
}

/// The rows of the tables, and the machine that forms them.
pub(super) enum Rows {
    /// The GPU forms the rows: all pairs of one of the partner's `levels` and a class.
    Formed { levels: u64 },
    /// The CPU forms the rows: the pairs that occur.
    Listed { rows: Joint, groups: Vec<u32>, starts: Vec<u32>, totals: Vec<u32> },
}

impl CudaCounting<'_> {
    /// Runs a step with the data on the GPU.
    pub(super) fn count_resident(
        &mut self,
        partner: Partner,
        skip: &[bool],
        sums: &mut [Sums],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if self.streams() {
            return self.count_streamed(partner, skip, sums, observer);
        }
        self.leave_out(skip)?;
        let rows = self.rows_of(partner, 0)?;
        let all = self.features.len();
        self.count_part(&rows, 0..all, all, observer)?;
        self.bring_sums(skip, sums)
    }

    /// Counts for a part of the features, whose codes are on the GPU, with one partner. Reports progress as a share of `all` features.
    pub(super) fn count_part(
        &mut self,
        rows: &Rows,
        features: Range<usize>,
        all: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (row_count, group_count) = match rows {
            Rows::Formed { levels } => (levels * self.args.class_count, *levels),
            Rows::Listed { rows, starts, .. } => (rows.levels as u64, starts.len() as u64 - 1),
        };
        self.args.row_count = row_count;
        self.args.group_count = group_count;
        // The features are in ascending order of their levels.
        let place = |f: &Feature, counting: &Self| counting.place_of(u64::from(f.levels));
        let shared = self.features.partition_point(|f| place(f, self) == Place::Shared);
        let sliced = self.features.partition_point(|f| place(f, self) != Place::Device);
        let last = self.features.len();
        let mut formed = None;
        for (part, place) in
            [(0..shared, Place::Shared), (shared..sliced, Place::Slices), (sliced..last, Place::Device)]
        {
            let own = features.start.max(part.start)..features.end.min(part.end);
            if own.is_empty() {
                continue;
            }
            let device = place == Place::Device;
            if formed != Some(device) {
                self.form(rows, device)?;
                formed = Some(device);
            }
            self.count_range(own.start, own.len(), place, all, observer)?;
        }
        Ok(())
    }

    /// Returns whether the GPU forms the rows for feature g as the partner.
    pub(super) fn forms(&self, g: usize) -> bool {
        self.samples.levels(g) * self.samples.classes() <= self.most_rows
    }

    /// Returns the bytes of shared memory that the tables of a block may take.
    pub(super) fn shared_room(&self) -> u64 {
        u64::from(self.held.gpu.shared_limit).saturating_sub(PARTIAL_BYTES).min(self.options.shared_bytes)
    }

    /// Returns where the table of a feature with `levels` levels goes.
    fn place_of(&self, levels: u64) -> Place {
        let bits = counter_bits(self.samples.n());
        if self.args.row_count > ROWS_16 {
            Place::Device
        } else if 4 * self.words(levels, bits) <= self.shared_room() {
            Place::Shared
        } else if bits > 8 && self.slice_of(levels) * MOST_PASSES >= self.args.group_count {
            Place::Slices
        } else {
            Place::Device
        }
    }

    /// Returns the number of groups in a slice.
    fn slice_of(&self, levels: u64) -> u64 {
        groups_in(self.shared_room() / 4, levels, self.args.class_count, counter_bits(self.samples.n()))
    }

    fn words(&self, levels: u64, bits: u64) -> u64 {
        let SelectionArgs { row_count, group_count, n, stepwise, .. } = self.args;
        table_words(levels, row_count, group_count, n, stepwise, bits)
    }

    /// Sets the features that the GPU leaves out to those of `skip`, and no others.
    pub(super) fn leave_out(&mut self, skip: &[bool]) -> Result<()> {
        for (block, (known, wanted)) in
            self.left_out.chunks_mut(FEATURES_TOGETHER).zip(skip.chunks(FEATURES_TOGETHER)).enumerate()
        {
            // Most steps change one feature.
            if known == wanted {
                continue;
            }
            for (i, (known, &skip)) in known.iter_mut().zip(wanted).enumerate() {
                if *known != skip {
                    let (index, levels) = self.slots[block * FEATURES_TOGETHER + i];
                    let at = self.args.features.offset(index as u64).carve(offset_of!(Feature, levels) as u64);
                    self.held.upload(at, &[if skip { 0 } else { levels }])?;
                    *known = skip;
                }
            }
        }
        Ok(())
    }

    /// Decides which machine forms the rows. If the GPU does, makes sure that it has the partner's codes; `number` is the partner's place among
    /// several.
    pub(super) fn rows_of(&mut self, partner: Partner, number: usize) -> Result<Rows> {
        let data = self.samples;
        let joint = match partner {
            Partner::Nothing => {
                self.args.partner = DevicePtr::NULL;
                return Ok(Rows::Formed { levels: 1 });
            }
            Partner::Feature(g) if self.forms(g) => {
                let (wide, own) = (data.levels(g) > 256, self.range.contains(&g) && !self.streams());
                self.args.partner_wide = wide.into();
                self.args.partner = if own {
                    self.args.data.offset(self.features[self.slots[g - self.range.start].0].at)
                } else {
                    let mut codes = vec![0; stride(self.samples.n(), wide) as usize];
                    write_codes(data.codes(g), wide, &mut codes);
                    let at = self.partner.offset(number as u64 * stride(self.samples.n(), true));
                    self.held.upload(at, &codes)?;
                    at
                };
                return Ok(Rows::Formed { levels: data.levels(g) as u64 });
            }
            Partner::Feature(g) => &Joint::of_variable(self.samples, g),
            Partner::Joint(joint) => joint,
        };
        let mut rows = joint.clone();
        rows.refine(self.samples, self.samples.class());
        let totals = rows.counts();
        // The rows of a group have consecutive numbers.
        let mut starts = vec![0; joint.levels + 1];
        for (&row, &group) in rows.codes.iter().zip(&joint.codes) {
            let end = &mut starts[group as usize + 1];
            *end = row.max(*end - u32::from(*end > 0)) + 1;
        }
        Ok(Rows::Listed { rows, groups: joint.codes.clone(), starts, totals })
    }

    /// Puts the rows on the GPU: 32 bits each for tables in device memory, otherwise 16.
    fn form(&mut self, rows: &Rows, device: bool) -> Result<()> {
        let totals = self.samples.n() >= MODES_FROM;
        match rows {
            Rows::Formed { .. } => {
                let (join, total) =
                    if device { (Kernel::join_32, Kernel::total_32) } else { (Kernel::join_16, Kernel::total_16) };
                let work = self.args.n.max(self.args.row_count + 1);
                let blocks = work.div_ceil(256).clamp(1, 4096) as u32;
                // SAFETY: the arguments are the selection's, with room for as many rows as `rows_of` lets the GPU form.
                unsafe { self.held.gpu.launch(join.on((blocks, 1), 256, 0), &self.args)? };
                if totals {
                    let args = SelectionArgs { shared_counters: TOTALS_SHARED, ..self.args };
                    let blocks = blocks.min(2 * self.held.gpu.processors);
                    let shared = 4 * self.args.row_count;
                    let shared = if self.args.row_count <= TOTALS_SHARED { shared } else { 0 };
                    // SAFETY: as above; if the kernel counts in shared memory, that has a counter for each row.
                    unsafe { self.held.gpu.launch(total.on((blocks, 1), 256, shared), &args)? };
                }
            }
            Rows::Listed { rows, groups, starts, totals } => {
                let upload = |to: DevicePtr<u8>, codes: &[u32]| match device {
                    true => self.held.upload(to.cast(), codes),
                    false => self.held.upload(to.cast(), &codes.iter().map(|&code| code as u16).collect::<Vec<u16>>()),
                };
                upload(self.args.rows, &rows.codes)?;
                upload(self.args.groups, groups)?;
                self.held.upload(self.args.starts, starts)?;
                self.held.upload(self.args.totals, totals)?;
            }
        }
        Ok(())
    }

    /// Counts `count` of `features` from `first` on, in short launches. Reports progress as a share of `all` features.
    pub(super) fn count_range(
        &mut self,
        first: usize,
        count: usize,
        place: Place,
        all: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let bits = if place == Place::Device { 32 } else { self.bits() };
        let levels = self.features[first..first + count].iter().map(|f| f.levels).max().unwrap_or(1);
        let words = self.words(u64::from(levels), bits);
        let mut args = SelectionArgs { slice: self.args.group_count, ..self.args };
        let (mut shared, mut blocks, mut samples) = (4 * words + PARTIAL_BYTES, 1 << 20, LAUNCH_SAMPLES);
        let by_warps = place == Place::Shared && self.takes_warps(words, bits);
        let kernel = match (place, bits, by_warps) {
            (Place::Shared, 8, false) => Kernel::count_8,
            (Place::Shared, 16, false) => Kernel::count_16,
            (Place::Shared, _, false) => Kernel::count_32,
            (Place::Shared, _, true) => {
                (shared, args.table_words) = (WARPS * 4 * words, words);
                // Each block takes several features, so that it clears its table once.
                blocks = BLOCKS_OF_WARPS * self.held.gpu.processors;
                if bits == 8 {
                    Kernel::warps_8
                } else {
                    Kernel::warps_16
                }
            }
            (Place::Slices, ..) => {
                args.slice = self.slice_of(u64::from(levels));
                samples /= self.args.group_count.div_ceil(args.slice);
                shared = self.shared_room() / 16 * 16 + PARTIAL_BYTES;
                if bits == 16 {
                    Kernel::slices_16
                } else {
                    Kernel::slices_32
                }
            }
            (Place::Device, ..) => {
                (blocks, args.tables) = self.tables(4 * words, count)?;
                args.table_words = words;
                (shared, samples) = (PARTIAL_BYTES, LAUNCH_SAMPLES_DEVICE);
                Kernel::count_device
            }
        };
        let (threads, each) = if by_warps { (WARPS as u32 * WARP, WARPS) } else { (threads(self.args.n, shared), 1) };
        let most = (samples / self.args.n).max(u64::from(self.held.gpu.processors));
        let (mut from, end) = (first as u64, (first + count) as u64);
        while from < end {
            args.first = from;
            args.count = most.min(end - from);
            let launch = kernel.on((args.count.div_ceil(each).min(u64::from(blocks)) as u32, 1), threads, shared);
            // SAFETY: the arguments are the selection's; tables have their words in shared memory, or for each block in `tables`.
            unsafe { self.held.gpu.launch(launch, &args)? };
            from += args.count;
            if from < end {
                self.wait("counting", observer, from as f64, all as f64)?;
            }
        }
        Ok(())
    }

    /// Returns whether each warp takes a feature, with a table of `words` words. With few samples, the threads of a block would wait for each
    /// other longer than they count. If tables are large, a multiprocessor holds few, and the threads of whole blocks count them better.
    fn takes_warps(&self, words: u64, bits: u64) -> bool {
        self.args.n <= FEW_SAMPLES && bits < 32 && WARPS * 4 * words <= self.shared_room()
    }

    /// Returns the bits of a counter in shared memory.
    fn bits(&self) -> u64 {
        match self.options.strategy {
            super::SelectionStrategy::Resident => counter_bits(self.samples.n()),
            super::SelectionStrategy::Joined { .. } => 32,
        }
    }

    /// Plans and allocates at most `count` tables of `bytes` bytes in device memory. Returns how many blocks get one, and the address.
    fn tables(&mut self, bytes: u64, count: usize) -> Result<(u32, DevicePtr<u32>)> {
        let room = self.held.room(&[BufferId::Scratch])?;
        if room < bytes {
            // Tables for as many blocks as the GPU has multiprocessors, but at most half of the memory that codes and tables share.
            let wanted = bytes * u64::from(self.held.gpu.processors).min(count as u64);
            self.of_tables = wanted.min((room + self.held.plan.of(Buffer::Codes)) / 2).max(bytes);
            return Err(self.held.too_little(self.held.plan.total() - self.held.plan.of(Buffer::Scratch) + bytes));
        }
        let most = (TABLES.min(room) / bytes).clamp(1, u64::from(2 * self.held.gpu.processors)).min(count as u64);
        if self.held.plan.of(Buffer::Scratch) != most * bytes {
            self.held.plan.set(Buffer::Scratch, most * bytes);
            self.held.commit()?;
        }
        Ok((most as u32, self.held.device(Buffer::Scratch)?.cast()))
    }
}

/// Returns the threads of a block with `shared` bytes of shared memory. A multiprocessor gets several blocks if they fit, as one can count while
/// another clears or reads.
fn threads(n: u64, shared: u64) -> u32 {
    match (n, shared >> 10) {
        (0..=512, _) => 4 * WARP,
        (_, 0..=48) => 8 * WARP,
        (_, 49..=96) => 16 * WARP,
        _ => 32 * WARP,
    }
}

/// Returns the error for more joint states than 16 bits can number.
pub(super) fn too_many_states(count: usize) -> Error {
    Error::Argument {
        argument: "strategy",
        value: "\"joined\"".into(),
        hint: format!("a pair of features has {count} joint states, more than 65535; give \"resident\", or fewer bins"),
    }
}
