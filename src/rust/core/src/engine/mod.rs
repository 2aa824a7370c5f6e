//! Workers: machines that answer the shards of a search, each with a test on it. Only this module schedules.

pub mod batched;
pub mod cluster;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dispatch;
mod level_one;
pub mod question_team;
pub mod replicates;
pub mod sequential;
pub mod shards;
pub mod team;

pub use level_one::LevelOne;
