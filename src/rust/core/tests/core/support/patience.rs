//! Checks how soon a call ends after it was asked to stop.

use std::time::Duration;

const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// Calls `stop`, which returns how late it ended, up to six times until it ends within half a second. Other tests and programs delay a machine
/// now and then; code that never checks whether to stop is late every time.
pub fn stops_within_half_a_second(what: &str, mut stop: impl FnMut() -> Duration) {
    let mut late = Vec::new();
    while late.len() < 6 {
        let took = stop();
        if took < HALF_A_SECOND {
            return;
        }
        late.push(took);
    }
    panic!("{what} stopped {late:?} after it was asked to");
}
