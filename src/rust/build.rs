//! Compiles the few lines of C without which a jump of R cannot be stopped before it crosses Rust frames.

fn main() {
    println!("cargo:rerun-if-changed=src/unwind.c");
    cc::Build::new().file("src/unwind.c").warnings(true).compile("pcgpu_unwind");
}
