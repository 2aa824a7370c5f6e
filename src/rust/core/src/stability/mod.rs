//! How stable the edges of a graph are: the PC algorithm on resampled data, and how often it finds each edge.
//!
//! * [`Source`]: the data that rows are drawn of; `drawn`: a replicate's data with its test on it.
//! * [`Search`]: what is done with each: skeleton and orientation.
//! * [`Counts`]: what has been found of each pair. A replicate's graph is counted and dropped, so that memory goes by the pairs that were
//!   adjacent at least once.
//! * [`run`], [`each()`]: replicates on threads, or one after the other on a machine.
//! * [`lower_bounds`]: what each says of causal effects.
//!
//! What a replicate draws depends on the seed and its number alone ([`Resampling`](crate::selection::Resampling)), and counts are sums: the answer
//! is one, whoever runs what and when.
//!
//! # References
//! * N. Friedman, M. Goldszmidt, A. Wyner (1999). Data analysis with Bayesian networks: a bootstrap approach. *UAI*, 196-205.
//! * N. Meinshausen, P. Buehlmann (2010). Stability selection. *JRSS B* 72, 417-473.

mod counts;
mod drawn;
mod effects;
mod run;
mod search;

pub use counts::{Counts, Edge};
pub use drawn::{Drawn, Source};
pub use effects::lower_bounds;
pub use run::{each, run, Machine, Replicates, Searched, Take};
pub use search::Search;
