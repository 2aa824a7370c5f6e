//! Batches of questions cut into groups whose columns fit together, for a GPU that cannot hold all columns of the data, and the copy of these.

use super::gpu::held::Held;
use super::pointer::DevicePtr;
use crate::ci::Batch;
use crate::memory::{self, Use};

/// With fewer rows than this, several columns are copied together.
const FEW_ROWS: usize = 1 << 16;

/// Questions that are answered with the same columns on the GPU.
pub(super) struct Group {
    /// The variables, ascending; the GPU numbers them from 0.
    pub variables: Vec<u32>,
    /// Positions of the questions in the batch.
    pub questions: Vec<usize>,
}

impl Group {
    /// Returns the questions with the GPU's numbers of their variables; the order within sets is kept.
    pub fn numbered(&self, batch: &Batch) -> Batch {
        let number = |v: u32| self.variables.binary_search(&v).unwrap_or(0);
        let mut own = Batch::new();
        let mut set = Vec::new();
        for &at in &self.questions {
            let (x, y, s) = batch.get(at);
            set.clear();
            set.extend(s.iter().map(|&v| number(v) as u32));
            own.push(number(x as u32), number(y as u32), &set);
        }
        own
    }

    /// Returns the questions with the batch's own numbers of variables.
    pub fn named(&self, batch: &Batch) -> Batch {
        let mut own = Batch::new();
        for &at in &self.questions {
            let (x, y, s) = batch.get(at);
            own.push(x, y, s);
        }
        own
    }
}

/// Cuts a batch about `p` variables into groups, with each question in exactly one. The columns of a group, with `bytes(v)` bytes for variable
/// v, take at most `room` bytes. If a single question's columns take more, returns their bytes as the error.
pub(super) fn by_columns(batch: &Batch, p: usize, bytes: impl Fn(usize) -> u64, room: u64) -> Result<Vec<Group>, u64> {
    let widest = batch.iter().map(|(_, _, s)| s.len() + 2).max().unwrap_or(2) as u64;
    let all: u64 = (0..p).map(&bytes).sum();
    // Variables are numbered in blocks so small that about `widest` blocks fit. Questions are sorted by the blocks of their variables.
    let block = (room * p as u64 / all.max(1) / widest).max(1);
    let key = |at: usize| {
        let (x, y, s) = batch.get(at);
        let mut blocks: Vec<u32> =
            [x as u32, y as u32].iter().chain(s).map(|&v| (u64::from(v) / block) as u32).collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));
        blocks.dedup();
        blocks
    };
    let mut order: Vec<usize> = (0..batch.len()).collect();
    order.sort_by_cached_key(|&at| key(at));
    let mut groups: Vec<Group> = Vec::new();
    // The number, from 1, of the last group that has each variable.
    let mut of = vec![0; p];
    let mut held = 0;
    for at in order {
        let (x, y, s) = batch.get(at);
        let members = || [x as u32, y as u32].into_iter().chain(s.iter().copied());
        let mut more: u64 = members().filter(|&v| of[v as usize] != groups.len()).map(|v| bytes(v as usize)).sum();
        if groups.is_empty() || held + more > room {
            more = members().map(|v| bytes(v as usize)).sum();
            if more > room {
                return Err(more);
            }
            held = 0;
            groups.push(Group { variables: Vec::new(), questions: Vec::new() });
        }
        held += more;
        let number = groups.len();
        if let Some(group) = groups.last_mut() {
            group.questions.push(at);
            for v in members() {
                if std::mem::replace(&mut of[v as usize], number) != number {
                    group.variables.push(v);
                }
            }
        }
    }
    groups.iter_mut().for_each(|group| group.variables.sort_unstable());
    Ok(groups)
}

/// Answers a batch group by group, and returns the p-values in its order. `answer` brings the columns of a group and answers its questions,
/// whose p-values are NaN at first; `watch` gets the share of the batch that is done.
pub(super) fn in_groups(
    batch: &Batch,
    groups: Vec<Group>,
    watch: &mut dyn FnMut(f64) -> crate::Result<()>,
    mut answer: impl FnMut(&Group, &Batch, &mut [f64], &mut dyn FnMut(f64) -> crate::Result<()>) -> crate::Result<()>,
) -> crate::Result<Vec<f64>> {
    let mut p = not_answered(batch)?;
    let mut done = 0;
    for group in groups {
        let count = group.questions.len();
        let mut own = vec![f64::NAN; count];
        let mut within = |share: f64| watch((done as f64 + share * count as f64) / batch.len() as f64);
        answer(&group, &group.named(batch), &mut own, &mut within)?;
        group.questions.iter().zip(own).for_each(|(&at, of)| p[at] = of);
        done += count;
    }
    Ok(p)
}

/// Returns NaN for each question of a batch.
pub(super) fn not_answered(batch: &Batch) -> crate::Result<Vec<f64>> {
    let mut p = memory::space(batch.len(), Use::Level)?;
    p.resize(batch.len(), f64::NAN);
    Ok(p)
}

/// Copies columns of n elements to consecutive places.
pub(super) fn upload_columns<T: Copy>(held: &Held, to: DevicePtr<T>, columns: &[&[T]], n: usize) -> crate::Result<()> {
    let together = if n >= FEW_ROWS { 1 } else { FEW_ROWS / n.max(1) };
    let mut some = memory::space(if together > 1 { (together * n).min(columns.len() * n) } else { 0 }, Use::Samples)?;
    for (part, columns) in columns.chunks(together).enumerate() {
        let at = to.carve((part * together * n * size_of::<T>()) as u64);
        match columns {
            [column] => held.upload(at, column)?,
            columns => {
                some.clear();
                columns.iter().for_each(|column| some.extend_from_slice(column));
                held.upload(at, &some)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_every_question_once_and_fit() {
        let p = 40;
        let mut batch = Batch::new();
        for y in 0..p {
            (0..y).for_each(|x| batch.push(x, y, &[]));
            batch.push(y, (y + 7) % p, &[((y + 3) % p) as u32, ((y + 19) % p) as u32]);
        }
        let bytes = |v: usize| 10 + v as u64 % 3;
        for room in [48, 100, 250, 10_000] {
            let groups = by_columns(&batch, p, bytes, room).unwrap_or_default();
            let mut asked: Vec<usize> = groups.iter().flat_map(|group| group.questions.clone()).collect();
            asked.sort_unstable();
            assert!(asked.iter().copied().eq(0..batch.len()), "{room}");
            for group in &groups {
                assert!(group.variables.iter().map(|&v| bytes(v as usize)).sum::<u64>() <= room);
                let own = group.numbered(&batch);
                for (&at, (x, y, s)) in group.questions.iter().zip(own.iter()) {
                    let name = |v: usize| group.variables[v] as usize;
                    let set: Vec<u32> = s.iter().map(|&v| name(v as usize) as u32).collect();
                    assert_eq!((name(x), name(y), &set[..]), batch.get(at));
                }
            }
            // With room for a quarter of the columns, pairs are grouped by blocks and not column by column.
            assert!(room != 100 || groups.len() < 300, "{}", groups.len());
            assert!(room != 10_000 || groups.len() == 1);
        }
        assert!(by_columns(&batch, p, bytes, 30).is_err());
    }
}
