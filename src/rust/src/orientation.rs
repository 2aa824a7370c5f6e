//! The orientation of a skeleton, and graphs as the lists from which R makes its own.

use extendr_api::prelude::*;
use pcgpu_core::background::Added;
use pcgpu_core::ci::CiTest;
use pcgpu_core::flat::Values;
use pcgpu_core::graph::{Adjacency, SepSets};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::orient::{self, Against, Bound, ColliderRule, Pdag};
use pcgpu_core::search;
use pcgpu_core::search::checkpoint::{Later, Limits};
use pcgpu_core::search::worker::WorkerTest;
use pcgpu_core::team::Lost;
use pcgpu_core::Error;

use crate::call::Call;
use crate::compact::{self, Found};
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::respond::respond;
use crate::session::{self, RObserver, RTest};
use crate::test::{Setting, Test};
use crate::token::Token;
use crate::value::Value;
use crate::{input, output};

/// Reads the rule for v-structures.
pub fn collider_rule(list: &List) -> Outcome<ColliderRule> {
    let rules = [
        ("standard", ColliderRule::Standard),
        ("conservative", ColliderRule::Conservative),
        ("majority", ColliderRule::Majority),
    ];
    list.choice("rule", &rules)
}

/// Reads how to orient a graph of p variables.
pub fn orientation(orient: &List, p: usize) -> Outcome<orient::Options<'static>> {
    let methods = [
        ("relaxed", orient::Method::Relaxed),
        ("rand", orient::Method::Rand),
        ("retry", orient::Method::Retry),
        ("valid", orient::Method::Valid),
    ];
    let version = orient.field("version_unf")?;
    let version = version.as_integer_slice().filter(|v| v.len() == 2 && v.iter().all(|v| (1..=2).contains(v)));
    let version = version.ok_or_else(|| Failure::Input("internal: `version_unf` is not two of 1, 2".into()))?;
    let bound = match orient.optional("bound") {
        None => None,
        Some(two) => match two.as_real_slice() {
            Some(&[least, tests_each]) => Some(Bound { least: least as u64, tests_each: tests_each as u64 }),
            _ => return Err(Failure::Input("internal: `bound` is not two numbers".into())),
        },
    };
    Ok(orient::Options {
        method: orient.choice("u2pd", &methods)?,
        collider_rule: collider_rule(orient)?,
        bound,
        solve_conflicts: orient.flag("solve_confl")?,
        version_unf: [version[0] as u8, version[1] as u8],
        knowledge: input::background(orient.field("knowledge")?, p)?.knowledge(p),
        largest_set: orient.number("largest_set")?.max(0.0) as usize,
        ..orient::Options::default()
    })
}

/// An orientation.
pub struct Oriented {
    pub pdag: Pdag,
    /// The machines that failed meanwhile.
    pub lost: Vec<Lost>,
    /// The reason why its tests were not kept, if they were not.
    pub unkept: Option<Error>,
}

