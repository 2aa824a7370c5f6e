//! Compares with recorded answers of the nearest-neighbour peers: tigramite's CMIknn and CMIknnMixed, Mesner and Shalizi's knncmi, mCMIkNN, and
//! Gao et al.'s Mixed_KSG (shared/golden/cmiknn/README.md says what each does).

use crate::support::golden::{cases, number};
use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::engine::cpu::KnnKernel;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use serde_json::Value;

fn settings(estimator: Estimator, k: usize, transform: Transform) -> Settings {
    Settings { k, k_perm: 5, permutations: 500, estimator, transform, add_one: true, seed: 20_261, early_stop: None }
}

/// Returns the transform with this name, or `None` if its answers depend on how a peer orders equal values.
fn transform(name: &Value) -> Option<Transform> {
    match name.as_str().unwrap() {
        "none" => Some(Transform::None),
        "ranks" => Some(Transform::Ranks),
        "standardize" => Some(Transform::Standardize),
        _ => None,
    }
}

/// Returns the number of rows of a case, and its x, y, z1, ... column by column.
fn data(case: &Value) -> (usize, Vec<f64>) {
    let rows: Vec<Vec<f64>> = case["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(number).collect())
        .collect();
    let columns = rows[0].len();
    (rows.len(), (0..columns).flat_map(|column| rows.iter().map(move |row| row[column])).collect())
}

fn any_tie(n: usize, data: &[f64], discrete: &[bool]) -> bool {
    data.chunks_exact(n).zip(discrete).any(|(column, &discrete)| {
        let mut sorted = column.to_vec();
        sorted.sort_by(f64::total_cmp);
        !discrete && sorted.windows(2).any(|pair| pair[0] == pair[1])
    })
}

fn neighbour(value: &Value, n: usize) -> usize {
    let k = number(value);
    if k < 1.0 {
        ((k * n as f64) as usize).max(1)
    } else {
        k as usize
    }
}

#[test]
fn cmiknn_estimates() {
    let mut compared = 0;
    for file in cases("cmiknn-cont-").iter().chain(&cases("cmiknn-ties")) {
        for case in file.json["cases"].as_array().unwrap() {
            let (n, data) = data(case);
            let p = data.len() / n;
            let given: Vec<u32> = (2..p as u32).collect();
            for recorded in case["estimates"].as_array().unwrap() {
                let transform = transform(&recorded["transform"]).unwrap();
                let k = neighbour(&recorded["k"], n);
                let test = Knn::new(
                    by_column(&data, p).unwrap(),
                    &vec![false; p],
                    settings(Estimator::FrenzelPompe, k, transform),
                )
                .unwrap();
                let (found, wanted) = (test.estimate(0, 1, &given), number(&recorded["cmi"]));
                assert!((found - wanted).abs() < 1e-9, "{}: {found}, recorded {wanted}: {recorded}", file.name);
                assert_eq!(found, test.estimate(1, 0, &given));
                compared += 1;
            }
        }
    }
    assert!(compared >= 4 * 8 * 15 + 6 * 8, "{compared}");
}

#[test]
fn estimates_of_mixed_data() {
    let mut compared = [0; 4];
    for file in cases("cmiknn-mixed-") {
        for case in file.json["cases"].as_array().unwrap() {
            let (n, data) = data(case);
            let p = data.len() / n;
            let discrete: Vec<bool> =
                case["discrete"].as_array().unwrap().iter().map(|one| one.as_bool().unwrap()).collect();
            let tied = any_tie(n, &data, &discrete);
            let given: Vec<u32> = (2..p as u32).collect();
            for recorded in case["estimates"].as_array().unwrap() {
                let (Some(transform), true) = (transform(&recorded["transform"]), recorded["cmi"].is_number()) else {
                    continue;
                };
                let wanted = number(&recorded["cmi"]);
                let k = neighbour(&recorded["knn"], n);
                let estimate = |estimator, data: &[f64], discrete: &[bool]| {
                    Knn::new(by_column(data, discrete.len()).unwrap(), discrete, settings(estimator, k, transform))
                        .unwrap()
                        .estimate(0, 1, &given)
                };
                let none = transform == Transform::None;
                let (peer, found) = match (recorded["peer"].as_str().unwrap(), recorded["estimator"].as_str()) {
                    ("tigramite CMIknnMixed", Some("MS")) if !(tied && transform == Transform::Ranks) => {
                        // With an empty S, the peer uses ψ(n - 1) instead of ψ(n).
                        let less = if given.is_empty() { 1.0 / (n as f64 - 1.0) } else { 0.0 };
                        (0, estimate(Estimator::MesnerShalizi, &data, &discrete) - less)
                    }
                    ("hpi-epic mCMIkNN", _) if none => {
                        // The peer uses single precision, takes levels as numbers and cuts off negative estimates.
                        let cut: Vec<f64> = data.iter().map(|&value| f64::from(value as f32)).collect();
                        (1, estimate(Estimator::MesnerShalizi, &cut, &vec![false; p]).max(0.0))
                    }
                    ("knncmi", _) if number(&recorded["discrete_dist"]) == 1.0 => {
                        (2, estimate(Estimator::MesnerShalizi, &data, &discrete))
                    }
                    // The peer takes levels as numbers.
                    ("mixed_KSG", _) => (3, estimate(Estimator::Gao, &data, &vec![false; p])),
                    _ => continue,
                };
                assert!((found - wanted).abs() < 1e-9, "{}: {found}, recorded {wanted}: {recorded}", file.name);
                compared[peer] += 1;
            }
        }
    }
    assert!(compared.iter().zip([280, 100, 60, 30]).all(|(&found, least)| found >= least), "{compared:?}");
}

/// Compares p-values of 500 permutations with tigramite's of 500, whichever of x and y it permuted. Each p has the error sqrt(p (1 - p) / 500).
#[test]
fn cmiknn_p_values() {
    let mut compared = 0;
    for file in cases("cmiknn-pvalues") {
        for case in file.json["cases"].as_array().unwrap() {
            let (n, data) = data(case);
            let p = data.len() / n;
            let swapped = [&data[n..2 * n], &data[..n], &data[2 * n..]].concat();
            let given: Vec<u32> = (2..p as u32).collect();
            for recorded in case["tests"].as_array().unwrap() {
                // Ours permutes the first of the two.
                let data = if recorded["permutes"] == "X" { &data } else { &swapped };
                let transform = transform(&recorded["transform"]).unwrap();
                let k = neighbour(&recorded["knn"], n);
                let test = Knn::new(
                    by_column(data, p).unwrap(),
                    &vec![false; p],
                    settings(Estimator::FrenzelPompe, k, transform),
                )
                .unwrap();
                let found = KnnKernel::new(&test).test(0, 1, &given, 2, &mut Unobserved).unwrap();
                let wanted = number(&recorded["p"]);
                let bound = 4.0 * (2.0 * wanted * (1.0 - wanted) / 500.0).sqrt() + 2.0 / 501.0;
                assert!((found.p - wanted).abs() < bound, "{}: {found:?}, recorded {recorded}", case["dim_z"]);
                // The peer adds noise, which may swap two ranks.
                assert!((found.estimate - number(&recorded["cmi"])).abs() < 5e-3, "{found:?}, recorded {recorded}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 21 * 3, "{compared}");
}
