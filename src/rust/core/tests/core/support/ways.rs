//! Ways to run feature selection on a GPU that take other paths through the kernels: shared by the tests and by
//! `examples/selection.rs`, which checks them under the sanitizers.

use pcgpu_core::engine::cuda::selection::{SelectionOptions, SelectionStrategy};

/// Every form of the tables: in shared memory, in slices of it, in device memory; read when full or added up stepwise; and
/// CUDA-JMI's own scheme.
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
