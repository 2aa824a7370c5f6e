//! Checks that counts over replicates are those of searching each replicate's data by itself.

use std::collections::BTreeMap;

use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::effects::{self, Asked, Kind, Plan};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel, KnnKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{self, correlation, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::orient::{self, orient, ColliderRule, Pdag};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::{Worker, WorkerTest};
use pcgpu_core::search::{skeleton, Options, PairValues};
use pcgpu_core::selection::Resampling;
use pcgpu_core::stability::{lower_bounds, run, Counts, Drawn, Edge, Machine, Replicates, Search, Source};
use pcgpu_core::{Error, Result};

/// Returns data of a chain with colliders, n x p, column by column. In the last column, one value differs from the others.
fn data(n: usize, p: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut noise = || {
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        (0..6).map(|_| unit()).sum::<f64>() - 3.0
    };
    let mut x: Vec<f64> = (0..n * p).map(|_| noise()).collect();
    for j in 1..p - 1 {
        for i in 0..n {
            x[j * n + i] += 0.5 * x[(j - 1) * n + i] + if j % 3 == 2 { 0.4 * x[(j - 2) * n + i] } else { 0.0 };
        }
    }
    (0..n).for_each(|i| x[(p - 1) * n + i] = f64::from(u8::from(i == 3)));
    x
}

fn graph(worker: &mut dyn Worker, options: &Options, of: &orient::Options) -> Pdag {
    let mut found = skeleton(worker, options, &mut PairValues::default(), &mut Unobserved).unwrap();
    let mut test = WorkerTest { worker, observer: &mut Unobserved };
    let mut never = |_| panic!("no permutation is drawn");
    orient(&found.graph, &mut found.sepsets, of, options.alpha, Some(&mut test), &mut never).unwrap()
}

/// Adds a graph to the counts, in the plainest way.
fn add(pdag: &Pdag, counts: &mut BTreeMap<[u32; 2], Edge>) {
    for y in 1..pdag.p() {
        for x in 0..y {
            let marks = (pdag.mark(x, y), pdag.mark(y, x));
            if marks == (0, 0) {
                continue;
            }
            let edge = counts.entry([x as u32, y as u32]).or_default();
            *match marks {
                (1, 0) => &mut edge.forward,
                (0, 1) => &mut edge.backward,
                (1, 1) => &mut edge.undirected,
                _ => &mut edge.bidirected,
            } += 1;
        }
    }
}

fn listed(counts: &Counts) -> BTreeMap<[u32; 2], Edge> {
    let edges = counts.edges().unwrap();
    assert!(edges.windows(2).all(|pair| pair[0].0 < pair[1].0));
    edges.into_iter().collect()
}

const HOWS: [bool; 2] = [true, false];

fn resampling(n: usize, replace: bool) -> Resampling {
    Resampling { seed: 11, size: if replace { n } else { n / 2 }, replace }
}

/// Checks counts on 1, 2 and 4 threads, of all replicates in one piece and in two.
fn check(of: &Replicates, wanted: &BTreeMap<[u32; 2], Edge>) {
    for threads in [1, 2, 4] {
        let found = run(of, &Pool::new(threads), None, &mut Unobserved).unwrap();
        assert_eq!((listed(&found), found.replicates() as usize), (wanted.clone(), of.count), "{threads}");
    }
    let half = of.count / 2;
    let mut together: BTreeMap<[u32; 2], Edge> = BTreeMap::new();
    for (first, count) in [(0, half), (half, of.count - half)] {
        let part = run(&Replicates { first, count, ..of.clone() }, &Pool::new(2), None, &mut Unobserved).unwrap();
        for (pair, more) in listed(&part) {
            let edge = together.entry(pair).or_default();
            edge.forward += more.forward;
            edge.backward += more.backward;
            edge.undirected += more.undirected;
            edge.bidirected += more.bidirected;
        }
    }
    assert_eq!(&together, wanted);
}

#[test]
fn gaussian_replicates_are_searches_of_their_rows() {
    let (n, p) = (60, 12);
    let x = data(n, p);
    for (replace, rule) in HOWS.into_iter().zip([ColliderRule::Standard, ColliderRule::Majority]) {
        let resampling = resampling(n, replace);
        let options = Options::new(p, 0.1);
        let oriented = orient::Options { collider_rule: rule, solve_conflicts: true, ..orient::Options::default() };
        let (mut wanted, mut constants) = (BTreeMap::new(), 0);
        for replicate in 0..30 {
            let rows = resampling.rows(n, replicate, 0).unwrap();
            let drawn: Vec<f64> = x.chunks(n).flat_map(|column| rows.iter().map(|&row| column[row as usize])).collect();
            let columns: Vec<Numbers> = drawn.chunks(rows.len()).map(Numbers::Doubles).collect();
            let mut c = vec![0.0; p * p];
            // A constant column is correlated with nothing.
            let has_constant = !rows.contains(&3);
            let left = p - usize::from(has_constant);
            let mut few = vec![0.0; left * left];
            let all =
                correlation(&columns[..left], moments::Kind::Pearson, Rows::All, &Pool::none(), &mut few, &mut |_| {
                    Ok(())
                });
            assert!(all.unwrap().is_done);
            few.chunks(left).zip(c.chunks_mut(p)).for_each(|(few, column)| column[..left].copy_from_slice(few));
            c[p * p - 1] = 1.0;
            constants += u32::from(has_constant);
            let gauss = Gauss::new(by_column(&c, p).unwrap(), rows.len() as f64, Reading::GaussCItest).unwrap();
            let mut worker = CpuEngine::new(GaussKernel::new(gauss, options.alpha), 1);
            add(&graph(&mut worker, &options, &oriented), &mut wanted);
        }
        let source = Source::Gauss(by_column(&x, p).unwrap());
        let of = Replicates { source, resampling, first: 0, count: 30, search: Search::new(options, &oriented, 11) };
        check(&of, &wanted);
        assert!(constants > 0 && wanted.len() > 11, "{wanted:?}");
        let found = run(&of, &Pool::new(2), None, &mut Unobserved).unwrap();
        assert_eq!(found.with_constants(), constants);
    }
}

#[test]
fn discrete_replicates_keep_the_levels_that_they_lose() {
    let (n, p) = (80, 7);
    let x = data(n, p);
    let code = |(at, value): (usize, &f64)| if at == 200 { i32::MIN } else { (value.abs() * 1.5).min(3.0) as i32 };
    let codes: Vec<i32> = x.iter().enumerate().map(code).collect();
    let levels = [5; 7];
    let coded = Coded::new(by_column(&codes, p).unwrap(), &levels, true).unwrap();
    let (statistic, rule) = (Statistic::X2, Rule::Bnlearn { adapt: false });
    for replace in HOWS {
        let resampling = resampling(n, replace);
        let options = Options::new(p, 0.3);
        let mut wanted = BTreeMap::new();
        for replicate in 0..20 {
            let rows = resampling.rows(n, replicate, 0).unwrap();
            let drawn: Vec<i32> =
                codes.chunks(n).flat_map(|column| rows.iter().map(|&row| column[row as usize])).collect();
            let drawn = Coded::new(by_column(&drawn, p).unwrap(), &levels, true).unwrap();
            let kernel = DiscreteKernel::new(Discrete::new(&drawn, statistic, rule));
            let mut worker = CpuEngine::new(kernel, 1);
            add(&graph(&mut worker, &options, &orient::Options::default()), &mut wanted);
        }
        let source = Source::Discrete(&coded, statistic, rule);
        let search = Search::new(options, &orient::Options::default(), 11);
        check(&Replicates { source, resampling, first: 0, count: 20, search }, &wanted);
        assert!(wanted.len() > 2, "{wanted:?}");
    }
}

#[test]
fn nearest_neighbours_are_those_of_a_subsample() {
    let (n, p) = (48, 5);
    let x = data(n, p);
    let settings = Settings {
        k: 3,
        k_perm: 3,
        permutations: 40,
        estimator: Estimator::MesnerShalizi,
        transform: Transform::Ranks,
        add_one: true,
        seed: 5,
        early_stop: None,
    };
    let (discrete, names) = ([false; 5], [0, 1, 2, 3, 4]);
    let resampling = resampling(n, false);
    let options = Options::new(p, 0.2);
    let mut wanted = BTreeMap::new();
    for replicate in 0..6 {
        let rows = resampling.rows(n, replicate, 0).unwrap();
        let drawn: Vec<f64> = x.chunks(n).flat_map(|column| rows.iter().map(|&row| column[row as usize])).collect();
        let knn = Knn::of_columns(by_column(&drawn, p).unwrap(), &discrete, &names, settings).unwrap();
        let mut worker = CpuEngine::new(KnnKernel::new(&knn), 1);
        add(&graph(&mut worker, &options, &orient::Options::default()), &mut wanted);
    }
    let source = Source::Knn(by_column(&x, p).unwrap(), &discrete, &names, settings);
    let search = Search::new(options, &orient::Options::default(), 11);
    check(&Replicates { source, resampling, first: 0, count: 6, search }, &wanted);
    assert!(!wanted.is_empty());
}

fn of<'a>(x: &'a [f64], p: usize, method: orient::Method, count: usize) -> Replicates<'a> {
    let oriented = orient::Options { method, ..orient::Options::default() };
    let source = Source::Gauss(by_column(x, p).unwrap());
    let search = Search::new(Options::new(p, 0.1), &oriented, 11);
    Replicates { source, resampling: resampling(x.len() / p, true), first: 0, count, search }
}

