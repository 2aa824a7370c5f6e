//! Checks that the Gaussian search within little memory answers to the last bit as with all correlations on the GPU, or says what it needs.

use crate::gauss_cuda::reading;
use crate::support::answer::{searched, Digits};
use crate::support::cuda::{emulated, planned, same_outcome, StopAt};
use crate::support::kept::compare as compare_answers;
use crate::support::problems::{correlation_matrix, dense_problem, less_means, problem, samples, Random};
use pcgpu_core::ci::gauss::{FisherZ, Gauss};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gauss::correlation::correlation;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::graph::{Adjacency, Form, Tiers};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::Centred;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::team::TeamReport;
use pcgpu_core::{DeviceKind, Error, Result};

/// Checks the GPU's report of how levels were cut into batches, panels and slices of at most 64 rows. Each must have copied something.
fn check_cut(report: &TeamReport, options: &Options) {
    let of_level = |level| report.shares.iter().find(|share| share.level == Some(level));
    let Some(first) = of_level(0).filter(|_| options.m_max >= 0.0) else { return };
    let (panels, rows) = (options.p.div_ceil(64) as u64, options.p.min(64) as u64);
    let is_cut = (first.shards, first.rows) == (panels, rows);
    assert!(is_cut || !options.tiers.is_none() && first.shards >= panels && first.rows <= 64, "{report:?}");
    // The first piece copies at least two correlations of its rows.
    assert!(first.moved.to >= 16 && first.moved.from > 0, "{report:?}");
    for level in 1.. {
        let Some(share) = of_level(level) else { break };
        assert!(share.shards > 0 && (level > 1 || share.rows <= 64), "{report:?}");
        assert!(share.moved.to > 0 && share.moved.from > 0, "{report:?}");
    }
    assert!(report.shares.iter().all(|share| share.machine == "cuda:0" && share.busy == 0.0));
}

/// Compares searches by blocks and within ever smaller budgets with the search in all memory, as compact results or not. Returns how many
/// budgets sufficed.
fn compare<'a>(
    label: &str,
    options: &Options,
    compact: bool,
    make: impl Fn(CudaOptions) -> Result<CudaEngine<'a>>,
    ways: &[CudaOptions],
) -> usize {
    let mut sufficed = 0;
    let mut whole = make(CudaOptions::default()).unwrap();
    let one = searched(&mut whole, options, compact, &mut Unobserved);
    let all = planned(&whole);
    drop(whole);
    for way in ways {
        let blocks = CudaOptions { block: Some(1), launch_share: 1e-9, ..*way };
        let mut engine = make(blocks).unwrap();
        let found = searched(&mut engine, options, compact, &mut Unobserved);
        check_cut(&engine.team(), options);
        same_outcome(format!("{label}, {way:?}, compact {compact}"), &found, &one);
        let mut budget = all;
        loop {
            budget = budget / 4 * 3;
            // Depending on the budget, level 1 goes the cheaper way or has to go by slices.
            let block = (budget % 2 == 0).then_some(1 << 20);
            let mut engine = make(CudaOptions { memory_budget: Some(budget), block, ..*way }).unwrap();
            let found = searched(&mut engine, options, compact, &mut Unobserved);
            if let Err(Error::Device(e)) = &found {
                assert_eq!(e.kind, DeviceKind::OutOfMemory, "{label}: {e:?}");
                assert!(e.message.contains(&budget.to_string()), "{e:?}");
                break;
            }
            same_outcome(format!("{label}, {budget} bytes, compact {compact}"), &found, &one);
            assert!(planned(&engine) <= budget);
            if budget == 0 {
                // A search without tests takes no memory.
                break;
            }
            sufficed += 1;
        }
    }
    sufficed
}

fn ways() -> Vec<CudaOptions> {
    let way = |level_one, wide_from| CudaOptions { level_one, wide_from, ..CudaOptions::default() };
    vec![way(LevelOne::ByDensity, None), way(LevelOne::Columns, Some(0)), way(LevelOne::Masks, Some(u64::MAX))]
}

