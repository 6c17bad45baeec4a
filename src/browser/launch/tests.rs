//! Real browsers, started and ended in every way; and scripts in their place where only the way of
//! starting matters.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::unistd::{Pid, geteuid, getsid};

use super::*;
use crate::browser::profile::{Claim, sweep};

const SHELL: &str = "chromium-headless-shell";
const FULL: &str = "chromium";
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory for one test, removed at its end.
struct Room(PathBuf);

impl Room {
    fn new() -> Room {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("tl{}-{n}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        Room(dir)
    }

    fn options(&self, browser: impl Into<PathBuf>) -> LaunchOptions {
        LaunchOptions {
            browser: Some(browser.into()),
            no_sandbox: geteuid().is_root(),
            runtime_dir: self.0.clone(),
            ..LaunchOptions::default()
        }
    }

    /// A shell script in a browser's place.
    fn script(&self, text: &str) -> PathBuf {
        let path = self.0.join("fake-browser");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn scratches(&self) -> Vec<PathBuf> {
        let dir = fs::read_dir(self.0.join("profiles"))
            .into_iter()
            .flatten()
            .flatten();
        dir.map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

/// Living processes of the session that `pid` leads or led.
fn members(pid: u32) -> Vec<i32> {
    let pid = Pid::from_raw(pid.try_into().unwrap());
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&other| getsid(Some(Pid::from_raw(other))) == Ok(pid))
        .filter(|other| {
            let stat = fs::read_to_string(format!("/proc/{other}/stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| !rest.starts_with('Z'))
        })
        .collect()
}

/// Processes anywhere whose command line names `dir`.
fn users_of(dir: &Path) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(dir.to_str().unwrap()))
        .count()
}

/// One command and its reply over the raw pipe.
async fn ask(launched: &Launched, method: &str) -> String {
    let mut to = File::from(launched.to_browser.try_clone().unwrap());
    let mut from = BufReader::new(File::from(launched.from_browser.try_clone().unwrap()));
    write!(to, r#"{{"id":1,"method":"{method}"}}{}"#, '\0').unwrap();
    let read = tokio::task::spawn_blocking(move || {
        let mut reply = Vec::new();
        from.read_until(0, &mut reply).unwrap();
        String::from_utf8(reply).unwrap()
    });
    tokio::time::timeout(PATIENCE, read).await.unwrap().unwrap()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let end = deadline();
    while !condition() {
        assert!(Instant::now() < end, "{what} did not come true");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn answers_and_leaves_nothing(browser: &str) {
    let room = Room::new();
    let start = Instant::now();
    let launched = launch(&room.options(browser), deadline()).await.unwrap();
    let reply = ask(&launched, "Browser.getVersion").await;
    eprintln!("{browser}: first reply after {:?}", start.elapsed());
    assert!(
        reply.starts_with(r#"{"id":1,"result":{"protocolVersion""#),
        "{reply}"
    );
    assert_eq!(launched.headless_shell, browser == SHELL);
    let pid = launched.process.pid();
    assert!(
        members(pid).len() > 2,
        "the browser has a session of its own"
    );
    assert_eq!(
        fs::metadata(launched.profile.scratch())
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );

    let start = Instant::now();
    ask(&launched, "Browser.close").await;
    launched.process.stop(Duration::from_secs(5)).await;
    eprintln!("{browser}: stopped after {:?}", start.elapsed());
    assert_eq!(members(pid), [] as [i32; 0]);
    assert_eq!(users_of(&room.0), 0, "no crash handler either");
    assert!(launched.process.exit_status().unwrap().success());
    launched.profile.remove().await;
    eprintln!("{browser}: removed after {:?}", start.elapsed());
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_headless_shell_answers_and_leaves_nothing() {
    answers_and_leaves_nothing(SHELL).await;
}

#[tokio::test]
async fn a_full_chromium_answers_and_leaves_nothing() {
    answers_and_leaves_nothing(FULL).await;
}

#[tokio::test]
async fn a_browser_that_does_not_end_is_killed_whole() {
    let room = Room::new();
    let launched = launch(&room.options(FULL), deadline()).await.unwrap();
    ask(&launched, "Browser.getVersion").await;
    let pid = launched.process.pid();
    launched.process.stop(Duration::ZERO).await;
    assert_eq!(members(pid), [] as [i32; 0]);
    launched.profile.remove().await;
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn dropping_it_leaves_nothing() {
    let room = Room::new();
    let launched = launch(&room.options(SHELL), deadline()).await.unwrap();
    ask(&launched, "Browser.getVersion").await;
    let pid = launched.process.pid();
    drop(launched);
    until("the end of all processes", || members(pid).is_empty()).await;
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_long_runtime_directory_works() {
    let room = Room::new();
    let mut options = room.options(FULL);
    options.runtime_dir = room.0.join("long".repeat(30));
    let launched = launch(&options, deadline()).await.unwrap();
    ask(&launched, "Browser.getVersion").await;
    let socket = fs::read_link(launched.profile.path().join("SingletonSocket")).unwrap();
    launched.process.stop(Duration::ZERO).await;
    launched.profile.remove().await;
    assert!(!socket.parent().unwrap().exists(), "{socket:?} stayed");
}

/// Not a test by itself: the daemon in `a_killed_owner_leaves_no_browser`.
#[tokio::test]
#[ignore = "runs as another test's child"]
async fn owner() {
    let Some(dir) = std::env::var_os("TABD_TEST_ROOM") else {
        return;
    };
    let room = Room(dir.into());
    let mut options = room.options(std::env::var_os("TABD_TEST_BROWSER").unwrap());
    if let Some(profile) = std::env::var_os("TABD_TEST_PROFILE") {
        options.profile = Some(profile.into());
    }
    let launched = launch(&options, deadline()).await.unwrap();
    ask(&launched, "Browser.getVersion").await;
    fs::write(room.0.join("pid.new"), launched.process.pid().to_string()).unwrap();
    fs::rename(room.0.join("pid.new"), room.0.join("pid")).unwrap();
    std::future::pending::<()>().await;
}

/// A process that owns a browser: itself, and the browser's pid.
async fn owner_process(room: &Room, browser: &Path, profile: Option<&Path>) -> (Child, u32) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "browser::launch::tests::owner", "--ignored"])
        .env("TABD_TEST_ROOM", &room.0)
        .env("TABD_TEST_BROWSER", browser)
        .env("LISTEN_FDS", "1")
        .env("NOTIFY_SOCKET", "/nowhere")
        .stdout(Stdio::null());
    if let Some(profile) = profile {
        command.env("TABD_TEST_PROFILE", profile);
    }
    let child = command.spawn().unwrap();
    let file = room.0.join("pid");
    until("the owner's browser", || file.exists()).await;
    (child, fs::read_to_string(file).unwrap().parse().unwrap())
}

async fn a_killed_owner(browser: &str) {
    let room = Room::new();
    let (mut owner, pid) = owner_process(&room, Path::new(browser), None).await;
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment);
    assert!(environment.contains("TMPDIR="));
    assert!(!environment.contains("LISTEN_") && !environment.contains("NOTIFY_SOCKET"));
    assert_eq!(sweep(&room.0), 0, "a living owner's profile stays");
    assert_eq!(room.scratches().len(), 1);

    owner.kill().unwrap();
    owner.wait().unwrap();
    let start = Instant::now();
    until("the browser's end", || members(pid).is_empty()).await;
    eprintln!("{browser}: gone {:?} after its owner", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(sweep(&room.0), 1);
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_killed_owner_leaves_no_headless_shell() {
    a_killed_owner(SHELL).await;
}

#[tokio::test]
async fn a_killed_owner_leaves_no_full_chromium() {
    a_killed_owner(FULL).await;
}

#[tokio::test]
async fn a_sweep_kills_a_browser_that_outlived_its_owner() {
    let room = Room::new();
    // Answers once, and does not mind the pipe's end.
    let fake = room.script("printf '{}\\0' >&4\nwhile :; do sleep 1000; done");
    let (mut owner, pid) = owner_process(&room, &fake, None).await;
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(!members(pid).is_empty());
    assert_eq!(sweep(&room.0), 1);
    until("the end of all processes", || members(pid).is_empty()).await;
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_profile_that_stays_stays_and_is_locked_meanwhile() {
    let room = Room::new();
    let dir = room.0.join("kept");
    let (mut owner, pid) = owner_process(&room, Path::new(FULL), Some(&dir)).await;
    assert_eq!(
        fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let mut options = room.options(FULL);
    options.profile = Some(dir.clone());
    let error = launch(&options, deadline()).await.unwrap_err();
    assert_eq!(error.code(), Code::NoBrowser);
    assert_eq!(error.facts()["why"], "profile_locked");
    assert_eq!(error.facts()["pid"], owner.id());

    owner.kill().unwrap();
    owner.wait().unwrap();
    assert_eq!(sweep(&room.0), 1);
    // The dead browser's own lock does not count.
    let launched = launch(&options, deadline()).await.unwrap();
    ask(&launched, "Browser.getVersion").await;
    assert!(!launched.profile.is_temporary());
    until("the first browser's end", || members(pid).is_empty()).await;
    launched.process.stop(Duration::ZERO).await;
    launched.profile.remove().await;
    assert!(dir.join("Default").is_dir());
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_claimed_profile_can_be_launched_by_its_claimant() {
    let room = Room::new();
    let mut options = room.options(room.script("exit 0"));
    options.profile = Some(room.0.join("kept"));
    let _claim = Claim::take(&room.0.join("kept")).unwrap();
    launch(&options, deadline()).await.unwrap();
}

#[tokio::test]
async fn the_pipe_is_on_3_and_4_and_nothing_else_is_inherited() {
    let room = Room::new();
    // Even what the daemon inherited itself, and never made close-on-exec.
    let stray = File::open("/dev/null").unwrap();
    nix::fcntl::fcntl(
        &stray,
        nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()),
    )
    .unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(room.0.join("socket")).unwrap();
    let fake = room.script("head -c 3 <&3 >&4\nprintf '\\0' >&4\nexec sleep 1000");
    let launched = launch(&room.options(fake), deadline()).await.unwrap();
    assert_eq!(ask(&launched, "x").await, "{\"i\0");
    let process = PathBuf::from(format!("/proc/{}", launched.process.pid()));
    let name = || fs::read_to_string(process.join("comm")).unwrap();
    until("the shell's exec", || name() == "sleep\n").await;
    let target = |fd: &str| fs::read_link(process.join("fd").join(fd)).unwrap();
    let open = || {
        let entries = fs::read_dir(process.join("fd")).unwrap();
        let mut open: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        open.sort_unstable();
        open
    };
    // While it starts, the program has its libraries open.
    until("fds 0 to 4 and no other", || {
        open() == ["0", "1", "2", "3", "4"]
    })
    .await;
    assert_eq!(
        (target("0"), target("1")),
        ("/dev/null".into(), "/dev/null".into())
    );
    assert!(
        ["2", "3", "4"]
            .iter()
            .all(|fd| target(fd).to_string_lossy().starts_with("pipe:"))
    );
    launched.process.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn a_chatty_browser_is_never_blocked_and_only_its_last_words_kept() {
    let room = Room::new();
    let fake =
        room.script("head -c 3000000 /dev/zero | tr '\\0' x >&2\necho last words >&2\nexit 7");
    let options = room.options(fake);
    let launched = launch(&options, deadline()).await.unwrap();
    let mut pipe = File::from(launched.from_browser.try_clone().unwrap());
    let ended = tokio::task::spawn_blocking(move || pipe.read_to_end(&mut Vec::new()));
    assert_eq!(
        tokio::time::timeout(PATIENCE, ended)
            .await
            .unwrap()
            .unwrap()
            .unwrap(),
        0
    );
    let error = launched.process.trouble(&options, deadline()).await;
    assert_eq!(error.code(), Code::NoBrowser);
    assert!(error.message().contains("exit status: 7"), "{error}");
    let stderr = error.facts()["stderr"].as_str().unwrap();
    assert!(stderr.ends_with("last words\n"));
    assert_eq!(stderr.len(), 8 << 10);
}

#[tokio::test]
async fn what_cannot_be_executed_is_said() {
    let room = Room::new();
    let path = room.0.join("broken");
    fs::write(&path, "#!/nowhere/interpreter\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = launch(&room.options(path), deadline()).await.unwrap_err();
    assert_eq!(error.code(), Code::NoBrowser);
    assert!(
        error.message().contains("cannot be started: No such file"),
        "{error}"
    );
    assert_eq!(room.scratches(), [] as [PathBuf; 0]);
}

#[test]
fn features_of_the_user_are_added_to_ours() {
    let options = LaunchOptions {
        extra_args: vec!["--disable-features=A,B".into(), "--lang=de".into()],
        ..LaunchOptions::default()
    };
    let args = arguments(&options, OsStr::new("/p"));
    let features: Vec<_> = args
        .iter()
        .filter_map(|arg| arg.to_str()?.strip_prefix("--disable-features="))
        .collect();
    assert_eq!(features.len(), 1);
    assert!(features[0].starts_with("Translate,") && features[0].ends_with(",A,B"));
    assert!(args.contains(&"--lang=de".into()) && args.contains(&"--user-data-dir=/p".into()));
    assert!(!args.contains(&"--no-sandbox".into()));
}
