//! A DAG on a skeleton that contradicts few verdicts on unshielded triples, for when no DAG agrees with all of them.
//!
//! The sinks of a DAG can be removed one after the other. Conversely, each order of removing all vertices gives a DAG: the edges that a
//! vertex still has then point into it. Dor and Tarsi (1992) remove a vertex only if that contradicts nothing, and stop if there is none.
//! Here the vertex that contradicts the fewest triples goes next. If a DAG agrees with all verdicts, each step costs nothing, and the
//! result is in that DAG's class: removing such a vertex never spoils a later step.

use super::poll::Poll;
use crate::graph::{Adjacency, Marks, SepSets};
use crate::Result;

/// The verdict on an unshielded triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Collider,
    NotCollider,
    /// Tests do not decide. A collider is then the second choice, as an arrow needs evidence.
    Open,
}

/// Cost of removing a vertex: a sum of the following, most important first.
type Cost = u128;

/// An arrow is reversed.
const TURNED: Cost = 1 << 96;
/// A verdict is contradicted.
const CONTRADICTED: Cost = 1 << 48;
/// No evidence supports a collider.
const UNSUPPORTED: Cost = 1;

/// A DAG, and how much it contradicts.
pub(super) struct Nearest {
    /// The graph with every edge directed and no cycle.
    pub dag: Marks,
    /// Number of given arrows that the DAG reverses; 0 unless they make a cycle.
    pub turned: u64,
    /// Number of unshielded triples whose verdict the DAG contradicts.
    pub contradicted: u64,
}

/// Directs every edge. Arrows of `arrows` stay, and so do the colliders they make. `verdicts` returns the verdicts on triples x - y - z with
/// this x, as a function of y and z; x and z are not adjacent. Ties go to the smallest vertex. Time: the sum of squared degrees.
pub(super) fn nearest_dag<V: FnMut(usize, usize) -> Verdict>(
    arrows: &Marks,
    skeleton: &Adjacency,
    verdicts: impl Fn(usize) -> V + Sync,
    poll: &Poll,
) -> Result<Nearest> {
    let p = arrows.p();
    let charges = charges(arrows, skeleton, &verdicts, poll)?;
    let ends = charges.iter().map(|&[of_end, ..]| of_end).collect();
    let together = (p as f64).sqrt() as usize + 1;
    let first = vec![(GONE, p); p.div_ceil(together)];
    let (present, cost) = (vec![true; p], vec![0; p]);
    let mut peeling = Peeling { arrows, skeleton, present, cost, ends, together, first };
    for (slot, [of_end, contradicted, unsupported]) in charges.into_iter().enumerate() {
        let (x, y) = (arrows.tail(slot), arrows.head(slot));
        peeling.cost[x] += TURNED * Cost::from(arrows.is_directed(slot)) + CONTRADICTED * Cost::from(of_end);
        peeling.cost[y] += CONTRADICTED * Cost::from(contradicted) + UNSUPPORTED * Cost::from(unsupported);
    }
    (0..p).for_each(|x| peeling.propose(x));
    let mut nearest = Nearest { dag: arrows.clone(), turned: 0, contradicted: 0 };
    for _ in 0..p {
        let Some(&(cost, x)) = peeling.first.iter().min() else { break };
        nearest.turned += (cost / TURNED) as u64;
        nearest.contradicted += (cost % TURNED / CONTRADICTED) as u64;
        peeling.take_out(x, &mut nearest.dag, verdicts(x), poll)?;
    }
    Ok(nearest)
}

/// Returns what each slot x -> y adds to costs while all vertices are present: the number of colliders at y that end at x, which are lost
/// if x goes before y. For triples x - y - z with x < z also: the number that are contradicted if y goes first, and the number of
/// unsupported colliders if y goes first.
fn charges<V: FnMut(usize, usize) -> Verdict>(
    arrows: &Marks,
    skeleton: &Adjacency,
    verdicts: &(impl Fn(usize) -> V + Sync),
    poll: &Poll,
) -> Result<Vec<[u32; 3]>> {
    let of_vertices = poll.map(arrows.slot_count(), arrows.p(), |part, on| {
        let mut charges = Vec::new();
        for x in part {
            let mut verdict = verdicts(x);
            for xy in arrows.slots(x) {
                let y = arrows.head(xy);
                on.looked_up(arrows.slots(y).len())?;
                let mut charge = [0; 3];
                for yz in arrows.slots(y) {
                    let z = arrows.head(yz);
                    if z == x || skeleton.has(x, z) || is_given(arrows, xy, yz) {
                        continue;
                    }
                    match verdict(y, z) {
                        Verdict::Collider => charge[0] += 1,
                        Verdict::NotCollider => charge[1] += u32::from(x < z),
                        Verdict::Open => charge[2] += u32::from(x < z),
                    }
                }
                charges.push(charge);
            }
        }
        Ok(charges)
    })?;
    Ok(of_vertices.concat())
}

/// Returns whether x -> y <- z is given by arrows, for the slots x -> y and y -> z.
fn is_given(arrows: &Marks, xy: usize, yz: usize) -> bool {
    arrows.is_directed(xy) && arrows.is_reversed(yz)
}

/// The separating sets of the pairs of one vertex, each looked up once.
pub(super) struct SetsOf<'a> {
    sepsets: &'a SepSets,
    x: usize,
    /// By other vertex: the only member of the sets; see the codes below. Empty if x has few edges.
    known: Vec<u32>,
}

/// Number of edges below which looking up is quicker than knowing.
const FEW: usize = 64;

const UNKNOWN: u32 = 0;
const EMPTY: u32 = 1;
const SEVERAL: u32 = 2;
const MEMBER: u32 = 3;