fn is_symmetric(c: &[f64], p: usize) -> bool {
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    (0..p * p).all(|at| same(c[at], c[at % p * p + at / p]))
}

#[test]
#[ignore = "needs a GPU"]
fn random_problems() {
    // Some thirty searches each. A GPU takes 0.1 s to plan and clear one.
    for number in 0..if emulated() { 40 } else { 16 } {
        let problem = problem(number);
        let options = &problem.options;
        if options.method == Method::Original || !is_symmetric(&problem.c, options.p) {
            continue;
        }
        let gauss = Gauss::new(by_column(&problem.c, options.p).unwrap(), problem.n, reading(options.method)).unwrap();
        let ways = ways();
        let ways = if number % 4 == 0 { &ways[..] } else { &ways[..1] };
        let make = |cuda| CudaEngine::new(gauss, options.alpha, cuda);
        compare(&format!("problem {number}"), options, number % 2 == 0, make, ways);
    }
}

/// Searches with tiers, in which a row's list lacks vertices of later tiers: on all correlations, in blocks and within budgets.
#[test]
#[ignore = "needs a GPU"]
fn tiers() {
    let (mut sufficed, mut levels) = (0, 0);
    for number in 0..if emulated() { 24 } else { 60 } {
        let problem = problem(number);
        let p = problem.options.p;
        if problem.options.method != Method::Stable || !is_symmetric(&problem.c, p) {
            continue;
        }
        let of = |v: u64| ((v * 7 + number) % (2 + number % 3)) as f64;
        let tiers = Tiers::of(&(0..p as u64).map(of).collect::<Vec<f64>>());
        let options = Options { tiers, ..problem.options.clone() };
        let gauss = Gauss::new(by_column(&problem.c, p).unwrap(), problem.n, reading(options.method)).unwrap();
        let compact = number % 2 == 0;
        let mut cpu = CpuEngine::new(GaussKernel::new(gauss, options.alpha), Pool::new(2));
        let wanted = searched(&mut cpu, &options, compact, &mut Unobserved);
        let make = |cuda| CudaEngine::new(gauss, options.alpha, cuda);
        let found = searched(&mut make(CudaOptions::default()).unwrap(), &options, compact, &mut Unobserved);
        compare_answers(&format!("problem {number}"), &found, &wanted, Digits::Nine);
        let ways = ways();
        let ways = if number % 4 == 0 { &ways[..] } else { &ways[..1] };
        sufficed += compare(&format!("problem {number}"), &options, compact, make, ways);
        levels = levels.max(wanted.map_or(0, |answer| answer.tests.len()));
    }
    assert!(sufficed > 3 && levels > 3, "{sufficed} {levels}");
}

/// Checks that two threads share the work: while one has the next panel ready, both spread the p-values of a panel.
#[test]
#[ignore = "needs a GPU"]
fn two_threads_send_panels_and_spread_p_values() {
    // A panel has more numbers than one thread spreads.
    let (p, rows) = (3000, 192);
    let mut c = vec![0.0; p * p];
    (0..p).for_each(|x| c[x * (p + 1)] = 1.0);
    (1..p).step_by(2).for_each(|x| (c[x * p + x - 1], c[(x - 1) * p + x]) = (0.5, 0.5));
    let options = Options { m_max: 0.0, ..Options::new(p, 0.001) };
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, reading(options.method)).unwrap();
    let search = |block| {
        let cuda = CudaOptions { block, ..CudaOptions::default() };
        let mut engine = CudaEngine::new(gauss, options.alpha, cuda).unwrap().with_pool(Pool::new(2));
        searched(&mut engine, &options, false, &mut Unobserved)
    };
    same_outcome("panels of 192 rows", &search(Some(rows)), &search(None));
}

