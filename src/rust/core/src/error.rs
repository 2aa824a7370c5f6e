//! The only error type of the core. Each variant carries what a caller needs to say what to fix.

use std::fmt;

/// Everything that can end a call early.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// An argument is out of its domain.
    Argument {
        /// The argument's name as the R user knows it.
        argument: &'static str,
        /// The given value, as it reads after "is"; or the whole predicate if it begins with "has".
        value: String,
        /// What to give instead.
        hint: String,
    },
    /// The caller asked to stop (Ctrl-C).
    Interrupted,
    /// The caller's time limit is over, and no level has run.
    TimeLimit {
        /// The time limit in seconds.
        seconds: f64,
    },
    /// A checkpoint cannot be resumed or written.
    Checkpoint {
        /// The sort of failure, for a caller that acts on it: `arguments`, `version`, `damaged`, `other_file`, `read`, `write`.
        kind: &'static str,
        /// The checkpoint's file.
        file: String,
        /// What is wrong, as a predicate of the file.
        reason: String,
        /// What to do about it.
        hint: String,
    },
    /// A test supplied by the caller failed; the caller holds the reason.
    Test {
        /// First variable, from 0.
        x: usize,
        /// Second variable, from 0.
        y: usize,
        /// Conditioning set, from 0.
        s: Vec<u32>,
    },
    /// One pair has more conditioning sets than 63 bits can number.
    Overflow {
        /// First variable, from 0.
        x: usize,
        /// Second variable, from 0.
        y: usize,
        /// Size of the conditioning sets.
        level: usize,
        /// Number of neighbours to choose from.
        candidates: usize,
    },
    /// A test has no numerical answer, and pcalg stops with an error too.
    Numeric {
        /// First variable, from 0.
        x: usize,
        /// Second variable, from 0.
        y: usize,
        /// Conditioning set, from 0.
        s: Vec<u32>,
        /// The reason.
        reason: &'static str,
    },
    /// Memory is not available.
    Memory {
        /// Bytes that were requested.
        bytes: u64,
        /// Bytes that the process may still get, or `None` if unknown.
        available: Option<u64>,
        /// What the memory is for.
        what: &'static str,
        /// What to do about it.
        hint: String,
    },
    /// A GPU cannot be used, or failed.
    Device(DeviceError),
    /// Workers of other processes cannot be used, or failed.
    Cluster {
        /// What happened: a sentence without its full stop.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A data file cannot be used.
    File(FileError),
}

/// What is wrong with a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The sort of failure, for a caller that acts on it.
    pub kind: FileKind,
    /// The file.
    pub path: String,
    /// What is wrong, as a predicate of the file.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The sorts of failure of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// The file does not exist, or the system does not let the process read it.
    Unreadable,
    /// The system does not let the process write it.
    Unwritable,
    /// The file is not a pcgpu data file.
    Foreign,
    /// The file has another format version.
    Version,
    /// The end of the file is missing.
    Truncated,
    /// The contents of the file are not those that were written.
    Damaged,
    /// The file is not the one that was meant.
    Changed,
}

impl FileKind {
    /// Returns a short name, as R's condition classes have it: `unreadable`, `unwritable`, `foreign`, `version`, `truncated`, `damaged`,
    /// `changed`.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Unreadable => "unreadable",
            FileKind::Unwritable => "unwritable",
            FileKind::Foreign => "foreign",
            FileKind::Version => "version",
            FileKind::Truncated => "truncated",
            FileKind::Damaged => "damaged",
            FileKind::Changed => "changed",
        }
    }
}

/// What is wrong with a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceError {
    /// The sort of failure, for a caller that acts on it.
    pub kind: DeviceKind,
    /// What happened: a sentence without its full stop.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The sorts of failure of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The NVIDIA driver is not installed.
    NoDriver,
    /// The driver is too old for our kernels.
    OldDriver,
    /// The driver finds no GPU.
    NoDevice,
    /// The GPU is too old for our kernels.
    OldDevice,
    /// The GPU, or its driver, has no unified memory.
    NoUnified,
    /// Another process has exclusive use of the GPU.
    Busy,
    /// The GPU's memory, or the part that the caller allows, is too small.
    OutOfMemory,
    /// This process was forked from one that had used the GPU.
    Forked,
    /// A driver call or a kernel failed.
    Failed,
}

