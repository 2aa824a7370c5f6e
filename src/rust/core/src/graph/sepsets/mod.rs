//! Separating sets as pcalg keeps them: `sepset[[x]][[y]]` and `sepset[[y]][[x]]` are two entries.
//!
//! Most separating sets of a search are empty, because level 0 removes most pairs. p x p lists of them would outweigh all else. So level 0
//! is kept as one bit per pair, and only the sets of later levels are stored as lists. Sets of one member are the next most frequent; an
//! engine may deliver them as one block.

use super::{Adjacency, Row};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::Result;

/// Separating sets on ordered pairs; an absent entry is pcalg's `NULL`.
#[derive(Clone, Debug)]
pub struct SepSets {
    /// Rows by x, each ascending in y.
    rows: Vec<Vec<Entry>>,
    /// Members of the sets with two or more.
    arena: Vec<u32>,
    /// The numbers 0, 1, 2, ...: sets of one member are slices of this.
    vertices: Vec<u32>,
    /// Entries that are not in `rows`.
    singles: Singles,
    /// Pairs {x, y} that the empty set separates, kept on one side.
    empty: Adjacency,
    empty_side: Side,
    /// Whether some pair of `empty` may have another set, too.
    is_mixed: bool,
    /// Whether each pair has one entry at most, as a search leaves them.
    is_once: bool,
}

/// The one of a pair's two entries that holds its separating set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `sepset[[smaller]][[larger]]`
    Smaller,
    /// `sepset[[larger]][[smaller]]`
    Larger,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    y: u32,
    len: u32,
    /// The member of a set of one, or else the start of the set in the arena.
    at: u64,
}

/// Separating sets of one member, by x.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Singles {
    /// The index of each x's first record, then the number of all records: p + 1 numbers. Empty if there are no records.
    pub starts: Vec<u64>,
    /// The (y, member) of the entries `sepset[[x]][[y]]`, ascending in y for each x.
    pub records: Vec<[u32; 2]>,
}

impl Singles {
    /// Collects parts in any order, on `p` vertices.
    fn of(p: usize, parts: Vec<Separations>, pool: &Pool) -> Result<Self> {
        let count = parts.iter().map(|part| part.pairs.len()).sum();
        if count == 0 {
            return Ok(Singles::default());
        }
        let mut starts = memory::zeros::<u64>(p + 1, Use::Sets)?;
        for part in &parts {
            part.pairs.iter().for_each(|&[x, _]| starts[x as usize + 1] += 1);
        }
        for x in 0..p {
            starts[x + 1] += starts[x];
        }
        let mut records = memory::zeros(count, Use::Sets)?;
        // Each thread takes some rows with about the same number of entries, and searches all parts for them.
        let each = count.div_ceil((count / MANY).clamp(1, pool.threads())) as u64;
        let (mut rest, mut first) = (&mut records[..], 0);
        let mut shares = Vec::new();
        while first < p {
            let end = starts.partition_point(|&start| start < starts[first] + each).clamp(first + 1, p);
            let (share, behind) = std::mem::take(&mut rest).split_at_mut((starts[end] - starts[first]) as usize);
            rest = behind;
            shares.push((first, &starts[first..=end], share));
            first = end;
        }
        pool.each_of(shares, |_, (first, starts, share): (usize, &[u64], &mut [[u32; 2]])| {
            let place = |start: u64| (start - starts[0]) as usize;
            let mut next: Vec<usize> = starts.iter().map(|&start| place(start)).collect();
            for Separations { pairs, members, .. } in &parts {
                for (&[x, y], &member) in pairs.iter().zip(members) {
                    let row = (x as usize).wrapping_sub(first);
                    if row < starts.len() - 1 {
                        share[next[row]] = [y, member];
                        next[row] += 1;
                    }
                }
            }
            for row in starts.windows(2) {
                let row = &mut share[place(row[0])..place(row[1])];
                if !row.is_sorted_by_key(|[y, _]| *y) {
                    // The sort is stable, because that is fast on the few ascending runs that a search leaves.
                    row.sort_by_key(|[y, _]| *y);
                }
            }
        });
        Ok(Singles { starts, records })
    }

