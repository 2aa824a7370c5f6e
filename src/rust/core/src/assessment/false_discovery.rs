//! q-values of edges: for each edge, the false discovery rate at which it would be kept.

/// Adjustment of p-values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Benjamini and Hochberg (1995).
    Hochberg,
    /// Benjamini and Yekutieli (2001), valid under any dependence.
    Yekutieli,
}

/// Returns the q-values of the p-values `of`, which must be among `all`, the p-values of `count` tests. q = min over p' >= p of p' count /
/// rank(p'), at most 1. [`Correction::Yekutieli`] multiplies by 1 + 1/2 + ... + 1/count. `all` is traversed twice; tests that it leaves out
/// count as p = 1. NaN if `all` has no p-value up to p.
pub fn q_values<I: Iterator<Item = f64>>(
    of: &[f64],
    all: impl Fn() -> I,
    count: u64,
    correction: Correction,
) -> Vec<f64> {
    let tests = count as f64;
    let factor = match correction {
        Correction::Hochberg => tests,
        Correction::Yekutieli => tests * harmonic(count),
    };
    // The largest of `of` has at most this q. Larger p-values cannot make any q smaller: p' factor / rank(p') >= p'.
    let largest = of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rank = all().filter(|&p| p <= largest).count();
    let bound = (largest * factor / rank.max(1) as f64).min(1.0);
    let mut sorted: Vec<f64> = all().filter(|&p| p <= bound.max(largest)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut smallest = bound;
    let mut adjusted = vec![0.0; sorted.len()];
    for (at, (&p, adjusted)) in sorted.iter().zip(&mut adjusted).enumerate().rev() {
        smallest = smallest.min(p * factor / (at + 1) as f64);
        *adjusted = smallest;
    }
    let of_p = |p: &f64| {
        // The last of equal p-values.
        let at = sorted.partition_point(|other| other <= p);
        if at == 0 {
            f64::NAN
        } else {
            adjusted[at - 1]
        }
    };
    of.iter().map(of_p).collect()
}

/// Computes 1 + 1/2 + ... + 1/n, by the Euler-Maclaurin formula if n is large.
fn harmonic(n: u64) -> f64 {
    if n <= 1 << 16 {
        return (1..=n).rev().map(|k| 1.0 / k as f64).sum();
    }
    let n = n as f64;
    n.ln() + 0.577_215_664_901_532_9 + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_definition() {
        let p: Vec<f64> = (0..500u32).map(|i| (f64::from(i * 7919 % 500) / 500.0).powi(3)).collect();
        for (correction, factor) in [(Correction::Hochberg, 1.0), (Correction::Yekutieli, harmonic(700))] {
            for most in [5e-4, 0.01, 1.0] {
                let of: Vec<f64> = p.iter().copied().filter(|&p| p <= most).collect();
                let found = q_values(&of, || p.iter().copied(), 700, correction);
                for (&one, found) in of.iter().zip(found) {
                    let rank = |x: f64| p.iter().filter(|&&other| other <= x).count() as f64;
                    let beyond = p.iter().filter(|&&other| other >= one);
                    let want = beyond.map(|&x| x * 700.0 * factor / rank(x)).fold(1.0, f64::min);
                    assert!((found - want).abs() <= 1e-12 * want, "{one}: {found}, {want}");
                }
            }
        }
    }

    #[test]
    fn the_harmonic_numbers_go_on() {
        let exact: f64 = (1..=200_000u32).rev().map(|k| 1.0 / f64::from(k)).sum();
        assert!((harmonic(200_000) - exact).abs() < 1e-12);
        assert!(q_values(&[], || [0.5].into_iter(), 3, Correction::Hochberg).is_empty());
    }
}
