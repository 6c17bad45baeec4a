//! Where the daemon listens: `--socket`, systemd's socket, or the runtime directory; never /tmp.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockaddrLike, UnixAddr, getsockname, getsockopt, sockopt};
use nix::sys::stat::{Mode, umask};

use crate::error::{Code, Error, Result};

/// How long a daemon that is just starting or ending may hold the lock before it counts as live.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bound, listening socket.
pub struct Socket {
    /// Non-blocking.
    pub listener: UnixListener,
    own: Option<Own>,
    passed: bool,
}

/// A socket that this daemon made and must remove.
struct Own {
    path: PathBuf,
    inode: (u64, u64),
    lock: Lock,
}

impl Socket {
    /// Listens at `asked`, else on the socket systemd passed, else at `$XDG_RUNTIME_DIR/tabd.sock`.
    ///
    /// Fails with `busy`, naming the pid, if a daemon already listens there.
    pub fn open(asked: Option<&Path>) -> Result<Socket> {
        let socket = match (asked, passed()?) {
            (Some(path), _) => bind(path)?,
            (None, Some(listener)) => Socket {
                listener,
                own: None,
                passed: true,
            },
            (None, None) => bind(&default_path()?)?,
        };
        let nonblocking = socket.listener.set_nonblocking(true);
        nonblocking.map_err(|e| io_error("the socket", &e))?;
        Ok(socket)
    }

    /// The path, for the log.
    pub fn name(&self) -> String {
        match &self.own {
            Some(own) => own.path.display().to_string(),
            None => "systemd's socket".to_owned(),
        }
    }

    /// Whether systemd owns it: who connects after the last accept is served by the next daemon.
    pub fn is_passed(&self) -> bool {
        self.passed
    }

    /// Removes the socket and its lock if they are still ours. Connections already made stay.
    pub fn remove(&mut self) {
        let Some(own) = self.own.take() else { return };
        if fs::symlink_metadata(&own.path).is_ok_and(|m| inode(&m) == own.inode) {
            // Gone by itself is as good.
            let _ = fs::remove_file(&own.path);
        }
        own.lock.remove();
    }
}

impl Drop for Socket {
    /// A start that fails later leaves nothing either.
    fn drop(&mut self) {
        self.remove();
    }
}

/// `$XDG_RUNTIME_DIR/tabd.sock`, in a directory that is ours alone.
pub fn default_path() -> Result<PathBuf> {
    let hint = "give --socket PATH, or run it in a user session";
    let dir = std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|dir| Path::new(dir).is_absolute())
        .ok_or_else(|| Code::Io.because("XDG_RUNTIME_DIR is not set").hint(hint))?;
    let dir = PathBuf::from(dir);
    let meta = fs::metadata(&dir).map_err(|e| io_error(dir.display(), &e).hint(hint))?;
    let me = nix::unistd::geteuid().as_raw();
    if meta.uid() != me || meta.mode() & 0o022 != 0 {
        return Err(Code::Io
            .because(format!(
                "XDG_RUNTIME_DIR {} is not a directory that only this user can write (owner {}, mode {:o})",
                dir.display(),
                meta.uid(),
                meta.mode() & 0o7777
            ))
            .hint(hint));
    }
    Ok(dir.join("tabd.sock"))
}

/// The socket systemd passed, by `LISTEN_FDS` and `LISTEN_PID`; close-on-exec from here on.
fn passed() -> Result<Option<UnixListener>> {
    const FIRST: i32 = 3;
    let number = |name| std::env::var(name).ok().and_then(|v| v.parse::<u32>().ok());
    if number("LISTEN_PID") != Some(std::process::id()) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        None | Some(0) => return Ok(None),
        Some(1) => {}
        Some(n) => {
            return Err(Code::Io.because(format!(
                "systemd passed {n} sockets; tabd serves exactly one"
            )));
        }
    }
    let unix = getsockname::<UnixAddr>(FIRST)
        .is_ok_and(|address| address.family() == Some(AddressFamily::Unix));
    if !unix {
        return Err(Code::Io.because("descriptor 3 from systemd is not a Unix socket"));
    }
    let fd = adopt(FIRST);
    let listens = getsockopt(&fd, sockopt::AcceptConn).unwrap_or(false);
    if !listens {
        return Err(Code::Io
            .because("descriptor 3 from systemd does not listen")
            .hint("the socket unit needs ListenStream= and Accept=no"));
    }
    fcntl(&fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))
        .map_err(|e| io_error("descriptor 3", &e.into()))?;
    Ok(Some(UnixListener::from(fd)))
}

