//! A line → a request → its turn → its tool → its reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::dialect::{self, Dialect};
use super::in_flight::{InFlight, NeverSilent};
use super::lanes::Place;
use crate::error::{Code, Error, Result};
use crate::tools::{Acted, Call, Checked, Entry, Kind};
use crate::wire::{DEFAULT_SESSION, Refused, Request};

/// How long after its deadline a tool has to say so itself, before it is dropped.
const GRACE: Duration = Duration::from_millis(250);

/// Takes one line that has been admitted to the outbox.
pub async fn line(
    connection: &Arc<Connection>,
    line: &[u8],
    arrived: Instant,
    dialect: &mut Dialect,
) {
    if let Some(message) = dialect::json_rpc(line) {
        *dialect = Dialect::JsonRpc;
        return match message.id {
            Some(id) if message.method.is_some() => {
                let text = "MCP is not supported yet by this version; send {\"tool\":…} lines";
                let reply = dialect::rpc_error(&id, -32601, text);
                connection.outbox.reply(reply);
            }
            _ => connection.outbox.forgo(),
        };
    }
    match read(line) {
        Ok((request, entry, checked)) => {
            *dialect = Dialect::Tabd;
            start(connection, request, entry, checked, arrived);
        }
        Err(Refused { ids, error }) => {
            let bad = error.code() == Code::BadJson;
            let dialect = if bad { *dialect } else { Dialect::Tabd };
            // What was asked before and is answered at once is answered first.
            tokio::task::yield_now().await;
            connection.refuse(&ids, &error, dialect);
        }
    }
}

fn read(line: &[u8]) -> Result<(Request, &'static Entry, Checked), Refused> {
    let mut request = Request::parse(line)?;
    let args = std::mem::take(&mut request.args);
    let found = Entry::find(&request.tool).and_then(|entry| Ok((entry, entry.check(args)?)));
    match found {
        Ok((entry, checked)) => Ok((request, entry, checked)),
        Err(error) => Err(Refused {
            ids: request.ids,
            error,
        }),
    }
}

/// Gives the request its place, and a task.
fn start(
    connection: &Arc<Connection>,
    request: Request,
    entry: &'static Entry,
    checked: Checked,
    arrived: Instant,
) {
    let hub = &connection.hub;
    let in_flight = Arc::new(InFlight::new(
        connection.next_seq(),
        request.ids,
        (entry.name, entry.kind),
        request
            .session
            .unwrap_or_else(|| DEFAULT_SESSION.to_owned()),
        connection.clone(),
        hub.activity.busy(),
    ));
    connection.register(&in_flight);
    if hub.is_ending() {
        in_flight.end(shutting_down());
        return;
    }
    let place = match entry.kind {
        Kind::See | Kind::Act => Some(hub.lanes.join(&in_flight)),
        Kind::Daemon | Kind::Unblock => None,
    };
    let deadline = request.timeout.map(|timeout| arrived + timeout);
    let task = tokio::spawn(drive(in_flight.clone(), entry, place, checked, deadline));
    in_flight.set_task(task.abort_handle());
}

/// What a request is told that the daemon will not run any more.
pub fn shutting_down() -> Error {
    Code::ShuttingDown
        .because("the daemon is going away")
        .hint("connect again; a new daemon starts when one is needed")
}

/// Waits for the request's turn, runs it, answers. Aborting the task drops the tool's future first,
/// then gives the lane back.
async fn drive(
    request: Arc<InFlight>,
    entry: &'static Entry,
    place: Option<Place>,
    checked: Checked,
    deadline: Option<Instant>,
) {
    let in_time = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    let turn = tokio::select! {
        biased;
        turn = turn(&request, place, checked.now) => turn,
        () = in_time => {
            let error = Code::Timeout
                .because(format!("{} was still queued when its time was over", request.tool))
                .hint("calls of one session run one after the other; give it more time or another session");
            request.end(error);
            return;
        }
    };
    let _never_silent = NeverSilent(request.clone());
    if request.is_answered() {
        return;
    }
    let call = prepare(&request, &checked, deadline);
    request.begin(&call);
    let run = async {
        let first = checked.prepared.start(call.clone()).await;
        match first {
            // The browser died before it could act: the call runs in the next one.
            Err(error) if error.code() == Code::BrowserCrashed && call.acted() == Acted::No => {
                match entry.prepare(&checked.args) {
                    Ok(again) if call.browser.alive().is_none() => again.start(call.clone()).await,
                    _ => Err(error),
                }
            }
            result => result,
        }
    };
    let ran = tokio::select! {
        biased;
        result = run => result,
        error = overdue(&call, request.tool) => Err(error),
    };
    request.answer(ran.as_deref());
    // The next one begins only now that the tool's future is gone.
    drop(turn);
}

/// Waits for everything that must come before the request. Returns what must be held while it runs.
async fn turn(
    request: &Arc<InFlight>,
    place: Option<Place>,
    now: bool,
) -> Option<super::lanes::Turn> {
    let connection = &request.connection;
    let same_session = |other: &InFlight| other.session == request.session;
    match place {
        Some(place) => {
            let turn = match place {
                Place::First(turn) => Some(turn),
                // The sender lives in the lane until it sends.
                Place::Behind(told) => told.await.ok(),
            };
            // What its own connection sent before it and passes the lane is still in order.
            let waited = connection
                .after(request.seq, |other| {
                    other.kind == Kind::Unblock && same_session(other)
                })
                .await;
            if waited && connection.outbox.is_gone() {
                request.cancel("its client is gone");
            }
            turn
        }
        None => {
            if request.kind == Kind::Unblock && !now {
                let everything = request.tool == "shutdown";
                connection
                    .after(request.seq, |other| everything || same_session(other))
                    .await;
            }
            None
        }
    }
}

/// The call, with its session: made if there is none, but for what the daemon itself answers.
fn prepare(request: &Arc<InFlight>, checked: &Checked, deadline: Option<Instant>) -> Arc<Call> {
    let connection = &request.connection;
    let browser = &connection.hub.browser;
    let session = if matches!(request.kind, Kind::Daemon | Kind::Unblock) {
        browser.find_session(&request.session)
    } else {
        let (session, created) = browser.session(&request.session);
        request.created.store(created, Ordering::Relaxed);
        Some(session)
    };
    Arc::new(Call::new(
        browser.clone(),
        request.session.clone(),
        session,
        connection.clone(),
        connection.hub.clone(),
        checked.tab,
        deadline.ok_or(checked.prepared.allowance),
    ))
}

/// The backstop: tools watch their deadline themselves, and know more when they say so.
async fn overdue(call: &Call, tool: &str) -> Error {
    loop {
        let last = call.deadline() + GRACE;
        if last <= Instant::now() {
            return call.timed_out(format!("{tool} did not end in time"));
        }
        tokio::time::sleep_until(last).await;
    }
}
