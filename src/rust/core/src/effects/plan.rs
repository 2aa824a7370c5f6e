//! Effects of single interventions: the sets of every x, then the effects for all pairs.

use std::sync::{Mutex, OnceLock};

use ndarray::ArrayView2;

use super::optimal::Adjustment;
use super::parents::{local, orientations, parents_with, Budget};
use super::regression::weights;
use super::{extensions, validity, Asked, Kind, Method};
use crate::graph::{is_cpdag, Closure, Marks};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{matrix, Error, Result};

/// A set of parents of x.
#[derive(Clone, Debug)]
struct Choice {
    parents: Vec<u32>,
    /// Number of listed DAGs with this set.
    times: usize,
    /// The undirected edges at x in their new direction, for [`Method::Optimal`].
    slots: Vec<usize>,
}

impl Choice {
    fn once(parents: Vec<u32>) -> Self {
        Choice { parents, times: 1, slots: Vec::new() }
    }
}

/// A pair whose effects differ from the row of y in the matrix of x.
#[derive(Clone, Debug)]
pub struct Own {
    /// Index of y in [`Asked::y`].
    pub y: usize,
    /// The sets of parents of x, or `None` if the effect is 0.
    sets: Option<Vec<Vec<u32>>>,
}

impl Own {
    /// Returns the number of effects.
    pub fn count(&self) -> usize {
        self.sets.as_ref().map_or(1, |sets| sets.len().max(1))
    }
}

#[derive(Debug, Default)]
struct OfX {
    choices: Vec<Choice>,
    own: Vec<Own>,
}

impl OfX {
    fn sets(&self) -> usize {
        let beside = self.own.iter().filter_map(|own| own.sets.as_ref()).map(Vec::len).sum::<usize>();
        self.choices.len() + beside
    }

    /// Returns the number of columns: one, of NaN ("not available"), if no set is allowed.
    fn columns(&self) -> usize {
        self.choices.iter().map(|choice| choice.times).sum::<usize>().max(1)
    }
}

/// Working memory that a thread keeps from one x to the next.
#[derive(Default)]
struct Scratch {
    closure: Option<Closure>,
    /// The effects of one x.
    all: Vec<f64>,
}

/// The sets that the graph allows, and so the number of effects. The effects of x on all y are a matrix with a row for each y and a column
/// for each set. Pairs whose effects differ from their row ([`Own`]) are stored separately.
pub struct Plan {
    graph: Marks,
    asked: Asked,
    /// Whether y are all vertices, in order.
    all_y: bool,
    valid: bool,
    of: Vec<OfX>,
}

impl Plan {
    /// Finds the sets. `lists`: for each vertex i the j with i -> j or i - j, sorted, as in pcalg's `as(graph, "matrix")`.
    ///
    /// # Errors
    /// [`Error::Argument`] in these cases: the lists are not a graph; the graph is not a maximally oriented PDAG ([`Method::Optimal`]); no
    /// DAG extends it, or too many do ([`Method::Global`]); an x has more than a million sets, or all have more than four million;
    /// `y_not_parent` is used with another method than local. Errors of `observer`.
    pub fn new<L: AsRef<[u32]>>(lists: &[L], asked: Asked, pool: &Pool, observer: &mut dyn Observer) -> Result<Plan> {
        let graph = Marks::from_lists("fit", lists)?;
        let p = graph.p();
        for (argument, vertices) in [("x", &asked.x), ("y", &asked.y)] {
            if vertices.iter().any(|&v| v as usize >= p) {
                let (value, hint) =
                    ("has a vertex that is not in the graph".into(), format!("give vertices from 1 to {p}"));
                return Err(Error::Argument { argument, value, hint });
            }
        }
        if asked.y_not_parent && asked.method != Method::Local {
            return Err(Error::Argument {
                argument: "y.notparent",
                value: "TRUE".into(),
                hint: "give method = \"local\", the only method that supports it".into(),
            });
        }
        let is_pdag = validity::is_pdag(&graph)?;
        let valid = match asked.kind {
            Kind::Cpdag => is_cpdag(&graph, || Ok(()))?,
            Kind::Pdag => is_pdag,
        };
        let mut plan = Plan { all_y: asked.y.iter().copied().eq(0..p as u32), graph, asked, valid, of: Vec::new() };
        plan.of = match plan.asked.method {
            Method::Global => plan.global(is_pdag)?,
            Method::Optimal if !is_pdag => return Err(no_pdag()),
            _ => plan.by_orientation(is_pdag, pool, observer)?,
        };
        Ok(plan)
    }

