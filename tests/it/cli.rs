//! The `tabd` program from outside: what it prints where, its exit status, and the daemons it starts.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::support::{Dir, TABD};

/// A runtime directory of its own; its daemon, if there is one, is asked to end with it.
struct Home(Dir);

impl Home {
    fn new() -> Home {
        Home(Dir::new())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(TABD);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TABD_") {
                command.env_remove(name);
            }
        }
        command
            .args(words)
            .env("XDG_RUNTIME_DIR", self.path())
            .env("TABD_IDLE_SECS", "30")
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn socket(&self) -> PathBuf {
        self.path().join("tabd.sock")
    }

    /// The names of everything in the directory.
    fn left(&self) -> Vec<String> {
        self.0.names()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(stream) = std::os::unix::net::UnixStream::connect(self.socket()) {
            let pid = peer(&stream);
            kill(pid, "SIGTERM");
            wait_gone(pid);
        }
    }
}

fn peer(stream: &std::os::unix::net::UnixStream) -> u32 {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    getsockopt(stream, PeerCredentials)
        .unwrap()
        .pid()
        .cast_unsigned()
}

fn kill(pid: u32, signal: &str) {
    let signal: nix::sys::signal::Signal = signal.parse().unwrap();
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.cast_signed()), signal);
}

/// Waits for the end of a process that need not be a child.
fn wait_gone(pid: u32) {
    let stat = || fs::read_to_string(format!("/proc/{pid}/stat"));
    // An orphan whose reaper is slow stays as a zombie, which holds nothing.
    while stat().is_ok_and(|s| !s.rsplit(')').next().unwrap_or("").starts_with(" Z")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn reply(output: &Output) -> Value {
    let out = text(&output.stdout);
    assert!(
        out.ends_with('\n') && out.lines().count() == 1,
        "{output:?}"
    );
    serde_json::from_str(&out).unwrap()
}

/// Serves each connection with one of `turns`: `None` closes it unread, `Some` reads a line and answers.
fn fake(path: &Path, turns: Vec<Option<&'static str>>) -> JoinHandle<Vec<String>> {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let mut lines = Vec::new();
        for turn in turns {
            let (mut stream, _) = listener.accept().unwrap();
            let Some(answer) = turn else {
                // Until there is something to leave unread.
                let ready = nix::poll::PollFd::new(
                    std::os::fd::AsFd::as_fd(&stream),
                    nix::poll::PollFlags::POLLIN,
                );
                nix::poll::poll(&mut [ready], nix::poll::PollTimeout::NONE).unwrap();
                continue;
            };
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            lines.push(line);
            stream.write_all(answer.as_bytes()).unwrap();
        }
        lines
    })
}

