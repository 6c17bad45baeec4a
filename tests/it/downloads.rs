//! Downloads, and what else a page can ask of a browser.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::pages::{Pages, answer, html};
use crate::support::{Client, Daemon};

const PAGE: &str = r#"<!doctype html><title>here</title>
<a id=plain href=/file>Plain</a> <a id=blank href=/file target=_blank>Blank</a>
<a id=data download=note.txt href="data:text/plain,hello">Data</a>
<button id=blob onclick="const a = document.createElement('a'); a.href = window.URL.createObjectURL(new Blob(['hi there']));
  a.download = '../.b.txt'; a.click()">Blob</button>
<a id=mail href="mailto:a@example.com">Mail</a>
<button id=print onclick="print(); document.title = 'printed'">Print</button>
<button id=notify onclick="Notification.requestPermission().then((r) => { document.title = r })">Notify</button>
<button id=lock onclick="document.body.requestPointerLock()">Lock</button>
<button id=full onclick="document.documentElement.requestFullscreen().then(() => { document.title = 'full' })">Full</button>"#;

fn site() -> Pages {
    Pages::serve(|path| match path {
        "/file" => {
            let headers = [
                "content-type: application/octet-stream",
                "content-disposition: attachment; filename=\"../report 1.pdf\"",
            ];
            answer("200 OK", &headers, vec![b'x'; 100_000])
        }
        "/auth" => answer(
            "401 Unauthorized",
            &["www-authenticate: Basic realm=\"x\""],
            "no",
        ),
        _ => html(PAGE),
    })
}

fn ok(client: &mut Client, tool: &str, args: Value) -> Value {
    let reply = client.call(tool, args.clone());
    assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
    reply["result"].clone()
}

fn kept(download: &Value, bytes: u64, name: &str) {
    assert_eq!(download["done"], true, "{download}");
    assert_eq!(download["bytes"], bytes, "{download}");
    let path = Path::new(download["path"].as_str().unwrap());
    let meta = fs::metadata(path).unwrap();
    assert_eq!(meta.len(), bytes);
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let dir = fs::metadata(path.parent().unwrap()).unwrap();
    assert_eq!(dir.permissions().mode() & 0o777, 0o700);
    assert!(
        download["path"].as_str().unwrap().ends_with(name),
        "{download}"
    );
}

#[test]
fn downloads_are_followed_to_their_end() {
    let (daemon, pages) = (Daemon::start(), site());
    let mut client = daemon.client();
    let opened = ok(&mut client, "open", json!({"url": pages.url("/file")}));
    kept(&opened["download"], 100_000, "-_report 1.pdf");
    assert!(opened["nodes"].is_null(), "{opened}");
    ok(
        &mut client,
        "open",
        json!({"url": pages.url("/"), "read": false}),
    );
    for (id, bytes, name) in [
        ("plain", 100_000, "-_report 1.pdf"),
        ("blank", 100_000, "-_report 1.pdf"),
        ("data", 5, "-note.txt"),
        ("blob", 8, ".b.txt"),
    ] {
        let clicked = ok(&mut client, "click", json!({"selector": format!("#{id}")}));
        kept(&clicked["effect"]["download"], bytes, name);
        assert!(clicked["effect"]["navigated"].is_null(), "{clicked}");
    }
    // The window that was opened only for its download is gone.
    let tabs = ok(&mut client, "tabs", json!({}));
    assert_eq!(tabs["tabs"].as_array().unwrap().len(), 1, "{tabs}");
    assert_eq!(tabs["tabs"][0]["title"], "here");
    // Nothing is left of what the browser called them.
    let incoming = daemon.dir.path().join("cache/tabd/incoming");
    assert_eq!(fs::read_dir(incoming).unwrap().count(), 0);
}

#[test]
fn what_a_page_asks_of_the_browser_holds_nobody_up() {
    let (daemon, pages) = (Daemon::start(), site());
    let mut client = daemon.client();
    let opened = ok(
        &mut client,
        "open",
        json!({"url": pages.url("/auth"), "read": false}),
    );
    assert_eq!(opened["status"], 401);
    ok(
        &mut client,
        "open",
        json!({"url": pages.url("/"), "read": false}),
    );
    for (id, title) in [
        ("mail", "here"),
        ("print", "printed"),
        ("notify", "denied"),
        ("full", "full"),
        ("lock", "full"),
        ("print", "printed"),
    ] {
        ok(&mut client, "click", json!({"selector": format!("#{id}")}));
        let script = format!("document.title === '{title}'");
        let waited = ok(&mut client, "wait", json!({"script": script}));
        assert!(waited["waited_ms"].is_u64(), "{id}");
    }
}
