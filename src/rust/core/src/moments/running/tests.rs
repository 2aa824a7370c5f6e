use super::super::columns::{summarise, Of};
use super::super::{correlation, Kind, Rows};
use super::*;

/// Returns uniform numbers in [-1, 1], from a multiplier of Steele and Vigna (2021).
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn table(n: usize, p: usize, seed: u64) -> Vec<f64> {
    let mut draw = noise(seed);
    let common: Vec<f64> = (0..n).map(|_| draw()).collect();
    (0..n * p).map(|at| draw() + common[at % n] * (at / n % 3) as f64).collect()
}

/// Adds the columns in blocks with these numbers of rows in turn.
fn run(columns: &[Numbers], cuts: &[usize], complete: bool, pool: &Pool) -> Totals {
    let n = columns[0].len();
    let mut running = Running::new(columns.len(), complete).unwrap();
    let (mut from, mut cut) = (0, 0);
    while from < n {
        let to = n.min(from + cuts[cut % cuts.len()]);
        let block: Vec<Numbers> = columns
            .iter()
            .map(|column| match column {
                Numbers::Doubles(values) => Numbers::Doubles(&values[from..to]),
                Numbers::Integers(values) => Numbers::Integers(&values[from..to]),
            })
            .collect();
        let found = running.add(&block, pool, &mut |_| Ok(())).unwrap();
        let plain = summarise(&block, &Of::All, to - from, pool, &mut || Ok(())).unwrap();
        for (found, plain) in found.iter().zip(&plain) {
            let of = |summary: &Summary| (summary.least, summary.largest, summary.missing);
            assert_eq!(of(found), of(plain));
        }
        (from, cut) = (to, cut + 1);
    }
    running.totals(pool, &mut |_| Ok(())).unwrap()
}

fn c_of(totals: &Totals, pool: &Pool) -> Vec<f64> {
    let p = totals.columns.p();
    let mut c = vec![7.0; p * p];
    totals.correlations(pool, &mut c, &mut || Ok(())).unwrap();
    c
}

fn dense(columns: &[Numbers], rows: Rows) -> Vec<f64> {
    let mut c = vec![7.0; columns.len() * columns.len()];
    assert!(correlation(columns, Kind::Pearson, rows, &Pool::none(), &mut c, &mut |_| Ok(())).unwrap().is_done);
    c
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, now| if now > most || now.is_nan() { now } else { most })
}

#[test]
fn any_cut_on_any_threads_has_the_same_bits_and_those_of_all_at_once_to_1e_12() {
    for (n, p) in [(3, 2), (1024, 3), (1025, 70), (5000, 5), (3000, 130), (9000, 64), (2049, 520), (5000, 515)] {
        let data = table(n, p, 5);
        let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
        let whole = run(&columns, &[n], false, &Pool::none());
        for (cuts, threads) in [(&[1000, 1, 3][..], 2), (&[n / 2 + 1, 7], 3), (&[4096], 1)] {
            assert!(run(&columns, cuts, false, &Pool::new(threads)) == whole, "{n} x {p}, {cuts:?}");
        }
        let pool = Pool::new(2);
        let c = c_of(&whole, &pool);
        assert!(apart(&c, &dense(&columns, Rows::All)) < 1e-13, "{n} x {p}");
        assert!((0..p).all(|i| c[i * p + i] == 1.0 && (0..i).all(|j| c[i * p + j] == c[j * p + i])));
    }
}

