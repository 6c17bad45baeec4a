//! What is seen of a page: pictures, markup, print, text, and waiting for it.
//!
//! The tests that run at a time share a daemon; each has a session of its own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Daemon, Dir};

/// A session of one's own.
struct Session {
    client: Client,
    name: String,
    daemon: Arc<Daemon>,
}

impl Session {
    fn new(name: &str) -> Session {
        static SHARED: Mutex<Weak<Daemon>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap();
        let daemon = shared.upgrade().unwrap_or_else(|| {
            let daemon = Arc::new(Daemon::start());
            *shared = Arc::downgrade(&daemon);
            daemon
        });
        Session {
            client: daemon.client(),
            name: name.to_owned(),
            daemon,
        }
    }

    /// With `html` open.
    fn on(name: &str, html: &str) -> Session {
        let mut session = Session::new(name);
        session.open(&page(html));
        session
    }

    fn open(&mut self, url: &str) {
        self.ok("open", json!({"url": url, "read": false}));
    }

    fn call(&mut self, tool: &str, args: Value, timeout_ms: u64) -> Value {
        self.client.request(
            json!({"tool": tool, "args": args, "session": self.name, "timeout_ms": timeout_ms}),
        )
    }

    /// The result of a call that succeeds.
    fn ok(&mut self, tool: &str, args: Value) -> Value {
        let reply = self.call(tool, args.clone(), 30_000);
        assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
        reply["result"].clone()
    }

    /// The error of a call that fails with `code`.
    fn fails(&mut self, tool: &str, args: Value, timeout_ms: u64, code: &str) -> Value {
        let reply = self.call(tool, args.clone(), timeout_ms);
        assert_eq!(reply["error"]["code"], code, "{tool} {args}: {reply}");
        reply["error"].clone()
    }

    fn evaluate(&mut self, script: &str) -> Value {
        self.ok("evaluate", json!({"script": script}))["value"].clone()
    }

    /// The colour of a picture's pixel as `r,g,b`, as the browser decodes it.
    fn pixel(&mut self, picture: &Value, x: u32, y: u32) -> String {
        let data = picture["data"].as_str().unwrap();
        let colour = self.evaluate(&format!(
            "const blob = new Blob([Uint8Array.from(atob('{data}'), c => c.charCodeAt(0))]);
             const image = await createImageBitmap(blob);
             const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
             g.drawImage(image, 0, 0);
             [...g.getImageData({x}, {y}, 1, 1).data.slice(0, 3)].join()"
        ));
        colour.as_str().unwrap().to_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.call("session_close", json!({"now": true}), 30_000);
        }
        let _ = &self.daemon;
    }
}

fn page(html: &str) -> String {
    let mut url = "data:text/html;charset=utf-8,".to_owned();
    for byte in html.bytes() {
        url.push_str(&format!("%{byte:02x}"));
    }
    url
}

/// A server of pages on loopback; `/held` is answered after the others have been asked for `/release`.
struct Site {
    address: String,
}

impl Site {
    fn new(pages: &'static [(&'static str, &'static str)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let held: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let held = held.clone();
                std::thread::spawn(move || serve(stream, pages, &held));
            }
        });
        Site { address }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

