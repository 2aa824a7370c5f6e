//! What is known about edge directions before any data: tiers, context variables, excluded arrows.

use crate::graph::{Marks, Tiers};

/// Excluded arrows, and their consequences for colliders and conditioning sets: the rules of `tpc()` (Witte et al. 2022). By default
/// nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// No arrow goes to an earlier tier.
    pub(super) tiers: Tiers,
    /// For each vertex, whether it is a context variable, which no arrow goes into. Empty if no vertex is.
    context: Vec<bool>,
    /// Other excluded arrows [from, to], ascending.
    barred: Vec<[u32; 2]>,
}

impl Knowledge {
    /// Collects knowledge of p vertices. `context`: vertices that no arrow goes into; `barred`: excluded arrows [from, to].
    pub fn new(p: usize, tiers: Tiers, context: &[u32], mut barred: Vec<[u32; 2]>) -> Self {
        barred.sort_unstable();
        barred.dedup();
        let mut of_context = vec![false; if context.is_empty() { 0 } else { p }];
        context.iter().for_each(|&v| of_context[v as usize] = true);
        Knowledge { tiers, context: of_context, barred }
    }

    /// Returns whether anything is known; rule 4 is then applied.
    pub fn is_some(&self) -> bool {
        *self != Knowledge::default()
    }

    /// Returns whether no arrow goes into v.
    pub fn is_context(&self, v: usize) -> bool {
        self.context.get(v).copied().unwrap_or(false)
    }

    fn is_barred(&self, from: usize, to: usize) -> bool {
        !self.barred.is_empty() && self.barred.binary_search(&[from as u32, to as u32]).is_ok()
    }

    /// Returns whether from -> to is excluded.
    pub fn bars(&self, from: usize, to: usize) -> bool {
        !self.tiers.may_condition(to, from) || self.is_context(to) || self.is_barred(from, to)
    }

    /// Returns whether data decide if a - b - c is a collider: knowledge neither excludes it nor implies it.
    pub(super) fn leaves_open(&self, a: usize, b: usize, c: usize) -> bool {
        let tier = |v| self.tiers.of_vertex(v);
        tier(b) == tier(a).max(tier(c))
            && ![a, b, c].iter().any(|&v| self.is_context(v))
            && !self.is_barred(a, b)
            && !self.is_barred(c, b)
    }

    /// Returns whether knowledge excludes that a - b - c is a collider.
    pub(super) fn excludes(&self, a: usize, b: usize, c: usize) -> bool {
        self.bars(a, b) || self.bars(c, b)
    }

    /// Directs every edge with an excluded arrow, whatever its marks were.
    pub(super) fn direct(&self, marks: &mut Marks) {
        for u in (0..marks.p()).filter(|_| self.is_some()) {
            for slot in marks.slots(u) {
                if self.bars(marks.head(slot), u) {
                    marks.direct(slot);
                }
            }
        }
    }
}