#[test]
fn large_means_trends_and_the_ends_of_the_range_lose_no_digits() {
    let (n, p) = (6000, 9);
    let noise = table(n, p, 11);
    let scaled = |j: usize, row: usize| {
        let value = noise[j * n + row];
        match j {
            0 => 1e8 + value,
            1 => value * 1e-3 + row as f64,
            // Most rows are far from the first ones.
            2 => value + if row < 700 { 0.0 } else { 1e6 },
            3 => 1e200 * value,
            // The first segments have only zeros; later values have squares that are not doubles.
            4 => 1e-180 * if row < 2500 { 0.0 } else { value },
            5 => 1e150 * if row < 4000 { 1e-40 * value } else { value },
            6 => -(1e8 + noise[row]),
            7 => 4.0 * (1e8 + noise[row]),
            _ => 1e15 + (4.0 * value).round(),
        }
    };
    let data: Vec<f64> = (0..n * p).map(|at| scaled(at / n, at % n)).collect();
    let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
    let wanted = dense(&columns, Rows::All);
    let pool = Pool::new(2);
    let c = c_of(&run(&columns, &[977], false, &pool), &pool);
    assert!(apart(&c, &wanted) < 1e-12, "{:e}", apart(&c, &wanted));
    // These columns are equal up to their sign and a power of two.
    assert_eq!((c[6], c[7]), (-1.0, 1.0));
    // The rows of several workers are joined.
    let cut = |from: usize, to: usize| {
        let part: Vec<Numbers> = data.chunks(n).map(|column| Numbers::Doubles(&column[from..to])).collect();
        run(&part, &[500], false, &pool)
    };
    let mut joined = Totals::none(p).unwrap();
    for (from, to) in [(0, 1), (1, 2400), (2400, 2400), (2400, 5999), (5999, 6000)] {
        if from < to {
            joined.join(&cut(from, to), &pool).unwrap();
        } else {
            joined.join(&Totals::none(p).unwrap(), &pool).unwrap();
        }
    }
    assert_eq!(joined.columns.n, n as u64);
    let of_parts = c_of(&joined, &pool);
    assert!(apart(&of_parts, &wanted) < 1e-12, "{:e}", apart(&of_parts, &wanted));
    assert_eq!((of_parts[6], of_parts[7]), (-1.0, 1.0));
    // The totals are taken apart and put together.
    let cells: Vec<f64> = (0..p).flat_map(|y| joined.products.column(y).to_vec()).collect();
    assert!(Totals::from_parts(joined.columns.clone(), &cells).unwrap().unwrap() == joined);
    assert!(Totals::from_parts(joined.columns.clone(), &cells[1..]).unwrap().is_none());
}

#[test]
fn rows_that_miss_a_value_are_left_out_and_integers_are_numbers() {
    for p in [4, 600] {
        let n = 3000;
        let mut data = table(n, p, 3);
        (0..n * p).step_by(40 * p + 7).for_each(|at| data[at] = f64::NAN);
        let whole: Vec<i32> =
            (0..n).map(|row| if row % 501 == 9 { i32::MIN } else { (row * row % 77) as i32 }).collect();
        let mut columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
        columns[p - 1] = Numbers::Integers(&whole);
        let wanted = dense(&columns, Rows::Complete);
        let pool = Pool::new(2);
        let totals = run(&columns, &[611], true, &pool);
        assert!(apart(&c_of(&totals, &pool), &wanted) < 1e-13);
        let complete = (0..n).filter(|&row| columns.iter().all(|column| !column.at(row).is_nan())).count();
        assert_eq!((totals.columns.n, totals.columns.left_out), (complete as u64, (n - complete) as u64));
        let missing = |j: usize| (0..n).filter(|&row| columns[j].at(row).is_nan()).count() as u64;
        assert!((0..p).all(|j| totals.columns.missing[j] == missing(j)));
        let least = (0..n).map(|row| columns[0].at(row)).fold(f64::INFINITY, f64::min);
        assert!(totals.columns.least[0] >= least);
    }
}

#[test]
fn a_column_that_does_not_vary_has_no_correlation_and_a_caller_stops_the_work() {
    let n = 2500;
    let mut data = table(n, 3, 1);
    data[n..2 * n].fill(0.1);
    let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
    let totals = run(&columns, &[100], false, &Pool::none());
    assert_eq!((totals.columns.least[1], totals.columns.largest[1]), (0.1, 0.1));
    let c = c_of(&totals, &Pool::none());
    assert!(c[1].is_nan() && c[5].is_nan() && !c[2].is_nan());
    let wide = table(5000, 600, 2);
    let columns: Vec<Numbers> = wide.chunks(5000).map(Numbers::Doubles).collect();
    let mut running = Running::new(600, false).unwrap();
    let stop = &mut |_| Err(crate::Error::Interrupted);
    assert_eq!(running.add(&columns, &Pool::new(2), stop).unwrap_err(), crate::Error::Interrupted);
}
