//! The code that a driver loads kernels from: machine code for the GPU, or PTX, which the driver compiles first.
//!
//! Compiling takes 0.1 to 0.8 s per large kernel on every machine whose driver has not cached the result. So the machine code for common GPUs is
//! stored next to the PTX, and the driver gets the PTX of the requested kernel only.

use std::io::{self, Read};

use lzma_rust2::LzmaReader;

/// Opens LZMA data for reading.
fn unpacked(packed: &[u8]) -> io::Result<LzmaReader<&[u8]>> {
    LzmaReader::new_mem_limit(packed, u32::MAX, None)
}

/// Returns the text of the newest PTX that a GPU of this compute capability can use; empty, which no driver loads, if there is none or the
/// data are broken. PTX for a GPU suits all newer ones.
pub(in crate::engine::cuda) fn text(ptx: &[u8], (major, minor): (i32, i32)) -> String {
    let text = best(ptx, |machine| machine <= 10 * major + minor);
    text.and_then(|text| String::from_utf8(text).ok()).unwrap_or_default()
}

/// Returns the PTX of one kernel, with everything that all kernels share; empty if the kernel is not there.
pub(in crate::engine::cuda) fn only(text: &str, kernel: &str) -> String {
    // A kernel extends from a line with START to the first closing brace at the beginning of a line.
    const START: &str = "\n.visible .entry ";
    const END: &str = "\n}\n";
    let (mut one, mut rest, mut there) = (String::new(), text, false);
    while let Some(start) = rest.find(START) {
        let (shared, from) = rest.split_at(start);
        let (this, after) = from.split_at(from.find(END).map_or(from.len(), |end| end + END.len()));
        let wanted = this[START.len()..].split('(').next() == Some(kernel);
        one += shared;
        one += if wanted { this } else { "\n" };
        there |= wanted;
        rest = after;
    }
    one += rest;
    if there {
        one
    } else {
        String::new()
    }
}

/// Returns the machines that there is code for, 90 for sm_90; empty if the data are broken.
pub(in crate::engine::cuda) fn machines(packed: &[u8]) -> Vec<i32> {
    let contents = unpacked(packed).ok().and_then(|mut packed| contents(&mut packed));
    contents.unwrap_or_default().into_iter().map(|(machine, _)| machine).collect()
}

/// Returns the ELF image for a GPU of this compute capability: the newest code with the same major number and no larger minor number, by
/// NVIDIA's rule of compatibility. `None` if there is no such code, or the data are broken.
pub(in crate::engine::cuda) fn machine_code(packed: &[u8], capability: (i32, i32)) -> Option<Vec<u8>> {
    best(packed, |machine| machine / 10 == capability.0 && machine % 10 <= capability.1)
}

/// Returns the code for the newest machine that `runs` accepts, 90 for sm_90. `None` if there is none, or the data are broken.
fn best(packed: &[u8], runs: impl Fn(i32) -> bool) -> Option<Vec<u8>> {
    let mut packed = unpacked(packed).ok()?;
    let contents = contents(&mut packed)?;
    let best = contents.iter().map(|&(machine, _)| machine).filter(|&machine| runs(machine)).max()?;
    let before = contents.iter().take_while(|&&(machine, _)| machine != best).map(|(_, bytes)| bytes).sum();
    let (_, bytes) = *contents.iter().find(|&&(machine, _)| machine == best)?;
    let skipped = io::copy(&mut packed.by_ref().take(before), &mut io::sink()).ok()?;
    let mut code = Vec::new();
    let read = packed.take(bytes).read_to_end(&mut code).ok()?;
    (skipped == before && read as u64 == bytes).then_some(code)
}

