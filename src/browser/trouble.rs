//! Why a browser does not start, told before the attempt where it can be, else from its last words.

use std::path::Path;
use std::process::ExitStatus;

use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;

use crate::browser::launch::LaunchOptions;
use crate::error::{Code, Error, Result, quoted};

/// Free bytes in `/dev/shm` below which no browser is started. Many a Chromium comes up and dies over its
/// first pages there (version 156 was seen to get by), which is hard to tell from a page's own fault.
/// Docker's default of 64 MiB serves.
const SHM_BYTES: u64 = 16 << 20;

/// The switch that makes Chromium use `TMPDIR` instead of `/dev/shm`.
const NO_SHM: &str = "--disable-dev-shm-usage";

/// What is certain to go wrong, before a process is started.
///
/// # Errors
/// `no_browser` with `data.why` `root`, `dev_shm` or `browser_arg`.
pub fn before_launch(options: &LaunchOptions) -> Result<()> {
    reserved(options)?;
    let has = |switch: &str| options.extra_args.iter().any(|arg| arg == switch);
    if geteuid().is_root() && !options.no_sandbox && !has("--no-sandbox") {
        return Err(as_root());
    }
    match free_bytes(Path::new("/dev/shm")) {
        _ if has(NO_SHM) => Ok(()),
        Some(free) if free >= SHM_BYTES => Ok(()),
        free => Err(tiny_shm(free)),
    }
}

/// Arguments that would take from under tabd what it relies on.
fn reserved(options: &LaunchOptions) -> Result<()> {
    let taken = [
        ("--user-data-dir", "use --profile DIR"),
        ("--remote-debugging-pipe", "tabd passes it itself"),
    ];
    for arg in &options.extra_args {
        let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
        if let Some((_, instead)) = taken.iter().find(|(switch, _)| *switch == name) {
            return Err(Code::NoBrowser
                .because(format!("--browser-arg={name} cannot be given"))
                .hint(*instead)
                .fact("why", "browser_arg"));
        }
    }
    Ok(())
}

#[allow(
    clippy::useless_conversion,
    reason = "the types are narrower on 32-bit systems"
)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let stat = statvfs(dir).ok()?;
    Some(u64::from(stat.blocks_available()).saturating_mul(u64::from(stat.fragment_size())))
}

fn as_root() -> Error {
    Code::NoBrowser
        .because("Chromium's sandbox does not work as root")
        .hint("run tabd as an ordinary user, or start the daemon with --no-sandbox (TABD_NO_SANDBOX=1) if this machine is for nothing else")
        .fact("why", "root")
}

fn tiny_shm(free: Option<u64>) -> Error {
    let found = match free {
        Some(free) => format!(
            "/dev/shm has {} KiB free; Chromium needs 16 MiB at least",
            free >> 10
        ),
        None => "there is no /dev/shm, which Chromium keeps its shared memory in".to_owned(),
    };
    Code::NoBrowser
        .because(found)
        .hint("enlarge it (docker run --shm-size=256m, or mount -o remount,size=256m /dev/shm), or start the daemon with --browser-arg=--disable-dev-shm-usage to use TMPDIR")
        .fact("why", "dev_shm")
        .fact("free_bytes", free)
}

/// Why a browser that was started never answered: told by its exit status (`None`: it still runs) and by
/// what it wrote to stderr, which is always in `data.stderr`.
pub fn trouble(stderr: &str, status: Option<ExitStatus>, options: &LaunchOptions) -> Error {
    let says = |texts: &[&str]| texts.iter().any(|text| stderr.contains(text));
    let error = if says(&["Running as root without --no-sandbox"]) {
        as_root()
    } else if says(&[
        "No usable sandbox",
        "Failed to move to new namespace",
        "SUID sandbox helper",
        "zygote_host_impl_linux",
    ]) {
        Code::NoBrowser
            .because("Chromium found no sandbox to run pages in: this system gives it no user namespaces")
            .hint("install the setuid sandbox (Debian: apt-get install chromium-sandbox), or allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0 or kernel.unprivileged_userns_clone=1; in a container, a seccomp profile that permits clone and unshare), or start the daemon with --no-sandbox (TABD_NO_SANDBOX=1)")
            .fact("why", "sandbox")
    } else if says(&[
        "Missing X server",
        "cannot open display",
        "Unable to open X display",
        "Failed to connect to Wayland display",
    ]) {
        Code::NoBrowser
            .because("Chromium found no display to show its windows on")
            .hint("leave --headed out, or set DISPLAY or WAYLAND_DISPLAY for the daemon (without a screen: xvfb-run tabd daemon --headed)")
            .fact("why", "display")
    } else if let Some(library) = missing_library(stderr) {
        Code::NoBrowser
            .because(format!("Chromium misses the shared library {}", quoted(library, 80)))
            .hint("install the package that holds it, or reinstall the browser with its dependencies (apt-get install --fix-broken chromium)")
            .fact("why", "library")
            .fact("library", library)
    } else if says(&[
        "profile appears to be in use",
        "ProcessSingleton",
        "SingletonLock",
    ]) {
        let profile = options
            .profile
            .as_deref()
            .unwrap_or(Path::new(""))
            .to_string_lossy()
            .into_owned();
        Code::NoBrowser
            .because(format!(
                "the profile {profile} is locked: another browser uses it"
            ))
            .hint("close that browser, or give another directory with --profile (TABD_PROFILE)")
            .fact("why", "profile_locked")
            .fact("profile", profile)
    } else if stderr.contains("/dev/shm") && says(&["No space left", "Unable to access", "failed:"])
    {
        tiny_shm(free_bytes(Path::new("/dev/shm")))
    } else {
        unknown(stderr, status)
    };
    error.fact("stderr", stderr)
}

