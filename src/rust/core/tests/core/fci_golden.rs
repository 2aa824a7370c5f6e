//! Compares every field with pcalg 2.7-12's recorded answers for `fci()`, `rfci()` and `fciPlus()`, on 1, 2 and 4 threads and one test at a
//! time. Also compares its `udag2pag()` on graphs that have marks.

use crate::support::fci::{check, marks, pag_of, pooled, sepsets_of, triples, Call, Oracle};
use crate::support::golden::{cases_in, number, Case};
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel};
use pcgpu_core::fci::By;
use pcgpu_core::matrix::by_column;
use pcgpu_core::pag::{self, Unclear};
use pcgpu_core::search::Method;
use serde_json::Value;

/// Returns each recorded call: the function, its name and its answer. Calls that R refuses for their arguments, before any work, are left out.
fn calls(case: &Case) -> Vec<(&'static str, String, &Value)> {
    let mut calls = Vec::new();
    for function in ["fci", "rfci", "fciPlus"] {
        for (name, answer) in case.json[function].as_object().into_iter().flatten() {
            let is_refused = name.starts_with("err_") || (name == "adaptive" && answer["error"].is_string());
            if !is_refused {
                calls.push((function, format!("{function} {name}"), answer));
            }
        }
    }
    calls
}

#[test]
fn gaussian_cases() {
    let mut compared = 0;
    for case in cases_in("fci", "gauss-").into_iter().chain(cases_in("fci", "pop-")) {
        let (p, c) = (case.p(), case.correlations());
        for (function, name, answer) in calls(&case) {
            let call = Call { case: &case, args: &answer["args"] };
            let reading = match call.method() {
                Method::StableFast => Reading::StableFast,
                _ => Reading::GaussCItest,
            };
            let gauss = Gauss::new(by_column(&c, p).unwrap(), case.n(), reading).unwrap();
            // After the skeleton, pcalg asks its R function, whichever function ran the skeleton.
            for threads in [1, 2, 4] {
                let mut engine = CpuEngine::new(GaussKernel::new(gauss, call.options().alpha), threads);
                let run = call.run(function, &mut By::Worker(&mut engine));
                check(&case, &format!("{name} on {threads} threads"), answer, &run);
                compared += 1;
            }
            let run = call.run(function, &mut By::Test(&mut gauss.clone()));
            check(&case, &format!("{name}, one at a time"), answer, &run);
        }
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn discrete_cases() {
    let mut compared = 0;
    for case in cases_in("fci", "dis-") {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        for (function, name, answer) in calls(&case) {
            let call = Call { case: &case, args: &answer["args"] };
            for (threads, shard_tests) in [(1, 1 << 16), (2, 64), (4, 1)] {
                let mut engine = CpuEngine::with_shards(DiscreteKernel::new(test), threads, shard_tests);
                let run = call.run(function, &mut By::Worker(&mut engine));
                check(&case, &format!("{name} on {threads} threads"), answer, &run);
                compared += 1;
            }
            let run = call.run(function, &mut By::Test(&mut test.clone()));
            check(&case, &format!("{name}, one at a time"), answer, &run);
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn oracle_cases() {
    let mut compared = 0;
    for case in cases_in("fci", "dsep-") {
        for (function, name, answer) in calls(&case) {
            let call = Call { case: &case, args: &answer["args"] };
            let run = call.run(function, &mut By::Test(&mut Oracle::of(&case)));
            check(&case, &name, answer, &run);
            compared += 1;
        }
    }
    assert!(compared > 350, "{compared}");
}

fn options(call: &Value, p: usize) -> pag::Options<'static> {
    let mut options = pag::Options { rules: [false; 10], ..pag::Options::default() };
    let list = |value: &Value| -> Vec<usize> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(list) => list.iter().map(|v| number(v) as usize).collect(),
            one => vec![number(one) as usize],
        }
    };
    list(&call["rules"]).into_iter().for_each(|rule| options.rules[rule - 1] = true);
    // pcalg's number of a triple is k + p (j + p i), with all from 1.
    let triple = |number: usize| {
        let k = (number - 1) % p;
        let rest = (number - 1 - k) / p;
        let j = (rest - 1) % p;
        [(rest - 1 - j) / p - 1, j, k].map(|v| v as u32)
    };
    options.unclear = list(&call["unfVect"]).into_iter().map(triple).collect::<Unclear>();
    options.colliders = call["orientCollider"].as_bool().unwrap_or(true);
    options
}

#[test]
fn graphs_with_marks() {
    let mut compared = 0;
    for case in cases_in("fci", "marks-") {
        for (at, call) in case.json["calls"].as_array().unwrap().iter().enumerate() {
            let p = number(&call["p"]) as usize;
            let (pag, sets) = (pag_of(p, &call["input"]), sepsets_of(p, &call["sepset"]));
            let found = pag::orient_marked(pag, &sets, &options(call, p)).unwrap();
            assert_eq!(marks(&found), triples(&call["amat"]), "call {at}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn recorded_steps() {
    let mut compared = 0;
    let cases = ["gauss-", "dis-", "dsep-"].into_iter().flat_map(|kind| cases_in("fci", kind));
    for case in cases {
        let (p, steps) = (case.p(), &case.json["steps"]);
        let skeleton = &steps["skeleton"];
        let mut rows: Vec<[u32; 3]> = Vec::new();
        for edge in skeleton["edges"].as_array().unwrap() {
            let [x, y] = [0, 1].map(|i| number(&edge[i]) as u32);
            rows.extend([[x, y, 1], [y, x, 1]]);
        }
        rows.sort_unstable();
        let pag = pag_of(p, &serde_json::json!(rows));
        let sets = sepsets_of(p, pooled(&case, "sepset", &skeleton["sepset"]));
        for call in steps["udag2pag"].as_array().into_iter().flatten() {
            let found = pag::orient_marked(pag.clone(), &sets, &options(call, p)).unwrap();
            assert_eq!(marks(&found), triples(&call["amat"]), "{} {}", case.name, call["rules"]);
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}