    fn global(&self, is_pdag: bool) -> Result<Vec<OfX>> {
        let sets = extensions::parent_sets(&self.graph, is_pdag)?;
        let of = |&x: &u32| {
            let listed = sets[x as usize].iter();
            let choices = listed.map(|(set, times)| Choice { times: *times, ..Choice::once(set.clone()) }).collect();
            OfX { choices, own: Vec::new() }
        };
        Ok(self.asked.x.iter().map(of).collect())
    }

    fn by_orientation(&self, is_pdag: bool, pool: &Pool, observer: &mut dyn Observer) -> Result<Vec<OfX>> {
        let tasks = self.asked.x.len();
        let found: Vec<OnceLock<Result<OfX>>> = (0..tasks).map(|_| OnceLock::new()).collect();
        // If only the neighbours of x count, threads cost more than they save.
        let inline = self.asked.method == Method::Local && self.asked.kind == Kind::Cpdag && self.graph.p() < 1000;
        let place_of_y = self.places();
        let budget = Budget::default();
        pool.run(
            tasks,
            inline,
            |_| 1.0,
            &mut |_| observer.look(),
            |closure: &mut Option<Closure>, task, _| {
                // Once there are too many sets, the search stops.
                let of = budget
                    .count(0)
                    .and_then(|()| self.of_x(self.asked.x[task] as usize, is_pdag, closure, &place_of_y));
                let of = of.and_then(|of| budget.count(of.sets()).map(|()| of));
                // Each task runs once, so the cell is empty.
                let _ = found[task].set(of);
            },
        )?;
        found.into_iter().map(|of| of.into_inner().unwrap_or(Err(Error::Interrupted))).collect()
    }

    /// Returns for each vertex its indices in [`Asked::y`].
    fn places(&self) -> Vec<Vec<u32>> {
        let mut places = vec![Vec::new(); self.graph.p()];
        self.asked.y.iter().enumerate().for_each(|(at, &y)| places[y as usize].push(at as u32));
        places
    }

    fn of_x(&self, x: usize, is_pdag: bool, scratch: &mut Option<Closure>, places: &[Vec<u32>]) -> Result<OfX> {
        let graph = &self.graph;
        if self.asked.method == Method::Optimal {
            let closure = scratch.get_or_insert_with(|| Closure::new(graph.clone()));
            let ways = orientations(closure, &[x], None)?;
            let choices = ways
                .into_iter()
                .map(|way| Choice { slots: way.slots.clone(), ..Choice::once(parents_with(graph, x, &way)) })
                .collect();
            return Ok(OfX { choices, own: Vec::new() });
        }
        let mut sets = |without: Option<usize>| self.sets(x, without, is_pdag, scratch);
        let choices: Vec<Choice> = sets(None)?.into_iter().map(Choice::once).collect();
        let mut own = Vec::new();
        for slot in graph.slots(x) {
            let y = graph.head(slot);
            let sure = graph.is_reversed(slot);
            for &place in &places[y] {
                if self.asked.y_not_parent && graph.is_open(graph.twin(slot)) {
                    own.push(Own { y: place as usize, sets: Some(sets(Some(y))?) });
                } else if sure && !self.asked.y_not_parent && choices.len() != 1 {
                    // pcalg's ida() returns 0 once, its idaFast() once for each set.
                    own.push(Own { y: place as usize, sets: None });
                }
            }
        }
        own.sort_unstable_by_key(|own| own.y);
        Ok(OfX { choices, own })
    }

    /// Returns the sets of parents of x, without the edge to `without`.
    fn sets(
        &self,
        x: usize,
        without: Option<usize>,
        is_pdag: bool,
        scratch: &mut Option<Closure>,
    ) -> Result<Vec<Vec<u32>>> {
        let graph = &self.graph;
        if self.asked.kind == Kind::Cpdag {
            return local(graph, x, without);
        }
        let of = |set: Vec<u32>| set.into_iter().filter(|&v| Some(v as usize) != without).collect::<Vec<u32>>();
        if graph.siblings(x).all(|v| Some(v) == without) {
            return Ok(vec![of(graph.parents(x).map(|v| v as u32).collect())]);
        }
        // Background knowledge can only be added to a valid graph.
        if !is_pdag {
            return Ok(Vec::new());
        }
        let closure = scratch.get_or_insert_with(|| Closure::new(graph.clone()));
        let ways = orientations(closure, &[x], without)?;
        Ok(ways.iter().map(|way| of(parents_with(graph, x, way))).collect())
    }

