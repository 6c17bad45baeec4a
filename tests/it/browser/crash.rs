//! Browsers and renderers that die, between calls and during them, and daemons that do.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::{
    busy_renderer, ends_clean, eventually, left_of, members, murder, processes_with, timed,
};
use crate::support::{Daemon, Dir};
use crate::web::Web;

const FORM: &str = "<title>form</title>
    <script>const ask = path => { const r = new XMLHttpRequest; r.open('GET', path, false); r.send() }</script>
    <button onclick=\"ask('/never/click')\">Hang</button>
    <input aria-label=Name oninput=\"ask('/never/type')\">";

#[test]
fn a_browser_that_dies_fifty_times_costs_no_call_its_answer() {
    let web = Web::start();
    let form = web.page("/form", FORM);
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": form}));
    let mut browsers = Vec::new();
    for round in 0..50 {
        let old = client.find_ref("button", "Hang");
        let pid = client.browser_pid();
        browsers.push(pid);
        let hang = match round % 10 {
            1 => Some((
                "open",
                json!({"url": web.url("/never/open")}),
                "/never/open",
            )),
            3 => Some(("click", json!({"ref": old}), "/never/click")),
            5 => Some((
                "type",
                json!({"selector": "input", "text": "a"}),
                "/never/type",
            )),
            7 => Some((
                "evaluate",
                json!({"script": "fetch('/never/evaluate')"}),
                "/never/evaluate",
            )),
            9 => Some(("reload", json!({"read": false}), "")),
            _ => None,
        };
        match hang {
            Some((tool, args, path)) => {
                let before = web.hits(path);
                client.post("hangs", tool, args);
                if !path.is_empty() {
                    web.wait_for(path, before + 1);
                }
                murder(pid);
                let reply = client.reply("hangs");
                if tool == "reload" {
                    // Killed at any moment: done, not repeated, or run in the next browser.
                    let code = &reply["error"]["code"];
                    assert!(reply["ok"] == true || code == "browser_crashed", "{reply}");
                } else {
                    assert_eq!(reply["error"]["code"], "browser_crashed", "{tool}: {reply}");
                    let acted = reply["error"]["data"]["acted"].as_str();
                    assert!(matches!(acted, Some("yes" | "unknown")), "{tool}: {reply}");
                    assert_eq!(web.hits(path), before + 1, "{tool} was repeated");
                }
            }
            None if round % 4 == 2 => {
                // A call that only looks is made again, unseen.
                client.post("looks", "read", json!({}));
                murder(pid);
                let reply = client.reply("looks");
                assert_eq!(reply["result"]["title"], "form", "{reply}");
            }
            None => murder(pid),
        }
        // A dying browser may still answer.
        eventually("its death is known", Duration::from_secs(5), || {
            client.ok("info", json!({}))["browser"]["deaths"] == round + 1
        });
        let stale = client.fails("stale_ref", "click", json!({"ref": old}));
        assert_eq!(stale["data"]["why"], "restarted", "round {round}: {stale}");
        let read = client.ok("read", json!({}));
        assert_eq!(
            (&read["title"], &read["url"]),
            (&json!("form"), &json!(form))
        );
        // So that it is not left down.
        client.ok("open", json!({"url": form, "read": false}));
    }
    assert_eq!(client.ok("info", json!({}))["browser"]["deaths"], 50);
    ends_clean(daemon);
    assert!(
        browsers
            .into_iter()
            .all(|browser| members(browser).is_empty())
    );
}

#[test]
fn tabs_come_back_where_they_were_when_they_are_first_used() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let (one, two, there) = (
        web.url("/status/201"),
        web.url("/status/202"),
        web.url("/status/203"),
    );
    let first = client.ok("open", json!({"url": one}));
    let second = client.ok("open", json!({"url": two, "new_tab": true}));
    client.ok_in("other", "open", json!({"url": there}));
    let before = web.hits("/status/201");
    client.murder_browser();
    let tabs = client.ok("tabs", json!({}))["tabs"].clone();
    assert_eq!(
        (&tabs[0]["url"], &tabs[1]["url"]),
        (&json!(one), &json!(two))
    );
    assert_eq!(client.ok("read", json!({}))["url"], two);
    assert_eq!(web.hits("/status/201"), before, "not used yet");
    assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["url"], one);
    let read = client.ok("read", json!({"tab": first["tab"]}));
    assert_eq!((&read["url"], &read["tab"]), (&json!(one), &first["tab"]));
    assert_eq!(client.ok_in("other", "read", json!({}))["url"], there);
    let stale = client.fails(
        "stale_ref",
        "click",
        json!({"ref": second["nodes"].as_array().unwrap().iter()
        .find_map(|n| n["ref"].as_str()).unwrap()}),
    );
    assert_eq!(stale["data"]["why"], "restarted", "{stale}");
    ends_clean(daemon);
}

