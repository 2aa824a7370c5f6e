//! The functions that R calls. Each returns its value, or the error list of [`crate::failure`].

use std::time::Instant;

use extendr_api::prelude::*;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::gauss::{Gauss, Reading, Undefined};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::orient::{self, ColliderRule};
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::worker::{Worker, WorkerTest};
use pcgpu_core::search::{
    skeleton_one_by_one, skeleton_one_by_one_within, skeleton_within, Largest, Method, Options, PairValues, Skeleton,
};
use pcgpu_core::simd::simd;
use pcgpu_core::Error;

use crate::checked;
use crate::compact::{self, Flat};
use crate::discrete::DiscreteTest;
use crate::doubts::{Doubts, LargestP};
use crate::failure::{respond, Failure, Outcome};
use crate::machine::Machine;
use crate::orientation::{graph_lists, judged, orientation, oriented, skeleton_lists, Oriented};
use crate::session::{Callbacks, RObserver, RTest};
use crate::test::Test;
use crate::token::{self, Token};
use crate::value::Value;
use crate::{
    api_assessment, api_blocks, api_effects, api_orientation, api_pag, api_ranks, api_stability, api_tests,
    api_workers, correlation, discrete, gpu, input, limits, output, selection,
};

/// R's callbacks: for reports, and for random numbers.
#[derive(Default)]
pub struct Listener {
    /// Of the search. With `test` every test is printed, in pcalg's order.
    pub callbacks: Callbacks,
    /// Of the orientation.
    pub event: Option<Robj>,
    pub permutation: Option<Robj>,
}

impl Listener {
    /// From `list(progress, level, visit, test, resumed, phase, say, event, permutation)`, each a function or NULL.
    fn from_list(callbacks: &List) -> Outcome<Self> {
        Ok(Listener {
            callbacks: Callbacks {
                progress: input::function(callbacks, "progress")?,
                level: input::function(callbacks, "level")?,
                visit: input::function(callbacks, "visit")?,
                test: input::function(callbacks, "test")?,
                resumed: input::function(callbacks, "resumed")?,
                phase: input::function(callbacks, "phase")?,
                say: input::function(callbacks, "say")?,
            },
            event: input::function(callbacks, "event")?,
            permutation: input::function(callbacks, "permutation")?,
        })
    }
}

/// A call from R: what it runs on, and whom it calls back.
pub struct Call<'a> {
    pub machine: Machine,
    pub listener: Listener,
    pub token: &'a Token,
}

impl<'a> Call<'a> {
    pub fn new(engine: &Robj, callbacks: &Robj, token: &'a Token) -> Outcome<Self> {
        let listener = Listener::from_list(&input::list(callbacks, "callbacks")?)?;
        Ok(Call { listener, ..Call::silent(engine, token)? })
    }

    /// One that calls nothing back.
    pub fn silent(engine: &Robj, token: &'a Token) -> Outcome<Self> {
        let machine = Machine::from_list(&input::list(engine, "engine")?)?;
        Ok(Call { machine, listener: Listener::default(), token })
    }

    /// A test, none of NULL.
    pub fn test(&self, test: &Robj) -> Outcome<Option<Test>> {
        match test.is_null() {
            true => Ok(None),
            false => Test::from_list(&input::list(test, "test")?, &self.machine.pool).map(Some),
        }
    }

    /// Tells the callback of progress alone.
    pub fn observer(&self) -> RObserver<'a> {
        let progress = self.listener.callbacks.progress.clone();
        RObserver::new(self.token, Callbacks { progress, ..Callbacks::default() })
    }
}

