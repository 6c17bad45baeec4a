//! Daemons of one's own, and a client that speaks raw bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// The longest a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The binary under test.
pub const TABD: &str = env!("CARGO_BIN_EXE_tabd");

/// A directory of one's own, mode 0700, removed in the end.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new() -> Dir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tabd-it-{}-{n}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .unwrap();
        Dir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names of what is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = names
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running daemon; ended with the test.
pub struct Daemon {
    pub child: Child,
    pub socket: PathBuf,
    /// Its XDG_RUNTIME_DIR, with the socket in it.
    pub dir: Dir,
    log: Dir,
    notify: UnixDatagram,
}

/// `tabd daemon` as tests run it: nothing of the caller's environment reaches it that changes what it does.
pub fn command(runtime_dir: &Path) -> Command {
    let mut command = Command::new(TABD);
    command
        .arg("daemon")
        .env("XDG_RUNTIME_DIR", runtime_dir)
        .env("XDG_CACHE_HOME", runtime_dir.join("cache"))
        .env_remove("LISTEN_FDS")
        .env_remove("NOTIFY_SOCKET")
        .env_remove("WATCHDOG_USEC")
        .env_remove("JOURNAL_STREAM")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if nix::unistd::geteuid().is_root() {
        command.env("TABD_NO_SANDBOX", "1");
    }
    command
}

impl Daemon {
    /// A daemon that is ready.
    pub fn start() -> Daemon {
        Daemon::with(&[])
    }

    /// A daemon with more arguments than its socket, ready.
    pub fn with(args: &[&str]) -> Daemon {
        Daemon::in_dir(Dir::new(), args)
    }

    /// A daemon with its socket in `dir`, ready.
    pub fn in_dir(dir: Dir, args: &[&str]) -> Daemon {
        let socket = dir.path().join("s");
        let log = Dir::new();
        let notify_path = log.path().join("notify");
        let notify = UnixDatagram::bind(&notify_path).unwrap();
        notify.set_read_timeout(Some(PATIENCE)).unwrap();
        let stderr = std::fs::File::create(log.path().join("log")).unwrap();
        let child = command(dir.path())
            .arg("--socket")
            .arg(&socket)
            .args(args)
            .env("NOTIFY_SOCKET", &notify_path)
            .stderr(stderr)
            .spawn()
            .unwrap();
        let daemon = Daemon {
            child,
            socket,
            dir,
            log,
            notify,
        };
        assert!(daemon.notification().contains("READY=1"));
        daemon
    }

    /// What it tells systemd next.
    pub fn notification(&self) -> String {
        let mut buffer = [0; 4096];
        match self.notify.recv(&mut buffer) {
            Ok(n) => String::from_utf8_lossy(&buffer[..n]).into_owned(),
            Err(e) => panic!("no notification: {e}; its log:\n{}", self.log()),
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.socket)
    }

    /// What it wrote to stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log.path().join("log")).unwrap_or_default()
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Its resident memory in bytes.
    pub fn rss(&self) -> u64 {
        self.client().call("info", json!({}))["result"]["memory"]["rss_bytes"]
            .as_u64()
            .unwrap()
    }
}

/// Waits for a child's end; kills it and fails if that takes too long.
pub fn wait(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("the process did not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill(self.pid(), Signal::SIGTERM);
            if !std::thread::panicking() {
                wait(&mut self.child);
            }
        }
        if std::thread::panicking() {
            eprintln!("the daemon's log:\n{}", self.log());
        }
    }
}

/// A connection. Waits at most [`PATIENCE`] for anything.
pub struct Client {
    pub stream: UnixStream,
    lines: BufReader<UnixStream>,
    next: u64,
}

impl Client {
    pub fn connect(path: &Path) -> Client {
        Client::new(UnixStream::connect(path).unwrap())
    }

    pub fn new(stream: UnixStream) -> Client {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Client {
            stream,
            lines,
            next: 0,
        }
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// The next line, without its newline; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.truncate(line.trim_end_matches('\n').len());
        line
    }

    /// The next line as JSON.
    pub fn json(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// The next line must be an error: its code.
    pub fn code(&mut self) -> String {
        let line = self.json();
        assert_eq!(line["ok"], false, "{line}");
        line["error"]["code"].as_str().unwrap().to_owned()
    }

    /// Calls a tool and returns its reply, past any events.
    pub fn call(&mut self, tool: &str, args: Value) -> Value {
        self.request(json!({"tool": tool, "args": args}))
    }

    /// Sends a request under an id of its own and returns its reply, past any events.
    pub fn request(&mut self, mut request: Value) -> Value {
        self.next += 1;
        let id = json!(format!("call-{}", self.next));
        request["id"] = id.clone();
        self.write(format!("{request}\n"));
        loop {
            let line = self.json();
            if line["id"] == id {
                return line;
            }
            assert!(
                line["event"].is_string(),
                "not the reply to {request}: {line}"
            );
        }
    }

    /// Sends no more.
    pub fn half_close(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Everything up to the end.
    pub fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        rest
    }
}
