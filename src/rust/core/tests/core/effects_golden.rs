//! Compares causal effects with pcalg's recorded answers (`ida-*`).

use ndarray::ArrayView2;
use pcgpu_core::effects::{Asked, Kind, Method, Plan, Technique, Together};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use serde_json::Value;

use crate::support::golden::cases;

struct Silent;

impl Observer for Silent {}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

fn vertices(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32 - 1).collect()
}

fn lists(pairs: &Value, p: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); p];
    for pair in pairs.as_array().unwrap() {
        let [i, j] = vertices(pair)[..] else { panic!("no pair") };
        lists[i as usize].push(j);
    }
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists
}

fn method(name: &Value) -> Method {
    match name.as_str().unwrap() {
        "local" => Method::Local,
        "optimal" => Method::Optimal,
        "global" => Method::Global,
        other => panic!("{other}"),
    }
}

fn kind(name: &Value) -> Kind {
    match name.as_str().unwrap() {
        "cpdag" => Kind::Cpdag,
        "pdag" => Kind::Pdag,
        other => panic!("{other}"),
    }
}

/// Compares to a relative 1e-10. An effect of 0 that pcalg's rounding has changed has no exact digits.
fn same(found: &[f64], want: &[f64]) -> bool {
    let close = |(a, b): (&f64, &f64)| a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-10 * b.abs() + 1e-14;
    found.len() == want.len() && found.iter().zip(want).all(close)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn effects_of(lists: &[Vec<u32>], asked: Asked, cov: ArrayView2<f64>) -> (Plan, Vec<f64>, Vec<f64>, Vec<f64>) {
    let rows = asked.y.len();
    let pool = Pool::new(2);
    let plan = Plan::new(lists, asked, &pool, &mut Silent).unwrap();
    let mut values = vec![0.5; plan.columns().sum::<usize>() * rows];
    let mut own = vec![0.5; plan.own().flatten().map(|own| own.count()).sum()];
    plan.effects(cov, &mut values, &mut own, &pool, &mut Silent).unwrap();
    let mut smallest = vec![0.5; plan.columns().count() * rows];
    plan.smallest(cov, &mut smallest, &pool, &mut Silent).unwrap();
    (plan, values, own, smallest)
}

#[test]
fn ida_of_every_pair() {
    let mut seen = 0;
    for case in cases("ida-") {
        let p = case.json["p"].as_u64().unwrap() as usize;
        let cells: Vec<f64> = case.json["mcov"].as_array().unwrap().iter().flat_map(numbers).collect();
        let cov = by_column(&cells, p).unwrap();
        for recorded in case.json["ida"].as_array().unwrap() {
            let graph = recorded["graph"].as_str().unwrap();
            let all: Vec<u32> = (0..p as u32).collect();
            let asked = Asked {
                method: method(&recorded["method"]),
                kind: kind(&recorded["type"]),
                x: all.clone(),
                y: all,
                y_not_parent: recorded["y.notparent"].as_bool().unwrap(),
            };
            let name = format!("{} {graph} {asked:?}", case.name);
            let (plan, values, own, smallest) = effects_of(&lists(&case.json["graphs"][graph], p), asked, cov);
            if recorded["type"] == *graph {
                assert_eq!(Some(plan.is_valid()), case.json["valid"][graph].as_bool(), "{name}");
            }
            let columns: Vec<usize> = plan.columns().collect();
            for row in recorded["effects"].as_array().unwrap() {
                let row = numbers(row);
                let (x, y) = (row[0] as usize - 1, row[1] as usize - 1);
                let start = p * columns[..x].iter().sum::<usize>();
                let mut found: Vec<f64> = (0..columns[x]).map(|column| values[start + column * p + y]).collect();
                let mut at: usize = plan.own().take(x).flatten().map(|own| own.count()).sum();
                for beside in plan.own().nth(x).unwrap() {
                    if beside.y == y {
                        found = own[at..at + beside.count()].to_vec();
                    }
                    at += beside.count();
                }
                let least = found.iter().fold(f64::INFINITY, |least, effect| least.min(effect.abs()));
                assert_eq!(least.to_bits(), smallest[x * p + y].to_bits(), "{name} {x} {y}");
                let found = sorted(found);
                assert!(same(&found, &sorted(row[2..].to_vec())), "{name} {x} {y}: {found:?}, not {:?}", &row[2..]);
                seen += 1;
            }
        }
    }
    assert!(seen > 2000, "{seen}");
}

#[test]
fn ida_fast_of_every_x() {
    for case in cases("ida-") {
        let p = case.json["p"].as_u64().unwrap() as usize;
        let cells: Vec<f64> = case.json["mcov"].as_array().unwrap().iter().flat_map(numbers).collect();
        for recorded in case.json["idaFast"].as_array().unwrap() {
            let x = recorded["x"].as_u64().unwrap() as u32 - 1;
            let y = vertices(&recorded["y"]);
            let asked = Asked { method: Method::Local, kind: Kind::Cpdag, x: vec![x], y, y_not_parent: false };
            let rows = asked.y.len();
            let graph = lists(&case.json["graphs"]["cpdag"], p);
            let (_, values, _, _) = effects_of(&graph, asked, by_column(&cells, p).unwrap());
            for (at, want) in recorded["effects"].as_array().unwrap().iter().enumerate() {
                // A column for each set, in pcalg's order.
                let found: Vec<f64> = values[at..].iter().copied().step_by(rows).collect();
                assert!(same(&found, &numbers(want)), "{} {x}: {found:?}, not {want}", case.name);
            }
        }
    }
}

#[test]
fn joint_effects() {
    let mut seen = 0;
    for case in cases("ida-") {
        let p = case.json["p"].as_u64().unwrap() as usize;
        let cells: Vec<f64> = case.json["mcov"].as_array().unwrap().iter().flat_map(numbers).collect();
        let cov = by_column(&cells, p).unwrap();
        for recorded in case.json["jointIda"].as_array().unwrap() {
            let (x, y) = (vertices(&recorded["x"]), vertices(&recorded["y"]));
            let rows = x.len();
            let asked =
                Asked { method: Method::Local, kind: kind(&recorded["type"]), x, y: y.clone(), y_not_parent: false };
            let technique = match recorded["technique"].as_str().unwrap() {
                "RRC" => Technique::Rrc,
                _ => Technique::Mcd,
            };
            let name = format!("{} {asked:?} {technique:?}", case.name);
            let graph = lists(&case.json["graphs"][recorded["graph"].as_str().unwrap()], p);
            let together = Together::new(&graph, asked, technique).unwrap();
            let size = rows * together.columns();
            let mut values = vec![0.5; size * y.len()];
            together.effects(cov, &mut values, &Pool::new(2), &mut Silent).unwrap();
            for (at, want) in recorded["effects"].as_array().unwrap().iter().enumerate() {
                let want: Vec<Vec<f64>> = want.as_array().unwrap().iter().map(numbers).collect();
                let mut want: Vec<Vec<f64>> =
                    (0..want[0].len()).map(|column| want.iter().map(|row| row[column]).collect()).collect();
                for found in values[at * size..(at + 1) * size].chunks(rows) {
                    let place = want.iter().position(|want| same(found, want));
                    want.swap_remove(place.unwrap_or_else(|| panic!("{name}: {found:?} is not in {want:?}")));
                }
                assert!(want.is_empty(), "{name}: {want:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 500, "{seen}");
}
