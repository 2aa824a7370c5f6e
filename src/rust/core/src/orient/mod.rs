//! Orientation of a skeleton with separating sets to a CPDAG. Every option gives exactly the answer of pcalg 2.7-12, including its order
//! effects.
//!
//! The entry points are [`orient`], and [`add_arrows`] for a graph from any source. The submodules:
//!
//! * `pdag`: the answer; the graph under orientation is `graph::Marks`.
//! * `poll`: checks whether the caller wants to stop, reports events (`event`) to a listener, and shares work among threads.
//! * `colliders`, `rules`: collider orientation and rules 1-3 (`udag2pdagRelaxed`).
//! * `triples`, `separations`, `conservative`: the conservative and the majority rule (`pc.cons.intern`); `bound`: the rule only if it
//!   takes few tests.
//! * `extension`, `extendable`: `pdag2dag`, and its users `udag2pdag` and `udag2pdagSpecial`.
//! * `nearest`: `u2pd = "valid"`, which pcalg does not have: a DAG if the colliders allow none.
//! * `untested`: triples whose ends were not tested because of knowledge.
//! * `knowledge`: excluded arrows; `addition`: arrows added to an oriented graph.
//!
//! `graph::is_cpdag` decides whether the answer is a CPDAG. With knowledge, `extension` decides whether a DAG extends it.
//!
//! The work is proportional to the edges and unshielded triples, not to p x p matrices. Walks over triples take up to 64 of them at a time
//! (`graph::Packed`). Threads find what the graph at the start of a step implies. What depends on pcalg's order follows on one thread.
//!
//! No step runs on a GPU. With triples taken by words, most of the time goes to reading the graph and the sets on the host: 10,000 variables
//! and 1.4 million edges take 0.165 s on 16 cores without knowledge, and their search takes 0.080 s on an H200.

mod addition;
mod bound;
mod colliders;
mod conservative;
mod event;
mod extendable;
mod extension;
mod knowledge;
mod nearest;
mod pdag;
mod planes;
mod poll;
mod rules;
mod separations;
mod triples;
mod untested;

pub(crate) use colliders::ends;
pub(crate) use conservative::{judge_triple, judge_triples, Judge};
pub(crate) use extension::dag_of;
pub(crate) use poll::{On, Poll};
pub(crate) use separations::refuse_too_many;
pub(crate) use triples::{each_unshielded, Ambiguous};

pub use addition::{add_arrows, is_valid, Addition};
pub use bound::Bound;
pub use event::Event;
pub use knowledge::Knowledge;
pub use pdag::{Against, Pdag};
pub use poll::Tell;
pub use untested::needs_test;

use crate::ci::CiTest;
use crate::graph::{essential_graph, is_cpdag, Adjacency, Closure, Marks, SepSets};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::{Error, Result};
use bound::Answered;
use colliders::{orient_colliders, over_untested, Dispute};
use nearest::{nearest_dag, Nearest, SetsOf, Verdict};
use rules::{Rules, Version};
use triples::select_unshielded;

/// pcalg's `u2pd`: what to do when the colliders do not extend to a DAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `"relaxed"` (`udag2pdagRelaxed`): no check; the answer may not be a valid CPDAG.
    Relaxed,
    /// `"rand"` (`udag2pdag`): the CPDAG of a random DAG on the skeleton.
    Rand,
    /// `"retry"` (`udag2pdagSpecial`): up to 100 tries with disputed colliders reversed, then an extension with new colliders.
    Retry,
    /// `"valid"`, which pcalg does not have: the answer of [`Method::Relaxed`] if it is valid. Otherwise, the CPDAG of a DAG on the
    /// skeleton that contradicts few of the verdicts on unshielded triples.
    Valid,
}

impl Method {
    /// Returns whether the method accepts any collider rule, and knowledge.
    fn is_relaxed(self) -> bool {
        matches!(self, Method::Relaxed | Method::Valid)
    }
}

