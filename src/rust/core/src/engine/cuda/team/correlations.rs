//! How correlations come to the cards of a search: those of a matrix in as many parts as there are cards, each of which gives its own to the others while more
//! of it comes from the host; those of data from the card that has made them.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cards::TeamSearch;
use super::copies::Copied;
use crate::engine::cuda::gauss::source::{Gaussian, Source};
use crate::observer::Observer;
use crate::Result;

impl TeamSearch<'_, '_> {
    /// Has every card allocate what a search needs, and brings the correlations there.
    pub(super) fn place_correlations(&mut self, gauss: &Gaussian, observer: &mut dyn Observer) -> Result<()> {
        match gauss.source {
            Source::Matrix(_) => self.place_matrix(gauss, observer),
            Source::Data(..) => self.place_made(gauss, observer),
        }
    }

    /// Those of a matrix: each card is sent a part, and gives it to the others while more of it comes.
    fn place_matrix(&mut self, gauss: &Gaussian, observer: &mut dyn Observer) -> Result<()> {
        self.each(|member| member.run(|search| search.prepare_marginal(gauss, observer)))?;
        self.at_once(observer, |_, member| member.run(|search| search.allocate()))?;
        self.leader().take_check(gauss);
        let mut wanting: Vec<usize> = Vec::new();
        let mut places = Vec::new();
        for number in 0..self.seats.len() {
            if self.seats[number].is_lost {
                continue;
            }
            // With the card bound: this may allocate.
            let place = self.seats[number].machine.run(|search| {
                let engine = &mut search.engine;
                let place = (engine.held.card.clone(), engine.place_of_correlations()?);
                Ok((!engine.has_correlations()).then_some(place))
            });
            match place {
                Ok(None) => {}
                Ok(Some(place)) => {
                    wanting.push(number);
                    places.push(place);
                }
                Err(error) => self.lose(number, error)?,
            }
        }
        let (cells, before) = (gauss.p * gauss.p, self.left());
        let part = |number: usize| {
            let at = wanting.iter().position(|&other| other == number)?;
            let first = |at: usize| if at == wanting.len() { cells } else { cells / wanting.len() * at };
            Some((at, first(at)..first(at + 1)))
        };
        let is_missing = AtomicBool::new(false);
        self.at_once(observer, |number, member| {
            let Some((at, part)) = part(number) else { return Ok(()) };
            let others: Vec<_> =
                (0..places.len()).filter(|&other| other != at).map(|other| places[other].clone()).collect();
            // SAFETY: all have allocated a matrix there, and leave the others' cells alone until all are done.
            if !member.run(|search| unsafe { search.engine.place_and_give(gauss, part, &others) })? {
                is_missing.store(true, Ordering::Relaxed);
            }
            Ok(())
        })?;
        // What a card that failed was to give each of the others is sent.
        let rest = if self.left() == before && !is_missing.into_inner() { 0..0 } else { 0..cells };
        self.at_once(observer, |number, member| {
            let Some((_, part)) = part(number) else { return Ok(()) };
            member.run(|search| {
                search.engine.held.note_moved(8 * (cells - part.len()) as u64);
                search.engine.place_part(gauss, rest.clone(), true)?;
                search.engine.held.synchronize("copying to the GPU")
            })
        })
    }

    /// Those of data: the leading card makes them, and the others copy them from there.
    fn place_made(&mut self, gauss: &Gaussian, observer: &mut dyn Observer) -> Result<()> {
        loop {
            // Of a card that fails another takes the lead, and has to make them.
            let lead = self.lead;
            if let Err(error) = self.seats[lead].machine.run(|search| search.prepare_marginal(gauss, observer)) {
                self.lose(lead, error)?;
                continue;
            }
            self.at_once(observer, |_, member| {
                member.run(|search| {
                    search.allocate()?;
                    search.engine.held.synchronize("copying to the GPU")
                })
            })?;
            if !self.leader().engine.has_correlations() {
                continue;
            }
            let from = self.by_leader(|search| search.engine.place_of_correlations())?;
            let lead = self.lead;
            for number in (0..self.seats.len()).filter(|number| *number != lead) {
                self.copying(number, |search, cards| {
                    let (engine, mut copied) = (&mut search.engine, Copied::default());
                    let Some(card) = cards[lead].as_ref().filter(|_| !engine.has_correlations()) else { return Ok(()) };
                    let own = engine.place_of_correlations()?;
                    copied.add(search, own.cast(), card, from.cast(), gauss.bytes() as usize, observer)?;
                    copied.end(search, observer)?;
                    search.engine.place_part(gauss, 0..0, true)
                })?;
            }
            // Without the card that had made them, from the start: there is one less.
            if self.seats.iter().all(|seat| seat.is_lost || seat.machine.search.engine.has_correlations()) {
                return Ok(());
            }
        }
    }
}
