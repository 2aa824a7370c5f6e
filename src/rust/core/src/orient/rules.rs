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
use super::poll::{On, Poll};
use super::triples::Ambiguous;
use crate::graph::{Adjacency, Marks, Packed};
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

/// The graph while the rules run, which all threads read.
struct State<'a> {
    rules: &'a Rules<'a>,
    marks: &'a mut Marks,
    planes: Planes,
    /// By vertex: number of undirected edges.
    joined: Vec<usize>,
    /// Every slot that was directed, in chronological order, if one of its ends had undirected edges. No rule needs the others.
    log: Vec<usize>,
    /// By vertex: length of the log after the last entry with this vertex.
    touched: Vec<usize>,
    changed: bool,
}

struct Rounds<'a> {
    state: State<'a>,
    poll: &'a Poll<'a>,
    /// Length of the log when each rule's last round started.
    seen: [usize; 4],
    /// Slots (a, b) of undirected edges by b, then a; pruned when a round starts.
    open: Vec<usize>,
}

impl Rules<'_> {
    /// Applies the enabled rules to `marks` until a round changes nothing.
    pub fn apply(&self, marks: &mut Marks, poll: &Poll) -> Result<()> {
        let by_head = |slot: usize| marks.twin(slot);
        let open: Vec<usize> = (0..marks.slot_count()).filter(|&slot| marks.is_undirected(slot)).map(by_head).collect();
        if open.is_empty() {
            return Ok(());
        }
        let mut joined = vec![0; marks.p()];
        open.iter().for_each(|&slot| joined[marks.head(slot)] += 1);
        let directed: Vec<usize> =
            (0..marks.slot_count()).filter(|&slot| marks.is_reversed(slot)).map(by_head).collect();
        let (planes, touched) = (Planes::new(marks, |v| joined[v] > 0)?, vec![0; marks.p()]);
        let mut state = State { rules: self, marks, planes, joined, log: Vec::new(), touched, changed: true };
        directed.into_iter().for_each(|slot| state.enter(slot));
        Rounds { state, poll, seen: [0; 4], open }.run()
    }
}

/// Returns vertices in the type that events use.
fn numbers<const N: usize>(vertices: [usize; N]) -> [u32; N] {
    vertices.map(|v| v as u32)
}

/// What rule 1 finds: a, b and c, the slot b -> c, and whether the triple is ambiguous.
type Chained = ([u32; 3], usize, bool);

