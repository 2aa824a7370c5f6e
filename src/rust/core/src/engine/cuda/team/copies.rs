//! What cards of a team copy from one another: what each has found for its rows, p-values, correlations.

use std::ops::Range;
use std::sync::Arc;

use super::cards::TeamSearch;
use super::member::Member;
use crate::engine::cuda::arguments::{SearchArgs, SLOT_BYTES};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::opened::Card;
use crate::engine::cuda::gauss::source::{Gaussian, Source};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::{Seat, Shard};
use crate::engine::cuda::CudaTest;
use crate::observer::Observer;
use crate::{Error, Result};

/// Bytes that a card copies from another before the caller is asked whether to stop: with or without a link between them, less than
/// 0.1 s.
pub(super) const PIECE: usize = 256 << 20;

/// Copies between cards, of which the card is waited for now and then, so that the caller is asked whether to stop.
#[derive(Default)]
struct Copied {
    since: usize,
}

impl Copied {
    fn add(
        &mut self,
        search: &mut CudaSearch,
        to: DevicePtr<u8>,
        card: &Card,
        from: DevicePtr<u8>,
        bytes: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for first in (0..bytes).step_by(PIECE) {
            let some = PIECE.min(bytes - first);
            search.engine.held.copy_from(to.offset(first as u64), card, from.offset(first as u64), some)?;
            self.since += some;
            if self.since >= PIECE {
                self.end(search, observer)?;
            }
        }
        Ok(())
    }

    /// Waits for them.
    fn end(&mut self, search: &mut CudaSearch, observer: &mut dyn Observer) -> Result<()> {
        search.engine.held.wait("copying from another GPU", &mut || observer.look())?;
        self.since = 0;
        Ok(())
    }
}

/// What a card has found for a shard: bytes in its memory.
pub(super) struct Part {
    pub at: DevicePtr<u8>,
    pub bytes: usize,
}

/// Has a card forget how many tests of a side the exact formula has decided.
fn forget_counts(search: &mut CudaSearch, rows: &Range<usize>, second: u64) -> Result<()> {
    let held = &mut search.engine.held;
    let mut ends = vec![0; rows.len() + 1];
    held.fetch(search.args.offset.offset(rows.start as u64), &mut ends, "a level")?;
    let (first, end) = (ends[0], ends[rows.len()]);
    let mut list = vec![0; (end - first) as usize];
    held.fetch(search.args.list.offset(first), &mut list, "a level")?;
    let at = search.args.slot.offset(SLOT_BYTES * first).cast::<[u32; SLOT_BYTES as usize / 4]>();
    let mut slots = vec![[0; SLOT_BYTES as usize / 4]; list.len()];
    held.fetch(at, &mut slots, "a level")?;
    for (row, bounds) in rows.clone().zip(ends.windows(2)) {
        for entry in (bounds[0] - first) as usize..(bounds[1] - first) as usize {
            if (list[entry] as usize > row) == (second == 0) {
                // The last member of GaussSlot, see kernels/gauss/slots.cuh.
                slots[entry][SLOT_BYTES as usize / 4 - 1] = 0;
            }
        }
    }
    held.upload(at, &slots)
}

impl<'s, 'a> TeamSearch<'s, 'a> {
    /// Copies what each card has found for its shards to all others.
    pub(super) fn exchange(
        &mut self,
        shards: &[Shard],
        owners: &[usize],
        copy: &dyn Fn(&CudaSearch, &Range<usize>) -> Part,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let part = |(shard, &owner): (&Shard, &usize)| copy(&self.seats[owner].machine.search, &shard.rows);
        let found: Vec<Part> = shards.iter().zip(owners).map(part).collect();
        for number in 0..self.seats.len() {
            self.copying(number, |search, cards| {
                let mut copied = Copied::default();
                for ((shard, &owner), part) in shards.iter().zip(owners).zip(&found) {
                    // What a card has found that has failed since is found once more.
                    if let (Some(card), true) = (&cards[owner], owner != number) {
                        let own = copy(search, &shard.rows);
                        copied.add(search, own.at, card, part.at, part.bytes, observer)?;
                    }
                }
                copied.end(search, observer)
            })?;
        }
        Ok(())
    }

    /// What is counted of these rows' sides is to be counted again: a card may have copied it from one that has failed since. All else that a
    /// slot has are minima, to which the same is added.
    pub(super) fn forget_counts(&mut self, shards: &[Shard], second: u64) -> Result<()> {
        if let CudaTest::Discrete(_) = self.leader().engine.test {
            return Ok(());
        }
        self.each(|member| {
            member.run(|search| shards.iter().try_for_each(|shard| forget_counts(search, &shard.rows, second)))
        })
    }

    /// Calls `run` for a card, if it is left, which copies from the others that are left. Where one of these is found to have failed, it is
    /// called once more, without that one.
    fn copying(
        &mut self,
        number: usize,
        mut run: impl FnMut(&mut CudaSearch<'s, 'a>, &[Option<Arc<Card>>]) -> Result<()>,
    ) -> Result<()> {
        while !self.seats[number].is_lost {
            let card = |seat: &Seat<Member>| (!seat.is_lost).then(|| seat.machine.search.engine.held.card.clone());
            let cards: Vec<Option<Arc<Card>>> = self.seats.iter().map(card).collect();
            match self.seats[number].machine.run(|search| run(search, &cards)) {
                Ok(()) => break,
                Err(error) => self.blame(number, error)?,
            }
        }
        Ok(())
    }