/// The library's name from the dynamic linker's line `…: error while loading shared libraries: NAME: …`.
fn missing_library(stderr: &str) -> Option<&str> {
    let (_, rest) = stderr.split_once("error while loading shared libraries: ")?;
    rest.split(':').next()
}

fn unknown(stderr: &str, status: Option<ExitStatus>) -> Error {
    let ended = match status {
        Some(status) => format!("the browser ended before it answered ({status})"),
        None => "the browser did not answer in time".to_owned(),
    };
    // A fatal line is the reason; else the last line comes nearest.
    let fatal = stderr.lines().rfind(|line| line.contains("FATAL"));
    let last = fatal.or_else(|| stderr.lines().rfind(|line| !line.trim().is_empty()));
    let message = match last {
        Some(line) => format!("{ended}; it said {}", quoted(line.trim(), 200)),
        None => ended,
    };
    let hint = match status {
        Some(_) => {
            "see data.stderr, and try to start the browser by hand; --browser PATH (TABD_BROWSER) takes another"
        }
        None => "the machine may be overloaded: try again; data.stderr has what the browser said",
    };
    Code::NoBrowser
        .because(message)
        .hint(hint)
        .fact("why", if status.is_some() { "exited" } else { "silent" })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn why(error: &Error) -> &str {
        assert_eq!(error.code(), Code::NoBrowser);
        assert!(error.next_step().is_some(), "{error} says nothing to do");
        error.facts()["why"].as_str().unwrap()
    }

    #[test]
    fn chromiums_last_words_are_recognised() {
        let exited = Some(ExitStatus::from_raw(1 << 8));
        for (stderr, expected) in [
            (
                "[1:1:ERROR:zygote_host_impl_linux.cc(101)] Running as root without --no-sandbox is not supported. See https://crbug.com/638180.",
                "root",
            ),
            (
                "[9:9:FATAL:content/browser/zygote_host/zygote_host_impl_linux.cc:128] No usable sandbox! If you are running on Ubuntu 23.10+ …",
                "sandbox",
            ),
            (
                "Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted",
                "sandbox",
            ),
            (
                "[3:3:FATAL:setuid_sandbox_host.cc(157)] The SUID sandbox helper binary was found, but is not configured correctly.",
                "sandbox",
            ),
            (
                "[5:5:ERROR:ozone_platform_x11.cc(240)] Missing X server or $DISPLAY",
                "display",
            ),
            (
                "/usr/lib/chromium/chromium: error while loading shared libraries: libnss3.so: cannot open shared object file: No such file or directory",
                "library",
            ),
            (
                "[7:7:ERROR:process_singleton_posix.cc] The profile appears to be in use by another Chromium process (7) on another computer",
                "profile_locked",
            ),
            (
                "[8:8:FATAL:platform_shared_memory] Unable to access(W_OK|X_OK) /dev/shm: No such file or directory",
                "dev_shm",
            ),
            ("something else", "exited"),
        ] {
            let error = trouble(stderr, exited, &LaunchOptions::default());
            assert_eq!(why(&error), expected, "{stderr}");
            assert_eq!(error.facts()["stderr"], stderr);
        }
    }

    #[test]
    fn an_unknown_end_quotes_the_fatal_line() {
        let stderr = "noise\n[1:FATAL:x.cc] Boom \"quoted\"\nmore noise\n\n";
        let error = trouble(
            stderr,
            Some(ExitStatus::from_raw(6)),
            &LaunchOptions::default(),
        );
        assert!(
            error
                .message()
                .contains(r#"it said "[1:FATAL:x.cc] Boom \"quoted\"""#),
            "{error}"
        );
        assert!(error.message().contains("signal: 6"), "{error}");
        let error = trouble("", None, &LaunchOptions::default());
        assert_eq!(why(&error), "silent");
    }

    #[test]
    fn root_needs_no_sandbox_said_aloud() {
        if !geteuid().is_root() {
            return;
        }
        let error = before_launch(&LaunchOptions::default()).unwrap_err();
        assert_eq!(why(&error), "root");
        assert!(error.next_step().unwrap().contains("TABD_NO_SANDBOX=1"));
        let allowed = LaunchOptions {
            no_sandbox: true,
            ..LaunchOptions::default()
        };
        before_launch(&allowed).unwrap();
    }

    #[test]
    fn a_tiny_shm_says_what_to_do() {
        let error = tiny_shm(Some(64 << 10));
        assert!(error.message().contains("64 KiB"), "{error}");
        assert!(
            error
                .next_step()
                .unwrap()
                .contains("--browser-arg=--disable-dev-shm-usage")
        );
        assert_eq!(why(&tiny_shm(None)), "dev_shm");
    }

    #[test]
    fn what_tabd_relies_on_cannot_be_taken_away() {
        let options = LaunchOptions {
            no_sandbox: true,
            extra_args: vec!["--user-data-dir=/x".into()],
            ..LaunchOptions::default()
        };
        let error = before_launch(&options).unwrap_err();
        assert_eq!(why(&error), "browser_arg");
        assert!(error.next_step().unwrap().contains("--profile"));
    }
}
