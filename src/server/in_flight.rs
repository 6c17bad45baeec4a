//! One request between its line and its reply: answered exactly once, by whoever is first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::task::AbortHandle;

use super::activity::Busy;
use super::connection::Connection;
use crate::error::{Code, Error, Result};
use crate::tools::{Call, Kind};
use crate::wire::{Ids, reply_line};

/// A request that has not been answered, or just has.
pub struct InFlight {
    /// Its place among its connection's requests.
    pub seq: u64,
    /// Echoed in the reply.
    pub ids: Ids,
    /// The tool's name.
    pub tool: &'static str,
    /// The tool's kind.
    pub kind: Kind,
    /// The session it is for.
    pub session: String,
    /// Where it came from.
    pub connection: Arc<Connection>,
    /// The first reply of a new session says so.
    pub created: AtomicBool,
    left_queue: AtomicBool,
    call: OnceLock<Arc<Call>>,
    open: Mutex<Open>,
}

/// What an unanswered request holds.
struct Open {
    /// Keeps the daemon from its idle exit; `None` once answered.
    busy: Option<Busy>,
    task: Option<AbortHandle>,
}

impl InFlight {
    /// A request that has just been read.
    pub fn new(
        seq: u64,
        ids: Ids,
        tool: (&'static str, Kind),
        session: String,
        connection: Arc<Connection>,
        busy: Busy,
    ) -> InFlight {
        InFlight {
            seq,
            ids,
            tool: tool.0,
            kind: tool.1,
            session,
            connection,
            created: AtomicBool::new(false),
            left_queue: AtomicBool::new(false),
            call: OnceLock::new(),
            open: Mutex::new(Open {
                busy: Some(busy),
                task: None,
            }),
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the task that runs it, to be ended with it.
    pub fn set_task(&self, task: AbortHandle) {
        self.open().task = Some(task);
    }

    /// It is its turn.
    pub fn leave_queue(&self) {
        self.left_queue.store(true, Ordering::Relaxed);
    }

    /// Whether it still waits for its turn.
    pub fn is_queued(&self) -> bool {
        !self.left_queue.load(Ordering::Relaxed)
    }

    /// It runs.
    pub fn begin(&self, call: &Arc<Call>) {
        self.leave_queue();
        // Set once: only the one task that runs the request comes here.
        let _ = self.call.set(call.clone());
    }

    /// Whether its reply has been queued.
    pub fn is_answered(&self) -> bool {
        self.open().busy.is_none()
    }

    /// Queues the reply, unless there was one. Says if this was it.
    pub fn answer(&self, outcome: Result<&str, &Error>) -> bool {
        let Some(busy) = self.open().busy.take() else {
            return false;
        };
        if let Err(error) = outcome {
            self.connection.hub.counters.error(error.code());
        }
        let created = self.created.load(Ordering::Relaxed);
        self.connection
            .outbox
            .reply(reply_line(&self.ids, outcome, created));
        self.connection.finished(self.seq);
        drop(busy);
        true
    }

    /// Answers with an error and drops what runs. Says if it was not over before.
    pub fn end(&self, error: Error) -> bool {
        let error = error.fact("acted", self.acted());
        let ended = self.answer(Err(&error));
        let task = self.open().task.take();
        if let (true, Some(task)) = (ended, task) {
            task.abort();
        }
        ended
    }

    /// Cancels it for `why`.
    pub fn cancel(&self, why: &str) -> bool {
        self.end(Code::Cancelled.because(format!("{} was cancelled: {why}", self.tool)))
    }

    /// Whether its action reached a page, as a word.
    pub fn acted(&self) -> &'static str {
        self.call.get().map_or("no", |call| call.acted().word())
    }
}

/// Answers `internal` when the task that runs a request ends without a reply: it panicked.
pub struct NeverSilent(pub Arc<InFlight>);

impl Drop for NeverSilent {
    fn drop(&mut self) {
        if self.0.is_answered() {
            return;
        }
        crate::log_error!("{} ended without a reply", self.0.tool);
        let error = Code::Internal
            .because(format!("{} stopped by a fault of tabd", self.0.tool))
            .hint("the daemon goes on; its log has the details")
            .fact("acted", self.0.acted());
        self.0.answer(Err(&error));
    }
}
