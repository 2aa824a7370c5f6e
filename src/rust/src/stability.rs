//! The stability of edges, from R.

use extendr_api::prelude::*;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::file::DataFile;
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::Method;
use pcgpu_core::stability::{lower_bounds, run, Counts, Drawn, Edge, Machine, Replicates, Search, Source};
use pcgpu_core::{orient, Error, Result};

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::knn::KnnData;
use crate::orientation::orientation;
use crate::respond::respond;
use crate::selection::{resampling, MOST_REPLICATES};
use crate::session::{self, RTest};
use crate::test::{Setting, Test};
use crate::value::Value;
use crate::{input, output};

/// The request for replicates.
struct Asked {
    search: Search,
    resampling: List,
    first: usize,
    count: usize,
}

impl Asked {
    fn from_list(options: &List, orient: &List, resampled: &List) -> Outcome<Self> {
        let options = input::options(options)?;
        let seed = resampled.count("seed", 0)? as u64;
        let orientation = orientation(orient, options.p)?;
        Ok(Asked {
            search: Search::new(options, &orientation, seed),
            resampling: resampled.clone(),
            first: resampled.count("first", 0)?,
            count: resampled.count("replicates", 1)?.min(MOST_REPLICATES),
        })
    }

    fn of<'a>(self, source: Source<'a>) -> Outcome<Replicates<'a>> {
        let Asked { search, resampling: listed, first, count } = self;
        if source.p() != search.options().p {
            return Err(Failure::Input(format!(
                "internal: {} columns for {} variables",
                source.p(),
                search.options().p
            )));
        }
        let resampling = resampling(&listed, source.n())?;
        Ok(Replicates { source, resampling, first, count, search })
    }
}

/// Runs replicates on the machine of a call.
fn on_machine<T>(
    of: &Replicates,
    call: &Call,
    run: impl FnOnce((&Pool, Option<&dyn Machine>), &mut dyn Observer) -> Result<T>,
) -> Outcome<T> {
    let gpu = Gpu { call, method: of.search.options().method, alpha: of.search.options().alpha };
    let machine: Option<&dyn Machine> = if call.machine.device.is_cpu() { None } else { Some(&gpu) };
    Ok(run((&call.machine.pool, machine), &mut call.observer())?)
}

/// Counts edges in replicates of data that Rust resamples.
fn of_source(source: Source, asked: Asked, call: &Call) -> Outcome<Counts> {
    let of = asked.of(source)?;
    on_machine(&of, call, |(pool, machine), observer| run(&of, pool, machine, observer))
}

/// The call's GPU as a machine for replicates.
struct Gpu<'c> {
    call: &'c Call<'c>,
    method: Method,
    alpha: f64,
}

impl Machine for Gpu<'_> {
    fn worker<'d>(&self, drawn: &'d Drawn) -> Result<Box<dyn Worker + 'd>> {
        let machine = &self.call.machine;
        let made = match drawn {
            Drawn::Gauss { .. } => match drawn.gauss(self.method)? {
                Some(gauss) => machine.gauss(gauss, None, self.alpha),
                None => Err(Failure::Core(Error::Interrupted)),
            },
            Drawn::Discrete(data, statistic, rule) => {
                machine.discrete(Discrete::new(data, *statistic, *rule), self.alpha)
            }
            Drawn::Knn(knn) => machine.knn(knn),
            Drawn::Mixed(test) => machine.mixed(test.clone()),
            Drawn::Features(test) => machine.features(test),
        };
        made.map_err(Failure::into_core)
    }
}

/// Counts edges in replicates whose tests R makes, one replicate after the other.
fn of_made(test: &List, asked: &Asked, call: &Call) -> Outcome<Counts> {
    let Call { machine, token, .. } = call;
    let make = test.function("make")?;
    let make = make.ok_or_else(|| Failure::Input("internal: `make` is missing".into()))?;
    let options = asked.search.options();
    let mut counts = Counts::default();
    let mut observer = call.observer();
    let total = asked.count as f64;
    for replicate in asked.first..asked.first + asked.count {
        observer.progress(0, (replicate - asked.first) as f64, total)?;
        let made = session::ask(token, &make, (replicate + 1) as f64)?;
        let test = Test::from_list(&input::list(&made, "test")?, &machine.pool)?;
        let mut quiet = session::RObserver::silent(token);
        let graph = match (test.worker(Setting::of(options), machine, &mut quiet)?, &test) {
            (Some(mut worker), _) => asked.search.graph(&mut *worker, replicate, &mut quiet),
            (None, Test::Function(fun)) => {
                let mut test = RTest::new(fun, token);
                asked.search.graph_one_by_one(&mut test, replicate, &mut quiet, &|| token.wants_to_stop())
            }
            (None, _) => Err(Error::Interrupted),
        };
        counts.enter(&graph?, false)?;
    }
    observer.progress(0, total, total)?;
    Ok(counts)
}

fn listed(counts: &Counts) -> Outcome<Vec<(&'static str, Value)>> {
    let edges = counts.edges()?;
    let vertex = |at: usize| Value::from(edges.iter().map(|(pair, _)| pair[at] as i32 + 1).collect::<Vec<i32>>());
    let count = |of: fn(&Edge) -> u32| Value::from(edges.iter().map(|(_, edge)| of(edge) as i32).collect::<Vec<i32>>());
    Ok(vec![
        ("x", vertex(0)),
        ("y", vertex(1)),
        ("forward", count(|edge| edge.forward)),
        ("backward", count(|edge| edge.backward)),
        ("undirected", count(|edge| edge.undirected)),
        ("bidirected", count(|edge| edge.bidirected)),
        ("replicates", Value::from(counts.replicates() as i32)),
        ("valid", Value::from(counts.valid() as i32)),
        ("constants", Value::from(counts.with_constants() as i32)),
    ])
}

