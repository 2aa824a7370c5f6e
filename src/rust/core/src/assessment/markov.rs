//! What a graph implies about data: independences by the Markov condition, and dependences by faithfulness.

use std::collections::HashSet;

use super::graph::Graph;
use crate::ci::Batch;
use crate::graph::{arrows_on_cycles, topological_order, Marks};
use crate::memory::{self, Use};
use crate::orient::dag_of;
use crate::random::{philox, Key, Purpose};
use crate::{Error, Result};

/// The conditioning sets of independences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// The parents of x, for each y that is not one of them and comes before x in an order with parents first. This is the ordered local
    /// Markov condition, which implies all others.
    Parents,
    /// The Markov blanket (parents, children, and parents of children) of x or y, whichever is smaller; for each y outside it.
    Blanket,
}

/// Questions (x, y | S) whose answers a graph implies, each pair once.
#[derive(Debug)]
pub struct Implied {
    /// The questions that are asked.
    pub questions: Batch,
    /// Number of questions that the graph implies in all.
    pub all: u64,
    /// Kind of the DAG that implies them.
    pub extension: Extension,
}

/// A DAG that stands for a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// A DAG with only the graph's arrows and v-structures.
    Same,
    /// A DAG with the graph's arrows and further v-structures, as there is no other.
    Colliders,
    /// A DAG without the graph's arrows on cycles: their edges are directed like undirected ones.
    Cycles,
}

/// Returns implied independences: all, or `most` drawn at random. If the graph is not a DAG, one that extends it takes its place.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Memory`].
pub fn independences(
    graph: &Graph,
    given: Given,
    most: usize,
    seed: u64,
    wants_to_stop: Option<&dyn Fn() -> bool>,
) -> Result<Implied> {
    let (dag, extension) = dag(graph, wants_to_stop)?;
    let p = dag.p();
    let order = topological_order(&dag);
    let mut place = vec![0; p];
    order.iter().enumerate().for_each(|(at, &v)| place[v] = at);
    let sets: Vec<Vec<u32>> = match given {
        Given::Parents => (0..p).map(|v| dag.parents(v).map(|u| u as u32).collect()).collect(),
        Given::Blanket => blankets(&dag)?,
    };
    // No question pairs v with a u < v in this list; membership is symmetric.
    let mut excluded: Vec<Vec<u32>> = vec![Vec::new(); p];
    for (v, set) in sets.iter().enumerate() {
        for &u in set {
            let (low, high) = (u.min(v as u32), u.max(v as u32));
            if given == Given::Parents || u < v as u32 {
                excluded[high as usize].push(low);
            }
        }
    }
    excluded.iter_mut().for_each(|list| list.sort_unstable());
    let all = p as u64 * (p as u64).saturating_sub(1) / 2 - excluded.iter().map(|list| list.len() as u64).sum::<u64>();
    let mut questions = Batch::with_space(most.min(all as usize), 0)?;
    let mut ask = |u: usize, v: usize| {
        let [mut y, mut x] = [u, v];
        let turned = match given {
            Given::Parents => place[y] > place[x],
            Given::Blanket => sets[y].len() < sets[x].len(),
        };
        if turned {
            std::mem::swap(&mut x, &mut y);
        }
        questions.push(x, y, &sets[x]);
    };
    for [u, v] in chosen_pairs(p, &excluded, all, most as u64, seed, wants_to_stop)? {
        ask(u as usize, v as usize);
        memory::check()?;
    }
    Ok(Implied { questions, all, extension })
}

/// Returns implied dependences: all, or `most` drawn at random. Each is an edge x -> y, given the other parents of y.
///
/// # Errors
/// Those of [`independences`].
pub fn dependences(graph: &Graph, most: usize, seed: u64, wants_to_stop: Option<&dyn Fn() -> bool>) -> Result<Implied> {
    let (dag, extension) = dag(graph, wants_to_stop)?;
    let all = dag.slot_count() as u64 / 2;
    let mut taken = Taken::new(all, most as u64, seed, 1);
    let mut questions = Batch::new();
    for y in 0..dag.p() {
        let parents: Vec<u32> = dag.parents(y).map(|u| u as u32).collect();
        for &x in &parents {
            if taken.next() {
                let others: Vec<u32> = parents.iter().copied().filter(|&u| u != x).collect();
                questions.push(y, x as usize, &others);
            }
        }
        memory::check()?;
    }
    Ok(Implied { questions, all, extension })
}

