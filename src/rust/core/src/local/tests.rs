use super::*;
use crate::ci::gauss::{Gauss, Reading};
use crate::matrix::by_column;
use crate::moments::{Prepared, Table};
use crate::numbers::Numbers;
use crate::observer::Unobserved;
use crate::pool::Pool;

/// Data of `p` variables: noise, and sums of earlier variables. The third is a copy of the second if `copied`.
fn columns(n: usize, p: usize, seed: u64, copied: bool) -> Vec<Vec<f64>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut all: Vec<Vec<f64>> = Vec::new();
    for j in 0..p {
        let mut column: Vec<f64> = (0..n).map(|_| draw()).collect();
        for earlier in &all {
            let weight = if draw() > 0.2 { draw() * 2.0 } else { 0.0 };
            column.iter_mut().zip(earlier).for_each(|(cell, value)| *cell += weight * value);
        }
        if copied && j == 2 {
            column = all[1].clone();
        }
        all.push(column);
    }
    all
}

/// Returns all subsets of `size` of `of`, in lexicographic order.
fn subsets_of(of: &[u32], size: usize) -> Vec<Vec<u32>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with =
        |at: usize| subsets_of(&of[at + 1..], size - 1).into_iter().map(move |rest| [&[of[at]], &rest[..]].concat());
    (0..of.len()).flat_map(with).collect()
}

/// Returns by the definition which candidates 1, 2, ... are left for variable 0, and their smallest |z|.
fn plainly(c: &[f64], p: usize, n: f64, cutoff: f64, stable: bool) -> (Vec<bool>, Vec<f64>) {
    let gauss = Gauss::new(by_column(c, p).unwrap(), n, Reading::GaussCItest).unwrap();
    let rule = Rule::new(n, cutoff).unwrap();
    let mut kept = vec![true; p - 1];
    let mut z_min: Vec<f64> = (1..p).map(|x| rule.z(c[x], 0)).collect();
    for size in 1..p {
        let mut frozen: Vec<u32> = (1..p as u32).filter(|&x| kept[x as usize - 1]).collect();
        if stable {
            let strength = |x: u32| c[x as usize].abs();
            frozen.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
        }
        for &x in &frozen {
            let others = frozen.iter().copied().filter(|&z| z != x && (stable || kept[z as usize - 1]));
            for set in subsets_of(&others.collect::<Vec<_>>(), size) {
                let z = rule.z(gauss.partial(x as usize, 0, &set).unwrap(), size);
                let z_min = &mut z_min[x as usize - 1];
                *z_min = z_min.min(z);
                if z <= cutoff {
                    kept[x as usize - 1] = false;
                    break;
                }
            }
        }
    }
    (kept, z_min)
}

#[test]
fn both_forms_are_their_definitions_on_any_threads() {
    for seed in 0..60 {
        let (n, p) = ([8, 30, 200][seed as usize % 3], 4 + seed as usize % 6);
        let data = columns(n, p, seed, seed % 4 == 0);
        let numbers: Vec<Numbers> = data.iter().map(|column| Numbers::Doubles(column)).collect();
        let all: Vec<u32> = (0..p as u32).collect();
        let pool = Pool::none();
        let prepared = Prepared::new(&Table::new(n, numbers.clone(), None), &all, &pool, &mut || Ok(())).unwrap();
        let mut c = vec![0.0; p * p];
        c.chunks_mut(p).zip(&all).for_each(|(column, &x)| prepared.correlations(x, &all, column));
        let of = Prepared::new(&Table::new(n, numbers, None), &all[1..], &pool, &mut || Ok(())).unwrap();
        let (of, in_matrix) = (OfColumns(&of), OfMatrix { cells: &c, p, candidates: &all[1..] });
        for cutoff in [0.5, 1.96] {
            // Level 0 is the caller's, so all candidates take part here.
            let rule = Rule::new(n as f64, cutoff).unwrap();
            let target = &c[1..p];
            let (kept, z_min) = plainly(&c, p, n as f64, cutoff, false);
            for of in [&of as &dyn Correlations, &in_matrix] {
                let found = select(of, target, rule, &pool, false, &mut Unobserved).unwrap();
                assert_eq!((&found.is_kept, &found.z_min), (&kept, &z_min), "{seed}, {cutoff}");
            }
            let (kept, z_min) = plainly(&c, p, n as f64, cutoff, true);
            for threads in [1, 3] {
                let found = neighbours(&of, target, rule, p, &Pool::new(threads), &mut Unobserved).unwrap();
                let is_kept: Vec<bool> = found.sets.iter().map(Option::is_none).collect();
                assert_eq!((&is_kept, &found.z_min), (&kept, &z_min), "{seed}, {cutoff}");
                let again = neighbours(&in_matrix, target, rule, p, &Pool::new(threads), &mut Unobserved).unwrap();
                assert_eq!((found.sets, found.tests), (again.sets, again.tests));
            }
        }
    }
}

#[test]
fn few_candidates_need_few_tests() {
    let rule = Rule::new(50.0, 1.96).unwrap();
    let none = OfMatrix { cells: &[], p: 0, candidates: &[] };
    assert!(select(&none, &[], rule, &Pool::none(), false, &mut Unobserved).unwrap().is_kept.is_empty());
    assert!(neighbours(&none, &[], rule, 9, &Pool::none(), &mut Unobserved).unwrap().tests.is_empty());
    let one = OfMatrix { cells: &[1.0], p: 1, candidates: &[0] };
    let found = neighbours(&one, &[0.9], rule, 9, &Pool::none(), &mut Unobserved).unwrap();
    assert!(found.tests.is_empty() && found.sets == [None] && found.z_min[0] > 5.0);
}
