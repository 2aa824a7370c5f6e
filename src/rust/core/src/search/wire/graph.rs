//! The frozen neighbourhoods of a level.
//!
//! A graph is sent in the form that takes the fewest bytes: the pairs that were removed since an earlier graph, which the receiver has; the
//! pairs that are edges; the pairs that are not, which are few when a search begins; or a bit for each pair. Each pair is written in one
//! direction only. Pairs go row by row. Each is written as the number of vertices since the one before, in groups of seven bits: a byte
//! each if pairs are dense.
//!
//! Both ends keep a graph with few edges as lists, which take less memory than its bits.

use super::{Reader, Writer};
use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::search::level::Neighbours;
use crate::Result;

/// Codes of the forms in which neighbourhoods are written.
const BITS: u64 = 0;
const EDGES: u64 = 1;
const ROWS: u64 = 2;
const REMOVED: u64 = 3;
const ABSENT: u64 = 4;

/// Neighbourhoods as they are sent and kept. A graph has the form that takes less memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Frozen {
    /// A graph as bit rows. Lists are made from it when they are needed.
    Graph(Adjacency),
    /// A graph with few edges, as lists.
    Lists(Neighbours),
    /// Lists that need not belong to a graph.
    Rows(Neighbours),
}

impl Frozen {
    /// Converts the neighbourhoods of a level.
    pub fn of(neighbours: &Neighbours) -> Self {
        match neighbours.graph() {
            Some(_) if is_sparse(neighbours.p(), neighbours.edge_count()) => Frozen::Lists(neighbours.to_lists()),
            Some(graph) => Frozen::Graph(graph.clone()),
            None => Frozen::Rows(neighbours.clone()),
        }
    }

    /// Converts the neighbourhoods of a graph.
    pub fn of_graph(graph: Adjacency) -> Self {
        if is_sparse(graph.p(), graph.edge_count()) {
            Frozen::Lists(Neighbours::lists_of(&graph))
        } else {
            Frozen::Graph(graph)
        }
    }

    /// Makes a graph with these edges, in the order of [`Neighbours::of_pairs`]. `None` if memory does not suffice.
    fn of_pairs(p: usize, pairs: &[[u32; 2]]) -> Option<Self> {
        if is_sparse(p, pairs.len()) {
            memory::room(bytes_of_lists(p, pairs.len()), Use::Pairs).ok()?;
            return Some(Frozen::Lists(Neighbours::of_pairs(p, pairs)));
        }
        memory::room(Adjacency::bytes(p), Use::Pairs).ok()?;
        let mut graph = Adjacency::empty(p);
        pairs.iter().for_each(|&[x, y]| graph.insert(x as usize, y as usize));
        Some(Frozen::Graph(graph))
    }

    /// Converts to neighbourhoods with lists.
    pub fn into_neighbours(self) -> Neighbours {
        match self {
            Frozen::Graph(graph) => Neighbours::of(graph),
            Frozen::Lists(neighbours) | Frozen::Rows(neighbours) => neighbours,
        }
    }

