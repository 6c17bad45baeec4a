//! Files for callers: named by them, or by us in the cache directory. Knows nothing of what is in them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::libc::O_NOFOLLOW;

use crate::error::{Code, Error, Result, quoted};
use crate::home;

/// What the files in the cache directory may hold together; the oldest are removed beyond.
const MAX_TOTAL: u64 = 500 << 20;
/// A file younger than this is never removed: its caller may not have looked at it yet.
const FRESH: Duration = Duration::from_secs(60);
/// The kinds of files that have names of ours: nothing else is ever removed.
const KINDS: &[&str] = &["screenshot", "pdf", "download", "state"];

/// Where a file goes.
#[derive(Clone, Debug)]
pub enum Place {
    /// Where the caller says; what is there is replaced only with `overwrite`.
    Named {
        /// An absolute path.
        path: PathBuf,
        /// Whether a file that is there may be replaced.
        overwrite: bool,
    },
    /// `KIND-TIMESTAMP-N.EXT` in the cache directory.
    Own {
        /// What it is: one of the kinds above.
        kind: &'static str,
        /// The name's end, without a dot.
        extension: &'static str,
    },
}

impl Place {
    /// What the arguments `path` and `overwrite` mean. `bad_request` for a path that is not absolute.
    pub fn of(
        path: Option<&str>,
        overwrite: bool,
        kind: &'static str,
        extension: &'static str,
    ) -> Result<Place> {
        let wrong = |what: String| Err(Code::BadRequest.because(what).fact("argument", "path"));
        match path {
            None if overwrite => Err(Code::BadRequest
                .because("overwrite goes with path")
                .fact("argument", "overwrite")),
            None => Ok(Place::Own { kind, extension }),
            Some(path) if !path.starts_with('/') => {
                let wrong = wrong(format!("path must be absolute, not {}", quoted(path, 80)));
                wrong.map_err(|e: Error| e.hint("the daemon's working directory is not yours"))
            }
            Some(path) if path.contains('\0') || path.ends_with('/') => {
                wrong(format!("path must name a file, not {}", quoted(path, 80)))
            }
            Some(path) => Ok(Place::Named {
                path: path.into(),
                overwrite,
            }),
        }
    }

    /// Fails now with what would fail later: a file that is there and may not be replaced.
    pub fn check(&self) -> Result<()> {
        match self {
            Place::Named {
                path,
                overwrite: false,
            } if path.symlink_metadata().is_ok() => Err(exists(path)),
            _ => Ok(()),
        }
    }

    /// Writes the file, mode 0600, and says where it is. Blocks; a failure leaves nothing behind.
    ///
    /// A replaced file is replaced at once, by another one, wherever a link there pointed.
    pub fn write(&self, content: &[u8]) -> Result<PathBuf> {
        match self {
            Place::Named { path, overwrite } => {
                match overwrite {
                    false => create(path, content)?,
                    true => replace(path, content)?,
                }
                Ok(path.clone())
            }
            Place::Own { kind, extension } => {
                let dir = home::cache_dir()?;
                let path = create_own(&dir, kind, extension, content)?;
                trim(&dir, MAX_TOTAL);
                Ok(path)
            }
        }
    }
}

/// Does what blocks, as reading and writing files does, without holding up anything else.
///
/// Dropping this future does not end the work.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(Code::Internal.because(format!("working on a file: {panic}"))),
    }
}

fn create(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = open_new(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => failed(path, &e),
    })?;
    file.write_all(content).map_err(|e| {
        let _ = fs::remove_file(path);
        failed(path, &e)
    })
}

fn replace(path: &Path, content: &[u8]) -> Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // A link to a directory is a link, and replaced as one.
    if fs::symlink_metadata(path).is_ok_and(|at| at.is_dir()) {
        return Err(failed(path, &ErrorKind::IsADirectory.into()));
    }
    let mut name = OsString::from(".tabd-");
    name.push(format!(
        "{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    let beside = path.with_file_name(name);
    let written = open_new(&beside)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&beside, path));
    written.map_err(|e| {
        let _ = fs::remove_file(&beside);
        failed(path, &e)
    })
}

