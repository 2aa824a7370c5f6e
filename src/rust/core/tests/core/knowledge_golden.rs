//! tpc 1.0's recorded answers on tiers, on 1, 2 and 4 threads, one test at a time, and by other processes.

use crate::support::golden::{cases_in, Case};
use crate::support::ranks::{with_ranks, Manner};
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::CiTest;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel, Kernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method};

/// Compares the skeletons of a case; how many calls it has.
fn compare<K: Kernel>(case: &Case, kernel: impl Fn() -> K + Sync, test: &mut dyn CiTest) -> usize {
    let calls = case.json["tskeleton"].as_array().unwrap();
    for call in calls {
        let method = match call["method"].as_str().unwrap() {
            "stable" => Method::Stable,
            "original" => Method::Original,
            other => panic!("{other}"),
        };
        let options = case.options_of(call, method);
        let mut p_max = vec![0.0; case.p() * case.p()];
        for (threads, shard_tests) in [(1, 1 << 16), (2, 5), (4, 1)] {
            let mut engine = CpuEngine::with_shards(kernel(), threads, shard_tests);
            let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
            case.check(&format!("{method:?} on {threads} threads"), call, &found, &p_max);
        }
        let found = skeleton_one_by_one(test, &options, &mut p_max, &mut Unobserved).unwrap();
        case.check(&format!("{method:?} one at a time"), call, &found, &p_max);
        let found = with_ranks(
            &[Manner::Sound; 2],
            |run| run(&mut CpuEngine::with_shards(kernel(), 1, 7)),
            |cluster| skeleton(cluster, &options, &mut p_max, &mut Unobserved).unwrap(),
        );
        case.check(&format!("{method:?} by two processes"), call, &found, &p_max);
    }
    calls.len()
}

#[test]
fn tiers_of_the_gaussian_test() {
    let mut compared = 0;
    for case in cases_in("knowledge", "tier-").iter().filter(|case| case.json["kind"] == "gauss") {
        let c = case.correlations();
        let gauss = Gauss::new(by_column(&c, case.p()).unwrap(), case.n(), Reading::GaussCItest).unwrap();
        let alpha = case.options(Method::Stable).alpha;
        compared += compare(case, || GaussKernel::new(gauss, alpha), &mut gauss.clone());
    }
    assert!(compared >= 100, "{compared}");
}

#[test]
fn tiers_of_discrete_tests() {
    let mut compared = 0;
    for case in cases_in("knowledge", "tier-").iter().filter(|case| case.json["kind"] == "dis") {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        compared += compare(case, || DiscreteKernel::new(test), &mut test.clone());
    }
    assert!(compared >= 20, "{compared}");
}
