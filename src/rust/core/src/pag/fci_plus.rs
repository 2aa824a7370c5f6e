//! FCI+ (Claassen, Mooij and Heskes 2013, "Learning sparse causal models is not NP-hard", UAI): finds edges that hierarchies of separating
//! sets separate, without a possible-d-sep phase. Follows pcalg's `fciplus.intern()`, in its order.

use super::context::{numbers, Say};
use crate::ci::{Batch, CiTest};
use crate::graph::{subsets, Adjacency, SepSets};
use crate::memory;
use crate::orient::Poll;
use crate::{Error, Result};

/// Options of [`fci_plus`]. [`Plus::default`] is pcalg's `fciPlus()`.
#[derive(Clone)]
pub struct Plus<'a> {
    /// Significance level of the search for smallest sets: a larger p is independence. pcalg's `MinimalDsep()` has 0.01, whatever alpha is.
    pub alpha_of_least: f64,
    /// Edges that are never removed.
    pub fixed: Option<&'a Adjacency>,
    /// Called now and then; if it returns true, the call ends with [`Error::Interrupted`].
    pub wants_to_stop: Option<&'a dyn Fn() -> bool>,
    /// Called with the text that pcalg prints.
    pub say: Option<Say<'a>>,
}

impl Default for Plus<'_> {
    fn default() -> Self {
        Plus { alpha_of_least: 0.01, fixed: None, wants_to_stop: None, say: None }
    }
}

/// Removes the edges of a skeleton that hierarchies separate, and enters their separating sets. A test with p > `alpha` is an independence
/// (in the skeleton's tests, one with p >= alpha).
///
/// # Errors
/// [`Error::Numeric`] for a missing p-value, where pcalg stops too; [`Error::Interrupted`], [`Error::Memory`]; errors of the test.
pub fn fci_plus(
    skeleton: &Adjacency,
    sepsets: &mut SepSets,
    alpha: f64,
    test: &mut dyn CiTest,
    options: &Plus,
) -> Result<Adjacency> {
    let p = skeleton.p();
    let poll = Poll::new(options.wants_to_stop, None);
    let mut run = Run {
        options,
        alpha,
        test,
        sepsets,
        graph: skeleton.clone(),
        arrow: (0..p).map(|_| vec![false; p]).collect(),
        poll: &poll,
    };
    run.augment()?;
    let mut links = run.links()?;
    let mut next = 0;
    while let Some(&[x, y]) = links.get(next) {
        if run.separate(x, y)? {
            run.augment()?;
            links = run.links()?;
            next = 0;
        } else {
            next += 1;
        }
    }
    memory::check()?;
    Ok(run.graph)
}

struct Run<'r, 'a> {
    options: &'r Plus<'a>,
    alpha: f64,
    test: &'r mut dyn CiTest,
    sepsets: &'r mut SepSets,
    graph: Adjacency,
    /// Whether the edge u - v has an arrowhead at v: `arrow[u][v]`. Other ends have circles.
    arrow: Vec<Vec<bool>>,
    poll: &'r Poll<'a>,
}

/// Largest number of questions that are asked together.
const TOGETHER: usize = 1 << 14;

