//! Possible-D-SEP sets (Spirtes et al. 2000; Colombo et al. 2012, "Learning high-dimensional directed acyclic graphs with latent and selection
//! variables", Annals of Statistics 40, definition 3.3): pcalg's `qreach()`.

use super::context::{Context, Paths, Program, Say, Unclear};
use super::jci::Jci;
use super::orient::colliders;
use super::{Mark, Pag};
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::orient::{On, Poll};
use crate::pool::Pool;
use crate::Result;

/// Returns Possible-D-SEP of every vertex, ascending, without the vertex itself. The colliders of the skeleton are oriented. v is then in
/// the set of x if each inner vertex of a path from x to v is a collider or in a triangle.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error), [`Error::Memory`](crate::Error); errors of `say`.
pub fn possible_d_sep(
    skeleton: &Adjacency,
    sepsets: &SepSets,
    unclear: &Unclear,
    pool: &Pool,
    wants_to_stop: Option<&dyn Fn() -> bool>,
    say: Option<Say>,
) -> Result<Vec<Vec<u32>>> {
    let p = skeleton.p();
    memory::room(Pag::bytes(p, skeleton.edge_count()), Use::Orientation)?;
    let poll = Poll::new(wants_to_stop, None).with_pool(pool);
    let of = Context { unclear, paths: Paths::Pcalg, program: Program::Fci, poll: &poll, say: None };
    let mut pag = Pag::circles(skeleton);
    colliders(&mut pag, sepsets, &Jci::default(), &of)?;
    if let Some(say) = say {
        tell_colliders(skeleton, sepsets, unclear, say)?;
    }
    let mut sets = vec![Vec::new(); p];
    // A walk takes about as many steps as the graph has edges, or more: threads pay soon.
    let parts = sets.chunks_mut(TOGETHER).enumerate().collect();
    poll.each_of(pag.slot_count() * 16, parts, |(part, sets): (usize, &mut [Vec<u32>]), on| {
        let mut reach = Reach::new(&pag);
        for (set, x) in sets.iter_mut().zip(TOGETHER * part..) {
            *set = reach.from(x, on)?;
        }
        Ok(())
    })?;
    memory::check()?;
    Ok(sets)
}

/// Number of vertices that a thread takes at a time.
const TOGETHER: usize = 32;

/// Prints pcalg's lines on the colliders, which it finds from both of their ends.
fn tell_colliders(skeleton: &Adjacency, sepsets: &SepSets, unclear: &Unclear, say: Say) -> Result<()> {
    for y in 0..skeleton.p() {
        for x in skeleton.neighbours(y) {
            for z in skeleton.neighbours(y).filter(|&z| z != x) {
                let [a, c] = [x as usize, z as usize];
                if !skeleton.has(a, c) && !sepsets.either_contains(a, c, y as u32) && !unclear.contains(a, y, c) {
                    say(&format!("\n {} *-> {} <-* {} \n", x + 1, y + 1, z + 1))?;
                }
            }
        }
    }
    Ok(())
}

/// A walk over directed edges that leaves a vertex by each edge at most once.
struct Reach<'a> {
    pag: &'a Pag,
    /// For each slot u -> v, the last walk that used it.
    gone: Vec<u32>,
    /// For each vertex, the last walk that reached it.
    come: Vec<u32>,
    walk: u32,
    queue: Vec<(u32, u32)>,
}

impl<'a> Reach<'a> {
    fn new(pag: &'a Pag) -> Self {
        Reach { pag, gone: vec![0; pag.slot_count()], come: vec![0; pag.p()], walk: 0, queue: Vec::new() }
    }

    fn from(&mut self, x: usize, on: &On) -> Result<Vec<u32>> {
        self.walk += 1;
        self.queue.clear();
        let mut set = Vec::new();
        for slot in self.pag.slots(x) {
            let v = self.pag.head(slot);
            self.gone[slot] = self.walk;
            self.queue.push((x as u32, v as u32));
            self.come[v] = self.walk;
            set.push(v as u32);
        }
        let mut next = 0;
        while let Some(&(before, at)) = self.queue.get(next) {
            next += 1;
            let (before, at) = (before as usize, at as usize);
            on.looked_up(self.pag.slots(at).len())?;
            let is_into = self.pag.mark(before, at) == Mark::Arrow;
            for slot in self.pag.slots(at) {
                let v = self.pag.head(slot);
                if self.gone[slot] == self.walk || v == before {
                    continue;
                }
                let is_collider = is_into && self.pag.of_slot(slot).1 == Mark::Arrow;
                if is_collider || self.pag.adjacent(before, v) {
                    self.gone[slot] = self.walk;
                    self.queue.push((at as u32, v as u32));
                    if self.come[v] != self.walk && v != x {
                        self.come[v] = self.walk;
                        set.push(v as u32);
                    }
                }
            }
        }
        set.sort_unstable();
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Side;

    #[test]
    fn paths_go_on_over_colliders_and_triangles() {
        // The path 0 - 1 - 2 - 3 has colliders at 1 and 2; 3 - 4 - 5 has none.
        let lists: [&[u32]; 6] = [&[1], &[2], &[3], &[4], &[5], &[]];
        let graph = Adjacency::from_lists(&lists);
        let mut sets = SepSets::new(6, Side::Smaller);
        sets.insert(2, 4, &[3]);
        sets.insert(3, 5, &[4]);
        let pool = Pool::none();
        let found = possible_d_sep(&graph, &sets, &Unclear::default(), &pool, None, None).unwrap();
        assert_eq!(found, [vec![1, 2, 3], vec![0, 2, 3], vec![0, 1, 3], vec![0, 1, 2, 4], vec![3, 5], vec![4]]);
        // An unclear triple is not taken for a collider.
        let unclear = Unclear::from_iter([[2, 1, 0]]);
        let found = possible_d_sep(&graph, &sets, &unclear, &pool, None, None).unwrap();
        assert_eq!(found[0], [1]);
    }
}
