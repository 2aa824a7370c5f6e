//! What cards of a team copy from one another: what each has found for its rows, p-values.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::cards::TeamSearch;
use super::member::Member;
use crate::engine::cuda::arguments::{SearchArgs, SLOT_BYTES};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::opened::Card;
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
pub(super) struct Copied {
    since: usize,
}

impl Copied {
    pub(super) fn add(
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
    pub(super) fn end(&mut self, search: &mut CudaSearch, observer: &mut dyn Observer) -> Result<()> {
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

/// Which parts of a card's memory hold what it has found, or is to have, of a shard.
pub(super) type PartsOf<'f> = dyn Fn(&CudaSearch, &Range<usize>) -> Vec<Part> + 'f;

/// Copies that have begun while cards are at work: by card that copies, of which shard, from which card.
pub(super) type Begun = Vec<HashSet<(usize, usize)>>;

/// Has the other cards begin to copy what one has found of a shard, beside what they do. A card that cannot does so in [`TeamSearch::exchange`], where it is found out
/// whose fault that is.
pub(super) fn begin(
    seats: &mut [Seat<Member>],
    (shard, rows): (usize, &Range<usize>),
    owner: usize,
    parts_of: &PartsOf,
    begun: &mut Begun,
) {
    let search = &seats[owner].machine.search;
    let (found, card) = (parts_of(search, rows), search.engine.held.card.clone());
    for (number, seat) in seats.iter_mut().enumerate().filter(|(number, seat)| *number != owner && !seat.is_lost) {
        seat.machine.coming.insert(rows.start);
        let search = &mut seat.machine.search;
        let own = parts_of(search, rows);
        let held = &mut search.engine.held;
        // The card is not to blame, as far as is known.
        let copied = held.card.bind().and_then(|()| {
            own.iter().zip(&found).try_for_each(|(own, part)| held.copy_beside(own.at, &card, part.at, part.bytes))
        });
        if copied.is_ok() {
            begun[number].insert((shard, owner));
        }
    }
}

impl<'s, 'a> TeamSearch<'s, 'a> {
    /// Copies what each card has found for its shards to all others, but for what these have begun to copy; waits for that, too.
    pub(super) fn exchange(
        &mut self,
        shards: &[Shard],
        owners: &[usize],
        parts_of: &PartsOf,
        begun: &Begun,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let part = |(shard, &owner): (&Shard, &usize)| parts_of(&self.seats[owner].machine.search, &shard.rows);
        let found: Vec<Vec<Part>> = shards.iter().zip(owners).map(part).collect();
        for (number, begun) in begun.iter().enumerate() {
            let mut begun = Some(begun);
            self.copying(number, |search, cards| {
                // Where something went wrong all are copied.
                let begun = begun.take();
                search.engine.held.follow_copies()?;
                let mut copied = Copied::default();
                for (at, ((shard, &owner), found)) in shards.iter().zip(owners).zip(&found).enumerate() {
                    // What a card has found that has failed since is found once more.
                    let Some(card) = cards[owner].as_ref().filter(|_| owner != number) else { continue };
                    if begun.is_some_and(|begun| begun.contains(&(at, owner))) {
                        continue;
                    }
                    for (own, part) in parts_of(search, &shard.rows).iter().zip(found) {
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
    pub(super) fn copying(
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
            self.seats[number].machine.search.engine.held.forgive();
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
}
