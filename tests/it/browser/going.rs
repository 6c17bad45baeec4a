//! Navigation: what a document's coming, going and not coming looks like to a caller.

use std::time::Duration;

use serde_json::json;

use super::{ends_clean, timed};
use crate::support::Daemon;
use crate::web::Web;

#[test]
fn http_answers_of_every_kind() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for status in [200, 404, 500] {
        let opened = client.ok(
            "open",
            json!({"url": web.url(&format!("/status/{status}"))}),
        );
        assert_eq!(
            (&opened["status"], &opened["loaded"]),
            (&json!(status), &json!(true)),
            "{opened}"
        );
    }
    // The page stays where it is.
    let none = client.ok("open", json!({"url": web.url("/status/204")}));
    assert_eq!(
        (&none["status"], &none["title"]),
        (&json!(204), &json!("500")),
        "{none}"
    );
    let redirected = client.ok("open", json!({"url": web.url("/redirect/5")}));
    assert_eq!(
        (&redirected["status"], &redirected["url"]),
        (&json!(200), &json!(web.url("/status/200")))
    );
    let download = client.call("open", json!({"url": web.url("/download")}));
    assert!(
        download["ok"] == false || download["result"]["download"].is_object(),
        "{download}"
    );
    assert_eq!(
        client.ok("read", json!({}))["title"],
        "200",
        "a download leaves the page"
    );
    // Schemes.
    assert_eq!(
        client.ok("open", json!({"url": "about:blank"}))["url"],
        "about:blank"
    );
    assert_eq!(
        client.ok("open", json!({"url": "data:text/html,<title>d</title>"}))["title"],
        "d"
    );
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://127.0.0.1/",
    ] {
        client.fails("blocked", "open", json!({"url": url}));
    }
    client.fails("bad_request", "open", json!({"url": "http://"}));
    ends_clean(daemon);
}

#[test]
fn what_the_network_refuses_says_so() {
    let web = Web::start();
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("open", json!({"url": web.url("/status/200")}));
    for (url, error) in [
        (
            format!("http://127.0.0.1:{free}/"),
            "net::ERR_CONNECTION_REFUSED",
        ),
        (
            web.url("/status/200").replace("http:", "https:"),
            "net::ERR_CONNECTION_CLOSED",
        ),
        (
            "http://nowhere.invalid/".to_owned(),
            "net::ERR_NAME_NOT_RESOLVED",
        ),
        ("http://127.0.0.1:1/".to_owned(), "net::ERR_UNSAFE_PORT"),
    ] {
        let failed = client.fails("nav_failed", "open", json!({"url": url}));
        assert_eq!(failed["data"]["net_error"], error, "{failed}");
    }
    // The error page is a page: it is read, reloaded, left.
    client.ok("read", json!({}));
    let again = client.call("reload", json!({}));
    assert!(
        again["ok"] == true || again["error"]["code"] == "nav_failed",
        "{again}"
    );
    assert_eq!(
        client.ok("open", json!({"url": web.url("/status/200")}))["title"],
        "200"
    );
    ends_clean(daemon);
}

#[test]
fn a_server_that_does_not_answer_leaves_the_page_as_it_was() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let opened = client.ok("open", json!({"url": web.url("/status/200")}));
    let button = client.find_ref("button", "200");
    let request = json!({"tool": "open", "args": {"url": web.url("/never/a")}, "timeout_ms": 700});
    let (error, took) = timed(|| client.fails_with("timeout", request));
    assert!(error["data"]["acted"].is_string(), "{error}");
    assert!(took < Duration::from_millis(1200), "{took:?}");
    client.ok("click", json!({"ref": button}));
    assert_eq!(client.ok("read", json!({}))["url"], opened["url"]);
    let stalled = client
        .request(json!({"tool": "open", "args": {"url": web.url("/stall")}, "timeout_ms": 1500}));
    assert_eq!(
        (&stalled["ok"], &stalled["result"]["loaded"]),
        (&json!(true), &json!(false)),
        "{stalled}"
    );
    assert_eq!(
        client.ok(
            "open",
            json!({"url": web.url("/stall"), "wait": "commit", "read": false})
        )["loaded"],
        true
    );
    let open = web.page("/open", "<title>open</title><iframe></iframe><script>document.querySelector('iframe').contentDocument.open()</script><button>B</button>");
    let half = client.request(json!({"tool": "open", "args": {"url": open}, "timeout_ms": 1500}));
    assert_eq!(
        (&half["ok"], &half["result"]["loaded"]),
        (&json!(true), &json!(false)),
        "{half}"
    );
    let text = client.ok("read", json!({"format": "outline"}));
    assert!(
        text["outline"].as_str().unwrap().contains("button \"B\""),
        "{text}"
    );
    ends_clean(daemon);
}