fn dag(graph: &Graph, wants_to_stop: Option<&dyn Fn() -> bool>) -> Result<(Marks, Extension)> {
    let cyclic = arrows_on_cycles(&graph.0);
    let mut marks = graph.0.clone();
    cyclic.iter().for_each(|&slot| marks.undirect(slot));
    let (dag, extends) = dag_of(&marks, wants_to_stop)?.ok_or_else(|| Error::Argument {
        argument: "fit",
        value: "a graph whose arrows form a cycle".into(),
        hint: "give a DAG or a CPDAG, for example from pc(u2pd = \"valid\")".into(),
    })?;
    let extension = match (cyclic.is_empty(), extends) {
        (false, _) => Extension::Cycles,
        (true, false) => Extension::Colliders,
        (true, true) => Extension::Same,
    };
    Ok((dag, extension))
}

fn blankets(dag: &Marks) -> Result<Vec<Vec<u32>>> {
    let mut blankets = Vec::with_capacity(dag.p());
    for v in 0..dag.p() {
        let mut blanket: Vec<u32> = dag.slots(v).map(|slot| dag.head(slot) as u32).collect();
        for child in dag.children(v) {
            for spouse in dag.parents(child).filter(|&u| u != v) {
                memory::push(&mut blanket, spouse as u32, Use::Sets)?;
            }
        }
        blanket.sort_unstable();
        blanket.dedup();
        blankets.push(blanket);
    }
    Ok(blankets)
}

/// Returns a random word for a number.
fn word(seed: u64, number: u64, purpose: u32) -> u64 {
    let words = philox([number as u32, (number >> 32) as u32, purpose, Purpose::Questions as u32], Key::of_seed(seed));
    u64::from(words[0]) << 32 | u64::from(words[1])
}

/// A random choice of `wanted` out of `left` items in sequence; each subset is equally likely (Knuth's algorithm S).
struct Taken {
    seed: u64,
    purpose: u32,
    at: u64,
    left: u64,
    wanted: u64,
}

impl Taken {
    fn new(all: u64, most: u64, seed: u64, purpose: u32) -> Self {
        Taken { seed, purpose, at: 0, left: all, wanted: most.min(all) }
    }

    fn next(&mut self) -> bool {
        let draw = ((u128::from(word(self.seed, self.at, self.purpose)) * u128::from(self.left)) >> 64) as u64;
        let takes = draw < self.wanted;
        self.at += 1;
        self.left -= 1;
        self.wanted -= u64::from(takes);
        takes
    }
}

