//! Feature selection by mutual information: the k of p discrete features that are most informative about a class.
//!
//! The method is greedy forward selection. The first feature has the largest I(f; y), and each further one has the largest score by a
//! [`Criterion`] given those selected. If scores are equal, the feature with the lowest index is taken; none is taken twice. A criterion
//! adds up terms of the pairs (candidate, selected feature). So a step needs only the tables of the candidates with the feature selected
//! last (González-Domínguez et al., CUDA-JMI, algorithm 3).
//!
//! * [`CountLogs`]: c log₂ c in fixed point. Entropies are sums of it over cells, hence whole numbers. They are the same on every machine
//!   and in any order, and equal scores are equal to the last bit.
//! * [`Counting`]: the task of an engine, those sums for all candidates and one [`Partner`]. A machine has a range of features (a shard)
//!   and never sees another's.
//! * [`Selector`]: the scores of a shard, and the best of them, a [`Choice`]. The largest choice of all shards is selected.
//! * [`select_each`]: several criteria on one machine, which counts a pair of features once for all of them.
//! * [`Machines`]: one machine, or several that select together (`engine::shards`).
//! * [`discretise`]: from numbers to codes.
//! * [`Resampling`]: samples drawn from samples, for ensembles of selections.

mod count_logs;
mod counting;
mod criterion;
pub mod discretise;
mod known;
mod resample;
mod samples;
mod select;
mod selector;

pub use count_logs::CountLogs;
pub use counting::{Counting, Joint, Partner, Sums};
pub use criterion::Criterion;
pub(crate) use known::MOST_KEPT;
pub use resample::{Resampling, Run, Runner};
pub use samples::{FeatureCodes, FeatureColumn, Samples, SparseVariable};
pub(crate) use select::{room, Step};
pub use select::{select, select_each, Machines, Maker, Member, Selection};
pub use selector::{Choice, Problem, Selector};
