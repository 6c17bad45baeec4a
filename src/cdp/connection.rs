//! One browser's connection: ids, pending calls, and the two tasks that write and read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::json::slice;
use super::transport::{END, Receiver, Sender, Transport};
use super::{CdpError, Command, Event, SessionId};
use crate::surrogates::repair_surrogates;

/// A writer's buffer beyond this, in bytes, is freed after use instead of kept.
const KEPT: usize = 64 * 1024;

/// What a call waits for: its result's text, or why there is none.
type Outcome = Result<Bytes, CdpError>;

/// A connection to a browser; clones are handles to the same one.
///
/// It closes when the last handle is dropped, when [`close`](Connection::close) is called, or when
/// the browser goes; every pending call then fails with [`CdpError::Closed`]. The `on_event` of
/// [`open`](Connection::open) must not own a handle, or the connection never closes by itself.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    tasks: [AbortHandle; 2],
}

struct Shared {
    /// Written by every caller, the reader (completes, fails) and the writer (takes the queue).
    state: Mutex<State>,
    /// Told by every caller, heard by the writer.
    queued: Notify,
    /// True from the end on. Written by whoever closes first.
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    closed: bool,
    last_id: i32,
    pending: HashMap<i32, Waiting>,
    /// Messages for the browser, each followed by [`END`].
    queue: Vec<u8>,
}

struct Waiting {
    session: Option<SessionId>,
    done: oneshot::Sender<Outcome>,
}

impl Connection {
    /// Spawns the reader and the writer. `on_event` runs in the reader, in wire order, and before
    /// any reply that came after the event is handed to its caller.
    ///
    /// A crashed or detached CDP session's calls have already failed when `on_event` hears of it.
    /// Events that are not in use, and those that do not decode, are skipped.
    pub fn open(
        transport: Transport,
        on_event: impl FnMut(Option<&SessionId>, Event) + Send + 'static,
    ) -> Connection {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            queued: Notify::new(),
            closed: watch::Sender::new(false),
        });
        let writer = tokio::spawn(write(shared.clone(), transport.sender));
        let reader = Reader {
            shared: shared.clone(),
            session: None,
            parents: HashMap::new(),
            on_event,
        };
        let reader = tokio::spawn(reader.run(transport.receiver));
        let tasks = [writer.abort_handle(), reader.abort_handle()];
        Connection {
            inner: Arc::new(Inner { shared, tasks }),
        }
    }

    /// Queues a command for the browser, or for one of its targets by CDP session, and gives the
    /// reply to be. The command is on its way when this returns: to pipeline, send several, then
    /// await. Dropping the reply forgets the call; the browser still acts.
    pub fn send<C: Command>(&self, session: Option<&SessionId>, command: &C) -> Pending<C> {
        let shared = &self.inner.shared;
        let (done, reply) = oneshot::channel();
        let queued = shared.lock().queue(session, command, done);
        match queued {
            Ok(id) => {
                shared.queued.notify_one();
                Pending::new(shared.clone(), id, Ok(reply))
            }
            Err(why) => Pending::new(shared.clone(), 0, Err(why)),
        }
    }

    /// Sends a command and waits for its reply, at most until `deadline`.
    ///
    /// A deadline that has already passed sends nothing. A late reply is ignored. Dropping this
    /// future forgets the call; the browser still acts.
    pub async fn call<C: Command>(
        &self,
        session: Option<&SessionId>,
        command: &C,
        deadline: Instant,
    ) -> Result<C::Output, CdpError> {
        if deadline <= Instant::now() {
            return Err(CdpError::Deadline);
        }
        self.send(session, command).by(deadline).await
    }

    /// Fails every pending call of a CDP session. Later ones are sent as usual.
    pub fn fail_session(&self, session: &SessionId, why: CdpError) {
        self.inner.shared.fail_session(session, &why);
    }

    /// Closes at once: pending calls fail, nothing more is sent, events stop.
    pub fn close(&self) {
        self.inner.end();
    }

    /// True once the browser is gone or the connection was closed.
    pub fn is_closed(&self) -> bool {
        *self.inner.shared.closed.borrow()
    }

    /// Waits until the connection is closed. May be dropped at any time.
    pub async fn closed(&self) {
        let mut closed = self.inner.shared.closed.subscribe();
        // An error would mean that the sender is gone, and it is in `self`.
        let _ = closed.wait_for(|closed| *closed).await;
    }

    /// Calls without a reply so far.
    pub fn pending(&self) -> usize {
        self.inner.shared.lock().pending.len()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("closed", &self.is_closed())
            .field("pending", &self.pending())
            .finish()
    }
}

