//! Effects of intervening on several variables at once.

use std::sync::Mutex;

use ndarray::ArrayView2;

use super::joint::{mcd, sets_of_cpdag, sets_of_pdag, Joint, Rrc};
use super::optimal::Adjustment;
use super::parents::{orientations, Orientation};
use super::plan::no_pdag;
use super::{validity, Asked, Kind, Method};
use crate::graph::{is_cpdag, Closure, Marks};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// The way to compute joint effects from covariances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// Recursive regressions for causal effects.
    Rrc,
    /// The modified Cholesky decomposition.
    Mcd,
}

enum Sets {
    Parents(Vec<Joint>),
    Ways(Vec<Orientation>),
}

/// The joint sets that the graph allows the variables of [`Asked::x`].
pub struct Together {
    graph: Marks,
    asked: Asked,
    technique: Technique,
    valid: bool,
    sets: Sets,
}

impl Together {
    /// Finds the joint sets. Arguments are those of [`super::Plan::new`], with `x` the variables that are intervened on together.
    /// [`Method::Local`] is pcalg's `jointIda()`, with sets by Meek's rules for [`Kind::Pdag`] and by components for [`Kind::Cpdag`];
    /// [`Method::Optimal`] is its `ida()`.
    ///
    /// # Errors
    /// Returns [`Error::Argument`] in these cases:
    /// - The lists are not a graph.
    /// - The method is [`Method::Global`].
    /// - Meek's rules are needed, but the graph is not a maximally oriented PDAG.
    /// - There are too many sets.
    pub fn new<L: AsRef<[u32]>>(lists: &[L], asked: Asked, technique: Technique) -> Result<Together> {
        let graph = Marks::from_lists("fit", lists)?;
        let p = graph.p();
        if asked.x.is_empty() || asked.x.iter().chain(&asked.y).any(|&v| v as usize >= p) {
            let (value, hint) =
                ("has no vertices, or some that are not in the graph".into(), format!("give vertices from 1 to {p}"));
            return Err(Error::Argument { argument: "x", value, hint });
        }
        let xs: Vec<usize> = asked.x.iter().map(|&x| x as usize).collect();
        let is_pdag = validity::is_pdag(&graph)?;
        let valid = match asked.kind {
            Kind::Cpdag => is_cpdag(&graph, || Ok(()))?,
            Kind::Pdag => is_pdag,
        };
        let to_direct = xs.iter().any(|&x| graph.siblings(x).next().is_some());
        let sets = match (asked.method, asked.kind) {
            (Method::Global, _) => {
                return Err(Error::Argument {
                    argument: "method",
                    value: "\"global\"".into(),
                    hint: "give \"local\" or \"optimal\" for joint interventions".into(),
                })
            }
            (Method::Optimal, _) if !is_pdag => return Err(no_pdag()),
            (Method::Optimal, _) => Sets::Ways(orientations(&mut Closure::new(graph.clone()), &xs, None)?),
            (Method::Local, Kind::Cpdag) => Sets::Parents(sets_of_cpdag(&graph, &xs)?),
            (Method::Local, Kind::Pdag) if to_direct && !is_pdag => return Err(no_pdag()),
            (Method::Local, Kind::Pdag) => Sets::Parents(sets_of_pdag(&graph, &xs)?),
        };
        Ok(Together { graph, asked, technique, valid, sets })
    }

    /// Returns whether the graph is of the claimed kind.
    pub fn is_valid(&self) -> bool {
        self.valid
    }

    /// Returns the number of joint sets.
    pub fn columns(&self) -> usize {
        match &self.sets {
            Sets::Parents(sets) => sets.len(),
            Sets::Ways(ways) => ways.len(),
        }
    }

    /// Writes the effects: for each y in turn, a matrix with a row for each x and a column for each joint set.
    ///
    /// # Errors
    /// [`Error::Argument`] if sizes do not fit. Errors of `observer`.
    pub fn effects(
        &self,
        cov: ArrayView2<f64>,
        values: &mut [f64],
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (rows, columns, p) = (self.asked.x.len(), self.columns(), self.graph.p());
        let size = rows * columns;
        if cov.dim() != (p, p) || values.len() != size * self.asked.y.len() {
            let value = format!("a {} x {} matrix", cov.nrows(), cov.ncols());
            let hint = format!("give a {p} x {p} covariance matrix, and results of the documented sizes");
            return Err(Error::Argument { argument: "mcov", value, hint });
        }
        // By columns: what all y share is computed once for each column.
        let parts: Vec<Mutex<Vec<&mut [f64]>>> = {
            let mut parts: Vec<Vec<&mut [f64]>> = (0..columns).map(|_| Vec::new()).collect();
            for (at, column) in values.chunks_exact_mut(rows).enumerate() {
                parts[at % columns.max(1)].push(column);
            }
            parts.into_iter().map(Mutex::new).collect()
        };
        let total = columns as f64;
        pool.run(
            columns,
            columns * self.asked.y.len() < 1000,
            |_| 1.0,
            &mut |done| {
                observer.look()?;
                observer.progress(0, done, total)
            },
            |closure: &mut Option<Closure>, task, _| {
                if let Ok(mut part) = parts[task].lock() {
                    self.column(task, cov, closure, &mut part);
                }
            },
        )
    }

    fn column(&self, task: usize, cov: ArrayView2<f64>, scratch: &mut Option<Closure>, of_y: &mut [&mut [f64]]) {
        let xs: Vec<usize> = self.asked.x.iter().map(|&x| x as usize).collect();
        let ys = self.asked.y.iter().map(|&y| y as usize);
        match &self.sets {
            Sets::Ways(ways) => {
                let closure = scratch.get_or_insert_with(|| Closure::new(self.graph.clone()));
                let mark = closure.mark();
                for &slot in &ways[task].slots {
                    closure.orient(slot);
                }
                let mut adjustment = Adjustment::new(&closure.graph, &self.asked.x);
                ys.zip(of_y).for_each(|(y, effects)| adjustment.effects(cov, y, effects));
                drop(adjustment);
                closure.back(mark);
            }
            Sets::Parents(sets) => {
                let rrc = Rrc::new(cov, &xs, &sets[task]);
                for (y, effects) in ys.zip(of_y) {
                    match self.technique {
                        _ if xs.contains(&y) => effects.fill(0.0),
                        Technique::Rrc => rrc.effects(y, effects),
                        Technique::Mcd => mcd(cov, &xs, &sets[task], y, effects),
                    }
                }
            }
        }
    }
}
