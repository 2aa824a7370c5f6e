//! Compares every field with pcalg 2.7-12's recorded answers, on 1, 2 and 4 threads and one test at a time.

use crate::support::golden::{cases, number, Case};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::CiTest;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method};
use pcgpu_core::Result;

fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

#[test]
fn gaussian_cases() {
    let mut compared = 0;
    for case in cases("gauss-") {
        let (p, c) = (case.p(), case.correlations());
        for (method, answer) in case.answers() {
            let options = case.options(method);
            let gauss = Gauss::new(by_column(&c, p).unwrap(), case.n(), reading(method)).unwrap();
            let mut p_max = vec![0.0; p * p];
            for threads in [1, 2, 4] {
                let mut engine = CpuEngine::new(GaussKernel::new(gauss, options.alpha), threads);
                let skeleton = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                case.check(&format!("{method:?} on {threads} threads"), answer, &skeleton, &p_max);
                compared += 1;
            }
            let skeleton = skeleton_one_by_one(&mut gauss.clone(), &options, &mut p_max, &mut Unobserved).unwrap();
            case.check(&format!("{method:?} one at a time"), answer, &skeleton, &p_max);
        }
    }
    assert!(compared >= 150, "only {compared} comparisons");
}

/// d-separation in a DAG: p is 1 if the pair is separated, else 0.
struct Oracle {
    parents: Vec<Vec<usize>>,
}

impl Oracle {
    fn of(case: &Case) -> Self {
        let p = case.p();
        let dag = &case.json["true_dag"];
        let mut parents = vec![Vec::new(); p];
        for arc in dag.as_array().unwrap() {
            parents[number(&arc[1]) as usize - 1].push(number(&arc[0]) as usize - 1);
        }
        Oracle { parents }
    }

    /// Returns whether x and y are separated given s, by the moral graph of their ancestors.
    fn separated(&self, x: usize, y: usize, s: &[u32]) -> bool {
        let p = self.parents.len();
        let mut ancestor = vec![false; p];
        let mut stack: Vec<usize> = s.iter().map(|&v| v as usize).chain([x, y]).collect();
        while let Some(v) = stack.pop() {
            if !ancestor[v] {
                ancestor[v] = true;
                stack.extend(&self.parents[v]);
            }
        }
        let mut moral = vec![vec![false; p]; p];
        for v in (0..p).filter(|&v| ancestor[v]) {
            for (i, &a) in self.parents[v].iter().enumerate() {
                for &b in self.parents[v][..i].iter().chain([&v]) {
                    moral[a][b] = true;
                    moral[b][a] = true;
                }
            }
        }
        let mut reached = vec![false; p];
        let mut stack = vec![x];
        while let Some(v) = stack.pop() {
            if !reached[v] && !s.contains(&(v as u32)) {
                reached[v] = true;
                stack.extend((0..p).filter(|&w| moral[v][w]));
            }
        }
        !reached[y]
    }
}

impl CiTest for Oracle {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        Ok(f64::from(u8::from(self.separated(x, y, s))))
    }
}

#[test]
fn oracle_cases() {
    let mut compared = 0;
    for case in cases("dsep-") {
        for (method, answer) in case.answers() {
            let mut p_max = vec![0.0; case.p() * case.p()];
            let skeleton =
                skeleton_one_by_one(&mut Oracle::of(&case), &case.options(method), &mut p_max, &mut Unobserved)
                    .unwrap();
            case.check("oracle", answer, &skeleton, &p_max);
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}