/// Covers several slices, and panels that stream past the first one.
#[test]
#[ignore = "needs a GPU"]
fn dense_problems() {
    let mut sufficed = 0;
    // 191 and 70 variables; more on a GPU.
    for number in (0..20).filter(|number| [0, 3].contains(number) || !emulated()) {
        let dense = dense_problem(number);
        // Level 2 with many neighbours takes an emulated GPU minutes.
        let options = Options { m_max: if emulated() { 1.0 } else { 2.0 }, ..dense.options.clone() };
        let gauss = Gauss::new(by_column(&dense.c, options.p).unwrap(), dense.n, reading(options.method)).unwrap();
        let make = |cuda| CudaEngine::new(gauss, options.alpha, cuda);
        sufficed += compare(&format!("dense {number}"), &options, number % 2 == 0, make, &ways());
    }
    assert!(sufficed > 5, "{sufficed}");
}

/// Searches from data: the GPU computes the correlations that it needs, whether or not it holds the data.
#[test]
#[ignore = "needs a GPU"]
fn data() {
    let mut sufficed = 0;
    for (p, n, density, m_max) in [(140, 40, 0.02, 4.0), (200, 300, 0.01, f64::INFINITY)] {
        let x = less_means(&samples(&mut Random(p as u64), p, n, density, 0.05));
        let mut gaps = Adjacency::empty(p);
        (0..p - 1).filter(|x| x % 3 == 0).for_each(|x| gaps.insert(x, x + 1));
        let mut fixed = Adjacency::empty(p);
        (0..p - 2).filter(|x| x % 5 == 0).for_each(|x| fixed.insert(x, x + 2));
        let (stable, fast) = (Method::Stable, Method::StableFast);
        let cases = [(stable, false), (fast, true), (stable, true), (fast, false)];
        for (method, known) in cases.into_iter().take(if emulated() { 2 } else { 4 }) {
            let base = Options { method, m_max, ..Options::new(p, 0.01) };
            let options = match known {
                true => Options { fixed_gaps: Some(gaps.clone()), fixed_edges: Some(fixed.clone()), ..base },
                false => base,
            };
            let test = FisherZ::new(n as f64, reading(method)).unwrap();
            let make = |cuda| CudaEngine::of_data(test, by_column(&x, p).unwrap(), 0.01, cuda);
            let (label, compact) = (format!("data {p} {method:?} {known}"), known == (p > 150));
            sufficed += compare(&label, &options, compact, make, &ways()[..1]);
        }
    }
    assert!(sufficed > 2, "{sufficed}");
}

/// Checks that level 0 finds the same pairs if most are ruled out in half precision. Some have correlations close to the limit, some columns
/// are constant, equal, far from 1 or have a single large value.
#[test]
#[ignore = "needs a GPU"]
fn a_screen_changes_no_answer() {
    let cases = [(700, 150, 1e-4), (430, 530, 1e-6), (300, 61, 2e-5)];
    for (p, n, alpha) in cases.into_iter().take(if emulated() { 2 } else { 3 }) {
        let test = FisherZ::new(n as f64, reading(Method::StableFast)).unwrap();
        let (mut low, mut high) = (0.0, 0.99);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            *if test.p_of_correlation(middle, 0) >= alpha { &mut low } else { &mut high } = middle;
        }
        let mut columns = samples(&mut Random(p as u64), p, n, 0.0002, 0.01);
        columns[17] = columns[3].iter().map(|v| -4.0 * v).collect();
        columns[18] = vec![2.5; n];
        columns[19].iter_mut().for_each(|v| *v *= 1e-200);
        columns[20].iter_mut().for_each(|v| *v *= 1e200);
        columns[21][5] += 1e4;
        let mut x = less_means(&columns);
        let norm = |u: &[f64]| u.iter().map(|v| v * v).sum::<f64>().sqrt();
        for (at, near) in (100..160).step_by(2).zip((0..5).cycle()) {
            // The sum of a column and an orthogonal one has the correlation that is wanted, up to rounding.
            let (u, v) = x[at * n..(at + 2) * n].split_at_mut(n);
            let along = u.iter().zip(&*v).map(|(u, v)| u * v).sum::<f64>() / norm(u).powi(2);
            u.iter().zip(v.iter_mut()).for_each(|(u, v)| *v -= along * u);
            let sign = if at % 4 == 0 { 1.0 } else { -1.0 };
            let r = low + sign * [1e-3, 1e-4, 1e-5, 1e-7, 1e-12][near];
            let ratio = r / (1.0 - r * r).sqrt() * norm(v) / norm(u);
            u.iter().zip(v.iter_mut()).for_each(|(u, v)| *v += ratio * u);
        }
        for method in [Method::Stable, Method::StableFast] {
            let test = FisherZ::new(n as f64, reading(method)).unwrap();
            let search = |form, cuda, m_max| {
                let options = Options { method, form, m_max, ..Options::new(p, alpha) };
                let mut engine = CudaEngine::of_data(test, by_column(&x, p).unwrap(), alpha, cuda).unwrap();
                let found = searched(&mut engine, &options, true, &mut Unobserved);
                let of_data = engine.memory_plan().iter().find(|(part, _)| *part == "data").map_or(0, |part| part.1);
                (found, of_data)
            };
            let blocks = CudaOptions { block: Some(512), ..CudaOptions::default() };
            for m_max in [0.0, 1.0] {
                let (whole, _) = search(Form::Bits, CudaOptions::default(), m_max);
                let (exact, unscreened) = search(Form::Bits, blocks, m_max);
                let (screened, all) = search(Form::Lists, blocks, m_max);
                same_outcome(format!("{p} {method:?}"), &exact, &whole);
                same_outcome(format!("{p} {method:?} screened"), &screened, &whole);
                let halves = (2 * n * p) as u64;
                assert!(m_max > 0.0 || all >= unscreened + halves, "{p}: there was no screen, {unscreened} {all}");
            }
        }
    }
}

