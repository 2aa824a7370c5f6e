//! A search with its orientation, from R.

use std::time::Instant;

use extendr_api::prelude::*;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::orient::{self, ColliderRule};
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::doubts::LargestP;
use pcgpu_core::search::worker::{Worker, WorkerTest};
use pcgpu_core::search::{
    skeleton_one_by_one, skeleton_one_by_one_within, skeleton_within, Largest, Method, Options, PairValues, Skeleton,
};
use pcgpu_core::Error;

use crate::call::Call;
use crate::failure::Outcome;
use crate::input::Fields;
use crate::orientation::{graph_lists, judged, orientation, oriented, skeleton_lists, Oriented};
use crate::report::Report;
use crate::respond::respond;
use crate::session::{Callbacks, RObserver, RTest};
use crate::test::{Setting, Test};
use crate::value::Value;
use crate::{checked, compact, input, lazy, limits, output};

/// Runs the skeleton phase on a worker, or one test after the other if there is none, as for an R function. Also returns how many of the R
/// function's tests had no answer.
pub fn skeleton<'l>(
    call: &Call,
    test: &Test,
    (options, limits): (&Options, &Limits),
    worker: Option<&mut (dyn Worker + '_)>,
    mut largest: Largest<'l>,
    check: Option<&Check>,
) -> Outcome<(Skeleton, u64)> {
    let Call { listener, token, .. } = call;
    let mut unanswered = 0;
    let mut told = listener.callbacks.clone();
    let found = match (worker, test) {
        (Some(worker), _) => {
            if told.test.is_some() {
                // Runs the same search an extra time, one test after the other as pcalg does, to print its lines.
                let mut one_by_one = WorkerTest { worker: &mut *worker, observer: &mut RObserver::silent(token) };
                let printing = Callbacks { progress: None, ..told.clone() };
                skeleton_one_by_one(&mut one_by_one, options, largest.again(), &mut RObserver::new(token, printing))?;
                told = Callbacks { progress: told.progress, ..Callbacks::default() };
            }
            skeleton_within(worker, options, largest, &mut RObserver::new(token, told).checking(check), limits)
        }
        (None, Test::Function(fun)) => {
            let mut test = RTest::new(fun, token);
            let found =
                skeleton_one_by_one_within(&mut test, options, largest, &mut RObserver::new(token, told), limits);
            unanswered = test.unanswered;
            found
        }
        (None, _) => Err(Error::Interrupted),
    };
    Ok((found?, unanswered))
}

