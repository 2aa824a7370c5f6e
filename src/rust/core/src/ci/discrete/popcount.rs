//! Bits of two planes that are both set, in the widest registers of the machine.

/// Writes `a & b` to `out` and returns how many bits are set.
#[inline]
pub(super) fn intersect(a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,popcnt")]
        unsafe fn wide(a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
            intersect_plain(a, b, out)
        }
        if is_wide() {
            // SAFETY: the machine has AVX2 and POPCNT, asked for in the line above.
            return unsafe { wide(a, b, out) };
        }
    }
    intersect_plain(a, b, out)
}

/// How many bits are set in both.
#[inline]
pub(super) fn count_common(a: &[u64], b: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,popcnt")]
        unsafe fn wide(a: &[u64], b: &[u64]) -> u32 {
            count_common_plain(a, b)
        }
        if is_wide() {
            // SAFETY: the machine has AVX2 and POPCNT, asked for in the line above.
            return unsafe { wide(a, b) };
        }
    }
    count_common_plain(a, b)
}

/// How many bits are set.
pub(super) fn count(a: &[u64]) -> u32 {
    count_common(a, a)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn is_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

#[inline(always)]
fn intersect_plain(a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
    let mut sum = 0u64;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a & b;
        sum += u64::from(out.count_ones());
    }
    sum as u32
}

#[inline(always)]
fn count_common_plain(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_bits_at_every_length() {
        let word = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
        for length in 0..200 {
            let a: Vec<u64> = (0..length).map(|i| word(i + 1)).collect();
            let b: Vec<u64> = (0..length).map(|i| word(3 * i + 7) | word(i)).collect();
            let want: u32 = (0..length as usize)
                .map(|i| (0..64).filter(|bit| a[i] >> bit & 1 == 1 && b[i] >> bit & 1 == 1).count() as u32)
                .sum();
            let mut out = vec![0; length as usize];
            assert_eq!(intersect(&a, &b, &mut out), want);
            assert_eq!(count_common(&a, &b), want);
            assert!(out.iter().zip(a.iter().zip(&b)).all(|(o, (a, b))| *o == a & b));
        }
    }
}
