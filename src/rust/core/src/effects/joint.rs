//! Effects of interventions on several variables at once (Nandy, Maathuis and Richardson 2017): their joint sets of parents, and the two
//! techniques for a set. These are recursive regressions for causal effects (RRC) and the modified Cholesky decomposition (MCD).

use ndarray::ArrayView2;

use super::extensions;
use super::parents::{orientations, parents_with};
use super::regression::weights;
use crate::graph::{is_chordal, Closure, Marks};
use crate::{Error, Result};

/// Largest number of vertices of a component whose DAGs are all listed, as in pcalg.
const LISTED: usize = 12;

/// Largest number of joint sets.
const MOST: usize = 1 << 20;

/// The parents of each of the xs, for one way to direct the edges.
pub(super) type Joint = Vec<Vec<u32>>;

fn parents(graph: &Marks, u: usize) -> Vec<u32> {
    graph.parents(u).map(|v| v as u32).collect()
}

/// Returns the joint sets that Meek's rules allow in a valid PDAG.
pub(super) fn sets_of_pdag(graph: &Marks, xs: &[usize]) -> Result<Vec<Joint>> {
    let ways = orientations(&mut Closure::new(graph.clone()), xs, None)?;
    Ok(ways.iter().map(|way| xs.iter().map(|&x| parents_with(graph, x, way)).collect()).collect())
}

fn too_many() -> Error {
    Error::Argument {
        argument: "x",
        value: format!("a set of variables with more than {MOST} joint sets of parents"),
        hint: "give fewer variables in one call".into(),
    }
}

/// Returns the joint sets of a CPDAG, combined over its undirected components with some of the xs. A component gives a set for each of its
/// DAGs, repeated as often as it occurs. A component that is larger than [`LISTED`] or not chordal gives all combinations of what each x
/// allows alone.
pub(super) fn sets_of_cpdag(graph: &Marks, xs: &[usize]) -> Result<Vec<Joint>> {
    let (of, _) = graph.components();
    let mut all: Vec<Joint> = vec![xs.iter().map(|&x| parents(graph, x)).collect()];
    let mut done: Vec<usize> = Vec::new();
    for &x in xs {
        if done.contains(&of[x]) {
            continue;
        }
        done.push(of[x]);
        let members: Vec<usize> = (0..graph.p()).filter(|&v| of[v] == of[x]).collect();
        let here: Vec<usize> = (0..xs.len()).filter(|&at| of[xs[at]] == of[x]).collect();
        let added = of_component(graph, xs, &members, &here)?;
        if all.len().saturating_mul(added.len()) > MOST {
            return Err(too_many());
        }
        // The sets of the first component vary fastest.
        all = added
            .iter()
            .flat_map(|more| {
                all.iter().map(move |so_far| {
                    let mut sets = so_far.clone();
                    for (&at, more) in here_of(more) {
                        sets[at].extend(more);
                    }
                    sets
                })
            })
            .collect();
    }
    Ok(all)
}

/// A component's additions to the parents of the xs in it: indices in `xs`, and the parents of each.
type Added = (Vec<usize>, Joint);

fn here_of(added: &Added) -> impl Iterator<Item = (&usize, &Vec<u32>)> {
    added.0.iter().zip(&added.1)
}

fn of_component(graph: &Marks, xs: &[usize], members: &[usize], here: &[usize]) -> Result<Vec<Added>> {
    // The component alone, with its vertices numbered by their places.
    let place = |v: usize| members.binary_search(&v).ok().map(|at| at as u32);
    let lists: Vec<Vec<u32>> = members.iter().map(|&u| graph.siblings(u).filter_map(place).collect()).collect();
    let alone = Marks::from_lists("fit", &lists)?;
    let inside: Vec<usize> = here.iter().filter_map(|&at| place(xs[at])).map(|at| at as usize).collect();
    let outside = |set: Vec<u32>| set.into_iter().map(|at| members[at as usize] as u32).collect::<Vec<u32>>();
    let listed = members.len() <= LISTED
        && is_chordal(members.len(), |u| alone.siblings(u), |u, v| alone.adjacent(u, v), || Ok(()))?;
    let mut found = Vec::new();
    if listed {
        let every: Vec<usize> = (0..members.len()).collect();
        let mut list = |dag: &Marks| {
            found.push((here.to_vec(), inside.iter().map(|&u| outside(parents(dag, u))).collect()));
        };
        extensions::each(&mut Closure::new(alone), &every, &mut list, extensions::OTHER_TYPE)?;
        return Ok(found);
    }
    found.push((here.to_vec(), Vec::new()));
    for &u in &inside {
        // Without directed edges, the local criterion only requires cliques.
        let own = super::parents::local(&alone, u, None)?;
        if found.len().saturating_mul(own.len()) > MOST {
            return Err(too_many());
        }
        let longer = |set: &Vec<u32>, so_far: &Added| {
            let mut joint = so_far.1.clone();
            joint.push(outside(set.clone()));
            (so_far.0.clone(), joint)
        };
        found = own
            .iter()
            .flat_map(|set| found.iter().map(move |so_far| longer(set, so_far)).collect::<Vec<_>>())
            .collect();
    }
    Ok(found)
}