impl<'a> SetsOf<'a> {
    /// Makes the sets of a vertex with this many edges.
    pub fn new(sepsets: &'a SepSets, x: usize, edges: usize) -> Self {
        SetsOf { sepsets, x, known: vec![UNKNOWN; if edges < FEW { 0 } else { sepsets.p() }] }
    }

    /// Returns whether v is in a separating set of x and z.
    pub fn contain(&mut self, z: usize, v: usize) -> bool {
        let Some(known) = self.known.get_mut(z) else {
            return self.sepsets.either_contains(self.x, z, v as u32);
        };
        if *known == UNKNOWN {
            let sets = [(self.x, z), (z, self.x)].map(|(x, z)| self.sepsets.get(x, z).unwrap_or(&[]));
            *known = match (sets[0], sets[1]) {
                ([], []) => EMPTY,
                ([v], []) | ([], [v]) => MEMBER + v,
                _ => SEVERAL,
            };
        }
        match *known {
            EMPTY => false,
            SEVERAL => self.sepsets.either_contains(self.x, z, v as u32),
            member => member - MEMBER == v as u32,
        }
    }
}

/// A cost above all others.
const GONE: Cost = Cost::MAX;

struct Peeling<'a> {
    arrows: &'a Marks,
    skeleton: &'a Adjacency,
    present: Vec<bool>,
    /// Cost of each present vertex if it went next.
    cost: Vec<Cost>,
    /// By slot x -> y: the number of colliders at y that end at x, with all three vertices present.
    ends: Vec<u32>,
    /// The smallest cost of each of `together` vertices, with its smallest vertex.
    first: Vec<(Cost, usize)>,
    together: usize,
}

impl Peeling<'_> {
    /// Enters the cost of a vertex, which has fallen.
    fn propose(&mut self, x: usize) {
        let first = &mut self.first[x / self.together];
        *first = (*first).min((self.cost[x], x));
    }

    fn lower(&mut self, x: usize, by: Cost) {
        self.cost[x] -= by;
        self.propose(x);
    }

    /// Removes x and directs its remaining edges into it.
    fn take_out(
        &mut self,
        x: usize,
        dag: &mut Marks,
        mut verdict: impl FnMut(usize, usize) -> Verdict,
        poll: &Poll,
    ) -> Result<()> {
        let (arrows, skeleton) = (self.arrows, self.skeleton);
        self.present[x] = false;
        let block = x / self.together;
        self.first[block] = (GONE, arrows.p());
        for v in block * self.together..arrows.p().min((block + 1) * self.together) {
            if self.present[v] {
                self.propose(v);
            }
        }
        for xy in arrows.slots(x).filter(|&slot| self.present[arrows.head(slot)]).collect::<Vec<_>>() {
            let (y, yx) = (arrows.head(xy), arrows.twin(xy));
            poll.looked_up(arrows.slots(y).len())?;
            dag.direct(yx);
            if arrows.is_reversed(xy) {
                self.lower(y, TURNED);
            }
            // Triples with x in the middle, then those with x at an end.
            self.lower(y, CONTRADICTED * Cost::from(self.ends[yx]));
            for yz in arrows.slots(y) {
                let z = arrows.head(yz);
                if !self.present[z] || skeleton.has(x, z) || is_given(arrows, xy, yz) {
                    continue;
                }
                match verdict(y, z) {
                    Verdict::Collider => {
                        self.ends[arrows.twin(yz)] -= 1;
                        self.lower(z, CONTRADICTED);
                    }
                    Verdict::NotCollider => self.lower(y, CONTRADICTED),
                    Verdict::Open => self.lower(y, UNSUPPORTED),
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

    fn of_dag(dag: &Marks, abc: [usize; 3]) -> Verdict {
        if is_collider(dag, abc) {
            Verdict::Collider
        } else {
            Verdict::NotCollider
        }
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
            let mut found = nearest_dag(
                &none,
                &skeleton,
                |a| {
                    let dag = &dag;
                    move |b, c| of_dag(dag, [a, b, c])
                },
                &Poll::silent(),
            )
            .unwrap();
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
            let found = nearest_dag(
                &Marks::undirected(&skeleton),
                &skeleton,
                |x| {
                    let verdict = &verdict;
                    move |y, z| verdict(x, y, z)
                },
                &Poll::silent(),
            )
            .unwrap();
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
            let found = nearest_dag(&given, &skeleton, |_| |_, _| Verdict::NotCollider, &Poll::silent()).unwrap();
            assert_eq!(found.turned, 0);
            assert!((0..dag.slot_count()).all(|slot| !given.is_directed(slot) || found.dag.is_directed(slot)));
            assert!(!has_cycle(&found.dag, false));
        }
        let triangle = Adjacency::complete(3);
        let mut cycle = Marks::undirected(&triangle);
        for (u, v) in [(0, 1), (1, 2), (2, 0)] {
            cycle.direct(cycle.find(u, v).unwrap());
        }
        let found = nearest_dag(&cycle, &triangle, |_| |_, _| Verdict::NotCollider, &Poll::silent()).unwrap();
        assert!(found.turned == 1 && !has_cycle(&found.dag, false));
    }

    #[test]
    fn a_square_without_colliders_gets_one() {
        let lists: [&[u32]; 4] = [&[1, 3], &[2], &[3], &[]];
        let square = Adjacency::from_lists(&lists);
        let verdict = |_| |_, _| Verdict::NotCollider;
        let found = nearest_dag(&Marks::undirected(&square), &square, verdict, &Poll::silent()).unwrap();
        assert_eq!(found.contradicted, 1);
        assert_eq!(triples(&square).into_iter().filter(|&triple| is_collider(&found.dag, triple)).count(), 1);
    }
}
