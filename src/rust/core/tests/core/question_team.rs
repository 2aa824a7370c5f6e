//! Checks question teams of machines that are slow or unequal, fail, panic or never stop by themselves: the answer is that of one machine.

use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::mixed::{settings, Made};
use crate::support::patience::stops_within_half_a_second;
use crate::support::problems::one_edge;
use pcgpu_core::ci::knn::{EarlyStop, Estimator, Knn, Settings};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::batched::{self, Asker, Reply};
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::orient::{self, ColliderRule, Pdag};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::book::Book;
use pcgpu_core::search::shards::Work;
use pcgpu_core::search::worker::{Column, Marginals, Worker, WorkerTest};
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::team::Moved;
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

type Question = (usize, usize, Vec<u32>);

/// How often each question was asked.
type Asked = Arc<Mutex<HashMap<Question, usize>>>;

/// How a machine behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    /// Takes this many microseconds for a question.
    Needs(u64),
    /// Has a device that fails after it has answered this many questions.
    Fails(usize),
    /// Panics at once.
    Panics,
    /// Never answers, and checks every millisecond whether to stop.
    Hangs,
    /// Has no answer if the smaller variable of the pair is this one.
    Undefined(usize),
}

/// A mock machine, with a test that takes some integer arithmetic.
struct Mock {
    manner: Manner,
    batch: usize,
    asked: Asked,
    answered: usize,
    pool: Pool,
}

impl Mock {
    fn new(manner: Manner, batch: usize) -> Self {
        Mock { manner, batch, asked: Asked::default(), answered: 0, pool: Pool::none() }
    }

    fn telling(self, asked: &Asked) -> Self {
        Mock { asked: asked.clone(), ..self }
    }
}

/// Returns a p-value computed from the variables of a question. It does not depend on the order of x and y, or of S.
fn p_value(x: usize, y: usize, s: &[u32]) -> f64 {
    let sum: usize = x + y + s.iter().map(|&v| v as usize).sum::<usize>();
    let product = (x + 3) * (y + 3) * s.iter().map(|&v| v as usize + 2).product::<usize>();
    let share = ((sum * 7 + product * 13) % 101) as f64 / 101.0;
    share * share
}

fn failure(text: &str) -> DeviceError {
    DeviceError { kind: DeviceKind::Failed, message: text.into(), hint: "get another".into() }
}

impl Asker for Mock {
    fn batch(&self) -> usize {
        self.batch
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let mut replies = Vec::new();
        for (at, (x, y, s)) in batch.iter().enumerate() {
            match self.manner {
                Manner::Needs(time) if time > 0 => std::thread::sleep(Duration::from_micros(time)),
                Manner::Fails(after) if self.answered >= after => {
                    return Err(Error::Device(failure(&format!("gave up after {after}"))));
                }
                Manner::Panics => panic!("at work"),
                Manner::Hangs => loop {
                    watch(0.5)?;
                    std::thread::sleep(Duration::from_millis(1));
                },
                _ => {}
            }
            watch(at as f64 / batch.len() as f64)?;
            self.answered += 1;
            *self.asked.lock().unwrap().entry((x, y, s.to_vec())).or_default() += 1;
            replies.push(match self.manner {
                Manner::Undefined(of) if x.min(y) == of => Reply::Undefined("it is undefined"),
                _ => Reply::P(p_value(x, y, s)),
            });
        }
        Ok(replies)
    }

    fn moved(&self) -> Moved {
        Moved { to: 8 * self.answered as u64, from: self.answered as u64 }
    }

    fn planned(&self) -> Vec<(&'static str, u64)> {
        vec![("data", 10), ("tests", self.batch as u64)]
    }
}

/// One machine that answers one batch after the other.
impl Worker for Mock {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        batched::marginal(self, level, columns, observer)
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        batched::answer(self, work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        batched::p_values(self, batch, observer)
    }
}

