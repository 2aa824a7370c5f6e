//! Upper tails of Student's t and of the F distribution: the regularised incomplete beta function.
//!
//! I_x(a, b) is x^a y^b / (a B(a, b)) times Gauss' continued fraction (Abramowitz and Stegun 1964, 26.5.8). Lentz's method evaluates it on
//! the side of the mean where it converges quickly. Both x and y = 1 - x are arguments, because one of them may be tiny. If a or b is
//! large, ln B(a, b) comes from Stirling's series, so that no digits cancel. From [`MANY`] degrees of freedom on, the first terms of
//! expansions about the limit are accurate to all digits.
//!
//! statrs is not used: its `beta_reg` gets x alone, and computes ln B(a, b) as a difference of logarithms of gamma functions. At 400,000
//! degrees of freedom that leaves ten digits.

use std::f64::consts::PI;

use super::chi_squared;
use super::gauss::two_sided;

/// Degrees of freedom from which the terms that the expansions leave out are of the order of 1e-16.
const MANY: f64 = 1e8;

/// The argument from which Stirling's series is accurate to sixteen digits.
const LARGE: f64 = 16.0;

/// Returns P(|T| >= |t|) of Student's distribution with `df` degrees of freedom, which need not be whole. Returns NaN if an argument is NaN
/// or `df` is not positive.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    let t = t.abs();
    if t == f64::INFINITY {
        return 0.0;
    }
    if df == f64::INFINITY {
        return two_sided(t);
    }
    // Abramowitz and Stegun 1964, 26.7.8.
    if df > MANY {
        let quarter = 1.0 / (4.0 * df);
        return two_sided(t * (1.0 - quarter) / (1.0 + t * t * 2.0 * quarter).sqrt());
    }
    let square = t * t;
    beta_tail(df / (df + square), square / (df + square), df / 2.0, 0.5)
}

/// Returns P(F >= f) of the F distribution with `df1` and `df2` degrees of freedom. Returns NaN if an argument is NaN or the degrees are
/// not positive.
pub fn f_upper(f: f64, df1: f64, df2: f64) -> f64 {
    if f.is_nan() || df1.is_nan() || df2.is_nan() || df1 <= 0.0 || df2 <= 0.0 {
        return f64::NAN;
    }
    if f <= 0.0 {
        return 1.0;
    }
    if f == f64::INFINITY {
        return 0.0;
    }
    let x = f * df1;
    if df2 == f64::INFINITY {
        return chi_squared::upper_tail(x, df1);
    }
    if df2 > MANY {
        // P(chi-squared with df1 degrees >= x V), where V has mean 1 and variance 2 / df2.
        let half = df1 / 2.0;
        let density = 0.5 * ((half - 1.0) * (x / 2.0).ln() - x / 2.0 - libm::lgamma(half)).exp();
        return chi_squared::upper_tail(x, df1) + x / df2 * density * (0.5 * x - half + 1.0);
    }
    let sum = df2 + df1 * f;
    beta_tail(df2 / sum, df1 * f / sum, df2 / 2.0, df1 / 2.0)
}

/// Returns I_x(a, b), with y = 1 - x.
fn beta_tail(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let factor = (a * ln_share(x, y) + b * ln_share(y, x) - ln_beta(a, b)).exp();
    if x <= (a + 1.0) / (a + b + 2.0) {
        factor * fraction(x, a, b) / a
    } else {
        1.0 - factor * fraction(y, b, a) / b
    }
}

/// Returns ln x, given that x + y = 1.
fn ln_share(x: f64, y: f64) -> f64 {
    if x > 0.5 {
        (-y).ln_1p()
    } else {
        x.ln()
    }
}

