//! The columns of tests of numbers and levels on the GPU.

use super::MixedCudaEngine;
use crate::ci::mixed::{Form, Frame, Need, Which};
use crate::engine::cuda::arguments::{MixedArgs, JOB_WORDS};
use crate::engine::cuda::cut::upload_columns;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::plan::{aligned, planned};
use crate::engine::cuda::pointer::DevicePtr;
use crate::Result;

/// Most bytes of cells that are computed at once: more gain nothing.
const MOST_CELLS: u64 = 64 << 20;

/// Stands for the mask of a variable without missing values.
const NO_MASK: u32 = u32::MAX;

/// Rows per word of a mask.
const MASK_ROWS: usize = 32;

/// The position of a variable's columns among those of its kind.
#[derive(Clone, Copy, Debug)]
struct Place {
    column: u32,
    /// Number of columns: 1, or one for each data set.
    versions: u32,
    mask: u32,
}

/// Room for the jobs that run at once, and for their cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of columns.
    pub data: u64,
    /// Number of jobs.
    pub jobs: usize,
    /// 32-bit words of the jobs' lists.
    pub lists: usize,
    /// 64-bit words of the jobs' cells.
    pub cells: usize,
}

impl Plan {
    /// Plans for columns of `data` bytes, with `limit` further bytes for the rest.
    fn new(data: u64, limit: u64) -> Self {
        // 512 bytes of cells and 128 bytes of lists per job: some jobs take more, others less.
        let cells = (limit / 2).min(MOST_CELLS) / 8;
        let jobs = (cells / 64).max(1);
        Plan { data, jobs: jobs as usize, lists: (32 * jobs) as usize, cells: cells as usize }
    }

    fn of_jobs(&self) -> u64 {
        2 * aligned(8 * self.jobs) + aligned(4 * self.lists)
    }

    /// Returns the total bytes.
    pub fn total(&self) -> u64 {
        self.data + self.of_jobs() + aligned(8 * self.cells)
    }
}

/// The data on the GPU.
#[derive(Clone, Debug)]
pub struct Data {
    pub args: MixedArgs,
    pub plan: Plan,
    /// By variable; `None` if its columns are not on the GPU.
    places: Vec<Option<Place>>,
}

/// Returns the bytes of a variable's columns.
fn bytes_of(frame: &Frame, variable: usize) -> u64 {
    let cell = if frame.is_number(variable) { 8 } else { 2 };
    let mask = if frame.present(variable).is_empty() { 0 } else { 4 * frame.n().div_ceil(MASK_ROWS) };
    (frame.versions(variable) * cell * frame.n() + mask) as u64
}

/// Most bytes that the alignment of the regions of columns adds.
const EDGES: u64 = 3 * 256;

/// Returns all columns on the GPU, or `None` if they do not fit; copies them at the first call.
pub fn whole_data<'e>(engine: &'e mut MixedCudaEngine, frame: &Frame) -> Result<Option<&'e Data>> {
    if engine.data.is_none() {
        engine.data = planned(|| plan_whole(engine, frame))?;
    }
    Ok(engine.data.as_ref())
}

fn plan_whole(engine: &mut MixedCudaEngine, frame: &Frame) -> Result<Option<Data>> {
    engine.held.restart();
    let within = engine.held.room(&[])?;
    let data = (0..frame.p()).map(|variable| bytes_of(frame, variable)).sum::<u64>() + EDGES;
    let plan = Plan::new(data, within.saturating_sub(data));
    if plan.total() > within || plan.cells < engine.fewest_cells() {
        return Ok(None);
    }
    commit(engine, &plan)?;
    let all: Vec<u32> = (0..frame.p() as u32).collect();
    upload(engine, frame, plan, &all).map(Some)
}

/// Plans memory for some of the columns at a time; the largest questions have `widest` variables.
pub fn plan_part(engine: &mut MixedCudaEngine, frame: &Frame, widest: usize) -> Result<Plan> {
    engine.data = None;
    planned(|| plan_columns(engine, frame, widest))
}

fn plan_columns(engine: &mut MixedCudaEngine, frame: &Frame, widest: usize) -> Result<Plan> {
    engine.held.restart();
    let within = engine.held.room(&[])?;
    let mut bytes: Vec<u64> = (0..frame.p()).map(|variable| bytes_of(frame, variable)).collect();
    bytes.sort_unstable_by(|a, b| b.cmp(a));
    let least = bytes.iter().take(widest).sum::<u64>() + EDGES;
    // Columns get three quarters of the memory, or more if the largest question needs it.
    let data = (within / 4 * 3).max(least);
    let plan = Plan::new(data, within.saturating_sub(data));
    if plan.total() > within || plan.cells < engine.fewest_cells() {
        let fewest = Plan { data: least, jobs: 1, lists: 32, cells: engine.fewest_cells() };
        return Err(engine.held.too_little(2 * fewest.total()));
    }
    commit(engine, &plan)?;
    Ok(plan)
}

