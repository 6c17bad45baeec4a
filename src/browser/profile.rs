//! The browser's files: a temporary profile that vanishes with it, or one that stays and is ours alone.
//!
//! A browser always has a *scratch* directory, `RUNTIME/profiles/NAME` (0700): the file `lock`, locked by
//! the daemon for as long as it lives, `tmp` for what Chromium would leave in `/tmp`, `crash` for what it
//! would leave in `~/.config`, and `data`, the profile itself if it is temporary. A scratch directory whose
//! lock is free belongs to a dead daemon.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::getuid;

use crate::browser::launch::LaunchOptions;
use crate::browser::process::kill_leftovers;
use crate::error::{Code, Error, Result};

/// The variable that marks a browser's processes as belonging to a scratch directory.
pub(super) const SCRATCH_VARIABLE: &str = "TABD_SCRATCH_DIR";

/// The longest `TMPDIR` for Chromium, in bytes. It appends `/org.chromium.Chromium.XXXXXX/SingletonSocket`
/// (44), and the path of a Unix socket has 107; beyond, the inherited `TMPDIR` serves.
const TMPDIR_BYTES: usize = 107 - 44;

/// How long a removal is tried again while dying processes still write into the directory.
const REMOVE_WITHIN: Duration = Duration::from_secs(1);

/// How long a profile's last browser may take to end before it counts as locked.
const UNLOCKED_WITHIN: Duration = Duration::from_secs(2);

/// Chromium's own marks of a profile in use.
const SINGLETONS: [&str; 3] = ["SingletonLock", "SingletonSocket", "SingletonCookie"];

/// The browser's files. Dropping it removes what is temporary; [`Profile::remove`] does so off the
/// runtime's thread.
#[derive(Debug)]
pub struct Profile {
    data: PathBuf,
    scratch: PathBuf,
    /// Held for the life of the scratch directory; unlocks when dropped, after the removal.
    _scratch_lock: Flock<File>,
    /// Of a profile that stays.
    claim: Option<Claim>,
}

/// The right to use a profile that stays, held until dropped.
#[derive(Debug)]
pub struct Claim {
    /// Absent if this process had already claimed it.
    _lock: Option<Flock<File>>,
}

impl Profile {
    /// Makes the directories that `options` ask for. Waits until `deadline`, and at most 2 s, for a
    /// profile whose last browser is just ending.
    pub(super) async fn prepare(options: &LaunchOptions, deadline: Instant) -> Result<Profile> {
        let until = deadline.min(Instant::now() + UNLOCKED_WITHIN);
        let (runtime_dir, persistent) = (options.runtime_dir.clone(), options.profile.clone());
        blocking(move || Profile::make(&runtime_dir, persistent.as_deref(), until)).await
    }

    fn make(runtime_dir: &Path, persistent: Option<&Path>, until: Instant) -> Result<Profile> {
        let claim = match persistent {
            None => None,
            Some(dir) => {
                let claim = Claim::take(dir)?;
                unlock_stale(dir, until)?;
                Some(claim)
            }
        };
        let (scratch, lock) = make_scratch(runtime_dir)?;
        let data = match persistent {
            // Chromium takes a relative path for one below its own directory.
            Some(dir) => {
                fs::canonicalize(dir).map_err(|error| failed("use the profile", dir, &error))?
            }
            None => scratch.join("data"),
        };
        Ok(Profile {
            data,
            scratch,
            _scratch_lock: lock,
            claim,
        })
    }

    /// The profile itself (`--user-data-dir`).
    pub fn path(&self) -> &Path {
        &self.data
    }

    /// Whether the profile goes with the browser.
    pub fn is_temporary(&self) -> bool {
        self.claim.is_none()
    }

    /// The directory of everything temporary.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Where the browser puts temporary files and its socket.
    pub(super) fn temporary_directory(&self) -> PathBuf {
        let own = self.scratch.join("tmp");
        if own.as_os_str().len() <= TMPDIR_BYTES {
            own
        } else {
            std::env::temp_dir()
        }
    }

