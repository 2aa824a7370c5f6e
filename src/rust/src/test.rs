//! The test that a search or an orientation asks, as R names it.

use std::cell::OnceCell;

use extendr_api::prelude::*;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::features::KernelTest;
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading, Undefined};
use pcgpu_core::engine::cpu::{Bound, GaussOfData};
use pcgpu_core::file::{Content, DataFile};
use pcgpu_core::matrix::by_column;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::moments::{of_centred, Centred};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::doubts::{Doubts, LargestP};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{Method, Options, Skeleton};
use pcgpu_core::Error;

use crate::call::Call;
use crate::data_file;
use crate::discrete::DiscreteTest;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::knn::KnnTest;
use crate::machine::Machine;
use crate::mixed::MixedTest;
use crate::ranks::Ranks;
use crate::respond::respond;
use crate::session::RObserver;
use crate::value::Value;

/// A test as R names it.
pub enum Test {
    /// The Gaussian test on a correlation matrix, p x p, of n observations.
    Gauss {
        /// The matrix.
        c: Robj,
        /// The file that has the matrix, if `c` names one.
        file: Option<DataFile>,
        /// Number of observations.
        n: f64,
    },
    /// The Gaussian test on correlations that have not been computed yet.
    GaussOfData {
        /// The data: one centred column for each variable.
        x: Robj,
        /// The file that has the data, if `x` names one.
        file: Option<DataFile>,
        /// Number of observations.
        n: f64,
        /// The correlations, once the CPU has computed them.
        made: OnceCell<Vec<f64>>,
    },
    /// A test of discrete variables.
    Discrete(Box<DiscreteTest>),
    /// The nearest-neighbour test.
    Knn(Box<KnnTest>),
    /// A kernel test.
    Features(Box<KernelTest>),
    /// A test of numbers and levels, or of data with holes.
    Mixed(Box<MixedTest>),
    /// An R function.
    Function(Robj),
}

/// The settings with which a search, or what follows it, uses a test.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Number of variables.
    pub p: usize,
    /// Significance level.
    pub alpha: f64,
    /// The choice among pcalg's formulae of the Gaussian test.
    pub reading: Reading,
}

impl Setting {
    /// Returns the setting of a search.
    pub fn of(options: &Options) -> Self {
        let reading = match options.method {
            Method::StableFast => Reading::StableFast,
            Method::Stable | Method::Original => Reading::GaussCItest,
        };
        Setting { p: options.p, alpha: options.alpha, reading }
    }

    /// Returns the setting of what follows a search. It asks pcalg's R function, whatever ran the search.
    pub fn after(p: usize, alpha: f64) -> Self {
        Setting { p, alpha, reading: Reading::GaussCItest }
    }
}

/// Approximate number of correlations that a question about few variables takes, if they are computed for it.
const PRODUCTS: usize = 200;

/// Returns the cells of data of p columns, or of the file that has them.
fn cells_of<'a>(x: &'a Robj, file: &'a Option<DataFile>, p: usize) -> Outcome<&'a [f64]> {
    let cells = file.as_ref().map_or_else(|| x.as_real_slice().unwrap_or_default(), DataFile::cells);
    match cells.len() >= p && cells.len() % p == 0 {
        true => Ok(cells),
        false => Err(Failure::Input(format!("internal: `data` has no {p} columns"))),
    }
}

impl Test {
    /// Returns whether the CPU takes part of the tests if it is named along with GPUs.
    pub fn shares_with_cpu(&self) -> bool {
        matches!(self, Test::Knn(_) | Test::Mixed(_) | Test::Features(_))
    }

    /// Reads `list(kind, ...)`, as R/citest.R makes it.
    pub fn from_list(test: &List, pool: &Pool) -> Outcome<Self> {
        match test.text("kind")? {
            "gauss" => {
                let n = test.number("n")?;
                Ok(match test.optional("data") {
                    Some(x) => {
                        let file = data_file::named_by(x)?;
                        if file.as_ref().is_some_and(|file| file.content() != Content::Centred) {
                            return Err(Failure::Input("internal: the columns of the file are not centred".into()));
                        }
                        Test::GaussOfData { x: x.clone(), file, n, made: OnceCell::new() }
                    }
                    None => {
                        let c = test.field("C")?;
                        Test::Gauss { file: data_file::named_by(c)?, c: c.clone(), n }
                    }
                })
            }
            "discrete" => Ok(Test::Discrete(Box::new(DiscreteTest::from_list(test, pool)?))),
            "features" => Ok(Test::Features(Box::new(crate::features::from_list(test)?))),
            "knn" => Ok(Test::Knn(Box::new(KnnTest::from_list(test)?))),
            "mixed" => Ok(Test::Mixed(Box::new(MixedTest::from_list(test)?))),
            "function" => match test.function("fun")? {
                Some(fun) => Ok(Test::Function(fun)),
                None => Err(Failure::Input("internal: `fun` is missing".into())),
            },
            other => Err(Failure::Input(format!("internal: there is no test `{other}`"))),
        }
    }