/// Runs the skeleton phase on a worker, or, of an R function without one, one test after the other; of that, how many tests had no answer.
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
                // The same search once more, one test after the other as pcalg asks them, for its lines.
                let mut one_by_one = WorkerTest { worker: &mut *worker, observer: &mut RObserver::silent(token) };
                let printing = Callbacks { progress: None, ..told.clone() };
                skeleton_one_by_one(&mut one_by_one, options, largest.again(), &mut RObserver::new(token, printing))
                    .map_err(|error| token.explain(error))?;
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
    Ok((found.map_err(|error| token.explain(error))?, unanswered))
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

    // Checked, and the device opened, before a p x p result is asked of R.
    let reading = match options.method {
        Method::StableFast => Reading::StableFast,
        Method::Stable | Method::Original => Reading::GaussCItest,
    };
    let mut observer = call.observer().within(limits).checking(check);
    // Other rules of orientation ask for so many correlations that all are made.
    let few = match (options.method, &orient) {
        (Method::Original, _) => None,
        (_, Some(orient)) if orient.collider_rule != ColliderRule::Standard && orient.bound.is_none() => None,
        _ => test.worker_of_few(p, (reading, options.alpha), options.allows(1), machine, &mut observer)?,
    };
    let worker = match few {
        Some(few) => Some(few),
        None => test.worker(p, reading, options.alpha, machine, &mut observer)?,
    };
    let mut p_max = if object.is_null() { None } else { Some(output::matrix(token, p, p, Use::Square)?) };
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
        // Until a card takes the check over; the other threads copy the matrix there meanwhile.
        Some(check) => {
            let run = || {
                run().inspect_err(|failure| {
                    if matches!(failure, Failure::Unwind(_)) {
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
    let doubts = Doubts::new(call, test, (&found, options), &largest, unanswered)?;
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
            // A graph whose search the time has ended is another one next time.
            let kept = found.ended.is_none().then_some((options, limits));
            let of = (&found.graph, &mut found.sepsets);
            let asked = (Some(test), options.alpha, questions);
            let Oriented { pdag, lost, unkept } = oriented(call, of, &orient, asked, kept)?;
            found.unkept = found.unkept.take().or(unkept);
            // One that the search has lost is tried again.
            for lost in lost {
                if team.lost.iter().all(|known| known.machine != lost.machine) {
                    team.lost.push(lost);
                }
            }
            Some(pdag)
        }
    };
    let mut result = match (&p_max, &pdag) {
        (Some(_), None) => skeleton_lists(token, &found.graph)?,
        (Some(_), Some(pdag)) => graph_lists(token, pdag)?,
        (None, pdag) => compact::found(token, &machine.pool, &found, &left, pdag.as_ref())?,
    };
    match p_max {
        None => result.extend(gaps.map(|gaps| ("gaps", gaps)).into_iter().chain(pdag.iter().flat_map(judged))),
        Some(p_max) => {
            output::fill_sepsets(token, object, &found.sepsets)?;
            result.push(("pMax", p_max.into()));
        }
    }
    let Skeleton { tests, max_order, exact_tests, ended, unkept, .. } = found;
    result.extend([
        ("n_edgetests", output::counts(&tests)),
        ("max_ord", Value::from(max_order)),
        ("seconds", Value::from(seconds)),
        ("exact_tests", Value::from(exact_tests as f64)),
        ("memory", output::named(memory.into_iter().map(|(name, bytes)| (name, Value::from(bytes as f64))).collect())),
        doubts.entry(),
        ("device", Value::from(machine.names(test.shares_with_cpu()))),
        ("team", output::shares(&team)),
        ("lost", output::lost(&team.lost)),
    ]);
    // Of a bounded rule, whether it was left for the standard one.
    result.extend(rule.map(|rule| ("standard_rule", Value::from(rule == ColliderRule::Standard))));
    result.extend(limits::end(ended, unkept));
    Ok(output::named(result))
}

/// Skeleton, and orientation unless `orient` is NULL. `object` is a fresh result, whose slot `sepset` is filled; NULL for flat arrays
/// of what was found.
/// @noRd
#[extendr]
fn rust_search(test: Robj, options: Robj, orient: Robj, engine: Robj, callbacks: Robj, object: Robj) -> Robj {
    respond([&test, &options, &orient, &engine, &callbacks, &object], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (options, listed) = (input::list(&options, "options")?, input::list(&test, "test")?);
        let limits = limits::limits(&options, &listed, &orient)?;
        let test = Test::from_list(&listed, &call.machine.pool)?;
        let unchecked = input::optional(&listed, "unchecked").is_some();
        checked::search(&call, &test, (&input::options(&options)?, &limits), unchecked, |of, check| {
            search(&call, &test, of, &orient, &object, check)
        })
    })
}

/// The p x p parts of pcalg's class, of a result in flat arrays: `pMax`, and the slot `sepset` of `object`, which is fresh.
/// `level0`: the p-values of level 0 as a p x p matrix, or NULL where they are not known.
/// @noRd
#[extendr]
fn rust_expand(found: Robj, level0: Robj, object: Robj) -> Robj {
    respond([&found, &level0, &object], |token| {
        let found = input::list(&found, "found")?;
        let p = input::count(&input::field(&found, "p")?, "p", 1)?;
        let flat = Flat::from_list(&found)?;
        let mut p_max = output::matrix(token, p, p, Use::Square)?;
        let cells = output::cells(&mut p_max)?;
        if level0.is_null() {
            cells.fill(compact::na());
        } else {
            let known = input::square(&level0, p, "level0")?;
            cells.copy_from_slice(
                known.to_slice_memory_order().ok_or_else(|| Failure::Input("internal: `level0`".into()))?,
            );
        }
        flat.fill_p_max(cells)?;
        output::fill_sepsets(token, &object, &flat.sepsets(&flat.graph()?)?)?;
        Ok(p_max.into())
    })
}

/// Whether C may be used as it is: ones on the diagonal, nothing beyond -1 and 1, symmetric, but for rounding and NA. 0: no, 1: yes, 2: with NA.
/// @noRd
#[extendr]
fn rust_is_correlation(c: Robj, p: Robj, threads: Robj) -> Robj {
    respond([&c, &p, &threads], |_| {
        let p = input::count(&p, "p", 1)?;
        let threads = input::count(&threads, "threads", 1)?;
        let check = Check::new(input::square(&c, p, "C")?);
        // Of fewer variables, one thread is quicker than several, and even to ask the system how many it has takes its time.
        let pool = if p < 1000 { Pool::none() } else { Pool::at_most(threads) };
        Ok(Value::from(match check.verdict(&pool) {
            None => 0,
            Some(has_na) => 1 + i32::from(has_na),
        }))
    })
}

/// Whether a value of a vector of integers, logicals or numbers is NA or NaN, and whether all others are 0 or 1.
/// @noRd
#[extendr]
fn rust_look_at_codes(x: Robj, threads: Robj) -> Robj {
    respond([&x, &threads], |_| {
        let threads = input::count(&threads, "threads", 1)?;
        let (any_missing, are_binary) = input::look_at_codes(&x, threads)?;
        Ok(output::named(vec![("missing", Value::from(any_missing)), ("are_binary", Value::from(are_binary))]))
    })
}

/// The object with these slots put in place; it must be fresh.
/// @noRd
#[extendr]
fn rust_fill_slots(object: Robj, slots: Robj) -> Robj {
    respond([&object, &slots], |token| output::fill_slots(token, &object, &input::list(&slots, "slots")?))
}

/// One p-value of pcalg's gaussCItest().
/// @noRd
#[extendr]
fn rust_gauss_p_value(x: Robj, y: Robj, s: Robj, c: Robj, n: Robj) -> Robj {
    respond([&x, &y, &s, &c, &n], |_| {
        let p = (c.len() as f64).sqrt() as usize;
        let gauss = Gauss::new(input::square(&c, p, "C")?, input::number(&n, "n")?, Reading::GaussCItest)?;
        let vertex = |value: &Robj, name: &str| {
            let found = input::vertices(value, p, name)?;
            match found[..] {
                [v] => Ok(v as usize),
                _ => Err(Failure::Input(format!("internal: `{name}` is not one vertex"))),
            }
        };
        let (x, y, s) = (vertex(&x, "x")?, vertex(&y, "y")?, input::vertices(&s, p, "S")?);
        match gauss.p_value(x, y, &s) {
            Ok(p) => Ok(Value::from(p)),
            Err(Undefined(reason)) => Err(Error::Numeric { x, y, s, reason }.into()),
        }
    })
}

/// One test of discrete variables: columns 1 and 2 of the data given all others.
/// @noRd
#[extendr]
fn rust_discrete_test(test: Robj) -> Robj {
    respond([&test], |_| {
        let test = DiscreteTest::from_list(&input::list(&test, "test")?, &Pool::none())?;
        if test.p() < 2 {
            return Err(Failure::Input("internal: `dm` has one column".into()));
        }
        let given: Vec<u32> = (2..test.p() as u32).collect();
        let test = test.test();
        let outcome = test.test(0, 1, &given);
        memory::check()?;
        Ok(output::named(vec![
            ("statistic", Value::from(outcome.statistic)),
            ("df", Value::from(outcome.df)),
            ("p", Value::from(outcome.p)),
            ("too_few", Value::from(outcome.too_few)),
            ("n", Value::from(test.data().n() as f64)),
            ("full_df", Value::from(test.full_df(0, 1, &given))),
        ]))
    })
}

/// Resumes a jump of R that was stopped on its way through Rust.
/// @noRd
#[extendr]
fn rust_continue_unwind(token: Robj) -> Robj {
    token::continue_unwind(token)
}

/// The codes of columns of whole numbers and factors.
/// @noRd
#[extendr]
fn rust_codes(x: Robj, n: Robj, factors: Robj, names: Robj, engine: Robj) -> Robj {
    respond([&x, &n, &factors, &names, &engine], |token| {
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        discrete::codes(&x, input::count(&n, "n", 1)?, &factors, &names, &machine, token)
    })
}

/// Smallest, largest and missing values of the columns of x, which has n rows.
/// @noRd
#[extendr]
fn rust_summary(x: Robj, n: Robj, complete: Robj, engine: Robj) -> Robj {
    respond([&x, &n, &complete, &engine], |token| {
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        correlation::summary(&x, input::count(&n, "n", 1)?, input::flag(&complete, "complete")?, &machine, token)
    })
}

/// The correlations of the columns of x, which has n rows, or the data ready to be correlated.
/// @noRd
#[extendr]
fn rust_correlation(x: Robj, n: Robj, options: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&x, &n, &options, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        correlation::matrix(&x, input::count(&n, "n", 1)?, &input::list(&options, "options")?, &call)
    })
}

