use super::*;

/// Returns a number below `below` that looks random.
fn draw(at: usize, below: u64) -> u64 {
    let mut x = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (x ^ (x >> 32)) % below
}

/// Columns of dependent values. `kinds`: how many different values they have, 0 for many.
fn columns(n: usize, kinds: &[u64]) -> Vec<Vec<f64>> {
    let value = |row: usize, j: usize, kind: u64| match kind {
        0 => draw(row * 31 + j, 1 << 40) as f64 / (1u64 << 37) as f64 + draw(row, 1 << 20) as f64 / (1 << 17) as f64,
        kind => ((draw(row * 31 + j, kind) + draw(row, kind)) / 2) as f64,
    };
    kinds.iter().enumerate().map(|(j, &kind)| (0..n).map(|row| value(row, j, kind)).collect()).collect()
}

fn run(data: &[Vec<f64>], measure: Measure, rows: Rows, threads: usize) -> (Vec<f64>, Found) {
    let numbers: Vec<Numbers> = data.iter().map(|column| Numbers::Doubles(column)).collect();
    let mut c = vec![7.0; data.len() * data.len()];
    let found = of_pairs(&numbers, measure, rows, &Pool::new(threads), &mut c, &mut |_| Ok(())).unwrap();
    (c, found)
}

/// Returns the correlation of two columns, by their numbers and values.
type Plain<'a> = dyn Fn(usize, usize, &[f64], &[f64]) -> f64 + 'a;

/// Compares the correlations of all pairs with a definition, also for missing values, and on several threads.
fn agree(data: &[Vec<f64>], measure: Measure, within: f64, plain: &Plain) {
    let (n, p) = (data[0].len(), data.len());
    let (c, found) = run(data, measure, Rows::All, 1);
    assert!(found.is_done && found.rows == n);
    let bits = |c: &[f64]| c.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    for rows in [Rows::All, Rows::Pairwise] {
        assert_eq!(bits(&run(data, measure, rows, 2).0), bits(&c));
    }
    let mut holed = data.to_vec();
    for (j, column) in holed.iter_mut().enumerate() {
        column
            .iter_mut()
            .enumerate()
            .filter(|(row, _)| n > 50 && draw(row * 7 + j, 6) == 0)
            .for_each(|(_, value)| *value = f64::NAN);
    }
    assert!(n < 50 || !run(&holed, measure, Rows::All, 2).1.is_done);
    let (by_pair, found) = run(&holed, measure, Rows::Pairwise, 2);
    let whole: Vec<usize> = (0..n).filter(|&row| holed.iter().all(|column| !column[row].is_nan())).collect();
    let (complete, of_complete) = run(&holed, measure, Rows::Complete, 2);
    let mut fewest = n;
    for x in 0..p {
        for y in 0..=x {
            let of = |data: &[Vec<f64>], rows: &[usize]| {
                let values = |j: usize| rows.iter().map(|&row| data[j][row]).collect::<Vec<f64>>();
                if x == y {
                    1.0
                } else {
                    plain(x, y, &values(x), &values(y))
                }
            };
            let both: Vec<usize> = (0..n).filter(|&row| !holed[x][row].is_nan() && !holed[y][row].is_nan()).collect();
            fewest = fewest.min(if x == y { n } else { both.len() });
            let all: Vec<usize> = (0..n).collect();
            for (c, wanted) in [(&c, of(data, &all)), (&by_pair, of(&holed, &both)), (&complete, of(&holed, &whole))] {
                let found = c[x * p + y];
                assert_eq!(found.to_bits(), c[y * p + x].to_bits());
                assert!(
                    (found - wanted).abs() <= within || found.is_nan() && wanted.is_nan(),
                    "{x} {y}: {found} {wanted}"
                );
            }
        }
    }
    assert_eq!((found.rows, of_complete.rows), (fewest, whole.len()));
}

