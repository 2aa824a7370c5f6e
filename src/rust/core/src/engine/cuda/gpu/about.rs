//! The PTX version and the GPUs that the kernels are compiled for, for bug reports.

use super::image;
use super::kernels::{MODULES, OLDEST};

/// Returns the kernels' PTX version, the oldest GPU that it runs on and the GPUs with machine code: "PTX 8.0 for sm_75, machine code for sm_90,
/// sm_80". Empty without kernels.
pub fn kernels() -> String {
    let Some(module) = MODULES.first() else { return String::new() };
    let text = image::text(module.ptx, OLDEST);
    let machines: Vec<String> = image::machines(module.cubin).iter().map(|machine| format!("sm_{machine}")).collect();
    let directive =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_string());
    match (directive(".version"), directive(".target")) {
        (Some(version), Some(target)) => {
            format!("PTX {version} for {target}, machine code for {}", machines.join(", "))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernels_say_what_they_are() {
        let said = super::kernels();
        assert!(said.starts_with("PTX 8.0 for sm_75, machine code for sm_90, "), "{said}");
    }
}
