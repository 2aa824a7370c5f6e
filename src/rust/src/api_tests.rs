//! The functions that R calls for single tests.

use extendr_api::prelude::*;

use crate::failure::{respond, Failure};
use crate::knn::KnnTest;
use crate::machine::Machine;
use crate::mixed::MixedTest;
use crate::session::RObserver;
use crate::value::Value;
use crate::{input, output};

/// One nearest-neighbour test of the columns x and y of its data given all others.
/// @noRd
#[extendr]
fn rust_knn_test(test: Robj, x: Robj, y: Robj, engine: Robj) -> Robj {
    respond([&test, &x, &y, &engine], |token| {
        let test = KnnTest::from_list(&input::list(&test, "test")?)?;
        let column = |value: &Robj, name: &str| match input::vertices(value, test.p(), name)?[..] {
            [v] => Ok(v),
            _ => Err(Failure::Input(format!("internal: `{name}` is not one column"))),
        };
        let (x, y) = (column(&x, "x")?, column(&y, "y")?);
        if x == y {
            return Err(Failure::Input("internal: `x` and `y` are one column".into()));
        }
        let given: Vec<u32> = (0..test.p() as u32).filter(|&column| column != x && column != y).collect();
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        let mut observer = RObserver::silent(token);
        let outcome = test
            .outcome(x as usize, y as usize, &given, &machine.pool, &mut observer)
            .map_err(|error| token.explain(error))?;
        Ok(output::named(vec![
            ("estimate", Value::from(outcome.estimate)),
            ("p", Value::from(outcome.p)),
            ("drawn", Value::from(outcome.drawn as f64)),
            ("count", Value::from(outcome.count as f64)),
        ]))
    })
}

/// p of a test of numbers and levels, of the first two of its variables given all others.
/// @noRd
#[extendr]
fn rust_mixed_test(test: Robj) -> Robj {
    respond([&test], |_| Ok(Value::from(MixedTest::from_list(&input::list(&test, "test")?)?.p_value()?)))
}

extendr_module! {
    mod api_tests;
    fn rust_knn_test;
    fn rust_mixed_test;
}