    fn row(&self, x: usize) -> &[[u32; 2]] {
        match self.starts.get(x..x + 2) {
            Some(&[from, to]) => &self.records[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// Separating sets of one size, many at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Separations {
    /// Number of members of each set.
    pub size: usize,
    /// The (x, y) of the entries `sepset[[x]][[y]]`.
    pub pairs: Vec<[u32; 2]>,
    /// The sets one after the other, `size` numbers each.
    pub members: Vec<u32>,
}

impl Separations {
    /// Makes an empty list for sets of `size` members.
    pub fn of_size(size: usize) -> Self {
        Separations { size, ..Self::default() }
    }

    /// Appends `sepset[[x]][[y]]`.
    #[inline]
    pub fn push(&mut self, x: u32, y: u32, set: &[u32]) {
        debug_assert_eq!(set.len(), self.size);
        memory::push_noted(&mut self.pairs, [x, y], Use::Level);
        for &member in set {
            memory::push_noted(&mut self.members, member, Use::Level);
        }
    }
}

/// A log of separating sets in the order in which a search finds them. Adding one is an append.
#[derive(Clone, Debug)]
pub struct SepSetLog {
    sets: SepSets,
    found: Vec<Separations>,
}

/// Number of entries that are worth one more thread to sort them.
const MANY: usize = 1 << 17;

impl SepSetLog {
    /// Makes an empty log; see [`SepSets::new`].
    pub fn new(p: usize, empty_side: Side) -> Self {
        SepSetLog { sets: SepSets { is_once: true, ..SepSets::new(p, empty_side) }, found: Vec::new() }
    }

    /// Makes a log from its [parts](SepSetLog::parts).
    pub fn of_parts(empty: Adjacency, empty_side: Side, singles: Singles, found: Vec<Separations>) -> Self {
        SepSetLog { sets: SepSets { singles, ..SepSets::of_empty(empty, empty_side) }, found }
    }

    /// Sets whether each pair has one entry at most.
    pub fn with_once(mut self, is_once: bool) -> Self {
        self.sets.is_once = is_once;
        self
    }

    /// Returns the pairs that the empty set separates, the sets of one member that came as a block, and the other sets.
    pub fn parts(&self) -> (&Adjacency, &Singles, &[Separations]) {
        (&self.sets.empty, &self.sets.singles, &self.found)
    }

    /// Removes the sets of `size` members, except those that came as a block.
    pub fn forget(&mut self, size: usize) {
        self.found.retain(|found| found.size != size);
    }

    /// Records that the empty set separates x and y.
    pub fn insert_empty(&mut self, x: usize, y: usize) {
        self.sets.insert_empty(x, y);
    }

    /// Records that the empty set separates the pairs of a graph, instead of any recorded before.
    pub fn set_empty(&mut self, pairs: Adjacency) {
        self.sets.empty = pairs;
    }

    /// Sets `sepset[[x]][[y]]`, at most once for each (x, y). If memory runs out, nothing is set, and [`memory::check`] reports it.
    pub fn insert(&mut self, x: usize, y: usize, set: &[u32]) {
        if self.found.last().is_none_or(|last| last.size != set.len()) {
            self.found.push(Separations::of_size(set.len()));
        }
        if let Some(last) = self.found.last_mut() {
            last.push(x as u32, y as u32, set);
        }
    }

    /// Works as [`SepSetLog::insert`] for many sets.
    pub fn extend(&mut self, separations: Separations) {
        self.found.push(separations);
    }

    /// Sets all sets of one member at once. They are kept as one block.
    pub fn set_singles(&mut self, singles: Singles) {
        self.sets.singles = singles;
    }

    /// Returns the sets, ready for queries.
    pub fn finish(self, pool: &Pool) -> Result<SepSets> {
        let SepSetLog { mut sets, mut found } = self;
        // Sets dropped for lack of memory must not go unnoticed.
        memory::check()?;
        if sets.singles.starts.is_empty() {
            // Nearly all sets have one member.
            let (singles, others) = found.into_iter().partition(|part| part.size == 1);
            found = others;
            sets.singles = Singles::of(sets.p(), singles, pool)?;
        }
        let mut counts = memory::zeros::<u32>(sets.p(), Use::Sets)?;
        for &[x, _] in found.iter().flat_map(|part| &part.pairs) {
            counts[x as usize] += 1;
        }
        for (row, &count) in sets.rows.iter_mut().zip(&counts) {
            if !memory::has_space(row, count as usize) {
                return Err(Use::Sets.error(count as usize * size_of::<Entry>()));
            }
        }
        let members: usize = found.iter().filter(|part| part.size > 1).map(|part| part.members.len()).sum();
        if !memory::has_space(&mut sets.arena, members) {
            return Err(Use::Sets.error(members * size_of::<u32>()));
        }
        for Separations { size, pairs, members } in found {
            let base = sets.arena.len() as u64;
            let len = size as u32;
            if size == 1 {
                for (&[x, y], &only) in pairs.iter().zip(&members) {
                    sets.rows[x as usize].push(Entry { y, len, at: u64::from(only) });
                }
            } else {
                for (i, &[x, y]) in pairs.iter().enumerate() {
                    sets.rows[x as usize].push(Entry { y, len, at: base + (i * size) as u64 });
                }
                sets.arena.extend_from_slice(&members);
            }
        }
        let entries: usize = sets.rows.iter().map(Vec::len).sum();
        // There are more parts than threads, because rows differ in length and the first ones are often the longest.
        let parts = 8 * (entries / MANY).clamp(1, pool.threads());
        let size = sets.rows.len().div_ceil(if entries < MANY { 1 } else { parts }).max(1);
        pool.each_of(sets.rows.chunks_mut(size).collect(), |_, part: &mut [Vec<Entry>]| {
            for row in part {
                if !row.is_sorted_by_key(|entry| entry.y) {
                    // The sort is stable, because that is fast on the few ascending runs that a search leaves.
                    row.sort_by_key(|entry| entry.y);
                }
            }
        });
        memory::check()?;
        Ok(sets)
    }
}

impl SepSets {
    /// Makes an empty collection on `p` vertices. Empty sets from [`SepSets::insert_empty`] are kept on `empty_side`.
    pub fn new(p: usize, empty_side: Side) -> Self {
        Self::of_empty(Adjacency::empty(p), empty_side)
    }

    /// Makes a collection in which the empty set separates these pairs.
    pub fn of_empty(pairs: Adjacency, empty_side: Side) -> Self {
        let p = pairs.p();
        SepSets {
            rows: vec![Vec::new(); p],
            arena: Vec::new(),
            vertices: (0..p as u32).collect(),
            singles: Singles::default(),
            empty: pairs,
            empty_side,
            is_mixed: false,
            is_once: false,
        }
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.rows.len()
    }

    /// Records that the empty set separates x and y.
    pub fn insert_empty(&mut self, x: usize, y: usize) {
        self.is_mixed |= !self.are_unseparated(x, y);
        self.empty.insert(x, y);
    }

    fn store(&mut self, y: usize, set: &[u32]) -> Entry {
        let at = match *set {
            [only] => u64::from(only),
            _ => {
                let at = self.arena.len() as u64;
                let len = self.arena.len() + set.len();
                if self.arena.capacity() < len && !memory::prepare(&mut self.arena, len, Use::Sets) {
                    return Entry { y: y as u32, len: 0, at };
                }
                self.arena.extend_from_slice(set);
                at
            }
        };
        Entry { y: y as u32, len: set.len() as u32, at }
    }

    fn members(&self, entry: Entry) -> &[u32] {
        let at = entry.at as usize;
        if entry.len == 1 {
            &self.vertices[at..at + 1]
        } else {
            &self.arena[at..at + entry.len as usize]
        }
    }

    /// Sets `sepset[[x]][[y]]`, and keeps the order of `set`. An earlier entry is replaced. If memory runs out, nothing is set, and
    /// [`memory::check`] reports it.
    pub fn insert(&mut self, x: usize, y: usize, set: &[u32]) {
        self.is_mixed |= self.empty.has(x, y);
        self.is_once = false;
        let entry = self.store(y, set);
        let row = &mut self.rows[x];
        if row.last().is_none_or(|last| last.y < entry.y) {
            memory::push_noted(row, entry, Use::Sets);
            return;
        }
        match row.binary_search_by_key(&(y as u32), |e| e.y) {
            Ok(at) => row[at] = entry,
            Err(at) => {
                let len = row.len() + 1;
                if row.capacity() >= len || memory::prepare(row, len, Use::Sets) {
                    row.insert(at, entry);
                }
            }
        }
    }

    /// Returns `sepset[[x]][[y]]`. `None` is pcalg's `NULL`, and an empty slice is `integer(0)`.
    pub fn get(&self, x: usize, y: usize) -> Option<&[u32]> {
        if !self.is_mixed && self.empty.has(x, y) {
            return self.is_side_of_empty(x, y).then_some(&[]);
        }
        let row = &self.rows[x];
        if let Ok(at) = row.binary_search_by_key(&(y as u32), |e| e.y) {
            return Some(self.members(row[at]));
        }
        let singles = self.singles.row(x);
        if let Ok(at) = singles.binary_search_by_key(&(y as u32), |[y, _]| *y) {
            return Some(&singles[at][1..]);
        }
        (self.is_side_of_empty(x, y) && self.empty.has(x, y)).then_some(&[])
    }

    /// Returns whether the counts alone show that each pair without an edge in `graph` has a set.
    pub fn surely_separate_all(&self, graph: &Adjacency) -> bool {
        let entries = self.rows.iter().map(Vec::len).sum::<usize>() + self.singles.records.len();
        let known = graph.edge_count() + self.empty.edge_count() + entries;
        self.is_once && !self.is_mixed && known == self.p() * self.p().saturating_sub(1) / 2
    }

    /// Returns the pairs that are no edges of `graph` and have no entry, found by the pool's threads.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn unseparated(&self, graph: &Adjacency, pool: &Pool) -> Result<Adjacency> {
        memory::room(Adjacency::bytes(self.p()), Use::Sets)?;
        let mut known = self.empty.copied(pool)?;
        let rows = |part: usize| 64 * part..self.p().min(64 * (part + 1));
        known.insert_all(pool, self.p().div_ceil(64), |part, insert| {
            for x in rows(part) {
                graph.neighbours_above(x).for_each(|y| insert(x, y as usize));
                self.each_listed(x, |y, _| insert(x, y as usize));
            }
        });
        Ok(known.complement(pool))
    }

    /// Returns whether both entries of a pair are absent.
    pub fn are_unseparated(&self, x: usize, y: usize) -> bool {
        self.get(x, y).is_none() && self.get(y, x).is_none()
    }

    /// Returns whether `v` is in `sepset[[x]][[y]]` or in `sepset[[y]][[x]]`.
    pub fn either_contains(&self, x: usize, y: usize, v: u32) -> bool {
        self.get(x, y).is_some_and(|s| s.contains(&v)) || self.get(y, x).is_some_and(|s| s.contains(&v))
    }

    /// Returns whether an empty set that level 0 found for the pair is kept in `sepset[[x]][[y]]`.
    pub fn is_side_of_empty(&self, x: usize, y: usize) -> bool {
        match self.empty_side {
            Side::Smaller => x < y,
            Side::Larger => x > y,
        }
    }

    /// Returns the pairs that the empty set separated at level 0.
    pub fn empty(&self) -> &Adjacency {
        &self.empty
    }

    /// Returns the row of x in [`SepSets::empty`] if these pairs have no other set.
    pub fn only_empty_row(&self, x: usize) -> Option<Row<'_>> {
        (!self.is_mixed).then(|| self.empty.row(x))
    }

    /// Returns the y of the empty sets of level 0 that are kept in row x. Another set may have replaced some of them since.
    pub fn empty_in_row(&self, x: usize) -> impl Iterator<Item = u32> + '_ {
        self.empty.neighbours_between(
            x,
            match self.empty_side {
                Side::Smaller => x + 1..self.p(),
                Side::Larger => 0..x,
            },
        )
    }