#[test]
fn a_tab_whose_return_was_cut_short_still_returns() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    web.let_through("a");
    let gate = web.url("/gate/a");
    client.ok("open", json!({"url": gate}));
    for _ in 0..3 {
        client.murder_browser();
        // Too short for a browser to start in, and for anything to load.
        client.fails_with("timeout", json!({"tool": "read", "timeout_ms": 60}));
        client.write("{\"id\":\"cut\",\"tool\":\"read\"}\n{\"id\":\"cancel\",\"tool\":\"cancel\",\"args\":{\"id\":\"cut\"}}\n");
        client.reply("cut");
        client.reply("cancel");
        assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["url"], gate);
        let read = client.request(json!({"tool": "read"}));
        assert_eq!(read["result"]["url"], gate, "{read}");
        client.ok("open", json!({"url": gate}));
    }
    ends_clean(daemon);
}

#[test]
fn after_three_deaths_it_stays_down_until_open() {
    let web = Web::start();
    let url = web.url("/status/200");
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": url}));
    for _ in 0..2 {
        client.murder_browser();
        assert_eq!(client.ok("read", json!({}))["url"], url);
    }
    client.murder_browser();
    for tool in ["read", "reload", "back"] {
        let error = client.fails("browser_crashed", tool, json!({}));
        assert_eq!(error["data"]["acted"], "no", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("open"), "{error}");
    }
    assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["url"], url);
    client.ok("open", json!({"url": url}));
    assert_eq!(client.ok("read", json!({}))["url"], url);
    ends_clean(daemon);
}

#[test]
fn a_dead_renderer_costs_its_tab_only() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let kept = web.url("/status/200");
    client.ok_in(
        "kept",
        "open",
        json!({"url": web.other_site("/status/200")}),
    );
    let doomed = client.ok("open", json!({"url": kept, "new_tab": true}));
    let other = client.ok(
        "open",
        json!({"url": web.other_site("/status/201"), "new_tab": true}),
    );
    client.ok("tab_select", json!({"tab": doomed["tab"]}));
    client.post("waits", "evaluate", json!({"script": "for (;;);"}));
    let mut watcher = daemon.client();
    let pid = busy_renderer(&daemon);
    let began = Instant::now();
    murder(pid);
    let reply = client.reply("waits");
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(reply["error"]["code"], "tab_crashed", "{reply}");
    assert_ne!(reply["error"]["data"]["acted"], "no", "{reply}");
    for tool in ["read", "text", "screenshot"] {
        client.fails("tab_crashed", tool, json!({}));
    }
    let error = client.fails("tab_crashed", "click", json!({"selector": "button"}));
    assert_eq!(error["data"]["acted"], "no", "{error}");
    assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["crashed"], true);
    // Elsewhere nothing has happened.
    assert_eq!(watcher.ok_in("kept", "read", json!({}))["title"], "200");
    assert_eq!(client.ok("reload", json!({}))["url"], kept);
    assert_eq!(client.ok("read", json!({}))["title"], "200");
    assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["crashed"], false);
    let again = client.ok(
        "open",
        json!({"url": web.other_site("/status/202"), "tab": other["tab"]}),
    );
    assert_eq!(again["title"], "202");
    assert_eq!(client.ok("info", json!({}))["browser"]["deaths"], 0);
    ends_clean(daemon);
}

#[test]
fn a_dead_frame_costs_its_frame_only() {
    let web = Web::start();
    web.page(
        "/inner",
        "<button onclick='setTimeout(() => { for (;;); })'>Inner</button>",
    );
    let frame = web.other_site("/inner");
    let outer = web.page(
        "/outer",
        &format!("<title>outer</title><button>Mine</button><iframe src='{frame}'></iframe>"),
    );
    // Not every browser keeps these two sites apart by itself.
    let daemon = Daemon::with(&["--browser-arg=--site-per-process"]);
    let mut client = daemon.client();
    client.ok("open", json!({"url": outer}));
    let mine = client.find_ref("button", "Mine");
    let inner = client.find_ref("button", "Inner");
    let loops = client.request(
        json!({"tool": "click", "args": {"ref": inner, "settle": false}, "timeout_ms": 1000}),
    );
    assert_eq!(loops["ok"], true, "{loops}");
    murder(busy_renderer(&daemon));
    let gone = |client: &mut crate::support::Client| {
        client.ok("find", json!({"query": "Inner"}))["total"] == 0
    };
    eventually("the frame is gone", Duration::from_secs(5), || {
        gone(&mut client)
    });
    assert_eq!(client.ok("tabs", json!({}))["tabs"][0]["crashed"], false);
    let clicked = client.ok("click", json!({"ref": mine}));
    assert_eq!(clicked["target"]["name"], "Mine");
    let lost = client.fails("stale_ref", "click", json!({"ref": inner}));
    assert_eq!(lost["data"]["why"], "frame_gone", "{lost}");
    ends_clean(daemon);
}

