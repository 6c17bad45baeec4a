//! Which browser to start: a path the user gave, a name in `PATH`, or a well-known place.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::error::{Code, Error, Result};

/// Headless shells by name: the same engine, a third of the start, half the memory.
const SHELL_NAMES: &[&str] = &[
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "headless-shell",
];

/// Where distributions and images put headless shells outside of `PATH`.
const SHELL_PATHS: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/headless_shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium-browser/headless_shell",
    "/opt/chrome-headless-shell/chrome-headless-shell",
    "/headless-shell/headless-shell",
];

/// Full browsers by name, in the contract's order (section 7).
const FULL_NAMES: &[&str] = &[
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
];

/// Where full browsers lie outside of `PATH`.
const FULL_PATHS: &[&str] = &[
    "/opt/google/chrome/chrome",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/snap/bin/chromium",
];

/// What to do where no browser is installed.
const INSTALL: &str = "install one: `apt-get install chromium chromium-headless-shell` (Debian), \
    `apt-get install chromium-browser` (Ubuntu), `dnf install chromium chromium-headless` (Fedora), \
    `pacman -S chromium` (Arch); or name one with --browser PATH (TABD_BROWSER)";

/// A browser that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The program, as it will be executed.
    pub path: PathBuf,
    /// Whether it is a headless shell, which has no windows and no pages of its own.
    pub headless_shell: bool,
}

/// The browser to start: `asked` (a path, or a name looked up in `search_path`), else the best one
/// installed. `search_path` has the form of the variable `PATH`.
///
/// # Errors
/// `no_browser`, with `data.why` `not_found`, `not_executable` or `headless_shell` (a shell asked to
/// show windows).
pub fn find(asked: Option<&Path>, headed: bool, search_path: &OsStr) -> Result<Found> {
    match asked {
        Some(asked) => named(asked, headed, search_path),
        None => best(headed, search_path, SHELL_PATHS, FULL_PATHS),
    }
}

fn named(asked: &Path, headed: bool, search_path: &OsStr) -> Result<Found> {
    let shown = asked.display();
    let is_name = asked.components().count() == 1 && !asked.has_root();
    let path = if is_name && !asked.as_os_str().as_encoded_bytes().contains(&b'/') {
        in_path(asked, search_path).ok_or_else(|| {
            Code::NoBrowser
                .because(format!("there is no program {shown} in PATH"))
                .hint("give --browser (TABD_BROWSER) the full path of a Chromium or Chrome, or leave it out")
                .fact("why", "not_found")
                .fact("browser", asked.to_string_lossy())
        })?
    } else {
        match std::fs::metadata(asked) {
            Err(error) => {
                return Err(refused(
                    asked,
                    "not_found",
                    format!("the browser {shown} cannot be used: {error}"),
                ));
            }
            Ok(meta) if meta.is_dir() => {
                return Err(refused(
                    asked,
                    "not_executable",
                    format!("the browser {shown} is a directory"),
                ));
            }
            Ok(_) if !is_executable(asked) => {
                return Err(refused(
                    asked,
                    "not_executable",
                    format!("the browser {shown} is not executable"),
                ));
            }
            Ok(_) => asked.to_owned(),
        }
    };
    let found = Found {
        headless_shell: is_headless_shell(&path),
        path,
    };
    if headed && found.headless_shell {
        return Err(Code::NoBrowser
            .because(format!(
                "{shown} is a headless shell and cannot show windows"
            ))
            .hint("use a full Chromium or Chrome with --headed, or leave --headed out")
            .fact("why", "headless_shell")
            .fact("browser", asked.to_string_lossy()));
    }
    Ok(found)
}

fn refused(asked: &Path, why: &str, message: String) -> Error {
    Code::NoBrowser
        .because(message)
        .hint("give --browser (TABD_BROWSER) the path of a Chromium or Chrome program, or leave it out to use an installed one")
        .fact("why", why)
        .fact("browser", asked.to_string_lossy())
}

fn best(
    headed: bool,
    search_path: &OsStr,
    shell_paths: &[&str],
    full_paths: &[&str],
) -> Result<Found> {
    let shells = [(SHELL_NAMES, shell_paths, true)];
    let full = [(FULL_NAMES, full_paths, false)];
    let kinds = shells.iter().filter(|_| !headed).chain(&full);
    for &(names, paths, headless_shell) in kinds.clone() {
        let by_name = names
            .iter()
            .find_map(|name| in_path(Path::new(name), search_path));
        let by_path = || {
            paths
                .iter()
                .map(PathBuf::from)
                .find(|path| is_program(path))
        };
        if let Some(path) = by_name.or_else(by_path) {
            return Ok(Found {
                path,
                headless_shell,
            });
        }
    }
    let names: Vec<&str> = kinds
        .clone()
        .flat_map(|kind| kind.0.iter().copied())
        .collect();
    let paths: Vec<&str> = kinds.flat_map(|kind| kind.1.iter().copied()).collect();
    Err(Code::NoBrowser
        .because(format!(
            "no browser is installed: looked in PATH for {}",
            names.join(", ")
        ))
        .hint(INSTALL)
        .fact("why", "not_found")
        .fact("names", names)
        .fact("paths", paths))
}