/// Returns ln B(a, b).
fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if large < LARGE {
        return libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    }
    let rest = stirling(large) - stirling(small + large);
    if small < LARGE {
        // ln Γ(large) - ln Γ(small + large).
        let ratio = small - (large - 0.5) * (small / large).ln_1p() - small * (small + large).ln();
        return libm::lgamma(small) + ratio + rest;
    }
    let of_large = -(large - 0.5) * (small / large).ln_1p();
    let of_small = small * (small / (small + large)).ln() - 0.5 * small.ln();
    of_large + of_small + 0.5 * (2.0 * PI).ln() + stirling(small) + rest
}

/// Returns ln Γ(z) minus Stirling's formula, for large z.
fn stirling(z: f64) -> f64 {
    let square = 1.0 / (z * z);
    (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)))) / z
}

/// Evaluates the continued fraction by the method of W. J. Lentz (1976).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // A multiple of the square root of the larger parameter, which is at most MANY, is enough.
    for m in 1..200_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
#[allow(clippy::excessive_precision)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64, tolerance: f64) {
        assert!((found - wanted).abs() <= tolerance * wanted.abs(), "{found:e}, wanted {wanted:e}");
    }

    /// Compares with R 4.2.2, `print(2 * pt(-t, df), digits = 17)`.
    #[test]
    fn t_is_that_of_r() {
        T_VALUES.iter().for_each(|&(t, df, wanted)| near(t_two_sided(t, df), wanted, 1e-10));
        assert_eq!(t_two_sided(0.0, 3.0), 1.0);
        assert_eq!(t_two_sided(f64::INFINITY, 3.0), 0.0);
        assert!(t_two_sided(1.0, f64::NAN).is_nan() && t_two_sided(1.0, 0.0).is_nan());
    }

    /// Compares with R 4.2.2, `print(pf(f, df1, df2, lower.tail = FALSE), digits = 17)`.
    #[test]
    fn f_is_that_of_r() {
        F_VALUES.iter().for_each(|&(f, df1, df2, wanted)| near(f_upper(f, df1, df2), wanted, 1e-10));
        assert_eq!(f_upper(-1.0, 2.0, 3.0), 1.0);
        assert!(f_upper(f64::NAN, 2.0, 3.0).is_nan());
    }

    #[test]
    fn statrs_says_the_same_to_the_digits_that_it_has() {
        for (x, a, b) in [(0.3, 2.5, 0.5), (0.9, 30.0, 4.0), (0.02, 1.0, 7.0), (0.7, 200.0, 90.0)] {
            near(beta_tail(x, 1.0 - x, a, b), statrs::function::beta::beta_reg(a, b, x), 1e-10);
        }
    }

    const T_VALUES: [(f64, f64, f64); 16] = [
        (3.09999999999999998e-01, 1.00000000000000000e+00, 8.08628486765206045e-01),
        (4.70000000000000018e+00, 1.00000000000000000e+00, 1.33460870959615951e-01),
        (3.09999999999999998e-01, 2.50000000000000000e+00, 7.80554394639451865e-01),
        (4.70000000000000018e+00, 2.50000000000000000e+00, 2.70572643685076490e-02),
        (3.09999999999999998e-01, 1.73000000000000007e+01, 7.60264154492088062e-01),
        (4.70000000000000018e+00, 1.73000000000000007e+01, 1.97242452953419624e-04),
        (3.09999999999999998e-01, 4.32100000000000000e+03, 7.56575905842875818e-01),
        (4.70000000000000018e+00, 4.32100000000000000e+03, 2.68257255388928360e-06),
        (3.09999999999999998e-01, 3.99999000000000000e+05, 7.56561117853177589e-01),
        (4.70000000000000018e+00, 3.99999000000000000e+05, 2.60247911297550381e-06),
        (3.09999999999999998e-01, 5.00000000000000000e+06, 7.56560969275710482e-01),
        (4.70000000000000018e+00, 5.00000000000000000e+06, 2.60168403580707312e-06),
        (3.09999999999999998e-01, 1.00000000000000000e+09, 7.56560956420559760e-01),
        (4.70000000000000018e+00, 1.00000000000000000e+09, 2.60161525347084313e-06),
        (3.09999999999999998e-01, f64::INFINITY, 7.56560956355961434e-01),
        (4.70000000000000018e+00, f64::INFINITY, 2.60161490783456227e-06),
    ];

    const F_VALUES: [(f64, f64, f64, f64); 36] = [
        (9.00000000000000022e-01, 1.00000000000000000e+00, 2.50000000000000000e+00, 4.25203181694348675e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, 2.50000000000000000e+00, 1.84973064341685589e-01),
        (9.00000000000000022e-01, 1.00000000000000000e+00, 4.07000000000000028e+01, 3.48381053403762242e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, 4.07000000000000028e+01, 7.66495630588772264e-02),
        (9.00000000000000022e-01, 1.00000000000000000e+00, 3.00000000000000000e+03, 3.42858123977677010e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, 3.00000000000000000e+03, 6.93796337597390594e-02),
        (9.00000000000000022e-01, 1.00000000000000000e+00, 5.00000000000000000e+05, 3.42782169661483560e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, 5.00000000000000000e+05, 6.92804817012794005e-02),
        (9.00000000000000022e-01, 1.00000000000000000e+00, 1.00000000000000000e+09, 3.42781711377167508e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, 1.00000000000000000e+09, 6.92798835204420926e-02),
        (9.00000000000000022e-01, 1.00000000000000000e+00, f64::INFINITY, 3.42781711147911450e-01),
        (3.29999999999999982e+00, 1.00000000000000000e+00, f64::INFINITY, 6.92798832212018906e-02),
        (9.00000000000000022e-01, 4.00000000000000000e+00, 2.50000000000000000e+00, 5.69821389397554334e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, 2.50000000000000000e+00, 2.06303532608480333e-01),
        (9.00000000000000022e-01, 4.00000000000000000e+00, 4.07000000000000028e+01, 4.72918442121395333e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, 4.07000000000000028e+01, 1.96962134506601313e-02),
        (9.00000000000000022e-01, 4.00000000000000000e+00, 3.00000000000000000e+03, 4.62979618214707567e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, 3.00000000000000000e+03, 1.04496606675293958e-02),
        (9.00000000000000022e-01, 4.00000000000000000e+00, 5.00000000000000000e+05, 4.62837743926743483e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, 5.00000000000000000e+05, 1.03394607798292012e-02),
        (9.00000000000000022e-01, 4.00000000000000000e+00, 1.00000000000000000e+09, 4.62836887448897727e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, 1.00000000000000000e+09, 1.03387974172067763e-02),
        (9.00000000000000022e-01, 4.00000000000000000e+00, f64::INFINITY, 4.62836887020442345e-01),
        (3.29999999999999982e+00, 4.00000000000000000e+00, f64::INFINITY, 1.03387970853639922e-02),
        (9.00000000000000022e-01, 7.20000000000000000e+01, 2.50000000000000000e+00, 6.55985606092083229e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, 2.50000000000000000e+00, 2.13272198873673907e-01),
        (9.00000000000000022e-01, 7.20000000000000000e+01, 4.07000000000000028e+01, 6.57505956531140745e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, 4.07000000000000028e+01, 3.97009110127262581e-05),
        (9.00000000000000022e-01, 7.20000000000000000e+01, 3.00000000000000000e+03, 7.12347861124573933e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, 3.00000000000000000e+03, 1.32792029968701099e-18),
        (9.00000000000000022e-01, 7.20000000000000000e+01, 5.00000000000000000e+05, 7.14016054579666992e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, 5.00000000000000000e+05, 1.46476250778580908e-19),
        (9.00000000000000022e-01, 7.20000000000000000e+01, 1.00000000000000000e+09, 7.14026287252212288e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, 1.00000000000000000e+09, 1.44425358605004418e-19),
        (9.00000000000000022e-01, 7.20000000000000000e+01, f64::INFINITY, 7.14026292371621185e-01),
        (3.29999999999999982e+00, 7.20000000000000000e+01, f64::INFINITY, 1.44424339496940628e-19),
    ];
}
