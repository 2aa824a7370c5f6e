//! The kind of GPU memory that a program's arguments ask for.

use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;

/// Removes the word `unified` from the arguments. With it, each of `gpus` GPUs gets its part of the host's memory.
pub fn take_unified(words: &mut Vec<String>, gpus: usize) -> MemoryKind {
    let is_unified = words.iter().any(|word| word == "unified");
    words.retain(|word| word != "unified");
    if is_unified {
        MemoryKind::Unified { gpus: gpus as u32 }
    } else {
        MemoryKind::Device
    }
}
