//! The CPU as a machine that answers questions in batches, together with others.

use super::{CpuEngine, Kernel, Signal};
use crate::ci::Batch;
use crate::engine::batched::{Asker, Reply};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Stop;
use crate::search::sweep::Sweeper;
use crate::search::worker::Worker;
use crate::{Error, Result};

/// Shares of a batch for each thread, so that none waits long for another.
const SHARES: usize = 16;

/// An observer that calls a function at every look.
struct Watching<'w>(&'w mut dyn FnMut(f64) -> Result<()>);

impl Observer for Watching<'_> {
    fn look(&mut self) -> Result<()> {
        (self.0)(0.0)
    }
}

impl<K: Kernel> Asker for CpuEngine<K> {
    fn batch(&self) -> usize {
        SHARES * self.pool.threads() * self.kernel.questions_at_once()
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        match self.p_values(batch, &mut Watching(watch)) {
            Ok(values) => Ok(values.into_iter().map(Reply::P).collect()),
            // Rare, and near the end of a search, which continues only if this question need not have been asked.
            Err(Error::Numeric { .. }) => one_by_one(&self.kernel, batch, watch),
            Err(error) => Err(error),
        }
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        Worker::sweeper(self)
    }
}

/// Returns the replies to a batch in which some questions have no answer.
fn one_by_one<K: Kernel>(kernel: &K, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
    let (stop, mut scratch) = (Stop::default(), K::Scratch::default());
    let mut replies = memory::space(batch.len(), Use::Level)?;
    for (at, (x, y, s)) in batch.iter().enumerate() {
        watch(at as f64 / batch.len() as f64)?;
        replies.push(match kernel.p_value(x, y, s, &mut scratch, &Signal::of(&stop)) {
            Ok(p) => Reply::P(p),
            Err(reason) => Reply::Undefined(reason),
        });
        memory::check()?;
    }
    Ok(replies)
}