/// Returns a question team of mock machines named "0", "1", ...
fn team(mocks: impl IntoIterator<Item = Mock>) -> QuestionTeam<'static> {
    mocks
        .into_iter()
        .enumerate()
        .fold(QuestionTeam::new(Pool::none()), |team, (number, mock)| team.with(number.to_string(), mock))
}

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Returns different questions with sets of mixed sizes.
fn questions(state: &mut u64, count: usize) -> Batch {
    let mut batch = Batch::new();
    for x in 0..count {
        let s: Vec<u32> =
            (0..random(state) % 4).map(|member| 5000 + 10 * member as u32 + (random(state) % 3) as u32).collect();
        batch.push(x, x + 1, &s);
    }
    batch
}

type Found = (Skeleton, Vec<f64>);

fn search(worker: &mut dyn Worker, options: &Options) -> Result<Found> {
    let mut p_max = vec![0.0; options.p * options.p];
    let found = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
    Ok((found, p_max))
}

fn compare(found: &Found, wanted: &Found, info: &str) {
    let ((a, a_max), (b, b_max)) = (found, wanted);
    assert_eq!((&a.graph, &a.tests, a.max_order), (&b.graph, &b.tests, b.max_order), "{info}");
    assert_eq!(a_max, b_max, "{info}");
    for x in 0..a.graph.p() {
        (0..a.graph.p()).for_each(|y| assert_eq!(a.sepsets.get(x, y), b.sepsets.get(x, y), "{info}: {x}, {y}"));
    }
}

/// Orients the skeleton by the conservative rule.
fn oriented(worker: &mut dyn Worker, found: &Skeleton, alpha: f64) -> Pdag {
    let options = orient::Options { collider_rule: ColliderRule::Conservative, ..orient::Options::default() };
    let test = &mut WorkerTest { worker, observer: &mut Unobserved };
    let (graph, mut sepsets) = (&found.graph, found.sepsets.clone());
    orient::orient(graph, &mut sepsets, &options, alpha, Some(test), &mut |p| Ok((0..p as u32).collect())).unwrap()
}

#[test]
fn every_question_is_asked_once_whatever_the_sizes_and_speeds() {
    for seed in 1..40 {
        let state = &mut (seed as u64);
        let count = random(state) % 900;
        let batch = questions(state, count);
        let asked = Asked::default();
        let members = 1 + random(state) % 4;
        let mut team = team((0..members).map(|_| {
            let (time, size) = (random(state) % 3 * 5, 1 + random(state) % 300);
            Mock::new(Manner::Needs(time as u64), size).telling(&asked)
        }));
        let wanted: Vec<f64> = batch.iter().map(|(x, y, s)| p_value(x, y, s)).collect();
        for times in 1..3 {
            assert_eq!(team.p_values(&batch, &mut Unobserved).unwrap(), wanted);
            let asked = asked.lock().unwrap();
            assert_eq!(asked.len(), batch.len());
            // If the operating system delays a machine, another may take over its piece.
            let twice = asked.values().filter(|&&count| count != times).count();
            assert!(twice <= batch.len() / 2, "{twice} of {}", batch.len());
        }
        let report = team.team();
        assert!(report.lost.is_empty() && team.team().shares.is_empty());
        let mut moved = Moved::default();
        report.shares.iter().for_each(|share| moved += share.moved);
        assert!(moved.from >= 2 * batch.len() as u64 && moved.to == 8 * moved.from, "{moved:?}");
    }
}

