//! Feature selection on a GPU: the counts for a range of features.
//!
//! If the codes of the features fit, they are copied to the GPU once, with one byte each (two if a feature has more than 256 levels). A step
//! sends the number of the feature selected last, and gets two sums for each candidate. As on the CPU these are sums of integers, so that scores
//! and choices equal the CPU's to the last bit.
//!
//! * `codes`: the form of the codes, and how they get to the GPU.
//! * `counts`: the launches of a step.
//! * `parts`: steps if not all codes fit.
//! * `joined`: the scheme of CUDA-JMI, in which the CPU forms the joint states.
//! * `kernels`: the sizes of the kernels' tables.

mod codes;
mod counts;
mod joined;
mod kernels;
mod parts;

use crate::engine::cuda::arguments::{Feature, SelectionArgs, NO_MODE};
use std::ops::Range;

use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::engine::cuda::pointer::DevicePtr;
use crate::observer::Observer;
use crate::pool::{default_threads, Pool};
use crate::selection::{select_each, CountLogs, Counting, Member, Partner, Run, Runner, Samples, Sums};
use crate::team::{Moved, TeamReport};
use crate::Result;
use codes::stride;

/// How the work is divided between CPU and GPU. All strategies give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionStrategy {
    /// Our own: the data stay on the GPU, and its kernel forms the joint states.
    Resident,
    /// CUDA-JMI (González-Domínguez et al. 2020, sections 4.1 to 4.3): CPU threads form the joint states of a batch of features, 16 bits each.
    /// Meanwhile the GPU counts those of the previous batch in tables of 32-bit counters. Only `examples/selection.rs` uses it, as a benchmark.
    Joined {
        /// CPU threads.
        threads: usize,
    },
}

/// How to run on a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectionOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// How the work is divided.
    pub strategy: SelectionStrategy,
    /// The kind of memory that the engine allocates.
    pub memory: MemoryKind,
    /// Most bytes of GPU memory to use; `None`: all that is free.
    pub memory_budget: Option<u64>,
    /// Most bytes of shared memory for the tables of a block, besides the GPU's own limit. Tables that fit are in shared memory. Others are made
    /// there slice by slice, or are in device memory. This changes only the time.
    pub shared_bytes: u64,
    /// Tables with more cells than this many times the number of samples are added up while they grow; smaller tables are read when they are
    /// complete. This changes only the time.
    pub stepwise_from: f64,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        SelectionOptions {
            ordinal: 0,
            strategy: SelectionStrategy::Resident,
            memory: MemoryKind::Device,
            memory_budget: None,
            shared_bytes: u64::MAX,
            stepwise_from: 1.0,
        }
    }
}

/// Bytes of pinned memory through which codes are copied, in two halves.
const STAGED_CODES: usize = 64 << 20;

/// From this many samples on, the GPU finds the features' modes; for fewer it does not pay.
const MODES_FROM: usize = 1024;

/// Most levels that the kernel `modes` counts: features with more levels get no mode.
const MODE_LEVELS: u64 = 4096;

/// Features that are handled together, as most such groups leave out none.
const FEATURES_TOGETHER: usize = 256;

/// Counts for a range of features on one GPU.
pub struct CudaCounting<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    range: Range<usize>,
    options: SelectionOptions,
    held: Held,
    /// The kernels' arguments, with the addresses that do not change: they are in the memory that `reserve` plans and lays out. Every step ends
    /// by waiting for the stream.
    args: SelectionArgs,
    /// The features as the GPU has them, in ascending order of their levels.
    features: Vec<Feature>,
    /// By position in the range: index in `features`, and number of levels.
    slots: Vec<(usize, u32)>,
    /// By position in the range: whether the GPU leaves the feature out.
    left_out: Vec<bool>,
    /// Rows (g, y) that there is room for.
    most_rows: usize,
    /// Address for the codes of partners whose codes are not on the GPU, and how many partners (`partners`) have room.
    partner: DevicePtr<u8>,
    partners: usize,
    /// The codes that become bytes for each step.
    streamed: parts::Streamed,
    /// Bytes that are kept free for tables.
    of_tables: u64,
    /// Bytes of the joint states of a batch.
    batch_bytes: usize,
    /// Whether the data are on the GPU.
    ready: bool,
    /// Whether the GPU has `features` in their current state.
    listed: bool,
}

