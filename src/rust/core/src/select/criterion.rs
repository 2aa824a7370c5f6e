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
    /// I(f; s).
    pub redundancy: i128,
    /// I(f; s | y).
    pub conditional: i128,
    /// I(f, s; y).
    pub joint: i128,
    /// H(f, s, y).
    pub entropy: i128,
}

/// Bits after the point of a share, as [`Criterion::Disr`] adds them up.
pub(super) const SHARE_BITS: u32 = 60;

impl Criterion {
    /// Whether anything is counted once something is selected.
    pub(super) fn looks_at_pairs(self) -> bool {
        self != Criterion::Mim
    }

    /// Takes a pair into account: `known` is what the pairs before came to, `None` before the first.
    pub(super) fn add(self, known: Option<i128>, pair: &Pair) -> i128 {
        let before = known.unwrap_or(0);
        let loss = pair.redundancy - pair.conditional;
        match self {
            Criterion::Mim | Criterion::Cmi => before,
            Criterion::Mifs | Criterion::Mrmr => before + pair.redundancy,
            Criterion::Jmi | Criterion::Cife => before + loss,
            Criterion::Icap => before + loss.max(0),
            Criterion::Cmim => known.map_or(loss, |known| known.max(loss)),
            // y has two classes at least, and so (f, s, y) some entropy.
            Criterion::Disr => before + (pair.joint << SHARE_BITS) / pair.entropy.max(1),
        }
    }

    /// The score from n I(f; y) and from what all pairs came to, and how many times too large it is.
    pub(super) fn score(self, relevance: i128, pairs: i128, selected: usize) -> (i128, usize) {
        match self {
            Criterion::Mim | Criterion::Cmi => (relevance, 1),
            Criterion::Mifs | Criterion::Cife | Criterion::Icap | Criterion::Cmim => (relevance - pairs, 1),
            // Multiplied out: what was equal stays equal.
            Criterion::Mrmr | Criterion::Jmi => (relevance * selected as i128 - pairs, selected),
            Criterion::Disr => (pairs, 1),
        }
    }
}
