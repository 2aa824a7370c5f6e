//! Sets that are asked about one after the other, as pcalg does.

use super::visits::{Answers, Outcome, Visit};
use crate::ci::{Batch, CiTest};
use crate::graph::subsets;
use crate::observer::Observer;
use crate::search::Options;
use crate::Result;

/// A test that is asked in pcalg's order.
pub struct InTurn<'t> {
    pub test: &'t mut dyn CiTest,
}

impl Answers for InTurn<'_> {
    fn of(&mut self, visit: &Visit, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
        ask(self.test, visit, options, observer)
    }
}

/// Asks about the sets of an edge in pcalg's order, in batches where the test may be asked so, until one separates it.
pub fn ask(
    test: &mut dyn CiTest,
    visit: &Visit,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let mut asking = Asking { test, visit, options, batch: Batch::new(), count: 0, largest: None };
    let mut visited = Vec::new();
    let mut set = None;
    for size in 1..=visit.largest {
        asking.count = 0;
        let mut found = None;
        if size == 1 {
            for &v in visit.singles {
                found = asking.push(&[v], observer)?;
                if found.is_some() {
                    break;
                }
            }
        } else if visit.all.len() >= size {
            let mut places: Vec<u32> = (0..size as u32).collect();
            let mut members = vec![0; size];
            loop {
                members.iter_mut().zip(&places).for_each(|(member, &place)| *member = visit.all[place as usize]);
                if !visit.is_near(&members) {
                    found = asking.push(&members, observer)?;
                }
                if found.is_some() || !subsets::advance(visit.all.len(), &mut places) {
                    break;
                }
            }
        }
        if found.is_none() {
            found = asking.send(observer)?;
        }
        visited.push(asking.count);
        set = found;
        if set.is_some() {
            break;
        }
    }
    Ok(Outcome { visited, set, largest: asking.largest })
}

struct Asking<'t, 'v> {
    test: &'t mut dyn CiTest,
    visit: &'v Visit<'v>,
    options: &'v Options,
    batch: Batch,
    /// Of this size.
    count: u64,
    largest: Option<f64>,
}

impl Asking<'_, '_> {
    /// Asks about a set, sooner or later; one that separates.
    fn push(&mut self, set: &[u32], observer: &mut dyn Observer) -> Result<Option<Vec<u32>>> {
        self.batch.push(self.visit.x, self.visit.y, set);
        if self.batch.len() >= self.test.batch_size() {
            return self.send(observer);
        }
        Ok(None)
    }

    /// Asks what waits.
    fn send(&mut self, observer: &mut dyn Observer) -> Result<Option<Vec<u32>>> {
        if self.batch.is_empty() {
            return Ok(None);
        }
        observer.look()?;
        let answers = self.test.p_values(&self.batch)?;
        let mut found = None;
        for ((x, y, s), raw) in self.batch.iter().zip(answers) {
            observer.tested(x, y, s, raw)?;
            self.count += 1;
            let p = self.options.read(raw);
            if p > self.largest.unwrap_or(self.visit.known) {
                self.largest = Some(p);
            }
            if p >= self.options.alpha {
                found = Some(s.to_vec());
                break;
            }
        }
        self.batch.clear();
        Ok(found)
    }
}
