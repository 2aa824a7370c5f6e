//! Arrows that become known later, added to an oriented graph: pcalg's `addBgKnowledge` (Meek 1995; Perkovic, Kalisch and Maathuis 2017).

use super::extension;
use super::pdag::Pdag;
use super::poll::Poll;
use super::rules::{Rules, Version};
use super::triples::Ambiguous;
use crate::graph::{is_cpdag, Adjacency, Closure, Marks};
use crate::memory::{self, Use};
use crate::Result;

/// A graph with arrows added, or the reason why it cannot have them.
#[derive(Clone, Debug, PartialEq)]
pub enum Addition {
    /// The graph, oriented as far as rules 1 to 4 go.
    Graph(Pdag),
    /// The graph has marks of 2, a cycle, or no extension to a DAG without further colliders.
    Invalid,
    /// Rules 1 to 4 direct this edge [from, to] of the given graph, which must already be closed under them.
    NotMaximal([u32; 2]),
    /// The arrow with this index joins two vertices that are not adjacent.
    NoEdge(usize),
    /// The arrow with this index has the other direction, in the graph or by earlier arrows.
    Reversed(usize),
}

/// Returns the skeleton with these arrows; an arrow in both directions becomes a conflict. Returns `None` if the ends of an arrow are not
/// adjacent.
fn with_arrows(skeleton: &Adjacency, directed: &[[u32; 2]]) -> Option<Marks> {
    let mut marks = Marks::undirected(skeleton);
    for &[from, to] in directed {
        let at = marks.find(from as usize, to as usize)?;
        if marks.is_reversed(at) {
            marks.conflict(at);
        } else {
            marks.direct(at);
        }
    }
    Some(marks)
}

/// Returns whether a graph, given by its skeleton and its arrows [from, to], is a CPDAG. With `known` (background knowledge), returns
/// whether it can be extended to a DAG without further colliders.
///
/// # Errors
/// [`Error::Memory`](crate::Error).
pub fn is_valid(skeleton: &Adjacency, directed: &[[u32; 2]], known: bool) -> Result<bool> {
    memory::room(128 * skeleton.edge_count() + 256 * skeleton.p(), Use::Orientation)?;
    let poll = Poll::new(None, None);
    match with_arrows(skeleton, directed) {
        None => Ok(false),
        Some(marks) if known => extension::is_extendable(&marks, skeleton, &poll),
        Some(marks) => is_cpdag(&marks, || poll.step()),
    }
}

/// Adds arrows [from, to] in turn, each followed by rules 1 to 4, to a graph given by its skeleton and its own arrows. Without any arrows,
/// applies only the rules. `check` first verifies that the graph is valid, as pcalg's `checkInput` does: a graph that is not closed under
/// the rules is invalid.
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
    let Some(mut marks) = with_arrows(skeleton, directed) else { return Ok(Addition::Invalid) };
    let slot = |marks: &Marks, [from, to]: [u32; 2]| marks.find(from as usize, to as usize);
    if check && !extension::is_extendable(&marks, skeleton, &poll)? {
        return Ok(Addition::Invalid);
    }
    // The rules apply in pcalg's order, which matters if no DAG extends the graph.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_judged_by_what_they_are_to_be() {
        let path = Adjacency::from_lists(&[&[1][..], &[2], &[]]);
        let judged = |directed: &[[u32; 2]]| [false, true].map(|known| is_valid(&path, directed, known).unwrap());
        assert_eq!(judged(&[]), [true, true]);
        assert_eq!(judged(&[[0, 1], [2, 1]]), [true, true]);
        assert_eq!(judged(&[[0, 1], [1, 2]]), [false, true]);
        assert_eq!(judged(&[[0, 1]]), [false, true]);
        // An arrow in both directions, and one that is not an edge.
        assert_eq!(judged(&[[0, 1], [1, 0]]), [false, false]);
        assert_eq!(judged(&[[0, 2]]), [false, false]);
    }
}
