//! The criteria, each with its name and formula.

use super::CountLogs;

/// The score of a candidate f, given the selected features S and the class y. Before anything is selected, all but the last are I(f; y).
///
/// All but the last two belong to the family of Brown et al. (2012, "Conditional likelihood maximisation: a unifying framework for information
/// theoretic feature selection", Journal of Machine Learning Research 13, section 4 and table 1), whose symbols these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Mutual information maximisation (Lewis 1992): I(f; y).
    Mim,
    /// The linear criteria: I(f; y) - β Σ I(f; s) + γ Σ I(f; s | y). Mutual information feature selection (MIFS, Battiti 1994) has γ = 0,
    /// conditional infomax feature extraction (CIFE, Lin and Tang 2006) β = γ = 1, and conditional redundancy (CONDRED) β = 0, γ = 1.
    Betagamma {
        /// β in units of 1 / [`Criterion::ONE`].
        beta: i64,
        /// γ in units of 1 / [`Criterion::ONE`].
        gamma: i64,
    },
    /// Minimum redundancy, maximum relevance (Peng et al. 2005): I(f; y) - 1/|S| Σ I(f; s).
    Mrmr,
    /// Joint mutual information (Yang and Moody 1999): I(f; y) - 1/|S| Σ (I(f; s) - I(f; s | y)). It orders the candidates as Σ I(f, s; y)
    /// does, which is |S| times this plus Σ I(s; y).
    Jmi,
    /// Conditional mutual information maximisation (Fleuret 2004): min I(f; y | s).
    Cmim,
    /// Double input symmetrical relevance (Meyer and Bontempi 2006): Σ I(f, s; y) / H(f, s, y).
    Disr,
    /// Interaction capping (Jakulin 2005): I(f; y) - Σ max(0, I(f; s) - I(f; s | y)).
    Icap,
    /// Conditional mutual information: I(f; y | S), with all of S as one variable (Brown et al. 2012, section 3). After a few features
    /// there are too few samples to estimate it; the remaining features then have scores of 0.
    Cmi,
    /// Fast correlation-based filter (Yu and Liu 2004): SU(f; y) = 2 I(f; y) / (H(f) + H(y)), or SU(f; y) - 1 - 2^-60 if SU(f; s) ≥ SU(f; y)
    /// for an s whose own score is at least 0. The filter selects the features with scores of at least 0 and leaves out the others.
    Fcbf,
}

impl Criterion {
    /// A weight of 1.
    pub const ONE: i64 = 1 << WEIGHT_BITS;

    /// Largest weight. Weighted sums over 2^24 selected features stay within 126 bits.
    pub const MOST_WEIGHT: f64 = 100.0;

    /// All criteria, the linear ones with several weights.
    pub const ALL: [Criterion; 12] = [
        Criterion::Jmi,
        Criterion::Mim,
        Criterion::Betagamma { beta: Criterion::ONE, gamma: 0 },
        Criterion::Betagamma { beta: Criterion::ONE, gamma: Criterion::ONE },
        Criterion::Betagamma { beta: 0, gamma: Criterion::ONE },
        Criterion::Betagamma { beta: 3 * Criterion::ONE / 10, gamma: 100 * Criterion::ONE },
        Criterion::Mrmr,
        Criterion::Cmim,
        Criterion::Disr,
        Criterion::Icap,
        Criterion::Cmi,
        Criterion::Fcbf,
    ];

    /// Returns the criterion with this name. `weights` are β and γ, from 0 to [`Criterion::MOST_WEIGHT`], if they are not in its definition.
    pub fn from_name(name: &str, weights: [f64; 2]) -> Option<Self> {
        if weights.iter().any(|weight| !(0.0..=Criterion::MOST_WEIGHT).contains(weight)) {
            return None;
        }
        let [beta, gamma] = weights.map(|weight| libm::round(weight * Criterion::ONE as f64) as i64);
        Some(match name {
            "MIM" => Criterion::Mim,
            "MIFS" => Criterion::Betagamma { beta, gamma: 0 },
            "CIFE" => Criterion::Betagamma { beta: Criterion::ONE, gamma: Criterion::ONE },
            "CONDRED" => Criterion::Betagamma { beta: 0, gamma: Criterion::ONE },
            "Betagamma" => Criterion::Betagamma { beta, gamma },
            "mRMR" => Criterion::Mrmr,
            "JMI" => Criterion::Jmi,
            "CMIM" => Criterion::Cmim,
            "DISR" => Criterion::Disr,
            "ICAP" => Criterion::Icap,
            "CMI" => Criterion::Cmi,
            "FCBF" => Criterion::Fcbf,
            _ => return None,
        })
    }