    /// Returns the correlations or the data of the Gaussian test if they are in R's memory, with their name and the number of observations.
    pub fn cells(&self, p: usize) -> Option<(&'static str, &Robj, f64)> {
        let (name, cells, n) = match self {
            Test::Gauss { c, file: None, n } if c.len() == p * p => ("C", c, *n),
            Test::GaussOfData { x, file: None, n, .. } => ("data", x, *n),
            _ => return None,
        };
        cells.is_real().then_some((name, cells, n))
    }

    /// Reads a test, or returns `None` for NULL.
    pub fn optional(test: &Robj, pool: &Pool) -> Outcome<Option<Self>> {
        match test.is_null() {
            true => Ok(None),
            false => Test::from_list(&input::list(test, "test")?, pool).map(Some),
        }
    }

    /// Returns the machine with this test of p variables, or `None` for an R function that is asked here. A CPU computes correlations of
    /// data here, and a GPU when a search needs them.
    pub fn worker<'a>(
        &'a self,
        of: Setting,
        machine: &Machine,
        observer: &mut RObserver<'a>,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        // After "stable.fast" the tests have another reading. R functions have only one reading.
        let asks = |ranks: &&Ranks| matches!(self, Test::Function(_)) || ranks.read_as(of.reading);
        let check = observer.check();
        let Some(ranks) = machine.ranks.as_ref().filter(asks) else {
            return self.own_worker(of, machine, observer, check);
        };
        // Only the ranks compute correlations that do not exist yet.
        let own = match self {
            Test::GaussOfData { .. } => None,
            _ => self.own_worker(of, machine, observer, check)?,
        };
        ranks.worker(observer.token, machine.pool.clone(), own).map(Some)
    }

    /// Returns a worker that computes correlations on demand, or `None`. It is for Gaussian tests on a CPU whose correlations do not exist
    /// yet, if few are needed after level 0. It is for searches by level, as all methods except "original" are. `further` says whether
    /// levels beyond 0 may run.
    pub fn worker_of_few<'a>(
        &'a self,
        Setting { p, alpha, reading }: Setting,
        further: bool,
        machine: &Machine,
        observer: &mut RObserver,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        let Test::GaussOfData { x, file, n, made } = self else { return Ok(None) };
        if !machine.makes_all() || made.get().is_some() {
            return Ok(None);
        }
        let bound = Bound::of_few(p);
        let (x, pool) = (by_column(cells_of(x, file, p)?, p)?, machine.pool.clone());
        let mut few = GaussOfData::new(FisherZ::new(*n, reading)?, x, alpha, pool, bound)?;
        let asks = few.are_few_asked_for(further, observer)?;
        Ok(asks.then(|| Box::new(few) as Box<dyn Worker>))
    }

    /// Returns a worker for this many questions. If they need few of the correlations of data, a CPU computes only those.
    pub fn asked_worker<'a>(
        &'a self,
        of @ Setting { p, alpha, reading }: Setting,
        questions: usize,
        machine: &Machine,
        observer: &mut RObserver<'a>,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        match self {
            Test::GaussOfData { x, file, n, made }
                if machine.device.is_cpu()
                    && machine.ranks.is_none()
                    && made.get().is_none()
                    && questions.saturating_mul(PRODUCTS) < p * p =>
            {
                let x = by_column(cells_of(x, file, p)?, p)?;
                let bound = Bound { bytes: Bound::of_all(p), is_named: false };
                let test = FisherZ::new(*n, reading)?;
                Ok(Some(Box::new(GaussOfData::new(test, x, alpha, machine.pool.clone(), bound)?)))
            }
            _ => self.worker(of, machine, observer),
        }
    }

    /// Returns the machine of this process with this test, or `None` for an R function.
    pub fn own_worker<'a>(
        &'a self,
        Setting { p, alpha, reading }: Setting,
        machine: &Machine,
        observer: &mut RObserver,
        check: Option<&'a Check<'a>>,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        let columns = |of: &str, columns: usize| match columns == p {
            true => Ok(()),
            false => Err(Failure::Input(format!("internal: `{of}` has {columns} columns for {p} variables"))),
        };
        Ok(match self {
            Test::Gauss { c, file, n } => {
                let c = match file {
                    Some(file) => input::square_of(file.cells(), p, "C")?,
                    None => input::square(c, p, "C")?,
                };
                Some(machine.gauss(Gauss::new(c, *n, reading)?, check, alpha)?)
            }
            Test::GaussOfData { x, file, n, made } => {
                let cells = cells_of(x, file, p)?;
                let (x, pool) = (by_column(cells, p)?, &machine.pool);
                if let Some(worker) = machine.gauss_of_data(FisherZ::new(*n, reading)?, x, alpha)? {
                    return Ok(Some(worker));
                }
                if made.get().is_none() {
                    let mut c = Vec::new();
                    let bound = Bound::unless_made(machine.memory, p, || {
                        c = memory::zeros(p * p, Use::Correlations)?;
                        Ok(())
                    })?;
                    if let Some(bound) = bound {
                        let test = FisherZ::new(*n, reading)?;
                        return Ok(Some(Box::new(GaussOfData::new(test, x, alpha, pool.clone(), bound)?)));
                    }
                    let x = Centred::of_cells(cells, x.nrows());
                    of_centred(&x, pool, &mut c, &mut |share| observer.preparing(share))?;
                    let _ = made.set(c);
                }
                let c = made.get().map_or(&[][..], |c| c);
                Some(machine.gauss(Gauss::new(by_column(c, p)?, *n, reading)?, None, alpha)?)
            }
            Test::Discrete(test) => {
                columns("dm", test.p())?;
                Some(machine.discrete(test.test(), alpha)?)
            }
            Test::Knn(test) => {
                columns("data", test.p())?;
                Some(machine.knn(test.test())?)
            }
            Test::Features(test) => {
                columns("data", test.p())?;
                Some(machine.features(test)?)
            }
            Test::Mixed(test) => {
                columns("data", test.p())?;
                Some(machine.mixed(test.test(&machine.pool, &mut |share| observer.preparing(share))?)?)
            }
            Test::Function(_) => None,
        })
    }

    /// Counts the edges of a search that no test has decided. `unanswered` is the number of an R function's tests without an answer.
    pub fn doubts(
        &self,
        call: &Call,
        of: (&Skeleton, &Options),
        largest: &LargestP,
        unanswered: u64,
    ) -> Outcome<Doubts> {
        let (pool, mut observer) = (&call.machine.pool, call.observer());
        match self {
            Test::Discrete(test) => Ok(Doubts::of_discrete(&test.test(), &of.0.sepsets)),
            Test::Mixed(test) => {
                let test = test.test(pool, &mut |_| observer.look())?;
                Ok(Doubts::of_mixed(&test, of, largest, pool, &mut observer)?)
            }
            _ => Ok(Doubts { tests: unanswered, ..Doubts::default() }),
        }
    }
}

/// Returns one p-value of pcalg's gaussCItest().
/// @noRd
#[extendr]
fn rust_gauss_p_value(x: Robj, y: Robj, s: Robj, c: Robj, n: Robj) -> Robj {
    respond([&x, &y, &s, &c, &n], |_| {
        let p = (c.len() as f64).sqrt() as usize;
        let gauss = Gauss::new(input::square(&c, p, "C")?, input::number(&n, "n")?, Reading::GaussCItest)?;
        let vertex = |value: &Robj, name: &str| {
            let found = input::vertices(value, p, name)?;
            match found[..] {
                [v] => Ok(v as usize),
                _ => Err(Failure::Input(format!("internal: `{name}` is not one vertex"))),
            }
        };
        let (x, y, s) = (vertex(&x, "x")?, vertex(&y, "y")?, input::vertices(&s, p, "S")?);
        match gauss.p_value(x, y, &s) {
            Ok(p) => Ok(Value::from(p)),
            Err(Undefined(reason)) => Err(Error::Numeric { x, y, s, reason }.into()),
        }
    })
}

extendr_module! {
    mod test;
    fn rust_gauss_p_value;
}
