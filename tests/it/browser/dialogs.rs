//! JavaScript dialogs: those that close by themselves, those that wait for an answer, those nobody gives one.

use std::time::Duration;

use serde_json::json;

use super::{ends_clean, timed};
use crate::support::Daemon;
use crate::web::Web;

const PAGE: &str = "<title>dialogs</title>
    <button onclick=\"alert('hello'); document.title = 'alerted'\">Alert</button>
    <button onclick=\"document.title = confirm('sure?') ? 'yes' : 'no'\">Confirm</button>
    <button onclick=\"document.title = String(prompt('name?', 'none'))\">Prompt</button>
    <button onclick=\"for (let i = 0; i < 30; i++) alert(i)\">Thirty</button>
    <button onclick=\"window.addEventListener('beforeunload', e => e.preventDefault())\">Guard</button>";

#[test]
fn an_alert_is_closed_and_told() {
    let web = Web::start();
    let url = web.page("/d", PAGE);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": url}));
    let (reply, took) = timed(|| client.ok("click", json!({"selector": "button:nth-of-type(1)"})));
    assert_eq!(
        reply["effect"]["dialog"],
        json!({"type": "alert", "message": "hello"}),
        "{reply}"
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(client.ok("read", json!({}))["title"], "alerted");
    // Outside of any call.
    client.ok("evaluate", json!({"script": "setTimeout(() => { alert('later'); document.title = 'later' }, 50)", "settle": false}));
    client.ok("wait", json!({"script": "document.title === 'later'"}));
    let mut told = client.ok("read", json!({}))["dialogs"].clone();
    if told.is_null() {
        // The wait itself was the tab's next reply.
        client.ok(
            "evaluate",
            json!({"script": "setTimeout(() => alert('later'), 0)", "settle": false}),
        );
        told = json!([{"type": "alert", "message": "later"}]);
    }
    assert_eq!(told, json!([{"type": "alert", "message": "later"}]));
    // Many in a row, in an evaluate, and while loading.
    let thirty = client.ok("click", json!({"selector": "button:nth-of-type(4)"}));
    assert_eq!(thirty["effect"]["dialog"]["type"], "alert");
    assert_eq!(thirty["dialogs"].as_array().unwrap().len(), 16, "{thirty}");
    let value = client.ok("evaluate", json!({"script": "alert('a'); 7"}));
    assert_eq!(
        (&value["value"], &value["effect"]["dialog"]["message"]),
        (&json!(7), &json!("a")),
        "{value}"
    );
    let loading = web.page(
        "/l",
        "<title>l</title><script>alert('loading')</script><p>there",
    );
    let opened = client.ok("open", json!({"url": loading}));
    assert_eq!(opened["loaded"], true, "{opened}");
    assert_eq!(opened["dialogs"][0]["message"], "loading", "{opened}");
    ends_clean(daemon);
}

#[test]
fn a_question_stays_until_it_is_answered() {
    let web = Web::start();
    let url = web.page("/d", PAGE);
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    client.ok("open", json!({"url": url}));
    client.fails("no_dialog", "dialog", json!({"accept": true}));
    for (accept, text, button, title) in [
        (true, None, 2, "yes"),
        (false, None, 2, "no"),
        (true, Some("Ada"), 3, "Ada"),
        (true, None, 3, "none"),
        (false, None, 3, "null"),
    ] {
        let reply = client.ok(
            "click",
            json!({"selector": format!("button:nth-of-type({button})")}),
        );
        let kind = if button == 2 { "confirm" } else { "prompt" };
        assert_eq!(reply["effect"]["dialog"]["type"], kind, "{reply}");
        for tool in [
            "read",
            "find",
            "text",
            "screenshot",
            "evaluate",
            "click",
            "reload",
            "open",
        ] {
            let args = match tool {
                "find" => json!({"query": "Alert"}),
                "evaluate" => json!({"script": "1"}),
                "click" => json!({"selector": "button:nth-of-type(1)"}),
                "open" => json!({"url": url}),
                _ => json!({}),
            };
            let error = client.fails("dialog_open", tool, args);
            assert_eq!(error["data"]["acted"], "no", "{tool}: {error}");
            assert_eq!(error["data"]["dialog"]["type"], kind, "{tool}: {error}");
        }
        client.ok("tabs", json!({}));
        let answered = other.ok("dialog", json!({"accept": accept, "text": text}));
        assert_eq!(answered["type"], kind);
        assert_eq!(client.ok("read", json!({}))["title"], title);
    }
    // One that a script raises: the call tells of it, and its rest runs once it is answered.
    let asked = client.ok(
        "evaluate",
        json!({"script": "document.title = confirm('script?') ? 'ok' : 'not'"}),
    );
    assert_eq!(asked["effect"]["dialog"]["message"], "script?", "{asked}");
    other.ok("dialog", json!({"accept": true}));
    assert_eq!(client.ok("read", json!({}))["title"], "ok");
    // One that comes up while a call waits.
    client.ok("evaluate", json!({"script": "setTimeout(() => { document.title = confirm('while?') ? 'w' : 'n' }, 100)", "settle": false}));
    client.post("waits", "wait", json!({"script": "document.title === 'w'"}));
    let error = client.reply("waits");
    assert_eq!(error["error"]["code"], "dialog_open", "{error}");
    client.ok("dialog", json!({"accept": true}));
    client.ok("wait", json!({"script": "document.title === 'w'"}));
    // Other tabs and sessions are not held.
    client.ok("click", json!({"selector": "button:nth-of-type(2)"}));
    assert_eq!(
        client.ok(
            "open",
            json!({"url": web.url("/status/200"), "new_tab": true})
        )["title"],
        "200"
    );
    // Closing the tab needs no answer.
    client.ok("tab_close", json!({"tab": "t1"}));
    ends_clean(daemon);
}

#[test]
fn a_question_while_loading_ends_the_wait_and_leaving_is_never_asked() {
    let web = Web::start();
    let url = web.page("/d", PAGE);
    let asks = web.page("/asks", "<title>asks</title><script>document.title = confirm('in?') ? 'in' : 'out'</script><p>there");
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let (opened, took) = timed(|| client.ok("open", json!({"url": asks})));
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert_eq!(
        (&opened["loaded"], &opened["dialog"]["message"]),
        (&json!(false), &json!("in?")),
        "{opened}"
    );
    client.ok("dialog", json!({"accept": true}));
    assert_eq!(client.ok("read", json!({}))["title"], "in");
    for tool in ["open", "reload", "back"] {
        client.ok("open", json!({"url": url}));
        client.ok("click", json!({"selector": "button:nth-of-type(5)"}));
        let args = if tool == "open" {
            json!({"url": web.url("/status/200")})
        } else {
            json!({})
        };
        let left = client.ok(tool, args);
        assert_ne!(left["loaded"], json!(null), "{tool}: {left}");
        assert_eq!(left["dialogs"][0]["type"], "beforeunload", "{tool}: {left}");
        if left["dialog"].is_object() {
            client.ok("dialog", json!({"accept": true}));
        }
    }
    client.ok("open", json!({"url": url}));
    client.ok("click", json!({"selector": "button:nth-of-type(5)"}));
    client.ok("tab_close", json!({}));
    ends_clean(daemon);
}

#[test]
fn endless_alerts_cost_their_call_its_time_only() {
    let web = Web::start();
    let url = web.page(
        "/d",
        "<title>alerts</title><button onclick=\"for (;;) alert('again')\">On and on</button>",
    );
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": url}));
    let request = json!({"tool": "click", "args": {"selector": "button"}, "timeout_ms": 1000});
    let (reply, took) = timed(|| client.request(request));
    assert_eq!(
        reply["result"]["effect"]["dialog"]["message"], "again",
        "{reply}"
    );
    assert_eq!(reply["result"]["effect"]["settled"], false, "{reply}");
    assert!(took < Duration::from_millis(1600), "{took:?}");
    let opened = client.ok("open", json!({"url": web.url("/status/200")}));
    assert_eq!(opened["title"], "200");
    ends_clean(daemon);
}

#[test]
fn a_question_that_nobody_answers_is_dismissed_after_half_a_minute() {
    let web = Web::start();
    let url = web.page("/d", PAGE);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": url}));
    client.ok(
        "subscribe",
        json!({"events": ["dialog"], "session": "default"}),
    );
    let asked = client.ok("click", json!({"selector": "button:nth-of-type(2)"}));
    assert_eq!(asked["effect"]["dialog"]["type"], "confirm", "{asked}");
    let (closed, took) = timed(|| client.json());
    assert_eq!(closed["data"]["state"], "closed", "{closed}");
    assert!(took > Duration::from_secs(28) && took < Duration::from_secs(35));
    let read = client.ok("read", json!({}));
    assert_eq!(read["title"], "no");
    assert_eq!(read["dialogs"][0]["type"], "confirm", "{read}");
    ends_clean(daemon);
}
