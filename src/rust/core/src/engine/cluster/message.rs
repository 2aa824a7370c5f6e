//! Messages between a driver and its ranks.

use std::borrow::Cow;

use crate::error::{DeviceError, DeviceKind};
use crate::search::wire::envelope::{self, Refusal};
use crate::search::wire::{Reader, Writer};
use crate::{ci, Error};

/// Kinds of messages.
const GRAPH: u8 = 1;
const COLUMNS: u8 = 2;
const SHARDS: u8 = 3;
const QUESTIONS: u8 = 4;
const BEGIN: u8 = 5;
const TURN: u8 = 6;
const PAIRS: u8 = 7;
const FOLDER: u8 = 8;
const HELLO: u8 = 16;
const DONE: u8 = 17;
const FAILED: u8 = 18;
const ASIDE: u8 = 19;

/// Name of the argument that holds the data of a selection.
const DATA: &str = "x";

/// A request of a driver to a rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request<'a> {
    kind: u8,
    body: Cow<'a, [u8]>,
}

/// A request as the rank reads it.
pub(super) enum Asked<'a> {
    /// A graph with its number, or only its changes since the previous graph. It has no reply.
    Graph { number: u64, is_change: bool, bytes: &'a [u8] },
    /// Columns of level 0 on the graph of this number.
    Columns { number: u64, is_exact: bool, bytes: &'a [u8] },
    /// Shards on the graph of this number.
    Shards { number: u64, bytes: &'a [u8] },
    /// Pairs of level 1 on the graph of this number.
    Pairs { number: u64, bytes: &'a [u8] },
    /// The folder for large answers, for a rank that sees it. It has no reply.
    Folder(&'a [u8]),
    /// Questions about `p` variables.
    Questions { p: usize, bytes: &'a [u8] },
    /// The start of a feature selection with this number. It has no reply.
    Begin { number: u64, bytes: &'a [u8] },
    /// The next choice of the selection with this number.
    Turn { number: u64, bytes: &'a [u8] },
}

impl Request<'_> {
    fn new(kind: u8, head: &[u64], bytes: &[u8]) -> Request<'static> {
        let mut body = Writer::default();
        head.iter().for_each(|&number| body.small(number));
        body.0.extend_from_slice(bytes);
        Request { kind, body: Cow::Owned(body.0) }
    }

    pub fn graph(number: u64, is_change: bool, bytes: &[u8]) -> Request<'static> {
        Request::new(GRAPH, &[number, u64::from(is_change)], bytes)
    }

    pub fn columns(number: u64, is_exact: bool, bytes: &[u8]) -> Request<'static> {
        Request::new(COLUMNS, &[number, u64::from(is_exact)], bytes)
    }

    pub fn shards(number: u64, bytes: &[u8]) -> Request<'static> {
        Request::new(SHARDS, &[number], bytes)
    }

    pub fn folder(bytes: &[u8]) -> Request<'static> {
        Request::new(FOLDER, &[0], bytes)
    }

    pub fn pairs(number: u64, bytes: &[u8]) -> Request<'static> {
        Request::new(PAIRS, &[number], bytes)
    }

    pub fn questions(p: usize, bytes: &[u8]) -> Request<'static> {
        Request::new(QUESTIONS, &[p as u64], bytes)
    }

    pub fn begin(number: u64, bytes: &[u8]) -> Request<'static> {
        Request::new(BEGIN, &[number], bytes)
    }

    pub fn turn(number: u64, bytes: &[u8]) -> Request<'static> {
        Request::new(TURN, &[number], bytes)
    }

    pub fn kind(&self) -> u8 {
        self.kind
    }

    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

