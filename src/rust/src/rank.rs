//! An R process that answers another one's search or feature selection, as a [`Rank`].

use std::mem::ManuallyDrop;

use extendr_api::prelude::*;
use pcgpu_core::ci::gauss::Reading;
use pcgpu_core::engine::cluster::rank::{self, Rank};
use pcgpu_core::engine::cluster::selection::rank::SelectionRank;
use pcgpu_core::engine::sequential::{test_stream, Sequential};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::{Error, Result};

use crate::failure::{Failure, Outcome};
use crate::machine::Machine;
use crate::respond::respond;
use crate::session::{RObserver, RTest};
use crate::test::{Setting, Test};
use crate::token::Token;
use crate::value::Value;
use crate::{input, output};

/// A rank's state from message to message.
enum Held {
    /// The state of a search.
    Search(Searching),
    /// The state of a feature selection.
    Selection(SelectionRank),
}

impl Held {
    /// Returns the handshake.
    fn hello(&mut self, token: &Token) -> Vec<u8> {
        match self {
            Held::Search(search) => search.hello(token),
            Held::Selection(selection) => selection.hello(),
        }
    }

    /// Answers a message.
    fn answer(&mut self, message: &[u8], token: &Token) -> Outcome<Option<Vec<u8>>> {
        let mut observer = RObserver::silent(token);
        let answer = match self {
            Held::Search(search) => search.answer(message, &mut observer, token),
            Held::Selection(selection) => selection.answer(message, &mut observer),
        };
        Ok(answer?)
    }
}

/// A search for which this process is a rank.
struct Searching {
    /// `None` for an R function, which answers one question after the other. The worker borrows from `test`, and is dropped first.
    worker: ManuallyDrop<Option<Box<dyn Worker>>>,
    /// Pointer from a box.
    test: *mut Test,
    rank: Rank,
}

impl Drop for Searching {
    fn drop(&mut self) {
        // SAFETY: neither is used again. The worker borrows from the test, and is dropped before it.
        unsafe {
            ManuallyDrop::drop(&mut self.worker);
            drop(Box::from_raw(self.test));
        }
    }
}

impl Searching {
    /// Makes a rank with this test.
    fn open(test: Test, of: Setting, machine: &Machine, observer: &mut RObserver) -> Outcome<Self> {
        let test = Box::into_raw(Box::new(test));
        let (worker, rank) = (ManuallyDrop::new(None), Rank::default());
        let mut held = Searching { worker, test, rank };
        // SAFETY: the test stays in place until `held` is dropped, and the worker is dropped before it.
        let test: &'static Test = unsafe { &*test };
        // No orientation sends tests to a rank with this reading.
        let few = match of.reading {
            Reading::StableFast => test.worker_of_few(of, true, machine, observer)?,
            Reading::GaussCItest => None,
        };
        *held.worker = match (few, test) {
            (Some(few), _) => Some(few),
            (None, Test::Function(_)) => None,
            (None, _) => test.own_worker(of, machine, observer, None)?,
        };
        Ok(held)
    }

    fn hello(&mut self, token: &Token) -> Vec<u8> {
        match &mut *self.worker {
            Some(worker) => rank::hello(&mut **worker),
            None => rank::hello(&mut Sequential::new(&mut RTest::new(&().into(), token))),
        }
    }

    fn answer(&mut self, message: &[u8], observer: &mut RObserver, token: &Token) -> Result<Option<Vec<u8>>> {
        let Searching { worker, rank, test } = self;
        // SAFETY: the test exists as long as `self`.
        match (&mut **worker, unsafe { &**test }) {
            (Some(worker), _) => rank.answer(&mut **worker, message, observer),
            (None, Test::Function(fun)) => {
                let mut test = RTest::new(fun, token);
                rank.answer(&mut Sequential::new(&mut test), message, observer)
            }
            (None, _) => Err(Error::Interrupted),
        }
    }
}

/// Begins a rank of a search. Returns `list(rank, hello)`: a pointer and its handshake.
/// @noRd
#[extendr]
fn rust_rank_open(test: Robj, p: Robj, alpha: Robj, method: Robj, engine: Robj) -> Robj {
    respond([&test, &p, &alpha, &method, &engine], |token| {
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        let test = Test::from_list(&input::list(&test, "test")?, &machine.pool)?;
        let reading = match input::text(&method, "method")? {
            "stable.fast" => Reading::StableFast,
            _ => Reading::GaussCItest,
        };
        let of = Setting { p: input::count(&p, "p", 1)?, alpha: input::number(&alpha, "alpha")?, reading };
        let mut held = Held::Search(Searching::open(test, of, &machine, &mut RObserver::silent(token))?);
        let hello = Value::from(held.hello(token));
        Ok(output::named(vec![("rank", output::held(token, held)?.into()), ("hello", hello)]))
    })
}

/// Begins a rank of a feature selection. Returns `list(rank, hello)`: a pointer and its handshake. With `automatic`, a GPU that fails
/// leaves its features to the CPU.
/// @noRd
#[extendr]
fn rust_rank_of_features(automatic: Robj, engine: Robj) -> Robj {
    respond([&automatic, &engine], |token| {
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        let mut held = Held::Selection(machine.selection_rank(input::flag(&automatic, "automatic")?));
        let hello = Value::from(held.hello(token));
        Ok(output::named(vec![("rank", output::held(token, held)?.into()), ("hello", hello)]))
    })
}

/// Returns a rank's answer to a message, or NULL if the message needs none.
/// @noRd
#[extendr]
fn rust_rank_answer(rank: Robj, message: Robj) -> Robj {
    respond([&rank, &message], |token| {
        let wrong = |what: &str| Failure::Input(format!("internal: `{what}` has the wrong type"));
        let mut held = ExternalPtr::<Held>::try_from(&rank).map_err(|_| wrong("rank"))?;
        let message = message.as_raw_slice().ok_or_else(|| wrong("message"))?;
        let answer = held.answer(message, token)?;
        Ok(answer.into())
    })
}

/// Returns the seed of a test's own stream of R's generator "L'Ecuyer-CMRG": six integers. They depend on the seed of the search, the pair
/// and the set, not on the order in which these are given.
/// @noRd
#[extendr]
fn rust_test_stream(seed: Robj, x: Robj, y: Robj, s: Robj) -> Robj {
    respond([&seed, &x, &y, &s], |_| {
        let whole = |value: &Robj, name: &str| input::number(value, name).map(|number| number as u32);
        let set = s.as_integer_slice().map_or_else(Vec::new, |set| set.iter().map(|&v| v as u32).collect());
        let stream = test_stream(whole(&seed, "seed")?, whole(&x, "x")?, whole(&y, "y")?, &set);
        Ok(Value::from(stream.map(|word| word as i32).to_vec()))
    })
}

extendr_module! {
    mod rank;
    fn rust_rank_open;
    fn rust_rank_of_features;
    fn rust_rank_answer;
    fn rust_test_stream;
}
