//! FCI, RFCI and FCI+, and graphs with marks, as R names them.

use extendr_api::prelude::*;
use pcgpu_core::background::Background;
use pcgpu_core::fci::{self, By, Fci, Phase, Prepared};
use pcgpu_core::graph::{Adjacency, SepSets, Side};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::orient::{self, ColliderRule};
use pcgpu_core::pag::{self, Assumptions, Jci, Mark, Pag, Paths, Plus, Rfci, Unclear};
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::doubts::LargestP;
use pcgpu_core::search::possible_d_sep::{self as phase, Counts};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{self, Largest, Method, Options};
use pcgpu_core::team::TeamReport;
use pcgpu_core::Error;

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::machine::Machine;
use crate::orientation::collider_rule;
use crate::report::Report;
use crate::respond::{of_device, respond};
use crate::search::skeleton;
use crate::session::{self, RObserver, RTest};
use crate::test::{Setting, Test};
use crate::token::Token;
use crate::value::Value;
use crate::{input, limits, output};

/// The algorithm to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Fci,
    Rfci,
    FciPlus,
}

/// R's request, `list(algorithm, phase, rule, rules, paths, jci, context, knowledge)`.
pub struct Asked {
    algorithm: Algorithm,
    /// The possible-d-sep phase, and whether the skeleton's largest set limits the size of its sets.
    phase: Option<(Phase, bool)>,
    rule: ColliderRule,
    marking: Marking,
    background: Background,
}

/// The way to put marks on edges.
struct Marking {
    rules: [bool; 10],
    paths: Paths,
    jci: Jci,
}

impl Marking {
    fn from_list(list: &List, p: usize) -> Outcome<Self> {
        let given = list.field("rules")?;
        let given = given.as_logical_slice().filter(|rules| rules.len() == 10);
        let given = given.ok_or_else(|| Failure::Input("internal: `rules` is not ten values TRUE or FALSE".into()))?;
        let mut rules = [false; 10];
        rules.iter_mut().zip(given).for_each(|(rule, given)| *rule = given.is_true());
        let assumptions = list.choice(
            "jci",
            &[
                ("0", Assumptions::None),
                ("1", Assumptions::One),
                ("12", Assumptions::OneTwo),
                ("123", Assumptions::All),
            ],
        )?;
        let variables = list.vertices("context", p)?;
        let paths = list.choice("paths", &[("pcalg", Paths::Pcalg), ("all", Paths::All)])?;
        Ok(Marking { rules, paths, jci: Jci { assumptions, variables } })
    }

    fn options<'a>(&self, stop: &'a dyn Fn() -> bool, say: Option<pag::Say<'a>>) -> pag::Options<'a> {
        pag::Options {
            rules: self.rules,
            paths: self.paths,
            jci: self.jci.clone(),
            wants_to_stop: Some(stop),
            say,
            ..pag::Options::default()
        }
    }
}

impl Asked {
    pub fn from_list(list: &List, p: usize) -> Outcome<Self> {
        let algorithm = list.choice(
            "algorithm",
            &[("fci", Algorithm::Fci), ("rfci", Algorithm::Rfci), ("fciPlus", Algorithm::FciPlus)],
        )?;
        let phase = match list.optional_list("phase")? {
            None => None,
            Some(phase) => {
                let (m_max, most) = (phase.number("m_max")?, phase.number("most")?);
                Some((Phase { m_max, most, by_component: phase.flag("by_component")? }, phase.flag("adaptive")?))
            }
        };
        let background = input::background(list.field("knowledge")?, p)?;
        Ok(Asked { algorithm, phase, rule: collider_rule(list)?, marking: Marking::from_list(list, p)?, background })
    }
}

