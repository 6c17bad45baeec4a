//! Starting a daemon from the command line: in the background and ready, or for one call alone.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, PipeWriter};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::error::{Code, Error, Result};

/// A daemon without a browser is up in milliseconds; one that is not up after this never will be.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// How long an ending daemon may take to close its browser before it is killed.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// The files in a [`PrivateDir`].
const NOTIFY: &str = "notify";
const STDERR: &str = "stderr";

/// Starts a daemon of this user that outlives the caller, on `socket` if one was named, and returns
/// when it answers. Fails with what it said on stderr when it ended instead.
pub fn in_background(socket: Option<&Path>) -> Result<()> {
    let dir = PrivateDir::make()?;
    let mut command = daemon(&dir)?;
    command.arg("--detached").stdin(Stdio::null());
    if let Some(socket) = socket {
        command.arg("--socket").arg(socket);
    }
    // The daemon leads a session of its own (`--detached`), so neither the terminal's end nor its
    // Ctrl-C reaches it; the child is not waited for, whoever inherits it does.
    await_ready(command, &dir).map(drop)
}

/// A daemon for one call: ends, and takes everything with it, when this value is dropped or the
/// process that holds it dies.
pub struct Oneshot(Arc<Life>);

/// Emptied by whoever ends it first; the lock is held until it is over.
struct Life(Mutex<Option<Parts>>);

struct Parts {
    child: Started,
    /// The daemon's stdin: it ends when this closes.
    leash: PipeWriter,
    dir: PrivateDir,
}

impl Oneshot {
    /// Starts it with the daemon's `flags` and connects.
    pub fn start(flags: &[String]) -> Result<(Oneshot, UnixStream)> {
        let dir = PrivateDir::make()?;
        let socket = dir.0.join("tabd.sock");
        let (reader, leash) = io::pipe().map_err(|e| cannot("make a pipe", &e))?;
        let mut command = daemon(&dir)?;
        command
            .arg("--with-parent")
            .arg("--socket")
            .arg(&socket)
            .stdin(reader)
            // Ctrl-C is for us; the daemon hears of it through its stdin.
            .process_group(0);
        if !flags
            .iter()
            .any(|f| f == "--idle-secs" || f.starts_with("--idle-secs="))
        {
            command.args(["--idle-secs", "0"]);
        }
        command.args(flags);
        let child = await_ready(command, &dir)?;
        let stream = UnixStream::connect(&socket).map_err(|e| cannot("reach the daemon", &e));
        let life = Arc::new(Life(Mutex::new(Some(Parts { child, leash, dir }))));
        let oneshot = Oneshot(life);
        oneshot.end_on_signals()?;
        Ok((oneshot, stream?))
    }

    /// On SIGINT, SIGTERM and SIGHUP ends the daemon, then this process.
    fn end_on_signals(&self) -> Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|e| cannot("wait for signals", &e))?;
        let guard = runtime.enter();
        let on = |kind| signal(kind).map_err(|e| cannot("wait for signals", &e));
        let (mut int, mut term, mut hup) = (
            on(SignalKind::interrupt())?,
            on(SignalKind::terminate())?,
            on(SignalKind::hangup())?,
        );
        drop(guard);
        let life = Arc::clone(&self.0);
        std::thread::spawn(move || {
            let number = runtime.block_on(async {
                tokio::select! {
                    _ = int.recv() => 2,
                    _ = term.recv() => 15,
                    _ = hup.recv() => 1,
                }
            });
            life.end();
            std::process::exit(128 + number);
        });
        Ok(())
    }
}

impl Drop for Oneshot {
    fn drop(&mut self) {
        if !self.0.end() {
            // A signal did; its thread ends the process with the signal's status.
            loop {
                std::thread::park();
            }
        }
    }
}

impl Life {
    /// Ends the daemon and returns when it is gone, whichever thread ends it; says if this one did.
    fn end(&self) -> bool {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Parts { child, leash, dir }) = parts.take() else {
            return false;
        };
        drop(leash);
        child.wait_or_kill(GONE_WITHIN);
        drop(dir);
        true
    }
}

/// The command line of a daemon whose stderr can be read back from `dir`.
fn daemon(dir: &PrivateDir) -> Result<Command> {
    let program = std::env::current_exe().map_err(|e| cannot("find the tabd program", &e))?;
    let mut command = Command::new(program);
    command
        .arg("daemon")
        .stdout(Stdio::null())
        .stderr(dir.stderr()?)
        // These were meant for us.
        .env_remove("LISTEN_FDS")
        .env_remove("LISTEN_PID")
        .env_remove("LISTEN_FDNAMES")
        .env_remove("WATCHDOG_USEC")
        .env_remove("WATCHDOG_PID");
    Ok(command)
}

/// A child, and the thread that waits for its end.
struct Started {
    pid: u32,
    ended: mpsc::Receiver<News>,
}

enum News {
    Ready,
    Ended(io::Result<ExitStatus>),
}