impl Inner {
    fn end(&self) {
        for task in &self.tasks {
            task.abort();
        }
        self.shared.close();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock but serialisation, which leaves only the
        // queue's tail to be cut off.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn complete(&self, id: i32, outcome: Outcome) {
        let waiting = self.lock().pending.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.done.send(outcome);
        }
    }

    fn fail_session(&self, session: &SessionId, why: &CdpError) {
        let of_session = |_: &i32, waiting: &mut Waiting| waiting.session.as_ref() == Some(session);
        let failed: Vec<_> = self.lock().pending.extract_if(of_session).collect();
        for (_, waiting) in failed {
            let _ = waiting.done.send(Err(why.clone()));
        }
    }

    fn close(&self) {
        let pending = {
            let mut state = self.lock();
            state.closed = true;
            state.queue = Vec::new();
            std::mem::take(&mut state.pending)
        };
        self.closed.send_replace(true);
        for (_, waiting) in pending {
            let _ = waiting.done.send(Err(CdpError::Closed));
        }
        self.queued.notify_one();
    }
}

impl State {
    fn queue<C: Command>(
        &mut self,
        session: Option<&SessionId>,
        command: &C,
        done: oneshot::Sender<Outcome>,
    ) -> Result<i32, CdpError> {
        if self.closed {
            return Err(CdpError::Closed);
        }
        let start = self.queue.len();
        let id = self.free_id();
        if let Err(why) = message(&mut self.queue, id, session, command) {
            self.queue.truncate(start);
            return Err(CdpError::Decode(format!("{} not sent: {why}", C::METHOD)));
        }
        let session = session.cloned();
        self.pending.insert(id, Waiting { session, done });
        Ok(id)
    }

    /// Ids are int32: beyond, Chromium's error carries no id and its caller would wait for ever.
    fn free_id(&mut self) -> i32 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if !self.pending.contains_key(&self.last_id) {
                return self.last_id;
            }
        }
    }
}