/// Orients with the tests and random numbers of the call. `questions` is the largest number of tests that the rule of `options` makes, see
/// [`orient::Options::settle`]. `search` has the options and limits of the search that found the graph, if the tests are kept.
pub fn oriented(
    call: &Call,
    (graph, sepsets): (&Adjacency, &mut SepSets),
    options: &orient::Options,
    (test, alpha, questions): (Option<&Test>, f64, u64),
    search: Option<(&search::Options, &Limits)>,
) -> Outcome<Oriented> {
    let Call { machine, listener, token } = call;
    let permutation = listener.permutation.clone();
    let mut draw = |k: usize| match &permutation {
        Some(fun) => session::permutation(token, fun, k),
        None => Err(Error::Argument {
            argument: "permutation",
            value: "missing".into(),
            hint: "give a function, which this `u2pd` needs".into(),
        }),
    };
    let wants_to_stop = || token.wants_to_stop();
    let event = listener.event.clone();
    let tell = |happened: &orient::Event| event.as_ref().map_or(Ok(()), |fun| session::event(token, fun, happened));
    let tell: Option<orient::Tell> = if event.is_some() { Some(&tell) } else { None };
    let pool = machine.pool.clone();
    let options = &orient::Options { pool, wants_to_stop: Some(&wants_to_stop), tell, ..options.clone() };
    // Pairs that knowledge left out are tested under the standard rule, too.
    let asks = options.collider_rule != ColliderRule::Standard || orient::needs_test(graph, sepsets, options)?;
    let Some(test) = test.filter(|_| asks) else {
        let found = orient::orient(graph, sepsets, options, alpha, None, &mut draw);
        return Ok(Oriented { pdag: found?, lost: Vec::new(), unkept: None });
    };
    // A test without an answer has no vote in a bounded rule, or about pairs that were left out. So the p-value itself is kept.
    let votes = options.bound.is_some() || options.collider_rule == ColliderRule::Standard;
    let threshold = (tell.is_none() && !votes).then_some(alpha);
    let later = search.map(|(of, limits)| Later::new(of, limits, (graph, sepsets), threshold));
    let mut run = |test: &mut dyn CiTest| {
        let mut ask = |test: &mut dyn CiTest| orient::orient(graph, sepsets, options, alpha, Some(test), &mut draw);
        match &later {
            Some(later) => later.run(test, ask),
            None => ask(test).map(|pdag| (pdag, None)),
        }
    };
    if let (Test::Function(fun), None) = (test, &machine.ranks) {
        let (pdag, unkept) = run(&mut RTest::new(fun, token))?;
        return Ok(Oriented { pdag, lost: Vec::new(), unkept });
    }
    let questions = questions.min(usize::MAX as u64) as usize;
    let worker = test.asked_worker(Setting::after(graph.p(), alpha), questions, machine, &mut call.observer())?;
    let Some(mut worker) = worker else { return Err(Failure::Input("internal: there is no worker".into())) };
    let test = &mut WorkerTest { worker: &mut *worker, observer: &mut RObserver::silent(token) };
    let (pdag, unkept) = run(test)?;
    Ok(Oriented { pdag, lost: worker.team().lost, unkept })
}

/// Returns a graph with marks as lists: `edges`, `marks` (NULL if all are 1) and counts.
pub fn graph_lists(token: &Token, pdag: &Pdag) -> Outcome<Vec<(&'static str, Value)>> {
    // Memory for each entry's number and mark, while the lists grow.
    memory::room(10 * pdag.entries() + 64 * pdag.p(), Use::Orientation)?;
    let mut edges = Vec::with_capacity(pdag.p());
    let mut marks = Vec::with_capacity(pdag.p());
    for i in 0..pdag.p() {
        let (to, mark): (Vec<u32>, Vec<u8>) = pdag.edges_from(i).unzip();
        edges.push(to);
        marks.push(mark);
    }
    let plain = marks.iter().flatten().all(|&m| m == 1);
    let mut lists = Vec::from(judged(pdag));
    lists.extend([
        ("edges", output::vertex_lists(token, &edges)?.into()),
        ("marks", if plain { Value::Null } else { output::mark_lists(token, &marks)?.into() }),
        (
            "counts",
            output::named(vec![
                ("directed", Value::from(pdag.directed_count() as i32)),
                ("undirected", Value::from(pdag.undirected_count() as i32)),
                ("bidirected", Value::from(pdag.bidirected_count() as i32)),
            ]),
        ),
    ]);
    Ok(lists)
}