/// Owns a descriptor that systemd left open for this process.
#[allow(unsafe_code)] // No safe call takes over an inherited descriptor by its number.
fn adopt(fd: i32) -> OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: LISTEN_FDS and LISTEN_PID say that the descriptor was opened for this process, it was
    // just seen to be a socket, and this runs once, before anything else could have taken it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn bind(path: &Path) -> Result<Socket> {
    let path = std::path::absolute(path).map_err(|e| io_error(path.display(), &e))?;
    let lock = Lock::take(&path)?;
    let listener = replace(&path);
    let (listener, inode) = match listener {
        Ok(bound) => bound,
        Err(error) => {
            lock.remove();
            return Err(error);
        }
    };
    Ok(Socket {
        listener,
        own: Some(Own { path, inode, lock }),
        passed: false,
    })
}

/// Binds at `path` with mode 0600 from its first moment, in place of a dead daemon's socket.
fn replace(path: &Path) -> Result<(UnixListener, (u64, u64))> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(io_error(path.display(), &e)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return Err(Code::Io
                .because(format!("{} exists and is not a socket", path.display()))
                .hint("give another --socket PATH"));
        }
        Ok(_) => {
            if let Some(pid) = server_of(path) {
                return Err(in_use(path, Some(pid)));
            }
            fs::remove_file(path).map_err(|e| io_error(path.display(), &e))?;
        }
    }
    // The mask is the whole process's, but no other thread runs yet.
    let before = umask(Mode::from_bits_truncate(0o177));
    let bound = UnixListener::bind(path);
    umask(before);
    let listener = bound.map_err(|e| io_error(path.display(), &e))?;
    let meta = fs::symlink_metadata(path).map_err(|e| io_error(path.display(), &e))?;
    Ok((listener, inode(&meta)))
}

/// Who listens at `path`, if somebody does.
fn server_of(path: &Path) -> Option<i32> {
    let stream = UnixStream::connect(path).ok()?;
    getsockopt(&stream, sockopt::PeerCredentials)
        .ok()
        .map(|peer| peer.pid())
}

fn in_use(path: &Path, pid: Option<i32>) -> Error {
    let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
    let error = Code::Busy
        .because(format!("{who} already listens on {}", path.display()))
        .hint("use it, stop it with {\"tool\":\"shutdown\"}, or give another --socket PATH");
    match pid {
        Some(pid) => error.fact("pid", pid),
        None => error,
    }
}

fn io_error(what: impl std::fmt::Display, error: &io::Error) -> Error {
    Code::Io.because(format!("{what}: {error}"))
}

fn inode(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

/// The lock beside a socket: a file with the pid of the daemon that holds it.
struct Lock {
    path: PathBuf,
    _held: Flock<File>,
}

impl Lock {
    /// Takes the lock of the socket at `socket`, or says who has it.
    fn take(socket: &Path) -> Result<Lock> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |e: &io::Error| io_error(path.display(), e);
        let patience = Instant::now() + PATIENCE;
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC).bits())
                .open(&path)
                .map_err(|e| failed(&e))?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(mut held) => {
                    // Its last holder may have removed the file between our open and our lock.
                    let ours = held.metadata().map_err(|e| failed(&e))?;
                    if !fs::metadata(&path).is_ok_and(|there| inode(&there) == inode(&ours)) {
                        continue;
                    }
                    held.set_len(0).map_err(|e| failed(&e))?;
                    writeln!(held, "{}", std::process::id()).map_err(|e| failed(&e))?;
                    return Ok(Lock { path, _held: held });
                }
                Err((mut file, Errno::EWOULDBLOCK)) => {
                    let live = server_of(socket);
                    if live.is_some() || Instant::now() > patience {
                        let mut text = String::new();
                        // Empty or unreadable: the socket's own word has to do.
                        let _ = file.read_to_string(&mut text);
                        return Err(in_use(socket, text.trim().parse().ok().or(live)));
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err((_, e)) => return Err(failed(&e.into())),
            }
        }
    }

    /// Removes the file while it is still locked, so that nobody locks a file that is about to go.
    fn remove(self) {
        // Gone by itself is as good.
        let _ = fs::remove_file(&self.path);
    }
}