fn search(
    call: &Call,
    test: &Test,
    (options, limits): (&Options, &Limits),
    orient: &Robj,
    object: &Robj,
    check: Option<&Check>,
) -> Outcome<Value> {
    let Call { machine, token, .. } = call;
    let p = options.p;
    let orient = if orient.is_null() { None } else { Some(orientation(&input::list(orient, "orient")?, p)?) };

    // The check and the opening of the device come before R allocates a p x p result.
    let of = Setting::of(options);
    let mut observer = call.observer().within(limits).checking(check);
    // Other rules of orientation ask for so many correlations that all are computed.
    let few = match (options.method, &orient) {
        (Method::Original, _) => None,
        (_, Some(orient)) if orient.collider_rule != ColliderRule::Standard && orient.bound.is_none() => None,
        _ => test.worker_of_few(of, options.allows(1), machine, &mut observer)?,
    };
    let worker = match few {
        Some(few) => Some(few),
        None => test.worker(of, machine, &mut observer)?,
    };
    // Objects of pcalg's class have p x p slots. Large ones get these from the flat result, cell by cell.
    let lazy = if object.is_null() { None } else { test.cells(p) }.filter(|_| p >= lazy::least());
    let is_flat = object.is_null() || lazy.is_some();
    let mut p_max = if is_flat { None } else { Some(output::matrix(token, p, p, Use::Square)?) };
    let mut left = PairValues::default();
    let largest = match &mut p_max {
        Some(p_max) => Largest::from(output::cells(p_max)?),
        None => Largest::from(&mut left),
    };
    let began = Instant::now();
    let mut worker = worker;
    let run = || skeleton(call, test, (options, limits), worker.as_deref_mut(), largest, check);
    let (mut found, unanswered) = match check.filter(|_| machine.pool.threads() > 1) {
        None => run()?,
        // Half of the threads check until a GPU takes over. The others copy the matrix to the GPU meanwhile.
        Some(check) => {
            let run = || {
                run().inspect_err(|_| {
                    if token.jump().is_some() {
                        check.stop();
                    }
                })
            };
            machine.pool.beside(machine.pool.threads() / 2, || check.work(), run)?
        }
    };
    checked::agreed(check, &machine.pool)?;
    let seconds = began.elapsed().as_secs_f64();
    let (memory, mut team) = worker.map_or_else(Default::default, |mut worker| (worker.memory_plan(), worker.team()));
    let largest = match &mut p_max {
        Some(p_max) => LargestP::Square(output::cells(p_max)?),
        None => LargestP::Left(&left),
    };
    let doubts = test.doubts(call, (&found, options), &largest, unanswered)?;
    memory::check()?;
    let gaps = match p_max {
        None => Some(compact::gaps(token, &machine.pool, &found, &left, options)?),
        Some(_) => None,
    };
    let mut rule = None;
    let pdag = match &orient {
        None => None,
        Some(orient) => {
            let largest_set = (found.max_order + 1).max(0) as usize;
            let mut orient = orient::Options { largest_set, ..orient.clone() };
            let questions = orient.settle(&found.graph, found.tests.iter().sum())?;
            rule = Some(orient.collider_rule);
            // If the time limit ended the search, a later call has another graph. So the tests of the orientation are not kept.
            let kept = found.ended.is_none().then_some((options, limits));
            let of = (&found.graph, &mut found.sepsets);
            let asked = (Some(test), options.alpha, questions);
            let Oriented { pdag, lost, unkept } = oriented(call, of, &orient, asked, kept)?;
            found.unkept = found.unkept.take().or(unkept);
            team.lose(lost);
            Some(pdag)
        }
    };
    let mut result = match &pdag {
        _ if object.is_null() => compact::found(token, &machine.pool, &found, &left, pdag.as_ref())?,
        None => skeleton_lists(token, &found.graph)?,
        Some(pdag) => graph_lists(token, pdag)?,
    };
    let gaps = gaps.map(|gaps| ("gaps", gaps));
    match (p_max, lazy) {
        (Some(p_max), _) => {
            output::fill_sepsets(token, object, &found.sepsets)?;
            result.push(("pMax", p_max.into()));
        }
        (None, None) => result.extend(gaps.into_iter().chain(pdag.iter().flat_map(judged))),
        (None, Some(of)) => {
            let method = if options.method == Method::StableFast { "stable.fast" } else { "stable" };
            let mut parts = vec![("p", Value::from(p as i32)), ("method", Value::from(method))];
            parts.extend(compact::found(token, &machine.pool, &found, &left, None)?);
            parts.extend(gaps);
            result.push(("pMax", lazy::slots(token, parts, of, (object, &found.sepsets), &machine.pool)?.into()));
        }
    }
    let device = machine.names(test.shares_with_cpu());
    result.extend(Report { seconds, memory, doubts, device, team }.entries(&found));
    // For a bounded rule, reports whether the standard one replaced it.
    result.extend(rule.map(|rule| ("standard_rule", Value::from(rule == ColliderRule::Standard))));
    Ok(output::named(result))
}

/// Searches a skeleton, and orients it unless `orient` is NULL. `object` is a fresh result, whose slot `sepset` is filled. If `object` is
/// NULL, the result comes in flat arrays.
/// @noRd
#[extendr]
fn rust_search(test: Robj, options: Robj, orient: Robj, engine: Robj, callbacks: Robj, object: Robj) -> Robj {
    respond([&test, &options, &orient, &engine, &callbacks, &object], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (options, listed) = (input::list(&options, "options")?, input::list(&test, "test")?);
        let limits = limits::limits(&options, &listed, &orient)?;
        let test = Test::from_list(&listed, &call.machine.pool)?;
        let unchecked = listed.optional("unchecked").is_some();
        checked::search(&call, &test, (&input::options(&options)?, &limits), unchecked, |of, check| {
            search(&call, &test, of, &orient, &object, check)
        })
    })
}

extendr_module! {
    mod search;
    fn rust_search;
}
