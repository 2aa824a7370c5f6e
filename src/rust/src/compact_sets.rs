//! The separating sets of a flat result, the slot `sets`: tens of millions of entries of a dense graph, so that each is read once and written once.

use std::ops::Range;

use extendr_ffi::SEXPTYPE;
use pcgpu_core::graph::SepSets;
use pcgpu_core::memory::{self, Use};
use pcgpu_core::planes::{bytes_of_bit, cut, put_shared, BitsMut, DoublesMut};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::{LookUp, PairValues};

use crate::failure::{Failure, Outcome};
use crate::output::{named, vector};
use crate::token::Token;
use crate::value::{na, Value};

pub fn unlike() -> Failure {
    Failure::Input("internal: a vector of another type".into())
}

/// By row the number of its first entry, and the number of all: p + 1 numbers.
pub fn starts(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut end = 0;
    let sums = counts.map(|count| {
        end += count;
        end
    });
    std::iter::once(0).chain(sums).collect()
}

pub fn start_vector(starts: &[u64]) -> Value {
    Value::from(starts.iter().map(|&start| start as f64).collect::<Vec<f64>>())
}

/// Rows in parts of about as many entries each, enough for all threads.
pub fn parts(pool: &Pool, starts: &[u64]) -> Vec<Range<usize>> {
    let (p, all) = (starts.len() - 1, starts[starts.len() - 1]);
    let each = (all / (8 * pool.threads() as u64)).max(1 << 14);
    let mut parts = Vec::new();
    let mut from = 0;
    while from < p {
        let goal = starts[from] + each;
        let to = (from + 1 + starts[from + 1..p].partition_point(|&start| start < goal)).min(p);
        parts.push(from..to);
        from = to;
    }
    parts
}

/// Likewise of whole words of vertices.
pub fn parts_of_words(pool: &Pool, starts: &[u64]) -> Vec<Range<usize>> {
    let p = starts.len() - 1;
    let words: Vec<u64> = (0..=p.div_ceil(64)).map(|word| starts[p.min(64 * word)]).collect();
    parts(pool, &words).into_iter().map(|words| 64 * words.start..p.min(64 * words.end)).collect()
}

/// `count(x)` for every row, by several threads.
pub fn counted<T: Default + Clone + Send>(pool: &Pool, p: usize, count: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut counts = vec![T::default(); p];
    pool.each_of(counts.chunks_mut(256).enumerate().collect(), |_, (chunk, counts): (usize, &mut [T])| {
        for (i, slot) in counts.iter_mut().enumerate() {
            *slot = count(256 * chunk + i);
        }
    });
    counts
}

/// What a row of separating sets holds: entries, sets of two and more, and the members of these.
#[derive(Clone, Default)]
struct RowSize {
    entries: u64,
    large: u64,
    members: u64,
}

/// An entry is looked up by itself in the time in which so many smaller vertices are looked through for a word of vertices, about.
const FEW_ENTRIES: usize = 4;

/// The largest p-values of the pairs that level 0 left.
pub enum Values<'v> {
    Left(&'v PairValues),
    /// Of a pair (x, y).
    Asked(&'v (dyn Fn(usize, usize) -> Option<f64> + Sync)),
}

impl Values<'_> {
    /// Puts into `values` those of vertices of one word: the entries of the i-th of them are `rows[i]`, of which `to` has the other vertex, counted from 1. `many`
    /// looks up those of [`Values::Left`].
    fn put(
        &self,
        vertices: Range<usize>,
        rows: &[Range<usize>],
        to: &[i32],
        many: Option<&mut LookUp>,
        values: &mut [f64],
    ) {
        let y_of = |at: usize| to[at] as usize - 1;
        let one_by_one = |values: &mut [f64], value: &dyn Fn(usize, usize) -> Option<f64>| {
            for (x, at) in vertices.clone().zip(rows).flat_map(|(x, row)| row.clone().map(move |at| (x, at))) {
                values[at] = value(x, y_of(at)).unwrap_or(na());
            }
        };
        match (self, many) {
            (Values::Asked(value), _) => one_by_one(values, value),
            (Values::Left(_), Some(many)) if values.len() >= vertices.end / FEW_ENTRIES => {
                many.put(vertices, rows, y_of, na(), values);
            }
            (Values::Left(left), _) => one_by_one(values, &|x, y| left.get(x, y)),
        }
    }

    fn many(&self) -> Option<LookUp<'_>> {
        match self {
            Values::Left(left) => Some(left.look_up()),
            Values::Asked(_) => None,
        }
    }
}

/// The entries of row x, but for the empty set of a pair that has no other entry, where the method keeps it.
fn said(sepsets: &SepSets, x: usize) -> impl Iterator<Item = (u32, &[u32])> + '_ {
    sepsets.listed(x).filter(move |&(y, set)| {
        let y = y as usize;
        !(set.is_empty() && sepsets.is_side_of_empty(x, y) && sepsets.get(y, x).is_none())
    })
}

fn size_of_row(sepsets: &SepSets, x: usize) -> RowSize {
    if let Some(singles) = sepsets.only_singles(x) {
        return RowSize { entries: singles.len() as u64, ..RowSize::default() };
    }
    let mut size = RowSize::default();
    for (_, set) in said(sepsets, x) {
        size.entries += 1;
        if set.len() > 1 {
            size.large += 1;
            size.members += set.len() as u64;
        }
    }
    size
}

