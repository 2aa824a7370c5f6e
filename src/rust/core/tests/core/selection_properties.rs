//! Compares feature selection on the CPU with the definitions, for any number of threads and shards.

use crate::support::selection::{samples_of, score_by_definition, simulated, sparse_and_dense};
use pcgpu_core::engine::cpu::selection::{encode, CpuCounting};
use pcgpu_core::engine::cpu::together::member;
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::selection::discretise::{Column, Discretise};
use pcgpu_core::selection::{select, CountLogs, Counting, Criterion, Machines, Partner, Samples, Selector, Sums};
use pcgpu_core::{Error, Result};

#[test]
fn sparse_features_have_the_scores_of_dense_ones() {
    for (n, p, seed) in [(80, 40, 1), (700, 60, 2), (3000, 45, 3)] {
        let [sparse, dense] = sparse_and_dense(n, p, seed);
        let kept = (0..p).filter(|&f| sparse.among_coded(f).is_none()).count();
        assert!(kept > p / 2 && kept < p, "{kept} of {p}");
        assert!((0..p).all(|f| dense.among_coded(f).is_some() && sparse.levels(f) == dense.levels(f)));
        let logs = CountLogs::new(n);
        for threads in [1, 2] {
            let [of_sparse, of_dense] = [&sparse, &dense]
                .map(|samples| selections(samples, &logs, 12, &mut CpuCounting::new(samples, &logs, 0..p, threads)));
            assert_eq!(of_sparse, of_dense, "n = {n}");
        }
    }
}

fn selections(
    samples: &Samples,
    logs: &CountLogs,
    k: usize,
    machines: &mut (impl Machines + ?Sized),
) -> Vec<pcgpu_core::selection::Selection> {
    let all = Criterion::ALL.into_iter();
    all.map(|criterion| select(samples, logs, machines, criterion, k, &mut Unobserved).unwrap()).collect()
}

#[test]
fn scores_are_those_of_the_definitions() {
    for (n, p, levels, classes) in [(60, 9, 3, 2), (45, 8, 40, 7), (700, 7, 6, 43), (300, 6, 256, 3)] {
        let samples = simulated(n, p, levels, classes, 7);
        let logs = CountLogs::new(n);
        for criterion in Criterion::ALL {
            let mut counting = CpuCounting::new(&samples, &logs, 0..p, 2);
            let mut selector = Selector::new(&samples, &logs, criterion, 0..samples.p());
            let mut selected = Vec::new();
            for _ in 0..p {
                selector.prepare(&mut counting, &mut Unobserved).unwrap();
                for f in (0..p).filter(|f| !selected.contains(f)) {
                    let (ours, wanted) = (selector.score(f), score_by_definition(&samples, criterion, &selected, f));
                    assert!(
                        (ours - wanted).abs() < 1e-11 * wanted.abs().max(1.0),
                        "{criterion:?}, {n}, {f} given {selected:?}: {ours} {wanted}"
                    );
                }
                let best = selector.best().unwrap();
                selector.take(&best);
                selected.push(best.feature);
            }
        }
    }
}

#[test]
fn threads_and_shards_change_nothing() {
    for (n, p, levels, classes) in [(500, 300, 4, 2), (50, 200, 30, 5), (400, 600, 64, 10)] {
        let samples = simulated(n, p, levels, classes, 3);
        let logs = CountLogs::new(n);
        let expected = selections(&samples, &logs, 12, &mut CpuCounting::new(&samples, &logs, 0..p, 1));
        for threads in [2, 4, 7] {
            let mut counting = CpuCounting::new(&samples, &logs, 0..p, threads);
            assert_eq!(selections(&samples, &logs, 12, &mut counting), expected);
        }
        for shards in [1, 2, 5] {
            let members = (0..shards).map(|at| member(&samples, &logs, Pool::new(1 + at % 2)));
            let mut counting = Shards::new(members.collect()).unwrap();
            assert_eq!(selections(&samples, &logs, 12, &mut counting), expected);
        }
    }
}

#[test]
fn more_shards_than_features_and_none() {
    let samples = simulated(40, 3, 3, 2, 1);
    let logs = CountLogs::new(40);
    let members = (0..8).map(|_| member(&samples, &logs, Pool::new(1)));
    let mut counting = Shards::new(members.collect()).unwrap();
    let all = select(&samples, &logs, &mut counting, Criterion::Jmi, 3, &mut Unobserved).unwrap();
    assert_eq!(all.index.len(), 3);
    assert!(Shards::new(Vec::new()).is_err());
}