    /// A copy to a card failed: the fault may be with the others. Where it is, and this one is sound, it stays.
    fn blame(&mut self, number: usize, error: Error) -> Result<()> {
        if !matches!(error, Error::Device(_)) {
            return Err(error);
        }
        let before = self.left();
        for other in 0..self.seats.len() {
            if other != number && !self.seats[other].is_lost {
                if let Err(error) = self.seats[other].machine.run(|search| search.engine.held.synchronize("copying")) {
                    self.lose(other, error)?;
                }
            }
        }
        let is_sound = self.left() < before
            && self.seats[number].machine.run(|search| search.engine.held.synchronize("copying")).is_ok();
        if is_sound {
            Ok(())
        } else {
            self.lose(number, error)
        }
    }

    /// Raises every card's p-values to those of the others, each of which has found those of its pairs: first the leading card's, which
    /// the others then copy.
    pub(super) fn raise_p_max(&mut self, observer: &mut dyn Observer) -> Result<()> {
        loop {
            let lead = self.lead;
            self.raise_by(lead, observer)?;
            // Where it has failed, another one does.
            if self.lead == lead {
                return Ok(());
            }
        }
    }

    /// Likewise with this card as the leading one.
    fn raise_by(&mut self, lead: usize, observer: &mut dyn Observer) -> Result<()> {
        let count = self.seats.len();
        let from: Vec<DevicePtr<f64>> = self.seats.iter().map(|seat| seat.machine.search.args.p_max).collect();
        self.copying(lead, |search, cards| {
            let all = search.p_max.values();
            let room = search.engine.held.plan.of(Buffer::Batch) / 8;
            let pieces = search.engine.held.device(Buffer::Batch)?.cast();
            for source in (0..count).filter(|source| *source != lead) {
                let Some(card) = &cards[source] else { continue };
                for first in (0..all).step_by(room.max(1) as usize) {
                    let some = room.min(all - first);
                    search.engine.held.copy_from(pieces, card, from[source].offset(first), some as usize)?;
                    let p_max = search.args.p_max.offset(first);
                    let args = SearchArgs { answers: pieces, p_max, count: some, ..search.args };
                    let blocks = search.blocks_for(some / 32 + 1);
                    // SAFETY: so many values are at both places.
                    unsafe { search.engine.held.card.launch(Kernel::raise_values.on((blocks, 1), 256, 0), &args)? };
                    search.engine.held.wait("copying from another GPU", &mut || observer.look())?;
                }
            }
            Ok(())
        })?;
        for number in (0..count).filter(|number| *number != lead) {
            self.copying(number, |search, cards| {
                let Some(card) = &cards[lead] else { return Ok(()) };
                let mut copied = Copied::default();
                let bytes = 8 * search.p_max.values() as usize;
                let own = search.args.p_max.cast();
                copied.add(search, own, card, from[lead].cast(), bytes, observer)?;
                copied.end(search, observer)
            })?;
        }
        Ok(())
    }

    /// Has every card allocate what a search needs, and brings the correlations there: those of a matrix in as many parts as there are
    /// cards, each of which takes the others' from them; those of data from the card that has made them.
    pub(super) fn place_correlations(&mut self, gauss: &Gaussian, observer: &mut dyn Observer) -> Result<()> {
        let (cells, count) = (gauss.p * gauss.p, self.seats.len());
        let end = |number: usize| if number == count { cells } else { cells / count * number };
        let part = |number: usize| end(number)..end(number + 1);
        let made = matches!(gauss.source, Source::Data(..));
        let mut is_refused = true;
        // Of a card that fails another takes the lead, and has to make correlations of data.
        while is_refused {
            let lead = self.lead;
            if let Err(error) = self.seats[lead].machine.run(|search| search.prepare_marginal(gauss, observer)) {
                self.lose(lead, error)?;
                continue;
            }
            self.at_once(observer, |number, member| {
                member.run(|search| {
                    search.allocate()?;
                    if !made && !search.engine.has_correlations() {
                        search.engine.place_part(gauss, part(number), false)?;
                    }
                    search.engine.held.synchronize("copying to the GPU")
                })
            })?;
            is_refused = made && !self.leader().engine.has_correlations();
        }
        let lead = self.lead;
        let mut from = Vec::new();
        for number in 0..count {
            let at = match self.seats[number].is_lost {
                true => DevicePtr::NULL,
                false => {
                    self.seats[number].machine.run(|search| search.engine.place_of_correlations()).unwrap_or_default()
                }
            };
            from.push(at);
        }
        for number in 0..count {
            self.copying(number, |search, cards| {
                let mut copied = Copied::default();
                if search.engine.has_correlations() {
                    return Ok(());
                }
                let own = search.engine.place_of_correlations()?;
                for owner in (0..count).filter(|owner| *owner != number && (!made || *owner == lead)) {
                    let range = if made { 0..cells } else { part(owner) };
                    match &cards[owner] {
                        Some(card) => {
                            let at = |from: DevicePtr<f64>| from.offset(range.start as u64).cast();
                            copied.add(search, at(own), card, at(from[owner]), 8 * range.len(), observer)?;
                        }
                        // What a card that failed was to bring each of the others brings itself.
                        None if !made => search.engine.place_part(gauss, range, false)?,
                        None => return Ok(()),
                    }
                }
                copied.end(search, observer)?;
                search.engine.place_part(gauss, 0..0, true)
            })?;
        }
        // Without the card that had made them, from the start: there is one less.
        match self.leader().engine.has_correlations() {
            true => Ok(()),
            false => self.place_correlations(gauss, observer),
        }
    }
}
