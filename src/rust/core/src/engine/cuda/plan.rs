//! What a search will need of a card's memory, worked out before anything is allocated.

use std::fmt;

use super::device::error;
use crate::error::DeviceKind;
use crate::{Error, Result};

/// Left to the driver and to other programs: kernels, their stacks, the context.
const RESERVE: u64 = 256 << 20;

/// Bytes of a list entry at level 1: the neighbour and a verdict.
const ENTRY_OF_SINGLES: u64 = 8;

/// Bytes of a list entry at higher levels, or where level 1 runs by a paper's strategy: neighbour, twin, slot.
const ENTRY_OF_SETS: u64 = 56;

/// Bytes in the log for a pair that may be separated: a record of level 2.
const LOGGED: u64 = 16;

/// A memory plan, in bytes.
///
/// Guarantee: a search allocates no more than this on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of variables.
    pub p: u64,
    /// Correlation matrix, or level codes.
    pub data: u64,
    /// Bit rows: the graph, the empty separating sets, gaps and fixed edges.
    pub graphs: u64,
    /// Largest p-values, one a pair.
    pub p_values: u64,
    /// Degrees, offsets, work counts.
    pub rows: u64,
    /// What grows with the edges that are left after level 0: lists, verdicts, slots, separating sets found.
    pub edges: u64,
    /// Tables and sorted samples of tests of discrete variables, and their questions to the CPU.
    pub scratch: u64,
}

impl Plan {
    /// For p variables with `data` bytes of data, with or without gaps and fixed edges, before anything is known of the graph:
    /// lists are not in it.
    pub fn of_variables(p: usize, masks: usize, data: u64) -> Self {
        let p = p as u64;
        let words = 8 * p.div_ceil(64);
        Plan {
            p,
            data,
            graphs: (2 + masks as u64) * p * words,
            p_values: 4 * p * (p.max(1) - 1),
            rows: 20 * (p + 1),
            edges: 0,
            scratch: 0,
        }
    }

    /// With the edges that are left: `ends` is twice their number, `size` that of the conditioning sets.
    pub fn with_edges(mut self, ends: u64, size: usize, singles: bool) -> Self {
        let entry = if size == 1 && singles { ENTRY_OF_SINGLES } else { ENTRY_OF_SETS };
        self.edges = self.edges.max(entry * ends + LOGGED * (ends / 2) + 65_536);
        self
    }

    /// Bytes by use.
    pub fn parts(&self) -> [(&'static str, u64); 6] {
        [
            ("data", self.data),
            ("graphs", self.graphs),
            ("p-values", self.p_values),
            ("rows", self.rows),
            ("edges", self.edges),
            ("scratch", self.scratch),
        ]
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that the card has beyond the plan, without scratch: `free` bytes are free or held by us already.
    pub fn room(&self, free: u64, budget: Option<u64>) -> u64 {
        limit(free, budget).saturating_sub(self.total() - self.scratch)
    }

    /// Refuses a plan that the card cannot hold: `free` bytes are free or held by us already.
    pub fn check(&self, free: u64, budget: Option<u64>) -> Result<()> {
        if self.total() > limit(free, budget) {
            return Err(out_of_memory(self.total(), free, budget));
        }
        Ok(())
    }
}

/// Bytes that a search may take.
pub(super) fn limit(free: u64, budget: Option<u64>) -> u64 {
    budget.unwrap_or(u64::MAX).min(free.saturating_sub(RESERVE))
}

/// The error that names what was needed and what there is.
pub(super) fn out_of_memory(needed: u64, free: u64, budget: Option<u64>) -> Error {
    let allowed = budget.map_or(String::new(), |b| format!(", and {} were allowed", Bytes(b)));
    error(
        DeviceKind::OutOfMemory,
        format!("the search needs {} of GPU memory, {} are free{allowed}", Bytes(needed), Bytes(free)),
        "end other programs on the GPU, choose a larger one (see pcgpu_devices()), use a smaller alpha, or give device = \"cpu\"",
    )
}

/// Bytes, readable.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        match self.0 {
            0..=9_999 => write!(f, "{} bytes", self.0),
            10_000..=999_999 => write!(f, "{:.0} kB ({} bytes)", value / 1e3, self.0),
            1_000_000..=999_999_999 => write!(f, "{:.1} MB ({} bytes)", value / 1e6, self.0),
            _ => write!(f, "{:.2} GB ({} bytes)", value / 1e9, self.0),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "memory plan for p = {}: {}", self.p, Bytes(self.total()))?;
        for (name, bytes) in self.parts() {
            writeln!(f, "  {name:14} {}", Bytes(bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_thousand_variables_fit_a_card_of_sixteen_gigabytes() {
        let plan = Plan::of_variables(20_000, 0, 8 * 20_000 * 20_000);
        assert_eq!(plan.data, 3_200_000_000);
        assert_eq!(plan.p_values, 8 * (20_000 * 19_999 / 2));
        assert_eq!(plan.graphs, 2 * 20_000 * 8 * 313);
        // Half of all pairs left at level 1, and one in a hundred at level 2.
        let dense = plan.clone().with_edges(200_000_000, 1, true);
        assert!(dense.check(16 << 30, None).is_ok(), "{dense}");
        assert!(plan.with_edges(4_000_000, 2, true).check(16 << 30, None).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_numbers() {
        let plan = Plan::of_variables(1000, 2, 8_000_000);
        assert!(plan.check(1 << 30, None).is_ok());
        let refused = plan.check(1 << 30, Some(1_000_000));
        let Err(Error::Device(e)) = refused else { panic!("{refused:?}") };
        assert_eq!(e.kind, DeviceKind::OutOfMemory);
        assert!(e.message.contains(&plan.total().to_string()) && e.message.contains("1.0 MB (1000000 bytes)"), "{e:?}");
        assert!(plan.check(RESERVE + plan.total() - 1, None).is_err());
        assert!(plan.check(RESERVE + plan.total(), None).is_ok());
        let text = plan.to_string();
        assert!(text.contains("data") && text.contains("8.0 MB"), "{text}");
    }
}
