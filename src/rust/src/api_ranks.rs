//! The functions that R calls on a worker of a cluster.

use extendr_api::prelude::*;
use pcgpu_core::ci::gauss::Reading;
use pcgpu_core::engine::sequential::test_stream;

use crate::cluster::{Held, Searching};
use crate::failure::{respond, Failure};
use crate::machine::Machine;
use crate::session::RObserver;
use crate::test::Test;
use crate::value::Value;
use crate::{input, output, sockets};

/// Begins a rank: `list(rank, hello)`, a pointer and its first words.
/// @noRd
#[extendr]
fn rust_rank_open(test: Robj, p: Robj, alpha: Robj, method: Robj, engine: Robj) -> Robj {
    respond([&test, &p, &alpha, &method, &engine], |token| {
        let machine = Machine::from_list(&input::list(&engine, "engine")?)?;
        let test = Test::from_list(&input::list(&test, "test")?, &machine.pool)?;
        let reading = match input::text(&method, "method")?.as_str() {
            "stable.fast" => Reading::StableFast,
            _ => Reading::GaussCItest,
        };
        let (p, alpha) = (input::count(&p, "p", 1)?, input::number(&alpha, "alpha")?);
        let mut held = Held::Search(Searching::open(test, p, reading, alpha, &machine, &mut RObserver::silent(token))?);
        let hello = Value::from(held.hello(token));
        Ok(output::named(vec![("rank", output::held(token, held)?.into()), ("hello", hello)]))
    })
}

/// Likewise one of a feature selection; `automatic`: a GPU that fails leaves its features to the CPU.
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

/// What a rank answers to a message; NULL to one that wants no answer.
/// @noRd
#[extendr]
fn rust_rank_answer(rank: Robj, message: Robj) -> Robj {
    respond([&rank, &message], |token| {
        let wrong = |what: &str| Failure::Input(format!("internal: `{what}` is none"));
        let mut held = ExternalPtr::<Held>::try_from(&rank).map_err(|_| wrong("rank"))?;
        let message = message.as_raw_slice().ok_or_else(|| wrong("message"))?;
        let answer = held.answer(message, token)?;
        Ok(answer.into())
    })
}

/// The seed of a test's own stream of R's generator "L'Ecuyer-CMRG": six integers that depend on the seed of the search, the pair and the set, in
/// whatever order they are given.
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

/// Has the sockets of these ports send small messages at once: how many there are.
/// @noRd
#[extendr]
fn rust_no_delay(ports: Robj) -> Robj {
    respond([&ports], |_| {
        let ports = ports.as_integer_slice().unwrap_or_default();
        let ports: Vec<u16> =
            ports.iter().filter_map(|&port| u16::try_from(port).ok()).filter(|&port| port > 0).collect();
        Ok(Value::from(sockets::send_at_once(&ports) as i32))
    })
}

extendr_module! {
    mod api_ranks;
    fn rust_rank_open;
    fn rust_rank_of_features;
    fn rust_rank_answer;
    fn rust_test_stream;
    fn rust_no_delay;
}
