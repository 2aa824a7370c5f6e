//! R5 to R7: tails that follow from selection (Zhang 2008, section 3.2).

use crate::pag::context::{numbers, Context, Program};
use crate::pag::{paths, Mark, Pag};
use crate::Result;

/// Applies R5: a o-o b and an uncovered path of circles (a, c, ..., d, b), with a, d and b, c not adjacent, become undirected.
pub fn rule5(pag: &mut Pag, of: &Context) -> Result<()> {
    let pairs = pag.pairs(|at_b, at_a| at_b == Mark::Circle && at_a == Mark::Circle);
    if pairs.is_empty() {
        return Ok(());
    }
    let mut rings = paths::Rings::new(pag);
    for (a, b) in pairs {
        of.poll.step()?;
        let (a, b) = (a as usize, b as usize);
        // Such a path closes a ring of circles with a o-o b.
        let Some(ring_of) = rings.of(a, b) else { continue };
        let by_circles = |u: usize, not: usize| -> Vec<usize> {
            let open = |&(v, at_v, at_u): &(usize, Mark, Mark)| {
                at_v == Mark::Circle && at_u == Mark::Circle && v != not && !pag.adjacent(not, v)
            };
            let candidates = pag.edges(u).filter(open).map(|(v, ..)| v);
            candidates.filter(|&v| rings.of(u, v) == Some(ring_of)).collect()
        };
        let (around_a, around_b) = (by_circles(a, b), by_circles(b, a));
        // For each neighbour, the whole list of neighbours is searched.
        of.poll.looked_up([a, b].map(|u| pag.neighbours(u).count().pow(2)).iter().sum())?;
        'pair: for &c in &around_a {
            for &d in &around_b {
                if pag.mark(a, b) != Mark::Circle {
                    break 'pair;
                }
                if let Some(path) = ring(pag, [a, c, d, b], of)? {
                    pag.set_both(a, b, Mark::Tail);
                    path.windows(2).for_each(|two| pag.set_both(two[0] as usize, two[1] as usize, Mark::Tail));
                    rings = paths::Rings::new(pag);
                    of.poll.looked_up(16 * pag.edge_count())?;
                }
            }
        }
    }
    Ok(())
}

/// Returns an uncovered path of circles (a, c, ..., d, b) without an unclear triple.
fn ring(pag: &Pag, [a, c, d, b]: [usize; 4], of: &Context) -> Result<Option<Vec<u32>>> {
    let is_ring = pag.mark(c, d) == Mark::Circle && pag.mark(d, c) == Mark::Circle;
    if !is_ring {
        return paths::uncovered_circles(pag, [a, c, d, b], of);
    }
    if !paths::is_clear(&[a, c, d, b], of) {
        return Ok(None);
    }
    let (faithful, orient) = match (of.unclear.is_empty(), of.program) {
        (true, Program::Fci) => ("an", "Orient:"),
        (true, Program::Rfci) => ("an", "Orient"),
        (false, _) => ("a faithful", "Conservatively orient:"),
    };
    of.say(|| {
        let path = [a, c, d, b].map(|v| (v + 1).to_string()).join(" - ");
        let text = format!("There exists {faithful} uncovered circle path between {} and {}", a + 1, b + 1);
        format!("\nRule 5 \n{text} . {orient} {} - {} and {path} \n", a + 1, b + 1)
    })?;
    Ok(Some([a, c, d, b].map(|v| v as u32).to_vec()))
}

/// Applies R6: a - b o-* c becomes b -* c.
pub fn rule6(pag: &mut Pag, of: &Context) -> Result<()> {
    for (b, c) in pag.pairs(|_, at_b| at_b == Mark::Circle) {
        of.poll.step()?;
        let (b, c) = (b as usize, c as usize);
        if pag.edges(b).any(|(_, at_a, at_b)| at_a == Mark::Tail && at_b == Mark::Tail) {
            pag.set(c, b, Mark::Tail);
            let [b, c] = [b, c].map(|v| v + 1);
            of.say(|| format!("\nRule 6 \nOrient: {b} o-* {c} as {b} -* {c} \n"))?;
        }
    }
    Ok(())
}

/// Applies R7: a -o b o-* c with a and c not adjacent becomes b -* c.
pub fn rule7(pag: &mut Pag, of: &Context) -> Result<()> {
    for (b, c) in pag.pairs(|_, at_b| at_b == Mark::Circle) {
        of.poll.step()?;
        let (b, c) = (b as usize, c as usize);
        let is_end = |&(a, at_a, at_b): &(usize, Mark, Mark)| {
            at_a == Mark::Tail && at_b == Mark::Circle && a != c && !pag.adjacent(c, a)
        };
        let ends: Vec<usize> = pag.edges(b).filter(is_end).map(|(a, ..)| a).collect();
        let [nb, nc] = [b, c].map(|v| v + 1);
        if of.unclear.is_empty() {
            if !ends.is_empty() {
                pag.set(c, b, Mark::Tail);
                let orient = if of.program == Program::Rfci { "Orient" } else { "Orient:" };
                let ends = || numbers(ends.iter().copied());
                of.say(|| format!("\nRule 7 \n{orient} {} -o {nb} o-* {nc} as {nb} -* {nc} \n", ends()))?;
            }
            continue;
        }
        for &a in ends.iter().filter(|&&a| !of.unclear.contains(a, b, c)) {
            pag.set(c, b, Mark::Tail);
            of.say(|| format!("\nRule 7 \nConservatively orient: {} -o {nb} o-* {nc} as {nb} -* {nc} \n", a + 1))?;
        }
    }
    Ok(())
}
