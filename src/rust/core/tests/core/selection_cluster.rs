//! Checks that one selection on ranks of a cluster has the answer of one machine, even if some ranks are slow, lost or wrong.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::problems::Random;
use crate::support::ranks::{with_selecting_ranks, Manner};
use crate::support::selection::{simulated, sparse_and_dense};
use pcgpu_core::engine::cluster::selection::rank::{on_threads, Make};
use pcgpu_core::engine::cluster::selection::Source;
use pcgpu_core::engine::cluster::Cluster;
use pcgpu_core::engine::cpu::selection::{encode, CpuCounting};
use pcgpu_core::file::{Content, DataFile, Writer};
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::selection::discretise::{Bins, Column, Discretise};
use pcgpu_core::selection::{select, CountLogs, Counting, Criterion, Partner, Samples, Selection, Sums};
use pcgpu_core::{Error, Result};

fn alone(samples: &Samples, criterion: Criterion, k: usize) -> Selection {
    let logs = CountLogs::new(samples.n());
    let mut cpu = CpuCounting::new(samples, &logs, 0..samples.p(), 1);
    select(samples, &logs, &mut cpu, criterion, k, &mut Unobserved).unwrap()
}

fn on(cluster: &mut Cluster, source: Source, n: usize, criterion: Criterion, k: usize) -> Result<Selection> {
    Ok(cluster.select(source, &CountLogs::new(n), criterion, k, &mut Unobserved)?.0)
}

fn one_thread() -> Make {
    on_threads(Pool::none())
}

#[test]
fn ranks_select_as_one_machine_does() {
    let mut random = Random(5);
    let mut compared = 0;
    for round in 0..12 {
        let (n, p) = (40 + random.below(80), 1 + random.below(if round % 3 == 0 { 5 } else { 60 }));
        let mut all = vec![simulated(n, p, [2, 3, 6, 17, 40][round % 5], 2 + random.below(3) as u32, round as u64)];
        if round % 4 == 1 {
            all.extend(sparse_and_dense(600, 30, round as u64));
        }
        for samples in &all {
            for ranks in [1, 2, 5] {
                with_selecting_ranks(&vec![Manner::Sound; ranks], &one_thread(), |cluster| {
                    for criterion in Criterion::ALL {
                        let k = 1 + random.below(samples.p());
                        let found = cluster.select(
                            Source::Samples(samples),
                            &CountLogs::new(samples.n()),
                            criterion,
                            k,
                            &mut Unobserved,
                        );
                        let (found, levels) = found.unwrap();
                        assert_eq!(found, alone(samples, criterion, k), "round {round}, {ranks} ranks, {criterion:?}");
                        let wanted: Vec<usize> = found.index.iter().map(|&f| samples.levels(f)).collect();
                        assert_eq!(levels, wanted);
                        let report = cluster.team();
                        assert!(report.shares.len() == ranks && report.lost.is_empty());
                        // One turn for each choice, on ranks that have features.
                        assert!(report.shares.iter().any(|share| share.shards == k as u64 && share.moved.to > 0));
                        compared += 1;
                    }
                });
            }
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn ranks_that_are_slow_or_lost_change_no_choice() {
    let slow = Manner::Slow(Duration::from_millis(2));
    let mut lost = 0;
    for (number, criterion) in Criterion::ALL.into_iter().cycle().take(36).enumerate() {
        let samples = simulated(70, 40 + number, 2 + number as u32 % 5, 3, number as u64);
        let wanted = alone(&samples, criterion, 30);
        let after = [0, 1, 7, 20][number % 4];
        let manner = [Manner::Dies(after), Manner::Damages(after)][number % 2];
        for manners in [vec![manner, Manner::Sound], vec![slow, manner, manner, Manner::Dies(25)]] {
            with_selecting_ranks(&manners, &one_thread(), |cluster| {
                let found = on(cluster, Source::Samples(&samples), 70, criterion, 30).unwrap();
                assert_eq!(found, wanted, "{criterion:?}, {manners:?}");
                lost += cluster.team().lost.len();
            });
        }
    }
    assert!(lost >= 27 * 3, "{lost}");
}

#[test]
fn a_rank_that_says_nothing_more_is_overtaken() {
    let samples = simulated(80, 50, 4, 2, 3);
    for silent in [Manner::Hangs(0), Manner::Hangs(6), Manner::Repeats(3)] {
        let began = Instant::now();
        with_selecting_ranks(&[silent, Manner::Sound, Manner::Sound], &one_thread(), |cluster| {
            let found = on(cluster, Source::Samples(&samples), 80, Criterion::Jmi, 20).unwrap();
            assert_eq!(found, alone(&samples, Criterion::Jmi, 20), "{silent:?}");
            // The cluster waits for it once, and the next selection does without it.
            let found = on(cluster, Source::Samples(&samples), 80, Criterion::Cmim, 20).unwrap();
            assert_eq!(found, alone(&samples, Criterion::Cmim, 20), "{silent:?}");
        });
        assert!(began.elapsed() < Duration::from_secs(3), "{silent:?}: {:?}", began.elapsed());
    }
}

#[test]
fn a_rank_that_was_overtaken_comes_back() {
    let samples = simulated(80, 50, 4, 2, 3);
    let late = Manner::Slow(Duration::from_millis(900));
    with_selecting_ranks(&[late, Manner::Sound], &one_thread(), |cluster| {
        let found = on(cluster, Source::Samples(&samples), 80, Criterion::Jmi, 12).unwrap();
        assert_eq!(found, alone(&samples, Criterion::Jmi, 12));
        assert!(cluster.team().lost.is_empty());
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(
            on(cluster, Source::Samples(&samples), 80, Criterion::Jmi, 2).unwrap(),
            alone(&samples, Criterion::Jmi, 2)
        );
    });
}

#[test]
fn without_a_rank_the_selection_ends() {
    let samples = simulated(60, 30, 3, 2, 1);
    for manner in [Manner::Dies(0), Manner::Dies(4), Manner::Damages(2)] {
        with_selecting_ranks(&[manner, manner], &one_thread(), |cluster| {
            match on(cluster, Source::Samples(&samples), 60, Criterion::Jmi, 20) {
                Err(Error::Cluster { message, .. }) => {
                    assert!(message.starts_with("no worker of the cluster is left: "), "{message}");
                }
                other => panic!("{manner:?}: {other:?}"),
            }
        });
    }
}

/// A machine that counts, and takes this long for each feature.
struct Slow<'a>(CpuCounting<'a>, Duration);

impl Counting for Slow<'_> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        std::thread::sleep(self.1 * skip.len() as u32);
        self.0.count(partner, skip, sums, observer)
    }

    fn narrow(&mut self, count: usize) {
        self.0.narrow(count);
    }
}

