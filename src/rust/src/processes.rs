//! Worker processes that belong to this session alone. Each holds the other end of a pair of connected sockets. Nothing listens, so nobody
//! else can connect, and no secret is needed. A message is its length in eight bytes, then that many bytes.
//!
//! The session never blocks on a worker. Messages wait here until the worker reads them, and an incomplete message is kept until the rest
//! arrives.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of bytes of a message's length.
const HEADER: usize = 8;

/// Number of bytes read from a worker before the others have their turn.
const TURN: usize = 16 << 20;

/// News from a worker.
pub enum Arrived {
    /// A complete message.
    Message(Vec<u8>),
    /// The worker is lost, for this reason.
    Gone(String),
}

/// One worker, as the session sees it.
#[derive(Default)]
struct Worker {
    /// The session's end, or `None` once the connection is closed.
    ours: Option<UnixStream>,
    /// The other end, until the worker has it.
    theirs: Option<UnixStream>,
    /// The process if it was started here, or `None` for a fork.
    process: Option<Child>,
    inbox: Vec<u8>,
    outbox: VecDeque<u8>,
    /// The reason why the connection is closed, until it is reported.
    gone: Option<String>,
}

impl Worker {
    fn close(&mut self, why: String) {
        self.ours = None;
        (self.inbox, self.outbox) = Default::default();
        // A process that has ended has a status, but not always at once.
        let status = self.process.as_mut().and_then(|process| waited(process, Duration::from_secs(1)));
        self.gone = Some(status.map_or(why, |status| format!("its process has ended ({status})")));
    }

    /// Writes what the worker takes without blocking.
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

    /// Reads what has arrived, without blocking.
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

    /// Returns the next complete message.
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

/// Returns the status of a process that ends within `patience`.
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
    /// Adds a worker without a process. Returns the descriptor of its end. [`Self::spawn`] or a fork passes it on, see
    /// [`Self::become_last`].
    ///
    /// # Errors
    /// The system's error, if there are too many descriptors.
    pub fn add(&mut self) -> Result<RawFd> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let descriptor = theirs.as_raw_fd();
        self.0.push(Worker { ours: Some(ours), theirs: Some(theirs), ..Worker::default() });
        Ok(descriptor)
    }

    /// Starts the process of the worker added last, and returns the process number. The process has its own process group, so that Ctrl-C
    /// in a terminal reaches only the session. Its standard input and output lead nowhere.
    ///
    /// # Errors
    /// The system's error, or an error if no worker was added.
    pub fn spawn(&mut self, program: &str, arguments: &[String]) -> Result<u32> {
        let none = || Error::new(ErrorKind::NotFound, "no worker was added");
        let worker = self.0.last_mut().ok_or_else(none)?;
        let descriptor = worker.theirs.as_ref().ok_or_else(none)?.as_raw_fd();
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: it makes one system call between fork and exec, on a descriptor that is open.
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

    /// Notes in the session that the worker added last was forked, and has its end.
    pub fn forked(&mut self) {
        if let Some(worker) = self.0.last_mut() {
            worker.theirs = None;
        }
    }

    /// Turns a fork into the worker added last. It drops all other ends, so that each process sees when its partner ends.
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

    /// Returns news from these workers. Waits at most `wait`, and less if a signal arrives.
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
        // SAFETY: the list is passed with its length. Closed connections are -1, which the system skips.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
        let mut found = Vec::new();
        for (&number, of_poll) in known.iter().zip(&polled) {
            let worker = &mut self.0[number];
            if of_poll.revents != 0 {
                let outcome = worker.fill();
                // Messages that came before the end count.
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

    /// Closes the connection to a worker without a report.
    pub fn cut(&mut self, number: usize) {
        if let Some(worker) = self.0.get_mut(number) {
            worker.ours = None;
            (worker.inbox, worker.outbox) = Default::default();
        }
    }

    /// Closes all connections, upon which workers end. Kills those at work, and those that do not end in time.
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
    /// Takes the descriptor with which this process was started.
    ///
    /// # Errors
    /// The system's error, if the descriptor is not open.
    pub fn of_descriptor(descriptor: RawFd) -> Result<Self> {
        // SAFETY: the system call fails if the descriptor is not open. Processes started by this one do not inherit it.
        if unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
            return Err(Error::last_os_error());
        }
        // SAFETY: it was opened for this process, and nothing else here knows of it.
        Ok(Line(unsafe { UnixStream::from_raw_fd(descriptor) }))
    }

    /// Waits for a message. Returns `None` once the session is gone.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; HEADER];
        self.0.read_exact(&mut header).ok()?;
        let length = u64::from_le_bytes(header);
        let mut message = Vec::new();
        (&mut self.0).take(length).read_to_end(&mut message).ok()?;
        (message.len() as u64 == length).then_some(message)
    }

    /// Sends a message. Returns whether the session took it.
    pub fn say(&mut self, message: &[u8]) -> bool {
        let length = (message.len() as u64).to_le_bytes();
        self.0.write_all(&length).and_then(|()| self.0.write_all(message)).is_ok()
    }
}

/// A lock on a file, held while this process, or one forked from it, exists.
pub struct Lock(#[allow(dead_code)] std::fs::File);

impl Lock {
    /// Takes the lock. Returns `None` if another process has it, or the file cannot be locked.
    pub fn take(path: &str) -> Option<Self> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
        // SAFETY: it is a system call on an open file.
        (unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0).then_some(Lock(file))
    }
}
