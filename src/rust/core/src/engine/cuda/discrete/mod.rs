//! Levels of discrete variables on the GPU, in stages short enough to be interrupted.

pub(super) mod asked;
mod column_cache;
pub(super) mod columns;
pub(super) mod counting;
mod panels;
pub(super) mod parts;
pub(super) mod rows;

use std::ops::Range;

use crate::ci::discrete::Discrete;
use crate::engine::cuda::arguments::{gpupc_bytes, DiscreteArgs, Report, SearchArgs, COUNTING_THREADS, MOST_OTHERS};
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::search::{CudaSearch, USUAL_THREADS};
use crate::engine::cuda::SearchStrategy;
use crate::graph::subsets;
use crate::observer::Observer;
use crate::Result;
use asked::CpuTest;
use counting::{Scratch, Tables};

/// Ranks of the first stage, and the factor from one stage to the next. Most pairs are separated by one of their first sets, and sets of
/// one stage do not spare each other's tests.
const FIRST_STAGE: u64 = 4;
const GROWTH: u64 = 4;

/// Samples times tests of a thread in a stage of the strategies "edge" and "gpucsl": about 0.1 s.
const STAGE_SAMPLES: u64 = 1 << 24;

/// Stages that are put on the stream at a time.
const STAGES_TOGETHER: usize = 64;

/// A part of a level: one side (`second` 0 or 1) and the ranks `from` to `to` - 1.
#[derive(Clone, Copy, Debug)]
struct Stage {
    second: u64,
    from: u64,
    to: u64,
}

/// Returns the stages, of at most `longest` ranks each, of a level whose rows have at most `sets` sets.
fn stages(sets: u64, longest: u64) -> Vec<Stage> {
    let mut found = Vec::new();
    for second in 0..2 {
        let (mut from, mut length) = (0, FIRST_STAGE);
        while from < sets {
            let to = sets.min(from.saturating_add(length.min(longest)));
            found.push(Stage { second, from, to });
            from = to;
            length = length.saturating_mul(GROWTH);
        }
    }
    found
}

/// Parameters by which a level is counted.
#[derive(Clone, Copy, Default)]
pub(in crate::engine::cuda) struct Counted {
    size: usize,
    tables: Tables,
    scratch: Scratch,
    /// Threads of a block, and its bytes of shared memory.
    threads: u32,
    shared: u64,
    /// Parts of a block that ask the CPU independently.
    askers: u64,
    /// Questions to the CPU from which on blocks take no more work.
    asked_most: u64,
}

/// The kernel of a level of sets, the edges and tests of its blocks, and its stages.
struct Way {
    beta: u64,
    gamma: u64,
    kernel: Kernel<DiscreteArgs>,
    stages: Vec<Stage>,
}

/// A level under way: the arguments of its kernels, and its stages; level 0 has none.
pub(in crate::engine::cuda) struct Level {
    args: DiscreteArgs,
    kernel: Kernel<DiscreteArgs>,
    blocks: u32,
    threads: u32,
    shared: u64,
    stages: Vec<Stage>,
    /// The variables that the GPU numbers 0, 1, ...; empty if it has all.
    variables: Vec<u32>,
}

impl Level {
    /// Returns the stages of a side.
    fn side(&self, second: u64) -> Range<usize> {
        let first = self.stages.partition_point(|stage| stage.second == 0);
        if second == 0 {
            0..first
        } else {
            first..self.stages.len()
        }
    }
}

impl CudaSearch<'_, '_> {
    /// Plans the memory for counting with sets of `size`, and commits the plan. Everything else must be planned before, as scratch takes
    /// the room that is left.
    pub(in crate::engine::cuda) fn plan_counting(&mut self, test: &Discrete, size: usize) -> Result<()> {
        let (processors, limit) = (self.engine.held.gpu.processors, self.engine.held.gpu.shared_limit);
        let tables = counting::tables(size as u64, limit);
        let most_users =
            u64::from(processors) * if self.engine.options.strategy == SearchStrategy::Shared { 8 } else { 2048 };
        let most = counting::questions(counting::ASKED, most_users);
        let of_questions = counting::asked_bytes(size, most) + counting::answered_bytes(most);
        let room =
            self.engine.scratch_room(test, &[BufferId::Scratch, BufferId::Asked, BufferId::Batch], of_questions)?;
        let counted = match self.engine.options.strategy {
            SearchStrategy::Gpucsl { delta, .. } if size == 0 => {
                let (tables, scratch) = counting::tables_of_pairs(test, delta, processors, (limit, room));
                let shared = tables.bytes;
                Counted { size, tables, scratch, threads: delta, shared, askers: 1, asked_most: counting::ASKED }
            }
            _ => self.counted(test, size, tables, room),
        };
        self.set_counting(counted);
        self.engine.held.commit()
    }

