//! Functions that R calls for its own workers, on both sides, and for locks on folders that workers share.

use std::time::Duration;

use extendr_api::prelude::*;
use pcgpu_core::{reason, Error};

use crate::failure::{Failure, Outcome};
use crate::processes::{Arrived, Line, Lock, Workers};
use crate::respond::respond;
use crate::value::Value;
use crate::{input, output};

fn pointer<T: 'static>(value: &Robj, name: &str) -> Outcome<ExternalPtr<T>> {
    ExternalPtr::try_from(value).map_err(|_| Failure::Input(format!("internal: `{name}` has the wrong type")))
}

/// Returns a worker's number in Rust, from 0.
fn number(value: &Robj) -> Outcome<usize> {
    Ok(input::count(value, "number", 1)? - 1)
}

fn numbers(value: &Robj) -> Vec<usize> {
    let given = value.as_integer_slice().unwrap_or_default();
    given.iter().filter_map(|&number| usize::try_from(number - 1).ok()).collect()
}

fn cannot(what: &str) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| {
        let hint = "give fewer workers, or raise the limits on processes and open files (ulimit -u, ulimit -n)";
        let message = format!("a worker could not be {what} ({})", reason(&error));
        Error::Cluster { message, hint: hint.into() }.into()
    }
}

/// Makes an empty set of workers for one call.
/// @noRd
#[extendr]
fn rust_workers() -> Robj {
    respond([], |token| Ok(output::held(token, Workers::default())?.into()))
}

/// Adds a worker without a process. Returns the descriptor of its end.
/// @noRd
#[extendr]
fn rust_workers_add(workers: Robj) -> Robj {
    respond([&workers], |_| {
        Ok(Value::from(pointer::<Workers>(&workers, "workers")?.add().map_err(cannot("connected"))?))
    })
}

/// Starts the process of the worker added last. Returns the process number.
/// @noRd
#[extendr]
fn rust_workers_spawn(workers: Robj, program: Robj, arguments: Robj) -> Robj {
    respond([&workers, &program, &arguments], |_| {
        let arguments = arguments.as_string_vector().unwrap_or_default();
        let process = pointer::<Workers>(&workers, "workers")?.spawn(input::text(&program, "program")?, &arguments);
        Ok(Value::from(process.map_err(cannot("started"))? as i32))
    })
}

/// Notes that the worker added last was forked from this process.
/// @noRd
#[extendr]
fn rust_workers_forked(workers: Robj) -> Robj {
    respond([&workers], |_| {
        pointer::<Workers>(&workers, "workers")?.forked();
        Ok(().into())
    })
}

/// Sends a worker a message.
/// @noRd
#[extendr]
fn rust_workers_send(workers: Robj, worker: Robj, message: Robj) -> Robj {
    respond([&workers, &worker, &message], |_| {
        let message =
            message.as_raw_slice().ok_or_else(|| Failure::Input("internal: `message` is not a raw vector".into()))?;
        pointer::<Workers>(&workers, "workers")?.send(number(&worker)?, message);
        Ok(().into())
    })
}

/// Returns news from these workers, `list(ranks, messages)`: raw messages, or text if a worker is lost. Waits at most `seconds`.
/// @noRd
#[extendr]
fn rust_workers_receive(workers: Robj, of: Robj, seconds: Robj) -> Robj {
    respond([&workers, &of, &seconds], |_| {
        let wait = Duration::try_from_secs_f64(input::number(&seconds, "seconds")?).unwrap_or(Duration::ZERO);
        let found = pointer::<Workers>(&workers, "workers")?.receive(&numbers(&of), wait);
        let ranks: Vec<i32> = found.iter().map(|(number, _)| *number as i32 + 1).collect();
        let messages = found.into_iter().map(|(_, arrived)| match arrived {
            Arrived::Message(bytes) => Value::from(bytes),
            Arrived::Gone(why) => Value::from(why),
        });
        let messages: Vec<Value> = messages.collect();
        Ok(output::named(vec![("ranks", Value::from(ranks)), ("messages", Value::from(messages))]))
    })
}

/// Closes the connection to a worker.
/// @noRd
#[extendr]
fn rust_workers_cut(workers: Robj, worker: Robj) -> Robj {
    respond([&workers, &worker], |_| {
        pointer::<Workers>(&workers, "workers")?.cut(number(&worker)?);
        Ok(().into())
    })
}

/// Ends all workers. Kills those in `at_work`.
/// @noRd
#[extendr]
fn rust_workers_end(workers: Robj, at_work: Robj) -> Robj {
    respond([&workers, &at_work], |_| {
        pointer::<Workers>(&workers, "workers")?.end(&numbers(&at_work));
        Ok(().into())
    })
}

/// Returns a worker's own end, in a process that was started with this descriptor.
/// @noRd
#[extendr]
fn rust_line(descriptor: Robj) -> Robj {
    respond([&descriptor], |token| {
        let descriptor = input::count(&descriptor, "descriptor", 3)?;
        let line = Line::of_descriptor(descriptor as i32).map_err(cannot("connected"))?;
        Ok(output::held(token, line)?.into())
    })
}

/// Returns a worker's own end, in a fork.
/// @noRd
#[extendr]
fn rust_line_of_fork(workers: Robj) -> Robj {
    respond([&workers], |token| {
        let line = pointer::<Workers>(&workers, "workers")?.become_last();
        Ok(Value::from(line.map(|line| output::held(token, line)).transpose()?))
    })
}

/// Waits for a message. Returns it as raw, or NULL once the session is gone.
/// @noRd
#[extendr]
fn rust_line_hear(line: Robj) -> Robj {
    respond([&line], |_| Ok(Value::from(pointer::<Line>(&line, "line")?.hear())))
}

/// Sends the session a message. Returns whether the session took it.
/// @noRd
#[extendr]
fn rust_line_say(line: Robj, message: Robj) -> Robj {
    respond([&line, &message], |_| {
        let message = message.as_raw_slice().unwrap_or_default();
        Ok(Value::from(pointer::<Line>(&line, "line")?.say(message)))
    })
}

/// Locks a file until the pointer or the process is gone. Returns NULL if the lock cannot be taken.
/// @noRd
#[extendr]
fn rust_lock(path: Robj) -> Robj {
    respond([&path], |token| {
        let lock = Lock::take(input::text(&path, "path")?);
        Ok(Value::from(lock.map(|lock| output::held(token, lock)).transpose()?))
    })
}

extendr_module! {
    mod workers;
    fn rust_workers;
    fn rust_workers_add;
    fn rust_workers_spawn;
    fn rust_workers_forked;
    fn rust_workers_send;
    fn rust_workers_receive;
    fn rust_workers_cut;
    fn rust_workers_end;
    fn rust_line;
    fn rust_line_of_fork;
    fn rust_line_hear;
    fn rust_line_say;
    fn rust_lock;
}
