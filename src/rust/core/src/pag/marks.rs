//! A partial ancestral graph: an edge has a mark at each of its ends.

use std::collections::BTreeSet;

use crate::graph::Adjacency;
use crate::{Error, Result};

/// A mark at an end of an edge; the numbers are those of pcalg's `amat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// There is no edge.
    None = 0,
    /// A circle: unknown.
    Circle = 1,
    /// An arrowhead: the vertex is not an ancestor of the other one.
    Arrow = 2,
    /// A tail: the vertex is an ancestor of the other one, or of a selection variable.
    Tail = 3,
}

impl Mark {
    /// Returns the mark with pcalg's number.
    pub fn of(number: u8) -> Option<Self> {
        [Mark::None, Mark::Circle, Mark::Arrow, Mark::Tail].into_iter().find(|mark| *mark as u8 == number)
    }
}

/// Marks at both ends of a graph's edges. A slot is the position of an ordered pair (u, v) and holds pcalg's `amat[u, v]`: the mark at v.
/// The slots of one u are contiguous, v ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pag {
    start: Vec<usize>,
    to: Vec<u32>,
    twin: Vec<usize>,
    mark: Vec<Mark>,
    /// Number of times that a mark was replaced by another one.
    changes: u64,
    /// For each slot, whether its mark is fixed, whatever a rule says. Empty if none is.
    kept: Vec<bool>,
    /// The ordered pairs (u, v) whose fixed mark at v a rule wanted to replace.
    disputed: BTreeSet<(u32, u32)>,
}

impl Pag {
    /// Makes a graph with circles at all ends of the given edges.
    pub(super) fn circles(edges: &Adjacency) -> Self {
        let mut pag = Self::with_slots(edges.p(), |u| edges.neighbours(u).collect());
        pag.mark.fill(Mark::Circle);
        pag
    }

    /// Makes a graph from rows of (v, mark at v) for each u, v ascending.
    ///
    /// # Errors
    /// [`Error::Argument`] named `argument` for vertices out of range or out of order, and for an edge with a mark at only one end.
    pub fn from_rows(argument: &'static str, rows: &[Vec<(u32, Mark)>]) -> Result<Self> {
        let p = rows.len();
        let wrong = |value: String, hint: &str| Error::Argument { argument, value, hint: hint.into() };
        for (u, row) in rows.iter().enumerate() {
            let in_order = row.windows(2).all(|two| two[0].0 < two[1].0);
            if !in_order || row.iter().any(|&(v, _)| v as usize >= p || v as usize == u) {
                let value = format!("a graph whose row {} is not a list of other vertices", u + 1);
                return Err(wrong(value, "give a square matrix with zeros on its diagonal"));
            }
        }
        for (u, row) in rows.iter().enumerate() {
            for &(v, _) in row {
                if rows[v as usize].binary_search_by_key(&(u as u32), |&(w, _)| w).is_err() {
                    let value =
                        format!("a graph whose edge {0} - {1} has a mark at {1}, but none at {0}", u + 1, v + 1);
                    return Err(wrong(value, "give each edge a mark (1, 2 or 3) at both ends"));
                }
            }
        }
        let mut pag = Self::with_slots(p, |u| rows[u].iter().map(|&(v, _)| v).collect());
        pag.mark = rows.iter().flatten().map(|&(_, mark)| mark).collect();
        Ok(pag)
    }

    /// Returns the same graph with room for edges between further pairs.
    pub(super) fn with_room(self, room: &Adjacency) -> Self {
        let mut pag = Self::with_slots(self.p(), |u| {
            let mut near: Vec<u32> = self.row(u).map(|(v, _)| v).chain(room.neighbours(u)).collect();
            near.sort_unstable();
            near.dedup();
            near
        });
        for u in 0..pag.p() {
            for (v, mark) in self.row(u) {
                pag.set(u, v as usize, mark);
            }
        }
        pag.changes = 0;
        pag
    }