#[test]
fn pages_that_go_elsewhere_by_themselves() {
    let web = Web::start();
    let target = web.url("/status/200");
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let replace = web.page(
        "/replace",
        &format!("<title>r</title><script>location.replace('{target}')</script>"),
    );
    let opened = client.ok("open", json!({"url": replace}));
    assert_eq!(
        (&opened["url"], &opened["title"], &opened["loaded"]),
        (&json!(target), &json!("200"), &json!(true))
    );
    let refresh = web.page(
        "/refresh",
        &format!("<title>m</title><meta http-equiv=refresh content='0;url={target}'>"),
    );
    client.ok("open", json!({"url": refresh}));
    client.ok("wait", json!({"url": "/status/200"}));
    assert_eq!(client.ok("read", json!({}))["title"], "200");
    // An unknown scheme is dropped, the page stays.
    let mail = web.page("/mail", "<title>mail</title><a href='mailto:a@b.c'>Write</a><a href='foo:bar'>Foo</a><a href='/download'>Get</a><a href='#end'>End</a><a href='javascript:document.title=9'>Script</a>");
    client.ok("open", json!({"url": mail}));
    for name in ["Write", "Foo", "Get"] {
        let link = client.find_ref("link", name);
        let (clicked, took) = timed(|| client.ok("click", json!({"ref": link})));
        assert!(took < Duration::from_secs(4), "{name}: {took:?} {clicked}");
        assert_eq!(client.ok("read", json!({}))["title"], "mail", "{name}");
    }
    let link = client.find_ref("link", "End");
    let clicked = client.ok("click", json!({"ref": link}));
    assert_eq!(
        clicked["effect"]["navigated"],
        format!("{mail}#end"),
        "{clicked}"
    );
    let same = client.ok("open", json!({"url": format!("{mail}#other")}));
    assert_eq!(
        (&same["url"], &same["loaded"]),
        (&json!(format!("{mail}#other")), &json!(true))
    );
    let link = client.find_ref("link", "Script");
    client.ok("click", json!({"ref": link}));
    assert_eq!(client.ok("read", json!({}))["title"], "9");
    ends_clean(daemon);
}

#[test]
fn history_and_its_ends() {
    let web = Web::start();
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let urls: Vec<String> = (200..203)
        .map(|n| web.url(&format!("/status/{n}")))
        .collect();
    for url in &urls {
        client.ok("open", json!({"url": url}));
    }
    let error = client.fails("no_history", "forward", json!({}));
    assert!(error["message"].is_string());
    for url in [&urls[1], &urls[0]] {
        let back = client.ok("back", json!({}));
        assert_eq!(
            (&back["url"], &back["loaded"]),
            (&json!(url), &json!(true)),
            "{back}"
        );
    }
    for url in [&urls[1], &urls[2]] {
        assert_eq!(client.ok("forward", json!({}))["url"], *url);
    }
    client.ok(
        "evaluate",
        json!({"script": "history.pushState(1, '', '?pushed')"}),
    );
    assert_eq!(client.ok("back", json!({}))["url"], urls[2]);
    assert_eq!(client.ok("reload", json!({}))["status"], 202);
    while client.call("back", json!({"read": false}))["ok"] == true {}
    client.fails("no_history", "back", json!({}));
    ends_clean(daemon);
}

#[test]
fn the_first_document_of_a_tab_is_read_at_once_every_time() {
    let web = Web::start();
    let url = web.page(
        "/p",
        "<title>p</title><button>B</button><iframe srcdoc='<button>In</button>'></iframe>",
    );
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for round in 0..15 {
        let opened = client.ok("open", json!({"url": url, "new_tab": true}));
        let names: Vec<_> = opened["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|n| n["role"] == "button")
            .map(|n| n["name"].clone())
            .collect();
        assert_eq!(names, ["B", "In"], "round {round}: {opened}");
        client.ok("tab_close", json!({}));
    }
    ends_clean(daemon);
}
