//! Lanes, order, time and cancelling over a real socket, with tools that wait for the test.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::*;
use crate::browser::{Event, Sink};
use crate::tools::{probe_log, probe_open};

struct Daemon {
    path: PathBuf,
    hub: Arc<Hub>,
    life: tokio::task::JoinHandle<Result<()>>,
}

struct Peer {
    lines: BufReader<OwnedReadHalf>,
    out: OwnedWriteHalf,
}

fn daemon() -> Daemon {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("tabd-unit-{}-{n}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let socket = socket::Socket::open(Some(&path)).unwrap();
    let subscribers = Arc::new(Subscribers::default());
    let mut options = crate::browser::Options::default();
    // Never made: these tests start no browser, and leave no high-water mark.
    options.launch.runtime_dir = path.with_extension("none");
    let browser = Browser::new(options, subscribers.clone());
    let hub = Arc::new(Hub::new(browser, subscribers));
    let served = hub.clone();
    let life = tokio::spawn(async move { life::serve(&served, socket, Duration::ZERO).await });
    Daemon { path, hub, life }
}

impl Daemon {
    async fn peer(&self) -> Peer {
        let (lines, out) = UnixStream::connect(&self.path).await.unwrap().into_split();
        let lines = BufReader::new(lines);
        Peer { lines, out }
    }

    async fn end(self) {
        self.hub.asked_to_end.notify_one();
        self.life.await.unwrap().unwrap();
        assert!(!self.path.exists());
    }
}

impl Peer {
    async fn send(&mut self, request: Value) {
        let line = format!("{request}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    async fn probe(&mut self, id: u32, session: &str, args: Value) {
        self.send(json!({"id": id, "tool": "probe", "session": session, "args": args}))
            .await;
    }

    async fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The next reply's id and its error code, or "ok".
    async fn reply(&mut self) -> (u64, String) {
        let line = self.line().await;
        let code = line["error"]["code"].as_str().unwrap_or("ok").to_owned();
        (line["id"].as_u64().unwrap(), code)
    }

    /// A `ping` that is answered shows that everything sent before it has been read.
    async fn sync(&mut self) {
        self.send(json!({"id": 0, "tool": "ping"})).await;
        assert_eq!(self.reply().await, (0, "ok".to_owned()));
    }
}

fn ok(id: u64) -> (u64, String) {
    (id, "ok".to_owned())
}

fn err(id: u64, code: &str) -> (u64, String) {
    (id, code.to_owned())
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_session_runs_in_order_and_sessions_side_by_side() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    a.probe(1, "s", json!({"gate": "order1"})).await;
    a.sync().await;
    b.probe(2, "s", json!({"gate": "order2"})).await;
    b.sync().await;
    a.probe(3, "s", json!({"gate": "order3"})).await;
    a.probe(4, "other", json!({})).await;
    assert_eq!(a.reply().await, ok(4));
    assert_eq!(probe_log("order"), ["+order1"]);
    for gate in ["order3", "order2", "order1"] {
        probe_open(gate);
    }
    assert_eq!(a.reply().await, ok(1));
    assert_eq!(a.reply().await, ok(3));
    assert_eq!(b.reply().await, ok(2));
    let log = probe_log("order");
    assert_eq!(
        log,
        [
            "+order1", "-order1", "+order2", "-order2", "+order3", "-order3"
        ]
    );
    daemon.end().await;
}

#[tokio::test]
async fn the_first_reply_of_a_session_says_that_it_is_new() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({})).await;
    assert_eq!(a.line().await["session_created"], true);
    a.send(json!({"id": 2, "tool": "ping", "session": "never"}))
        .await;
    assert!(a.line().await.get("session_created").is_none());
    daemon.end().await;
}

