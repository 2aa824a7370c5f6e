//! Tests of numbers and levels, with or without holes, from R.

use std::cell::{OnceCell, Ref, RefCell};
use std::sync::Arc;

use extendr_api::prelude::*;
use pcgpu_core::ci::mixed::{Frame, Given, Holes, Mixed, Rules, Values};
use pcgpu_core::engine::cpu::with_sums;
use pcgpu_core::matrix::{self, by_column};
use pcgpu_core::pool::Pool;
use pcgpu_core::Result;

use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::respond::respond;
use crate::value::Value;

/// The test with its data.
pub struct MixedTest {
    p: usize,
    of: Of,
}

enum Of {
    /// Data, and the test once it is ready for a search.
    Frame { data: RefCell<Option<Mixed<'static>>>, made: OnceCell<Arc<Mixed<'static>>> },
    /// Correlation matrices, p x p, of data sets of n rows, and the sizes of the pairs if these differ.
    Correlations { c: List, n: f64, sizes: Option<Robj> },
}

fn internal(what: &str) -> Failure {
    Failure::Input(format!("internal: {what}"))
}

impl MixedTest {
    /// Reads `list(p, n, holes, adapt, ask_for_rows, constant_is_missing, ...)` and one of three entries. `correlations` is a list of p x p
    /// matrices, or of one matrix with `sizes`, a p x p matrix. `matrix` has n x p doubles. `columns` is a list of `list(levels, versions)`: the number of declared levels (0 for
    /// numbers), and a list of vectors, which are doubles, integers, or the codes of a factor. `sets` is the number of completed data sets,
    /// or 1 if nothing was completed.
    pub fn from_list(test: &List) -> Outcome<Self> {
        let p = test.count("p", 1)?;
        if let Some(matrices) = test.optional("correlations") {
            let c = input::list(matrices, "correlations")?;
            for c in input::entries(&c) {
                input::square(c, p, "correlations")?;
            }
            let n = test.number("n")?;
            let sizes = test.optional("sizes").cloned();
            if let Some(sizes) = &sizes {
                input::square(sizes, p, "sizes")?;
            }
            return Ok(MixedTest { p, of: Of::Correlations { c, n, sizes } });
        }
        let n = test.count("n", 1)?;
        let holes = [("none", Holes::None), ("testwise", Holes::TestWise), ("imputed", Holes::Imputed)];
        let holes = test.choice("holes", &holes)?;
        let rules = Rules {
            adapt: test.flag("adapt")?,
            ask_for_rows: test.flag("ask_for_rows")?,
            constant_is_missing: test.flag("constant_is_missing")?,
        };
        let sets = test.count("sets", 1)?;
        let frame = frame_of(test, [n, p], sets)?;
        let data = RefCell::new(Some(Mixed::new(frame, holes, rules)?));
        Ok(MixedTest { p, of: Of::Frame { data, made: OnceCell::new() } })
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns the test. The first call makes it ready for a search; `told` gets the finished share.
    pub fn test(&self, pool: &Pool, told: &mut dyn FnMut(f64) -> Result<()>) -> Outcome<Arc<Mixed<'_>>> {
        match &self.of {
            Of::Correlations { c, n, sizes } => {
                let cells = |c| input::square(c, self.p, "correlations").map(|c| matrix::cells(c).unwrap_or_default());
                let c = input::entries(c).iter().map(cells).collect::<Outcome<Vec<&[f64]>>>()?;
                Ok(Arc::new(match sizes {
                    Some(sizes) => Mixed::of_sizes(c.first().copied().unwrap_or_default(), cells(sizes)?, self.p, *n),
                    None => Mixed::of_correlations(c, self.p, *n),
                }))
            }
            Of::Frame { data, made } => {
                if let Some(test) = data.borrow_mut().take() {
                    let _ = made.set(Arc::new(with_sums(test, pool, told)?));
                }
                made.get().cloned().ok_or_else(|| internal("the data could not be read"))
            }
        }
    }

    /// Returns the test on its data before it was made ready for a search, or `None` if there are only correlations.
    pub fn on_data(&self) -> Option<Ref<'_, Mixed<'static>>> {
        match &self.of {
            Of::Frame { data, .. } => Ref::filter_map(data.borrow(), Option::as_ref).ok(),
            Of::Correlations { .. } => None,
        }
    }

    /// Returns the p-value of one test of the first two variables given all others, or NaN if there is no answer.
    pub fn p_value(&self) -> Outcome<f64> {
        let given: Vec<u32> = (2..self.p as u32).collect();
        let p = |test: &Mixed| test.p_value(0, 1, &given, &mut Default::default());
        match self.on_data() {
            Some(test) => Ok(p(&test)),
            None => Ok(p(&*self.test(&Pool::none(), &mut |_| Ok(()))?)),
        }
    }
}

/// Reads n rows of p variables in `sets` data sets, from `matrix` or `columns` as [`MixedTest::from_list`] has them.
pub fn frame_of(test: &List, [n, p]: [usize; 2], sets: usize) -> Outcome<Frame> {
    let frame = match test.optional("matrix") {
        Some(x) => of_matrix(x, n, p)?,
        None => of_columns(&test.list("columns")?, n, sets)?,
    };
    match frame.p() == p {
        true => Ok(frame),
        false => Err(internal(&format!("data of {} columns for {p} variables", frame.p()))),
    }
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
        let levels = column.count("levels", 0)? as u32;
        parts.push((levels, column.list("versions")?));
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

/// Returns the p-value of a test of numbers and levels, of the first two of its variables given all others.
/// @noRd
#[extendr]
fn rust_mixed_test(test: Robj) -> Robj {
    respond([&test], |_| Ok(Value::from(MixedTest::from_list(&input::list(&test, "test")?)?.p_value()?)))
}

extendr_module! {
    mod mixed;
    fn rust_mixed_test;
}