    /// Turns a graph's lists into bit rows.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn make_bit_rows(&mut self) -> Result<()> {
        if let Frozen::Lists(neighbours) = self {
            memory::room(Adjacency::bytes(neighbours.p()), Use::Pairs)?;
            *self = Frozen::Graph(neighbours.to_graph());
        }
        Ok(())
    }

    /// Returns the bit rows, if it has them.
    pub fn graph(&self) -> Option<&Adjacency> {
        match self {
            Frozen::Graph(graph) => Some(graph),
            Frozen::Lists(_) | Frozen::Rows(_) => None,
        }
    }

    fn p(&self) -> usize {
        match self {
            Frozen::Graph(graph) => graph.p(),
            Frozen::Lists(neighbours) | Frozen::Rows(neighbours) => neighbours.p(),
        }
    }

    fn edge_count(&self) -> usize {
        match self {
            Frozen::Graph(graph) => graph.edge_count(),
            Frozen::Lists(neighbours) | Frozen::Rows(neighbours) => neighbours.edge_count(),
        }
    }

    fn has(&self, x: usize, y: usize) -> bool {
        match self {
            Frozen::Graph(graph) => graph.has(x, y),
            Frozen::Lists(neighbours) | Frozen::Rows(neighbours) => neighbours.adjacent(x, y),
        }
    }

    /// Returns whether every edge of this graph is an edge of `other`.
    fn is_within(&self, other: &Frozen) -> bool {
        match (self, other) {
            (_, Frozen::Rows(_)) => false,
            _ if self.p() != other.p() => false,
            (Frozen::Graph(graph), Frozen::Graph(other)) => {
                let is_free = |x: usize| other.gaps_of(x).all(|(w, gaps)| graph.row(x).word(w) & gaps == 0);
                (0..graph.p()).all(is_free)
            }
            _ => (0..self.p()).all(|y| self.smaller(y).all(|x| other.has(x as usize, y))),
        }
    }

    /// Returns the smaller neighbours of a vertex, ascending.
    fn smaller(&self, y: usize) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Frozen::Graph(graph) => Box::new(graph.neighbours_between(y, 0..y)),
            Frozen::Lists(neighbours) | Frozen::Rows(neighbours) => {
                Box::new(neighbours.list(y)[..neighbours.place(y, y) as usize].iter().copied())
            }
        }
    }

    /// Adds to `row` the smaller vertices of the pairs that this form lists for row `y`.
    fn listed(&self, form: u64, before: Option<&Frozen>, y: usize, row: &mut Vec<u32>) {
        let mut of_gaps = |graph: &Adjacency, among: &dyn Fn(usize) -> u64| {
            let smaller = graph.gaps_of(y).take_while(|&(w, _)| w < words_of(y));
            smaller.for_each(|(w, gaps)| row.extend(crate::graph::bits(w, gaps & among(w) & below(y, w))));
        };
        match (self, form, before) {
            (Frozen::Graph(graph), ABSENT, _) => of_gaps(graph, &|_| !0),
            (Frozen::Graph(graph), REMOVED, Some(Frozen::Graph(before))) => {
                of_gaps(graph, &|w| before.row(y).word(w));
            }
            (_, REMOVED, Some(before)) => row.extend(before.smaller(y).filter(|&x| !self.has(x as usize, y))),
            _ => row.extend(self.smaller(y)),
        }
    }

    /// Returns the neighbourhoods as bytes: whole, or, if shorter, as the pairs that were removed since `before`, which the receiver has.
    pub fn to_bytes(&self, before: Option<&Frozen>) -> Vec<u8> {
        let p = self.p();
        let begin = |form: u64| {
            let mut bytes = Writer::default();
            bytes.number(p as u64);
            bytes.number(form);
            bytes
        };
        if let Frozen::Rows(neighbours) = self {
            let mut bytes = begin(ROWS);
            (0..p).for_each(|x| bytes.vertices(neighbours.list(x)));
            return bytes.0;
        }
        let edges = self.edge_count();
        let before = before.filter(|before| self.is_within(before));
        let gone = before.map_or(usize::MAX, |before| before.edge_count() - edges);
        let absent = p * p.saturating_sub(1) / 2 - edges;
        // The bytes of bits, then those of the shortest form so far. A pair takes at least one byte. If edges are few, lists are the
        // shortest.
        let mut limit = words_of_all(p).filter(|_| self.graph().is_some()).unwrap_or(usize::MAX).saturating_mul(8);
        let mut shortest = None;
        let mut lists = [(gone, REMOVED), (edges, EDGES), (absent, ABSENT)];
        lists.sort_unstable();
        for (count, form) in lists {
            if count >= limit {
                break;
            }
            let mut bytes = begin(form);
            if write_pairs(p, |y, row| self.listed(form, before, y, row), limit, &mut bytes) {
                limit = bytes.0.len() - 16;
                shortest = Some(bytes.0);
            }
        }
        shortest.unwrap_or_else(|| {
            let mut bytes = begin(BITS);
            bytes.0.reserve_exact(limit);
            (0..p).flat_map(|y| (0..words_of(y)).map(move |w| (y, w))).for_each(|(y, w)| {
                bytes.number(self.graph().map_or(0, |graph| graph.row(y).word(w) & below(y, w)));
            });
            bytes.0
        })
    }

    /// Reads neighbourhoods from bytes, with `before` as in [`Frozen::to_bytes`]. `None` if the bytes are not valid.
    pub fn from_bytes(bytes: &[u8], before: Option<&Frozen>) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let p = bytes.index()?;
        // A few bytes may describe a large graph.
        let room = || memory::room(Adjacency::bytes(p), Use::Pairs).ok();
        let found = match bytes.number()? {
            BITS => {
                // Checked before memory is taken for them.
                (words_of_all(p)?.checked_mul(8)? == bytes.0.len()).then_some(())?;
                room()?;
                let mut fits = true;
                let graph = Adjacency::from_lower(p, |y, w| {
                    // Beyond the words of the row there are no pairs.
                    let word = if w < words_of(y) { bytes.number() } else { Some(0) };
                    fits &= word.is_some_and(|word| word & !below(y, w) == 0);
                    word.unwrap_or(0) & below(y, w)
                });
                Frozen::of_graph(fits.then_some(graph)?)
            }
            EDGES => Frozen::of_pairs(p, &read_pairs(p, &mut bytes)?)?,
            ABSENT => {
                let pairs = read_pairs(p, &mut bytes)?;
                room()?;
                let mut graph = Adjacency::complete(p);
                graph.remove_all(&pairs);
                Frozen::of_graph(graph)
            }
            REMOVED => {
                let before = before.filter(|before| before.p() == p)?;
                let gone = read_pairs(p, &mut bytes)?;
                match before {
                    Frozen::Graph(graph) => {
                        room()?;
                        let mut graph = graph.clone();
                        graph.remove_all(&gone);
                        Frozen::of_graph(graph)
                    }
                    Frozen::Lists(_) => {
                        let pairs = (0..p).flat_map(|y| before.smaller(y).map(move |x| [x, y as u32]));
                        let is_gone =
                            |pair: &[u32; 2]| gone.binary_search_by_key(&(pair[1], pair[0]), |&[x, y]| (y, x)).is_ok();
                        Frozen::of_pairs(p, &pairs.filter(|pair| !is_gone(pair)).collect::<Vec<_>>())?
                    }
                    Frozen::Rows(_) => return None,
                }
            }
            ROWS => {
                let rows = (0..bytes.fits(p, 8)?).map(|_| bytes.vertices()).collect::<Option<Vec<_>>>()?;
                let ascends = |row: &Vec<u32>| row.windows(2).all(|two| two[0] < two[1]);
                let ends = |row: &Vec<u32>| row.last().is_none_or(|&y| (y as usize) < p);
                rows.iter().all(|row| ascends(row) && ends(row)).then(|| Frozen::Rows(Neighbours::of_lists(&rows)))?
            }
            _ => return None,
        };
        bytes.0.is_empty().then_some(found)
    }
}

