//! The possible-d-sep phase of FCI (Spirtes et al. 2000; Colombo et al. 2012). It removes edges of a skeleton that subsets of
//! possible-d-sep sets separate, in the order of pcalg's `pdsep()`.
//!
//! Every edge x - y is visited from x = 1, 2, ..., then from its other end if it is still there. Its sets are the subsets of the candidates
//! of x without y, by size, then in lexicographic order. Sets that consist of neighbours of x are left out. The first set that separates
//! removes the edge. Neighbours are those of x when its turn comes. The outcome of a set depends on the pair alone. So workers decide all
//! pairs ahead, on any threads, and a walk in pcalg's order enters what they found:
//!
//! * `visits`: the walk, with pcalg's counts; `ahead`: the questions to workers; `in_turn`: one question at a time.

mod ahead;
mod candidates;
mod in_turn;
mod visits;

use super::checkpoint::{Asked, Digest, Keeper, Limits};
use super::worker::Worker;
use super::{Largest, Options};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::{Error, Result};
use ahead::Ahead;
use candidates::Candidates;
use in_turn::InTurn;

/// The state that the phase begins with, and changes.
pub struct Skeleton<'p> {
    /// The edges.
    pub graph: Adjacency,
    /// Separating sets of the other pairs. Sets that the phase finds are entered at both ends.
    pub sepsets: SepSets,
    /// pcalg's `pMax`: `pMax[x, y]` is at `y * p + x`. Only that entry is raised, not `[y, x]`.
    pub p_max: &'p mut [f64],
}

/// The sets that are tried.
pub struct Sets {
    /// The candidates of each vertex, ascending, without the vertex itself. They include its neighbours.
    pub candidates: Vec<Vec<u32>>,
    /// Largest number of candidates without the other vertex (`pdsep.max`). Pairs with more are left unchanged.
    pub most: f64,
    /// Whether the candidates of an edge are limited to its biconnected component (`biCC`).
    pub by_component: bool,
}

/// What pcalg reports of the phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// pcalg's `n.edgetests`: number of tests by size of the set, from size 0 to the last size of the last edge that was tested.
    pub tests: Vec<u64>,
    /// The last size for the last edge that was tested: pcalg's `max.ord`.
    pub max_order: usize,
    /// Number of all tests, by size.
    pub all_tests: Vec<u64>,
    /// For each vertex, the candidates of its last edge, then the other end of that edge. `None` if it had no edge when its turn came.
    pub sets: Vec<Option<Vec<u32>>>,
    /// Number of tests that the exact formula decided.
    pub exact_tests: u64,
    /// The size at which the time limit ended the phase, if it did. The result has nothing of that size, as with an `m_max` below it.
    pub ended: Option<usize>,
    /// Why the last state could not be saved, if it could not.
    pub unkept: Option<Error>,
}

/// Returns the number of tests of the phase if no set separates anything, as a float because it may exceed 64 bits.
pub fn most_tests(options: &Options, graph: &Adjacency, sets: &Sets) -> f64 {
    Candidates::new(options, graph, sets).most_tests(options, graph)
}

/// Runs the phase on a worker. It uses alpha, `na_delete`, `m_max`, `fixed_edges` and tiers of `options`. With tiers, candidates are of no
/// later tier than one of the two ends. The phase may be saved, resumed, and ended by a time limit, see [`Counts::ended`].
///
/// # Errors
/// [`Error::Argument`] if sizes do not match; [`Error::Overflow`] for a pair with more than 2^63 sets; [`Error::Numeric`] where pcalg
/// stops; [`Error::Checkpoint`] if the file belongs to another search or cannot be created; any error of the worker or the observer.
pub fn possible_d_sep(
    worker: &mut dyn Worker,
    options: &Options,
    skeleton: &mut Skeleton,
    sets: &Sets,
    observer: &mut dyn Observer,
    limits: &Limits,
) -> Result<Counts> {
    check(options, skeleton, sets)?;
    let limits = limits.beside(Limits::PHASE, Some(asked(options, skeleton, sets)));
    let mut keeper = Keeper::new(observer, &limits, options, &Largest::Square(&mut *skeleton.p_max));
    let candidates = Candidates::new(options, &skeleton.graph, sets);
    let mut ahead = Ahead::new(worker, options, &skeleton.graph, &candidates);
    if let Some(table) = keeper.open_table()? {
        ahead.restore(&table);
    }
    keeper.possible_d_sep(skeleton.graph.edge_count(), ahead.most_tests())?;
    let ended = match ahead.run_all(&mut keeper) {
        Ok(()) => None,
        Err(error) if keeper.is_over(&error) => Some(ahead.give_up()),
        Err(error) => return Err(error),
    };
    keeper.lift();
    if ended.is_none() && keeper.is_due(true) {
        ahead.keep(&mut keeper)?;
    }
    let m_max = ended.map_or(options.m_max, |size| (size - 1) as f64);
    let counts = visits::visit(&mut ahead, options, skeleton, &candidates.within(m_max), &mut keeper)?;
    Ok(Counts { ended, unkept: keeper.unwritten(), ..counts })
}

