//! The walk over the edges, with pcalg's counts.

use super::candidates::Candidates;
use super::{Counts, Skeleton};
use crate::memory;
use crate::observer::Observer;
use crate::search::Options;
use crate::Result;

/// An edge when its turn comes.
pub struct Visit<'a> {
    pub x: usize,
    pub y: usize,
    /// The single variables to try, ascending: candidates that are not neighbours of x.
    pub singles: &'a [u32],
    /// The candidates of larger sets, ascending.
    pub all: &'a [u32],
    /// The neighbours of x, ascending, including y.
    pub near: &'a [u32],
    /// The largest size of sets.
    pub largest: usize,
    /// `pMax[x, y]` so far.
    pub known: f64,
}

/// The outcome of an edge's sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Number of sets that are visited, by size from 1 on.
    pub visited: Vec<u64>,
    /// The set that separates, and its p.
    pub set: Option<(Vec<u32>, f64)>,
    /// The largest p-value of the visited sets, if it exceeds the known one.
    pub largest: Option<f64>,
}

/// A source of outcomes.
pub trait Answers {
    /// Returns the outcome of an edge's sets.
    fn of(&mut self, visit: &Visit, options: &Options, observer: &mut dyn Observer) -> Result<Outcome>;

    /// Returns the number of tests that the exact formula decided.
    fn exact_tests(&self) -> u64 {
        0
    }
}

impl Visit<'_> {
    /// Returns whether a set is left out, as the skeleton search has already tried it.
    pub fn is_near(&self, set: &[u32]) -> bool {
        set.iter().all(|v| self.near.binary_search(v).is_ok())
    }
}

/// Visits every edge that is not fixed, in ascending order of x, and enters the outcomes.
pub fn visit(
    answers: &mut dyn Answers,
    options: &Options,
    skeleton: &mut Skeleton,
    candidates: &Candidates,
    observer: &mut dyn Observer,
) -> Result<Counts> {
    let p = options.p;
    let mut counts = Counts { tests: Vec::new(), sets: vec![None; p], ..Counts::default() };
    for x in 0..p {
        let near: Vec<u32> = skeleton.graph.neighbours(x).collect();
        if x % 64 == 0 {
            observer.look()?;
        }
        let says = observer.says();
        if says {
            let set = shown(candidates.of(x));
            observer.say(&format!("\nPossible D-Sep of {} is:{set} \n", x + 1))?;
        }
        for y in near.iter().map(|&y| y as usize).filter(|&y| !options.is_fixed(x, y)) {
            let all: Vec<u32> = candidates.of_pair(x, y, 2).collect();
            let is_single = |v: &u32| near.binary_search(v).is_err();
            let singles: Vec<u32> = candidates.of_pair(x, y, 1).filter(is_single).collect();
            let mut shown = all.clone();
            shown.push(y as u32);
            counts.sets[x] = Some(shown);
            let largest = candidates.largest(all.len());
            let are_too_many = all.len() as f64 > candidates.most();
            if says {
                say_of_pair(observer, candidates, [x, y], &all, are_too_many)?;
            }
            if are_too_many || singles.is_empty() {
                continue;
            }
            counts.max_order = 0;
            if largest == 0 {
                continue;
            }
            let at = y * p + x;
            let visit = Visit { x, y, singles: &singles, all: &all, near: &near, largest, known: skeleton.p_max[at] };
            let Outcome { visited, set, largest } = answers.of(&visit, options, observer)?;
            counts.max_order = visited.len();
            if counts.all_tests.len() <= visited.len() {
                counts.all_tests.resize(visited.len() + 1, 0);
            }
            visited.iter().enumerate().for_each(|(i, count)| counts.all_tests[i + 1] += count);
            if let Some(p) = largest {
                skeleton.p_max[at] = p;
            }
            if says {
                (1..=visited.len()).try_for_each(|size| observer.say(&format!("ord =  {size} \n")))?;
            }
            if let Some((set, p)) = set {
                observer.separated(x, y, &set, p)?;
                skeleton.graph.remove(x, y);
                skeleton.sepsets.insert(x, y, &set);
                skeleton.sepsets.insert(y, x, &set);
            }
            memory::check()?;
        }
    }
    observer.look()?;
    counts.tests = counts.all_tests.clone();
    counts.tests.resize(counts.max_order + 1, 0);
    counts.exact_tests = answers.exact_tests();
    Ok(counts)
}

/// Formats numbers as R's `cat()` prints them after a word.
fn shown(set: &[u32]) -> String {
    if set.is_empty() {
        return " ".into();
    }
    set.iter().map(|v| format!(" {}", v + 1)).collect()
}

/// Reports what pcalg prints before it tries the sets of an edge.
fn say_of_pair(
    observer: &mut dyn Observer,
    candidates: &Candidates,
    [x, y]: [usize; 2],
    all: &[u32],
    are_too_many: bool,
) -> Result<()> {
    observer.say(&format!("\ny = {:3}\n.........\n", y + 1))?;
    let [nx, ny] = [x + 1, y + 1];
    if candidates.are_by_component() {
        observer.say(&format!("There is an edge between {nx} and {ny} \n"))?;
        let of = format!("the biconnected component of {nx} and {ny} is:{}", shown(all));
        observer.say(&format!("Possible D-Sep of {nx} intersected with {of} \n"))?;
    }
    if are_too_many {
        let most = crate::shown(candidates.most());
        let text = format!(
            "Size of Possible-D-SEP bigger than {most} . Break the search for the edge between {nx} and {ny} \n"
        );
        observer.say(&text)?;
    }
    Ok(())
}