/// Checks that memory left by earlier questions hinders no level. They may leave a larger buffer than a search plans for its sums of squares.
#[test]
#[ignore = "needs a GPU"]
fn what_questions_left_is_in_no_levels_way() {
    let (p, n) = (260, 60);
    let x = less_means(&samples(&mut Random(n as u64), p, n, 0.01, 0.0));
    let options = Options { m_max: 2.0, ..Options::new(p, 0.05) };
    let test = FisherZ::new(n as f64, reading(options.method)).unwrap();
    let make = |cuda| CudaEngine::of_data(test, by_column(&x, p).unwrap(), 0.05, cuda).unwrap();
    let search = |cuda| {
        let mut engine = make(cuda);
        (searched(&mut engine, &options, false, &mut Unobserved), planned(&engine))
    };
    let blocks = CudaOptions { block: Some(64), ..CudaOptions::default() };
    let (one, _) = search(CudaOptions::default());
    let (_, least) = search(blocks);
    let cuda = CudaOptions { memory_budget: Some(least), ..blocks };
    for questions in (0..28).step_by(if emulated() { 3 } else { 1 }).map(|k| (100.0 * 1.2f64.powi(k)) as usize) {
        let mut batch = Batch::new();
        (0..questions).for_each(|i| batch.push(i % p, (i + 1) % p, &[((i + 2) % p) as u32]));
        make(cuda).p_values(&batch, &mut Unobserved).unwrap();
        let (found, planned) = search(cuda);
        same_outcome(format!("{questions} questions before"), &found, &one);
        assert!(planned <= least);
    }
}

