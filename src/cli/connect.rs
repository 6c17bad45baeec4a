//! Where the daemon is, and a connection to it: started if nothing listens.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::start;
use crate::error::{Code, Error, Result};

/// The socket to talk to.
pub struct Address {
    path: PathBuf,
    named: bool,
}

impl Address {
    /// `--socket` or `TABD_SOCKET` (relative to `here`), else the runtime directory's.
    pub fn find(flag: Option<&str>, here: &Path) -> Result<Address> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let named = flag.map(Into::into).or_else(|| set("TABD_SOCKET"));
        if let Some(path) = named {
            return Ok(Address {
                path: here.join(path),
                named: true,
            });
        }
        let dir = set("XDG_RUNTIME_DIR").ok_or_else(|| {
            Code::Io
                .because("XDG_RUNTIME_DIR is not set, so there is no place for the socket")
                .hint("export XDG_RUNTIME_DIR=/run/user/$(id -u), or name a --socket")
        })?;
        Ok(Address {
            path: Path::new(&dir).join("tabd.sock"),
            named: false,
        })
    }

    /// Connects, starting a daemon if nothing listens. Of several callers at once one starts it.
    pub fn connect(&self) -> Result<UnixStream> {
        if let Some(stream) = self.try_connect()? {
            return Ok(stream);
        }
        // Starters queue here; whoever comes second finds the first one's daemon. The directory
        // itself is the lock, so nothing is left behind.
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let directory = File::open(parent).map_err(|e| {
            Code::Io
                .because(format!("cannot open {}: {e}", parent.display()))
                .hint("the socket's directory must exist")
        })?;
        let _turn = Flock::lock(directory, FlockArg::LockExclusive).ok();
        // A daemon that is going away may still hold its lock: the next attempt finds it gone.
        let mut attempts = 3;
        loop {
            if let Some(stream) = self.try_connect()? {
                return Ok(stream);
            }
            attempts -= 1;
            let started = start::in_background(self.named.then_some(&*self.path));
            match (started, self.try_connect()?) {
                (_, Some(stream)) => return Ok(stream),
                (Err(error), None) if attempts == 0 => return Err(error),
                (Ok(()), None) if attempts == 0 => {
                    return Err(Code::Io.because(format!(
                        "the daemon started, but does not listen on {}",
                        self.path.display()
                    )));
                }
                _ => {}
            }
        }
    }

    /// A connection, or `None` if nothing listens.
    fn try_connect(&self) -> Result<Option<UnixStream>> {
        match UnixStream::connect(&self.path) {
            Ok(stream) => Ok(Some(stream)),
            Err(e) if nobody(&e) => Ok(None),
            Err(e) => Err(refused(&self.path, &e)),
        }
    }
}

fn nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let said = Code::Io.because(format!("cannot connect to {}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied => said.hint("the socket belongs to another user"),
        io::ErrorKind::InvalidInput => said.hint("a socket's path has at most 107 bytes"),
        _ => said,
    }
}
