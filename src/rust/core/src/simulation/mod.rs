//! Random DAGs and data from them, to try out searches. The draws depend only on the seed, not on threads.
//!
//! * `draws`: streams of random numbers. `dag`: graphs. `data`: data, from `parents`; `missing`: cells removed from the data.

mod dag;
mod data;
mod draws;
mod missing;
mod parents;

pub use dag::{random_dag, Dag, Model, Shape};
pub use data::{random_data, Kind, Sample};
pub use missing::{Mechanism, Missing};
