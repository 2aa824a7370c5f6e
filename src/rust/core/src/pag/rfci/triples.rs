//! Unshielded triples whose edges are tested given the separating sets of their ends: pcalg's `dep.triple()`.

use std::collections::HashMap;

use super::Run;
use crate::graph::{subsets, Adjacency};
use crate::orient::{each_unshielded, Poll};
use crate::pag::context::numbers;
use crate::pag::{Mark, Pag};
use crate::Result;

/// Triples in pcalg's order, each open until it is settled.
#[derive(Debug, Default)]
pub struct Triples {
    list: Vec<[u32; 3]>,
    is_open: Vec<bool>,
    /// Index of each triple's first occurrence.
    first: HashMap<[u32; 3], usize>,
}

impl Triples {
    /// Returns all unshielded triples of a graph, open.
    pub fn unshielded(graph: &Adjacency, poll: &Poll) -> Result<Self> {
        let mut triples = Triples::default();
        each_unshielded(graph, poll, |triple| {
            triples.push(triple);
            Ok(())
        })?;
        Ok(triples)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn push(&mut self, triple: [u32; 3]) {
        self.first.entry(triple).or_insert(self.list.len());
        self.list.push(triple);
        self.is_open.push(true);
    }

    /// Returns the triples that are still open, in their order.
    pub fn open(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.list.iter().zip(&self.is_open).filter(|(_, &open)| open).map(|(&triple, _)| triple)
    }

    /// Closes the first occurrence of the triple with these ends: pcalg lists ends in ascending order.
    fn close(&mut self, end: usize, middle: usize, other: usize) {
        let triple = [end.min(other), middle, end.max(other)].map(|v| v as u32);
        if let Some(&at) = self.first.get(&triple) {
            self.is_open[at] = false;
        }
    }
}

impl Run<'_, '_> {
    /// Tests both edges of each triple given the separating sets of its ends. Triples that a removal makes unshielded are added at the end.
    pub(super) fn check_triples(&mut self, pag: &mut Pag, triples: &mut Triples) -> Result<()> {
        for k in 0..triples.list.len() {
            if !triples.is_open[k] {
                continue;
            }
            let [x, y, z] = triples.list[k].map(|v| v as usize);
            let mut set = self.both_sets(x, z);
            set.retain(|&v| v as usize != y);
            self.say(|| {
                let members = numbers(set.iter().map(|&v| v as usize));
                let triple = numbers([x, y, z]);
                format!("\nTriple: {triple} and sepSet (of size {} )  {members} \n", set.len())
            })?;
            if set.is_empty() {
                continue;
            }
            let first = self.check_edge(pag, triples, [x, y, z], x, &set)?;
            let second = self.check_edge(pag, triples, [x, y, z], z, &set)?;
            if first || second {
                triples.is_open[k] = false;
            }
        }
        Ok(())
    }

    /// Tests the edge between an end and the middle of a triple. Returns whether they are independent given the set; the edge is then
    /// removed.
    fn check_edge(
        &mut self,
        pag: &mut Pag,
        triples: &mut Triples,
        triple: [usize; 3],
        end: usize,
        set: &[u32],
    ) -> Result<bool> {
        let middle = triple[1];
        if self.is_fixed(end, middle) || !self.is_independent(end, middle, set, false)? {
            return Ok(false);
        }
        if let Some(least) = self.least_set(end, middle, set)? {
            self.separate(pag, end, middle, &least);
        }
        // Triangles become unshielded triples, and some triples cease to exist.
        let is_plain = |u: usize, v: usize| pag.mark(u, v) == Mark::Circle && pag.mark(v, u) == Mark::Circle;
        let around = |u: usize| pag.neighbours(u).filter(move |&v| is_plain(u, v) && !triple.contains(&v));
        for m in around(end).filter(|&m| is_plain(middle, m)) {
            triples.push([end.min(middle), m, end.max(middle)].map(|v| v as u32));
        }
        for q in around(end).filter(|&q| !pag.adjacent(middle, q)) {
            triples.close(q, end, middle);
        }
        for r in around(middle).filter(|&r| !pag.adjacent(end, r)) {
            triples.close(r, middle, end);
        }
        Ok(true)
    }

    /// Returns the first of the smallest nonempty subsets that separate two vertices, or `None` if no subset does.
    fn least_set(&mut self, x: usize, y: usize, set: &[u32]) -> Result<Option<Vec<u32>>> {
        for size in 1..=set.len() {
            if let Some(found) = self.first_of_size(x, y, set, size)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the first subset with `size` members that separates two vertices, or `None` if none does.
    pub(super) fn first_of_size(&mut self, x: usize, y: usize, set: &[u32], size: usize) -> Result<Option<Vec<u32>>> {
        let mut places: Vec<u32> = (0..size as u32).collect();
        loop {
            let members: Vec<u32> = places.iter().map(|&place| set[place as usize]).collect();
            if self.is_independent(x, y, &members, true)? {
                return Ok(Some(members));
            }
            if !subsets::advance(set.len(), &mut places) {
                return Ok(None);
            }
        }
    }
}
