//! Tests of numbers and levels, with holes or without, from R.

use std::cell::{OnceCell, Ref, RefCell};
use std::sync::{Arc, Mutex};

use extendr_api::prelude::*;
use pcgpu_core::ci::mixed::{Frame, Given, Holes, Mixed, Rules, Values, Work};
use pcgpu_core::engine::cpu::with_sums;
use pcgpu_core::matrix::{self, by_column};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::{Pool, Stop};
use pcgpu_core::search::{Method, Options, Skeleton};
use pcgpu_core::Result;

use crate::api::Call;
use crate::doubts::Doubts;
use crate::failure::{Failure, Outcome};
use crate::input;

/// Variables from which threads share what is looked at after a search.
const SHARED: usize = 64;

/// The test with its data.
pub struct MixedTest {
    p: usize,
    of: Of,
}

enum Of {
    /// Data, and the test once it is ready for a search.
    Frame { data: RefCell<Option<Mixed<'static>>>, made: OnceCell<Arc<Mixed<'static>>> },
    /// Correlation matrices, p x p, of data sets of n rows.
    Correlations { c: List, n: f64 },
}

fn internal(what: &str) -> Failure {
    Failure::Input(format!("internal: {what}"))
}

impl MixedTest {
    /// From `list(p, n, holes, adapt, ask_for_rows, constant_is_missing, ...)`, with one of `correlations`, a list of p x p matrices; `matrix`, of
    /// doubles, n x p; and `columns`, a list of `list(levels, versions)`: the number of declared levels (0: numbers), and a list of vectors,
    /// doubles, integers, or the codes of a factor. `sets` is the number of completed data sets, 1 where nothing was completed.
    pub fn from_list(test: &List) -> Outcome<Self> {
        let flag = |name: &str| input::flag(&input::field(test, name)?, name);
        let p = input::count(&input::field(test, "p")?, "p", 1)?;
        if let Some(matrices) = input::optional(test, "correlations") {
            let c = input::list(&matrices, "correlations")?;
            for c in input::entries(&c) {
                input::square(c, p, "correlations")?;
            }
            let n = input::number(&input::field(test, "n")?, "n")?;
            return Ok(MixedTest { p, of: Of::Correlations { c, n } });
        }
        let n = input::count(&input::field(test, "n")?, "n", 1)?;
        let holes = match input::text(&input::field(test, "holes")?, "holes")?.as_str() {
            "none" => Holes::None,
            "testwise" => Holes::TestWise,
            "imputed" => Holes::Imputed,
            other => return Err(internal(&format!("there is no treatment `{other}`"))),
        };
        let rules = Rules {
            adapt: flag("adapt")?,
            ask_for_rows: flag("ask_for_rows")?,
            constant_is_missing: flag("constant_is_missing")?,
        };
        let sets = input::count(&input::field(test, "sets")?, "sets", 1)?;
        let frame = match input::optional(test, "matrix") {
            Some(x) => of_matrix(&x, n, p)?,
            None => of_columns(&input::list(&input::field(test, "columns")?, "columns")?, n, sets)?,
        };
        if frame.p() != p {
            return Err(internal(&format!("data of {} columns for {p} variables", frame.p())));
        }
        let data = RefCell::new(Some(Mixed::new(frame, holes, rules)?));
        Ok(MixedTest { p, of: Of::Frame { data, made: OnceCell::new() } })
    }

    /// Number of variables.
    pub fn p(&self) -> usize {
        self.p
    }

