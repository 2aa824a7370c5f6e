//! Tests of mixed data and of data with missing values, as recorded from micd.

use pcgpu_core::ci::mixed::{Frame, Given, Holes, Mixed, Rules, Values};
use serde_json::Value;

use super::golden::number;

/// A test of the package micd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    name: &'static str,
    pub holes: Holes,
    pub rules: Rules,
}

impl Peer {
    pub fn of(name: &str) -> Self {
        let rules = |adapt, ask_for_rows, constant_is_missing| Rules { adapt, ask_for_rows, constant_is_missing };
        let (name, holes, rules) = match name {
            "gaussCItwd" => ("gaussCItwd", Holes::TestWise, rules(false, false, true)),
            "disCItwd" => ("disCItwd", Holes::TestWise, rules(true, false, true)),
            "disCItwd_noadapt" => ("disCItwd_noadapt", Holes::TestWise, rules(false, false, true)),
            "mixCItwd" => ("mixCItwd", Holes::TestWise, rules(true, true, false)),
            "mixCItest" => ("mixCItest", Holes::None, rules(true, true, false)),
            "gaussMItest" => ("gaussMItest", Holes::Imputed, rules(false, false, false)),
            "gaussCItestMI" => ("gaussCItestMI", Holes::Imputed, rules(false, false, false)),
            "disMItest" => ("disMItest", Holes::Imputed, rules(false, false, false)),
            "mixMItest" => ("mixMItest", Holes::Imputed, rules(false, false, false)),
            other => panic!("no test {other}"),
        };
        Peer { name, holes, rules }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Builds the test on the data of a recorded case, or returns `None` if the case lacks the imputed data sets.
pub fn test_of(case: &Value, peer: Peer) -> Option<Mixed<'static>> {
    let rows = case["X"].as_array().unwrap();
    let n = rows.len();
    let p = rows[0].as_array().unwrap().len();
    let m = number(&case["m"]) as usize;
    let cell = |row: usize, col: usize| match &rows[row][col] {
        Value::Null => f64::NAN,
        value => number(value),
    };
    let data: Vec<f64> =
        (0..p).flat_map(|col| (0..n).map(move |row| (row, col))).map(|(row, col)| cell(row, col)).collect();
    let mut sets = vec![data];
    if peer.holes != Holes::TestWise {
        let holes = case["miss"].as_array().unwrap();
        let filled = |values: &Value| {
            let mut data = sets[0].clone();
            for (hole, value) in holes.iter().zip(values.as_array().unwrap()) {
                data[(number(&hole[1]) as usize - 1) * n + number(&hole[0]) as usize - 1] = number(value);
            }
            data
        };
        let used = if peer.holes == Holes::None { 1 } else { m };
        sets = case["imp"].as_array().unwrap().iter().take(used).map(filled).collect();
        if sets.is_empty() {
            return None;
        }
    }
    let factor: Vec<bool> = case["factor"].as_array().unwrap().iter().map(|is| is.as_bool().unwrap()).collect();
    let code = |value: f64| if value.is_nan() { i32::MIN } else { value as i32 + 1 };
    let codes: Vec<Vec<i32>> = sets.iter().map(|data| data.iter().map(|&value| code(value)).collect()).collect();
    let column = |col: usize| {
        let of = col * n..(col + 1) * n;
        let differ = sets.iter().any(|set| set[of.clone()] != sets[0][of.clone()]);
        let versions = if differ { sets.len() } else { 1 };
        let levels = if factor[col] { number(&case["nlev"][col]) as u32 } else { 0 };
        let version = |set: usize| match factor[col] {
            true => Values::Codes(&codes[set][of.clone()]),
            false => Values::Numbers(&sets[set][of.clone()]),
        };
        Given { levels, versions: (0..versions).map(version).collect() }
    };
    let given: Vec<Given> = (0..p).map(column).collect();
    let frame = Frame::new(n, sets.len(), &given).unwrap();
    Some(Mixed::new(frame, peer.holes, peer.rules).unwrap())
}
