//! The edges of a discriminating path, tested given the separating sets of its ends: pcalg's `checkEdges()`.

use super::triples::Triples;
use super::Run;
use crate::orient::Judge;
use crate::pag::context::numbers;
use crate::pag::Pag;
use crate::Result;

impl Run<'_, '_> {
    /// Tests each edge of a path given all nonempty subsets of the separating sets of its ends. Removes the first edge that is separated,
    /// and returns whether there was one. Triples that become unshielded are treated as in the beginning, with the conservative rule if any
    /// triple is unclear.
    pub(super) fn check_path(&mut self, pag: &mut Pag, path: &[u32]) -> Result<bool> {
        let [first, .., last] = *path else { return Ok(false) };
        let all = self.both_sets(first as usize, last as usize);
        if all.is_empty() {
            return Ok(false);
        }
        self.say(|| {
            let [path, set] = [path, &all].map(|of| numbers(of.iter().map(|&v| v as usize)));
            format!("\nCheck discriminating path: {path} for dependence of any edge given sepset {set} \n")
        })?;
        for two in path.windows(2) {
            let [x, y] = [two[0] as usize, two[1] as usize];
            let set: Vec<u32> = all.iter().copied().filter(|v| !two.contains(v)).collect();
            if self.is_fixed(x, y) {
                continue;
            }
            for size in 1..=set.len() {
                let Some(found) = self.first_of_size(x, y, &set, size)? else { continue };
                self.say(|| format!("Independence found: delete edge between {} and {} \n", x + 1, y + 1))?;
                self.separate(pag, x, y, &found);
                let mut triples = Triples::default();
                for m in pag.neighbours(x).filter(|&m| m != y && pag.adjacent(y, m)) {
                    triples.push([x.min(y), m, x.max(y)].map(|v| v as u32));
                }
                let judge = Judge { version_unf: [2, 1], majority: false };
                let judge = (!self.unclear.is_empty()).then_some(judge);
                self.colliders(pag, triples, judge)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