#[test]
fn features_move_from_a_slow_rank_to_a_fast_one() {
    let samples = simulated(60, 128, 3, 2, 9);
    // The rank with the first feature is ten times slower.
    let first = samples.codes(0).to_vec(60);
    let make: Make = Arc::new(move |samples, logs| {
        let counting = CpuCounting::new(samples, logs, 0..samples.p(), 1);
        let is_slow = samples.codes(0).to_vec(60) == first;
        Ok(Box::new(Slow(counting, Duration::from_micros(if is_slow { 500 } else { 50 }))))
    });
    for criterion in [Criterion::Jmi, Criterion::Cmi, Criterion::Disr] {
        let wanted = alone(&samples, criterion, 60);
        with_selecting_ranks(&[Manner::Sound; 2], &make, |cluster| {
            let began = Instant::now();
            assert_eq!(on(cluster, Source::Samples(&samples), 60, criterion, 60).unwrap(), wanted, "{criterion:?}");
            // With the first cut, it would be 64 features of half a millisecond, 60 times.
            let took = began.elapsed().as_secs_f64();
            assert!(took < 0.75 * 60.0 * 0.032, "{took}");
        });
    }
}

#[test]
fn features_in_a_file_are_read_by_the_ranks() {
    let (n, p) = (90, 23);
    let mut random = Random(8);
    let mut cells: Vec<f64> = (0..n * p).map(|_| random.below(1000) as f64 / 7.0).collect();
    let class: Vec<i32> = (0..n).map(|i| (cells[3 * n + i] > 70.0) as i32 + (cells[8 * n + i] > 90.0) as i32).collect();
    let bins = Bins { count: 4, kept_levels: 3 };
    let path = std::env::temp_dir().join(format!("pcgpu-selection-{}", std::process::id()));
    for how in [Discretise::EqualWidth(bins), Discretise::EqualFrequency(bins)] {
        for flawed in [false, true] {
            if flawed {
                (cells[14 * n + 5], cells[20 * n + 1]) = (f64::NAN, f64::NAN);
            }
            let writer = Writer::create(&path, Content::Values, n, p, None).unwrap();
            writer.put_block(0, 0, n, &cells).unwrap();
            writer.finish(&Pool::none(), &mut |_| Ok(())).unwrap();
            let file = DataFile::open(Path::new(&path), None).unwrap();
            let columns: Vec<Column> = cells.chunks(n).map(Column::Doubles).collect();
            let encoded = |columns: &[Column]| encode(n, columns, Column::Integers(&class), how, 1, &mut Unobserved);
            let first = encoded(&columns[..1]).unwrap();
            let source = Source::File { file: &file, path: path.to_str().unwrap(), coding: how.into(), first: &first };
            with_selecting_ranks(&[Manner::Sound, Manner::Dies(4), Manner::Sound], &one_thread(), |cluster| {
                let found = on(cluster, source, n, Criterion::Jmi, 15);
                match encoded(&columns) {
                    Ok(samples) => {
                        assert_eq!(found.unwrap(), alone(&samples, Criterion::Jmi, 15));
                        // The numbers themselves are sent to no rank, only 15 columns of 2 bits and what belongs to them.
                        let report = cluster.team();
                        assert!(report.shares.iter().all(|share| share.moved.to < 4_000), "{report:?}");
                    }
                    Err(error) => assert_eq!(found, Err(error)),
                }
            });
            std::fs::remove_file(&path).unwrap();
            cells.iter_mut().filter(|cell| cell.is_nan()).for_each(|cell| *cell = 1.0);
        }
    }
}

/// An observer that stops after this many reports of progress.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn progress(&mut self, _: usize, done: f64, total: f64) -> Result<()> {
        assert!(done <= total);
        self.0 = self.0.checked_sub(1).ok_or(Error::Interrupted)?;
        Ok(())
    }
}

#[test]
fn a_stop_leaves_ranks_that_can_be_asked_again() {
    let samples = simulated(60, 30, 3, 2, 1);
    let logs = CountLogs::new(60);
    with_selecting_ranks(&[Manner::Slow(Duration::from_millis(5)), Manner::Sound], &one_thread(), |cluster| {
        let source = Source::Samples(&samples);
        for looks in [0, 3, 8] {
            let stopped = cluster.select(source, &logs, Criterion::Jmi, 20, &mut StopAfter(looks));
            assert_eq!(stopped.map(|_| ()), Err(Error::Interrupted));
        }
        assert_eq!(on(cluster, source, 60, Criterion::Jmi, 20).unwrap(), alone(&samples, Criterion::Jmi, 20));
    });
}
