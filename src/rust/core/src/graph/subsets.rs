//! k-subsets of {0, .., n-1} in lexicographic order, and the bijection with their ranks 0, 1, 2, ...
//!
//! The order is the one in which pcalg visits conditioning sets (`getNextSet`), so a rank identifies a test.

use std::ops::Range;

/// Returns n over k, or `None` above 2^63 - 1.
pub fn binomial(n: usize, k: usize) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let k = k.min(n - k);
    let mut value: u128 = 1;
    for i in 0..k {
        // Exact at every step: the product of i+1 consecutive integers is divisible by (i+1)!.
        let product = value * (n - i) as u128;
        // A 64-bit division is used if the product fits, because a 128-bit division is a function call.
        value = match u64::try_from(product) {
            Ok(product) => u128::from(product / (i + 1) as u64),
            Err(_) => product / (i + 1) as u128,
        };
        if value > i64::MAX as u128 {
            return None;
        }
    }
    Some(value as u64)
}

/// Returns n over k, rounded, or infinity if that is too large for a double.
pub fn binomial_float(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k.min(n - k)).fold(1.0, |value, i| value * (n - i) as f64 / (i + 1) as f64)
}

/// Writes to `out` the subset of size `out.len()` of {0, .., n-1} with the given rank, in ascending order.
///
/// `rank` must be below [`binomial`]`(n, out.len())`, which must not be `None`.
pub fn unrank(n: usize, mut rank: u64, out: &mut [u32]) {
    let k = out.len();
    let mut next = 0usize;
    for (i, slot) in out.iter_mut().enumerate() {
        if i + 1 == k {
            *slot = (next as u64 + rank) as u32;
            return;
        }
        loop {
            // Subsets that have `next` in place i: choose the other k-i-1 from what follows.
            let with_next = match k - i {
                2 => (n - next - 1) as u64,
                left => binomial(n - next - 1, left - 1).unwrap_or(u64::MAX),
            };
            if rank < with_next {
                break;
            }
            rank -= with_next;
            next += 1;
        }
        *slot = next as u32;
        next += 1;
    }
}

/// Returns the rank of an ascending subset of {0, .., n-1}; the inverse of [`unrank`].
pub fn rank(n: usize, subset: &[u32]) -> u64 {
    let k = subset.len();
    let mut rank = 0u64;
    let mut next = 0usize;
    for (i, &member) in subset.iter().enumerate() {
        let member = member as usize;
        rank += beginning(n, next..member, k - i);
        next = member + 1;
    }
    rank
}

/// Returns how many subsets of size k of the numbers from `first.start` to n - 1 begin with a member of `first`.
fn beginning(n: usize, first: Range<usize>, k: usize) -> u64 {
    if first.is_empty() {
        return 0;
    }
    match (binomial(n - first.start, k), binomial(n - first.end, k)) {
        (Some(all), Some(others)) => all - others,
        // The difference may fit even if these two do not.
        _ => first.map(|member| binomial(n - member - 1, k - 1).unwrap_or(u64::MAX)).sum(),
    }
}

/// Returns how many subsets of {0, .., n-1} without `place`, of the size of `subset`, come before the ascending `subset`. If `subset` lacks
/// `place`, this is its rank among the sets without `place`.
pub fn rank_without(n: usize, subset: &[u32], place: usize) -> u64 {
    let k = subset.len();
    let mut rank = 0u64;
    let mut next = 0usize;
    for (i, &member) in subset.iter().enumerate() {
        let member = member as usize;
        // For members below `place`, one number fewer follows.
        rank += beginning(n - 1, next..member.min(place), k - i) + beginning(n, next.max(place + 1)..member, k - i);
        if member == place {
            break;
        }
        next = member + 1;
    }
    rank
}

/// Moves an ascending subset of {0, .., n-1} to its successor. Returns `false` if it was the last; it is then unchanged.
pub fn advance(n: usize, subset: &mut [u32]) -> bool {
    let k = subset.len();
    for i in (0..k).rev() {
        if (subset[i] as usize) < n - k + i {
            subset[i] += 1;
            for j in i + 1..k {
                subset[j] = subset[j - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// Moves an ascending subset of {0, .., n-1} to the first later one with another prefix (all members except the last). It must have at
/// least two members, and there must be a later one. Returns the first place that changed.
#[inline(always)]
pub fn advance_prefix(n: usize, subset: &mut [u32]) -> usize {
    let k = subset.len();
    let mut place = k - 2;
    while subset[place] as usize >= n - k + place {
        place -= 1;
    }
    subset[place] += 1;
    for later in place + 1..k {
        subset[later] = subset[later - 1] + 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_are_exact_up_to_63_bits_and_refused_beyond() {
        assert_eq!(binomial(5, 2), Some(10));
        assert_eq!(binomial(2, 5), Some(0));
        assert_eq!(binomial(0, 0), Some(1));
        assert_eq!(binomial(66, 33), Some(7219428434016265740));
        assert_eq!(binomial(67, 33), None);
        assert_eq!(binomial(1_000_000, 3), Some(166_666_166_667_000_000));
        assert_eq!(binomial(1_000_000, 4), None);
        assert_eq!([binomial_float(5, 2), binomial_float(2, 5), binomial_float(0, 0)], [10.0, 0.0, 1.0]);
        assert!((binomial_float(66, 33) / 7219428434016265740.0 - 1.0).abs() < 1e-13);
        assert!((binomial_float(100, 50) / 1.0089134454556e29 - 1.0).abs() < 1e-12);
        assert_eq!(binomial_float(5000, 2500), f64::INFINITY);
    }

    #[test]
    fn rank_and_unrank_are_inverse_and_in_visiting_order() {
        for n in 0..=9usize {
            for k in 0..=n {
                let mut visited: Vec<u32> = (0..k as u32).collect();
                let total = binomial(n, k).unwrap();
                for r in 0..total {
                    let mut subset = vec![0u32; k];
                    unrank(n, r, &mut subset);
                    assert_eq!(subset, visited);
                    assert_eq!(rank(n, &subset), r);
                    assert_eq!(advance(n, &mut visited), r + 1 < total);
                }
            }
        }
    }

    #[test]
    fn prefixes_follow_each_other() {
        for n in 2..=8usize {
            for k in 2..=n {
                let mut subset: Vec<u32> = (0..k as u32).collect();
                let mut next = subset.clone();
                while advance(n, &mut next) {
                    if next[..k - 1] != subset[..k - 1] {
                        let changed = (0..k).find(|&place| next[place] != subset[place]);
                        assert_eq!(Some(advance_prefix(n, &mut subset)), changed);
                        assert_eq!(subset, next);
                    }
                }
            }
        }
    }

    #[test]
    fn ranks_without_a_place_count_the_sets_before() {
        for n in 1..=7usize {
            for k in 1..n {
                for place in 0..n {
                    let mut set: Vec<u32> = (0..k as u32).collect();
                    let mut before = 0;
                    loop {
                        assert_eq!(rank_without(n, &set, place), before, "{set:?} of {n} without {place}");
                        before += u64::from(!set.contains(&(place as u32)));
                        if !advance(n, &mut set) {
                            break;
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn large_ranks_come_back() {
        let (n, k) = (200, 9);
        let total = binomial(n, k).unwrap();
        let mut subset = vec![0u32; k];
        for r in [0, 1, total / 7, total / 3, total - 2, total - 1] {
            unrank(n, r, &mut subset);
            assert_eq!(rank(n, &subset), r);
        }
        assert_eq!(subset, (n as u32 - k as u32..n as u32).collect::<Vec<_>>());
    }
}
