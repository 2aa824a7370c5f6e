//! The data of the nearest-neighbour test on the GPU.

use super::kernels::number_of;
use super::plan::BlockPlan;
use super::shape::{Form, Shape};
use super::KnnCudaEngine;
use crate::ci::knn::Values;
use crate::engine::cuda::arguments::KnnArgs;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::plan::{aligned, planned};
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory;
use crate::Result;

/// Bytes of device memory to use beyond the least that is needed, unless the caller gives a budget: more gains nothing.
const USUAL_BUDGET: u64 = 4 << 30;

/// The data on the GPU, and the plan of its memory.
#[derive(Clone, Copy)]
pub struct Data {
    /// The arguments that all launches share, with the data's addresses.
    pub args: KnnArgs,
    pub shape: Shape,
    pub plan: BlockPlan,
}

impl Data {
    /// Returns the kernel for the precision of the values.
    pub fn kernel(&self, single: Kernel<KnnArgs>, double: Kernel<KnnArgs>) -> Kernel<KnnArgs> {
        if self.shape.cell() == 4 {
            single
        } else {
            double
        }
    }
}

/// Returns the shape of a problem with `p` of the columns on the engine's GPU.
fn shape_of(engine: &KnnCudaEngine, p: usize) -> Shape {
    let (knn, gpu) = (engine.knn, &engine.held.gpu);
    let (columns, settings) = (knn.columns(), knn.settings());
    Shape {
        n: columns.n(),
        p,
        whole: matches!(columns.values(), Values::Whole(_)),
        k: settings.k,
        k_perm: settings.k_perm,
        permutations: knn.decision().permutations(),
        strategy: engine.options.strategy,
        processors: gpu.processors,
        shared_limit: u64::from(gpu.shared_limit),
    }
}

/// Returns all columns on the GPU, or `None` if they leave no room for tests of sets with up to `dims` members. The first call copies columns
/// and terms to the GPU and plans the rest of its memory.
pub fn whole_data(engine: &mut KnnCudaEngine, dims: usize) -> Result<Option<Data>> {
    let has_room = |plan: &BlockPlan| plan.planes == 0 || dims <= plan.planes;
    if let Some(data) = engine.data {
        return Ok(Some(data).filter(|data| has_room(&data.plan)));
    }
    planned(|| plan_whole(engine, &has_room))
}

fn plan_whole(engine: &mut KnnCudaEngine, has_room: &dyn Fn(&BlockPlan) -> bool) -> Result<Option<Data>> {
    engine.held.restart();
    let p = engine.knn.columns().p();
    let shape = shape_of(engine, p);
    let within = engine.held.room(&[])?;
    let least = BlockPlan::new(&shape, 1, 0).total();
    let usual = (USUAL_BUDGET + least).max(64 * shape.plane_bytes());
    let most = if engine.options.memory_budget.is_none() { within.min(usual) } else { within };
    let plan = BlockPlan::new(&shape, 1, most);
    if plan.total() > within || !has_room(&plan) {
        return Ok(None);
    }
    let variables: Vec<u32> = (0..p as u32).collect();
    commit(engine, &plan)?;
    let data = upload_data(engine, shape, plan, &variables)?;
    engine.data = Some(data);
    Ok(Some(data))
}

/// Plans memory for some of the columns at a time, for tests of sets with up to `dims` members, if not all columns fit. Columns get up to half
/// of the memory.
pub fn plan_part(engine: &mut KnnCudaEngine, dims: usize) -> Result<(Shape, BlockPlan)> {
    engine.data = None;
    planned(|| plan_columns(engine, dims))
}

fn plan_columns(engine: &mut KnnCudaEngine, dims: usize) -> Result<(Shape, BlockPlan)> {
    engine.held.restart();
    let within = engine.held.room(&[])?;
    let fewest = shape_of(engine, dims + 2);
    let least = BlockPlan::new(&fewest, dims, 0).total();
    if least > within {
        return Err(engine.held.too_little(least));
    }
    let fits = |&p: &usize| shape_of(engine, p).data() <= within / 2;
    let columns: Vec<usize> = (dims + 2..=engine.knn.columns().p()).collect();
    let shape = shape_of(engine, columns[columns.partition_point(fits).max(1) - 1]);
    let plan = BlockPlan::new(&shape, dims, within);
    let (shape, plan) =
        if plan.total() <= within { (shape, plan) } else { (fewest, BlockPlan::new(&fewest, dims, within)) };
    commit(engine, &plan)?;
    Ok((shape, plan))
}

fn commit(engine: &mut KnnCudaEngine, plan: &BlockPlan) -> Result<()> {
    for (what, bytes) in plan.list() {
        engine.held.plan.set(what, bytes);
    }
    engine.held.commit()
}