    /// Returns the entries `(y, set)` of row x except the empty sets of level 0, in ascending y.
    pub fn listed(&self, x: usize) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        let mut listed = self.rows[x].iter().map(|&e| (e.y, self.members(e))).peekable();
        let mut singles = self.singles.row(x).iter().map(|record| (record[0], &record[1..])).peekable();
        std::iter::from_fn(move || {
            let y = [listed.peek(), singles.peek()].iter().flatten().map(|head| head.0).min()?;
            // A later entry replaces an earlier one.
            let single = singles.next_if(|head| head.0 == y);
            listed.next_if(|head| head.0 == y).or(single)
        })
    }

    /// Returns the entries `[y, member]` of row x in ascending y, except the empty sets of level 0. Returns `None` if `rows` has entries
    /// for x; most rows have only sets of one member.
    pub fn only_singles(&self, x: usize) -> Option<&[[u32; 2]]> {
        self.rows[x].is_empty().then(|| self.singles.row(x))
    }

    /// Calls `tell` with each entry of [`SepSets::listed`]. This is quicker, as most sets have one member, and most rows have no others.
    pub fn each_listed(&self, x: usize, mut tell: impl FnMut(u32, &[u32])) {
        match self.only_singles(x) {
            Some(singles) => singles.iter().for_each(|record| tell(record[0], &record[1..])),
            None => self.listed(x).for_each(|(y, set)| tell(y, set)),
        }
    }

    /// Returns the entries `(y, set)` of row x in ascending y.
    pub fn row(&self, x: usize) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        let mut listed = self.listed(x).peekable();
        let mut empties = self.empty_in_row(x).map(|y| (y, &[] as &[u32])).peekable();
        std::iter::from_fn(move || {
            let y = [listed.peek(), empties.peek()].iter().flatten().map(|head| head.0).min()?;
            let empty = empties.next_if(|head| head.0 == y);
            listed.next_if(|head| head.0 == y).or(empty)
        })
    }
}

#[cfg(test)]
mod tests;