#[tokio::test]
async fn a_vanished_client_loses_what_it_queued_but_not_what_runs() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    a.probe(1, "s", json!({"gate": "vanish1"})).await;
    a.probe(2, "s", json!({"gate": "vanish2"})).await;
    a.sync().await;
    b.probe(3, "s", json!({"gate": "vanish3"})).await;
    b.sync().await;
    let connections = || daemon.hub.connections().len();
    assert_eq!(connections(), 2);
    drop(a);
    until(|| connections() == 1).await;
    for gate in ["vanish1", "vanish2", "vanish3"] {
        probe_open(gate);
    }
    assert_eq!(b.reply().await, ok(3));
    let log = probe_log("vanish");
    assert_eq!(log, ["+vanish1", "-vanish1", "+vanish3", "-vanish3"]);
    daemon.end().await;
}

#[tokio::test]
async fn a_client_that_vanishes_while_its_lines_wait_is_noticed() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    for id in 0..MAX as u32 {
        a.probe(id, "s", json!({"gate": "blind"})).await;
    }
    a.send(json!({"tool": "ping"})).await;
    until(|| daemon.hub.activity.count() == MAX).await;
    drop(a);
    until(|| daemon.hub.connections().is_empty()).await;
    assert_eq!(daemon.hub.activity.count(), 1);
    assert_eq!(probe_log("blind"), ["+blind"]);
    probe_open("blind");
    until(|| daemon.hub.activity.count() == 0).await;
    daemon.end().await;
}

const MAX: usize = wire::MAX_IN_FLIGHT;

#[tokio::test]
async fn a_half_closed_client_gets_everything() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({"gate": "half1"})).await;
    a.probe(2, "s", json!({"gate": "half2"})).await;
    a.out.shutdown().await.unwrap();
    until(|| probe_log("half") == ["+half1"]).await;
    probe_open("half1");
    assert_eq!(a.reply().await, ok(1));
    probe_open("half2");
    assert_eq!(a.reply().await, ok(2));
    let mut rest = Vec::new();
    a.lines.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
    daemon.end().await;
}

#[tokio::test]
async fn after_its_half_close_a_client_can_still_vanish() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({"gate": "halfgone1"})).await;
    a.probe(2, "s", json!({"gate": "halfgone2"})).await;
    a.out.shutdown().await.unwrap();
    until(|| daemon.hub.activity.count() == 2).await;
    until(|| daemon.hub.connections().values().all(|c| c.has_ended())).await;
    drop(a);
    until(|| daemon.hub.connections().is_empty()).await;
    probe_open("halfgone1");
    until(|| daemon.hub.activity.count() == 0).await;
    assert_eq!(probe_log("halfgone"), ["+halfgone1", "-halfgone1"]);
    daemon.end().await;
}

#[tokio::test]
async fn cancel_ends_by_id_and_the_cancelled_call_is_answered_first() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({"gate": "cancel1", "acted": true}))
        .await;
    a.probe(2, "s", json!({"gate": "cancel2"})).await;
    a.probe(3, "s", json!({"gate": "cancel3"})).await;
    a.sync().await;
    a.send(json!({"id": 9, "tool": "cancel", "args": {"id": 2}}))
        .await;
    let line = a.line().await;
    assert_eq!(
        (line["id"].as_u64(), &line["error"]["data"]["acted"]),
        (Some(2), &json!("no"))
    );
    assert_eq!(a.line().await["result"]["cancelled"], 1);
    a.send(json!({"id": 9, "tool": "cancel", "args": {"id": 1}}))
        .await;
    let line = a.line().await;
    assert_eq!(line["error"]["code"], "cancelled");
    assert_eq!(line["error"]["data"]["acted"], "unknown");
    assert_eq!(a.line().await["result"]["cancelled"], 1);
    a.send(json!({"id": 9, "tool": "cancel", "args": {"id": 1}}))
        .await;
    assert_eq!(a.line().await["result"]["cancelled"], 0);
    probe_open("cancel3");
    assert_eq!(a.reply().await, ok(3));
    let log = probe_log("cancel");
    assert_eq!(log, ["+cancel1", "!cancel1", "+cancel3", "-cancel3"]);
    daemon.end().await;
}

