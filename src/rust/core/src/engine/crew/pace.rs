//! How quick the members of a crew are, and how much each of them takes at a time.

/// Seconds that a piece takes at least: what a machine needs for a call beside the questions is then little.
const LEAST_SECONDS: f64 = 0.005;

/// Seconds that it takes at most, unless that is less than keeps the machine busy: little is then lost with a machine, or waits for it.
const MOST_SECONDS: f64 = 0.2;

/// The smallest piece as a share of what keeps a machine busy, and the largest as its multiple: more at once gains nothing.
const LEAST_SHARE: usize = 16;
const MOST: usize = 4;

/// The questions of a size that a member has answered, and the seconds that it took; what was long ago counts less.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    pieces: u32,
    questions: f64,
    seconds: f64,
}

/// A member, as one who hands out work sees it.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Number of questions that keep it busy.
    batch: usize,
    by_size: Vec<Counted>,
}

impl Pace {
    pub fn new(batch: usize) -> Self {
        Pace { batch: batch.max(1), by_size: Vec::new() }
    }

    /// Number of questions that keep it busy.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Enters a piece: so many questions with sets of this size took so long.
    pub fn enter(&mut self, size: usize, questions: usize, seconds: f64) {
        if self.by_size.len() <= size {
            self.by_size.resize(size + 1, Counted::default());
        }
        let counted = &mut self.by_size[size];
        // The first piece of a size waits for kernels and for the data; what comes after is compared with nothing before.
        let kept = if counted.pieces < 2 { 0.0 } else { 0.5 };
        counted.pieces = counted.pieces.saturating_add(1);
        counted.questions = kept * counted.questions + questions as f64;
        counted.seconds = kept * counted.seconds + seconds.max(1e-9);
    }

    /// Questions a second with sets of this size, or of the next one that is known; none before the first piece.
    pub fn rate(&self, size: usize) -> Option<f64> {
        let known = self.by_size.iter().enumerate().filter(|(_, counted)| counted.pieces > 0);
        let nearest = known.min_by_key(|(other, _)| other.abs_diff(size));
        nearest.map(|(_, counted)| counted.questions / counted.seconds)
    }
}

/// How many of the `waiting` questions, the first of which have sets of this size, the first of these members takes; the others
/// are those that work, too. None where one of the others is done with all sooner than it with its smallest piece.
///
/// This is guided self-scheduling (Polychronopoulos and Kuck 1987) by rate: half of its share of what is left.
pub(super) fn piece(member: &Pace, others: &[&Pace], size: usize, waiting: usize) -> Option<usize> {
    let least = (member.batch / LEAST_SHARE).max(1);
    let Some(own) = member.rate(size) else {
        return Some((waiting / (4 * (others.len() + 1))).clamp(least, (member.batch / 4).max(least)));
    };
    let quickest = others.iter().filter_map(|other| other.rate(size)).fold(0.0, f64::max);
    // The quickest member itself never finds this true, so that somebody takes what is left.
    if waiting as f64 / quickest < least.min(waiting) as f64 / own {
        return None;
    }
    let all = own + others.iter().map(|other| other.rate(size).unwrap_or(own)).sum::<f64>();
    let share = waiting as f64 * own / all / 2.0;
    let least = least.max((own * LEAST_SECONDS) as usize).min(member.batch);
    let most = ((own * MOST_SECONDS) as usize).clamp(member.batch, MOST * member.batch);
    Some((share as usize).clamp(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(batch: usize, rate: f64) -> Pace {
        let mut pace = Pace::new(batch);
        pace.enter(1, 1000, 1e9);
        pace.enter(1, 1000, 1000.0 / rate);
        pace
    }

    #[test]
    fn the_first_piece_of_a_size_does_not_count_once_there_is_another() {
        let mut pace = Pace::new(100);
        assert_eq!(pace.rate(2), None);
        pace.enter(2, 10, 1.0);
        assert_eq!((pace.rate(2), pace.rate(0)), (Some(10.0), Some(10.0)));
        pace.enter(2, 100, 1.0);
        assert_eq!(pace.rate(2), Some(100.0));
        pace.enter(2, 150, 0.5);
        assert_eq!(pace.rate(2), Some(200.0));
        pace.enter(4, 7, 1.0);
        assert_eq!((pace.rate(1), pace.rate(2), pace.rate(9)), (Some(200.0), Some(200.0), Some(7.0)));
    }

    #[test]
    fn pieces_are_as_the_rates_and_shrink() {
        let (quick, slow) = (member(8000, 1000.0), member(64, 100.0));
        let of = |a: &Pace, b: &Pace, waiting| piece(a, &[b], 1, waiting);
        assert_eq!(of(&quick, &slow, 11_000), Some(5000));
        assert_eq!(of(&slow, &quick, 1100), Some(50));
        assert_eq!(of(&quick, &slow, 2200), Some(1000));
        assert_eq!(of(&slow, &quick, 1_000_000), Some(64));
        assert_eq!(of(&quick, &slow, 10), Some(500));
        // 4 questions take the slow one 0.04 s, and the quick one all that is left 0.03 s.
        assert_eq!(of(&slow, &quick, 30), None);
        assert_eq!(piece(&slow, &[], 1, 3), Some(4));
        assert_eq!(piece(&Pace::new(160), &[&quick], 1, 100_000), Some(40));
    }

    #[test]
    fn somebody_always_takes_what_is_left() {
        let rates = [1.0, 3.0, 3.0, 50.0, 1e6];
        for waiting in 1..50 {
            for a in rates {
                for b in rates {
                    for c in rates {
                        let crew = [member(1, a), member(5000, b), member(90, c)];
                        let taken = (0..3).filter(|&at| {
                            let others: Vec<&Pace> = (0..3).filter(|&o| o != at).map(|o| &crew[o]).collect();
                            piece(&crew[at], &others, 1, waiting).is_some()
                        });
                        assert!(taken.count() > 0);
                    }
                }
            }
        }
    }
}
