//! Compares orientations of recorded skeletons with pcalg's own answers.

use crate::support::golden::{cases, Case};
use crate::support::orient::{entries, integers, number, rows, sepsets, skeleton, Batched, RRandom};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::CiTest;
use pcgpu_core::graph::Form;
use pcgpu_core::matrix::by_column;
use pcgpu_core::orient::{orient, ColliderRule, Method, Options};
use serde_json::Value;

fn options(variant: &str) -> Options<'static> {
    let (way, confl) = match variant.strip_suffix("_solve.confl") {
        Some(way) => (way, true),
        None => (variant, false),
    };
    let (method, collider_rule) = match way {
        "relaxed" => (Method::Relaxed, ColliderRule::Standard),
        "conservative" => (Method::Relaxed, ColliderRule::Conservative),
        "maj.rule" => (Method::Relaxed, ColliderRule::Majority),
        "rand" => (Method::Rand, ColliderRule::Standard),
        "retry" => (Method::Retry, ColliderRule::Standard),
        other => panic!("unknown variant {other}"),
    };
    Options { method, collider_rule, solve_conflicts: confl, ..Options::default() }
}

fn entry(value: &Value) -> Vec<u32> {
    let mut entry = vec![number(&value["x"]) as u32, number(&value["y"]) as u32];
    entry.extend(integers(&value["S"]));
    entry
}

fn check(name: &str, case: &Value, variant: &str, expected: &Value, batch_size: usize) {
    let p = number(&case["p"]) as usize;
    let stable = &case["skeleton"]["stable"];
    let graph =
        skeleton(p, Form::of(p), stable["edges"].as_array().unwrap().iter().map(|e| [0, 1].map(|i| integers(e)[i])));
    let mut sets = sepsets(p, stable["sepset"].as_array().unwrap().iter().map(entry));
    let c: Vec<f64> = match case["C"].as_array() {
        Some(rows) => rows.iter().flat_map(|row| row.as_array().unwrap()).map(|v| v.as_f64().unwrap()).collect(),
        None => Vec::new(),
    };
    let gauss = (!c.is_empty())
        .then(|| Gauss::new(by_column(&c, p).unwrap(), number(&case["n"]), Reading::GaussCItest).unwrap());
    let mut test = gauss.map(|gauss| Batched(gauss, batch_size));
    let mut random = RRandom::set_seed(42);
    let found = orient(
        &graph,
        &mut sets,
        &options(variant),
        number(&case["alpha"]),
        test.as_mut().map(|test| test as &mut dyn CiTest),
        &mut |k| Ok(random.permutation(k)),
    )
    .unwrap();
    let amat: Vec<Vec<u32>> = expected["amat"].as_array().unwrap().iter().map(integers).collect();
    assert_eq!(rows(&found), amat, "{name} {variant}");
    if let Some(changed) = expected["sepset"].as_array() {
        let changed: Vec<Vec<u32>> = changed.iter().map(entry).collect();
        assert_eq!(entries(&sets), changed, "{name} {variant}: sepset");
    }
}

#[test]
fn every_variant_of_every_golden_case() {
    let (mut read, mut variants) = (0, 0);
    for Case { name, json: case } in cases("gauss-").into_iter().chain(cases("dsep-")) {
        let Some(answers) = case["pc_from_stable"].as_object() else {
            continue;
        };
        read += 1;
        for (variant, expected) in answers {
            for batch_size in [1, 100] {
                check(&name, &case, variant, expected, batch_size);
            }
            variants += 1;
        }
    }
    assert!(read >= 27 && variants >= 125, "{read} cases, {variants} variants");
}
