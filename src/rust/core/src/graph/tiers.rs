//! Tiers of vertices: an order of groups of vertices.

use super::Adjacency;

/// The tier of each vertex. Only the order of the numbers matters. By default there is one tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers {
    /// By vertex: its tier, or empty if there is one tier.
    ranks: Vec<u32>,
}

impl Tiers {
    /// Makes tiers from a number for each vertex.
    pub fn of(numbers: &[f64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let rank = |number: &f64| sorted.partition_point(|other| other < number) as u32;
        Tiers { ranks: numbers.iter().map(rank).collect() }
    }

    /// Returns whether no tiers were given.
    pub fn is_none(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Returns the tiers by vertex, or an empty slice if none were given.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Returns the tier of a vertex, from 0.
    #[inline]
    pub fn of_vertex(&self, v: usize) -> u32 {
        self.ranks.get(v).copied().unwrap_or(0)
    }

    /// Returns whether v may be in conditioning sets of the sides of x: its tier must not be later (tpc's sequential `tskeleton()`, Witte
    /// et al. 2022).
    #[inline]
    pub fn may_condition(&self, x: usize, v: usize) -> bool {
        self.of_vertex(v) <= self.of_vertex(x)
    }

    /// Returns the neighbours of x from which sets are chosen, in ascending order.
    pub fn candidates<'g>(&'g self, graph: &'g Adjacency, x: usize) -> impl Iterator<Item = u32> + 'g {
        graph.neighbours(x).filter(move |&v| self.may_condition(x, v as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_order_of_numbers_counts() {
        let tiers = Tiers::of(&[2.5, -1.0, 2.5, 7.0]);
        assert_eq!(tiers.ranks(), [1, 0, 1, 2]);
        assert_eq!(tiers.candidates(&Adjacency::complete(4), 0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(Tiers::default().candidates(&Adjacency::complete(4), 1).collect::<Vec<_>>(), [0, 2, 3]);
    }
}
