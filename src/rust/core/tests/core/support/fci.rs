//! Recorded answers for FCI, RFCI and FCI+ (fci; format: shared/golden/fci/README.md; copied unchanged).

use super::golden::{number, Case};
use pcgpu_core::ci::CiTest;
use pcgpu_core::fci::{By, Fci, Found, Phase};
use pcgpu_core::graph::{Adjacency, SepSets};
use pcgpu_core::orient::ColliderRule;
use pcgpu_core::pag::{self, Assumptions, Jci, Mark, Pag};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::possible_d_sep::Skeleton;
use pcgpu_core::search::{self, Method, Options};
use pcgpu_core::{observer::Unobserved, Result};
use serde_json::Value;

/// m-separation by a DAG in which some nodes are hidden or always conditioned on. p is 1 if the pair is separated, else 0.
#[derive(Clone)]
pub struct Oracle {
    parents: Vec<Vec<usize>>,
    observed: Vec<usize>,
    selection: Vec<usize>,
}

impl Oracle {
    pub fn of(case: &Case) -> Self {
        let all = number(&case.json["p_all"]) as usize;
        let list = |name: &str| -> Vec<usize> {
            match &case.json[name] {
                Value::Null => Vec::new(),
                Value::Array(list) => list.iter().map(|v| number(v) as usize - 1).collect(),
                one => vec![number(one) as usize - 1],
            }
        };
        let mut parents = vec![Vec::new(); all];
        for arc in case.json["true_dag"].as_array().unwrap() {
            parents[number(&arc[1]) as usize - 1].push(number(&arc[0]) as usize - 1);
        }
        Oracle { parents, observed: list("observed"), selection: list("selection") }
    }

    /// Returns whether x and y are separated given s, by the moral graph of their ancestors.
    pub fn separated(&self, x: usize, y: usize, s: &[u32]) -> bool {
        let all = self.parents.len();
        let [x, y] = [x, y].map(|v| self.observed[v]);
        let given: Vec<usize> =
            s.iter().map(|&v| self.observed[v as usize]).chain(self.selection.iter().copied()).collect();
        let mut ancestor = vec![false; all];
        let mut stack: Vec<usize> = given.iter().copied().chain([x, y]).collect();
        while let Some(v) = stack.pop() {
            if !ancestor[v] {
                ancestor[v] = true;
                stack.extend(&self.parents[v]);
            }
        }
        let mut moral = vec![vec![false; all]; all];
        for v in (0..all).filter(|&v| ancestor[v]) {
            for (i, &a) in self.parents[v].iter().enumerate() {
                for &b in self.parents[v][..i].iter().chain([&v]) {
                    moral[a][b] = true;
                    moral[b][a] = true;
                }
            }
        }
        let mut reached = vec![false; all];
        let mut stack = vec![x];
        while let Some(v) = stack.pop() {
            if !reached[v] && !given.contains(&v) {
                reached[v] = true;
                stack.extend((0..all).filter(|&w| moral[v][w]));
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

/// A recorded call: the arguments of its file and its own.
pub struct Call<'a> {
    pub case: &'a Case,
    pub args: &'a Value,
}

impl Call<'_> {
    fn arg(&self, name: &str) -> &Value {
        &self.args[name]
    }

    fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.arg(name).as_bool().unwrap_or(otherwise)
    }

    fn bound(&self, name: &str, otherwise: f64) -> f64 {
        if self.arg(name).is_null() {
            otherwise
        } else {
            number(self.arg(name))
        }
    }

    pub fn method(&self) -> Method {
        match self.arg("skel.method").as_str().unwrap_or("stable") {
            "stable" => Method::Stable,
            "stable.fast" => Method::StableFast,
            _ => Method::Original,
        }
    }

    fn context(&self) -> Vec<u32> {
        match self.arg("contextVars") {
            Value::Array(list) => list.iter().map(|v| number(v) as u32 - 1).collect(),
            Value::Null => Vec::new(),
            one => vec![number(one) as u32 - 1],
        }
    }

    fn jci(&self) -> Jci {
        let assumptions = match self.arg("jci").as_str().unwrap_or("0") {
            "0" => Assumptions::None,
            "1" => Assumptions::One,
            "12" => Assumptions::OneTwo,
            _ => Assumptions::All,
        };
        Jci { assumptions, variables: self.context() }
    }

    /// Returns the options of the skeleton phase.
    pub fn options(&self) -> Options {
        let mut options = self.case.options(self.method());
        options.m_max = self.bound("m.max", options.m_max);
        if self.jci().assumptions == Assumptions::All {
            let fixed = options.fixed_edges.get_or_insert_with(|| Adjacency::empty(self.case.p()));
            for (i, &x) in self.context().iter().enumerate() {
                self.context()[..i].iter().for_each(|&y| fixed.insert(x as usize, y as usize));
            }
        }
        options
    }

    fn rules(&self) -> [bool; 10] {
        let mut rules = [true; 10];
        if let Some(on) = self.arg("rules").as_array() {
            rules = [false; 10];
            on.iter().for_each(|rule| rules[number(rule) as usize - 1] = true);
        } else if !self.arg("rules").is_null() {
            rules = [false; 10];
            rules[number(self.arg("rules")) as usize - 1] = true;
        }
        if !self.flag("selectionBias", true) {
            rules[4..7].fill(false);
        }
        rules
    }

    fn rule(&self) -> ColliderRule {
        match (self.flag("conservative", false), self.flag("maj.rule", false)) {
            (true, _) => ColliderRule::Conservative,
            (_, true) => ColliderRule::Majority,
            _ => ColliderRule::Standard,
        }
    }

    fn orient(&self) -> pag::Options<'static> {
        pag::Options { rules: self.rules(), jci: self.jci(), ..pag::Options::default() }
    }

