//! Checks that searches of data with a bound on the memory for correlations give the answers of the whole matrix to the last bit.

use std::time::{Duration, Instant};

use crate::support::golden::cases;
use crate::support::patience::stops_within_half_a_second;
use crate::support::problems::{dense_problem, less_means, problem, samples, Random};
use crate::support::ranks::{with_ranks, Manner};
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{Bound, CpuEngine, GaussKernel, GaussOfData};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{centred, of_centred, Centred, Kind, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Largest, Method, Options, PairValues, Skeleton};
use pcgpu_core::{Error, Result};

fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

/// Data, n x p, with the mean of each column subtracted, and their correlations.
struct Data {
    cells: Vec<f64>,
    c: Vec<f64>,
    p: usize,
}

impl Data {
    fn of(columns: &[Vec<f64>]) -> Self {
        let (n, p) = (columns[0].len(), columns.len());
        let mut cells = vec![0.0; n * p];
        let numbers: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
        let pool = Pool::new(2);
        centred(&numbers, Kind::Pearson, Rows::All, &pool, &mut |_| Ok(()), |x, _| {
            x.write(&mut cells, &pool);
            Ok(())
        })
        .unwrap();
        Data::of_cells(cells, n)
    }

    fn of_cells(cells: Vec<f64>, n: usize) -> Self {
        let p = cells.len() / n;
        let mut c = vec![0.0; p * p];
        of_centred(&Centred::of_cells(&cells, n), &Pool::new(2), &mut c, &mut |_| Ok(())).unwrap();
        Data { cells, c, p }
    }

    fn whole(&self, n: f64, options: &Options, level_one: LevelOne) -> CpuEngine<GaussKernel<'_>> {
        let gauss = Gauss::new(by_column(&self.c, self.p).unwrap(), n, reading(options.method)).unwrap();
        CpuEngine::new(GaussKernel::new(gauss, options.alpha).with_level_one(level_one), 2)
    }

    fn bounded(&self, n: f64, options: &Options, threads: usize, bytes: u64) -> Result<GaussOfData<'_>> {
        let test = FisherZ::new(n, reading(options.method)).unwrap();
        let bound = Bound { bytes, is_named: true };
        GaussOfData::new(test, by_column(&self.cells, self.p).unwrap(), options.alpha, threads, bound)
    }
}

/// The whole result of a search, with p-values as bits.
type Parts = (Vec<u64>, Sets, Vec<u64>, i32, u64, Vec<u64>);
type Sets = Vec<(usize, u32, Vec<u32>)>;

fn search(worker: &mut dyn Worker, options: &Options) -> Result<Parts> {
    let mut p_max = vec![0.25; options.p * options.p];
    let found = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
    Ok(parts(&found, p_max.iter().map(|p| p.to_bits()).collect()))
}

fn parts(found: &Skeleton, p_max: Vec<u64>) -> Parts {
    let p = found.graph.p();
    let sets = (0..p).flat_map(|x| found.sepsets.row(x).map(move |(y, s)| (x, y, s.to_vec())).collect::<Vec<_>>());
    let graph = (0..p).flat_map(|x| found.graph.bit_row(x).to_vec()).collect();
    (graph, sets.collect(), found.tests.clone(), found.max_order, found.exact_tests, p_max)
}

/// Divides the bound by 2 for the first way of "stable", and by 4 for others, until it is refused. A refusal must name bytes that suffice. Returns
/// the number of bounds that sufficed.
fn halve(label: &str, data: &Data, n: f64, options: &Options, ways: &[(LevelOne, u64, usize)]) -> usize {
    let mut bounds = 0;
    for (way, &(level_one, shard_tests, threads)) in ways.iter().enumerate() {
        let part = if way == 0 && options.method == Method::Stable { 2 } else { 4 };
        let wanted = search(&mut data.whole(n, options, level_one), options);
        let solve = |bytes: u64| {
            let engine = data.bounded(n, options, threads, bytes)?;
            search(&mut engine.with_ways(level_one, shard_tests), options)
        };
        let mut bytes = Bound::of_all(data.p).max(64);
        loop {
            let found = solve(bytes);
            let Err(Error::Argument { argument: "memory", hint, .. }) = &found else {
                let label =
                    format!("{label}, {bytes} bytes, {threads} threads, {level_one:?}, shards of {shard_tests}");
                assert_eq!(found.as_ref().err(), wanted.as_ref().err(), "{label}");
                if let (Ok(found), Ok(wanted)) = (&found, &wanted) {
                    assert_eq!(found.0, wanted.0, "{label}: graph");
                    assert!(found.1 == wanted.1, "{label}: separating sets");
                    assert_eq!((&found.2, found.3), (&wanted.2, wanted.3), "{label}: counts");
                    assert_eq!(found.4, wanted.4, "{label}: exact tests");
                    assert!(found.5 == wanted.5, "{label}: p-values");
                }
                bounds += 1;
                bytes /= part;
                continue;
            };
            // The bytes that a refusal asks for suffice for the refused step, but a later step may ask for more.
            let mut hint = hint.clone();
            let mut least = bytes;
            loop {
                let words: Vec<&str> = hint.split(' ').collect();
                let at = words.iter().rposition(|word| word.starts_with("bytes")).unwrap();
                let asked: u64 = words[at - 1].parse().unwrap();
                assert!(asked > least && asked <= part * bytes.max(1), "{label}: {hint} after {bytes}");
                least = asked;
                match solve(least) {
                    Err(Error::Argument { argument: "memory", hint: more, .. }) => hint = more,
                    found => {
                        assert!(found == wanted, "{label}, {least} bytes");
                        break;
                    }
                }
            }
            break;
        }
    }
    bounds
}

