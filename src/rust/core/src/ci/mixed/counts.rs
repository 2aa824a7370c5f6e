//! Tests of levels only.

use super::cells::{domain, Cells, Known};
use super::data::Frame;
use super::rows::{Asked, Index};
use super::{pooled, which, Holes, Mixed, Work};
use crate::ci::chi_squared::upper_tail;
use crate::ci::discrete::{adapted_df, Counter, Table};

/// Returns p of the first two factors of `work` given the others; `whole`: whether all rows count.
pub(super) fn p(test: &Mixed, frame: &Frame, whole: bool, work: &mut Work, known: &mut impl Known) -> f64 {
    let Some(domain) = domain(frame, &work.factors) else { return 1.0 };
    let occurring = |factor: u32| u64::from(frame.occurring(factor as usize));
    let (x, y) = (occurring(work.factors[0]), occurring(work.factors[1]));
    let sets = test.sets();
    work.all.resize_with(sets.max(work.all.len()), Default::default);
    work.counters.resize_with(sets.max(work.counters.len()), Counter::default);
    for set in 0..sets {
        let counter = &mut work.counters[set];
        let cells = &mut work.all[set];
        if !known.take(set, which(whole), cells)
            && !count(frame, set, &work.factors, domain, counter, &mut work.others, cells)
        {
            let rows = (!whole).then_some(&work.rows[..]);
            let asked = Asked { frame, set, rows, factors: &work.factors, numbers: &[] };
            cells.fill(&asked, domain, &mut work.filling);
            cells.sort_by_key();
        }
    }
    if test.holes == Holes::Imputed {
        let declared = |factor: u32| f64::from(frame.variables[factor as usize].levels);
        let (of_pair, of_s) = work.factors.split_at(2);
        let strata: f64 = of_s.iter().map(|&factor| declared(factor)).product();
        let df = ((declared(of_pair[0]) - 1.0) * (declared(of_pair[1]) - 1.0) * strata).max(1.0);
        let means = pooled::g_squared(&work.all[..sets], x, y);
        return pooled::of_likelihoods(means.own, means.shared, df, sets as f64).p;
    }
    let cells = &work.all[0];
    let seen = seen(cells, work.factors.iter().map(|&factor| occurring(factor)));
    if seen[0] < 2 || seen[1] < 2 {
        return f64::NAN;
    }
    // Factors of S that are constant in these rows carry no information.
    let strata: f64 = seen[2..].iter().map(|&levels| levels as f64).product();
    let size = seen[2..].iter().filter(|&&levels| levels > 1).count();
    let pair = seen[0] as f64 * seen[1] as f64;
    let full = (seen[0] as f64 - 1.0) * (seen[1] as f64 - 1.0) * strata;
    if test.rules.ask_for_rows && cells.rows() < 10.0 * full {
        work.too_few = true;
        return 1.0;
    }
    let occupied = cells.keys.len() as f64;
    let df = if test.rules.adapt && size > 0 { adapted_df(full, pair, strata, size, occupied) } else { full };
    upper_tail(g_squared(cells, x, y, &mut work.filling.index), df)
}

/// Counts all rows by these factors, the first two of which are x and y, with the engine for tests of discrete variables. Returns whether
/// it had room for every possible cell. Cells are in the order of their keys.
fn count(
    frame: &Frame,
    set: usize,
    factors: &[u32],
    domain: u64,
    counter: &mut Counter,
    given: &mut Vec<u32>,
    out: &mut Cells,
) -> bool {
    let place = |factor: &u32| frame.among_levels[*factor as usize];
    given.clear();
    given.extend(factors[2..].iter().rev().map(place));
    out.keys.clear();
    out.counts.clear();
    (out.domain, out.k) = (domain, 0);
    let mut is_whole = false;
    counter.count(&frame.coded[set], place(&factors[0]), given, &[place(&factors[1])], &mut |_, table| {
        // Strata are in lexicographic order. As in keys, the last member of S is the digit that changes fastest.
        let Table::Dense { counts, lx, ly } = *table else { return };
        is_whole = counts.len() as u64 == domain;
        for (stratum, cells) in counts.chunks_exact(lx * ly).enumerate().filter(|_| is_whole) {
            for (y, x) in (0..ly).flat_map(|y| (0..lx).map(move |x| (y, x))) {
                let count = cells[x * ly + y];
                if count > 0 {
                    out.keys.push(((stratum * ly + y) * lx + x) as u64);
                    out.counts.push(f64::from(count));
                }
            }
        }
    });
    is_whole
}

/// Returns how many levels of each factor occur.
fn seen(cells: &Cells, levels: impl Iterator<Item = u64>) -> Vec<usize> {
    let mut stride = 1;
    let mut marks = Vec::new();
    levels
        .map(|levels| {
            marks.clear();
            marks.resize(levels as usize, false);
            cells.keys.iter().for_each(|key| marks[(key / stride % levels) as usize] = true);
            stride *= levels;
            marks.iter().filter(|&&mark| mark).count()
        })
        .collect()
}

/// Returns G² of cells with keys (s, y, x), for `x` and `y` levels: 2 Σ o ln(o n_s / (n_xs n_ys)).
fn g_squared(cells: &Cells, x: u64, y: u64, index: &mut Index) -> f64 {
    let [mut xs, mut ys, mut strata] = [Cells::default(), Cells::default(), Cells::default()];
    let stratum = |key: u64| key / (x * y);
    let with_x = |key: u64| stratum(key) * x + key % x;
    let with_y = |key: u64| key / x;
    cells.collapse(cells.domain / y, with_x, index, &mut xs);
    let of_x: Vec<f64> = cells.keys.iter().map(|&key| xs.counts[index.place(with_x(key))]).collect();
    cells.collapse(cells.domain / x, with_y, index, &mut ys);
    let of_y: Vec<f64> = cells.keys.iter().map(|&key| ys.counts[index.place(with_y(key))]).collect();
    cells.collapse(cells.domain / (x * y), stratum, index, &mut strata);
    let of_s = cells.keys.iter().map(|&key| strata.counts[index.place(stratum(key))]);
    let terms = cells.counts.iter().zip(of_s).zip(of_x.iter().zip(&of_y));
    2.0 * terms.map(|((o, s), (x, y))| o * (o * s / (x * y)).ln()).sum::<f64>()
}
