//! What the README says is what happens: its commands are run in order as a newcomer would, its output is
//! compared, its requests are checked, and its table of tools is the one that `tabd help` prints.
//!
//! Fences: `sh` is run by bash in a terminal, and a `text` fence after it is the output that must come, where
//! `…` stands for anything in a line and a line `…` for any lines; without one the last command must succeed.
//! `bash` is for what needs the network or the machine's own system: its `make` targets must exist. Lines of
//! a `json` fence that name a tool must be valid requests.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::systemd::{NAMESPACES, Scratch, user_manager_is_possible};

#[path = "../../examples/site.rs"]
mod site;

const TABD: &str = env!("CARGO_BIN_EXE_tabd");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Where the README says that its site is served.
const SITE: &str = "127.0.0.1:8080";
/// Ends what a fence printed; no program of ours prints it.
const MARK: char = '\u{1e}';

struct Fence<'a> {
    kind: &'a str,
    line: usize,
    text: String,
}

fn readme() -> String {
    fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README.md is there")
}

fn fences(markdown: &str) -> Vec<Fence<'_>> {
    let mut fences: Vec<Fence> = Vec::new();
    let mut inside = false;
    for (at, line) in markdown.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(kind) if !inside => fences.push(Fence {
                kind,
                line: at + 1,
                text: String::new(),
            }),
            Some(_) => {}
            None => {
                if let (true, Some(fence)) = (inside, fences.last_mut()) {
                    fence.text.push_str(line);
                    fence.text.push('\n');
                }
                continue;
            }
        }
        inside = !inside;
    }
    assert!(!inside, "the README's last fence is not closed");
    fences
}

#[test]
fn readme_commands_print_what_it_says() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback is there");
    let address = listener.local_addr().expect("it is bound").to_string();
    std::thread::spawn(move || site::serve(&listener, &Path::new(ROOT).join("tests/site")));
    let readme = readme().replace(SITE, &address);
    let fences = fences(&readme);
    let managed = user_manager_is_possible().is_ok();
    let runs: Vec<usize> = (0..fences.len())
        .filter(|&i| fences[i].kind == "sh" && (managed || !fences[i].text.contains("systemctl")))
        .collect();
    assert!(runs.len() > 5, "the README shows hardly any commands");

    let dir = Scratch::new("readme");
    let said = run(
        &dir.0,
        managed,
        runs.iter().map(|&i| fences[i].text.as_str()),
    );
    let mut said = said.split(MARK);
    let mut wrong = String::new();
    for &i in &runs {
        let fence = &fences[i];
        let (output, status) = match (said.next(), said.next()) {
            (Some(output), Some(status)) => (output.trim_end_matches('\n'), status),
            other => panic!("README.md:{}: never ran to its end: {other:?}", fence.line),
        };
        let line = fence.line;
        let _ = match fences.get(i + 1).filter(|next| next.kind == "text") {
            Some(wanted) if !matches(wanted.text.trim_end_matches('\n'), output) => {
                let wanted = &wanted.text;
                writeln!(wrong, "README.md:{line}: wanted\n{wanted}got\n{output}\n")
            }
            None if status != "0" => writeln!(wrong, "README.md:{line}: {status}: {output}\n"),
            _ => Ok(()),
        };
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs the fences one after the other in one bash on a terminal. Returns what each printed and its status,
/// each ended by [`MARK`].
fn run<'a>(dir: &Path, managed: bool, fences: impl Iterator<Item = &'a str>) -> String {
    let bin = Path::new(TABD).parent().expect("a file has a directory");
    let mut script = format!(
        "stty cols 100 rows 50 -onlcr -echo\nexport PATH={}:$PATH TERM=dumb\ncd {ROOT}\n",
        bin.display()
    );
    for fence in fences {
        let _ = writeln!(script, "{fence}printf '{MARK}%s{MARK}' $?");
    }
    script.push_str("exit 0\n");
    let path = dir.join("readme.sh");
    fs::write(&path, script).expect("the directory is ours");

    let prelude = if managed {
        format!(
            "tabd={TABD} units={ROOT}/systemd home={home}; . {ROOT}/tests/it/user-manager.sh",
            home = dir.display()
        )
    } else {
        "mkdir -m 700 \"$HOME/run\"; export XDG_RUNTIME_DIR=$HOME/run".to_owned()
    };
    // `script` lends the terminal; a FIFO that never ends keeps it from spinning on an ended input.
    let body = format!(
        "{prelude}; mkfifo \"$HOME/in\"; script -qec 'bash {}' /dev/null <>\"$HOME/in\"; exit $?",
        path.display()
    );
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "180"]);
    if managed {
        command.arg("unshare").args(NAMESPACES);
        // As root Chromium's own sandbox is out of the question.
        command.env("TABD_NO_SANDBOX", "1");
    }
    let output = command
        .args(["bash", "-c", &body])
        .env("HOME", dir)
        .env("TABD_IDLE_SECS", "20")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .output()
        .expect("timeout, unshare and bash are there");
    let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(
        output.status.success(),
        "{}: {said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// Whether `output` is `wanted`, line by line; see the module's doc for `…`.
fn matches(wanted: &str, output: &str) -> bool {
    let wanted: Vec<&str> = wanted.lines().collect();
    let output: Vec<&str> = output.lines().collect();
    lines_match(&wanted, &output)
}

fn lines_match(wanted: &[&str], output: &[&str]) -> bool {
    match wanted {
        [] => output.is_empty(),
        ["…", rest @ ..] => (0..=output.len()).any(|n| lines_match(rest, &output[n..])),
        [line, rest @ ..] => output
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others)),
    }
}

