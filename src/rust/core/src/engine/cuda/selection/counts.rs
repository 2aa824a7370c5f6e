//! The launches of a step.

use super::super::memory::Use;
use super::super::plan::out_of_memory;
use super::kernels::{counter_bits, table_words, LEVELS_AT, PARTIAL_BYTES};
use super::{stride, write_codes, Args, CudaCounting, MODES_FROM, WARP};
use crate::search::Observer;
use crate::select::{Joint, Partner, Sums};
use crate::{Error, Result};

/// Samples that a launch counts at most, over all of its features: some hundredths of a second, so that Ctrl-C is heard. Tables
/// in device memory take longer.
const SLICE: u64 = 20_000_000_000;
const SLICE_GLOBAL: u64 = 1_000_000_000;

/// Rows that a kernel with 16 bits a row can tell apart.
const ROWS_16: u64 = 1 << 16;

/// Bytes that tables in device memory take together, unless one alone is larger.
const TABLES: u64 = 2 << 30;

/// Rows that are counted in shared memory first.
const TOTALS_SHARED: u64 = 8192;

/// The rows of the tables.
enum Rows {
    /// Formed on the card: `levels` of the partner with all classes.
    Formed { levels: u64 },
    /// Formed here, those that occur.
    Listed { rows: Joint, groups: Vec<u32>, starts: Vec<u32>, totals: Vec<u32> },
}