/// Returns the bytes of the lists of a graph.
fn bytes_of_lists(p: usize, edges: usize) -> usize {
    edges.saturating_add(p).saturating_mul(8)
}

/// Returns whether the lists of a graph take less memory than its bit rows.
fn is_sparse(p: usize, edges: usize) -> bool {
    bytes_of_lists(p, edges) < Adjacency::bytes_of_bits(p)
}

/// Returns the number of words of bit row y that have pairs with smaller vertices.
fn words_of(y: usize) -> usize {
    y.div_ceil(64)
}

/// Returns the sum of [`words_of`] over all rows of p vertices, or `None` on overflow.
fn words_of_all(p: usize) -> Option<usize> {
    // Rows 1 to 64 have one, the next 64 two, ...
    let (blocks, rest) = (p.saturating_sub(1) / 64, p.saturating_sub(1) % 64);
    blocks.checked_mul(blocks + 1)?.checked_mul(32)?.checked_add(rest.checked_mul(blocks + 1)?)
}

/// Returns the bits of word w of row y that stand for smaller vertices.
fn below(y: usize, w: usize) -> u64 {
    match y.saturating_sub(64 * w) {
        0 => 0,
        bits @ 1..64 => (1 << bits) - 1,
        _ => !0,
    }
}

/// Writes pairs x < y. `add` appends the x of each y. Returns `false` if the pairs take `limit` bytes or more.
fn write_pairs(p: usize, add: impl Fn(usize, &mut Vec<u32>), limit: usize, bytes: &mut Writer) -> bool {
    let before = bytes.0.len();
    let mut row = Vec::new();
    let mut next_row = 0;
    for y in 0..p {
        row.clear();
        add(y, &mut row);
        if row.is_empty() {
            continue;
        }
        bytes.small((y - next_row) as u64);
        bytes.small(row.len() as u64);
        let mut next = 0;
        for &x in &row {
            bytes.small(u64::from(x - next));
            next = x + 1;
        }
        next_row = y + 1;
        if bytes.0.len() - before >= limit {
            return false;
        }
    }
    // Marks the end: the row at this distance would be past the last vertex.
    bytes.small((p - next_row) as u64);
    bytes.0.len() - before < limit
}