    /// Returns a name and weights from which [`Criterion::from_name`] makes the criterion.
    pub fn name(self) -> (&'static str, [f64; 2]) {
        let name = match self {
            Criterion::Mim => "MIM",
            Criterion::Betagamma { beta, gamma } => {
                return ("Betagamma", [beta, gamma].map(|weight| weight as f64 / Criterion::ONE as f64));
            }
            Criterion::Mrmr => "mRMR",
            Criterion::Jmi => "JMI",
            Criterion::Cmim => "CMIM",
            Criterion::Disr => "DISR",
            Criterion::Icap => "ICAP",
            Criterion::Cmi => "CMI",
            Criterion::Fcbf => "FCBF",
        };
        (name, [0.0; 2])
    }
}

/// n times the information of a pair of a candidate f and a selected feature s, in fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// I(f; y).
    pub relevance: i64,
    /// I(s; y).
    pub selected: i64,
    /// I(f; s).
    pub redundancy: i64,
    /// I(f; s | y).
    pub conditional: i64,
    /// I(f, s; y).
    pub joint: i64,
    /// H(f, s, y).
    pub entropy: i64,
    /// H(f) + H(s).
    pub entropies: i64,
}

/// Number of fraction bits of a weight.
const WEIGHT_BITS: u32 = 32;

/// Number of fraction bits of a share.
const SHARE_BITS: u32 = 60;

/// Returns a share in fixed point.
fn share(part: i64, whole: i64) -> i128 {
    (i128::from(part) << SHARE_BITS) / i128::from(whole.max(1))
}

impl Criterion {
    /// Returns whether further counts are needed once a feature is selected.
    pub(crate) fn looks_at_pairs(self) -> bool {
        self != Criterion::Mim
    }

    /// Returns the key before anything is selected, from n I(f; y) and n (H(f) + H(y)).
    pub(super) fn first(self, relevance: i64, entropies: i64) -> i128 {
        match self {
            Criterion::Fcbf => share(2 * relevance, entropies),
            _ => i128::from(relevance),
        }
    }

    /// Returns the key to which the first pair is added, from the key before anything was selected.
    pub(super) fn start(self, first: i128) -> i128 {
        match self {
            Criterion::Mrmr | Criterion::Jmi | Criterion::Disr => 0,
            Criterion::Cmim => i128::MAX,
            Criterion::Betagamma { .. } => first << WEIGHT_BITS,
            _ => first,
        }
    }

    /// Adds each candidate's pair to its key, a whole number that is proportional to the score (see [`Criterion::score`]). A mean is kept as its
    /// sum, so equal scores stay equal.
    pub(super) fn add(self, keys: &mut [i128], pairs: impl Iterator<Item = Pair>) {
        // One loop for each criterion computes only what it needs.
        fn each(keys: &mut [i128], pairs: impl Iterator<Item = Pair>, add: impl Fn(i128, Pair) -> i128) {
            keys.iter_mut().zip(pairs).for_each(|(key, pair)| *key = add(*key, pair));
        }
        match self {
            Criterion::Mim | Criterion::Cmi => {}
            Criterion::Betagamma { beta, gamma } => each(keys, pairs, |key, pair| {
                let weighted = |weight: i64, information: i64| i128::from(weight) * i128::from(information);
                key - weighted(beta, pair.redundancy) + weighted(gamma, pair.conditional)
            }),
            Criterion::Mrmr => each(keys, pairs, |key, pair| key + i128::from(pair.relevance - pair.redundancy)),
            // I(f; y) - I(f; s) + I(f; s | y) = I(f, s; y) - I(s; y).
            Criterion::Jmi => each(keys, pairs, |key, pair| key + i128::from(pair.joint - pair.selected)),
            Criterion::Icap => each(keys, pairs, |key, pair| key - i128::from(pair.loss().max(0))),
            Criterion::Cmim => each(keys, pairs, |key, pair| key.min(i128::from(pair.relevance - pair.loss()))),
            // y has at least two classes, so (f, s, y) has some entropy.
            Criterion::Disr => each(keys, pairs, |key, pair| key + share(pair.joint, pair.entropy)),
            // Keys below 0 are those of features that were left out, and what is selected then leaves out no others.
            Criterion::Fcbf => each(keys, pairs, |key, pair| {
                let is_redundant = key >= 0 && share(2 * pair.redundancy, pair.entropies) >= key;
                key - if is_redundant { (1 << SHARE_BITS) + 1 } else { 0 }
            }),
        }
    }

    /// Returns the score for a key if `selected` features are selected: in bits, or a share.
    pub(super) fn score(self, key: i128, selected: usize, logs: &CountLogs) -> f64 {
        let of_shares = || libm::scalbn(key as f64, -(SHARE_BITS as i32));
        match self {
            Criterion::Fcbf => of_shares(),
            Criterion::Disr if selected > 0 => of_shares(),
            Criterion::Betagamma { .. } if selected > 0 => libm::scalbn(logs.bits(key, 1), -(WEIGHT_BITS as i32)),
            Criterion::Mrmr | Criterion::Jmi => logs.bits(key, selected.max(1)),
            _ => logs.bits(key, 1),
        }
    }
}

impl Pair {
    /// Returns I(f; s) - I(f; s | y).
    #[inline]
    fn loss(&self) -> i64 {
        self.redundancy - self.conditional
    }
}