impl<'a> CudaCounting<'a> {
    /// Makes a machine that counts for the features `range` of `samples`; `logs` must be those for the number of samples. The data are copied to
    /// the GPU when they are first needed.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU cannot be used or its memory is too small, [`Error::Argument`](crate::Error::Argument)
    /// if there is no GPU `ordinal`.
    pub fn new(
        samples: &'a Samples,
        logs: &'a CountLogs,
        range: Range<usize>,
        options: SelectionOptions,
    ) -> Result<Self> {
        let pool = Pool::at_most(default_threads());
        let held = Held::open(options.ordinal, pool, options.memory, options.memory_budget)?;
        held.begin(Some(0));
        let mut counting = CudaCounting {
            samples,
            logs,
            range,
            options,
            held,
            args: SelectionArgs::default(),
            features: Vec::new(),
            slots: Vec::new(),
            left_out: Vec::new(),
            most_rows: (2 * samples.n()).max(256),
            partner: DevicePtr::NULL,
            partners: 1,
            streamed: parts::Streamed::default(),
            of_tables: 0,
            batch_bytes: 0,
            ready: false,
            listed: false,
        };
        counting.watched(CudaCounting::reserve)?;
        Ok(counting)
    }

    /// Sets the CPU threads that help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Returns the largest plan of GPU memory so far.
    pub fn plan(&self) -> &MemoryPlan {
        self.held.largest_plan()
    }

    /// Plans, allocates and lays out the memory that lasts between steps.
    fn reserve(&mut self) -> Result<()> {
        let data = self.samples;
        let (n, count) = (self.samples.n(), self.range.len());
        let mut order: Vec<usize> = self.range.clone().collect();
        order.sort_by_key(|&f| data.levels(f));
        self.slots = vec![(0, 0); count];
        self.left_out = vec![false; count];
        let mut at = 0;
        self.features = Vec::with_capacity(count);
        for f in order {
            let (levels, place) = (data.levels(f) as u32, f - self.range.start);
            let wide = levels > 256;
            self.slots[place] = (self.features.len(), levels);
            self.features.push(Feature {
                at,
                levels,
                wide: wide.into(),
                mode: NO_MODE,
                place: place as u32,
                packed: 0,
            });
            at += stride(n, wide);
        }
        let rows = self.most_rows as u64;
        let of_features = size_of_val(&self.features[..]) as u64;
        // Returns the layout with room for the sums and codes of `partners` partners.
        let lay_out = |partners: usize| {
            let sizes = [
                of_features,
                4 * n as u64,
                4 * n as u64,
                4 * (rows + 1),
                4 * rows,
                8 * (n as u64 + 1),
                8 * n as u64,
                2 * n as u64,
                (size_of::<Sums>() * count * partners) as u64,
                stride(n, true) * partners as u64,
            ];
            let mut total = 0;
            let offsets = sizes.map(|size| {
                let offset = total;
                total += size.next_multiple_of(256);
                offset
            });
            (offsets, total)
        };
        self.held.restart();
        let place = |counting: &mut Self, partners: usize| {
            let (offsets, total) = lay_out(partners);
            counting.held.plan.set(Buffer::Selection, total);
            counting.partners = partners;
            counting.place_codes(at).map(|codes| (offsets, codes))
        };
        let (mut offsets, mut codes) = place(self, 1)?;
        if self.streams() {
            (offsets, codes) = match place(self, parts::PARTNERS) {
                Ok(placed) => placed,
                Err(_) => place(self, 1)?,
            };
        }
        self.held.plan.set(Buffer::Codes, codes.max(1));
        self.held.commit()?;
        (self.ready, self.listed) = (false, false);
        let base = self.held.device(Buffer::Selection)?;
        let [features, rows, groups, starts, totals, logs, steps, classes, sums, partner] = offsets;
        self.args = SelectionArgs {
            n: n as u64,
            data: self.held.device(Buffer::Codes)?,
            features: base.carve(features),
            rows: base.carve(rows),
            groups: base.carve(groups),
            starts: base.carve(starts),
            totals: base.carve(totals),
            logs: base.carve(logs),
            steps: base.carve(steps),
            sums: base.carve(sums),
            classes: base.carve(classes),
            class_count: self.samples.classes() as u64,
            stepwise: (self.options.stepwise_from.clamp(0.0, 1e6) * 256.0) as u64,
            ..SelectionArgs::default()
        };
        self.partner = base.carve(partner);
        // The sums of left-out features are fetched with the others, but are neither written nor read.
        self.held.clear(base.carve::<u64>(sums), 2 * count * self.partners)
    }