#[test]
fn equal_scores_are_equal_and_the_lowest_index_wins() {
    let n = 97;
    let class: Vec<i32> = (0..n).map(|i| i * 13 % 5 / 2).collect();
    let told: Vec<i32> = (0..n).map(|i| class[i as usize] * 2 + i % 3).collect();
    let constant = vec![4; n as usize];
    let other: Vec<i32> = (0..n).map(|i| i * i % 7).collect();
    // A copy with renamed levels, in another order.
    let renamed: Vec<i32> = told.iter().map(|&v| (v * 3 + 1) % 7).collect();
    let columns = [constant.clone(), other.clone(), renamed, told, constant, other, class];
    let samples = samples_of(n as usize, &columns);
    let logs = CountLogs::new(n as usize);
    for criterion in Criterion::ALL {
        let mut counting = CpuCounting::new(&samples, &logs, 0..6, 2);
        let mut selector = Selector::new(&samples, &logs, criterion, 0..samples.p());
        for _ in 0..6 {
            selector.prepare(&mut counting, &mut Unobserved).unwrap();
            let scores: Vec<f64> = (0..6).map(|f| selector.score(f)).collect();
            let best = selector.best().unwrap();
            selector.take(&best);
            if best.feature == 2 {
                assert_eq!(scores[2].to_bits(), scores[3].to_bits(), "{criterion:?}");
            }
        }
        let all = select(&samples, &logs, &mut counting, criterion, 6, &mut Unobserved).unwrap();
        let place = |f: usize| all.index.iter().position(|&g| g == f).unwrap();
        assert!(place(2) < place(3) && place(1) < place(5) && place(0) < place(4), "{criterion:?}: {:?}", all.index);
        let mut sorted = all.index.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        assert_eq!(all.relevance[place(0)], 0.0);
    }
}

#[test]
fn sums_of_skipped_features_are_left_alone() {
    let samples = simulated(80, 20, 5, 3, 9);
    let logs = CountLogs::new(80);
    let mark = Sums { pair: -1, with_class: -1 };
    let mut sums = vec![mark; 20];
    let skip: Vec<bool> = (0..20).map(|f| f % 3 == 0).collect();
    let mut counting = CpuCounting::new(&samples, &logs, 0..20, 2);
    counting.count(Partner::Feature(4), &skip, &mut sums, &mut Unobserved).unwrap();
    assert!((0..20).all(|f| (sums[f] == mark) == skip[f]));
}

#[test]
fn k_out_of_range_and_data_without_classes_are_refused() {
    let samples = simulated(40, 3, 3, 2, 1);
    let logs = CountLogs::new(40);
    let mut counting = CpuCounting::new(&samples, &logs, 0..3, 1);
    for k in [0, 4] {
        let refused = select(&samples, &logs, &mut counting, Criterion::Jmi, k, &mut Unobserved);
        assert!(matches!(refused, Err(Error::Argument { argument: "k", .. })), "{refused:?}");
    }
    let encode = |features: &[Column], class: &[i32]| {
        encode(3, features, Column::Integers(class), Discretise::None, 2, &mut Unobserved).unwrap_err().to_string()
    };
    let fine = Column::Integers(&[1, 2, 3]);
    assert!(encode(&[fine], &[1, 1, 1]).contains("`y` has only one class"));
    assert!(encode(&[], &[1, 2, 1]).contains("`x` is empty"));
    assert!(encode(&[fine, Column::Doubles(&[0.0, f64::NAN, 1.0])], &[1, 2, 1]).contains("NA in row 2, column 2"));
    assert!(encode(&[fine], &[1, i32::MIN, 1]).contains("`y` has NA in place 2"));
}

struct Stopper(usize, Vec<(f64, f64)>);

impl Observer for Stopper {
    fn progress(&mut self, _: usize, done: f64, total: f64) -> Result<()> {
        self.1.push((done, total));
        if self.1.len() > self.0 {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[test]
fn progress_rises_to_the_whole_and_can_stop_it() {
    let samples = simulated(200, 50, 4, 2, 5);
    let logs = CountLogs::new(200);
    let mut counting = CpuCounting::new(&samples, &logs, 0..50, 2);
    for criterion in [Criterion::Jmi, Criterion::Mim, Criterion::Cmi] {
        let mut observer = Stopper(usize::MAX, Vec::new());
        select(&samples, &logs, &mut counting, criterion, 50, &mut observer).unwrap();
        let last = observer.1.len() - 1;
        assert!(observer.1.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(observer.1.iter().enumerate().all(|(i, (done, total))| (done < total) == (i < last)));
    }
    let stopped = select(&samples, &logs, &mut counting, Criterion::Jmi, 50, &mut Stopper(3, Vec::new()));
    assert_eq!(stopped, Err(Error::Interrupted));
}
