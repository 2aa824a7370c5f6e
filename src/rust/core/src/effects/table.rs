//! A summary of each pair: number of effects, their smallest absolute value, and their median.

/// Effects as [`super::Plan::effects`] writes them.
pub struct Pairs<'a> {
    /// Number of y.
    pub rows: usize,
    /// Number of columns of each x.
    pub columns: &'a [usize],
    /// The matrices of all x, in turn.
    pub values: &'a [f64],
    /// The pairs that are stored separately: index of x, index of y, number of effects; by x, then y.
    pub own: &'a [(usize, usize, usize)],
    /// The effects of these pairs.
    pub own_values: &'a [f64],
}

/// A summary of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    /// The smallest absolute value, NaN if an effect is NaN.
    pub smallest: f64,
    /// The median, NaN if an effect is NaN.
    pub median: f64,
    /// The number of effects.
    pub count: usize,
}

fn words(effects: &mut [f64]) -> Words {
    let count = effects.len();
    if effects.iter().any(|effect| effect.is_nan()) {
        return Words { smallest: f64::NAN, median: f64::NAN, count };
    }
    effects.sort_unstable_by(f64::total_cmp);
    let smallest = effects.iter().fold(f64::INFINITY, |least, effect| least.min(effect.abs()));
    let (low, high) = (effects[(count - 1) / 2], effects[count / 2]);
    Words { smallest, median: if low == high { low } else { (low + high) / 2.0 }, count }
}

/// Calls `tell` for each pair, by x, then by y.
pub fn describe(pairs: &Pairs, mut tell: impl FnMut(usize, usize, Words)) {
    let (mut start, mut at_own, mut own_start) = (0, 0, 0);
    let mut effects = Vec::new();
    for (x, &columns) in pairs.columns.iter().enumerate() {
        let matrix = &pairs.values[start..start + columns * pairs.rows];
        start += matrix.len();
        for y in 0..pairs.rows {
            effects.clear();
            match pairs.own.get(at_own) {
                Some(&(own_x, own_y, count)) if (own_x, own_y) == (x, y) => {
                    effects.extend_from_slice(&pairs.own_values[own_start..own_start + count]);
                    own_start += count;
                    at_own += 1;
                }
                _ => effects.extend((0..columns).map(|column| matrix[column * pairs.rows + y])),
            }
            tell(x, y, words(&mut effects));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_its_words() {
        let pairs = Pairs {
            rows: 2,
            columns: &[2, 1],
            values: &[-3.0, 7.0, 1.0, 8.0, f64::NAN, -2.0],
            own: &[(0, 1, 3)],
            own_values: &[5.0, -4.0, 6.0],
        };
        let mut told = Vec::new();
        describe(&pairs, |x, y, words| told.push((x, y, words)));
        let words = |smallest, median, count| Words { smallest, median, count };
        assert_eq!(told[0], (0, 0, words(1.0, -1.0, 2)));
        assert_eq!(told[1], (0, 1, words(4.0, 5.0, 3)));
        assert!(told[2].2.smallest.is_nan() && told[2].2.median.is_nan());
        assert_eq!(told[3], (1, 1, words(2.0, -2.0, 1)));
    }
}