fn open_new(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW)
        .open(path)
}

fn create_own(dir: &Path, kind: &str, extension: &str, content: &[u8]) -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    loop {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{kind}-{}-{n}.{extension}", timestamp()));
        match create(&path, content) {
            // Another daemon's.
            Err(_) if path.symlink_metadata().is_ok() => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(path),
        }
    }
}

/// Where the browser writes what it downloads, under names of its own: a directory in the cache
/// directory, made 0700. `None` if there can be none.
pub fn incoming() -> Option<PathBuf> {
    let dir = home::cache_dir().ok()?.join("incoming");
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir);
    made.ok().map(|()| dir)
}

/// Where a download will be whose server or page suggests this name: only its last part counts.
pub fn name_for_download(suggested: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let pid = std::process::id();
    let name = format!(
        "download-{}-{pid}.{n}-{}",
        timestamp(),
        safe_name(suggested)
    );
    home::cache_dir().unwrap_or_default().join(name)
}

/// Moves a finished download to `path`, mode 0600, and says how large it is. Blocks.
pub fn keep_download(name: &str, path: &Path) -> Result<u64> {
    let dir = incoming().ok_or_else(|| Code::Io.because("there is no directory for downloads"))?;
    // The name is the browser's; it must not lead elsewhere.
    let from = dir.join(Path::new(name).file_name().unwrap_or_default());
    let moved = || -> std::io::Result<u64> {
        fs::set_permissions(&from, fs::Permissions::from_mode(0o600))?;
        fs::hard_link(&from, path)?;
        fs::remove_file(&from)?;
        Ok(fs::metadata(path)?.len())
    };
    let bytes = moved().map_err(|e| {
        let _ = fs::remove_file(&from);
        failed(path, &e)
    })?;
    if let Some(dir) = path.parent() {
        trim(dir, MAX_TOTAL);
    }
    Ok(bytes)
}

/// The last part of a suggested file name without anything that could mislead; at most 100 characters
/// that keep the extension.
fn safe_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: &char| {
        let misleads = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        !misleads
    };
    let name: String = last.chars().filter(plain).collect();
    let name = name.trim().trim_start_matches('.');
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.chars().count() <= 16 => {
            (stem, format!(".{extension}"))
        }
        _ => (name, String::new()),
    };
    // A name may have 255 bytes, ours before it too.
    let mut room = 160usize.saturating_sub(extension.len());
    let stem: String = stem
        .chars()
        .take(100)
        .take_while(|c| {
            let fits = c.len_utf8() <= room;
            room = room.saturating_sub(c.len_utf8());
            fits
        })
        .collect();
    match format!("{stem}{extension}") {
        none if none.is_empty() => "file".to_owned(),
        name => name,
    }
}