impl CudaCounting<'_> {
    /// A step with the data on the card.
    pub(super) fn count_resident(
        &mut self,
        partner: Partner,
        skip: &[bool],
        sums: &mut [Sums],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.leave_out(skip)?;
        let rows = self.rows_of(partner)?;
        let (row_count, group_count) = match &rows {
            Rows::Formed { levels } => (levels * self.args.class_count, *levels),
            Rows::Listed { rows, starts, .. } => (rows.levels as u64, starts.len() as u64 - 1),
        };
        self.args.row_count = row_count;
        self.args.group_count = group_count;
        let shared = self.features.partition_point(|f| self.fits(u64::from(f.levels)));
        let all = self.features.len();
        for (part, global) in [(0..shared, false), (shared..all, true)] {
            if !part.is_empty() {
                self.form(&rows, global)?;
                self.count_range(part.start, part.len(), global, all, observer)?;
            }
        }
        self.bring_sums(skip, sums)
    }

    /// Whether the tables of features with so many levels fit in shared memory.
    fn fits(&self, levels: u64) -> bool {
        self.options.shared_tables
            && self.args.row_count <= ROWS_16
            && 4 * self.words(levels, counter_bits(self.samples.n())) + PARTIAL_BYTES
                <= u64::from(self.card.shared_limit)
    }

    fn words(&self, levels: u64, bits: u64) -> u64 {
        let Args { row_count, group_count, n, stepwise, .. } = self.args;
        table_words(levels, row_count, group_count, n, stepwise, bits)
    }

    /// Has the card leave out the features that are selected.
    fn leave_out(&mut self, skip: &[bool]) -> Result<()> {
        for (place, (left_out, &skip)) in self.left_out.iter_mut().zip(skip).enumerate() {
            if skip != *left_out {
                let (index, levels) = self.slots[place];
                let at = self.args.features + (index * size_of::<super::Feature>()) as u64 + LEVELS_AT;
                self.card.upload(at, &[if skip { 0 } else { levels }])?;
                *left_out = skip;
            }
        }
        Ok(())
    }

    /// Decides who forms the rows, and has the partner's codes on the card if that does.
    fn rows_of(&mut self, partner: Partner) -> Result<Rows> {
        let data = self.samples.coded();
        let joint = match partner {
            Partner::Nothing => {
                self.args.partner = 0;
                return Ok(Rows::Formed { levels: 1 });
            }
            Partner::Feature(g) if data.levels(g) * self.samples.classes() <= self.most_rows => {
                let (wide, own) = (data.levels(g) > 256, self.range.contains(&g));
                self.args.partner_wide = wide.into();
                self.args.partner = if own {
                    self.args.data + self.features[self.slots[g - self.range.start].0].at
                } else {
                    let mut codes = vec![0; stride(self.samples.n(), wide) as usize];
                    write_codes(data.codes(g), wide, &mut codes);
                    self.card.upload(self.partner, &codes)?;
                    self.partner
                };
                return Ok(Rows::Formed { levels: data.levels(g) as u64 });
            }
            Partner::Feature(g) => &Joint::of_variable(self.samples, g),
            Partner::Joint(joint) => joint,
        };
        let mut rows = joint.clone();
        rows.refine(self.samples, self.samples.class());
        let totals = rows.counts();
        // Rows stand by group.
        let mut starts = vec![0; joint.levels + 1];
        for (&row, &group) in rows.codes.iter().zip(&joint.codes) {
            let end = &mut starts[group as usize + 1];
            *end = row.max(*end - u32::from(*end > 0)) + 1;
        }
        Ok(Rows::Listed { rows, groups: joint.codes.clone(), starts, totals })
    }

    /// Puts the rows on the card, 32 bits each for tables in device memory, else 16.
    fn form(&mut self, rows: &Rows, global: bool) -> Result<()> {
        let totals = self.samples.n() >= MODES_FROM;
        match rows {
            Rows::Formed { .. } => {
                let (join, total) = if global { ("join_32", "total_32") } else { ("join_16", "total_16") };
                let work = self.args.n.max(self.args.row_count + 1);
                let blocks = work.div_ceil(256).clamp(1, 4096) as u32;
                self.card.launch(join, (blocks, 1), 256, 0, &self.args)?;
                if totals {
                    let args = Args { table_words: TOTALS_SHARED, ..self.args };
                    let blocks = blocks.min(2 * self.card.processors);
                    let shared = 4 * self.args.row_count;
                    let shared = if self.args.row_count <= TOTALS_SHARED { shared } else { 0 };
                    self.card.launch(total, (blocks, 1), 256, shared, &args)?;
                }
            }
            Rows::Listed { rows, groups, starts, totals } => {
                let upload = |to, codes: &[u32]| match global {
                    true => self.card.upload(to, codes),
                    false => self.card.upload(to, &codes.iter().map(|&code| code as u16).collect::<Vec<u16>>()),
                };
                upload(self.args.rows, &rows.codes)?;
                upload(self.args.groups, groups)?;
                self.card.upload(self.args.starts, starts)?;
                self.card.upload(self.args.totals, totals)?;
            }
        }
        Ok(())
    }

    /// Counts features from `first` on, in launches that end soon. `all` is what the progress is a part of.
    pub(super) fn count_range(
        &mut self,
        first: usize,
        count: usize,
        global: bool,
        all: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let bits = if global { 32 } else { self.bits() };
        let levels = self.features[first..first + count].iter().map(|f| f.levels).max().unwrap_or(1);
        let words = self.words(u64::from(levels), bits);
        let mut args = self.args;
        let (name, threads, shared, blocks) = if global {
            let (blocks, tables) = self.tables(4 * words, count)?;
            args.tables = tables;
            args.table_words = words;
            ("count_global", 512, PARTIAL_BYTES, blocks)
        } else {
            let shared = 4 * words + PARTIAL_BYTES;
            let name = match bits {
                8 => "count_8",
                16 => "count_16",
                _ => "count_32",
            };
            (name, threads(self.args.n, shared), shared, u32::MAX)
        };
        let slice = (if global { SLICE_GLOBAL } else { SLICE } / self.args.n).max(u64::from(self.card.processors));
        let (mut from, end) = (first as u64, (first + count) as u64);
        while from < end {
            args.first = from;
            args.count = slice.min(end - from);
            self.card.launch(
                name,
                (args.count.min(u64::from(blocks).min(1 << 20)) as u32, 1),
                threads,
                shared,
                &args,
            )?;
            from += args.count;
            if from < end {
                self.wait("counting", observer, from as f64, all as f64)?;
            }
        }
        Ok(())
    }

    /// Bits of a counter in shared memory.
    fn bits(&self) -> u64 {
        match self.options.strategy {
            super::Strategy::Resident => counter_bits(self.samples.n()),
            super::Strategy::Joined { .. } => 32,
        }
    }

    /// Room for tables of so many bytes in device memory: how many blocks have one, and where.
    fn tables(&mut self, bytes: u64, count: usize) -> Result<(u32, u64)> {
        let free = self.card.memory_info()?.0;
        let held = self.memory().held_for(Use::Scratch);
        let codes = self.memory().held() - held;
        let budget = self.options.memory_budget.map_or(u64::MAX, |budget| budget.saturating_sub(codes));
        let limit = (free + held).saturating_sub(super::RESERVE).min(budget);
        let most = (TABLES.min(limit) / bytes).clamp(1, u64::from(2 * self.card.processors)).min(count as u64);
        if bytes > limit {
            return Err(out_of_memory(codes + bytes, free, self.options.memory_budget));
        }
        Ok((most as u32, self.device(Use::Scratch, most * bytes)?))
    }
}

/// Threads of a block: many samples, and few blocks at a time, ask for many.
fn threads(n: u64, shared: u64) -> u32 {
    let threads = match n {
        0..=512 => 4 * WARP,
        513..=4096 => 8 * WARP,
        _ => 16 * WARP,
    };
    if shared > 96 << 10 {
        32 * WARP
    } else {
        threads
    }
}

/// The error for joint states that 16 bits do not tell apart.
pub(super) fn too_many_states(count: usize) -> Error {
    Error::Argument {
        argument: "strategy",
        value: "\"joined\"".into(),
        mend: format!(
            "a pair of features has {count} joint states, and 65535 are the most: give \"resident\", or fewer bins"
        ),
    }
}