/// RRC for one joint set: combines the effects of single interventions on each other and on y.
pub(super) struct Rrc<'a, 'c> {
    cov: ArrayView2<'c, f64>,
    xs: &'a [usize],
    sets: &'a Joint,
    /// For each x: x and its parents, and the weights of their covariances with y. `None` if their covariances are singular.
    weights: Vec<(Vec<u32>, Option<Vec<f64>>)>,
    /// The effect of each x on each other one.
    between: Vec<Vec<f64>>,
}

impl<'a, 'c> Rrc<'a, 'c> {
    pub fn new(cov: ArrayView2<'c, f64>, xs: &'a [usize], sets: &'a Joint) -> Self {
        let of = |(&x, set): (&usize, &Vec<u32>)| {
            let with: Vec<u32> = std::iter::once(x as u32).chain(set.iter().copied()).collect();
            let found = weights(cov, &with, 0);
            (with, found)
        };
        let mut rrc = Rrc { cov, xs, sets, weights: xs.iter().zip(sets).map(of).collect(), between: Vec::new() };
        rrc.between = (0..xs.len()).map(|i| xs.iter().map(|&x| rrc.single(i, x)).collect()).collect();
        rrc
    }

    /// Returns the effect of the i-th x alone on y.
    fn single(&self, i: usize, y: usize) -> f64 {
        if self.xs[i] == y || self.sets[i].contains(&(y as u32)) {
            return 0.0;
        }
        let (with, weights) = &self.weights[i];
        let Some(weights) = weights else { return f64::NAN };
        with.iter().zip(weights).map(|(&v, weight)| weight * self.cov[[v as usize, y]]).sum()
    }

    /// Writes the joint effects on y, which must not be one of the xs.
    pub fn effects(&self, y: usize, effects: &mut [f64]) {
        let k = self.xs.len();
        let on_y: Vec<f64> = (0..k).map(|i| self.single(i, y)).collect();
        for (i, effect) in effects.iter_mut().enumerate() {
            if self.sets[i].contains(&(y as u32)) {
                *effect = 0.0;
                continue;
            }
            // The others are eliminated one after the other: paths through the first one are not part of the rest.
            let others: Vec<usize> = (0..k).filter(|&j| j != i).collect();
            let mut estimate = on_y[i];
            let mut to: Vec<f64> = others.iter().map(|&j| self.between[i][j]).collect();
            let mut from: Vec<f64> = others.iter().map(|&j| on_y[j]).collect();
            let mut among: Vec<Vec<f64>> =
                others.iter().map(|&a| others.iter().map(|&b| self.between[a][b]).collect()).collect();
            for first in 0..others.len() {
                estimate -= to[first] * from[first];
                for a in first + 1..others.len() {
                    from[a] -= among[a][first] * from[first];
                    to[a] -= to[first] * among[first][a];
                    for b in first + 1..others.len() {
                        among[a][b] -= among[a][first] * among[first][b];
                    }
                }
            }
            *effect = estimate;
        }
    }
}