/// Searches, and puts marks on the remaining edges. `object` is a fresh result, whose slot `sepset` is filled.
pub fn search(call: &Call, test: &Test, of: (&List, &Limits), asked: &Asked, object: &Robj) -> Outcome<Value> {
    let Call { machine, token, .. } = call;
    let (mut options, limits) = (input::options(of.0)?, of.1);
    asked.background.enter_with_hidden(&mut options);
    let p = options.p;
    let worker = |of: Setting, machine: &Machine| test.worker(of, machine, &mut call.observer().within(limits));
    let after = Setting::after(p, options.alpha);
    let is_fast = options.method == Method::StableFast;
    let mut worked = worker(Setting::of(&options), machine)?;
    let mut p_max = output::matrix(token, p, p, Use::Square)?;
    let began = std::time::Instant::now();
    let of_search = (&options, limits);
    let largest = Largest::from(output::cells(&mut p_max)?);
    let (mut found, unanswered) = skeleton(call, test, of_search, worked.as_deref_mut(), largest, None)?;
    let largest = LargestP::Square(output::cells(&mut p_max)?);
    let doubts = test.doubts(call, (&found, &options), &largest, unanswered)?;
    let seconds = began.elapsed().as_secs_f64();
    let mut team = worked.as_mut().map_or_else(TeamReport::default, |worker| worker.team());
    let of_skeleton = team.shares.len();
    let mut memory = Vec::new();
    if is_fast {
        // What follows the skeleton asks pcalg's R function, whichever formula the skeleton used.
        memory.extend(worked.iter().flat_map(|worker| worker.memory_plan()));
        worked = worker(after, machine)?;
    }
    let mut names = machine.names(test.shares_with_cpu());
    let mut fallback = Value::from(());
    let phase = prepare(call, asked, &found)?;
    let of_phase = phase.as_ref().and_then(|phase| machine.later(|| phase.most_tests(&options, &found.graph)));
    if let Some(later) = of_phase {
        match worker(after, &later) {
            Ok(gpu) => {
                memory.extend(worked.iter().flat_map(|worker| worker.memory_plan()));
                names.extend(later.names(false));
                worked = gpu;
            }
            Err(Failure::Core(error @ Error::Device(_))) => fallback = of_device(error),
            Err(failure) => return Err(failure),
        }
    }
    let cells = output::cells(&mut p_max)?;
    // If the time limit ended the skeleton, a later call has another one. So the tests that follow are not kept.
    let nothing = Limits::default();
    let later = if found.ended.is_some() { &nothing } else { limits };
    let followed = follow(call, test, (&options, later), (asked, phase), worked.as_deref_mut(), &mut found, cells)?;
    memory.extend(worked.iter().flat_map(|worker| worker.memory_plan()));
    team.add(worked.as_mut().map_or_else(TeamReport::default, |worker| worker.team()));
    let (counts, pag) = (&followed.counts, &followed.pag);
    if asked.algorithm != Algorithm::FciPlus {
        output::fill_sepsets(token, object, &found.sepsets)?;
    }
    let of_phase = || counts.as_ref().and_then(|counts| counts.unkept.clone());
    found.unkept = found.unkept.take().or_else(of_phase).or_else(|| followed.unkept.clone());
    let ended_phase = counts.as_ref().and_then(|counts| counts.ended);
    let mut result = of_counts(token, counts.as_ref())?;
    result.extend(marks(token, pag)?);
    result.extend(Report { seconds, memory, doubts, device: names, team }.entries(&found));
    result.extend([
        ("pMax", p_max.into()),
        ("seconds_after", Value::from(began.elapsed().as_secs_f64() - seconds)),
        ("fallback", fallback),
        ("team_skeleton", Value::from(of_skeleton as i32)),
        ("ended_phase", ended_phase.map(|size| size as i32).into()),
    ]);
    Ok(output::named(result))
}

