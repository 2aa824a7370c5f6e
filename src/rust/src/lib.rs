//! The boundary between R and [`pcgpu_core`]: slices and scalars in, one list out.
//!
//! * [`api`], [`api_assessment`], [`api_blocks`], [`api_effects`], [`api_orientation`], [`api_pag`], [`api_ranks`], [`api_stability`], [`api_tests`], [`api_workers`]: the
//!   functions that R calls.
//! * [`failure`]: what can go wrong, as a list that R turns into a classed condition.
//! * [`test`]: the test of a search. [`discrete`]: discrete data and their tests.
//! * [`correlation`]: correlations of data.
//! * [`running`]: correlations of rows that come block by block. [`data_file`]: data in files that processes share.
//! * [`knn`]: the nearest-neighbour test. [`mixed`]: tests of numbers and levels, and of data with holes.
//! * [`selection`]: feature selection.
//! * [`effects`]: causal effects. [`assessment`]: how far graphs can be trusted. [`simulation`]: random graphs and data.
//! * [`stability`]: how often resampled data have an edge.
//! * [`session`]: calls back into R: tests, progress, interrupts, random numbers. [`token`]: R's jumps out of
//!   them, stopped and resumed.
//! * [`orientation`]: how a skeleton is oriented. [`pag`]: what is known where variables are hidden.
//! * [`limits`]: when a search ends, and where it is kept.
//! * [`machine`]: what a call runs on; [`gpu`]: one GPU; [`cluster`]: other processes, [`sockets`]: of
//!   their connections; [`workers`]: those that are this session's own.
//! * [`input`], [`output`]: R objects to core types and back; [`altrep`]: before they are read; [`value`]: what is returned; [`compact`]: results as flat
//!   arrays.

mod altrep;
mod api;
mod api_assessment;
mod api_blocks;
mod api_effects;
mod api_orientation;
mod api_pag;
mod api_ranks;
mod api_stability;
mod api_tests;
mod api_workers;
mod assessment;
mod checked;
mod cluster;
mod compact;
mod compact_sets;
mod correlation;
mod data_file;
mod discrete;
mod doubts;
mod effects;
mod failure;
#[cfg_attr(not(all(feature = "cuda", not(target_os = "macos"))), path = "no_gpu.rs")]
mod gpu;
mod input;
mod knn;
mod limits;
mod machine;
mod mixed;
mod orientation;
mod output;
mod pag;
mod running;
mod selection;
mod session;
mod simulation;
mod sockets;
mod stability;
mod test;
mod token;
mod value;
mod workers;

/// Its reserve is for the small allocations that cannot fail without ending R.
#[global_allocator]
static ALLOCATOR: pcgpu_core::memory::Careful = pcgpu_core::memory::Careful;
