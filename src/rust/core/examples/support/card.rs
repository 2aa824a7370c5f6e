//! Which memory of a card a program's words ask for.

use pcgpu_core::engine::cuda::card::unified::MemoryKind;

/// The kind of memory, and the most bytes of it.
#[derive(Clone, Copy)]
pub struct CardMemory {
    pub memory: MemoryKind,
    pub memory_budget: Option<u64>,
}

impl CardMemory {
    /// Takes the words `unified` and `memory=BYTES` out; each of `cards` cards has its part of the host's memory.
    pub fn take(words: &mut Vec<String>, cards: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let mut found = CardMemory { memory: MemoryKind::Device, memory_budget: None };
        for word in words.iter() {
            if word == "unified" {
                found.memory = MemoryKind::Unified { cards: cards as u32 };
            } else if let Some(bytes) = word.strip_prefix("memory=") {
                found.memory_budget = Some(bytes.parse::<f64>()? as u64);
            }
        }
        words.retain(|word| word != "unified" && !word.starts_with("memory="));
        Ok(found)
    }
}
