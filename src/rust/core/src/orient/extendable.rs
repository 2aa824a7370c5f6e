//! `u2pd = "rand"` and `"retry"`: a CPDAG that a DAG extends, chosen at random if necessary.

use super::colliders::{orient_colliders, Dispute};
use super::extension::extend;
use super::knowledge::Knowledge;
use super::poll::Poll;
use super::rules::{Rules, Version};
use super::triples::Ambiguous;
use crate::graph::{essential_graph, Adjacency, Marks, SepSets};
use crate::{Error, Result};

/// Number of combinations of reversed edges that `"retry"` tries before it gives up: pcalg's `n.max`.
const MOST_TRIES: u64 = 100;

/// A function that returns a random permutation of `0..k`: R's `sample.int(k)`, less one.
pub(super) type Permutation<'a> = &'a mut dyn FnMut(usize) -> Result<Vec<u32>>;

/// Orients as pcalg's `udag2pdag`: colliders and, if some DAG extends them, the rules; else the CPDAG of a random DAG on the skeleton. Also
/// returns whether a DAG extends the colliders.
pub(super) fn rand(
    skeleton: &Adjacency,
    sepsets: &SepSets,
    permutation: Permutation,
    poll: &Poll,
) -> Result<(Marks, bool)> {
    let (mut marks, _) = colliders(skeleton, sepsets, poll)?;
    let extends = extend(&marks, skeleton, true, poll)?.is_some();
    if extends {
        complete(&mut marks, skeleton, poll)?;
    } else {
        direct_at_random(&mut marks, permutation)?;
        essential_graph(&mut marks, || poll.step())?;
    }
    Ok((marks, extends))
}

/// Orients as pcalg's `udag2pdagSpecial`: like [`rand`], but if no DAG extends the colliders, it first reverses edges that two colliders
/// disputed, in up to 100 combinations. Failing that, it takes the CPDAG of an extension that may have new colliders.
///
/// Each failed extension costs pcalg one `sample.int(p)` for a DAG that it discards. The numbers are drawn here too, so that the next
/// random number in R is the same.
pub(super) fn retry(
    skeleton: &Adjacency,
    sepsets: &SepSets,
    permutation: Permutation,
    poll: &Poll,
) -> Result<(Marks, bool)> {
    let (mut marks, turned) = colliders(skeleton, sepsets, poll)?;
    let mut extends = extend(&marks, skeleton, true, poll)?.is_some();
    if !extends {
        permutation(skeleton.p())?;
    }
    let disputed = in_order(&turned, &marks);
    let original = marks.clone();
    let mut tries = 0;
    while !extends && tries < most_tries(disputed.len()) {
        tries += 1;
        marks = original.clone();
        // The binary digits of the combination's number `tries`, lowest first, say which edges are reversed.
        for (_, &slot) in disputed.iter().take(64).enumerate().filter(|(bit, _)| tries >> bit & 1 == 1) {
            marks.flip(slot);
        }
        extends = extend(&marks, skeleton, true, poll)?.is_some();
        if !extends {
            permutation(skeleton.p())?;
        }
    }
    if extends {
        complete(&mut marks, skeleton, poll)?;
        return Ok((marks, true));
    }
    // pcalg continues from the last combination that it tried.
    match extend(&marks, skeleton, false, poll)? {
        Some(dag) => marks = dag,
        None => direct_at_random(&mut marks, permutation)?,
    }
    essential_graph(&mut marks, || poll.step())?;
    Ok((marks, false))
}

fn colliders(skeleton: &Adjacency, sepsets: &SepSets, poll: &Poll) -> Result<(Marks, Vec<usize>)> {
    let mut marks = Marks::undirected(skeleton);
    let turned = orient_colliders(
        &mut marks,
        skeleton,
        sepsets,
        (&Ambiguous::default(), &Knowledge::default()),
        Dispute::Overwrite,
        poll,
    )?;
    Ok((marks, turned))
}

