//! Samples for feature selection, and scores by their definitions.

use std::collections::HashMap;

use pcgpu_core::engine::cpu::selection::encode;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::selection::discretise::{Column, Discretise};
use pcgpu_core::selection::{CountLogs, Counting, Criterion, Samples, Selector};
use serde_json::Value;

use crate::support::golden::Case;
use crate::support::problems::Random;

/// Makes samples of integer columns as they are; the last column is the class.
pub fn samples_of(n: usize, columns: &[Vec<i32>]) -> Samples {
    let (class, features) = columns.split_last().unwrap();
    let features: Vec<Column> = features.iter().map(|column| Column::Integers(column)).collect();
    encode(n, &features, Column::Integers(class), Discretise::None, 2, &mut Unobserved).unwrap()
}

/// Simulates data with features that depend on the class, on one another, or on nothing.
pub fn simulated(n: usize, p: usize, levels: u32, classes: u32, seed: u64) -> Samples {
    let mut random = Random(seed);
    let mut below = |limit: u32| random.below(limit as usize) as i32;
    let class: Vec<i32> = (0..n).map(|_| below(classes)).collect();
    let mut columns: Vec<Vec<i32>> = Vec::new();
    for f in 0..p {
        let column = (0..n).map(|i| match (f % 5, below(4)) {
            // Some features have the same level in nearly all samples.
            (4, _) => {
                if below(20) == 0 {
                    below(levels)
                } else {
                    0
                }
            }
            (0, 0 | 1) => class[i] % levels as i32,
            (1, 0) if f > 1 => columns[f - 1][i],
            (2, 0) => (class[i] * 3 + below(3)) % levels as i32,
            _ => below(levels),
        });
        columns.push(column.collect());
    }
    columns.push(class);
    samples_of(n, &columns)
}

/// Simulates mostly sparse features and some dense ones, with one, few or many levels. The class depends on some of them. Returns the samples
/// twice: kept sparse, and dense.
pub fn sparse_and_dense(n: usize, p: usize, seed: u64) -> [Samples; 2] {
    let mut random = Random(seed);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for f in 0..p {
        let levels = [2, 5, 300][f % 3];
        let rare = [0, n / 60, n / 20, n / 9, n][f % 5].max(usize::from(f % 10 != 0));
        let mut column = vec![0.0; n];
        for _ in 0..rare {
            // The usual value is the smallest, the largest or neither.
            column[random.below(n)] = (random.below(levels) as f64) - [0.0, 400.0, 2.0][f % 7 % 3];
        }
        columns.push(column);
    }
    let class: Vec<i32> =
        (0..n).map(|i| (columns[3][i] > 0.0) as i32 + 2 * (columns[4][i] + columns[8][i] > 2.0) as i32).collect();
    let listed: Vec<(Vec<i32>, Vec<f64>)> = columns
        .iter()
        .map(|column| column.iter().enumerate().filter(|(_, &v)| v != 0.0).map(|(i, &v)| (i as i32, v)).unzip())
        .collect();
    let sparse: Vec<Column> = listed.iter().map(|(rows, values)| Column::Sparse { rows, values }).collect();
    let dense: Vec<Column> = columns.iter().map(|column| Column::Doubles(column)).collect();
    [sparse, dense]
        .map(|features| encode(n, &features, Column::Integers(&class), Discretise::None, 2, &mut Unobserved).unwrap())
}

/// Returns the samples of a recorded selection.
pub fn recorded(case: &Case) -> Samples {
    let whole = |value: &Value| value.as_i64().unwrap() as i32;
    let rows = case.json["X"].as_array().unwrap();
    let p = rows[0].as_array().unwrap().len();
    let mut columns: Vec<Vec<i32>> = (0..p).map(|f| rows.iter().map(|row| whole(&row[f])).collect()).collect();
    columns.push(case.json["class_codes"].as_array().unwrap().iter().map(whole).collect());
    samples_of(rows.len(), &columns)
}