impl DeviceKind {
    /// Returns a short name, as R's condition classes have it: `no_driver`, `old_driver`, `no_device`, `old_device`, `no_unified`, `busy`,
    /// `out_of_memory`, `forked`, `failed`.
    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::NoDriver => "no_driver",
            DeviceKind::OldDriver => "old_driver",
            DeviceKind::NoDevice => "no_device",
            DeviceKind::OldDevice => "old_device",
            DeviceKind::NoUnified => "no_unified",
            DeviceKind::Busy => "busy",
            DeviceKind::OutOfMemory => "out_of_memory",
            DeviceKind::Forked => "forked",
            DeviceKind::Failed => "failed",
        }
    }
}

impl Error {
    /// Returns whether the GPU's memory, or the part that the caller allows, is too small. The work may still fit in parts.
    pub fn is_short_of_device_memory(&self) -> bool {
        matches!(self, Error::Device(DeviceError { kind: DeviceKind::OutOfMemory, .. }))
    }
}

/// Result of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// Formats a number as R prints it: at most seven digits, with an exponent if that is shorter.
pub fn shown(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.into();
    }
    // Rust writes 1.234560e300, R writes 1.23456e+300.
    let scientific = format!("{number:.6e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    let decimals = (digits.trim_start_matches('-').len() as i32 - 2).max(0);
    if (-5..15).contains(&exponent) {
        return format!("{number:.*}", (decimals - exponent).max(0) as usize);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Returns the system's words for an error, without the number that Rust adds: "Permission denied".
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or(&text).to_string()
}

/// Formats a number of bytes: 160 GiB, 1.5 GiB, 20 KiB.
fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = (bytes.max(1).ilog2() / 10) as usize;
    let shown = bytes as f64 / (1u64 << (10 * step)) as f64;
    let decimals = usize::from(step > 0 && shown < 9.95 && shown.fract() >= 0.05);
    format!("{shown:.decimals$} {}", units[step])
}

fn one_based(s: &[u32]) -> String {
    let shown: Vec<String> = s.iter().map(|v| (v + 1).to_string()).collect();
    format!("{{{}}}", shown.join(", "))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Argument { argument, value, hint } => {
                let is = if value.starts_with("has ") { "" } else { "is " };
                write!(f, "`{argument}` {is}{value}: {hint}")
            }
            Error::Interrupted => write!(f, "interrupted"),
            Error::TimeLimit { seconds } => {
                write!(f, "`time_limit` is {}: level 0 did not finish in this time; give more seconds", shown(*seconds))
            }
            Error::Checkpoint { file, reason, hint, .. } => write!(f, "the checkpoint \"{file}\" {reason}: {hint}"),
            Error::Test { x, y, s } => write!(
                f,
                "the conditional independence test failed for x = {}, y = {}, S = {}",
                x + 1,
                y + 1,
                one_based(s)
            ),
            Error::Overflow { x, y, level, candidates } => write!(
                f,
                "variables {} and {} have {candidates} neighbours, which form more than 2^63 conditioning sets of size {level}: \
                 give an `m.max` below {level}, or a smaller `alpha`",
                x + 1,
                y + 1
            ),
            Error::Numeric { x, y, s, reason } => {
                write!(f, "no p-value for x = {}, y = {}, S = {}: {reason}", x + 1, y + 1, one_based(s))
            }
            Error::Memory { bytes, available, what, hint } => {
                let had = available.filter(|available| available < bytes);
                let had = had.map(|had| format!(", but this R process can get only about {} more", size(had)));
                write!(f, "not enough memory: {what} takes {}{}; {hint}", size(*bytes), had.unwrap_or_default())
            }
            Error::Device(DeviceError { message, hint, .. }) | Error::Cluster { message, hint } => {
                write!(f, "{message}: {hint}")
            }
            Error::File(FileError { path, message, hint, .. }) => write!(f, "the file \"{path}\" {message}: {hint}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::{reason, shown};

    #[test]
    fn reasons_have_no_number() {
        let missing = std::io::Error::from_raw_os_error(2);
        assert!(missing.to_string().contains(" (os error 2)"));
        assert!(!reason(&missing).is_empty() && !reason(&missing).contains("os error"));
        assert_eq!(reason(&std::io::Error::other("no space")), "no space");
    }

    #[test]
    fn numbers_read_as_in_r() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.05, "0.05"),
            (1e300, "1e+300"),
            (-1.25e-7, "-1.25e-07"),
            (123_456.789, "123456.8"),
            (100_000.0, "100000"),
            (2147483648.0, "2147483648"),
            (f64::INFINITY, "Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(shown(number), text);
        }
    }
}
