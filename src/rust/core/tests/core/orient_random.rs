//! Compares with pcalg on random skeletons with random, mostly inconsistent separating sets. They have cases that real data rarely give, such as
//! conflicts, graphs without an extension, several tries, and ambiguous triples.
//!
//! `support/record-orientation.R` recorded `tests/golden/orient-random.json.gz` with pcalg 2.7-12. Set `PCGPU_ORIENT_CASES` to test a longer
//! recording.

use crate::support::golden::{files, read_json};
use crate::support::orient::{entries, integers, number, rows, sepsets, skeleton, Batched, RRandom};
use pcgpu_core::ci::CiTest;
use pcgpu_core::graph::{Adjacency, Form, SepSets, Side, Tiers};
use pcgpu_core::orient::{orient, ColliderRule, Knowledge, Method, Options, Pdag};
use pcgpu_core::pool::Pool;
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
        // Every other graph is kept as lists.
        graph: skeleton(
            p,
            if k % 2 == 0 { Form::Bits } else { Form::Lists },
            integers(&value["edges"]).chunks(2).map(|e| [e[0], e[1]]),
        ),
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

/// A linear congruential generator.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Returns a graph with enough edges for several threads, and separating sets with many members, so that few triples are colliders.
/// `is_plain`: no pair that the empty set separates has another set.
fn large_problem(p: usize, members: u64, is_plain: bool, draws: &mut Draws) -> (Adjacency, SepSets) {
    let (mut graph, mut sets) = (Adjacency::empty(p), SepSets::new(p, Side::Smaller));
    for (x, y) in (0..p).flat_map(|y| (0..y).map(move |x| (x, y))) {
        if draws.below(10) < 3 {
            graph.insert(x, y);
            continue;
        }
        let is_empty = draws.below(4) == 0 && members < p as u64;
        if is_empty {
            sets.insert_empty(x, y);
        }
        if !is_empty || !is_plain {
            let set: Vec<u32> = (0..p as u32).filter(|_| draws.below(p as u64) < members).collect();
            sets.insert(y, x, &set);
        }
    }
    (graph, sets)
}

#[test]
fn threads_give_the_answer_of_one() {
    let p = 260;
    let mut draws = Draws(5);
    let (mut directed, mut undirected) = (0, 0);
    for members in [1, p as u64 - 1, p as u64] {
        for is_plain in [false, true] {
            let (graph, sets) = large_problem(p, members, is_plain, &mut draws);
            assert!(graph.edge_count() > 1 << 13);
            let ambiguous: Vec<[u32; 3]> =
                (0..2000).map(|_| [0; 3].map(|_: u32| draws.below(p as u64) as u32)).collect();
            let barred = (0..40).map(|_| [0; 2].map(|_: u32| draws.below(p as u64) as u32)).collect();
            let knowledge = Knowledge::new(p, Tiers::default(), &[], barred);
            let variants = [
                Options::default(),
                Options { solve_conflicts: true, ambiguous: ambiguous.clone(), ..Options::default() },
                Options { method: Method::Valid, ambiguous, ..Options::default() },
                Options { method: Method::Rand, ..Options::default() },
                Options { knowledge, ..Options::default() },
            ];
            for options in variants {
                let answer = |pool: Pool, with_mixed: bool| {
                    let mut sets = sets.clone();
                    if with_mixed {
                        // A collection with such a pair takes no shortcut by empty sets. The pair is an edge, so that nothing changes.
                        let y = graph.neighbours(0).next().unwrap() as usize;
                        sets.insert_empty(0, y);
                        sets.insert(y, 0, &[]);
                    }
                    let options = Options { pool, ..options.clone() };
                    let mut permutation = |k: usize| Ok((0..k as u32).rev().collect());
                    orient(&graph, &mut sets, &options, 0.0, None, &mut permutation).unwrap()
                };
                let one = answer(Pool::none(), false);
                assert!(answer(Pool::new(3), false) == one && answer(Pool::none(), true) == one);
                directed += one.directed_count();
                undirected += one.undirected_count();
            }
        }
    }
    assert!(directed > 50_000 && undirected > 10_000, "{directed} {undirected}");
}
