//! p as a function of |r| over the range in which a pair separates, as piecewise polynomials.
//!
//! Every pair that a search removes needs its p-value. On expression data these are nearly all of millions of pairs. A logarithm and an
//! error function for each would take a tenth of a search. Sample size and level fix the function, so it is tabulated once; each value then
//! costs six multiplications.

/// Number of pieces, of equal width.
const PIECES: usize = 256;

/// Number of nodes per piece; its polynomial has one degree less.
const NODES: usize = 6;

/// The largest relative error allowed for a curve; pcalg's own formulae round at about 1e-15.
const TOLERANCE: f64 = 1e-12;

/// An interpolation of p over [0, end].
#[derive(Clone, Debug)]
pub struct PCurve {
    end: f64,
    pieces_per_unit: f64,
    nodes: [f64; NODES],
    /// Newton's divided differences over the nodes, piece by piece.
    differences: Vec<[f64; NODES]>,
}

/// Returns Chebyshev's points in [0, 1].
fn nodes() -> [f64; NODES] {
    std::array::from_fn(|i| 0.5 - 0.5 * (std::f64::consts::PI * (2 * i + 1) as f64 / (2 * NODES) as f64).cos())
}

impl PCurve {
    /// Tabulates `p` over [0, end]. Returns `None` if it bends too much for the tolerance (very few samples, a tiny alpha).
    pub fn new(end: f64, p: impl Fn(f64) -> f64) -> Option<Self> {
        let nodes = nodes();
        let width = end / PIECES as f64;
        let mut curve =
            PCurve { end, pieces_per_unit: PIECES as f64 / end, nodes, differences: Vec::with_capacity(PIECES) };
        for piece in 0..PIECES {
            let mut d = nodes.map(|u| p((piece as f64 + u) * width));
            for order in 1..NODES {
                for i in (order..NODES).rev() {
                    d[i] = (d[i] - d[i - 1]) / (nodes[i] - nodes[i - order]);
                }
            }
            curve.differences.push(d);
        }
        // The error is largest at the ends of a piece and between its nodes.
        for piece in 0..PIECES {
            for u in [0.0, 0.15, 0.5, 0.85, 1.0 - 1e-9] {
                let r = (piece as f64 + u) * width;
                let exact = p(r);
                if !((curve.at(r)? - exact).abs() <= TOLERANCE * exact) {
                    return None;
                }
            }
        }
        Some(curve)
    }

    /// Returns p at r, or `None` outside [0, end).
    #[inline]
    pub fn at(&self, r: f64) -> Option<f64> {
        if !(r >= 0.0 && r < self.end) {
            return None;
        }
        let place = r * self.pieces_per_unit;
        let piece = (place as usize).min(PIECES - 1);
        let u = place - piece as f64;
        let d = &self.differences[piece];
        let mut value = d[NODES - 1];
        for i in (0..NODES - 1).rev() {
            value = value * (u - self.nodes[i]) + d[i];
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::gauss::{Gauss, Reading};
    use crate::matrix::by_column;

    #[test]
    fn curves_agree_with_the_formula_wherever_they_are_given() {
        let mut given = 0;
        for (n, alpha) in [(47.0, 0.01), (160.0, 0.01), (10_000.0, 0.05), (20.0, 1e-6), (6.0, 0.01), (300.0, 1e-60)] {
            let c = [1.0];
            let gauss = Gauss::new(by_column(&c, 1).unwrap(), n, Reading::GaussCItest).unwrap();
            let end = gauss.cutoff(alpha, 1).dependent_above.sqrt().min(1.0);
            let Some(curve) = PCurve::new(end, |r| gauss.p_of_correlation(r, 1)) else { continue };
            given += 1;
            for i in 0..100_000 {
                let r = end * (i as f64 + 0.37) / 100_000.0;
                let (quick, exact) = (curve.at(r).unwrap(), gauss.p_of_correlation(r, 1));
                assert!((quick / exact - 1.0).abs() < 1e-11, "n = {n}, r = {r}: {quick:e}, {exact:e}");
            }
            assert_eq!((curve.at(end), curve.at(f64::NAN), curve.at(-0.1)), (None, None, None));
        }
        assert!(given >= 3);
    }
}
