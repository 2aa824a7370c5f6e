//! R4: discriminating paths (Spirtes et al. 1999; Zhang 2008, section 3.1).

use crate::graph::SepSets;
use crate::pag::context::{Context, Program};
use crate::pag::{paths, Mark, Pag};
use crate::Result;

/// Outcome of a discriminating path.
pub enum Told {
    /// The circle at b has been replaced.
    Oriented,
    /// An edge of the path was removed: the search starts again.
    Changed,
    /// Neither: this triangle is left alone.
    Nothing,
}

/// A handler for discriminating paths (v, ..., a, b, c) for b.
pub trait Discriminated {
    /// Orients the edges at b, or removes an edge of the path. pcalg's path may lack vertices between v and b, including a.
    fn found(&mut self, pag: &mut Pag, triangle: [usize; 3], path: &[u32]) -> Result<Told>;
}

/// Applies R4 to a path (v, ..., a, b, c) with v and c not adjacent and b o-* c. Every vertex between v and b must be a collider and a
/// parent of c. If b is in a separating set of v and c, orients b -> c, else a <-> b <-> c.
pub fn rule4(pag: &mut Pag, of: &Context, what: &mut dyn Discriminated) -> Result<()> {
    for (b, c) in pag.pairs(|_, at_b| at_b == Mark::Circle) {
        of.poll.step()?;
        let (b, c) = (b as usize, c as usize);
        let is_start = |&(a, at_a, _): &(usize, Mark, Mark)| {
            at_a == Mark::Arrow && pag.mark(c, a) == Mark::Tail && pag.mark(a, c) == Mark::Arrow
        };
        let starts: Vec<usize> = pag.edges(b).filter(is_start).map(|(a, ..)| a).collect();
        for a in starts {
            if pag.mark(c, b) != Mark::Circle {
                break;
            }
            while pag.adjacent(a, b) && pag.adjacent(a, c) && pag.adjacent(b, c) {
                let Some(path) = paths::discriminating(pag, [a, b, c], of)? else { break };
                match what.found(pag, [a, b, c], &path)? {
                    Told::Oriented | Told::Nothing => break,
                    Told::Changed => {}
                }
            }
        }
    }
    Ok(())
}

/// Orients the edges of a triangle (a, b, c) whose discriminating path for b begins at v: b -> c if b is in a separating set of v and c,
/// else a <-> b <-> c. `keeps_tails`: a tail at b of a - b stays, against the rule (with knowledge of JCI).
pub(in crate::pag) fn orient_at(
    pag: &mut Pag,
    [v, a, b, c]: [usize; 4],
    sepsets: &SepSets,
    keeps_tails: bool,
    of: &Context,
) -> Result<()> {
    let separates = sepsets.either_contains(v, c, b as u32);
    let rfci = of.program == Program::Rfci;
    let between = |colon: &str| {
        let of_path = format!("\nRule 4 \nThere is a discriminating path between{colon} {} and {}", v + 1, c + 1);
        let is = if separates { "is" } else { "is not" };
        format!("{of_path} for {0} ,and {0} {is} in Sepset of {1} and {2}", b + 1, c + 1, v + 1)
    };
    if separates {
        of.say(|| format!("{} . Orient: {} -> {} \n", between(""), b + 1, c + 1))?;
        pag.direct(b, c);
        return Ok(());
    }
    of.say(|| {
        let (colon, orient) = if rfci { (":", "Orient") } else { ("", "Orient:") };
        format!("{} . {orient} {} <-> {} <-> {} \n", between(colon), a + 1, b + 1, c + 1)
    })?;
    pag.set_both(b, c, Mark::Arrow);
    if !rfci && pag.mark(a, b) == Mark::Tail {
        of.say(|| "\nContradiction in Rule 4b!\n".into())?;
        if keeps_tails {
            return Ok(());
        }
    }
    pag.set(a, b, Mark::Arrow);
    Ok(())
}