#[test]
fn lower_bounds_are_those_of_each_graph_and_its_rows() {
    let (n, p) = (60, 12);
    let x = data(n, p);
    let of = of(&x, p, orient::Method::Relaxed, 15);
    let asked = Asked {
        method: effects::Method::Local,
        kind: Kind::Cpdag,
        x: vec![4, 1, 11],
        y: vec![2, 5],
        y_not_parent: false,
    };
    for standardised in [true, false] {
        let mut wanted = Vec::new();
        for replicate in 0..15 {
            let rows = of.resampling.rows(n, replicate, 0).unwrap();
            let drawn = of.source.draw(&rows, &Pool::none(), &mut || Ok(())).unwrap();
            let mut worker = drawn.worker(of.search.options(), &Pool::none()).unwrap();
            let pdag = graph(&mut *worker, of.search.options(), &orient::Options::default());
            let lists: Vec<Vec<u32>> = (0..p).map(|i| pdag.edges_from(i).map(|(j, _)| j).collect()).collect();
            let Drawn::Gauss { c, .. } = &drawn else { panic!("correlations") };
            let spread: Vec<f64> = x
                .chunks(n)
                .map(|column| {
                    let values: Vec<f64> = rows.iter().map(|&row| column[row as usize]).collect();
                    let mean = values.iter().sum::<f64>() / n as f64;
                    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0)).sqrt()
                })
                .collect();
            let scale = |at: usize| if standardised { 1.0 } else { spread[at / p] * spread[at % p] };
            let covariances: Vec<f64> = c.iter().enumerate().map(|(at, r)| r * scale(at)).collect();
            let plan = Plan::new(&lists, asked.clone(), &Pool::none(), &mut Unobserved).unwrap();
            let mut part = vec![0.0; 6];
            let covariances = by_column(&covariances, p).unwrap();
            plan.smallest(covariances, &mut part, &Pool::none(), &mut Unobserved).unwrap();
            wanted.extend(part.into_iter().map(|bound| if bound.is_nan() { 0.0 } else { bound }));
        }
        assert!(wanted.iter().filter(|&&bound| bound > 0.1).count() > 10, "{wanted:?}");
        for threads in [1, 4] {
            let mut bounds = vec![7.0; 6 * 15];
            let pool = Pool::new(threads);
            lower_bounds(&of, &asked, standardised, &mut bounds, (&pool, None), &mut Unobserved).unwrap();
            assert!(bounds.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{bounds:?} {wanted:?}");
        }
    }
    assert!(lower_bounds(&of, &asked, true, &mut [0.0; 5], (&Pool::none(), None), &mut Unobserved).is_err());
}