    /// Where the browser puts crash reports.
    pub(super) fn crash_directory(&self) -> PathBuf {
        self.scratch.join("crash")
    }

    /// Removes what is temporary; call it after [`Process::stop`](super::process::Process::stop).
    /// Dropping this future does not stop the removal.
    pub async fn remove(self) {
        let _ = blocking(move || {
            drop(self);
            Ok(())
        })
        .await;
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // What Chromium left outside, if its TMPDIR could not be ours. Its own removal may come first.
        remove_socket_directory(&self.data);
        remove_all(&self.scratch);
    }
}

impl Claim {
    /// Claims the profile `dir` for this process, making it (0700) where it is missing. A daemon takes
    /// this at its start and keeps it; launching under it works.
    ///
    /// # Errors
    /// `no_browser` with `data.why:"profile_locked"` and `data.pid`; `io`.
    pub fn take(dir: &Path) -> Result<Claim> {
        make_dir(dir)?;
        let path = dir.join(".tabd.lock");
        let file = open_lock(&path).map_err(|error| failed("open", &path, &error))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut lock) => {
                let pid = std::process::id();
                let written = lock
                    .set_len(0)
                    .and_then(|()| lock.write_all(format!("{pid}\n").as_bytes()));
                written.map_err(|error| failed("write", &path, &error))?;
                Ok(Claim { _lock: Some(lock) })
            }
            Err((mut file, _)) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                match text.trim().parse() {
                    Ok(pid) if pid == std::process::id() => Ok(Claim { _lock: None }),
                    owner => Err(locked(dir, "another tabd", owner.ok())),
                }
            }
        }
    }
}

/// Removes what killed daemons left in `runtime_dir`: their browsers' processes, if any still run, and
/// their temporary profiles. Returns how many profiles there were. For the daemon's start; blocks for
/// milliseconds, and for as long as another sweep runs.
pub fn sweep(runtime_dir: &Path) -> usize {
    let profiles = runtime_dir.join("profiles");
    if !profiles.is_dir() {
        return 0;
    }
    let Ok(_guard) = guard(&profiles) else {
        return 0;
    };
    let mut swept = 0;
    for entry in fs::read_dir(&profiles).into_iter().flatten().flatten() {
        let scratch = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || is_owned(&scratch) {
            continue;
        }
        kill_leftovers(&scratch);
        remove_socket_directory(&scratch.join("data"));
        remove_all(&scratch);
        swept += 1;
    }
    swept
}

/// Whether a living daemon holds the scratch directory's lock. A directory without one was left half
/// made or half removed, since both making and sweeping hold the guard.
fn is_owned(scratch: &Path) -> bool {
    match OpenOptions::new().read(true).open(scratch.join("lock")) {
        Ok(file) => Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err(),
        Err(_) => false,
    }
}

/// The lock under which scratch directories are made and swept.
fn guard(profiles: &Path) -> Result<Flock<File>> {
    let path = profiles.join(".lock");
    let file = open_lock(&path).map_err(|error| failed("open", &path, &error))?;
    Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, errno)| failed("lock", &path, &errno.into()))
}

fn make_scratch(runtime_dir: &Path) -> Result<(PathBuf, Flock<File>)> {
    let profiles = runtime_dir.join("profiles");
    make_dir(&profiles)?;
    // Chromium's own processes have other working directories.
    let profiles = fs::canonicalize(&profiles).map_err(|error| failed("use", &profiles, &error))?;
    let _guard = guard(&profiles)?;
    let pid = std::process::id();
    let scratch = (0..1000)
        .map(|n| profiles.join(format!("{pid}-{n}")))
        .find_map(|path| match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Some(Ok(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(failed("make", &path, &error))),
        })
        .unwrap_or_else(|| {
            Err(Code::Io.because(format!("{} is full of profiles", profiles.display())))
        })?;
    let path = scratch.join("lock");
    let file = open_lock(&path).map_err(|error| failed("open", &path, &error))?;
    let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|(_, errno)| failed("lock", &path, &errno.into()))?;
    for name in ["tmp", "crash", "data"] {
        make_dir(&scratch.join(name))?;
    }
    Ok((scratch, lock))
}