/// Returns the facts about an orientation as a whole.
pub fn judged(pdag: &Pdag) -> [(&'static str, Value); 6] {
    let Against { count, triples } = pdag.against();
    let triples: Vec<i32> = triples.iter().flatten().map(|&v| v as i32 + 1).collect();
    let against = output::named(vec![("count", Value::from(*count as f64)), ("triples", Value::from(triples))]);
    [
        ("extendable", Value::from(pdag.extendable())),
        ("valid_cpdag", Value::from(pdag.is_valid())),
        ("against", against),
        ("overruled", Value::from(pdag.overruled() as f64)),
        ("undecided", Value::from(pdag.undecided() as f64)),
        ("untested", Value::from(pdag.untested() as f64)),
    ]
}

/// Returns a skeleton as lists, as [`graph_lists`] does.
pub fn skeleton_lists(token: &Token, graph: &Adjacency) -> Outcome<Vec<(&'static str, Value)>> {
    memory::room(16 * graph.edge_count() + 32 * graph.p(), Use::Pairs)?;
    Ok(vec![
        ("edges", output::vertex_lists(token, &graph.to_lists())?.into()),
        ("marks", ().into()),
        (
            "counts",
            output::named(vec![
                ("directed", Value::from(0)),
                ("undirected", Value::from(graph.edge_count() as i32)),
                ("bidirected", Value::from(0)),
            ]),
        ),
    ])
}

/// Orients a skeleton from any source, `list(p, edges, sepset)`.
/// @noRd
#[extendr]
fn rust_orient(skeleton: Robj, orient: Robj, test: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&skeleton, &orient, &test, &alpha, &engine, &callbacks], |token| {
        let skeleton = input::list(&skeleton, "skeleton")?;
        let p = skeleton.count("p", 1)?;
        let graph = input::graph(&skeleton.list("edges")?, p)?;
        let options = orientation(&input::list(&orient, "orient")?, p)?;
        // The other rules change separating sets, and return all of them.
        let needed = (options.collider_rule == ColliderRule::Standard).then_some(&graph);
        let call = Call::new(&engine, &callbacks, token)?;
        let mut sepsets = input::sepsets(&skeleton.list("sepset")?, p, needed, &call.machine.pool)?;
        let test = Test::optional(&test, &call.machine.pool)?;
        let alpha = input::number(&alpha, "alpha")?;
        let asked = (test.as_ref(), alpha, u64::MAX);
        let Oriented { pdag, lost, .. } = oriented(&call, (&graph, &mut sepsets), &options, asked, None)?;
        let mut result = graph_lists(token, &pdag)?;
        result.push(("lost", output::lost(&lost)));
        // The standard rule only reads the separating sets.
        if options.collider_rule != ColliderRule::Standard {
            result.push(("sepset", output::sepsets(token, &sepsets)?.into()));
        }
        Ok(output::named(result))
    })
}

/// Orients a skeleton in flat arrays.
/// @noRd
#[extendr]
fn rust_orient_compact(skeleton: Robj, orient: Robj, test: Robj, alpha: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&skeleton, &orient, &test, &alpha, &engine, &callbacks], |token| {
        let found = Found::from_list(&input::list(&skeleton, "skeleton")?)?;
        let call = Call::new(&engine, &callbacks, token)?;
        let pool = &call.machine.pool;
        let skeleton = found.flat(pool)?;
        let test = Test::optional(&test, pool)?;
        let graph = skeleton.graph(pool)?;
        let options = orientation(&input::list(&orient, "orient")?, graph.p())?;
        let mut sepsets = skeleton.sepsets(&graph, pool)?;
        let alpha = input::number(&alpha, "alpha")?;
        let asked = (test.as_ref(), alpha, u64::MAX);
        let Oriented { pdag, lost, .. } = oriented(&call, (&graph, &mut sepsets), &options, asked, None)?;
        let mut result = Vec::from(judged(&pdag));
        result.push(("lost", output::lost(&lost)));
        result.push(("mark", compact::marks(token, pool, &skeleton, (&graph, &pdag))?.into()));
        if options.collider_rule != ColliderRule::Standard {
            let removed = |x: usize, y: usize| skeleton.removed(x, y);
            result.push(("sets", compact::sets(token, pool, &sepsets, &Values::Asked(&removed))?));
        }
        Ok(output::named(result))
    })
}

/// Adds background knowledge to a graph. `edges` has p vectors of the j with an arc i -> j. `marks` has p vectors of their marks, or is
/// NULL if all are 1.
/// @noRd
#[extendr]
fn rust_add_knowledge(edges: Robj, marks: Robj, knowledge: Robj, check: Robj) -> Robj {
    respond([&edges, &marks, &knowledge, &check], |token| {
        let (edges, check) = (input::list(&edges, "edges")?, input::flag(&check, "check")?);
        let arcs = input::vertex_lists(&edges)?;
        let mut has_conflict = false;
        if !marks.is_null() {
            for marks in input::entries(&input::list(&marks, "marks")?) {
                has_conflict |= marks.as_real_vector().is_some_and(|marks| marks.contains(&2.0));
            }
        }
        let wants_to_stop = || token.wants_to_stop();
        let background = input::background(&knowledge, arcs.len())?;
        match background.add_to(&arcs, has_conflict, check, Some(&wants_to_stop))? {
            Added::Graph(pdag) => Ok(output::named(graph_lists(token, &pdag)?)),
            Added::Refused(kind, arrow) => {
                let arrow: Vec<i32> = arrow.iter().flatten().map(|&v| v as i32 + 1).collect();
                Ok(output::named(vec![("kind", Value::from(kind)), ("arrow", Value::from(arrow))]))
            }
        }
    })
}

extendr_module! {
    mod orientation;
    fn rust_orient;
    fn rust_orient_compact;
    fn rust_add_knowledge;
}
