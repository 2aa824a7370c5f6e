//! Kendall's tau-b. A pass over the rows in the order of x counts, for each row, the earlier rows whose y is less and those whose y is greater.
//! A set of places with running counts answers that in a few steps (a counting tree of width 64).

use super::Paired;

pub(super) struct Kendall;

/// The order of a column.
pub(super) struct Order {
    /// The rows in ascending order of their values.
    rows: Vec<u32>,
    /// By row: its place in that order.
    places: Vec<u32>,
    /// By row: the first place of its value, and the place after the last; empty if no value is tied.
    tied: Vec<[u32; 2]>,
    /// Number of pairs of rows with different values.
    untied: f64,
}

impl Paired for Kendall {
    type Column = Order;
    type Work = Seen;

    fn column(&self, _: usize, values: &[f64]) -> Option<Order> {
        let n = values.len();
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let mut places = vec![0; n];
        rows.iter().zip(0..).for_each(|(&row, place)| places[row as usize] = place);
        let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
        let (mut untied, mut tied, mut first) = (pairs(n), Vec::new(), 0);
        for same in rows.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
            if same.len() > 1 && tied.is_empty() {
                tied = places.iter().map(|&place| [place, place + 1]).collect();
            }
            if same.len() > 1 {
                let ends = [first as u32, (first + same.len()) as u32];
                same.iter().for_each(|&row| tied[row as usize] = ends);
                untied -= pairs(same.len());
            }
            first += same.len();
        }
        Some(Order { rows, places, tied, untied })
    }

    #[inline(always)]
    fn pair(&self, x: &Order, y: &Order, seen: &mut Seen) -> f64 {
        seen.clear(x.rows.len());
        let mut score = 0;
        if x.tied.is_empty() && y.tied.is_empty() {
            for (&row, before) in x.rows.iter().zip(0..) {
                let place = y.places[row as usize] as usize;
                score += 2 * seen.below(place) - before;
                seen.insert(place);
            }
        } else {
            let ends = |of: &Order, row: u32| match of.tied.is_empty() {
                true => [of.places[row as usize], of.places[row as usize] + 1],
                false => of.tied[row as usize],
            };
            let mut at = 0;
            while at < x.rows.len() {
                let end = ends(x, x.rows[at])[1] as usize;
                // Rows with one x are compared with earlier rows only.
                for &row in &x.rows[at..end] {
                    let [first, last] = ends(y, row);
                    score += seen.below(first as usize) + seen.below(last as usize) - at as i64;
                }
                for &row in &x.rows[at..end] {
                    seen.insert(y.places[row as usize] as usize);
                }
                at = end;
            }
        }
        let tau = score as f64 / (x.untied.sqrt() * y.untied.sqrt());
        match tau.abs() >= 1.0 - 1e-15 {
            true => tau.signum(),
            false => (std::f64::consts::FRAC_PI_2 * tau).sin(),
        }
    }
}

/// A set of places that says how many of its members are below a place.
#[derive(Default)]
pub(super) struct Seen {
    /// A bit for each place.
    bits: Vec<u64>,
    /// For each word of bits, the number of members in the words before it, within its group of 64.
    words: Vec<u16>,
    /// The same for groups of 64 words, for groups of 64 of these, and so on.
    groups: Vec<Vec<u32>>,
}

/// Number of words in a group, and of counts that are raised together.
const GROUP: usize = 64;
const LANES: usize = 8;

impl Seen {
    fn clear(&mut self, n: usize) {
        // A place may be n.
        let mut count = n / 64 + 1;
        self.bits.clear();
        self.bits.resize(count, 0);
        self.words.clear();
        self.words.resize(count.next_multiple_of(LANES), 0);
        let mut level = 0;
        while count > GROUP {
            count = count.div_ceil(GROUP);
            if self.groups.len() == level {
                self.groups.push(Vec::new());
            }
            self.groups[level].clear();
            self.groups[level].resize(count.next_multiple_of(LANES), 0);
            level += 1;
        }
        self.groups.truncate(level);
    }

    #[inline(always)]
    fn below(&self, place: usize) -> i64 {
        let word = place / 64;
        let own = (self.bits[word] & ((1 << (place % 64)) - 1)).count_ones();
        let mut count = i64::from(own) + i64::from(self.words[word]);
        let mut group = word;
        for groups in &self.groups {
            group /= GROUP;
            count += i64::from(groups[group]);
        }
        count
    }

    #[inline(always)]
    fn insert(&mut self, place: usize) {
        let word = place / 64;
        self.bits[word] |= 1 << (place % 64);
        raise(&mut self.words, word);
        let mut group = word;
        for groups in &mut self.groups {
            group /= GROUP;
            raise(groups, group);
        }
    }
}

/// Adds 1 to the counts after `at` in its group.
#[inline(always)]
fn raise<T: Copy + std::ops::AddAssign + From<bool>>(counts: &mut [T], at: usize) {
    let end = counts.len().min((at / GROUP + 1) * GROUP);
    let first = at / LANES * LANES;
    for (chunk, from) in counts[first..end].chunks_exact_mut(LANES).zip((first..).step_by(LANES)) {
        for (lane, count) in chunk.iter_mut().enumerate() {
            *count += T::from(from + lane > at);
        }
    }
}
