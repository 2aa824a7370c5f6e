//! Which vertices are in a given relation to each of two others: the query of every rule.
//!
//! In a dense graph, a relation is stored as bit rows with a bit for each vertex, so that a query takes a word at a time. In other graphs,
//! whose rows would be nearly empty, a query scans the slots of the vertex with fewer neighbours.

use crate::graph::{bits, Adjacency, Marks};
use crate::memory::{self, Use};
use crate::Result;

/// Relation of v to u.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kin {
    /// u - v
    Joined,
    /// u -> v
    Child,
    /// v -> u
    Parent,
}

impl Kin {
    const ALL: [Kin; 3] = [Kin::Joined, Kin::Child, Kin::Parent];

    /// Returns whether the edge of a slot u -> v gives v this relation to u.
    pub fn holds(self, marks: &Marks, slot: usize) -> bool {
        match self {
            Kin::Joined => marks.is_undirected(slot),
            Kin::Child => marks.is_directed(slot),
            Kin::Parent => marks.is_reversed(slot),
        }
    }
}

/// For each relation and vertex with a row, a bit row of `words` words: the vertices in that relation to it.
struct Rows {
    words: usize,
    /// By vertex: the number of its row.
    number: Vec<Option<u32>>,
    of: [Vec<u64>; 3],
}

impl Rows {
    fn row(&self, kin: Kin, u: usize) -> Option<&[u64]> {
        self.number[u].map(|row| &self.of[kin as usize][row as usize * self.words..][..self.words])
    }
}

/// The relations of a graph whose marks change.
pub(super) struct Planes(Option<Rows>);

impl Planes {
    /// Collects the relations of `marks`, with rows for the given vertices.
    pub fn new(marks: &Marks, has_row: impl Fn(usize) -> bool) -> Result<Self> {
        let words = marks.p().div_ceil(64);
        let of_rows: Vec<usize> = (0..marks.p()).filter(|&v| has_row(v)).collect();
        let slots = of_rows.iter().map(|&v| marks.slots(v).len()).sum::<usize>();
        if slots < of_rows.len() * words / 2 {
            return Ok(Planes(None));
        }
        let plane = || memory::zeros::<u64>(of_rows.len() * words, Use::Orientation);
        let mut number = vec![None; marks.p()];
        of_rows.iter().enumerate().for_each(|(row, &v)| number[v] = Some(row as u32));
        let mut planes = Planes(Some(Rows { words, number, of: [plane()?, plane()?, plane()?] }));
        of_rows.iter().flat_map(|&v| marks.slots(v)).for_each(|slot| planes.note_one(marks, slot));
        Ok(planes)
    }

    /// Updates the relations of a slot's two vertices to its edge's current marks.
    pub fn note(&mut self, marks: &Marks, slot: usize) {
        self.note_one(marks, slot);
        self.note_one(marks, marks.twin(slot));
    }

    fn note_one(&mut self, marks: &Marks, slot: usize) {
        let Some(rows) = &mut self.0 else { return };
        let (u, v) = (marks.tail(slot), marks.head(slot));
        let Some(row) = rows.number[u] else { return };
        let bit = 1u64 << (v % 64);
        for kin in Kin::ALL {
            let word = &mut rows.of[kin as usize][row as usize * rows.words + v / 64];
            *word = if kin.holds(marks, slot) { *word | bit } else { *word & !bit };
        }
    }

    /// Returns the vertices that have the given relation to u and the one to v, ascending.
    pub fn shared<'s>(
        &'s self,
        marks: &'s Marks,
        skeleton: &'s Adjacency,
        [(u, of_u), (v, of_v)]: [(usize, Kin); 2],
    ) -> impl Iterator<Item = usize> + 's {
        let rows = self.0.as_ref().and_then(|rows| rows.row(of_u, u).zip(rows.row(of_v, v)));
        let by_rows = rows.into_iter().flat_map(|(of_u, of_v)| {
            let words = of_u.iter().zip(of_v).enumerate();
            words.flat_map(|(w, (a, b))| bits(w, a & b)).map(|c| c as usize)
        });
        let [few, many] =
            if marks.slots(u).len() <= marks.slots(v).len() { [(u, of_u), (v, of_v)] } else { [(v, of_v), (u, of_u)] };
        let slots = if rows.is_none() { marks.slots(few.0) } else { 0..0 };
        let by_slots =
            slots.filter(move |&slot| few.1.holds(marks, slot)).map(|slot| marks.head(slot)).filter(move |&c| {
                // The bit test comes first, as most pairs are not adjacent.
                skeleton.has(many.0, c) && marks.find(many.0, c).is_some_and(|slot| many.1.holds(marks, slot))
            });
        by_rows.chain(by_slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_slots_say_the_same() {
        let p = 70;
        let mut skeleton = Adjacency::empty(p);
        for (u, v) in (0..p).flat_map(|u| (0..u).map(move |v| (u, v))).filter(|(u, v)| (u * 31 + v * 17) % 5 < 3) {
            skeleton.insert(u, v);
        }
        let mut marks = Marks::undirected(&skeleton);
        let mut rows = Planes::new(&marks, |v| v != 7).unwrap();
        assert!(rows.0.is_some());
        for slot in 0..marks.slot_count() {
            match (slot * 7919 + 13) % 11 {
                0..3 => marks.direct(slot),
                3 => marks.conflict(slot),
                _ => {}
            }
            rows.note(&marks, slot);
        }
        let mut found = 0;
        for (u, v) in (0..p).flat_map(|u| (0..p).map(move |v| (u, v))) {
            for (of_u, of_v) in Kin::ALL.into_iter().flat_map(|a| Kin::ALL.map(|b| (a, b))) {
                let of = [(u, of_u), (v, of_v)];
                let by_rows: Vec<usize> = rows.shared(&marks, &skeleton, of).collect();
                let by_slots: Vec<usize> = Planes(None).shared(&marks, &skeleton, of).collect();
                assert_eq!(by_rows, by_slots, "{u}, {v}");
                found += by_rows.len();
            }
        }
        assert!(found > 10_000, "{found}");
    }
}