impl Started {
    fn wait_or_kill(self, time: Duration) {
        while let Ok(News::Ready) = self.ended.try_recv() {}
        if let Err(mpsc::RecvTimeoutError::Timeout) = self.ended.recv_timeout(time) {
            let pid = nix::unistd::Pid::from_raw(self.pid.cast_signed());
            // Not reaped yet, so the pid is still its own.
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            let _ = self.ended.recv_timeout(time);
        }
    }
}

/// Starts the daemon and waits until it is ready, by its own `READY=1`, or has ended.
fn await_ready(mut command: Command, dir: &PrivateDir) -> Result<Started> {
    let path = dir.0.join(NOTIFY);
    let notify = UnixDatagram::bind(&path).map_err(|e| cannot("wait for the daemon", &e))?;
    command.env("NOTIFY_SOCKET", &path);
    let mut child: Child = command
        .spawn()
        .map_err(|e| cannot("start the daemon", &e))?;
    drop(command);
    let (news, ended) = mpsc::channel();
    let pid = child.id();
    let ready = news.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n) = notify.recv(&mut buffer) {
            let lines = buffer[..n].split(|b| *b == b'\n');
            if lines.into_iter().any(|l| l == b"READY=1") {
                let _ = ready.send(News::Ready);
                return;
            }
        }
    });
    std::thread::spawn(move || {
        let _ = news.send(News::Ended(child.wait()));
    });
    match ended.recv_timeout(READY_WITHIN) {
        Ok(News::Ready) => Ok(Started { pid, ended }),
        Ok(News::Ended(status)) => Err(dir.failure(status)),
        Err(_) => {
            Started { pid, ended }.wait_or_kill(Duration::ZERO);
            Err(Code::Io
                .because(format!(
                    "the daemon was not ready within {} s",
                    READY_WITHIN.as_secs()
                ))
                .hint("`tabd daemon` in a terminal shows what it does"))
        }
    }
}

/// A directory of our own, removed with all it holds when dropped.
struct PrivateDir(PathBuf);

impl PrivateDir {
    fn make() -> Result<PrivateDir> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|d| Path::new(d).is_dir());
        let base = runtime.map_or_else(std::env::temp_dir, PathBuf::from);
        let pid = std::process::id();
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let dir = base.join(format!("tabd-{pid}-{n}"));
            match DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => return Ok(PrivateDir(dir)),
                // Left by a killed process of that pid, or put there by somebody else.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && n < 1000 => {}
                Err(e) => return Err(cannot(&format!("make {}", dir.display()), &e)),
            }
        }
    }

    /// A file for the daemon's stderr: unlike a pipe it never breaks when we are gone.
    fn stderr(&self) -> Result<File> {
        let path = self.0.join(STDERR);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        file.map_err(|e| cannot(&format!("make {}", path.display()), &e))
    }

    /// What a daemon that ended at once had to say.
    fn failure(&self, status: io::Result<ExitStatus>) -> Error {
        let said = fs::read(self.0.join(STDERR)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let mut message = String::new();
        let mut hint = None;
        for line in said.lines().filter(|l| !l.trim().is_empty()) {
            // `<3>` is the journal's level.
            let line = line
                .strip_prefix('<')
                .and_then(|l| l.split_once('>'))
                .map_or(line, |(_, l)| l);
            let line = line.strip_prefix("tabd: ").unwrap_or(line);
            match line.strip_prefix("hint: ") {
                Some(line) => hint = Some(line.to_owned()),
                None if message.len() < 2000 => {
                    let gap = if message.is_empty() { "" } else { "; " };
                    message = format!("{message}{gap}{line}");
                }
                None => {}
            }
        }
        if message.is_empty() {
            message = match status {
                Ok(status) => format!("it ended with {status}"),
                Err(e) => e.to_string(),
            };
        }
        let error = Code::Io.because(format!("the daemon did not start: {message}"));
        match hint {
            Some(hint) => error.hint(hint),
            None => error.hint("`tabd daemon` in a terminal shows what it does"),
        }
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The daemon's side of [`in_background`]: a session of its own, nothing inherited open, and no
/// directory kept busy.
pub fn detach() -> io::Result<()> {
    // Fails only for a process group's leader, which is then detached enough.
    let _ = nix::unistd::setsid();
    let open: Vec<OsString> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .collect();
    // The caller's files: a lock held through one would last as long as the daemon.
    for fd in open
        .iter()
        .filter_map(|name| name.to_str()?.parse::<i32>().ok())
    {
        if fd > 2 {
            let _ = nix::unistd::close(fd);
        }
    }
    std::env::set_current_dir("/")
}

/// The daemon's side of [`Oneshot`]: ends this process in an orderly way when stdin does.
pub fn end_with_stdin() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGTERM);
    });
}

/// Removes the [`PrivateDir`] of a parent that could not do it any more: our two files, and the
/// directory if it holds nothing else.
pub fn tidy(dir: &Path) {
    for name in [NOTIFY, STDERR] {
        let _ = fs::remove_file(dir.join(name));
    }
    let _ = fs::remove_dir(dir);
}

fn cannot(what: &str, error: &io::Error) -> Error {
    Code::Io.because(format!("cannot {what}: {error}"))
}