/// Computes the joint effects by MCD for one joint set: removes the arrows into the xs from the decomposition of the covariances of all
/// variables concerned. NaN if these are not positive definite.
pub(super) fn mcd(cov: ArrayView2<f64>, xs: &[usize], sets: &Joint, y: usize, effects: &mut [f64]) {
    let mut all: Vec<usize> = Vec::new();
    for v in xs.iter().copied().chain(sets.iter().flatten().map(|&v| v as usize)).chain([y]) {
        if !all.contains(&v) {
            all.push(v);
        }
    }
    let place = |v: usize| all.iter().position(|&w| w == v).unwrap_or_default();
    let m = all.len();
    let mut s: Vec<f64> = all.iter().flat_map(|&a| all.iter().map(move |&b| cov[[a, b]])).collect();
    for (&x, set) in xs.iter().zip(sets) {
        if set.is_empty() {
            continue;
        }
        let mut order: Vec<usize> = set.iter().map(|&v| place(v as usize)).collect();
        order.push(place(x));
        order.extend((0..m).filter(|at| !order.contains(at)).collect::<Vec<_>>());
        if !without_arrows(&mut s, m, &order, set.len()) {
            effects.fill(f64::NAN);
            return;
        }
    }
    let at_y = place(y);
    for ((effect, &x), set) in effects.iter_mut().zip(xs).zip(sets) {
        let at = place(x);
        *effect = if set.contains(&(y as u32)) { 0.0 } else { s[at_y * m + at] / s[at * m + at] };
    }
}

/// Removes from S = L D L', in this order, the effects of the variables before place `x` on the variable there. S gets the covariances that
/// follow. Returns false if S is not positive definite.
fn without_arrows(s: &mut [f64], m: usize, order: &[usize], x: usize) -> bool {
    let mut l = vec![0.0; m * m];
    let mut d = vec![0.0; m];
    for i in 0..m {
        for j in 0..i {
            let known: f64 = (0..j).map(|k| l[i * m + k] * l[j * m + k] * d[k]).sum();
            l[i * m + j] = (s[order[i] * m + order[j]] - known) / d[j];
        }
        let own = s[order[i] * m + order[i]];
        d[i] = own - (0..i).map(|k| l[i * m + k] * l[i * m + k] * d[k]).sum::<f64>();
        l[i * m + i] = 1.0;
        if !(d[i] > 16.0 * f64::EPSILON * own) {
            return false;
        }
    }
    let mut inverse = inverted(&l, m);
    (0..x).for_each(|j| inverse[x * m + j] = 0.0);
    let l = inverted(&inverse, m);
    for i in 0..m {
        for j in 0..m {
            s[order[i] * m + order[j]] = (0..=i.min(j)).map(|k| l[i * m + k] * l[j * m + k] * d[k]).sum();
        }
    }
    true
}

/// Returns the inverse of a lower triangular matrix with ones on its diagonal.
fn inverted(l: &[f64], m: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; m * m];
    for j in 0..m {
        inverse[j * m + j] = 1.0;
        for i in j + 1..m {
            inverse[i * m + j] = -(j..i).map(|k| l[i * m + k] * inverse[k * m + j]).sum::<f64>();
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;

    #[test]
    fn both_techniques_find_the_effects_of_a_linear_model() {
        // 0 -> 1 (2), 0 -> 2 (1), 1 -> 2 (3), unit errors: joint effects of 0 and 1 on 2 are 1 and 3.
        let cells = [1.0, 2.0, 7.0, 2.0, 5.0, 17.0, 7.0, 17.0, 59.0];
        let cov = by_column(&cells, 3).unwrap();
        let sets = vec![vec![], vec![0]];
        let mut found = [[0.0; 2]; 2];
        Rrc::new(cov, &[0, 1], &sets).effects(2, &mut found[0]);
        mcd(cov, &[0, 1], &sets, 2, &mut found[1]);
        for found in found {
            assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn joint_sets_of_a_path() {
        let path = Marks::from_lists("fit", &[&[1][..], &[0, 2], &[1]]).unwrap();
        // 0 -> 1 -> 2, 0 <- 1 -> 2, 0 <- 1 <- 2, as DAGs and as sets.
        let mut dags = sets_of_cpdag(&path, &[0, 2]).unwrap();
        dags.sort();
        assert_eq!(dags, [vec![vec![], vec![1]], vec![vec![1], vec![]], vec![vec![1], vec![1]]]);
        let mut ways = sets_of_pdag(&path, &[0, 1]).unwrap();
        ways.sort();
        assert_eq!(ways, [vec![vec![], vec![0]], vec![vec![1], vec![]], vec![vec![1], vec![2]]]);
    }
}
