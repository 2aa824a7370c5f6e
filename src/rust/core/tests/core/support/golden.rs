//! Reads recorded answers (format: shared/golden/README.md; copied unchanged). Those that the R tests use, too, are in the package's
//! tests/testthat/golden, all others in tests/golden of this crate.

use std::io::Read;
use std::path::{Path, PathBuf};

use pcgpu_core::ci::discrete::Coded;
use pcgpu_core::graph::{Adjacency, Tiers};
use pcgpu_core::matrix::by_column;
use pcgpu_core::search::{Method, Options, Skeleton};
use serde_json::Value;

/// One recorded case.
pub struct Case {
    pub name: String,
    pub json: Value,
}

/// Reads all cases whose name starts with `prefix`; panics if there are none.
pub fn cases(prefix: &str) -> Vec<Case> {
    cases_in("", prefix)
}

/// Returns the recordings in `folder` whose name starts with `prefix`, in the order of their names; panics if there are none.
pub fn files(folder: &str, prefix: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = ["tests/golden", "../../../tests/testthat/golden"]
        .iter()
        .filter_map(|golden| std::fs::read_dir(root.join(golden).join(folder)).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| name(path).starts_with(prefix) && name(path).ends_with(".json.gz"))
        .collect();
    assert!(!files.is_empty(), "no golden files {prefix}* in {folder:?}");
    files.sort_by_key(|path| name(path));
    let twice = files.windows(2).find(|pair| name(&pair[0]) == name(&pair[1]));
    assert_eq!(twice, None, "a recording belongs in one folder");
    files
}

/// Returns the last part of a path.
fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Reads a recording, which may be compressed.
pub fn read_json(path: &Path) -> Value {
    let mut text = String::new();
    let mut file = std::fs::File::open(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        file.read_to_string(&mut text).unwrap();
    }
    serde_json::from_str(&text).unwrap()
}

/// Reads all cases in `folder` whose name starts with `prefix`; panics if there are none.
pub fn cases_in(folder: &str, prefix: &str) -> Vec<Case> {
    files(folder, prefix).iter().map(|path| Case { name: name(path), json: read_json(path) }).collect()
}

/// Reads a recorded conditioning set as vertices numbered from 0.
pub fn set(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(list) => list.iter().map(|v| number(v) as u32 - 1).collect(),
        one => vec![number(one) as u32 - 1],
    }
}

/// Reads a number, or a string that stands for a value that JSON numbers lack.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::Number(n) => n.as_f64().unwrap(),
        Value::String(s) => match s.as_str() {
            "NA" | "NaN" => f64::NAN,
            "-Inf" => f64::NEG_INFINITY,
            "Inf" => f64::INFINITY,
            other => panic!("not a number: {other}"),
        },
        other => panic!("not a number: {other}"),
    }
}

/// Returns the tiers of a call.
pub fn tiers(call: &Value) -> Tiers {
    let numbers = call["tiers"].as_array().map(|tiers| tiers.iter().map(number).collect::<Vec<f64>>());
    numbers.map_or_else(Tiers::default, |numbers| Tiers::of(&numbers))
}

fn pairs(value: &Value, p: usize) -> Option<Adjacency> {
    let list = value.as_array()?;
    let mut graph = Adjacency::empty(p);
    for pair in list {
        graph.insert(number(&pair[0]) as usize - 1, number(&pair[1]) as usize - 1);
    }
    Some(graph)
}

impl Case {
    pub fn p(&self) -> usize {
        number(&self.json["p"]) as usize
    }

    pub fn n(&self) -> f64 {
        number(&self.json["n"])
    }

    /// Returns the correlation matrix, column by column.
    pub fn correlations(&self) -> Vec<f64> {
        let p = self.p();
        let rows = self.json["C"].as_array().unwrap();
        let mut c = vec![0.0; p * p];
        for (i, row) in rows.iter().enumerate() {
            for (j, cell) in row.as_array().unwrap().iter().enumerate() {
                // A missing correlation is null.
                c[j * p + i] = if cell.is_null() { f64::NAN } else { number(cell) };
            }
        }
        c
    }