/// Prepares the possible-d-sep phase after a skeleton. Returns `None` if there is no such phase.
fn prepare(call: &Call, asked: &Asked, skeleton: &search::Skeleton) -> Outcome<Option<Prepared>> {
    let Call { machine, listener, token } = call;
    let Some((phase, is_adaptive)) = asked.phase else { return Ok(None) };
    let phase = match (skeleton.ended, is_adaptive) {
        // The time limit has passed.
        (Some(_), _) => Phase { m_max: 0.0, ..phase },
        (None, true) => Phase { m_max: f64::from(skeleton.max_order), ..phase },
        (None, false) => phase,
    };
    let stop = || token.wants_to_stop();
    let say = session::sayer(token, &listener.callbacks);
    let orient = asked.marking.options(&stop, say.as_ref().map(|say| say as pag::Say));
    let prepared = phase.prepare((&skeleton.graph, &skeleton.sepsets), &orient, &machine.pool);
    Ok(prepared.map(Some)?)
}

/// Runs the algorithm's steps after the skeleton.
fn follow(
    call: &Call,
    test: &Test,
    (options, limits): (&Options, &Limits),
    (asked, phase): (&Asked, Option<Prepared>),
    worker: Option<&mut (dyn Worker + '_)>,
    skeleton: &mut search::Skeleton,
    p_max: &mut [f64],
) -> Outcome<fci::Found> {
    let Call { listener, token, .. } = call;
    let mut in_turn;
    let mut by = match (worker, test) {
        (Some(worker), _) => By::Worker(worker),
        (None, Test::Function(fun)) => {
            in_turn = RTest::new(fun, token);
            By::Test(&mut in_turn)
        }
        (None, _) => return Err(Failure::Input("internal: there is no worker".into())),
    };
    let stop = || token.wants_to_stop();
    let callbacks = &listener.callbacks;
    let say = session::sayer(token, callbacks);
    let say = say.as_ref().map(|say| say as pag::Say);
    let event =
        |happened: &orient::Event| listener.event.as_ref().map_or(Ok(()), |fun| session::event(token, fun, happened));
    let tell: Option<orient::Tell> = if listener.event.is_some() { Some(&event) } else { None };
    let told = |x: usize, y: usize, s: &[u32], p: f64| {
        callbacks.test.as_ref().map_or(Ok(()), |fun| session::asked(token, fun, x, y, s, p))
    };
    let told: Option<pag::Asked> = if callbacks.test.is_some() { Some(&told) } else { None };

    let mut orient = asked.marking.options(&stop, say);
    orient.pool = call.machine.pool.clone();
    orient.known = asked.background.marks(&skeleton.graph);
    let required = (!asked.background.required.is_empty()).then(|| {
        let mut edges = Adjacency::empty(options.p);
        asked.background.required.iter().for_each(|&[from, to]| edges.insert(from as usize, to as usize));
        edges
    });
    let mut observer = RObserver::new(token, callbacks.clone());
    let found = match asked.algorithm {
        Algorithm::Fci => {
            let mut given = phase::Skeleton {
                graph: skeleton.graph.clone(),
                sepsets: std::mem::replace(&mut skeleton.sepsets, SepSets::new(0, Side::Smaller)),
                p_max,
            };
            let fci = Fci { phase, rule: asked.rule, orient, tell };
            let found = fci::fci(&mut by, &mut given, options, &fci, limits, &mut observer);
            (skeleton.graph, skeleton.sepsets) = (given.graph, given.sepsets);
            found
        }
        Algorithm::Rfci => {
            let rfci = Rfci {
                rules: orient.rules,
                paths: orient.paths,
                conservative: asked.rule == ColliderRule::Conservative,
                majority: asked.rule == ColliderRule::Majority,
                known: orient.known,
                fixed: required.as_ref(),
                wants_to_stop: Some(&stop),
                say,
                tell,
                asked: told,
            };
            by.rfci((&skeleton.graph, &mut skeleton.sepsets), (options, limits), &rfci, &mut observer)
        }
        Algorithm::FciPlus => {
            let fixed = options.fixed_edges.as_ref();
            let plus = Plus { fixed, wants_to_stop: Some(&stop), say, ..Plus::default() };
            let of = (&skeleton.graph, &mut skeleton.sepsets);
            by.fci_plus(of, (options, limits), (&plus, &orient), &mut observer)
        }
    };
    Ok(found?)
}

type Entries = Vec<(&'static str, Value)>;

/// Returns the counts of the possible-d-sep phase.
fn of_counts(token: &Token, counts: Option<&Counts>) -> Outcome<Entries> {
    let Some(counts) = counts else { return Ok(Vec::new()) };
    let sets: Vec<Vec<u32>> = counts.sets.iter().map(|set| set.clone().unwrap_or_default()).collect();
    Ok(vec![
        ("all_pdsep", output::vertex_lists(token, &sets)?.into()),
        ("max_ord_pdsep", Value::from(counts.max_order as i32)),
        ("n_edgetests_pdsep", output::counts(&counts.tests)),
        ("all_tests_pdsep", output::counts(&counts.all_tests)),
    ])
}

/// Returns marks as pcalg's matrix, and the disputed edges.
fn marks(token: &Token, pag: &Pag) -> Outcome<Entries> {
    let p = pag.p();
    let mut amat = output::matrix(token, p, p, Use::Square)?;
    let cells = output::cells(&mut amat)?;
    cells.fill(0.0);
    for u in 0..p {
        pag.row(u).for_each(|(v, mark)| cells[v as usize * p + u] = f64::from(mark as u8));
    }
    let disputed: Vec<i32> = pag.disputed().flat_map(|(u, v)| [u as i32 + 1, v as i32 + 1]).collect();
    Ok(vec![("amat", amat.into()), ("disputed", Value::from(disputed))])
}

/// Converts pcalg's matrix to a graph.
fn pag_of(amat: &Robj, p: usize) -> Outcome<Pag> {
    let cells = input::square(amat, p, "pag")?;
    let mut rows = Vec::with_capacity(p);
    for u in 0..p {
        let mut row = Vec::new();
        for (v, &number) in cells.row(u).iter().enumerate().filter(|(_, &number)| number != 0.0) {
            let mark = [1.0, 2.0, 3.0].iter().position(|&known| known == number);
            let mark = mark.and_then(|at| Mark::of(at as u8 + 1)).ok_or_else(|| {
                Failure::Core(Error::Argument {
                    argument: "pag",
                    value: format!("a matrix with {number} at [{}, {}]", u + 1, v + 1),
                    hint: "give only 0 (no edge), 1 (circle), 2 (arrowhead) and 3 (tail)".into(),
                })
            })?;
            row.push((v as u32, mark));
        }
        rows.push(row);
    }
    Ok(Pag::from_rows("pag", &rows)?)
}

/// Reads the unclear triples, three vertices each.
fn unclear(asked: &List, p: usize) -> Outcome<Unclear> {
    let triples = asked.vertices("unclear", p)?;
    Ok(triples.chunks_exact(3).map(|triple| [triple[0], triple[1], triple[2]]).collect())
}

/// Runs FCI, RFCI or FCI+, by `fci$algorithm`. `object` is a fresh result, whose slot `sepset` is filled.
/// @noRd
#[extendr]
fn rust_fci(test: Robj, options: Robj, fci: Robj, engine: Robj, callbacks: Robj, object: Robj) -> Robj {
    respond([&test, &options, &fci, &engine, &callbacks, &object], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (options, listed) = (input::list(&options, "options")?, input::list(&test, "test")?);
        let limits = limits::limits(&options, &listed, &fci)?;
        let p = options.count("p", 2)?;
        let test = Test::from_list(&listed, &call.machine.pool)?;
        let asked = Asked::from_list(&input::list(&fci, "fci")?, p)?;
        search(&call, &test, (&options, &limits), &asked, &object)
    })
}

/// Runs the possible-d-sep phase on a skeleton from any source, as pcalg's `pdsep()` does.
/// @noRd
#[extendr]
fn rust_pdsep(test: Robj, options: Robj, skeleton: Robj, asked: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&test, &options, &skeleton, &asked, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let test = Test::from_list(&input::list(&test, "test")?, &call.machine.pool)?;
        let (skeleton, asked) = (input::list(&skeleton, "skeleton")?, input::list(&asked, "asked")?);
        let Call { machine, listener, .. } = &call;
        let options = input::options(&input::list(&options, "options")?)?;
        let p = options.p;
        let graph = input::graph(&skeleton.list("edges")?, p)?;
        let sepsets = input::sepsets(&skeleton.list("sepset")?, p, None, &machine.pool)?;
        let mut p_max = output::matrix(token, p, p, Use::Square)?;
        let cells = output::cells(&mut p_max)?;
        let known = skeleton.field("pMax")?;
        let known = input::square(known, p, "pMax")?;
        let known = known.to_slice_memory_order().ok_or_else(|| Failure::Input("internal: `pMax`".into()))?;
        cells.copy_from_slice(known);
        let stop = || token.wants_to_stop();
        let say = session::sayer(token, &listener.callbacks);
        let say = say.as_ref().map(|say| say as pag::Say);
        let unclear = unclear(&asked, p)?;
        let candidates = pag::possible_d_sep(&graph, &sepsets, &unclear, &machine.pool, Some(&stop), say)?;
        let sets = phase::Sets { candidates, most: asked.number("most")?, by_component: asked.flag("by_component")? };
        let mut given = phase::Skeleton { graph, sepsets, p_max: cells };
        let mut observer = RObserver::new(token, listener.callbacks.clone());
        let limits = Limits::default();
        let mut worker = test.worker(Setting::after(p, options.alpha), machine, &mut call.observer())?;
        let counts = match (&mut worker, &test) {
            (Some(worker), _) => {
                phase::possible_d_sep(&mut **worker, &options, &mut given, &sets, &mut observer, &limits)
            }
            (None, Test::Function(fun)) => {
                let mut test = RTest::new(fun, token);
                phase::possible_d_sep_in_turn(&mut test, &options, &mut given, &sets, &mut observer, &limits)
            }
            (None, _) => Err(Error::Interrupted),
        };
        let counts = counts?;
        memory::check()?;
        let (edges, sepset) = (given.graph.to_lists(), output::sepsets(token, &given.sepsets)?);
        let lost = worker.map_or_else(Vec::new, |mut worker| worker.team().lost);
        let mut result = of_counts(token, Some(&counts))?;
        result.extend([
            ("edges", output::vertex_lists(token, &edges)?.into()),
            ("sepset", sepset.into()),
            ("pMax", p_max.into()),
            ("lost", output::lost(&lost)),
        ]);
        Ok(output::named(result))
    })
}