/// Feature selection by mutual information.
/// @noRd
#[extendr]
fn rust_select(x: Robj, y: Robj, options: Robj, engine: Robj, progress: Robj) -> Robj {
    respond([&x, &y, &options, &engine, &progress], |token| {
        let (x, options) = (input::list(&x, "x")?, input::list(&options, "options")?);
        let engine = input::list(&engine, "engine")?;
        let machine = Machine::from_list(&engine)?;
        let progress = (!progress.is_null()).then(|| progress.clone());
        let mut observer = RObserver::new(token, Callbacks { progress, ..Callbacks::default() });
        selection::run(&x, &y, &options, &machine, &mut observer, token)
    })
}

/// The rows of a replicate of an ensemble.
/// @noRd
#[extendr]
fn rust_ensemble_rows(n: Robj, ensemble: Robj, replicate: Robj, draw: Robj) -> Robj {
    respond([&n, &ensemble, &replicate, &draw], |_| {
        let (n, replicate) = (input::count(&n, "n", 1)?, input::count(&replicate, "replicate", 1)?);
        selection::rows(n, &input::list(&ensemble, "ensemble")?, replicate, input::count(&draw, "draw", 0)?)
    })
}

/// The GPUs of this machine, as parallel vectors; `free`: with the free memory of all.
/// @noRd
#[extendr]
fn rust_devices(free: Robj) -> Robj {
    respond([&free], |_| gpu::devices(input::flag(&free, "free")?))
}

