//! What a driver and its ranks say to each other.

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
const SHELF: u8 = 8;
const HELLO: u8 = 16;
const DONE: u8 = 17;
const FAILED: u8 = 18;
const ASIDE: u8 = 19;

/// The argument that has the data of a selection.
const DATA: &str = "x";

/// What a driver asks of a rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request<'a> {
    kind: u8,
    body: Cow<'a, [u8]>,
}

/// Likewise, read.
pub(super) enum Asked<'a> {
    /// A graph with its number; whether as what changed since the one before. It has no reply.
    Graph { number: u64, is_change: bool, bytes: &'a [u8] },
    /// Columns of level 0 of this graph.
    Columns { number: u64, is_exact: bool, bytes: &'a [u8] },
    /// Shards on this graph.
    Shards { number: u64, bytes: &'a [u8] },
    /// Pairs of level 1 on this graph.
    Pairs { number: u64, bytes: &'a [u8] },
    /// Where large answers go if it sees that. It has no reply.
    Shelf(&'a [u8]),
    /// Questions on p variables.
    Questions { p: usize, bytes: &'a [u8] },
    /// A feature selection with its number begins. It has no reply.
    Begin { number: u64, bytes: &'a [u8] },
    /// The next choice of this one.
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

    pub fn shelf(bytes: &[u8]) -> Request<'static> {
        Request::new(SHELF, &[0], bytes)
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
    /// The task, and what it is.
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
                SHELF => Asked::Shelf(reader.0),
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

/// What a rank says of itself first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// As [`Worker::shard_tests`](crate::search::worker::Worker::shard_tests).
    pub shard_tests: u64,
    /// As [`Worker::hands`](crate::search::worker::Worker::hands).
    pub hands: usize,
    /// As [`Worker::is_exact`](crate::search::worker::Worker::is_exact).
    pub is_exact: bool,
    /// As [`Worker::asks_both_sides`](crate::search::worker::Worker::asks_both_sides).
    pub asks_both_sides: bool,
    /// Whether it is [`Pairwise`](crate::search::pairs::Pairwise).
    pub decides_pairs: bool,
}

impl Hello {
    /// As a message.
    pub fn to_message(&self) -> Vec<u8> {
        let mut body = Writer::default();
        let flags = [self.is_exact, self.asks_both_sides, self.decides_pairs].map(u64::from);
        [self.shard_tests, self.hands as u64].iter().chain(&flags).for_each(|&number| body.small(number));
        envelope::seal(HELLO, 0, &body.0)
    }

    /// From a message.
    pub(super) fn of_message(message: &[u8]) -> Result<Self, Refusal> {
        let (kind, _, body) = envelope::open(message)?;
        let read = || {
            let mut body = Reader(body);
            let (shard_tests, hands) = (body.small()?.max(1), body.small_index()?.max(1));
            let mut flag = || Some(body.small()? == 1);
            let (is_exact, asks_both_sides, decides_pairs) = (flag()?, flag()?, flag()?);
            body.end(Hello { shard_tests, hands, is_exact, asks_both_sides, decides_pairs })
        };
        (kind == HELLO).then(read).flatten().ok_or(Refusal::Damaged)
    }
}

/// What a rank answers.
#[derive(Debug, PartialEq)]
pub(super) enum Reply<'a> {
    /// What was asked, and the seconds that it took.
    Done { seconds: f64, body: &'a [u8] },
    /// Likewise, which lies aside, of so many bytes.
    Aside { seconds: f64, length: u64 },
    /// Why there is no answer.
    Failed(Error),
}

/// An answer that lies aside, under the number of the task, as a message.
pub(super) fn aside(task: u64, seconds: f64, length: u64) -> Vec<u8> {
    let mut all = Writer::default();
    all.float(seconds);
    all.number(length);
    envelope::seal(ASIDE, task, &all.0)
}

/// An answer as a message.
pub(super) fn done(task: u64, seconds: f64, body: &[u8]) -> Vec<u8> {
    let mut all = Writer(Vec::with_capacity(body.len() + 8));
    all.float(seconds);
    all.0.extend_from_slice(body);
    envelope::seal(DONE, task, &all.0)
}

/// A failure as a message. Of most errors the text is told alone: the driver goes on without the rank.
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
        // Of the data that a rank has read by itself.
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
    /// The seconds that it took, as far as it says so.
    pub fn seconds(&self) -> f64 {
        match self {
            Reply::Done { seconds, .. } | Reply::Aside { seconds, .. } => *seconds,
            Reply::Failed(_) => 0.0,
        }
    }

    /// The task, and the reply.
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
        let mut hello =
            Hello { shard_tests: 65_536, hands: 16, is_exact: true, asks_both_sides: false, decides_pairs: true };
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