    /// The test, made ready for a search the first time; `told` hears of the share that is done.
    pub fn test(&self, pool: &Pool, told: &mut dyn FnMut(f64) -> Result<()>) -> Outcome<Arc<Mixed<'_>>> {
        match &self.of {
            Of::Correlations { c, n } => {
                let cells = |c| input::square(c, self.p, "correlations").map(|c| matrix::cells(c).unwrap_or_default());
                let c = input::entries(c).iter().map(cells).collect::<Outcome<Vec<&[f64]>>>()?;
                Ok(Arc::new(Mixed::of_correlations(c, self.p, *n)))
            }
            Of::Frame { data, made } => {
                if let Some(test) = data.borrow_mut().take() {
                    let _ = made.set(Arc::new(with_sums(test, pool, told)?));
                }
                made.get().cloned().ok_or_else(|| internal("the data could not be read"))
            }
        }
    }

    /// The test on its data, before it was made ready for a search; none where there are correlations alone.
    pub fn on_data(&self) -> Option<Ref<'_, Mixed<'static>>> {
        match &self.of {
            Of::Frame { data, .. } => Ref::filter_map(data.borrow(), Option::as_ref).ok(),
            Of::Correlations { .. } => None,
        }
    }

    /// Which edges no test has decided. `may_lack`: whether the largest p of a pair may be that of a test without an answer.
    pub fn doubts(
        &self,
        call: &Call,
        found: &Skeleton,
        options: &Options,
        may_lack: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Outcome<Doubts> {
        let (p, pool, mut observer) = (self.p, &call.machine.pool, call.observer());
        let test = self.test(pool, &mut |_| observer.look())?;
        let missing = test.missing();
        let any_few = missing.iter().any(|&missing| missing > 0.0) || test.n() < found.tests.len() as f64 + 3.0;
        let all = Mutex::new(Doubts::default());
        let of_row = |work: &mut Work, x: usize, _: &Stop| {
            let mut doubts = Doubts::default();
            let mut look = |y: u32, s: &[u32]| {
                if any_few && is_few(&test, &missing, [x, y as usize], s, work) {
                    doubts.few_rows += 1;
                } else if may_lack(x, y as usize) {
                    let is_missing = test.p_value(x, y as usize, s, work).is_nan();
                    doubts.removed += u64::from(is_missing);
                    doubts.too_few += u64::from(work.too_few());
                }
            };
            found.sepsets.row(x).for_each(|(y, s)| look(y, s));
            if options.method == Method::StableFast {
                // Without an answer at level 0 there is no set.
                let is_gap = |y: usize| options.fixed_gaps.as_ref().is_some_and(|gaps| gaps.has(x, y));
                let gone = |y: &usize| !found.graph.has(x, *y) && !is_gap(*y);
                let unset = |y: &usize| found.sepsets.get(x, *y).or_else(|| found.sepsets.get(*y, x)).is_none();
                (x + 1..p).filter(gone).filter(unset).for_each(|y| look(y as u32, &[]));
            }
            if !options.na_delete {
                let is_fixed = |y: usize| options.fixed_edges.as_ref().is_some_and(|edges| edges.has(x, y));
                // Of the tests that cannot have removed it those of no or one variable are looked at, which are quickly done.
                let given_one = found.tests.len() > 1;
                let mut is_kept = |y: usize| {
                    let mut unknown = |s: &[u32]| test.p_value(x, y, s, work).is_nan();
                    let mut near = [x, y].into_iter().flat_map(|vertex| found.graph.neighbours(vertex));
                    unknown(&[]) || given_one && near.any(|z| z as usize != x && z as usize != y && unknown(&[z]))
                };
                let others = found.graph.neighbours(x).map(|y| y as usize).filter(|&y| x < y && !is_fixed(y));
                doubts.kept += others.filter(|&y| is_kept(y)).count() as u64;
            }
            if let Ok(mut all) = all.lock() {
                all.add(&doubts);
            }
        };
        let told = pool.run(p, p < SHARED, |_| 1.0, &mut |_| observer.look(), of_row);
        told.map_err(|error| call.token.explain(error))?;
        Ok(all.into_inner().unwrap_or_default())
    }

    /// One test, of the first two variables given all others; NaN where there is no answer.
    pub fn p_value(&self) -> Outcome<f64> {
        let given: Vec<u32> = (2..self.p as u32).collect();
        let p = |test: &Mixed| test.p_value(0, 1, &given, &mut Default::default());
        match self.on_data() {
            Some(test) => Ok(p(&test)),
            None => Ok(p(&*self.test(&Pool::none(), &mut |_| Ok(()))?)),
        }
    }
}

/// Whether the rows that have all values of a test are fewer than Fisher's z of k given variables takes, k + 4.
fn is_few(test: &Mixed, missing: &[f64], [x, y]: [usize; 2], s: &[u32], work: &mut Work) -> bool {
    let needed = s.len() as f64 + 4.0;
    // Rows are counted only where the holes of the variables together are enough to matter.
    let all = [x, y].into_iter().chain(s.iter().map(|&variable| variable as usize));
    let least = test.n() - all.map(|variable| missing.get(variable).copied().unwrap_or(0.0)).sum::<f64>();
    least < needed && test.rows(x, y, s, work) < needed
}

fn of_matrix(x: &Robj, n: usize, p: usize) -> Outcome<Frame> {
    let cells = x.as_real_slice().filter(|cells| cells.len() == n * p);
    let x = by_column(cells.ok_or_else(|| internal("`matrix` is not n x p doubles"))?, p)?;
    let column = |values| Given { levels: 0, versions: vec![Values::Numbers(values)] };
    Ok(Frame::new(n, 1, &matrix::columns(x).map(column).collect::<Vec<_>>())?)
}

fn of_columns(columns: &List, n: usize, sets: usize) -> Outcome<Frame> {
    let mut parts = Vec::with_capacity(columns.len());
    for column in input::entries(columns) {
        let column = input::list(column, "columns")?;
        let levels = input::count(&input::field(&column, "levels")?, "levels", 0)? as u32;
        parts.push((levels, input::list(&input::field(&column, "versions")?, "versions")?));
    }
    let mut given = Vec::with_capacity(parts.len());
    for (levels, versions) in &parts {
        let mut of = Vec::with_capacity(versions.len());
        for version in input::entries(versions) {
            of.push(values(*levels, version)?);
        }
        given.push(Given { levels: *levels, versions: of });
    }
    Ok(Frame::new(n, sets, &given)?)
}

fn values(levels: u32, of: &Robj) -> Outcome<Values<'_>> {
    match (of.as_real_slice(), of.as_integer_slice()) {
        (Some(values), _) if levels == 0 => Ok(Values::Numbers(values)),
        (_, Some(values)) if levels == 0 => Ok(Values::Whole(values)),
        (_, Some(codes)) => Ok(Values::Codes(codes)),
        _ => Err(internal("a column is neither numbers nor codes")),
    }
}
