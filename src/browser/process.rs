//! The browser's processes: their end, their last words, and the certainty that none is left.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpid, getsid};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr};
use tokio::sync::watch;

use crate::browser::launch::LaunchOptions;
use crate::browser::profile::SCRATCH_VARIABLE;
use crate::browser::trouble;
use crate::error::{Code, Error, Result};

/// How much of the browser's stderr is kept, in bytes: the last words, where the reason of a failure is.
const STDERR_BYTES: usize = 8 << 10;

/// How long processes that were killed may take to go. A kill is over in milliseconds unless the disk
/// is stuck; beyond this the next start's sweep has another try.
const KILLED_WITHIN: Duration = Duration::from_secs(2);

/// A running browser: the process that was started, and the session it leads.
///
/// Dropping it kills the whole session without waiting.
#[derive(Debug)]
pub struct Process {
    leader: Pid,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    /// Turns true at stderr's end: no process of the browser holds it any more.
    silent: watch::Receiver<bool>,
    /// Whether the whole session was seen to be gone: from then on its number may be a stranger's.
    gone: AtomicBool,
}

impl Process {
    /// Watches over a child that leads its own session.
    ///
    /// Two tasks live as long as the browser: one waits for its end, one drains its stderr, so that it
    /// never blocks there.
    pub(super) fn watch(mut child: Child) -> Result<Process> {
        let leader = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .map(Pid::from_raw)
            .ok_or_else(|| Code::NoBrowser.because("the browser ended before it began"))?;
        let stderr = Arc::default();
        let (silent_tx, silent) = watch::channel(false);
        let pipe = child.stderr.take();
        let tail = Arc::clone(&stderr);
        tokio::spawn(async move {
            if let Some(pipe) = pipe {
                drain(pipe, &tail).await;
            }
            silent_tx.send_replace(true);
        });
        let (exit_tx, exit) = watch::channel(None);
        tokio::spawn(async move {
            // An error here means that someone else reaped the child: it is gone all the same.
            let status = child.wait().await.unwrap_or_default();
            exit_tx.send_replace(Some(status));
        });
        Ok(Process {
            leader,
            exit,
            stderr,
            silent,
            gone: AtomicBool::new(false),
        })
    }

    /// The process id of the program that was started. It leads the browser's session and process group.
    pub fn pid(&self) -> u32 {
        self.leader.as_raw().unsigned_abs()
    }

    /// The exit status, once the program has ended.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits for the program's end. Dropping this future changes nothing.
    pub async fn wait(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or_default(),
            // The runtime is ending, and its tasks with it.
            Err(_) => ExitStatus::default(),
        }
    }

    /// The last 8 KiB the browser wrote to stderr, as text.
    pub fn stderr_tail(&self) -> String {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = tail.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Kills the browser and everything it started, without waiting.
    pub fn kill(&self) {
        if self.exit_status().is_none() {
            let _ = killpg(self.leader, Signal::SIGKILL);
        }
        for pid in self.members() {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }

    /// The living processes of the browser's session.
    ///
    /// A session keeps its number from being given away for as long as it has a member. So where the
    /// leader has ended and its number is alive, the session is gone and the number a stranger's.
    fn members(&self) -> Vec<Pid> {
        if self.gone.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let ended = self.exit_status().is_some();
        let members = if ended && is_alive(self.leader) {
            Vec::new()
        } else {
            session_members(self.leader)
        };
        if ended && members.is_empty() {
            self.gone.store(true, Ordering::Relaxed);
        }
        members
    }

    /// Waits up to `grace` for the browser to end by itself (after `Browser.close`, or the pipe's end),
    /// then kills what is left of its session, and returns when all of it is gone.
    pub async fn stop(&self, grace: Duration) {
        let _ = tokio::time::timeout(grace, self.wait()).await;
        let until = Instant::now() + KILLED_WITHIN;
        loop {
            self.kill();
            // All processes share stderr: its end is theirs.
            let mut silent = self.silent.clone();
            let _ =
                tokio::time::timeout(Duration::from_millis(20), silent.wait_for(|&silent| silent))
                    .await;
            let gone = self.exit_status().is_some() && self.members().is_empty();
            if gone || Instant::now() >= until {
                return;
            }
            if *self.silent.borrow() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    /// Why the browser did not come up: for when its pipe ended, or `deadline` passed, before it
    /// answered. Waits briefly for its exit status and last words, which may arrive after the pipe's end.
    pub async fn trouble(&self, options: &LaunchOptions, deadline: Instant) -> Error {
        let brief = (Instant::now() + Duration::from_millis(500)).min(deadline.max(Instant::now()));
        let ended = async {
            self.wait().await;
            let mut silent = self.silent.clone();
            let _ = silent.wait_for(|&silent| silent).await;
        };
        let _ = tokio::time::timeout_at(brief.into(), ended).await;
        trouble::trouble(&self.stderr_tail(), self.exit_status(), options)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads `pipe` to its end and keeps the last [`STDERR_BYTES`] in `tail`.
async fn drain(mut pipe: ChildStderr, tail: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(read) = pipe.read(&mut chunk).await {
        if read == 0 {
            return;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&chunk[..read]);
        let excess = tail.len().saturating_sub(STDERR_BYTES);
        tail.drain(..excess);
    }
}

/// Kills every process that was started with `scratch` in its environment, with its session, and waits
/// until they are gone, for two seconds at most. For a browser whose daemon is dead; our own session is
/// never touched.
pub(super) fn kill_leftovers(scratch: &Path) {
    let own = getsid(None).ok();
    let sessions: BTreeSet<Pid> = all_processes()
        .filter(|&pid| pid != getpid() && was_started_with(pid, scratch))
        .filter_map(|pid| getsid(Some(pid)).ok())
        .filter(|&session| Some(session) != own)
        .collect();
    let until = Instant::now() + KILLED_WITHIN;
    loop {
        let left: Vec<Pid> = sessions
            .iter()
            .flat_map(|&session| session_members(session))
            .collect();
        if left.is_empty() || Instant::now() >= until {
            return;
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The living processes of `session`.
fn session_members(session: Pid) -> Vec<Pid> {
    all_processes()
        .filter(|&pid| getsid(Some(pid)) == Ok(session) && is_alive(pid))
        .collect()
}

fn all_processes() -> impl Iterator<Item = Pid> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .map(Pid::from_raw)
}

/// Whether the process still holds anything: a zombie does not.
fn is_alive(pid: Pid) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The state follows the name, which is in parentheses and may hold some itself.
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Whether the process has `scratch` in its environment. Some of a browser's have overwritten theirs with
/// their title: one that has it vouches for its session.
fn was_started_with(pid: Pid, scratch: &Path) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment.split(|&byte| byte == 0).any(|variable| {
        variable
            .strip_prefix(SCRATCH_VARIABLE.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="))
            .is_some_and(|value| value == scratch.as_os_str().as_encoded_bytes())
    })
}
