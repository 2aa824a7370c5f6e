//! Checkpoints of what follows a search: the possible-d-sep phase, and tests for colliders and marks. Also altered files with a right digest.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::kept::Place;
use crate::support::problems::{correlations, Random};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::{Batch, CiTest};
use pcgpu_core::fci::{By, Fci, Phase};
use pcgpu_core::graph::{Adjacency, SepSets};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::orient::{self, ColliderRule};
use pcgpu_core::pag::{self, Pag};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::checkpoint::{Later, Limits};
use pcgpu_core::search::possible_d_sep::Skeleton;
use pcgpu_core::search::{skeleton_one_by_one_within, Options};
use pcgpu_core::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

const P: usize = 8;

/// A Gaussian test that counts its questions, and is interrupted when none are `left`.
struct Counting<'a> {
    gauss: Gauss<'a>,
    batch_size: usize,
    left: usize,
    asked: usize,
}

impl CiTest for Counting<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        self.left = self.left.checked_sub(1).ok_or(Error::Interrupted)?;
        self.asked += 1;
        CiTest::p_value(&mut self.gauss, x, y, s)
    }

    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        batch.iter().map(|(x, y, s)| self.p_value(x, y, s)).collect()
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Pc,
    Fci,
    Rfci,
    FciPlus,
}

const CALLS: [Call; 4] = [Call::Pc, Call::Fci, Call::Rfci, Call::FciPlus];

fn marks(pag: &Pag) -> Vec<(usize, u32, u8)> {
    (0..pag.p()).flat_map(|u| pag.row(u).map(move |(v, mark)| (u, v, mark as u8))).collect()
}

fn sets(sepsets: &SepSets) -> Vec<(usize, u32, Vec<u32>)> {
    (0..sepsets.p()).flat_map(|x| sepsets.row(x).map(move |(y, set)| (x, y, set.to_vec()))).collect()
}

/// Runs the skeleton and all that follows it. Returns the results as text.
fn run(call: Call, test: &mut Counting, options: &Options, limits: &Limits) -> Result<String> {
    let mut p_max = vec![0.0; P * P];
    let found = skeleton_one_by_one_within(test, options, &mut p_max[..], &mut Unobserved, limits)?;
    let (graph, mut sepsets) = (found.graph, found.sepsets);
    let observer = &mut Unobserved;
    Ok(match call {
        Call::Pc => {
            let rules = orient::Options { collider_rule: ColliderRule::Majority, ..orient::Options::default() };
            let later = Later::new(options, limits, (&graph, &sepsets), Some(options.alpha));
            let ask = |test: &mut dyn CiTest| {
                orient::orient(&graph, &mut sepsets, &rules, options.alpha, Some(test), &mut |_| Ok(Vec::new()))
            };
            let (pdag, unkept) = later.run(test, ask)?;
            assert_eq!(unkept, None);
            let edges: Vec<(u32, u8)> = (0..P).flat_map(|x| pdag.edges_from(x).collect::<Vec<_>>()).collect();
            format!("{edges:?} {:?}", sets(&sepsets))
        }
        Call::Fci => {
            let marking = pag::Options::default();
            let prepared = Phase::default().prepare((&graph, &sepsets), &marking, &Pool::none())?;
            let rule = ColliderRule::Conservative;
            let fci = Fci { phase: Some(prepared), rule, orient: marking, tell: None };
            let mut given = Skeleton { graph, sepsets, p_max: &mut p_max };
            let found = pcgpu_core::fci::fci(&mut By::Test(test), &mut given, options, &fci, limits, observer)?;
            format!("{:?} {:?} {:?}", marks(&found.pag), found.counts, sets(&given.sepsets))
        }
        Call::Rfci => {
            let rfci = pag::Rfci { conservative: true, ..pag::Rfci::default() };
            let found = By::Test(test).rfci((&graph, &mut sepsets), (options, limits), &rfci, observer)?;
            format!("{:?} {:?}", marks(&found.pag), sets(&sepsets))
        }
        Call::FciPlus => {
            let how = (&pag::Plus::default(), &pag::Options::default());
            let found = By::Test(test).fci_plus((&graph, &mut sepsets), (options, limits), how, observer)?;
            format!("{:?} {:?}", marks(&found.pag), sets(&sepsets))
        }
    })
}

struct Problem {
    c: Vec<f64>,
    options: Options,
}

impl Problem {
    fn new(seed: u64) -> Self {
        Problem { c: correlations(&mut Random(seed), P, 200, 0.45), options: Options::new(P, 0.05) }
    }

    /// Returns the result, and how many tests were asked.
    fn run(&self, call: Call, batch_size: usize, left: usize, limits: &Limits) -> (Result<String>, usize) {
        let gauss = Gauss::new(by_column(&self.c, P).unwrap(), 200.0, Reading::GaussCItest).unwrap();
        let mut test = Counting { gauss, batch_size, left, asked: 0 };
        let found = run(call, &mut test, &self.options, limits);
        (found, test.asked)
    }

    fn skeleton_tests(&self) -> usize {
        let gauss = Gauss::new(by_column(&self.c, P).unwrap(), 200.0, Reading::GaussCItest).unwrap();
        let mut test = Counting { gauss, batch_size: 1, left: usize::MAX, asked: 0 };
        let (mut p_max, none) = (vec![0.0; P * P], Limits::default());
        skeleton_one_by_one_within(&mut test, &self.options, &mut p_max[..], &mut Unobserved, &none).unwrap();
        test.asked
    }
}

