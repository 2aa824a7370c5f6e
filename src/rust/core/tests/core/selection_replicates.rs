//! Checks ensembles: each replicate is the selection from its rows, even if machines are slow or fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::patience::stops_within_half_a_second;
use crate::support::selection::{samples_of, simulated, sparse_and_dense};
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::together::runner;
use pcgpu_core::engine::replicates::{on_machines, on_threads, Replicate, Replicates};
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::selection::{select, CountLogs, Criterion, Resampling, Runner, Samples, Selection};
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

/// Selects from these rows of the samples, with columns that are coded again.
fn of_rows(samples: &Samples, rows: &[u32], criterion: Criterion, k: usize) -> Selection {
    let column = |v: usize| {
        let codes = samples.codes(v).to_vec(samples.n());
        rows.iter().map(|&row| i32::from(codes[row as usize])).collect()
    };
    let columns: Vec<Vec<i32>> = (0..=samples.p()).map(column).collect();
    let drawn = samples_of(rows.len(), &columns);
    let logs = CountLogs::new(rows.len());
    let mut cpu = CpuCounting::new(&drawn, &logs, 0..drawn.p(), 1);
    select(&drawn, &logs, &mut cpu, criterion, k, &mut Unobserved).unwrap()
}

fn wanted(of: &Replicates) -> Vec<Replicate> {
    let one = |replicate: usize| {
        let (rows, draw) = of.resampling.draw(of.samples, replicate as u32).unwrap();
        let selections = of.criteria.iter().map(|&criterion| of_rows(of.samples, &rows, criterion, of.k)).collect();
        Replicate { selections, draw }
    };
    (0..of.count).map(one).collect()
}

#[test]
fn replicates_are_the_selections_from_their_rows() {
    for (n, p, levels, count) in [(60, 30, 4, 7), (400, 120, 30, 5), (1200, 100, 300, 3), (40, 1, 3, 1)] {
        let samples = simulated(n, p, levels, 3, 9);
        for (criteria, replace, size) in [
            (&[Criterion::Jmi][..], true, n),
            (&[Criterion::Cmi], false, n / 2),
            (&[Criterion::Mim], true, 2 * n),
            (&[Criterion::Disr], false, n),
            (&Criterion::ALL, true, n),
        ] {
            let resampling = Resampling { seed: 3, size, replace };
            let of = Replicates { samples: &samples, resampling, first: 0, count, criteria, k: p.min(8) };
            let wanted = wanted(&of);
            for threads in [1, 2, 3] {
                assert_eq!(on_threads(of, &Pool::new(threads), &mut Unobserved).unwrap(), wanted, "{of:?}");
            }
            let runners = vec![runner(Pool::new(1)), runner(Pool::new(2))];
            assert_eq!(on_machines(of, runners, &mut Unobserved).unwrap().0, wanted);
        }
    }
}

#[test]
fn sparse_features_are_drawn_as_dense_ones() {
    let [sparse, dense] = sparse_and_dense(700, 60, 2);
    for replace in [true, false] {
        let resampling = Resampling { seed: 8, size: 500, replace };
        let [a, b] = [&sparse, &dense].map(|samples| {
            let of = Replicates { samples, resampling, first: 0, count: 4, criteria: &[Criterion::Jmi], k: 12 };
            on_threads(of, &Pool::new(2), &mut Unobserved).unwrap()
        });
        assert_eq!(a, b);
    }
}

#[test]
fn draws_of_one_class_are_drawn_again_and_missing_classes_are_not() {
    // Two of 40 samples are of the second class, so one bootstrap sample in eight has none of them.
    let n = 40;
    let class: Vec<i32> = (0..n).map(|i| i32::from(i < 2)).collect();
    let column = |step: i32| (0..n).map(|i| i * step % 7 % 3).collect::<Vec<i32>>();
    let samples = samples_of(n as usize, &[column(1), column(3), column(5), class]);
    let resampling = Resampling { seed: 1, size: n as usize, replace: true };
    let of = Replicates { samples: &samples, resampling, first: 0, count: 60, criteria: &[Criterion::Jmi], k: 2 };
    let found = on_threads(of, &Pool::new(2), &mut Unobserved).unwrap();
    assert_eq!(found, wanted(&of));
    // Only some of the replicates.
    let some = Replicates { first: 7, count: 9, ..of };
    assert_eq!(on_threads(some, &Pool::new(2), &mut Unobserved).unwrap(), found[7..16]);
    let again = found.iter().filter(|replicate| replicate.draw > 0).count();
    assert!((2..20).contains(&again), "{again}");
    // Three classes, one of them rare. Draws without it are kept.
    let class: Vec<i32> = (0..n).map(|i| if i < 1 { 2 } else { i % 2 }).collect();
    let samples = samples_of(n as usize, &[column(1), column(3), column(5), class]);
    let of = Replicates { samples: &samples, ..of };
    assert!(on_threads(of, &Pool::new(2), &mut Unobserved).unwrap().iter().all(|replicate| replicate.draw == 0));
    // One row has only one class.
    let of = Replicates { resampling: Resampling { size: 1, ..resampling }, ..of };
    let refused = on_threads(of, &Pool::new(2), &mut Unobserved);
    assert!(matches!(refused, Err(Error::Argument { argument: "ensemble", .. })), "{refused:?}");
}