/// Reads pairs of p vertices that [`write_pairs`] has written.
fn read_pairs(p: usize, bytes: &mut Reader) -> Option<Vec<[u32; 2]>> {
    let mut pairs = Vec::new();
    u32::try_from(p).ok()?;
    let mut next_row = 0;
    loop {
        let y = bytes.small_index()?.checked_add(next_row).filter(|&y| y <= p)?;
        if y == p {
            return Some(pairs);
        }
        let count = bytes.small_index()?;
        let mut next = 0;
        for _ in 0..bytes.fits(count, 1)? {
            let x = bytes.small_index()?.checked_add(next).filter(|&x| x < y)?;
            pairs.push([x as u32, y as u32]);
            next = x + 1;
        }
        next_row = y + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Tiers;

    fn graph(p: u32, keeps: impl Fn(u32, u32) -> bool) -> Frozen {
        let list = |x: u32| (0..p).filter(|&y| x != y && keeps(x.min(y), x.max(y))).collect();
        Frozen::Graph(Adjacency::from_lists(&(0..p).map(list).collect::<Vec<Vec<u32>>>()))
    }

    fn same(found: Option<Frozen>, wanted: &Frozen) {
        let found = found.unwrap();
        // The form of a graph follows from its size.
        let is_rows = |frozen: &Frozen| matches!(frozen, Frozen::Rows(_));
        assert_eq!(is_rows(&found), is_rows(wanted));
        assert_eq!(matches!(found, Frozen::Lists(_)), !is_rows(&found) && is_sparse(found.p(), found.edge_count()));
        let (found, wanted) = (found.into_neighbours(), wanted.clone().into_neighbours());
        assert_eq!(found.p(), wanted.p());
        (0..found.p()).for_each(|x| assert_eq!(found.list(x), wanted.list(x)));
    }

    /// Checks that neighbourhoods come back from bytes in this form, and not from a part of the bytes. Returns the number of bytes.
    fn comes_back(found: &Frozen, before: Option<&Frozen>, form: u64) -> usize {
        let bytes = found.to_bytes(before);
        assert_eq!(Reader(&bytes[8..]).number(), Some(form));
        same(Frozen::from_bytes(&bytes, before), found);
        for cut in 0..bytes.len().min(300) {
            assert!(Frozen::from_bytes(&bytes[..cut], before).is_none());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(Frozen::from_bytes(&longer, before).is_none());
        bytes.len()
    }

    #[test]
    fn neighbourhoods_come_back_in_the_shortest_form() {
        let p = 130;
        let half = graph(p, |x, y| (x * 31 + y * 17) % 3 != 0);
        let less = graph(p, |x, y| (x * 31 + y * 17) % 3 != 0 && (x + y) % 40 != 0);
        let sparse = graph(p, |x, y| (x * 31 + y * 17) % 3 != 0 && (x + y) % 40 == 1);
        let most = graph(p, |x, y| (x * 31 + y * 17) % 50 != 0);
        let (all, none) = (graph(p, |_, _| true), graph(p, |_, _| false));
        let rows = Frozen::Rows(Neighbours::of_rows(&Tiers::default(), half.graph().unwrap(), [3, 70, 129]));
        for (found, before, form) in [
            (&half, None, BITS),
            (&less, Some(&half), REMOVED),
            (&sparse, Some(&half), EDGES),
            (&most, None, ABSENT),
            // Removed and absent pairs are the same here.
            (&most, Some(&all), REMOVED),
            (&all, None, ABSENT),
            (&none, None, EDGES),
            // A graph that has grown is sent whole.
            (&half, Some(&less), BITS),
            (&most, Some(&half), ABSENT),
            (&less, Some(&rows), BITS),
            (&rows, Some(&half), ROWS),
            (&half, Some(&half), REMOVED),
        ] {
            comes_back(found, before, form);
        }
        assert!(Frozen::from_bytes(&less.to_bytes(Some(&half)), None).is_none());
        assert_eq!(all.to_bytes(None).len(), 18);
    }

    #[test]
    fn graphs_of_all_sizes_and_densities_come_back() {
        let mut forms = [0; 5];
        for p in [1, 2, 3, 63, 64, 65, 127, 128, 129, 200] {
            for (number, share) in [0, 1, 5, 30, 100, 200, 226, 250, 255, 256].into_iter().enumerate() {
                let hash = |x: u32, y: u32| {
                    let mixed = (x * 7919 + y + 1).wrapping_mul(2_654_435_761).wrapping_add(number as u32 * 97);
                    (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 24
                };
                let before = graph(p, |x, y| hash(x, y) < share);
                let after = graph(p, |x, y| hash(x, y) < share && hash(y + 300, x) >= 3);
                for (found, before) in [(&before, None), (&after, None), (&after, Some(&before))] {
                    let bytes = found.to_bytes(before);
                    let form = Reader(&bytes[8..]).number().unwrap();
                    let length = comes_back(found, before, form);
                    // In either form, of this graph and of the earlier one.
                    let other = |frozen: &Frozen| {
                        let mut other = Frozen::of(&frozen.clone().into_neighbours());
                        other.make_bit_rows().unwrap();
                        [Frozen::of(&frozen.clone().into_neighbours()), other]
                    };
                    for found in other(found) {
                        assert_eq!(found.to_bytes(before), bytes);
                        for before in before.into_iter().flat_map(other) {
                            assert_eq!(found.to_bytes(Some(&before)), bytes);
                            comes_back(&found, Some(&before), form);
                        }
                    }
                    forms[form as usize] += 1;
                    let bits = 8 * words_of_all(p as usize).unwrap();
                    assert_eq!(bits, 8 * (0..p as usize).map(words_of).sum::<usize>());
                    assert!(length <= 16 + bits.max(3), "{length} bytes of {p} vertices, form {form}");
                }
            }
        }
        assert!([BITS, EDGES, REMOVED, ABSENT].iter().all(|&form| forms[form as usize] > 20), "{forms:?}");
    }

    #[test]
    fn a_graph_of_few_edges_is_lists_and_has_bit_rows_where_they_are_asked_for() {
        let sparse = graph(300, |x, y| x + 1 == y || x == 7 && y % 10 == 0);
        let bits = sparse.graph().unwrap().clone();
        for mut frozen in [Frozen::of_graph(bits.clone()), Frozen::of(&Neighbours::of(bits.clone()))] {
            assert!(matches!(frozen, Frozen::Lists(_)) && frozen.graph().is_none());
            frozen.make_bit_rows().unwrap();
            assert_eq!(frozen.graph(), Some(&bits));
        }
        let mut rows = Frozen::Rows(Neighbours::of_rows(&Tiers::default(), &bits, [3, 70]));
        rows.make_bit_rows().unwrap();
        assert!(rows.graph().is_none());
        // Only a graph can lose pairs.
        let less = graph(300, |x, y| x + 1 == y).to_bytes(Some(&sparse));
        assert_eq!(Reader(&less[8..]).number(), Some(REMOVED));
        assert!(Frozen::from_bytes(&less, Some(&rows)).is_none());
    }

    #[test]
    fn what_is_no_graph_is_seen() {
        let sparse = graph(130, |x, y| x + 1 == y && y % 5 == 0);
        let bytes = sparse.to_bytes(None);
        // A neighbour that is not below its row, a row that does not exist, and more pairs than there are bytes.
        for (at, value) in [(18, 127), (16, 127), (17, 100)] {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert!(Frozen::from_bytes(&changed, None).is_none(), "{at}");
        }
        let half = graph(130, |x, y| (x + y) % 2 == 0).to_bytes(None);
        // A bit of the diagonal.
        let mut changed = half.clone();
        changed[16 + 8] |= 4;
        assert!(Frozen::from_bytes(&changed, None).is_none());
        // More vertices than there are bits for.
        for p in [131, 1 << 20, u64::MAX] {
            let mut changed = half.clone();
            changed[..8].copy_from_slice(&p.to_le_bytes());
            assert!(Frozen::from_bytes(&changed, None).is_none());
        }
    }
}