fn files(place: &Place) -> Vec<PathBuf> {
    let name = place.0.to_str().unwrap();
    ["", ".pdsep", ".later"].iter().map(|end| PathBuf::from(format!("{name}{end}"))).filter(|f| f.exists()).collect()
}

fn remove(place: &Place) {
    files(place).iter().for_each(|file| fs::remove_file(file).unwrap());
}

#[test]
fn tests_after_the_skeleton_are_not_asked_again() {
    let mut stopped = 0;
    for seed in 0..6 {
        let problem = Problem::new(seed);
        let skeleton = problem.skeleton_tests();
        for (call, batch_size) in CALLS.iter().flat_map(|&call| [(call, 1), (call, 7)]) {
            let (wanted, all) = problem.run(call, batch_size, usize::MAX, &Limits::default());
            for share in [0.1, 0.5, 0.9] {
                let place = Place::new();
                // The state is written only when the call ends.
                let limits = place.limits(Duration::from_secs(1000));
                let left = skeleton + ((all - skeleton) as f64 * share) as usize;
                let (found, _) = problem.run(call, batch_size, left, &limits);
                let label = format!("{seed} {call:?} {batch_size} {share}");
                if left < all {
                    assert_eq!(found, Err(Error::Interrupted), "{label}");
                }
                let (found, asked) = problem.run(call, batch_size, usize::MAX, &limits);
                assert_eq!(found, wanted, "{label}");
                // The possible-d-sep phase repeats the edge that it was testing; a batch is repeated as a whole.
                let again = if call == Call::Fci { (all - skeleton) / 3 + 64 } else { batch_size };
                assert!(asked <= all - left + again, "{label}: {asked} of {all}, {left} were there");
                stopped += usize::from(left < all);
                // The files are still there, so the answer needs no test.
                let (found, asked) = problem.run(call, batch_size, usize::MAX, &limits);
                assert_eq!((&found, asked), (&wanted, 0), "{label}");
                limits.checkpoint.unwrap().remove();
                assert_eq!(files(&place), Vec::<PathBuf>::new());
            }
        }
    }
    assert!(stopped > 100, "{stopped}");
}

#[test]
fn answers_to_other_questions_are_asked_for_again() {
    let problem = Problem::new(1);
    let place = Place::new();
    let mut limits = place.limits(Duration::from_secs(1000));
    let (wanted, all) = problem.run(Call::Pc, 1, usize::MAX, &limits);
    let skeleton = problem.skeleton_tests();
    // In batches, a question that two triples share is asked once.
    let (in_batches, fewer) = problem.run(Call::Pc, 7, usize::MAX, &limits);
    assert!(in_batches == wanted && fewer > 0 && fewer < all - skeleton);
    assert_eq!(problem.run(Call::Pc, 7, usize::MAX, &limits), (wanted.clone(), 0));
    // Another rule or other knowledge, given by R's digest.
    limits.checkpoint.as_mut().unwrap().later = 1;
    assert_eq!(problem.run(Call::Pc, 7, usize::MAX, &limits), (wanted.clone(), fewer));
    // Another graph.
    let other = Later::new(
        &problem.options,
        &limits,
        (&Adjacency::complete(P), &SepSets::new(P, pcgpu_core::graph::Side::Smaller)),
        Some(0.05),
    );
    let gauss = Gauss::new(by_column(&problem.c, P).unwrap(), 200.0, Reading::GaussCItest).unwrap();
    let mut test = Counting { gauss, batch_size: 7, left: usize::MAX, asked: 0 };
    other.run(&mut test, |test| test.p_value(0, 1, &[])).unwrap();
    assert_eq!(test.asked, 1);
    remove(&place);
}

#[test]
fn words_that_are_altered_under_a_right_digest_are_refused_or_harmless() {
    let problem = Problem::new(2);
    let (mut damaged, mut taken) = (0, 0);
    for call in CALLS {
        let place = Place::new();
        let limits = place.limits(Duration::from_secs(1000));
        problem.run(call, 1, usize::MAX, &limits).0.unwrap();
        for file in files(&place) {
            let whole = fs::read(&file).unwrap();
            let end = whole.len() - 16;
            let mut changed = |at: usize, new: &[u8]| {
                let mut bytes = whole.clone();
                bytes[at..at + new.len()].copy_from_slice(new);
                let digest = xxh3_128(&bytes[..end]).to_le_bytes();
                bytes[end..].copy_from_slice(&digest);
                fs::write(&file, &bytes).unwrap();
                let (found, _) = problem.run(call, 1, usize::MAX, &limits);
                match found {
                    Ok(_) => taken += 1,
                    Err(Error::Checkpoint { reason, .. }) => {
                        assert!(!reason.contains('\0'), "{reason:?}");
                        damaged += 1;
                    }
                    other => panic!("{call:?} {} {at}: {other:?}", file.display()),
                }
                // Replace what the call has written meanwhile.
                limits.checkpoint.as_ref().unwrap().remove();
                problem.run(call, 1, usize::MAX, &limits).0.unwrap();
            };
            for at in (8..end).step_by(if whole.len() > 1500 { 3 } else { 1 }) {
                changed(at, &[0]);
                changed(at, &[whole[at] ^ 0x81]);
                if at + 8 <= end {
                    changed(at, &u64::MAX.to_le_bytes());
                    changed(at, &(P as u64).to_le_bytes());
                }
            }
        }
        remove(&place);
    }
    println!("{damaged} refused, {taken} taken");
    assert!(damaged > 500 && taken > 500, "{damaged} {taken}");
}
