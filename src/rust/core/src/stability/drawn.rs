//! The data from which replicates draw, and a replicate's data.

use std::sync::Arc;

use ndarray::ArrayView2;

use crate::ci::discrete::{Coded, Discrete, Rule, Statistic};
use crate::ci::features::KernelTest;
use crate::ci::gauss::{Gauss, Reading};
use crate::ci::knn::{Knn, Settings};
use crate::ci::mixed::{Frame, Mixed};
use crate::engine::cpu::{with_sums, CpuEngine, DiscreteKernel, FeaturesKernel, GaussKernel, KnnKernel, MixedKernel};
use crate::matrix::{self, by_column};
use crate::memory::{self, Use};
use crate::moments::{correlation, Kind, Rows};
use crate::numbers::Numbers;
use crate::pool::Pool;
use crate::search::worker::Worker;
use crate::search::{Method, Options};
use crate::{Error, Result};

/// Data from which rows are drawn, and the test on them.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// Numbers without missing values, a column for each variable, and the Gaussian test on their correlations.
    Gauss(ArrayView2<'a, f64>),
    /// Codes, and a test on them.
    Discrete(&'a Coded, Statistic, Rule),
    /// Columns, whether each is discrete, their numbers (see [`Knn::of_columns`]), and settings of the nearest-neighbour test.
    Knn(ArrayView2<'a, f64>, &'a [bool], &'a [u32], Settings),
    /// Numbers and levels, or data with missing values, and their test.
    Mixed(&'a Mixed<'a>),
    /// A kernel test.
    Features(&'a KernelTest),
}

/// The data of a replicate for its tests.
pub enum Drawn {
    /// Correlations, p x p.
    Gauss {
        /// Correlations, by column.
        c: Vec<f64>,
        /// Number of variables.
        p: usize,
        /// Number of rows that were drawn.
        n: f64,
        /// Whether a column has no variance; it then counts as uncorrelated with all others.
        constant: bool,
    },
    /// Codes, and a test on them.
    Discrete(Coded, Statistic, Rule),
    /// The nearest-neighbour test.
    Knn(Box<Knn>),
    /// A test of numbers and levels, or of data with missing values.
    Mixed(Arc<Mixed<'static>>),
    /// A kernel test.
    Features(Box<KernelTest>),
}

impl Source<'_> {
    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        match self {
            Source::Gauss(x) => x.ncols(),
            Source::Discrete(data, ..) => data.p(),
            Source::Knn(x, ..) => x.ncols(),
            Source::Mixed(test) => test.p(),
            Source::Features(test) => test.p(),
        }
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        match self {
            Source::Gauss(x) => x.nrows(),
            Source::Discrete(data, ..) => data.n(),
            Source::Knn(x, ..) => x.nrows(),
            Source::Mixed(test) => test.n() as usize,
            Source::Features(test) => test.n(),
        }
    }

    /// Returns about how many bytes a replicate with `rows` rows takes, including its search.
    pub fn bytes(&self, rows: usize) -> usize {
        let (p, cells) = (self.p(), rows.saturating_mul(self.p()));
        // For each pair: the graph, the tests of a level, and correlations in both precisions.
        let pairs = p.saturating_mul(p);
        match self {
            Source::Gauss(_) => (8 * cells).saturating_add(pairs.saturating_mul(24)),
            Source::Discrete(..) => (4 * cells).saturating_add(pairs.saturating_mul(2)),
            Source::Mixed(test) => {
                let sets = test.frame().map_or(1, Frame::sets);
                (12 * cells).saturating_mul(sets).saturating_add(pairs.saturating_mul(2 + 8 * sets))
            }
            Source::Features(test) => {
                (80 * cells).saturating_add(pairs.saturating_mul(2)).saturating_add(test.bytes_of_sets(rows))
            }
            Source::Knn(..) => (48 * cells).saturating_add(pairs.saturating_mul(2)),
        }
    }

    /// Draws these rows, which may repeat. The answer does not depend on the threads.
    ///
    /// # Errors
    /// [`Error::Memory`], errors of `look`, and those of [`Knn::of_columns`]; [`Error::Argument`] for mixed data that are only
    /// correlations.
    pub fn draw(&self, rows: &[u32], pool: &Pool, look: &mut dyn FnMut() -> Result<()>) -> Result<Drawn> {
        match self {
            Source::Gauss(x) => correlations(&gathered(*x, rows, Use::Correlations)?, x.ncols(), pool, look),
            Source::Discrete(data, statistic, rule) => Ok(Drawn::Discrete(data.of_rows(rows)?, *statistic, *rule)),
            Source::Mixed(test) => match test.of_rows(rows)? {
                Some(test) => Ok(Drawn::Mixed(Arc::new(with_sums(test, pool, &mut |_| look())?))),
                None => Err(Error::Argument {
                    argument: "data",
                    value: "a list of correlation matrices".into(),
                    hint: "give the data sets from which they were computed".into(),
                }),
            },
            Source::Features(test) => Ok(Drawn::Features(Box::new(test.of_rows(rows)?))),
            Source::Knn(x, discrete, names, settings) => {
                let cells = gathered(*x, rows, Use::Samples)?;
                Ok(Drawn::Knn(Box::new(Knn::of_columns(by_column(&cells, x.ncols())?, discrete, names, *settings)?)))
            }
        }
    }
}

/// Returns rows of a matrix, column by column.
fn gathered(x: ArrayView2<f64>, rows: &[u32], what: Use) -> Result<Vec<f64>> {
    let mut cells = memory::space(rows.len() * x.ncols(), what)?;
    for column in matrix::columns(x) {
        cells.extend(rows.iter().map(|&row| column[row as usize]));
    }
    Ok(cells)
}

/// Computes correlations of data; 0 with a column that has no variance.
fn correlations(cells: &[f64], p: usize, pool: &Pool, look: &mut dyn FnMut() -> Result<()>) -> Result<Drawn> {
    let n = cells.len() / p.max(1);
    let varies = |column: &[f64]| column.iter().any(|value| *value != column[0]);
    let columns: Vec<&[f64]> = cells.chunks_exact(n.max(1)).collect();
    let varying: Vec<usize> = (0..p).filter(|&j| varies(columns[j])).collect();
    let numbers: Vec<Numbers> = varying.iter().map(|&j| Numbers::Doubles(columns[j])).collect();
    let mut c = memory::zeros(varying.len() * varying.len(), Use::Correlations)?;
    if !varying.is_empty() {
        correlation(&numbers, Kind::Pearson, Rows::All, pool, &mut c, &mut |_| look())?;
    }
    let mut constant = varying.len() < p;
    if constant {
        let few = std::mem::replace(&mut c, memory::zeros(p * p, Use::Correlations)?);
        for (&y, column) in varying.iter().zip(few.chunks_exact(varying.len().max(1))) {
            varying.iter().zip(column).for_each(|(&x, &r)| c[y * p + x] = r);
        }
    }
    // A column that varies by less than a double's precision has no correlations either.
    for (y, column) in c.chunks_exact_mut(p).enumerate() {
        constant |= column.iter().any(|r| r.is_nan());
        column.iter_mut().filter(|r| r.is_nan()).for_each(|r| *r = 0.0);
        column[y] = 1.0;
    }
    Ok(Drawn::Gauss { c, p, n: n as f64, constant })
}

impl Drawn {
    /// Returns whether a column of numbers has no variance. Columns of codes may have a single level.
    pub fn constant(&self) -> bool {
        matches!(self, Drawn::Gauss { constant: true, .. })
    }

    /// Returns the Gaussian test, or `None` for another test.
    ///
    /// # Errors
    /// Those of [`Gauss::new`].
    pub fn gauss(&self, method: Method) -> Result<Option<Gauss<'_>>> {
        let Drawn::Gauss { c, p, n, .. } = self else { return Ok(None) };
        let reading = match method {
            Method::StableFast => Reading::StableFast,
            Method::Stable | Method::Original => Reading::GaussCItest,
        };
        Gauss::new(by_column(c, *p)?, *n, reading).map(Some)
    }

    /// Returns the worker for a search on these threads.
    ///
    /// # Errors
    /// Those of [`Drawn::gauss`].
    pub fn worker<'d>(&'d self, options: &Options, pool: &Pool) -> Result<Box<dyn Worker + 'd>> {
        Ok(match self {
            Drawn::Gauss { .. } => {
                let Some(gauss) = self.gauss(options.method)? else { return Err(Error::Interrupted) };
                Box::new(CpuEngine::new(GaussKernel::new(gauss, options.alpha), pool.clone()))
            }
            Drawn::Discrete(data, statistic, rule) => {
                Box::new(CpuEngine::new(DiscreteKernel::new(Discrete::new(data, *statistic, *rule)), pool.clone()))
            }
            Drawn::Mixed(test) => Box::new(CpuEngine::new(MixedKernel::new(test.clone()), pool.clone())),
            Drawn::Features(test) => Box::new(CpuEngine::new(FeaturesKernel::new(test), pool.clone())),
            Drawn::Knn(knn) => Box::new(CpuEngine::new(KnnKernel::new(knn), pool.clone())),
        })
    }
}
