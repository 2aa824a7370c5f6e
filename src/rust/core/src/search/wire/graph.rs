//! The frozen neighbourhoods of a level.
//!
//! A graph goes in the form that takes the fewest bytes: the pairs that are gone since the graph before, which the receiver has; the pairs that are edges;
//! those that are none, of which a search has few at its beginning; or a bit a pair. Of each pair one direction is written. Pairs go row by row, as the
//! numbers of vertices that lie between, in groups of seven bits: a byte each where they are dense.

use super::{Reader, Writer};
use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::search::level::Neighbours;

/// How neighbourhoods are written.
const BITS: u64 = 0;
const EDGES: u64 = 1;
const ROWS: u64 = 2;
const REMOVED: u64 = 3;
const ABSENT: u64 = 4;

/// Neighbourhoods as they are sent and kept: lists are made of a graph where they are needed, as they take more room than its bits.
#[derive(Clone, Debug)]
pub enum Frozen {
    /// Of all vertices.
    Graph(Adjacency),
    /// Of a few rows.
    Rows(Neighbours),
}

impl Frozen {
    /// Those of a level.
    pub fn of(neighbours: &Neighbours) -> Self {
        match neighbours.graph() {
            Some(graph) => Frozen::Graph(graph.clone()),
            None => Frozen::Rows(neighbours.clone()),
        }
    }

    /// With their lists.
    pub fn into_neighbours(self) -> Neighbours {
        match self {
            Frozen::Graph(graph) => Neighbours::of(graph),
            Frozen::Rows(neighbours) => neighbours,
        }
    }

    /// The graph, unless only rows were frozen.
    pub fn graph(&self) -> Option<&Adjacency> {
        match self {
            Frozen::Graph(graph) => Some(graph),
            Frozen::Rows(_) => None,
        }
    }

    /// As bytes: whole, or, where that is shorter, as the pairs that are gone since `before`, which the receiver has.
    pub fn to_bytes(&self, before: Option<&Frozen>) -> Vec<u8> {
        let p = match self {
            Frozen::Graph(graph) => graph.p(),
            Frozen::Rows(neighbours) => neighbours.p(),
        };
        let begin = |form: u64| {
            let mut bytes = Writer::default();
            bytes.number(p as u64);
            bytes.number(form);
            bytes
        };
        let graph = match self {
            Frozen::Graph(graph) => graph,
            Frozen::Rows(neighbours) => {
                let mut bytes = begin(ROWS);
                (0..p).for_each(|x| bytes.vertices(neighbours.list(x)));
                return bytes.0;
            }
        };
        let edges = graph.edge_count();
        let before = before.and_then(Frozen::graph).filter(|before| before.p() == p && is_within(graph, before));
        let gone = before.map(|before| (before, before.edge_count() - edges));
        let absent = p * p.saturating_sub(1) / 2 - edges;
        // The bytes of bits, and then those of the shortest form so far. A pair takes a byte at least.
        let mut limit = words_of_all(p).unwrap_or(usize::MAX).saturating_mul(8);
        let mut shortest = None;
        let mut lists = [(gone.map_or(usize::MAX, |(_, count)| count), REMOVED), (edges, EDGES), (absent, ABSENT)];
        lists.sort_unstable();
        for (count, form) in lists {
            if count >= limit {
                break;
            }
            let word = |y: usize, w: usize| match (form, gone) {
                (REMOVED, Some((before, _))) => before.row(y)[w] & !graph.row(y)[w],
                (EDGES, _) => graph.row(y)[w],
                _ => !graph.row(y)[w],
            };
            let mut bytes = begin(form);
            if write_pairs(p, word, limit, &mut bytes) {
                limit = bytes.0.len() - 16;
                shortest = Some(bytes.0);
            }
        }
        shortest.unwrap_or_else(|| {
            let mut bytes = begin(BITS);
            bytes.0.reserve_exact(limit);
            (0..p).flat_map(|y| (0..words_of(y)).map(move |w| (y, w))).for_each(|(y, w)| {
                bytes.number(graph.row(y)[w] & below(y, w));
            });
            bytes.0
        })
    }

