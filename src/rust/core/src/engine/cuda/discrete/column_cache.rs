//! The columns that a GPU holds, and the choice of the rows that run next: those for which the fewest columns are missing.

const NONE: u32 = u32::MAX;

/// Lists of numbers from 0 to some end; each number is in one list or in none.
struct Lists {
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Lists {
    fn new(lists: usize, numbers: usize) -> Self {
        Lists { first: vec![NONE; lists], next: vec![NONE; numbers], previous: vec![NONE; numbers] }
    }

    fn put(&mut self, list: u32, number: u32) {
        let first = std::mem::replace(&mut self.first[list as usize], number);
        self.next[number as usize] = first;
        self.previous[number as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = number;
        }
    }

    fn take(&mut self, list: u32, number: u32) {
        let (next, previous) = (self.next[number as usize], self.previous[number as usize]);
        match previous {
            NONE => self.first[list as usize] = next,
            _ => self.next[previous as usize] = next,
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }
}

/// Contents of the places for columns.
pub(super) struct Columns {
    /// Variable of each place.
    held: Vec<u32>,
    /// Place of the next column, unless the column there is needed by the current batch.
    hand: usize,
}

impl Columns {
    /// Creates places without columns.
    pub fn none(places: usize) -> Self {
        Columns { held: vec![NONE; places], hand: 0 }
    }

    /// Returns the number of places.
    pub fn places(&self) -> usize {
        self.held.len()
    }
}

/// The places for columns on a GPU, and the rows that are still to run.
pub(super) struct ColumnCache<'r> {
    /// By row: the variables whose columns it needs.
    needs: Vec<&'r [u32]>,
    /// By variable: the rows that need its column, from `first[v]` on.
    first: Vec<usize>,
    needed_by: Vec<u32>,
    /// By variable: the place of its column, and the last batch that needed it.
    place: Vec<u32>,
    batch: Vec<u32>,
    columns: Columns,
    number: u32,
    /// By row: how many of its columns are missing, or NONE if it was chosen. `rows` lists the rows by that number.
    missing: Vec<u32>,
    rows: Lists,
}

/// Rows that run together.
#[derive(Default)]
pub(super) struct Chosen {
    /// Numbers of the rows, ascending.
    pub rows: Vec<usize>,
    /// Variables that the rows need, ascending, with their places.
    pub variables: Vec<(u32, u32)>,
    /// Variables whose columns are not there yet, with their places.
    pub fresh: Vec<(u32, u32)>,
}

impl<'r> ColumnCache<'r> {
    /// Creates a cache for `p` variables; `columns`: those that have a place. No row may need more columns than there are places.
    pub fn new(columns: Columns, p: usize, needs: Vec<&'r [u32]>) -> Self {
        let mut first = vec![0; p + 1];
        needs.iter().flat_map(|needs| needs.iter()).for_each(|&v| first[v as usize + 1] += 1);
        (0..p).for_each(|v| first[v + 1] += first[v]);
        let mut at = first.clone();
        let mut needed_by = vec![0; first[p]];
        for (row, needs) in needs.iter().enumerate() {
            for &v in *needs {
                needed_by[at[v as usize]] = row as u32;
                at[v as usize] += 1;
            }
        }
        let mut place = vec![NONE; p];
        let held = columns.held.iter().zip(0..).filter(|(&v, _)| v != NONE);
        held.for_each(|(&v, at)| place[v as usize] = at);
        let missing_of = |needs: &&[u32]| needs.iter().filter(|&&v| place[v as usize] == NONE).count() as u32;
        let missing: Vec<u32> = needs.iter().map(missing_of).collect();
        let most = missing.iter().max().map_or(0, |&most| most as usize);
        let mut rows = Lists::new(most + 1, needs.len());
        missing.iter().enumerate().rev().for_each(|(row, &missing)| rows.put(missing, row as u32));
        ColumnCache { needs, first, needed_by, place, batch: vec![0; p], columns, number: 0, missing, rows }
    }

    /// Returns what the places hold now.
    pub fn into_columns(self) -> Columns {
        self.columns
    }

