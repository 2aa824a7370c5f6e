//! The functions that R calls for the stability of edges.

use extendr_api::prelude::*;

use crate::api::Call;
use crate::failure::respond;
use crate::value::Value;
use crate::{input, stability};

/// How often replicates have each edge.
/// @noRd
#[extendr]
fn rust_stability(test: Robj, options: Robj, orient: Robj, resampled: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &options, &orient, &resampled, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let list = |value: &Robj, name| input::list(value, name);
        let (test, options) = (list(&test, "test")?, list(&options, "options")?);
        stability::counts(&test, &options, &list(&orient, "orient")?, &list(&resampled, "resampled")?, &call)
    })
}

/// What replicates say of causal effects.
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
        let list = |value: &Robj, name| input::list(value, name);
        let (test, options, orient) = (list(&test, "test")?, list(&options, "options")?, list(&orient, "orient")?);
        let (resampled, effects) = (list(&resampled, "resampled")?, list(&effects, "effects")?);
        stability::bounds(&test, &options, &orient, &resampled, &effects, &call)
    })
}

/// Whether the graph of p vertices with these pairs, and the arrows among them, is a CPDAG; with knowledge, whether it has a DAG. All are vectors
/// of vertices: x before all y, tails before all heads.
/// @noRd
#[extendr]
fn rust_is_valid_graph(p: Robj, pairs: Robj, arrows: Robj, known: Robj) -> Robj {
    respond([&p, &pairs, &arrows, &known], |_| {
        let p = input::count(&p, "p", 1)?;
        stability::is_valid(p, &pairs, &arrows, input::flag(&known, "known")?).map(Value::from)
    })
}

extendr_module! {
    mod api_stability;
    fn rust_stability;
    fn rust_stable_effects;
    fn rust_is_valid_graph;
}
