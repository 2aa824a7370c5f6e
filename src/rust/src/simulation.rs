//! Random graphs and data from R.

use extendr_api::prelude::*;
use pcgpu_core::memory::Use;
use pcgpu_core::simulation::{random_dag, random_data, Dag, Kind, Mechanism, Missing, Model, Sample, Shape};

use crate::call::Call;
use crate::effects::with_na;
use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::respond::respond;
use crate::value::Value;
use crate::{input, output};

fn two(list: &List, name: &str) -> Outcome<[f64; 2]> {
    let value = list.field(name)?;
    match value.as_real_slice() {
        Some(&[low, high]) => Ok([low, high]),
        _ => Err(Failure::Input(format!("internal: `{name}` is not two numbers"))),
    }
}

/// Returns `list(from, to, weight)` of a random DAG, sorted by head. `shape` is `list(p, model, layers, neighbours, weights, signs)`.
/// @noRd
#[extendr]
fn rust_random_dag(shape: Robj, seed: Robj) -> Robj {
    respond([&shape, &seed], |_| {
        let (shape, seed) = (input::list(&shape, "shape")?, input::count(&seed, "seed", 0)? as u64);
        let model = match shape.text("model")? {
            "er" => Model::Independent,
            "power" => Model::Power,
            "layers" => Model::Layers(shape.count("layers", 2)?),
            other => return Err(Failure::Input(format!("internal: there is no model `{other}`"))),
        };
        let shape = Shape {
            p: shape.count("p", 1)?,
            model,
            neighbours: shape.number("neighbours")?,
            weights: two(&shape, "weights")?,
            signs: shape.flag("signs")?,
        };
        let Dag { from, to, weight } = random_dag(&shape, seed)?;
        let one_based =
            |vertices: Vec<u32>| Value::from(vertices.into_iter().map(|v| v as i32 + 1).collect::<Vec<i32>>());
        Ok(output::named(vec![("from", one_based(from)), ("to", one_based(to)), ("weight", weight.into())]))
    })
}

/// Returns `list(x, levels)` of data of a DAG `list(p, from, to, weight)` with arrows sorted by head. x is n x p, with levels as 1, 2, ...;
/// `levels` has each variable's number of levels, or 0 for numbers.
/// @noRd
#[extendr]
fn rust_random_data(dag: Robj, sample: Robj, seed: Robj, engine: Robj) -> Robj {
    respond([&dag, &sample, &seed, &engine], |token| {
        let (dag, sample) = (input::list(&dag, "dag")?, input::list(&sample, "sample")?);
        let (seed, call) = (input::count(&seed, "seed", 0)? as u64, Call::silent(&engine, token)?);
        let p = dag.count("p", 1)?;
        let weight = dag.field("weight")?.as_real_vector().unwrap_or_default();
        let dag = Dag { from: dag.vertices("from", p)?, to: dag.vertices("to", p)?, weight };
        let kind = match sample.text("kind")? {
            "gaussian" => Kind::Gaussian,
            "nonlinear" => Kind::Nonlinear,
            "discrete" => Kind::Discrete,
            "mixed" => Kind::Mixed(sample.number("share")?),
            other => return Err(Failure::Input(format!("internal: there is no kind `{other}`"))),
        };
        let mechanism = sample.choice("mechanism", &[("MCAR", Mechanism::Completely), ("MAR", Mechanism::AtRandom)])?;
        let sample = Sample {
            n: sample.count("n", 1)?,
            kind,
            levels: two(&sample, "levels")?.map(|levels| levels as usize),
            strength: sample.number("strength")?,
            standardise: sample.flag("standardise")?,
            missing: Missing { share: sample.number("missing")?, mechanism },
        };
        let mut x = output::matrix(token, sample.n, p, Use::Samples)?;
        let cells = output::cells(&mut x)?;
        let levels = random_data(p, &dag, &sample, seed, cells, &call.machine.pool, &mut call.observer())?;
        if sample.missing.share > 0.0 {
            with_na(cells);
        }
        let levels = levels.into_iter().map(|levels| levels as i32).collect::<Vec<i32>>();
        Ok(output::named(vec![("x", x.into()), ("levels", levels.into())]))
    })
}

extendr_module! {
    mod simulation;
    fn rust_random_dag;
    fn rust_random_data;
}
