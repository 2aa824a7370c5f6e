//! The source of a search's correlations: the caller's matrix, or data from which the GPU computes them.

use crate::ci::correlations::Check;
use crate::ci::gauss::{FisherZ, Gauss, Reading};
use crate::engine::cpu::{CpuEngine, GaussKernel};
use crate::engine::cuda::gauss::correlation::{by_rows, make};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Holds;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::matrix::by_column;
use crate::memory::{self, Use};
use crate::moments::{Centred, Watch};
use crate::Result;

/// The Gaussian test of p variables, and the source of its correlations.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct Gaussian<'a> {
    pub test: FisherZ,
    pub p: usize,
    pub source: Source<'a>,
    /// Check of the matrix, if a caller waits for its verdict.
    pub check: Option<&'a Check<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) enum Source<'a> {
    /// The correlations themselves, p x p.
    Matrix(&'a [f64]),
    /// Data of n rows with centred columns, n x p.
    Data(&'a [f64], usize),
}

impl Gaussian<'_> {
    /// Returns the bytes of the correlations.
    pub fn bytes(&self) -> u64 {
        8 * (self.p * self.p) as u64
    }

    /// Returns whether pcalg's "stable.fast" stops at the first correlation, because the sample is too small for any test.
    pub fn refuses_few(&self) -> bool {
        self.test.reading() == Reading::StableFast && self.test.n() < 3.0
    }
}

impl<'a> CudaEngine<'a> {
    /// Computes the correlations on the GPU, once, if they come from data. This replaces the memory plan.
    pub(in crate::engine::cuda) fn make_correlations(&mut self, gauss: &Gaussian, watch: &mut Watch) -> Result<()> {
        if let (Source::Data(x, n), None) = (gauss.source, self.correlations) {
            self.correlations = Some(make(&mut self.held, &Centred::of_cells(x, n), watch)?);
        }
        Ok(())
    }

    /// Returns the address of the correlations on the GPU. Copies a matrix there, once. Correlations of data must have been computed
    /// before.
    pub(in crate::engine::cuda) fn place_correlations(&mut self, gauss: &Gaussian) -> Result<DevicePtr<f64>> {
        if let (Source::Matrix(matrix), None) = (gauss.source, self.correlations) {
            let at = self.held.device(Buffer::Data)?.cast();
            self.held.send(at, matrix)?;
            self.correlations = Some(at);
        }
        Ok(self.correlations.unwrap_or(DevicePtr::NULL))
    }

    /// Returns an engine that runs the test on the CPU's threads. Correlations of data are copied from the GPU, once.
    pub(in crate::engine::cuda) fn by_host<'s>(
        &'s mut self,
        gauss: &Gaussian<'s>,
        watch: &mut Watch,
    ) -> Result<CpuEngine<GaussKernel<'s>>> {
        let (alpha, pool) = (self.alpha, self.held.pool.clone());
        // The first call copies them.
        self.watched(|engine| engine.on_host(gauss, watch).map(drop))?;
        let gauss = self.on_host(gauss, &mut |_| Ok(()))?;
        Ok(CpuEngine::new(GaussKernel::new(gauss, alpha), pool))
    }

    /// Returns the test on the host, for the few questions that are answered there. Correlations of data are copied from the GPU, once.
    pub(in crate::engine::cuda) fn on_host<'s>(
        &'s mut self,
        gauss: &Gaussian<'s>,
        watch: &mut Watch,
    ) -> Result<Gauss<'s>> {
        let cells = match gauss.source {
            Source::Matrix(matrix) => matrix,
            Source::Data(x, n) => {
                if self.brought.is_empty() {
                    let made = self.make_correlations(gauss, watch);
                    let mut cells = memory::zeros(gauss.p * gauss.p, Use::Correlations)?;
                    match made {
                        Err(error) if error.is_short_of_device_memory() => {
                            by_rows(&mut self.held, &Centred::of_cells(x, n), &mut cells, watch)?;
                        }
                        made => {
                            made?;
                            let from = self.place_correlations(gauss)?;
                            self.held.bring_into(from, &mut cells, &mut || watch(1.0))?;
                        }
                    }
                    self.brought = cells;
                }
                &self.brought
            }
        };
        Gauss::new(by_column(cells, gauss.p)?, gauss.test.n(), gauss.test.reading())
    }
}
