//! Locks and leftovers on the file system alone, without a browser.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use super::*;

struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Room {
        let dir = std::env::temp_dir().join(format!("tp{}-{name}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        Room(dir)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mark(dir: &Path, owner: &str) {
    symlink(owner, dir.join("SingletonLock")).unwrap();
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap()
        .trim()
        .to_owned()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(50)
}

#[test]
fn a_dead_browsers_lock_is_removed_with_its_socket() {
    let room = Room::new("stale");
    let sockets = room.0.join("org.chromium.Chromium.abcdef");
    fs::create_dir(&sockets).unwrap();
    fs::write(sockets.join("SingletonSocket"), "").unwrap();
    symlink(
        sockets.join("SingletonSocket"),
        room.0.join("SingletonSocket"),
    )
    .unwrap();
    // A child that has been waited for: its number is free.
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    mark(&room.0, &format!("{}-{}", host(), child.id()));
    unlock_stale(&room.0, soon()).unwrap();
    assert!(fs::read_link(room.0.join("SingletonLock")).is_err());
    assert!(!sockets.exists());
}

#[test]
fn a_stranger_with_a_dead_browsers_number_does_not_lock() {
    let room = Room::new("stranger");
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    mark(&room.0, &format!("{}-{}", host(), child.id()));
    unlock_stale(&room.0, soon()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_living_browsers_lock_names_its_pid() {
    let room = Room::new("alive");
    let mut child = Command::new("sh")
        .args(["-c", "read line; exit"])
        .arg(format!("--user-data-dir={}", room.0.display()))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // The command line appears a moment after the spawn returns.
    let line = format!("/proc/{}/cmdline", child.id());
    while fs::read(&line).unwrap().is_empty() {
        std::thread::yield_now();
    }
    mark(&room.0, &format!("{}-{}", host(), child.id()));
    let error = unlock_stale(&room.0, soon()).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(error.code(), Code::NoBrowser);
    assert_eq!(
        (&error.facts()["why"], &error.facts()["pid"]),
        (&"profile_locked".into(), &child.id().into())
    );
    assert!(error.message().contains(&child.id().to_string()), "{error}");
}

#[test]
fn another_hosts_lock_says_which_file_to_delete() {
    let room = Room::new("host");
    mark(&room.0, "some-other-host-77");
    let error = unlock_stale(&room.0, soon()).unwrap_err();
    assert!(
        error.message().contains("\"some-other-host\" (pid 77)"),
        "{error}"
    );
    assert!(error.next_step().unwrap().contains("SingletonLock"));
}

#[test]
fn another_daemons_claim_names_its_pid() {
    let room = Room::new("claim");
    let dir = room.0.join("kept");
    let claim = Claim::take(&dir).unwrap();
    assert_eq!(
        fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    Claim::take(&dir).expect("the process that claimed it may do so again");
    // As if another process had written it.
    fs::write(dir.join(".tabd.lock"), "1\n").unwrap();
    let error = Claim::take(&dir).unwrap_err();
    assert_eq!(
        (error.code(), &error.facts()["pid"]),
        (Code::NoBrowser, &1.into())
    );
    drop(claim);
    Claim::take(&dir).unwrap();
}

#[test]
fn a_sweep_takes_what_is_ownerless_and_nothing_else() {
    let room = Room::new("sweep");
    assert_eq!(sweep(&room.0), 0, "nothing there is nothing to do");
    let (owned, lock) = make_scratch(&room.0).unwrap();
    let (dead, its_lock) = make_scratch(&room.0).unwrap();
    drop(its_lock);
    let half_made = room.0.join("profiles/1-1");
    fs::create_dir(&half_made).unwrap();
    symlink("/etc", room.0.join("profiles/link")).unwrap();
    assert_eq!(sweep(&room.0), 2);
    assert!(owned.exists() && !dead.exists() && !half_made.exists());
    assert!(Path::new("/etc/passwd").exists());
    drop(lock);
    assert_eq!(sweep(&room.0), 1);
}
