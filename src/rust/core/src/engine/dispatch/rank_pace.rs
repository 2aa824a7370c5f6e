//! How fast a rank is.

/// Seconds that a piece is to take: long beside what it costs to send one, short enough for a word from everybody now and then.
const PIECE: f64 = 0.3;

/// Less than so many seconds are not worth a message.
const LEAST: f64 = 0.01;

/// A piece costs at most so many times what the largest before it did.
const GROWTH: f64 = 4.0;

/// A rank that is silent for some times so many seconds may be gone.
const MOST: f64 = 5.0;

/// Work a second, as far as is known.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Pace {
    cost_a_second: Option<f64>,
    /// The cost of the largest piece.
    largest: f64,
}

impl Pace {
    /// A piece of this cost took so many seconds.
    pub fn enter(&mut self, cost: f64, seconds: f64) {
        // What cost nothing says nothing.
        if cost <= 0.0 {
            return;
        }
        let now = cost / seconds.max(1e-6);
        self.largest = self.largest.max(cost);
        let known = self.cost_a_second.unwrap_or(now);
        // What was measured last counts half: levels differ.
        self.cost_a_second = Some(0.5 * (known + now));
    }

    /// Work a second.
    pub fn known(&self) -> Option<f64> {
        self.cost_a_second
    }

    /// The cost of a piece for this rank; none: not known, so that the first one is to be small.
    /// Tests that end early make the first pieces quick, and those that do not the next ones slow: pieces grow step by step.
    pub fn piece(&self) -> Option<f64> {
        self.cost_a_second.map(|pace| (pace * PIECE).min(GROWTH * self.largest))
    }

    /// The least that a piece of this rank costs, where that much is left.
    pub fn least(&self) -> Option<f64> {
        self.cost_a_second.map(|pace| pace * LEAST)
    }

    /// Seconds that a piece takes, about; not more than a piece that was cut too large may take, as costs are only about right.
    pub fn seconds(&self, cost: f64) -> f64 {
        self.cost_a_second.map_or(PIECE, |pace| cost / pace).min(MOST)
    }
}
