//! How stable the edges of a graph are: the PC algorithm on resampled data, and how often it finds each edge.
//!
//! * [`Source`]: the data from which rows are drawn; `drawn`: a replicate's data and its test.
//! * [`Search`]: skeleton and orientation of each replicate.
//! * [`Counts`]: results by pair. A replicate's graph is counted and dropped, so memory depends on the pairs that were adjacent at least
//!   once.
//! * [`run`], [`each()`]: replicates on threads, or one after the other on a machine.
//! * [`lower_bounds`]: causal effects from each replicate.
//!
//! A replicate's draws depend only on the seed and its number ([`Resampling`](crate::selection::Resampling)), and counts are sums. So the
//! answer does not depend on where and when replicates run.
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
