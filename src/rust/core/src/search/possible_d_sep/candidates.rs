//! The candidates of the conditioning sets of an edge.

use super::Sets;
use crate::graph::{each_block, subsets, Adjacency};
use crate::search::Options;

/// The vertices that sets are chosen from, by ordered pair.
#[derive(Clone)]
pub struct Candidates<'a> {
    sets: &'a Sets,
    options: &'a Options,
    m_max: f64,
    /// The biconnected component of each edge x < y, sorted by pair, if components matter.
    components: Vec<([u32; 2], u32)>,
    /// The vertices of each component, ascending.
    members: Vec<Vec<u32>>,
}

/// A class of edges of x with the same candidates. The component and the latest tier of the two ends define it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Class {
    component: Option<u32>,
    /// The latest tier that a candidate may be of.
    latest: u32,
}

impl<'a> Candidates<'a> {
    /// Finds the candidates in a graph, as the phase begins.
    pub fn new(options: &'a Options, graph: &Adjacency, sets: &'a Sets) -> Self {
        let (mut components, mut members) = (Vec::new(), Vec::new());
        if sets.by_component {
            let near: Vec<Vec<usize>> =
                (0..graph.p()).map(|x| graph.neighbours(x).map(|y| y as usize).collect()).collect();
            each_block(
                graph.p(),
                |x| &near[x],
                |block| {
                    let number = members.len() as u32;
                    let mut of: Vec<u32> = block.iter().flat_map(|&(u, v)| [u as u32, v as u32]).collect();
                    of.sort_unstable();
                    of.dedup();
                    members.push(of);
                    components.extend(block.iter().map(|&(u, v)| ([u.min(v) as u32, u.max(v) as u32], number)));
                },
            );
            components.sort_unstable();
        }
        Candidates { sets, options, m_max: options.m_max, components, members }
    }

    /// Returns the same candidates for sets up to another size.
    pub fn within(&self, m_max: f64) -> Self {
        Candidates { m_max, ..self.clone() }
    }

    /// Returns the class of the pair's candidates for sets of `size`.
    pub fn class(&self, x: usize, y: usize, size: usize) -> Class {
        let pair = [x.min(y) as u32, x.max(y) as u32];
        // pcalg takes single variables from all components.
        let component = match size {
            1 => None,
            _ => self.components.binary_search_by_key(&pair, |&(pair, _)| pair).ok().map(|at| self.components[at].1),
        };
        let tiers = &self.options.tiers;
        Class { component, latest: tiers.of_vertex(x).max(tiers.of_vertex(y)) }
    }

    /// Returns the candidates of x in a class, ascending, including the other ends of its edges.
    pub fn of_class(&self, x: usize, class: Class) -> impl Iterator<Item = u32> + '_ {
        let members = class.component.map(|component| &self.members[component as usize]);
        let is_in_time = move |v: &u32| self.options.tiers.of_vertex(*v as usize) <= class.latest;
        let is_member = move |v: &u32| members.is_none_or(|members| members.binary_search(v).is_ok());
        self.sets.candidates[x].iter().copied().filter(is_in_time).filter(is_member)
    }

    /// Returns the candidates of the pair for sets of `size`, ascending.
    pub fn of_pair(&self, x: usize, y: usize, size: usize) -> impl Iterator<Item = u32> + '_ {
        self.of_class(x, self.class(x, y, size)).filter(move |&v| v as usize != y)
    }

    /// Returns all candidates of x.
    pub fn of(&self, x: usize) -> &[u32] {
        &self.sets.candidates[x]
    }

    /// Returns whether the candidates of an edge are limited to its biconnected component.
    pub fn are_by_component(&self) -> bool {
        self.sets.by_component
    }

    /// Returns the largest number of candidates with which an edge is tried.
    pub fn most(&self) -> f64 {
        self.sets.most
    }

    /// Returns the largest size of sets for a pair with `count` candidates; 0 if none is tried, as candidates are too many or `m_max` is 0.
    pub fn largest(&self, count: usize) -> usize {
        if count as f64 > self.sets.most || self.m_max <= 0.0 {
            0
        } else {
            // pcalg continues while the size is below m.max.
            (count as f64).min(self.m_max.ceil()) as usize
        }
    }

    /// Returns the number of tests if no set separates anything, as a float because it may exceed 64 bits.
    pub fn most_tests(&self, options: &Options, graph: &Adjacency) -> f64 {
        let mut most = 0.0;
        for x in 0..graph.p() {
            for y in graph.neighbours(x).map(|y| y as usize).filter(|&y| !options.is_fixed(x, y)) {
                most += self.tests_of(graph, x, y, subsets::binomial_float);
            }
        }
        most
    }

    fn tests_of(&self, graph: &Adjacency, x: usize, y: usize, count: impl Fn(usize, usize) -> f64) -> f64 {
        let known = |size: usize| {
            let all: Vec<u32> = self.of_pair(x, y, size).collect();
            let near = all.iter().filter(|&&v| graph.has(x, v as usize)).count();
            (all.len(), near)
        };
        let (single, near) = known(1);
        let (all, near_of_all) = if self.sets.by_component { known(2) } else { (single, near) };
        if single == near {
            return 0.0;
        }
        let largest = self.largest(all);
        let of_size = |size: usize| match size {
            1 => (single - near) as f64,
            _ => count(all, size) - count(near_of_all, size),
        };
        (1..=largest).map(of_size).sum()
    }
}
