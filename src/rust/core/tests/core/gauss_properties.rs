//! Properties on random problems: agreement with a plain reference of pcalg's loops; independence of threads, shards and order of columns.

use crate::support::problems::{correlation_matrix, correlations, dense_problem, problem, samples, Problem, Random};
use crate::support::reference;
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options, Skeleton};

const PROBLEMS: u64 = 300;

fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

fn solve(problem: &Problem, threads: usize, shard_tests: u64) -> (Skeleton, Vec<f64>) {
    solve_by(problem, LevelOne::ByDensity, threads, shard_tests)
}

fn solve_by(problem: &Problem, level_one: LevelOne, threads: usize, shard_tests: u64) -> (Skeleton, Vec<f64>) {
    let p = problem.options.p;
    let gauss = Gauss::new(by_column(&problem.c, p).unwrap(), problem.n, reading(problem.options.method)).unwrap();
    let kernel = GaussKernel::new(gauss, problem.options.alpha).with_level_one(level_one);
    let mut engine = CpuEngine::with_shards(kernel, threads, shard_tests);
    let mut p_max = vec![0.0; p * p];
    let skeleton = skeleton(&mut engine, &problem.options, &mut p_max, &mut Unobserved).unwrap();
    (skeleton, p_max)
}

fn sets(skeleton: &Skeleton) -> Vec<(usize, u32, Vec<u32>)> {
    (0..skeleton.graph.p())
        .flat_map(|x| skeleton.sepsets.row(x).map(move |(y, s)| (x, y, s.to_vec())).collect::<Vec<_>>())
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * b.abs()
}

fn compare(number: u64, what: &str, options: &Options, skeleton: &Skeleton, p_max: &[f64], want: &reference::Answer) {
    let p = options.p;
    let label = format!("problem {number} ({:?}, {what})", options.method);
    for x in 0..p {
        for y in 0..p {
            assert_eq!(skeleton.graph.has(x, y), want.adjacent[x][y], "{label}: edge {x} - {y}");
            assert_eq!(skeleton.sepsets.get(x, y), want.sepset[x][y].as_deref(), "{label}: sepset {x}, {y}");
            let (ours, theirs) = (p_max[y * p + x], want.p_max[x][y]);
            assert!(close(ours, theirs), "{label}: pMax {x}, {y}: {ours:e}, {theirs:e}");
        }
    }
    assert_eq!(skeleton.tests, want.tests, "{label}: n.edgetests");
    assert_eq!(skeleton.max_order, want.max_order, "{label}: max.ord");
}

#[test]
fn random_problems_equal_the_plain_reference() {
    let mut deepest = 0;
    for number in 0..PROBLEMS {
        let problem = problem(number);
        let options = &problem.options;
        let mut gauss =
            Gauss::new(by_column(&problem.c, options.p).unwrap(), problem.n, reading(options.method)).unwrap();
        let want = reference::skeleton(options, &mut |x, y, s| gauss.p_value(x, y, s).unwrap());
        deepest = deepest.max(want.max_order);
        for (threads, shard_tests) in [(1, 1 << 16), (2, 3), (4, 1)] {
            let (skeleton, p_max) = solve(&problem, threads, shard_tests);
            compare(number, &format!("{threads} threads, shards of {shard_tests}"), options, &skeleton, &p_max, &want);
            let (skeleton, p_max) = solve_by(&problem, LevelOne::Masks, threads, shard_tests);
            compare(number, &format!("masks, {threads} threads"), options, &skeleton, &p_max, &want);
        }
        let mut p_max = vec![0.0; options.p * options.p];
        let skeleton = skeleton_one_by_one(&mut gauss, options, &mut p_max, &mut Unobserved).unwrap();
        compare(number, "one at a time", options, &skeleton, &p_max, &want);
    }
    assert!(deepest >= 6, "the problems reach level {deepest} only");
}

/// Compares level 1 by masks and by lists, to the last bit, on dense problems. Some have copies and near copies of columns, missing correlations
/// or fixed pairs. Some have so few or so many samples that masks serve few or all tests.
#[test]
fn masks_and_lists_agree() {
    let separated: usize = (0..60).map(|number| agreed(&dense_problem(number), &format!("problem {number}"))).sum();
    assert!(separated > 10_000, "{separated} pairs separated at level 1");
}

