//! The units under a real user manager: the first client starts the daemon, it leaves when idle, the next
//! client starts it again. Needs root for namespaces of its own; elsewhere `systemd-socket-activate` stands
//! in and tests the passed socket alone.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const TABD: &str = env!("CARGO_BIN_EXE_tabd");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a user manager in namespaces of its own takes.
pub const NAMESPACES: [&str; 6] = ["-m", "-p", "-f", "--mount-proc", "--kill-child", "--"];

#[test]
fn socket_starts_the_daemon_and_idle_ends_it() {
    let dir = Scratch::new("systemd");
    match user_manager_is_possible() {
        Ok(()) => under_a_user_manager(&dir.0),
        Err(why) => {
            eprintln!("no user manager here ({why}); testing with systemd-socket-activate");
            under_socket_activate(&dir.0);
        }
    }
}

pub fn user_manager_is_possible() -> Result<(), String> {
    if !Path::new("/usr/lib/systemd/systemd").exists() {
        return Err("systemd is not installed".to_owned());
    }
    let tried = Command::new("unshare")
        .args(NAMESPACES)
        .args(["mount", "-t", "tmpfs", "tmpfs", "/run"])
        .output()
        .map_err(|e| format!("unshare: {e}"))?;
    if tried.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&tried.stderr).trim().to_owned())
    }
}

fn under_a_user_manager(dir: &Path) {
    let script = Path::new(ROOT).join("tests/it/systemd.sh");
    let output = Command::new("timeout")
        .args(["--kill-after=5", "120", "unshare"])
        .args(NAMESPACES)
        .arg("bash")
        .arg(script)
        .arg(TABD)
        .arg(Path::new(ROOT).join("systemd"))
        .arg(dir)
        .stdin(Stdio::null())
        .output()
        .expect("unshare ran a moment ago");
    assert!(
        output.status.success(),
        "{}\nmanager: {}",
        said(&output),
        fs::read_to_string(dir.join("manager.log")).unwrap_or_default()
    );
}

fn under_socket_activate(dir: &Path) {
    let socket = dir.join("tabd.sock");
    let mut activator = Ended(
        Command::new("systemd-socket-activate")
            .arg("-l")
            .arg(&socket)
            .args(["-E", "TABD_IDLE_SECS=1"])
            .arg(format!("--setenv=XDG_RUNTIME_DIR={}", dir.display()))
            .args([TABD, "daemon"])
            .stdin(Stdio::null())
            .spawn()
            .expect("systemd-socket-activate is installed (package systemd)"),
    );
    within(Duration::from_secs(10), || socket.exists());
    let mut nc = Command::new("nc")
        .args(["-N", "-U"])
        .arg(&socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("nc is installed (package netcat-openbsd)");
    let mut stdin = nc.stdin.take().expect("stdin is piped");
    stdin
        .write_all(b"{\"id\":1,\"tool\":\"ping\"}")
        .expect("nc reads");
    drop(stdin);
    let output = nc.wait_with_output().expect("nc ends");
    let reply = String::from_utf8_lossy(&output.stdout);
    assert!(reply.starts_with(r#"{"id":1,"ok":true,"#), "{reply}");
    // It becomes the daemon itself, so its end is the daemon's.
    within(Duration::from_secs(20), || {
        activator.0.try_wait().expect("it is our child").is_some()
    });
    let status = activator.0.wait().expect("it has ended");
    assert!(status.success(), "the idle exit is {status}");
    assert!(socket.exists(), "the daemon removed a socket it was given");
}

fn within(limit: Duration, mut true_now: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !true_now() {
        assert!(Instant::now() < end, "not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A process that does not outlive the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An empty directory that goes away with the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("tabd-{name}-{}", std::process::id()));
        fs::create_dir(&dir).expect("the temporary directory is writable");
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
