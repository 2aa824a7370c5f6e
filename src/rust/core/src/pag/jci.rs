//! Assumptions about context variables in joint causal inference (Mooij, Magliacane and Claassen 2020, "Joint causal inference from
//! multiple contexts", JMLR 21).

use super::context::Context;
use super::{Mark, Pag};
use crate::graph::Adjacency;
use crate::Result;

/// pcalg's `jci` and `contextVars`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jci {
    /// The assumptions that are made.
    pub assumptions: Assumptions,
    /// The context variables.
    pub variables: Vec<u32>,
}

/// pcalg's `jci`. 1: no system variable causes a context variable; 2: no system variable has a common cause with one; 3: all context
/// variables have common causes, and none causes another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumptions {
    /// `"0"`: no assumption.
    #[default]
    None,
    /// `"1"`
    One,
    /// `"12"`
    OneTwo,
    /// `"123"`
    All,
}

impl Jci {
    /// Returns whether anything is assumed, about whichever variables.
    pub fn is_some(&self) -> bool {
        self.assumptions != Assumptions::None
    }

    fn contains(&self, v: usize) -> bool {
        self.variables.contains(&(v as u32))
    }

    /// Returns the graph with room for edges between all context variables, whether the skeleton has them or not: pcalg puts arrowheads
    /// there.
    pub(super) fn with_room(&self, pag: Pag) -> Pag {
        if self.assumptions != Assumptions::All {
            return pag;
        }
        let mut room = Adjacency::empty(pag.p());
        for &x in &self.variables {
            self.variables.iter().filter(|&&y| y != x).for_each(|&y| room.insert(x as usize, y as usize));
        }
        pag.with_room(&room)
    }

    /// Returns whether R0 never takes y for a collider.
    pub(super) fn keeps_from_colliders(&self, y: usize) -> bool {
        self.assumptions == Assumptions::All && self.contains(y)
    }
}

/// Sets the marks on the edges of context variables.
pub(super) fn orient(pag: &mut Pag, jci: &Jci, of: &Context) -> Result<()> {
    if !jci.is_some() {
        return Ok(());
    }
    let all = jci.assumptions == Assumptions::All;
    let mut variables = jci.variables.clone();
    variables.sort_unstable();
    variables.dedup();
    for x in variables {
        let x = x as usize;
        for y in 0..pag.p() {
            let is_context = jci.contains(y);
            let [nx, ny] = [x, y].map(|v| v + 1);
            if all && is_context && x != y {
                let why = "because they are contextVars";
                of.say(|| format!("\nJCI Assumption 3: \nOrient: {nx} *-> {ny}  {why}\n"))?;
                pag.set(x, y, Mark::Arrow);
            }
            if is_context || !pag.adjacent(x, y) {
                continue;
            }
            let why = || format!("because  {nx}  is a context variable, whereas  {ny}  is not.\n");
            if jci.assumptions == Assumptions::One {
                of.say(|| format!("\nJCI Assumption 1: \nOrient: {nx} *-> {ny}  {}", why()))?;
                pag.set(x, y, Mark::Arrow);
            } else {
                of.say(|| format!("\nJCI Assumptions 1,2: \nOrient: {nx} --> {ny}  {}", why()))?;
                pag.direct(x, y);
            }
        }
    }
    Ok(())
}
