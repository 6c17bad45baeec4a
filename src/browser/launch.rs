//! Starts Chromium with its debugging pipe on file descriptors 3 and 4, and hands over all that is to
//! be cleaned up. Speaks no protocol: the first question over the pipe is the caller's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::libc;

use crate::browser::find::find;
use crate::browser::process::Process;
use crate::browser::profile::{Profile, SCRATCH_VARIABLE};
use crate::browser::trouble;
use crate::error::{Code, Result};

/// How the browser is to be started; the daemon's flags of the same names.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The browser's path, or its name in `PATH`; the best one installed where absent.
    pub browser: Option<PathBuf>,
    /// Whether to show windows.
    pub headed: bool,
    /// Whether to go without Chromium's own sandbox; root has to.
    pub no_sandbox: bool,
    /// A profile that stays; a temporary one where absent.
    pub profile: Option<PathBuf>,
    /// Further arguments for the browser, after tabd's own.
    pub extra_args: Vec<String>,
    /// The daemon's own directory: temporary profiles and their locks are in its `profiles/`.
    pub runtime_dir: PathBuf,
}

/// A browser that has been started, and has not been heard of yet.
///
/// Fields drop in this order: the pipe closes, the processes are killed, the profile is removed.
#[derive(Debug)]
pub struct Launched {
    /// Where messages to the browser are written, each ended by NUL. Blocking, close-on-exec.
    pub to_browser: OwnedFd,
    /// Where messages from the browser are read, each ended by NUL. Blocking, close-on-exec.
    pub from_browser: OwnedFd,
    /// The browser's processes.
    pub process: Process,
    /// The browser's files.
    pub profile: Profile,
    /// Whether it is a headless shell, which has no windows and no pages of its own.
    pub headless_shell: bool,
}

/// What Chromium does on its own and a driven browser must not: look for its makers' hosts, ask
/// questions, save power in tabs that are not in front.
const QUIET: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    // No window or tab that nobody opened: a full Chromium answers 130 ms earlier without one.
    "--no-startup-window",
    // Nothing is fetched that no page asked for.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--no-pings",
    // Nothing is reported, and no crash handler stays behind in a session of its own.
    "--disable-breakpad",
    "--disable-crashpad-for-testing",
    "--metrics-recording-only",
    // No keyring is asked for a password.
    "--password-store=basic",
    "--use-mock-keychain",
    // A tab in the background runs as fast as one in front.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-ipc-flooding-protection",
    // Nothing pops up that no page asked for.
    "--hide-crash-restore-bubble",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    "--mute-audio",
];

/// Features that call out, pop up, or change what a page sees.
const FEATURES_OFF: &str = "Translate,MediaRouter,OptimizationHints,OptimizationGuideModelDownloading,\
DialMediaRouteProvider,GlobalMediaControls,AcceptCHFrame,AutofillServerCommunication,\
CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions,HttpsUpgrades,\
CalculateNativeWinOcclusion,DestroyProfileOnBrowserClose";