impl Rounds<'_> {
    /// Runs rounds until one changes nothing.
    fn run(&mut self) -> Result<()> {
        while std::mem::take(&mut self.state.changed) {
            if self.state.rules.enabled[0] {
                self.rule1()?;
            }
            for rule in (1..4).filter(|&rule| self.state.rules.enabled[rule]) {
                self.round(rule)?;
            }
        }
        Ok(())
    }

    /// Directs b -> c in a -> b - c with a and c not adjacent: otherwise a new collider.
    fn rule1(&mut self) -> Result<()> {
        // pcalg looks at all directed edges again, and prints again those that it leaves alone.
        let from = if self.poll.is_followed() { 0 } else { self.seen[0] };
        let marks = &*self.state.marks;
        // The slots b -> a of the arrows, which are in the order of pcalg's list.
        let fresh = self.state.log[from..]
            .iter()
            .filter(|&&slot| self.state.joined[marks.head(slot)] > 0 && marks.is_directed(slot));
        let mut fresh: Vec<usize> = fresh.map(|&slot| marks.twin(slot)).collect();
        fresh.sort_unstable();
        fresh.dedup();
        self.seen[0] = self.state.log.len();
        let by_middle: Vec<&[usize]> = fresh.chunk_by(|&one, &other| marks.tail(one) == marks.tail(other)).collect();
        // This rule makes no other edge undirected or adjacent: what it finds at the start is all that it can find.
        let followed = self.poll.is_followed();
        let found = self.poll.map(fresh.len(), by_middle.len(), |part, on| {
            let mut found = Vec::new();
            let mut parents = Packed::default();
            for arrows in &by_middle[part] {
                self.state.chained(arrows, followed, &mut parents, &mut found, on)?;
            }
            Ok(found)
        })?;
        for (on, bc, ambiguous) in found.into_iter().flatten() {
            self.poll.step()?;
            let outcome = if self.state.rules.version != Version::SolveConflicts || ambiguous {
                // pcalg prints that it directs the edge even where it does not.
                self.state.marks.is_undirected(bc).then_some(false)
            } else {
                self.state.resolve(bc)
            };
            if let Some(conflict) = outcome {
                self.poll.tell(&Event::Rule1 { on, conflict })?;
                if !ambiguous && self.state.marks.is_undirected(bc) {
                    self.state.direct(bc);
                }
            }
        }
        Ok(())
    }

    /// Runs a round of one of the other rules, 1 to 3 for rules 2 to 4.
    ///
    /// The round visits every edge that is undirected now, in both directions. This includes edges that it has meanwhile directed the other
    /// way, as pcalg lists the edges once. The threads decide on all edges by the graph at the start of the round. Where the round has
    /// changed the graph before an edge's turn, it decides again.
    fn round(&mut self, rule: usize) -> Result<()> {
        let since = std::mem::replace(&mut self.seen[rule], self.state.log.len());
        let fresh = &self.state.log[since..];
        // To look at all undirected edges is sometimes quicker than to look at all new arrows.
        let mut is_due = fresh.len() > self.open.len();
        for &slot in if is_due { &[] } else { fresh } {
            self.poll.step()?;
            if self.state.marks.is_directed(slot) && self.state.opens(rule, slot) {
                is_due = true;
                break;
            }
        }
        if !is_due {
            return Ok(());
        }
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&slot| self.state.marks.is_undirected(slot));
        // Rule 4 depends on an edge apart from a and b, and so does rule 3 of that version.
        let is_far = rule == 3 || (rule == 2 && self.state.rules.version == Version::Extendable);
        let is_new = |state: &State, (a, b): (usize, usize), since: usize| match is_far {
            true => state.log.len() > since,
            false => state.touched[a].max(state.touched[b]) > since,
        };
        let wanted = self.poll.map(open.len(), open.len(), |part, on| {
            let mut wanted = Vec::new();
            for at in part {
                on.looked_up(0)?;
                let (a, b) = self.state.ends(open[at]);
                if is_new(&self.state, (a, b), since) && self.state.wants(rule, a, b) {
                    wanted.push(at);
                }
            }
            Ok(wanted)
        })?;
        let wanted = wanted.concat();
        if self.state.rules.version == Version::SolveConflicts {
            let told = |&at: &usize| {
                let (a, b) = self.state.ends(open[at]);
                let events = if self.poll.is_followed() { self.state.events(rule, a, b) } else { Vec::new() };
                (open[at], events)
            };
            for (ab, events) in wanted.iter().map(told).collect::<Vec<_>>() {
                // If there are several chains, the first one settles the edge; pcalg prints nothing for the others.
                if let (Some(conflict), Some(event)) = (self.state.resolve(ab), events.first()) {
                    self.poll.tell(&event.with_conflict(conflict))?;
                }
            }
        } else {
            let (start, mut known) = (self.state.log.len(), wanted.iter().copied().peekable());
            let first = wanted.first().copied().unwrap_or(open.len());
            for (at, &ab) in open.iter().enumerate().skip(first) {
                self.poll.step()?;
                let (a, b) = self.state.ends(ab);
                let was_wanted = known.next_if_eq(&at).is_some();
                if if is_new(&self.state, (a, b), start) { self.state.wants(rule, a, b) } else { was_wanted } {
                    for event in if self.poll.is_followed() { self.state.events(rule, a, b) } else { Vec::new() } {
                        self.poll.tell(&event)?;
                    }
                    self.state.direct(ab);
                }
            }
        }
        self.open = open;
        Ok(())
    }
}