#[test]
fn kendall_is_its_definition() {
    let sign = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).signum() };
    let plain = |_: usize, _: usize, x: &[f64], y: &[f64]| {
        let (mut score, mut of_x, mut of_y) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let (a, b) = (sign(x[i], x[j]), sign(y[i], y[j]));
                score += a * b;
                of_x += a * a;
                of_y += b * b;
            }
        }
        (std::f64::consts::FRAC_PI_2 * score / f64::sqrt(of_x) / f64::sqrt(of_y)).sin()
    };
    for n in [4, 64, 65, 300, 700] {
        agree(&columns(n, &[0, 0, 9, 3, 40, 0]), Measure::Kendall, 1e-14, &plain);
    }
    // Several groups of counts, and one column with signs reversed.
    let mut data = columns(9000, &[0, 0, 50]);
    data.push(data[0].iter().map(|value| -value).collect());
    agree(&data, Measure::Kendall, 1e-14, &plain);
    assert_eq!(run(&data, Measure::Kendall, Rows::All, 2).0[3], -1.0);
}

fn plain_qn(values: &[f64]) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    for i in 0..values.len() {
        all.extend((0..i).map(|j| (values[i] - values[j]).abs()));
    }
    all.sort_by(f64::total_cmp);
    let half = values.len() / 2 + 1;
    all[half * (half - 1) / 2 - 1]
}

#[test]
fn qn_is_its_definition() {
    let plain = |form: Form| {
        move |_: usize, _: usize, x: &[f64], y: &[f64]| {
            let (s, t) = (plain_qn(x), plain_qn(y));
            let of = |sign: f64, by: [f64; 2]| {
                let values: Vec<f64> = x.iter().zip(y).map(|(x, y)| x / by[0] + sign * (y / by[1])).collect();
                plain_qn(&values).powi(2)
            };
            let (r, own) = match form {
                Form::Stable => {
                    let (u, v) = (of(1.0, [s, t]), of(-1.0, [s, t]));
                    ((u - v) / (u + v), [s, t])
                }
                Form::Plain => ((of(1.0, [1.0; 2]) - of(-1.0, [1.0; 2])) / 4.0, [s, t]),
                Form::Cut => ((of(1.0, [1.0; 2]) - of(-1.0, [1.0; 2])) / (4.0 * s * t), [s, t]),
            };
            if own.contains(&0.0) {
                f64::NAN
            } else if form == Form::Plain {
                r
            } else {
                r.clamp(-1.0, 1.0)
            }
        }
    };
    for n in [4, 5, 11, 60, 301, 1200] {
        for form in [Form::Plain, Form::Cut, Form::Stable] {
            let mut data = columns(n, &[0, 0, 40, 8]);
            data[0][n / 2] = 1e9;
            // Only products of scales are large.
            let within = if form == Form::Plain { 1e-3 } else { 1e-12 };
            agree(&data, Measure::Robust(Scale::Qn, form), within, &plain(form));
        }
    }
    // A few values, many times; most of the distances are equal.
    for kinds in [2, 3, 5] {
        for n in [100, 2000] {
            let values: Vec<f64> = (0..n).map(|row| draw(row, kinds) as f64).collect();
            assert_eq!(centre_and_scale(&values, Scale::Qn)[1], plain_qn(&values), "{kinds} {n}");
        }
    }
    let alike = vec![3.0; 50];
    assert_eq!([Scale::Qn, Scale::Tau].map(|scale| centre_and_scale(&alike, scale)), [[3.0, 0.0]; 2]);
}

#[test]
fn tau_scale_and_centre_are_those_of_robustbase() {
    // scaleTau2(c(1, 2, 3, 5, 8, 13, 40), mu.too = TRUE, consistency = FALSE) of robustbase 0.95.
    let [centre, scale] = centre_and_scale(&[1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 40.0], Scale::Tau);
    assert!((centre - 4.6265160738142).abs() < 1e-9, "{centre}");
    assert!((scale - 5.1454678693759).abs() < 1e-9, "{scale}");
}

