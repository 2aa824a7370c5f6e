//! Uncovered paths, on which the outer ends of any two consecutive edges are not adjacent.

use std::collections::{HashMap, HashSet};

use super::{by_circles, may_go, maybe_directed};
use crate::pag::context::{Context, Paths};
use crate::pag::Pag;
use crate::Result;

/// A search for an uncovered path (before, first, ..., target, after), without the last vertex if `after` is `None`.
struct Search<'a> {
    pag: &'a Pag,
    of: &'a Context<'a>,
    before: usize,
    first: usize,
    target: usize,
    after: Option<usize>,
    /// Whether the path has only circles, or edges that may be directed.
    circles: bool,
}

/// A path that has been begun: its last vertex, the index of the path without that vertex, and whether all of its triples are good.
#[derive(Clone, Copy)]
struct Begun {
    last: usize,
    before: usize,
    is_good: bool,
}

/// Returns whether there is an uncovered path (a, b, ..., c) that may be directed and has no unclear triple.
pub fn is_maybe_directed(pag: &Pag, [a, b, c]: [usize; 3], of: &Context) -> Result<bool> {
    if may_go(pag, b, c) && !pag.adjacent(a, c) && is_clear(&[a, b, c], of) {
        return Ok(true);
    }
    let search = Search { pag, of, before: a, first: b, target: c, after: None, circles: false };
    Ok(search.run()?.is_some())
}

/// Returns an uncovered path (a, c, ..., d, b) of circles without an unclear triple, with at least one vertex between c and d.
pub fn uncovered_circles(pag: &Pag, [a, c, d, b]: [usize; 4], of: &Context) -> Result<Option<Vec<u32>>> {
    Search { pag, of, before: a, first: c, target: d, after: Some(b), circles: true }.run()
}

/// Returns whether no triple of a path is unclear. As in pcalg's `faith.check()`, this includes the triple of the last two vertices and the
/// first.
pub fn is_clear(path: &[usize], of: &Context) -> bool {
    let round = match *path {
        [first, .., last_but_one, last] => of.unclear.contains(last_but_one, last, first),
        _ => false,
    };
    !round && path.windows(3).all(|abc| !of.unclear.contains(abc[0], abc[1], abc[2]))
}

