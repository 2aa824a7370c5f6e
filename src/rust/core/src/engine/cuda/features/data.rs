//! The columns of tests by random features on the GPU, and the memory for the tests that run at the same time.

use super::FeaturesCudaEngine;
use crate::ci::features::tables::Cells;
use crate::ci::features::{KernelTest, NOTHING, RIDGE};
use crate::engine::cuda::arguments::{
    cells_of_factor, FeaturesArgs, FeaturesColumn, FeaturesGroup, FeaturesSet, FeaturesSide, FeaturesTest, ANSWERS,
};
use crate::engine::cuda::cut::upload_columns;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::plan::{aligned, planned};
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory::{self, Use};
use crate::panels::{Row, WIDE};
use crate::Result;

/// Most bytes for tests that run at the same time: more bytes gain nothing. If few sets fit in them, up to `MOST_OF_FEW`.
const MOST_BYTES: u64 = 2 << 30;
const MOST_OF_FEW: u64 = 32 << 30;

/// Sets that keep a large GPU busy.
const BUSY_SETS: u64 = 132;

/// Most sets, sides and tests of a run.
const MOST_SETS: u64 = 2048;
const MOST_OF_SIDES: u64 = 1 << 15;
const MOST_TESTS: u64 = 1 << 16;

/// Numbers that are copied together.
const TOGETHER: usize = 1 << 20;

/// Members of a set for which there is room, on average.
const MEMBERS: usize = 8;

/// The shape of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    p: usize,
    n: usize,
    /// Features of a set, with a constant and zeros.
    width: usize,
    /// Features of x and of y.
    sides: usize,
    has_holes: bool,
}

impl Shape {
    fn new(test: &KernelTest) -> Self {
        let (width, sides) = (test.panels() * WIDE, test.settings().sides);
        Shape { p: test.p(), n: test.n(), width, sides, has_holes: test.has_holes() }
    }

    fn of_set(&self) -> u64 {
        8 * (self.n * self.width + self.n + 1) as u64 + 16 * cells_of_factor(self.width as u64)
    }

    fn of_side(&self) -> u64 {
        let list = size_of::<FeaturesSide>() + size_of::<FeaturesGroup>();
        (8 * (self.sides * (self.n + self.width) + 1) + list) as u64
    }
}

/// Room for the tests that run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of columns.
    pub data: u64,
    pub sets: usize,
    /// Members of all sets.
    pub members: usize,
    pub sides: usize,
    pub tests: usize,
    shape: Shape,
}

impl Plan {
    /// Plans for columns of `data` bytes, with `limit` further bytes for the rest.
    fn new(data: u64, limit: u64, shape: &Shape) -> Self {
        let most = limit.min(MOST_BYTES.max((2 * BUSY_SETS * shape.of_set()).min(MOST_OF_FEW)));
        let sets = (most / 2 / shape.of_set()).clamp(1, MOST_SETS) as usize;
        let sides = (most / 8 * 3 / shape.of_side()).clamp(2, MOST_OF_SIDES) as usize;
        let sides = sides.min(2 * shape.p.max(1) * sets);
        let tests = (most / 16 / 96).clamp(1, MOST_TESTS) as usize;
        let members = MEMBERS * sets + shape.p;
        Plan { data, sets, members, sides, tests, shape: *shape }
    }

    /// Returns the smallest plan.
    fn least(data: u64, shape: &Shape) -> Self {
        Plan::new(data, 0, shape)
    }

    /// Returns the bytes of the lists: sets, sides, groups of sides, tests, members, rows, answers.
    fn lists(&self) -> [u64; 7] {
        [
            aligned(self.sets * size_of::<FeaturesSet>()),
            aligned(self.sides * size_of::<FeaturesSide>()),
            aligned(self.sides * size_of::<FeaturesGroup>()),
            aligned(self.tests * size_of::<FeaturesTest>()),
            aligned(4 * self.members),
            if self.shape.has_holes { aligned(4 * self.sets * self.shape.n) } else { 0 },
            aligned(8 * ANSWERS as usize * self.tests),
        ]
    }

    /// Returns the bytes of what tests given a set share: features, factors, their inverses, what leverages leave, factors c.
    fn of_sets(&self) -> [u64; 5] {
        let Shape { n, width, .. } = self.shape;
        let of_factors = aligned(8 * self.sets * cells_of_factor(width as u64) as usize);
        [aligned(8 * self.sets * n * width), of_factors, of_factors, aligned(8 * self.sets * n), aligned(8 * self.sets)]
    }

    /// Returns the bytes of residuals, of coefficients and of mean squares.
    fn of_sides(&self) -> [u64; 3] {
        let Shape { n, width, sides, .. } = self.shape;
        [aligned(8 * self.sides * sides * n), aligned(8 * self.sides * sides * width), aligned(8 * self.sides)]
    }

    fn total(&self) -> u64 {
        self.data + [&self.lists()[..], &self.of_sets(), &self.of_sides()].concat().iter().sum::<u64>()
    }
}

