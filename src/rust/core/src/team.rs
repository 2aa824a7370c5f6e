//! What machines say of their work: who did how much, what was copied, and who was lost.

use std::ops::{AddAssign, Sub};

use crate::Error;

/// Bytes that were copied to a machine, from the host or from other machines, and from it to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// To it.
    pub to: u64,
    /// From it.
    pub from: u64,
}

impl Moved {
    /// The larger of each: of two counts since one beginning, the later.
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

/// What a machine did at a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Its name, as R knows it: "cpu", "cuda:0".
    pub machine: String,
    /// The level; of a feature selection 0; none: the answer, which is brought once all levels have run.
    pub level: Option<usize>,
    /// The shards that it did.
    pub shards: u64,
    /// Where these are cut for want of memory, the most variables of one: rows of correlations, rows with their neighbours, columns of data. Else 0.
    pub rows: u64,
    /// What was copied.
    pub moved: Moved,
    /// Seconds that it worked, and that the level took; of a machine that works alone neither is taken.
    pub busy: f64,
    /// See `busy`.
    pub elapsed: f64,
}

/// A machine that left the work to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its name.
    pub machine: String,
    /// Why.
    pub reason: String,
    /// Whether it failed. A GPU with too little memory did not: it works, and can be used again.
    pub failed: bool,
}

impl Lost {
    /// A machine that ended with this error.
    pub fn by(machine: impl Into<String>, error: &Error) -> Self {
        // The remedy is left out: others go on, and the caller need not act.
        let reason = match error {
            Error::Device(device) => device.message.clone(),
            other => other.to_string(),
        };
        Lost { machine: machine.into(), reason, failed: !error.is_short_of_device_memory() }
    }
}

/// What machines say of a run; nothing of the CPU alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamReport {
    /// Level by level.
    pub shares: Vec<Share>,
    /// Those that left the work to others.
    pub lost: Vec<Lost>,
}

impl TeamReport {
    /// Adds what machines said later.
    pub fn add(&mut self, later: TeamReport) {
        self.shares.extend(later.shares);
        self.lost.extend(later.lost);
    }

    /// Enters machines that left, except those that are known to have left: these were tried again.
    pub fn lose(&mut self, lost: Vec<Lost>) {
        for lost in lost {
            if self.lost.iter().all(|known| known.machine != lost.machine) {
                self.lost.push(lost);
            }
        }
    }

    /// Enters what a machine did, beside what it did before at the same level.
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
