//! R1 to R3: arrowheads that follow from colliders and non-colliders (Zhang 2008, section 3.1).

use crate::pag::context::{numbers, Context, Program};
use crate::pag::{Mark, Pag};
use crate::Result;

/// Applies R1: a *-> b o-* c with a and c not adjacent becomes a *-> b -> c.
pub fn rule1(pag: &mut Pag, of: &Context) -> Result<()> {
    for (a, b) in pag.pairs(|at_b, _| at_b == Mark::Arrow) {
        of.poll.step()?;
        let (a, b) = (a as usize, b as usize);
        let open = |&(c, _, at_b): &(usize, Mark, Mark)| at_b == Mark::Circle && c != a && !pag.adjacent(a, c);
        let found: Vec<(usize, Mark)> = pag.edges(b).filter(open).map(|(c, at_c, _)| (c, at_c)).collect();
        let at_once = of.unclear.is_empty();
        if at_once && !found.is_empty() {
            contradicted(found.iter().any(|&(_, at_c)| at_c == Mark::Tail), "!", of)?;
        }
        for &(c, at_c) in found.iter().filter(|&&(c, _)| !of.unclear.contains(a, b, c)) {
            pag.direct(b, c);
            if !at_once {
                contradicted(at_c == Mark::Tail, "", of)?;
                let [a, b, c] = [a, b, c].map(|v| v + 1);
                let how = "Conservatively orient";
                of.say(|| format!("\nRule 1 \n{how}: {a} *-> {b} o-* {c} as: {b} -> {c} \n"))?;
            }
        }
        if at_once && !found.is_empty() {
            let all = || numbers(found.iter().map(|&(c, _)| c));
            let [a, b] = [a, b].map(|v| v + 1);
            of.say(|| format!("\nRule 1 \nOrient: {a} *-> {b} o-* {} as: {b} -> {} \n", all(), all()))?;
        }
    }
    Ok(())
}

/// Prints pcalg's message about a tail that becomes an arrowhead, which only `udag2pag()` has.
fn contradicted(is_tail: bool, end: &str, of: &Context) -> Result<()> {
    match of.program {
        Program::Fci if is_tail => of.say(|| format!("Contradiction in Rule 1{end}\n")),
        _ => Ok(()),
    }
}

/// Applies R2: a -> b *-> c or a *-> b -> c, with a *-o c, becomes a *-> c.
pub fn rule2(pag: &mut Pag, of: &Context) -> Result<()> {
    for (a, c) in pag.pairs(|at_c, _| at_c == Mark::Circle) {
        of.poll.step()?;
        let (a, c) = (a as usize, c as usize);
        let is_between = |&(b, at_b, at_a): &(usize, Mark, Mark)| {
            at_b == Mark::Arrow && pag.mark(b, c) == Mark::Arrow && (at_a == Mark::Tail || pag.mark(c, b) == Mark::Tail)
        };
        let between: Vec<usize> = pag.edges(a).filter(is_between).map(|(b, ..)| b).collect();
        if !between.is_empty() {
            pag.set(a, c, Mark::Arrow);
            let [a, c] = [a, c].map(|v| v + 1);
            let b = || numbers(between.iter().copied());
            of.say(|| {
                let (one, two) = (format!("{a} -> {} *-> {c}", b()), format!("{a} *-> {} -> {c}", b()));
                format!("\nRule 2 \nOrient: {one} or {two} with {a} *-o {c} as: {a} *-> {c} \n")
            })?;
        }
    }
    Ok(())
}

/// Applies R3: a *-> b <-* c, a *-o d o-* c with a and c not adjacent, and d *-o b becomes d *-> b.
pub fn rule3(pag: &mut Pag, of: &Context) -> Result<()> {
    for (b, d) in pag.pairs(|_, at_b| at_b == Mark::Circle) {
        of.poll.step()?;
        let (b, d) = (b as usize, d as usize);
        let is_end = |&(v, _, at_b): &(usize, Mark, Mark)| at_b == Mark::Arrow && pag.mark(v, d) == Mark::Circle;
        let ends: Vec<usize> = pag.edges(b).filter(is_end).map(|(v, ..)| v).collect();
        for (i, &a) in ends.iter().enumerate() {
            of.poll.looked_up(ends.len() - i)?;
            // Without unclear triples pcalg stops at the first pair. Otherwise it continues, and prints each pair.
            if of.unclear.is_empty() && pag.mark(d, b) == Mark::Arrow {
                break;
            }
            for &c in &ends[i + 1..] {
                if !pag.adjacent(a, c) && !of.unclear.contains(a, d, c) {
                    pag.set(d, b, Mark::Arrow);
                    let how = if of.unclear.is_empty() { "Orient" } else { "Conservatively orient" };
                    of.say(|| format!("\nRule 3 \n{how}: {} *-> {} \n", d + 1, b + 1))?;
                    if of.unclear.is_empty() {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}
