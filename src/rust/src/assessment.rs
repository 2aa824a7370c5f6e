//! Measures of how far graphs can be trusted, from R.

use extendr_api::prelude::*;
use pcgpu_core::assessment::{
    compare, dependences, independences, q_values, Comparison, Correction, Extension, Given, Graph, Implied,
};
use pcgpu_core::ci::{Batch, CiTest};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::observer::Observer;
use pcgpu_core::search::worker::WorkerTest;
use pcgpu_core::Error;

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::respond::respond;
use crate::session::{RObserver, RTest};
use crate::test::{Setting, Test};
use crate::token::Token;
use crate::value::{na, Value};
use crate::{input, output};

/// Reads a graph. `edges` has p vectors of the j with an arc i -> j. `marks` has p vectors of their marks, or is NULL if all are 1.
pub fn graph(argument: &'static str, edges: &Robj, marks: &Robj) -> Outcome<Graph> {
    let lists = input::vertex_lists(&input::list(edges, "edges")?)?;
    let mut conflicts = Vec::new();
    if !marks.is_null() {
        let marks = input::list(marks, "marks")?;
        for ((from, to), marks) in lists.iter().enumerate().zip(input::entries(&marks)) {
            let marks = marks.as_real_vector().unwrap_or_default();
            let both = to.iter().zip(marks).filter(|(_, mark)| *mark == 2.0);
            conflicts.extend(both.map(|(&to, _)| [from as u32, to]));
        }
    }
    Ok(Graph::from_lists(argument, &lists, &conflicts)?)
}

fn stoppable(token: &Token) -> impl FnMut() -> pcgpu_core::Result<()> + '_ {
    let mut observer = RObserver::silent(token);
    move || observer.look()
}

/// Number of questions that go to a machine at a time.
const AT_ONCE: usize = 1 << 14;

/// Returns the p-values of the `chosen` questions of `asked` about p variables. A test without an answer gives NA.
pub fn p_values(call: &Call, test: &Test, p: usize, asked: &List, chosen: &Robj, alpha: f64) -> Outcome<Value> {
    let (x, y, members) = (asked.vertices("x", p)?, asked.vertices("y", p)?, asked.vertices("members", p)?);
    let start = asked.field("start")?;
    let start = start.as_real_slice().unwrap_or_default();
    let chosen = input::vertices(chosen, x.len(), "chosen")?;
    let fits = start.len() == x.len() + 1 && y.len() == x.len();
    if !fits || start.windows(2).any(|two| !(two[0] >= 0.0 && two[0] <= two[1] && two[1] <= members.len() as f64)) {
        return Err(Failure::Input("internal: these are not questions".into()));
    }
    let mut found = memory::space(chosen.len(), Use::Level)?;
    let mut ask = |test: &mut dyn CiTest| -> pcgpu_core::Result<()> {
        let mut batch = Batch::new();
        let mut observer = call.observer();
        for part in chosen.chunks(AT_ONCE) {
            batch.clear();
            for &at in part {
                let at = at as usize;
                batch.push(x[at] as usize, y[at] as usize, &members[start[at] as usize..start[at + 1] as usize]);
            }
            found.extend(test.p_values(&batch)?.into_iter().map(|p| if p.is_nan() { na() } else { p }));
            observer.progress(0, found.len() as f64, chosen.len() as f64)?;
        }
        Ok(())
    };
    let token = call.token;
    match test.asked_worker(Setting::after(p, alpha), chosen.len(), &call.machine, &mut call.observer())? {
        Some(mut worker) => ask(&mut WorkerTest { worker: &mut *worker, observer: &mut RObserver::silent(token) }),
        None => match test {
            Test::Function(fun) => ask(&mut RTest::new(fun, token)),
            _ => Err(Error::Interrupted),
        },
    }?;
    Ok(Value::from(found))
}

/// Returns the CPDAG of a DAG as edges, `list(from, to, directed)`, or NULL if the graph is not a DAG.
/// @noRd
#[extendr]
fn rust_cpdag(edges: Robj) -> Robj {
    respond([&edges], |token| {
        let graph = graph("dag", &edges, &().into())?;
        if !graph.is_dag() {
            return Ok(().into());
        }
        let graph = graph.cpdag(stoppable(token))?;
        let (mut from, mut to, mut directed) = (Vec::new(), Vec::new(), Vec::new());
        for ([u, v], ways) in graph.edges() {
            let [u, v] = if ways[0] { [u, v] } else { [v, u] };
            from.push(u as i32 + 1);
            to.push(v as i32 + 1);
            directed.push(ways[0] != ways[1]);
        }
        Ok(output::named(vec![("from", from.into()), ("to", to.into()), ("directed", directed.into())]))
    })
}

