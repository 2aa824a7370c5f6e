//! Ranks of a cluster on threads of this process, and the ways in which they may fail.

use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use pcgpu_core::engine::cluster::rank::{hello, Rank};
use pcgpu_core::engine::cluster::selection::rank::{Make, SelectionRank};
use pcgpu_core::engine::cluster::{Cluster, Link, News};
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::Result;

/// How a rank behaves. A number counts the correct answers before the failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Manner {
    Sound,
    /// Waits before each answer.
    Slow(Duration),
    /// Dies, and is reported lost.
    Dies(usize),
    /// Stops answering.
    Hangs(usize),
    /// Sends answers with one bit changed.
    Damages(usize),
    /// Repeats its previous answer.
    Repeats(usize),
}

struct Threads {
    to: Vec<Sender<Vec<u8>>>,
    from: Receiver<News>,
}

impl Link for Threads {
    fn send(&mut self, rank: usize, message: &[u8]) -> Result<()> {
        // A rank that is gone has been reported lost.
        let _ = self.to[rank].send(message.to_vec());
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> Result<Vec<News>> {
        let mut all: Vec<News> = self.from.try_iter().collect();
        if all.is_empty() {
            match self.from.recv_timeout(wait) {
                Ok(news) => all.push(news),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Ok(all)
    }
}

/// Takes a rank's handshake, and the function that answers its messages.
type Serve<'a> = &'a mut dyn FnMut(Vec<u8>, Answer);

/// A rank's answer to a message, if it has one.
type Answer<'a> = &'a mut dyn FnMut(&[u8]) -> Option<Vec<u8>>;

fn serve(number: usize, manner: Manner, answer: Answer, from: &Receiver<Vec<u8>>, to: &Sender<News>) {
    let mut last: Option<Vec<u8>> = None;
    let mut answers = 0;
    for message in from {
        let Some(mut answer) = answer(&message) else { continue };
        match manner {
            Manner::Slow(time) => std::thread::sleep(time),
            Manner::Dies(after) if answers >= after => {
                let _ = to.send(News::Lost(number, "it died".into()));
                return;
            }
            Manner::Hangs(after) if answers >= after => continue,
            Manner::Damages(after) if answers >= after => {
                let at = answer.len() / 2;
                answer[at] ^= 4;
            }
            Manner::Repeats(after) if answers >= after => {
                if let Some(last) = &last {
                    answer.clone_from(last);
                }
            }
            _ => {}
        }
        answers += 1;
        last = Some(answer.clone());
        if to.send(News::Message(number, answer)).is_err() {
            return;
        }
    }
}

/// Runs `run` on a cluster of ranks that behave as `manners` says. `make` makes a rank's worker and passes it on.
pub fn with_ranks<T>(
    manners: &[Manner],
    make: impl Fn(&mut dyn FnMut(&mut dyn Worker)) + Sync,
    run: impl FnOnce(&mut Cluster) -> T,
) -> T {
    let begin = |serve: Serve| {
        make(&mut |worker| {
            let mut rank = Rank::default();
            serve(hello(worker), &mut |message| rank.answer(worker, message, &mut Unobserved).unwrap());
        });
    };
    with(manners, &begin, run)
}

/// Runs `run` on a cluster of ranks that select features, each on a machine that `make` makes.
pub fn with_selecting_ranks<T>(manners: &[Manner], make: &Make, run: impl FnOnce(&mut Cluster) -> T) -> T {
    let begin = |serve: Serve| {
        let mut rank = SelectionRank::new(make.clone(), Pool::new(1), 1);
        serve(rank.hello(), &mut |message| rank.answer(message, &mut Unobserved).unwrap());
    };
    with(manners, &begin, run)
}

/// Runs `run` on a cluster of ranks. `begin` passes on a rank's handshake, and the function that answers its messages.
fn with<T>(manners: &[Manner], begin: &(dyn Fn(Serve) + Sync), run: impl FnOnce(&mut Cluster) -> T) -> T {
    std::thread::scope(|scope| {
        let (news, from) = channel();
        let (greet, greetings) = channel();
        let mut to = Vec::new();
        for (number, &manner) in manners.iter().enumerate() {
            let (sender, receiver) = channel::<Vec<u8>>();
            to.push(sender);
            let (news, greet) = (news.clone(), greet.clone());
            scope.spawn(move || {
                begin(&mut |hello, answer| {
                    greet.send((number, hello)).unwrap();
                    serve(number, manner, answer, &receiver, &news);
                });
            });
        }
        drop(greet);
        let mut hellos: Vec<(usize, Vec<u8>)> = greetings.iter().take(manners.len()).collect();
        hellos.sort_unstable();
        let ranks = hellos.into_iter().map(|(number, hello)| (format!("rank {number}"), hello)).collect();
        let mut cluster = Cluster::new(Box::new(Threads { to, from }), ranks, Pool::new(1)).unwrap();
        run(&mut cluster)
    })
}