    fn fci(&self, max_order: i32, of: (&Adjacency, &SepSets)) -> Result<Fci<'static>> {
        let m_max = match self.arg("type").as_str() {
            Some("adaptive") => f64::from(max_order),
            _ => self.options().m_max,
        };
        let phase =
            Phase { m_max, most: self.bound("pdsep.max", f64::INFINITY), by_component: self.flag("biCC", false) };
        let orient = self.orient();
        let phase = self.flag("doPdsep", true).then(|| phase.prepare(of, &orient, &Pool::new(2))).transpose()?;
        Ok(Fci { phase, rule: self.rule(), orient, tell: None })
    }
}

/// The result of a call, with the skeleton as the call leaves it.
pub struct Run {
    pub skeleton: search::Skeleton,
    pub p_max: Vec<f64>,
    pub found: Result<Found>,
}

fn skeleton(by: &mut By, options: &Options, p_max: &mut [f64]) -> Result<search::Skeleton> {
    match by {
        By::Worker(worker) => search::skeleton(&mut **worker, options, p_max, &mut Unobserved),
        By::Test(test) => search::skeleton_one_by_one(*test, options, p_max, &mut Unobserved),
    }
}

impl Call<'_> {
    /// Runs `fci()`, `rfci()` or `fciPlus()`.
    pub fn run(&self, function: &str, by: &mut By) -> Run {
        self.run_within(function, by, &Limits::default())
    }

    /// Runs `fci()`, `rfci()` or `fciPlus()`, with `limits` on the phases after the skeleton.
    pub fn run_within(&self, function: &str, by: &mut By, limits: &Limits) -> Run {
        let p = self.case.p();
        let mut p_max = vec![0.0; p * p];
        let mut options = self.options();
        if function == "fciPlus" {
            options = Options { fixed_edges: options.fixed_edges, ..Options::new(p, options.alpha) };
        }
        let mut skeleton = skeleton(by, &options, &mut p_max).unwrap();
        let (of, observer) = ((&options, limits), &mut Unobserved);
        let found = match function {
            "fci" => {
                let mut given =
                    Skeleton { graph: skeleton.graph.clone(), sepsets: skeleton.sepsets.clone(), p_max: &mut p_max };
                let fci = self.fci(skeleton.max_order, (&given.graph, &given.sepsets));
                let found = fci.and_then(|fci| pcgpu_core::fci::fci(by, &mut given, &options, &fci, limits, observer));
                (skeleton.graph, skeleton.sepsets) = (given.graph, given.sepsets);
                found
            }
            "rfci" => {
                let judged = self.rule();
                let rfci = pag::Rfci {
                    rules: self.rules(),
                    conservative: judged == ColliderRule::Conservative,
                    majority: judged == ColliderRule::Majority,
                    ..pag::Rfci::default()
                };
                by.rfci((&skeleton.graph, &mut skeleton.sepsets), of, &rfci, observer)
            }
            _ => by.fci_plus(
                (&skeleton.graph, &mut skeleton.sepsets),
                of,
                (&pag::Plus { fixed: options.fixed_edges.as_ref(), ..pag::Plus::default() }, &self.orient()),
                observer,
            ),
        };
        Run { skeleton, p_max, found }
    }
}

/// Returns a graph's marks as triples (i, j, `amat[i, j]`), numbered from 1.
pub fn marks(pag: &Pag) -> Vec<[u32; 3]> {
    let of = |i: usize| pag.row(i).map(move |(j, mark)| [i as u32 + 1, j + 1, mark as u32]);
    (0..pag.p()).flat_map(of).collect()
}

/// Reads recorded triples of numbers.
pub fn triples(value: &Value) -> Vec<[u32; 3]> {
    let triple = |row: &Value| [0, 1, 2].map(|i| number(&row[i]) as u32);
    value.as_array().unwrap().iter().map(triple).collect()
}

