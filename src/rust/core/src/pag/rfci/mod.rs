//! RFCI (Colombo, Maathuis, Kalisch and Richardson 2012, "Learning high-dimensional directed acyclic graphs with latent and selection
//! variables", Annals of Statistics 40). It has no possible-d-sep phase. Instead, edges of unshielded triples and of discriminating paths
//! are tested again. Follows pcalg's `rfci.vStruc()`, `dep.triple()`, `checkEdges()` and `udag2apag()`, in their order.

mod edges;
mod triples;

use super::context::{shown_rules, Context, Paths, Program, Say, Unclear};
use super::orient::{apply, collider_lines, until_settled};
use super::rules::{self, Discriminated, Told};
use super::{Mark, Pag};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::orient::{judge_triple, refuse_too_many, Judge, Knowledge, Poll, Tell};
use crate::{Error, Result};
use triples::Triples;

/// Options of [`rfci`]. [`Rfci::default`] is pcalg's `rfci()` with its defaults.
#[derive(Clone)]
pub struct Rfci<'a> {
    /// Which of R1 to R10 apply.
    pub rules: [bool; 10],
    /// The paths that R4, R5, R9 and R10 find.
    pub paths: Paths,
    /// `conservative`: whether all separating sets decide about colliders.
    pub conservative: bool,
    /// `maj.rule`: whether the majority of all separating sets decides about colliders.
    pub majority: bool,
    /// Known marks (u, v, mark): the mark at v of the edge u - v. It stays; ignored if that is not an edge.
    pub known: Vec<(u32, u32, Mark)>,
    /// Edges that no test removes.
    pub fixed: Option<&'a Adjacency>,
    /// Called now and then; if it returns true, the call ends with [`Error::Interrupted`].
    pub wants_to_stop: Option<&'a dyn Fn() -> bool>,
    /// Called with the text that pcalg prints with `verbose = TRUE`.
    pub say: Option<Say<'a>>,
    /// Called with each event that pcalg prints about the conservative rule.
    pub tell: Option<Tell<'a>>,
    /// Called with each test that pcalg prints: x, y, S, p.
    pub asked: Option<Asked<'a>>,
}

/// A function that is called with a test (x, y | S) and its p-value.
pub type Asked<'a> = &'a dyn Fn(usize, usize, &[u32], f64) -> Result<()>;

impl Default for Rfci<'_> {
    fn default() -> Self {
        Rfci {
            rules: [true; 10],
            paths: Paths::Pcalg,
            conservative: false,
            majority: false,
            known: Vec::new(),
            fixed: None,
            wants_to_stop: None,
            say: None,
            tell: None,
            asked: None,
        }
    }
}

/// Orients a skeleton by its separating sets and by tests, as pcalg's `rfci()` does after its skeleton. Changes the separating sets.
///
/// `test` gets one question at a time, in pcalg's order; p >= `alpha` is independence.
///
/// # Errors
/// [`Error::Argument`] if sizes do not match, and for a vertex of degree over 62 with the conservative or the majority rule;
/// [`Error::Numeric`] for a missing p-value, where pcalg stops too; [`Error::Interrupted`], [`Error::Memory`]; errors of the test and of
/// the functions in `options`.
pub fn rfci(
    skeleton: &Adjacency,
    sepsets: &mut SepSets,
    alpha: f64,
    test: &mut dyn CiTest,
    options: &Rfci,
) -> Result<Pag> {
    let p = skeleton.p();
    if sepsets.p() != p {
        return Err(Error::Argument {
            argument: "sepset",
            value: format!("a list for {} variables", sepsets.p()),
            hint: format!("give a list for the {p} variables of the skeleton"),
        });
    }
    memory::room(Pag::bytes(p, skeleton.edge_count()) + 2 * Adjacency::bytes(p), Use::Orientation)?;
    let poll = Poll::new(options.wants_to_stop, options.tell);
    if options.conservative || options.majority {
        refuse_too_many(skeleton, &Knowledge::default(), &poll)?;
    }
    let mut pag = Pag::circles(skeleton);
    options.known.iter().for_each(|&(u, v, mark)| pag.keep(u as usize, v as usize, mark));
    let mut run =
        Run { options, alpha, test, sepsets, graph: skeleton.clone(), unclear: Unclear::default(), poll: &poll };
    let triples = Triples::unshielded(skeleton, &poll)?;
    let conservative = options.conservative || options.majority;
    run.colliders(
        &mut pag,
        triples,
        conservative.then_some(Judge { version_unf: [1, 1], majority: options.majority }),
    )?;
    // "egdes" is pcalg's spelling.
    run.say(|| format!("\nDirect egdes:\n=============\nUsing rules:{} \n", shown_rules(&options.rules)))?;
    run.rules(&mut pag)?;
    memory::check()?;
    Ok(pag)
}

/// The state of a run besides the graph's marks.
struct Run<'r, 'a> {
    options: &'r Rfci<'a>,
    alpha: f64,
    test: &'r mut dyn CiTest,
    sepsets: &'r mut SepSets,
    /// The remaining edges.
    graph: Adjacency,
    unclear: Unclear,
    poll: &'r Poll<'a>,
}

impl Run<'_, '_> {
    fn say(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.options.say.map_or(Ok(()), |say| say(&text()))
    }

    /// Returns whether x and y are independent given S. `tells`: whether pcalg prints the test.
    fn is_independent(&mut self, x: usize, y: usize, s: &[u32], tells: bool) -> Result<bool> {
        self.poll.step()?;
        let p = self.test.p_value(x, y, s)?;
        if let Some(asked) = self.options.asked.filter(|_| tells) {
            asked(x, y, s, p)?;
        }
        if p.is_nan() {
            // pcalg: "missing value where TRUE/FALSE needed".
            let reason = "missing value where TRUE/FALSE needed; rfci() needs every p-value after the skeleton";
            return Err(Error::Numeric { x, y, s: s.to_vec(), reason });
        }
        Ok(p >= self.alpha)
    }

