//! The counts of a level.

/// The counts of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReport {
    /// Number of tests that pcalg performs.
    pub tests: u64,
    /// Number of tests that the exact formula decided.
    pub exact_tests: u64,
    /// Whether a side was visited that has more candidates than the level's size, which is pcalg's reason for another level.
    pub go_on: bool,
}

impl LevelReport {
    /// Adds the counts of another part of the level.
    pub fn add(&mut self, part: &LevelReport) {
        self.tests += part.tests;
        self.exact_tests += part.exact_tests;
        self.go_on |= part.go_on;
    }
}
