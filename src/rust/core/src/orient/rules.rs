//! Rules 1 to 3 and, with background knowledge, rule 4 (Meek 1995), repeated until nothing changes, with pcalg's order effects.
//!
//! pcalg sweeps the whole matrix for each rule of each round. Here a rule looks only where something happened since its last round. That is
//! exact: an edge never becomes undirected again. So a rule that did not apply somewhere cannot apply there until an edge there is newly
//! directed. Within a round the order is pcalg's: the edges that held when the rule started, by their second vertex and then by their first
//! (`which(arr.ind = TRUE)`).
//!
//! The order matters: colliders found in data may contradict each other, so that no DAG extends the graph. `graph::Closure` has the rules
//! for graphs that a DAG extends.

use super::event::Event;
use super::planes::{Kin, Planes};
use super::poll::Poll;
use super::triples::Ambiguous;
use crate::graph::{Adjacency, Marks};
use crate::memory::{self, Use};
use crate::Result;

/// pcalg's three implementations of the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `udag2pdagRelaxed`: a rule sees its own changes at once, and the later direction wins.
    Relaxed,
    /// `udag2pdagRelaxed(solve.confl = TRUE)`: a rule judges by the graph at the start of its round. An edge that was directed the other
    /// way in that round becomes bidirected.
    SolveConflicts,
    /// `udag2pdag` and `udag2pdagSpecial`: as `Relaxed`, but rule 3 takes c1 and c2 for "not connected" unless c1 - c2. These functions look
    /// for a zero in `pdag[c, c]`, and a directed edge has one. So rule 3 may direct more edges than the CPDAG does.
    Extendable,
}

/// The rules and the graph's facts that they use.
pub(super) struct Rules<'a> {
    pub skeleton: &'a Adjacency,
    pub ambiguous: &'a Ambiguous,
    pub version: Version,
    /// Which of the four rules to apply.
    pub enabled: [bool; 4],
}

/// The graph while the rules run.
struct Rounds<'a> {
    rules: &'a Rules<'a>,
    marks: &'a mut Marks,
    planes: Planes,
    poll: &'a Poll<'a>,
    /// Every slot that was directed, in chronological order.
    log: Vec<usize>,
    /// Length of the log when each rule's last round started.
    seen: [usize; 4],
    /// Slots (a, b) of undirected edges by b, then a; pruned when a round starts.
    open: Vec<usize>,
    changed: bool,
}

impl Rules<'_> {
    /// Applies the enabled rules to `marks` until a round changes nothing.
    pub fn apply(&self, marks: &mut Marks, poll: &Poll) -> Result<()> {
        let directed = (0..marks.slot_count()).filter(|&slot| marks.is_directed(slot)).collect();
        let by_head = (0..marks.slot_count()).map(|slot| marks.twin(slot)).collect();
        let planes = Planes::new(marks)?;
        Rounds { rules: self, marks, planes, poll, log: directed, seen: [0; 4], open: by_head, changed: true }.run()
    }
}

/// Returns vertices in the type that events use.
fn numbers<const N: usize>(vertices: [usize; N]) -> [u32; N] {
    vertices.map(|v| v as u32)
}