/// The data on the GPU.
#[derive(Clone, Debug)]
pub struct Data {
    pub args: FeaturesArgs,
    pub plan: Plan,
    /// By variable: its number on the GPU; `None` if its column is not there.
    places: Vec<Option<u32>>,
}

/// Bytes that the alignment of the regions of columns adds.
const EDGES: u64 = 6 * 256;

/// Returns the bytes of a variable's column, features and weights.
fn bytes_of(test: &KernelTest, variable: usize) -> u64 {
    let cell = if matches!(test.cells(variable), Cells::Numbers(_)) { 8 } else { 2 };
    let of_rows = test.n() * (cell + 8 * test.settings().sides);
    (of_rows + test.weights(variable)[1].len() * (test.panels() + 1) * size_of::<Row>() + size_of::<FeaturesColumn>())
        as u64
}

/// Returns the bytes of the phases, and of what alignment adds.
fn bytes_of_all(test: &KernelTest) -> u64 {
    ((test.panels() + 1) * size_of::<Row>()) as u64 + EDGES
}

/// Returns all columns on the GPU, or `None` if they do not fit; copies them at the first call.
pub fn whole_data<'e>(engine: &'e mut FeaturesCudaEngine) -> Result<Option<&'e Data>> {
    if engine.data.is_none() {
        engine.data = planned(|| plan_whole(engine))?;
    }
    Ok(engine.data.as_ref())
}

fn plan_whole(engine: &mut FeaturesCudaEngine) -> Result<Option<Data>> {
    engine.held.restart();
    let within = engine.held.room(&[])?;
    let data =
        (0..engine.test.p()).map(|variable| bytes_of(engine.test, variable)).sum::<u64>() + bytes_of_all(engine.test);
    let plan = Plan::new(data, within.saturating_sub(data), &Shape::new(engine.test));
    if plan.total() > within {
        return Ok(None);
    }
    commit(engine, &plan)?;
    let all: Vec<u32> = (0..engine.test.p() as u32).collect();
    upload(engine, plan, &all).map(Some)
}

/// Plans memory for some of the columns at a time; the largest questions have `widest` variables.
pub fn plan_part(engine: &mut FeaturesCudaEngine, widest: usize) -> Result<Plan> {
    engine.data = None;
    planned(|| plan_columns(engine, widest))
}

fn plan_columns(engine: &mut FeaturesCudaEngine, widest: usize) -> Result<Plan> {
    engine.held.restart();
    let within = engine.held.room(&[])?;
    let shape = Shape::new(engine.test);
    let mut bytes: Vec<u64> = (0..engine.test.p()).map(|variable| bytes_of(engine.test, variable)).collect();
    bytes.sort_unstable_by(|a, b| b.cmp(a));
    let least = bytes.iter().take(widest).sum::<u64>() + bytes_of_all(engine.test);
    let fewest = Plan::least(least, &shape);
    if fewest.total() > within {
        return Err(engine.held.too_little(fewest.total()));
    }
    // Columns get half of what is left.
    let data = least + (within - fewest.total()) / 2;
    let mut plan = Plan::new(data, within.saturating_sub(data), &shape);
    if plan.total() > within {
        plan = Plan { data, ..fewest };
    }
    commit(engine, &plan)?;
    Ok(plan)
}

/// Returns a function that gives the bytes of a variable, and the bytes available for all variables of a group.
pub fn shares<'t>(test: &'t KernelTest, plan: &Plan) -> (impl Fn(usize) -> u64 + 't, u64) {
    (|variable| bytes_of(test, variable), plan.data - bytes_of_all(test))
}

fn commit(engine: &mut FeaturesCudaEngine, plan: &Plan) -> Result<()> {
    engine.held.plan.set(Buffer::FeaturesData, plan.data);
    engine.held.plan.set(Buffer::FeaturesTests, plan.lists().iter().sum());
    engine.held.plan.set(Buffer::FeaturesSets, plan.of_sets().iter().sum());
    engine.held.plan.set(Buffer::FeaturesSides, plan.of_sides().iter().sum());
    engine.held.commit()
}

