//! Random DAGs and data of them, for trials of a search. What is drawn depends on the seed alone, not on threads.
//!
//! * `draws`: streams of random numbers. `dag`: graphs. `data`: data, of `parents`; `missing`: cells taken out of them.

mod dag;
mod data;
mod draws;
mod missing;
mod parents;

pub use dag::{random_dag, Dag, Model, Shape};
pub use data::{random_data, Kind, Sample};
pub use missing::{Mechanism, Missing};
