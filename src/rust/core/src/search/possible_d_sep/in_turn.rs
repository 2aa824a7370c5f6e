//! Sets that are asked one after the other, as pcalg does.

use super::visits::{Answers, Outcome, Visit};
use crate::ci::{Batch, CiTest};
use crate::graph::subsets;
use crate::observer::Observer;
use crate::search::wire::{Reader, Writer};
use crate::search::Options;
use crate::Result;

/// A test that is asked in pcalg's order.
pub struct InTurn<'t> {
    test: &'t mut dyn CiTest,
    /// The outcomes so far, edge by edge, those of an earlier call first.
    known: Vec<Outcome>,
    /// The index of the edge whose turn it is.
    next: usize,
    asked: f64,
    most: f64,
}

impl<'t> InTurn<'t> {
    /// Prepares to ask at most `most` questions. `table`: what an earlier call has saved.
    pub fn new(test: &'t mut dyn CiTest, most: f64, table: Option<&[u8]>) -> Self {
        // What cannot be read is asked again.
        let known = table.and_then(from_bytes).unwrap_or_default();
        InTurn { test, known, next: 0, asked: 0.0, most }
    }

    /// Has the observer save what is known.
    pub fn keep(&self, observer: &mut dyn Observer) -> Result<()> {
        observer.keep(&mut |out| out.write_all(&to_bytes(&self.known)))
    }
}

impl Answers for InTurn<'_> {
    fn of(&mut self, visit: &Visit, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
        let at = self.next;
        self.next += 1;
        if let Some(known) = self.known.get(at) {
            return Ok(known.clone());
        }
        if observer.is_due(false) {
            self.keep(observer)?;
        }
        let mut told = Told { observer, asked: self.asked, most: self.most };
        let outcome = ask(self.test, visit, options, &mut told);
        self.asked = told.asked;
        match &outcome {
            Ok(outcome) => self.known.push(outcome.clone()),
            Err(_) if observer.is_due(true) => self.keep(observer)?,
            Err(_) => {}
        }
        outcome
    }
}

/// An observer of each batch, which reports the progress of the phase.
struct Told<'o> {
    observer: &'o mut dyn Observer,
    asked: f64,
    most: f64,
}

impl Observer for Told<'_> {
    fn progress(&mut self, level: usize, done: f64, _total: f64) -> Result<()> {
        self.asked += done;
        self.observer.progress(level, self.asked.min(self.most * (1.0 - 1e-9)), self.most)
    }
}

fn to_bytes(known: &[Outcome]) -> Vec<u8> {
    let mut bytes = Writer::default();
    bytes.number(known.len() as u64);
    for Outcome { visited, set, largest } in known {
        bytes.number(visited.len() as u64);
        visited.iter().for_each(|&count| bytes.number(count));
        bytes.number(u64::from(set.is_some()));
        if let Some((set, p)) = set {
            bytes.vertices(set);
            bytes.float(*p);
        }
        bytes.number(u64::from(largest.is_some()));
        bytes.float(largest.unwrap_or(0.0));
    }
    bytes.0
}

fn from_bytes(bytes: &[u8]) -> Option<Vec<Outcome>> {
    let mut bytes = Reader(bytes);
    let mut known = Vec::new();
    for _ in 0..bytes.count(32)? {
        let visited = (0..bytes.count(8)?).map(|_| bytes.number()).collect::<Option<Vec<u64>>>()?;
        let set = if bytes.number()? == 1 { Some((bytes.vertices()?, bytes.float()?)) } else { None };
        let (is_some, p) = (bytes.number()? == 1, bytes.float()?);
        known.push(Outcome { visited, set, largest: is_some.then_some(p) });
    }
    bytes.0.is_empty().then_some(known)
}

/// Asks the sets of an edge in pcalg's order until one separates, in batches if the test takes them.
pub fn ask(test: &mut dyn CiTest, visit: &Visit, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
    let mut asking = Asking { test, visit, options, batch: Batch::new(), size: 0, count: 0, largest: None };
    let mut visited = Vec::new();
    let mut set = None;
    for size in 1..=visit.largest {
        (asking.size, asking.count) = (size, 0);
        let mut found = None;
        if size == 1 {
            for &v in visit.singles {
                found = asking.push(&[v], observer)?;
                if found.is_some() {
                    break;
                }
            }
        } else if visit.all.len() >= size {
            let mut places: Vec<u32> = (0..size as u32).collect();
            let mut members = vec![0; size];
            loop {
                members.iter_mut().zip(&places).for_each(|(member, &place)| *member = visit.all[place as usize]);
                if !visit.is_near(&members) {
                    found = asking.push(&members, observer)?;
                }
                if found.is_some() || !subsets::advance(visit.all.len(), &mut places) {
                    break;
                }
            }
        }
        if found.is_none() {
            found = asking.send(observer)?;
        }
        visited.push(asking.count);
        set = found;
        if set.is_some() {
            break;
        }
    }
    Ok(Outcome { visited, set, largest: asking.largest })
}

struct Asking<'t, 'v> {
    test: &'t mut dyn CiTest,
    visit: &'v Visit<'v>,
    options: &'v Options,
    batch: Batch,
    size: usize,
    /// Number of sets of this size.
    count: u64,
    largest: Option<f64>,
}

impl Asking<'_, '_> {
    /// Adds a set to the batch, which is sent when it is full. Returns a set that separates, with its p.
    fn push(&mut self, set: &[u32], observer: &mut dyn Observer) -> Result<Option<(Vec<u32>, f64)>> {
        self.batch.push(self.visit.x, self.visit.y, set);
        if self.batch.len() >= self.test.batch_size() {
            return self.send(observer);
        }
        Ok(None)
    }

    /// Sends the batch.
    fn send(&mut self, observer: &mut dyn Observer) -> Result<Option<(Vec<u32>, f64)>> {
        if self.batch.is_empty() {
            return Ok(None);
        }
        let answers = self.test.p_values(&self.batch)?;
        let mut found = None;
        for ((_, _, s), raw) in self.batch.iter().zip(&answers) {
            self.count += 1;
            let p = self.options.read(*raw);
            if p > self.largest.unwrap_or(self.visit.known) {
                self.largest = Some(p);
            }
            if p >= self.options.alpha {
                found = Some((s.to_vec(), p));
                break;
            }
        }
        self.batch.clear();
        observer.progress(self.size, answers.len() as f64, f64::INFINITY)?;
        Ok(found)
    }
}
