//! The work of a crew: batches, cut into pieces as members ask for some.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pace::{piece, Pace};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::memory::{self, Use};
use crate::team::Moved;
use crate::Result;

/// A member with nothing to do takes on what another has in hand where it would be done so much sooner: `IDLE` and half as long
/// again as it needs itself.
const IDLE: Duration = Duration::from_millis(10);

/// A batch in the order in which it is asked.
pub(super) struct Questions {
    batch: Batch,
    /// The questions by place: the largest sets first, which take longest; those with one set together, as a member does once what
    /// they share.
    order: Vec<u32>,
    /// By question: the number of its set.
    sets: Vec<u32>,
}

impl Questions {
    pub fn new(batch: Batch) -> Result<Self> {
        // Order, sets, replies, and the table of sets.
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

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The size of the set at a place.
    fn size(&self, place: usize) -> usize {
        self.batch.get(self.order[place] as usize).2.len()
    }

    /// The questions of a piece.
    pub fn part(&self, places: &Range<usize>) -> Result<Batch> {
        let of = self.order[places.clone()].iter().map(|&question| self.batch.get(question as usize));
        let mut part = Batch::with_space(places.len(), places.len() * self.size(places.start))?;
        of.for_each(|(x, y, s)| part.push(x, y, s));
        Ok(part)
    }

    /// How many of these places, about `wanted`, make a piece: sets of one size, and one set in one piece unless that makes it
    /// much larger or smaller.
    fn cut(&self, places: &Range<usize>, wanted: usize) -> usize {
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

/// Questions that a member takes at a time.
#[derive(Clone)]
pub(super) struct Piece {
    /// Its number: no other has it, but a second member may have the piece as well.
    id: u64,
    /// The number of the job.
    job: u64,
    pub questions: Arc<Questions>,
    /// Which of them, by place.
    pub places: Range<usize>,
    /// The size of their sets.
    pub size: usize,
}

/// A batch that is being answered.
struct Job {
    questions: Arc<Questions>,
    /// What nobody has taken, the next last.
    waiting: Vec<Range<usize>>,
    /// How many questions are not answered.
    left: usize,
    replies: Vec<Reply>,
}

/// What a member has in hand.
struct Hand {
    piece: Piece,
    since: Instant,
}

/// What a member did with sets of a size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Did {
    pub shards: u64,
    pub moved: Moved,
    pub seconds: f64,
}

/// What a member is told that asks for work.
pub(super) enum Turn {
    /// To answer these.
    Take(Piece),
    /// To ask again later.
    Wait,
}

/// Batches, who works on what, and how quick everybody is.
pub(super) struct Queue {
    jobs: VecDeque<Job>,
    /// The number of the first of them, and of the next piece.
    first: u64,
    next_piece: u64,
    paces: Vec<Pace>,
    /// By member: whether it works.
    working: Vec<bool>,
    hands: Vec<Option<Hand>>,
    /// By member and size.
    did: Vec<BTreeMap<usize, Did>>,
}

impl Queue {
    /// For members of these paces.
    pub fn new(paces: Vec<Pace>, working: Vec<bool>) -> Self {
        let members = paces.len();
        Queue {
            jobs: VecDeque::new(),
            first: 0,
            next_piece: 0,
            paces,
            working,
            hands: (0..members).map(|_| None).collect(),
            did: vec![BTreeMap::new(); members],
        }
    }

    /// What is left of a run: how quick everybody was, who works, and who did what.
    pub fn end(self) -> (Vec<Pace>, Vec<bool>, Vec<BTreeMap<usize, Did>>) {
        (self.paces, self.working, self.did)
    }

    /// Number of questions that keep all members busy.
    pub fn batch(&self) -> usize {
        self.members().map(|member| self.paces[member].batch()).sum::<usize>().max(1)
    }

    /// Those that work.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.working.len()).filter(|&member| self.working[member])
    }

    /// Members with something in hand, and how many questions; one member for a piece.
    pub fn in_hand(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let is_second = |member: usize, id| self.hands[..member].iter().flatten().any(|hand| hand.piece.id == id);
        (0..self.hands.len()).filter_map(move |member| {
            let piece = &self.hands[member].as_ref()?.piece;
            (!is_second(member, piece.id)).then_some((member, piece.places.len()))
        })
    }

    /// How many work.
    pub fn working(&self) -> usize {
        self.members().count()
    }

    /// Takes a batch in.
    pub fn give(&mut self, questions: Questions) {
        let left = questions.len();
        let waiting = (left > 0).then_some(0..left).into_iter().collect();
        let replies = vec![Reply::P(f64::NAN); left];
        self.jobs.push_back(Job { questions: questions.into(), waiting, left, replies });
    }

    /// The replies to the first batch, if all are there.
    pub fn take(&mut self) -> Option<Vec<Reply>> {
        self.jobs.front().filter(|job| job.left == 0)?;
        self.first += 1;
        self.jobs.pop_front().map(|job| job.replies)
    }

    /// Questions of all batches that are answered.
    pub fn answered(&self) -> usize {
        self.jobs.iter().map(|job| job.questions.len() - job.left).sum()
    }

    /// The next piece for a member, which it then has in hand.
    pub fn turn(&mut self, member: usize) -> Turn {
        let waiting = self.jobs.iter().flat_map(|job| &job.waiting).map(|places| places.len()).sum();
        let piece = if waiting > 0 { self.fresh(member, waiting) } else { self.anothers(member) };
        let Some(piece) = piece else { return Turn::Wait };
        self.hands[member] = Some(Hand { piece: piece.clone(), since: Instant::now() });
        Turn::Take(piece)
    }

    /// What nobody has taken, of the first batch that has some.
    fn fresh(&mut self, member: usize, waiting: usize) -> Option<Piece> {
        let at = self.jobs.iter().position(|job| !job.waiting.is_empty())?;
        let places = self.jobs[at].waiting.last()?.clone();
        let size = self.jobs[at].questions.size(places.start);
        let others: Vec<&Pace> =
            self.members().filter(|&other| other != member).map(|other| &self.paces[other]).collect();
        let wanted = piece(&self.paces[member], &others, size, waiting)?;
        let job = &mut self.jobs[at];
        let end = places.start + job.questions.cut(&places, wanted);
        job.waiting.pop();
        if end < places.end {
            job.waiting.push(end..places.end);
        }
        self.next_piece += 1;
        let (id, questions) = (self.next_piece, job.questions.clone());
        Some(Piece { id, job: self.first + at as u64, questions, places: places.start..end, size })
    }

    /// What another member, which is slower than was thought, would be done with much later: whoever is first counts.
    fn anothers(&self, member: usize) -> Option<Piece> {
        let late = |other: usize| {
            let Hand { piece, since } = self.hands[other].as_ref()?;
            let count = piece.places.len() as f64;
            let own = count / self.paces[member].rate(piece.size)?;
            let elapsed = since.elapsed().as_secs_f64();
            let expected = self.paces[other].rate(piece.size).map_or(0.0, |rate| count / rate);
            // Where nothing is known of it: as long again.
            let left = if expected > elapsed { expected - elapsed } else { elapsed };
            let late = left - 1.5 * own - IDLE.as_secs_f64();
            (late > 0.0 && self.holders(piece.id) == 1).then_some((late, piece))
        };
        let candidates = self.members().filter(|&other| other != member).filter_map(late);
        candidates.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, piece)| piece.clone())
    }

    /// How many have this piece in hand. Who answers it takes it from all hands.
    fn holders(&self, id: u64) -> usize {
        self.hands.iter().flatten().filter(|hand| hand.piece.id == id).count()
    }

    /// Whether a member's piece was answered by another.
    pub fn is_dropped(&self, member: usize) -> bool {
        self.hands[member].is_none()
    }

    /// Notes what a member did in vain, or before it failed.
    pub fn spent(&mut self, member: usize, size: usize, moved: Moved, seconds: f64) {
        let did = self.did[member].entry(size).or_default();
        did.moved += moved;
        did.seconds += seconds;
    }

    /// Enters the replies to what a member has in hand. Those that have the same piece in hand, which are to drop it.
    pub fn done(&mut self, member: usize, replies: Vec<Reply>) -> Vec<usize> {
        let Some(Hand { piece, since }) = self.hands[member].take() else { return Vec::new() };
        let Piece { id, job, questions, places, size } = piece;
        self.paces[member].enter(size, places.len(), since.elapsed().as_secs_f64());
        self.did[member].entry(size).or_default().shards += 1;
        let Some(job) = self.jobs.get_mut((job - self.first) as usize) else { return Vec::new() };
        job.left -= places.len();
        for (&question, reply) in questions.order[places].iter().zip(replies) {
            job.replies[question as usize] = reply;
        }
        let mut also = Vec::new();
        for (other, hand) in self.hands.iter_mut().enumerate() {
            if let Some(hand) = hand.take_if(|hand| hand.piece.id == id) {
                // It would have taken longer: by how much nobody knows.
                self.paces[other].enter(size, hand.piece.places.len(), 2.0 * hand.since.elapsed().as_secs_f64());
                also.push(other);
            }
        }
        also
    }

    /// Leaves a member out from now on. What it has in hand waits for others, unless one has it in hand as well.
    pub fn lose(&mut self, member: usize) {
        self.working[member] = false;
        let Some(Hand { piece, .. }) = self.hands[member].take() else { return };
        if self.holders(piece.id) == 0 {
            if let Some(job) = self.jobs.get_mut((piece.job - self.first) as usize) {
                job.waiting.push(piece.places);
            }
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

    fn random(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    /// Whatever the sizes of batches, the paces, and who fails or is slow.
    #[test]
    fn every_question_is_answered_once_and_in_its_place() {
        for seed in 0..300 {
            let state = &mut (seed + 1);
            let members = 1 + random(state) % 5;
            let paces = (0..members).map(|_| Pace::new(1 + random(state) % 200)).collect();
            let mut queue = Queue::new(paces, vec![true; members]);
            let mut asked = VecDeque::new();
            for _ in 0..1 + random(state) % 3 {
                let count = random(state) % 700;
                let batch = batch((0..count).map(|_| (random(state) % 3, (random(state) % 9) as u32)));
                asked.push_back(batch.len());
                queue.give(Questions::new(batch).unwrap());
            }
            let mut answers = 0;
            while let Some(&next) = asked.front() {
                if let Some(replies) = queue.take() {
                    assert_eq!(replies.len(), next);
                    for (question, reply) in replies.iter().enumerate() {
                        assert_eq!(*reply, Reply::P(question as f64));
                    }
                    asked.pop_front();
                    continue;
                }
                let member = random(state) % members;
                let in_hand = queue.hands[member].as_ref().map(|hand| hand.piece.clone());
                match in_hand {
                    _ if !queue.working[member] => {}
                    Some(_) if random(state) % 20 == 0 && queue.working() > 1 => queue.lose(member),
                    Some(_) if random(state) % 3 == 0 => {}
                    Some(piece) => {
                        let part = piece.questions.part(&piece.places).unwrap();
                        assert!(part.iter().all(|(_, _, s)| s.len() == piece.size));
                        answers += part.len();
                        queue.done(member, part.iter().map(|(x, _, _)| Reply::P(x as f64)).collect());
                    }
                    None => {
                        queue.turn(member);
                    }
                }
            }
            let (_, _, did) = queue.end();
            assert!(answers == 0 || did.iter().flat_map(|did| did.values()).map(|did| did.shards).sum::<u64>() > 0);
        }
    }

    #[test]
    fn large_sets_come_first_and_equal_ones_stay_together() {
        let questions = Questions::new(batch((0..400).map(|at| (at % 3, (at / 3 % 4) as u32)))).unwrap();
        let sizes: Vec<usize> = (0..400).map(|place| questions.size(place)).collect();
        assert!(sizes.windows(2).all(|two| two[0] >= two[1]));
        // 133 questions of size 2, of which some 33 have the same set.
        assert_eq!(questions.cut(&(0..400), 1000), 133);
        let cut = questions.cut(&(0..400), 30);
        assert!((33..=34).contains(&cut), "{cut}");
        assert_eq!(questions.cut(&(0..400), 36), cut);
        assert_eq!(questions.cut(&(0..400), 10), 10);
    }

    #[test]
    fn what_a_slow_member_has_in_hand_is_done_by_another() {
        let mut queue = Queue::new(vec![Pace::new(64), Pace::new(64)], vec![true, true]);
        queue.paces[1].enter(1, 100, 1e-6);
        queue.paces[1].enter(1, 100, 1e-6);
        queue.give(Questions::new(batch((0..8).map(|_| (1, 0)))).unwrap());
        let Turn::Take(first) = queue.turn(0) else { panic!("nothing") };
        while !queue.jobs[0].waiting.is_empty() {
            let Turn::Take(more) = queue.turn(1) else { panic!("nothing") };
            assert!(queue.done(1, vec![Reply::P(0.5); more.places.len()]).is_empty());
        }
        assert!(matches!(queue.turn(1), Turn::Wait));
        std::thread::sleep(2 * IDLE);
        let Turn::Take(again) = queue.turn(1) else { panic!("nothing") };
        assert_eq!((again.id, &again.places), (first.id, &first.places));
        // Nobody is third, and who is second need not answer.
        assert!(!queue.is_dropped(0));
        assert_eq!(queue.done(1, vec![Reply::P(0.25); again.places.len()]), [0]);
        assert!(queue.is_dropped(0));
        assert_eq!(queue.take().unwrap().len(), 8);
        assert!(queue.done(0, Vec::new()).is_empty());
        // One that fails while another has its piece leaves nothing behind, and one that is alone does.
        queue.give(Questions::new(batch((0..1).map(|_| (1, 0)))).unwrap());
        // The slow one leaves it to the other, while that works.
        assert!(matches!(queue.turn(0), Turn::Wait) && matches!(queue.turn(1), Turn::Take(_)));
        queue.lose(1);
        assert!(matches!(queue.turn(0), Turn::Take(_)));
        queue.done(0, vec![Reply::P(1.0)]);
        assert_eq!(queue.take(), Some(vec![Reply::P(1.0)]));
    }
}
