//! What machines report about their work: how much each did, what was copied, and which were lost.

use std::ops::{AddAssign, Sub};

use crate::Error;

/// Bytes copied to a machine (from the host or other machines), and from it to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes copied to the machine.
    pub to: u64,
    /// Bytes copied from the machine.
    pub from: u64,
}

impl Moved {
    /// Returns the larger of each number: of two running counts, the later.
    pub fn max(self, other: Moved) -> Moved {
        Moved { to: self.to.max(other.to), from: self.from.max(other.from) }
    }
}

impl AddAssign for Moved {
    fn add_assign(&mut self, more: Moved) {
        self.to += more.to;
        self.from += more.from;
    }
}

impl Sub for Moved {
    type Output = Moved;

    fn sub(self, before: Moved) -> Moved {
        Moved { to: self.to - before.to, from: self.from - before.from }
    }
}

/// The work of a machine at a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// The machine's name, as R knows it: "cpu", "cuda:0".
    pub machine: String,
    /// The level; 0 for a feature selection; `None` for copying the answer back once all levels have run.
    pub level: Option<usize>,
    /// Number of shards that the machine did.
    pub shards: u64,
    /// The most variables in one shard, if shards are cut for lack of memory: rows of correlations, rows with their neighbours, or columns
    /// of data. Otherwise 0.
    pub rows: u64,
    /// The bytes copied.
    pub moved: Moved,
    /// Seconds that the machine worked. Not measured for a machine that works alone.
    pub busy: f64,
    /// Seconds that the level took. Not measured for a machine that works alone.
    pub elapsed: f64,
}

/// A machine that left the work to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The machine's name.
    pub machine: String,
    /// Why the machine left.
    pub reason: String,
    /// Whether the machine failed. A GPU with too little memory has not failed: it can be used again.
    pub failed: bool,
}

impl Lost {
    /// Returns the record of a machine that ended with this error.
    pub fn by(machine: impl Into<String>, error: &Error) -> Self {
        // The hint is left out: the others continue, and the caller need not act.
        let reason = match error {
            Error::Device(device) => device.message.clone(),
            other => other.to_string(),
        };
        Lost { machine: machine.into(), reason, failed: !error.is_short_of_device_memory() }
    }
}

/// The machines' reports on a run; empty if only the CPU works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamReport {
    /// The shares, level by level.
    pub shares: Vec<Share>,
    /// The machines that left the work to others.
    pub lost: Vec<Lost>,
}

impl TeamReport {
    /// Adds a later report.
    pub fn add(&mut self, later: TeamReport) {
        self.shares.extend(later.shares);
        self.lost.extend(later.lost);
    }

    /// Enters machines that left. Skips machines already known to have left, which were tried again.
    pub fn lose(&mut self, lost: Vec<Lost>) {
        for lost in lost {
            if self.lost.iter().all(|known| known.machine != lost.machine) {
                self.lost.push(lost);
            }
        }
    }

    /// Enters a machine's share, and adds it to an earlier share of the same level.
    pub fn enter(&mut self, share: Share) {
        let known = self.shares.iter_mut().find(|known| known.machine == share.machine && known.level == share.level);
        match known {
            Some(known) => {
                known.shards += share.shards;
                known.rows = known.rows.max(share.rows);
                known.moved += share.moved;
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
    fn a_machine_is_lost_once() {
        let lost = |machine: &str, reason: &str| Lost { machine: machine.into(), reason: reason.into(), failed: true };
        let mut report = TeamReport { shares: Vec::new(), lost: vec![lost("cuda:0", "first")] };
        report.lose(vec![lost("cuda:0", "second"), lost("cuda:1", "third")]);
        assert_eq!(report.lost, [lost("cuda:0", "first"), lost("cuda:1", "third")]);
        report.add(TeamReport { shares: vec![Share::default()], lost: vec![lost("cuda:2", "later")] });
        assert_eq!((report.shares.len(), report.lost.len()), (1, 3));
    }

    #[test]
    fn shares_of_a_level_are_added_up() {
        let share = |machine: &str, level| Share {
            machine: machine.into(),
            level: Some(level),
            shards: 2,
            rows: 64,
            moved: Moved { to: 8, from: 1 },
            busy: 0.5,
            elapsed: 1.0,
        };
        let mut report = TeamReport::default();
        for share in [share("cpu", 0), share("cuda:0", 0), share("cpu", 1), share("cpu", 0)] {
            report.enter(share);
        }
        assert_eq!(report.shares.len(), 3);
        assert_eq!(
            report.shares[0],
            Share { shards: 4, moved: Moved { to: 16, from: 2 }, busy: 1.0, elapsed: 2.0, ..share("cpu", 0) }
        );
    }
}
