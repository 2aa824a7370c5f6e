//! Workers in other R processes. R carries the bytes between them (R/cluster.R); here they become messages of the core. rank.rs is the
//! other end.

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

/// Ranks that R has opened, and the functions that reach them.
#[derive(Clone)]
pub struct Ranks {
    names: Vec<String>,
    hellos: Vec<Vec<u8>>,
    /// Whether they use the reading of "stable.fast", see [`Reading`].
    fast: bool,
    send: Robj,
    receive: Robj,
}

impl Ranks {
    /// Reads `list(names, hellos, fast, send, receive)`, with the functions `send(rank, raw)` and `receive(seconds)`. `receive` returns
    /// `list(ranks, messages)`, in which a message is raw, or text if the rank is lost.
    pub fn from_list(ranks: &List) -> Outcome<Self> {
        let wrong = |what: &str| Failure::Input(format!("internal: `{what}` of the cluster has the wrong type"));
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

    /// Returns whether the ranks use this reading of tests.
    pub fn read_as(&self, reading: Reading) -> bool {
        self.fast == matches!(reading, Reading::StableFast)
    }

    /// Returns the ranks' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns all ranks as a cluster. The pool is for this process's own work.
    pub fn cluster<'a>(&self, token: &'a Token, pool: Pool) -> Outcome<Cluster<'a>> {
        let ranks = self.names.iter().cloned().zip(self.hellos.iter().cloned()).collect();
        let link = RLink { token, send: self.send.clone(), receive: self.receive.clone() };
        Ok(Cluster::new(Box::new(link), ranks, pool)?)
    }

    /// Returns all ranks as one worker. The pool is for this process's own work. `own` does work that takes less time than a message.
    pub fn worker<'a>(
        &self,
        token: &'a Token,
        pool: Pool,
        own: Option<Box<dyn Worker + 'a>>,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        let mut cluster = self.cluster(token, pool)?;
        own.into_iter().for_each(|own| cluster.set_own(own));
        Ok(Box::new(cluster))
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
            message: "internal: the replies of the workers cannot be read".into(),
            hint: "please report this error".into(),
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