fn line_matches(wanted: &str, line: &str) -> bool {
    let (wanted, line) = (wanted.trim_end(), line.trim_end());
    match wanted.split_once('…') {
        None => wanted == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn ellipses_match_what_they_stand_for_and_no_more() {
    assert!(matches("a … c\n…\nz", "a b c\n1\n2\nz"));
    assert!(matches("a\n…", "a"));
    assert!(!matches("a … c", "a b d"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
}

#[test]
fn readme_make_targets_exist() {
    let readme = readme();
    let mut seen = 0;
    for fence in fences(&readme).iter().filter(|f| f.kind == "bash") {
        for line in fence.text.lines().filter(|l| l.starts_with("make ")) {
            let words = line.split('#').next().unwrap_or_default();
            let dry = Command::new("bash")
                .args(["-c", &words.replacen("make", "make -n", 1)])
                .current_dir(ROOT)
                .output()
                .expect("bash and make are there");
            let said = String::from_utf8_lossy(&dry.stderr);
            assert!(
                dry.status.success(),
                "README.md:{}: {line}: {said}",
                fence.line
            );
            seen += 1;
        }
    }
    assert!(seen >= 3, "the README names only {seen} make targets");
}

#[test]
fn readme_requests_are_valid() {
    let readme = readme();
    let mut seen = 0;
    for fence in fences(&readme).iter().filter(|f| f.kind == "json") {
        for line in fence.text.lines() {
            let value: serde_json::Value = serde_json::from_str(line)
                .unwrap_or_else(|e| panic!("README.md:{}: {e}: {line}", fence.line));
            if value.get("tool").is_none() {
                continue;
            }
            let request = tabd::wire::Request::parse(line.as_bytes())
                .unwrap_or_else(|e| panic!("README.md:{}: {e:?}: {line}", fence.line));
            tabd::tools::Entry::find(&request.tool)
                .and_then(|entry| entry.check(request.args))
                .unwrap_or_else(|e| panic!("README.md:{}: {e}: {line}", fence.line));
            seen += 1;
        }
    }
    assert!(seen >= 5, "the README shows only {seen} requests");
}

/// `UPDATE=1 cargo test readme_table` rewrites the table.
#[test]
fn readme_table_of_tools_is_the_one_help_prints() {
    const BEGIN: &str = "<!-- tabd help --markdown -->\n";
    const END: &str = "<!-- end -->\n";
    let readme = readme();
    let begin = readme.find(BEGIN).expect("the table's begin is marked") + BEGIN.len();
    let end = begin
        + readme[begin..]
            .find(END)
            .expect("the table's end is marked");
    let help = Command::new(TABD)
        .args(["help", "--markdown"])
        .output()
        .expect("tabd runs");
    let table = String::from_utf8(help.stdout).expect("help is UTF-8");
    assert!(help.status.success() && table.contains("`open`"), "{table}");
    if std::env::var_os("UPDATE").is_some() {
        let new = format!("{}{table}{}", &readme[..begin], &readme[end..]);
        fs::write(Path::new(ROOT).join("README.md"), new).expect("README.md is writable");
    } else {
        assert_eq!(&readme[begin..end], table, "UPDATE=1 rewrites it");
    }
}
