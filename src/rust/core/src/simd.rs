//! Code for the registers that a machine has. The results are the same on all machines: plain IEEE operations. Only functions that say so
//! use fused operations.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// A token for code that runs on any machine.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

/// Proof that the machine has AVX2, and the bit and fused multiply-add instructions that came with it. Only `detect` makes it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Detects the instructions on this machine.
    #[inline]
    pub fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        static HAS: LazyLock<bool> =
            LazyLock::new(|| has!("avx2") && has!("fma") && has!("popcnt") && has!("bmi1") && has!("bmi2"));
        HAS.then_some(Avx2(()))
    }
}

/// Proof that the machine has AVX-512 F and DQ in addition to [`Avx2`]. Only `detect` makes it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Detects the instructions on this machine.
    #[inline]
    pub fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        static HAS: LazyLock<bool> = LazyLock::new(|| Avx2::detect().is_some() && has!("avx512f") && has!("avx512dq"));
        HAS.then_some(Avx512(()))
    }
}

/// Work that is compiled for each kind of machine. `run`, and what it calls in its loops, must be `#[inline(always)]`. A separate function
/// would be compiled for the baseline machine.
pub(crate) trait Task<S> {
    type Output;

    fn run(self, simd: S) -> Self::Output;
}

/// Does the work in the widest registers that this machine has, up to AVX2.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn run<T, O>(task: T) -> O
where
    T: Task<Plain, Output = O> + Task<Avx2, Output = O>,
{
    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
    unsafe fn compiled<T: Task<Avx2>>(task: T, simd: Avx2) -> T::Output {
        task.run(simd)
    }
    match Avx2::detect() {
        // SAFETY: the machine has what the function is compiled for, or there would be no `Avx2`.
        Some(simd) => unsafe { compiled(task, simd) },
        None => task.run(Plain),
    }
}

/// Does the work in the widest registers that this machine has, including AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn run_wide<T, O>(task: T) -> O
where
    T: Task<Plain, Output = O> + Task<Avx2, Output = O> + Task<Avx512, Output = O>,
{
    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
    unsafe fn compiled<T: Task<Avx512>>(task: T, simd: Avx512) -> T::Output {
        task.run(simd)
    }
    match Avx512::detect() {
        // SAFETY: as in `run`: there would be no `Avx512` otherwise.
        Some(simd) => unsafe { compiled(task, simd) },
        None => run(task),
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use run as run_wide;

/// Does the work in plain code, the only kind for this architecture.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn run<T: Task<Plain>>(task: T) -> T::Output {
    task.run(Plain)
}

/// Returns the name of the SIMD instructions in use on this machine.
pub fn simd() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if Avx2::detect().is_some() {
            "avx2"
        } else {
            "sse2"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::env::consts::ARCH
}