fn complete(marks: &mut Marks, skeleton: &Adjacency, poll: &Poll) -> Result<()> {
    let rules = Rules {
        skeleton,
        ambiguous: &Ambiguous::default(),
        version: Version::Extendable,
        enabled: [true, true, true, false],
    };
    rules.apply(marks, poll)
}

/// Returns one slot for each disputed edge, by its smaller and then its larger vertex.
fn in_order(turned: &[usize], marks: &Marks) -> Vec<usize> {
    let smaller_first = |&slot: &usize| if marks.tail(slot) < marks.head(slot) { slot } else { marks.twin(slot) };
    let mut slots: Vec<usize> = turned.iter().map(smaller_first).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Returns the number of combinations of reversed edges, without the empty one, up to [`MOST_TRIES`].
fn most_tries(disputed: usize) -> u64 {
    if disputed < 63 {
        MOST_TRIES.min((1 << disputed) - 1)
    } else {
        MOST_TRIES
    }
}

/// Directs as pcalg's `amat2dag`: every edge points to the vertex that comes later in a random order.
fn direct_at_random(marks: &mut Marks, permutation: Permutation) -> Result<()> {
    let p = marks.p();
    let order = permutation(p)?;
    let mut rank = vec![p; p];
    for (at, &u) in order.iter().enumerate() {
        if let Some(rank) = rank.get_mut(u as usize) {
            *rank = at;
        }
    }
    if order.len() != p || rank.contains(&p) {
        return Err(Error::Argument {
            argument: "permutation",
            value: format!("{} numbers", order.len()),
            hint: format!("return each number from 0 to {} once", p.saturating_sub(1)),
        });
    }
    for slot in 0..marks.slot_count() {
        if rank[marks.tail(slot)] < rank[marks.head(slot)] {
            marks.direct(slot);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Side;

    fn square() -> Adjacency {
        let lists: [&[u32]; 4] = [&[1, 3], &[2], &[3], &[]];
        Adjacency::from_lists(&lists)
    }

    /// Returns separating sets that allow no collider on the square. Every DAG on it has one.
    fn no_collider() -> SepSets {
        let mut sepsets = SepSets::new(4, Side::Smaller);
        sepsets.insert(0, 2, &[1, 3]);
        sepsets.insert(1, 3, &[0, 2]);
        sepsets
    }

    #[test]
    fn a_graph_that_does_not_extend_is_directed_by_the_permutation() {
        let mut drawn = 0;
        let mut permutation = |k: usize| {
            drawn += 1;
            Ok((0..k as u32).collect())
        };
        let (marks, extendable) = rand(&square(), &no_collider(), &mut permutation, &Poll::silent()).unwrap();
        assert!(!extendable);
        assert_eq!(drawn, 1);
        // 0 -> 1 -> 2 -> 3 <- 0: the collider 0 -> 3 <- 2 is compelled, 0 - 1 - 2 is not.
        assert!(marks.is_directed(marks.find(0, 3).unwrap()) && marks.is_directed(marks.find(2, 3).unwrap()));
        assert!(marks.is_undirected(marks.find(0, 1).unwrap()) && marks.is_undirected(marks.find(1, 2).unwrap()));
    }

    #[test]
    fn retry_draws_once_and_then_extends_with_a_new_collider() {
        let mut drawn = 0;
        let mut permutation = |k: usize| {
            drawn += 1;
            Ok((0..k as u32).collect())
        };
        let (marks, extendable) = retry(&square(), &no_collider(), &mut permutation, &Poll::silent()).unwrap();
        assert!(!extendable);
        assert_eq!(drawn, 1);
        assert!(marks.is_directed(marks.find(1, 0).unwrap()) && marks.is_directed(marks.find(3, 0).unwrap()));
    }

    #[test]
    fn a_wrong_permutation_is_an_error() {
        let mut short = |_: usize| Ok(vec![0]);
        assert!(matches!(
            rand(&square(), &no_collider(), &mut short, &Poll::silent()),
            Err(Error::Argument { argument: "permutation", .. })
        ));
    }
}