/// Compares masks and lists for correlations of up to .99999, and more variables than a tile has.
#[test]
fn masks_and_lists_agree_near_one() {
    let mut separated = 0;
    for (number, load) in [0.7, 2.0, 8.0, 30.0, 200.0].into_iter().enumerate() {
        let (mut random, p) = (Random(number as u64), 330);
        let mut columns = samples(&mut random, p, 120, 0.02, 0.0);
        let common: Vec<f64> = (0..120).map(|_| random.normal()).collect();
        for column in &mut columns {
            let weight = load * random.uniform();
            column.iter_mut().zip(&common).for_each(|(v, u)| *v += weight * u);
        }
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, m_max: 1.0, ..Options::new(p, 0.01) };
            let problem = Problem { c: correlation_matrix(&columns), n: 120.0, options };
            separated += agreed(&problem, &format!("load {load}, {method:?}"));
        }
    }
    assert!(separated > 100_000, "{separated} pairs separated at level 1");
}

/// Compares level 1 by masks and by lists. Returns the number of pairs that it separates, times the number of levels.
fn agreed(problem: &Problem, label: &str) -> usize {
    let (lists, lists_p) = solve_by(problem, LevelOne::Lists, 2, 1 << 16);
    for (level_one, shard_tests) in [(LevelOne::Masks, 1 << 16), (LevelOne::Masks, 40), (LevelOne::ByDensity, 1 << 16)]
    {
        let (masks, masks_p) = solve_by(problem, level_one, 2, shard_tests);
        let label = format!("{label}, {level_one:?}, shards of {shard_tests}");
        assert_eq!(masks.graph, lists.graph, "{label}");
        assert_eq!(sets(&masks), sets(&lists), "{label}");
        assert_eq!((&masks.tests, &masks.exact_tests), (&lists.tests, &lists.exact_tests), "{label}");
        assert!(masks_p.iter().zip(&lists_p).all(|(a, b)| a.to_bits() == b.to_bits()), "{label}: pMax");
    }
    lists.tests.len() * sets(&lists).iter().filter(|(_, _, set)| set.len() == 1).count()
}

/// Compares larger problems, so that threads, split sides and windows of "original" are really used.
#[test]
fn threads_and_shards_change_nothing() {
    for (number, method) in [(1, Method::Stable), (2, Method::StableFast), (3, Method::Original)] {
        let mut random = Random(number);
        // Rows are so long that a few lanes are left to the walk of a pair. There are enough lanes for more than one block.
        let p = 110;
        let c = correlation_matrix(&samples(&mut random, p, 2000, 0.3, 0.03));
        let problem = Problem { c, n: 2000.0, options: Options { method, m_max: 4.0, ..Options::new(p, 0.05) } };
        let (one, one_p) = solve(&problem, 1, 1 << 16);
        let total = one.tests.iter().sum::<u64>();
        assert!(one.exact_tests > 100, "{} tests went the exact way", one.exact_tests);
        assert!(one.tests.len() >= 4 && total > 50_000, "{total} tests on {} levels", one.tests.len());
        for (threads, shard_tests) in [(2, 1 << 16), (4, 500), (3, 17), (8, 1 << 30)] {
            let (many, many_p) = solve(&problem, threads, shard_tests);
            assert_eq!(many.graph, one.graph);
            assert_eq!(sets(&many), sets(&one));
            assert_eq!((&many.tests, many.max_order), (&one.tests, one.max_order));
            assert_eq!(many.exact_tests, one.exact_tests, "{method:?}, {threads} threads, shards of {shard_tests}");
            // Equal to the last bit, because the schedule must not matter.
            assert!(many_p.iter().zip(&one_p).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        let mut p_max = vec![0.0; p * p];
        let mut gauss = Gauss::new(by_column(&problem.c, p).unwrap(), problem.n, reading(method)).unwrap();
        let sequential = skeleton_one_by_one(&mut gauss, &problem.options, &mut p_max, &mut Unobserved).unwrap();
        assert_eq!(sequential.graph, one.graph);
        assert_eq!(sets(&sequential), sets(&one));
        assert_eq!(sequential.tests, one.tests);
        assert!(p_max.iter().zip(&one_p).all(|(&a, &b)| close(a, b)));
    }
}

#[test]
fn permuting_the_columns_permutes_the_graph() {
    for number in 0..20 {
        let mut random = Random(1000 + number);
        let p = 25;
        let c = correlations(&mut random, p, 300, 0.2);
        let mut order: Vec<usize> = (0..p).collect();
        for i in (1..p).rev() {
            order.swap(i, random.below(i + 1));
        }
        let permuted: Vec<f64> = (0..p * p).map(|at| c[order[at / p] * p + order[at % p]]).collect();
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, ..Options::new(p, 0.01) };
            let (plain, _) = solve(&Problem { c: c.clone(), n: 300.0, options: options.clone() }, 2, 1 << 16);
            let (moved, _) = solve(&Problem { c: permuted.clone(), n: 300.0, options }, 2, 1 << 16);
            for x in 0..p {
                for y in 0..p {
                    assert_eq!(moved.graph.has(x, y), plain.graph.has(order[x], order[y]), "problem {number}");
                }
            }
        }
    }
}
