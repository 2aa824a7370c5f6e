//! A build without CUDA, as on macOS, where no NVIDIA GPU runs: see `gpu.rs`.

use std::sync::Arc;

use extendr_api::prelude::*;
use ndarray::ArrayView2;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::gauss::{FisherZ, Gauss};
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::ci::mixed::Mixed;
use pcgpu_core::moments::{Centred, Watch};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::selection::{CountLogs, Counting, Member, Runner, Samples};
use pcgpu_core::team::Lost;
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

use crate::failure::Outcome;
use crate::value::Value;

/// A GPU, of which there is none.
#[derive(Clone)]
pub struct Gpu;

fn none<T>() -> Result<T> {
    Err(Error::Device(DeviceError {
        kind: DeviceKind::NoDriver,
        message: "this build of pcgpu has no GPU engine".into(),
        mend: "give device = \"cpu\"; GPUs work on Linux".into(),
    }))
}

impl Gpu {
    pub const SPEED: usize = 1;

    pub fn from_list(_engine: &List) -> Outcome<Self> {
        Ok(none()?)
    }

    pub fn names(&self, _all: bool) -> Vec<String> {
        Vec::new()
    }

    pub fn with_cpu(&self) -> bool {
        false
    }

    pub fn members<'a>(&self, _samples: &'a Samples, _logs: &'a CountLogs, _pool: &Pool) -> Vec<Member<'a>> {
        Vec::new()
    }

    pub fn runners<'a>(&self, _pool: &Pool) -> Vec<Runner<'a>> {
        Vec::new()
    }

    pub fn gauss<'a>(
        &self,
        _gauss: Gauss<'a>,
        _check: Option<&'a Check<'a>>,
        _alpha: f64,
        _pool: Pool,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        Ok(none()?)
    }

    pub fn discrete<'a>(&self, _test: Discrete<'a>, _alpha: f64, _pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        Ok(none()?)
    }

    pub fn knn<'a>(&self, _knn: &'a Knn, _pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        Ok(none()?)
    }

    pub fn mixed<'a>(&self, _test: Arc<Mixed<'a>>, _pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        Ok(none()?)
    }

    pub fn counting<'a>(
        &self,
        _samples: &'a Samples,
        _logs: &'a CountLogs,
        _pool: Pool,
    ) -> Outcome<Box<dyn Counting + 'a>> {
        Ok(none()?)
    }

    pub fn gauss_of_data<'a>(
        &self,
        _test: FisherZ,
        _x: ArrayView2<'a, f64>,
        _alpha: f64,
        _pool: Pool,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        Ok(none()?)
    }

    pub fn correlation(&self, _x: &Centred, _pool: &Pool, _cells: &mut [f64], _watch: &mut Watch) -> Result<Vec<Lost>> {
        none()
    }
}

pub fn devices(_all: bool) -> Outcome<Value> {
    Ok(none()?)
}

pub fn may_be_there() -> bool {
    false
}

pub fn release() {}

pub fn kernels() -> String {
    String::new()
}
