//! The PTX version and card that the kernels are compiled for, for a bug report.

use super::image;
use super::kernels::MODULES;

/// The version of the kernels' PTX and the oldest card that it is for, such as "PTX 8.0 for sm_75"; empty without kernels.
pub fn kernels() -> String {
    let text = MODULES.first().map_or_else(String::new, |module| image::text(module.ptx));
    let directive =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_string());
    match (directive(".version"), directive(".target")) {
        (Some(version), Some(target)) => format!("PTX {version} for {target}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernels_say_what_they_are() {
        let said = super::kernels();
        assert!(said.starts_with("PTX 8.0 for sm_"), "{said}");
    }
}