#[test]
fn searches_and_orientations_are_those_of_one_machine() {
    let p = 12;
    let pair = |x, y| Some(one_edge(p, x, y));
    let teams: [&[(Manner, usize)]; 6] = [
        &[(Manner::Needs(0), 50)],
        &[(Manner::Needs(0), 1), (Manner::Needs(0), 1000)],
        &[(Manner::Needs(0), 300), (Manner::Needs(50), 16), (Manner::Needs(3), 7)],
        &[(Manner::Fails(150), 64), (Manner::Needs(1), 64)],
        &[(Manner::Fails(0), 64), (Manner::Fails(40), 3), (Manner::Needs(0), 10), (Manner::Fails(1), 10)],
        &[(Manner::Hangs, 20), (Manner::Needs(0), 100)],
    ];
    let mut lost = 0;
    for method in [Method::Stable, Method::StableFast, Method::Original] {
        for (fixed_gaps, fixed_edges) in [(None, None), (pair(1, 2), pair(1, 4))] {
            let options = Options { method, fixed_gaps, fixed_edges, ..Options::new(p, 0.8) };
            let mut one = Mock::new(Manner::Needs(0), 37);
            let wanted = search(&mut one, &options).unwrap();
            assert!(wanted.0.tests.len() > 2 && wanted.0.graph.edge_count() > 3, "{:?}", wanted.0.tests);
            let graph = oriented(&mut one, &wanted.0, options.alpha);
            for members in teams {
                let info = format!("{method:?}, {members:?}");
                let mut team = team(members.iter().map(|&(manner, batch)| Mock::new(manner, batch)));
                compare(&search(&mut team, &options).unwrap(), &wanted, &info);
                assert_eq!(oriented(&mut team, &wanted.0, options.alpha), graph, "{info}");
                let report = team.team();
                let fail = members.iter().filter(|(manner, _)| matches!(manner, Manner::Fails(_))).count();
                // A machine that gets little to do, because the computer is busy, does not reach its failure.
                assert!(report.lost.len() <= fail, "{info}: {report:?}");
                lost += report.lost.len();
                assert!(report.lost.iter().all(|lost| lost.reason.starts_with("gave up")));
                let levels = report.shares.iter().map(|share| share.level).max();
                assert!(levels >= Some(Some(wanted.0.tests.len() - 1)), "{info}: {report:?}");
                assert!(report.shares.iter().any(|share| share.level == Some(0) && share.shards > 0));
            }
        }
    }
    assert!(lost > 6, "{lost}");
}

#[test]
fn a_team_without_a_machine_that_works_is_an_error_and_says_so_again() {
    let batch = questions(&mut 5, 300);
    let mut failing = team([Mock::new(Manner::Fails(100), 64), Mock::new(Manner::Fails(50), 64)]);
    let Err(Error::Device(error)) = failing.p_values(&batch, &mut Unobserved) else { panic!("an answer") };
    let report = failing.team();
    assert_eq!(report.lost.len(), 2);
    assert_eq!(report.lost[1].reason, error.message);
    assert_eq!(failing.p_values(&batch, &mut Unobserved), Err(Error::Device(error)));
    assert!(failing.team().lost.is_empty());
    let nobody = team([]).p_values(&batch, &mut Unobserved);
    assert!(matches!(nobody, Err(Error::Argument { argument: "device", .. })), "{nobody:?}");
}

#[test]
fn a_panic_of_a_machine_is_the_callers_and_the_team_is_left_whole() {
    let batch = questions(&mut 5, 300);
    let mut team = team([Mock::new(Manner::Needs(2000), 64), Mock::new(Manner::Panics, 64)]);
    let panic = catch_unwind(AssertUnwindSafe(|| team.p_values(&batch, &mut Unobserved))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"at work"));
    assert!(catch_unwind(AssertUnwindSafe(|| team.p_values(&batch, &mut Unobserved))).is_err());
    // A panic of the observer is passed on, too.
    struct Dropping;
    impl Observer for Dropping {
        fn look(&mut self) -> Result<()> {
            panic!("at looking")
        }
    }
    let mut slow = self::team([Mock::new(Manner::Hangs, 4), Mock::new(Manner::Hangs, 4)]);
    assert!(catch_unwind(AssertUnwindSafe(|| slow.p_values(&batch, &mut Dropping))).is_err());
}

#[test]
fn who_follows_is_asked_often_and_stops_all_machines_at_once() {
    struct Impatient {
        began: Instant,
        looked: Instant,
        longest: Duration,
        asked: Option<Instant>,
    }
    impl Observer for Impatient {
        fn look(&mut self) -> Result<()> {
            self.longest = self.longest.max(self.looked.elapsed());
            self.looked = Instant::now();
            if self.began.elapsed() > Duration::from_millis(400) {
                self.asked.get_or_insert(Instant::now());
                return Err(Error::Interrupted);
            }
            Ok(())
        }

        fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
            assert!(done <= total);
            self.look()
        }
    }
    let run = |search_all: bool| {
        let now = Instant::now();
        let mut observer = Impatient { began: now, looked: now, longest: Duration::ZERO, asked: None };
        let mut team = team([
            Mock::new(Manner::Needs(3000), 500),
            Mock::new(Manner::Hangs, 10),
            Mock::new(Manner::Needs(10_000), 10),
        ]);
        if search_all {
            let options = Options::new(60, 0.5);
            let outcome = skeleton(&mut team, &options, &mut vec![0.0; 3600], &mut observer).map(drop);
            assert_eq!(outcome, Err(Error::Interrupted));
        } else {
            assert_eq!(team.p_values(&questions(&mut 3, 2000), &mut observer), Err(Error::Interrupted));
        }
        // A tenth of a second between two looks and half a second to stop; other programs on this machine may make both longer.
        observer.asked.unwrap().elapsed().max(observer.longest / 2)
    };
    stops_within_half_a_second("a search", || run(true));
    stops_within_half_a_second("a batch", || run(false));
}