struct OnThreads(Pool);

impl Machine for OnThreads {
    fn worker<'d>(&self, drawn: &'d Drawn) -> Result<Box<dyn Worker + 'd>> {
        drawn.worker(&Options::new(12, 0.1), &self.0)
    }
}

#[test]
fn machines_and_random_orientations_are_one_answer() {
    let x = data(60, 12);
    for method in [orient::Method::Relaxed, orient::Method::Rand, orient::Method::Retry] {
        let of = of(&x, 12, method, 12);
        let wanted = run(&of, &Pool::new(2), None, &mut Unobserved).unwrap();
        let found = run(&of, &Pool::new(2), Some(&OnThreads(Pool::new(2))), &mut Unobserved).unwrap();
        assert_eq!(listed(&found), listed(&wanted));
        check(&of, &listed(&wanted));
    }
}

/// An observer that stops a run after some looks.
struct Impatient(usize, Vec<f64>);

impl Observer for Impatient {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        assert!(done <= total && self.1.last().is_none_or(|&last| last <= done));
        self.1.push(done);
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[test]
fn observers_see_replicates_and_may_stop() {
    let x = data(400, 40);
    for threads in [1, 2] {
        let of = of(&x, 40, orient::Method::Relaxed, 50);
        let mut patient = Impatient(usize::MAX, Vec::new());
        run(&of, &Pool::new(threads), None, &mut patient).unwrap();
        assert_eq!(patient.1.last(), Some(&50.0));
        let many = Replicates { count: 100_000, ..of };
        let stopped = run(&many, &Pool::new(threads), None, &mut Impatient(3, Vec::new()));
        assert_eq!(stopped.unwrap_err(), Error::Interrupted);
    }
    // Nothing is removed, so these searches would take hours. They stop in the middle.
    let first = x[..400].to_vec();
    let alike: Vec<f64> = x.iter().zip(first.iter().cycle()).map(|(cell, one)| 0.3 * cell + one).collect();
    let mut endless = of(&alike, 40, orient::Method::Relaxed, 4);
    endless.search = Search::new(Options::new(40, 1.0), &orient::Options::default(), 11);
    let stopped = run(&endless, &Pool::new(2), None, &mut Impatient(10, Vec::new()));
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
}

#[test]
fn replicates_that_fail_end_the_run() {
    let x = data(60, 12);
    let mut of = of(&x, 12, orient::Method::Relaxed, 40);
    // Two rows leave no degree of freedom. There the C++ of "stable.fast" stops with an error.
    let method = pcgpu_core::search::Method::StableFast;
    let options = Options { method, ..Options::new(12, 0.1) };
    of.search = Search::new(options, &orient::Options::default(), 11);
    of.resampling.size = 2;
    for pool in [Pool::none(), Pool::new(1), Pool::new(4)] {
        let failed = run(&of, &pool, None, &mut Unobserved).unwrap_err();
        assert!(matches!(failed, Error::Numeric { x: 0, y: 1, .. }), "{failed:?}");
    }
    of.resampling = Resampling { size: 61, replace: false, ..of.resampling };
    assert!(matches!(run(&of, &Pool::new(2), None, &mut Unobserved), Err(Error::Argument { .. })));
}