    /// From bytes; `before` as in [`Frozen::to_bytes`]. `None` where they are not those of it.
    pub fn from_bytes(bytes: &[u8], before: Option<&Frozen>) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let p = bytes.index()?;
        let form = bytes.number()?;
        // A few bytes may be a large graph.
        memory::room(Adjacency::bytes(p), Use::Pairs).ok()?;
        let found = match form {
            BITS => {
                // Before room is made for them.
                (words_of_all(p)?.checked_mul(8)? == bytes.0.len()).then_some(())?;
                let mut fits = true;
                let graph = Adjacency::from_lower(p, |y, w| {
                    // What lies past the words of the row is no pair.
                    let word = if w < words_of(y) { bytes.number() } else { Some(0) };
                    fits &= word.is_some_and(|word| word & !below(y, w) == 0);
                    word.unwrap_or(0) & below(y, w)
                });
                Frozen::Graph(fits.then_some(graph)?)
            }
            EDGES => {
                let pairs = read_pairs(p, &mut bytes)?;
                let mut graph = Adjacency::empty(p);
                pairs.iter().for_each(|&[x, y]| graph.insert(x as usize, y as usize));
                Frozen::Graph(graph)
            }
            ABSENT => {
                let pairs = read_pairs(p, &mut bytes)?;
                let mut graph = Adjacency::complete(p);
                graph.remove_all(&pairs);
                Frozen::Graph(graph)
            }
            REMOVED => {
                let mut graph = before?.graph().filter(|before| before.p() == p)?.clone();
                graph.remove_all(&read_pairs(p, &mut bytes)?);
                Frozen::Graph(graph)
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

/// The words of a bit row that have pairs with smaller vertices.
fn words_of(y: usize) -> usize {
    y.div_ceil(64)
}

/// Those of all rows of p vertices.
fn words_of_all(p: usize) -> Option<usize> {
    // Rows 1 to 64 have one, the next 64 two, ...
    let (blocks, rest) = (p.saturating_sub(1) / 64, p.saturating_sub(1) % 64);
    blocks.checked_mul(blocks + 1)?.checked_mul(32)?.checked_add(rest.checked_mul(blocks + 1)?)
}

/// The bits of such a word that stand for smaller vertices.
fn below(y: usize, w: usize) -> u64 {
    match y.saturating_sub(64 * w) {
        0 => 0,
        bits @ 1..64 => (1 << bits) - 1,
        _ => !0,
    }
}

/// Writes pairs x < y, those whose bits are set in the words of row y; gives up where they take as many bytes as `limit`.
fn write_pairs(p: usize, word: impl Fn(usize, usize) -> u64, limit: usize, bytes: &mut Writer) -> bool {
    let before = bytes.0.len();
    let mut row = Vec::new();
    let mut next_row = 0;
    for y in 0..p {
        row.clear();
        for w in 0..words_of(y) {
            row.extend(crate::graph::bits(w, word(y, w) & below(y, w)));
        }
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
    // No row is as far away as the last vertex and one.
    bytes.small((p - next_row) as u64);
    bytes.0.len() - before < limit
}

/// As [`write_pairs`] writes them, of p vertices.
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

/// Whether every edge of a graph is one of another.
fn is_within(graph: &Adjacency, other: &Adjacency) -> bool {
    (0..graph.p()).all(|x| graph.row(x).iter().zip(other.row(x)).all(|(a, b)| a & !b == 0))
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
        assert_eq!(found.graph(), wanted.graph());
        let (found, wanted) = (found.into_neighbours(), wanted.clone().into_neighbours());
        assert_eq!(found.p(), wanted.p());
        (0..found.p()).for_each(|x| assert_eq!(found.list(x), wanted.list(x)));
    }

    /// The same back, in this form, and nothing of a part of the bytes.
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
            // The same pairs.
            (&most, Some(&all), REMOVED),
            (&all, None, ABSENT),
            (&none, None, EDGES),
            // What grows is sent whole.
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
                    let form = Reader(&found.to_bytes(before)[8..]).number().unwrap();
                    let length = comes_back(found, before, form);
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
    fn what_is_no_graph_is_seen() {
        let sparse = graph(130, |x, y| x + 1 == y && y % 5 == 0);
        let bytes = sparse.to_bytes(None);
        // A neighbour that is not below its row, a row that is none, and more pairs than there are bytes.
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
