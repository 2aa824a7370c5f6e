//! Plans of a GPU's memory, made before anything is allocated; see `Held::commit`.

use std::fmt;

use super::buffer::{BufferId, BUFFERS};
use super::driver::error;
use crate::error::DeviceKind;
use crate::{Error, Result};

/// Bytes left to the driver for kernels, their stacks and the context.
const RESERVE: u64 = 256 << 20;

/// Alignment of allocations in bytes; no use takes less.
const ALIGNED: u64 = 256;

/// Rounds bytes up to the alignment of allocations.
pub(in crate::engine::cuda) fn aligned(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(ALIGNED)
}

/// A memory plan: bytes on the GPU by use.
///
/// A run gets the device memory that it has planned, and no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    bytes: [u64; BUFFERS],
}

impl Default for MemoryPlan {
    fn default() -> Self {
        MemoryPlan { bytes: [0; BUFFERS] }
    }
}

impl MemoryPlan {
    /// Plans `bytes` for a use, in place of the earlier plan for it; 0 for none.
    pub(in crate::engine::cuda) fn set(&mut self, what: impl Into<BufferId>, bytes: u64) {
        self.bytes[what.into() as usize] = if bytes == 0 { 0 } else { bytes.max(ALIGNED) };
    }

    /// Plans at least `bytes` for a use.
    pub(in crate::engine::cuda) fn raise(&mut self, what: impl Into<BufferId>, bytes: u64) {
        let what = what.into();
        self.set(what, bytes.max(self.of(what)));
    }

    /// Returns a plan that is enough for either: by use, the larger number of bytes.
    pub(in crate::engine::cuda) fn or(&self, other: &MemoryPlan) -> MemoryPlan {
        MemoryPlan { bytes: std::array::from_fn(|i| self.bytes[i].max(other.bytes[i])) }
    }

    /// Returns the bytes planned for a use.
    pub(in crate::engine::cuda) fn of(&self, what: impl Into<BufferId>) -> u64 {
        self.bytes[what.into() as usize]
    }

    /// Returns the bytes by part, under the names that `run_details()` shows.
    pub fn parts(&self) -> Vec<(&'static str, u64)> {
        let mut parts: Vec<(&'static str, u64)> = Vec::new();
        for (what, &bytes) in BufferId::ALL.iter().zip(&self.bytes).filter(|(_, &bytes)| bytes > 0) {
            match parts.iter_mut().find(|(name, _)| *name == what.part()) {
                Some((_, sum)) => *sum += bytes,
                None => parts.push((what.part(), bytes)),
            }
        }
        parts
    }

    /// Returns the total bytes.
    pub fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Refuses a plan that exceeds the free memory or the budget.
    pub(in crate::engine::cuda) fn check(&self, free: impl Into<Room>, budget: Option<u64>) -> Result<()> {
        let free = free.into();
        if self.total() > limit(free, budget) {
            return Err(out_of_memory(self.total(), free, budget));
        }
        Ok(())
    }
}

/// Bytes that are free, or that we already hold.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct Room {
    /// On the GPU.
    pub gpu: u64,
    /// On the host, for pages of unified memory.
    pub host: u64,
}

impl From<u64> for Room {
    fn from(gpu: u64) -> Self {
        Room { gpu, host: 0 }
    }
}

impl Room {
    /// Returns the room on the GPU only.
    pub fn on_gpu(self) -> Room {
        Room { host: 0, ..self }
    }
}

/// Returns the most bytes that a plan may have with this room and budget.
pub(in crate::engine::cuda) fn limit(free: Room, budget: Option<u64>) -> u64 {
    budget.unwrap_or(u64::MAX).min(free.gpu.saturating_sub(RESERVE) + free.host)
}

/// Most attempts to make a plan.
const PLANS: usize = 4;

/// Calls `plan`, which asks how much memory is free, plans with all of it and commits the plan. Another program, or another search in this
/// process, may take memory in between. The plan is then made again with what is left.
pub(in crate::engine::cuda) fn planned<T>(mut plan: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..PLANS {
        match plan() {
            Err(e) if e.is_short_of_device_memory() => {}
            outcome => return outcome,
        }
    }
    plan()
}

/// Returns the error that `needed` bytes exceed the free memory or the budget.
pub(in crate::engine::cuda) fn out_of_memory(needed: u64, free: Room, budget: Option<u64>) -> Error {
    let allowed = budget.map_or(String::new(), |b| format!(" cuda_device(memory = ) allows {}, and", Bytes(b)));
    let more =
        if budget.is_some() { "allow more with cuda_device(memory = )" } else { "end other programs that use the GPU" };
    let host = match free.host {
        0 => String::new(),
        host => format!(", and unified memory may also use {} of the host's memory", Bytes(host)),
    };
    let (needed, free, kept) = (Bytes(needed), Bytes(free.gpu), Bytes(RESERVE));
    error(
        DeviceKind::OutOfMemory,
        format!(
            "this step needs {needed} of GPU memory;{allowed} {free} are free, including {kept} reserved for the driver{host}"
        ),
        format!(
            "{more}, or give device = \"cpu\""
        ),
    )
}

/// Bytes, displayed in a suitable unit.
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

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "memory plan: {}", Bytes(self.total()))?;
        for (name, bytes) in self.parts() {
            writeln!(f, "  {name:16} {}", Bytes(bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_its_numbers() {
        let mut plan = MemoryPlan::default();
        plan.set(Buffer::Data, 8_000_000);
        plan.set(Buffer::Graph, 128_000);
        plan.set(Buffer::Rows, 1);
        assert_eq!(plan.total(), 8_128_256);
        assert!(plan.check(1 << 30, None).is_ok());
        let refused = plan.check(1 << 30, Some(1_000_000));
        let Err(Error::Device(e)) = refused else { panic!("{refused:?}") };
        assert_eq!(e.kind, DeviceKind::OutOfMemory);
        assert!(e.message.contains("8128256") && e.message.contains("1.0 MB (1000000 bytes)"), "{e:?}");
        assert!(plan.check(RESERVE + plan.total() - 1, None).is_err());
        assert!(plan.check(RESERVE + plan.total(), None).is_ok());
        let with_host = |host| Room { gpu: RESERVE + 1_000_000, host };
        assert!(plan.check(with_host(plan.total() - 1_000_000), None).is_ok());
        assert!(plan.check(with_host(plan.total() - 1_000_000), Some(plan.total() - 1)).is_err());
        let refused = plan.check(with_host(2_000_000), None);
        let Err(Error::Device(e)) = refused else { panic!("{refused:?}") };
        assert!(e.message.contains("2.0 MB (2000000 bytes) of the host's memory"), "{e:?}");
        let text = plan.to_string();
        assert!(text.contains("data") && text.contains("8.0 MB"), "{text}");
    }

    #[test]
    fn parts_add_up_uses_of_one_name() {
        let mut plan = MemoryPlan::default();
        plan.set(Buffer::Empty, 1000);
        plan.raise(Buffer::Graph, 3000);
        plan.raise(Buffer::Graph, 2000);
        assert_eq!(plan.parts(), [("graphs", 4000)]);
        plan.set(Buffer::Graph, 0);
        assert_eq!(plan.parts(), [("graphs", 1000)]);
    }
}
