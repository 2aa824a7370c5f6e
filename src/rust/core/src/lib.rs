//! pcgpu-core: causal structure learning with the PC algorithm, exact to `pcalg` 2.7-12.
//!
//! The layers, each knowing only those above it (tests/core/layers.rs holds them to it):
//!
//! * [`memory`]: what is done where there is not enough. [`observer`]: how the caller follows a run.
//! * [`team`]: what machines that work together say of it.
//! * [`random`]: random numbers by counter. [`pool`]: the threads of a call. [`simd`]: work in the registers that a machine has.
//! * [`matrix`]: views of matrices by column. [`numbers`]: columns of numbers.
//! * [`moments`]: correlations of data.
//! * [`file`]: data in a file that processes share.
//! * [`graph`]: adjacency, neighbour lists, separating sets, subsets and their ranks.
//! * [`ci`]: conditional independence tests as plain functions.
//! * [`search`]: the skeleton phase, with every rule of pcalg. It knows neither the test nor the machine.
//! * [`selection`]: feature selection by mutual information. It knows no machine either.
//! * [`orient`]: from a skeleton and its separating sets to a CPDAG.
//! * [`pag`]: from a skeleton to a partial ancestral graph, where variables may be hidden.
//! * [`fci`]: FCI, RFCI and FCI+, which make such graphs.
//! * [`flat`]: results of a search as flat arrays, for whoever keeps them.
//! * [`background`]: what a user knows before, for search and orientation.
//! * [`simulation`]: random DAGs, and data of them.
//! * [`assessment`]: how far a graph can be trusted: false discoveries, what it implies of data, what sets it apart from another.
//! * [`effects`]: the causal effects that a CPDAG and covariances allow.
//! * [`engine`]: the workers: the only place that schedules. They answer the shards of a search, and count for a selection.
//! * [`stability`]: searches on resampled data, and how often each edge is found.
//!
//! Vertices are numbered from 0 throughout; the boundary to R shifts by one.
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[cfg(all(feature = "cuda", target_os = "macos"))]
compile_error!("macOS has no NVIDIA GPU: build with --no-default-features");

pub mod assessment;
pub mod background;
pub mod ci;
pub mod effects;
pub mod engine;
mod error;
pub mod fci;
pub mod file;
pub mod flat;
pub mod graph;
pub mod matrix;
pub mod memory;
pub mod moments;
pub mod numbers;
pub mod observer;
pub mod orient;
pub mod pag;
pub mod planes;
pub mod pool;
pub mod random;
pub mod search;
pub mod selection;
pub mod simd;
pub mod simulation;
pub mod stability;
pub mod team;

pub use error::{shown, DeviceError, DeviceKind, Error, FileError, FileKind, Result};
