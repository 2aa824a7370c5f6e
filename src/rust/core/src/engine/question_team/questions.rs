//! A batch of questions as units of work.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::dispatch::queue::Units;
use crate::memory::{self, Use};
use crate::Result;

/// A batch in the order in which it is asked.
pub(super) struct Questions {
    batch: Batch,
    /// The questions in that order. Those with the largest sets come first, because they take longest. Questions with one set are
    /// neighbours, because a member then does their common work once.
    order: Vec<u32>,
    /// By question: the number of its set.
    sets: Vec<u32>,
}

impl Questions {
    pub fn new(batch: Batch) -> Result<Self> {
        // Memory for order, sets, replies and the table of sets.
        memory::room(batch.len().saturating_mul(8 + size_of::<Reply>() + 64), Use::Level)?;
        let mut known: HashMap<&[u32], u32> = HashMap::new();
        let mut sets = Vec::with_capacity(batch.len());
        for (_, _, s) in batch.iter() {
            let next = known.len() as u32;
            sets.push(if s.is_empty() { u32::MAX } else { *known.entry(s).or_insert(next) });
        }
        drop(known);
        let mut order: Vec<u32> = (0..batch.len() as u32).collect();
        order.sort_by_key(|&question| (Reverse(batch.get(question as usize).2.len()), sets[question as usize]));
        Ok(Questions { batch, order, sets })
    }

    /// Returns the size of the set at a place.
    fn size(&self, place: usize) -> usize {
        self.batch.get(self.order[place] as usize).2.len()
    }

    /// Returns the questions of a piece.
    pub fn part(&self, places: &Range<usize>) -> Result<Batch> {
        let of = self.order[places.clone()].iter().map(|&question| self.batch.get(question as usize));
        let mut part = Batch::with_space(places.len(), places.len() * self.size(places.start))?;
        of.for_each(|(x, y, s)| part.push(x, y, s));
        Ok(part)
    }

    /// Writes the replies to a piece to their places among the replies to the batch.
    pub fn enter(&self, places: Range<usize>, replies: Vec<Reply>, all: &mut [Reply]) {
        for (&question, reply) in self.order[places].iter().zip(replies) {
            all[question as usize] = reply;
        }
    }
}

impl Units for Questions {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn cost(&self, places: &Range<usize>) -> f64 {
        places.len() as f64
    }

    fn level(&self, place: usize) -> Option<usize> {
        Some(self.size(place))
    }

    fn shards(&self, _places: &Range<usize>) -> usize {
        1
    }

    /// Cuts between sets of different sizes. Keeps questions with one set in one piece, unless that makes it much larger or smaller.
    fn cut(&self, places: &Range<usize>, wanted: f64) -> usize {
        let wanted = (wanted as usize).max(1);
        places.start + self.count(places, wanted)
    }
}

impl Questions {
    /// Returns how many of these places form a piece, about `wanted`.
    fn count(&self, places: &Range<usize>, wanted: usize) -> usize {
        let size = self.size(places.start);
        let rest = &self.order[places.clone()];
        let same_size = rest.partition_point(|&question| self.batch.get(question as usize).2.len() == size);
        if size == 0 || wanted >= same_size {
            return wanted.min(same_size);
        }
        let set = |at: usize| self.sets[rest[at] as usize];
        if set(wanted - 1) != set(wanted) {
            return wanted;
        }
        let rest = &rest[..same_size];
        let until = rest.partition_point(|&question| self.sets[question as usize] <= set(wanted));
        let from = rest.partition_point(|&question| self.sets[question as usize] < set(wanted));
        if until - wanted <= wanted / 4 {
            until
        } else if wanted - from <= wanted / 4 {
            from
        } else {
            wanted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(sizes: impl Iterator<Item = (usize, u32)>) -> Batch {
        let mut batch = Batch::new();
        for (question, (size, first)) in sizes.enumerate() {
            batch.push(question, question + 1, &(first..first + size as u32).collect::<Vec<_>>());
        }
        batch
    }

    #[test]
    fn large_sets_come_first_and_equal_ones_stay_together() {
        let questions = Questions::new(batch((0..400).map(|at| (at % 3, (at / 3 % 4) as u32)))).unwrap();
        let sizes: Vec<usize> = (0..400).map(|place| questions.size(place)).collect();
        assert!(sizes.windows(2).all(|two| two[0] >= two[1]));
        // 133 questions have size 2, and about 33 of them have one set.
        assert_eq!(questions.count(&(0..400), 1000), 133);
        let cut = questions.count(&(0..400), 30);
        assert!((33..=34).contains(&cut), "{cut}");
        assert_eq!(questions.count(&(0..400), 36), cut);
        assert_eq!(questions.count(&(0..400), 10), 10);
    }
}
