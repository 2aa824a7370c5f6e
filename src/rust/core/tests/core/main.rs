//! The tests of the core, in one program, so that it links once. Tests that need a GPU run only with `--ignored` or `--include-ignored`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod blocks_cuda;
mod checkpoint;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod checkpoint_cuda;
mod checkpoint_later;
mod cluster;
mod compact;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod discrete_cuda;
mod discrete_golden;
mod discrete_properties;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod driver;
mod effects_golden;
mod fci_golden;
mod features_cuda;
mod gauss_bounded;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod gauss_cuda;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod gauss_data_cuda;
mod gauss_golden;
mod gauss_properties;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod gauss_ways_cuda;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod gpus;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod knn_cuda;
mod knn_golden;
mod knn_properties;
mod knowledge_golden;
mod layers;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod memory_cuda;
mod minimal;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod mixed_cuda;
mod mixed_golden;
mod one_answer;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod one_answer_cuda;
mod one_answer_problems;
mod orient_golden;
mod orient_random;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod papers_cuda;
mod question_team;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod question_team_cuda;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod ranks_cuda;
mod selection_cluster;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod selection_cuda;
mod selection_golden;
mod selection_properties;
mod selection_replicates;
mod selection_shards;
mod stability;
mod sweep;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod sweep_cuda;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod team_cuda;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod unified_cuda;
