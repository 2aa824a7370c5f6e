//! A DAG on a skeleton that contradicts few verdicts on unshielded triples, for when no DAG agrees with all of them.
//!
//! The sinks of a DAG can be removed one after the other. Conversely, each order of removing all vertices gives a DAG: the edges that a
//! vertex still has then point into it. Dor and Tarsi (1992) remove a vertex only if that contradicts nothing, and stop if there is none.
//! Here the vertex that contradicts the fewest triples goes next. If a DAG agrees with all verdicts, each step costs nothing, and the
//! result is in that DAG's class: removing such a vertex never spoils a later step.

use super::poll::Poll;
use crate::graph::{Adjacency, Marks};
use crate::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The verdict on an unshielded triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Collider,
    NotCollider,
    /// Tests do not decide. A collider is then the second choice, as an arrow needs evidence.
    Open,
}

/// Cost of removing a vertex, most important first: arrows reversed, verdicts contradicted, colliders that no evidence supports.
type Cost = [u64; 3];

const CONTRADICTED: usize = 1;

/// A DAG, and how much it contradicts.
pub(super) struct Nearest {
    /// The graph with every edge directed and no cycle.
    pub dag: Marks,
    /// Number of given arrows that the DAG reverses; 0 unless they make a cycle.
    pub turned: u64,
    /// Number of unshielded triples whose verdict the DAG contradicts.
    pub contradicted: u64,
}

/// Directs every edge. Arrows of `arrows` stay, and so do the colliders they make. `verdict` is called with [a, b, c], a and c not
/// adjacent, with the ends in either order. Ties go to the smallest vertex. Time: the sum of squared degrees.
pub(super) fn nearest_dag(
    arrows: &Marks,
    skeleton: &Adjacency,
    verdict: impl Fn(usize, usize, usize) -> Verdict,
    poll: &Poll,
) -> Result<Nearest> {
    let p = arrows.p();
    let mut peeling = Peeling { arrows, skeleton, verdict, present: vec![true; p], cost: vec![[0; 3]; p] };
    peeling.count(poll)?;
    let mut heap: BinaryHeap<_> = peeling.cost.iter().enumerate().map(|(x, &cost)| Reverse((cost, x))).collect();
    let mut nearest = Nearest { dag: arrows.clone(), turned: 0, contradicted: 0 };
    let mut cheaper = Vec::new();
    while let Some(Reverse((cost, x))) = heap.pop() {
        // Costs only fall, and each fall enters the vertex again.
        if !peeling.present[x] || cost != peeling.cost[x] {
            continue;
        }
        nearest.turned += cost[0];
        nearest.contradicted += cost[CONTRADICTED];
        peeling.take_out(x, &mut nearest.dag, &mut cheaper, poll)?;
        cheaper.sort_unstable();
        cheaper.dedup();
        heap.extend(cheaper.drain(..).filter(|&y| peeling.present[y]).map(|y| Reverse((peeling.cost[y], y))));
    }
    Ok(nearest)
}

struct Peeling<'a, F> {
    arrows: &'a Marks,
    skeleton: &'a Adjacency,
    verdict: F,
    present: Vec<bool>,
    /// Cost of each present vertex if it went next.
    cost: Vec<Cost>,
}

