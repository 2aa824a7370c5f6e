//! The CPU's threads as one of several machines that select features.

use super::selection::CpuCounting;
use crate::pool::Pool;
use crate::selection::{select_each, CountLogs, Counting, Member, Run, Runner, Samples};
use crate::team::Moved;
use crate::Result;

/// Returns the CPU as one of several machines that select together.
pub fn member<'a>(samples: &'a Samples, logs: &'a CountLogs, pool: Pool) -> Member<'a> {
    let speed = pool.threads() as f64;
    let make = move |range| -> Result<Box<dyn Counting + Send + 'a>> {
        Ok(Box::new(CpuCounting::new(samples, logs, range, pool.clone())))
    };
    Member { name: "cpu".into(), speed, make: Box::new(make) }
}

/// Returns the CPU as a machine that runs whole selections.
pub fn runner<'a>(pool: Pool) -> Runner<'a> {
    let threads = pool.clone();
    let run: Run = Box::new(move |samples, logs, criteria, k, observer| {
        let mut counting = CpuCounting::new(samples, logs, 0..samples.p(), threads.clone());
        Ok((select_each(samples, logs, &mut counting, criteria, k, observer)?, Moved::default()))
    });
    Runner { name: "cpu".into(), pool, run }
}