/// Covers correlations by rows, questions by groups of variables, and orders of visiting that need shards.
#[test]
#[ignore = "needs a GPU"]
fn correlations_and_questions() {
    let (p, n) = (200, 90);
    let x = less_means(&samples(&mut Random(11), p, n, 0.02, 0.05));
    let pool = Pool::new(2);
    let made = |budget| {
        let mut c = vec![0.0; p * p];
        correlation(&Centred::of_cells(&x, n), 0, MemoryKind::Device, budget, &pool, &mut c, &mut |_| Ok(()))
            .map(|()| c)
    };
    let c = made(None).unwrap();
    let all = (8 * p * (p + n + 1)) as u64;
    let budgets: Vec<u64> = (1..8).map(|part| all * part / 8).collect();
    let sufficed = budgets.iter().filter(|&&budget| made(Some(budget)).is_ok_and(|found| found == c)).count();
    let failed = budgets.iter().filter(|&&budget| made(Some(budget)).is_err()).count();
    assert!(sufficed > 2 && sufficed + failed == 7, "{sufficed} {failed}");

    let mut batch = Batch::new();
    let mut random = Random(3);
    for _ in 0..if emulated() { 100 } else { 500 } {
        let mut vertices: Vec<u32> = (0..p as u32).collect();
        let size = random.below(5);
        (0..size + 2).for_each(|i| vertices.swap(i, i + random.below(p - i)));
        batch.push(vertices[0] as usize, vertices[1] as usize, &vertices[2..size + 2]);
    }
    let test = FisherZ::new(n as f64, reading(Method::Stable)).unwrap();
    let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, reading(Method::Stable)).unwrap();
    let of_data = |cuda| CudaEngine::of_data(test, by_column(&x, p).unwrap(), 0.05, cuda).unwrap();
    let of_matrix = |cuda| CudaEngine::new(gauss, 0.05, cuda).unwrap();
    let asked = |engine: &mut CudaEngine| engine.p_values(&batch, &mut Unobserved);
    let bits = |p: Vec<f64>| p.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    let want = bits(asked(&mut of_matrix(CudaOptions::default())).unwrap());
    assert_eq!(bits(asked(&mut of_data(CudaOptions::default())).unwrap()), want);
    for part in [2, 12] {
        let cuda = CudaOptions { memory_budget: Some(all / part), ..CudaOptions::default() };
        assert_eq!(bits(asked(&mut of_data(cuda)).unwrap()), want, "data, 1/{part}");
        assert_eq!(bits(asked(&mut of_matrix(cuda)).unwrap()), want, "matrix, 1/{part}");
    }
    let none = CudaOptions { memory_budget: Some(500), ..CudaOptions::default() };
    assert!(matches!(asked(&mut of_matrix(none)), Err(Error::Device(e)) if e.kind == DeviceKind::OutOfMemory));
}

#[test]
#[ignore = "needs a GPU"]
fn a_search_by_blocks_can_be_stopped_and_an_odd_matrix_is_refused() {
    let dense = dense_problem(1);
    let options = Options { m_max: 1.0, ..dense.options.clone() };
    let gauss = Gauss::new(by_column(&dense.c, options.p).unwrap(), dense.n, reading(options.method)).unwrap();
    let cuda = CudaOptions { block: Some(64), launch_share: 1e-9, ..CudaOptions::default() };
    for level in [0, 1] {
        let mut engine = CudaEngine::new(gauss, options.alpha, cuda).unwrap();
        let found = searched(&mut engine, &options, false, &mut StopAt(level, None));
        assert_eq!(found, Err(Error::Interrupted), "{level}");
    }
    let mut odd = correlation_matrix(&samples(&mut Random(5), 6, 50, 0.5, 0.0));
    // The cell of a pair that level 0 leaves.
    odd[4] = f64::from_bits(odd[4].to_bits() + 1);
    assert!(!is_symmetric(&odd, 6));
    let options = Options::new(6, 0.05);
    let gauss = Gauss::new(by_column(&odd, 6).unwrap(), 50.0, reading(Method::Stable)).unwrap();
    let found = searched(&mut CudaEngine::new(gauss, 0.05, cuda).unwrap(), &options, false, &mut Unobserved);
    assert!(
        matches!(&found, Err(Error::Argument { argument: "suffStat", value, .. }) if value.contains("C[")),
        "{found:?}"
    );
    assert!(searched(
        &mut CudaEngine::new(gauss, 0.05, CudaOptions::default()).unwrap(),
        &options,
        false,
        &mut Unobserved
    )
    .is_ok());
}