#[test]
fn latent_correlations_are_likeliest() {
    use super::super::normal::{add_dependence, quantile};
    let kinds = [2, 5, 3, 0, 0, 7];
    let mut data = columns(400, &kinds);
    for (column, &kind) in data.iter_mut().zip(&kinds).filter(|(_, &kind)| kind > 0) {
        // The last level never occurs.
        column.iter_mut().for_each(|value| *value = (*value + 1.0).min(kind as f64));
    }
    let levels = kinds.map(|kind| kind as u32 + u32::from(kind > 0));
    let moments = |x: &[f64], y: &[f64]| {
        let n = x.len() as f64;
        let (a, b) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
        let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| f(x - a, y - b)).sum::<f64>() / n;
        [sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y)]
    };
    let shares = |x: &[f64]| {
        let below = |level: f64| x.iter().filter(|&&value| value <= level).count() as f64 / x.len() as f64;
        let mut shares: Vec<f64> = (1..9).map(|level| below(f64::from(level))).filter(|&share| share > 0.0).collect();
        shares.dedup();
        shares.pop();
        shares
    };
    let cuts = |x: &[f64]| shares(x).into_iter().map(quantile).collect::<Vec<f64>>();
    let plain = |at: usize, other: usize, x: &[f64], y: &[f64]| {
        if kinds[at] == 0 && kinds[other] == 0 {
            let [product, a, b] = moments(x, y);
            return product / (a * b).sqrt();
        }
        if kinds[at] == 0 || kinds[other] == 0 {
            let (numbers, coded) = if kinds[at] == 0 { (x, y) } else { (y, x) };
            let [product, a, _] = moments(numbers, coded);
            let density: f64 =
                cuts(coded).iter().map(|cut| (-cut * cut / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()).sum();
            return (product / a.sqrt() / density).clamp(-0.9999, 0.9999);
        }
        // The likelihood, at steps around its maximum.
        let (a, b) = (cuts(x), cuts(y));
        let likelihood = |r: f64| {
            let mut below: Vec<f64> =
                shares(y).iter().flat_map(|v| shares(x).into_iter().map(move |u| u * v)).collect();
            add_dependence(&a, &b, r, &mut below);
            let (w, h) = (a.len(), b.len());
            let at = |i: usize, j: usize| match (i, j) {
                (0, _) | (_, 0) => 0.0,
                (i, j) if i > w && j > h => 1.0,
                (i, j) if i > w => shares(y)[j - 1],
                (i, j) if j > h => shares(x)[i - 1],
                (i, j) => below[(j - 1) * w + i - 1],
            };
            let cell = |value: f64, all: &[f64]| {
                let mut levels = all.to_vec();
                levels.sort_by(f64::total_cmp);
                levels.dedup();
                levels.iter().position(|&level| level == value).unwrap()
            };
            x.iter()
                .zip(y)
                .map(|(&u, &v)| {
                    let (i, j) = (cell(u, x), cell(v, y));
                    (at(i + 1, j + 1) - at(i, j + 1) - at(i + 1, j) + at(i, j)).ln()
                })
                .sum::<f64>()
        };
        let (mut from, mut to) = (-0.9999, 0.9999);
        while to - from > 1e-5 {
            let (left, right) = (from + (to - from) * 0.382, from + (to - from) * 0.618);
            if likelihood(left) < likelihood(right) {
                from = left
            } else {
                to = right
            }
        }
        0.5 * (from + to)
    };
    agree(&data, Measure::Latent(&levels), 3e-5, &plain);
    // Two levels of equal shares: the sine of an angle.
    let table = |a: usize, b: usize| {
        let cells = [(1.0, 1.0, a), (1.0, 2.0, b), (2.0, 1.0, b), (2.0, 2.0, a)];
        let of =
            |which: usize| cells.iter().flat_map(|&(x, y, count)| vec![[x, y][which]; count]).collect::<Vec<f64>>();
        run(&[of(0), of(1)], Measure::Latent(&[2, 2]), Rows::All, 1).0[1]
    };
    for (a, b) in [(30, 20), (25, 25), (2, 48), (49, 1)] {
        let share = a as f64 / (2 * (a + b)) as f64;
        let wanted = ((share - 0.25) * 2.0 * std::f64::consts::PI).sin();
        assert!((table(a, b) - wanted).abs() < 1e-8, "{a} {b}: {} {wanted}", table(a, b));
    }
    assert_eq!([table(50, 0), table(0, 50)], [0.9999, -0.9999]);
}