/// Service-manager variables that concern the daemon alone.
const DAEMON_VARIABLES: &[&str] = &[
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

/// Pipe capacity asked for, in bytes: a screenshot or a big snapshot in one go. Where the system
/// allows less, the pipe keeps its 64 KiB.
const PIPE_BYTES: libc::c_int = 1 << 20;

/// Starts a browser; returns as soon as it runs, before it has answered anything.
///
/// `deadline` bounds the wait for a profile whose last browser is just ending. Dropping this future
/// leaves nothing running. A browser that dies at once shows as the pipe's end: ask
/// [`Process::trouble`] why.
///
/// # Errors
/// `no_browser`: not found, root without `--no-sandbox`, a `/dev/shm` too small, a profile in use,
/// or a program that cannot be executed. `io`: the directories cannot be made.
pub async fn launch(options: &LaunchOptions, deadline: Instant) -> Result<Launched> {
    let search_path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let found = find(options.browser.as_deref(), options.headed, &search_path)?;
    trouble::before_launch(options)?;
    let profile = Profile::prepare(options, deadline).await?;
    let (child_reads, to_browser) = pipe()?;
    let (from_browser, child_writes) = pipe()?;

    let mut command = std::process::Command::new(&found.path);
    command
        .args(arguments(options, profile.path().as_os_str()))
        .env("TMPDIR", profile.temporary_directory())
        .env("BREAKPAD_DUMP_LOCATION", profile.crash_directory())
        .env(SCRATCH_VARIABLE, profile.scratch())
        // GTK's settings, else a daemon of theirs writes ~/.cache/dconf.
        .env("GSETTINGS_BACKEND", "memory")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    for variable in DAEMON_VARIABLES {
        command.env_remove(variable);
    }
    on_fds_3_and_4(
        &mut command,
        child_reads.as_raw_fd(),
        child_writes.as_raw_fd(),
    );

    let occupied = occupy_3_and_4()?;
    let child = tokio::process::Command::from(command).spawn();
    drop(occupied);
    let child = child.map_err(|error| {
        Code::NoBrowser
            .because(format!(
                "{} cannot be started: {error}",
                found.path.display()
            ))
            .hint("give --browser (TABD_BROWSER) the path of a working Chromium or Chrome")
            .fact("why", "not_executable")
            .fact("browser", found.path.to_string_lossy())
    })?;
    Ok(Launched {
        to_browser,
        from_browser,
        process: Process::watch(child)?,
        profile,
        headless_shell: found.headless_shell,
    })
}

/// The browser's arguments: tabd's own, then the user's, so that the user's win. Chromium takes the
/// last of a switch, so lists of features are joined.
fn arguments(options: &LaunchOptions, user_data_dir: &OsStr) -> Vec<OsString> {
    let mut args: Vec<OsString> = QUIET.iter().map(OsString::from).collect();
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(user_data_dir);
    args.push(user_data);
    if !options.headed {
        // A shell is headless by itself; it takes the word as well.
        args.push("--headless".into());
    }
    if options.no_sandbox {
        args.push("--no-sandbox".into());
    }
    let mut off = FEATURES_OFF.to_owned();
    for arg in &options.extra_args {
        match arg.strip_prefix("--disable-features=") {
            Some(more) => {
                off.push(',');
                off.push_str(more);
            }
            None => args.push(arg.into()),
        }
    }
    args.push(format!("--disable-features={off}").into());
    args
}

/// A pipe, both ends close-on-exec: (reads, writes).
fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let (reads, writes) = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(|error| {
        Code::Io.because(format!("cannot make a pipe for the browser: {error}"))
    })?;
    let _ = nix::fcntl::fcntl(&writes, nix::fcntl::FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
    Ok((reads, writes))
}

/// Holds fds 3 and 4 open for as long as the result lives, where they are free: the pipe through which
/// the child reports that it could not execute must not lie there, since the child puts its own over it.
fn occupy_3_and_4() -> Result<Vec<OwnedFd>> {
    let null = std::fs::File::open("/dev/null")
        .map_err(|error| Code::Io.because(format!("cannot open /dev/null: {error}")))?;
    let mut held = vec![OwnedFd::from(null)];
    while held.iter().all(|fd| fd.as_raw_fd() <= 4) {
        let next = nix::fcntl::fcntl(&held[0], nix::fcntl::FcntlArg::F_DUPFD_CLOEXEC(3))
            .map_err(|error| Code::Io.because(format!("cannot duplicate a descriptor: {error}")))?;
        // SAFETY: fcntl has just made this descriptor, and nobody else knows its number.
        #[allow(unsafe_code)]
        held.push(unsafe { OwnedFd::from_raw_fd(next) });
    }
    Ok(held)
}

/// Makes the child a session of its own with the pipe on its fds 3 and 4, and without core dumps.
///
/// Either number may already be in use in the daemon, by systemd's socket for one, or by the pipe
/// itself: so both ends first move out of the way.
fn on_fds_3_and_4(command: &mut std::process::Command, reads: RawFd, writes: RawFd) {
    let in_child = move || {
        let check = |result: libc::c_int| match result {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(fd),
        };
        // SAFETY: only system calls that are async-signal-safe, on integers and a local struct: nothing
        // allocates or locks between fork and exec.
        #[allow(unsafe_code)]
        unsafe {
            check(libc::setsid())?;
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            check(libc::setrlimit(libc::RLIMIT_CORE, &none))?;
            let reads = check(libc::fcntl(reads, libc::F_DUPFD_CLOEXEC, 10))?;
            let writes = check(libc::fcntl(writes, libc::F_DUPFD_CLOEXEC, 10))?;
            // The copies at 3 and 4 are not close-on-exec. Everything else becomes so, whatever the daemon
            // inherited itself; a kernel older than 5.11 cannot, and then tabd's own still are.
            check(libc::dup2(reads, 3))?;
            check(libc::dup2(writes, 4))?;
            let (first, last) = (5 as libc::c_uint, libc::c_uint::MAX);
            libc::syscall(
                libc::SYS_close_range,
                first,
                last,
                libc::CLOSE_RANGE_CLOEXEC,
            );
        }
        Ok(())
    };
    // SAFETY: the closure above is safe to run between fork and exec, as said there.
    #[allow(unsafe_code)]
    unsafe {
        use std::os::unix::process::CommandExt;
        command.pre_exec(in_child);
    }
}

#[cfg(test)]
mod tests;
