//! Compiles the few lines of C without which a jump of R cannot be stopped before it crosses Rust frames, and sets `cfg(cuda)` where the GPU engine is built.

fn main() {
    println!("cargo:rerun-if-changed=src/unwind.c");
    println!("cargo:rustc-check-cfg=cfg(cuda)");
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some()
        && std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("macos")
    {
        println!("cargo:rustc-cfg=cuda");
    }
    cc::Build::new().file("src/unwind.c").warnings(true).compile("pcgpu_unwind");
}
