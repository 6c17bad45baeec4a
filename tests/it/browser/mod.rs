//! The daemon with a real browser: what goes wrong with pages and processes, and what callers see of it.
//!
//! Each test has a daemon of its own and reaches only the [`Web`](crate::web::Web) it started.

mod cancel;
mod crash;
mod dialogs;
mod events;
mod going;
mod sessions;
mod tabs;
mod wedged;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::{Client, Daemon, PATIENCE};

impl Client {
    /// Calls a tool, which must succeed; its result.
    pub fn ok(&mut self, tool: &str, args: Value) -> Value {
        self.ok_in("default", tool, args)
    }

    /// The same in a session.
    pub fn ok_in(&mut self, session: &str, tool: &str, args: Value) -> Value {
        let mut reply = self.request(json!({"tool": tool, "args": args, "session": session}));
        assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
        reply["result"].take()
    }

    /// Calls a tool, which must fail with `code`; its error.
    pub fn fails(&mut self, code: &str, tool: &str, args: Value) -> Value {
        self.fails_with(code, json!({"tool": tool, "args": args}))
    }

    /// The same for a whole request.
    pub fn fails_with(&mut self, code: &str, request: Value) -> Value {
        let mut reply = self.request(request.clone());
        assert_eq!(reply["error"]["code"], code, "{request}: {reply}");
        reply["error"].take()
    }

    /// Sends a request under `id`, and waits for nothing.
    pub fn post(&mut self, id: &str, tool: &str, args: Value) {
        let request = json!({"id": id, "tool": tool, "args": args});
        self.write(format!("{request}\n"));
    }

    /// The next reply, past any events; it must be `id`'s.
    pub fn reply(&mut self, id: &str) -> Value {
        loop {
            let line = self.json();
            if line["event"].is_null() {
                assert_eq!(line["id"], id, "{line}");
                return line;
            }
        }
    }

    /// Events up to the reply to `id`, and that reply.
    pub fn events_until(&mut self, id: &str) -> (Vec<Value>, Value) {
        let mut events = Vec::new();
        loop {
            let line = self.json();
            if line["id"] == id {
                return (events, line);
            }
            events.push(line);
        }
    }

    /// The ref of the node with that role and name.
    pub fn find_ref(&mut self, role: &str, name: &str) -> String {
        let found = self.ok("find", json!({"role": role, "query": name}));
        let node = &found["nodes"][0];
        node["ref"]
            .as_str()
            .unwrap_or_else(|| panic!("no {role} {name}: {found}"))
            .to_owned()
    }

    /// Kills the browser and waits until the daemon knows.
    pub fn murder_browser(&mut self) {
        let deaths = self.ok("info", json!({}))["browser"]["deaths"].clone();
        murder(self.browser_pid());
        eventually("its death is known", PATIENCE, || {
            self.ok("info", json!({}))["browser"]["deaths"] != deaths
        });
    }

    /// The browser's pid.
    pub fn browser_pid(&mut self) -> Pid {
        let info = self.ok("info", json!({}));
        let pid = info["browser"]["pid"].as_i64();
        Pid::from_raw(i32::try_from(pid.unwrap_or_else(|| panic!("no browser: {info}"))).unwrap())
    }
}

/// A process as `/proc` tells it.
pub struct Process {
    pub pid: Pid,
    pub parent: i32,
    pub command: String,
}

/// The living processes of a browser, which leads a session of its own: renderers too, which overwrite
/// what else would tell whose they are.
pub fn members(browser: Pid) -> Vec<Process> {
    processes(|pid, _| nix::unistd::getsid(Some(pid)) == Ok(browser))
}

/// All living processes that were started with `word` in their command line or environment.
pub fn processes_with(word: &str) -> Vec<Process> {
    processes(|_, said| said.contains(word))
}