/// Runs level 1 by small matrices of neighbours. The host sends their triangles, and compares the cells it reads with the other triangle.
#[test]
#[ignore = "needs a GPU"]
fn an_odd_matrix_is_refused_where_level_one_reads_it_by_neighbours() {
    // Centres have two neighbours each. These are not adjacent, although a centre's small matrix has their correlation.
    let (p, n) = (if emulated() { 1500 } else { 3000 }, 100.0);
    let cell = |x: usize, y: usize| match (x == y, x / 3 == y / 3, x % 3 == 0 || y % 3 == 0) {
        (true, ..) => 1.0,
        (false, false, _) => 0.0,
        (false, true, true) => 0.5,
        (false, true, false) => 0.25,
    };
    let c: Vec<f64> = (0..p * p).map(|at| cell(at % p, at / p)).collect();
    let options = Options { method: Method::StableFast, ..Options::new(p, 0.01) };
    let search = |c: &[f64], memory_budget| {
        let gauss = Gauss::new(by_column(c, p).unwrap(), n, reading(options.method)).unwrap();
        let mut engine = CudaEngine::new(gauss, 0.01, CudaOptions { memory_budget, ..CudaOptions::default() }).unwrap();
        searched(&mut engine, &options, true, &mut Unobserved)
    };
    let little = Some(((40 << 20) * (p * p / 1_000_000) / 9) as u64);
    let one = search(&c, None);
    same_outcome("symmetric", &search(&c, little), &one);
    // Change a cell by 1 ulp, on either side of the diagonal.
    let centre = p / 2;
    let cells = [(0, 1), (1, 0), (1, 2), (2, 1)].map(|(x, y)| (centre + x, centre + y));
    for (x, y) in cells {
        let mut odd = c.clone();
        odd[x * p + y] = odd[x * p + y].next_up();
        let found = search(&odd, little);
        let value = format!("C[{}, {}]", x.min(y) + 1, x.max(y) + 1);
        assert!(
            matches!(&found, Err(Error::Argument { argument: "suffStat", value: at, .. }) if at.contains(&value)),
            "{value}: {found:?}"
        );
    }
    // Cells that no test reads are not checked. So level 1 did not go by slices, which check all cells.
    let mut unread = c;
    unread[(centre + 1) * p + 1] = 1e-9;
    same_outcome("of no neighbours", &search(&unread, little), &one);
}

/// Covers slices with more variables than a warp takes at a time, slices with few, and pairs that wait in several groups.
#[test]
#[ignore = "needs a GPU"]
fn wide_slices_and_groups_of_pairs() {
    let (p, n) = (600, 40);
    let mut random = Random(9);
    let factors: Vec<Vec<f64>> = (0..3).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for v in 0..p {
        let weights: Vec<f64> = factors.iter().map(|_| 0.5 * random.normal()).collect();
        let noise = |k: usize, random: &mut Random| {
            factors.iter().zip(&weights).map(|(factor, weight)| factor[k] * weight).sum::<f64>() + random.normal()
        };
        // Some columns are nearly copies of others.
        let column = match v % 50 {
            49 => columns[v - 20].iter().map(|value| value + 1e-7 * random.normal()).collect(),
            _ => (0..n).map(|k| noise(k, &mut random)).collect(),
        };
        columns.push(column);
    }
    let c = correlation_matrix(&columns);
    // On an emulated GPU each method takes every other way.
    let every = if emulated() { 2 } else { 1 };
    for (at, (method, compact)) in [(Method::Stable, true), (Method::StableFast, false)].into_iter().enumerate() {
        let options = Options { method, m_max: 1.0, ..Options::new(p, 0.01) };
        let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, reading(method)).unwrap();
        let found = |cuda| {
            let mut engine = CudaEngine::new(gauss, 0.01, cuda).unwrap();
            let found = searched(&mut engine, &options, compact, &mut Unobserved);
            (found, planned(&engine), engine.team())
        };
        let (one, all, _) = found(CudaOptions::default());
        let ways = [(Some(512), 1), (Some(128), 1), (Some(1 << 20), 2), (Some(1 << 20), 4), (None, 6)];
        for &(block, part) in ways.iter().skip(at % every).step_by(every) {
            let memory_budget = (part > 1).then_some(all / part);
            let cuda = CudaOptions { block, memory_budget, ..CudaOptions::default() };
            let (other, _, team) = found(cuda);
            same_outcome(format!("{method:?}, compact {compact}, {block:?} rows, 1/{part}"), &other, &one);
            let rows = team.shares.iter().find(|share| share.level == Some(1)).map_or(0, |share| share.rows);
            assert!(part > 1 || block == Some(rows as usize), "{rows} of {block:?}");
        }
    }
}