impl State<'_> {
    /// Returns a and b of the slot a -> b.
    fn ends(&self, slot: usize) -> (usize, usize) {
        (self.marks.tail(slot), self.marks.head(slot))
    }

    /// Enters a directed slot into the log.
    fn enter(&mut self, slot: usize) {
        let (u, v) = self.ends(slot);
        if self.joined[u].max(self.joined[v]) > 0 {
            self.log.push(slot);
            (self.touched[u], self.touched[v]) = (self.log.len(), self.log.len());
        }
    }

    fn direct(&mut self, slot: usize) {
        let was_undirected = self.marks.is_undirected(slot);
        self.marks.direct(slot);
        self.planes.note(self.marks, slot);
        self.enter(slot);
        if was_undirected {
            let (u, v) = self.ends(slot);
            self.joined[u] -= 1;
            self.joined[v] -= 1;
        }
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

    /// Finds what rule 1 directs because of these arrows into one vertex b (as slots b -> a). For each c this is the first a, or with `all`
    /// every a up to the first that is not ambiguous.
    fn chained(
        &self,
        arrows: &[usize],
        all: bool,
        parents: &mut Packed,
        found: &mut Vec<Chained>,
        on: &On,
    ) -> Result<()> {
        let b = self.marks.tail(arrows[0]);
        let from = found.len();
        parents.fill(arrows.iter().map(|&slot| self.marks.head(slot) as u32));
        for bc in self.marks.slots(b).filter(|&slot| self.marks.is_undirected(slot)) {
            on.looked_up(arrows.len())?;
            let c = self.marks.head(bc);
            for a in parents.outside(self.rules.skeleton.row(c)) {
                let ambiguous = self.rules.ambiguous.contains(a, b, c);
                if !ambiguous || all {
                    memory::push(found, (numbers([a, b, c]), bc, ambiguous), Use::Orientation)?;
                }
                if !ambiguous {
                    break;
                }
            }
        }
        // pcalg's order; the slots of b ascend by c.
        found[from..].sort_unstable_by_key(|&([a, ..], bc, _)| (a, bc));
        Ok(())
    }

    /// Returns whether a rule may apply because of the newly directed u -> v.
    fn opens(&self, rule: usize, slot: usize) -> bool {
        let (u, v) = self.ends(slot);
        match rule {
            // Half of a chain over an undirected edge.
            1 => self.meet([(v, Kin::Child), (u, Kin::Joined)]) || self.meet([(u, Kin::Parent), (v, Kin::Joined)]),
            // a of the two other rules has undirected edges to both.
            _ => self.meet([(u, Kin::Joined), (v, Kin::Joined)]),
        }
    }

    /// Returns whether a rule directs the undirected a -> b.
    ///
    /// * Rule 2: a -> c -> b. Otherwise there is a cycle.
    /// * Rule 3: a - c1 -> b and a - c2 -> b, c1 and c2 not adjacent. Otherwise there is a cycle or a new collider.
    /// * Rule 4: d -> c -> b, a - c and a - d, b and d not adjacent. Otherwise the same.
    fn wants(&self, rule: usize, a: usize, b: usize) -> bool {
        match rule {
            1 => self.meet([(a, Kin::Child), (b, Kin::Parent)]),
            2 => self.fork(a, b).is_some(),
            _ => self.is_square(a, b),
        }
    }

    /// Returns the events of a rule that directs a -> b. pcalg prints a line for every chain of rule 2, and none for rule 4.
    fn events(&self, rule: usize, a: usize, b: usize) -> Vec<Event<'static>> {
        let chains = self.shared([(a, Kin::Child), (b, Kin::Parent)]).take_while(|_| rule == 1);
        let chains = chains.map(|c| Event::Rule2 { on: numbers([a, c, b]), conflict: false });
        let fork = self.fork(a, b).filter(|_| rule == 2);
        let fork = fork.map(|[c1, c2]| Event::Rule3 { on: [a as u32, c1, c2, b as u32], conflict: false });
        chains.chain(fork).collect()
    }

    fn is_square(&self, a: usize, b: usize) -> bool {
        self.shared([(a, Kin::Joined), (b, Kin::Parent)]).any(|c| {
            self.shared([(a, Kin::Joined), (c, Kin::Parent)])
                .any(|d| !self.rules.skeleton.has(d, b) && !self.rules.ambiguous.contains(b, a, d))
        })
    }

    /// Returns the vertices that are in the given relation to each of two others, ascending.
    fn shared(&self, of: [(usize, Kin); 2]) -> impl Iterator<Item = usize> + '_ {
        self.planes.shared(self.marks, self.rules.skeleton, of)
    }

    fn meet(&self, of: [(usize, Kin); 2]) -> bool {
        self.shared(of).next().is_some()
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
}
