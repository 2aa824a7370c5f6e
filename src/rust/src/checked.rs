//! The check of a matrix of correlations that R has left to the search: it reads all of the matrix, for which a GPU need not wait, and which a GPU that is sent all of it
//! does in little time.

use pcgpu_core::ci::correlations::Check;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::Options;
use pcgpu_core::Error;

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::test::Test;
use crate::value::Value;
use crate::{input, output};

/// Runs `search(of, check)`, whose test's matrix is checked before, or, with `check`, beside it. Where it cannot be one of correlations the value is
/// `list(is_correlation = FALSE)`, whatever the search has come to; where it has NA, `list(has_na = TRUE, found)`.
pub fn search(
    call: &Call,
    test: &Test,
    of: (&Options, &Limits),
    unchecked: bool,
    search: impl FnOnce((&Options, &Limits), Option<&Check>) -> Outcome<Value>,
) -> Outcome<Value> {
    let c = match test {
        Test::Gauss { c, file: None, .. } if unchecked => input::square(c, of.0.p, "C")?,
        _ => return search(of, None),
    };
    let (check, pool) = (Check::new(c), &call.machine.pool);
    let found = if goes_on_meanwhile(call, of.1) {
        search(of, Some(&check))
    } else {
        agreed(Some(&check), pool).and_then(|()| search(of, None))
    };
    let ends_all = match &found {
        Ok(_) => false,
        // R's own errors and Ctrl-C come first.
        Err(_) if call.token.jump().is_some() => true,
        // It was ended whatever the matrix is: R may try again on the CPU, and the matrix is not read for nothing.
        Err(Failure::Core(Error::Device(_) | Error::Memory { .. } | Error::TimeLimit { .. })) => !check.is_refused(),
        // It could not begin.
        Err(_) => !check.has_begun() && !check.is_refused(),
    };
    if ends_all {
        return found;
    }
    match check.verdict(pool) {
        None => Ok(output::named(vec![("is_correlation", Value::from(false))])),
        Some(false) => found,
        Some(true) => Ok(output::named(vec![("has_na", Value::from(true)), ("found", found?)])),
    }
}

/// Whether levels may run on a matrix that is being checked: on a GPU, which the matrix has to be copied to, and where nobody would see what comes of it. They end once it is known
/// to be refused, see `RObserver::checking()`.
fn goes_on_meanwhile(call: &Call, limits: &Limits) -> bool {
    let (machine, told) = (&call.machine, &call.listener.callbacks);
    let is_seen = told.test.is_some() || told.level.is_some() || told.visit.is_some() || limits.checkpoint.is_some();
    !machine.device.is_cpu() && machine.ranks.is_none() && !is_seen
}

/// Waits for the check; an error where the matrix is refused.
pub fn agreed(check: Option<&Check>, pool: &Pool) -> Outcome<()> {
    match check.map(|check| check.verdict(pool)) {
        Some(None) => Err(Failure::Input("internal: `C` is no correlation matrix".into())),
        _ => Ok(()),
    }
}
