//! Settings of feature selection on a GPU that take different paths through the kernels. The tests share them with `examples/selection.rs`,
//! which checks them under the sanitizers.

use pcgpu_core::engine::cuda::selection::{SelectionOptions, SelectionStrategy};

/// Returns settings for every form of the tables: in shared memory, in slices of it, or in device memory; read when full or added up stepwise;
/// and CUDA-JMI's own scheme.
pub fn ways() -> Vec<SelectionOptions> {
    let own = SelectionOptions::default();
    let joined = SelectionStrategy::Joined { threads: 3 };
    vec![
        own,
        SelectionOptions { stepwise_from: 0.0, ..own },
        SelectionOptions { stepwise_from: 1e6, ..own },
        SelectionOptions { shared_bytes: 0, ..own },
        SelectionOptions { shared_bytes: 20_000, ..own },
        SelectionOptions { shared_bytes: 20_000, stepwise_from: 0.0, ..own },
        SelectionOptions { shared_bytes: 20_000, stepwise_from: 1e6, ..own },
        SelectionOptions { shared_bytes: 0, stepwise_from: 0.0, ..own },
        SelectionOptions { strategy: joined, ..own },
        SelectionOptions { strategy: joined, shared_bytes: 0, ..own },
    ]
}
