//! The CPU as a machine that answers questions in batches, beside others.

use super::{CpuEngine, Kernel, Signal};
use crate::ci::Batch;
use crate::engine::batched::{Asker, Reply};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Stop;
use crate::search::sweep::Sweeper;
use crate::search::worker::Worker;
use crate::{Error, Result};

/// Shares of what is asked that each thread takes, so that none waits long for another.
const SHARES: usize = 16;

/// An observer that tells somebody to look.
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
            // Rare, and near the end of a search: it may go on only where this question need not have been asked.
            Err(Error::Numeric { .. }) => one_by_one(&self.kernel, batch, watch),
            Err(error) => Err(error),
        }
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        Worker::sweeper(self)
    }
}

/// The replies where some questions have no answer.
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
