//! Calls that are cut short: by `cancel`, by their time, by clients that leave.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ends_clean, eventually, timed};
use crate::support::{Client, Daemon};
use crate::web::Web;

const PAGE: &str = "<title>page</title><button onclick=\"fetch('/never/click')\">Ask</button><button disabled>Off</button><p>text";

#[test]
fn cancel_ends_a_call_at_once_and_the_session_goes_on() {
    let web = Web::start();
    let page = web.page("/page", PAGE);
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    client.ok("open", json!({"url": page}));
    // A request for a URL that another one still waits for would wait for that.
    let calls: [(&str, Value, &str, &str); 6] = [
        (
            "open",
            json!({"url": web.url("/never/open")}),
            "/never/open",
            "unknown",
        ),
        ("wait", json!({"text": "no such text"}), "", "no"),
        ("wait", json!({"ms": 10000}), "", "no"),
        (
            "evaluate",
            json!({"script": "fetch('/never/evaluate?' + Math.random()); for (;;);"}),
            "",
            "unknown",
        ),
        (
            "evaluate",
            json!({"script": "fetch('/never/promise?' + Math.random())"}),
            "/never/promise",
            "yes",
        ),
        (
            "click",
            json!({"selector": "button:nth-of-type(2)"}),
            "",
            "no",
        ),
    ];
    for (tool, args, path, acted) in calls {
        for by_session in [false, true] {
            let before = web.hits(path);
            client.post("call", tool, args.clone());
            if !path.is_empty() {
                web.wait_for(path, before + 1);
            }
            let (reply, took) = if by_session {
                eventually(
                    &format!("{tool} {args} runs"),
                    Duration::from_secs(5),
                    || other.ok("cancel", json!({"session": "default"}))["cancelled"] == 1,
                );
                timed(|| client.reply("call"))
            } else {
                let cancel = json!({"id": "cancel", "tool": "cancel", "args": {"id": "call"}});
                client.write(format!("{cancel}\n"));
                let (reply, took) = timed(|| client.reply("call"));
                assert_eq!(client.reply("cancel")["result"]["cancelled"], 1);
                (reply, took)
            };
            assert_eq!(reply["error"]["code"], "cancelled", "{tool}: {reply}");
            assert!(took < Duration::from_millis(500), "{tool}: {took:?}");
            let told = reply["error"]["data"]["acted"].as_str().unwrap_or("");
            assert!(
                told == acted || told == "no" || (acted != "no" && told == "unknown"),
                "{tool}: {reply}"
            );
            let (read, took) = timed(|| client.ok("read", json!({})));
            assert_eq!(read["title"], "page", "{tool}: {read}");
            assert!(took < Duration::from_secs(2), "after {tool}: {took:?}");
        }
    }
    ends_clean(daemon);
}

#[test]
fn an_explicit_time_is_the_one_deadline_and_counts_in_the_queue() {
    let web = Web::start();
    let page = web.page("/page", PAGE);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": page}));
    client.write("{\"id\":1,\"tool\":\"wait\",\"args\":{\"ms\":800}}\n{\"id\":2,\"tool\":\"read\",\"timeout_ms\":300}\n{\"id\":3,\"tool\":\"read\"}\n");
    let (late, took) = timed(|| client.json());
    assert_eq!(
        (&late["id"], &late["error"]["code"]),
        (&json!(2), &json!("timeout")),
        "{late}"
    );
    assert_eq!(late["error"]["data"]["acted"], "no", "{late}");
    assert!(took < Duration::from_millis(700), "{took:?}");
    assert_eq!(
        (&client.json()["id"], &client.json()["ok"]),
        (&json!(1), &json!(true))
    );
    for (tool, args) in [
        ("wait", json!({"text": "none"})),
        ("wait", json!({"script": "false"})),
        ("evaluate", json!({"script": "for (;;);"})),
        ("evaluate", json!({"script": "new Promise(() => {})"})),
    ] {
        let (error, took) = timed(|| {
            client.fails_with(
                "timeout",
                json!({"tool": tool, "args": args, "timeout_ms": 300}),
            )
        });
        assert!(
            took >= Duration::from_millis(250) && took < Duration::from_millis(800),
            "{tool}: {took:?} {error}"
        );
    }
    // The last obstacle, not the time, is what a target's waiting ends with.
    client.fails_with(
        "disabled",
        json!({"tool": "click", "args": {"selector": "button:nth-of-type(2)"}, "timeout_ms": 300}),
    );
    let (_, took) = timed(|| client.ok("wait", json!({"ms": 5200})));
    assert!(took < Duration::from_millis(5700), "{took:?}");
    ends_clean(daemon);
}

#[test]
fn a_client_that_vanishes_takes_its_queue_along_and_leaves_the_rest() {
    let web = Web::start();
    let page = web.page("/page", PAGE);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": page}));
    let mut leaver = Client::connect(&daemon.socket);
    leaver.post(
        "runs",
        "evaluate",
        json!({"script": "fetch('/gate/v').then(() => document.title = 'ran')"}),
    );
    leaver.post(
        "queued",
        "evaluate",
        json!({"script": "document.title = 'never'"}),
    );
    web.wait_for("/gate/v", 1);
    drop(leaver);
    client.post("after", "read", json!({}));
    web.let_through("v");
    assert_eq!(client.reply("after")["result"]["title"], "ran");
    ends_clean(daemon);
}

#[test]
fn two_clients_in_one_session_take_turns() {
    let web = Web::start();
    let page = web.page("/page", PAGE);
    let daemon = Daemon::start();
    let (mut one, mut two) = (daemon.client(), daemon.client());
    one.ok("open", json!({"url": page}));
    one.ok("evaluate", json!({"script": "window.log = []"}));
    for n in 0..20 {
        for (client, who) in [(&mut one, "one"), (&mut two, "two")] {
            let script =
                format!("log.push('{who} {n}'); await Promise.resolve(); log.push('{who} {n}')");
            client.post(
                "turn",
                "evaluate",
                json!({"script": script, "settle": false}),
            );
        }
    }
    for _ in 0..20 {
        assert_eq!(one.reply("turn")["ok"], true);
        assert_eq!(two.reply("turn")["ok"], true);
    }
    let log = one.ok("evaluate", json!({"script": "log"}))["value"].clone();
    let log = log.as_array().unwrap();
    assert_eq!(log.len(), 80);
    assert!(log.chunks(2).all(|pair| pair[0] == pair[1]), "{log:?}");
    ends_clean(daemon);
}
