//! Compares feature selection on the CPU with scikit-feature's recorded answers.

use crate::support::golden::cases;
use crate::support::selection::{follow, recorded};
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::selection::CountLogs;

#[test]
fn recorded_selections() {
    let mut steps = 0;
    for case in cases("jmi-") {
        let samples = recorded(&case);
        let logs = CountLogs::new(samples.n());
        for threads in [1, 2, 4] {
            let mut counting = CpuCounting::new(&samples, &logs, 0..samples.p(), threads);
            steps += follow(&case, &samples, &logs, &mut counting);
        }
    }
    assert_eq!(steps, 3 * (50 * 3 + 20 * 2 + 30 * 2 + 40 * 2 + 35));
}
