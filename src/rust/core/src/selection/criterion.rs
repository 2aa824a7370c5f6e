//! The criteria, one name a formula.

/// How a candidate f is scored given the selected features S and the class y. All but the last are members of the family of
/// Brown et al. (2012, "Conditional likelihood maximisation: a unifying framework for information theoretic feature
/// selection", Journal of Machine Learning Research 13, section 4 and table 1), whose symbols these are. Before anything is
/// selected each is I(f; y).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Mutual information maximisation (Lewis 1992): I(f; y).
    Mim,
    /// Mutual information feature selection (Battiti 1994) with β = 1: I(f; y) - Σ I(f; s).
    Mifs,
    /// Minimum redundancy, maximum relevance (Peng et al. 2005): I(f; y) - 1/|S| Σ I(f; s).
    Mrmr,
    /// Joint mutual information (Yang and Moody 1999): I(f; y) - 1/|S| Σ (I(f; s) - I(f; s | y)). It orders the candidates as
    /// Σ I(f, s; y) does, which is |S| times this plus Σ I(s; y).
    Jmi,
    /// Conditional mutual information maximisation (Fleuret 2004): min I(f; y | s).
    Cmim,
    /// Double input symmetrical relevance (Meyer and Bontempi 2006): Σ I(f, s; y) / H(f, s, y).
    Disr,
    /// Conditional infomax feature extraction (Lin and Tang 2006): I(f; y) - Σ (I(f; s) - I(f; s | y)).
    Cife,
    /// Interaction capping (Jakulin 2005): I(f; y) - Σ max(0, I(f; s) - I(f; s | y)).
    Icap,
    /// Conditional mutual information: I(f; y | S), of all of S as one variable (Brown et al. 2012, section 3). Estimates
    /// of it run out of samples after a few features; what is left then has scores of 0.
    Cmi,
}

impl Criterion {
    /// All of them.
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

    /// Its name.
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

    /// The criterion of this name.
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

/// Bits after the point of a share, as [`Criterion::Disr`] adds them up.
pub(super) const SHARE_BITS: u32 = 60;

impl Criterion {
    /// Whether anything is counted once something is selected.
    pub(crate) fn looks_at_pairs(self) -> bool {
        self != Criterion::Mim
    }

    /// What the first pair is added to, where that is not n I(f; y).
    pub(super) fn start(self) -> Option<i128> {
        match self {
            Criterion::Mrmr | Criterion::Jmi | Criterion::Disr => Some(0),
            Criterion::Cmim => Some(i128::MAX),
            _ => None,
        }
    }

    /// Adds its pair to each candidate: `keys` are n times the score, times [`Criterion::terms`]. A mean is kept as its sum:
    /// what is equal stays equal.
    pub(super) fn add(self, keys: &mut [i128], pairs: impl Iterator<Item = Pair>) {
        // One loop a criterion: what it does not ask for is not worked out.
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
            // y has two classes at least, and so (f, s, y) some entropy.
            Criterion::Disr => each(keys, pairs, |key, pair| {
                key + (i128::from(pair.joint) << SHARE_BITS) / i128::from(pair.entropy.max(1))
            }),
        }
    }

    /// The factor between a key and n times the score, with `selected` features selected.
    pub(super) fn terms(self, selected: usize) -> usize {
        match self {
            Criterion::Mrmr | Criterion::Jmi => selected.max(1),
            _ => 1,
        }
    }
}

impl Pair {
    /// I(f; s) - I(f; s | y).
    #[inline]
    fn loss(&self) -> i64 {
        self.redundancy - self.conditional
    }
}