#[test]
fn a_killed_daemon_leaves_no_process_and_the_next_start_sweeps_its_files() {
    let web = Web::start();
    let mut daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    // The worst case: a renderer that listens to nobody.
    client.ok(
        "evaluate",
        json!({"script": "setTimeout(() => { for (;;); })", "settle": false}),
    );
    let browser = client.browser_pid();
    assert!(members(browser).len() > 2);
    daemon.signal(Signal::SIGKILL);
    daemon.wait();
    let dir = format!("{}/", daemon.dir.path().display());
    eventually("no process is left", Duration::from_secs(2), || {
        processes_with(&dir).is_empty() && members(browser).is_empty()
    });
    let left = std::mem::replace(&mut daemon.dir, Dir::new());
    assert!(
        std::fs::read_dir(left.path().join("tabd/profiles"))
            .unwrap()
            .count()
            > 1
    );
    let next = Daemon::in_dir(left, &[]);
    next.client().ok("ping", json!({}));
    ends_clean(next);
}

#[test]
fn sigterm_at_any_moment_leaves_nothing() {
    let web = Web::start();
    // While it starts: the calls are under way for longer and longer.
    for delay in [0, 5, 20, 60, 120, 250, 500] {
        let daemon = Daemon::start();
        let mut client = daemon.client();
        client.post("open", "open", json!({"url": web.url("/never/b")}));
        // Answered at once: so the line before it has been taken.
        client.post("ping", "ping", json!({}));
        client.reply("ping");
        std::thread::sleep(Duration::from_millis(delay));
        let ((), took) = timed(|| ends_clean(daemon));
        assert!(took < Duration::from_secs(4), "after {delay} ms: {took:?}");
        let reply = client.reply("open");
        let code = reply["error"]["code"].as_str();
        assert!(
            matches!(code, Some("cancelled" | "shutting_down")),
            "{reply}"
        );
        assert_eq!(client.rest(), "");
    }
    // During a call in a page that is stuck.
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    client.ok(
        "evaluate",
        json!({"script": "setTimeout(() => { for (;;); })", "settle": false}),
    );
    client.post("read", "read", json!({}));
    client.post("ping", "ping", json!({}));
    client.reply("ping");
    ends_clean(daemon);
    let reply = client.reply("read");
    assert_eq!(reply["error"]["code"], "cancelled", "{reply}");
}

#[test]
fn sigterm_right_after_a_death_leaves_nothing() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    client.murder_browser();
    ends_clean(daemon);
}

#[test]
fn shutdown_and_the_idle_exit_take_the_browser_along() {
    let web = Web::start();
    let mut daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    client.ok("shutdown", json!({}));
    assert_eq!(daemon.wait().code(), Some(0));
    assert!(left_of(&daemon).is_empty(), "{:#?}", left_of(&daemon));

    let mut daemon = Daemon::with(&["--idle-secs", "0.3"]);
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    assert_eq!(daemon.wait().code(), Some(0));
    assert!(left_of(&daemon).is_empty(), "{:#?}", left_of(&daemon));
}

#[test]
fn a_caller_that_gives_up_on_the_start_leaves_one_browser() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut clients: Vec<_> = (0..4).map(|_| daemon.client()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        let session = format!("s{n}");
        let url = web.url("/status/200");
        client.write(format!("{}\n", json!({"id": "short", "tool": "open", "args": {"url": url}, "session": session, "timeout_ms": 20 + 20 * n})));
    }
    for client in &mut clients {
        let reply = client.reply("short");
        assert_eq!(reply["error"]["code"], "timeout", "{reply}");
        assert_eq!(reply["error"]["data"]["acted"], "no", "{reply}");
    }
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    let pid = client.browser_pid();
    let dir = format!("{}/", daemon.dir.path().display());
    let own = daemon.pid();
    let browsers = processes_with(&dir)
        .into_iter()
        .filter(|p| p.parent == own.as_raw())
        .collect::<Vec<_>>();
    assert_eq!(browsers.iter().map(|p| p.pid).collect::<Vec<_>>(), [pid]);
    assert_eq!(client.ok("info", json!({}))["browser"]["starts"], 1);
    ends_clean(daemon);
}
