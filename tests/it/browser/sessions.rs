//! Sessions: apart from each other, side by side, and gone when they are closed.

use std::time::Duration;

use serde_json::json;

use super::{ends_clean, timed};
use crate::support::Daemon;
use crate::web::Web;

#[test]
fn sessions_share_nothing() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for name in ["a", "b", "default"] {
        client.ok_in(
            name,
            "open",
            json!({"url": web.url(&format!("/cookies?who={name}"))}),
        );
        client.ok_in(
            name,
            "evaluate",
            json!({"script": format!("localStorage.who = '{name}'")}),
        );
    }
    for name in ["a", "b", "default"] {
        client.ok_in(name, "open", json!({"url": web.url("/cookies")}));
        let seen = client.ok_in(
            name,
            "evaluate",
            json!({"script": "document.querySelector('p').textContent + localStorage.who"}),
        );
        assert_eq!(seen["value"], format!("who={name}{name}"));
    }
    for name in ["a", "default"] {
        client.ok_in(name, "session_close", json!({}));
        client.ok_in(name, "open", json!({"url": web.url("/cookies")}));
        let seen = client.ok_in(
            name,
            "evaluate",
            json!({"script": "document.querySelector('p').textContent + localStorage.who"}),
        );
        assert_eq!(seen["value"], "undefined", "{name}");
    }
    // A tab is its session's alone.
    let tabs = client.ok_in("b", "tabs", json!({}))["tabs"].clone();
    let error = client.fails("no_tab", "read", json!({"tab": tabs[0]["tab"]}));
    assert!(error["data"]["tabs"].is_array(), "{error}");
    ends_clean(daemon);
}

#[test]
fn the_first_reply_of_a_session_says_so() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let url = web.url("/status/200");
    let open = |session: &str| json!({"tool": "open", "args": {"url": url}, "session": session});
    let reply = client.request(open("a"));
    assert_eq!(reply["session_created"], true, "{reply}");
    assert_eq!(client.request(open("a"))["session_created"], json!(null));
    let read = |session: &str| json!({"tool": "read", "session": session});
    let reply = client.request(read("b"));
    assert_eq!(
        (&reply["error"]["code"], &reply["session_created"]),
        (&json!("no_tab"), &json!(true)),
        "{reply}"
    );
    assert_eq!(client.request(read("b"))["session_created"], json!(null));
    client.ok_in("a", "session_close", json!({}));
    assert_eq!(client.request(open("a"))["session_created"], true);
    ends_clean(daemon);
}

#[test]
fn sessions_run_side_by_side() {
    let web = Web::start();
    let daemon = Daemon::start();
    let (mut one, mut two) = (daemon.client(), daemon.client());
    one.ok_in("one", "open", json!({"url": web.url("/status/200")}));
    one.write(format!(
        "{}\n",
        json!({"id": "held", "tool": "open", "session": "one", "args": {"url": web.url("/gate/g")}})
    ));
    web.wait_for("/gate/g", 1);
    for _ in 0..3 {
        let (opened, took) =
            timed(|| two.ok_in("two", "open", json!({"url": web.url("/status/201")})));
        assert_eq!(opened["title"], "201");
        assert!(took < Duration::from_secs(4), "{took:?}");
    }
    web.let_through("g");
    assert_eq!(one.reply("held")["result"]["title"], "g");
    ends_clean(daemon);
}

#[test]
fn twenty_sessions_at_once() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for n in 0..20 {
        let url = web.url(&format!("/cookies?n={n}"));
        client.write(format!(
            "{}\n",
            // Twenty renderers at once may take a busy machine longer than one page is given.
            json!({"id": n, "tool": "open", "session": format!("s{n}"), "args": {"url": url}, "timeout_ms": 50000})
        ));
    }
    for _ in 0..20 {
        let reply = client.json();
        assert_eq!(
            (&reply["ok"], &reply["session_created"]),
            (&json!(true), &json!(true)),
            "{reply}"
        );
    }
    assert_eq!(
        client.ok("sessions", json!({}))["sessions"]
            .as_array()
            .unwrap()
            .len(),
        20
    );
    for n in 0..20 {
        client.write(format!(
            "{}\n",
            json!({"id": n, "tool": "session_close", "session": format!("s{n}")})
        ));
    }
    for _ in 0..20 {
        assert_eq!(client.json()["result"]["closed"], true);
    }
    assert_eq!(client.ok("sessions", json!({}))["sessions"], json!([]));
    assert_eq!(client.ok("info", json!({}))["browser"]["tabs"], 0);
    ends_clean(daemon);
}
