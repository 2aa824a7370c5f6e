//! Arbitrary questions on the GPU: the cut of a batch into launches, and the layout of a launch's questions in device memory.

use super::arguments::SearchArgs;
use super::gpu::buffer::Buffer;
use super::gpu::plan::aligned;
use super::CudaEngine;
use crate::ci::Batch;
use crate::Result;

/// A launch takes no more questions once its pairs and sets have this many vertices: enough to fill a GPU, few enough to end soon.
const MEMBERS: usize = 1 << 22;

/// The questions of a launch.
#[derive(Default)]
pub(super) struct Questions {
    /// The two vertices of each question.
    pairs: Vec<u32>,
    /// The end of each set in `sets`.
    ends: Vec<u64>,
    sets: Vec<u32>,
    /// Members of the largest set.
    pub widest: usize,
}

impl Questions {
    /// Returns the number of questions.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, x: usize, y: usize, s: &[u32]) {
        self.pairs.extend([x as u32, y as u32]);
        self.sets.extend_from_slice(s);
        self.ends.push(self.sets.len() as u64);
        self.widest = self.widest.max(s.len());
    }

    fn clear(&mut self) {
        self.pairs.clear();
        self.ends.clear();
        self.sets.clear();
        self.widest = 0;
    }
}

/// Calls `run` for the questions of a batch in their order, at most `most` at a time. `watch` gets the share that is done.
pub(super) fn each_launch(
    batch: &Batch,
    most: usize,
    watch: &mut dyn FnMut(f64) -> Result<()>,
    mut run: impl FnMut(&Questions, &mut dyn FnMut(f64) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut questions = Questions::default();
    for (i, (x, y, s)) in batch.iter().enumerate() {
        questions.push(x, y, s);
        let full = questions.count() >= most || questions.sets.len() + questions.pairs.len() >= MEMBERS;
        if full || i + 1 == batch.len() {
            watch(i as f64 / batch.len() as f64)?;
            run(&questions, watch)?;
            questions.clear();
        }
    }
    Ok(())
}

/// Returns where, in bytes from the pairs, the sets' ends, their members and the answers start, and where the answers end. `count` is the number
/// of questions and `members` that of all sets' members.
fn places(count: usize, members: usize) -> [u64; 4] {
    let ends = aligned(8 * count);
    let sets = ends + aligned(8 * count);
    let answers = sets + aligned(4 * members);
    [ends, sets, answers, answers + 8 * count as u64]
}

/// Returns the most bytes that a launch of [`each_launch`] takes.
pub(super) fn launched_bytes(batch: &Batch, most: usize) -> u64 {
    let (mut all, mut widest) = (0, 0);
    for (_, _, s) in batch.iter() {
        all += s.len();
        widest = widest.max(s.len());
    }
    // The last question of a launch brings the members to `MEMBERS` or beyond.
    let [.., end] = places(most.min(MEMBERS / 2).min(batch.len()), all.min(MEMBERS + widest));
    end
}

impl CudaEngine<'_> {
    /// Copies questions to the GPU.
    pub(super) fn send_questions(&mut self, args: &mut SearchArgs, questions: &Questions) -> Result<()> {
        let Questions { pairs, ends, sets, .. } = questions;
        let at = self.held.device(Buffer::Batch)?;
        let [of_ends, of_sets, of_answers, _] = places(ends.len(), sets.len());
        args.count = ends.len() as u64;
        args.pairs = at.cast();
        args.set_ends = at.carve(of_ends);
        args.sets = at.carve(of_sets);
        args.answers = at.carve(of_answers);
        self.held.upload(args.pairs, pairs)?;
        self.held.upload(args.set_ends, ends)?;
        self.held.upload(args.sets, sets)
    }
}
