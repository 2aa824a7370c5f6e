//! Limits of a search, and the file that keeps it, as R names them.

use std::time::{Duration, Instant};

use extendr_api::prelude::*;
use pcgpu_core::search::checkpoint::{Asked, Checkpoint, Digest, Limits};

use crate::failure::Outcome;
use crate::input::{self, Fields};
use crate::respond::respond;

/// Entries of a test that identify it. All others are its data, except those of `KNOWN`, which are facts about the data.
const OF_TEST: [&str; 3] = ["kind", "name", "code"];
const KNOWN: [&str; 2] = ["undefined", "unchecked"];

/// Reads R's `list(file, every, seconds)`, see `search_limits()` in R/search-limits.R, for a search that begins now. The search's test is
/// `list(kind, ...)`. `later` is R's description of what follows the search.
pub fn limits(options: &List, test: &List, later: &Robj) -> Outcome<Limits> {
    let Some(limits) = options.optional_list("limits")? else { return Ok(Limits::default()) };
    let seconds = limits.optional_number("seconds")?;
    let deadline = |seconds: f64| {
        let time = Duration::try_from_secs_f64(seconds).ok()?;
        Some((Instant::now().checked_add(time)?, seconds))
    };
    let checkpoint = match limits.optional("file") {
        None => None,
        Some(file) => {
            let every = limits.number("every")?;
            let every = Duration::try_from_secs_f64(every).unwrap_or(Duration::MAX);
            let mut digest = Digest::default();
            take(&mut digest, later);
            let later = digest.end();
            Some(Checkpoint { every, later, ..Checkpoint::new(input::text(file, "file")?, asked(test)?) })
        }
    };
    Ok(Limits { checkpoint, deadline: seconds.and_then(deadline) })
}

/// Returns digests of the test and its data.
fn asked(test: &List) -> Outcome<Vec<Asked>> {
    let (mut of_test, mut of_data) = (Digest::default(), Digest::default());
    for (name, value) in test.iter().filter(|(name, _)| !KNOWN.contains(name)) {
        let digest = if OF_TEST.contains(&name) { &mut of_test } else { &mut of_data };
        digest.bytes(name.as_bytes());
        take(digest, &value);
    }
    let mut indep_test = Asked::digested("indepTest", &of_test);
    indep_test.shown = test.text("name")?.to_owned();
    Ok(vec![indep_test, Asked::digested("suffStat", &of_data)])
}

/// Adds the contents of an R object to a digest: its values and those of its entries, not its attributes. A function has no values: R
/// passes its code instead.
fn take(digest: &mut Digest, value: &Robj) {
    digest.number(value.rtype() as u64);
    digest.number(value.len() as u64);
    if let Some(values) = value.as_real_slice() {
        digest.doubles(values);
    } else if let Some(values) = value.as_integer_slice() {
        values.iter().for_each(|value| digest.bytes(&value.to_le_bytes()));
    } else if let Some(values) = value.as_logical_slice() {
        values.iter().for_each(|value| digest.bytes(&[u8::from(value.is_true()) + 2 * u8::from(value.is_na())]));
    } else if let Some(bytes) = value.as_raw_slice() {
        digest.bytes(bytes);
    } else if let Some(texts) = value.as_str_vector() {
        texts.iter().for_each(|text| {
            digest.number(text.len() as u64);
            digest.bytes(text.as_bytes());
        });
    } else if let Some(list) = value.as_list() {
        for (name, value) in list.iter() {
            digest.bytes(name.as_bytes());
            take(digest, &value);
        }
    }
}

/// Removes the files of a checkpoint. This is the last step of a call that has its answer.
/// @noRd
#[extendr]
fn rust_remove_checkpoint(file: Robj) -> Robj {
    respond([&file], |_| {
        Checkpoint::new(input::text(&file, "file")?, Vec::new()).remove();
        Ok(().into())
    })
}

extendr_module! {
    mod limits;
    fn rust_remove_checkpoint;
}
