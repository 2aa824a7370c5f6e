//! The functions that R calls for causal effects.

use extendr_api::prelude::*;

use crate::api::Call;
use crate::failure::respond;
use crate::{effects, input};

/// The effects of each x on each y: `list(columns, values, own, valid)`, or `list(smallest, valid)`.
/// @noRd
#[extendr]
fn rust_effects(edges: Robj, asked: Robj, mcov: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&edges, &asked, &mcov, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        effects::single(&input::list(&edges, "edges")?, &input::list(&asked, "asked")?, &mcov, &call)
    })
}

/// The effects of all x together on each y: `list(columns, values, valid)`.
/// @noRd
#[extendr]
fn rust_joint_effects(edges: Robj, asked: Robj, mcov: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&edges, &asked, &mcov, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        effects::joint(&input::list(&edges, "edges")?, &input::list(&asked, "asked")?, &mcov, &call)
    })
}

/// What is said of each pair: `list(smallest, median, count)`.
/// @noRd
#[extendr]
fn rust_effects_table(found: Robj, rows: Robj) -> Robj {
    respond([&found, &rows], |token| {
        effects::table(&input::list(&found, "found")?, input::count(&rows, "rows", 0)?, token)
    })
}

extendr_module! {
    mod api_effects;
    fn rust_effects;
    fn rust_joint_effects;
    fn rust_effects_table;
}
