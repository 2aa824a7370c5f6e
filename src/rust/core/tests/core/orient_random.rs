//! Compares with pcalg on random skeletons with random, mostly inconsistent separating sets. They have cases that real data rarely give, such as
//! conflicts, graphs without an extension, several tries, and ambiguous triples.
//!
//! `support/record-orientation.R` recorded `tests/golden/orient-random.json.gz` with pcalg 2.7-12. Set `PCGPU_ORIENT_CASES` to test a longer
//! recording.

use crate::support::golden::{files, read_json};
use crate::support::orient::{entries, integers, number, rows, sepsets, skeleton, Batched, RRandom};
use pcgpu_core::ci::CiTest;
use pcgpu_core::graph::{Adjacency, SepSets};
use pcgpu_core::orient::{orient, ColliderRule, Method, Options, Pdag};
use pcgpu_core::Result;
use serde_json::Value;

/// The arbitrary test of the recording. It counts its questions and hashes their order.
struct HashTest {
    seed: u64,
    asked: u64,
    hash: u64,
}

impl HashTest {
    fn new(seed: u64) -> Self {
        HashTest { seed: seed % 65521, asked: 0, hash: seed % 65521 }
    }
}

impl CiTest for HashTest {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let question = [x as u64, y as u64].into_iter().chain(s.iter().map(|&v| u64::from(v)));
        let h = question.fold(self.seed, |h, v| (h * 1103 + (v + 1) * 7919 + 13) % 65521);
        self.asked += 1;
        self.hash = (self.hash * 31 + h) % 65521;
        Ok(h as f64 / 65521.0)
    }
}

struct Case {
    name: String,
    seed: u32,
    graph: Adjacency,
    sets: SepSets,
    ambiguous: Vec<[u32; 3]>,
    rules: [bool; 3],
}

fn case(value: &Value) -> Case {
    let (k, p) = (number(&value["k"]) as u32, number(&value["p"]) as usize);
    let triple = |t: &Value| integers(t).iter().map(|v| v - 1).collect::<Vec<_>>().try_into().unwrap();
    let rules: Vec<bool> = value["rules"].as_array().unwrap().iter().map(|r| r.as_bool().unwrap()).collect();
    Case {
        name: format!("case {k}"),
        seed: k,
        graph: skeleton(p, integers(&value["edges"]).chunks(2).map(|e| [e[0], e[1]])),
        sets: sepsets(p, value["sepset"].as_array().unwrap().iter().map(integers)),
        ambiguous: value["unf"].as_array().unwrap().iter().map(triple).collect(),
        rules: rules.try_into().unwrap(),
    }
}

fn flat(pdag: &Pdag) -> Vec<u32> {
    rows(pdag).concat()
}

fn check_relaxed(case: &Case, answers: &Value) {
    let none = Vec::new;
    let unf = || case.ambiguous.clone();
    let all = [true; 3];
    let variants = [
        ("relaxed", false, none(), all, true),
        ("relaxed_confl", true, none(), all, true),
        ("relaxed_unf", false, unf(), all, true),
        ("relaxed_confl_unf", true, unf(), all, true),
        ("rules", false, none(), case.rules, true),
        ("rules_confl_unf", true, unf(), case.rules, true),
        ("no_collider", false, none(), all, false),
    ];
    for (variant, solve_conflicts, ambiguous, rules, orient_colliders) in variants {
        let options = Options { solve_conflicts, ambiguous, rules, orient_colliders, ..Options::default() };
        let mut never = |_| panic!("relaxed draws no random numbers");
        let found = orient(&case.graph, &mut case.sets.clone(), &options, 0.0, None, &mut never).unwrap();
        assert_eq!(flat(&found), integers(&answers[variant]), "{} {variant}", case.name);
    }
}

fn check_random(case: &Case, answers: &Value) {
    for (variant, method) in [("rand", Method::Rand), ("retry", Method::Retry)] {
        let mut random = RRandom::set_seed(case.seed);
        let options = Options { method, ..Options::default() };
        let mut permutation = |k| Ok(random.permutation(k));
        let found = orient(&case.graph, &mut case.sets.clone(), &options, 0.0, None, &mut permutation).unwrap();
        assert_eq!(flat(&found), integers(&answers[variant]["amat"]), "{} {variant}", case.name);
        // Exactly as many random numbers were drawn as pcalg draws.
        let next = random.index(1_000_000) + 1;
        assert_eq!(next, number(&answers[variant]["next_unif"]) as u32, "{} {variant}: random numbers", case.name);
    }
}

fn check_judged(case: &Case, alpha: f64, answer: &Value) {
    let majority = answer["maj"][0].as_bool().unwrap();
    let version = integers(&answer["v"]);
    let name = format!("{} majority {majority} version.unf {version:?}", case.name);
    for (solve_conflicts, expected) in [(false, &answer["plain"]), (true, &answer["confl"])] {
        let options = Options {
            collider_rule: if majority { ColliderRule::Majority } else { ColliderRule::Conservative },
            version_unf: [version[0] as u8, version[1] as u8],
            solve_conflicts,
            ..Options::default()
        };
        let mut single = HashTest::new(u64::from(case.seed));
        let mut batched = Batched(HashTest::new(u64::from(case.seed)), 7);
        let tests: [&mut dyn CiTest; 2] = [&mut single, &mut batched];
        for test in tests {
            let mut sets = case.sets.clone();
            let mut never = |_| panic!("relaxed draws no random numbers");
            let found = orient(&case.graph, &mut sets, &options, alpha, Some(test), &mut never).unwrap();
            assert_eq!(flat(&found), integers(expected), "{name}");
            let changed: Vec<Vec<u32>> = answer["sepset"].as_array().unwrap().iter().map(integers).collect();
            assert_eq!(entries(&sets), changed, "{name}: sepset");
        }
        let asked = (single.asked, single.hash);
        assert_eq!(asked, (number(&answer["nq"]) as u64, number(&answer["hash"]) as u64), "{name}: questions");
    }
}

#[test]
fn random_cases_as_pcalg_answers_them() {
    let path = std::env::var_os("PCGPU_ORIENT_CASES");
    let path = path.map_or_else(|| files("", "orient-random.json.gz").remove(0), Into::into);
    let recording = read_json(&path);
    let (mut retried, mut judged) = (0, 0);
    for value in recording.as_array().unwrap() {
        let case = case(value);
        check_relaxed(&case, &value["res"]);
        check_random(&case, &value["res"]);
        retried += usize::from(number(&value["res"]["retry"]["counter"]) > 0.0);
        for answer in value["cons"].as_array().into_iter().flatten() {
            check_judged(&case, number(&value["alpha"]), answer);
            judged += 1;
        }
    }
    assert!(retried + judged > 0, "the recording holds nothing to retry and nothing to judge");
}
