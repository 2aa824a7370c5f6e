//! The functions that R calls for the orientation of a graph, and for the check of one that a user gives back.

use std::cell::Cell;

use extendr_api::prelude::*;
use pcgpu_core::orient::ColliderRule;

use crate::api::Call;
use crate::compact::Flat;
use crate::compact_sets::{self, Values};
use crate::failure::{respond, Failure};
use crate::orientation::{add_knowledge, graph_lists, judged, orientation, oriented, Oriented};
use crate::value::Value;
use crate::{input, output};

/// Orientation of a skeleton from anywhere, `list(p, edges, sepset)`.
/// @noRd
#[extendr]
fn rust_orient(skeleton: Robj, orient: Robj, test: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&skeleton, &orient, &test, &alpha, &engine, &callbacks], |token| {
        let skeleton = input::list(&skeleton, "skeleton")?;
        let part = |name: &str| input::list(&input::field(&skeleton, name)?, name);
        let p = input::count(&input::field(&skeleton, "p")?, "p", 1)?;
        let graph = input::graph(&part("edges")?, p)?;
        let options = orientation(&input::list(&orient, "orient")?, p)?;
        // The other rules change separating sets, and hand all of them back.
        let needed = (options.collider_rule == ColliderRule::Standard).then_some(&graph);
        let mut sepsets = input::sepsets(&part("sepset")?, p, needed)?;
        let call = Call::new(&engine, &callbacks, token)?;
        let test = call.test(&test)?;
        let alpha = input::number(&alpha, "alpha")?;
        let asked = (test.as_ref(), alpha, u64::MAX);
        let Oriented { pdag, lost, .. } = oriented(&call, (&graph, &mut sepsets), &options, asked, None)?;
        let mut result = graph_lists(token, &pdag)?;
        result.push(("lost", output::lost(&lost)));
        // The standard rule reads the separating sets and leaves them alone.
        if options.collider_rule != ColliderRule::Standard {
            result.push(("sepset", output::sepsets(token, &sepsets)?.into()));
        }
        Ok(output::named(result))
    })
}

/// Orientation of a skeleton in flat arrays; see [`Flat`].
/// @noRd
#[extendr]
fn rust_orient_compact(skeleton: Robj, orient: Robj, test: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&skeleton, &orient, &test, &alpha, &engine, &callbacks], |token| {
        let skeleton = Flat::from_list(&input::list(&skeleton, "skeleton")?)?;
        let call = Call::new(&engine, &callbacks, token)?;
        let test = call.test(&test)?;
        let graph = skeleton.graph()?;
        let options = orientation(&input::list(&orient, "orient")?, graph.p())?;
        let mut sepsets = skeleton.sepsets(&graph)?;
        let alpha = input::number(&alpha, "alpha")?;
        let asked = (test.as_ref(), alpha, u64::MAX);
        let Oriented { pdag, lost, .. } = oriented(&call, (&graph, &mut sepsets), &options, asked, None)?;
        let pool = &call.machine.pool;
        let mut result = Vec::from(judged(&pdag));
        result.push(("lost", output::lost(&lost)));
        result.push(("mark", skeleton.marks(token, pool, &graph, &pdag)?.into()));
        if options.collider_rule != ColliderRule::Standard {
            result.push(("sets", compact_sets::sets(token, pool, &sepsets, Values::Asked(&skeleton.removed()?))?));
        }
        Ok(output::named(result))
    })
}

thread_local! {
    /// The parts of the flat result that was found whole last, by address: R copies a list before it changes it, and users ask about one result pair by pair.
    static WHOLE: Cell<[usize; 4]> = const { Cell::new([0; 4]) };
}

/// Whether the parts of a result in flat arrays go together: TRUE, or the name of one that does not.
/// @noRd
#[extendr]
fn rust_check_flat(found: Robj) -> Robj {
    respond([&found], |_| {
        let found = input::list(&found, "found")?;
        // SAFETY: the addresses are compared alone.
        let address = |name: &str| input::field(&found, name).map(|part| unsafe { part.get() } as usize);
        let p = input::count(&input::field(&found, "p")?, "p", 1)?;
        let parts = [p, address("edges")?, address("sets")?, address("gaps")?];
        if WHOLE.get() == parts {
            return Ok(Value::from(true));
        }
        match Flat::from_list(&found) {
            Ok(_) => {
                WHOLE.set(parts);
                Ok(Value::from(true))
            }
            Err(Failure::Part(part)) => Ok(Value::from(part)),
            Err(failure) => Err(failure),
        }
    })
}

/// Knowledge added to a graph that has been oriented, as lists of where arcs go and their marks: the graph, or `list(kind, arrow)`, why it cannot have it.
/// @noRd
#[extendr]
fn rust_add_knowledge(edges: Robj, marks: Robj, knowledge: Robj, check: Robj) -> Robj {
    respond([&edges, &marks, &knowledge, &check], |token| {
        add_knowledge(token, &input::list(&edges, "edges")?, &marks, &knowledge, input::flag(&check, "check")?)
    })
}

extendr_module! {
    mod api_orientation;
    fn rust_orient;
    fn rust_orient_compact;
    fn rust_check_flat;
    fn rust_add_knowledge;
}
