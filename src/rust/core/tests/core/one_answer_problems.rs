//! The rows of the table of [`one_answer`](crate::one_answer): recorded, random and measured data for each test.

use crate::one_answer::{Problem, Task, Test};
use crate::support::discrete::{self, RULES};
use crate::support::frames::Shape;
use crate::support::golden::{cases, number};
use crate::support::mixed::{settings, Made};
use crate::support::problems::{correlation_matrix, dense_problem, less_means, problem, samples, Random};
use crate::support::selection::{recorded, simulated, sparse_and_dense};
use pcgpu_core::ci::discrete::{Coded, Rule, Statistic};
use pcgpu_core::ci::features::{Form, KernelTest, Settings};
use pcgpu_core::ci::knn::Estimator;
use pcgpu_core::engine::cpu::selection::encode;
use pcgpu_core::graph::Tiers;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::selection::discretise::{Bins, Column, Discretise};
use pcgpu_core::selection::Criterion;

const SACHS: &str = include_str!("../../../../../inst/extdata/sachs.csv");

/// Returns the measured proteins (inst/extdata/README.md) of every `step`th cell, column by column.
fn sachs(step: usize) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = SACHS
        .lines()
        .skip(1)
        .step_by(step)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
}

/// Returns columns as levels, by their thirds.
fn thirds(columns: &[Vec<f64>]) -> Vec<i32> {
    let third = |column: &Vec<f64>| {
        let mut sorted = column.clone();
        sorted.sort_by(f64::total_cmp);
        let [first, second] = [1, 2].map(|k| sorted[k * sorted.len() / 3]);
        column.iter().map(|v| i32::from(*v >= first) + i32::from(*v >= second)).collect::<Vec<i32>>()
    };
    columns.iter().flat_map(third).collect()
}

/// Adds tiers, with the last variables in the first tier. Returns `None` for "stable.fast", which has no tiers. Of a few problems only "stable"
/// ones get tiers, because the other methods ask GPUs the same questions.
fn tiered(size: Size, options: &Options) -> Option<Options> {
    if size == Size::Few && options.method != Method::Stable {
        return None;
    }
    let tiers: Vec<f64> = (0..options.p).map(|v| ((options.p - 1 - v) * 3 / options.p) as f64).collect();
    (options.method != Method::StableFast).then(|| Options { tiers: Tiers::of(&tiers), ..options.clone() })
}

const METHODS: [Method; 3] = [Method::Stable, Method::StableFast, Method::Original];

/// The number of problems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    All,
    /// Some of each kind, which do not take an emulated GPU minutes.
    Few,
}

/// Returns recorded, random and measured data for each test.
pub fn problems(size: Size) -> Vec<Problem> {
    let [gaussian, of_data, discrete] = [gaussian(size), of_data(size), discrete_tests(size)];
    let [neighbours, mixed, features] = [neighbours(size), numbers_and_levels(size), features(size)];
    [gaussian, of_data, discrete, neighbours, mixed, features, selections(size)].into_iter().flatten().collect()
}

pub fn gaussian(size: Size) -> Vec<Problem> {
    let mut all = Vec::new();
    for case in cases("gauss-") {
        if case.p() > if size == Size::Few { 12 } else { 40 } {
            continue;
        }
        for (method, _) in case.answers() {
            let test = Test::Gauss { c: case.correlations(), n: case.n() };
            all.push(Problem::search(&case.name, test, case.options(method)));
        }
    }
    let random =
        (0..if size == Size::Few { 9 } else { 18 }).map(|number| (format!("problem {number}"), problem(number)));
    // The last one is the smallest.
    let dense = if size == Size::Few { 3..4 } else { 1..4 };
    let dense = dense.map(|number| (format!("dense {number}"), dense_problem(number)));
    for (name, problem) in random.chain(dense) {
        all.push(Problem::search(name, Test::Gauss { c: problem.c, n: problem.n }, problem.options));
    }
    let columns = sachs(1);
    for method in METHODS {
        let test = || Test::Gauss { c: correlation_matrix(&columns), n: columns[0].len() as f64 };
        let options = Options { method, ..Options::new(columns.len(), 0.01) };
        all.extend(tiered(size, &options).map(|options| Problem::search("sachs in tiers", test(), options)));
        all.push(Problem::search("sachs", test(), options));
    }
    // Asymmetric correlations are left out because blocks refuse them; `blocks_cuda` tests that.
    all.retain(|problem| match &problem.task {
        Task::Search(Test::Gauss { c, .. }, options) => {
            let p = options.p;
            (0..p * p).all(|at| c[at] == c[at % p * p + at / p] || c[at].is_nan())
        }
        _ => true,
    });
    all
}

