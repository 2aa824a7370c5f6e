//! Worker processes of this session alone. Each holds the other end of a pair of connected sockets: nothing listens, so that nobody else can
//! connect, and no secret is needed. A message is its length, eight bytes, and that many bytes.
//!
//! The session never blocks on a worker: what a worker does not read yet waits here, and a message that has come in part is kept until it is whole.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of a message's length.
const HEADER: usize = 8;

/// Bytes that are read from a worker before others have their turn.
const TURN: usize = 16 << 20;

/// What comes from a worker.
pub enum Arrived {
    /// A whole message.
    Message(Vec<u8>),
    /// The worker is gone, and why.
    Gone(String),
}

/// One worker, as the session sees it.
#[derive(Default)]
struct Worker {
    /// None: the connection is closed.
    ours: Option<UnixStream>,
    /// The other end, until the worker has it.
    theirs: Option<UnixStream>,
    /// The process, where it was started here; none of a fork.
    process: Option<Child>,
    inbox: Vec<u8>,
    outbox: VecDeque<u8>,
    /// Why the connection is closed, until that is reported.
    gone: Option<String>,
}

impl Worker {
    fn close(&mut self, why: String) {
        self.ours = None;
        (self.inbox, self.outbox) = Default::default();
        // A process that has ended has a status, if not always at once.
        let status = self.process.as_mut().and_then(|process| waited(process, Duration::from_secs(1)));
        self.gone = Some(status.map_or(why, |status| format!("its process has ended ({status})")));
    }