/// Returns counts that compare each estimated graph with the true one. Graphs are `list(edges, weights)`. With `as_cpdags`, each DAG is
/// replaced by its CPDAG.
/// @noRd
#[extendr]
fn rust_compare(estimates: Robj, truth: Robj, as_cpdags: Robj) -> Robj {
    respond([&estimates, &truth, &as_cpdags], |token| {
        let as_cpdags = input::flag(&as_cpdags, "as_cpdags")?;
        let (estimates, truth) = (input::list(&estimates, "estimates")?, input::list(&truth, "truth")?);
        let read = |argument: &'static str, listed: &List| {
            let weights = listed.optional("weights").cloned().unwrap_or_default();
            let graph = graph(argument, listed.field("edges")?, &weights)?;
            let graph = if as_cpdags { graph.cpdag(stoppable(token))? } else { graph };
            Ok::<Graph, Failure>(graph)
        };
        let truth = read("true", &truth)?;
        let mut rows = Vec::new();
        for listed in input::entries(&estimates) {
            let Comparison { edges, common, heads, heads_on_common, common_heads, reversed, distance } =
                compare(&read("estimated", &input::list(listed, "estimated")?)?, &truth);
            let [on_estimated, on_truth] = heads_on_common;
            let counts = [edges[0], edges[1], common, heads[0], heads[1], common_heads, on_estimated, on_truth];
            let all = counts.into_iter().chain([reversed, distance]).map(|count| count as f64);
            rows.push(Value::from(all.collect::<Vec<f64>>()));
        }
        Ok(Value::List(rows))
    })
}

/// Returns `list(q, count)`: the q-values of `of`, and the number of tests. If p is positive, `values` is a p x p matrix whose upper
/// triangle has the tests. If p is 0, there are `count` tests, and `values` has the known p-values. Values below 0 are not tests.
/// @noRd
#[extendr]
fn rust_q_values(of: Robj, values: Robj, p: Robj, count: Robj, by: Robj) -> Robj {
    respond([&of, &values, &p, &count, &by], |_| {
        let correction = if input::flag(&by, "by")? { Correction::Yekutieli } else { Correction::Hochberg };
        let (p, count) = (input::count(&p, "p", 0)?, input::number(&count, "count")?);
        let wrong = || Failure::Input("internal: p-values are not doubles".into());
        let (of, values) = (of.as_real_slice().ok_or_else(wrong)?, values.as_real_slice().ok_or_else(wrong)?);
        if values.len() < p.saturating_mul(p) {
            return Err(wrong());
        }
        // A test without an answer removes its pair, as p = 1 does.
        let tests = |value: &f64| Some(if value.is_nan() { 1.0 } else { *value }).filter(|&value| value >= 0.0);
        let triangle = || (1..p).flat_map(|y| values[y * p..][..y].iter()).filter_map(tests);
        memory::room(32 * of.len(), Use::Pairs)?;
        let (found, count) = match p {
            0 => (q_values(of, || values.iter().filter_map(tests), count as u64, correction), count),
            _ => {
                let count = triangle().count();
                (q_values(of, triangle, count as u64, correction), count as f64)
            }
        };
        Ok(output::named(vec![("q", found.into()), ("count", count.into())]))
    })
}

/// Returns questions whose answers a graph implies: `list(x, y, start, members, all, extension)`. `asked` is `list(what, most, seed)`.
/// @noRd
#[extendr]
fn rust_implied(edges: Robj, marks: Robj, asked: Robj) -> Robj {
    respond([&edges, &marks, &asked], |token| {
        let asked = input::list(&asked, "asked")?;
        let graph = graph("fit", &edges, &marks)?;
        let most = asked.number("most")?.clamp(0.0, 1e9) as usize;
        let seed = asked.count("seed", 0)? as u64;
        let stop = || token.wants_to_stop();
        let Implied { questions, all, extension } = match asked.text("what")? {
            "parents" => independences(&graph, Given::Parents, most, seed, Some(&stop)),
            "blanket" => independences(&graph, Given::Blanket, most, seed, Some(&stop)),
            "edges" => dependences(&graph, most, seed, Some(&stop)),
            other => return Err(Failure::Input(format!("internal: `{other}` is unknown"))),
        }?;
        let extension = match extension {
            Extension::Same => "none",
            Extension::Colliders => "colliders",
            Extension::Cycles => "cycles",
        };
        let members: usize = questions.iter().map(|(_, _, s)| s.len()).sum();
        memory::room(16 * questions.len() + 4 * members, Use::Level)?;
        let (mut x, mut y, mut start, mut flat) = (Vec::new(), Vec::new(), vec![0.0], Vec::new());
        for (a, b, s) in questions.iter() {
            x.push(a as i32 + 1);
            y.push(b as i32 + 1);
            flat.extend(s.iter().map(|&v| v as i32 + 1));
            start.push(flat.len() as f64);
        }
        Ok(output::named(vec![
            ("x", x.into()),
            ("y", y.into()),
            ("start", start.into()),
            ("members", flat.into()),
            ("all", Value::from(all as f64)),
            ("extension", Value::from(extension)),
        ]))
    })
}

/// Returns the p-values of the chosen questions about p variables. `asked` is as `rust_implied()` returns it.
/// @noRd
#[extendr]
fn rust_p_values(test: Robj, p: Robj, asked: Robj, chosen: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &p, &asked, &chosen, &alpha, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let Some(test) = Test::optional(&test, &call.machine.pool)? else { return Ok(().into()) };
        let (p, alpha) = (input::count(&p, "p", 1)?, input::number(&alpha, "alpha")?);
        p_values(&call, &test, p, &input::list(&asked, "asked")?, &chosen, alpha)
    })
}

extendr_module! {
    mod assessment;
    fn rust_cpdag;
    fn rust_compare;
    fn rust_q_values;
    fn rust_implied;
    fn rust_p_values;
}
