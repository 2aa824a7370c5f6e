//! How much memory this process may still get.

/// Returns the bytes that the process may still get, or `None` if no limit can be read, as on macOS and Windows. It is the least of three:
/// what the limits of its address space and data leave, what its control groups leave, and the machine's free memory and swap.
///
/// The machine's total does not matter, because other processes use a part of it.
pub fn available() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::available();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns whether this many bytes are available. A virtual machine may get its memory some time after it starts. So if only the machine
/// has too little, this waits for more: once per process, for at most a second.
pub(super) fn is_available(bytes: u64) -> bool {
    #[cfg(target_os = "linux")]
    return linux::is_available(bytes);
    #[cfg(not(target_os = "linux"))]
    return available().is_none_or(|available| bytes <= available);
}

/// Addresses that glibc's malloc takes for a thread; it returns most of them or never touches them. Without them a thread may not even get
/// its thread-local data, and glibc then ends the process.
pub(super) const ADDRESSES_OF_THREAD: usize = 128 << 20;

/// Returns whether the process has a limit on its addresses (`ulimit -v`).
pub fn is_limited() -> bool {
    !has_addresses(1 << 40)
}

/// Returns whether this many addresses are available, with or without memory.
pub(super) fn has_addresses(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    return linux::has_addresses(bytes);
    #[cfg(not(target_os = "linux"))]
    return bytes <= 1 << 40;
}

/// Returns whether a block of this many bytes is available: asks for it and returns it untouched.
pub(super) fn probe(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    return linux::probe(bytes);
    #[cfg(not(target_os = "linux"))]
    return super::has_space(&mut Vec::<u8>::new(), bytes);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::fs::read_to_string;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::sleep;
    use std::time::Duration;

    extern "C" {
        fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, file: c_int, offset: isize) -> *mut c_void;
        fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    }

    const NO_ACCESS: c_int = 0;
    const READ_AND_WRITE: c_int = 3;

    /// Does not use malloc, which remembers the size of a block that is returned, and keeps as much from then on.
    pub fn probe(bytes: usize) -> bool {
        maps(bytes, READ_AND_WRITE)
    }

    pub fn has_addresses(bytes: usize) -> bool {
        maps(bytes, NO_ACCESS)
    }

    fn maps(bytes: usize, access: c_int) -> bool {
        const PRIVATE_AND_ANONYMOUS: c_int = 0x22;
        // SAFETY: a new mapping that nothing else uses; it is unmapped with the size that it was mapped with.
        unsafe {
            let block = mmap(std::ptr::null_mut(), bytes, access, PRIVATE_AND_ANONYMOUS, -1, 0);
            block as isize != -1 && munmap(block, bytes) == 0
        }
    }

    pub fn available() -> Option<u64> {
        [limits(), machine()].into_iter().flatten().min()
    }

    fn limits() -> Option<u64> {
        [address_space(), control_groups()].into_iter().flatten().min()
    }

    pub fn is_available(bytes: u64) -> bool {
        static WAITED: AtomicBool = AtomicBool::new(false);
        let has = |available: Option<u64>| available.is_none_or(|available| bytes <= available);
        if !has(limits()) || has(machine()) {
            return has(limits());
        }
        if WAITED.swap(true, Ordering::Relaxed) {
            return false;
        }
        (0..10).any(|_| {
            sleep(Duration::from_millis(100));
            has(machine())
        })
    }

    /// Returns the number after a name, in bytes, given that it counts units of `unit` bytes.
    fn number(text: &str, name: &str, unit: u64) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(unit)
    }

    fn address_space() -> Option<u64> {
        let limits = read_to_string("/proc/self/limits").ok()?;
        let used = read_to_string("/proc/self/status").ok()?;
        let left =
            |limit: &str, used_of: &str| Some(number(&limits, limit, 1)?.saturating_sub(number(&used, used_of, 1024)?));
        [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
    }

    fn machine() -> Option<u64> {
        let memory = read_to_string("/proc/meminfo").ok()?;
        Some(number(&memory, "MemAvailable:", 1024)? + number(&memory, "SwapFree:", 1024).unwrap_or(0))
    }

    /// Returns the least that is left to a control group of this process, or to one above it. A group's files in the page cache are dropped
    /// if memory is short, and so do not count as used.
    fn control_groups() -> Option<u64> {
        let groups = read_to_string("/proc/self/cgroup").ok()?;
        let mut least: Option<u64> = None;
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (root, limit, usage, files) = if controllers.is_empty() {
                ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file ")
            } else if controllers.split(',').any(|controller| controller == "memory") {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ")
            } else {
                continue;
            };
            // In a container the path may be the host's; the group is then at the root.
            let mut path = path.trim_end_matches('/');
            loop {
                let read = |file: &str| read_to_string(format!("{root}{path}/{file}")).ok();
                let whole = |file: &str| read(file)?.trim().parse::<u64>().ok();
                if let (Some(limit), Some(usage)) = (whole(limit), whole(usage)) {
                    let files = read("memory.stat").and_then(|stat| number(&stat, files, 1)).unwrap_or(0);
                    let left = limit.saturating_sub(usage.saturating_sub(files));
                    least = Some(least.map_or(left, |least| least.min(left)));
                }
                match path.rfind('/') {
                    Some(at) => path = &path[..at],
                    None => break,
                }
            }
        }
        least
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn numbers_are_read_by_name() {
            assert_eq!(number("A: 1\nMemAvailable:   12 kB\n", "MemAvailable:", 1024), Some(12 * 1024));
            assert_eq!(number("Max data size    unlimited   unlimited  bytes", "Max data size", 1), None);
            assert!(machine().is_some_and(|bytes| bytes > 1 << 20));
            assert!(available().is_some());
            assert!(probe(1 << 20) && !probe(1 << 60) && has_addresses(1 << 30) && !has_addresses(1 << 60));
        }
    }
}