    /// Returns the level codes of the data with the numbers of levels that the test uses (always two for `bin`).
    pub fn coded(&self) -> Coded {
        let p = self.p();
        let rows = self.json["dm"].as_array().unwrap();
        let mut codes = vec![0; rows.len() * p];
        for (i, row) in rows.iter().enumerate() {
            for (j, cell) in row.as_array().unwrap().iter().enumerate() {
                codes[j * rows.len() + i] = number(cell) as i32;
            }
        }
        let levels: Vec<u32> = match self.json["kind"].as_str().unwrap() {
            "bin" => vec![2; p],
            _ => self.json["nlev"].as_array().unwrap().iter().map(|v| number(v) as u32).collect(),
        };
        Coded::new(by_column(&codes, levels.len()).unwrap(), &levels, false).unwrap()
    }

    pub fn options(&self, method: Method) -> Options {
        self.options_of(&self.json, method)
    }

    /// Returns the options for one of several calls of the case.
    pub fn options_of(&self, call: &Value, method: Method) -> Options {
        Options {
            method,
            na_delete: call["NAdelete"].as_bool().unwrap_or(true),
            m_max: if call["m_max"].is_null() { f64::INFINITY } else { number(&call["m_max"]) },
            fixed_gaps: pairs(&call["fixedGaps"], self.p()),
            fixed_edges: pairs(&call["fixedEdges"], self.p()),
            tiers: tiers(call),
            ..Options::new(self.p(), number(&self.json["alpha"]))
        }
    }

    /// Returns the recorded methods with their answers.
    pub fn answers(&self) -> Vec<(Method, &Value)> {
        [("stable", Method::Stable), ("stable.fast", Method::StableFast), ("original", Method::Original)]
            .into_iter()
            .filter_map(|(name, method)| Some((method, self.json["skeleton"].get(name)?)))
            .collect()
    }

    /// Compares every recorded field of an answer.
    pub fn check(&self, what: &str, answer: &Value, skeleton: &Skeleton, p_max: &[f64]) {
        let p = self.p();
        let label = format!("{} {what}", self.name);
        let edges: Vec<(usize, usize)> = (0..p)
            .flat_map(|x| skeleton.graph.neighbours(x).map(move |y| (x, y as usize)))
            .filter(|(x, y)| x < y)
            .collect();
        // Some calls record the oriented graph instead.
        if let Some(recorded) = answer["edges"].as_array() {
            let pair = |e: &Value| (number(&e[0]) as usize - 1, number(&e[1]) as usize - 1);
            assert_eq!(edges, recorded.iter().map(pair).collect::<Vec<_>>(), "{label}: edges");
        }
        assert_eq!(f64::from(skeleton.max_order), number(&answer["max_ord"]), "{label}: max.ord");
        let counts = match &answer["n_edgetests"] {
            Value::Array(list) => list.iter().map(|v| number(v) as u64).collect::<Vec<_>>(),
            one => vec![number(one) as u64],
        };
        assert_eq!(skeleton.tests, counts, "{label}: n.edgetests");

        let mut sets: Vec<(usize, usize, Vec<u32>)> = Vec::new();
        for entry in answer["sepset"].as_array().unwrap() {
            sets.push((number(&entry["x"]) as usize - 1, number(&entry["y"]) as usize - 1, set(&entry["S"])));
        }
        sets.sort();
        let ours: Vec<(usize, usize, Vec<u32>)> = (0..p)
            .flat_map(|x| skeleton.sepsets.row(x).map(move |(y, s)| (x, y as usize, s.to_vec())).collect::<Vec<_>>())
            .collect();
        assert_eq!(ours, sets, "{label}: separating sets");

        let close = |x: usize, y: usize, recorded: &Value| {
            let (ours, theirs) = (p_max[y * p + x], number(recorded));
            let equal = ours == theirs
                || (ours.is_nan() && theirs.is_nan())
                || (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-300);
            assert!(equal, "{label}: pMax[{}, {}] is {ours:e}, recorded {theirs:e}", x + 1, y + 1);
        };
        match answer["pMax_form"].as_str().unwrap_or("triangle") {
            "matrix" => {
                for (x, row) in answer["pMax"].as_array().unwrap().iter().enumerate() {
                    for (y, cell) in row.as_array().unwrap().iter().enumerate() {
                        close(x, y, cell);
                    }
                }
            }
            _ => {
                let mut cells = answer["pMax"].as_array().unwrap().iter();
                for y in 0..p {
                    for x in 0..y {
                        close(x, y, cells.next().unwrap());
                    }
                }
                assert!(cells.next().is_none());
            }
        }
    }
}
