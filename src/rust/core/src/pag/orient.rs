//! Orientation of a skeleton with separating sets to a PAG: pcalg's `udag2pag()`.

use super::context::{numbers, Context, Paths, Program, Say, Unclear};
use super::jci::{self, Jci};
use super::rules::{self, Discriminated, Told};
use super::{Mark, Pag};
use crate::graph::{Adjacency, Marks, SepSets};
use crate::memory::{self, Use};
use crate::orient::{ends, Poll};
use crate::pool::Pool;
use crate::{Error, Result};

/// Options of [`orient`]. [`Options::default`] is `udag2pag()` with its defaults.
#[derive(Clone)]
pub struct Options<'a> {
    /// Which of R1 to R10 apply.
    pub rules: [bool; 10],
    /// The paths that R4, R5, R9 and R10 find.
    pub paths: Paths,
    /// Whether colliders are oriented first (R0).
    pub colliders: bool,
    /// Triples that may or may not be colliders.
    pub unclear: Unclear,
    /// Assumptions about context variables.
    pub jci: Jci,
    /// Known marks (u, v, mark): the mark at v of the edge u - v. It stays; ignored if that is not an edge.
    pub known: Vec<(u32, u32, Mark)>,
    /// The threads that share the work.
    pub pool: Pool,
    /// Called now and then; if it returns true, the call ends with [`Error::Interrupted`].
    pub wants_to_stop: Option<&'a dyn Fn() -> bool>,
    /// Called with the text that pcalg prints with `verbose = TRUE`.
    pub say: Option<Say<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            rules: [true; 10],
            paths: Paths::Pcalg,
            colliders: true,
            unclear: Unclear::default(),
            jci: Jci::default(),
            known: Vec::new(),
            pool: Pool::none(),
            wants_to_stop: None,
            say: None,
        }
    }
}

/// Orients a skeleton by its separating sets as pcalg 2.7-12 does. All marks start as circles.
///
/// # Errors
/// [`Error::Argument`] if sizes do not match; [`Error::Interrupted`], [`Error::Memory`]; errors of [`Options::say`].
pub fn orient(skeleton: &Adjacency, sepsets: &SepSets, options: &Options) -> Result<Pag> {
    memory::room(Pag::bytes(skeleton.p(), skeleton.edge_count()), Use::Orientation)?;
    orient_marked(Pag::circles(skeleton), sepsets, options)
}

/// Orients a graph that already has marks, otherwise as [`orient`].
///
/// # Errors
/// Those of [`orient`].
pub fn orient_marked(pag: Pag, sepsets: &SepSets, options: &Options) -> Result<Pag> {
    if sepsets.p() != pag.p() {
        return Err(Error::Argument {
            argument: "sepset",
            value: format!("a list for {} variables", sepsets.p()),
            hint: format!("give a list for the {} variables of the graph", pag.p()),
        });
    }
    if pag.edge_count() == 0 {
        return Ok(pag);
    }
    let mut pag = options.jci.with_room(pag);
    let poll = Poll::new(options.wants_to_stop, None).with_pool(&options.pool);
    let Options { unclear, paths, .. } = options;
    let of = Context { unclear, paths: *paths, program: Program::Fci, poll: &poll, say: options.say };
    jci::orient(&mut pag, &options.jci, &of)?;
    options.known.iter().for_each(|&(u, v, mark)| pag.keep(u as usize, v as usize, mark));
    if options.colliders {
        colliders(&mut pag, sepsets, &options.jci, &of)?;
    }
    let mut separations = Separations { sepsets, keeps_tails: options.jci.is_some(), of };
    let on = options.rules;
    until_settled(&mut pag, |pag| {
        apply(on[0], pag, &of, rules::rule1)?;
        apply(on[1], pag, &of, rules::rule2)?;
        apply(on[2], pag, &of, rules::rule3)?;
        if on[3] {
            rules::rule4(pag, &of, &mut separations)?;
        }
        Ok(())
    })?;
    until_settled(&mut pag, |pag| {
        apply(on[4], pag, &of, rules::rule5)?;
        apply(on[5], pag, &of, rules::rule6)?;
        apply(on[6], pag, &of, rules::rule7)
    })?;
    until_settled(&mut pag, |pag| {
        apply(on[7], pag, &of, rules::rule8)?;
        apply(on[8], pag, &of, rules::rule9)?;
        apply(on[9], pag, &of, rules::rule10)
    })?;
    memory::check()?;
    Ok(pag)
}

