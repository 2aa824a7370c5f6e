//! Where the correlations of a search come from: the caller's matrix, or data of which the card makes them.

use std::ops::Range;
use std::sync::Arc;

use crate::ci::correlations::Check;
use crate::ci::gauss::{FisherZ, Gauss};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::opened::Card;
use crate::engine::cuda::gauss::correlation::{by_rows, make};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::matrix::by_column;
use crate::memory::{self, Use};
use crate::moments::{Centred, Watch};
use crate::Result;

/// Cells that have come to a card before it gives them to others, at least: 32 MB.
const GIVEN: usize = 4 << 20;

/// The Gaussian test of p variables, and what its correlations are made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct Gaussian<'a> {
    pub test: FisherZ,
    pub p: usize,
    pub source: Source<'a>,
    /// Of a matrix that somebody waits to have checked.
    pub check: Option<&'a Check<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) enum Source<'a> {
    /// The correlations themselves, p x p.
    Matrix(&'a [f64]),
    /// Data of n rows whose columns are centred, n x p.
    Data(&'a [f64], usize),
}

impl Gaussian<'_> {
    /// Bytes of the correlations.
    pub fn bytes(&self) -> u64 {
        8 * (self.p * self.p) as u64
    }
}

impl<'a> CudaEngine<'a> {
    /// Makes the correlations on the card where they come from data, once. The plan is then that of this.
    pub(in crate::engine::cuda) fn make_correlations(&mut self, gauss: &Gaussian, watch: &mut Watch) -> Result<()> {
        if let (Source::Data(x, n), None) = (gauss.source, self.correlations) {
            self.correlations = Some(make(&mut self.held, &Centred::of_cells(x, n), watch)?);
        }
        Ok(())
    }

    /// Where the correlations are on the card, to which a matrix is copied once. Those of data must have been made.
    pub(in crate::engine::cuda) fn place_correlations(&mut self, gauss: &Gaussian) -> Result<DevicePtr<f64>> {
        if let (Source::Matrix(matrix), None) = (gauss.source, self.correlations) {
            let at = self.held.device(Buffer::Data)?.cast();
            self.held.send(at, matrix)?;
            self.correlations = Some(at);
        }
        Ok(self.correlations.unwrap_or(DevicePtr::NULL))
    }

    /// Whether the correlations are in place on the card.
    pub(in crate::engine::cuda) fn has_correlations(&self) -> bool {
        self.correlations.is_some()
    }

    /// Copies a range of the cells of a matrix to the card, where others copy the rest; `is_all`: then all are there.
    pub(in crate::engine::cuda) fn place_part(
        &mut self,
        gauss: &Gaussian,
        cells: Range<usize>,
        is_all: bool,
    ) -> Result<()> {
        let at: DevicePtr<f64> = self.held.device(Buffer::Data)?.cast();
        if let Source::Matrix(matrix) = gauss.source {
            self.held.send(at.offset(cells.start as u64), &matrix[cells])?;
        }
        if is_all {
            self.correlations = Some(at);
        }
        Ok(())
    }

    /// Copies a range of the cells of a matrix to the card, and from there to the same cells of other cards' matrices at `places`, while more of it comes; whether
    /// all was given to all.
    ///
    /// # Safety
    /// These cards must have room for the matrix there, and leave these cells alone.
    pub(in crate::engine::cuda) unsafe fn place_and_give(
        &mut self,
        gauss: &Gaussian,
        cells: Range<usize>,
        places: &[(Arc<Card>, DevicePtr<f64>)],
    ) -> Result<bool> {
        let at: DevicePtr<f64> = self.held.device(Buffer::Data)?.cast();
        let Source::Matrix(matrix) = gauss.source else { return Ok(false) };
        let (mut given, mut is_given) = (0, true);
        let first = cells.start;
        self.held.send_telling(at.offset(first as u64), &matrix[cells.clone()], &mut |held, sent| {
            if sent - given < GIVEN && sent < cells.len() {
                return Ok(());
            }
            let from = (first + given) as u64;
            for (card, place) in places {
                // Whose fault it is shows when this card is waited for.
                is_given &= held.give_beside(place.offset(from), card, at.offset(from), sent - given).is_ok();
            }
            given = sent;
            Ok(())
        })?;
        self.held.synchronize("copying to the GPU")?;
        Ok(is_given)
    }

    /// Where the correlations are on the card, or are to be.
    pub(in crate::engine::cuda) fn place_of_correlations(&mut self) -> Result<DevicePtr<f64>> {
        match self.correlations {
            Some(at) => Ok(at),
            None => Ok(self.held.device(Buffer::Data)?.cast()),
        }
    }

    /// The test on the host, for the few questions that are answered there; those of data are brought from the card, once.
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