/// Reads the table of contents: (machine, bytes of its code) in the order of the code, 90 for sm_90. The table is lines before an empty line.
fn contents(from: &mut impl Read) -> Option<Vec<(i32, u64)>> {
    let mut lines = String::new();
    while !lines.ends_with("\n\n") {
        let mut byte = [0];
        from.read_exact(&mut byte).ok()?;
        lines.push(byte[0].into());
    }
    let line = |line: &str| {
        line.split_once(' ').and_then(|(machine, bytes)| Some((machine.parse().ok()?, bytes.parse().ok()?)))
    };
    lines.trim_end().lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{Module, MODULES};
    use super::*;

    #[cfg(feature = "machine-code")]
    fn word(image: &[u8], at: usize) -> usize {
        u64::from_le_bytes(image[at..at + 8].try_into().unwrap()) as usize
    }

    /// Returns the names of an ELF image's sections, and the machine that the image is for.
    #[cfg(feature = "machine-code")]
    fn sections(image: &[u8]) -> (Vec<&str>, u8) {
        const NVIDIA: u8 = 190;
        assert!(image.starts_with(b"\x7fELF\x02\x01") && image[18] == NVIDIA, "no code of a GPU");
        let half = |at: usize| u16::from_le_bytes([image[at], image[at + 1]]) as usize;
        let (table, size, count, names) = (word(image, 40), half(58), half(60), half(62));
        let names = &image[word(image, table + names * size + 24)..];
        let name = |section: usize| {
            let at = table + section * size;
            let name = &names[u32::from_le_bytes(image[at..at + 4].try_into().unwrap()) as usize..];
            std::str::from_utf8(name.split(|&byte| byte == 0).next().unwrap()).unwrap()
        };
        ((0..count).map(name).collect(), image[48])
    }

    #[test]
    #[cfg(feature = "machine-code")]
    fn a_gpu_gets_the_machine_code_that_runs_best_on_it() {
        for Module { name, cubin, entries, .. } in MODULES {
            for (capability, wanted) in [
                ((7, 5), Some(75)),
                ((8, 0), Some(80)),
                ((8, 6), Some(86)),
                ((8, 7), Some(86)),
                ((8, 9), Some(86)),
                ((9, 0), Some(90)),
                ((7, 0), None),
                ((10, 0), None),
                ((12, 0), None),
            ] {
                let image = machine_code(cubin, capability);
                let image = image.as_deref().map(sections);
                assert_eq!(image.as_ref().map(|&(_, machine)| machine), wanted, "{name} for {capability:?}");
                let Some((sections, _)) = image else { continue };
                let mut found: Vec<&str> = sections.iter().filter_map(|name| name.strip_prefix(".text.")).collect();
                let mut wanted = entries.to_vec();
                found.sort_unstable();
                wanted.sort_unstable();
                assert_eq!(found, wanted, "{name} for {capability:?}");
            }
        }
    }

    #[test]
    #[cfg(not(feature = "machine-code"))]
    fn without_machine_code_every_gpu_gets_ptx() {
        for Module { name, ptx, cubin, .. } in MODULES {
            assert_eq!(machine_code(cubin, (9, 0)), None, "{name}");
            assert!(text(ptx, (9, 0)).contains(".target "), "{name}");
        }
    }

    #[test]
    fn a_gpu_gets_the_newest_ptx_that_it_can_use() {
        for Module { name, ptx, .. } in MODULES {
            let target = |capability| {
                text(ptx, capability).lines().find_map(|line| line.strip_prefix(".target ").map(str::to_string))
            };
            let newest = if machines(ptx).contains(&80) { "sm_80" } else { "sm_75" };
            assert_eq!(target((7, 0)), None, "{name}");
            assert_eq!(target((7, 5)).as_deref(), Some("sm_75"), "{name}");
            for capability in [(8, 0), (9, 0), (10, 0), (12, 1)] {
                assert_eq!(target(capability).as_deref(), Some(newest), "{name} for {capability:?}");
            }
        }
        let with_tensors = MODULES.iter().filter(|module| machines(module.ptx).contains(&80)).map(|module| module.name);
        assert_eq!(with_tensors.collect::<Vec<_>>(), ["gauss/correlation", "gauss/screen"]);
    }

    #[test]
    fn of_ptx_one_kernel_is_left_with_what_all_share() {
        let all =
            MODULES.iter().flat_map(|module| machines(module.ptx).into_iter().map(move |machine| (module, machine)));
        for (Module { name, ptx, entries, .. }, machine) in all {
            let whole = text(ptx, (machine / 10, machine % 10));
            let mut length = 0;
            let rests: Vec<String> = entries
                .iter()
                .map(|entry| {
                    let one = only(&whole, entry);
                    let start = one.find("\n.visible .entry ").unwrap();
                    let end = start + one[start..].find("\n}\n").unwrap() + 3;
                    let kernel = &one[start..end];
                    assert!(kernel.contains(&format!(".entry {entry}(")) && whole.contains(kernel), "{name} {entry}");
                    length += kernel.len() - 1;
                    one.replace(kernel, "\n")
                })
                .collect();
            let shared = &rests[0];
            assert!(rests.iter().all(|rest| rest == shared), "{name}");
            assert!(shared.contains(".address_size") && !shared.contains(".entry"), "{name}");
            assert_eq!(shared.len() + length, whole.len(), "{name}");
            assert_eq!(only(&whole, "none"), "", "{name}");
        }
    }

    #[test]
    fn broken_data_are_no_kernels() {
        for Module { ptx, cubin, .. } in &MODULES[..1] {
            let half = |data: &'static [u8]| &data[..data.len() / 2];
            assert_eq!(text(half(ptx), (7, 5)), "");
            assert_eq!(machine_code(half(cubin), (7, 5)), None);
            for data in [&b""[..], b"not packed at all"] {
                assert_eq!(text(data, (9, 0)), "");
                assert_eq!(machine_code(data, (9, 0)), None);
            }
        }
    }
}
