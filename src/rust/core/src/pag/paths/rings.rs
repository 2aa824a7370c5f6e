//! Which edges o-o lie on a ring of such edges.

use super::by_circles;
use crate::pag::Pag;

/// The blocks of the graph of edges o-o: two edges lie on a common ring if they are in the same block.
pub struct Rings {
    /// For each vertex, the ends of its edges o-o and their blocks.
    of: Vec<Vec<(u32, u32)>>,
    /// For each block, its number of edges.
    edges: Vec<u32>,
}

impl Rings {
    /// Finds the blocks of a graph (Hopcroft and Tarjan 1973).
    pub fn new(pag: &Pag) -> Self {
        let p = pag.p();
        let near: Vec<Vec<usize>> = (0..p).map(|u| by_circles(pag, u).collect()).collect();
        let mut rings = Rings { of: vec![Vec::new(); p], edges: Vec::new() };
        crate::graph::each_block(
            p,
            |u| &near[u],
            |block| {
                let number = rings.edges.len() as u32;
                rings.edges.push(block.len() as u32);
                for &(u, v) in block {
                    rings.of[u].push((v as u32, number));
                    rings.of[v].push((u as u32, number));
                }
            },
        );
        rings
    }

    /// Returns the block of the edge u o-o v, or `None` if the edge lies on no ring.
    pub fn of(&self, u: usize, v: usize) -> Option<u32> {
        let (_, block) = *self.of[u].iter().find(|&&(w, _)| w as usize == v)?;
        (self.edges[block as usize] > 1).then_some(block)
    }
}