/// A rule that decides whether an unshielded triple is a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColliderRule {
    /// The separating sets of the skeleton decide.
    Standard,
    /// `conservative = TRUE` (Ramsey, Zhang and Spirtes 2006): all separating subsets of the neighbours must agree.
    Conservative,
    /// `maj.rule = TRUE` (Colombo and Maathuis 2014): more than half of the separating subsets must agree.
    Majority,
}

/// Options of [`orient`]. [`Options::default`] is pcalg's `pc()`.
#[derive(Clone)]
pub struct Options<'a> {
    /// `u2pd`
    pub method: Method,
    /// `conservative`, `maj.rule`. [`ColliderRule::Standard`] unless the method is [`Method::Relaxed`] or [`Method::Valid`].
    pub collider_rule: ColliderRule,
    /// Limit on the rule's tests: [`Options::settle`] falls back to the standard rule if it takes more. With a bound, tests without an
    /// answer have no vote; without one, they are errors, as in pcalg.
    pub bound: Option<Bound>,
    /// `solve.confl`: an edge that is wanted in both directions becomes bidirected; otherwise the later rule wins. Only with
    /// [`Method::Relaxed`].
    pub solve_conflicts: bool,
    /// `version.unf` of `pc.cons.intern`, each 1 or 2; `pc()` uses (2, 1).
    pub version_unf: [u8; 2],
    /// `unfVect` of `udag2pdagRelaxed`: triples (a, b, c), ends in any order, known to be ambiguous. Only with [`ColliderRule::Standard`]
    /// and [`Method::Relaxed`] or [`Method::Valid`]; the other collider rules find their own.
    pub ambiguous: Vec<[u32; 3]>,
    /// `orientCollider` of `udag2pdagRelaxed`. Only with [`Method::Relaxed`] or [`Method::Valid`].
    pub orient_colliders: bool,
    /// `rules` of `udag2pdagRelaxed`: which of rules 1 to 3 apply. Only with [`Method::Relaxed`] or [`Method::Valid`].
    pub rules: [bool; 3],
    /// Knowledge of edge directions. Only with [`Method::Relaxed`] or [`Method::Valid`]. Pairs that it kept from being tested are tested
    /// here; without a test, it stays open whether they have a collider ([`needs_test`]).
    pub knowledge: Knowledge,
    /// Size of the largest conditioning set of these tests; taken as at least 1. One more than the search's largest size covers every set
    /// that the search would have tested: the pair is not adjacent, so that no neighbour is left out.
    pub largest_set: usize,
    /// The threads that share the work.
    pub pool: Pool,
    /// Called now and then; if it returns true, the call ends with [`Error::Interrupted`].
    pub wants_to_stop: Option<&'a dyn Fn() -> bool>,
    /// Called with each line that pcalg prints with `verbose = TRUE`, in its order. Only with [`Method::Relaxed`] or [`Method::Valid`], as
    /// pcalg is otherwise silent. Tests are then run one by one.
    pub tell: Option<Tell<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            method: Method::Relaxed,
            collider_rule: ColliderRule::Standard,
            bound: None,
            solve_conflicts: false,
            version_unf: [2, 1],
            ambiguous: Vec::new(),
            orient_colliders: true,
            rules: [true; 3],
            knowledge: Knowledge::default(),
            largest_set: usize::MAX,
            pool: Pool::none(),
            wants_to_stop: None,
            tell: None,
        }
    }
}

