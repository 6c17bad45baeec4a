//! Start and end: socket and lock, signals, idle exit, systemd's socket, strangers.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{Client, Daemon, Dir, TABD, command, wait};

#[test]
fn the_socket_is_its_owners_alone() {
    let daemon = Daemon::start();
    let mode = std::fs::metadata(&daemon.socket).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert_eq!(daemon.dir.names(), ["s", "s.lock", "tabd"]);
}

#[test]
fn a_second_daemon_on_a_live_socket_names_the_first() {
    let daemon = Daemon::start();
    let second = command(daemon.dir.path())
        .arg("--socket")
        .arg(&daemon.socket)
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains(&daemon.pid().to_string()), "{said}");
    assert_eq!(daemon.client().call("ping", json!({}))["ok"], true);
}

#[test]
fn a_signal_ends_it_soon_and_leaves_nothing() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut daemon = Daemon::start();
        let mut client = daemon.client();
        client.call("subscribe", json!({"events": ["tab"]}));
        let began = Instant::now();
        daemon.signal(signal);
        assert!(daemon.notification().contains("STOPPING=1"));
        assert_eq!(client.rest(), "");
        assert_eq!(daemon.wait().code(), Some(0));
        assert!(began.elapsed() < Duration::from_secs(2));
        assert_eq!(daemon.dir.names(), ["tabd"]);
    }
}

#[test]
fn a_client_that_does_not_read_cannot_keep_it() {
    let mut daemon = Daemon::start();
    let mut deaf = daemon.client();
    deaf.stream.set_nonblocking(true).unwrap();
    let lines = "{\"tool\":\"tools\"}\n".repeat(1000);
    while deaf.stream.write(lines.as_bytes()).is_ok() {}
    let began = Instant::now();
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn shutdown_is_answered_before_the_end() {
    let mut daemon = Daemon::start();
    let mut client = daemon.client();
    client.write("{\"id\":1,\"tool\":\"ping\"}\n{\"id\":2,\"tool\":\"shutdown\"}\n");
    assert_eq!(client.json()["id"], 1);
    let reply = client.json();
    assert_eq!((&reply["id"], &reply["ok"]), (&json!(2), &json!(true)));
    assert_eq!(client.rest(), "");
    assert_eq!(daemon.wait().code(), Some(0));
    assert_eq!(daemon.dir.names(), ["tabd"]);
}

#[test]
fn after_a_kill_the_next_one_starts() {
    let mut daemon = Daemon::start();
    daemon.signal(Signal::SIGKILL);
    daemon.wait();
    let left = std::mem::replace(&mut daemon.dir, Dir::new());
    assert_eq!(left.names(), ["s", "s.lock", "tabd"]);
    let next = Daemon::in_dir(left, &[]);
    assert_eq!(next.client().call("ping", json!({}))["ok"], true);
}

#[test]
fn a_file_in_the_sockets_place_is_left_alone() {
    let dir = Dir::new();
    let path = dir.path().join("s");
    std::fs::write(&path, "precious").unwrap();
    let output = command(dir.path()).arg("--socket").arg(&path).output();
    assert_eq!(output.unwrap().status.code(), Some(1));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(dir.names(), ["s"]);
}

#[test]
fn without_a_runtime_directory_there_is_no_socket() {
    let dir = Dir::new();
    for value in ["", "relative"] {
        let mut command = command(dir.path());
        let output = command.env("XDG_RUNTIME_DIR", value).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("XDG_RUNTIME_DIR"), "{said}");
    }
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    assert_eq!(command(dir.path()).output().unwrap().status.code(), Some(1));
}

#[test]
fn an_open_connection_does_not_keep_an_idle_daemon_but_a_subscription_does() {
    let mut daemon = Daemon::with(&["--idle-secs", "0.2"]);
    let mut subscriber = daemon.client();
    subscriber.call("subscribe", json!({"events": ["tab"]}));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(daemon.child.try_wait().unwrap(), None);
    subscriber.call("unsubscribe", json!({}));
    assert_eq!(subscriber.rest(), "");
    assert!(daemon.notification().contains("STOPPING=1"));
    assert_eq!(daemon.wait().code(), Some(0));
    assert_eq!(daemon.dir.names(), ["tabd"]);
}

#[test]
fn a_peer_of_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: needs root, to be two users");
        return;
    }
    let nobody = 65534;
    let dir = Dir::new();
    let socket = dir.path().join("s");
    std::os::unix::fs::chown(dir.path(), Some(nobody), Some(nobody)).unwrap();
    let started = command(dir.path())
        .arg("--socket")
        .arg(&socket)
        .stderr(Stdio::piped())
        .uid(nobody)
        .gid(nobody)
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(e) => return println!("skipped: another user cannot run {TABD}: {e}"),
    };
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("serves"), "{said}");
    let mut stranger = Client::connect(&socket);
    let reply = stranger.json();
    assert_eq!(reply["error"]["code"], "forbidden", "{reply}");
    assert_eq!(stranger.rest(), "");
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(wait(&mut child).code(), Some(0));
}

