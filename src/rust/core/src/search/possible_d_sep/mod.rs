//! The possible-d-sep phase of FCI (Spirtes et al. 2000; Colombo et al. 2012): edges of a skeleton that subsets of possible-d-sep sets
//! separate. pcalg's `pdsep()`, in its order.
//!
//! Every edge x - y is visited from x = 1, 2, ..., then from its other end where it is still there. Its sets are the subsets of the candidates
//! of x without y that are not all neighbours of x, by size, then in lexicographic order; the first that separates takes the edge
//! away. Neighbours are those of x when its turn comes. What a set says depends on the pair alone, so that workers decide all pairs ahead, on
//! any threads, and a walk in pcalg's order enters what they found:
//!
//! * `visits`: the walk, and pcalg's counts; `ahead`: what workers are asked; `in_turn`: one question at a time.

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

/// What the phase begins with, and changes.
pub struct Skeleton<'p> {
    /// The edges.
    pub graph: Adjacency,
    /// What separates the others; sets that are found are entered at both ends.
    pub sepsets: SepSets,
    /// pcalg's `pMax`: `pMax[x, y]` is at `y * p + x`. It is raised there alone, not at `[y, x]`.
    pub p_max: &'p mut [f64],
}

/// Which sets are tried.
pub struct Sets {
    /// By vertex, its candidates, ascending, without itself: its neighbours are among them.
    pub candidates: Vec<Vec<u32>>,
    /// Largest size of candidates without the other vertex (`pdsep.max`): pairs with more are left as they are.
    pub most: f64,
    /// Whether candidates of an edge are those of its biconnected component (`biCC`).
    pub by_component: bool,
}

/// What pcalg says of the phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Number of tests by size of the set, beginning with 0: pcalg's `n.edgetests`, which ends with the size of the last edge that was tested.
    pub tests: Vec<u64>,
    /// That size: pcalg's `max.ord`.
    pub max_order: usize,
    /// All tests, by size.
    pub all_tests: Vec<u64>,
    /// By vertex, the candidates of its last edge, then the other end of that; none where it had no edge when its turn came.
    pub sets: Vec<Option<Vec<u32>>>,
    /// Tests that were decided by the exact formula.
    pub exact_tests: u64,
    /// Where the time was over before all sizes had been tried: this size, of which nothing is here. All else is as with an `m_max` below it.
    pub ended: Option<usize>,
    /// Why the last state could not be kept, where it could not.
    pub unkept: Option<Error>,
}

/// The number of tests of the phase if no set separates anything, as a float: it may exceed 64 bits.
pub fn most_tests(options: &Options, graph: &Adjacency, sets: &Sets) -> f64 {
    Candidates::new(options, graph, sets).most_tests(options, graph)
}

/// Runs the phase on a worker. Of `options` alpha, `na_delete`, `m_max`, `fixed_edges` and tiers count: with tiers, candidates are of no later
/// tier than one of the two ends. It may be kept, gone on with, and ended before its time, see [`Counts::ended`].
///
/// # Errors
/// [`Error::Argument`] where sizes do not match, [`Error::Overflow`] for a pair of more than 2^63 sets, [`Error::Numeric`] where pcalg stops;
/// [`Error::Checkpoint`] for a file that is of another search or cannot be made; what worker and observer return.
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

/// Likewise with one question at a time, in pcalg's order. Where the time is over nothing of the phase is there: a test is asked about all sizes of an
/// edge before the next one.
///
/// # Errors
/// As [`possible_d_sep`].
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

/// What the phase depends on beside test and options: a skeleton of other data may be of the same size.
fn asked(options: &Options, skeleton: &Skeleton, sets: &Sets) -> Asked {
    let mut digest = Digest::default();
    (0..skeleton.graph.p()).flat_map(|x| skeleton.graph.row(x)).for_each(|&word| digest.number(word));
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
            let (value, hint) = (format!("of size {found}"), format!("{wanted} is needed for {p} variables"));
            return Err(Error::Argument { argument, value, hint });
        }
    }
    Ok(())
}