/// Searches sparse graphs by slices of the upper triangle: level 1 copies half of the matrix, and each variable is in one slice.
#[test]
#[ignore = "needs a GPU"]
fn of_sparse_graphs_half_of_the_matrix_crosses_at_level_one() {
    let (p, n) = (430, 40);
    let mut fixed = Adjacency::empty(p);
    (0..p - 70).filter(|x| x % 7 == 0).for_each(|x| fixed.insert(x, x + 70));
    for (seed, singular) in [(21, 0.0), (22, 0.1)] {
        let c = correlation_matrix(&samples(&mut Random(seed), p, n, 0.004, singular));
        for (method, compact, known) in [(Method::Stable, true, true), (Method::StableFast, false, false)] {
            let options = Options { method, m_max: 2.0, ..Options::new(p, 0.02) };
            let options = Options { fixed_edges: known.then(|| fixed.clone()), ..options };
            let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, reading(method)).unwrap();
            let one = searched(
                &mut CudaEngine::new(gauss, 0.02, CudaOptions::default()).unwrap(),
                &options,
                compact,
                &mut Unobserved,
            );
            for (rows, launch_share) in [(64, 1.0), (128, 1e-9), (1 << 20, 1.0)] {
                let cuda = CudaOptions { block: Some(rows), launch_share, ..CudaOptions::default() };
                let mut engine = CudaEngine::new(gauss, 0.02, cuda).unwrap();
                let found = searched(&mut engine, &options, compact, &mut Unobserved);
                same_outcome(format!("{seed}, {method:?}, {rows} rows"), &found, &one);
                let report = engine.team();
                let share = report.shares.iter().find(|share| share.level == Some(1)).unwrap();
                assert_eq!(share.shards as usize, p.div_ceil(rows), "{report:?}");
                let cells = (8 * p * p) as u64;
                // A slice copies the cells to the right of its first one; graphs, lists and the pairs' own correlations add little.
                assert!(rows > p || share.moved.to < cells / 4 * 3, "{report:?}");
            }
        }
    }
}

/// Searches with one variable that has many neighbours among others with few. The matrix of its neighbours would be larger than slices are.
#[test]
#[ignore = "needs a GPU"]
fn a_hub_goes_by_slices_where_its_neighbours_do_not_fit() {
    let (p, n) = (400, 60);
    let mut random = Random(2);
    let hub: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mut columns = vec![hub.clone()];
    columns.extend((1..p).map(|_| hub.iter().map(|v| v + 2.0 * random.normal()).collect::<Vec<f64>>()));
    let c = correlation_matrix(&columns);
    let mut options = Options { method: Method::StableFast, m_max: 1.0, ..Options::new(p, 0.01) };
    let mut gaps = Adjacency::complete(p);
    (1..p).for_each(|y| gaps.remove(0, y));
    options.fixed_gaps = Some(gaps);
    let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, reading(options.method)).unwrap();
    for compact in [false, true] {
        let one = searched(
            &mut CudaEngine::new(gauss, 0.01, CudaOptions::default()).unwrap(),
            &options,
            compact,
            &mut Unobserved,
        );
        for budget in [1_500_000, 1_200_000, 1_000_000, 800_000] {
            let within = CudaOptions { memory_budget: Some(budget), ..CudaOptions::default() };
            let slices = CudaOptions { block: Some(1 << 20), ..within };
            for cuda in [within, slices] {
                let found =
                    searched(&mut CudaEngine::new(gauss, 0.01, cuda).unwrap(), &options, compact, &mut Unobserved);
                same_outcome(format!("{budget} bytes, compact {compact}, {:?}", cuda.block), &found, &one);
            }
        }
    }
}