#[test]
fn random_problems_have_one_answer() {
    let mut bounds = 0;
    for number in 0..150 {
        let options = problem(number).options;
        let mut random = Random(number + 77);
        let n = [5, 20, 60, 300][random.below(4)];
        let density = [0.1, 0.3, 0.6][random.below(3)];
        let singular = if random.uniform() < 0.3 { 0.3 } else { 0.0 };
        let mut columns = samples(&mut random, options.p, n, density, singular);
        columns.iter_mut().flatten().for_each(|value| *value += 10.0);
        let data = Data::of(&columns);
        let ways = [(LevelOne::ByDensity, 1 << 16, 2), (LevelOne::Masks, 1, 1), (LevelOne::Lists, 3, 4)];
        bounds += halve(&format!("problem {number}"), &data, n as f64, &options, &ways);
    }
    assert!(bounds > 150 * 4, "{bounds}");
}

/// Compares longer rows, with more variables than one word or one block holds, some of them heavy.
#[test]
fn larger_problems_have_one_answer() {
    for (number, (p, n, density, m_max)) in
        [(90, 60, 0.03, 9.0), (70, 40, 0.2, 3.0), (260, 80, 0.004, 9.0), (300, 40, 0.02, 2.0), (40, 4100, 0.1, 4.0)]
            .into_iter()
            .enumerate()
    {
        let data = Data::of(&samples(&mut Random(number as u64 + 3), p, n, density, 0.05));
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, m_max, ..Options::new(p, 0.05) };
            let ways = [(LevelOne::ByDensity, 1 << 16, 2), (LevelOne::Masks, 50, 4), (LevelOne::Lists, 2000, 1)];
            // Only "stable" takes all ways.
            let ways = if method == Method::Stable { &ways[..] } else { &ways[..1] };
            halve(&format!("{p} x {n} {method:?}"), &data, n as f64, &options, ways);
        }
    }
}

/// Compares ranks of a cluster that have a bound. They are asked for some columns of level 0 at a time, and compute more or fewer at once. They
/// decide shards in parts, or get shards that have none of their pairs.
#[test]
fn ranks_with_a_bound_have_one_answer() {
    let sparse = (200, 80, 0.01, 2.0, [3, 20, 60, 150].as_slice());
    let dense = (24, 3000, 0.4, 1.0, [2, 3, 5, 9, 24].as_slice());
    for (p, n, density, m_max, columns) in [sparse, dense] {
        let data = Data::of(&samples(&mut Random(3), p, n, density, 0.05));
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, m_max, ..Options::new(p, 0.01) };
            let wanted = search(&mut data.whole(n as f64, &options, LevelOne::ByDensity), &options).unwrap();
            let mut compared = 0;
            for (number, &columns) in columns.iter().enumerate() {
                let bytes = (8 * p * columns) as u64;
                // With little memory, a later level is refused.
                let Ok(_) = search(&mut data.bounded(n as f64, &options, 2, bytes).unwrap(), &options) else {
                    continue;
                };
                compared += 1;
                for shard_tests in [1 << 16, 20] {
                    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
                        let worker = data.bounded(n as f64, &options, 2, bytes).unwrap();
                        run(&mut worker.with_ways(LevelOne::ByDensity, shard_tests));
                    };
                    let ranks = vec![Manner::Sound; 1 + number % 3];
                    let found = with_ranks(&ranks, make, |cluster| search(cluster, &options));
                    let label = format!("{p} variables, {method:?}, {columns} columns, {} ranks", ranks.len());
                    let found = found.unwrap_or_else(|error| panic!("{label}: {error:?}"));
                    assert_eq!(found.0, wanted.0, "{label}: graph");
                    assert!(found.1 == wanted.1 && found.5 == wanted.5, "{label}: separating sets, p-values");
                }
            }
            assert!(compared > 2, "{p} variables: {compared}");
        }
    }
}

