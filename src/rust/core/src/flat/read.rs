//! A flat result that its caller passes back.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{counted, marks, na, parts, starts, Set, CONFLICT, UNDIRECTED};
use crate::graph::{Adjacency, SepSetLog, SepSets, Separations, Side, Singles};
use crate::memory::{self, Use};
use crate::orient::Pdag;
use crate::planes::{self, Doubles};
use crate::pool::Pool;
use crate::{Error, Result};

/// Why arrays are not a result.
#[derive(Debug)]
pub enum Unreadable {
    /// The named part is not what a search made.
    Part(&'static str),
    /// Another reason, such as memory.
    Other(Error),
}

/// Rows of ascending vertices, each with a value, as the caller stores them.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    /// For each row the index of its first entry, then the number of all entries.
    pub start: &'a [f64],
    /// The other vertex of each entry, counted from 1.
    pub to: &'a [i32],
    /// The p-value of each entry, in 8 bytes.
    pub p: &'a [u8],
}

/// The arrays of a result on p variables.
pub struct Given<'a> {
    /// Number of variables.
    pub p: usize,
    /// Whether the method "stable.fast" made the result.
    pub fast: bool,
    /// The edges between x < y.
    pub edges: Entries<'a>,
    /// The marks of the edges.
    pub mark: &'a [u8],
    /// The separating sets.
    pub sets: Entries<'a>,
    /// See [`super::SetsMut::set`].
    pub set: &'a [u8],
    /// See [`super::SetsMut::ends`].
    pub ends: &'a [f64],
    /// See [`super::SetsMut::members`].
    pub members: &'a [i32],
    /// The pairs that are not adjacent and that no set separates.
    pub gaps: Entries<'a>,
}

/// Rows that have been checked.
pub(super) struct Rows<'a> {
    pub start: &'a [f64],
    pub to: &'a [i32],
    pub p: Doubles<'a>,
}

impl<'a> Rows<'a> {
    /// Checks rows, and returns `None` if they are broken. `ordered`: whether row x may hold only vertices larger than x.
    fn new(Entries { start, to, p: values }: Entries<'a>, p: usize, ordered: bool) -> Option<Self> {
        let values = Doubles::new(values, to.len())?;
        let fits = start.len() == p + 1
            && start[0] == 0.0
            && start.iter().all(|start| start.fract() == 0.0)
            && start.windows(2).all(|pair| pair[0] <= pair[1])
            && start[p] == to.len() as f64
            && (0..p).all(|x| {
                let row = &to[start[x] as usize..start[x + 1] as usize];
                row.windows(2).all(|pair| pair[0] < pair[1])
                    && row.iter().all(|&y| y >= 1 && y as usize <= p && y as usize != x + 1)
                    && (!ordered || row.iter().all(|&y| y as usize > x + 1))
            });
        fits.then_some(Rows { start, to, p: values })
    }

    /// Iterates over the entries (number, x, y) of these rows.
    fn entries_of(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let Rows { start, to, .. } = *self;
        let row =
            move |x: usize| (start[x] as usize..start[x + 1] as usize).map(move |at| (at, x, to[at] as usize - 1));
        rows.flat_map(row)
    }

    fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.entries_of(0..self.start.len() - 1)
    }

    /// Divides the rows among the pool's threads.
    fn parts(&self, pool: &Pool) -> Vec<Range<usize>> {
        parts(pool, &self.start.iter().map(|&start| start as u64).collect::<Vec<u64>>())
    }
}

/// A result whose parts are consistent.
pub struct Flat<'a> {
    pub(super) p: usize,
    pub(super) fast: bool,
    pub(super) edges: Rows<'a>,
    pub(super) sets: Rows<'a>,
    pub(super) gaps: Rows<'a>,
    /// The code of each entry of `sets`.
    pub(super) codes: Vec<u32>,
    pub(super) ends: &'a [f64],
    pub(super) members: &'a [i32],
}

impl<'a> Flat<'a> {
    /// Reads and checks the arrays.
    ///
    /// # Errors
    /// [`Unreadable::Part`] with the part that is not what a search made; [`Unreadable::Other`] if memory runs out.
    pub fn new(given: Given<'a>, pool: &Pool) -> std::result::Result<Self, Unreadable> {
        let Given { p, fast, mark, set, ends, members, .. } = given;
        let broken = |part| move || Unreadable::Part(part);
        let rows = |entries, part, ordered| Rows::new(entries, p, ordered).ok_or_else(broken(part));
        let sets = rows(given.sets, "sets", false)?;
        let codes = planes::bits(set, sets.to.len(), pool).map_err(Unreadable::Other)?.ok_or_else(broken("sets"))?;
        let edges = rows(given.edges, "edges", true)?;
        let gaps = rows(given.gaps, "gaps", true)?;
        if mark.len() != edges.to.len() || !mark.iter().all(|mark| (UNDIRECTED..=CONFLICT).contains(mark)) {
            return Err(Unreadable::Part("edges"));
        }
        let fits = !ends.is_empty()
            && ends.iter().all(|end| end.fract() == 0.0)
            && ends.windows(2).all(|pair| pair[0] <= pair[1])
            && ends[0] == 0.0
            && ends[ends.len() - 1] == members.len() as f64
            && codes.iter().all(|&code| (code as usize) < p + ends.len())
            && members.iter().all(|&v| v >= 1 && v as usize <= p);
        match fits {
            true => Ok(Flat { p, fast, edges, sets, gaps, codes, ends, members }),
            false => Err(Unreadable::Part("sets")),
        }
    }

