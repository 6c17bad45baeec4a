//! Events: the present state first, an action's before its reply, and none without end.

use serde_json::{Value, json};

use super::{ends_clean, murder};
use crate::support::Daemon;
use crate::web::Web;

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|e| e["event"].as_str().unwrap())
        .collect()
}

#[test]
fn the_present_state_comes_first_and_an_actions_events_before_its_reply() {
    let web = Web::start();
    let page = web.page("/e", "<title>e</title><script>console.log('logged', 1, {a: 1})</script>
        <button onclick=\"alert('hey'); console.warn('clicked'); history.pushState(0, '', '?x'); fetch('/status/200')\">Go</button>");
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let all = json!({"events": ["browser", "session", "tab", "navigated", "dialog", "crash", "console", "network"]});
    client.post("first", "subscribe", all.clone());
    let (events, _) = client.events_until("first");
    assert_eq!(kinds(&events), ["browser"]);
    assert_eq!(events[0]["data"]["running"], false);
    client.post("open", "open", json!({"url": page}));
    let (events, reply) = client.events_until("open");
    assert_eq!(reply["ok"], true, "{reply}");
    let found = kinds(&events);
    for kind in [
        "browser",
        "session",
        "tab",
        "navigated",
        "console",
        "network",
    ] {
        assert!(found.contains(&kind), "{kind}: {found:?}");
    }
    let logged = events.iter().find(|e| e["event"] == "console").unwrap();
    assert_eq!(
        (&logged["session"], &logged["tab"]),
        (&json!("default"), &reply["result"]["tab"])
    );
    assert!(
        logged["data"]["text"]
            .as_str()
            .unwrap()
            .starts_with("logged 1"),
        "{logged}"
    );
    client.post("click", "click", json!({"selector": "button"}));
    let (events, reply) = client.events_until("click");
    assert_eq!(reply["ok"], true, "{reply}");
    let found = kinds(&events);
    for kind in ["dialog", "console", "navigated", "network"] {
        assert!(found.contains(&kind), "{kind}: {found:?}");
    }
    let mut second = daemon.client();
    second.post("second", "subscribe", all);
    let (events, _) = second.events_until("second");
    assert_eq!(kinds(&events), ["browser", "session", "tab"], "{events:?}");
    // A dialog that is open is part of it.
    client.ok(
        "evaluate",
        json!({"script": "setTimeout(() => confirm('open?'))", "settle": false}),
    );
    let mut third = daemon.client();
    loop {
        third.post("third", "subscribe", json!({"events": ["dialog"]}));
        let (events, _) = third.events_until("third");
        if kinds(&events) == ["dialog"] {
            assert_eq!(events[0]["data"]["state"], "open");
            break;
        }
    }
    client.ok("dialog", json!({"accept": true}));
    let pid = client.browser_pid();
    murder(pid);
    loop {
        let event = second.json();
        if event["event"] == "crash" {
            assert_eq!(event["data"]["what"], "browser");
            break;
        }
    }
    ends_clean(daemon);
}

#[test]
fn only_what_was_asked_for() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let mut watcher = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    client.ok_in("b", "open", json!({"url": web.url("/status/200")}));
    watcher.request(
        json!({"tool": "subscribe", "args": {"events": ["navigated", "tab"], "session": "b"}}),
    );
    client.ok("open", json!({"url": web.url("/status/201")}));
    client.ok_in("b", "open", json!({"url": web.url("/status/202")}));
    watcher.post("done", "ping", json!({}));
    let (events, _) = watcher.events_until("done");
    assert!(events.iter().all(|e| e["session"] == "b"), "{events:?}");
    assert_eq!(
        events.iter().filter(|e| e["event"] == "navigated").count(),
        1,
        "{events:?}"
    );
    ends_clean(daemon);
}

#[test]
fn a_subscriber_that_falls_behind_is_told_and_slows_nobody() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let mut slow = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    slow.request(json!({"tool": "subscribe", "args": {"events": ["console"]}}));
    let script = "for (let i = 0; i < 300; i++) console.log(i + 'x'.repeat(5000))";
    for _ in 0..30 {
        client.ok("evaluate", json!({"script": script}));
    }
    slow.post("end", "ping", json!({}));
    let (events, _) = slow.events_until("end");
    let lagged: u64 = events
        .iter()
        .filter(|e| e["event"] == "lagged")
        .map(|e| e["data"]["missed"].as_u64().unwrap())
        .sum();
    let seen = events.iter().filter(|e| e["event"] == "console").count() as u64;
    assert!(lagged > 0, "{seen} seen");
    assert_eq!(lagged + seen, 9000);
    ends_clean(daemon);
}
