//! Arrows that are known afterwards, added to a graph that has been oriented: pcalg's `addBgKnowledge` (Meek 1995; Perkovic, Kalisch and
//! Maathuis 2017).

use super::extension;
use super::pdag::Pdag;
use super::poll::Poll;
use super::rules::{Rules, Version};
use super::triples::Ambiguous;
use crate::graph::{Adjacency, Closure, Marks};
use crate::memory::{self, Use};
use crate::Result;

/// A graph with arrows added, or why it cannot have them.
#[derive(Clone, Debug, PartialEq)]
pub enum Addition {
    /// The graph, oriented as far as rules 1 to 4 go.
    Graph(Pdag),
    /// The graph has marks of 2, a cycle, or no extension to a DAG without further colliders.
    Invalid,
    /// Rules 1 to 4 direct this edge [from, to] of the graph as it is: it has to be closed under them.
    NotMaximal([u32; 2]),
    /// The arrow of this number joins two vertices that are not adjacent.
    NoEdge(usize),
    /// The arrow of this number has the other direction, in the graph or by those before it.
    Reversed(usize),
}

/// Adds arrows [from, to] in turn, each followed by rules 1 to 4, to a graph given by its skeleton and its own arrows; without any, applies the
/// rules alone. `check`: look first whether the graph is valid;
/// pcalg's `checkInput`, for which a graph that is not closed under the rules is not.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error), [`Error::Memory`](crate::Error).
pub fn add_arrows(
    skeleton: &Adjacency,
    directed: &[[u32; 2]],
    arrows: &[[u32; 2]],
    check: bool,
    wants_to_stop: Option<&dyn Fn() -> bool>,
) -> Result<Addition> {
    memory::room(128 * skeleton.edge_count() + 256 * skeleton.p(), Use::Orientation)?;
    let poll = Poll::new(wants_to_stop, None);
    let mut marks = Marks::undirected(skeleton);
    let slot = |marks: &Marks, [from, to]: [u32; 2]| marks.find(from as usize, to as usize);
    for &arrow in directed {
        let Some(at) = slot(&marks, arrow) else { return Ok(Addition::Invalid) };
        if marks.is_reversed(at) {
            marks.conflict(at);
        } else {
            marks.direct(at);
        }
    }
    if check && !extension::is_extendable(&marks, skeleton, &poll)? {
        return Ok(Addition::Invalid);
    }
    // In pcalg's order, which shows where no DAG extends the graph.
    let before = marks.clone();
    let rules = Rules { skeleton, ambiguous: &Ambiguous::default(), version: Version::Relaxed, enabled: [true; 4] };
    rules.apply(&mut marks, &poll)?;
    if check || !arrows.is_empty() {
        let changed = (0..marks.slot_count()).find(|&at| marks.is_directed(at) && before.is_undirected(at));
        if let Some(at) = changed {
            return Ok(Addition::NotMaximal([marks.tail(at) as u32, marks.head(at) as u32]));
        }
    }
    let mut closure = Closure::new(marks);
    for (number, &arrow) in arrows.iter().enumerate() {
        poll.step()?;
        let Some(at) = slot(&closure.graph, arrow) else { return Ok(Addition::NoEdge(number)) };
        if !closure.orient(at) {
            return Ok(Addition::Reversed(number));
        }
    }
    let valid = extension::is_extendable(&closure.graph, skeleton, &poll)?;
    memory::check()?;
    Ok(Addition::Graph(Pdag::from_marks(&closure.graph, true, valid)))
}