    /// Returns the skeleton, read by the pool's threads.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn graph(&self, pool: &Pool) -> Result<Adjacency> {
        memory::room(3 * Adjacency::bytes(self.p), Use::Pairs)?;
        let mut graph = Adjacency::empty(self.p);
        let parts = self.edges.parts(pool);
        graph.insert_all(pool, parts.len(), |part, insert| {
            self.edges.entries_of(parts[part].clone()).for_each(|(_, x, y)| insert(x, y));
        });
        Ok(graph)
    }

    /// Returns the separating sets, read by the pool's threads.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn sepsets(&self, graph: &Adjacency, pool: &Pool) -> Result<SepSets> {
        let Flat { p, ref sets, .. } = *self;
        memory::room(Adjacency::bytes(p) + 24 * p + 32 * self.codes.len() + 4 * self.members.len(), Use::Sets)?;
        // All pairs but these were separated by the empty set.
        let mut others = graph.copied(pool)?;
        for rows in [&self.gaps, sets] {
            let parts = rows.parts(pool);
            others.insert_all(pool, parts.len(), |part, insert| {
                rows.entries_of(parts[part].clone()).for_each(|(_, x, y)| insert(x, y));
            });
        }
        let is_once = others.edge_count() == graph.edge_count() + self.gaps.to.len() + sets.to.len();
        let single = |at: usize| match self.decoded(at, 0) {
            Set::Single(only) => Some(only as u32 - 1),
            _ => None,
        };
        let count = |x: usize| sets.entries_of(x..x + 1).filter(|&(at, ..)| single(at).is_some()).count() as u64;
        let starts = starts(counted(pool, p, count).into_iter());
        let mut records = memory::zeros(starts[p] as usize, Use::Sets)?;
        let parts = sets.parts(pool);
        pool.each_of(planes::cut(&mut records, &starts, &parts), |task, share: &mut [[u32; 2]]| {
            let part = parts[task].clone();
            let singles = sets.entries_of(part).filter_map(|(at, _, y)| Some([y as u32, single(at)?]));
            share.iter_mut().zip(singles).for_each(|(record, single)| *record = single);
        });
        let mut larger = BTreeMap::new();
        for (at, x, y) in sets.entries() {
            let members = match self.decoded(at, 0) {
                Set::Single(_) => continue,
                Set::Empty => &[],
                Set::Large(members, _) => members,
            };
            let set: Vec<u32> = members.iter().map(|&v| v as u32 - 1).collect();
            let of_size = larger.entry(set.len()).or_insert_with(|| Separations::of_size(set.len()));
            of_size.push(x as u32, y as u32, &set);
        }
        let side = if self.fast { Side::Larger } else { Side::Smaller };
        let singles = if records.is_empty() { Singles::default() } else { Singles { starts, records } };
        let larger = larger.into_values().collect();
        SepSetLog::of_parts(others.complement(pool), side, singles, larger).with_once(is_once).finish(pool)
    }

    /// Returns the p-value of a pair that level 0 left and a later level separated; `None` for other pairs.
    pub fn removed(&self, x: usize, y: usize) -> Option<f64> {
        let get = |x: usize, y: usize| self.sets.find(x, y).map(|(_, at)| self.sets.p.get(at));
        get(x, y).or_else(|| get(y, x))
    }

    /// Fills in the marks of the edges under an orientation.
    pub fn marks(&self, pool: &Pool, graph: &Adjacency, pdag: &Pdag, slots: &mut [u8]) {
        let starts: Vec<u64> = self.edges.start.iter().map(|&start| start as u64).collect();
        marks(pool, graph, &starts, Some(pdag), slots);
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.to.len()
    }

    /// Fills in pcalg's `pMax`. The cells hold what level 0 found, or NA.
    pub fn fill_p_max(&self, cells: &mut [f64]) {
        let Flat { p, fast, .. } = *self;
        let mut put = |x: usize, y: usize, value: f64| {
            let (low, high) = (x.min(y), x.max(y));
            cells[high * p + low] = value;
            if !fast {
                cells[low * p + high] = value;
            }
        };
        for rows in [&self.edges, &self.gaps, &self.sets] {
            for (at, x, y) in rows.entries() {
                let value = rows.p.get(at);
                if value.to_bits() != na().to_bits() {
                    put(x, y, value);
                }
            }
        }
        for x in 0..p {
            if fast {
                cells[x * p + x..(x + 1) * p].fill(-1.0);
            } else {
                cells[x * p + x] = 1.0;
            }
        }
    }
}