impl<F: Fn(usize, usize, usize) -> Verdict> Peeling<'_, F> {
    /// Returns what the triple a - b - c adds to its vertices' costs while all three are present: (vertex, index in its [`Cost`]).
    fn charges(&self, [a, b, c]: [usize; 3]) -> impl Iterator<Item = (usize, usize)> {
        let given = self.arrows.points(a, b) && self.arrows.points(c, b);
        let (who, kind): (&[usize], _) = match (self.verdict)(a, b, c) {
            _ if given => (&[], CONTRADICTED),
            // The collider is lost if one of its ends goes before b.
            Verdict::Collider => (&[a, c], CONTRADICTED),
            Verdict::NotCollider => (&[b], CONTRADICTED),
            Verdict::Open => (&[b], CONTRADICTED + 1),
        };
        let mut list = [None; 2];
        who.iter().zip(&mut list).for_each(|(&v, place)| *place = Some((v, kind)));
        list.into_iter().flatten()
    }

    /// Computes the costs while all vertices are present.
    fn count(&mut self, poll: &Poll) -> Result<()> {
        for b in 0..self.arrows.p() {
            let around = self.arrows.neighbours(b);
            for (at, &a) in around.iter().enumerate() {
                poll.looked_up(around.len() - at)?;
                for &c in around[at + 1..].iter().filter(|&&c| !self.skeleton.has(a as usize, c as usize)) {
                    for (who, kind) in self.charges([a as usize, b, c as usize]) {
                        self.cost[who][kind] += 1;
                    }
                }
            }
            self.cost[b][0] = self.arrows.children(b).count() as u64;
        }
        Ok(())
    }

    /// Removes x and directs its remaining edges into it. Adds the vertices whose costs fall to `cheaper`.
    fn take_out(&mut self, x: usize, dag: &mut Marks, cheaper: &mut Vec<usize>, poll: &Poll) -> Result<()> {
        self.present[x] = false;
        let left: Vec<usize> = self.arrows.slots(x).filter(|&slot| self.present[self.arrows.head(slot)]).collect();
        for (at, &slot) in left.iter().enumerate() {
            let y = self.arrows.head(slot);
            dag.direct(self.arrows.twin(slot));
            if self.arrows.is_reversed(slot) {
                self.cost[y][0] -= 1;
                cheaper.push(y);
            }
            // Triples with x in the middle, and those with x at an end.
            let others = left[at + 1..].iter().map(|&slot| self.arrows.head(slot));
            let triples = others.filter(|&z| !self.skeleton.has(y, z)).map(|z| [y, x, z]);
            let around = self.arrows.neighbours(y).iter().map(|&z| z as usize);
            let ended = around.filter(|&z| z != x && self.present[z] && !self.skeleton.has(x, z)).map(|z| [x, y, z]);
            let triples: Vec<[usize; 3]> = triples.chain(ended).collect();
            poll.looked_up(left.len() - at + self.arrows.neighbours(y).len())?;
            for triple in triples {
                for (who, kind) in self.charges(triple).filter(|&(who, _)| who != x) {
                    self.cost[who][kind] -= 1;
                    cheaper.push(who);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{essential_graph, has_cycle};

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    fn random_graph(p: usize, random: &mut Random) -> Adjacency {
        let mut skeleton = Adjacency::empty(p);
        for (u, v) in (0..p).flat_map(|v| (0..v).map(move |u| (u, v))) {
            if random.below(10) < 4 {
                skeleton.insert(u, v);
            }
        }
        skeleton
    }

    fn triples(skeleton: &Adjacency) -> Vec<[usize; 3]> {
        let mut found = Vec::new();
        super::super::triples::each_unshielded(skeleton, &Poll::silent(), |triple| {
            found.push(triple.map(|v| v as usize));
            Ok(())
        })
        .unwrap();
        found
    }

    fn is_collider(dag: &Marks, [a, b, c]: [usize; 3]) -> bool {
        dag.points(a, b) && dag.points(c, b)
    }

    fn of_dag(dag: &Marks) -> impl Fn(usize, usize, usize) -> Verdict + '_ {
        |a, b, c| if is_collider(dag, [a, b, c]) { Verdict::Collider } else { Verdict::NotCollider }
    }

    /// Directs the skeleton by a random order of the vertices.
    fn random_dag(skeleton: &Adjacency, random: &mut Random) -> Marks {
        let rank: Vec<(u64, usize)> = (0..skeleton.p()).map(|v| (random.below(1000), v)).collect();
        let mut dag = Marks::undirected(skeleton);
        for slot in 0..dag.slot_count() {
            if rank[dag.tail(slot)] < rank[dag.head(slot)] {
                dag.direct(slot);
            }
        }
        dag
    }

    #[test]
    fn what_a_dag_says_gives_its_class() {
        let mut random = Random(3);
        for _ in 0..2000 {
            let skeleton = random_graph(8, &mut random);
            let dag = random_dag(&skeleton, &mut random);
            let none = Marks::undirected(&skeleton);
            let mut found = nearest_dag(&none, &skeleton, of_dag(&dag), &Poll::silent()).unwrap();
            assert_eq!((found.turned, found.contradicted), (0, 0));
            let mut wanted = dag.clone();
            essential_graph(&mut wanted, || Ok(())).unwrap();
            essential_graph(&mut found.dag, || Ok(())).unwrap();
            assert!((0..wanted.slot_count()).all(|slot| wanted.mark(slot) == found.dag.mark(slot)));
        }
    }

    #[test]
    fn contradictions_are_counted_and_few() {
        let mut random = Random(5);
        let (mut greedy, mut best, mut last) = (0, 0, 0);
        for round in 0..300 {
            let skeleton = random_graph(6, &mut random);
            let said: Vec<([usize; 3], Verdict)> = triples(&skeleton)
                .into_iter()
                .map(|triple| match random.below(5) {
                    0 | 1 => (triple, Verdict::Collider),
                    2 | 3 => (triple, Verdict::NotCollider),
                    _ => (triple, Verdict::Open),
                })
                .collect();
            let verdict = |a: usize, b: usize, c: usize| {
                said.iter().find(|(triple, _)| *triple == [a.min(c), b, a.max(c)]).unwrap().1
            };
            let against = |dag: &Marks| {
                let wrong = |&&(triple, verdict): &&([usize; 3], Verdict)| match verdict {
                    Verdict::Open => false,
                    said => is_collider(dag, triple) != (said == Verdict::Collider),
                };
                said.iter().filter(wrong).count() as u64
            };
            let found = nearest_dag(&Marks::undirected(&skeleton), &skeleton, verdict, &Poll::silent()).unwrap();
            assert!((0..found.dag.slot_count()).all(|slot| !found.dag.is_undirected(slot)));
            assert!(!has_cycle(&found.dag, false), "{round}");
            assert_eq!(found.contradicted, against(&found.dag), "{round}");
            let others: Vec<u64> = (0..800).map(|_| against(&random_dag(&skeleton, &mut random))).collect();
            greedy += found.contradicted;
            best += others.iter().min().unwrap();
            last = last.max(found.contradicted);
        }
        assert!(best <= greedy && 10 * greedy <= 13 * best && last > 2, "{greedy} {best} {last}");
    }

    #[test]
    fn given_arrows_stay_unless_they_make_a_cycle() {
        let mut random = Random(11);
        for _ in 0..500 {
            let skeleton = random_graph(8, &mut random);
            let dag = random_dag(&skeleton, &mut random);
            let mut given = Marks::undirected(&skeleton);
            for slot in (0..dag.slot_count()).filter(|&slot| dag.is_directed(slot)) {
                if random.below(3) == 0 {
                    given.direct(slot);
                }
            }
            let found = nearest_dag(&given, &skeleton, |_, _, _| Verdict::NotCollider, &Poll::silent()).unwrap();
            assert_eq!(found.turned, 0);
            assert!((0..dag.slot_count()).all(|slot| !given.is_directed(slot) || found.dag.is_directed(slot)));
            assert!(!has_cycle(&found.dag, false));
        }
        let triangle = Adjacency::complete(3);
        let mut cycle = Marks::undirected(&triangle);
        for (u, v) in [(0, 1), (1, 2), (2, 0)] {
            cycle.direct(cycle.find(u, v).unwrap());
        }
        let found = nearest_dag(&cycle, &triangle, |_, _, _| Verdict::NotCollider, &Poll::silent()).unwrap();
        assert!(found.turned == 1 && !has_cycle(&found.dag, false));
    }

    #[test]
    fn a_square_without_colliders_gets_one() {
        let lists: [&[u32]; 4] = [&[1, 3], &[2], &[3], &[]];
        let square = Adjacency::from_lists(&lists);
        let verdict = |_, _, _| Verdict::NotCollider;
        let found = nearest_dag(&Marks::undirected(&square), &square, verdict, &Poll::silent()).unwrap();
        assert_eq!(found.contradicted, 1);
        assert_eq!(triples(&square).into_iter().filter(|&triple| is_collider(&found.dag, triple)).count(), 1);
    }
}