    /// Returns how sets of `size` are counted, with `room` bytes for scratch.
    fn counted(&self, test: &Discrete, size: usize, tables: Tables, room: u64) -> Counted {
        let processors = self.engine.held.gpu.processors;
        let (scratch, threads, askers, shared) = match self.engine.options.strategy {
            SearchStrategy::Edge { beta, gamma } if size > 0 => {
                let threads = (beta * gamma).next_multiple_of(WARP);
                (counting::scratch_of_tables(test, size, threads, threads, processors, room), threads, threads, 16)
            }
            SearchStrategy::Gpucsl { beta, gamma, delta } if size > 0 => {
                let [beta, gamma] = SearchStrategy::tables(beta, gamma);
                let (tables, threads) = (beta * gamma, beta * gamma * delta);
                let shared = gpupc_bytes(u64::from(threads), u64::from(tables));
                (counting::scratch_of_tables(test, size, tables, threads, processors, room), threads, tables, shared)
            }
            _ => (counting::scratch(test, size, tables.area, processors, room), COUNTING_THREADS, 1, tables.bytes),
        };
        Counted { size, tables, scratch, threads, shared, askers: u64::from(askers), asked_most: counting::ASKED }
    }

    /// Plans the memory for counting.
    fn set_counting(&mut self, counted: Counted) {
        let Counted { size, scratch, askers, asked_most, .. } = counted;
        let questions = counting::questions(asked_most, u64::from(scratch.blocks) * askers);
        let plan = &mut self.engine.held.plan;
        plan.set(Buffer::Scratch, scratch.bytes * u64::from(scratch.blocks));
        plan.set(Buffer::Asked, counting::asked_bytes(size, questions));
        plan.set(Buffer::Batch, counting::answered_bytes(questions));
        self.engine.counted = counted;
    }

    /// Returns the arguments of the level's launches, with the planned memory.
    fn prepare(&mut self, test: &Discrete) -> Result<(DiscreteArgs, Counted)> {
        let args = self.engine.discrete_args(test)?;
        self.prepare_with(args)
    }

    /// Returns the arguments of the level's launches, with the planned memory and the codes of `args`.
    fn prepare_with(&mut self, mut args: DiscreteArgs) -> Result<(DiscreteArgs, Counted)> {
        let counted = self.engine.counted;
        self.engine.place(&mut args, counted.size, counted.tables, &counted.scratch, counted.asked_most)?;
        Ok((args, counted))
    }

    /// Runs level 0, up to the lower triangle of the graph.
    pub(in crate::engine::cuda) fn discrete_marginal(
        &mut self,
        test: &Discrete,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut level = self.begin_pairs(test)?;
        self.launch_pairs(&mut level, 0..self.options.p)?;
        loop {
            let report = self.report("level 0", &mut || observer.look())?;
            if self.go_on_pairs(test, &level, &report, &mut || observer.look())? {
                break;
            }
            let done = report.stage_next as f64 / report.stage_items as f64;
            observer.progress(0, 0.999 * done, 1.0)?;
        }
        self.end_pairs(&level)
    }