impl Run<'_, '_> {
    /// Returns the answers to questions, in their order.
    fn ask(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        let answers = self.test.p_values(batch)?;
        for ((x, y, s), p) in batch.iter().zip(&answers) {
            self.poll.step()?;
            if p.is_nan() {
                // pcalg: "missing value where TRUE/FALSE needed".
                let reason = "missing value where TRUE/FALSE needed; fciPlus() needs every p-value after the skeleton";
                return Err(Error::Numeric { x, y, s: s.to_vec(), reason });
            }
        }
        Ok(answers)
    }

    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let mut batch = Batch::new();
        batch.push(x, y, s);
        Ok(self.ask(&batch)?[0])
    }

    /// Adds arrowheads at neighbours of i, j and a set S that separates them (lemma 2.1 of the paper; pcalg's `AugmentGraph()`): at each
    /// neighbour that makes i and j dependent when added to S. No answer depends on an arrowhead, so all questions of several pairs are
    /// asked together.
    fn augment(&mut self) -> Result<()> {
        let p = self.graph.p();
        let (mut batch, mut of) = (Batch::new(), Vec::new());
        for i in 0..p {
            let row: Vec<(u32, Vec<u32>)> = self.sepsets.row(i).map(|(j, set)| (j, set.to_vec())).collect();
            for (j, set) in row {
                self.poll.step()?;
                let members: Vec<u32> = [i as u32, j].into_iter().chain(set.iter().copied()).collect();
                let mut near: Vec<u32> = Vec::new();
                for &member in &members {
                    for v in self.graph.neighbours(member as usize) {
                        if !members.contains(&v) && !near.contains(&v) {
                            near.push(v);
                        }
                    }
                }
                for v in near {
                    let mut given = set.clone();
                    given.push(v);
                    batch.push(i, j as usize, &given);
                    of.push((members.clone(), v));
                }
                if batch.len() >= TOGETHER.min(self.test.batch_size().max(1)) {
                    self.enter(&mut batch, &mut of)?;
                }
            }
        }
        self.enter(&mut batch, &mut of)
    }

    fn enter(&mut self, batch: &mut Batch, of: &mut Vec<(Vec<u32>, u32)>) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let answers = self.ask(batch)?;
        for (p, (members, v)) in answers.into_iter().zip(of.drain(..)) {
            if p < self.alpha {
                for member in members.into_iter().filter(|&m| self.graph.has(m as usize, v as usize)) {
                    self.arrow[member as usize][v as usize] = true;
                }
            }
        }
        batch.clear();
        Ok(())
    }

    /// Returns whether the edge has arrowheads at both ends.
    fn is_bidirected(&self, u: usize, v: usize) -> bool {
        self.graph.has(u, v) && self.arrow[u][v] && self.arrow[v][u]
    }

    /// Returns the vertices with a path to x that goes against no arrowhead (`NAA_ancestors()`) and ends with an edge u o-> x.
    fn ancestors(&self, x: usize) -> Vec<bool> {
        let mut found = vec![false; self.graph.p()];
        found[x] = true;
        let mut front = vec![x];
        while let Some(t) = front.pop() {
            for j in self.graph.neighbours(t).map(|j| j as usize) {
                let goes = match t == x {
                    true => self.arrow[j][t] && !self.arrow[t][j],
                    false => !self.arrow[t][j],
                };
                if goes && !found[j] {
                    found[j] = true;
                    front.push(j);
                }
            }
        }
        found[x] = false;
        found
    }

    /// Returns edges that may have to go: x <-> y with u <-> x <-> y <-> v, u and v not adjacent. There must be paths from u to y and from
    /// v to x that go against no arrowhead (lemma 4; `PosDsepLinks()`, which leaves out the ancestors of the first variable).
    fn links(&self) -> Result<Vec<[usize; 2]>> {
        let p = self.graph.p();
        let mut links = Vec::new();
        let mut ancestors: Vec<Vec<bool>> = vec![vec![false; p]];
        for i in 1..p {
            self.poll.looked_up(p)?;
            ancestors.push(self.ancestors(i));
            for j in (1..i).filter(|&j| self.is_bidirected(i, j)) {
                if self.options.fixed.is_some_and(|fixed| fixed.has(i, j)) {
                    continue;
                }
                let side = |at: usize, of: usize| -> Vec<usize> {
                    let near = self.graph.neighbours(at).map(|k| k as usize);
                    near.filter(|&k| k != i && k != j && self.is_bidirected(at, k) && ancestors[of][k]).collect()
                };
                let (us, vs) = (side(i, j), side(j, i));
                if us.iter().any(|&u| vs.iter().any(|&v| u != v && !self.graph.has(u, v))) {
                    if let Some(say) = self.options.say {
                        say(&format!("Added PosDsepLink  {:2} *-* {:2}\n", i + 1, j + 1))?;
                    }
                    links.push([i, j]);
                }
            }
        }
        Ok(links)
    }

    /// Looks for a hierarchy that separates x and y, and if there is one, removes the edge and returns true. A hierarchy starts from x, y
    /// and some of their neighbours, and contains the separating set of any two of its members.
    fn separate(&mut self, x: usize, y: usize) -> Result<bool> {
        let side = |v: usize, other: usize| -> Vec<u32> {
            self.graph.neighbours(v).filter(|&w| w as usize != other).collect()
        };
        let (of_x, of_y) = (side(x, y), side(y, x));
        let mut all = of_x.clone();
        all.extend(of_y.iter().filter(|v| !of_x.contains(v)));
        for size in 1..=all.len() {
            let mut places: Vec<u32> = (0..size as u32).collect();
            loop {
                self.poll.step()?;
                let some: Vec<u32> = places.iter().map(|&place| all[place as usize]).collect();
                if some.iter().any(|v| of_x.contains(v)) && some.iter().any(|v| of_y.contains(v)) {
                    let mut set = self.hierarchy(x, y, &some);
                    set.retain(|&v| v as usize != x && v as usize != y);
                    if self.p_value(x, y, &set)? > self.alpha {
                        let least = self.least(x, y, &set)?;
                        if let Some(say) = self.options.say {
                            let set = numbers(least.iter().flatten().map(|&v| v as usize));
                            let set = if set.is_empty() { set } else { format!(" {set}") };
                            say(&format!("Found Dsep Link for x= {} y= {} sepset={set} \n", x + 1, y + 1))?;
                        }
                        if let Some(least) = least {
                            self.sepsets.insert(x, y, &least);
                        }
                        self.graph.remove(x, y);
                        return Ok(true);
                    }
                }
                if !subsets::advance(all.len(), &mut places) {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Returns x, y, the given vertices and all that separates two of them (`HIE()`), in the order in which pcalg adds them.
    fn hierarchy(&self, x: usize, y: usize, some: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = vec![x as u32, y as u32];
        all.extend(some.iter().filter(|&&v| v as usize != x && v as usize != y));
        'again: loop {
            for i in 0..all.len() {
                for j in 0..all.len() {
                    let set = self.sepsets.get(all[i] as usize, all[j] as usize).unwrap_or(&[]);
                    let new: Vec<u32> = set.iter().copied().filter(|v| !all.contains(v)).collect();
                    if !new.is_empty() {
                        all.extend(new);
                        continue 'again;
                    }
                }
            }
            return all;
        }
    }

    /// Returns the first of the smallest nonempty subsets that separate x and y (`MinimalDsep()`), or `None` if no subset does.
    fn least(&mut self, x: usize, y: usize, set: &[u32]) -> Result<Option<Vec<u32>>> {
        for size in 1..=set.len() {
            let mut places: Vec<u32> = (0..size as u32).collect();
            loop {
                let some: Vec<u32> = places.iter().map(|&place| set[place as usize]).collect();
                if self.p_value(x, y, &some)? > self.options.alpha_of_least {
                    return Ok(Some(some));
                }
                if !subsets::advance(set.len(), &mut places) {
                    break;
                }
            }
        }
        Ok(None)
    }
}
