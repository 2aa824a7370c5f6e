//! Prints the R wrappers of the boundary functions. Run by tools/document.

fn main() {
    match pcgpu::get_pcgpu_metadata().make_r_wrappers(true, "pcgpu") {
        Ok(wrappers) => print!("{wrappers}"),
        Err(error) => {
            eprintln!("cannot make the R wrappers: {error:?}");
            std::process::exit(1);
        }
    }
}