fn message<C: Command>(
    queue: &mut Vec<u8>,
    id: i32,
    session: Option<&SessionId>,
    command: &C,
) -> serde_json::Result<()> {
    queue.extend_from_slice(br#"{"id":"#);
    serde_json::to_writer(&mut *queue, &id)?;
    if let Some(session) = session {
        queue.extend_from_slice(br#","sessionId":"#);
        serde_json::to_writer(&mut *queue, session)?;
    }
    queue.extend_from_slice(br#","method":""#);
    queue.extend_from_slice(C::METHOD.as_bytes());
    queue.extend_from_slice(br#"","params":"#);
    serde_json::to_writer(&mut *queue, command)?;
    queue.extend_from_slice(&[b'}', END]);
    Ok(())
}

/// A reply to be. Dropping it forgets the call.
#[must_use = "dropping it forgets the call: await it, or say `.forget()`"]
pub struct Pending<C> {
    shared: Arc<Shared>,
    id: i32,
    reply: Result<oneshot::Receiver<Outcome>, CdpError>,
    command: PhantomData<fn() -> C>,
}

impl<C: Command> Pending<C> {
    fn new(
        shared: Arc<Shared>,
        id: i32,
        reply: Result<oneshot::Receiver<Outcome>, CdpError>,
    ) -> Pending<C> {
        Pending {
            shared,
            id,
            reply,
            command: PhantomData,
        }
    }

    /// Waits at most until `deadline`; a later reply is ignored. A reply that is already there
    /// counts even then.
    pub async fn by(self, deadline: Instant) -> Result<C::Output, CdpError> {
        tokio::time::timeout_at(deadline, self)
            .await
            .unwrap_or(Err(CdpError::Deadline))
    }

    /// Lets the browser act without anybody waiting for its reply.
    pub fn forget(self) {}
}

impl<C: Command> Future for Pending<C> {
    type Output = Result<C::Output, CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.reply {
            Ok(reply) => match Pin::new(reply).poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(outcome) => outcome.unwrap_or(Err(CdpError::Closed)),
            },
            Err(why) => Err(why.clone()),
        };
        self.id = 0;
        Poll::Ready(outcome.and_then(|result| {
            C::decode(&result).map_err(|why| CdpError::Decode(format!("{}: {why}", C::METHOD)))
        }))
    }
}

impl<C> Drop for Pending<C> {
    fn drop(&mut self) {
        if self.id != 0 {
            self.shared.lock().pending.remove(&self.id);
        }
    }
}

/// Sends what is queued, all of it in one go, until the connection ends.
async fn write(shared: Arc<Shared>, mut sender: Sender) {
    let mut batch = Vec::new();
    loop {
        {
            let mut state = shared.lock();
            if state.closed {
                return;
            }
            std::mem::swap(&mut state.queue, &mut batch);
        }
        if batch.is_empty() {
            shared.queued.notified().await;
            continue;
        }
        if sender.send(&batch).await.is_err() {
            return shared.close();
        }
        batch.clear();
        batch.shrink_to(KEPT);
    }
}

/// What every message is: a reply has an id, an event a method.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<i32>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<String>,
}

struct Reader<F> {
    shared: Arc<Shared>,
    /// The CDP session of the last event: the next one is mostly the same.
    session: Option<SessionId>,
    /// Who attached each CDP session: with a session, those below it end.
    parents: HashMap<SessionId, Option<SessionId>>,
    on_event: F,
}

impl<F: FnMut(Option<&SessionId>, Event)> Reader<F> {
    async fn run(mut self, mut receiver: Receiver) {
        while let Ok(Some(message)) = receiver.receive().await {
            self.take(&message);
        }
        self.shared.close();
    }

    fn take(&mut self, message: &Bytes) {
        if let Some((id, result)) = plain_reply(message) {
            return self.shared.complete(id, Ok(slice(message, result)));
        }
        if let Ok(envelope) = serde_json::from_slice(message) {
            return self.deliver(message, envelope);
        }
        // Half a character in an error's text, or bytes that are not UTF-8.
        let text = String::from_utf8_lossy(message);
        let repaired = Bytes::from(repair_surrogates(text.as_bytes()).into_owned());
        if let Ok(envelope) = serde_json::from_slice(&repaired) {
            self.deliver(&repaired, envelope);
        }
    }

    fn deliver(&mut self, message: &Bytes, envelope: Envelope<'_>) {
        let part = |raw: Option<&RawValue>| match raw {
            Some(raw) => slice(message, raw.get().as_bytes()),
            None => Bytes::from_static(b"{}"),
        };
        if let Some(id) = envelope.id {
            let outcome = match envelope.error {
                Some(refusal) => Err(CdpError::refusal(
                    refusal.code,
                    &refusal.message,
                    refusal.data.as_deref(),
                )),
                None => Ok(part(envelope.result)),
            };
            self.shared.complete(id, outcome);
        } else if let Some(method) = envelope.method
            && let Some(Ok(event)) = Event::decode(&method, &part(envelope.params))
        {
            if self.session.as_ref().map(SessionId::as_str) != envelope.session_id.as_deref() {
                self.session = envelope.session_id.as_deref().map(SessionId::from);
            }
            self.note(&event);
            (self.on_event)(self.session.as_ref(), event);
        }
    }

    /// What an event says about the CDP sessions themselves.
    fn note(&mut self, event: &Event) {
        match event {
            Event::TargetAttachedToTarget(attached) => {
                let id = attached.session_id.clone();
                self.parents.insert(id, self.session.clone());
            }
            Event::TargetDetachedFromTarget(detached) => self.detached(&detached.session_id),
            Event::InspectorTargetCrashed(_) => {
                if let Some(session) = &self.session {
                    self.shared.fail_session(session, &CdpError::TargetCrashed);
                }
            }
            _ => {}
        }
    }

    fn detached(&mut self, session: &SessionId) {
        self.parents.remove(session);
        self.shared.fail_session(session, &CdpError::Detached);
        let below =
            |_: &SessionId, parent: &mut Option<SessionId>| parent.as_ref() == Some(session);
        let below: Vec<_> = self.parents.extract_if(below).collect();
        for (child, _) in below {
            self.detached(&child);
        }
    }
}

/// Id and result of a message as Chromium writes a reply: `{"id":7,"result":…,"sessionId":"…"}`, the
/// last maybe absent. Saves one look at every byte; the result's own decoding still sees whatever
/// is wrong in it. `None`: not of that form.
fn plain_reply(message: &[u8]) -> Option<(i32, &[u8])> {
    let rest = message.strip_prefix(br#"{"id":"#)?;
    let (digits, rest) = rest.split_at(rest.iter().take(11).position(|&byte| byte == b',')?);
    let id = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let rest = rest.strip_prefix(br#","result":"#)?.strip_suffix(b"}")?;
    let Some(open) = rest.strip_suffix(b"\"") else {
        return Some((id, rest));
    };
    // A result is an object, so that what ends in a quote is the CDP session.
    let hex = open
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_hexdigit());
    let result = open[..open.len() - hex.count()].strip_suffix(br#","sessionId":""#)?;
    Some((id, result))
}

#[cfg(test)]
mod tests;
