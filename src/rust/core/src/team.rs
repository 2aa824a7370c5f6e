//! What machines that work together say of it: who did how much, and who was lost.

use crate::Error;

/// What a machine did at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Its name, as R knows it: "cpu", "cuda:0".
    pub machine: String,
    /// The level; of a feature selection 0.
    pub level: usize,
    /// The shards that it did.
    pub shards: u64,
    /// Bytes that were copied to it, from the host or from other machines, and from it.
    pub bytes: u64,
    /// Seconds that it worked.
    pub busy: f64,
    /// Seconds that the level took.
    pub elapsed: f64,
}

/// A machine that failed; others did its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its name.
    pub machine: String,
    /// Why.
    pub reason: String,
}

impl Lost {
    /// A machine that failed with this error.
    pub fn by(machine: impl Into<String>, error: &Error) -> Self {
        // What to do about it is not the caller's to do: others go on.
        let reason = match error {
            Error::Device(device) => device.message.clone(),
            other => other.to_string(),
        };
        Lost { machine: machine.into(), reason }
    }
}

/// What a team of machines says of a run; nothing where one machine did all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamReport {
    /// Level by level.
    pub shares: Vec<Share>,
    /// Those that failed.
    pub lost: Vec<Lost>,
}

impl TeamReport {
    /// Enters what a machine did, beside what it did before at the same level.
    pub fn enter(&mut self, share: Share) {
        let known = self.shares.iter_mut().find(|known| known.machine == share.machine && known.level == share.level);
        match known {
            Some(known) => {
                known.shards += share.shards;
                known.bytes += share.bytes;
                known.busy += share.busy;
                known.elapsed += share.elapsed;
            }
            None => self.shares.push(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_level_are_added_up() {
        let share = |machine: &str, level| Share {
            machine: machine.into(),
            level,
            shards: 2,
            bytes: 8,
            busy: 0.5,
            elapsed: 1.0,
        };
        let mut report = TeamReport::default();
        for share in [share("cpu", 0), share("cuda:0", 0), share("cpu", 1), share("cpu", 0)] {
            report.enter(share);
        }
        assert_eq!(report.shares.len(), 3);
        assert_eq!(report.shares[0], Share { shards: 4, bytes: 16, busy: 1.0, elapsed: 2.0, ..share("cpu", 0) });
    }
}
