//! Results of a search besides its graph.

use pcgpu_core::search::doubts::Doubts;
use pcgpu_core::search::Skeleton;
use pcgpu_core::team::TeamReport;

use crate::output;
use crate::value::Value;

/// Results of a search besides its skeleton.
pub struct Report {
    /// Seconds of the skeleton phase.
    pub seconds: f64,
    /// Numbers of bytes, by use.
    pub memory: Vec<(&'static str, u64)>,
    pub doubts: Doubts,
    /// The machines, as R names them.
    pub device: Vec<String>,
    pub team: TeamReport,
}

impl Report {
    /// Returns the entries of R's list.
    pub fn entries(self, found: &Skeleton) -> Vec<(&'static str, Value)> {
        let Report { seconds, memory, doubts, device, team } = self;
        let Doubts { too_few, few_rows, removed, kept, tests } = doubts;
        let of = [("too_few", too_few), ("few_rows", few_rows), ("removed", removed), ("kept", kept), ("tests", tests)];
        let numbers =
            |of: Vec<_>| output::named(of.into_iter().map(|(name, count)| (name, Value::from(count as f64))).collect());
        vec![
            ("n_edgetests", output::counts(&found.tests)),
            ("max_ord", Value::from(found.max_order)),
            ("seconds", Value::from(seconds)),
            ("exact_tests", Value::from(found.exact_tests as f64)),
            ("memory", numbers(memory)),
            ("doubts", numbers(of.to_vec())),
            ("device", Value::from(device)),
            ("team", output::shares(&team)),
            ("lost", output::lost(&team.lost)),
            // The level at which the time limit ended the search, and the reason why the checkpoint is incomplete.
            ("ended", found.ended.map(|level| level as i32).into()),
            ("unkept", found.unkept.as_ref().map(ToString::to_string).into()),
        ]
    }
}