fn of_data(size: Size) -> Vec<Problem> {
    let mut all = Vec::new();
    let shapes = [(23, 300, 0.1, 0.05), (90, 60, 0.03, 0.05), (70, 40, 0.1, 0.01), (260, 80, 0.004, 0.01)];
    let shapes = &shapes[..if size == Size::Few { 2 } else { 4 }];
    let random = shapes.iter().map(|&(p, n, density, alpha)| {
        (format!("data {p} x {n}"), samples(&mut Random(p as u64), p, n, density, 0.0), alpha)
    });
    for (name, columns, alpha) in random.chain([("data sachs".into(), sachs(1), 0.01)]) {
        for method in METHODS {
            let options = Options { method, m_max: 4.0, ..Options::new(columns.len(), alpha) };
            let test = || Test::GaussOfData { cells: less_means(&columns), n: columns[0].len() };
            all.extend(
                tiered(size, &options).map(|options| Problem::search(format!("{name} in tiers"), test(), options)),
            );
            all.push(Problem::search(&name, test(), options));
        }
    }
    all
}

fn discrete_tests(size: Size) -> Vec<Problem> {
    let mut all = Vec::new();
    let recorded = cases("dis-").into_iter().chain(cases("bin-")).filter(|case| case.p() <= 8 || size == Size::All);
    for case in recorded {
        let rule = Rule::Pcalg { adapt: case.json["adaptDF"].as_bool().unwrap() };
        for (method, _) in case.answers() {
            let test = Test::Discrete { data: case.coded(), statistic: Statistic::G2, rule };
            all.push(Problem::search(&case.name, test, case.options(method)));
        }
    }
    for number in 0..if size == Size::Few { 6 } else { 12 } {
        let mut random = Random(number * 977 + 5);
        let p = 3 + random.below(if size == Size::Few { 5 } else { 10 });
        let missing = if random.uniform() < 0.3 { 0.03 } else { 0.0 };
        let data = discrete::problem(&mut random, p, if size == Size::Few { 100 } else { 500 }, missing).coded();
        let (statistic, rule) = ([Statistic::G2, Statistic::X2][number as usize / 3 % 2], RULES[number as usize % 4]);
        let options = Options { method: METHODS[number as usize % 3], ..Options::new(p, [0.01, 0.2][random.below(2)]) };
        all.push(Problem::search(format!("discrete {number}"), Test::Discrete { data, statistic, rule }, options));
    }
    let columns = sachs(if size == Size::Few { 8 } else { 1 });
    for (method, statistic) in METHODS.into_iter().zip([Statistic::G2, Statistic::X2, Statistic::G2]) {
        let codes = thirds(&columns);
        let p = columns.len();
        let test = || {
            let data = Coded::new(by_column(&codes, p).unwrap(), &vec![3; p], false).unwrap();
            Test::Discrete { data, statistic, rule: Rule::Bnlearn { adapt: false } }
        };
        let options = Options { method, ..Options::new(p, 0.01) };
        all.extend(tiered(size, &options).map(|options| Problem::search("discrete sachs in tiers", test(), options)));
        all.push(Problem::search("discrete sachs", test(), options));
    }
    all
}

fn neighbours(size: Size) -> Vec<Problem> {
    let mut all = Vec::new();
    let (n, permutations) = if size == Size::Few { (30, 5) } else { (80, 20) };
    let mut add = |name: String, made: Made, estimator, alpha| {
        for method in METHODS {
            let options = Options { method, m_max: 3.0, ..Options::new(made.discrete.len(), alpha) };
            let test = || Test::Knn(Box::new(made.knn(settings(estimator, 4, permutations))));
            all.extend(
                tiered(size, &options).map(|options| Problem::search(format!("{name} in tiers"), test(), options)),
            );
            all.push(Problem::search(&name, test(), options));
        }
    };
    for (seed, estimator, p) in
        [(1, Estimator::FrenzelPompe, 6), (2, Estimator::MesnerShalizi, 5), (3, Estimator::Gao, 4)]
    {
        let made = Made::new(seed, n, p, estimator != Estimator::FrenzelPompe, false);
        add(format!("neighbours {estimator:?}"), made, estimator, 0.6);
    }
    // The recorded estimates are of single tests. Here their data are searched.
    for file in cases("cmiknn-cont-S2") {
        let rows = file.json["cases"][0]["data"].as_array().unwrap();
        let data = (0..4).flat_map(|column| rows.iter().take(n).map(move |row| number(&row[column]))).collect();
        add(format!("neighbours {}", file.name), Made { data, discrete: vec![false; 4] }, Estimator::FrenzelPompe, 0.3);
    }
    let columns: Vec<Vec<f64>> = sachs(853 / n).into_iter().take(5).collect();
    let made = Made { data: columns.concat(), discrete: vec![false; 5] };
    add("neighbours sachs".into(), made, Estimator::FrenzelPompe, 0.05);
    all
}

