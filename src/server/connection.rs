//! One client: a task that reads its lines and a task that writes its replies and events.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, Shutdown, send, shutdown};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Hub;
use super::counters::Counters;
use super::dialect::{self, Dialect};
use super::dispatch;
use super::framing::{Framing, TooLong};
use super::in_flight::InFlight;
use super::outbox::{Next, Outbox};
use crate::error::{Code, Error, Result};
use crate::tools::{Cancel, Client, Kind, Subscription};
use crate::wire::{Ids, MAX_LINE};

/// What outlives the socket: a call that runs on after its client vanished still holds it.
pub struct Connection {
    /// Its number, for the log and for subscriptions.
    pub number: u64,
    /// The daemon.
    pub hub: Arc<Hub>,
    /// What is yet to be sent.
    pub outbox: Arc<Outbox>,
    calls: Mutex<BTreeMap<u64, Arc<InFlight>>>,
    next_seq: AtomicU64,
    one_finished: Notify,
    one_line: Notify,
    stream: Weak<UnixStream>,
}

impl Connection {
    /// Serves an accepted client until it or the daemon ends.
    pub fn start(hub: &Arc<Hub>, stream: UnixStream) -> Arc<Connection> {
        let stream = Arc::new(stream);
        let connection = Arc::new(Connection {
            number: hub.next_connection(),
            hub: hub.clone(),
            outbox: Arc::new(Outbox::default()),
            calls: Mutex::default(),
            next_seq: AtomicU64::new(0),
            one_finished: Notify::new(),
            one_line: Notify::new(),
            stream: Arc::downgrade(&stream),
        });
        hub.add(&connection);
        let reader = tokio::spawn(connection.clone().read(stream.clone()));
        let writer = connection.clone();
        tokio::spawn(async move {
            writer.write(&stream).await;
            reader.abort();
            // Closes for the client even while the reader's task still holds the descriptor.
            let _ = shutdown(stream.as_raw_fd(), Shutdown::Both);
            writer.vanish();
            writer.hub.remove(writer.number);
        });
        connection
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<InFlight>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the request that was just read.
    pub fn next_seq(&self) -> u64 {
        self.next_seq.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for its first line, at most until `until`.
    pub async fn first_request(&self, until: Instant) {
        // Lost only to the deadline: whoever was told before stays told.
        let _ = tokio::time::timeout_at(until, self.one_line.notified()).await;
    }

    /// Whether no more lines will come.
    pub fn has_ended(&self) -> bool {
        self.outbox.has_ended()
    }

    /// Notes a request until it is answered.
    pub fn register(&self, request: &Arc<InFlight>) {
        self.calls().insert(request.seq, request.clone());
    }

    /// A request has been answered.
    pub fn finished(&self, seq: u64) {
        self.calls().remove(&seq);
        self.one_finished.notify_waiters();
    }

    /// Its unanswered requests, oldest first.
    pub fn unanswered(&self) -> Vec<Arc<InFlight>> {
        self.calls().values().cloned().collect()
    }

    /// Waits until no unanswered request before `seq` matches. Says if it had to wait.
    pub async fn after(&self, seq: u64, matches: impl Fn(&InFlight) -> bool) -> bool {
        let mut waited = false;
        loop {
            let mut finished = std::pin::pin!(self.one_finished.notified());
            finished.as_mut().enable();
            if !self.calls().range(..seq).any(|(_, call)| matches(call)) {
                return waited;
            }
            waited = true;
            finished.await;
        }
    }

    /// Reads lines until the client ends them, waiting whenever it has too much unanswered.
    async fn read(self: Arc<Connection>, stream: Arc<UnixStream>) {
        let mut framing = Framing::default();
        let mut dialect = Dialect::default();
        loop {
            while let Some(line) = framing.line() {
                if !self.take(line, &mut dialect).await {
                    return;
                }
            }
            if stream.readable().await.is_err() {
                return self.vanish();
            }
            match framing.fill(&stream) {
                Ok(0) if self.hub.is_draining() || !has_vanished(&stream) => break,
                Ok(0) => return self.vanish(),
                Ok(_) => self.hub.activity.touch(),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return self.vanish(),
            }
        }
        if let Some(line) = framing.rest() {
            let line = line.as_deref().map_err(|_| TooLong);
            self.take(line, &mut dialect).await;
        }
        self.outbox.end();
        self.one_line.notify_one();
    }

    /// Answers or dispatches one line. `false` if the client is gone.
    async fn take(self: &Arc<Self>, line: Result<&[u8], TooLong>, dialect: &mut Dialect) -> bool {
        let arrived = Instant::now();
        if !self.outbox.admit().await {
            return false;
        }
        Counters::add(&self.hub.counters.requests);
        self.one_line.notify_one();
        match line {
            Ok(line) => dispatch::line(self, line, arrived, dialect).await,
            Err(TooLong) => {
                let error = Code::TooLarge
                    .because(format!("the line is longer than {MAX_LINE} bytes"))
                    .hint("the rest of the line was skipped; the connection goes on")
                    .fact("limit", MAX_LINE);
                self.refuse(&Ids::default(), &error, *dialect);
            }
        }
        true
    }

    /// Answers a line that is no request.
    pub fn refuse(&self, ids: &Ids, error: &Error, dialect: Dialect) {
        self.hub.counters.error(error.code());
        self.outbox.reply(dialect::bad_line(dialect, ids, error));
    }

    /// Writes what the outbox holds until everything is said, or the client is gone.
    async fn write(&self, stream: &UnixStream) {
        loop {
            let stay = !self.hub.is_draining() && self.hub.subscribers.has(self.number);
            match self.outbox.next(stay) {
                Next::Send(batch) => {
                    if send_all(stream, &batch.bytes).await.is_err() {
                        return;
                    }
                    self.outbox.sent(&batch);
                }
                Next::Wait(false) => self.outbox.work().await,
                Next::Wait(true) => {
                    tokio::select! {
                        () = self.outbox.work() => {}
                        () = vanished(stream) => return,
                    }
                }
                Next::Finished | Next::Gone => return,
            }
        }
    }

    /// The client is gone: what it queued is not begun, what runs goes on to its end.
    fn vanish(&self) {
        self.outbox.close();
        self.hub.subscribers.remove(self.number);
        for call in self.unanswered() {
            if call.is_queued() || call.kind == Kind::Daemon {
                call.cancel("its client is gone");
            }
        }
    }

    /// Ends the client's side of the conversation: bytes it has sent are still read, later ones are
    /// refused by the kernel, so that nothing is taken and then left unanswered.
    pub fn stop_reading(&self) {
        if let Some(stream) = self.stream.upgrade() {
            // Fails only if the client is gone already.
            let _ = shutdown(stream.as_raw_fd(), Shutdown::Read);
        }
        self.outbox.look_again();
    }
}

impl Client for Connection {
    fn subscribe(&self, subscription: Subscription) -> Result<()> {
        let present = self.hub.browser.present(&subscription.events);
        let busy = self.hub.activity.busy();
        self.hub
            .subscribers
            .add(self.number, subscription, &self.outbox, busy, present);
        Ok(())
    }

    fn unsubscribe(&self) -> bool {
        let had = self.hub.subscribers.remove(self.number);
        self.outbox.look_again();
        had
    }

    fn cancel(&self, which: Cancel) -> usize {
        let ended = match which {
            Cancel::Id(raw) => {
                let same = same_json(raw.get());
                let mut calls = self.unanswered();
                // A call to `cancel` may carry the id that it cancels.
                calls.retain(|call| call.tool != "cancel");
                calls.retain(|call| {
                    [&call.ids.id, &call.ids.cmd_id]
                        .into_iter()
                        .flatten()
                        .any(|id| same(id))
                });
                calls
            }
            Cancel::Session(session) => self.hub.lanes.running(&session).into_iter().collect(),
        };
        ended
            .iter()
            .filter(|call| call.cancel("a cancel asked for it"))
            .count()
    }
}

/// Compares raw JSON texts, apart from their whitespace and the order of keys.
fn same_json(wanted: &str) -> impl Fn(&str) -> bool + use<> {
    let wanted = wanted.to_owned();
    let value: Option<serde_json::Value> = serde_json::from_str(&wanted).ok();
    move |raw| {
        let plain = raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        raw == wanted || !plain && value.is_some() && serde_json::from_str(raw).ok() == value
    }
}

/// Whether the client closed both directions; on a half-closed socket it only ended its own.
fn has_vanished(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream.as_fd(), PollFlags::empty())];
    match poll(&mut fds, PollTimeout::ZERO) {
        Ok(_) => fds[0]
            .revents()
            .is_some_and(|r| r.intersects(PollFlags::POLLHUP | PollFlags::POLLERR)),
        Err(_) => true,
    }
}

/// Waits until the client has closed both directions. Clears the readiness to write on its way, so
/// only the task that writes may wait here.
async fn vanished(stream: &UnixStream) {
    loop {
        match stream.ready(Interest::WRITABLE).await {
            Ok(ready) if ready.is_write_closed() => return,
            Ok(_) => {}
            Err(_) => return,
        }
        let _ = stream.try_io(Interest::WRITABLE, || {
            Err::<(), _>(io::ErrorKind::WouldBlock.into())
        });
    }
}

/// Writes all of it. Asks the kernel before the runtime's readiness, which [`vanished`] clears.
async fn send_all(stream: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    while !bytes.is_empty() {
        let try_send = || send(stream.as_raw_fd(), bytes, flags).map_err(io::Error::from);
        let sent = match try_send() {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                match stream.try_io(Interest::WRITABLE, try_send) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        stream.writable().await?;
                        continue;
                    }
                    other => other,
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            other => other,
        };
        bytes = &bytes[sent?..];
    }
    Ok(())
}