/// Orients `skeleton` as pcalg 2.7-12 does.
///
/// * `sepsets`: on the skeleton's vertices. The conservative and the majority rule change them, as in pcalg's result.
/// * `alpha`, `test`: for the conservative and the majority rule, and if [`needs_test`]. a and c are independent given S when the p-value
///   is at least `alpha`.
/// * `permutation`: only for [`Method::Rand`] and [`Method::Retry`]. Called with p, it returns a random permutation of `0..p`. It is called
///   as often and in the same order as pcalg calls `sample.int(p)`.
///
/// # Errors
/// [`Error::Argument`] for options that pcalg refuses as well, if a needed test is missing, and if sizes do not match. Under the
/// conservative or majority rule also [`Error::Argument`] for a vertex of degree over 62, and [`Error::Numeric`] for a NaN p-value, where
/// pcalg stops too. [`Error::Interrupted`], [`Error::Memory`]. Errors of `test` and `permutation`.
pub fn orient(
    skeleton: &Adjacency,
    sepsets: &mut SepSets,
    options: &Options,
    alpha: f64,
    test: Option<&mut dyn CiTest>,
    permutation: &mut dyn FnMut(usize) -> Result<Vec<u32>>,
) -> Result<Pdag> {
    check(skeleton, sepsets, options)?;
    // For each direction of an edge: its marks, those of an extension and of an earlier try, and the lists of the rules.
    let edges = skeleton.edge_count();
    memory::room(128 * edges + 256 * skeleton.p(), Use::Orientation)?;
    let poll =
        Poll::new(options.wants_to_stop, options.tell.filter(|_| options.method.is_relaxed())).with_pool(&options.pool);
    let (mut overruled, mut undecided) = (0, 0);
    let (marks, extendable) = match options.method {
        Method::Relaxed => (relaxed(skeleton, sepsets, options, (alpha, test), &poll, &mut undecided)?.0, true),
        Method::Valid => {
            let (marks, judged) = relaxed(skeleton, sepsets, options, (alpha, test), &poll, &mut undecided)?;
            if is_valid_graph(&marks, skeleton, options, &poll)? {
                (marks, true)
            } else {
                let (marks, contradicted) = valid(skeleton, sepsets, &judged, &options.knowledge, &poll)?;
                overruled = contradicted;
                (marks, true)
            }
        }
        // Like pcalg, these leave a graph without edges alone and draw no random number.
        Method::Rand => extendable::rand(skeleton, sepsets, permutation, &poll)?,
        Method::Retry => extendable::retry(skeleton, sepsets, permutation, &poll)?,
    };
    let valid = is_valid_graph(&marks, skeleton, options, &poll)?;
    let against = spoken_against(skeleton, sepsets, options, &poll)?;
    let counts_untested = options.collider_rule == ColliderRule::Standard && !options.knowledge.is_some();
    let untested = match counts_untested && !sepsets.surely_separate_all(skeleton) {
        true => over_untested(&marks, &sepsets.unseparated(skeleton, &options.pool)?, &poll)?,
        false => 0,
    };
    memory::check()?;
    Ok(Pdag::from_marks(&marks, extendable, valid)
        .with_against(against)
        .with_overruled(overruled)
        .with_undecided(undecided)
        .with_untested(untested))
}

/// Returns whether the graph is a CPDAG or, with knowledge, whether a DAG extends it.
fn is_valid_graph(marks: &Marks, skeleton: &Adjacency, options: &Options, poll: &Poll) -> Result<bool> {
    match options.knowledge.is_some() {
        false => is_cpdag(marks, || poll.step()),
        true => extension::is_extendable(marks, skeleton, poll),
    }
}