    /// Returns whether the graph is of the claimed kind.
    pub fn is_valid(&self) -> bool {
        self.valid
    }

    /// Returns for each x the number of columns of its effects.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.of.iter().map(OfX::columns)
    }

    /// Returns for each x the pairs that are stored separately from its matrix, by y.
    pub fn own(&self) -> impl Iterator<Item = &[Own]> {
        self.of.iter().map(|of| &of.own[..])
    }

    /// Writes the effects: to `values` the matrix of each x in turn, by columns; to `own` those that are stored separately, in order.
    /// `cov`: covariances of all vertices.
    ///
    /// # Errors
    /// [`Error::Argument`] if sizes do not fit. Errors of `observer`.
    pub fn effects(
        &self,
        cov: ArrayView2<f64>,
        values: &mut [f64],
        own: &mut [f64],
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let rows = self.asked.y.len();
        let sizes = || self.of.iter().map(|of| of.columns() * rows);
        let own_sizes = || self.of.iter().map(|of| of.own.iter().map(Own::count).sum::<usize>());
        let fits = values.len() == sizes().sum::<usize>() && own.len() == own_sizes().sum::<usize>();
        let cells = self.cells(cov, fits)?;
        let parts: Vec<_> = cut(values, sizes()).into_iter().zip(cut(own, own_sizes())).map(Mutex::new).collect();
        self.each(pool, observer, |task, Scratch { closure, .. }| {
            if let Ok(mut parts) = parts[task].lock() {
                let (values, own) = &mut *parts;
                self.fill(task, cov, cells, closure, values);
                self.fill_own(task, cov, own);
            }
        })
    }

    /// Writes the smallest absolute value of each pair's effects, NaN if one is NaN; a row for each y, a column for each x.
    ///
    /// # Errors
    /// Those of [`Plan::effects`].
    pub fn smallest(
        &self,
        cov: ArrayView2<f64>,
        smallest: &mut [f64],
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let rows = self.asked.y.len();
        let cells = self.cells(cov, smallest.len() == self.of.len() * rows)?;
        let parts: Vec<_> = cut(smallest, self.of.iter().map(|_| rows)).into_iter().map(Mutex::new).collect();
        self.each(pool, observer, |task, Scratch { closure, all }| {
            let of = &self.of[task];
            let Ok(mut part) = parts[task].lock() else { return };
            let mut beside = vec![0.0; of.own.iter().map(Own::count).sum()];
            let size = of.columns() * rows;
            if !memory::grow(all, size, 0.0, Use::Pairs) {
                return;
            }
            let all = &mut all[..size];
            self.fill(task, cov, cells, closure, all);
            self.fill_own(task, cov, &mut beside);
            part.fill(f64::INFINITY);
            for column in all.chunks_exact(rows.max(1)) {
                part.iter_mut().zip(column).for_each(|(least, &effect)| *least = smaller(*least, effect));
            }
            let mut at = 0;
            for own in &of.own {
                let effects = &beside[at..at + own.count()];
                part[own.y] = effects.iter().fold(f64::INFINITY, |least, &effect| smaller(least, effect));
                at += own.count();
            }
        })
    }

    fn cells<'c>(&self, cov: ArrayView2<'c, f64>, fits: bool) -> Result<&'c [f64]> {
        let p = self.graph.p();
        let cells = if cov.dim() == (p, p) && fits { matrix::cells(cov) } else { None };
        cells.ok_or_else(|| Error::Argument {
            argument: "mcov",
            value: format!("a {} x {} matrix", cov.nrows(), cov.ncols()),
            hint: format!("give a {p} x {p} covariance matrix, and results of the documented sizes"),
        })
    }

    fn each(&self, pool: &Pool, observer: &mut dyn Observer, work: impl Fn(usize, &mut Scratch) + Sync) -> Result<()> {
        let total = self.of.len() as f64;
        pool.run(
            self.of.len(),
            self.of.len() * self.asked.y.len() < 10_000 && self.asked.method != Method::Optimal,
            |_| 1.0,
            &mut |done| {
                observer.look()?;
                observer.progress(0, done, total)
            },
            |scratch: &mut Scratch, task, _| work(task, scratch),
        )
    }

    fn fill(
        &self,
        task: usize,
        cov: ArrayView2<f64>,
        cells: &[f64],
        scratch: &mut Option<Closure>,
        values: &mut [f64],
    ) {
        let rows = self.asked.y.len();
        let x = self.asked.x[task];
        let of = &self.of[task];
        if rows == 0 {
            return;
        }
        if of.choices.is_empty() {
            values.fill(f64::NAN);
            return;
        }
        let mut rest = values;
        for choice in &of.choices {
            let (column, more) = std::mem::take(&mut rest).split_at_mut(rows);
            match self.asked.method {
                Method::Optimal => self.adjusted(cov, x, choice, scratch, column),
                _ => self.regressed(cov, cells, x, &choice.parents, column),
            }
            let (copies, later) = more.split_at_mut((choice.times - 1) * rows);
            copies.chunks_exact_mut(rows).for_each(|copy| copy.copy_from_slice(column));
            rest = later;
        }
    }

    /// Writes the effects of x on all y for this set of parents.
    fn regressed(&self, cov: ArrayView2<f64>, cells: &[f64], x: u32, parents: &[u32], column: &mut [f64]) {
        let p = self.graph.p();
        let with: Vec<u32> = std::iter::once(x).chain(parents.iter().copied()).collect();
        match weights(cov, &with, 0) {
            None => column.fill(f64::NAN),
            Some(weights) => {
                column.fill(0.0);
                for (&v, weight) in with.iter().zip(weights) {
                    let of_v = &cells[v as usize * p..][..p];
                    if self.all_y {
                        column.iter_mut().zip(of_v).for_each(|(sum, c)| *sum += weight * c);
                    } else {
                        let of_y = self.asked.y.iter().map(|&y| of_v[y as usize]);
                        column.iter_mut().zip(of_y).for_each(|(sum, c)| *sum += weight * c);
                    }
                }
            }
        }
        let mut exact = |v: u32, effect: f64| {
            if self.all_y {
                column[v as usize] = effect;
            } else {
                let places = self.asked.y.iter().zip(&mut *column).filter(|(&y, _)| y == v);
                places.for_each(|(_, cell)| *cell = effect);
            }
        };
        parents.iter().for_each(|&v| exact(v, 0.0));
        exact(x, 1.0);
    }

    fn adjusted(
        &self,
        cov: ArrayView2<f64>,
        x: u32,
        choice: &Choice,
        scratch: &mut Option<Closure>,
        column: &mut [f64],
    ) {
        let closure = scratch.get_or_insert_with(|| Closure::new(self.graph.clone()));
        let mark = closure.mark();
        for &slot in &choice.slots {
            closure.orient(slot);
        }
        let xs = [x];
        let mut adjustment = Adjustment::new(&closure.graph, &xs);
        for (&y, effect) in self.asked.y.iter().zip(column) {
            adjustment.effects(cov, y as usize, std::slice::from_mut(effect));
        }
        drop(adjustment);
        closure.back(mark);
    }

    fn fill_own(&self, task: usize, cov: ArrayView2<f64>, values: &mut [f64]) {
        let x = self.asked.x[task];
        let mut cells = values.iter_mut();
        for own in &self.of[task].own {
            let y = self.asked.y[own.y] as usize;
            let Some(sets) = &own.sets else {
                cells.next().into_iter().for_each(|cell| *cell = 0.0);
                continue;
            };
            if sets.is_empty() {
                cells.next().into_iter().for_each(|cell| *cell = f64::NAN);
            }
            for (set, cell) in sets.iter().zip(&mut cells) {
                let with: Vec<u32> = std::iter::once(x).chain(set.iter().copied()).collect();
                *cell = super::regression::coefficient(cov, y, &with, 0);
            }
        }
    }
}

pub(super) fn no_pdag() -> Error {
    Error::Argument {
        argument: "fit",
        value: "not a valid CPDAG or maximally oriented PDAG".into(),
        hint: "optimal adjustment sets and Meek's rules need such a graph; fit it with pc(..., u2pd = \"valid\")"
            .into(),
    }
}

fn smaller(least: f64, effect: f64) -> f64 {
    if least.is_nan() || effect.is_nan() {
        f64::NAN
    } else {
        least.min(effect.abs())
    }
}

/// Cuts the values into parts of these sizes.
fn cut(mut values: &mut [f64], sizes: impl Iterator<Item = usize>) -> Vec<&mut [f64]> {
    let mut parts = Vec::new();
    for size in sizes {
        let (part, rest) = std::mem::take(&mut values).split_at_mut(size);
        parts.push(part);
        values = rest;
    }
    parts
}
