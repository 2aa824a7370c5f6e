//! A call from R: the machine that it runs on, and R's callbacks.

use extendr_api::prelude::*;

use crate::failure::Outcome;
use crate::input::{self, Fields};
use crate::machine::Machine;
use crate::session::{Callbacks, RObserver};
use crate::token::Token;

/// R's callbacks, for reports and random numbers.
#[derive(Default)]
pub struct Listener {
    /// Callbacks of the search. With `test`, every test is printed, in pcalg's order.
    pub callbacks: Callbacks,
    /// Callback for events of the orientation.
    pub event: Option<Robj>,
    pub permutation: Option<Robj>,
}

impl Listener {
    /// Reads `list(progress, level, visit, test, resumed, phase, say, event, permutation)`, each a function or NULL.
    fn from_list(callbacks: &List) -> Outcome<Self> {
        Ok(Listener {
            callbacks: Callbacks {
                progress: callbacks.function("progress")?,
                level: callbacks.function("level")?,
                visit: callbacks.function("visit")?,
                test: callbacks.function("test")?,
                resumed: callbacks.function("resumed")?,
                phase: callbacks.function("phase")?,
                say: callbacks.function("say")?,
            },
            event: callbacks.function("event")?,
            permutation: callbacks.function("permutation")?,
        })
    }
}

/// A call from R: the machine that it runs on, and R's callbacks.
pub struct Call<'a> {
    pub machine: Machine,
    pub listener: Listener,
    pub token: &'a Token,
}

impl<'a> Call<'a> {
    pub fn new(engine: &Robj, callbacks: &Robj, token: &'a Token) -> Outcome<Self> {
        let listener = Listener::from_list(&input::list(callbacks, "callbacks")?)?;
        Ok(Call { listener, ..Call::silent(engine, token)? })
    }

    /// Makes a call without callbacks.
    pub fn silent(engine: &Robj, token: &'a Token) -> Outcome<Self> {
        let machine = Machine::from_list(&input::list(engine, "engine")?)?;
        Ok(Call { machine, listener: Listener::default(), token })
    }

    /// Returns an observer that reports only progress.
    pub fn observer(&self) -> RObserver<'a> {
        let progress = self.listener.callbacks.progress.clone();
        RObserver::new(self.token, Callbacks { progress, ..Callbacks::default() })
    }
}
