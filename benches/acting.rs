//! What acting costs beside the bare input: a click that does nothing, one that changes the document, one
//! that fetches; forty characters.
//!
//! `cargo bench --bench acting`. Bare means the same input written to a second browser's pipe by hand, by
//! turns with the daemon, so that a busy machine slows both alike. A click waits two animation frames to
//! see that nothing follows; that is what it may cost above bare.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measurement, not a part of the daemon"
)]

mod sides;

use std::time::Duration;

use serde_json::{Value, json};
use sides::{Bare, Daemon, Dir, at, report, timed};

const TURNS: usize = 200;
const TEXT: &str = "forty characters, no more and no less ok";
const PAGE: &str = "<!doctype html><title>bench</title><button id=still>Nothing</button>\
    <button id=changes onclick=\"out.textContent = ++n\">Changes</button>\
    <button id=fetches onclick=\"fetch('data:text/plain,x').then(() => out.textContent = ++n)\">Fetches</button>\
    <input id=text><p id=out></p><script>let n = 0</script>";

fn main() {
    // `cargo test --benches` only wants to know whether it builds.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let dir = Dir::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut bare, launched) = runtime.block_on(Bare::start(&dir.0));
    let mut daemon = Daemon::start(&dir.0);
    let mut url = String::from("data:text/html,");
    for byte in PAGE.bytes() {
        url.push_str(&format!("%{byte:02x}"));
    }
    daemon.call("open", &json!({"url": url, "read": false}));
    bare.send(
        "Emulation.setFocusEmulationEnabled",
        &json!({"enabled": true}),
    );
    bare.send("Page.navigate", &json!({"url": url}));
    let loaded = "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))";
    bare.evaluate(loaded);

    for id in ["still", "changes", "fetches"] {
        let found = daemon.call("find", &json!({"query": id, "role": "button"}));
        let _ = found;
        let ask = format!(
            "const r = document.querySelector('#{id}').getBoundingClientRect(); [r.x + r.width / 2, r.y + r.height / 2]"
        );
        let place: Value = serde_json::from_slice(&bare.evaluate(&format!("{{{ask}}}"))).unwrap();
        let at = &place["result"]["result"]["value"];
        let mouse = |kind: &str| {
            let pressed = if kind == "mouseMoved" { 0 } else { 1 };
            let event = json!({"type": kind, "x": at[0], "y": at[1], "button": if pressed > 0 { "left" } else { "none" }, "clickCount": pressed});
            ("Input.dispatchMouseEvent", event)
        };
        let click = [
            mouse("mouseMoved"),
            mouse("mousePressed"),
            mouse("mouseReleased"),
        ];
        let args = json!({"selector": format!("#{id}")});
        compare(
            &format!("click, {id}"),
            &mut || drop(daemon.call_raw("click", &args)),
            &mut || bare.send_together(&click),
        );
    }
    let args = json!({"selector": "#text", "text": TEXT});
    bare.evaluate("document.querySelector('#text').focus()");
    compare(
        "type 40 characters",
        &mut || drop(daemon.call_raw("type", &args)),
        &mut || drop(bare.send("Input.insertText", &json!({"text": TEXT}))),
    );
    let args = json!({"selector": "#text", "text": TEXT, "settle": false});
    compare(
        "type, settle:false",
        &mut || drop(daemon.call_raw("type", &args)),
        &mut || drop(bare.send("Input.insertText", &json!({"text": TEXT}))),
    );

    drop(daemon);
    drop(bare);
    runtime.block_on(async {
        launched.process.stop(Duration::ZERO).await;
        launched.profile.remove().await;
    });
}

fn compare(name: &str, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for turn in 0..TURNS + TURNS / 10 {
        let (x, y) = (timed(&mut *ours), timed(&mut *theirs));
        // The first ones are for the compilers to warm up.
        if turn >= TURNS / 10 {
            a.push(x);
            b.push(y);
        }
    }
    report(name, &mut a);
    report("    bare", &mut b);
    let frames = |q| (at(&a, q).as_secs_f64() - at(&b, q).as_secs_f64()) * 60.0;
    let times = at(&a, 0.5).as_secs_f64() / at(&b, 0.5).as_secs_f64();
    println!(
        "    {:.2} animation frames above bare (p50), {times:.2} times",
        frames(0.5)
    );
}