/// Removes the oldest of our files in `dir` until they hold no more than `max` bytes, but none that
/// is [`FRESH`].
fn trim(dir: &Path, max: u64) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    let is_ours = |name: &str| {
        let kind = name.split_once('-').map(|(kind, _)| kind);
        kind.is_some_and(|kind| KINDS.contains(&kind))
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_ours))
        .filter_map(|entry| {
            let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((meta.modified().ok()?, meta.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    if total <= max {
        return;
    }
    files.sort();
    for (written, size, path) in files {
        let is_old = written.elapsed().is_ok_and(|age| age >= FRESH);
        if total <= max || !is_old {
            break;
        }
        if fs::remove_file(&path).is_ok() {
            total -= size;
        }
    }
}

/// Now, in UTC: `20310409T174500`.
fn timestamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

/// Year, month and day of a day since 1970, by the Gregorian calendar: eras of 400 years that begin
/// in March, so that the leap day is a year's last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

fn exists(path: &Path) -> Error {
    Code::Io
        .because(format!("{} exists", path.display()))
        .fact("path", path.display().to_string())
        .hint("choose another path, or give overwrite")
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    let failed = Code::Io
        .because(format!("{} cannot be written: {error}", path.display()))
        .fact("path", path.display().to_string());
    match error.kind() {
        ErrorKind::NotFound => failed.hint("make its directory first"),
        _ => failed,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Dir {
            let dir =
                std::env::temp_dir().join(format!("tabd-files-{}-{name}", std::process::id()));
            fs::create_dir(&dir).unwrap();
            Dir(dir)
        }

        fn place(&self, name: &str, overwrite: bool) -> Place {
            let path = self.0.join(name);
            Place::of(path.to_str(), overwrite, "screenshot", "png").unwrap()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_there_stays_unless_it_may_be_replaced() {
        let dir = Dir::new("stays");
        let path = dir.place("a", false).write(b"one").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let error = dir.place("a", false).write(b"two").unwrap_err();
        assert_eq!(error.code(), Code::Io);
        assert!(dir.place("a", false).check().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        dir.place("a", true).write(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 1);
    }

    #[test]
    fn links_are_not_followed() {
        let dir = Dir::new("links");
        let aim = dir.0.join("aim");
        fs::write(&aim, "mine").unwrap();
        symlink(&aim, dir.0.join("a")).unwrap();
        symlink(dir.0.join("nowhere"), dir.0.join("b")).unwrap();
        assert!(dir.place("a", false).write(b"x").is_err());
        assert!(dir.place("b", false).write(b"x").is_err());
        dir.place("a", true).write(b"x").unwrap();
        assert_eq!(fs::read(&aim).unwrap(), b"mine");
        assert_eq!(fs::read(dir.0.join("a")).unwrap(), b"x");
        assert!(!dir.0.join("nowhere").exists());
        symlink(std::env::temp_dir(), dir.0.join("c")).unwrap();
        dir.place("c", true).write(b"x").unwrap();
        assert!(dir.0.join("c").symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn directories_are_not_replaced() {
        let dir = Dir::new("directories");
        fs::create_dir(dir.0.join("a")).unwrap();
        for overwrite in [false, true] {
            let error = dir.place("a", overwrite).write(b"x").unwrap_err();
            assert_eq!(error.code(), Code::Io);
        }
        assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 1);
    }

    #[test]
    fn paths_are_absolute_and_name_a_file() {
        for path in ["a.png", "./a", "/tmp/"] {
            let error = Place::of(Some(path), false, "pdf", "pdf").unwrap_err();
            assert_eq!(error.code(), Code::BadRequest, "{path}");
        }
        let error = Place::of(Some("/nowhere/at/all"), true, "pdf", "pdf").unwrap();
        assert_eq!(error.write(b"").unwrap_err().code(), Code::Io);
    }

    #[test]
    fn the_oldest_of_ours_go_first_and_nothing_else() {
        let dir = Dir::new("trim");
        let names = [
            "screenshot-1-1.png",
            "pdf-1-2.pdf",
            "numbers",
            "pdf-1-3.pdf",
            "state-9",
        ];
        for (age, name) in names.iter().rev().enumerate() {
            let file = File::create(dir.0.join(name)).unwrap();
            file.set_len(100).unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(age as u64 * 50);
            file.set_modified(then).unwrap();
        }
        trim(&dir.0, 350);
        assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 4);
        trim(&dir.0, 50);
        let mut left: Vec<_> = fs::read_dir(&dir.0)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["numbers", "pdf-1-3.pdf", "state-9"]);
    }

    #[test]
    fn suggested_names_are_made_safe() {
        for (suggested, safe) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\a.txt", "a.txt"),
            (".bashrc", "bashrc"),
            ("a\u{202e}fdp.exe\n", "afdp.exe"),
            ("..", "file"),
            ("", "file"),
        ] {
            assert_eq!(safe_name(suggested), safe, "{suggested:?}");
        }
        let long = safe_name(&format!("{}.tar", "ä".repeat(300)));
        assert!(long.len() <= 164 && long.ends_with(".tar"), "{long}");
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(19_723), (2024, 1, 1));
        assert_eq!(civil(47_540), (2100, 2, 28));
        assert_eq!(civil(47_541), (2100, 3, 1));
    }
}