fn in_path(name: &Path, search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && is_executable(path)
}

fn is_executable(path: &Path) -> bool {
    access(path, AccessFlags::X_OK).is_ok()
}

/// Told by the name, the link's own or its target's: asking the program would cost a start.
fn is_headless_shell(path: &Path) -> bool {
    let named_so = |path: &Path| {
        path.file_name().is_some_and(|name| {
            SHELL_NAMES
                .iter()
                .any(|shell| name.to_string_lossy().starts_with(shell))
        })
    };
    named_so(path) || std::fs::canonicalize(path).is_ok_and(|real| named_so(&real))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Bin(PathBuf);

    impl Bin {
        fn new(name: &str, programs: &[&str]) -> Bin {
            let dir = std::env::temp_dir().join(format!("tf{}-{name}", std::process::id()));
            fs::create_dir(&dir).unwrap();
            for program in programs {
                fs::write(dir.join(program), "").unwrap();
                fs::set_permissions(dir.join(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
            Bin(dir)
        }

        fn find(&self, asked: Option<&Path>, headed: bool) -> Result<Found> {
            match asked {
                Some(asked) => find(Some(asked), headed, self.0.as_os_str()),
                None => best(headed, self.0.as_os_str(), &[], &[]),
            }
        }
    }

    impl Drop for Bin {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn headless_takes_a_shell_first_and_headed_none() {
        let bin = Bin::new(
            "both",
            &["chromium", "google-chrome", "chrome-headless-shell"],
        );
        let found = bin.find(None, false).unwrap();
        assert_eq!(
            (found.path, found.headless_shell),
            (bin.0.join("chrome-headless-shell"), true)
        );
        let found = bin.find(None, true).unwrap();
        assert_eq!(
            (found.path, found.headless_shell),
            (bin.0.join("google-chrome"), false)
        );
    }

    #[test]
    fn nothing_installed_says_what_was_looked_for_and_how_to_install() {
        let bin = Bin::new("none", &["headless_shell"]);
        let error = bin.find(None, true).unwrap_err();
        assert_eq!(error.code(), Code::NoBrowser);
        assert!(
            error
                .message()
                .contains("google-chrome-stable, google-chrome, chromium, chromium-browser"),
            "{error}"
        );
        assert!(
            error
                .next_step()
                .unwrap()
                .contains("apt-get install chromium")
        );
        assert_eq!(error.facts()["why"], "not_found");
    }

    #[test]
    fn a_well_known_place_serves_without_path() {
        let bin = Bin::new("places", &["chromium"]);
        let place = bin.0.join("chromium");
        let found = best(
            false,
            OsStr::new("/nowhere"),
            &["/nowhere/x"],
            &[place.to_str().unwrap()],
        )
        .unwrap();
        assert_eq!(found.path, place);
    }

    #[test]
    fn a_browser_asked_for_is_taken_or_its_own_error() {
        let bin = Bin::new("asked", &["brave", "chrome-headless-shell"]);
        fs::write(bin.0.join("text"), "").unwrap();
        symlink(bin.0.join("chrome-headless-shell"), bin.0.join("link")).unwrap();
        assert_eq!(
            bin.find(Some(Path::new("brave")), false).unwrap().path,
            bin.0.join("brave")
        );
        assert!(
            bin.find(Some(&bin.0.join("link")), false)
                .unwrap()
                .headless_shell
        );
        let why = |asked: &Path, headed| {
            let error = bin.find(Some(asked), headed).unwrap_err();
            assert_eq!(error.code(), Code::NoBrowser);
            assert!(error.message().contains(asked.to_str().unwrap()), "{error}");
            error.facts()["why"].as_str().unwrap().to_owned()
        };
        assert_eq!(why(Path::new("vivaldi"), false), "not_found");
        assert_eq!(why(&bin.0.join("missing"), false), "not_found");
        assert_eq!(why(&bin.0.join("text"), false), "not_executable");
        assert_eq!(why(&bin.0, false), "not_executable");
        assert_eq!(why(&bin.0.join("link"), true), "headless_shell");
    }
}