impl<'a> Asked<'a> {
    /// Reads a message. Returns the task's number and the request.
    pub fn of_message(message: &'a [u8]) -> Result<(u64, Self), Refusal> {
        let (kind, task, body) = envelope::open(message)?;
        let read = || {
            let mut reader = Reader(body);
            let first = reader.small()?;
            let asked = match kind {
                GRAPH => Asked::Graph { number: first, is_change: reader.small()? == 1, bytes: reader.0 },
                COLUMNS => Asked::Columns { number: first, is_exact: reader.small()? == 1, bytes: reader.0 },
                SHARDS => Asked::Shards { number: first, bytes: reader.0 },
                PAIRS => Asked::Pairs { number: first, bytes: reader.0 },
                FOLDER => Asked::Folder(reader.0),
                QUESTIONS => Asked::Questions { p: usize::try_from(first).ok()?, bytes: reader.0 },
                BEGIN => Asked::Begin { number: first, bytes: reader.0 },
                TURN => Asked::Turn { number: first, bytes: reader.0 },
                _ => return None,
            };
            Some((task, asked))
        };
        read().ok_or(Refusal::Damaged)
    }
}

/// The handshake: what a rank reports about itself first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Tests per shard, as [`Worker::shard_tests`](crate::search::worker::Worker::shard_tests).
    pub shard_tests: u64,
    /// Threads, as [`Worker::hands`](crate::search::worker::Worker::hands).
    pub hands: usize,
    /// Exactness, as [`Worker::is_exact`](crate::search::worker::Worker::is_exact).
    pub is_exact: bool,
    /// Need for both sides of a pair, as [`Worker::asks_both_sides`](crate::search::worker::Worker::asks_both_sides).
    pub asks_both_sides: bool,
    /// Whether the rank's worker is [`Pairwise`](crate::search::pairs::Pairwise).
    pub decides_pairs: bool,
    /// Whether a GPU does the rank's work. The driver's threads may then be far slower.
    pub on_gpu: bool,
}

impl Hello {
    /// Writes the handshake as a message.
    pub fn to_message(&self) -> Vec<u8> {
        let mut body = Writer::default();
        let flags = [self.is_exact, self.asks_both_sides, self.decides_pairs, self.on_gpu].map(u64::from);
        [self.shard_tests, self.hands as u64].iter().chain(&flags).for_each(|&number| body.small(number));
        envelope::seal(HELLO, 0, &body.0)
    }

    /// Reads the handshake from a message.
    pub(super) fn of_message(message: &[u8]) -> Result<Self, Refusal> {
        let (kind, _, body) = envelope::open(message)?;
        let read = || {
            let mut body = Reader(body);
            let (shard_tests, hands) = (body.small()?.max(1), body.small_index()?.max(1));
            let mut flag = || Some(body.small()? == 1);
            let (is_exact, asks_both_sides, decides_pairs, on_gpu) = (flag()?, flag()?, flag()?, flag()?);
            body.end(Hello { shard_tests, hands, is_exact, asks_both_sides, decides_pairs, on_gpu })
        };
        (kind == HELLO).then(read).flatten().ok_or(Refusal::Damaged)
    }
}

/// A rank's reply.
#[derive(Debug, PartialEq)]
pub(super) enum Reply<'a> {
    /// The answer, and the seconds that it took.
    Done { seconds: f64, body: &'a [u8] },
    /// An answer of `length` bytes in a file, and the seconds that it took.
    Aside { seconds: f64, length: u64 },
    /// The error that prevented an answer.
    Failed(Error),
}

/// Returns the message for an answer in a file. The file is named by the task's number.
pub(super) fn aside(task: u64, seconds: f64, length: u64) -> Vec<u8> {
    let mut all = Writer::default();
    all.float(seconds);
    all.number(length);
    envelope::seal(ASIDE, task, &all.0)
}

/// Returns the message for an answer.
pub(super) fn done(task: u64, seconds: f64, body: &[u8]) -> Vec<u8> {
    let mut all = Writer(Vec::with_capacity(body.len() + 8));
    all.float(seconds);
    all.0.extend_from_slice(body);
    envelope::seal(DONE, task, &all.0)
}