#[test]
fn a_call_starts_a_daemon_and_returns() {
    let home = Home::new();
    // A pipe for stdout: a daemon that inherited it would keep this from ending.
    let output = home.run(&["ping"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let first = reply(&output);
    assert_eq!(first["ok"], true);
    let second = reply(&home.run(&["ping", "--json"]));
    assert_eq!(first["result"]["pid"], second["result"]["pid"]);
    let mut left = home.left();
    left.retain(|name| name.starts_with("tabd-"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_daemon_that_was_started_keeps_nothing_of_its_caller() {
    let home = Home::new();
    let script = format!("exec 9>held; exec {} ping", TABD);
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).current_dir(home.path());
    for (name, value) in home.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    let first = text(&output.stdout);
    let pong: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let pid = pong["result"]["pid"].as_u64().unwrap();
    let held = home.path().join("held");
    for fd in fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let target = fs::read_link(fd.unwrap().path()).unwrap_or_default();
        assert_ne!(target, held);
    }
    assert_eq!(
        fs::read_link(format!("/proc/{pid}/cwd")).unwrap(),
        Path::new("/")
    );
}

#[test]
fn many_at_once_start_one() {
    let home = Home::new();
    let children: Vec<Child> = (0..8)
        .map(|_| {
            home.command(&["ping"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut pids: Vec<Value> = children
        .into_iter()
        .map(|child| reply(&child.wait_with_output().unwrap())["result"]["pid"].clone())
        .collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let home = Home::new();
    let output = home
        .command(&["ping"])
        .env("TABD_VIEWS", "3")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = &reply(&output)["error"];
    assert_eq!(error["code"], "io");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("--views is not supported yet"),
        "{error}"
    );
    assert!(text(&output.stderr).starts_with("tabd: io: the daemon did not start: "));
    assert!(home.left().is_empty(), "{:?}", home.left());
}

#[test]
fn usage_errors_exit_2_and_name_the_neighbour() {
    let home = Home::new();
    for (words, want) in [
        (&["pign"][..], "hint: did you mean \"ping\"?"),
        (&["ping", "--sesion", "a"], "hint: did you mean --session?"),
        (&["ping", "extra"], "ping takes no further \"extra\""),
        (&["daemon", "--no-sandbx"], "--no-sandbox"),
        (
            &["daemon", "--attach", "ws://127.0.0.1:1"],
            "--attach is not supported yet",
        ),
        (&["help", "pign"], "hint: did you mean \"ping\"?"),
        (
            &["ping", "--oneshot", "--views=2"],
            "--views is not supported yet",
        ),
    ] {
        let output = home.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?} {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        assert!(text(&output.stderr).contains(want), "{words:?} {output:?}");
    }
    assert!(home.left().is_empty(), "{:?}", home.left());
}

#[test]
fn a_refusal_is_on_both_outputs_and_exits_1() {
    let home = Home::new();
    let line = "{\"ok\":false,\"error\":{\"code\":\"covered\",\"message\":\"n1 \\u001b[2J\",\"hint\":\"close it\"}}\n";
    let daemon = fake(&home.socket(), vec![Some(line)]);
    let output = home.run(&["ping", "--session", "s", "--timeout", "1.5s"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), line);
    assert_eq!(
        text(&output.stderr),
        "tabd: covered: n1 \u{fffd}[2J\nhint: close it\n"
    );
    let want = "{\"tool\":\"ping\",\"session\":\"s\",\"timeout_ms\":1500}\n";
    assert_eq!(daemon.join().unwrap(), [want]);
}

#[test]
fn a_request_that_nobody_took_is_sent_once_more() {
    let home = Home::new();
    let daemon = fake(
        &home.socket(),
        vec![None, Some("{\"ok\":true,\"result\":{}}\n")],
    );
    let output = home.run(&["ping"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(daemon.join().unwrap().len(), 1);
}

#[test]
fn a_request_that_was_taken_is_not_repeated() {
    let home = Home::new();
    // The second turn would answer, if it were asked.
    let daemon = fake(
        &home.socket(),
        vec![Some(""), Some("{\"ok\":true,\"result\":{}}\n")],
    );
    let output = home.run(&["ping"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let reply = reply(&output);
    assert_eq!(reply["error"]["code"], "io");
    assert_eq!(reply["error"]["data"]["acted"], "unknown");
    assert_eq!(home.run(&["ping"]).status.code(), Some(0));
    assert_eq!(daemon.join().unwrap().len(), 2);
}

#[test]
fn a_closed_stdout_is_no_failure() {
    let home = Home::new();
    for words in [&["ping"][..], &["help"], &["help", "--man"]] {
        let mut child = home.command(words);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = child
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?} {output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn the_pump_answers_every_line_and_the_last_without_newline() {
    let home = Home::new();
    let mut child = home
        .command(&["-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // Line by line while stdin is open …
    for id in 0..3 {
        writeln!(stdin, "{{\"id\":{id},\"tool\":\"ping\"}}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(
            line.starts_with(&format!("{{\"id\":{id},\"ok\":true,")),
            "{line}"
        );
    }
    // … then a big one, and one that ends with stdin.
    let id = "x".repeat(3 << 20);
    write!(
        stdin,
        "{{\"id\":\"{id}\",\"tool\":\"ping\"}}\n{{\"id\":9,\"tool\":\"ping\"}}"
    )
    .unwrap();
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.lines().count(), 2);
    assert!(rest.contains(&id) && rest.contains("{\"id\":9,\"ok\":true,"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_oneshot_leaves_nothing() {
    let home = Home::new();
    let output = home.run(&["--oneshot", "ping", "--no-sandbox"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let pid = reply(&output)["result"]["pid"].as_u64().unwrap();
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    let left = home.left();
    assert!(left.iter().all(|name| name == "tabd"), "{left:?}");
}

/// A oneshot that waits for more lines, and its daemon's pid.
fn open_oneshot(home: &Home) -> (Child, u32) {
    let mut child = home
        .command(&["--oneshot", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"{\"tool\":\"ping\"}\n")
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pong: Value = serde_json::from_str(&line).unwrap();
    let pid = pong["result"]["pid"].as_u64().unwrap();
    (child, u32::try_from(pid).unwrap())
}

#[test]
fn a_oneshot_that_is_told_to_end_takes_its_daemon_along() {
    let home = Home::new();
    for (signal, status) in [("SIGINT", 130), ("SIGTERM", 143)] {
        let (mut child, daemon) = open_oneshot(&home);
        // Held open: `wait` would close it, and so end the pump by itself.
        let _stdin = child.stdin.take();
        kill(child.id(), signal);
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert!(!Path::new(&format!("/proc/{daemon}")).exists());
        let left = home.left();
        assert!(left.iter().all(|name| name == "tabd"), "{left:?}");
    }
}

#[test]
fn a_oneshot_that_is_killed_takes_its_daemon_along() {
    let home = Home::new();
    let (mut child, daemon) = open_oneshot(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_gone(daemon);
    let left = home.left();
    assert!(left.iter().all(|name| name == "tabd"), "{left:?}");
}

#[test]
fn help_comes_in_every_form() {
    let home = Home::new();
    for (words, want) in [
        (&["help"][..], "Usage:"),
        (&["--help"], "Usage:"),
        (&[], "Usage:"),
        (&["help", "ping"], "{\"tool\":\"ping\"}"),
        (&["ping", "--help"], "{\"tool\":\"ping\"}"),
        (&["help", "--markdown"], "| `ping` |"),
        (&["help", "--man"], ".TH TABD 1"),
        (&["help", "--completions", "bash"], "complete -F _tabd tabd"),
        (&["daemon", "--help"], "--idle-secs"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let output = home.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?} {output:?}");
        assert!(text(&output.stdout).contains(want), "{words:?} {output:?}");
    }
    assert!(home.left().is_empty());
}
