//! Which memory of a card a program's words ask for.

use pcgpu_core::engine::cuda::card::unified::MemoryKind;

/// Takes the word `unified` out; each of `cards` cards then has its part of the host's memory.
pub fn take_unified(words: &mut Vec<String>, cards: usize) -> MemoryKind {
    let is_unified = words.iter().any(|word| word == "unified");
    words.retain(|word| word != "unified");
    if is_unified {
        MemoryKind::Unified { cards: cards as u32 }
    } else {
        MemoryKind::Device
    }
}
