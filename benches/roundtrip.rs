//! What a call costs beside what the browser itself costs: `ping`, `evaluate`, and the daemon's memory.
//!
//! `cargo bench --bench roundtrip`. Bare means the same `Runtime.evaluate` written to a second browser's
//! pipe by hand, by turns with the daemon, so that a busy machine slows both alike.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measurement, not a part of the daemon"
)]

mod sides;

use std::time::Duration;

use serde_json::json;
use sides::{Bare, Daemon, Dir, at, report, timed};

const TURNS: usize = 2000;
const BIG_TURNS: usize = 10;
const BIG: usize = 10_000_000;

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

    let mut pings = Vec::new();
    for _ in 0..TURNS {
        pings.push(timed(|| daemon.call("ping", &json!({}))));
    }
    report("ping", &mut pings);
    println!("daemon idle: {} KiB resident", daemon.resident_kib());

    let opened = daemon.call("open", &json!({"url": "about:blank", "read": false}));
    assert_eq!(opened["ok"], true, "{opened}");
    for (name, script) in [
        ("evaluate 1", "1"),
        ("evaluate a string", "document.title + 'x'.repeat(100)"),
        ("evaluate an object", "({a: [1, 2, 3], b: 'c'})"),
    ] {
        compare(name, script, TURNS, &mut daemon, &mut bare);
    }
    let many = "Array.from({length: 10000}, (_, i) => ({i, name: 'item ' + i, on: i % 2 > 0}))";
    compare(
        "evaluate 10,000 objects",
        many,
        BIG_TURNS,
        &mut daemon,
        &mut bare,
    );
    let big = format!("'x'.repeat({BIG})");
    compare("evaluate 10 MB", &big, BIG_TURNS, &mut daemon, &mut bare);
    println!(
        "daemon after it all: {} KiB resident",
        daemon.resident_kib()
    );

    drop(daemon);
    drop(bare);
    runtime.block_on(async {
        launched.process.stop(Duration::ZERO).await;
        launched.profile.remove().await;
    });
}

fn compare(name: &str, script: &str, turns: usize, daemon: &mut Daemon, bare: &mut Bare) {
    let args = json!({"script": script, "max_bytes": 2 * BIG});
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for turn in 0..turns + turns / 10 + 1 {
        let a = timed(|| daemon.call_raw("evaluate", &args));
        let b = timed(|| bare.evaluate(script));
        // The first ones are for the compilers to warm up.
        if turn > turns / 10 {
            ours.push(a);
            theirs.push(b);
        }
    }
    report(name, &mut ours);
    report("    bare", &mut theirs);
    let ratio = |q| at(&ours, q).as_secs_f64() / at(&theirs, q).as_secs_f64();
    println!(
        "    {:.2} times bare (p50), {:.2} (p95)",
        ratio(0.5),
        ratio(0.95)
    );
}