/// Sees to Chromium's own lock in `dir`: waits for a living owner to go, removes a dead one's.
fn unlock_stale(dir: &Path, until: Instant) -> Result<()> {
    while let Ok(owner) = fs::read_link(dir.join(SINGLETONS[0])) {
        let owner = owner.to_string_lossy().into_owned();
        let (host, pid) = owner.rsplit_once('-').unwrap_or(("", ""));
        let pid: Option<u32> = pid.parse().ok();
        let here =
            fs::read_to_string("/proc/sys/kernel/hostname").is_ok_and(|name| name.trim() == host);
        if !here {
            let message = format!("a browser on the host {}", crate::error::quoted(host, 80));
            return Err(locked(dir, &message, pid).hint(format!(
                "close that browser, or use another --profile; if none runs there, delete {}",
                dir.join(SINGLETONS[0]).display()
            )));
        }
        if !pid.is_some_and(|pid| is_browser(pid, dir)) {
            remove_socket_directory(dir);
            for name in SINGLETONS {
                let _ = fs::remove_file(dir.join(name));
            }
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(locked(dir, "a running browser", pid));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Whether the process `pid` is a browser, rather than a stranger that got a dead one's number.
fn is_browser(pid: u32, dir: &Path) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = command.split(|&byte| byte == 0).next().unwrap_or_default();
    let names = String::from_utf8_lossy(program).to_ascii_lowercase();
    let uses = command
        .split(|&byte| byte == 0)
        .filter_map(|arg| arg.strip_prefix(b"--user-data-dir="))
        .any(|value| value == dir.as_os_str().as_encoded_bytes());
    uses || names.contains("chrom")
}

fn locked(dir: &Path, by: &str, pid: Option<u32>) -> Error {
    let who = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    let error = Code::NoBrowser
        .because(format!(
            "the profile {} is locked: {by}{who} uses it",
            dir.display()
        ))
        .hint("end that program, or give another directory with --profile (TABD_PROFILE)")
        .fact("why", "profile_locked")
        .fact("profile", dir.to_string_lossy());
    match pid {
        Some(pid) => error.fact("pid", pid),
        None => error,
    }
}

/// Removes the directory that `dir`'s `SingletonSocket` points into, if Chromium made it for us.
fn remove_socket_directory(dir: &Path) {
    let Ok(socket) = fs::read_link(dir.join(SINGLETONS[1])) else {
        return;
    };
    let Some(parent) = socket.parent().filter(|parent| parent.is_absolute()) else {
        return;
    };
    let name = parent.file_name().unwrap_or_default().to_string_lossy();
    let is_chromiums = [
        "org.chromium.",
        ".org.chromium.",
        "com.google.Chrome.",
        ".com.google.Chrome.",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix));
    let is_ours = fs::symlink_metadata(parent)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == getuid().as_raw());
    if is_chromiums && is_ours {
        let _ = fs::remove_dir_all(parent);
    }
}

/// Removes a directory into which dying processes may still write. Gives up after a second; the next
/// sweep goes on.
fn remove_all(dir: &Path) {
    let until = Instant::now() + REMOVE_WITHIN;
    while let Err(error) = fs::remove_dir_all(dir) {
        if error.kind() == io::ErrorKind::NotFound && !dir.exists() {
            return;
        }
        if Instant::now() >= until {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn make_dir(dir: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| failed("make the directory", dir, &error))
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(path)
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Code::Io
        .because(format!("cannot {what} {}: {error}", path.display()))
        .fact("path", path.to_string_lossy())
}

/// Runs `work` off the runtime's thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Code::Internal.because(format!("a file task ended: {error}"))))
}

#[cfg(test)]
mod tests;
