//! The events of an orientation: the lines that pcalg prints with `verbose = TRUE`.

/// One line of pcalg's output. Vertices count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The conservative or majority rule begins with the triple a - b - c, for which the skeleton has this separating set of (a, c).
    Triple {
        /// The triple.
        triple: [u32; 3],
        /// `sepset[[a]][[c]]`, or `None` if there is none.
        sepset: Option<&'a [u32]>,
    },
    /// The rule tested (a, c | S), for a subset S of a's or of c's neighbours.
    Asked {
        /// Whether S is a subset of c's neighbours.
        of_c: bool,
        /// The conditioning set S.
        s: &'a [u32],
        /// The bits of the p-value.
        p: u64,
    },
    /// The rule found the triple ambiguous.
    Ambiguous,
    /// Rule 1 on a -> b - c. pcalg also prints this for ambiguous triples, which it then leaves alone.
    Rule1 {
        /// a, b, c.
        on: [u32; 3],
        /// Whether b - c became b <-> c, as this round had already directed it the other way.
        conflict: bool,
    },
    /// Rule 2 on a -> c -> b.
    Rule2 {
        /// a, c, b.
        on: [u32; 3],
        /// Whether a - b became a <-> b.
        conflict: bool,
    },
    /// Rule 3 on a - c1 -> b, a - c2 -> b.
    Rule3 {
        /// a, c1, c2, b.
        on: [u32; 4],
        /// Whether a - b became a <-> b.
        conflict: bool,
    },
}

impl Event<'_> {
    /// Returns the event of a rule with its `conflict` replaced.
    pub(super) fn with_conflict(self, conflict: bool) -> Self {
        match self {
            Event::Rule1 { on, .. } => Event::Rule1 { on, conflict },
            Event::Rule2 { on, .. } => Event::Rule2 { on, conflict },
            Event::Rule3 { on, .. } => Event::Rule3 { on, conflict },
            other => other,
        }
    }
}
