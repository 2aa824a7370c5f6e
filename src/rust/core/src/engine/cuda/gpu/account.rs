//! The account of a GPU: bytes copied to and from it by level, and the pieces in which each level ran.

use std::cell::RefCell;

use crate::team::{Moved, Share};

/// The bytes and pieces of one GPU, by level.
#[derive(Default)]
pub(super) struct Account {
    all: Moved,
    /// By level; the last entry is the level under way.
    levels: Vec<Share>,
}

/// The account of a GPU, behind a cell because copies only borrow the GPU's owner.
pub(super) type Accounts = RefCell<Account>;

impl Account {
    /// Enters what follows under this level; `None`: under the answer.
    pub fn begin(&mut self, level: Option<usize>) {
        if self.levels.last().is_none_or(|last| last.level != level) {
            self.levels.push(Share { level, ..Share::default() });
        }
    }

    /// Counts a piece of the level, with `rows` variables.
    pub fn piece(&mut self, rows: u64) {
        if let Some(now) = self.levels.last_mut() {
            now.shards += 1;
            now.rows = now.rows.max(rows);
        }
    }

    pub fn moved(&mut self, more: Moved) {
        self.all += more;
        if let Some(now) = self.levels.last_mut() {
            now.moved += more;
        }
    }

    pub fn all(&self) -> Moved {
        self.all
    }

    /// Returns the shares since the last call and clears them, with `name` as their machine. A level that was not cut counts as one shard.
    pub fn take(&mut self, name: &str) -> Vec<Share> {
        let named = |share: Share| {
            let shards = share.shards.max(u64::from(share.level.is_some()));
            Share { machine: name.into(), shards, ..share }
        };
        std::mem::take(&mut self.levels).into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_belong_to_the_level_under_way() {
        let mut account = Account::default();
        let to = |to| Moved { to, from: 0 };
        account.moved(to(1));
        account.begin(Some(0));
        account.moved(to(10));
        account.begin(Some(0));
        account.moved(Moved { to: 5, from: 7 });
        account.begin(Some(1));
        [128, 64].into_iter().for_each(|rows| account.piece(rows));
        account.begin(None);
        account.moved(to(2));
        assert_eq!(account.all(), Moved { to: 18, from: 7 });
        let share = |level, shards, rows, moved| Share {
            machine: "cuda:0".into(),
            level,
            shards,
            rows,
            moved,
            ..Share::default()
        };
        let wanted = [
            share(Some(0), 1, 0, Moved { to: 15, from: 7 }),
            share(Some(1), 2, 128, Moved::default()),
            share(None, 0, 0, to(2)),
        ];
        assert_eq!(account.take("cuda:0"), wanted);
        assert!(account.take("cuda:0").is_empty());
    }
}