/// Whether a GPU may be had.
/// @noRd
#[extendr]
fn rust_may_have_gpu() -> Robj {
    respond([], |_| Ok(Value::from(gpu::may_be_there())))
}

/// Gives back what this process holds on GPUs.
/// @noRd
#[extendr]
fn rust_release() -> Robj {
    respond([], |_| {
        gpu::release();
        Ok(().into())
    })
}

/// The number of cores, for calls that name no threads.
/// @noRd
#[extendr]
fn rust_cores() -> i32 {
    default_threads() as i32
}

/// What this build and machine are; takes some milliseconds.
/// @noRd
#[extendr]
fn rust_info() -> Robj {
    respond([], |_| {
        Ok(output::named(vec![
            ("version", Value::from(env!("CARGO_PKG_VERSION"))),
            ("simd", Value::from(simd())),
            ("cores", Value::from(default_threads() as i32)),
            ("kernels", Value::from(gpu::kernels())),
        ]))
    })
}

extendr_module! {
    mod pcgpu;
    fn rust_search;
    use api_ranks;
    use api_workers;
    use api_orientation;
    use api_pag;
    use limits;
    fn rust_expand;
    fn rust_is_correlation;
    fn rust_look_at_codes;
    fn rust_fill_slots;
    fn rust_gauss_p_value;
    fn rust_discrete_test;
    use api_tests;
    fn rust_continue_unwind;
    fn rust_codes;
    fn rust_summary;
    fn rust_correlation;
    use api_assessment;
    use api_blocks;
    use api_effects;
    use api_stability;
    fn rust_select;
    fn rust_ensemble_rows;
    fn rust_devices;
    fn rust_may_have_gpu;
    fn rust_release;
    fn rust_cores;
    fn rust_info;
}