    /// Prepares level 0: allocates memory and copies the codes to the GPU.
    pub(in crate::engine::cuda) fn begin_pairs(&mut self, test: &Discrete) -> Result<Level> {
        let p = self.options.p as u64;
        self.args.size = 0;
        self.args.fast = u64::from(self.fast());
        self.allocate()?;
        self.engine.upload_codes(test)?;
        let (mut args, Counted { threads, shared, scratch: Scratch { blocks, .. }, .. }) = self.prepare(test)?;
        args.tile = (p * p / (4 * u64::from(blocks))).clamp(2, args.tile);
        args.a = SearchArgs { scratch: args.a.scratch, ..self.args };
        Ok(Level {
            args,
            kernel: match self.engine.options.strategy {
                SearchStrategy::Gpucsl { .. } => Kernel::dis_gpupc_marginal,
                _ => Kernel::dis_marginal,
            },
            blocks,
            threads,
            shared,
            stages: Vec::new(),
            variables: Vec::new(),
        })
    }

    /// Puts the tests of the pairs whose larger vertex is in `larger` on the stream.
    pub(in crate::engine::cuda) fn launch_pairs(&mut self, level: &mut Level, larger: Range<usize>) -> Result<()> {
        let tiles = level.args.a.p.div_ceil(level.args.tile);
        let (stage_next, stage_items) = (larger.start as u64 * tiles, larger.end as u64 * tiles);
        self.put_report(Report { undefined: u64::MAX, stage_next, stage_items, ..Report::default() })?;
        self.relaunch_pairs(level, stage_items - stage_next)
    }

    fn relaunch_pairs(&mut self, level: &Level, items: u64) -> Result<()> {
        let blocks = u64::from(level.blocks).min(items.max(1)) as u32;
        // SAFETY: the arguments are those of `prepare`, with scratch and shared memory for as many blocks.
        unsafe {
            self.engine.held.gpu.launch(Kernel::dis_begin.on((1, 1), WARP, 0), &level.args)?;
            self.engine.held.gpu.launch(level.kernel.on((blocks, 1), level.threads, level.shared), &level.args)
        }
    }

    /// Returns the tests that the GPU left to the CPU, and their p-values.
    fn answered(
        &mut self,
        test: &Discrete,
        level: &Level,
        report: &Report,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Vec<CpuTest>, Vec<f64>)> {
        let questions = asked::bring(self.engine, &level.args, report.asked)?;
        if questions.is_empty() {
            return Ok(Default::default());
        }
        let mut named;
        let for_cpu = if level.variables.is_empty() {
            &questions
        } else {
            named = questions.clone();
            named.iter_mut().for_each(|question| question.name(&level.variables));
            &named
        };
        let answers = asked::answer(test, for_cpu, &self.engine.held.pool, look)?;
        Ok((questions, answers))
    }