/// Returns the CPDAG (with knowledge, the MPDAG) of the DAG that [`nearest`] finds, and how many verdicts it contradicts.
fn valid(
    skeleton: &Adjacency,
    sepsets: &SepSets,
    judged: &Judged,
    knowledge: &Knowledge,
    poll: &Poll,
) -> Result<(Marks, u64)> {
    let mut known = Marks::undirected(skeleton);
    knowledge.direct(&mut known);
    let (ambiguous, is_known) = (&judged.ambiguous, knowledge.is_some());
    let verdicts = |a: usize| {
        let mut sets = SetsOf::new(sepsets, a, known.slots(a).len());
        move |b: usize, c: usize| {
            if ambiguous.contains(a, b, c) || (is_known && !knowledge.leaves_open(a, b, c)) {
                Verdict::Open
            } else if judged.no_colliders().contains(a, b, c) || sets.contain(c, b) {
                Verdict::NotCollider
            } else {
                Verdict::Collider
            }
        }
    };
    let Nearest { mut dag, contradicted, .. } = nearest_dag(&known, skeleton, verdicts, poll)?;
    essential_graph(&mut dag, || poll.step())?;
    if knowledge.is_some() {
        knowledge.direct(&mut dag);
        let mut closure = Closure::new(dag);
        closure.complete();
        dag = closure.graph;
    }
    Ok((dag, contradicted))
}

/// Largest number of triples that are listed as contradicting knowledge.
const TOLD: usize = 1000;

fn spoken_against(skeleton: &Adjacency, sepsets: &SepSets, options: &Options, poll: &Poll) -> Result<Against> {
    let Options { knowledge, collider_rule, .. } = options;
    if !knowledge.is_some() || *collider_rule != ColliderRule::Standard || !options.orient_colliders {
        return Ok(Against::default());
    }
    let (count, triples) = select_unshielded(skeleton, poll, TOLD, |[x, y, z]| {
        knowledge.excludes(x, y, z) && {
            // Each set is looked up once, as there may be many triples.
            let sets = [sepsets.get(x, z), sepsets.get(z, x)];
            sets.iter().any(Option::is_some) && !sets.iter().flatten().any(|set| set.contains(&(y as u32)))
        }
    })?;
    Ok(Against { count, triples })
}

fn refuse(argument: &'static str, value: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::Argument { argument, value: value.into(), hint: hint.into() }
}

fn check(skeleton: &Adjacency, sepsets: &SepSets, options: &Options) -> Result<()> {
    let p = skeleton.p();
    if sepsets.p() != p {
        return Err(refuse(
            "sepset",
            format!("a list for {} variables", sepsets.p()),
            format!("give a list for the {p} variables of the skeleton"),
        ));
    }
    if options.version_unf.iter().any(|v| !(1..=2).contains(v)) {
        return Err(refuse("version.unf", format!("{:?}", options.version_unf), "give two numbers that are 1 or 2"));
    }
    if options.ambiguous.iter().flatten().any(|&v| v as usize >= p) {
        return Err(refuse(
            "unfVect",
            "has a triple that is not in the graph",
            format!("give triples of the {p} variables"),
        ));
    }
    if !options.method.is_relaxed() {
        if options.collider_rule != ColliderRule::Standard {
            return Err(refuse("u2pd", "not \"relaxed\"", "`conservative` and `maj.rule` need u2pd = \"relaxed\""));
        }
        if options.knowledge.is_some() {
            return Err(refuse("u2pd", "not \"relaxed\"", "background knowledge needs u2pd = \"relaxed\""));
        }
        if options.solve_conflicts {
            return Err(refuse("u2pd", "not \"relaxed\"", "`solve.confl = TRUE` needs u2pd = \"relaxed\""));
        }
    }
    if options.method == Method::Valid && options.solve_conflicts {
        return Err(refuse(
            "u2pd",
            "\"valid\"",
            "`solve.confl = TRUE` leaves conflicting edges, which a CPDAG cannot have; give u2pd = \"relaxed\"",
        ));
    }
    Ok(())
}

/// Triples that are not colliders, whatever the separating sets say.
struct Judged {
    /// Ambiguous triples, which Meek's rules do not use.
    ambiguous: Ambiguous,
    /// The ambiguous triples and those that tests of untested pairs found to be chains; `None` if there are no such chains.
    apart: Option<Ambiguous>,
}

impl Judged {
    fn no_colliders(&self) -> &Ambiguous {
        self.apart.as_ref().unwrap_or(&self.ambiguous)
    }
}

