//! The nearest-neighbour test from R.

use extendr_api::prelude::*;
use ndarray::ArrayView2;
use pcgpu_core::ci::knn::{EarlyStop, Estimator, Knn, Outcome, Settings, Transform};
use pcgpu_core::engine::cpu::KnnKernel;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;

use crate::failure::{Failure, Outcome as Answer};
use crate::input::Fields;
use crate::machine::Machine;
use crate::respond::respond;
use crate::session::RObserver;
use crate::value::Value;
use crate::{input, output};

/// The nearest-neighbour test with its data.
pub struct KnnTest {
    knn: Knn,
}

/// The data and settings of the test.
pub struct KnnData {
    data: Robj,
    p: usize,
    /// Whether each column is discrete.
    pub discrete: Vec<bool>,
    /// The columns' numbers.
    pub names: Vec<u32>,
    pub settings: Settings,
}

impl KnnData {
    /// Reads `list(data, p, discrete, names, k, k_perm, permutations, estimator, transform, add_one, seed, alpha, error)`. `data` is a
    /// matrix of doubles with p columns. `discrete` says which columns are discrete, and `names` has their numbers (ascending, from 1). The
    /// rest is for [`Settings`]; `alpha` is NULL if all permutations are drawn.
    pub fn from_list(test: &List) -> Answer<Self> {
        let estimators = [
            ("frenzel-pompe", Estimator::FrenzelPompe),
            ("mesner-shalizi", Estimator::MesnerShalizi),
            ("gao", Estimator::Gao),
        ];
        let transforms = [
            ("ranks", Transform::Ranks),
            ("uniform", Transform::Uniform),
            ("standardize", Transform::Standardize),
            ("none", Transform::None),
        ];
        let early_stop = match test.optional_number("alpha")? {
            None => None,
            Some(alpha) => Some(EarlyStop { alpha, error: test.number("error")? }),
        };
        let settings = Settings {
            k: test.count("k", 0)?,
            k_perm: test.count("k_perm", 0)?,
            permutations: test.count("permutations", 0)?,
            estimator: test.choice("estimator", &estimators)?,
            transform: test.choice("transform", &transforms)?,
            add_one: test.flag("add_one")?,
            seed: test.count("seed", 0)? as u64,
            early_stop,
        };
        let p = test.count("p", 1)?;
        let data = test.field("data")?.clone();
        let discrete = test.field("discrete")?;
        let discrete: Vec<bool> = discrete
            .as_logical_slice()
            .filter(|flags| flags.len() == p)
            .ok_or_else(|| Failure::Input(format!("internal: `discrete` is not {p} logicals")))?
            .iter()
            .map(|flag| flag.is_true())
            .collect();
        let names = test.vertices("names", i32::MAX as usize)?;
        if names.len() != p || names.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Failure::Input(format!("internal: `names` is not {p} ascending numbers")));
        }
        let made = KnnData { data, p, discrete, names, settings };
        made.view()?;
        Ok(made)
    }

    /// Returns the data.
    pub fn view(&self) -> Answer<ArrayView2<'_, f64>> {
        let data = self.data.as_real_slice().and_then(|data| by_column(data, self.p).ok());
        let wrong = || format!("internal: `data` is not a matrix of doubles with {} columns", self.p);
        data.filter(|data| !data.is_empty()).ok_or_else(|| Failure::Input(wrong()))
    }
}

impl KnnTest {
    /// Makes the test from what [`KnnData::from_list`] reads.
    pub fn from_list(test: &List) -> Answer<Self> {
        let of = KnnData::from_list(test)?;
        let KnnData { discrete, names, settings, .. } = &of;
        Ok(KnnTest { knn: Knn::of_columns(of.view()?, discrete, names, *settings)? })
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.knn.columns().p()
    }

    /// Returns the test.
    pub fn test(&self) -> &Knn {
        &self.knn
    }

    /// Runs one test on the pool's threads.
    pub fn outcome(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> pcgpu_core::Result<Outcome> {
        KnnKernel::new(&self.knn).test(x, y, s, pool.clone(), observer)
    }
}

/// Runs one nearest-neighbour test of the columns x and y of its data given all others.
/// @noRd
#[extendr]
fn rust_knn_test(test: Robj, x: Robj, y: Robj, engine: Robj) -> Robj {
    respond([&test, &x, &y, &engine], |token| {
        let test = KnnTest::from_list(&input::list(&test, "test")?)?;
        let column = |value: &Robj, name: &str| match input::vertices(value, test.p(), name)?[..] {
            [v] => Ok(v),
            _ => Err(Failure::Input(format!("internal: `{name}` is not one column"))),
        };
        let (x, y) = (column(&x, "x")?, column(&y, "y")?);
        if x == y {
            return Err(Failure::Input("internal: `x` and `y` are the same column".into()));
        }
        let given: Vec<u32> = (0..test.p() as u32).filter(|&column| column != x && column != y).collect();
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        let mut observer = RObserver::silent(token);
        let outcome = test.outcome(x as usize, y as usize, &given, &machine.pool, &mut observer)?;
        Ok(output::named(vec![
            ("estimate", Value::from(outcome.estimate)),
            ("p", Value::from(outcome.p)),
            ("drawn", Value::from(outcome.drawn as f64)),
            ("count", Value::from(outcome.count as f64)),
        ]))
    })
}

extendr_module! {
    mod knn;
    fn rust_knn_test;
}
