//! Pages that never come to rest: what needs them ends at its deadline, and everything else goes on.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ends_clean, timed};
use crate::support::{Client, Daemon};
use crate::web::Web;

const LOOPS: &str = "<title>loops</title><button onclick='for (;;);'>Loop</button>
    <button onclick='setTimeout(() => { for (;;); })'>Later</button>";

/// A page that is stuck in a script for ever.
fn wedge(client: &mut Client, url: &str) {
    client.ok("open", json!({"url": url}));
    stick(client, "for (;;);");
}

/// Has the page run `script` in a while, and waits until it does.
fn stick(client: &mut Client, script: &str) {
    let script = format!("setTimeout(() => {{ {script} }}, 100)");
    client.ok("evaluate", json!({"script": script, "settle": false}));
    while client.request(json!({"tool": "text", "timeout_ms": 300}))["ok"] == true {}
}

fn at_once(client: &mut Client, tool: &str, args: Value) -> Value {
    let (reply, took) = timed(|| client.call(tool, args));
    assert!(
        took < Duration::from_millis(500),
        "{tool} took {took:?}: {reply}"
    );
    reply
}

#[test]
fn a_stuck_page_costs_its_own_calls_their_time_and_nobody_else_anything() {
    let web = Web::start();
    let loops = web.page("/loops", LOOPS);
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    other.ok_in(
        "other",
        "open",
        json!({"url": web.other_site("/status/200")}),
    );
    wedge(&mut client, &loops);
    client.post("read", "read", json!({}));
    for tool in ["ping", "tabs", "sessions", "info"] {
        assert_eq!(at_once(&mut other, tool, json!({}))["ok"], true);
    }
    assert_eq!(
        at_once(&mut other, "cancel", json!({"session": "none"}))["result"]["cancelled"],
        0
    );
    for _ in 0..5 {
        let (read, took) = timed(|| other.ok_in("other", "read", json!({})));
        assert_eq!(read["title"], "200");
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
    let reply = client.reply("read");
    assert_eq!(reply["error"]["code"], "timeout", "{reply}");
    assert_eq!(reply["error"]["data"]["acted"], "no", "{reply}");
    for tool in ["read", "find", "text", "click", "evaluate"] {
        let args = match tool {
            "find" => json!({"query": "Loop"}),
            "click" => json!({"selector": "button:last-child"}),
            "evaluate" => json!({"script": "1"}),
            _ => json!({}),
        };
        let request = json!({"tool": tool, "args": args, "timeout_ms": 400});
        let (error, took) = timed(|| client.fails_with("timeout", request));
        assert!(took < Duration::from_millis(900), "{tool} took {took:?}");
        assert!(
            error["hint"].is_string() || error["data"]["acted"].is_string(),
            "{tool}: {error}"
        );
    }
    client.ok("tab_close", json!({}));
    assert_eq!(client.ok("tabs", json!({}))["tabs"], json!([]));
    ends_clean(daemon);
}

#[test]
fn a_stuck_page_is_left_by_going_elsewhere() {
    let web = Web::start();
    let loops = web.page("/loops", LOOPS);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for tool in ["reload", "open", "back"] {
        client.ok("open", json!({"url": web.url("/status/200")}));
        wedge(&mut client, &loops);
        let args = match tool {
            "open" => json!({"url": web.url("/status/201")}),
            _ => json!({}),
        };
        let (result, took) = timed(|| client.ok(tool, args));
        assert_eq!(result["loaded"], true, "{tool}: {result}");
        assert!(took < Duration::from_secs(10), "{tool} took {took:?}");
        client.ok("read", json!({}));
    }
    // One that is stuck only once it is to be left.
    client.ok("open", json!({"url": loops}));
    client.ok(
        "evaluate",
        json!({"script": "window.onbeforeunload = () => { for (;;); }; 1"}),
    );
    let opened = client.ok("open", json!({"url": web.url("/status/202")}));
    assert_eq!(opened["title"], "202");
    // And one whose scripts go on and on.
    client.ok("open", json!({"url": loops}));
    stick(
        &mut client,
        "setInterval(() => { const end = Date.now() + 3000; while (Date.now() < end); })",
    );
    let opened = client.ok("open", json!({"url": web.url("/status/203")}));
    assert_eq!(opened["title"], "203");
    wedge(&mut client, &loops);
    let (_, took) = timed(|| client.ok("session_close", json!({"now": true})));
    assert!(took < Duration::from_secs(3), "{took:?}");
    client.ok("open", json!({"url": web.url("/status/200")}));
    ends_clean(daemon);
}

#[test]
fn a_click_that_starts_an_endless_loop_replies_unsettled() {
    let web = Web::start();
    let loops = web.page("/loops", LOOPS);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for name in ["Loop", "Later"] {
        client.ok("open", json!({"url": loops}));
        let button = client.find_ref("button", name);
        let request = json!({"tool": "click", "args": {"ref": button}, "timeout_ms": 1000});
        let (reply, took) = timed(|| client.request(request));
        assert_eq!(reply["ok"], true, "{name}: {reply}");
        assert_eq!(
            reply["result"]["effect"]["settled"], false,
            "{name}: {reply}"
        );
        assert!(took < Duration::from_millis(1600), "{name}: {took:?}");
        client.ok("reload", json!({}));
    }
    ends_clean(daemon);
}

#[test]
fn a_page_that_loops_while_it_loads_is_open_and_not_loaded() {
    let web = Web::start();
    let loading = web.page(
        "/loading",
        "<title>loading</title><p>before<script>for (;;);</script>",
    );
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let request = json!({"tool": "open", "args": {"url": loading}, "timeout_ms": 3000});
    let (reply, took) = timed(|| client.request(request));
    assert_eq!(reply["ok"], true, "{reply}");
    assert_eq!(reply["result"]["loaded"], false, "{reply}");
    assert!(took < Duration::from_millis(3600), "{took:?}");
    let opened = client.ok("open", json!({"url": web.url("/status/200")}));
    assert_eq!(opened["title"], "200");
    ends_clean(daemon);
}
