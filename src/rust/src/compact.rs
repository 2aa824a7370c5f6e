//! Results that hold what was found and nothing for each pair: flat arrays, by row. R/compact.R describes them.

use std::cell::Cell;
use std::ops::Range;

use extendr_api::prelude::*;
use extendr_ffi::SEXPTYPE;
use pcgpu_core::graph::{Adjacency, SepSets, Side};
use pcgpu_core::memory::{self, Use};
use pcgpu_core::orient::Pdag;
use pcgpu_core::planes::{self, cut, Doubles, DoublesMut};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::{Options, PairValues, Skeleton};

use crate::compact_sets::{counted, parts, sets, start_vector, starts, unlike, Values};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::output::{self, named, vector};
use crate::respond::respond;
use crate::token::Token;
use crate::value::{na, Value};

/// Marks of an edge between x < y.
const UNDIRECTED: u8 = 1;
const TO_LARGER: u8 = 2;
const TO_SMALLER: u8 = 3;
const CONFLICT: u8 = 4;

/// `list(start, to, mark, p)` of the edges x < y, with the values of what level 0 left.
pub fn edges(token: &Token, pool: &Pool, graph: &Adjacency, pdag: Option<&Pdag>, left: &PairValues) -> Outcome<Value> {
    let starts = starts(counted(pool, graph.p(), |x| graph.degree_above(x) as u64).into_iter());
    let count = starts[graph.p()] as usize;
    let mut to = vector(token, SEXPTYPE::INTSXP, count, 4, Use::Level)?;
    let mut values = vector(token, SEXPTYPE::RAWSXP, 8 * count, 1, Use::Level)?;
    {
        let parts = parts(pool, &starts);
        let to = cut(to.as_integer_slice_mut().ok_or_else(unlike)?, &starts, &parts);
        let values = DoublesMut::cut(values.as_raw_slice_mut().ok_or_else(unlike)?, &starts, &parts);
        let work = parts.iter().cloned().zip(to.into_iter().zip(values)).collect();
        pool.each_of(work, |_, (rows, (to, mut values)): (Range<usize>, (&mut [i32], DoublesMut))| {
            let (mut at, mut of_row) = (0, Vec::new());
            for x in rows {
                of_row.clear();
                left.each_edge(x, graph, |y, value| {
                    to[at + of_row.len()] = y as i32 + 1;
                    of_row.push(value.unwrap_or(na()));
                });
                values.put(at, &of_row);
                at += of_row.len();
            }
        });
    }
    let mark = marks(token, pool, graph, &starts, pdag)?;
    Ok(named(vec![("start", start_vector(&starts)), ("to", to.into()), ("mark", mark.into()), ("p", values.into())]))
}

/// Marks of edges without a direction that a thread writes at a time.
const MARKS_TOGETHER: usize = 4 << 20;

/// The marks of the edges x < y; without a `pdag` none has a direction.
fn marks(token: &Token, pool: &Pool, graph: &Adjacency, starts: &[u64], pdag: Option<&Pdag>) -> Outcome<Robj> {
    let mut marks = vector(token, SEXPTYPE::RAWSXP, starts[graph.p()] as usize, 1, Use::Level)?;
    let slots = marks.as_raw_slice_mut().ok_or_else(unlike)?;
    let Some(pdag) = pdag else {
        pool.each_of(slots.chunks_mut(MARKS_TOGETHER).collect(), |_, slots: &mut [u8]| slots.fill(UNDIRECTED));
        return Ok(marks);
    };
    let parts = parts(pool, starts);
    let work = parts.iter().cloned().zip(cut(slots, starts, &parts)).collect();
    pool.each_of(work, |_, (rows, slots): (Range<usize>, &mut [u8])| {
        let all = rows.flat_map(|x| graph.neighbours_above(x).map(move |y| (x, y as usize)));
        for ((x, y), slot) in all.zip(slots) {
            *slot = match (pdag.mark(x, y), pdag.mark(y, x)) {
                (2, _) => CONFLICT,
                (1, 0) => TO_LARGER,
                (0, _) => TO_SMALLER,
                _ => UNDIRECTED,
            };
        }
    });
    Ok(marks)
}

