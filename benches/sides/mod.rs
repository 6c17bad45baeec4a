//! The two sides of a comparison: the daemon under test, and a browser that is spoken to by hand.
#![allow(dead_code, reason = "each bench uses what it needs")]

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

pub fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    let _result = run();
    began.elapsed()
}

pub fn at(sorted: &[Duration], quantile: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * quantile) as usize]
}

pub fn report(name: &str, times: &mut [Duration]) {
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
pub struct Bare {
    to: File,
    from: BufReader<File>,
    session: String,
    id: u32,
}

impl Bare {
    pub async fn start(dir: &Path) -> (Bare, tabd::browser::launch::Launched) {
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

    pub fn send(&mut self, method: &str, params: &Value) -> Vec<u8> {
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

    /// Several commands written together; waits for the last one's reply.
    pub fn send_together(&mut self, commands: &[(&str, Value)]) {
        let mut text = String::new();
        for (method, params) in commands {
            self.id += 1;
            let session = &self.session;
            let message =
                json!({"id": self.id, "method": method, "params": params, "sessionId": session});
            text.push_str(&format!("{message}\0"));
        }
        self.to.write_all(text.as_bytes()).unwrap();
        let last = format!("{{\"id\":{},", self.id);
        loop {
            let mut reply = Vec::new();
            self.from.read_until(0, &mut reply).unwrap();
            assert!(!reply.is_empty(), "the browser is gone");
            if reply.starts_with(last.as_bytes()) {
                return;
            }
        }
    }

    pub fn evaluate(&mut self, script: &str) -> Vec<u8> {
        let params = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        self.send("Runtime.evaluate", &params)
    }
}

/// The daemon under test and one connection to it.
pub struct Daemon {
    child: Child,
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Daemon {
    pub fn start(dir: &Path) -> Daemon {
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

    pub fn call_raw(&mut self, tool: &str, args: &Value) -> Vec<u8> {
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

    pub fn call(&mut self, tool: &str, args: &Value) -> Value {
        serde_json::from_slice(&self.call_raw(tool, args)).unwrap()
    }

    pub fn resident_kib(&self) -> u64 {
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
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new() -> Dir {
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
