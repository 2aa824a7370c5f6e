//! Runs searches by the nearest-neighbour test on random graphs, as in the papers of GPU_CMIknn:
//!
//! ```text
//! knn_graphs time|quality [p=20] [n=1000] [k=7] [share=0] [graphs=1] [alpha=0.01] [limit=10] [strategies=shared,parallel,single,cpu]
//! ```
//!
//! `p`, `k` and `share` take several values, joined by commas. `time` prints `knn,P,K,SHARE,STRATEGY,seconds,tests` for each of them and
//! each strategy. The seconds are the median of the graphs' searches. If single tests suggest that a search takes more than `limit`
//! seconds, it prints `leftout` and this estimate. `quality` prints `quality,P,GRAPH,K,distance,edges,true edges`. The distance is the
//! structural Hamming distance between the true CPDAG and the result of the search and pcalg's orientation.
//!
//! Pairs of variables have an edge with probability 0.3, 0.1, 0.5, 0.2, 0.4 in turn. Effects are of mixed form (see `simulation::Kind`),
//! and `share` of the variables have levels. Data with levels use the estimator of Mesner and Shalizi, other data that of CMIknn. Both use
//! ranks over n with levels the whole range apart.

mod support;

use std::time::Instant;

use pcgpu_core::assessment::{compare, Graph};
use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::orient;
use pcgpu_core::pool::default_threads;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options};
use pcgpu_core::simulation::{Dag, Kind, Model, Shape};
use support::{simulated, Failure};

/// A data set, column by column, with the columns that have levels, and its graph.
struct Case {
    dag: Dag,
    cells: Vec<f64>,
    discrete: Vec<bool>,
}

fn case(p: usize, n: usize, share: f64, graph: usize) -> Result<Case, Failure> {
    let neighbours = [0.3, 0.1, 0.5, 0.2, 0.4][graph % 5] * (p as f64 - 1.0);
    let shape = Shape { p, model: Model::Independent, neighbours, weights: [0.5, 1.0], signs: true };
    let kind = if share > 0.0 { Kind::Mixed(share) } else { Kind::Nonlinear };
    let (dag, cells, levels) = simulated(&shape, n, kind, true, graph as u64)?;
    Ok(Case { dag, cells, discrete: levels.iter().map(|&levels| levels > 0).collect() })
}

impl Case {
    fn knn(&self, k: usize) -> Result<Knn, Failure> {
        let mixed = self.discrete.contains(&true);
        let settings = Settings {
            k,
            k_perm: 15,
            permutations: 100,
            estimator: if mixed { Estimator::MesnerShalizi } else { Estimator::FrenzelPompe },
            // For continuous data this equals ranks; levels that are one rank apart would not count.
            transform: Transform::Uniform,
            add_one: false,
            seed: 1,
            early_stop: None,
        };
        Ok(Knn::new(by_column(&self.cells, self.discrete.len())?, &self.discrete, settings)?)
    }

    fn truth(&self) -> Result<Graph, Failure> {
        let mut lists = vec![Vec::new(); self.discrete.len()];
        self.dag.from.iter().zip(&self.dag.to).for_each(|(&from, &to)| lists[from as usize].push(to));
        lists.iter_mut().for_each(|list| list.sort_unstable());
        Ok(Graph::from_lists("dag", &lists, &[])?.cpdag(|| Ok(()))?)
    }
}

fn worker<'a>(knn: &'a Knn, strategy: &str) -> Result<Box<dyn Worker + 'a>, Failure> {
    let strategy = match strategy {
        "shared" => KnnStrategy::Shared,
        "parallel" => KnnStrategy::Parallel { block: 0 },
        "single" => KnnStrategy::Single,
        "cpu" => return Ok(Box::new(CpuEngine::new(KnnKernel::new(knn), default_threads()))),
        other => return Err(format!("there is no strategy `{other}`").into()),
    };
    Ok(Box::new(KnnCudaEngine::new(knn, KnnCudaOptions { strategy, ..KnnCudaOptions::default() })?))
}

/// Returns the seconds per test in a batch of several tests, each given one variable.
fn of_one_test(knn: &Knn, p: usize, strategy: &str) -> Result<f64, Failure> {
    let tests = if strategy == "parallel" || strategy == "shared" { 32 } else { 4 };
    let mut batch = Batch::new();
    (0..tests).for_each(|test| batch.push(0, 1 + test % (p - 2), &[p as u32 - 1]));
    let mut worker = worker(knn, strategy)?;
    let mut seconds = 0.0;
    // The first run makes the GPU ready.
    for _ in 0..2 {
        let began = Instant::now();
        worker.p_values(&batch, &mut Unobserved)?;
        seconds = began.elapsed().as_secs_f64();
    }
    Ok(seconds / tests as f64)
}