/// `list(start, to, p)` of the pairs x < y that are apart and have no separating set: gaps from the start, and what
/// "stable.fast" removes at level 0 for want of a p-value. To be asked before an orientation that adds separating sets.
pub fn gaps(token: &Token, pool: &Pool, found: &Skeleton, left: &PairValues, options: &Options) -> Outcome<Value> {
    let Skeleton { graph, sepsets, .. } = found;
    let apart = |x: usize| {
        let known = move |w: usize| graph.row(x)[w] | sepsets.empty_row(x)[w] | left.row(x).map_or(0, |row| row[w]);
        let above = (x / 64..graph.row(x).len()).flat_map(move |w| {
            let mut word = !known(w);
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(64 * w + bit)
            })
        });
        above
            .filter(move |&y| y > x && y < graph.p())
            .filter(move |&y| sepsets.get(x, y).is_none() && sepsets.get(y, x).is_none())
    };
    let starts = starts(counted(pool, graph.p(), |x| apart(x).count() as u64).into_iter());
    let count = starts[graph.p()] as usize;
    let mut to = vector(token, SEXPTYPE::INTSXP, count, 4, Use::Level)?;
    let mut values = vector(token, SEXPTYPE::RAWSXP, 8 * count, 1, Use::Level)?;
    {
        let parts = parts(pool, &starts);
        let to = cut(to.as_integer_slice_mut().ok_or_else(unlike)?, &starts, &parts);
        let values = DoublesMut::cut(values.as_raw_slice_mut().ok_or_else(unlike)?, &starts, &parts);
        let work = parts.iter().cloned().zip(to.into_iter().zip(values));
        let some = work.filter(|(rows, _)| starts[rows.start] < starts[rows.end]).collect();
        pool.each_of(some, |_, (rows, (to, mut values)): (Range<usize>, (&mut [i32], DoublesMut))| {
            let (mut at, mut of_row) = (0, Vec::new());
            for x in rows {
                of_row.clear();
                for y in apart(x) {
                    to[at + of_row.len()] = y as i32 + 1;
                    let is_gap = options.fixed_gaps.as_ref().is_some_and(|gaps| gaps.has(x, y));
                    of_row.push(if is_gap { options.untested() } else { f64::NAN });
                }
                values.put(at, &of_row);
                at += of_row.len();
            }
        });
    }
    Ok(named(vec![("start", start_vector(&starts)), ("to", to.into()), ("p", values.into())]))
}

/// A search's result but for `gaps`: `edges` and `sets`.
pub fn found(
    token: &Token,
    pool: &Pool,
    found: &Skeleton,
    left: &PairValues,
    pdag: Option<&Pdag>,
) -> Outcome<Vec<(&'static str, Value)>> {
    Ok(vec![
        ("edges", edges(token, pool, &found.graph, pdag, left)?),
        ("sets", sets(token, pool, &found.sepsets, Values::Left(left))?),
    ])
}

/// Rows of ascending vertices, each with a value.
struct Rows {
    start: Robj,
    to: Robj,
    p: Robj,
}

impl Rows {
    /// `ordered`: whether each row is of larger vertices alone.
    fn new(list: &List, name: &'static str, p: usize, ordered: bool) -> Outcome<Self> {
        let broken = || Failure::Part(name);
        let field = |field: &str| input::field(list, field).map_err(|_| broken());
        let rows = Rows { start: field("start")?, to: field("to")?, p: field("p")? };
        let (start, to, _) = rows.slices().ok_or_else(broken)?;
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
        if !fits {
            return Err(broken());
        }
        Ok(rows)
    }

    fn slices(&self) -> Option<(&[f64], &[i32], Doubles<'_>)> {
        let to = self.to.as_integer_slice()?;
        Some((self.start.as_real_slice()?, to, Doubles::new(self.p.as_raw_slice()?, to.len())?))
    }

    /// Where each row begins and ends, and its entries (x, y), numbered.
    fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let (start, to) = self.slices().map_or((&[0.0][..], &[][..]), |(start, to, _)| (start, to));
        let row =
            move |x: usize| (start[x] as usize..start[x + 1] as usize).map(move |at| (at, x, to[at] as usize - 1));
        (0..start.len() - 1).flat_map(row)
    }
}

