//! Workers of other R processes: how bytes travel between them is R's (R/cluster.R); here they become messages of the core. rank.rs is the other end.

use std::time::Duration;

use extendr_api::prelude::*;
use pcgpu_core::ci::gauss::Reading;
use pcgpu_core::engine::cluster::{Cluster, Link, News};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::{Error, Result};

use crate::failure::{Failure, Outcome};
use crate::input::{self, Fields};
use crate::session;
use crate::token::Token;

/// Ranks that R has opened, and how to reach them.
#[derive(Clone)]
pub struct Ranks {
    names: Vec<String>,
    hellos: Vec<Vec<u8>>,
    /// How they read tests, see [`Reading`].
    fast: bool,
    send: Robj,
    receive: Robj,
}

impl Ranks {
    /// From `list(names, hellos, fast, send, receive)`: `send(rank, raw)` and `receive(seconds)`, which returns `list(ranks, messages)`, where a
    /// message is raw, or text where the rank is gone.
    pub fn from_list(ranks: &List) -> Outcome<Self> {
        let wrong = |what: &str| Failure::Input(format!("internal: `{what}` of the cluster"));
        let function = |name| ranks.function(name)?.ok_or_else(|| wrong(name));
        let names = ranks.field("names")?.as_string_vector().ok_or_else(|| wrong("names"))?;
        let hellos = ranks.list("hellos")?;
        let hello = |hello: &Robj| hello.as_raw_slice().map(<[u8]>::to_vec).ok_or_else(|| wrong("hellos"));
        let hellos = input::entries(&hellos).iter().map(hello).collect::<Outcome<Vec<Vec<u8>>>>()?;
        if names.len() != hellos.len() {
            return Err(wrong("names"));
        }
        let fast = ranks.flag("fast")?;
        Ok(Ranks { names, hellos, fast, send: function("send")?, receive: function("receive")? })
    }

    /// Whether they read tests so.
    pub fn read_as(&self, reading: Reading) -> bool {
        self.fast == matches!(reading, Reading::StableFast)
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// All of them together; the pool is for what this process does itself.
    pub fn cluster<'a>(&self, token: &'a Token, pool: Pool) -> Outcome<Cluster<'a>> {
        let ranks = self.names.iter().cloned().zip(self.hellos.iter().cloned()).collect();
        let link = RLink { token, send: self.send.clone(), receive: self.receive.clone() };
        Ok(Cluster::new(Box::new(link), ranks, pool)?)
    }

    /// As one worker; the pool is for what this process does itself, by `own` where that is sooner done than sent.
    pub fn worker<'a>(
        &self,
        token: &'a Token,
        pool: Pool,
        own: Option<Box<dyn Worker + 'a>>,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        let cluster = self.cluster(token, pool)?;
        Ok(match own {
            Some(own) => Box::new(cluster.with_own(own)),
            None => Box::new(cluster),
        })
    }
}

/// R's connections.
struct RLink<'a> {
    token: &'a Token,
    send: Robj,
    receive: Robj,
}

impl Link for RLink<'_> {
    fn send(&mut self, rank: usize, message: &[u8]) -> Result<()> {
        session::send(self.token, &self.send, rank, message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Vec<News>> {
        let found = session::ask(self.token, &self.receive, wait.as_secs_f64())?;
        let strange = || Error::Cluster {
            message: "internal: what came from the workers cannot be read".into(),
            hint: "please report it".into(),
        };
        let found = found.as_list().ok_or_else(strange)?;
        let [ranks, messages] = input::entries(&found) else { return Err(strange()) };
        let (ranks, messages) =
            (ranks.as_integer_slice().ok_or_else(strange)?, messages.as_list().ok_or_else(strange)?);
        let news = |(&rank, message): (&i32, &Robj)| {
            let rank = usize::try_from(rank - 1).map_err(|_| strange())?;
            match (message.as_raw_slice(), message.as_str()) {
                (Some(bytes), _) => Ok(News::Message(rank, bytes.to_vec())),
                (None, Some(why)) => Ok(News::Lost(rank, why.into())),
                (None, None) => Err(strange()),
            }
        };
        ranks.iter().zip(input::entries(&messages)).map(news).collect()
    }
}
