//! The check of a correlation matrix that R has left to the search. It reads all of the matrix. A GPU need not wait for it, and a GPU that
//! gets the whole matrix checks it in little time.

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

/// Runs `search(of, check)`. The test's matrix is checked before, or during the search if `check` is given. If it cannot be a correlation
/// matrix, returns `list(is_correlation = FALSE)`, whatever the search found. If it has NA, returns `list(has_na = TRUE, found)`.
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
        // R's own errors and Ctrl-C take precedence.
        Err(_) if call.token.jump().is_some() => true,
        // The error does not depend on the matrix. R may try again on the CPU, so reading the matrix now would be wasted.
        Err(Failure::Core(Error::Device(_) | Error::Memory { .. } | Error::TimeLimit { .. })) => !check.is_refused(),
        // The search could not begin.
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

/// Returns whether levels may run while the matrix is checked. They may on a GPU, to which the matrix must be copied, if nobody sees their
/// results meanwhile. They end once the matrix is known to be refused, see `RObserver::checking()`.
fn goes_on_meanwhile(call: &Call, limits: &Limits) -> bool {
    let (machine, told) = (&call.machine, &call.listener.callbacks);
    let is_seen = told.test.is_some() || told.level.is_some() || told.visit.is_some() || limits.checkpoint.is_some();
    !machine.device.is_cpu() && machine.ranks.is_none() && !is_seen
}

/// Waits for the check. Returns an error if the matrix is refused.
pub fn agreed(check: Option<&Check>, pool: &Pool) -> Outcome<()> {
    match check.map(|check| check.verdict(pool)) {
        Some(None) => Err(Failure::Input("internal: `C` is not a correlation matrix".into())),
        _ => Ok(()),
    }
}