/// Returns the graph, and the triples that the rule leaves open.
fn relaxed(
    skeleton: &Adjacency,
    sepsets: &mut SepSets,
    options: &Options,
    (alpha, test): (f64, Option<&mut dyn CiTest>),
    poll: &Poll,
    undecided: &mut u64,
) -> Result<(Marks, Judged)> {
    let p = skeleton.p();
    let mut apart = None;
    let ambiguous = match options.collider_rule {
        ColliderRule::Standard => {
            let untested = untested::decide(skeleton, sepsets, options, (alpha, test))?;
            *undecided = untested.undecided;
            let ambiguous = || options.ambiguous.iter().chain(&untested.ambiguous).copied();
            if !untested.chains.is_empty() {
                apart = Some(Ambiguous::new(p, ambiguous().chain(untested.chains.iter().copied()), poll)?);
            }
            Ambiguous::new(p, ambiguous(), poll)?
        }
        rule => {
            let Some(test) = test else {
                return Err(refuse("indepTest", "missing", "give the test that `conservative` and `maj.rule` need"));
            };
            let judge = Judge { version_unf: options.version_unf, majority: rule == ColliderRule::Majority };
            let mut answered = Answered(test);
            let test: &mut dyn CiTest = if options.bound.is_some() { &mut answered } else { &mut *answered.0 };
            judge_triples(judge, (skeleton, &options.knowledge), sepsets, alpha, test, poll)?
        }
    };
    let (dispute, version) = if options.solve_conflicts {
        (Dispute::Conflict, Version::SolveConflicts)
    } else {
        (Dispute::Overwrite, Version::Relaxed)
    };
    let mut marks = Marks::undirected(skeleton);
    let judged = Judged { ambiguous, apart };
    if options.orient_colliders {
        let of = (judged.no_colliders(), &options.knowledge);
        orient_colliders(&mut marks, skeleton, sepsets, of, dispute, poll)?;
    }
    options.knowledge.direct(&mut marks);
    let [first, second, third] = options.rules;
    let enabled = [first, second, third, options.knowledge.is_some()];
    let rules = Rules { skeleton, ambiguous: &judged.ambiguous, version, enabled };
    rules.apply(&mut marks, poll)?;
    Ok((marks, judged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Side;

    fn refused(options: &Options, sepset_p: usize) -> &'static str {
        let mut sets = SepSets::new(sepset_p, Side::Smaller);
        match orient(&Adjacency::complete(3), &mut sets, options, 0.05, None, &mut |_| Ok(Vec::new())) {
            Err(Error::Argument { argument, .. }) => argument,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_pcalg_refuses_is_refused() {
        let default = Options::default;
        let conservative = ColliderRule::Conservative;
        assert_eq!(refused(&Options { method: Method::Rand, collider_rule: conservative, ..default() }, 3), "u2pd");
        assert_eq!(refused(&Options { method: Method::Retry, solve_conflicts: true, ..default() }, 3), "u2pd");
        assert_eq!(refused(&Options { collider_rule: conservative, ..default() }, 3), "indepTest");
        assert_eq!(refused(&Options { version_unf: [0, 1], ..default() }, 3), "version.unf");
        assert_eq!(refused(&Options { ambiguous: vec![[0, 1, 3]], ..default() }, 3), "unfVect");
        assert_eq!(refused(&default(), 4), "sepset");
    }

    #[test]
    fn graphs_without_edges_are_left_alone() {
        for method in [Method::Relaxed, Method::Rand, Method::Retry] {
            for p in [0, 1, 4] {
                let options = Options { method, ..Options::default() };
                let mut sets = SepSets::new(p, Side::Smaller);
                let mut never = |_| panic!("nothing to draw");
                let found = orient(&Adjacency::empty(p), &mut sets, &options, 0.05, None, &mut never).unwrap();
                assert_eq!((found.p(), found.directed_count(), found.undirected_count()), (p, 0, 0));
            }
        }
    }
}
