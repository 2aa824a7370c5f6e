//! P-values of single pairs of columns of data, given the empty set.

use super::{cells_of, Blocks};
use crate::ci::Batch;
use crate::engine::cuda::arguments::SearchArgs;
use crate::engine::cuda::cut::{by_columns, Group};
use crate::engine::cuda::gauss::batch::to_p_values;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::memory;
use crate::moments::Centred;
use crate::observer::Observer;
use crate::Result;

/// Most pairs of a launch, with 16 MiB of GPU memory, and most multiplications: some hundredths of a second.
const PAIRS: usize = 1 << 20;
const PRODUCTS: usize = 1 << 34;

impl Blocks<'_, '_> {
    /// Returns the p-values of questions with empty sets about columns of data, in their order, as level 0 computes them.
    pub(in crate::engine::cuda) fn marginal_values(
        &mut self,
        batch: &Batch,
        observer: &mut dyn Observer,
    ) -> Result<Vec<f64>> {
        let (p, alpha) = (self.gauss.p, self.search.engine.alpha);
        self.plan_gpu(0, false)?;
        let held = &mut self.search.engine.held;
        // Half of the room is enough for the numbers of some columns, and some pairs.
        let room = held.room(&[])?.saturating_sub(8 * p as u64) / 2;
        let n = self.data.as_ref().map_or(1, Centred::n);
        let pairs = PAIRS.min(batch.len()).min(PRODUCTS / n).min((room / 16) as usize).max(1);
        held.plan.set(Buffer::List, 4 * (2 * pairs + p) as u64);
        held.plan.set(Buffer::PMax, 8 * pairs as u64);
        self.begin_gpu(observer)?;
        let cells = cells_of(&self.gauss, &self.data);
        let held = &mut self.search.engine.held;
        let ids = held.device(Buffer::List)?;
        let at = held.device(Buffer::PMax)?;
        let mut values = memory::zeros(batch.len(), memory::Use::Level)?;
        let groups = match self.state.rows.all() {
            Some(_) => vec![Group { variables: Vec::new(), questions: (0..batch.len()).collect() }],
            None => by_columns(batch, p, |_| 1, self.state.rows.most_gathered() as u64)
                .map_err(|variables| held.too_little(8 * n as u64 * variables))?,
        };
        for group in groups {
            let vertices = match self.state.rows.gather(held, cells, &group.variables, &mut || observer.look())? {
                true => {
                    let at = ids.offset(2 * pairs as u64);
                    held.upload(at, &group.variables)?;
                    at
                }
                false => Default::default(),
            };
            let number = |v: usize| match group.variables.as_slice() {
                [] => v as u32,
                variables => variables.partition_point(|&other| (other as usize) < v) as u32,
            };
            for some in group.questions.chunks(pairs) {
                let asked: Vec<u32> = some
                    .iter()
                    .flat_map(|&question| {
                        let (x, y, _) = batch.get(question);
                        [number(x), number(y)]
                    })
                    .collect();
                held.upload(ids, &asked)?;
                self.state.rows.make_pairs(held, (cells, some.len()), [ids, vertices], at)?;
                let mut args = SearchArgs { answers: at, count: some.len() as u64, ..SearchArgs::default() };
                to_p_values(held, &self.gauss.test, alpha, &mut args)?;
                let mut found = vec![0.0; some.len()];
                held.fetch(at, &mut found, "level 0")?;
                some.iter().zip(found).for_each(|(&question, p)| values[question] = p);
                observer.look()?;
            }
        }
        Ok(values)
    }
}
