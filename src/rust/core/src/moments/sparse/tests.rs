use super::super::correlation;
use super::*;
use crate::numbers::Numbers;

struct Slots(Vec<i32>, Vec<i32>, Vec<f64>);

fn slots(data: &[f64], n: usize) -> Slots {
    let mut slots = Slots(vec![0], vec![], vec![]);
    for column in data.chunks(n) {
        for (row, &value) in column.iter().enumerate().filter(|(_, &value)| value != 0.0) {
            slots.1.push(row as i32);
            slots.2.push(value);
        }
        slots.0.push(slots.1.len() as i32);
    }
    slots
}

/// Returns counts as of genes by cell, with columns of every share of zeros.
fn counts(n: usize, p: usize) -> Vec<f64> {
    let mut state = 5u64;
    let mut draw = || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let depth: Vec<f64> = (0..n).map(|_| draw()).collect();
    (0..n * p)
        .map(|at| {
            let (row, j) = (at % n, at / n);
            let there = draw() < 0.02 + depth[row] * (j % 7) as f64 / 6.0;
            let value = (20.0 * draw() * draw()).floor();
            match (j % 7, there) {
                (_, false) => 0.0,
                (5, _) => 1e6 + value - 7.0,
                (4, _) => -value * 1e180,
                (3, _) => value * 1e-170,
                _ => value,
            }
        })
        .collect()
}

#[test]
fn entries_alone_have_the_correlations_of_all() {
    for (n, p) in [(6, 3), (500, 40), (900, 7), (40, 300), (5000, 23)] {
        let mut data = counts(n, p);
        // Each column varies. One has no zeros, and a mean far from its deviations.
        (0..p).for_each(|j| data[j * n + j % n] += if j % 7 == 3 { 1e-169 } else { 3.0 });
        (0..n).for_each(|row| data[2 * n + row] = 1e8 + (row % 5) as f64);
        if p > 20 {
            (0..n).for_each(|row| data[9 * n + row] = -2.0 * data[8 * n + row]);
            (0..n).for_each(|row| data[12 * n + row] = data[5 * n + row]);
        }
        let mut holed = data.clone();
        for at in (0..n * p).step_by(53 * p + 1).filter(|_| n > 100) {
            holed[at] = f64::NAN;
        }
        for (data, rows) in [(&data, Rows::All), (&holed, Rows::Complete)] {
            let slots = slots(data, n);
            let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
            for kind in [Kind::Pearson, Kind::Spearman, Kind::Scores] {
                let mut wanted = vec![7.0; p * p];
                let dense = correlation(&columns, kind, rows, &Pool::none(), &mut wanted, &mut |_| Ok(())).unwrap();
                let mut known: Option<Vec<f64>> = None;
                for threads in [1, 2, 5] {
                    let pool = Pool::new(threads);
                    let x = Sparse::new(n, &slots.0, &slots.1, &slots.2, &pool).unwrap();
                    let mut c = vec![7.0; p * p];
                    let found = of_sparse(x, kind, rows, &pool, &mut c, &mut |_| Ok(())).unwrap();
                    assert_eq!((found.rows, found.is_done), (dense.rows, dense.is_done));
                    for (ours, theirs) in found.summaries.iter().zip(&dense.summaries) {
                        let of = |summary: &Summary| (summary.least, summary.largest, summary.missing);
                        assert_eq!(of(ours), of(theirs));
                    }
                    for (at, (ours, theirs)) in c.iter().zip(&wanted).enumerate() {
                        assert!((ours - theirs).abs() < 1e-12, "{n} x {p} {kind:?} {at}: {ours} {theirs}");
                    }
                    if p > 20 {
                        assert_eq!((c[9 * p + 8], c[12 * p + 5]), (-1.0, 1.0));
                    }
                    match &known {
                        None => known = Some(c),
                        Some(known) => assert!(*known == c),
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_missing_or_constant_or_no_matrix_is_seen() {
    let pool = Pool::new(2);
    let done = |slots: &Slots, rows| {
        let x = Sparse::new(4, &slots.0, &slots.1, &slots.2, &pool).unwrap();
        let mut c = vec![7.0; 4];
        let found = of_sparse(x, Kind::Pearson, rows, &pool, &mut c, &mut |_| Ok(())).unwrap();
        (found.is_done, found.rows, found.summaries[1].missing)
    };
    let data = |cell: f64| slots(&[1.0, 0.0, 0.0, 5.0, 0.0, cell, 2.0, 0.0], 4);
    assert_eq!(done(&data(3.0), Rows::All), (true, 4, 0));
    assert_eq!(done(&data(f64::NAN), Rows::All), (false, 4, 1));
    assert_eq!(done(&data(f64::NAN), Rows::Complete), (true, 3, 0));
    assert_eq!(done(&data(f64::INFINITY), Rows::All), (false, 4, 0));
    assert_eq!(done(&slots(&[1.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0], 4), Rows::All), (false, 4, 0));
    let refused = |starts: &[i32], rows: &[i32]| Sparse::new(4, starts, rows, &[1.0; 3], &pool).is_err();
    assert!(!refused(&[0, 2, 3], &[0, 3, 1]));
    for (starts, rows) in [
        (&[0, 2, 2][..], &[0, 3, 1]),
        (&[1, 2, 3], &[0, 3, 1]),
        (&[0, 3, 2, 3], &[0, 1, 3]),
        (&[0, 2, 3], &[3, 0, 1]),
        (&[0, 2, 3], &[0, 4, 1]),
        (&[0, 2, 3], &[-1, 3, 1]),
        (&[], &[0, 1, 2]),
    ] {
        assert!(refused(starts, rows), "{starts:?} {rows:?}");
    }
}
