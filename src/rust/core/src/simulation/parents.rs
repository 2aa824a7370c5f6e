//! The basis of simulated data: the parents of each variable, and the spread of values.

use super::dag::Dag;
use crate::{Error, Result};

/// Arrows by head, and an order in which parents come first.
pub(super) struct Parents<'a> {
    pub dag: &'a Dag,
    start: Vec<usize>,
    pub order: Vec<u32>,
}

impl<'a> Parents<'a> {
    pub fn new(p: usize, dag: &'a Dag) -> Result<Self> {
        let wrong =
            |value: &str, hint: &str| Error::Argument { argument: "dag", value: value.into(), hint: hint.into() };
        let vertices = dag.from.iter().chain(&dag.to);
        let sorted = dag.to.is_sorted() && dag.to.len() == dag.from.len() && dag.to.len() == dag.weight.len();
        if !sorted || vertices.into_iter().any(|&v| v as usize >= p) {
            return Err(wrong("not a list of arrows sorted by head", "give a DAG from random_dag()"));
        }
        let start: Vec<usize> = (0..=p).map(|v| dag.to.partition_point(|&to| (to as usize) < v)).collect();
        let mut left: Vec<usize> = start.windows(2).map(|two| two[1] - two[0]).collect();
        let mut children = vec![Vec::new(); p];
        dag.from.iter().zip(&dag.to).for_each(|(&from, &to)| children[from as usize].push(to));
        let mut order: Vec<u32> = (0..p as u32).filter(|&v| left[v as usize] == 0).collect();
        let mut done = 0;
        while done < order.len() {
            for &v in &children[order[done] as usize] {
                left[v as usize] -= 1;
                if left[v as usize] == 0 {
                    order.push(v);
                }
            }
            done += 1;
        }
        match order.len() == p {
            true => Ok(Parents { dag, start, order }),
            false => Err(wrong("a graph whose arrows form a cycle", "give a DAG")),
        }
    }

    /// Returns the numbers of the arrows into v.
    pub fn of(&self, v: usize) -> std::ops::Range<usize> {
        self.start[v]..self.start[v + 1]
    }

    pub fn parent(&self, arrow: usize) -> usize {
        self.dag.from[arrow] as usize
    }
}

/// Returns the mean and the standard deviation, which is 1 for a constant.
pub(super) fn spread_of(column: &[f64]) -> (f64, f64) {
    let mean = column.iter().sum::<f64>() / column.len() as f64;
    let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / column.len() as f64;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}
