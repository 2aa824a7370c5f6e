//! Scales of numbers and of features.

use super::weights::bandwidth;
use crate::ci::mixed::has;
use crate::panels::{Row, DEEP, WIDE};

/// Most values of a column whose distances are looked at.
const MOST: usize = 1 << 12;

/// Returns the numbers divided so that the median distance of two of them is that of two standard normal numbers. If more than half of the
/// distances are 0, their mean square is that of two such numbers. `present`: a bit for each row with a value; empty: all.
pub(super) fn scaled(values: &[f64], present: &[u64]) -> Vec<f64> {
    let mut sorted: Vec<f64> =
        values.iter().enumerate().filter(|&(row, _)| has(present, row)).map(|(_, &value)| value).collect();
    sorted.sort_by(f64::total_cmp);
    // Evenly spaced among the sorted ones, so that the order of the rows does not matter.
    let some: Vec<f64> = match sorted.len() {
        count if count <= MOST => sorted.clone(),
        count => (0..MOST).map(|k| sorted[k * (count - 1) / (MOST - 1)]).collect(),
    };
    let mut distance = median_distance(&some) / bandwidth(1);
    if distance <= 0.0 {
        let count = sorted.len().max(1) as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        distance = (sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    }
    match distance > 0.0 {
        true => values.iter().map(|value| value / distance).collect(),
        false => vec![0.0; values.len()],
    }
}

/// Returns the smallest distance that more than half of the pairs of some ascending numbers do not exceed; 0 for fewer than two.
fn median_distance(sorted: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return 0.0 };
    let pairs = sorted.len() * (sorted.len() - 1) / 2;
    // Number of pairs not farther apart than `distance`.
    let within = |distance: f64| {
        let mut low = 0;
        let mut count = 0;
        for (high, value) in sorted.iter().enumerate() {
            while value - sorted[low] > distance {
                low += 1;
            }
            count += high - low;
        }
        count
    };
    if within(0.0) * 2 > pairs || pairs == 0 {
        return 0.0;
    }
    // The bits of positive doubles have the order of the doubles.
    let (mut least, mut most) = (0u64, (last - first).to_bits());
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        match within(f64::from_bits(middle)) * 2 > pairs {
            true => most = middle,
            false => least = middle,
        }
    }
    f64::from_bits(most)
}

/// Returns the sums over the rows with a value, by column: the sums of those of [`DEEP`] rows each, which a GPU can make at the same time.
fn sums(rows: &[Row], present: &[u64], of: impl Fn(&[f64; WIDE]) -> [f64; WIDE]) -> [f64; WIDE] {
    let add =
        |sums: &mut [f64; WIDE], more: [f64; WIDE]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    let mut sums = [0.0; WIDE];
    for (part, rows) in rows.chunks(DEEP).enumerate() {
        let mut some = [0.0; WIDE];
        let there = rows.iter().enumerate().filter(|&(at, _)| has(present, part * DEEP + at));
        there.for_each(|(_, row)| add(&mut some, of(&row.0)));
        add(&mut sums, some);
    }
    sums
}

/// Gives the first `count` columns a mean of 0 and a mean square of 1 over the rows with a value, and sets the others to 0. A constant column
/// becomes 0.
pub(super) fn standardise(rows: &mut [Row], count: usize, present: &[u64]) {
    let n = (0..rows.len()).filter(|&row| has(present, row)).count().max(1) as f64;
    let mean = sums(rows, present, |row| *row).map(|sum| sum / n);
    let squares = sums(rows, present, |row| std::array::from_fn(|l| (row[l] - mean[l]) * (row[l] - mean[l])));
    let by = squares.map(|sum| sum / n).map(|square| if square > 1e-20 { 1.0 / square.sqrt() } else { 0.0 });
    for (at, row) in rows.iter_mut().enumerate() {
        let is_there = has(present, at);
        (0..count).for_each(|l| row.0[l] = if is_there { (row.0[l] - mean[l]) * by[l] } else { 0.0 });
    }
    rows.iter_mut().for_each(|row| row.0[count..].fill(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_all_pairs() {
        for (count, range) in [(2, 1000), (5, 1000), (40, 1000), (41, 7), (60, 3)] {
            let mut values: Vec<f64> = (0..count).map(|k: u64| f64::from((k * 7919 % range) as u32)).collect();
            values.sort_by(f64::total_cmp);
            let mut distances: Vec<f64> = (0..values.len())
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .map(|(a, b)| values[a] - values[b])
                .collect();
            distances.sort_by(f64::total_cmp);
            // The smallest distance that more than half of the pairs do not exceed.
            let wanted = distances[distances.len() / 2];
            assert_eq!(median_distance(&values), wanted, "{count} {range}");
        }
    }

    #[test]
    fn ties_and_constants_have_a_scale() {
        let mut values = vec![0.0; 100];
        assert_eq!(scaled(&values, &[]), values);
        values[3] = 5.0;
        let square = scaled(&values, &[]).iter().map(|value| value * value).sum::<f64>() / 100.0;
        assert!((square - 1.0).abs() < 0.02, "{square}");
    }
}