    /// Returns the next rows, or `None` if all have run. `fits` gets the number of variables that they need, and the sum of what each
    /// needs. Only the first row is chosen without asking it.
    pub fn next(&mut self, fits: impl Fn(usize, usize) -> bool) -> Option<Chosen> {
        self.number += 1;
        let mut chosen = Chosen::default();
        let mut variables: Vec<u32> = Vec::new();
        let mut sum = 0;
        while let Some(&row) = self.rows.first.iter().find(|&&row| row != NONE) {
            let needs = self.needs[row as usize];
            let more = needs.iter().filter(|&&v| self.batch[v as usize] != self.number).count();
            sum += needs.len();
            if !chosen.rows.is_empty() && !fits(variables.len() + more, sum) {
                break;
            }
            self.rows.take(self.missing[row as usize], row);
            self.missing[row as usize] = NONE;
            chosen.rows.push(row as usize);
            for &v in needs {
                if std::mem::replace(&mut self.batch[v as usize], self.number) != self.number {
                    variables.push(v);
                }
            }
            for &v in needs {
                if self.place[v as usize] == NONE {
                    chosen.fresh.push((v, self.take_in(v)));
                }
            }
        }
        if chosen.rows.is_empty() {
            return None;
        }
        variables.sort_unstable();
        chosen.variables = variables.into_iter().map(|v| (v, self.place[v as usize])).collect();
        chosen.rows.sort_unstable();
        Some(chosen)
    }

    /// Gives a column a place whose previous column this batch does not need.
    fn take_in(&mut self, v: u32) -> u32 {
        loop {
            let Columns { held, hand } = &mut self.columns;
            let at = *hand;
            *hand = (at + 1) % held.len();
            let old = held[at];
            if old != NONE && self.batch[old as usize] == self.number {
                continue;
            }
            if old != NONE {
                self.place[old as usize] = NONE;
                self.changes(old, 1);
            }
            self.columns.held[at] = v;
            self.place[v as usize] = at as u32;
            self.changes(v, -1);
            return at as u32;
        }
    }

    /// Adds `by` to the number of missing columns of each row that needs column `v`.
    fn changes(&mut self, v: u32, by: i32) {
        for at in self.first[v as usize]..self.first[v as usize + 1] {
            let row = self.needed_by[at];
            let missing = self.missing[row as usize];
            if missing != NONE {
                self.rows.take(missing, row);
                self.missing[row as usize] = missing.wrapping_add_signed(by);
                self.rows.put(self.missing[row as usize], row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns random sets of `degree` of `p` variables.
    fn random(p: usize, degree: usize) -> Vec<Vec<u32>> {
        let mut state = 7u64;
        let mut below = move |end: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % end
        };
        let row = |row: usize| {
            let mut needs = vec![row as u32];
            while needs.len() <= degree {
                let v = below(p) as u32;
                if !needs.contains(&v) {
                    needs.push(v);
                }
            }
            needs
        };
        (0..p).map(row).collect()
    }

    #[test]
    fn every_row_is_given_once_with_its_columns_in_place() {
        let (p, degree) = (300, 8);
        let needs = random(p, degree);
        let all = needs.iter().map(Vec::len).sum::<usize>();
        for places in [degree + 1, 30, 60, 150, p] {
            let mut cache = ColumnCache::new(Columns::none(places), p, needs.iter().map(|needs| &needs[..]).collect());
            let mut held = vec![NONE; places];
            let mut given = vec![0; p];
            let mut copied = 0;
            while let Some(chosen) = cache.next(|count, sum| count <= places && sum <= 40 * places) {
                chosen.fresh.iter().for_each(|&(v, at)| held[at as usize] = v);
                copied += chosen.fresh.len();
                assert!(chosen.variables.len() <= places && chosen.variables.is_sorted());
                assert!(chosen.variables.iter().all(|&(v, at)| held[at as usize] == v));
                for row in chosen.rows {
                    given[row] += 1;
                    assert!(needs[row].iter().all(|&v| chosen.variables.iter().any(|&(own, _)| own == v)));
                }
            }
            assert!(given.iter().all(|&times| times == 1), "{places}");
            // Each column is copied once if all stay; with a fifth of the places, not much more than half of what rows need is copied.
            let most = match places {
                _ if places == p => p,
                60.. => all * 6 / 10,
                _ => all,
            };
            assert!(copied <= most, "{places}: {copied} of {all}");
        }
    }
}
