//! The events of an orientation: the lines that pcalg prints with `verbose = TRUE`.

/// One line of pcalg's. Vertices from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The conservative or majority rule begins with the triple a - b - c; the skeleton has this separating set of (a, c).
    Triple {
        /// The triple.
        triple: [u32; 3],
        /// `sepset[[a]][[c]]`; `None` where there is none.
        sepset: Option<&'a [u32]>,
    },
    /// It asked (a, c | S), for a subset S of a's or of c's neighbours.
    Asked {
        /// Whether S is from c's neighbours.
        of_c: bool,
        /// S.
        s: &'a [u32],
        /// The bits of the p-value.
        p: u64,
    },
    /// It found the triple ambiguous.
    Ambiguous,
    /// Rule 1 on a -> b - c. pcalg says so of ambiguous triples, too, which it then leaves alone.
    Rule1 {
        /// a, b, c.
        on: [u32; 3],
        /// Whether b - c became b <-> c, as it had been directed the other way in this round.
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
    /// The event of a rule, with the word on a conflict.
    pub(super) fn with_conflict(self, conflict: bool) -> Self {
        match self {
            Event::Rule1 { on, .. } => Event::Rule1 { on, conflict },
            Event::Rule2 { on, .. } => Event::Rule2 { on, conflict },
            Event::Rule3 { on, .. } => Event::Rule3 { on, conflict },
            other => other,
        }
    }
}
