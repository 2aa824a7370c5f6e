//! pcgpu-core: causal structure learning with the PC algorithm, with the answers of `pcalg` 2.7-12. The crate does not depend on R.
//!
//! The layers. Each layer knows only the layers above it; tests/core/layers.rs enforces this.
//!
//! * [`memory`]: allocations that can fail. [`observer`]: how the caller follows a run.
//! * [`team`]: what machines that work together report about their work.
//! * [`random`]: counter-based random numbers. [`pool`]: the threads of a call. [`simd`]: code for the machine's widest registers.
//! * [`matrix`]: views of column-major matrices. [`numbers`]: columns of numbers.
//! * [`moments`]: correlations of data.
//! * [`file`]: a data file that processes share.
//! * [`graph`]: adjacency, neighbour lists, separating sets, subsets and their ranks.
//! * [`ci`]: conditional independence tests as plain functions.
//! * [`local`]: the neighbours of one variable.
//! * [`search`]: the skeleton phase, with every rule of pcalg. It knows neither the test nor the machine.
//! * [`selection`]: feature selection by mutual information. It does not know the machine either.
//! * [`orient`]: from a skeleton and its separating sets to a CPDAG.
//! * [`pag`]: from a skeleton to a partial ancestral graph, if variables may be hidden.
//! * [`fci`]: FCI, RFCI and FCI+, which learn partial ancestral graphs.
//! * [`flat`]: results of a search as flat arrays, for callers that store them.
//! * [`background`]: the user's background knowledge, for search and orientation.
//! * [`simulation`]: random DAGs, and data drawn from them.
//! * [`assessment`]: how far a graph can be trusted: false discoveries, implied independences, differences from another graph.
//! * [`effects`]: the causal effects that a CPDAG and covariances allow.
//! * [`engine`]: the workers, and the only scheduling. They answer the shards of a search, and count for a selection.
//! * [`stability`]: searches on resampled data, and how often they find each edge.
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
pub mod local;
pub mod matrix;
pub mod memory;
pub mod moments;
pub mod numbers;
pub mod observer;
pub mod orient;
pub mod pag;
mod panels;
pub mod planes;
pub mod pool;
pub mod random;
pub mod search;
pub mod selection;
pub mod simd;
pub mod simulation;
pub mod stability;
pub mod team;

pub use error::{reason, shown, DeviceError, DeviceKind, Error, FileError, FileKind, Result};
