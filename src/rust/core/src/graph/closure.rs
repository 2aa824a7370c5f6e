//! Orientations and all that they imply: Meek's rules 1 to 4 (Meek 1995), which are complete for background knowledge.
//!
//! Each rule looks once at an edge that becomes directed, in the role of each of the rule's arrows. The result does not depend on the order
//! if the graph is a maximally oriented PDAG. `orient::rules` applies the rules in pcalg's order, for graphs that are not. pcalg's
//! `applyOrientationRules()` does not check that a and d are adjacent in rule 4. That can matter only before rule 1 has been applied.

use super::marks::Marks;

/// A graph that is oriented edge by edge, and can be set back.
pub(crate) struct Closure {
    pub graph: Marks,
    /// Slots in the order in which they were directed.
    log: Vec<usize>,
}

impl Closure {
    pub fn new(graph: Marks) -> Self {
        Closure { graph, log: Vec::new() }
    }

    /// Returns the current state, for [`Closure::back`].
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes all orientations since the mark.
    pub fn back(&mut self, mark: usize) {
        for slot in self.log.drain(mark..) {
            self.graph.undirect(slot);
        }
    }

    /// Directs u -> v, and all edges that follow. Returns false if the edge already has another mark, such as v -> u.
    pub fn orient(&mut self, slot: usize) -> bool {
        if self.graph.is_undirected(slot) {
            let from = self.log.len();
            self.set(slot);
            self.follow(from);
            return true;
        }
        self.graph.is_directed(slot)
    }

    /// Applies the rules to all directed edges. Returns whether this directed an edge.
    pub fn complete(&mut self) -> bool {
        let before = self.log.len();
        let directed: Vec<usize> = (0..self.graph.slot_count()).filter(|&slot| self.graph.is_directed(slot)).collect();
        directed.into_iter().for_each(|slot| self.apply(slot));
        self.follow(before);
        self.log.len() > before
    }

    fn set(&mut self, slot: usize) {
        if self.graph.is_undirected(slot) {
            self.graph.direct(slot);
            self.log.push(slot);
        }
    }

    fn follow(&mut self, from: usize) {
        let mut at = from;
        while at < self.log.len() {
            self.apply(self.log[at]);
            at += 1;
        }
    }

    /// Applies the rules to the arrow a -> b.
    fn apply(&mut self, slot: usize) {
        let (a, b) = (self.graph.tail(slot), self.graph.head(slot));
        for near in self.graph.slots(b) {
            let c = self.graph.head(near);
            if c == a {
                continue;
            }
            let apart = !self.graph.adjacent(a, c);
            if self.graph.is_undirected(near) {
                if apart {
                    // Rule 1: a -> b - c, a and c apart.
                    self.set(near);
                } else if self.graph.points(c, a) {
                    // Rule 2: c -> a -> b, c - b.
                    self.set(self.graph.twin(near));
                }
            } else if self.graph.is_directed(near) {
                if let Some(ac) = self.graph.find(a, c) {
                    // Rule 2: a -> b -> c, a - c.
                    self.set(ac);
                } else {
                    // Rule 4 with a -> b -> c, a and c apart: x - c, x - a, x and b adjacent.
                    self.rule4(a, b, c);
                }
            } else if apart && self.graph.is_reversed(near) {
                // Rule 3: a -> b <- c, a and c apart; x - a, x - c, x - b.
                self.rule3(a, b, c);
            }
        }
        // Rule 4 with c -> a -> b, c and b apart.
        for near in self.graph.slots(a) {
            let c = self.graph.head(near);
            if self.graph.is_reversed(near) && c != b && !self.graph.adjacent(c, b) {
                self.rule4(c, a, b);
            }
        }
    }

    fn rule3(&mut self, a: usize, b: usize, c: usize) {
        for near in self.graph.slots(b) {
            let x = self.graph.head(near);
            if self.graph.is_undirected(near) && self.graph.joins(x, a) && self.graph.joins(x, c) {
                self.set(self.graph.twin(near));
            }
        }
    }

    /// Applies rule 4 to c -> d -> b with c and b apart: directs x -> b if x - b, x - c, and x and d are adjacent.
    fn rule4(&mut self, c: usize, d: usize, b: usize) {
        for near in self.graph.slots(b) {
            let x = self.graph.head(near);
            if self.graph.is_undirected(near) && self.graph.joins(x, c) && self.graph.adjacent(x, d) {
                self.set(self.graph.twin(near));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(lists: &[&[u32]]) -> Marks {
        let mut closure = Closure::new(Marks::from_lists("fit", lists).unwrap());
        closure.complete();
        closure.graph
    }

    #[test]
    fn each_rule() {
        assert!(closed(&[&[1], &[2], &[1]]).points(1, 2));
        assert!(closed(&[&[1, 2], &[2], &[0]]).points(0, 2));
        // 0 - 1, 0 - 2, 0 - 3; 1 -> 3 <- 2.
        assert!(closed(&[&[1, 2, 3], &[0, 3], &[0, 3], &[0]]).points(0, 3));
        // x = 0: 0 - 1, 0 - 2, 0 - 3; 2 -> 3 -> 1; 1 and 2 apart.
        let graph = closed(&[&[1, 2, 3], &[0], &[0, 3], &[0, 1]]);
        assert!(graph.points(0, 1) && graph.joins(0, 2) && graph.joins(0, 3));
    }

    #[test]
    fn it_goes_back() {
        let lists: [&[u32]; 4] = [&[1], &[0, 2], &[1, 3], &[2]];
        let mut closure = Closure::new(Marks::from_lists("fit", &lists).unwrap());
        let mark = closure.mark();
        let slot = closure.graph.find(0, 1).unwrap();
        assert!(closure.orient(slot) && closure.graph.points(2, 3));
        let against = closure.graph.find(3, 2).unwrap();
        assert!(!closure.orient(against));
        closure.back(mark);
        assert!(closure.graph.joins(0, 1) && closure.graph.joins(2, 3));
    }
}
