//! Lower bounds of causal effects, from the graph and the data of each replicate, for a causal stability ranking (D. J. Stekhoven, I.
//! Moraes, G. Sveinbjoernsson, L. Hennig, M. H. Maathuis, P. Buehlmann 2012. Causal stability ranking. *Bioinformatics* 28, 2819-2823).

use std::sync::{Mutex, PoisonError};

use super::drawn::{Drawn, Source};
use super::run::{each, Machine, Replicates};
use crate::effects::{Asked, Plan};
use crate::matrix::{self, by_column};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// Writes the smallest absolute value of the possible effects of each x on each y, for each replicate in turn: a row for each y, a column
/// for each x. It is 0 if there is none, as for a column without variance. The data must be those of the Gaussian test. `standardised`:
/// effects are in standard deviations of the replicate's columns, else in the units of the data.
///
/// # Errors
/// Those of [`run`](super::run) and [`Plan::new`]; [`Error::Argument`] for other data, and if `bounds` has another size.
pub fn lower_bounds(
    of: &Replicates,
    asked: &Asked,
    standardised: bool,
    bounds: &mut [f64],
    (pool, machine): (&Pool, Option<&dyn Machine>),
    observer: &mut dyn Observer,
) -> Result<()> {
    let pairs = asked.x.len() * asked.y.len();
    let refuse = |argument, hint: &str| Error::Argument { argument, value: "unsuitable".into(), hint: hint.into() };
    let Source::Gauss(data) = of.source else {
        return Err(refuse("data", "give continuous data, as effects need them"));
    };
    if bounds.len() != pairs * of.count {
        return Err(refuse("bounds", "give one number for each pair and replicate"));
    }
    let parts: Vec<Mutex<&mut [f64]>> = bounds.chunks_mut(pairs.max(1)).map(Mutex::new).collect();
    each(of, pool, machine, observer, &|found, observer| {
        let Drawn::Gauss { c, p, .. } = found.drawn else { return Ok(()) };
        let lists: Vec<Vec<u32>> = (0..*p).map(|i| found.graph.edges_from(i).map(|(j, _)| j).collect()).collect();
        let plan = Plan::new(&lists, asked.clone(), found.pool, observer)?;
        let mut part = parts[found.place].lock().unwrap_or_else(PoisonError::into_inner);
        if standardised {
            plan.smallest(by_column(c, *p)?, &mut part, found.pool, observer)?;
        } else {
            let spread: Vec<f64> = matrix::columns(data).map(|column| deviation(column, found.rows)).collect();
            let mut covariances = memory::copied(c, Use::Correlations)?;
            for (column, s) in covariances.chunks_exact_mut(*p).zip(&spread) {
                column.iter_mut().zip(&spread).for_each(|(cell, other)| *cell *= s * other);
            }
            plan.smallest(by_column(&covariances, *p)?, &mut part, found.pool, observer)?;
        }
        part.iter_mut().filter(|bound| bound.is_nan()).for_each(|bound| *bound = 0.0);
        Ok(())
    })
}

/// Returns the standard deviation of the column's values in these rows.
fn deviation(column: &[f64], rows: &[u32]) -> f64 {
    let values = || rows.iter().map(|&row| column[row as usize]);
    let n = rows.len() as f64;
    let mean = values().sum::<f64>() / n;
    (values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0)).sqrt()
}