/// How an attempt to be served ended.
#[derive(Debug, PartialEq)]
enum Try {
    Answered,
    /// The client knows that its request was not taken.
    NotTaken,
    /// The request was written, and no answer came.
    Lost,
}

fn ping(stream: &mut UnixStream) -> Try {
    if stream.write_all(b"{\"tool\":\"ping\"}\n").is_err() {
        return Try::NotTaken;
    }
    let mut line = String::new();
    match BufReader::new(&*stream).read_line(&mut line) {
        Ok(n) if n > 0 && line.contains("\"pong\":true") => Try::Answered,
        _ => Try::Lost,
    }
}

/// Sleeps such that the daemon's idle moment lies about there, a little earlier or later each time.
fn near(idle_ms: u64, round: u32) {
    let around = u64::from(round % 20) * 500;
    std::thread::sleep(Duration::from_micros(idle_ms * 1000 - 3000 + around));
}

const IDLE_MS: u64 = 30;

#[test]
fn no_request_is_lost_in_the_idle_moment_of_systemds_socket() {
    let dir = Dir::new();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let starts = Arc::new(AtomicU32::new(0));
    let (done, started) = (over.clone(), starts.clone());
    let runtime_dir = dir.path().to_owned();
    // What systemd does: keep the socket, and start the service whenever somebody waits there.
    let manager = std::thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
            if poll(&mut fds, PollTimeout::from(50u8)).unwrap() == 0 {
                continue;
            }
            started.fetch_add(1, Ordering::Relaxed);
            let script = "exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" daemon --idle-secs \"$1\"";
            let socket: OwnedFd = listener.try_clone().unwrap().into();
            let mut child = Command::new("/bin/sh")
                .args(["-c", script, TABD, &format!("0.0{IDLE_MS}")])
                .env("XDG_RUNTIME_DIR", &runtime_dir)
                .stdin(socket)
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            assert_eq!(wait(&mut child).code(), Some(0));
        }
    });
    let mut not_taken = 0;
    let mut kept: Option<UnixStream> = None;
    for round in 0..200 {
        let mut fresh = UnixStream::connect(&path).unwrap();
        assert_eq!(ping(&mut fresh), Try::Answered, "round {round}");
        if let Some(mut old) = kept.replace(fresh) {
            // One that was open all the time is told, or served.
            match ping(&mut old) {
                Try::Answered => {}
                Try::NotTaken => not_taken += 1,
                Try::Lost => panic!("round {round}: a request was taken and not answered"),
            }
        }
        near(IDLE_MS, round);
    }
    over.store(true, Ordering::Relaxed);
    manager.join().unwrap();
    let starts = starts.load(Ordering::Relaxed);
    println!("{starts} starts; {not_taken} of 199 kept connections were told to come again");
    assert!(starts > 10, "only {starts} idle exits were met");
    assert!(path.exists());
}

#[test]
fn no_request_is_lost_in_the_idle_moment_of_its_own_socket() {
    let dir = Dir::new();
    let path = dir.path().join("s");
    let mut daemons = Vec::new();
    for round in 0..200 {
        let mut fresh = loop {
            match UnixStream::connect(&path) {
                Ok(stream) => break stream,
                Err(_) => {
                    // As a client does that finds none: start one, and wait for its socket.
                    let mut child = command(dir.path())
                        .arg("--socket")
                        .arg(&path)
                        .args(["--idle-secs", &format!("0.0{IDLE_MS}")])
                        .stderr(Stdio::piped())
                        .spawn()
                        .unwrap();
                    let until = Instant::now() + Duration::from_secs(10);
                    // It may have come and gone before this thread looks.
                    while !path.exists() && child.try_wait().unwrap().is_none() {
                        assert!(Instant::now() < until, "no daemon starts");
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    daemons.push(child);
                    assert!(daemons.len() < 2000, "daemons do not stay");
                }
            }
        };
        assert_eq!(ping(&mut fresh), Try::Answered, "round {round}");
        near(IDLE_MS, round);
    }
    println!("{} starts", daemons.len());
    assert!(daemons.len() > 10);
    for child in &mut daemons {
        // 1: between a daemon's bind and its listen, a client finds a socket that refuses it, and starts
        // another one, which then finds the first.
        let code = wait(child).code();
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let second = code == Some(1) && said.contains("already listens");
        assert!(code == Some(0) || second, "{code:?}: {said}");
    }
    assert_eq!(dir.names(), ["tabd"]);
}
