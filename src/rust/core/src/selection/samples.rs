//! The data of a selection.

use crate::ci::discrete::{Coded, Codes, Lent, Variable};
use crate::{Error, Result};

/// Samples of p discrete features and of a class.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The features that have a code for every sample, then the class.
    coded: Coded,
    sparse: Vec<SparseVariable>,
    /// The place of each feature in `coded` or `sparse`.
    places: Vec<Place>,
}

/// A discrete variable, dense or sparse.
#[derive(Clone, Debug)]
pub enum FeatureColumn {
    /// A code for every sample.
    Dense(Variable),
    /// The samples with another code than the usual one.
    Sparse(SparseVariable),
}

/// A variable with one code in most samples. It takes memory only for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseVariable {
    /// Number of levels.
    pub levels: u32,
    /// The code of the samples that are not in `rows`.
    pub usual: u16,
    /// The listed samples, ascending.
    pub rows: Vec<u32>,
    /// The codes of the listed samples; they may include the usual one.
    pub codes: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Dense(u32),
    Sparse(u32),
}

/// The codes of a variable.
#[derive(Clone, Copy, Debug)]
pub enum FeatureCodes<'a> {
    /// One code for each sample.
    Dense(&'a Codes),
    /// Codes of a [`SparseVariable`].
    Sparse(&'a SparseVariable),
}

impl Samples {
    /// Makes samples from p + 1 variables without missing values, the class last.
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no feature, a value is missing, or the class has one level or as many levels as there are samples.
    /// In the last case any two samples differ in their class, and the features that differ most would be selected.
    pub fn new(coded: Coded) -> Result<Self> {
        let places = (1..coded.p() as u32).map(|at| Place::Dense(at - 1)).collect();
        Samples { coded, sparse: Vec::new(), places }.checked()
    }

    /// Makes n samples from features and a class, without missing values.
    ///
    /// # Errors
    /// Those of [`Samples::new`].
    pub fn of_columns(n: usize, features: Vec<FeatureColumn>, class: Variable) -> Result<Self> {
        Samples::drawn(n, features, class)?.checked()
    }

    /// Makes samples that were drawn from others. They may have a single class, or no more samples than classes.
    pub(super) fn drawn(n: usize, features: Vec<FeatureColumn>, class: Variable) -> Result<Self> {
        let (mut dense, mut sparse, mut places) = (Vec::new(), Vec::new(), Vec::with_capacity(features.len()));
        for feature in features {
            match feature {
                FeatureColumn::Dense(variable) => {
                    places.push(Place::Dense(dense.len() as u32));
                    dense.push(variable);
                }
                FeatureColumn::Sparse(variable) => {
                    places.push(Place::Sparse(sparse.len() as u32));
                    sparse.push(variable);
                }
            }
        }
        dense.push(class);
        Ok(Samples { coded: Coded::of_variables(n, dense)?, sparse, places })
    }

    fn checked(self) -> Result<Self> {
        let refuse = |argument, value: String, hint: &str| Err(Error::Argument { argument, value, hint: hint.into() });
        if self.places.is_empty() {
            return refuse("x", "empty".into(), "give at least one feature");
        }
        if self.coded.any_missing() {
            return refuse("x", "incomplete".into(), "drop the rows with missing values, or impute the values");
        }
        if self.classes() < 2 {
            return refuse("y", "has only one class".into(), "give at least two classes");
        }
        if self.classes() >= self.n() {
            return refuse(
                "y",
                format!("has {} classes", self.classes()),
                "each row has its own class, so that nothing can be learnt; give fewer classes, for example with cut()",
            );
        }
        Ok(self)
    }

    /// Adds space for features of other machines, which arrive once they are selected; see [`Samples::lent`].
    pub fn with_lent(mut self, lent: Lent) -> Self {
        self.coded = self.coded.with_lent(lent);
        self
    }

    /// Returns the variable number of the feature at this place among those of other machines.
    pub fn lent(&self, at: usize) -> usize {
        self.class() + 1 + at
    }

    /// Returns the number of samples.
    pub fn n(&self) -> usize {
        self.coded.n()
    }

    /// Returns the number of features.
    pub fn p(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.coded.levels(self.coded.p() - 1)
    }

    /// Returns the variable number of the class; the features have 0 to p - 1.
    pub fn class(&self) -> usize {
        self.p()
    }

    /// Returns the number of levels of a feature, or of the class.
    #[inline]
    pub fn levels(&self, v: usize) -> usize {
        match self.place(v) {
            Place::Dense(at) => self.coded.levels(at as usize),
            Place::Sparse(at) => self.sparse[at as usize].levels as usize,
        }
    }

    /// Returns the codes of a feature, or of the class.
    #[inline]
    pub fn codes(&self, v: usize) -> FeatureCodes<'_> {
        match self.place(v) {
            Place::Dense(at) => FeatureCodes::Dense(self.coded.codes(at as usize)),
            Place::Sparse(at) => FeatureCodes::Sparse(&self.sparse[at as usize]),
        }
    }

    /// Returns the variables that have a code for every sample, for the counting engine of the discrete tests.
    pub fn coded(&self) -> &Coded {
        &self.coded
    }

    /// Returns the number of a feature, or of the class, among [`Samples::coded`]; `None` if it is sparse.
    #[inline]
    pub fn among_coded(&self, v: usize) -> Option<u32> {
        match self.place(v) {
            Place::Dense(at) => Some(at),
            Place::Sparse(_) => None,
        }
    }

    #[inline]
    fn place(&self, v: usize) -> Place {
        // The class is the last variable in `coded` that belongs to the samples; lent features follow it.
        let after = || Place::Dense((self.coded.p() - 1 + v - self.class()) as u32);
        self.places.get(v).copied().unwrap_or_else(after)
    }
}

impl FeatureCodes<'_> {
    /// Returns a variable with a code for every sample.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn to_variable(&self, levels: u32, n: usize) -> Result<Variable> {
        let codes = match self {
            FeatureCodes::Dense(codes) => (*codes).clone(),
            FeatureCodes::Sparse(_) if levels < 256 => {
                Codes::Bytes(self.to_vec(n).into_iter().map(|code| code as u8).collect())
            }
            FeatureCodes::Sparse(_) => Codes::Words(self.to_vec(n)),
        };
        Variable::complete(levels, codes)
    }

    /// Returns a code for each sample.
    pub fn to_vec(&self, n: usize) -> Vec<u16> {
        match self {
            FeatureCodes::Dense(codes) => (0..n).map(|sample| codes.at(sample) as u16).collect(),
            FeatureCodes::Sparse(variable) => {
                let mut all = vec![variable.usual; n];
                variable.rows.iter().zip(&variable.codes).for_each(|(&row, &code)| all[row as usize] = code);
                all
            }
        }
    }
}