#[tokio::test]
async fn cancel_ends_a_sessions_running_call_from_another_connection() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    a.probe(1, "s", json!({"gate": "other1"})).await;
    a.probe(2, "s", json!({})).await;
    a.sync().await;
    b.send(json!({"id": 1, "tool": "cancel", "args": {"id": 1}}))
        .await;
    assert_eq!(b.line().await["result"]["cancelled"], 0);
    b.send(json!({"id": 1, "tool": "cancel", "args": {"session": "s"}}))
        .await;
    assert_eq!(b.line().await["result"]["cancelled"], 1);
    assert_eq!(a.reply().await, err(1, "cancelled"));
    assert_eq!(a.reply().await, ok(2));
    daemon.end().await;
}

#[tokio::test]
async fn time_runs_out_in_the_queue_while_the_lane_is_busy() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({"gate": "queue1"})).await;
    a.send(json!({"id": 2, "tool": "probe", "session": "s", "timeout_ms": 20, "args": {"gate": "queue2"}}))
        .await;
    let line = a.line().await;
    assert_eq!(
        (line["id"].as_u64(), &line["error"]["code"]),
        (Some(2), &json!("timeout"))
    );
    assert_eq!(line["error"]["data"]["acted"], "no");
    probe_open("queue1");
    assert_eq!(a.reply().await, ok(1));
    assert_eq!(probe_log("queue"), ["+queue1", "-queue1"]);
    daemon.end().await;
}

#[tokio::test]
async fn a_tool_that_ignores_its_deadline_is_dropped() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    let args = json!({"gate": "deaf", "acted": true});
    a.send(json!({"id": 1, "tool": "probe", "timeout_ms": 20, "args": args}))
        .await;
    let line = a.line().await;
    assert_eq!(line["error"]["code"], "timeout");
    assert_eq!(line["error"]["data"]["acted"], "unknown");
    assert_eq!(probe_log("deaf"), ["+deaf", "!deaf"]);
    daemon.end().await;
}

#[tokio::test]
async fn a_panic_is_one_internal_and_the_lane_goes_on() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.probe(1, "s", json!({"panic": true})).await;
    a.probe(2, "s", json!({})).await;
    assert_eq!(a.reply().await, err(1, "internal"));
    assert_eq!(a.reply().await, ok(2));
    daemon.end().await;
}

#[tokio::test]
async fn what_passes_the_lane_waits_only_for_its_own_connection() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    let unblock = |id: u32, gate: &str, now: bool| json!({"id": id, "tool": "probe_unblock", "session": "s", "args": {"gate": gate, "now": now}});
    a.probe(1, "s", json!({"gate": "pass1"})).await;
    a.send(unblock(2, "pass2", false)).await;
    a.probe(3, "s", json!({"gate": "pass3"})).await;
    a.send(unblock(4, "pass4", true)).await;
    assert_eq!(a.reply().await, ok(4));
    b.send(unblock(5, "pass5", false)).await;
    assert_eq!(b.reply().await, ok(5));
    assert_eq!(probe_log("pass"), ["+pass1", "+pass4", "+pass5"]);
    probe_open("pass1");
    assert_eq!(a.reply().await, ok(1));
    assert_eq!(a.reply().await, ok(2));
    probe_open("pass3");
    assert_eq!(a.reply().await, ok(3));
    let log = probe_log("pass");
    assert_eq!(log[3..], ["-pass1", "+pass2", "+pass3", "-pass3"]);
    daemon.end().await;
}

