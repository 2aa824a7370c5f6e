//! Which memory of a GPU a program's words ask for.

use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;

/// Takes the word `unified` out; each of `gpus` GPUs then has its part of the host's memory.
pub fn take_unified(words: &mut Vec<String>, gpus: usize) -> MemoryKind {
    let is_unified = words.iter().any(|word| word == "unified");
    words.retain(|word| word != "unified");
    if is_unified {
        MemoryKind::Unified { gpus: gpus as u32 }
    } else {
        MemoryKind::Device
    }
}