/// Copies the columns of `variables`, numbered from 0, and the terms to the GPU. The plan must have room for as many columns.
pub fn upload_data(engine: &mut KnnCudaEngine, shape: Shape, plan: BlockPlan, variables: &[u32]) -> Result<Data> {
    let knn = engine.knn;
    let (columns, terms, settings) = (knn.columns(), knn.terms(), knn.settings());
    let (n, p) = (columns.n(), variables.len());
    let cell = shape.cell();
    let values = engine.held.device(Buffer::KnnData)?;
    let caps: DevicePtr<u8> = values.carve(aligned(n * p * cell));
    let own: DevicePtr<i64> = caps.carve(aligned(p * cell));
    let joint: DevicePtr<i64> = own.carve(aligned(8 * (n + 1)));
    let named = |column: usize| variables[column] as usize;
    let cap = |column: usize| if columns.discrete()[named(column)] { columns.mismatch() } else { f64::INFINITY };
    // Codes are scaled so that two levels differ by more than the mismatch, even after rounding: kernels cap the distance at the mismatch.
    let scale = |column: usize| if columns.discrete()[named(column)] { 2.0 * columns.mismatch() } else { 1.0 };
    memory::room(20 * n * p, memory::Use::Samples)?;
    let whole = match columns.values() {
        Values::Whole(all) => gathered(all, n, variables),
        Values::Real(_) => Vec::new(),
    };
    let scaled: Vec<f64> = match columns.values() {
        Values::Whole(_) => whole.iter().enumerate().map(|(at, &v)| f64::from(v) * scale(at / n)).collect(),
        Values::Real(all) => {
            let mut own = gathered(all, n, variables);
            own.iter_mut().enumerate().for_each(|(at, v)| *v *= scale(at / n));
            own
        }
    };
    let held = &engine.held;
    if cell == 4 {
        held.upload(values.cast(), &scaled.iter().map(|&value| value as f32).collect::<Vec<f32>>())?;
        held.upload(caps.cast(), &(0..p).map(|column| cap(column) as f32).collect::<Vec<f32>>())?;
    } else {
        held.upload(values.cast(), &scaled)?;
        held.upload(caps.cast(), &(0..p).map(cap).collect::<Vec<f64>>())?;
    }
    held.upload(own, terms.table())?;
    held.upload(joint, terms.joint_table())?;
    let mut args = KnnArgs {
        n: n as u64,
        k: settings.k as u64,
        k_perm: settings.k_perm as u64,
        values,
        caps,
        own_terms: own,
        joint_terms: joint,
        all_term: terms.all(),
        estimator: number_of(terms.estimator()),
        mismatch: columns.mismatch() as u64,
        permuted_stride: shape.permuted_row() as u64,
        plane_stride: shape.plane_stride(),
        plane_bytes: shape.plane_bytes(),
        ..KnnArgs::default()
    };
    if shape.form() == Form::Planes {
        let orders = Orders::of(&whole, n);
        args.whole = joint.carve(aligned(8 * (n + 1)));
        args.sorted = args.whole.carve(aligned(2 * n * p));
        args.below = args.sorted.carve(aligned(2 * n * p));
        args.plain = u64::from(orders.plain);
        held.upload(args.whole, &whole)?;
        held.upload(args.sorted, &orders.orders)?;
        held.upload(args.below, &orders.below)?;
    }
    Ok(Data { args, shape, plan })
}

/// Returns the columns `variables` of `all`, which has n values per column.
fn gathered<T: Copy>(all: &[T], n: usize, variables: &[u32]) -> Vec<T> {
    variables.iter().flat_map(|&v| &all[v as usize * n..][..n]).copied().collect()
}

/// The order of the samples by each column, whose values are integers below n.
struct Orders {
    /// By column and place: the sample.
    orders: Vec<u16>,
    /// By column and t, from 0 to n: the number of values below t.
    below: Vec<u16>,
    /// Whether every column has each of 0, .., n - 1 exactly once, so that t values are below t.
    plain: bool,
}

impl Orders {
    fn of(whole: &[u16], n: usize) -> Self {
        let mut found = Orders { orders: vec![0; whole.len()], below: Vec::new(), plain: true };
        for (values, orders) in whole.chunks_exact(n).zip(found.orders.chunks_exact_mut(n)) {
            let mut below = vec![0u16; n + 1];
            values.iter().for_each(|&value| below[usize::from(value) + 1] += 1);
            found.plain &= below[1..].iter().all(|&count| count == 1);
            (1..=n).for_each(|t| below[t] += below[t - 1]);
            let mut next = below.clone();
            for (sample, &value) in values.iter().enumerate() {
                let place = &mut next[usize::from(value)];
                orders[usize::from(*place)] = sample as u16;
                *place += 1;
            }
            found.below.extend(below);
        }
        found
    }
}