struct Asked {
    n: usize,
    graphs: usize,
    alpha: f64,
    limit: f64,
    strategies: Vec<String>,
}

fn time(asked: &Asked, p: usize, k: usize, share: f64) -> Result<(), Failure> {
    let cases = (0..asked.graphs).map(|graph| case(p, asked.n, share, graph)).collect::<Result<Vec<_>, _>>()?;
    let options = Options::new(p, asked.alpha);
    // For each graph, the counts of the first strategy, which the others must match.
    let mut tests: Vec<Vec<u64>> = Vec::new();
    for strategy in &asked.strategies {
        let mut seconds = Vec::new();
        let each = of_one_test(&cases[0].knn(k)?, p, strategy)?;
        let all: u64 = tests.iter().flatten().sum();
        let one = each * all as f64 / asked.graphs as f64;
        if one > asked.limit {
            println!("leftout,{p},{k},{share},{strategy},{one:.1}");
            continue;
        }
        for (graph, case) in cases.iter().enumerate() {
            let knn = case.knn(k)?;
            let mut p_max = vec![0.0; p * p];
            let began = Instant::now();
            let mut worker = worker(&knn, strategy)?;
            let found = skeleton(&mut *worker, &options, &mut p_max, &mut Unobserved)?;
            seconds.push(began.elapsed().as_secs_f64());
            match tests.get(graph) {
                None => tests.push(found.tests),
                Some(tests) if *tests != found.tests => return Err(format!("{strategy} differs").into()),
                Some(_) => (),
            }
        }
        seconds.sort_by(f64::total_cmp);
        let all: u64 = tests.iter().flatten().sum();
        println!("knn,{p},{k},{share},{strategy},{:.4},{all}", seconds[seconds.len() / 2]);
    }
    Ok(())
}

fn quality(asked: &Asked, p: usize, ks: &[usize]) -> Result<(), Failure> {
    let options = Options::new(p, asked.alpha);
    for graph in 0..asked.graphs {
        let case = case(p, asked.n, 0.0, graph)?;
        let truth = case.truth()?;
        for &k in ks {
            let knn = case.knn(k)?;
            let mut p_max = vec![0.0; p * p];
            let mut found = skeleton(&mut *worker(&knn, &asked.strategies[0])?, &options, &mut p_max, &mut Unobserved)?;
            let none = &mut |_: usize| Ok(Vec::new());
            let standard = orient::Options::default();
            let pdag = orient::orient(&found.graph, &mut found.sepsets, &standard, asked.alpha, None, none)?;
            let lists: Vec<Vec<u32>> = (0..p).map(|v| pdag.edges_from(v).map(|(to, _)| to).collect()).collect();
            let compared = compare(&Graph::from_lists("fit", &lists, &[])?, &truth);
            println!("quality,{p},{graph},{k},{},{},{}", compared.distance, compared.edges[0], compared.edges[1]);
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |name: &str, default: &str| {
        let given = arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
        given.unwrap_or(default).to_string()
    };
    let numbers = |name: &str, default: &str| -> Result<Vec<usize>, Failure> {
        Ok(text(name, default).split(',').map(str::parse).collect::<Result<_, _>>()?)
    };
    let asked = Asked {
        n: text("n", "1000").parse()?,
        graphs: text("graphs", "1").parse()?,
        alpha: text("alpha", "0.01").parse()?,
        limit: text("limit", "10").parse()?,
        strategies: text("strategies", "shared,parallel,single,cpu").split(',').map(str::to_string).collect(),
    };
    let (ps, ks) = (numbers("p", "20")?, numbers("k", "7")?);
    match arguments.first().map(String::as_str) {
        Some("time") => {
            for p in ps {
                for &k in &ks {
                    for share in text("share", "0").split(',') {
                        time(&asked, p, k, share.parse()?)?;
                    }
                }
            }
            Ok(())
        }
        Some("quality") => ps.into_iter().try_for_each(|p| quality(&asked, p, &ks)),
        _ => Err("knn_graphs time|quality [p=] [n=] [k=] [share=] [graphs=] [alpha=] [limit=] [strategies=]".into()),
    }
}
