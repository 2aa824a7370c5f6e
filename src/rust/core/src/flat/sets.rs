//! The separating sets of a flat result. A dense graph has tens of millions of entries, so each is read once and written once.

use std::ops::Range;

use super::{counted, na, parts, starts};
use crate::graph::SepSets;
use crate::memory::{self, Use};
use crate::planes::{bytes_of_bit, cut, put_shared, BitsMut, DoublesMut};
use crate::pool::Pool;
use crate::search::{LookUp, PairValues};
use crate::Result;

/// Divides rows into parts as [`parts`] does, but only between words of 64 vertices.
fn parts_of_words(pool: &Pool, starts: &[u64]) -> Vec<Range<usize>> {
    let p = starts.len() - 1;
    let words: Vec<u64> = (0..=p.div_ceil(64)).map(|word| starts[p.min(64 * word)]).collect();
    parts(pool, &words).into_iter().map(|words| 64 * words.start..p.min(64 * words.end)).collect()
}

/// The size of a row of separating sets: the number of entries, of sets with two or more members, and of these members.
#[derive(Clone, Default)]
struct RowSize {
    entries: u64,
    large: u64,
    members: u64,
}

/// Roughly how many smaller vertices a scan for one word of vertices passes in the time of one separate look-up.
const FEW_ENTRIES: usize = 4;

/// The largest p-values of the pairs that level 0 left.
pub enum Values<'v> {
    /// The p-values as the search left them.
    Left(&'v PairValues),
    /// A function that returns the p-value of a pair (x, y).
    Asked(&'v (dyn Fn(usize, usize) -> Option<f64> + Sync)),
}

impl Values<'_> {
    /// Writes the p-values for the vertices of one word. The entries of the i-th vertex are `rows[i]`; `to` has their other vertices,
    /// counted from 1. `many` looks up values of [`Values::Left`].
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

/// Iterates over the entries of row x. Leaves out the empty set of a pair without another entry, if the method keeps the set on this side.
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

/// The sets with two or more members in a part of the rows.
struct Large<'a> {
    /// The code of the next set.
    code: u32,
    /// The number of members in all parts so far.
    end: u64,
    ends: std::slice::IterMut<'a, f64>,
    members: std::slice::IterMut<'a, i32>,
}

impl Large<'_> {
    /// Writes a set, and returns its code.
    fn put(&mut self, set: &[u32]) -> u32 {
        self.members.by_ref().zip(set).for_each(|(slot, &v)| *slot = v as i32 + 1);
        self.end += set.len() as u64;
        self.ends.by_ref().take(1).for_each(|slot| *slot = self.end as f64);
        self.code += 1;
        self.code - 1
    }
}

/// Writes row x: the other vertex of each entry, and the codes of the sets.
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

/// The entries `sepset[[x]][[y]]` to write. They leave out the empty set of a pair without another entry, if the method keeps the set on
/// this side.
pub struct Sets<'a> {
    sepsets: &'a SepSets,
    /// For each row the indices of its first entry, of its first set with two or more members, and of the first member of these.
    entries: Vec<u64>,
    large: Vec<u64>,
    member: Vec<u64>,
}

/// The arrays that [`Sets::write`] fills.
pub struct SetsMut<'a> {
    /// The other vertex of each entry, counted from 1.
    pub to: &'a mut [i32],
    /// Codes of the sets, by bits ([`crate::planes`]). 0: empty. 1 to p: the only member. Above p: p + the number of the larger set, from 1.
    pub set: &'a mut [u8],
    /// The p-value of each entry, by bytes.
    pub p: &'a mut [u8],
    /// The end of each larger set among the members, after a 0.
    pub ends: &'a mut [f64],
    /// The members of larger sets, counted from 1.
    pub members: &'a mut [i32],
}

impl<'a> Sets<'a> {
    /// Counts the entries to write.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] if there are more sets than numbers for them.
    pub fn new(pool: &Pool, sepsets: &'a SepSets) -> Result<Self> {
        let sizes = counted(pool, sepsets.p(), |x| size_of_row(sepsets, x));
        let starts = |of: fn(&RowSize) -> u64| starts(sizes.iter().map(of));
        let sets =
            Sets { sepsets, entries: starts(|s| s.entries), large: starts(|s| s.large), member: starts(|s| s.members) };
        match sets.large() >= i32::MAX as usize {
            true => Err(Use::Sets.error(8 * sets.large())),
            false => Ok(sets),
        }
    }

    /// Returns for each row the index of its first entry, then the number of all entries.
    pub fn starts(&self) -> &[u64] {
        &self.entries
    }

    /// Returns the number of entries.
    pub fn count(&self) -> usize {
        self.entries[self.sepsets.p()] as usize
    }

    /// Returns the number of sets with two or more members.
    pub fn large(&self) -> usize {
        self.large[self.sepsets.p()] as usize
    }

    /// Returns the number of members of sets with two or more members.
    pub fn members(&self) -> usize {
        self.member[self.sepsets.p()] as usize
    }

    /// Returns the number of bytes of all codes.
    pub fn code_bytes(&self) -> usize {
        let bits = u32::BITS - (self.sepsets.p() as u32 + self.large() as u32).leading_zeros();
        bits as usize * bytes_of_bit(self.count())
    }

    /// Fills the arrays.
    ///
    /// # Errors
    /// [`crate::Error::Memory`].
    pub fn write(&self, pool: &Pool, of_left: &Values, into: SetsMut) -> Result<()> {
        let Sets { sepsets, entries, large, member } = self;
        let p = sepsets.p();
        let parts = parts_of_words(pool, entries);
        let mut shared = vec![Vec::new(); parts.len()];
        into.ends[0] = 0.0;
        let to = cut(into.to, entries, &parts);
        let set = BitsMut::cut(into.set, entries, &parts);
        let values = DoublesMut::cut(into.p, entries, &parts);
        let ends = cut(&mut into.ends[1..], large, &parts);
        let members = cut(into.members, member, &parts);
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
        memory::check()?;
        put_shared(into.set, self.count(), &shared.concat());
        Ok(())
    }
}