fn broken() -> Error {
    Error::Device(DeviceError {
        kind: DeviceKind::Failed,
        message: "the fake is broken".into(),
        hint: "no hint".into(),
    })
}

/// Returns a CPU runner that waits `pause` in each replicate and fails from its `fails`-th on.
fn fake<'a>(name: &str, pause: Duration, fails: usize, begun: &'a AtomicUsize) -> Runner<'a> {
    let mut cpu = runner(Pool::new(1));
    let run = Box::new(
        move |samples: &Samples, logs: &CountLogs, criteria: &[Criterion], k: usize, observer: &mut dyn Observer| {
            if begun.fetch_add(1, Ordering::Relaxed) >= fails {
                return Err(broken());
            }
            let until = Instant::now() + pause;
            while Instant::now() < until {
                observer.look()?;
                std::thread::sleep(Duration::from_millis(1));
            }
            (cpu.run)(samples, logs, criteria, k, observer)
        },
    );
    Runner { name: name.into(), pool: Pool::new(1), run }
}

#[test]
fn machines_that_fail_or_are_slow_leave_their_replicates_to_others() {
    let samples = simulated(80, 40, 4, 2, 6);
    let resampling = Resampling { seed: 4, size: 80, replace: true };
    let of = Replicates { samples: &samples, resampling, first: 0, count: 12, criteria: &[Criterion::Jmi], k: 6 };
    let wanted = wanted(&of);
    let begun = [(); 3].map(|()| AtomicUsize::new(0));
    let second = Duration::from_secs(30);
    let runners = vec![
        fake("slow", second, usize::MAX, &begun[0]),
        fake("fails", Duration::ZERO, 3, &begun[1]),
        fake("works", Duration::ZERO, usize::MAX, &begun[2]),
    ];
    let started = Instant::now();
    let (found, report) = on_machines(of, runners, &mut Unobserved).unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(found, wanted);
    assert_eq!(report.shares.iter().map(|share| share.shards).sum::<u64>(), 12, "{report:?}");
    assert!(report.shares.iter().all(|share| share.machine != "slow" || share.shards == 0));
    assert!(report.lost.iter().all(|lost| lost.machine == "fails"));
    // No machine is left.
    let begun = [(); 2].map(|()| AtomicUsize::new(0));
    let runners = begun.iter().map(|begun| fake("fails", Duration::ZERO, 2, begun)).collect();
    assert_eq!(on_machines(of, runners, &mut Unobserved).unwrap_err(), broken());
}

struct Stopper(Instant, f64);

impl Observer for Stopper {
    fn progress(&mut self, _: usize, done: f64, total: f64) -> Result<()> {
        assert!(done >= self.1 && done < total);
        self.1 = done;
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        if self.0.elapsed() > Duration::from_millis(60) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[test]
fn a_stop_is_heard_within_a_replicate() {
    let samples = simulated(3000, 200, 60, 5, 6);
    let resampling = Resampling { seed: 4, size: 3000, replace: true };
    let of = Replicates { samples: &samples, resampling, first: 0, count: 400, criteria: &[Criterion::Cmi], k: 200 };
    for threads in [1, 2] {
        stops_within_half_a_second("a pool", || {
            let started = Instant::now();
            let stopped = on_threads(of, &Pool::new(threads), &mut Stopper(started, 0.0));
            assert_eq!(stopped, Err(Error::Interrupted));
            started.elapsed()
        });
    }
    stops_within_half_a_second("two machines", || {
        let started = Instant::now();
        let runners = vec![runner(Pool::new(1)), runner(Pool::new(2))];
        assert_eq!(on_machines(of, runners, &mut Stopper(started, 0.0)).map(|_| ()), Err(Error::Interrupted));
        started.elapsed()
    });
}