/// Runs the phase with one question at a time, in pcalg's order. If the time limit ends it, the result has nothing of the phase, as all
/// sizes of an edge are asked before the next edge.
///
/// # Errors
/// Those of [`possible_d_sep`].
pub fn possible_d_sep_in_turn(
    test: &mut dyn CiTest,
    options: &Options,
    skeleton: &mut Skeleton,
    sets: &Sets,
    observer: &mut dyn Observer,
    limits: &Limits,
) -> Result<Counts> {
    check(options, skeleton, sets)?;
    let limits = limits.beside(Limits::PHASE, Some(asked(options, skeleton, sets)));
    let mut keeper = Keeper::new(observer, &limits, options, &Largest::Square(&mut *skeleton.p_max));
    let candidates = Candidates::new(options, &skeleton.graph, sets);
    let most = candidates.most_tests(options, &skeleton.graph);
    let table = keeper.open_table()?;
    let mut in_turn = InTurn::new(test, most, table.as_deref());
    keeper.possible_d_sep(skeleton.graph.edge_count(), most)?;
    let before = (skeleton.graph.clone(), skeleton.sepsets.clone(), memory::copied(skeleton.p_max, Use::Square)?);
    match visits::visit(&mut in_turn, options, skeleton, &candidates, &mut keeper) {
        Err(error) if keeper.is_over(&error) => {
            let p_max;
            (skeleton.graph, skeleton.sepsets, p_max) = before;
            skeleton.p_max.copy_from_slice(&p_max);
            keeper.lift();
            let counts = visits::visit(&mut in_turn, options, skeleton, &candidates.within(0.0), &mut keeper)?;
            Ok(Counts { ended: Some(1), unkept: keeper.unwritten(), ..counts })
        }
        found => {
            let counts = found?;
            if keeper.is_due(true) {
                in_turn.keep(&mut keeper)?;
            }
            Ok(Counts { unkept: keeper.unwritten(), ..counts })
        }
    }
}

/// Returns what the phase depends on besides test and options. A skeleton of other data may have the same size.
fn asked(options: &Options, skeleton: &Skeleton, sets: &Sets) -> Asked {
    let mut digest = Digest::default();
    skeleton.graph.each_number(|number| digest.number(number));
    for list in &sets.candidates {
        digest.number(list.len() as u64);
        list.iter().for_each(|&v| digest.number(u64::from(v)));
    }
    digest.doubles(&[options.m_max, sets.most, f64::from(u8::from(sets.by_component))]);
    Asked::digested("possible-d-sep phase", &digest)
}

fn check(options: &Options, skeleton: &Skeleton, sets: &Sets) -> Result<()> {
    let p = options.p;
    let sizes = [
        ("skel", skeleton.graph.p(), p),
        ("sepset", skeleton.sepsets.p(), p),
        ("pMax", skeleton.p_max.len(), p * p),
        ("candidates", sets.candidates.len(), p),
    ];
    for (argument, found, wanted) in sizes {
        if found != wanted {
            let (value, hint) = (format!("of size {found}"), format!("give size {wanted} for {p} variables"));
            return Err(Error::Argument { argument, value, hint });
        }
    }
    Ok(())
}
