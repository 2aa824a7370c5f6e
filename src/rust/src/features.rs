//! The kernel tests from R.

use std::cell::RefCell;

use extendr_api::prelude::*;
use pcgpu_core::ci::features::{Approximation, Form, KernelTest, Settings, Shared};
use pcgpu_core::observer::Observer;

use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::mixed::frame_of;
use crate::respond::respond;
use crate::session::RObserver;
use crate::value::Value;

/// Reads `list(p, n, names, form, sides, given, seed, ...)` with data as `MixedTest::from_list` reads them. `names` has the numbers of the
/// columns (ascending, from 1); the rest is for [`Settings`].
pub fn from_list(test: &List) -> Outcome<KernelTest> {
    let (n, p) = (test.count("n", 1)?, test.count("p", 1)?);
    let settings = Settings {
        form: test.choice(
            "form",
            &[
                ("rcot", Form::Rcot),
                ("rcit", Form::Rcit),
                ("rit", Form::Rit),
                ("kci.gamma", Form::Kci(Approximation::Gamma)),
                ("kci.hbe", Form::Kci(Approximation::Hbe)),
            ],
        )?,
        sides: test.count("sides", 1)?,
        given: test.count("given", 1)?,
        seed: test.count("seed", 0)? as u64,
    };
    let names = test.vertices("names", i32::MAX as usize)?;
    Ok(KernelTest::new(frame_of(test, [n, p], 1)?, &names, settings)?)
}

/// Returns the p-value of a kernel test of the columns x and y of its data given all others.
/// @noRd
#[extendr]
fn rust_features_test(test: Robj, x: Robj, y: Robj) -> Robj {
    respond([&test, &x, &y], |token| {
        let test = from_list(&input::list(&test, "test")?)?;
        let column = |value: &Robj, name: &str| match input::vertices(value, test.p(), name)?[..] {
            [v] => Ok(v),
            _ => Err(Failure::Input(format!("internal: `{name}` is not one column"))),
        };
        let (x, y) = (column(&x, "x")?, column(&y, "y")?);
        let given: Vec<u32> = (0..test.p() as u32).filter(|&column| column != x && column != y).collect();
        let looked = RefCell::new((RObserver::silent(token), Ok(())));
        let stop = || {
            let (observer, ended) = &mut *looked.borrow_mut();
            *ended = observer.look();
            ended.is_err()
        };
        let p = test.p_value((x as usize, y as usize, &given), &Shared::default(), &mut Default::default(), &stop);
        looked.into_inner().1?;
        Ok(Value::from(p))
    })
}

extendr_module! {
    mod features;
    fn rust_features_test;
}
