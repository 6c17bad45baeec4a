//! Tabs: which one a call is for, those that pages open and close, and many of them.

use serde_json::{Value, json};

use super::ends_clean;
use crate::support::{Client, Daemon};
use crate::web::Web;

fn tabs(client: &mut Client, session: &str) -> Vec<Value> {
    client.ok_in(session, "tabs", json!({}))["tabs"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn a_tab_that_a_page_opens_joins_its_session_unselected() {
    let web = Web::start();
    let there = web.url("/status/201");
    let opener = web.page("/opener", &format!("<title>opener</title>
        <button onclick=\"w = window.open('{there}')\">Open</button>
        <a href='{there}' target=_blank>Blank</a>
        <a href='{there}' target=_blank rel=opener>Related</a>
        <button onclick=\"window.open('{there}', '_blank', 'noopener')\">Apart</button>
        <button onclick=\"window.open('about:blank').document.write('<title>written</title>')\">Written</button>
        <button onclick='w.close()'>Close it</button>"));
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for session in ["default", "other"] {
        let first = client.ok_in(session, "open", json!({"url": opener}))["tab"].clone();
        for (role, name) in [
            ("button", "Open"),
            ("link", "Blank"),
            ("link", "Related"),
            ("button", "Apart"),
            ("button", "Written"),
        ] {
            let found = client.ok_in(
                session,
                "find",
                json!({"role": role, "query": name, "exact": true}),
            );
            let clicked = client.ok_in(session, "click", json!({"ref": found["nodes"][0]["ref"]}));
            let opened = clicked["effect"]["opened"].clone();
            assert_eq!(
                opened.as_array().map(Vec::len),
                Some(1),
                "{session} {name}: {clicked}"
            );
            let all = tabs(&mut client, session);
            assert!(
                all.iter()
                    .any(|t| t["tab"] == opened[0] && t["active"] == false),
                "{name}: {all:?}"
            );
            assert!(
                all.iter().any(|t| t["tab"] == first && t["active"] == true),
                "{name}: {all:?}"
            );
            let title = if name == "Written" { "written" } else { "201" };
            client.ok_in(
                session,
                "wait",
                json!({"tab": opened[0], "script": format!("document.title === '{title}'")}),
            );
            if name != "Open" {
                client.ok_in(session, "tab_close", json!({"tab": opened[0]}));
                continue;
            }
            let close = client.ok_in(session, "find", json!({"query": "Close it"}));
            let clicked = client.ok_in(session, "click", json!({"ref": close["nodes"][0]["ref"]}));
            assert_eq!(clicked["effect"]["closed"], opened, "{clicked}");
        }
        assert_eq!(tabs(&mut client, session).len(), 1);
    }
    ends_clean(daemon);
}

#[test]
fn a_call_without_a_tab_says_which_there_are() {
    let web = Web::start();
    let url = web.url("/status/200");
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let error = client.fails("no_tab", "read", json!({}));
    assert_eq!(error["data"]["tabs"], json!([]), "{error}");
    let one = client.ok("open", json!({"url": url}))["tab"].clone();
    let new = client.ok("tab_new", json!({}));
    let two = new["tab"].clone();
    assert_ne!(one, two);
    assert_eq!(client.ok("read", json!({}))["tab"], two);
    assert_eq!(client.ok("read", json!({"tab": one}))["tab"], one);
    client.ok("tab_close", json!({}));
    let error = client.fails("no_tab", "read", json!({}));
    assert_eq!(error["data"]["tabs"][0]["tab"], one, "{error}");
    for tool in ["read", "tab_select", "tab_close", "reload"] {
        client.fails("no_tab", tool, json!({"tab": two}));
        client.fails("no_tab", tool, json!({"tab": "t999"}));
    }
    client.fails("bad_request", "read", json!({"tab": "seven"}));
    client.ok("tab_select", json!({"tab": one}));
    assert_eq!(client.ok("read", json!({}))["tab"], one);
    client.ok("tab_close", json!({}));
    let three = client.ok("open", json!({"url": url}))["tab"].clone();
    assert!(three != one && three != two);
    ends_clean(daemon);
}

#[test]
fn a_hundred_tabs_one_after_the_other_leave_nothing_behind() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    let mut rss = 0;
    for round in 0..100 {
        let tab = client.ok("tab_new", json!({}))["tab"].clone();
        client.ok("tab_close", json!({"tab": tab}));
        if round == 20 {
            rss = daemon.rss();
        }
    }
    let grown = daemon.rss().saturating_sub(rss);
    assert!(grown < 2 << 20, "{grown} bytes more after 80 tabs");
    assert_eq!(tabs(&mut client, "default").len(), 1);
    assert_eq!(client.ok("info", json!({}))["browser"]["tabs"], 1);
    ends_clean(daemon);
}
