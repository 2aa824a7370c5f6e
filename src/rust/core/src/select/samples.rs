//! The data of a selection.

use crate::ci::discrete::Coded;
use crate::{Error, Result};

/// n samples of p discrete features and of a class.
#[derive(Clone, Debug)]
pub struct Samples {
    coded: Coded,
}

impl Samples {
    /// Takes p + 1 variables without missing values, the class last.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is no feature, a value is missing, the class has one level, or a level of its own for
    /// every sample: any two samples then differ in their class, and what is selected is what differs most.
    pub fn new(coded: Coded) -> Result<Self> {
        let refuse = |argument, value: String, mend: &str| Err(Error::Argument { argument, value, mend: mend.into() });
        if coded.p() < 2 {
            return refuse("x", "without a column".into(), "give at least one feature");
        }
        if coded.any_missing() {
            return refuse("x", "incomplete".into(), "drop the rows with missing values, or fill the values in");
        }
        let samples = Samples { coded };
        if samples.classes() < 2 {
            return refuse("y", "of one class".into(), "give at least two classes: nothing tells one from itself");
        }
        if samples.classes() >= samples.n() {
            return refuse(
                "y",
                format!("of {} classes", samples.classes()),
                "that is one for each row, from which nothing can be learnt: give fewer, or cut() the numbers into some",
            );
        }
        Ok(samples)
    }

    /// Number of samples.
    pub fn n(&self) -> usize {
        self.coded.n()
    }

    /// Number of features.
    pub fn p(&self) -> usize {
        self.coded.p() - 1
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.coded.levels(self.p())
    }

    /// Which variable the class is.
    pub fn class(&self) -> usize {
        self.p()
    }

    /// The variables: the features, then the class.
    pub fn coded(&self) -> &Coded {
        &self.coded
    }
}
