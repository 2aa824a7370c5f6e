//! R8 to R10: tails that make o-> an arrow (Zhang 2008, section 3.2).

use crate::pag::context::{numbers, Context, Paths, Program};
use crate::pag::{paths, Mark, Pag};
use crate::Result;

/// Returns the edges a o-> c, as pairs (a, c).
fn half_directed(pag: &Pag) -> Vec<(u32, u32)> {
    pag.pairs(|at_c, at_a| at_c == Mark::Arrow && at_a == Mark::Circle)
}

/// Applies R8: a -> b -> c or a -o b -> c, with a o-> c, becomes a -> c.
pub fn rule8(pag: &mut Pag, of: &Context) -> Result<()> {
    for (a, c) in half_directed(pag) {
        of.poll.step()?;
        let (a, c) = (a as usize, c as usize);
        let is_between = |&(b, at_b, at_a): &(usize, Mark, Mark)| {
            at_a == Mark::Tail
                && matches!(at_b, Mark::Arrow | Mark::Circle)
                && pag.mark(c, b) == Mark::Tail
                && pag.mark(b, c) == Mark::Arrow
        };
        let between: Vec<usize> = pag.edges(a).filter(is_between).map(|(b, ..)| b).collect();
        if !between.is_empty() {
            pag.set(c, a, Mark::Tail);
            let [a, c] = [a, c].map(|v| v + 1);
            of.say(|| {
                let b = numbers(between.iter().copied());
                let (one, two) = (format!("{a} -> {b} -> {c}"), format!("{a} -o {b} -> {c}"));
                format!("\nRule 8 \nOrient: {one} or {two} with {a} o-> {c} as {a} -> {c} \n")
            })?;
        }
    }
    Ok(())
}

/// Applies R9: a o-> c becomes a -> c if an uncovered path (a, b, ..., c) may be directed, with b and c not adjacent.
pub fn rule9(pag: &mut Pag, of: &Context) -> Result<()> {
    for (a, c) in half_directed(pag) {
        of.poll.step()?;
        let (a, c) = (a as usize, c as usize);
        let is_second = |&b: &usize| b != c && !pag.adjacent(c, b);
        let seconds: Vec<usize> = paths::maybe_directed(pag, a).filter(is_second).collect();
        for b in seconds {
            if paths::is_maybe_directed(pag, [a, b, c], of)? {
                pag.set(c, a, Mark::Tail);
                let text = "There exists an uncovered potentially directed path between";
                of.say(|| format!("\nRule 9 \n{text} {0} and {1} . Orient: {0}  -> {1} \n", a + 1, c + 1))?;
                break;
            }
        }
    }
    Ok(())
}

/// Applies R10: a o-> c becomes a -> c if b -> c <- d and two uncovered paths may be directed: from a to b by x, and from a to d by y. x and y
/// must be different and not adjacent; x may be b, and y may be d.
pub fn rule10(pag: &mut Pag, of: &Context) -> Result<()> {
    for (a, c) in half_directed(pag) {
        of.poll.step()?;
        let (a, c) = (a as usize, c as usize);
        let is_parent = |&(_, at_b, at_c): &(usize, Mark, Mark)| at_c == Mark::Arrow && at_b == Mark::Tail;
        let parents: Vec<usize> = pag.edges(c).filter(is_parent).map(|(b, ..)| b).collect();
        if parents.len() < 2 {
            continue;
        }
        if let Some(how) = Ends::new(pag, a, c, of).meet(&parents)? {
            pag.set(c, a, Mark::Tail);
            let easy = if how == How::Easy && of.program == Program::Fci { " [easy]" } else { "" };
            let orient = if of.unclear.is_empty() { "Orient" } else { "Conservatively orient" };
            of.say(|| format!("\nRule 10{easy} \n{orient}: {} -> {} \n", a + 1, c + 1))?;
        }
    }
    Ok(())
}

/// How two parents of c are reached from a.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Both are neighbours of a.
    Easy,
    /// At least one of them needs a longer path.
    Paths,
}

/// The first steps from a, and a search for the parents that they lead to.
struct Ends<'a> {
    pag: &'a Pag,
    a: usize,
    seconds: Vec<usize>,
    of: &'a Context<'a>,
}

impl<'a> Ends<'a> {
    fn new(pag: &'a Pag, a: usize, c: usize, of: &'a Context<'a>) -> Self {
        let seconds = paths::maybe_directed(pag, a).filter(|&x| x != c).collect();
        Ends { pag, a, seconds, of }
    }

    /// Returns how the first two parents are reached, in pcalg's order. For a pair reached by edges, pcalg searches no longer paths.
    fn meet(&self, parents: &[usize]) -> Result<Option<How>> {
        let mut known: Vec<Option<Vec<usize>>> = vec![None; parents.len()];
        for (i, &b) in parents.iter().enumerate() {
            for (j, &d) in parents.iter().enumerate().filter(|&(j, _)| j != i) {
                self.of.poll.step()?;
                let step = |v: usize| paths::may_go(self.pag, self.a, v);
                if step(b) && step(d) && !self.pag.adjacent(b, d) {
                    if !self.of.unclear.contains(b, self.a, d) {
                        return Ok(Some(How::Easy));
                    }
                    continue;
                }
                for at in [i, j] {
                    if known[at].is_none() {
                        known[at] = Some(self.by(parents[at])?);
                    }
                }
                if let (Some(by_b), Some(by_d)) = (&known[i], &known[j]) {
                    let apart = |x: usize, y: usize| {
                        x != y && !self.pag.adjacent(x, y) && !self.of.unclear.contains(x, self.a, y)
                    };
                    if by_b.iter().any(|&x| by_d.iter().any(|&y| apart(x, y))) {
                        return Ok(Some(How::Paths));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the first steps of paths that end in b.
    fn by(&self, b: usize) -> Result<Vec<usize>> {
        let mut by = Vec::new();
        for &x in &self.seconds {
            // In this case, pcalg's program for RFCI searches a path from b to b.
            let is_end = x == b && (self.of.program == Program::Fci || self.of.paths == Paths::All);
            if is_end || paths::is_maybe_directed(self.pag, [self.a, x, b], self.of)? {
                by.push(x);
            }
        }
        Ok(by)
    }
}
