//! Causal effects that a CPDAG, or a PDAG with background knowledge, and the covariances of linear Gaussian data allow: IDA.
//!
//! A graph that stands for several DAGs gives several possible effects of x on y, one for each way to direct the edges at x. Let S be a set
//! of parents that x may have. The effect is then the coefficient of x in the regression of y on x and S, or 0 if y is in S (Maathuis,
//! Kalisch and Buehlmann 2009).
//!
//! Answers are those of pcalg 2.7-12. [`Plan`] gives those of `ida()` and `idaFast()`. [`Together`] gives those of `jointIda()` (Nandy,
//! Maathuis and Richardson 2017) and, with [`Method::Optimal`], those of `ida()` for several x.
//!
//! * `validity`: whether the graph is of the claimed kind.
//! * `parents`: sets of parents, by the local criterion and by Meek's rules (Perkovic, Kalisch and Maathuis 2017). `extensions`: all DAGs.
//! * `regression`: small systems. `optimal`: optimal adjustment sets (Henckel, Perkovic and Maathuis 2022; Witte, Henckel, Maathuis and
//!   Didelez 2020). `joint`: several x at once.
//! * `table`: a summary of each pair.
//!
//! For one x and S, the effects on all y are one product of |S| + 1 weights with as many columns of the covariances. All pairs take x S p
//! multiply-adds, and no search for pairs could do with fewer.
//!
//! # References
//! * M. H. Maathuis, M. Kalisch, P. Buehlmann (2009). Estimating high-dimensional intervention effects from observational data. *Annals of
//!   Statistics* 37, 3133-3164.
//! * P. Nandy, M. H. Maathuis, T. S. Richardson (2017). Estimating the effect of joint interventions from observational data in sparse
//!   high-dimensional settings. *Annals of Statistics* 45, 647-674.
//! * E. Perkovic, M. Kalisch, M. H. Maathuis (2017). Interpreting and using CPDAGs with background knowledge. *UAI*.
//! * J. Witte, L. Henckel, M. H. Maathuis, V. Didelez (2020). On efficient adjustment in causal graphs. *JMLR* 21(246).
//! * L. Henckel, E. Perkovic, M. H. Maathuis (2022). Graphical criteria for efficient total effect estimation via adjustment in causal linear
//!   models. *JRSS B* 84, 579-599.
//! * C. Meek (1995). Causal inference and causal explanation with background knowledge. *UAI*.

mod extensions;
mod joint;
mod optimal;
mod parents;
mod plan;
mod regression;
mod table;
mod together;
mod validity;

pub use plan::{Own, Plan};
pub use table::{describe, Pairs, Words};
pub use together::{Technique, Together};

/// The way to find the possible effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Sets of parents, from the neighbourhood of x.
    Local,
    /// The optimal adjustment set of each way to direct the edges at x.
    Optimal,
    /// The parents in each DAG.
    Global,
}

/// Kind of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A CPDAG.
    Cpdag,
    /// A maximally oriented PDAG: a CPDAG with background knowledge.
    Pdag,
}

/// A question about a graph.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The way to find the effects.
    pub method: Method,
    /// The kind that the graph is claimed to be.
    pub kind: Kind,
    /// The variables that are intervened on.
    pub x: Vec<u32>,
    /// The variables whose response is asked for.
    pub y: Vec<u32>,
    /// pcalg's `y.notparent`: y is taken not to be a neighbour of x. Only with [`Method::Local`].
    pub y_not_parent: bool,
}
