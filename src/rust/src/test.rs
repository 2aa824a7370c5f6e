//! The test that a search or an orientation asks, as R names it.

use extendr_api::prelude::*;
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::search::worker::Worker;

use crate::discrete::DiscreteTest;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::knn::KnnTest;
use crate::machine::Machine;

/// A test as R names it.
pub enum Test {
    /// The Gaussian test on a correlation matrix, p x p, of n observations.
    Gauss {
        /// The matrix.
        c: Robj,
        /// Number of observations.
        n: f64,
    },
    /// A test of discrete variables.
    Discrete(Box<DiscreteTest>),
    /// The nearest-neighbour test.
    Knn(Box<KnnTest>),
    /// An R function.
    Function(Robj),
}

impl Test {
    /// From `list(kind, ...)`, as R/recognise.R makes it.
    pub fn from_list(test: &List) -> Outcome<Self> {
        match input::text(&input::field(test, "kind")?, "kind")?.as_str() {
            "gauss" => {
                Ok(Test::Gauss { c: input::field(test, "C")?, n: input::number(&input::field(test, "n")?, "n")? })
            }
            "discrete" => Ok(Test::Discrete(Box::new(DiscreteTest::from_list(test)?))),
            "knn" => Ok(Test::Knn(Box::new(KnnTest::from_list(test)?))),
            "function" => match input::function(test, "fun")? {
                Some(fun) => Ok(Test::Function(fun)),
                None => Err(Failure::Input("internal: `fun` is missing".into())),
            },
            other => Err(Failure::Input(format!("internal: there is no test `{other}`"))),
        }
    }

    /// The machine with this test of p variables on it; none for an R function.
    pub fn worker<'a>(
        &'a self,
        p: usize,
        reading: Reading,
        alpha: f64,
        machine: &Machine,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        let columns = |of: &str, columns: usize| match columns == p {
            true => Ok(()),
            false => Err(Failure::Input(format!("internal: `{of}` has {columns} columns for {p} variables"))),
        };
        Ok(match self {
            Test::Gauss { c, n } => Some(machine.gauss(Gauss::new(input::square(c, p, "C")?, *n, reading)?, alpha)?),
            Test::Discrete(test) => {
                columns("dm", test.p())?;
                Some(machine.discrete(test.test(), alpha)?)
            }
            Test::Knn(test) => {
                columns("data", test.p())?;
                Some(machine.knn(test.test())?)
            }
            Test::Function(_) => None,
        })
    }
}