    /// Has the CPU answer what the GPU left to it. Returns whether the launched pairs are then done; if not, launches the rest.
    pub(in crate::engine::cuda) fn go_on_pairs(
        &mut self,
        test: &Discrete,
        level: &Level,
        report: &Report,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<bool> {
        let (questions, answers) = self.answered(test, level, report, look)?;
        for (question, p) in questions.iter().zip(answers) {
            let (low, high) = (question.x.min(question.y) as u64, question.x.max(question.y) as u64);
            self.engine.held.upload(self.args.p_max.offset(high * (high - 1) / 2 + low), &[p])?;
        }
        if report.stage_next >= report.stage_items {
            // Other GPUs may copy the p-values.
            self.engine.held.wait("level 0", look)?;
            return Ok(true);
        }
        self.put_report(Report { asked: 0, clock_start: 0, ..*report })?;
        self.relaunch_pairs(level, report.stage_items - report.stage_next)?;
        Ok(false)
    }

    /// Makes the lower triangle of the graph from the p-values of all pairs.
    pub(in crate::engine::cuda) fn end_pairs(&mut self, level: &Level) -> Result<()> {
        self.reset_report(0)?;
        // SAFETY: the arguments are those of `prepare`.
        unsafe {
            self.launch_discrete(Kernel::dis_removal, self.blocks_for(self.args.p * self.args.words), &level.args)
        }
    }

    /// Launches a kernel that shares its work among any number of blocks and needs no shared memory.
    ///
    /// # Safety
    /// The kernel must be of this kind, and `args` those of [`Self::prepare`] for this level, with the search's own.
    unsafe fn launch_discrete(&self, kernel: Kernel<DiscreteArgs>, blocks: u32, args: &DiscreteArgs) -> Result<()> {
        self.engine.held.gpu.launch(kernel.on((blocks, 1), USUAL_THREADS, 0), args)
    }

    /// Runs a level of sets, once the lists of neighbours are made; `widest` is the largest degree.
    pub(in crate::engine::cuda) fn discrete_level(
        &mut self,
        test: &Discrete,
        size: usize,
        widest: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        let mut level = self.begin_stages(test, size, widest)?;
        let all = level.stages.len();
        let mut at = 0;
        loop {
            self.launch_stages(&mut level, 0..all, at)?;
            self.settle_discrete(&level)?;
            self.bring_settled(observer)?;
            let report = self.report("running a level of tests", &mut || observer.look())?;
            if !self.answer_stages(test, &level, &report, &mut || observer.look())? && report.stages_left == 0 {
                observer.progress(size, 1.0, 1.0)?;
                return Ok(report);
            }
            // The kernels that waited for the answers did nothing and have to run again, on an unchanged graph.
            at = self.resume_stages(&report)?;
            observer.progress(size, 0.999 * report.stage_begun as f64 / (all + 1) as f64, 1.0)?;
        }
    }

    /// Prepares a level of sets.
    pub(in crate::engine::cuda) fn begin_stages(
        &mut self,
        test: &Discrete,
        size: usize,
        widest: usize,
    ) -> Result<Level> {
        self.args.size = size as u64;
        self.send_binomials(size, widest)?;
        self.args.slot = self.engine.held.device(Buffer::Slots)?;
        self.args.twin = self.engine.held.device(Buffer::Twins)?;
        let (mut args, Counted { threads, shared, scratch: Scratch { blocks, .. }, .. }) = self.prepare(test)?;
        let Way { beta, gamma, kernel, stages } = self.way(test, size, widest);
        args.tile = (2 * self.ends / u64::from(blocks)).next_power_of_two().clamp(4, args.tile);
        args.a = SearchArgs { scratch: args.a.scratch, beta, gamma, ..self.args };
        // SAFETY: the arguments are those of `prepare`.
        unsafe { self.launch_discrete(Kernel::dis_slots, self.blocks_for(self.args.p), &args)? };
        // `bring_settled` copies the current state while the level runs.
        self.engine.held.gpu.copies_follow()?;
        Ok(Level { args, kernel, blocks, threads, shared, stages, variables: Vec::new() })
    }

    /// Returns how the sets of rows with up to `widest` neighbours run.
    fn way(&self, test: &Discrete, size: usize, widest: usize) -> Way {
        let (beta, gamma, kernel, from, longest) = match self.engine.options.strategy {
            SearchStrategy::Edge { beta, gamma } => {
                let longest = (STAGE_SAMPLES / test.data().n() as u64).max(1) * u64::from(gamma);
                (u64::from(beta), u64::from(gamma), Kernel::dis_edge, widest - 1, longest)
            }
            SearchStrategy::Gpucsl { beta, gamma, delta } => {
                let [beta, gamma] = SearchStrategy::tables(beta, gamma).map(u64::from);
                let longest = (STAGE_SAMPLES * u64::from(delta) / test.data().n() as u64).max(1) * gamma;
                (beta, gamma, Kernel::dis_gpupc, widest - 1, longest)
            }
            _ if counting::mostly_binary(test) => (0, 0, Kernel::dis_planes_count, widest, u64::MAX),
            _ => (0, 0, Kernel::dis_count, widest, u64::MAX),
        };
        // The threads of a table may leave all its tests of an item to the CPU.
        let longest = if gamma == 0 { longest } else { longest.min(MOST_OTHERS * gamma) };
        Way { beta, gamma, kernel, stages: stages(subsets::binomial(from, size).unwrap_or(u64::MAX), longest) }
    }

    /// Puts stages `of` of a level on the stream, from number `at` of them on, and then the kernel that closes them. The report counts
    /// stages from the first of `of`.
    fn launch_stages(&mut self, level: &mut Level, of: Range<usize>, at: usize) -> Result<()> {
        let Level { args, kernel, blocks, threads, shared, .. } = level;
        for (i, stage) in level.stages[of.clone()].iter().enumerate().skip(at).take(STAGES_TOGETHER) {
            args.stage = i as u64 + 1;
            args.a.second = stage.second;
            args.a.first_rank = stage.from;
            args.a.end_rank = stage.to;
            // SAFETY: the arguments are those of `prepare`, with scratch and shared memory for as many blocks; `dis_items` has a number for
            // each of its 32 warps.
            unsafe {
                self.engine.held.gpu.launch(Kernel::dis_items.on((1, 1), 1024, 8 * 32), args)?;
                self.engine.held.gpu.launch(kernel.on((*blocks, 1), *threads, *shared), args)?;
            }
        }
        args.stage = of.len() as u64 + 1;
        // SAFETY: the arguments are those of `prepare`.
        unsafe { self.engine.held.gpu.launch(Kernel::dis_close.on((1, 1), WARP, 0), args) }
    }

    /// Has the CPU answer what the GPU left to it. Returns whether there was anything.
    fn answer_stages(
        &mut self,
        test: &Discrete,
        level: &Level,
        report: &Report,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<bool> {
        let (_, answers) = self.answered(test, level, report, look)?;
        if answers.is_empty() {
            return Ok(false);
        }
        let mut told = level.args;
        told.a.count = answers.len() as u64;
        told.a.answers = self.engine.held.device(Buffer::Batch)?.cast();
        self.engine.held.upload(told.a.answers, &answers)?;
        // SAFETY: the arguments are those of `prepare`, with an answer to each record.
        unsafe { self.launch_discrete(Kernel::dis_answer, self.blocks_for(told.a.count), &told)? };
        Ok(true)
    }

    /// Continues after a report. Returns the number of the stage to launch next.
    fn resume_stages(&mut self, report: &Report) -> Result<usize> {
        self.put_report(Report { asked: 0, clock_start: 0, ends: 0, widest: 0, ..*report })?;
        Ok((report.stage_begun as usize).saturating_sub(1))
    }

    /// Puts one side of some rows on the stream.
    pub(in crate::engine::cuda) fn begin_rows(
        &mut self,
        level: &mut Level,
        second: u64,
        rows: Range<usize>,
    ) -> Result<()> {
        self.reset_report(0)?;
        (level.args.a.first_row, level.args.a.end_row) = (rows.start as u64, rows.end as u64);
        let of_side = level.side(second);
        self.launch_stages(level, of_side, 0)?;
        self.ask_report()
    }

    /// Continues the side that [`Self::begin_rows`] began, if the report says that it is not done. Returns whether it was done.
    pub(in crate::engine::cuda) fn go_on_rows(
        &mut self,
        test: &Discrete,
        level: &mut Level,
        second: u64,
        report: &Report,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<bool> {
        if !self.answer_stages(test, level, report, look)? && report.stages_left == 0 {
            return Ok(true);
        }
        let at = self.resume_stages(report)?;
        let of_side = level.side(second);
        self.launch_stages(level, of_side, at)?;
        self.ask_report()?;
        Ok(false)
    }

    /// Puts the kernels that turn slots into answers on the stream. All stages must be done, with nothing left to the CPU.
    pub(in crate::engine::cuda) fn settle_discrete(&mut self, level: &Level) -> Result<()> {
        // SAFETY: the arguments are those of `prepare`.
        unsafe {
            self.launch_discrete(Kernel::dis_settle, self.blocks_for(self.ends), &level.args)?;
            self.launch(Kernel::removal, self.blocks_for(self.ends / 64))?;
            self.by_row(Kernel::degrees)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_cover_all_ranks_of_both_sides_once() {
        for (sets, longest) in
            [(0, 5), (1, 5), (4, 5), (5, 5), (1_000_003, 977), (1_000_003, u64::MAX), (u64::MAX, u64::MAX)]
        {
            let found = stages(sets, longest);
            for second in 0..2 {
                let mut at = 0;
                for stage in found.iter().filter(|stage| stage.second == second) {
                    assert_eq!(stage.from, at);
                    assert!(stage.to > at && stage.to - at <= longest);
                    at = stage.to;
                }
                assert_eq!(at, sets);
            }
        }
    }
}