/// Applies a rule if it is on.
pub(super) fn apply(on: bool, pag: &mut Pag, of: &Context, rule: fn(&mut Pag, &Context) -> Result<()>) -> Result<()> {
    match on {
        true => rule(pag, of),
        false => Ok(()),
    }
}

/// Repeats a pass over rules until it changes nothing.
pub(super) fn until_settled(pag: &mut Pag, mut pass: impl FnMut(&mut Pag) -> Result<()>) -> Result<()> {
    loop {
        let before = pag.changes();
        pass(pag)?;
        if pag.changes() == before {
            return Ok(());
        }
    }
}

/// Applies R0: a *-* b *-* c with a and c not adjacent, and b in no separating set of them, becomes a *-> b <-* c. At least one of the two
/// marks at b must be a circle.
pub(super) fn colliders(pag: &mut Pag, sepsets: &SepSets, jci: &Jci, of: &Context) -> Result<()> {
    memory::room(Adjacency::bytes(pag.p()), Use::Orientation)?;
    let mut skeleton = Adjacency::empty(pag.p());
    (0..pag.p()).for_each(|u| pag.neighbours(u).for_each(|v| skeleton.insert(u, v)));
    let edges = Marks::undirected(&skeleton);
    let may_be = |[x, y, z]: [usize; 3]| {
        !jci.keeps_from_colliders(y)
            && (pag.mark(x, y) == Mark::Circle || pag.mark(z, y) == Mark::Circle)
            && !of.unclear.contains(x, y, z)
    };
    let ends = ends((&skeleton, sepsets), &edges, may_be, of.poll)?;
    if of.say.is_some() {
        let told = |x: usize, y: usize, z: usize| {
            !skeleton.has(x, z) && may_be([x, y, z]) && !sepsets.either_contains(x, z, y as u32)
        };
        for (x, y) in pag.pairs(|at_y, _| at_y == Mark::Circle) {
            let (x, y) = (x as usize, y as usize);
            for z in pag.neighbours(y).filter(|&z| z != x && told(x, y, z)) {
                of.say(|| collider_lines([x, y, z], sepsets))?;
            }
        }
    }
    for slot in (0..edges.slot_count()).filter(|&slot| ends[slot]) {
        pag.set(edges.head(slot), edges.tail(slot), Mark::Arrow);
    }
    Ok(())
}

/// Returns pcalg's lines on a collider x *-> y <-* z.
pub(super) fn collider_lines([x, y, z]: [usize; 3], sepsets: &SepSets) -> String {
    // R's cat() prints a space for an empty set, and nothing for a missing one.
    let set = |x: usize, z: usize| match sepsets.get(x, z) {
        None => String::new(),
        Some(set) => format!(" {}", numbers(set.iter().map(|&v| v as usize))),
    };
    let (of_xz, of_zx) = (set(x, z), set(z, x));
    format!("\n {} *-> {} <-* {} \nSxz={of_zx} and Szx={of_xz} \n", x + 1, y + 1, z + 1)
}

/// A judge of discriminating paths that uses the separating sets as they are.
struct Separations<'a> {
    sepsets: &'a SepSets,
    keeps_tails: bool,
    of: Context<'a>,
}

impl Discriminated for Separations<'_> {
    fn found(&mut self, pag: &mut Pag, [a, b, c]: [usize; 3], path: &[u32]) -> Result<Told> {
        rules::orient_at(pag, [path[0] as usize, a, b, c], self.sepsets, self.keeps_tails, &self.of)?;
        Ok(Told::Oriented)
    }
}
