//! How long what was asked to stop goes on.

use std::time::Duration;

const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// Asks `stop`, which says how late it ended, up to six times, until that was within half a second. Other tests and programs hold a machine up now and
/// then; what does not look whether it is to stop is late every time.
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
