//! Random DAGs.

use super::draws::{Draws, Of};
use crate::memory::{self, Use};
use crate::{Error, Result};

/// Model of the edges. The causal order is always random, so vertex numbers carry no information.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Each pair has an edge with the same probability, independently (Erdős and Rényi 1959).
    Independent,
    /// Each new vertex is joined with neighbours / 2 earlier ones, whose probability is proportional to their number of edges plus one
    /// (Barabási and Albert 1999). Few vertices have many neighbours.
    Power,
    /// Vertices are in this many layers of about equal size, and edges lead from one layer to the next. Two layers make a bipartite graph.
    Layers(usize),
}

/// Parameters of a random graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Number of vertices.
    pub p: usize,
    /// Model of the edges.
    pub model: Model,
    /// Expected number of neighbours of a vertex.
    pub neighbours: f64,
    /// Bounds of the weights, which are uniform between them.
    pub weights: [f64; 2],
    /// Whether weights have random signs.
    pub signs: bool,
}

/// A DAG with a weight for each arrow. Arrows are sorted by head, then tail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dag {
    /// Tails.
    pub from: Vec<u32>,
    /// Heads.
    pub to: Vec<u32>,
    /// Weights.
    pub weight: Vec<f64>,
}

/// Draws a random DAG.
///
/// # Errors
/// [`Error::Argument`] for fewer than two layers or more layers than vertices; [`Error::Memory`].
pub fn random_dag(shape: &Shape, seed: u64) -> Result<Dag> {
    let p = shape.p;
    let expected = (shape.neighbours * p as f64 / 2.0).min(p as f64 * p as f64 / 2.0);
    memory::room(48 * expected as usize + 16 * p, Use::Pairs)?;
    let order = Draws::new(seed, Of::Order, 0).permutation(p);
    let mut draws = Draws::new(seed, Of::Edges, 0);
    let mut arrows: Vec<[u32; 2]> = Vec::new();
    match shape.model {
        Model::Independent => {
            // Pairs of places a < b in the order, by b: the pairs of b begin at b (b - 1) / 2.
            let (mut b, mut first) = (1u64, 0u64);
            let pairs = p as u64 * (p as u64).saturating_sub(1) / 2;
            draws.each(pairs, shape.neighbours / (p as f64 - 1.0), |pair| {
                while pair >= first + b {
                    first += b;
                    b += 1;
                }
                arrows.push([order[(pair - first) as usize], order[b as usize]]);
            });
        }
        Model::Power => arrows = attached(p, shape.neighbours / 2.0, &order, &mut draws),
        Model::Layers(layers) => {
            if layers < 2 || layers > p {
                let hint = format!("give from 2 to {p} layers");
                return Err(Error::Argument { argument: "layers", value: layers.to_string(), hint });
            }
            let start = |layer: usize| layer * p / layers;
            let size = |layer: usize| start(layer + 1) - start(layer);
            let pairs: f64 = (1..layers).map(|layer| size(layer - 1) as f64 * size(layer) as f64).sum();
            for layer in 1..layers {
                let (above, here) = (size(layer - 1) as u64, size(layer) as u64);
                draws.each(above * here, shape.neighbours * p as f64 / 2.0 / pairs, |pair| {
                    let from = order[start(layer - 1) + (pair % above) as usize];
                    arrows.push([from, order[start(layer) + (pair / above) as usize]]);
                });
            }
        }
    }
    arrows.sort_unstable_by_key(|&[from, to]| (to, from));
    let mut draws = Draws::new(seed, Of::Weight, 0);
    let [low, high] = shape.weights;
    let weight = |_: &[u32; 2]| {
        let size = low + (high - low) * draws.uniform();
        if shape.signs && draws.below(2) == 0 {
            -size
        } else {
            size
        }
    };
    Ok(Dag {
        weight: arrows.iter().map(weight).collect(),
        from: arrows.iter().map(|arrow| arrow[0]).collect(),
        to: arrows.iter().map(|arrow| arrow[1]).collect(),
    })
}