    /// Copies the data to the GPU, unless they are there.
    fn upload(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.listed {
            return Ok(());
        }
        let n = self.samples.n();
        let resident = self.options.strategy == SelectionStrategy::Resident;
        if !self.ready {
            let classes = self.samples.codes(self.samples.class()).to_vec(n);
            self.held.upload(self.args.classes, &classes)?;
            self.held.upload(self.args.logs, self.logs.table())?;
            self.held.upload(self.args.steps, self.logs.steps())?;
            if resident && self.streams() {
                self.pack_codes()?;
            } else if resident {
                self.upload_codes(observer)?;
            }
        }
        self.held.upload(self.args.features, &self.features)?;
        if resident && n >= MODES_FROM {
            if !self.streams() {
                self.find_modes(0..self.features.len())?;
            }
            for part in self.streamed.parts.clone() {
                self.unpack(&part)?;
                self.find_modes(part)?;
            }
        }
        self.wait("copying the data", observer, 0.0, 1.0)?;
        (self.ready, self.listed) = (true, true);
        Ok(())
    }

    /// Has the GPU find the modes of features whose codes are on the GPU.
    fn find_modes(&mut self, part: Range<usize>) -> Result<()> {
        let (features, count) = (self.args.features.offset(part.start as u64), part.len() as u64);
        let args = SelectionArgs { features, count, shared_counters: MODE_LEVELS, ..self.args };
        let blocks = part.len().clamp(1, 65_535) as u32;
        // SAFETY: the arguments are the selection's; shared memory has `shared_counters` counters.
        unsafe { self.held.gpu.launch(Kernel::modes.on((blocks, 1), 256, 4 * MODE_LEVELS), &args) }
    }

    /// Waits for the stream, and from time to time reports `done` of `total` to the observer, which may stop the run.
    fn wait(&mut self, doing: &str, observer: &mut dyn Observer, done: f64, total: f64) -> Result<()> {
        self.held.wait(doing, &mut || observer.progress(0, done, total))
    }

    /// Copies the sums of features without `skip` from the GPU; the others keep their values.
    fn bring_sums(&mut self, skip: &[bool], sums: &mut [Sums]) -> Result<()> {
        let pinned = self.held.pinned(size_of_val(sums).max(1))?.cast::<[i64; 2]>();
        // SAFETY: the sums fit, and pinned memory is aligned to pages; any bits there are numbers.
        let brought = unsafe { std::slice::from_raw_parts_mut(pinned, sums.len()) };
        self.held.fetch(self.args.sums, brought, "copying the counts")?;
        for ((sums, found), skip) in sums
            .chunks_mut(FEATURES_TOGETHER)
            .zip(brought.chunks(FEATURES_TOGETHER))
            .zip(skip.chunks(FEATURES_TOGETHER))
        {
            let found = found.iter().map(|&[pair, with_class]| Sums { pair, with_class });
            if skip.contains(&true) {
                let wanted = sums.iter_mut().zip(found).zip(skip).filter(|(_, &skip)| !skip);
                wanted.for_each(|((sum, found), _)| *sum = found);
            } else {
                sums.iter_mut().zip(found).for_each(|(sum, found)| *sum = found);
            }
        }
        Ok(())
    }
}