/// Builds a graph from recorded marks.
pub fn pag_of(p: usize, marks: &Value) -> Pag {
    let mut rows = vec![Vec::new(); p];
    for [i, j, mark] in triples(marks) {
        rows[i as usize - 1].push((j - 1, Mark::of(mark as u8).unwrap()));
    }
    Pag::from_rows("pag", &rows).unwrap()
}

/// Reads recorded rows (x, y, S...) as separating sets.
pub fn sepsets_of(p: usize, rows: &Value) -> SepSets {
    let mut sets = SepSets::new(p, pcgpu_core::graph::Side::Smaller);
    for row in rows.as_array().unwrap() {
        let row: Vec<u32> = row.as_array().unwrap().iter().map(|v| number(v) as u32 - 1).collect();
        sets.insert(row[0] as usize, row[1] as usize, &row[2..]);
    }
    sets
}

/// Returns separating sets as rows (x, y, S...), numbered from 1.
pub fn rows_of(sets: &SepSets) -> Vec<Vec<u32>> {
    let of = |x: usize| {
        sets.row(x).map(move |(y, set)| [x as u32, y].iter().chain(set).map(|v| v + 1).collect::<Vec<u32>>())
    };
    (0..sets.p()).flat_map(of).collect()
}

/// Returns the pool entry that a recorded answer refers to by number.
pub fn pooled<'a>(case: &'a Case, kind: &str, number_of: &Value) -> &'a Value {
    &case.json["pool"][kind][number(number_of) as usize - 1]
}

/// Compares every recorded field of an answer.
pub fn check(case: &Case, label: &str, answer: &Value, run: &Run) {
    let label = format!("{} {label}", case.name);
    if let Some(error) = answer["error"].as_str() {
        assert!(run.found.is_err(), "{label}: pcalg stops with {error:?}");
        return;
    }
    let Found { pag, counts, .. } = match &run.found {
        Ok(found) => found,
        Err(error) => panic!("{label}: {error}"),
    };
    assert_eq!(marks(pag), triples(&answer["amat"]), "{label}: amat");
    if answer["max_ord"].is_null() || answer["sepset"].is_null() {
        return;
    }
    let list = |value: &Value| -> Vec<u64> {
        match value {
            Value::Array(list) => list.iter().map(|v| number(v) as u64).collect(),
            one => vec![number(one) as u64],
        }
    };
    assert_eq!(f64::from(run.skeleton.max_order), number(&answer["max_ord"]), "{label}: max.ord");
    assert_eq!(run.skeleton.tests, list(&answer["n_edgetests"]), "{label}: n.edgetests");
    if let Some(counts) = counts {
        assert_eq!(counts.max_order, number(&answer["max_ordPDSEP"]) as usize, "{label}: max.ordPDSEP");
        assert_eq!(counts.tests, list(&answer["n_edgetestsPDSEP"]), "{label}: n.edgetestsPDSEP");
        let sets = pooled(case, "allPdsep", &answer["allPdsep"]).as_array().unwrap();
        for (x, (ours, theirs)) in counts.sets.iter().zip(sets).enumerate() {
            let theirs = match theirs {
                Value::Null => None,
                Value::Array(list) => Some(list.iter().map(|v| number(v) as u32 - 1).collect::<Vec<u32>>()),
                one => Some(vec![number(one) as u32 - 1]),
            };
            let ours = ours.clone().map(|mut set| {
                set.sort_unstable();
                set
            });
            assert_eq!(ours, theirs, "{label}: allPdsep[[{}]]", x + 1);
        }
    }
    check_sets(case, &label, &answer["sepset"], &run.skeleton.sepsets);
    check_p_max(case, &label, &answer["pMax"], &run.p_max);
}

/// Compares separating sets with those in the pool.
pub fn check_sets(case: &Case, label: &str, which: &Value, sets: &SepSets) {
    let theirs: Vec<Vec<u32>> = pooled(case, "sepset", which)
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|v| number(v) as u32).collect())
        .collect();
    assert_eq!(rows_of(sets), theirs, "{label}: sepset");
}

/// Compares p-values with those in the pool.
pub fn check_p_max(case: &Case, label: &str, which: &Value, p_max: &[f64]) {
    let p = case.p();
    for (x, row) in pooled(case, "pMax", which).as_array().unwrap().iter().enumerate() {
        for (y, cell) in row.as_array().unwrap().iter().enumerate() {
            let (ours, theirs) = (p_max[y * p + x], if cell.is_null() { f64::NAN } else { number(cell) });
            let equal = ours == theirs
                || (ours.is_nan() && theirs.is_nan())
                || (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-290);
            assert!(equal, "{label}: pMax[{}, {}] is {ours:e}, recorded {theirs:e}", x + 1, y + 1);
        }
    }
}