/// A result that R hands back, `list(p, method, edges, sets, gaps)`.
pub struct Flat {
    p: usize,
    fast: bool,
    edges: Rows,
    sets: Rows,
    gaps: Rows,
    /// By entry of `sets`: 0, the only member counted from 1, or p + the number of the larger set counted from 1.
    codes: Vec<u32>,
    ends: Robj,
    members: Robj,
}

impl Flat {
    /// Reads and checks it.
    pub fn from_list(list: &List) -> Outcome<Self> {
        let p = input::count(&input::field(list, "p")?, "p", 1)?;
        let part = |name: &'static str| {
            input::field(list, name).and_then(|part| input::list(&part, name)).map_err(|_| Failure::Part(name))
        };
        let sets = part("sets")?;
        let rows = Rows::new(&sets, "sets", p, false)?;
        let broken = || Failure::Part("sets");
        let of_sets = |name: &str| input::field(&sets, name).map_err(|_| broken());
        let set = of_sets("set")?;
        let codes = planes::bits(set.as_raw_slice().ok_or_else(broken)?, rows.to.len())?.ok_or_else(broken)?;
        let edges = part("edges")?;
        let mark = input::field(&edges, "mark").map_err(|_| Failure::Part("edges"))?;
        let flat = Flat {
            p,
            fast: input::text(&input::field(list, "method")?, "method")? == "stable.fast",
            edges: Rows::new(&edges, "edges", p, true)?,
            gaps: Rows::new(&part("gaps")?, "gaps", p, true)?,
            codes,
            ends: of_sets("ends")?,
            members: of_sets("members")?,
            sets: rows,
        };
        let marks = mark.as_raw_slice().filter(|marks| marks.iter().all(|mark| (UNDIRECTED..=CONFLICT).contains(mark)));
        if marks.is_none_or(|marks| marks.len() != flat.edges.to.len()) {
            return Err(Failure::Part("edges"));
        }
        let (ends, members) = flat.large().ok_or_else(broken)?;
        let fits = !ends.is_empty()
            && ends.iter().all(|end| end.fract() == 0.0)
            && ends.windows(2).all(|pair| pair[0] <= pair[1])
            && ends[0] == 0.0
            && ends[ends.len() - 1] == members.len() as f64
            && flat.codes.iter().all(|&code| (code as usize) < p + ends.len())
            && members.iter().all(|&v| v >= 1 && v as usize <= p);
        if !fits {
            return Err(broken());
        }
        Ok(flat)
    }

    fn large(&self) -> Option<(&[f64], &[i32])> {
        Some((self.ends.as_real_slice()?, self.members.as_integer_slice()?))
    }

    /// The skeleton.
    pub fn graph(&self) -> Outcome<Adjacency> {
        memory::room(3 * Adjacency::bytes(self.p), Use::Pairs)?;
        let mut graph = Adjacency::empty(self.p);
        self.edges.entries().for_each(|(_, x, y)| graph.insert(x, y));
        Ok(graph)
    }

    /// The separating sets.
    pub fn sepsets(&self, graph: &Adjacency) -> Outcome<SepSets> {
        let (ends, members) = self.large().ok_or_else(unlike)?;
        memory::room(Adjacency::bytes(self.p) + 24 * self.p + 32 * self.codes.len() + 4 * members.len(), Use::Sets)?;
        let mut others = graph.clone();
        for rows in [&self.gaps, &self.sets] {
            rows.entries().for_each(|(_, x, y)| others.insert(x, y));
        }
        // All others were separated by the empty set.
        let side = if self.fast { Side::Larger } else { Side::Smaller };
        let mut sets = SepSets::of_empty(others.complement(), side);
        let mut found = Vec::new();
        for (at, x, y) in self.sets.entries() {
            found.clear();
            match self.codes[at] as usize {
                0 => {}
                only if only <= self.p => found.push(only as u32 - 1),
                code => {
                    let large = code - self.p;
                    let range = ends[large - 1] as usize..ends[large] as usize;
                    found.extend(members[range].iter().map(|&v| v as u32 - 1));
                }
            }
            sets.insert(x, y, &found);
        }
        memory::check()?;
        Ok(sets)
    }

    /// The p-values of pairs that level 0 left and a later level separated.
    pub fn removed(&self) -> Outcome<impl Fn(usize, usize) -> Option<f64> + Sync + '_> {
        let (start, to, values) = self.sets.slices().ok_or_else(unlike)?;
        let get = move |x: usize, y: usize| {
            let first = start[x] as usize;
            let row = &to[first..start[x + 1] as usize];
            row.binary_search(&(y as i32 + 1)).ok().map(|at| values.get(first + at))
        };
        Ok(move |x: usize, y: usize| get(x, y).or_else(|| get(y, x)))
    }

    /// The marks of the edges under an orientation.
    pub fn marks(&self, token: &Token, pool: &Pool, graph: &Adjacency, pdag: &Pdag) -> Outcome<Robj> {
        let starts: Vec<u64> = self.edges.slices().ok_or_else(unlike)?.0.iter().map(|&start| start as u64).collect();
        marks(token, pool, graph, &starts, Some(pdag))
    }

    /// pcalg's `pMax`, in cells that hold what level 0 gave, or NA.
    pub fn fill_p_max(&self, cells: &mut [f64]) -> Outcome<()> {
        let Flat { p, fast, .. } = *self;
        let mut put = |x: usize, y: usize, value: f64| {
            let (low, high) = (x.min(y), x.max(y));
            cells[high * p + low] = value;
            if !fast {
                cells[low * p + high] = value;
            }
        };
        for rows in [&self.edges, &self.gaps, &self.sets] {
            let (_, _, values) = rows.slices().ok_or_else(unlike)?;
            for (at, x, y) in rows.entries() {
                let value = values.get(at);
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
        Ok(())
    }
}

/// The p x p parts of pcalg's class, of a result in flat arrays: `pMax`, and the slot `sepset` of `object`, which is fresh.
/// `level0`: the p-values of level 0 as a p x p matrix, or NULL where they are not known.
/// @noRd
#[extendr]
fn rust_expand(found: Robj, level0: Robj, object: Robj) -> Robj {
    respond([&found, &level0, &object], |token| {
        let found = input::list(&found, "found")?;
        let p = input::count(&input::field(&found, "p")?, "p", 1)?;
        let flat = Flat::from_list(&found)?;
        let mut p_max = output::matrix(token, p, p, Use::Square)?;
        let cells = output::cells(&mut p_max)?;
        if level0.is_null() {
            cells.fill(na());
        } else {
            let known = input::square(&level0, p, "level0")?;
            cells.copy_from_slice(
                known.to_slice_memory_order().ok_or_else(|| Failure::Input("internal: `level0`".into()))?,
            );
        }
        flat.fill_p_max(cells)?;
        output::fill_sepsets(token, &object, &flat.sepsets(&flat.graph()?)?)?;
        Ok(p_max.into())
    })
}

thread_local! {
    /// The parts of the flat result that was found whole last, by address: R copies a list before it changes it, and users ask about one result pair by pair.
    static WHOLE: Cell<[usize; 4]> = const { Cell::new([0; 4]) };
}

/// Whether the parts of a result in flat arrays go together: TRUE, or the name of one that does not.
/// @noRd
#[extendr]
fn rust_check_flat(found: Robj) -> Robj {
    respond([&found], |_| {
        let found = input::list(&found, "found")?;
        // SAFETY: the addresses are compared alone.
        let address = |name: &str| input::field(&found, name).map(|part| unsafe { part.get() } as usize);
        let p = input::count(&input::field(&found, "p")?, "p", 1)?;
        let parts = [p, address("edges")?, address("sets")?, address("gaps")?];
        if WHOLE.get() == parts {
            return Ok(Value::from(true));
        }
        match Flat::from_list(&found) {
            Ok(_) => {
                WHOLE.set(parts);
                Ok(Value::from(true))
            }
            Err(Failure::Part(part)) => Ok(Value::from(part)),
            Err(failure) => Err(failure),
        }
    })
}

extendr_module! {
    mod compact;
    fn rust_expand;
    fn rust_check_flat;
}