impl Search<'_> {
    fn run(&self) -> Result<Option<Vec<u32>>> {
        match self.of.paths {
            Paths::Pcalg => self.as_pcalg(),
            Paths::All => self.all(),
        }
    }

    fn next(&self, u: usize) -> Vec<usize> {
        match self.circles {
            true => by_circles(self.pag, u).collect(),
            false => maybe_directed(self.pag, u).collect(),
        }
    }

    fn is_next(&self, u: usize, v: usize) -> bool {
        match self.circles {
            true => by_circles(self.pag, u).any(|w| w == v),
            false => may_go(self.pag, u, v),
        }
    }

    /// Returns whether u - v - w is a good triple: uncovered, and not unclear.
    fn is_good(&self, u: usize, v: usize, w: usize) -> bool {
        !self.pag.adjacent(u, w) && !self.of.unclear.contains(u, v, w)
    }

    /// Returns whether a good path that ends with u, v can end with the target.
    fn ends_well(&self, u: usize, v: usize) -> bool {
        self.is_good(u, v, self.target)
            && match self.after {
                None => !self.of.unclear.contains(v, self.target, self.before),
                Some(after) => {
                    self.is_good(v, self.target, after) && !self.of.unclear.contains(self.target, after, self.before)
                }
            }
    }

    /// Returns the vertices that no path has in its middle.
    fn ends(&self) -> impl Iterator<Item = usize> {
        [self.before, self.first, self.target].into_iter().chain(self.after)
    }

    /// Returns the first path in pcalg's queue. A vertex is visited when the first path that ends there is processed. pcalg processes all
    /// paths of one length that end in a vertex. Only two kinds of them can matter: the first path, before which the vertex is not visited;
    /// and, for each preceding vertex, the first path that is good so far. All others continue to fewer vertices, and later.
    fn as_pcalg(&self) -> Result<Option<Vec<u32>>> {
        let mut visited: HashSet<usize> = self.ends().collect();
        let mut begun = vec![Begun { last: self.first, before: 0, is_good: true }];
        let mut front: Vec<usize> = Vec::new();
        for v in self.next(self.first) {
            // If edges may be directed, pcalg begins no path with a triangle.
            let is_good = self.is_good(self.before, self.first, v);
            if !visited.contains(&v) && (self.circles || !self.pag.adjacent(self.before, v)) {
                front.push(begun.len());
                begun.push(Begun { last: v, before: 0, is_good });
            }
        }
        while !front.is_empty() {
            let mut next_front = Vec::new();
            let mut ended_in: HashSet<usize> = HashSet::new();
            let mut good_by: HashSet<(usize, usize)> = HashSet::new();
            for at in front {
                let Begun { last: v, before, is_good } = begun[at];
                self.of.poll.looked_up(self.pag.neighbours(v).count())?;
                let u = begun[before].last;
                visited.insert(v);
                if self.is_next(v, self.target) {
                    if is_good && self.ends_well(u, v) {
                        return Ok(Some(self.path(&begun, at)));
                    }
                    continue;
                }
                for w in self.next(v).into_iter().filter(|w| !visited.contains(w)) {
                    let is_good = is_good && self.is_good(u, v, w);
                    let is_first = ended_in.insert(w);
                    let is_first_good = is_good && good_by.insert((v, w));
                    if is_first || is_first_good {
                        next_front.push(begun.len());
                        begun.push(Begun { last: w, before: at, is_good });
                    }
                }
            }
            front = next_front;
        }
        Ok(None)
    }

    fn path(&self, begun: &[Begun], at: usize) -> Vec<u32> {
        let mut path: Vec<u32> = self.after.into_iter().chain([self.target]).map(|v| v as u32).collect();
        let mut next = at;
        while next != 0 {
            path.push(begun[next].last as u32);
            next = begun[next].before;
        }
        path.extend([self.first as u32, self.before as u32]);
        path.reverse();
        path
    }

    /// Returns the shortest walk over good triples. It nearly always meets no vertex twice; if it does, returns the first path without
    /// repetition.
    fn all(&self) -> Result<Option<Vec<u32>>> {
        let ends: HashSet<usize> = self.ends().collect();
        let mut begun = vec![Begun { last: self.first, before: 0, is_good: true }];
        let mut seen: HashMap<(usize, usize), usize> = HashMap::new();
        let mut front = vec![0];
        let mut walk = None;
        'search: while !front.is_empty() {
            let mut next_front = Vec::new();
            for at in front {
                let v = begun[at].last;
                self.of.poll.looked_up(self.pag.neighbours(v).count())?;
                let u = if at == 0 { self.before } else { begun[begun[at].before].last };
                if at != 0 && self.is_next(v, self.target) && self.ends_well(u, v) {
                    walk = Some(self.path(&begun, at));
                    break 'search;
                }
                for w in self.next(v) {
                    if !ends.contains(&w) && !seen.contains_key(&(v, w)) && self.is_good(u, v, w) {
                        seen.insert((v, w), begun.len());
                        next_front.push(begun.len());
                        begun.push(Begun { last: w, before: at, is_good: true });
                    }
                }
            }
            front = next_front;
        }
        let Some(walk) = walk else { return Ok(None) };
        let different: HashSet<&u32> = walk.iter().collect();
        if different.len() == walk.len() || (self.before == self.target && different.len() + 1 == walk.len()) {
            return Ok(Some(walk));
        }
        let mut middle = Vec::new();
        self.without_repetition(&mut middle, &ends)
    }

    /// Continues, depth first, a path whose vertices between `first` and the target are `middle` so far.
    fn without_repetition(&self, middle: &mut Vec<usize>, ends: &HashSet<usize>) -> Result<Option<Vec<u32>>> {
        self.of.poll.step()?;
        let [u, v] = match *middle.as_slice() {
            [] => [self.before, self.first],
            [v] => [self.first, v],
            [.., u, v] => [u, v],
        };
        if !middle.is_empty() && self.is_next(v, self.target) && self.ends_well(u, v) {
            let path = [self.before, self.first].into_iter().chain(middle.iter().copied());
            return Ok(Some(path.chain([self.target]).chain(self.after).map(|v| v as u32).collect()));
        }
        for w in self.next(v) {
            if !ends.contains(&w) && !middle.contains(&w) && self.is_good(u, v, w) {
                middle.push(w);
                if let Some(path) = self.without_repetition(middle, ends)? {
                    return Ok(Some(path));
                }
                middle.pop();
            }
        }
        Ok(None)
    }
}