/// Selects along the recorded path. Our choice must be the peer's or tied with it, as we take the lowest index; scores and relevances must
/// agree. Returns the number of steps.
pub fn follow(case: &Case, samples: &Samples, logs: &CountLogs, counting: &mut dyn Counting) -> usize {
    let mut selector = Selector::new(samples, logs, Criterion::Jmi, 0..samples.p());
    let steps = case.json["steps"].as_array().unwrap();
    for (at, step) in steps.iter().enumerate() {
        let label = format!("{}, step {at}", case.name);
        selector.prepare(counting, &mut Unobserved).unwrap();
        let best = selector.best().unwrap().feature;
        let score = selector.score(best);
        let tied: Vec<usize> =
            step["tied_within_1e_12"].as_array().unwrap().iter().map(|f| f.as_u64().unwrap() as usize).collect();
        assert!(tied.contains(&best), "{label}: {best} is not one of {tied:?}");
        let close = |ours: f64, theirs: &Value| (ours - theirs.as_f64().unwrap()).abs() < 1e-11;
        assert!(close(score, &step["score"]), "{label}: {score} for {}", step["score"]);
        let theirs = step["index"].as_u64().unwrap() as usize;
        let theirs = selector.choice(theirs);
        assert!(close(logs.bits(i128::from(theirs.relevance), 1), &step["mi"]), "{label}");
        selector.take(&theirs);
    }
    steps.len()
}

/// Returns the joint entropy in bits of some variables of the samples.
fn entropy(samples: &Samples, variables: &[usize]) -> f64 {
    let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
    let codes: Vec<Vec<u16>> = variables.iter().map(|&v| samples.codes(v).to_vec(samples.n())).collect();
    for i in 0..samples.n() {
        let key = codes.iter().map(|codes| u32::from(codes[i])).collect();
        *counts.entry(key).or_default() += 1;
    }
    let n = samples.n() as f64;
    counts.values().map(|&count| -(count as f64 / n) * (count as f64 / n).log2()).sum()
}

/// Returns the score of a feature by its criterion's formula, with each entropy counted on its own.
pub fn score_by_definition(samples: &Samples, criterion: Criterion, selected: &[usize], f: usize) -> f64 {
    let y = samples.class();
    let h = |variables: &[usize]| entropy(samples, variables);
    let relevance = h(&[f]) + h(&[y]) - h(&[f, y]);
    let shared = |a: usize, b: usize| 2.0 * (h(&[a]) + h(&[b]) - h(&[a, b])) / (h(&[a]) + h(&[b])).max(1e-300);
    // Whether the filter leaves out v, with `before` selected before v.
    fn is_out(v: usize, before: &[usize], y: usize, shared: &dyn Fn(usize, usize) -> f64) -> bool {
        let redundant_to =
            |(at, &s): (usize, &usize)| shared(v, s) >= shared(v, y) - 1e-13 && !is_out(s, &before[..at], y, shared);
        before.iter().enumerate().any(redundant_to)
    }
    if criterion == Criterion::Fcbf {
        return shared(f, y) - f64::from(u8::from(is_out(f, selected, y, &shared)));
    }
    if selected.is_empty() {
        return relevance;
    }
    let redundancy = |s: usize| h(&[f]) + h(&[s]) - h(&[f, s]);
    let conditional = |s: usize| h(&[f, y]) + h(&[s, y]) - h(&[y]) - h(&[f, s, y]);
    let loss = |s: usize| redundancy(s) - conditional(s);
    let sum = |term: &dyn Fn(usize) -> f64| selected.iter().map(|&s| term(s)).sum::<f64>();
    let count = selected.len() as f64;
    match criterion {
        Criterion::Mim => relevance,
        Criterion::Betagamma { beta, gamma } => {
            let [beta, gamma] = [beta, gamma].map(|weight| weight as f64 / Criterion::ONE as f64);
            relevance - beta * sum(&redundancy) + gamma * sum(&conditional)
        }
        Criterion::Fcbf => f64::NAN,
        Criterion::Mrmr => relevance - sum(&redundancy) / count,
        Criterion::Jmi => relevance - sum(&loss) / count,
        Criterion::Cmim => selected.iter().map(|&s| relevance - loss(s)).fold(f64::INFINITY, f64::min),
        Criterion::Disr => sum(&|s| (h(&[f, s]) + h(&[y]) - h(&[f, s, y])) / h(&[f, s, y])),
        Criterion::Icap => relevance - sum(&|s| loss(s).max(0.0)),
        Criterion::Cmi => {
            let with = |more: &[usize]| h(&[selected, more].concat());
            with(&[f]) + with(&[y]) - with(&[]) - with(&[f, y])
        }
    }
}