    fn with_slots(p: usize, neighbours: impl Fn(usize) -> Vec<u32>) -> Self {
        let (mut start, mut to) = (vec![0], Vec::new());
        for u in 0..p {
            to.extend(neighbours(u));
            start.push(to.len());
        }
        // u ascends, so the slots v -> u of one v are met in their own order.
        let mut next = start.clone();
        let mut twin = vec![0; to.len()];
        for u in 0..p {
            for slot in start[u]..start[u + 1] {
                let v = to[slot] as usize;
                twin[slot] = next[v];
                next[v] += 1;
            }
        }
        let mark = vec![Mark::None; to.len()];
        Pag { start, to, twin, mark, changes: 0, kept: Vec::new(), disputed: BTreeSet::new() }
    }

    /// Returns the bytes that a graph with `p` vertices and `edges` edges takes.
    pub fn bytes(p: usize, edges: usize) -> usize {
        8 * (p + 1) + 2 * edges * (size_of::<u32>() + size_of::<usize>() + size_of::<Mark>())
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.start.len() - 1
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.mark.iter().filter(|&&mark| mark != Mark::None).count() / 2
    }

    /// Returns the marks at the neighbours v of u, v ascending: pcalg's `amat[u, v]`.
    pub fn row(&self, u: usize) -> impl Iterator<Item = (u32, Mark)> + '_ {
        let of = self.slots(u);
        let row = self.to[of.clone()].iter().copied().zip(self.mark[of].iter().copied());
        row.filter(|&(_, mark)| mark != Mark::None)
    }

    /// Returns the mark at v of the edge u - v.
    #[inline]
    pub fn mark(&self, u: usize, v: usize) -> Mark {
        self.find(u, v).map_or(Mark::None, |slot| self.mark[slot])
    }

    /// Returns whether u - v is an edge.
    #[inline]
    pub fn adjacent(&self, u: usize, v: usize) -> bool {
        self.mark(u, v) != Mark::None
    }

    /// Returns the neighbours of u, ascending.
    pub fn neighbours(&self, u: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(u).map(|(v, _)| v as usize)
    }

    /// Returns the edges of a vertex: v, the mark at v, the mark at u; v ascending.
    #[inline]
    pub(super) fn edges(&self, u: usize) -> impl Iterator<Item = (usize, Mark, Mark)> + '_ {
        let edge = move |slot: usize| (self.to[slot] as usize, self.mark[slot], self.mark[self.twin[slot]]);
        self.slots(u).map(edge).filter(|&(_, there, _)| there != Mark::None)
    }

    /// Returns the ordered pairs (u, v) whose marks at v and at u are wanted, in pcalg's order (`which(..., arr.ind = TRUE)`): by v, then
    /// u.
    pub(super) fn pairs(&self, wanted: impl Fn(Mark, Mark) -> bool) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for v in 0..self.p() {
            let of_v = self.edges(v).filter(|&(_, at_u, at_v)| wanted(at_v, at_u));
            pairs.extend(of_v.map(|(u, ..)| (u as u32, v as u32)));
        }
        pairs
    }

    /// Sets the mark at v of the edge u - v. Does nothing if the pair has no slot; a fixed mark stays and counts as disputed.
    pub(super) fn set(&mut self, u: usize, v: usize, mark: Mark) {
        if let Some(slot) = self.find(u, v).filter(|&slot| self.mark[slot] != mark) {
            if self.kept.get(slot) == Some(&true) {
                self.disputed.insert((u as u32, v as u32));
                return;
            }
            self.mark[slot] = mark;
            self.changes += 1;
        }
    }

    /// Fixes the mark at v of the edge u - v, if that is an edge; no rule then replaces it.
    pub(super) fn keep(&mut self, u: usize, v: usize, mark: Mark) {
        if let Some(slot) = self.find(u, v).filter(|&slot| self.mark[slot] != Mark::None) {
            self.kept.resize(self.mark.len(), false);
            self.mark[slot] = mark;
            self.kept[slot] = true;
        }
    }

    /// Returns the ordered pairs (u, v) whose mark at v is known although a rule implies another one.
    pub fn disputed(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.disputed.iter().copied()
    }

    /// Sets the same mark at both ends.
    pub(super) fn set_both(&mut self, u: usize, v: usize, mark: Mark) {
        self.set(u, v, mark);
        self.set(v, u, mark);
    }

    /// Makes the edge u -> v.
    pub(super) fn direct(&mut self, u: usize, v: usize) {
        self.set(u, v, Mark::Arrow);
        self.set(v, u, Mark::Tail);
    }

    /// Removes the edge.
    pub(super) fn remove(&mut self, u: usize, v: usize) {
        self.set_both(u, v, Mark::None);
    }

    /// Returns how often a mark was replaced by another one.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the slots u -> v of one u, v ascending.
    pub(super) fn slots(&self, u: usize) -> std::ops::Range<usize> {
        self.start[u]..self.start[u + 1]
    }

    /// Returns v of the slot u -> v.
    #[inline]
    pub(super) fn head(&self, slot: usize) -> usize {
        self.to[slot] as usize
    }

    /// Returns the mark at v and the mark at u of the slot u -> v.
    #[inline]
    pub(super) fn of_slot(&self, slot: usize) -> (Mark, Mark) {
        (self.mark[slot], self.mark[self.twin[slot]])
    }

    /// Returns the number of slots.
    pub(super) fn slot_count(&self) -> usize {
        self.to.len()
    }

    #[inline]
    fn find(&self, u: usize, v: usize) -> Option<usize> {
        let near = &self.to[self.slots(u)];
        // Most vertices have few neighbours: a linear search is then faster.
        let at = if near.len() < 8 {
            near.iter().position(|&w| w as usize == v)
        } else {
            near.binary_search(&(v as u32)).ok()
        };
        at.map(|at| self.start[u] + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_at_the_second_vertex() {
        let lists: [&[u32]; 4] = [&[1, 2], &[2], &[], &[]];
        let mut room = Adjacency::empty(4);
        room.insert(3, 0);
        let mut pag = Pag::circles(&Adjacency::from_lists(&lists)).with_room(&room);
        pag.direct(0, 2);
        pag.set(3, 1, Mark::Arrow);
        assert_eq!((pag.mark(0, 2), pag.mark(2, 0), pag.mark(3, 0), pag.mark(3, 1)), {
            (Mark::Arrow, Mark::Tail, Mark::None, Mark::None)
        });
        assert_eq!(pag.pairs(|at_v, at_u| at_v == Mark::Arrow && at_u != Mark::None), [(0, 2)]);
        assert_eq!(pag.pairs(|at_v, _| at_v == Mark::Circle), [(1, 0), (0, 1), (2, 1), (1, 2)]);
        assert_eq!((pag.edge_count(), pag.changes()), (3, 2));
        pag.set_both(0, 3, Mark::Arrow);
        pag.remove(0, 1);
        assert_eq!(pag.row(0).collect::<Vec<_>>(), [(2, Mark::Arrow), (3, Mark::Arrow)]);
        let rows: Vec<Vec<_>> = (0..4).map(|u| pag.row(u).collect()).collect();
        let again = Pag::from_rows("pag", &rows).unwrap();
        assert!((0..4).all(|u| again.row(u).eq(pag.row(u))));
    }

    #[test]
    fn marks_that_are_known_stay() {
        let mut pag = Pag::circles(&Adjacency::complete(3));
        pag.keep(0, 1, Mark::Tail);
        pag.set_both(0, 1, Mark::Arrow);
        assert_eq!((pag.mark(0, 1), pag.mark(1, 0), pag.changes()), (Mark::Tail, Mark::Arrow, 1));
        assert_eq!(pag.disputed().collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn what_is_no_graph_is_refused() {
        let refused = |rows: &[Vec<(u32, Mark)>]| {
            matches!(Pag::from_rows("pag", rows), Err(Error::Argument { argument: "pag", .. }))
        };
        assert!(refused(&[vec![(0, Mark::Circle)]]) && refused(&[vec![(1, Mark::Circle)], vec![]]));
        assert!(!refused(&[vec![(1, Mark::Circle)], vec![(0, Mark::Tail)]]));
    }
}