/// Returns the pairs u < v that are not excluded, by v, then u: all, or `most` drawn at random.
fn chosen_pairs(
    p: usize,
    excluded: &[Vec<u32>],
    all: u64,
    most: u64,
    seed: u64,
    wants_to_stop: Option<&dyn Fn() -> bool>,
) -> Result<Vec<[u32; 2]>> {
    let mut pairs = memory::space(most.min(all) as usize, Use::Level)?;
    let is_asked = |u: u32, v: usize| excluded[v].binary_search(&u).is_err();
    if all <= most.saturating_mul(2) {
        let mut taken = Taken::new(all, most, seed, 0);
        for v in 0..p {
            if wants_to_stop.is_some_and(|ask| ask()) {
                return Err(Error::Interrupted);
            }
            pairs.extend((0..v as u32).filter(|&u| is_asked(u, v) && taken.next()).map(|u| [u, v as u32]));
        }
        return Ok(pairs);
    }
    let mut known = HashSet::new();
    let mut at = 0;
    while pairs.len() < most as usize {
        let both = word(seed, at, 0);
        let bounded = |word: u64| (((word & u64::from(u32::MAX)) * p as u64) >> 32) as u32;
        let (a, b) = (bounded(both), bounded(both >> 32));
        at += 1;
        let (u, v) = (a.min(b), a.max(b));
        if u != v && is_asked(u, v as usize) && known.insert((u, v)) {
            pairs.push([u, v]);
        }
    }
    pairs.sort_unstable_by_key(|&[u, v]| (v, u));
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether S separates x and y in a DAG: the moral graph of their ancestors has no path (Lauritzen and others 1990).
    fn separated(lists: &[Vec<u32>], x: usize, y: usize, s: &[u32]) -> bool {
        let p = lists.len();
        let parents = |v: usize| (0..p).filter(move |&u| lists[u].contains(&(v as u32)));
        let mut kept = vec![false; p];
        let mut front: Vec<usize> = s.iter().map(|&v| v as usize).chain([x, y]).collect();
        while let Some(v) = front.pop() {
            if !std::mem::replace(&mut kept[v], true) {
                front.extend(parents(v));
            }
        }
        let joined = |a: usize, b: usize| {
            let has = |a: usize, b: usize| lists[a].contains(&(b as u32));
            has(a, b) || has(b, a) || (0..p).any(|c| kept[c] && has(a, c) && has(b, c))
        };
        let mut seen = vec![false; p];
        let mut front = vec![x];
        seen[x] = true;
        while let Some(v) = front.pop() {
            for w in (0..p).filter(|&w| kept[w] && joined(v, w)) {
                if !seen[w] && !s.contains(&(w as u32)) {
                    seen[w] = true;
                    front.push(w);
                }
            }
        }
        !seen[y]
    }

    fn random_lists(p: usize, seed: u64) -> Vec<Vec<u32>> {
        let order: Vec<usize> = (0..p).map(|v| (v * 7 + 3) % p).collect();
        let before = |u: usize, v: usize| order[u] < order[v] && word(seed, (u * p + v) as u64, 9) % 10 < 3;
        (0..p).map(|u| (0..p).filter(|&v| before(u, v)).map(|v| v as u32).collect()).collect()
    }

    #[test]
    fn what_is_asked_is_implied() {
        let mut counts = [0; 2];
        for seed in 0..20 {
            let lists = random_lists(11, seed);
            let dag = Graph::from_lists("fit", &lists, &[]).unwrap();
            let cpdag = dag.clone().cpdag(|| Ok(())).unwrap();
            for graph in [&dag, &cpdag] {
                for given in [Given::Parents, Given::Blanket] {
                    let found = independences(graph, given, 1000, 1, None).unwrap();
                    assert!(found.extension == Extension::Same && found.all == found.questions.len() as u64);
                    for (x, y, s) in found.questions.iter() {
                        assert!(separated(&lists, x, y, s), "{seed}, {given:?}: {x}, {y}, {s:?}");
                        counts[0] += 1;
                    }
                }
                let found = dependences(graph, 1000, 1, None).unwrap();
                assert_eq!(found.questions.len(), lists.iter().map(Vec::len).sum::<usize>());
                for (x, y, s) in found.questions.iter() {
                    assert!(!separated(&lists, x, y, s));
                    counts[1] += 1;
                }
            }
        }
        assert!(counts[0] > 2000 && counts[1] > 500, "{counts:?}");
    }

    #[test]
    fn some_of_many_are_drawn() {
        let dag = Graph::from_lists("fit", &random_lists(33, 4), &[]).unwrap();
        let all = independences(&dag, Given::Parents, usize::MAX, 1, None).unwrap();
        let of = |found: &Implied| found.questions.iter().map(|(x, y, _)| (x, y)).collect::<HashSet<_>>();
        let every = of(&all);
        for most in [20, 60, 300] {
            let some = independences(&dag, Given::Parents, most, 1, None).unwrap();
            assert_eq!((some.questions.len(), some.all), (most, all.all));
            assert!(of(&some).len() == most && of(&some).is_subset(&every));
            assert_ne!(of(&some), of(&independences(&dag, Given::Parents, most, 2, None).unwrap()));
        }
        assert_eq!(dependences(&dag, 15, 1, None).unwrap().questions.len(), 15);
    }

    #[test]
    fn graphs_without_a_dag() {
        // 0 -> 1 -> 2 -> 0 and 2 -> 3 -> 4: the edges after the cycle keep their directions.
        let cycle = Graph::from_lists("fit", &[&[1][..], &[2], &[0, 3], &[4], &[]], &[]).unwrap();
        let found = independences(&cycle, Given::Parents, 99, 1, None).unwrap();
        assert_eq!(found.extension, Extension::Cycles);
        assert!(found.questions.iter().any(|(x, y, s)| (x.max(y), x.min(y), s) == (4, 2, &[3][..])));
        assert_eq!(dependences(&cycle, 99, 1, None).unwrap().questions.len(), 5);
        let square = Graph::from_lists("fit", &[&[1, 3][..], &[0, 2], &[1, 3], &[0, 2]], &[]).unwrap();
        assert_eq!(independences(&square, Given::Parents, 9, 1, None).unwrap().extension, Extension::Colliders);
    }
}
