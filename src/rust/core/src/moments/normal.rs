//! The normal distribution, in one and two dimensions.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::LazyLock;

/// Returns the density.
pub(super) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Returns the probability of values up to x.
pub(super) fn probability(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Returns the value below which a part `p` of the distribution lies, for 0 < p < 1.
pub(super) fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    // Abramowitz and Stegun, 26.2.23, within 4.5e-4. Two steps of Halley's method give all digits.
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let under = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let mut x = above / under - t;
    for _ in 0..2 {
        let step = (probability(x) - p) / density(x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// Nodes and weights of Gauss and Legendre's rules from 0 to 1, and the |rho| up to which each is used.
static RULES: LazyLock<[(f64, Vec<[f64; 2]>); 5]> = LazyLock::new(|| {
    [(0.1, 4), (0.3, 6), (0.75, 12), (0.925, 24), (1.0, 96)].map(|(most, nodes)| (most, legendre(nodes)))
});

/// Returns the rule with `count` nodes, from the roots of Legendre's polynomial.
fn legendre(count: usize) -> Vec<[f64; 2]> {
    let root = |i: usize| {
        let mut x = (PI * (i as f64 + 0.75) / (count as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut last, mut value) = (0.0, 1.0);
            for k in 0..count {
                let k = k as f64;
                (last, value) = (value, ((2.0 * k + 1.0) * x * value - k * last) / (k + 1.0));
            }
            slope = count as f64 * (x * value - last) / (x * x - 1.0);
            x -= value / slope;
        }
        [(1.0 + x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope)]
    };
    (0..count).map(root).collect()
}

/// Adds to `sums[j * a.len() + i]` the probability that two normal variables of correlation `rho` are below a\[i\] and b\[j\], minus the
/// probability for independent ones.
///
/// The derivative by rho is the density (Drezner and Wesolowsky 1990, Journal of Statistical Computation and Simulation 35, 101-107). Its
/// integral is taken over the angle whose sine is rho, as in A. Genz (2004), Statistics and Computing 14, 251-260.
#[inline(always)]
pub(super) fn add_dependence(a: &[f64], b: &[f64], rho: f64, sums: &mut [f64]) {
    let angle = rho.asin();
    let rule = RULES.iter().find(|rule| rho.abs() <= rule.0).unwrap_or(&RULES[4]);
    for &[node, weight] in &rule.1 {
        let sine = (angle * node).sin();
        let (half, weight) = (0.5 / (1.0 - sine * sine), weight * angle / (2.0 * PI));
        for (sums, b) in sums.chunks_mut(a.len().max(1)).zip(b) {
            for (sum, a) in sums.iter_mut().zip(a) {
                *sum += weight * (half * (2.0 * sine * a * b - a * a - b * b)).exp();
            }
        }
    }
}

/// Writes the density at the points (a\[i\], b\[j\]) of two normal variables of correlation `rho` to `out[j * a.len() + i]`.
#[inline(always)]
pub(super) fn densities(a: &[f64], b: &[f64], rho: f64, out: &mut [f64]) {
    let rest = 1.0 - rho * rho;
    let (half, factor) = (0.5 / rest, 1.0 / (2.0 * PI * rest.sqrt()));
    for (out, b) in out.chunks_mut(a.len().max(1)).zip(b) {
        for (cell, a) in out.iter_mut().zip(a) {
            *cell = factor * (half * (2.0 * rho * a * b - a * a - b * b)).exp();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_r() {
        // qnorm() of R 4.2.
        for (p, wanted) in [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.1, -1.2815515655446004),
            (1e-10, -6.361340902404056),
            (0.3, -0.5244005127080407),
            (1.0 - 1e-6, 4.753424308817087),
        ] {
            assert!((quantile(p) - wanted).abs() < 2e-11 * wanted.abs().max(1e-3), "{p}: {}", quantile(p));
        }
        for i in 1..1000 {
            let p = f64::from(i) / 1000.0;
            assert!((probability(quantile(p)) - p).abs() < 1e-15);
        }
    }

    #[test]
    fn dependence_is_the_integral_of_the_density() {
        let (a, b) = ([-2.5, -0.3, 0.0, 1.2], [-1.0, -0.3, 0.7]);
        for rho in [-0.9999, -0.99, -0.8, -0.31, 1e-3, 0.1, 0.2, 0.5, 0.76, 0.93, 0.999] {
            let mut found = [0.0; 12];
            add_dependence(&a, &b, rho, &mut found);
            // Simpson's rule with many points, over the angle.
            let mut wanted = [0.0; 12];
            let (steps, end) = (20_000, f64::asin(rho));
            for step in 0..=steps {
                let angle = end * f64::from(step) / f64::from(steps);
                let weight = if step % steps == 0 { 1.0 } else { f64::from(2 + 2 * (step % 2)) };
                let mut at = [0.0; 12];
                densities(&a, &b, angle.sin(), &mut at);
                let width = angle.cos() * end / f64::from(steps) / 3.0;
                wanted.iter_mut().zip(at).for_each(|(sum, value)| *sum += weight * width * value);
            }
            for (found, wanted) in found.iter().zip(wanted) {
                let within = if rho.abs() > 0.9 { 1e-9 } else { 1e-12 };
                assert!((found - wanted).abs() < within, "{rho}: {found} {wanted}");
            }
        }
        // One quarter plus the angle's share of a circle.
        let mut found = [0.25];
        add_dependence(&[0.0], &[0.0], 0.5, &mut found);
        assert!((found[0] - 1.0 / 3.0).abs() < 1e-15);
    }
}