/// The sets of two and more members that a part of the rows has.
struct Large<'a> {
    /// The code of the next one.
    code: u32,
    /// Members of all parts so far.
    end: u64,
    ends: std::slice::IterMut<'a, f64>,
    members: std::slice::IterMut<'a, i32>,
}

impl Large<'_> {
    /// Takes one down, and returns its code.
    fn put(&mut self, set: &[u32]) -> u32 {
        self.members.by_ref().zip(set).for_each(|(slot, &v)| *slot = v as i32 + 1);
        self.end += set.len() as u64;
        self.ends.by_ref().take(1).for_each(|slot| *slot = self.end as f64);
        self.code += 1;
        self.code - 1
    }
}

/// Puts down what row x has: the other vertex of each entry, and codes of the sets.
fn put_row(sepsets: &SepSets, x: usize, to: &mut [i32], codes: &mut [u32], large: &mut Large) {
    let slots = to.iter_mut().zip(codes);
    if let Some(singles) = sepsets.only_singles(x) {
        return slots.zip(singles).for_each(|((to, code), &[y, member])| (*to, *code) = (y as i32 + 1, member + 1));
    }
    for ((to, code), (y, set)) in slots.zip(said(sepsets, x)) {
        *to = y as i32 + 1;
        *code = match *set {
            [] => 0,
            [only] => only + 1,
            _ => large.put(set),
        };
    }
}

/// `list(start, to, set, p, ends, members)` of the entries `sepset[[x]][[y]]`, but for the empty set of a pair that has no other
/// entry, where the method keeps it.
pub fn sets(token: &Token, pool: &Pool, sepsets: &SepSets, of_left: Values) -> Outcome<Value> {
    let p = sepsets.p();
    let sizes = counted(pool, p, |x| size_of_row(sepsets, x));
    let starts = |of: fn(&RowSize) -> u64| starts(sizes.iter().map(of));
    let (entries, large, member) = (starts(|s| s.entries), starts(|s| s.large), starts(|s| s.members));
    if large[p] >= i32::MAX as u64 {
        return Err(Use::Sets.error(8 * large[p] as usize).into());
    }
    let count = entries[p] as usize;
    let code_bits = (u32::BITS - (p as u32 + large[p] as u32).leading_zeros()) as usize;
    let mut to = vector(token, SEXPTYPE::INTSXP, count, 4, Use::Level)?;
    let mut set = vector(token, SEXPTYPE::RAWSXP, code_bits * bytes_of_bit(count), 1, Use::Level)?;
    let mut values = vector(token, SEXPTYPE::RAWSXP, 8 * count, 1, Use::Level)?;
    let mut ends = vector(token, SEXPTYPE::REALSXP, large[p] as usize + 1, 8, Use::Level)?;
    let mut members = vector(token, SEXPTYPE::INTSXP, member[p] as usize, 4, Use::Level)?;
    let parts = parts_of_words(pool, &entries);
    let mut shared = vec![Vec::new(); parts.len()];
    {
        let to = cut(to.as_integer_slice_mut().ok_or_else(unlike)?, &entries, &parts);
        let set = BitsMut::cut(set.as_raw_slice_mut().ok_or_else(unlike)?, &entries, &parts);
        let values = DoublesMut::cut(values.as_raw_slice_mut().ok_or_else(unlike)?, &entries, &parts);
        let ends = ends.as_real_slice_mut().ok_or_else(unlike)?;
        ends[0] = 0.0;
        let ends = cut(&mut ends[1..], &large, &parts);
        let members = cut(members.as_integer_slice_mut().ok_or_else(unlike)?, &member, &parts);
        let slots = to.into_iter().zip(set.into_iter().zip(&mut shared)).zip(values).zip(ends.into_iter().zip(members));
        let work: Vec<_> = parts.iter().cloned().zip(slots).collect();
        pool.each_of(work, |_, (rows, (((to, (mut set, shared)), mut values), (ends, members)))| {
            let mut sets = Large {
                code: p as u32 + large[rows.start] as u32 + 1,
                end: member[rows.start],
                ends: ends.iter_mut(),
                members: members.iter_mut(),
            };
            let (mut codes, mut of_word, mut many) = (Vec::new(), Vec::new(), of_left.many());
            let place = |x: usize| (entries[x] - entries[rows.start]) as usize;
            for first in rows.clone().step_by(64) {
                let vertices = first..rows.end.min(first + 64);
                let of = |x: usize| place(x) - place(first)..place(x + 1) - place(first);
                let to = &mut to[place(first)..place(vertices.end)];
                if !memory::grow(&mut of_word, to.len(), 0.0, Use::Sets) || !memory::grow(&mut codes, p, 0, Use::Sets) {
                    return;
                }
                for x in vertices.clone() {
                    let codes = &mut codes[..of(x).len()];
                    put_row(sepsets, x, &mut to[of(x)], codes, &mut sets);
                    set.put(codes);
                }
                let of_word = &mut of_word[..to.len()];
                let of_vertices: Vec<_> = vertices.clone().map(of).collect();
                of_left.put(vertices, &of_vertices, to, many.as_mut(), of_word);
                values.put(place(first), of_word);
            }
            *shared = set.finish();
        });
    }
    memory::check()?;
    put_shared(set.as_raw_slice_mut().ok_or_else(unlike)?, count, &shared.concat());
    let start = start_vector(&entries);
    Ok(named(vec![
        ("start", start),
        ("to", to.into()),
        ("set", set.into()),
        ("p", values.into()),
        ("ends", ends.into()),
        ("members", members.into()),
    ]))
}
