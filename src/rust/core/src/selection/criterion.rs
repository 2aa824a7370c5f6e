//! The criteria, each with its name and formula.

/// The score of a candidate f, given the selected features S and the class y. Before anything is selected, each is I(f; y).
///
/// All but the last belong to the family of Brown et al. (2012, "Conditional likelihood maximisation: a unifying framework for information
/// theoretic feature selection", Journal of Machine Learning Research 13, section 4 and table 1), whose symbols these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Mutual information maximisation (Lewis 1992): I(f; y).
    Mim,
    /// Mutual information feature selection (Battiti 1994) with β = 1: I(f; y) - Σ I(f; s).
    Mifs,
    /// Minimum redundancy, maximum relevance (Peng et al. 2005): I(f; y) - 1/|S| Σ I(f; s).
    Mrmr,
    /// Joint mutual information (Yang and Moody 1999): I(f; y) - 1/|S| Σ (I(f; s) - I(f; s | y)). It orders the candidates as Σ I(f, s; y)
    /// does, which is |S| times this plus Σ I(s; y).
    Jmi,
    /// Conditional mutual information maximisation (Fleuret 2004): min I(f; y | s).
    Cmim,
    /// Double input symmetrical relevance (Meyer and Bontempi 2006): Σ I(f, s; y) / H(f, s, y).
    Disr,
    /// Conditional infomax feature extraction (Lin and Tang 2006): I(f; y) - Σ (I(f; s) - I(f; s | y)).
    Cife,
    /// Interaction capping (Jakulin 2005): I(f; y) - Σ max(0, I(f; s) - I(f; s | y)).
    Icap,
    /// Conditional mutual information: I(f; y | S), with all of S as one variable (Brown et al. 2012, section 3). After a few features
    /// there are too few samples to estimate it; the remaining features then have scores of 0.
    Cmi,
}

impl Criterion {
    /// All criteria.
    pub const ALL: [Criterion; 9] = [
        Criterion::Jmi,
        Criterion::Mim,
        Criterion::Mifs,
        Criterion::Mrmr,
        Criterion::Cmim,
        Criterion::Disr,
        Criterion::Cife,
        Criterion::Icap,
        Criterion::Cmi,
    ];

    /// Returns the criterion's name.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Mim => "MIM",
            Criterion::Mifs => "MIFS",
            Criterion::Mrmr => "mRMR",
            Criterion::Jmi => "JMI",
            Criterion::Cmim => "CMIM",
            Criterion::Disr => "DISR",
            Criterion::Cife => "CIFE",
            Criterion::Icap => "ICAP",
            Criterion::Cmi => "CMI",
        }
    }

    /// Returns the criterion with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Criterion::ALL.into_iter().find(|criterion| criterion.name() == name)
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
}

/// Number of fraction bits of a share, as [`Criterion::Disr`] adds them up.
pub(super) const SHARE_BITS: u32 = 60;

impl Criterion {
    /// Returns whether further counts are needed once a feature is selected.
    pub(crate) fn looks_at_pairs(self) -> bool {
        self != Criterion::Mim
    }

    /// Returns the key to which the first pair is added, or `None` if that is n I(f; y).
    pub(super) fn start(self) -> Option<i128> {
        match self {
            Criterion::Mrmr | Criterion::Jmi | Criterion::Disr => Some(0),
            Criterion::Cmim => Some(i128::MAX),
            _ => None,
        }
    }

    /// Adds each candidate's pair to its key. `keys` are n times the score, times [`Criterion::terms`]. A mean is kept as its sum, so equal
    /// scores stay equal.
    pub(super) fn add(self, keys: &mut [i128], pairs: impl Iterator<Item = Pair>) {
        // One loop for each criterion computes only what it needs.
        fn each(keys: &mut [i128], pairs: impl Iterator<Item = Pair>, add: impl Fn(i128, Pair) -> i128) {
            keys.iter_mut().zip(pairs).for_each(|(key, pair)| *key = add(*key, pair));
        }
        match self {
            Criterion::Mim | Criterion::Cmi => {}
            Criterion::Mifs => each(keys, pairs, |key, pair| key - i128::from(pair.redundancy)),
            Criterion::Mrmr => each(keys, pairs, |key, pair| key + i128::from(pair.relevance - pair.redundancy)),
            // I(f; y) - I(f; s) + I(f; s | y) = I(f, s; y) - I(s; y).
            Criterion::Jmi => each(keys, pairs, |key, pair| key + i128::from(pair.joint - pair.selected)),
            Criterion::Cife => each(keys, pairs, |key, pair| key - i128::from(pair.loss())),
            Criterion::Icap => each(keys, pairs, |key, pair| key - i128::from(pair.loss().max(0))),
            Criterion::Cmim => each(keys, pairs, |key, pair| key.min(i128::from(pair.relevance - pair.loss()))),
            // y has at least two classes, so (f, s, y) has some entropy.
            Criterion::Disr => each(keys, pairs, |key, pair| {
                key + (i128::from(pair.joint) << SHARE_BITS) / i128::from(pair.entropy.max(1))
            }),
        }
    }

    /// Returns the factor between a key and n times the score if `selected` features are selected.
    pub(super) fn terms(self, selected: usize) -> usize {
        match self {
            Criterion::Mrmr | Criterion::Jmi => selected.max(1),
            _ => 1,
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