#[test]
fn what_has_no_answer_is_the_first_question_that_one_machine_names() {
    let batch = questions(&mut 9, 500);
    let undefined = || team([Mock::new(Manner::Undefined(170), 20), Mock::new(Manner::Undefined(170), 64)]);
    match undefined().p_values(&batch, &mut Unobserved) {
        Err(Error::Numeric { x, y, .. }) => assert_eq!((x, y), (170, 171)),
        other => panic!("{other:?}"),
    }
    let options = Options::new(9, 0.8);
    for of in 0..8 {
        let wanted = search(&mut Mock::new(Manner::Undefined(of), 64), &options).map(drop);
        let mocks = [20, 64, 300].map(|batch| Mock::new(Manner::Undefined(of), batch));
        assert_eq!(search(&mut team(mocks), &options).map(drop), wanted);
    }
}

#[test]
fn unequal_machines_end_together() {
    let asked = [Asked::default(), Asked::default()];
    let mut team = team([
        Mock::new(Manner::Needs(4000), 64).telling(&asked[0]),
        Mock::new(Manner::Needs(1000), 640).telling(&asked[1]),
    ]);
    let batch = questions(&mut 1, 600);
    let began = Instant::now();
    team.p_values(&batch, &mut Unobserved).unwrap();
    let took = began.elapsed();
    let counts = asked.map(|asked| asked.lock().unwrap().len());
    assert!(counts[0] > 0 && counts[1] > counts[0], "{counts:?}");
    let report = team.team();
    for number in ["0", "1"] {
        let of_member = report.shares.iter().filter(|share| share.machine == number);
        let busy: f64 = of_member.map(|share| share.busy).sum();
        assert!(busy > 0.5 * took.as_secs_f64(), "{number}: {busy} of {took:?}");
    }
    assert_eq!(team.memory_plan(), [("data", 20), ("tests", 704)]);
    assert_eq!(team.memory_plans()[1], ("1".to_string(), vec![("data", 10), ("tests", 640)]));
}

#[test]
fn teams_on_the_cpu_have_the_answers_of_the_nearest_neighbour_engine() {
    for (seed, estimator, p, early) in [(1, Estimator::FrenzelPompe, 9, false), (2, Estimator::MesnerShalizi, 8, true)]
    {
        let made = Made::new(seed, 60, p, estimator != Estimator::FrenzelPompe, seed == 2);
        let early_stop = early.then_some(EarlyStop { alpha: 0.5, error: 0.05 });
        let knn: Knn = made.knn(Settings { early_stop, ..settings(estimator, 5, 30) });
        let cpu = |threads: usize| CpuEngine::with_shards(KnnKernel::new(&knn), threads, 8);
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, ..Options::new(p, 0.7) };
            let wanted = search(&mut cpu(2), &options).unwrap();
            assert!(wanted.0.tests.len() > 1 && wanted.0.graph.edge_count() > 0);
            let graph = oriented(&mut cpu(2), &wanted.0, options.alpha);
            for threads in [&[1][..], &[1, 2], &[2, 1, 1]] {
                let mut team = QuestionTeam::new(Pool::new(2));
                for (number, &threads) in threads.iter().enumerate() {
                    team = team.with(number.to_string(), cpu(threads));
                }
                let info = format!("{estimator:?}, {method:?}, {threads:?}");
                compare(&search(&mut team, &options).unwrap(), &wanted, &info);
                assert_eq!(oriented(&mut team, &wanted.0, options.alpha), graph, "{info}");
            }
        }
    }
}
