//! The functions that R calls to assess graphs, and for random ones.

use extendr_api::prelude::*;
use pcgpu_core::assessment::Correction;

use crate::api::Call;
use crate::failure::respond;
use crate::{assessment, input, simulation};

/// A random DAG: `list(from, to, weight)`.
/// @noRd
#[extendr]
fn rust_random_dag(shape: Robj, seed: Robj) -> Robj {
    respond([&shape, &seed], |_| {
        simulation::dag(&input::list(&shape, "shape")?, input::count(&seed, "seed", 0)? as u64)
    })
}

/// Data of a DAG: `list(x, levels)`.
/// @noRd
#[extendr]
fn rust_random_data(dag: Robj, sample: Robj, seed: Robj, engine: Robj) -> Robj {
    respond([&dag, &sample, &seed, &engine], |token| {
        let seed = input::count(&seed, "seed", 0)? as u64;
        let call = Call::silent(&engine, token)?;
        simulation::data(&input::list(&dag, "dag")?, &input::list(&sample, "sample")?, seed, &call)
    })
}

/// The CPDAG of a DAG by edges: `list(from, to, directed)`; NULL for what is no DAG.
/// @noRd
#[extendr]
fn rust_cpdag(edges: Robj) -> Robj {
    respond([&edges], |token| assessment::cpdag(&edges, token))
}

/// Counts of estimated graphs beside the true one, a vector each.
/// @noRd
#[extendr]
fn rust_compare(estimates: Robj, truth: Robj, as_cpdags: Robj) -> Robj {
    respond([&estimates, &truth, &as_cpdags], |token| {
        let as_cpdags = input::flag(&as_cpdags, "as_cpdags")?;
        assessment::compared(&input::list(&estimates, "estimates")?, &input::list(&truth, "truth")?, as_cpdags, token)
    })
}

/// q-values of some p-values among others: `list(q, count)`.
/// @noRd
#[extendr]
fn rust_q_values(of: Robj, values: Robj, p: Robj, count: Robj, by: Robj) -> Robj {
    respond([&of, &values, &p, &count, &by], |_| {
        let correction = if input::flag(&by, "by")? { Correction::Yekutieli } else { Correction::Hochberg };
        assessment::adjusted(&of, &values, input::count(&p, "p", 0)?, input::number(&count, "count")?, correction)
    })
}

/// Questions that a graph implies the answers of: `list(x, y, start, members, all, extension)`.
/// @noRd
#[extendr]
fn rust_implied(edges: Robj, marks: Robj, asked: Robj) -> Robj {
    respond([&edges, &marks, &asked], |token| {
        assessment::implied(&edges, &marks, &input::list(&asked, "asked")?, token)
    })
}

/// p-values of the chosen of such questions about p variables.
/// @noRd
#[extendr]
fn rust_p_values(test: Robj, p: Robj, asked: Robj, chosen: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &p, &asked, &chosen, &alpha, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let Some(test) = call.test(&test)? else { return Ok(().into()) };
        let (p, alpha) = (input::count(&p, "p", 1)?, input::number(&alpha, "alpha")?);
        assessment::p_values(&call, &test, p, &input::list(&asked, "asked")?, &chosen, alpha)
    })
}

extendr_module! {
    mod api_assessment;
    fn rust_random_dag;
    fn rust_random_data;
    fn rust_cpdag;
    fn rust_compare;
    fn rust_q_values;
    fn rust_implied;
    fn rust_p_values;
}
