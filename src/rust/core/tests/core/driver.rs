//! Errors if the driver, the GPU or a launch fails. A driver of our own (../driver/driver.cpp) plays each part, in its own process, because a
//! process loads only one driver.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, Method, Options};
use pcgpu_core::{Error, Result};

const PART: &str = "FAKE_CUDA";

/// Returns the folder with the driver, which is compiled once. `PCGPU_TEST_DRIVER` names a folder that already has one.
pub fn driver() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        if let Some(folder) = std::env::var_os("PCGPU_TEST_DRIVER") {
            return folder.into();
        }
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("driver");
        let made = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver/build")).arg(&folder).status();
        assert!(made.unwrap().success(), "the driver does not compile");
        folder
    })
}

/// Runs one test of this program in a process with that driver and `environment`. Returns what it printed.
pub fn with_driver(test: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(environment.iter().copied())
        .env("LD_LIBRARY_PATH", driver())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{test} {environment:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns a function that only the tests' own driver has, in a process that has loaded it.
pub fn own_function(name: &CStr) -> *mut c_void {
    extern "C" {
        fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    const LAZY: c_int = 1;
    // SAFETY: the library is loaded already, and both names end with a zero.
    let found = unsafe { dlsym(dlopen(c"libcuda.so.1".as_ptr(), LAZY), name.as_ptr()) };
    assert!(!found.is_null(), "the driver is not the tests' own");
    found
}

fn search(memory: MemoryKind) -> Result<()> {
    let c = [1.0, 0.5, 0.4, 0.5, 1.0, 0.3, 0.4, 0.3, 1.0];
    let gauss = Gauss::new(by_column(&c, 3)?, 50.0, Reading::GaussCItest)?;
    let options = Options { method: Method::Stable, ..Options::new(3, 0.05) };
    let mut engine = CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..CudaOptions::default() })?;
    skeleton(&mut engine, &options, &mut [0.0; 9], &mut Unobserved).map(drop)
}

fn told<T>(outcome: Result<T>) -> String {
    match outcome {
        Ok(_) => "fine".into(),
        Err(Error::Device(e)) => format!("{}: {} -> {}", e.kind.name(), e.message, e.hint),
        Err(e) => format!("{e:?}"),
    }
}

/// Prints the outcomes in a process with the driver, and nothing elsewhere.
#[test]
fn played() {
    if std::env::var_os(PART).is_some() {
        println!("listing {}", told(device::devices(false)));
        println!("first {}", told(search(MemoryKind::Device)));
        println!("second {}", told(search(MemoryKind::Device)));
        println!("unified {}", told(search(MemoryKind::Unified { gpus: 1 })));
    }
}

/// Returns the outcomes of listing the GPUs, of two searches, and of one in unified memory, with the driver that plays `part`.
fn play(part: &str) -> [String; 4] {
    let text = with_driver("driver::played", &[(PART, part)]);
    ["listing ", "first ", "second ", "unified "].map(|name| {
        // The test harness prints the start of the first line itself.
        let line = text.lines().find_map(|line| line.split_once(name)).unwrap_or_else(|| panic!("{part}: {text}"));
        line.1.to_string()
    })
}

#[test]
fn a_driver_that_works_is_used() {
    assert_eq!(play("none"), ["fine"; 4]);
}

/// Uses a driver that takes machine code. The driver of the test above takes only PTX.
#[test]
fn machine_code_is_loaded_where_the_driver_takes_it() {
    assert_eq!(play("machine_code"), ["fine"; 4]);
}

#[test]
fn what_fails_is_named_with_what_to_do() {
    for (part, kind, message, hint) in [
        ("old_driver", "old_driver", "only CUDA 11.8", "525"),
        ("no_device", "no_device", "no GPU", "device = \"cpu\""),
        ("old_device", "old_device", "compute capability 6", "7.5"),
        ("busy", "busy", "exclusive use", "try again later"),
        ("full", "out_of_memory", "out of memory", "end other programs"),
        ("old_ptx", "old_driver", "CUDA 12.0", "525"),
        ("taken", "out_of_memory", "bytes", "end other programs"),
    ] {
        let [_, rest @ ..] = play(part);
        for told in &rest {
            let known = told.starts_with(&format!("{kind}: ")) && told.contains(message) && told.contains(hint);
            assert!(known, "{part}: {told}");
        }
    }
}

/// Checks that only searches that ask for unified memory are refused.
#[test]
fn a_gpu_without_unified_memory_is_named() {
    let [listing, first, second, unified] = play("no_managed");
    assert_eq!([listing, first, second], ["fine"; 3]);
    assert!(unified.starts_with("no_unified: ") && unified.contains("leave out memory = \"unified\""), "{unified}");
}

#[test]
fn gpus_are_listed_as_far_as_can_be() {
    for (part, listing) in [("old_driver", "old_driver: "), ("no_device", "no_device: ")] {
        assert!(play(part)[0].starts_with(listing), "{part}");
    }
    // A GPU in exclusive use by another process is still listed.
    assert_eq!(play("busy")[0], "fine");
}

#[test]
fn after_a_failed_launch_the_next_search_works() {
    let [_, first, second, unified] = play("launch");
    assert!(first.starts_with("failed: ") && first.contains("CUDA_ERROR_LAUNCH_FAILED"), "{first}");
    assert_eq!([second, unified], ["fine"; 2]);
}
