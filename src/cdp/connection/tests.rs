//! Against a peer in the test's own hands: a real browser cannot be made to fail like this.

use std::time::Duration;

use super::*;
use crate::cdp::{browser, page, runtime};

/// The browser's end of the pipe.
struct Peer {
    sender: Sender,
    receiver: Receiver,
}

impl Peer {
    async fn says(&mut self, text: &str) {
        self.sender.send(text.as_bytes()).await.unwrap();
        self.sender.send(&[END]).await.unwrap();
    }

    /// The next command: its id and the rest as sent.
    async fn hears(&mut self) -> (i64, String) {
        let message = self.receiver.receive().await.unwrap().unwrap();
        let value: serde_json::Value = serde_json::from_slice(&message).unwrap();
        let text = String::from_utf8(message.to_vec()).unwrap();
        (value["id"].as_i64().unwrap(), text)
    }

    async fn replies(&mut self, id: i64, result: &str) {
        self.says(&format!(r#"{{"id":{id},"result":{result}}}"#))
            .await;
    }
}

fn pair(on_event: impl FnMut(Option<&SessionId>, Event) + Send + 'static) -> (Connection, Peer) {
    let (their_read, our_write) = std::io::pipe().unwrap();
    let (our_read, their_write) = std::io::pipe().unwrap();
    let ours = Transport::pipe(our_write.into(), our_read.into()).unwrap();
    let Transport { sender, receiver } =
        Transport::pipe(their_write.into(), their_read.into()).unwrap();
    (Connection::open(ours, on_event), Peer { sender, receiver })
}

fn quiet() -> (Connection, Peer) {
    pair(|_, _| {})
}

fn evaluate(expression: &str) -> runtime::Evaluate {
    runtime::Evaluate {
        expression: expression.into(),
        ..Default::default()
    }
}

fn value(reply: runtime::EvaluateReply) -> String {
    reply.result.value.unwrap().parse().unwrap()
}

const TEXT: &str = r#"{"result":{"type":"string","value":"V"}}"#;

#[tokio::test]
async fn a_command_is_one_message_and_its_reply_comes_back() {
    let (connection, mut peer) = quiet();
    let session = SessionId::from("S\"1");
    let navigate = page::Navigate {
        url: "http://localhost/".into(),
        ..Default::default()
    };
    let reply = connection.send(Some(&session), &navigate);
    let (id, text) = peer.hears().await;
    assert_eq!(
        text,
        r#"{"id":1,"sessionId":"S\"1","method":"Page.navigate","params":{"url":"http://localhost/"}}"#
    );
    peer.replies(id, r#"{"frameId":"F","loaderId":"L","new":1}"#)
        .await;
    let reply = reply.await.unwrap();
    assert_eq!(reply.frame_id, "F");
    assert_eq!(reply.loader_id.unwrap(), "L");
    assert_eq!(connection.pending(), 0);
}

#[tokio::test]
async fn replies_find_their_calls_in_any_order() {
    let (connection, mut peer) = quiet();
    let calls: Vec<_> = ["a", "b", "c"]
        .map(|text| connection.send(None, &evaluate(text)))
        .into();
    for _ in 0..3 {
        peer.hears().await;
    }
    peer.replies(99, "{}").await;
    for (id, text) in [(3, "c"), (1, "a"), (2, "b")] {
        peer.replies(id, &TEXT.replace('V', text)).await;
    }
    let mut values = Vec::new();
    for call in calls {
        values.push(value(call.await.unwrap()));
    }
    assert_eq!(values, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_passed_deadline_forgets_the_call_and_its_late_reply_is_ignored() {
    let (connection, mut peer) = quiet();
    let passed = connection
        .call(None, &browser::GetVersion {}, Instant::now())
        .await;
    assert_eq!(passed.unwrap_err(), CdpError::Deadline);
    let short = Instant::now() + Duration::from_millis(20);
    let late = connection.call(None, &evaluate("late"), short).await;
    assert_eq!(late.unwrap_err(), CdpError::Deadline);
    assert_eq!(connection.pending(), 0);
    let (id, text) = peer.hears().await;
    assert!(
        text.contains("late"),
        "the passed call was not sent: {text}"
    );
    peer.replies(id, TEXT).await;
    let next = connection.send(None, &evaluate("next"));
    let (id, _) = peer.hears().await;
    peer.replies(id, TEXT).await;
    assert_eq!(value(next.await.unwrap()), "V");
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing() {
    let (connection, mut peer) = quiet();
    connection.send(None, &evaluate("1")).forget();
    assert_eq!(connection.pending(), 0);
    assert!(peer.hears().await.1.contains("evaluate"));
}

#[tokio::test]
async fn the_end_of_the_browser_fails_everything() {
    let (connection, peer) = quiet();
    let call = connection.send(None, &evaluate("1"));
    drop(peer);
    assert_eq!(call.await.unwrap_err(), CdpError::Closed);
    connection.closed().await;
    assert!(connection.is_closed());
    let after = connection.send(None, &evaluate("1"));
    assert_eq!(after.await.unwrap_err(), CdpError::Closed);
    assert_eq!(connection.pending(), 0);
}

#[tokio::test]
async fn the_last_handle_closes_the_pipe() {
    let (connection, mut peer) = quiet();
    let call = connection.send(None, &evaluate("1"));
    drop(connection);
    assert_eq!(call.await.unwrap_err(), CdpError::Closed);
    assert_eq!(peer.receiver.receive().await.unwrap(), None);
}

#[tokio::test]
async fn a_lost_session_fails_its_calls_alone_and_before_the_event_is_told() {
    let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
    let (connection, mut peer) = pair(move |session, event| {
        let _ = told.send((session.cloned(), event));
    });
    let [one, two, child] = ["1", "2", "3"].map(SessionId::from);
    let crashed = connection.send(Some(&one), &evaluate(""));
    peer.says(r#"{"method":"Inspector.targetCrashed","params":{},"sessionId":"1"}"#)
        .await;
    assert!(
        matches!(events.recv().await, Some((Some(id), Event::InspectorTargetCrashed(_))) if id == "1")
    );
    // Already failed: no waiting.
    assert_eq!(connection.pending(), 0);
    assert_eq!(crashed.await.unwrap_err(), CdpError::TargetCrashed);

    // The child's target is attached by way of session 2, and goes with it.
    let info = r#"{"targetId":"T","type":"iframe","title":"","url":"","attached":true,"canAccessOpener":false}"#;
    peer.says(&format!(
        r#"{{"method":"Target.attachedToTarget","params":{{"sessionId":"3","targetInfo":{info},"waitingForDebugger":false}},"sessionId":"2"}}"#
    ))
    .await;
    events.recv().await.unwrap();
    let other = connection.send(Some(&one), &evaluate(""));
    let detached = connection.send(Some(&two), &evaluate(""));
    let below = connection.send(Some(&child), &evaluate(""));
    peer.says(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"2"}}"#)
        .await;
    assert!(matches!(
        events.recv().await,
        Some((None, Event::TargetDetachedFromTarget(_)))
    ));
    assert_eq!(connection.pending(), 1);
    assert_eq!(detached.await.unwrap_err(), CdpError::Detached);
    assert_eq!(below.await.unwrap_err(), CdpError::Detached);

    connection.fail_session(&one, CdpError::TargetCrashed);
    assert_eq!(other.await.unwrap_err(), CdpError::TargetCrashed);
}

#[tokio::test]
async fn an_event_is_told_before_the_reply_that_follows_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let events = seen.clone();
    let (connection, mut peer) = pair(move |_, event| {
        if let Event::PageFrameNavigated(navigated) = event {
            events.lock().unwrap().push(navigated.frame.url);
        }
    });
    let call = connection.send(None, &evaluate("1"));
    let (id, _) = peer.hears().await;
    let event = r#"{"method":"Page.frameNavigated","params":{"frame":{"id":"F","loaderId":"L","url":"u:1"},"type":"Navigation"}}"#;
    let unheard = r#"{"method":"Page.nobodyKnows","params":[[{]}"#;
    let broken = r#"{"method":"Page.frameNavigated","params":{"frame":7}}"#;
    let reply = format!(r#"{{"id":{id},"result":{TEXT}}}"#);
    // In one write, so that the reader sees all of them at once.
    peer.says(&[event, unheard, broken, "not JSON", "", &reply].join("\0"))
        .await;
    call.await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["u:1"]);
}

#[tokio::test]
async fn refusals_have_names() {
    let (connection, mut peer) = quiet();
    for (error, expected) in [
        (
            r#"{"code":-32000,"message":"uniqueContextId not found"}"#,
            CdpError::NoContext,
        ),
        (
            r#"{"code":-32001,"message":"Session with given id not found."}"#,
            CdpError::NoSession,
        ),
        (
            r#"{"code":-32602,"message":"Invalid parameters","data":"url: string \ud83c"}"#,
            CdpError::Protocol {
                code: -32602,
                message: "Invalid parameters: url: string \u{fffd}".into(),
            },
        ),
    ] {
        let call = connection.send(None, &evaluate("1"));
        let (id, _) = peer.hears().await;
        peer.says(&format!(r#"{{"id":{id},"error":{error}}}"#))
            .await;
        assert_eq!(call.await.unwrap_err(), expected);
    }
    let call = connection.send(None, &page::Navigate::default());
    let (id, _) = peer.hears().await;
    peer.replies(id, "{}").await;
    assert!(
        matches!(call.await.unwrap_err(), CdpError::Decode(why) if why.starts_with("Page.navigate: missing field"))
    );
}

#[tokio::test]
async fn half_characters_do_not_lose_a_message() {
    let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
    let (connection, mut peer) = pair(move |_, event| {
        let _ = told.send(event);
    });
    let call = connection.send(None, &evaluate("1"));
    let (id, _) = peer.hears().await;
    peer.says(r#"{"method":"Runtime.bindingCalled","params":{"name":"b","payload":"\ud83c","executionContextId":1}}"#)
        .await;
    peer.replies(id, &TEXT.replace('V', r"\\ud83c \ud83c\udf0d \udf0d"))
        .await;
    assert_eq!(value(call.await.unwrap()), "\\ud83c \u{1f30d} \u{fffd}");
    let Some(Event::RuntimeBindingCalled(called)) = events.recv().await else {
        panic!("another event");
    };
    assert_eq!(called.payload, "\u{fffd}");
    // Bytes that are not UTF-8 are no reason to hang either.
    let call = connection.send(None, &evaluate("1"));
    let (id, _) = peer.hears().await;
    let mut reply = format!(r#"{{"id":{id},"result":{}}}"#, TEXT).into_bytes();
    let at = reply.iter().position(|&byte| byte == b'V').unwrap();
    reply[at] = 0xFF;
    reply.push(END);
    peer.sender.send(&reply).await.unwrap();
    assert_eq!(value(call.await.unwrap()), "\u{fffd}");
}

#[tokio::test]
async fn ten_megabytes_come_through_both_ways() {
    let (connection, mut peer) = quiet();
    let big = "x\\n".repeat(3_500_000);
    let call = connection.send(None, &evaluate(&big));
    let (id, text) = peer.hears().await;
    assert!(text.len() > big.len());
    let reply = TEXT.replace('V', &big);
    let (answer, ()) = tokio::join!(call, peer.replies(id, &reply));
    assert_eq!(value(answer.unwrap()), "x\n".repeat(3_500_000));
}

#[tokio::test]
async fn queued_commands_keep_their_order_and_ids_wrap() {
    let (connection, mut peer) = quiet();
    connection.inner.shared.lock().last_id = i32::MAX - 1;
    let calls: Vec<_> = (0..3)
        .map(|n| connection.send(None, &evaluate(&n.to_string())))
        .collect();
    connection.inner.shared.lock().last_id = i32::MAX;
    let jumps = connection.send(None, &evaluate("3"));
    let mut ids = Vec::new();
    for n in 0..4 {
        let (id, text) = peer.hears().await;
        assert!(text.contains(&format!(r#""expression":"{n}""#)), "{text}");
        ids.push(id);
    }
    assert_eq!(ids, [i64::from(i32::MAX), 1, 2, 3]);
    drop((calls, jumps));
    assert_eq!(connection.pending(), 0);
}

#[test]
fn a_plain_reply_is_seen_without_parsing() {
    for (message, expected) in [
        (r#"{"id":7,"result":{}}"#, Some((7, "{}"))),
        (
            r#"{"id":7,"result":{"a":"b"},"sessionId":"0AF"}"#,
            Some((7, r#"{"a":"b"}"#)),
        ),
        (
            r#"{"id":7,"result":{"a":1,"sessionId":"0AF"}}"#,
            Some((7, r#"{"a":1,"sessionId":"0AF"}"#)),
        ),
        (r#"{"id":7,"result":{},"sessionId":"other"}"#, None),
        (r#"{"id":99999999999,"result":{}}"#, None),
        (r#"{"id":7,"error":{"code":1}}"#, None),
        (r#"{"method":"Page.loadEventFired","params":{}}"#, None),
        (r#"{"id":7,"result":"#, None),
        (r#"{"id":7"#, None),
        ("", None),
    ] {
        let seen = plain_reply(message.as_bytes());
        let seen = seen.map(|(id, result)| (id, std::str::from_utf8(result).unwrap()));
        assert_eq!(seen, expected, "{message}");
    }
}

#[tokio::test]
async fn a_reply_of_another_form_is_parsed() {
    let (connection, mut peer) = quiet();
    let call = connection.send(None, &evaluate("1"));
    let (id, _) = peer.hears().await;
    peer.says(&format!(
        r#"{{ "sessionId":"other", "result":{TEXT}, "id":{id} }}"#
    ))
    .await;
    assert_eq!(value(call.await.unwrap()), "V");
}
