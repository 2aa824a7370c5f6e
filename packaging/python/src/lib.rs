//! The Python module `pcgpu`: PC-stable on a correlation matrix. It is a prototype; README.md says what a package would take.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use numpy::{AllowTypeChange, PyArray2, PyArrayLike2, PyArrayMethods};
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::graph::SepSets;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Observer;
use pcgpu_core::orient::{self, orient, Pdag};
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options, PairValues};
use pcgpu_core::{memory, shown, Error, Result};
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Number of variables from which "auto" chooses a GPU, as in R.
const AUTO_VARIABLES: usize = 500;

/// Time between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// An observer that runs Python's signal handlers, and ends the search if one raises an exception.
struct Signals {
    looked: Instant,
    raised: Option<PyErr>,
}

impl Observer for Signals {
    fn look(&mut self) -> Result<()> {
        memory::check()?;
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        self.raised.as_ref().map_or(Ok(()), |_| Err(Error::Interrupted))
    }

    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.look()
    }
}

/// The separating sets of a search: `sepsets[x, y]` is a tuple of variables, or `None` if no set separates x and y.
#[pyclass(frozen, name = "SepSets")]
struct Separating(SepSets);

#[pymethods]
impl Separating {
    fn __getitem__<'py>(&self, py: Python<'py>, pair: (usize, usize)) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let ((x, y), p) = (pair, self.0.p());
        if x >= p || y >= p {
            return Err(PyIndexError::new_err(format!("[{x}, {y}] is not a pair of the variables 0 to {}", p - 1)));
        }
        self.0.get(x, y).or_else(|| self.0.get(y, x)).map(|set| PyTuple::new(py, set)).transpose()
    }
}

/// Makes the exception of an error. It has the arguments' names in Python.
fn exception(error: Error, raised: Option<PyErr>) -> PyErr {
    let message = error.to_string().replace("suffStat$n", "n").replace("numCores", "threads").replace("m.max", "m_max");
    match error {
        Error::Interrupted => raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        Error::Argument { .. } => PyValueError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

fn refused<T>(argument: &'static str, value: impl Into<String>, hint: &str) -> Result<T> {
    Err(Error::Argument { argument, value: value.into(), hint: hint.into() })
}

/// Returns a worker on the first GPU.
#[cfg(feature = "cuda")]
fn on_gpu<'a>(gauss: Gauss<'a>, alpha: f64, pool: &Pool) -> Result<Box<dyn Worker + 'a>> {
    use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
    Ok(Box::new(CudaEngine::new(gauss, alpha, CudaOptions::default())?.with_pool(pool.clone())))
}

#[cfg(not(feature = "cuda"))]
fn on_gpu<'a>(_: Gauss<'a>, _: f64, _: &Pool) -> Result<Box<dyn Worker + 'a>> {
    refused("device", "\"cuda\"", "this build of pcgpu has no GPU engine; give device=\"cpu\"")
}

/// Searches and orients on one device.
fn learn(
    cells: &[f64],
    n: f64,
    options: &Options,
    gpu: bool,
    pool: &Pool,
    signals: &mut Signals,
) -> Result<(Pdag, SepSets, Vec<u64>)> {
    let (c, alpha) = (by_column(cells, options.p)?, options.alpha);
    if Check::new(c).verdict(pool) != Some(false) {
        return refused("C", "not a correlation matrix without NaN", "use for instance np.corrcoef(x, rowvar=False)");
    }
    let gauss = Gauss::new(c, n, Reading::GaussCItest)?;
    let mut worker = match gpu {
        true => on_gpu(gauss, alpha, pool)?,
        false => Box::new(CpuEngine::new(GaussKernel::new(gauss, alpha), pool.clone())),
    };
    let mut found = skeleton(worker.as_mut(), options, &mut PairValues::default(), signals)?;
    let signals = RefCell::new(signals);
    let stop = || signals.borrow_mut().look().is_err();
    let how = orient::Options { pool: pool.clone(), wants_to_stop: Some(&stop), ..orient::Options::default() };
    let graph = orient(&found.graph, &mut found.sepsets, &how, alpha, None, &mut |_| Ok(Vec::new()))?;
    Ok((graph, found.sepsets, found.tests))
}

/// Learns a CPDAG from the correlations `C` of `n` samples with PC-stable, as pcalg's pc() does.
///
/// Returns (cpdag, sepsets, n_tests). cpdag[i, j] = 1 and cpdag[j, i] = 0 is i -> j; both 1 is i - j. sepsets[x, y] is a tuple or None.
/// n_tests counts tests by level. `m_max` limits the size of conditioning sets. `device` is "auto", "cpu" or "cuda".
#[pyfunction]
#[pyo3(signature = (C, n, alpha, m_max=None, threads=None, device="auto"))]
#[allow(non_snake_case)]
fn pc<'py>(
    py: Python<'py>,
    C: PyArrayLike2<'py, f64, AllowTypeChange>,
    n: f64,
    alpha: f64,
    m_max: Option<usize>,
    threads: Option<usize>,
    device: &str,
) -> PyResult<(Bound<'py, PyArray2<i8>>, Separating, Vec<u64>)> {
    let p = C.as_array().ncols();
    // A copy, because other threads of Python may write to `C` meanwhile. A symmetric matrix reads the same by row and by column.
    let cells = C.as_slice().map_or_else(|_| C.as_array().iter().copied().collect(), <[f64]>::to_vec);
    let mut signals = Signals { looked: Instant::now(), raised: None };
    let run = || {
        memory::forget();
        if !(alpha > 0.0 && alpha < 1.0) {
            return refused("alpha", shown(alpha), "give a significance level between 0 and 1");
        }
        if threads == Some(0) {
            return refused("threads", "0", "give at least 1");
        }
        let pool = threads.map_or_else(|| Pool::at_most(default_threads()), Pool::new);
        let options = Options { m_max: m_max.map_or(f64::INFINITY, |most| most as f64), ..Options::new(p, alpha) };
        let mut on = |gpu| learn(&cells, n, &options, gpu, &pool, &mut signals);
        match device {
            "cpu" => on(false),
            "cuda" => on(true),
            "auto" if cfg!(feature = "cuda") && p >= AUTO_VARIABLES => match on(true) {
                Err(Error::Device(_)) => on(false),
                answer => answer,
            },
            "auto" => on(false),
            other => refused("device", format!("\"{other}\""), "give \"auto\", \"cpu\" or \"cuda\""),
        }
    };
    let (graph, sepsets, tests) = py.detach(run).map_err(|error| exception(error, signals.raised.take()))?;
    let cpdag = PyArray2::<i8>::zeros(py, [p, p], false);
    let mut marks = cpdag.readwrite();
    for (i, row) in marks.as_slice_mut()?.chunks_exact_mut(p).enumerate() {
        graph.edges_from(i).for_each(|(j, mark)| row[j as usize] = mark as i8);
    }
    drop(marks);
    Ok((cpdag, Separating(sepsets), tests))
}

#[pymodule]
fn pcgpu(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Separating>()?;
    module.add_function(wrap_pyfunction!(pc, module)?)
}