/// Compares level 1 with nearly all pairs adjacent, with copies of columns and with fixed edges.
#[test]
fn dense_problems_have_one_answer() {
    for number in 0..10 {
        let dense = dense_problem(number);
        let p = dense.options.p;
        let mut random = Random(number);
        let mut columns = samples(&mut random, p, 120, 0.1, [0.0, 0.2][number as usize % 2]);
        let common: Vec<f64> = (0..120).map(|_| random.normal()).collect();
        columns.iter_mut().for_each(|column| column.iter_mut().zip(&common).for_each(|(v, u)| *v += u));
        let data = Data::of(&columns);
        // One way each, as a search takes seconds; the first two problems take both.
        let ways = [(LevelOne::Masks, 1 << 16, 2), (LevelOne::Lists, 300, 3)];
        let ways = if number < 2 { &ways[..] } else { &ways[number as usize / 2 % 2..][..1] };
        halve(&format!("dense problem {number}"), &data, dense.n, &dense.options, ways);
    }
}

/// Compares with pcalg's recorded answers, on data that have the recorded correlations.
#[test]
fn recorded_cases() {
    let mut compared = 0;
    for case in cases("gauss-") {
        let (p, c) = (case.p(), case.correlations());
        // A square root of C stacked on its negative has mean 0 and the correlations C. If C is nearly singular, too few digits are right.
        let mut root = vec![0.0; p * p];
        let mut least = if c.iter().any(|r| r.is_nan()) { 0.0 } else { f64::INFINITY };
        for j in 0..p {
            let sum = |i: usize, root: &[f64]| (0..j).map(|k| root[i * p + k] * root[j * p + k]).sum::<f64>();
            let left = c[j * p + j] - sum(j, &root);
            least = least.min(left);
            root[j * p + j] = left.max(0.0).sqrt();
            for i in j + 1..p {
                root[i * p + j] = (c[j * p + i] - sum(i, &root)) / root[j * p + j];
            }
        }
        if !(least > 1e-6) {
            continue;
        }
        let column = |i: usize| root[i * p..(i + 1) * p].iter().flat_map(|v| [*v, -v]).collect::<Vec<f64>>();
        let data = Data::of_cells((0..p).flat_map(column).collect(), 2 * p);
        for (method, answer) in case.answers() {
            let options = case.options(method);
            let mut p_max = vec![0.0; p * p];
            for (threads, part) in [(1, 2), (2, 8), (4, 1)] {
                let bytes = (Bound::of_all(p) / part).max(16 * p as u64);
                let mut engine = data.bounded(case.n(), &options, threads, bytes).unwrap();
                match skeleton(&mut engine, &options, &mut p_max, &mut Unobserved) {
                    Err(Error::Argument { argument: "memory", .. }) => {}
                    found => {
                        case.check(&format!("{method:?}, {bytes} bytes"), answer, &found.unwrap(), &p_max);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared >= 60, "only {compared} comparisons");
}

/// Covers compact results, with the p-values only of pairs that level 0 leaves; one test at a time; and many questions at once.
#[test]
fn other_ways_to_ask() {
    let (p, n) = (60, 50);
    let data = Data::of(&samples(&mut Random(5), p, n, 0.05, 0.05));
    for method in [Method::Stable, Method::StableFast, Method::Original] {
        let options = Options { method, ..Options::new(p, 0.05) };
        let mut engine = data.bounded(n as f64, &options, 2, Bound::of_all(p) / 8).unwrap();
        let mut left = [PairValues::default(), PairValues::default()];
        let [of_data, of_all] = &mut left;
        let found = skeleton(&mut engine, &options, Largest::from(of_data), &mut Unobserved).unwrap();
        let mut whole = data.whole(n as f64, &options, LevelOne::default());
        let wanted = skeleton(&mut whole, &options, Largest::from(of_all), &mut Unobserved).unwrap();
        assert!(parts(&found, vec![]) == parts(&wanted, vec![]));
        for (x, y) in (0..p).flat_map(|y| (0..y).map(move |x| (x, y))) {
            assert_eq!(left[0].get(y, x).map(f64::to_bits), left[1].get(y, x).map(f64::to_bits));
        }
        let plan = engine.memory_plan();
        assert_eq!(plan[0], ("bound", Bound::of_all(p) / 8));
        assert!(plan[1..].iter().all(|&(_, bytes)| bytes > 0 && bytes <= plan[0].1), "{plan:?}");
        let mut p_max = [vec![0.0; p * p], vec![0.0; p * p]];
        let [of_data, of_all] = &mut p_max;
        let few = Options { m_max: 1.0, ..options.clone() };
        let asks = |worker: &mut dyn Worker, p_max: &mut Vec<f64>| {
            let mut test = pcgpu_core::search::worker::WorkerTest { worker, observer: &mut Unobserved };
            skeleton_one_by_one(&mut test, &few, p_max, &mut Unobserved).unwrap().tests
        };
        assert_eq!(asks(&mut engine, of_data), asks(&mut whole, of_all));
        assert_eq!(p_max[0], p_max[1]);
    }
    let options = Options::new(p, 0.05);
    let mut random = Random(9);
    for members in [0, 1, 3, 60] {
        let mut batch = Batch::new();
        for _ in 0..3000 {
            let (x, y) = (random.below(p - 1), p - 1 - random.below(3));
            let s: Vec<u32> = (0..p as u32).filter(|&v| v as usize != x && v as usize != y).collect();
            let some = s.into_iter().filter(|_| random.uniform() < members as f64 / p as f64).take(members.min(8));
            batch.push(x, y, &some.collect::<Vec<_>>());
        }
        let wanted = data.whole(n as f64, &options, LevelOne::default()).p_values(&batch, &mut Unobserved).unwrap();
        for (threads, bytes) in [(1, 16 * p as u64), (2, 5000), (4, 1 << 20)] {
            let mut engine = data.bounded(n as f64, &options, threads, bytes).unwrap();
            let found = engine.p_values(&batch, &mut Unobserved).unwrap();
            assert!(found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits()), "{members} of {bytes}");
        }
    }
    // Too few samples for any test: the error names the first pair, as with a matrix.
    let fast = Options { method: Method::StableFast, ..Options::new(p, 0.05) };
    let refused = search(&mut data.bounded(2.0, &fast, 2, 16 * p as u64).unwrap(), &fast).err();
    assert!(matches!(refused, Some(Error::Numeric { x: 0, y: 1, .. })), "{refused:?}");
}

#[test]
fn what_has_no_room_is_refused_before_it_is_computed() {
    let (p, n) = (50, 40);
    let mut columns = samples(&mut Random(1), p, n, 0.0, 0.0);
    let common: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    columns.iter_mut().for_each(|column| column.iter_mut().zip(&common).for_each(|(v, u)| *v += 3.0 * u));
    let data = Data::of(&columns);
    // With this many observations, level 1 separates nothing.
    let (observations, options) = (4000.0, Options::new(p, 0.001));
    let refused = data.bounded(observations, &options, 1, 16 * p as u64 - 1).err();
    let Some(Error::Argument { argument: "memory", value, hint }) = refused else { panic!("{refused:?}") };
    assert_eq!((value.as_str(), hint.contains("800 bytes")), ("799 bytes", true), "{hint}");
    struct Levels(usize);
    impl Observer for Levels {
        fn progress(&mut self, level: usize, _: f64, _: f64) -> Result<()> {
            self.0 = self.0.max(level);
            Ok(())
        }
    }
    let mut levels = Levels(0);
    let mut engine = data.bounded(observations, &options, 1, 16 * p as u64).unwrap();
    let refused = skeleton(&mut engine, &options, &mut vec![0.0; p * p], &mut levels).err();
    assert!(matches!(&refused, Some(Error::Argument { hint, .. }) if hint.contains("level 2")), "{refused:?}");
    assert_eq!(levels.0, 1);
    // If the bound is the machine's memory, the error is about memory.
    let bound = Bound { bytes: 10, is_named: false };
    let test = FisherZ::new(observations, Reading::GaussCItest).unwrap();
    let refused = GaussOfData::new(test, by_column(&data.cells, p).unwrap(), 0.05, 1, bound).err();
    assert!(matches!(refused, Some(Error::Memory { .. })), "{refused:?}");
}

/// Checks the estimate from the edges of some variables and from the edges that these share. A stop is noticed.
#[test]
fn searches_that_ask_for_few_are_told_apart() {
    let observations = 40;
    // The p variables have a common part of weight `common`, but `hubs` of them consist mostly of it.
    let asks = |p: usize, common: f64, hubs: usize, further: bool, observer: &mut dyn Observer| {
        let mut random = Random(11);
        let shared: Vec<f64> = (0..observations).map(|_| random.normal()).collect();
        let mut column = |common: f64, own: f64| shared.iter().map(|of| common * of + own * random.normal()).collect();
        let columns: Vec<Vec<f64>> =
            (0..p).map(|v| if (1..=hubs).contains(&v) { column(1.0, 0.3) } else { column(common, 1.0) }).collect();
        let cells = less_means(&columns);
        let bound = Bound { bytes: Bound::of_all(p), is_named: false };
        let test = FisherZ::new(observations as f64, Reading::StableFast).unwrap();
        GaussOfData::new(test, by_column(&cells, p).unwrap(), 1e-4, 2, bound)
            .unwrap()
            .are_few_asked_for(further, observer)
    };
    let asks_few =
        |p: usize, common: f64, hubs: usize, observer: &mut dyn Observer| asks(p, common, hubs, true, observer);
    let p = Bound::LEAST + 8;
    assert_eq!(asks_few(p, 0.0, 0, &mut Unobserved), Ok(true));
    assert_eq!(asks_few(p, 1.0, 0, &mut Unobserved), Ok(false));
    // Few edges except between a few variables and most others.
    assert_eq!(asks_few(p, 0.5, 6, &mut Unobserved), Ok(false));
    // If level 0 is the last, no correlations are needed later.
    assert_eq!(asks(p, 1.0, 0, false, &mut Unobserved), Ok(true));
    // With fewer variables, nothing is estimated.
    assert_eq!(asks_few(Bound::LEAST - 1, 0.0, 0, &mut Unobserved), Ok(false));
    assert_eq!(asks(Bound::LEAST - 1, 0.0, 0, false, &mut Unobserved), Ok(false));
    struct Ends;
    impl Observer for Ends {
        fn look(&mut self) -> Result<()> {
            Err(Error::Interrupted)
        }
    }
    assert_eq!(asks_few(p, 0.0, 0, &mut Ends), Err(Error::Interrupted));
}

/// Stops searches at every level, and while correlations are computed.
#[test]
fn a_search_stops_within_half_a_second() {
    struct Stops {
        at: usize,
        asked: Option<Instant>,
        patience: Duration,
    }
    impl Stops {
        fn stop(&mut self) -> Result<()> {
            let asked = *self.asked.get_or_insert_with(Instant::now);
            if asked.elapsed() >= self.patience {
                return Err(Error::Interrupted);
            }
            Ok(())
        }
    }
    impl Observer for Stops {
        fn level(&mut self, level: usize, _: usize) -> Result<()> {
            if level == self.at {
                self.stop()?;
            }
            Ok(())
        }

        fn progress(&mut self, _: usize, _: f64, _: f64) -> Result<()> {
            self.look()
        }

        fn look(&mut self) -> Result<()> {
            if self.asked.is_some() {
                self.stop()?;
            }
            Ok(())
        }
    }
    let (p, n) = (700, 300);
    let mut columns = samples(&mut Random(2), p, n, 0.0, 0.0);
    let common: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    columns.iter_mut().for_each(|column| column.iter_mut().zip(&common).for_each(|(v, u)| *v += 3.0 * u));
    let data = Data::of(&columns);
    for (method, level, part) in [
        (Method::Stable, 0, 64),
        (Method::Stable, 1, 64),
        (Method::StableFast, 1, 8),
        (Method::Stable, 2, 2),
        (Method::StableFast, 2, 2),
        (Method::Original, 1, 4),
    ] {
        let options = Options { method, ..Options::new(p, 1e-6) };
        stops_within_half_a_second(&format!("{method:?} at level {level}"), || {
            let mut engine = data.bounded(n as f64, &options, 2, Bound::of_all(p) / part).unwrap();
            let mut stops = Stops { at: level, asked: None, patience: Duration::from_millis(100) };
            let ended = skeleton(&mut engine, &options, &mut vec![0.0; p * p], &mut stops);
            // A search that ended before that level was not asked to stop.
            match (ended, stops.asked) {
                (Err(Error::Interrupted), Some(asked)) => asked.elapsed().saturating_sub(stops.patience),
                (ended, _) => ended.map(|_| Duration::ZERO).unwrap(),
            }
        });
    }
}