/// Joins each vertex with `each` earlier ones on average. The end with the smaller `order` is the tail of the edge.
fn attached(p: usize, each: f64, order: &[u32], draws: &mut Draws) -> Vec<[u32; 2]> {
    let mut arrows = Vec::new();
    // Each vertex once, and once more for each of its edges.
    let mut ends: Vec<u32> = Vec::new();
    let mut chosen: Vec<u32> = Vec::new();
    // For each vertex, the last vertex that chose it.
    let mut by: Vec<usize> = vec![usize::MAX; p];
    for v in 0..p {
        let more = usize::from(draws.uniform() < each.fract());
        let count = (each as usize + more).min(v);
        chosen.clear();
        if count == v {
            chosen.extend(0..v as u32);
        }
        while chosen.len() < count {
            let u = ends[draws.below(ends.len())];
            if std::mem::replace(&mut by[u as usize], v) != v {
                chosen.push(u);
            }
        }
        ends.push(v as u32);
        for &u in &chosen {
            ends.extend([u, v as u32]);
            let (from, to) = if order[u as usize] < order[v] { (u, v as u32) } else { (v as u32, u) };
            arrows.push([from, to]);
        }
    }
    arrows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(p: usize, model: Model, neighbours: f64) -> Shape {
        Shape { p, model, neighbours, weights: [0.5, 1.0], signs: true }
    }

    fn degrees(dag: &Dag, p: usize) -> Vec<usize> {
        let mut degrees = vec![0; p];
        dag.from.iter().chain(&dag.to).for_each(|&v| degrees[v as usize] += 1);
        degrees
    }

    #[test]
    fn each_model_has_its_edges_and_no_cycle() {
        let p = 2000;
        for model in [Model::Independent, Model::Power, Model::Layers(2), Model::Layers(7)] {
            for neighbours in [0.5, 3.0, 8.0] {
                let dag = random_dag(&shape(p, model, neighbours), 11).unwrap();
                let mean = 2.0 * dag.from.len() as f64 / p as f64;
                assert!((mean - neighbours).abs() < 0.15 * neighbours + 0.02, "{model:?}, {neighbours}: {mean}");
                let mut lists = vec![Vec::new(); p];
                dag.from.iter().zip(&dag.to).for_each(|(&from, &to)| lists[from as usize].push(to));
                // Sorted by head: no arrow occurs twice.
                assert!(lists.iter().all(|list| list.windows(2).all(|two| two[0] < two[1])));
                let graph = crate::graph::Marks::from_lists("dag", &lists).unwrap();
                assert!(!crate::graph::has_cycle(&graph, false));
                assert_eq!(graph.slot_count(), 2 * dag.from.len());
                assert!(dag.weight.iter().all(|w| (0.5..1.0).contains(&w.abs())));
                assert!(dag.weight.iter().any(|&w| w < 0.0));
            }
        }
        let most = |model| degrees(&random_dag(&shape(p, model, 4.0), 3).unwrap(), p).into_iter().max().unwrap();
        assert!(most(Model::Power) > 3 * most(Model::Independent));
    }

    #[test]
    fn layers_have_edges_to_the_next_alone() {
        let dag = random_dag(&shape(400, Model::Layers(2), 3.0), 1).unwrap();
        let tails: std::collections::BTreeSet<u32> = dag.from.iter().copied().collect();
        assert!(dag.to.iter().all(|to| !tails.contains(to)));
        assert!(random_dag(&shape(4, Model::Layers(5), 1.0), 1).is_err());
    }

    #[test]
    fn small_and_full_graphs() {
        for neighbours in [0.0, 1.0] {
            assert_eq!(random_dag(&shape(1, Model::Independent, neighbours), 1).unwrap(), Dag::default());
        }
        assert_eq!(random_dag(&shape(9, Model::Independent, 8.0), 1).unwrap().from.len(), 36);
        assert_eq!(random_dag(&shape(9, Model::Power, 100.0), 1).unwrap().from.len(), 36);
    }
}