fn processes(wanted: impl Fn(Pid, &str) -> bool) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        let read = |file: &str| {
            let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let stat = read("stat");
        let mut fields = stat.rsplit(") ").next().unwrap_or("").split(' ');
        if matches!(fields.next(), None | Some("" | "Z" | "X")) {
            continue;
        }
        let command = read("cmdline");
        let pid = Pid::from_raw(pid);
        if wanted(pid, &format!("{command}\n{}", read("environ"))) {
            let parent = fields.next().and_then(|p| p.parse().ok()).unwrap_or(0);
            found.push(Process {
                pid,
                parent,
                command,
            });
        }
    }
    found
}

/// The renderer of the daemon's browser that is running a script without end: waits for one.
pub fn busy_renderer(daemon: &Daemon) -> Pid {
    // In clock ticks of 10 ms; a renderer that rests uses one in a while.
    const BUSY: u64 = 15;
    let used = |pid: Pid| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        let ticks = |at: usize| {
            fields
                .get(at)
                .and_then(|f| f.parse::<u64>().ok())
                .unwrap_or(0)
        };
        ticks(11) + ticks(12)
    };
    let browser = daemon.client().browser_pid();
    let all = || {
        let members = members(browser).into_iter();
        let renders = |p: &Process| p.command.contains("--type=renderer");
        members
            .filter(renders)
            .map(|p| (p.pid, used(p.pid)))
            .collect::<Vec<_>>()
    };
    let before = all();
    let mut found = None;
    eventually("a renderer is busy", PATIENCE, || {
        found = before.iter().map(|(pid, _)| *pid).find(|pid| {
            let start = before
                .iter()
                .find(|(p, _)| p == pid)
                .map_or(0, |(_, used)| *used);
            used(*pid) > start + BUSY
        });
        found.is_some()
    });
    found.unwrap()
}

/// Waits until `holds` does.
pub fn eventually(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + within;
    while !holds() {
        assert!(Instant::now() < until, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What is left of a daemon that has ended: processes and files, but for what is meant to stay.
pub fn left_of(daemon: &Daemon) -> Vec<String> {
    let dir = daemon.dir.path().display().to_string();
    let mut left: Vec<String> = processes_with(&format!("{dir}/"))
        .iter()
        .map(|p| {
            format!(
                "pid {} {}",
                p.pid,
                p.command.chars().take(80).collect::<String>()
            )
        })
        .collect();
    let mut open = vec![daemon.dir.path().to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path: PathBuf = entry.path();
            let name = path
                .strip_prefix(daemon.dir.path())
                .unwrap()
                .display()
                .to_string();
            match name.as_str() {
                // Directories that the next daemon uses, the marks by which it goes on counting, and the
                // empty lock of the sweep.
                "tabd" | "tabd/profiles" => open.push(path),
                // What was handed to callers stays; what was still coming does not.
                _ if name.starts_with("cache") && path.is_dir() => open.push(path),
                _ if name.starts_with("cache/") && !name.contains("/incoming/") => {}
                "tabd/numbers" | "tabd/profiles/.lock" => {}
                _ => left.push(name),
            }
        }
    }
    left
}

/// Kills a process of a browser that the test's own daemon started.
pub fn murder(pid: Pid) {
    kill(pid, Signal::SIGKILL).unwrap();
}

/// Ends the daemon by SIGTERM and asserts that nothing is left of it.
pub fn ends_clean(mut daemon: Daemon) {
    let info = daemon.client().ok("info", json!({}));
    let browser = info["browser"]["pid"]
        .as_i64()
        .map(|pid| Pid::from_raw(i32::try_from(pid).unwrap()));
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait().code(), Some(0));
    let left = left_of(&daemon);
    assert!(left.is_empty(), "{left:#?}");
    let left = browser.map(members).unwrap_or_default();
    assert!(left.is_empty(), "{}", left[0].command);
}

/// The time a call took.
pub fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let result = call();
    assert!(began.elapsed() < PATIENCE);
    (result, began.elapsed())
}
