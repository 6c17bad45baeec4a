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

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabd::browser::LaunchOptions;
use tabd::browser::launch::launch;

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

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    let _result = run();
    began.elapsed()
}

fn at(sorted: &[Duration], quantile: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * quantile) as usize]
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort();
    let us = |q| at(times, q).as_micros();
    println!(
        "{name:28} p50 {:>7} µs   p95 {:>7} µs   p99 {:>7} µs",
        us(0.5),
        us(0.95),
        us(0.99)
    );
}

/// A browser spoken to by hand.
struct Bare {
    to: File,
    from: BufReader<File>,
    session: String,
    id: u32,
}

impl Bare {
    async fn start(dir: &Path) -> (Bare, tabd::browser::launch::Launched) {
        let options = LaunchOptions {
            no_sandbox: nix::unistd::geteuid().is_root(),
            runtime_dir: dir.join("bare"),
            ..LaunchOptions::default()
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        let launched = launch(&options, deadline).await.unwrap();
        let mut bare = Bare {
            to: launched.to_browser.try_clone().unwrap().into(),
            from: BufReader::new(launched.from_browser.try_clone().unwrap().into()),
            session: String::new(),
            id: 0,
        };
        let made = bare.send("Target.createTarget", &json!({"url": "about:blank"}));
        let made: Value = serde_json::from_slice(&made).unwrap();
        let target = &made["result"]["targetId"];
        let attach = json!({"targetId": target, "flatten": true});
        let attached = bare.send("Target.attachToTarget", &attach);
        let attached: Value = serde_json::from_slice(&attached).unwrap();
        bare.session = attached["result"]["sessionId"].as_str().unwrap().to_owned();
        (bare, launched)
    }

    fn send(&mut self, method: &str, params: &Value) -> Vec<u8> {
        self.id += 1;
        let mut message = json!({"id": self.id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        let ours = format!("{{\"id\":{},", self.id);
        loop {
            let mut reply = Vec::new();
            self.from.read_until(0, &mut reply).unwrap();
            reply.pop();
            assert!(!reply.is_empty(), "the browser is gone");
            if reply.starts_with(ours.as_bytes()) {
                return reply;
            }
        }
    }

    fn evaluate(&mut self, script: &str) -> Vec<u8> {
        let params = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        self.send("Runtime.evaluate", &params)
    }
}

/// The daemon under test and one connection to it.
struct Daemon {
    child: Child,
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Daemon {
    fn start(dir: &Path) -> Daemon {
        let socket = dir.join("s");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabd"));
        command
            .arg("daemon")
            .arg("--socket")
            .arg(&socket)
            .env("XDG_RUNTIME_DIR", dir)
            .env("XDG_CACHE_HOME", dir.join("cache"))
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        if nix::unistd::geteuid().is_root() {
            command.env("TABD_NO_SANDBOX", "1");
        }
        let child = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < until, "no daemon: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let lines = BufReader::new(stream.try_clone().unwrap());
        Daemon {
            child,
            stream,
            lines,
        }
    }

    fn call_raw(&mut self, tool: &str, args: &Value) -> Vec<u8> {
        let request = json!({"id": 1, "tool": tool, "args": args});
        self.stream
            .write_all(format!("{request}\n").as_bytes())
            .unwrap();
        let mut line = Vec::new();
        self.lines.read_until(b'\n', &mut line).unwrap();
        assert!(
            line.starts_with(b"{\"id\":1,\"ok\":true"),
            "{:?}",
            String::from_utf8_lossy(&line[..line.len().min(300)])
        );
        line
    }

    fn call(&mut self, tool: &str, args: &Value) -> Value {
        serde_json::from_slice(&self.call_raw(tool, args)).unwrap()
    }

    fn resident_kib(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = nix::unistd::Pid::from_raw(pid);
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// A directory of its own, removed in the end.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Dir {
        let path = std::env::temp_dir().join(format!("tabd-bench-{}", std::process::id()));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .unwrap();
        Dir(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