/// Returns a function that gives the bytes of a variable's columns, and the bytes available for all columns of a group.
pub fn shares<'f>(frame: &'f Frame, plan: &Plan) -> (impl Fn(usize) -> u64 + 'f, u64) {
    (|variable| bytes_of(frame, variable), plan.data - EDGES)
}

fn commit(engine: &mut MixedCudaEngine, plan: &Plan) -> Result<()> {
    engine.held.plan.set(Buffer::MixedData, plan.data);
    engine.held.plan.set(Buffer::MixedJobs, plan.of_jobs());
    engine.held.plan.set(Buffer::MixedCells, 8 * plan.cells as u64);
    engine.held.commit()
}

/// Copies the columns of these variables to the GPU. The plan must have room for them.
pub fn upload(engine: &mut MixedCudaEngine, frame: &Frame, plan: Plan, variables: &[u32]) -> Result<Data> {
    let n = frame.n();
    let mut places = vec![None; frame.p()];
    let mut numbers: Vec<&[f64]> = Vec::new();
    let mut codes: Vec<&[u16]> = Vec::new();
    let mut masks: Vec<&[u64]> = Vec::new();
    for variable in variables.iter().map(|&variable| variable as usize) {
        let versions = frame.versions(variable);
        let column = if frame.is_number(variable) { numbers.len() } else { codes.len() } as u32;
        match frame.is_number(variable) {
            true => numbers.extend((0..versions).map(|set| frame.numbers(variable, set))),
            false => codes.extend((0..versions).map(|set| frame.codes(variable, set))),
        }
        let present = frame.present(variable);
        let mask = if present.is_empty() { NO_MASK } else { masks.len() as u32 };
        masks.extend((!present.is_empty()).then_some(present));
        places[variable] = Some(Place { column, versions: versions as u32, mask });
    }
    let words = n.div_ceil(MASK_ROWS);
    let base = engine.held.device(Buffer::MixedData)?;
    let of_numbers: DevicePtr<f64> = base.cast();
    let of_codes: DevicePtr<u16> = of_numbers.carve(aligned(8 * n * numbers.len()));
    let of_masks: DevicePtr<u32> = of_codes.carve(aligned(2 * n * codes.len()));
    upload_columns(&engine.held, of_numbers, &numbers, n)?;
    upload_columns(&engine.held, of_codes, &codes, n)?;
    let halves = |word: &u64| [*word as u32, (*word >> 32) as u32];
    let masks: Vec<Vec<u32>> = masks.iter().map(|mask| mask.iter().flat_map(halves).take(words).collect()).collect();
    upload_columns(&engine.held, of_masks, &masks.iter().map(|mask| &mask[..]).collect::<Vec<_>>(), words)?;
    let jobs = engine.held.device(Buffer::MixedJobs)?;
    let starts: DevicePtr<u64> = jobs.cast();
    let of_cells: DevicePtr<u64> = starts.carve(aligned(8 * plan.jobs));
    let args = MixedArgs {
        n: n as u64,
        words: words as u64,
        numbers: of_numbers,
        codes: of_codes,
        masks: of_masks,
        starts,
        places: of_cells,
        lists: of_cells.carve(aligned(8 * plan.jobs)),
        cells: engine.held.device(Buffer::MixedCells)?,
        ..MixedArgs::default()
    };
    Ok(Data { args, plan, places })
}

impl Data {
    /// Appends the list of a job, for one data set, to `lists`.
    pub fn list(&self, frame: &Frame, need: &Need, set: usize, lists: &mut Vec<u32>) {
        let place = |variable: u32| {
            let place = self.places[variable as usize];
            place.unwrap_or_else(|| panic!("variable {variable} is not on the GPU"))
        };
        let column = |variable: u32| {
            let Place { column, versions, .. } = place(variable);
            column + if versions == 1 { 0 } else { set as u32 }
        };
        let Form { which, keys, .. } = need.form;
        let others = u32::from(which == Which::Others);
        let begin = lists.len();
        lists.extend([need.factors.len() as u32, need.numbers.len() as u32, 0, others, keys as u32]);
        debug_assert_eq!(lists.len() - begin, JOB_WORDS as usize);
        lists.extend(need.factors.iter().flat_map(|&factor| [column(factor), frame.occurring(factor as usize)]));
        lists.extend(need.numbers.iter().map(|&number| column(number)));
        if which != Which::All {
            let before = lists.len();
            let all = need.factors.iter().chain(need.numbers);
            lists.extend(all.map(|&variable| place(variable).mask).filter(|&mask| mask != NO_MASK));
            lists[begin + 2] = (lists.len() - before) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_do_not_pass_their_limit() {
        for limit in [1 << 10, 1 << 14, 1 << 20, 100 << 20, 10 << 30] {
            let plan = Plan::new(1000, limit);
            assert!(plan.total() <= 1000 + limit.max(2048), "{limit}: {plan:?}");
            assert!(8 * plan.cells as u64 >= limit.min(MOST_CELLS) / 2 - 8, "{limit}: {plan:?}");
        }
    }
}
