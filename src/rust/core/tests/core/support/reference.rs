//! A plain implementation of pcalg's three skeleton loops, with dense matrices, one test at a time and no ranks. It is not made for speed. The
//! engines and the sequential search are compared with it.

// Index loops, as in the original, so that it can be compared with pcalg by eye.
#![allow(clippy::needless_range_loop)]

use pcgpu_core::search::{Method, Options};

/// pcalg's answer in pcalg's own shape.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub adjacent: Vec<Vec<bool>>,
    pub sepset: Vec<Vec<Option<Vec<u32>>>>,
    /// Indexed `[x][y]`.
    pub p_max: Vec<Vec<f64>>,
    pub tests: Vec<u64>,
    pub max_order: i32,
}

fn next_set(n: usize, set: &mut [usize]) -> bool {
    let k = set.len();
    let mut place = k;
    while place > 0 {
        place -= 1;
        if set[place] + k < n + place {
            set[place] += 1;
            for later in place + 1..k {
                set[later] = set[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

fn matrix(options: &Options, which: &Option<pcgpu_core::graph::Adjacency>, otherwise: bool) -> Vec<Vec<bool>> {
    let p = options.p;
    (0..p).map(|x| (0..p).map(|y| which.as_ref().map_or(otherwise, |g| g.has(x, y))).collect()).collect()
}

/// Runs the loop of `options.method`. `test` returns p(x, y | s), or NaN for no answer.
pub fn skeleton(options: &Options, test: &mut dyn FnMut(usize, usize, &[u32]) -> f64) -> Answer {
    match options.method {
        Method::StableFast => by_pair(options, test),
        _ => by_row(options, test),
    }
}

fn by_row(options: &Options, test: &mut dyn FnMut(usize, usize, &[u32]) -> f64) -> Answer {
    let p = options.p;
    let gaps = matrix(options, &options.fixed_gaps, false);
    let fixed = matrix(options, &options.fixed_edges, false);
    let mut g: Vec<Vec<bool>> = (0..p).map(|x| (0..p).map(|y| x != y && !gaps[x][y]).collect()).collect();
    let mut sepset = vec![vec![None; p]; p];
    let mut p_max = vec![vec![f64::NEG_INFINITY; p]; p];
    for (x, row) in p_max.iter_mut().enumerate() {
        row[x] = 1.0;
    }
    let mut tests = vec![0u64];
    let mut order = 0usize;
    let mut done = false;
    while !done && g.iter().flatten().any(|&e| e) && order as f64 <= options.m_max {
        tests.truncate(order);
        tests.push(0);
        done = true;
        let start = g.clone();
        for x in 0..p {
            for y in 0..p {
                if !start[x][y] || !g[y][x] || fixed[y][x] {
                    continue;
                }
                let from = if options.method == Method::Stable { &start } else { &g };
                let neighbours: Vec<usize> = (0..p).filter(|&v| from[x][v] && v != y).collect();
                if neighbours.len() < order {
                    continue;
                }
                if neighbours.len() > order {
                    done = false;
                }
                let mut set: Vec<usize> = (0..order).collect();
                loop {
                    let s: Vec<u32> = set.iter().map(|&i| neighbours[i] as u32).collect();
                    tests[order] += 1;
                    let mut pval = test(x, y, &s);
                    if pval.is_nan() {
                        pval = if options.na_delete { 1.0 } else { 0.0 };
                    }
                    if p_max[x][y] < pval {
                        p_max[x][y] = pval;
                    }
                    if pval >= options.alpha {
                        g[x][y] = false;
                        g[y][x] = false;
                        sepset[x][y] = Some(s);
                        break;
                    }
                    if !next_set(neighbours.len(), &mut set) {
                        break;
                    }
                }
            }
        }
        order += 1;
    }
    for i in 0..p {
        for j in 0..p {
            let larger = if p_max[i][j] > p_max[j][i] { p_max[i][j] } else { p_max[j][i] };
            p_max[i][j] = larger;
            p_max[j][i] = larger;
        }
    }
    Answer { adjacent: g, sepset, p_max, tests, max_order: order as i32 - 1 }
}

fn by_pair(options: &Options, test: &mut dyn FnMut(usize, usize, &[u32]) -> f64) -> Answer {
    let p = options.p;
    let gaps = matrix(options, &options.fixed_gaps, false);
    let fixed = matrix(options, &options.fixed_edges, false);
    let mut g = vec![vec![false; p]; p];
    let mut sepset: Vec<Vec<Option<Vec<u32>>>> = vec![vec![None; p]; p];
    let mut p_max = vec![vec![-1.0; p]; p];
    let mut tests = vec![0u64];
    for x in 0..p {
        for y in x + 1..p {
            if fixed[x][y] {
                g[x][y] = true;
                g[y][x] = true;
            } else if !gaps[x][y] {
                tests[0] += 1;
                p_max[x][y] = test(x, y, &[]);
                if p_max[x][y] >= options.alpha {
                    sepset[y][x] = Some(Vec::new());
                }
                if p_max[x][y] < options.alpha {
                    g[x][y] = true;
                    g[y][x] = true;
                }
            }
        }
    }
    let limit = if options.m_max < 0.0 { p as f64 } else { options.m_max.trunc() };
    let mut order = 1usize;
    while order as f64 <= limit {
        let start = g.clone();
        let degree = |v: usize| start[v].iter().filter(|&&e| e).count();
        let mut found = false;
        let mut count = 0u64;
        for x in 0..p {
            for y in x + 1..p {
                if !start[x][y] || fixed[x][y] || degree(x).max(degree(y)) <= order {
                    continue;
                }
                found = true;
                let mut separated = false;
                for side in 0..2 {
                    let (u, v) = if side == 0 { (x, y) } else { (y, x) };
                    if separated || degree(u) <= order {
                        continue;
                    }
                    let all: Vec<usize> = (0..p).filter(|&a| start[u][a] && a != v).collect();
                    let (candidates, own) = if side == 0 {
                        (all, usize::MAX)
                    } else {
                        let (common, mut own): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&a| start[v][a]);
                        let m = own.len();
                        own.extend(common);
                        (own, m)
                    };
                    if own == 0 {
                        continue;
                    }
                    let mut set: Vec<usize> = (0..order).collect();
                    loop {
                        let s: Vec<u32> = set.iter().map(|&i| candidates[i] as u32).collect();
                        count += 1;
                        let mut pval = test(u, v, &s);
                        if pval.is_nan() {
                            pval = if options.na_delete { 1.0 } else { 0.0 };
                        }
                        if pval > p_max[x][y] {
                            p_max[x][y] = pval;
                        }
                        if pval >= options.alpha {
                            separated = true;
                            sepset[y][x] = Some(s);
                            break;
                        }
                        if !next_set(candidates.len(), &mut set) || set[0] >= own {
                            break;
                        }
                    }
                }
                if separated {
                    g[x][y] = false;
                    g[y][x] = false;
                }
            }
        }
        if !found {
            break;
        }
        tests.push(count);
        order += 1;
    }
    // Two less: skeleton() subtracts 1 from the number of levels, and later 1 again.
    Answer { adjacent: g, sepset, p_max, max_order: tests.len() as i32 - 2, tests }
}