fn numbers_and_levels(size: Size) -> Vec<Problem> {
    let (n, p) = if size == Size::Few { (80, 5) } else { (400, 9) };
    let mut all = Vec::new();
    for (name, levels, missing, sets) in [
        ("numbers and levels", [0, 3], 0.0, 1),
        ("numbers and levels with holes", [0, 2], 0.05, 1),
        ("numbers with holes", [0, 0], 0.05, 1),
        ("completed numbers and levels", [3, 0], 0.05, 3),
    ] {
        let shape = Shape { n, levels: (0..p).map(|at| levels[at % 2]).collect(), missing, sets };
        for method in [Method::Stable, Method::Original] {
            let options = Options { method, m_max: 3.0, ..Options::new(p, 0.05) };
            let test = || Test::Mixed(shape.test(p as u64, true));
            all.extend(
                tiered(size, &options).map(|options| Problem::search(format!("{name} in tiers"), test(), options)),
            );
            all.push(Problem::search(name, test(), options));
        }
    }
    all
}

fn features(size: Size) -> Vec<Problem> {
    let (n, p, given) = if size == Size::Few { (60, 5, 10) } else { (300, 12, 40) };
    let mut all = Vec::new();
    for (form, levels, missing) in [(Form::Rcot, [0, 0], 0.0), (Form::Rcit, [0, 3], 0.0), (Form::Rcot, [0, 2], 0.05)] {
        let shape = Shape { n, levels: (0..p).map(|at| levels[at % 2]).collect(), missing, sets: 1 };
        let names: Vec<u32> = (0..p as u32).collect();
        let test = || {
            let settings = Settings { form, sides: 5, given, seed: 7 };
            Test::Features(Box::new(KernelTest::new(shape.frame(p as u64), &names, settings).unwrap()))
        };
        let options = Options { m_max: 3.0, ..Options::new(p, 0.05) };
        let name = format!("{form:?} of {levels:?}, missing {missing}");
        all.extend(tiered(size, &options).map(|options| Problem::search(format!("{name} in tiers"), test(), options)));
        all.push(Problem::search(name, test(), options));
    }
    all
}

fn selections(size: Size) -> Vec<Problem> {
    let mut all = Vec::new();
    // Measured (lung_small, colon, glioma) and simulated data.
    let recordings = if size == Size::Few { cases("jmi-lung") } else { cases("jmi-") };
    for case in recordings.iter().filter(|case| case.json["p"].as_u64() <= Some(2000)) {
        all.push(Problem::selection(
            &case.name,
            recorded(case),
            Criterion::Jmi,
            if size == Size::Few { 4 } else { 12 },
        ));
    }
    for criterion in Criterion::ALL {
        let random = simulated(if size == Size::Few { 60 } else { 900 }, 40, 9, 3, 5);
        all.push(Problem::selection("simulated", random, criterion, 6));
        let [sparse, _] = sparse_and_dense(if size == Size::Few { 80 } else { 1200 }, 30, 1);
        all.push(Problem::selection("sparse", sparse, criterion, 6));
    }
    let columns = sachs(1);
    let features: Vec<Column> = columns[1..].iter().map(|column| Column::Doubles(column)).collect();
    let codes = thirds(&columns[..1]);
    let bins = Discretise::EqualFrequency(Bins { count: 4, kept_levels: 3 });
    let samples = encode(columns[0].len(), &features, Column::Integers(&codes), bins, 2, &mut Unobserved).unwrap();
    all.push(Problem::selection("selection sachs", samples, Criterion::Mrmr, 5));
    all
}