impl Rounds<'_> {
    /// Runs rounds until one changes nothing.
    fn run(&mut self) -> Result<()> {
        while self.changed {
            self.changed = false;
            if self.rules.enabled[0] {
                self.rule1()?;
            }
            if self.rules.enabled[1] {
                self.rule2()?;
            }
            if self.rules.enabled[2] {
                self.rule3()?;
            }
            if self.rules.enabled[3] {
                self.rule4()?;
            }
        }
        Ok(())
    }

    /// Directs b -> c in a -> b - c with a and c not adjacent: otherwise a new collider.
    fn rule1(&mut self) -> Result<()> {
        // pcalg looks at all directed edges again, and prints again those that it leaves alone.
        let from = if self.poll.is_followed() { 0 } else { self.seen[0] };
        let mut fresh: Vec<usize> =
            self.log[from..].iter().copied().filter(|&slot| self.marks.is_directed(slot)).collect();
        fresh.sort_unstable_by_key(|&slot| (self.marks.head(slot), self.marks.tail(slot)));
        fresh.dedup();
        self.seen[0] = self.log.len();
        let mut wanted = Vec::new();
        for ab in fresh {
            self.poll.step()?;
            let (a, b) = (self.marks.tail(ab), self.marks.head(ab));
            for bc in self.marks.slots(b) {
                let c = self.marks.head(bc);
                if !self.marks.is_undirected(bc) || self.rules.skeleton.has(a, c) {
                    continue;
                }
                let ambiguous = self.rules.ambiguous.contains(a, b, c);
                if self.rules.version == Version::SolveConflicts {
                    if !ambiguous || self.poll.is_followed() {
                        memory::push(&mut wanted, ([a, b, c], bc, ambiguous), Use::Orientation)?;
                    }
                    continue;
                }
                self.poll.tell(&Event::Rule1 { on: numbers([a, b, c]), conflict: false })?;
                if !ambiguous {
                    self.direct(bc);
                }
            }
        }
        for (on, bc, ambiguous) in wanted {
            let outcome = if ambiguous {
                // pcalg prints that it directs the edge, but does not.
                self.marks.is_undirected(bc).then_some(false)
            } else {
                self.resolve(bc)
            };
            if let Some(conflict) = outcome {
                self.poll.tell(&Event::Rule1 { on: numbers(on), conflict })?;
            }
        }
        Ok(())
    }

    /// Directs a -> b in a -> c -> b with a - b: otherwise a cycle.
    fn rule2(&mut self) -> Result<()> {
        let due = self.is_due(1, |rounds, slot| rounds.opens_chain(slot))?;
        self.seen[1] = self.log.len();
        if due {
            self.each_open(|rounds, ab| {
                let (a, b) = (rounds.marks.tail(ab), rounds.marks.head(ab));
                rounds.is_chain(a, b).then(|| rounds.told_of_rule2(a, b))
            })?;
        }
        Ok(())
    }

    /// Directs a -> b in a - c1 -> b, a - c2 -> b with a - b, c1 and c2 not adjacent: otherwise a cycle or a new collider.
    fn rule3(&mut self) -> Result<()> {
        let due = self.is_due(2, |rounds, slot| rounds.opens_fork(slot))?;
        self.seen[2] = self.log.len();
        if due {
            self.each_open(|rounds, ab| {
                let (a, b) = (rounds.marks.tail(ab), rounds.marks.head(ab));
                let [c1, c2] = rounds.fork(a, b)?;
                Some(vec![Event::Rule3 { on: numbers([a, c1 as usize, c2 as usize, b]), conflict: false }])
            })?;
        }
        Ok(())
    }

    /// Directs a -> b in d -> c -> b with a - b, a - c, a - d, b and d not adjacent: otherwise a cycle or a new collider. pcalg's output
    /// has no line for it.
    fn rule4(&mut self) -> Result<()> {
        let due = self.log.len() > self.seen[3];
        self.seen[3] = self.log.len();
        if due {
            self.each_open(|rounds, ab| {
                let (a, b) = (rounds.marks.tail(ab), rounds.marks.head(ab));
                rounds.is_square(a, b).then(Vec::new)
            })?;
        }
        Ok(())
    }

    fn is_square(&self, a: usize, b: usize) -> bool {
        self.shared([(a, Kin::Joined), (b, Kin::Parent)]).any(|c| {
            self.shared([(a, Kin::Joined), (c, Kin::Parent)])
                .any(|d| !self.rules.skeleton.has(d, b) && !self.rules.ambiguous.contains(b, a, d))
        })
    }

    /// Returns the events of rule 2: pcalg prints a line for every chain.
    fn told_of_rule2(&self, a: usize, b: usize) -> Vec<Event<'static>> {
        if !self.poll.is_followed() {
            return Vec::new();
        }
        let chained = self.shared([(a, Kin::Child), (b, Kin::Parent)]);
        chained.map(|c| Event::Rule2 { on: numbers([a, c, b]), conflict: false }).collect()
    }

    /// Calls `wants` for every edge that is undirected now, in both directions. This includes edges that the round has meanwhile directed
    /// the other way, as pcalg lists the edges once.
    ///
    /// `wants` returns the events of an edge that it wants directed, or `None` for an edge that stays.
    fn each_open(&mut self, wants: impl Fn(&Self, usize) -> Option<Vec<Event<'static>>>) -> Result<()> {
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&slot| self.marks.is_undirected(slot));
        let mut wanted = Vec::new();
        for &ab in &open {
            self.poll.step()?;
            let Some(events) = wants(self, ab) else { continue };
            if self.rules.version == Version::SolveConflicts {
                memory::push(&mut wanted, (ab, events), Use::Orientation)?;
                continue;
            }
            for event in &events {
                self.poll.tell(event)?;
            }
            self.direct(ab);
        }
        for (ab, events) in wanted {
            // If there are several chains, the first one settles the edge; pcalg prints nothing for the others.
            if let (Some(conflict), Some(event)) = (self.resolve(ab), events.first()) {
                self.poll.tell(&event.with_conflict(conflict))?;
            }
        }
        self.open = open;
        Ok(())
    }

    /// Returns whether `opens` holds for a slot that is new to the rule.
    fn is_due(&self, rule: usize, opens: impl Fn(&Self, usize) -> bool) -> Result<bool> {
        for &slot in &self.log[self.seen[rule]..] {
            self.poll.step()?;
            if opens(self, slot) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn direct(&mut self, slot: usize) {
        self.marks.direct(slot);
        self.planes.note(self.marks, slot);
        self.log.push(slot);
        self.changed = true;
    }

    /// Directs an edge. If the round has directed it the other way, marks a conflict and returns true. Returns `None` if nothing was left
    /// to do.
    fn resolve(&mut self, slot: usize) -> Option<bool> {
        if self.marks.is_undirected(slot) {
            self.direct(slot);
            Some(false)
        } else if self.marks.is_reversed(slot) {
            self.marks.conflict(slot);
            self.planes.note(self.marks, slot);
            self.changed = true;
            Some(true)
        } else {
            None
        }
    }

    /// Returns the vertices that are in the given relation to each of two others, ascending.
    fn shared(&self, of: [(usize, Kin); 2]) -> impl Iterator<Item = usize> + '_ {
        self.planes.shared(self.marks, self.rules.skeleton, of)
    }

    fn meet(&self, of: [(usize, Kin); 2]) -> bool {
        self.shared(of).next().is_some()
    }

    fn is_chain(&self, a: usize, b: usize) -> bool {
        self.meet([(a, Kin::Child), (b, Kin::Parent)])
    }

    /// Returns c1 and c2 of the first fork that directs a -> b, if there is one.
    fn fork(&self, a: usize, b: usize) -> Option<[u32; 2]> {
        let between: Vec<usize> = self.shared([(a, Kin::Joined), (b, Kin::Parent)]).collect();
        between.iter().enumerate().find_map(|(i, &c1)| {
            let second = between[i + 1..].iter().find(|&&c2| match self.rules.version {
                Version::Extendable => !self.joins(c1, c2),
                _ => !self.rules.skeleton.has(c1, c2) && !self.rules.ambiguous.contains(c1, a, c2),
            });
            second.map(|&c2| [c1 as u32, c2 as u32])
        })
    }

    fn joins(&self, u: usize, v: usize) -> bool {
        self.rules.skeleton.has(u, v) && self.marks.find(u, v).is_some_and(|slot| self.marks.is_undirected(slot))
    }

    /// Returns whether the newly directed u -> v is half of a chain over an undirected edge.
    fn opens_chain(&self, slot: usize) -> bool {
        let (u, v) = (self.marks.tail(slot), self.marks.head(slot));
        self.marks.is_directed(slot)
            && (self.meet([(v, Kin::Child), (u, Kin::Joined)]) || self.meet([(u, Kin::Parent), (v, Kin::Joined)]))
    }

    /// Returns whether the newly directed u -> v may be part of a fork: as c -> b or, in [`Version::Extendable`], between c1 and c2.
    fn opens_fork(&self, slot: usize) -> bool {
        let (u, v) = (self.marks.tail(slot), self.marks.head(slot));
        self.marks.is_directed(slot)
            && (self.meet([(u, Kin::Joined), (v, Kin::Joined)])
                || (self.rules.version == Version::Extendable && self.meet([(u, Kin::Child), (v, Kin::Child)])))
    }
}