/// Returns how often each pair x < y was adjacent, by mark:
/// `list(x, y, forward, backward, undirected, bidirected, replicates, valid, constants, device, tested, kept)`. `test` is as for a search,
/// with the data, or `list(kind = "each", make)`. `make(b)` returns the test of replicate b, from 1. `resampled` is
/// `list(seed, size, replace, n, first, replicates)`.
/// @noRd
#[extendr]
fn rust_stability(test: Robj, options: Robj, orient: Robj, resampled: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &options, &orient, &resampled, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (test, options) = (input::list(&test, "test")?, input::list(&options, "options")?);
        let asked =
            Asked::from_list(&options, &input::list(&orient, "orient")?, &input::list(&resampled, "resampled")?)?;
        let (tested, kept) = asked.search.options().decided();
        let mut with_cpu = false;
        let counts = match test.text("kind")? {
            "each" => of_made(&test, &asked, &call)?,
            "knn" => {
                with_cpu = true;
                let of = KnnData::from_list(&test)?;
                of_source(Source::Knn(of.view()?, &of.discrete, &of.names, of.settings), asked, &call)?
            }
            _ => match Test::from_list(&test, &call.machine.pool)? {
                Test::Discrete(test) => {
                    let (data, statistic, rule) = test.parts();
                    of_source(Source::Discrete(data, statistic, rule), asked, &call)?
                }
                Test::Features(test) => of_source(Source::Features(&test), asked, &call)?,
                Test::Mixed(test) => {
                    with_cpu = true;
                    match test.on_data() {
                        Some(test) => of_source(Source::Mixed(&test), asked, &call)?,
                        None => {
                            let test = test.test(&call.machine.pool, &mut |_| call.observer().look())?;
                            of_source(Source::Mixed(&test), asked, &call)?
                        }
                    }
                }
                Test::GaussOfData { x, file, .. } => {
                    let cells = file.as_ref().map_or_else(|| x.as_real_slice().unwrap_or_default(), DataFile::cells);
                    of_source(Source::Gauss(by_column(cells, asked.search.options().p)?), asked, &call)?
                }
                _ => return Err(Failure::Input("internal: the test has no data".into())),
            },
        };
        let mut found = listed(&counts)?;
        found.push(("device", Value::from(call.machine.names(with_cpu))));
        found.extend([("tested", Value::from(tested as f64)), ("kept", Value::from(kept as f64))]);
        Ok(output::named(found))
    })
}

/// Returns `list(bounds, device)` for the Gaussian test: the smallest absolute effect of each x on each y. It has a row for each y of each
/// x in turn, and a column for each replicate. `effects` is as for `rust_effects()`; with `standardised`, effects are in standard
/// deviations.
/// @noRd
#[extendr]
fn rust_stable_effects(
    test: Robj,
    options: Robj,
    orient: Robj,
    resampled: Robj,
    effects: Robj,
    engine: Robj,
    callbacks: Robj,
) -> Robj {
    respond([&test, &options, &orient, &resampled, &effects, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (test, options) = (input::list(&test, "test")?, input::list(&options, "options")?);
        let asked =
            Asked::from_list(&options, &input::list(&orient, "orient")?, &input::list(&resampled, "resampled")?)?;
        let effects = input::list(&effects, "effects")?;
        let p = asked.search.options().p;
        let standardised = effects.flag("standardised")?;
        let effects = crate::effects::asked(&effects, p)?;
        let Test::GaussOfData { x, file, .. } = Test::from_list(&test, &call.machine.pool)? else {
            return Err(Failure::Input("internal: the test has no data".into()));
        };
        let cells = file.as_ref().map_or_else(|| x.as_real_slice().unwrap_or_default(), DataFile::cells);
        let of = asked.of(Source::Gauss(by_column(cells, p)?))?;
        let mut bounds = output::matrix(call.token, effects.x.len() * effects.y.len(), of.count, Use::Pairs)?;
        let into = output::cells(&mut bounds)?;
        on_machine(&of, &call, |machine, observer| lower_bounds(&of, &effects, standardised, into, machine, observer))?;
        Ok(output::named(vec![("bounds", bounds.into()), ("device", Value::from(call.machine.names(false)))]))
    })
}

/// Returns whether a graph of p vertices is a CPDAG, or, with knowledge, whether it has a DAG. `pairs` are its edges, and `arrows` the
/// directed ones among them. Both are vectors of vertices: x before all y, tails before all heads.
/// @noRd
#[extendr]
fn rust_is_valid_graph(p: Robj, pairs: Robj, arrows: Robj, known: Robj) -> Robj {
    respond([&p, &pairs, &arrows, &known], |_| {
        let p = input::count(&p, "p", 1)?;
        memory::room(Adjacency::bytes(p), Use::Pairs)?;
        let mut skeleton = Adjacency::empty(p);
        for [x, y] in input::arrows(&pairs, p, "pairs")?.into_iter().filter(|[x, y]| x != y) {
            skeleton.insert(x as usize, y as usize);
        }
        let arrows = input::arrows(&arrows, p, "arrows")?;
        Ok(Value::from(orient::is_valid(&skeleton, &arrows, input::flag(&known, "known")?)?))
    })
}

extendr_module! {
    mod stability;
    fn rust_stability;
    fn rust_stable_effects;
    fn rust_is_valid_graph;
}
