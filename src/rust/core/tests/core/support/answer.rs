//! Whole answers of searches, compared field by field.

use std::fmt::Write;

use pcgpu_core::graph::Adjacency;
use pcgpu_core::observer::Observer;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options, PairValues, Skeleton};
use pcgpu_core::Result;

/// Returns the separating sets of all pairs, by row.
pub fn sets(skeleton: &Skeleton) -> Vec<(usize, u32, Vec<u32>)> {
    let rows = 0..skeleton.graph.p();
    rows.flat_map(|x| skeleton.sepsets.row(x).map(move |(y, s)| (x, y, s.to_vec())).collect::<Vec<_>>()).collect()
}

/// Everything that a search returns.
#[derive(Clone, Debug)]
pub struct Answer {
    pub graph: Adjacency,
    pub tests: Vec<u64>,
    pub max_order: i32,
    pub sets: Vec<(usize, u32, Vec<u32>)>,
    /// Column by column; `None` for pairs without a value in a compact result.
    pub p_max: Vec<Option<f64>>,
}

/// How closely p-values must agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Digits {
    All,
    /// A relative difference of at most 1e-9, for values down to 1e-300: the promise of engines with another log and exp.
    Nine,
    /// A relative difference of at most 1e-6, for tests given near copies with a million samples: z has 1000 times the rounding error of r.
    Six,
}

fn close(a: f64, b: f64, digits: Digits) -> bool {
    match digits {
        Digits::All => a.to_bits() == b.to_bits(),
        Digits::Nine | Digits::Six => {
            let share = if digits == Digits::Nine { 1e-9 } else { 1e-6 };
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= share * b.abs() || (a < 1e-300 && b < 1e-300)
        }
    }
}

impl Answer {
    pub fn new(found: &Skeleton, p_max: Vec<Option<f64>>) -> Self {
        let (graph, tests, max_order) = (found.graph.clone(), found.tests.clone(), found.max_order);
        Answer { graph, tests, max_order, sets: sets(found), p_max }
    }

    /// Returns this answer as a compact result keeps it: p-values only of the pairs that level 0 leaves, each pair once.
    pub fn left(&self) -> Self {
        let p = self.graph.p();
        let mut kept = self.graph.clone();
        self.sets.iter().filter(|(_, _, set)| !set.is_empty()).for_each(|&(x, y, _)| kept.insert(x, y as usize));
        let keep = |(at, value): (usize, &Option<f64>)| value.filter(|_| at % p < at / p && kept.has(at % p, at / p));
        Answer { p_max: self.p_max.iter().enumerate().map(keep).collect(), ..self.clone() }
    }

    /// Describes the first difference from another answer, or returns `None` if they agree.
    pub fn difference(&self, wanted: &Answer, digits: Digits) -> Option<String> {
        let p = wanted.graph.p();
        if self.graph != wanted.graph {
            let mut pairs = (0..p).flat_map(|x| (0..p).map(move |y| (x, y)));
            let (x, y) = pairs.find(|&(x, y)| self.graph.has(x, y) != wanted.graph.has(x, y))?;
            let edge = |graph: &Adjacency| if graph.has(x, y) { "an edge" } else { "no edge" };
            return Some(format!("{} at [{x}, {y}], not {}", edge(&self.graph), edge(&wanted.graph)));
        }
        if (&self.tests, self.max_order) != (&wanted.tests, wanted.max_order) {
            let [found, wanted] = [self, wanted].map(|one| format!("{:?} (max.ord {})", one.tests, one.max_order));
            return Some(format!("counts {found}, not {wanted}"));
        }
        if self.sets != wanted.sets {
            let at = self.sets.iter().zip(&wanted.sets).take_while(|(a, b)| a == b).count();
            let [found, wanted] = [self, wanted].map(|one| format!("{:?}", one.sets.get(at)));
            return Some(format!("separating set {found}, not {wanted}"));
        }
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => close(a, b, digits),
            (a, b) => a.is_none() && b.is_none(),
        };
        let at = self.p_max.iter().zip(&wanted.p_max).position(|(&a, &b)| !same(a, b))?;
        let mut text = format!("pMax[{}, {}] is ", at % p, at / p);
        for value in [self.p_max[at], wanted.p_max[at]] {
            match value {
                Some(value) => write!(text, "{value:e} ({:x}), not ", value.to_bits()).ok()?,
                None => text.push_str("not kept, not "),
            }
        }
        Some(text.trim_end_matches(", not ").into())
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.difference(other, Digits::All).is_none()
    }
}

/// Runs a search. The answer has the p-values of all pairs or, if `compact`, of the pairs that level 0 leaves.
pub fn searched(
    worker: &mut dyn Worker,
    options: &Options,
    compact: bool,
    observer: &mut dyn Observer,
) -> Result<Answer> {
    let p = options.p;
    if compact {
        let mut left = PairValues::default();
        let found = skeleton(worker, options, &mut left, observer)?;
        let value = |at: usize| left.get(at % p, at / p).filter(|_| at % p < at / p);
        return Ok(Answer::new(&found, (0..p * p).map(value).collect()));
    }
    // An arbitrary value, so that cells that are never written show.
    let mut p_max = vec![0.25; p * p];
    let found = skeleton(worker, options, &mut p_max, observer)?;
    Ok(Answer::new(&found, p_max.into_iter().map(Some).collect()))
}