/// Copies the columns of these variables to the GPU. The plan must have room for them.
pub fn upload(engine: &mut FeaturesCudaEngine, plan: Plan, variables: &[u32]) -> Result<Data> {
    let test = engine.test;
    let (n, settings) = (test.n(), test.settings());
    let mut places = vec![None; test.p()];
    let (mut numbers, mut codes, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    let (mut weights, mut columns): (Vec<Row>, Vec<FeaturesColumn>) = (Vec::new(), Vec::new());
    for variable in variables.iter().map(|&variable| variable as usize) {
        places[variable] = Some(columns.len() as u32);
        let (is_number, before) = match test.cells(variable) {
            Cells::Numbers(values) => {
                numbers.push(values);
                (1, numbers.len() - 1)
            }
            Cells::Levels(levels) => {
                codes.push(levels);
                (0, codes.len() - 1)
            }
        };
        let [given, joint] = test.weights(variable);
        let begin = weights.len();
        weights.extend(given);
        columns.push(FeaturesColumn {
            is_number,
            values: (before * n) as u64,
            weights: (begin * WIDE) as u64,
            joint: (weights.len() * WIDE) as u64,
            sides: (sides.len() * n * settings.sides) as u64,
        });
        weights.extend(joint);
        sides.push(test.sides(variable).0);
    }
    let phases = test.all_phases().concat();
    let held = &mut engine.held;
    let of_numbers: DevicePtr<f64> = held.device(Buffer::FeaturesData)?.cast();
    let of_codes: DevicePtr<u16> = of_numbers.carve(aligned(8 * n * numbers.len()));
    let of_sides: DevicePtr<f64> = of_codes.carve(aligned(2 * n * codes.len()));
    let of_weights: DevicePtr<Row> = of_sides.carve(aligned(8 * n * settings.sides * sides.len()));
    let of_columns: DevicePtr<FeaturesColumn> = of_weights.carve(aligned(size_of_val(&weights[..])));
    let of_phases: DevicePtr<Row> = of_columns.carve(aligned(size_of_val(&columns[..])));
    upload_columns(held, of_numbers, &numbers, n)?;
    upload_columns(held, of_codes, &codes, n)?;
    upload_sides(held, of_sides, &sides, settings.sides)?;
    held.upload(of_weights, &weights)?;
    held.upload(of_columns, &columns)?;
    held.upload(of_phases, &phases)?;
    let [sets, of_side_list, groups, tests, members, rows, _] = plan.lists();
    let at: DevicePtr<FeaturesSet> = held.device(Buffer::FeaturesTests)?.cast();
    let side_list: DevicePtr<FeaturesSide> = at.carve(sets);
    let group_list: DevicePtr<FeaturesGroup> = side_list.carve(of_side_list);
    let test_list: DevicePtr<FeaturesTest> = group_list.carve(groups);
    let member_list: DevicePtr<u32> = test_list.carve(tests);
    let row_list: DevicePtr<u32> = member_list.carve(members);
    let [features, factors, inverses, left, _] = plan.of_sets();
    let of_features: DevicePtr<f64> = held.device(Buffer::FeaturesSets)?.cast();
    let [of_residuals, of_coefficients, _] = plan.of_sides();
    let residuals: DevicePtr<f64> = held.device(Buffer::FeaturesSides)?.cast();
    let args = FeaturesArgs {
        n: n as u64,
        given: settings.given as u64,
        width: (test.panels() * WIDE) as u64,
        sides: settings.sides as u64,
        ridge: RIDGE,
        nothing: NOTHING,
        numbers: of_numbers,
        codes: of_codes,
        weights: of_weights.cast(),
        side_features: of_sides,
        columns: of_columns,
        phases: of_phases.cast(),
        members: member_list,
        sets: at,
        of_sets: side_list,
        groups: group_list,
        tests: test_list,
        rows: if plan.shape.has_holes { row_list } else { DevicePtr::NULL },
        features: of_features,
        factors: of_features.carve(features),
        inverses: of_features.carve(features + factors),
        left: of_features.carve(features + factors + inverses),
        shares: of_features.carve(features + factors + inverses + left),
        residuals,
        coefficients: residuals.carve(of_residuals),
        squares: residuals.carve(of_residuals + of_coefficients),
        answers: row_list.carve(rows),
        ..FeaturesArgs::default()
    };
    Ok(Data { args, plan, places })
}

/// Copies the features of variables as x or y, column by column.
fn upload_sides(held: &Held, to: DevicePtr<f64>, sides: &[&[Row]], count: usize) -> Result<()> {
    let of_one = sides.first().map_or(0, |rows| count * rows.len());
    let together = (TOGETHER / of_one.max(1)).max(1);
    let mut some = memory::space(of_one * together.min(sides.len()), Use::Samples)?;
    for (part, sides) in sides.chunks(together).enumerate() {
        some.clear();
        for rows in sides {
            (0..count).for_each(|column| some.extend(rows.iter().map(|row| row.0[column])));
        }
        held.upload(to.offset((part * together * of_one) as u64), &some)?;
    }
    Ok(())
}

impl Data {
    /// Returns the number of a variable on the GPU.
    ///
    /// # Panics
    /// If its column is not there.
    pub fn place(&self, variable: usize) -> u32 {
        self.places[variable].unwrap_or_else(|| panic!("variable {variable} is not on the GPU"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_do_not_pass_their_limit() {
        let shapes = [(10, 8, 1, false), (50, 8, 8, false), (500, 104, 5, true), (1_000_000, 104, 5, false)];
        for (n, width, sides, has_holes) in shapes {
            let shape = Shape { p: 40, n, width, sides, has_holes };
            let least = Plan::least(1000, &shape).total();
            for limit in [0, 1 << 20, 100 << 20, 10 << 30, 100 << 30] {
                let plan = Plan::new(1000, limit, &shape);
                assert!(plan.total() <= least + limit, "{limit}: {plan:?}");
                assert!(plan.sets >= 1 && plan.sides >= 2 && plan.tests >= 1 && plan.members >= shape.p);
            }
            let large = Plan::new(0, u64::MAX, &shape);
            assert!(n > 100_000 || large.sets as u64 >= BUSY_SETS, "{large:?}");
        }
    }
}
