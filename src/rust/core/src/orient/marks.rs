//! The graph under orientation: one slot a direction of an edge, with its twin, in one flat block.
//!
//! pcalg holds a p x p matrix `pdag`. No step of an orientation adds or removes an edge, so that only the marks of the
//! skeleton's edges have to be kept. A slot knows how its edge looks from its own side, so that a walk over the slots of
//! one vertex reads contiguous memory alone.

use crate::graph::Adjacency;

/// An edge as its slot u -> v sees it: the pair `(pdag[u, v], pdag[v, u])`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// (1, 1)
    Undirected,
    /// (1, 0): u -> v
    Out,
    /// (0, 1): v -> u
    In,
    /// (2, 2): u <-> v
    Conflict,
}

/// Marks on the edges of a skeleton. A slot is the position of an ordered pair (u, v); slots of one u are contiguous, v
/// ascending.
#[derive(Clone)]
pub(super) struct Marks {
    start: Vec<usize>,
    to: Vec<u32>,
    twin: Vec<usize>,
    look: Vec<Look>,
}

impl Marks {
    /// Every edge undirected.
    pub fn undirected(skeleton: &Adjacency) -> Self {
        let p = skeleton.p();
        let mut start = Vec::with_capacity(p + 1);
        let mut to = Vec::new();
        start.push(0);
        for u in 0..p {
            to.extend(skeleton.neighbours(u));
            start.push(to.len());
        }
        // u ascends, so that the slots v -> u of one v are met in their own order.
        let mut next = start.clone();
        let mut twin = vec![0; to.len()];
        for u in 0..p {
            for slot in start[u]..start[u + 1] {
                let v = to[slot] as usize;
                twin[slot] = next[v];
                next[v] += 1;
            }
        }
        let look = vec![Look::Undirected; to.len()];
        Marks { start, to, twin, look }
    }

    /// Number of vertices.
    pub fn p(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of slots: twice the number of edges.
    pub fn slot_count(&self) -> usize {
        self.to.len()
    }

    /// The slots u -> v of one u, v ascending.
    pub fn slots(&self, u: usize) -> std::ops::Range<usize> {
        self.start[u]..self.start[u + 1]
    }

    /// The neighbours of u, ascending, in the order of its slots.
    pub fn neighbours(&self, u: usize) -> &[u32] {
        &self.to[self.slots(u)]
    }

    /// The slot u -> v of an edge of the skeleton.
    pub fn find(&self, u: usize, v: usize) -> Option<usize> {
        self.neighbours(u).binary_search(&(v as u32)).ok().map(|at| self.start[u] + at)
    }

    /// v of the slot u -> v.
    pub fn head(&self, slot: usize) -> usize {
        self.to[slot] as usize
    }

    /// u of the slot u -> v.
    pub fn tail(&self, slot: usize) -> usize {
        self.to[self.twin[slot]] as usize
    }

    /// The slot of the other direction.
    pub fn twin(&self, slot: usize) -> usize {
        self.twin[slot]
    }

    /// `pdag[u, v]`
    pub fn mark(&self, slot: usize) -> u8 {
        match self.look[slot] {
            Look::Undirected | Look::Out => 1,
            Look::In => 0,
            Look::Conflict => 2,
        }
    }

    /// Whether u - v.
    pub fn is_undirected(&self, slot: usize) -> bool {
        self.look[slot] == Look::Undirected
    }

    /// Whether u -> v.
    pub fn is_directed(&self, slot: usize) -> bool {
        self.look[slot] == Look::Out
    }

    /// Whether v -> u.
    pub fn is_reversed(&self, slot: usize) -> bool {
        self.look[slot] == Look::In
    }

    /// Makes it u -> v.
    pub fn direct(&mut self, slot: usize) {
        self.set(slot, Look::Out, Look::In);
    }

    /// Makes it u - v.
    pub fn undirect(&mut self, slot: usize) {
        self.set(slot, Look::Undirected, Look::Undirected);
    }

    /// Makes it u <-> v, pcalg's mark 2: two rules asked for opposite directions.
    pub fn conflict(&mut self, slot: usize) {
        self.set(slot, Look::Conflict, Look::Conflict);
    }

    /// Exchanges the marks of the two directions.
    pub fn flip(&mut self, slot: usize) {
        self.look.swap(slot, self.twin[slot]);
    }

    fn set(&mut self, slot: usize, here: Look, there: Look) {
        self.look[slot] = here;
        self.look[self.twin[slot]] = there;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_point_at_each_other() {
        let lists: [&[u32]; 5] = [&[1, 3, 4], &[2], &[3, 4], &[], &[]];
        let mut marks = Marks::undirected(&Adjacency::from_lists(&lists));
        assert_eq!((marks.p(), marks.slot_count()), (5, 12));
        for u in 0..5 {
            for slot in marks.slots(u) {
                assert_eq!(marks.tail(slot), u);
                assert_eq!(marks.twin(marks.twin(slot)), slot);
                assert_eq!(marks.find(u, marks.head(slot)), Some(slot));
            }
        }
        let slot = marks.find(4, 0).unwrap();
        marks.direct(slot);
        assert!(marks.is_directed(slot) && marks.is_reversed(marks.find(0, 4).unwrap()));
        marks.flip(slot);
        assert!(marks.is_reversed(slot) && !marks.is_undirected(slot));
        assert_eq!(marks.find(3, 4), None);
    }
}