#[tokio::test]
async fn shutdown_waits_for_its_own_connection_and_answers_the_others() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    b.probe(1, "b", json!({"gate": "down1", "acted": true}))
        .await;
    b.probe(2, "b", json!({"gate": "down2"})).await;
    b.sync().await;
    a.probe(3, "a", json!({"gate": "down3"})).await;
    a.send(json!({"id": 4, "tool": "shutdown"})).await;
    a.sync().await;
    probe_open("down3");
    assert_eq!(a.reply().await, ok(3));
    assert_eq!(a.reply().await, ok(4));
    let line = b.line().await;
    assert_eq!(line["error"]["code"], "cancelled");
    assert_eq!(line["error"]["data"]["acted"], "unknown");
    assert_eq!(b.reply().await, err(2, "shutting_down"));
    daemon.life.await.unwrap().unwrap();
    assert!(!daemon.path.exists());
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_buffered_without_bound() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    let line = json!({"tool": "probe", "session": "big", "args": {"fill": 200_000}}).to_string();
    let lines = format!("{line}\n").repeat(200);
    let sender = tokio::spawn(async move {
        a.out.write_all(lines.as_bytes()).await.unwrap();
        a
    });
    until(|| daemon.hub.counters.json()["requests"].as_u64() > Some(6)).await;
    for _ in 0..100 {
        b.sync().await;
    }
    // About a megabyte and one more reply, of 40 megabytes in all.
    let read = daemon.hub.counters.json()["requests"].as_u64().unwrap() - 100;
    assert!(read <= MAX as u64 + 1, "{read} lines were read");
    drop(b);
    let mut a = sender.await.unwrap();
    for _ in 0..200 {
        assert_eq!(a.line().await["ok"], true);
    }
    daemon.end().await;
}

#[tokio::test]
async fn events_reach_those_who_asked_until_they_leave() {
    let daemon = daemon();
    let (mut a, mut b) = (daemon.peer().await, daemon.peer().await);
    let subscribers = daemon.hub.subscribers.clone();
    let tell = |kind, session: &str, n: u32| {
        subscribers.send(Event {
            kind,
            session: Some(session.into()),
            tab: Some(wire::TabId(n)),
            data: format!("{{\"n\":{n}}}"),
        });
    };
    assert!(!subscribers.wants("tab"));
    a.send(json!({"id": 1, "tool": "subscribe", "args": {"events": ["tab"], "session": "s"}}))
        .await;
    assert_eq!(a.reply().await, ok(1));
    b.send(json!({"id": 1, "tool": "subscribe", "args": {"events": ["console"], "tab": "t5"}}))
        .await;
    assert_eq!(b.reply().await, ok(1));
    assert!(subscribers.wants("tab") && !subscribers.wants("network"));
    tell("tab", "other", 1);
    tell("console", "s", 2);
    tell("tab", "s", 3);
    tell("console", "x", 5);
    let event = json!({"event": "tab", "session": "s", "tab": "t3", "data": {"n": 3}});
    assert_eq!(a.line().await, event);
    assert_eq!(b.line().await["data"]["n"], 5);
    // A half-closed subscriber stays until it is gone.
    b.out.shutdown().await.unwrap();
    until(|| daemon.hub.connections().values().any(|c| c.has_ended())).await;
    tell("console", "x", 5);
    assert_eq!(b.line().await["data"]["n"], 5);
    drop(b);
    until(|| subscribers.count() == 1).await;
    a.send(json!({"id": 2, "tool": "unsubscribe"})).await;
    assert_eq!(a.reply().await, ok(2));
    assert_eq!(daemon.hub.activity.count(), 0);
    daemon.end().await;
}

#[tokio::test]
async fn a_lagging_subscriber_is_told_and_slows_nobody() {
    let daemon = daemon();
    let mut a = daemon.peer().await;
    a.send(json!({"id": 1, "tool": "subscribe", "args": {"events": ["console"]}}))
        .await;
    assert_eq!(a.reply().await, ok(1));
    let data = format!("{{\"text\":\"{}\"}}", "x".repeat(1000));
    let all = 5000;
    for _ in 0..all {
        daemon.hub.subscribers.send(Event {
            kind: "console",
            session: None,
            tab: None,
            data: data.clone(),
        });
        tokio::task::yield_now().await;
    }
    let (mut got, mut missed) = (0, 0);
    while got + missed < all {
        let line = a.line().await;
        match line["event"].as_str() {
            Some("lagged") => missed += line["data"]["missed"].as_u64().unwrap(),
            _ => got += 1,
        }
    }
    assert_eq!(got + missed, all);
    assert!(missed > 0 && got >= outbox::MAX_EVENTS as u64);
    daemon.end().await;
}