    fn is_fixed(&self, x: usize, y: usize) -> bool {
        self.options.fixed.is_some_and(|fixed| fixed.has(x, y))
    }

    /// Removes the edge x - y, which S separates.
    fn separate(&mut self, pag: &mut Pag, x: usize, y: usize, s: &[u32]) {
        pag.remove(x, y);
        self.graph.remove(x, y);
        self.sepsets.insert(x, y, s);
        self.sepsets.insert(y, x, s);
    }

    /// Returns the members of `sepset[[x]][[z]]` and `sepset[[z]][[x]]`, each once.
    fn both_sets(&self, x: usize, z: usize) -> Vec<u32> {
        let mut all: Vec<u32> = Vec::new();
        for set in [self.sepsets.get(x, z), self.sepsets.get(z, x)].into_iter().flatten() {
            set.iter().for_each(|v| {
                if !all.contains(v) {
                    all.push(*v);
                }
            });
        }
        all
    }

    /// Finds which of some unshielded triples are colliders, and orients these (`rfci.vStruc()`). First removes edges that are separated by
    /// a subset of the separating sets of a triple's ends. `judge`: the conservative or the majority rule.
    fn colliders(&mut self, pag: &mut Pag, mut triples: Triples, judge: Option<Judge>) -> Result<()> {
        if triples.is_empty() {
            return Ok(());
        }
        let line = "================================================";
        self.say(|| format!("\nCheck unshielded triples for conditional dependence\n{line}\n"))?;
        self.check_triples(pag, &mut triples)?;
        self.say(|| match judge {
            Some(_) => format!("\nOrient the v-structures conservatively\n{}\n", &line[..37]),
            None => format!("\nOrient the v-structures\n{}\n", &line[..23]),
        })?;
        let mut unclear = Vec::new();
        for [a, b, c] in triples.open() {
            self.poll.step()?;
            let [x, y, z] = [a, b, c].map(|v| v as usize);
            if let Some(judge) = judge {
                let of = ([a, b, c], &self.graph, &Knowledge::default());
                judge_triple(judge, of, self.sepsets, (self.alpha, &mut *self.test), self.poll, &mut unclear)?;
            }
            let is_unclear = || unclear.iter().any(|&[d, e, f]| e == b && ([d, f] == [a, c] || [d, f] == [c, a]));
            let is_triple = !pag.adjacent(x, z) && pag.adjacent(x, y) && pag.adjacent(z, y);
            if is_triple && !self.sepsets.either_contains(x, z, b) && !is_unclear() {
                self.say(|| {
                    let lines = collider_lines([x, y, z], self.sepsets);
                    if judge.is_some() {
                        format!("\nOrient:{}", &lines[1..])
                    } else {
                        lines
                    }
                })?;
                pag.set(x, y, Mark::Arrow);
                pag.set(z, y, Mark::Arrow);
            }
        }
        unclear.into_iter().for_each(|triple| self.unclear.insert(triple));
        memory::check()
    }

    /// Applies R1 to R10 until none of them changes anything.
    fn rules(&mut self, pag: &mut Pag) -> Result<()> {
        if pag.edge_count() == 0 {
            return Ok(());
        }
        let on = self.options.rules;
        until_settled(pag, |pag| {
            self.some(pag, |pag, of| {
                apply(on[0], pag, of, rules::rule1)?;
                apply(on[1], pag, of, rules::rule2)?;
                apply(on[2], pag, of, rules::rule3)
            })?;
            if on[3] {
                // R4 may change the unclear triples, and does not use them.
                let (nothing, poll) = (Unclear::default(), self.poll);
                let Rfci { paths, say, .. } = *self.options;
                let of = Context { unclear: &nothing, paths, program: Program::Rfci, poll, say };
                rules::rule4(pag, &of, self)?;
            }
            self.some(pag, |pag, of| {
                apply(on[4], pag, of, rules::rule5)?;
                apply(on[5], pag, of, rules::rule6)?;
                apply(on[6], pag, of, rules::rule7)?;
                apply(on[7], pag, of, rules::rule8)?;
                apply(on[8], pag, of, rules::rule9)?;
                apply(on[9], pag, of, rules::rule10)
            })
        })
    }

    fn some(&self, pag: &mut Pag, run: impl FnOnce(&mut Pag, &Context) -> Result<()>) -> Result<()> {
        let Rfci { paths, say, .. } = *self.options;
        run(pag, &Context { unclear: &self.unclear, paths, program: Program::Rfci, poll: self.poll, say })
    }
}

impl Discriminated for Run<'_, '_> {
    fn found(&mut self, pag: &mut Pag, [a, b, c]: [usize; 3], path: &[u32]) -> Result<Told> {
        let before = pag.changes();
        if self.check_path(pag, path)? {
            // pcalg's path may have a pair that is not an edge. If removing that pair changes nothing, pcalg would repeat it for ever.
            return Ok(if pag.changes() == before { Told::Nothing } else { Told::Changed });
        }
        let nothing = Unclear::default();
        let Rfci { paths, say, .. } = *self.options;
        let of = Context { unclear: &nothing, paths, program: Program::Rfci, poll: self.poll, say };
        rules::orient_at(pag, [path[0] as usize, a, b, c], self.sepsets, false, &of)?;
        Ok(Told::Oriented)
    }
}