fn serve(mut stream: TcpStream, pages: &[(&str, &str)], held: &Mutex<Vec<TcpStream>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => request.extend_from_slice(&buffer[..n]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let answer = |mut stream: TcpStream, body: &str| {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
        let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
    };
    if path == "/held" {
        held.lock().unwrap().push(stream);
        return;
    }
    if path == "/release" {
        for stream in held.lock().unwrap().drain(..) {
            answer(stream, "released");
        }
    }
    let body = pages.iter().find(|(name, _)| *name == path);
    answer(stream, body.map_or("", |(_, body)| body));
}

const COLOURS: &str = "<!doctype html><body style='margin:0;background:#fff'>
    <div id=red style='width:300px;height:200px;background:#f00'></div>
    <div style='height:2000px'></div>
    <iframe id=frame style='border:10px solid #000;width:400px;height:300px;transform:scale(.5);transform-origin:0 0'
     srcdoc='<body style=\"margin:0\"><div style=\"height:900px\"></div><button style=\"width:200px;height:100px;background:#0f0;border:0\">inner</button>'>
    </iframe><div id=blue style='height:90px;background:#00f'></div>";

#[test]
fn a_picture_shows_what_was_asked_for() {
    let mut s = Session::on("picture", COLOURS);
    let view = s.ok("screenshot", json!({"inline": true}));
    assert_eq!(
        (&view["width"], &view["height"]),
        (&json!(1280), &json!(720))
    );
    assert_eq!(view["truncated"], false);
    assert_eq!(s.pixel(&view, 299, 199), "255,0,0");
    assert_eq!(s.pixel(&view, 301, 199), "255,255,255");

    let red = s.ok("screenshot", json!({"selector": "#red", "inline": true}));
    assert_eq!((&red["width"], &red["height"]), (&json!(300), &json!(200)));
    assert_eq!(s.pixel(&red, 0, 0), "255,0,0");
    assert_eq!(s.pixel(&red, 299, 199), "255,0,0");

    // Out of view, in a frame that is scaled and scrolls by itself.
    let found = s.ok("find", json!({"query": "inner", "role": "button"}));
    let inner = found["nodes"][0]["ref"].clone();
    let inner = s.ok("screenshot", json!({"ref": inner, "inline": true}));
    let size = |side: &str| inner[side].as_u64().unwrap();
    assert!((100..=101).contains(&size("width")), "{inner}");
    assert!((50..=51).contains(&size("height")), "{inner}");
    assert_eq!(s.pixel(&inner, 3, 3), "0,255,0");
    assert_eq!(s.pixel(&inner, 97, 47), "0,255,0");

    let whole = s.ok("screenshot", json!({"full_page": true, "inline": true}));
    let height = whole["height"].as_u64().unwrap();
    assert!(height > 2200, "{height}");
    let bottom = u32::try_from(height).unwrap() - 1;
    assert_eq!(s.pixel(&whole, 5, bottom), "0,0,255");
    assert_eq!(s.pixel(&whole, 5, 5), "255,0,0");
}

#[test]
fn boxes_with_refs_are_drawn_on_the_picture_and_not_in_the_page() {
    let mut s = Session::on(
        "annotate",
        "<body style='margin:0;background:#fff'><button style='position:absolute;left:100px;top:100px;width:80px;height:40px'>one</button>
         <iframe style='position:absolute;left:300px;top:200px;border:0;transform:scale(2);transform-origin:0 0'
         srcdoc='<body style=\"margin:0\"><a href=x style=\"display:block;width:50px;height:20px\">two</a>'></iframe>
         <p>no box</p><button hidden>hidden</button><a href=y style='position:absolute;top:3000px'>far</a>",
    );
    let markup = s.ok("html", json!({}));
    let seen = s.ok("screenshot", json!({"annotate": true, "inline": true}));
    let boxes: Vec<_> = seen["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["box"].clone())
        .collect();
    let at = |x, y, width, height| json!({"x": x, "y": y, "width": width, "height": height});
    assert_eq!(
        boxes,
        [at(100.0, 100.0, 80.0, 40.0), at(300.0, 200.0, 100.0, 40.0)]
    );
    assert_ne!(s.pixel(&seen, 140, 100), "255,255,255");
    assert_ne!(s.pixel(&seen, 180 - 1, 130), "255,255,255");
    // The label above the box, and nothing beside it.
    assert_ne!(s.pixel(&seen, 101, 90), "255,255,255");
    assert_eq!(s.pixel(&seen, 190, 90), "255,255,255");
    // They are refs as read has them.
    let r = seen["marks"][1]["ref"].clone();
    assert_eq!(
        s.ok("html", json!({"root": r, "outer": false}))["html"],
        "two"
    );
    let button = s.ok("find", json!({"query": "one"}))["nodes"][0]["ref"].clone();
    assert_eq!(seen["marks"][0]["ref"], button);

    let whole = s.ok(
        "screenshot",
        json!({"annotate": true, "full_page": true, "format": "webp"}),
    );
    assert_eq!(whole["marks"].as_array().unwrap().len(), 3);
    let part = s.ok("screenshot", json!({"annotate": true, "ref": button}));
    assert_eq!(
        (&part["width"], part["marks"].as_array().unwrap().len()),
        (&json!(80), 1)
    );
    assert!(s.ok("screenshot", json!({}))["marks"].is_null());
    assert_eq!(s.ok("html", json!({})), markup);
}

#[test]
fn taking_a_picture_changes_nothing() {
    let mut s = Session::on("no-trace", "<p id=a>here</p><div style='height:3000px'>");
    s.evaluate(
        "events = [];
         for (const name of ['resize', 'focus', 'blur', 'scroll', 'visibilitychange']) {
           addEventListener(name, () => events.push(name), true);
         }
         new MutationObserver(() => events.push('mutation'))
           .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
         undefined",
    );
    s.ok("screenshot", json!({}));
    s.ok("screenshot", json!({"selector": "#a"}));
    s.ok("html", json!({}));
    s.ok("pdf", json!({}));
    assert_eq!(s.evaluate("events.join()"), "");
}

#[test]
fn a_picture_has_a_format_a_limit_and_a_file() {
    let mut s = Session::on(
        "formats",
        "<body style='margin:0;background:linear-gradient(red,blue)'><div style='height:20000px'>",
    );
    let head =
        |reply: &Value| std::fs::read(reply["path"].as_str().unwrap()).unwrap()[..4].to_vec();
    let png = s.ok("screenshot", json!({}));
    assert_eq!(head(&png), b"\x89PNG");
    let small = s.ok("screenshot", json!({"format": "jpeg", "quality": 1}));
    let large = s.ok("screenshot", json!({"format": "jpeg", "quality": 100}));
    assert_eq!(head(&small)[..2], *b"\xff\xd8");
    assert!(small["bytes"].as_u64() < large["bytes"].as_u64());
    assert_eq!(
        head(&s.ok("screenshot", json!({"format": "webp"}))),
        b"RIFF"
    );
    let long = s.ok("screenshot", json!({"full_page": true, "format": "jpeg"}));
    assert_eq!(
        (&long["height"], &long["truncated"]),
        (&json!(16384), &json!(true))
    );
    assert_eq!(long["full"]["height"], 20000.0);
    for (args, argument) in [
        (json!({"quality": 50}), "quality"),
        (json!({"format": "png", "quality": 50}), "quality"),
        (json!({"format": "jpeg", "quality": 0}), "quality"),
        (json!({"format": "gif"}), "format"),
        (json!({"full_page": true, "selector": "p"}), "full_page"),
        (json!({"path": "a.png"}), "path"),
        (json!({"overwrite": true}), "overwrite"),
    ] {
        let error = s.fails("screenshot", args, 30_000, "bad_request");
        assert_eq!(error["data"]["argument"], argument, "{error}");
    }
}

#[test]
fn files_are_ones_own_and_never_overwritten_by_chance() {
    let mut s = Session::on("files", "<p>hello");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (tool, start) in [("screenshot", "screenshot-"), ("pdf", "pdf-")] {
        let own = s.ok(tool, json!({}));
        let path = Path::new(own["path"].as_str().unwrap());
        assert!(
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(start)
        );
        assert_eq!(mode(path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(
            std::fs::metadata(path).unwrap().len(),
            own["bytes"].as_u64().unwrap()
        );
        let other = s.ok(tool, json!({}));
        assert_ne!(own["path"], other["path"]);

        let dir = Dir::new();
        let at = |name: &str| dir.path().join(name);
        s.ok(tool, json!({"path": at("a")}));
        assert_eq!(mode(&at("a")), 0o600);
        std::fs::write(at("a"), "mine").unwrap();
        s.fails(tool, json!({"path": at("a")}), 30_000, "io");
        assert_eq!(std::fs::read(at("a")).unwrap(), b"mine");
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        s.fails(tool, json!({"path": at("link")}), 30_000, "io");
        s.fails(tool, json!({"path": at("dangling")}), 30_000, "io");
        s.ok(tool, json!({"path": at("link"), "overwrite": true}));
        assert_eq!(std::fs::read(at("a")).unwrap(), b"mine");
        assert!(at("link").symlink_metadata().unwrap().is_file());
        s.ok(tool, json!({"path": at("a"), "overwrite": true}));
        s.fails(
            tool,
            json!({"path": dir.path(), "overwrite": true}),
            30_000,
            "io",
        );
        s.fails(tool, json!({"path": at("no/such/dir")}), 30_000, "io");
        assert_eq!(dir.names(), ["a", "dangling", "link"]);
    }
}

#[test]
fn a_page_that_is_held_or_stuck_is_told_and_can_be_left() {
    let mut s = Session::on(
        "stuck",
        "<button onclick='setTimeout(() => confirm(1))'>ask</button>",
    );
    s.ok("click", json!({"selector": "button"}));
    for tool in ["screenshot", "pdf", "html", "text"] {
        let error = s.fails(tool, json!({}), 30_000, "dialog_open");
        assert_eq!(error["data"]["dialog"]["type"], "confirm", "{error}");
    }
    s.ok("dialog", json!({"accept": true}));
    s.ok("screenshot", json!({}));

    s.open(&page(
        "<button onclick='setTimeout(() => { for (;;); })'>spin</button>",
    ));
    s.ok("click", json!({"selector": "button", "settle": false}));
    // Until the page is stuck for sure: one that gets stuck while it owes a picture is roused.
    s.fails("wait", json!({"text": "never"}), 1_000, "timeout");
    for (tool, args) in [
        ("screenshot", json!({})),
        ("screenshot", json!({"full_page": true})),
        ("screenshot", json!({"selector": "button"})),
        ("pdf", json!({})),
    ] {
        let began = Instant::now();
        s.fails(tool, args, 400, "timeout");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    s.open(&page("<p>next"));
    assert_eq!(s.ok("text", json!({}))["text"], "next");
    s.ok("screenshot", json!({}));
}

#[test]
fn a_target_is_waited_for_and_must_show() {
    let mut s = Session::on(
        "targets",
        "<p hidden id=h>hidden</p><b>1</b><b>2</b><script>setTimeout(() => late.hidden = false, 300)</script><p hidden id=late>late",
    );
    s.fails("screenshot", json!({"selector": "#h"}), 300, "not_visible");
    s.fails("screenshot", json!({"selector": "i"}), 300, "not_found");
    let error = s.fails("screenshot", json!({"selector": "b"}), 5_000, "ambiguous");
    assert_eq!(error["data"]["count"], 2);
    s.ok("screenshot", json!({"selector": "b", "nth": 1}));
    s.ok("screenshot", json!({"selector": "#late"}));
    s.fails("screenshot", json!({"ref": "n999999"}), 5_000, "stale_ref");
}

#[test]
fn markup_comes_unaltered_and_in_parts() {
    let html = "<!DOCTYPE html><!-- a --><html lang=\"en\"><head><title>t</title></head><body><p id=\"p\" title=\"a&quot;b\">x\u{200b}y <b>\u{1f600}\u{1f601}</b></p><input name=\"outerHTML\"></body></html>";
    let mut s = Session::on("html", html);
    let whole = s.ok("html", json!({}));
    let text = whole["html"].as_str().unwrap();
    assert!(
        text.starts_with("<!DOCTYPE html>\n<!-- a -->\n<html lang=\"en\">"),
        "{text}"
    );
    assert!(
        text.contains("x\u{200b}y <b>\u{1f600}\u{1f601}</b>"),
        "{text}"
    );
    assert_eq!(whole["truncated"], false);
    assert_eq!(whole["total_chars"], text.chars().count());

    let p = "<p id=\"p\" title=\"a&quot;b\">x\u{200b}y <b>\u{1f600}\u{1f601}</b></p>";
    assert_eq!(s.ok("html", json!({"root": "#p"}))["html"], p);
    let inner = s.ok("html", json!({"root": "b", "outer": false}));
    assert_eq!(
        (&inner["html"], &inner["total_chars"]),
        (&json!("\u{1f600}\u{1f601}"), &json!(2))
    );
    let first = s.ok("html", json!({"root": "b", "outer": false, "max_chars": 1}));
    assert_eq!(
        (&first["html"], &first["truncated"]),
        (&json!("\u{1f600}"), &json!(true))
    );
    let second = s.ok(
        "html",
        json!({"root": "b", "outer": false, "max_chars": 1, "offset": 1}),
    );
    assert_eq!(
        (&second["html"], &second["truncated"]),
        (&json!("\u{1f601}"), &json!(false))
    );
    let beyond = s.ok("html", json!({"offset": 100_000}));
    assert_eq!(
        (&beyond["html"], &beyond["truncated"]),
        (&json!(""), &json!(false))
    );
    s.fails("html", json!({"root": "#nope"}), 5_000, "not_found");
    s.fails("html", json!({"root": "p["}), 5_000, "bad_request");
    s.fails("html", json!({"root": "n999999"}), 5_000, "stale_ref");
}

#[test]
fn print_has_pages_paper_and_limits() {
    let sheets = "<title>/Type /Pages /Count 99</title>".to_owned()
        + &"<p style='break-after:page'>sheet</p>".repeat(11)
        + "last";
    let mut s = Session::on("print", &sheets);
    let whole = s.ok(
        "pdf",
        json!({"paper": "a4", "background": true, "margin": 0, "scale": 0.8}),
    );
    assert_eq!(whole["pages"], 12);
    let file = std::fs::read(whole["path"].as_str().unwrap()).unwrap();
    assert!(file.starts_with(b"%PDF-"));
    assert_eq!(
        s.ok("pdf", json!({"pages": "2-3,5", "landscape": true}))["pages"],
        3
    );
    for (args, argument) in [
        (json!({"pages": "70"}), "pages"),
        (json!({"pages": "3-1"}), "pages"),
        (json!({"paper": "a99"}), "paper"),
        (json!({"margin": 1500}), "margin"),
        (json!({"scale": 3}), "scale"),
    ] {
        let error = s.fails("pdf", args, 30_000, "bad_request");
        assert_eq!(error["data"]["argument"], argument, "{error}");
    }
}

#[test]
fn text_is_what_a_person_would_copy() {
    let mut s = Session::on(
        "text",
        "<style>.u{text-transform:uppercase}</style><h1>Head</h1><nav>menu</nav><main><p>one <b class=u>two</b></p>
         <p hidden>no</p><p style='visibility:hidden'>no</p><ul><li>first<li>second</ul>
         <table><tr><td>a<td>b<tr><td>c<td>d</table><a href='https://example.com/'>link</a></main>
         <input value=held><script>0</script><div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML = 'shade'</script>",
    );
    let text = s.ok("text", json!({}));
    let said = text["text"].as_str().unwrap();
    for part in [
        "Head\n",
        "one TWO",
        "first\nsecond",
        "a\tb\nc\td",
        "held",
        "shade",
    ] {
        assert!(said.contains(part), "{part:?} in {said:?}");
    }
    assert!(!said.contains("no") && !said.contains('0'), "{said:?}");
    let total = text["total_chars"].as_u64().unwrap();
    assert_eq!(total, said.chars().count() as u64);
    let main = s.ok("text", json!({"main": true, "format": "markdown"}));
    let main = main["text"].as_str().unwrap();
    assert!(
        main.contains("[link](https://example.com/)") && main.contains("- first"),
        "{main:?}"
    );
    assert!(!main.contains("menu"), "{main:?}");
    let part = s.ok("text", json!({"offset": 1, "max_chars": 2}));
    assert_eq!(
        (&part["text"], &part["truncated"]),
        (&json!("ea"), &json!(true))
    );
    assert_eq!(s.ok("text", json!({"root": "h1"}))["text"], "Head");
}

#[test]
fn waiting_ends_when_it_is_so() {
    let site = Site::new(&[(
        "/",
        "<p id=p hidden>there</p><button id=b disabled>go</button><p id=old>old</p><iframe srcdoc='<p>'></iframe>",
    )]);
    let mut s = Session::new("wait");
    for (script, args) in [
        ("p.hidden = false", json!({"text": "THERE"})),
        ("p.hidden = false", json!({"selector": "#p"})),
        ("old.remove()", json!({"gone": "old"})),
        (
            "old.remove()",
            json!({"selector": "#old", "state": "detached"}),
        ),
        (
            "old.style.opacity = 1; old.style.display = 'none'",
            json!({"selector": "#old", "state": "hidden"}),
        ),
        (
            "b.disabled = false",
            json!({"selector": "#b", "state": "enabled"}),
        ),
        (
            "document.body.append(document.createElement('hr'))",
            json!({"selector": "hr", "state": "attached"}),
        ),
        (
            "document.querySelector('iframe').contentDocument.body.append('in frame')",
            json!({"text": "in frame"}),
        ),
        ("location.hash = 'there'", json!({"url": "#there"})),
        ("location.hash = 'there'", json!({"url_re": "#th.re$"})),
        ("window.done = {}", json!({"script": "window.done"})),
        (
            "setTimeout(() => window.done = 1, 50)",
            json!({"script": "window.done === 1"}),
        ),
    ] {
        s.open(&site.url("/"));
        s.evaluate(&format!("setTimeout(() => {{ {script} }}, 150); undefined"));
        let waited = s.ok("wait", args.clone());
        assert!(
            waited["waited_ms"].as_u64().unwrap() < 10_000,
            "{args}: {waited}"
        );
        // So at once when it is so already.
        let waited = s.ok("wait", args.clone());
        assert!(
            waited["waited_ms"].as_u64().unwrap() < 2_000,
            "{args}: {waited}"
        );
    }
    let waited = s.ok("wait", json!({"ms": 120}));
    assert!(
        (120..5_000).contains(&waited["waited_ms"].as_u64().unwrap()),
        "{waited}"
    );
    let nodes = s.ok("find", json!({"query": "go", "role": "button"}))["nodes"].clone();
    s.ok("wait", json!({"ref": nodes[0]["ref"], "state": "attached"}));
}

#[test]
fn waiting_in_vain_tells_what_was_there() {
    let mut s = Session::on(
        "in-vain",
        "<p id=p hidden>there</p><p id=q>shown</p><button disabled>b</button>",
    );
    for (args, last) in [
        (json!({"text": "nowhere"}), json!("the text is not there")),
        (json!({"gone": "shown"}), json!("the text is still there")),
        (json!({"selector": "#p"}), json!("hidden")),
        (json!({"selector": "#none"}), json!("detached")),
        (
            json!({"selector": "#q", "state": "hidden"}),
            json!("visible"),
        ),
        (
            json!({"selector": "#p", "state": "detached"}),
            json!("attached"),
        ),
        (
            json!({"selector": "button", "state": "enabled"}),
            json!("disabled"),
        ),
        (json!({"script": "window.never"}), json!(false)),
        (json!({"ms": 60_000}), Value::Null),
    ] {
        let began = Instant::now();
        let error = s.fails("wait", args.clone(), 300, "timeout");
        assert_eq!(error["data"]["last"], last, "{args}: {error}");
        assert!(began.elapsed() < Duration::from_secs(5), "{args}");
    }
    for args in [json!({"url": "#x"}), json!({"url_re": "^http"})] {
        let error = s.fails("wait", args, 300, "timeout");
        assert!(
            error["data"]["last"].as_str().unwrap().starts_with("data:"),
            "{error}"
        );
    }
    for args in [
        json!({}),
        json!({"text": "a", "gone": "b"}),
        json!({"state": "visible"}),
        json!({"text": "a", "state": "visible"}),
        json!({"selector": "p["}),
        json!({"url_re": "("}),
        json!({"selector": "p", "state": "there"}),
    ] {
        s.fails("wait", args, 5_000, "bad_request");
    }
    let error = s.fails(
        "wait",
        json!({"script": "nothing.at.all"}),
        5_000,
        "eval_error",
    );
    assert!(
        error["message"].as_str().unwrap().contains("nothing"),
        "{error}"
    );
}

#[test]
fn waiting_goes_on_in_the_next_document() {
    let site = Site::new(&[
        (
            "/a",
            "<p>first</p><script>setTimeout(() => location = '/b', 200)</script>",
        ),
        (
            "/b",
            "<p>second</p><script>setTimeout(() => location.replace('/c'), 200)</script>",
        ),
        (
            "/c",
            "<p id=c>third</p><script>window.ready = true</script>",
        ),
        (
            "/idle",
            "<p>idle</p><script>window.state = 'loading'; fetch('/held').then(r => r.text()).then(() => window.state = 'done'); setTimeout(() => fetch('/release'), 800)</script>",
        ),
        ("/never", "<p>busy</p><script>fetch('/held')</script>"),
    ]);
    let mut s = Session::new("across");
    for args in [
        json!({"text": "third"}),
        json!({"gone": "first"}),
        json!({"selector": "#c"}),
        json!({"script": "window.ready"}),
        json!({"url": "/c"}),
        json!({"url_re": "/c$"}),
    ] {
        s.open(&site.url("/a"));
        s.ok("wait", args);
    }
    // A ref is of its document: gone with it.
    s.open(&site.url("/a"));
    let p = s.ok("read", json!({"full": true}))["nodes"].clone();
    let r = p
        .as_array()
        .unwrap()
        .iter()
        .find(|n| n["role"] == "paragraph")
        .unwrap()["ref"]
        .clone();
    s.ok("wait", json!({"ref": r, "state": "detached"}));

    s.ok(
        "open",
        json!({"url": site.url("/idle"), "wait": "dom", "read": false}),
    );
    s.ok("wait", json!({"idle": true}));
    assert_eq!(s.evaluate("window.state"), "done");
    s.ok(
        "open",
        json!({"url": site.url("/never"), "wait": "dom", "read": false}),
    );
    let error = s.fails("wait", json!({"idle": true}), 900, "timeout");
    assert_eq!(error["data"]["last"], 1, "{error}");
}