impl Holds for CudaCounting<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Counting for CudaCounting<'_> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        if sums.is_empty() {
            return Ok(());
        }
        loop {
            let kept = self.of_tables;
            let counted = self.watched(|counting| {
                counting.upload(observer)?;
                match counting.options.strategy {
                    SelectionStrategy::Resident => counting.count_resident(partner, skip, sums, observer),
                    SelectionStrategy::Joined { threads } => {
                        counting.count_joined(threads, partner, skip, sums, observer)
                    }
                }
            });
            if counted.is_ok() || self.of_tables == kept {
                return counted;
            }
            // Keep fewer codes on the GPU, so that tables have room.
            self.watched(CudaCounting::reserve)?;
        }
    }

    fn is_full(&self) -> bool {
        self.streams()
    }

    fn foresees(&self) -> usize {
        if self.streams() {
            2 * parts::PARTNERS
        } else {
            0
        }
    }

    fn foresee(&mut self, likely: &[usize]) {
        self.note_likely(likely);
    }

    fn narrow(&mut self, count: usize) {
        // The codes stay where they are on the GPU; the next step copies the list of features again and sets which are left out.
        self.range.end = self.range.end.min(self.range.start + count);
        self.features.retain(|feature| (feature.place as usize) < count);
        self.slots.truncate(count);
        for (index, feature) in self.features.iter().enumerate() {
            self.slots[feature.place as usize].0 = index;
        }
        self.cut_streamed();
        self.left_out = vec![false; self.slots.len()];
        self.listed = false;
    }

    fn moved(&self) -> Moved {
        self.held.moved()
    }

    fn report(&mut self) -> TeamReport {
        self.held.report(self.options.ordinal)
    }
}

/// A guess of a GPU's speed relative to one CPU thread. On the shapes in bench/results.csv (suite select) an H200 takes a seventh to a hundredth of the
/// time of 16 threads, less the more there is to count. The guess rather gives the CPU too few features than too many. The CPU takes more at no
/// cost; a GPU must be sent more features and counts them separately.
pub const SPEED: f64 = 2048.0;

/// Makes a GPU one of several machines that select together; the threads of `pool` help.
pub fn member<'a>(samples: &'a Samples, logs: &'a CountLogs, options: SelectionOptions, pool: Pool) -> Member<'a> {
    let mut budget = options.memory_budget;
    let make = move |range| -> Result<Box<dyn Counting + Send + 'a>> {
        let options = SelectionOptions { memory_budget: budget, ..options };
        let counting = CudaCounting::new(samples, logs, range, options)?.with_pool(pool.clone());
        // Features that it gets later have the rest of the budget.
        budget = budget.map(|bytes| bytes.saturating_sub(counting.plan().total()));
        Ok(Box::new(counting))
    };
    Member { name: format!("cuda:{}", options.ordinal), speed: SPEED, make: Box::new(make) }
}

/// Makes a GPU a machine that runs whole selections; the threads of `pool` help.
pub fn runner<'a>(options: SelectionOptions, pool: Pool) -> Runner<'a> {
    let threads = pool.clone();
    let run: Run = Box::new(move |samples, logs, criteria, k, observer| {
        let counting = CudaCounting::new(samples, logs, 0..samples.p(), options)?;
        let mut counting = counting.with_pool(threads.clone());
        let selections = select_each(samples, logs, &mut counting, criteria, k, observer)?;
        Ok((selections, counting.moved()))
    });
    Runner { name: format!("cuda:{}", options.ordinal), pool, run }
}