    /// Writes what the worker takes without waiting.
    fn flush(&mut self) -> Result<()> {
        while let (Some(stream), false) = (self.ours.as_mut(), self.outbox.is_empty()) {
            match stream.write(self.outbox.as_slices().0) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has come, without waiting.
    fn fill(&mut self) -> Result<()> {
        let Some(stream) = self.ours.as_mut() else { return Ok(()) };
        let mut piece = vec![0; 64 << 10];
        let full = self.inbox.len() + TURN;
        while self.inbox.len() < full {
            match stream.read(&mut piece) {
                Ok(0) => return Err(Error::new(ErrorKind::UnexpectedEof, "its process has ended")),
                Ok(read) => self.inbox.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next whole message.
    fn next(&mut self) -> Option<Vec<u8>> {
        let length = u64::from_le_bytes(self.inbox.get(..HEADER)?.try_into().ok()?);
        let end = usize::try_from(length).ok()?.checked_add(HEADER)?;
        if self.inbox.len() < end {
            return None;
        }
        let rest = self.inbox.split_off(end);
        let mut message = std::mem::replace(&mut self.inbox, rest);
        message.drain(..HEADER);
        Some(message)
    }
}

/// The status of a process that ends within this time.
fn waited(process: &mut Child, patience: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + patience;
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    }
}

/// The workers of a call, by number from 0.
#[derive(Default)]
pub struct Workers(Vec<Worker>);

impl Workers {
    /// Adds a worker that has no process yet: the descriptor of its end. [`Self::spawn`] hands that over, or a fork, see [`Self::become_last`].
    ///
    /// # Errors
    /// The system's, where there are too many descriptors.
    pub fn add(&mut self) -> Result<RawFd> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let descriptor = theirs.as_raw_fd();
        self.0.push(Worker { ours: Some(ours), theirs: Some(theirs), ..Worker::default() });
        Ok(descriptor)
    }

    /// Starts the process of the worker added last: its number. It has a process group of its own, so that Ctrl-C in a terminal is for the session
    /// alone, and nothing to read or to print on.
    ///
    /// # Errors
    /// The system's.
    pub fn spawn(&mut self, program: &str, arguments: &[String]) -> Result<u32> {
        let none = || Error::new(ErrorKind::NotFound, "no worker was added");
        let worker = self.0.last_mut().ok_or_else(none)?;
        let descriptor = worker.theirs.as_ref().ok_or_else(none)?.as_raw_fd();
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: one call of the system between fork and exec, on a descriptor that is open.
        unsafe {
            command.pre_exec(move || match libc::fcntl(descriptor, libc::F_SETFD, 0) {
                -1 => Err(Error::last_os_error()),
                _ => Ok(()),
            });
        }
        let process = command.spawn()?;
        let number = process.id();
        (worker.process, worker.theirs) = (Some(process), None);
        Ok(number)
    }

    /// In the session: the worker added last was forked, and has its end.
    pub fn forked(&mut self) {
        if let Some(worker) = self.0.last_mut() {
            worker.theirs = None;
        }
    }

    /// In a fork: it is the worker added last, and holds no other end, so that whoever is at that sees where its partner ends.
    pub fn become_last(&mut self) -> Option<Line> {
        let mut all = std::mem::take(&mut self.0);
        all.pop().and_then(|mut worker| worker.theirs.take()).map(Line)
    }

    /// Sends a message, or keeps it until the worker reads.
    pub fn send(&mut self, number: usize, message: &[u8]) {
        let Some(worker) = self.0.get_mut(number).filter(|worker| worker.ours.is_some()) else { return };
        worker.outbox.extend((message.len() as u64).to_le_bytes());
        worker.outbox.extend(message);
        if let Err(error) = worker.flush() {
            worker.close(error.to_string());
        }
    }

    /// What has come from these; waits for that no longer than this, and less where a signal comes.
    pub fn receive(&mut self, of: &[usize], wait: Duration) -> Vec<(usize, Arrived)> {
        let known = of.iter().copied().filter(|&number| number < self.0.len()).collect::<Vec<usize>>();
        let is_told = known.iter().any(|&number| self.0[number].gone.is_some());
        let watched = |worker: &Worker| {
            let descriptor = worker.ours.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            let writes = if worker.outbox.is_empty() { 0 } else { libc::POLLOUT };
            libc::pollfd { fd: descriptor, events: libc::POLLIN | writes, revents: 0 }
        };
        let mut polled: Vec<libc::pollfd> = known.iter().map(|&number| watched(&self.0[number])).collect();
        let milliseconds = if is_told { 0 } else { wait.as_millis().clamp(0, i32::MAX as u128) as i32 };
        // SAFETY: the list and its length; closed ones are -1, which the system passes over.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
        let mut found = Vec::new();
        for (&number, of_poll) in known.iter().zip(&polled) {
            let worker = &mut self.0[number];
            if of_poll.revents != 0 {
                let outcome = worker.fill();
                // What came before the end counts.
                while let Some(message) = worker.next() {
                    found.push((number, Arrived::Message(message)));
                }
                if let Err(error) = outcome.and_then(|()| worker.flush()) {
                    worker.close(error.to_string());
                }
            }
            found.extend(worker.gone.take().map(|why| (number, Arrived::Gone(why))));
        }
        found
    }

    /// Closes the connection to a worker, which is not reported.
    pub fn cut(&mut self, number: usize) {
        if let Some(worker) = self.0.get_mut(number) {
            worker.ours = None;
            (worker.inbox, worker.outbox) = Default::default();
        }
    }

    /// Closes all connections, at which workers end; those at work, and those that do not end in time, are killed.
    pub fn end(&mut self, at_work: &[usize]) {
        for (number, worker) in self.0.iter_mut().enumerate() {
            (worker.ours, worker.theirs) = (None, None);
            if let Some(process) = worker.process.as_mut().filter(|_| at_work.contains(&number)) {
                let _ = process.kill();
            }
        }
        for mut process in self.0.drain(..).filter_map(|worker| worker.process) {
            if waited(&mut process, Duration::from_secs(2)).is_none() {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end(&[]);
    }
}

/// A worker's own end.
pub struct Line(UnixStream);

impl Line {
    /// Of a process that was started with this descriptor open.
    ///
    /// # Errors
    /// The system's, where it is no open descriptor.
    pub fn of_descriptor(descriptor: RawFd) -> Result<Self> {
        // SAFETY: a call of the system, which fails where it is not open. What this process starts does not get it.
        if unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
            return Err(Error::last_os_error());
        }
        // SAFETY: it was opened for this process, where nobody else knows of it.
        Ok(Line(unsafe { UnixStream::from_raw_fd(descriptor) }))
    }

    /// Waits for a message; `None` once the session is gone.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; HEADER];
        self.0.read_exact(&mut header).ok()?;
        let length = u64::from_le_bytes(header);
        let mut message = Vec::new();
        (&mut self.0).take(length).read_to_end(&mut message).ok()?;
        (message.len() as u64 == length).then_some(message)
    }

    /// Sends a message: whether the session took it.
    pub fn say(&mut self, message: &[u8]) -> bool {
        let length = (message.len() as u64).to_le_bytes();
        self.0.write_all(&length).and_then(|()| self.0.write_all(message)).is_ok()
    }
}

/// A lock on a file, for as long as this process, or one forked from it, is there.
pub struct Lock(#[allow(dead_code)] std::fs::File);

impl Lock {
    /// Takes the lock; `None` where another has it, or the file cannot be locked.
    pub fn take(path: &str) -> Option<Self> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
        // SAFETY: a call of the system on a file that is open.
        (unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0).then_some(Lock(file))
    }
}