/// Puts marks on a graph that may already have some, as pcalg's `udag2pag()` does.
/// @noRd
#[extendr]
fn rust_orient_pag(amat: Robj, p: Robj, sepset: Robj, asked: Robj, engine: Robj, callbacks: Robj) -> Robj {
    respond([&amat, &p, &sepset, &asked, &engine, &callbacks], |token| {
        let call = Call::new(&engine, &callbacks, token)?;
        let (p, sepset) = (input::count(&p, "p", 1)?, input::list(&sepset, "sepset")?);
        let asked = input::list(&asked, "asked")?;
        let stop = || token.wants_to_stop();
        let say = session::sayer(token, &call.listener.callbacks);
        let say = say.as_ref().map(|say| say as pag::Say);
        let mut options = Marking::from_list(&asked, p)?.options(&stop, say);
        options.pool = call.machine.pool.clone();
        options.colliders = asked.flag("colliders")?;
        options.unclear = unclear(&asked, p)?;
        let sepsets = input::sepsets(&sepset, p, None, &call.machine.pool)?;
        let pag = pag::orient_marked(pag_of(&amat, p)?, &sepsets, &options)?;
        Ok(output::named(marks(token, &pag)?))
    })
}

extendr_module! {
    mod pag;
    fn rust_fci;
    fn rust_pdsep;
    fn rust_orient_pag;
}