/// Returns the message for a failure. Most errors are sent as text only, because the driver continues without the rank.
pub(super) fn failed(task: u64, error: &Error) -> Vec<u8> {
    let mut body = Writer::default();
    let question = |body: &mut Writer, kind: u64, x: usize, y: usize, s: &[u32]| {
        [kind, x as u64, y as u64, s.len() as u64].iter().for_each(|&number| body.small(number));
        s.iter().for_each(|&member| body.small(u64::from(member)));
    };
    match error {
        Error::Numeric { x, y, s, reason } => {
            question(&mut body, 1, *x, *y, s);
            body.text(reason);
        }
        Error::Test { x, y, s } => question(&mut body, 2, *x, *y, s),
        // An error in data that the rank has read itself.
        Error::Argument { argument: DATA, value, hint } => {
            body.small(3);
            body.text(value);
            body.text(hint);
        }
        other => {
            body.small(0);
            body.text(&other.to_string());
        }
    }
    envelope::seal(FAILED, task, &body.0)
}

impl<'a> Reply<'a> {
    /// Returns the seconds that the answer took, or 0 for a failure.
    pub fn seconds(&self) -> f64 {
        match self {
            Reply::Done { seconds, .. } | Reply::Aside { seconds, .. } => *seconds,
            Reply::Failed(_) => 0.0,
        }
    }

    /// Reads a message. Returns the task's number and the reply.
    pub fn of_message(message: &'a [u8]) -> Result<(u64, Self), Refusal> {
        let (kind, task, body) = envelope::open(message)?;
        let mut body = Reader(body);
        let mut read = || {
            Some(match kind {
                DONE => Reply::Done { seconds: body.float()?, body: body.0 },
                ASIDE => Reply::Aside { seconds: body.float()?, length: body.number()? },
                FAILED => Reply::Failed(error_of(&mut body)?),
                _ => return None,
            })
        };
        read().map(|reply| (task, reply)).ok_or(Refusal::Damaged)
    }
}

fn error_of(body: &mut Reader) -> Option<Error> {
    let kind = body.small()?;
    if kind == 0 {
        let (kind, hint) = (DeviceKind::Failed, String::new());
        return Some(Error::Device(DeviceError { kind, message: body.text()?.into(), hint }));
    }
    if kind == 3 {
        let (value, hint) = (body.text()?.into(), body.text()?.into());
        return Some(Error::Argument { argument: DATA, value, hint });
    }
    let (x, y, size) = (body.small_index()?, body.small_index()?, body.small_index()?);
    let mut s = Vec::new();
    for _ in 0..body.fits(size, 1)? {
        s.push(u32::try_from(body.small()?).ok()?);
    }
    match kind {
        1 => Some(Error::Numeric { x, y, s, reason: ci::reason_of(body.text()?) }),
        2 => Some(Error::Test { x, y, s }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_comes_back() {
        let mut hello = Hello {
            shard_tests: 65_536,
            hands: 16,
            is_exact: true,
            asks_both_sides: false,
            decides_pairs: true,
            on_gpu: false,
        };
        for _ in 0..2 {
            assert_eq!(Hello::of_message(&hello.to_message()).as_ref(), Ok(&hello));
            hello.decides_pairs = false;
        }
        assert_eq!(Reply::of_message(&done(7, 0.25, b"found")), Ok((7, Reply::Done { seconds: 0.25, body: b"found" })));
        let aside = aside(8, 0.5, 1 << 40);
        assert_eq!(Reply::of_message(&aside), Ok((8, Reply::Aside { seconds: 0.5, length: 1 << 40 })));
        for error in [
            Error::Numeric { x: 3, y: 400, s: vec![1, 70_000], reason: ci::gauss::MISSING.0 },
            Error::Test { x: 0, y: 1, s: vec![] },
            Error::Argument { argument: DATA, value: "has NA in row 3, column 70000".into(), hint: "drop it".into() },
        ] {
            assert_eq!(Reply::of_message(&failed(9, &error)), Ok((9, Reply::Failed(error))));
        }
        let Ok((9, Reply::Failed(Error::Device(error)))) = Reply::of_message(&failed(9, &Error::Interrupted)) else {
            panic!("no failure");
        };
        assert_eq!(error.message, "interrupted");
        let request = Request::shards(300, b"shards");
        let message = envelope::seal(request.kind(), 5, request.body());
        assert!(matches!(Asked::of_message(&message), Ok((5, Asked::Shards { number: 300, bytes: b"shards" }))));
        assert!(Reply::of_message(&message).is_err() && Hello::of_message(&message).is_err());
    }
}
