//! The daemon's own directories.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::{Code, Result};

/// Where temporary profiles, their locks and the high-water marks are: `$XDG_RUNTIME_DIR/tabd`, or, where
/// there is no runtime directory, [`cache_dir`]. Made 0700 if missing.
pub fn runtime_dir() -> Result<PathBuf> {
    match absolute("XDG_RUNTIME_DIR") {
        Some(dir) => make(dir.join("tabd")),
        None => cache_dir(),
    }
}

/// Where screenshots and the like go unless told otherwise: `$XDG_CACHE_HOME/tabd`, else `~/.cache/tabd`.
/// Made 0700 if missing.
pub fn cache_dir() -> Result<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    match cache {
        Some(dir) => make(dir.join("tabd")),
        None => Err(Code::Io
            .because("there is no directory for the daemon's files")
            .hint("set XDG_RUNTIME_DIR and XDG_CACHE_HOME, or HOME")),
    }
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

fn make(dir: PathBuf) -> Result<PathBuf> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&dir);
    match made {
        Ok(()) => Ok(dir),
        Err(error) => Err(unusable(&dir, &error)),
    }
}

fn unusable(dir: &Path, error: &std::io::Error) -> crate::error::Error {
    Code::Io
        .because(format!("{} cannot be used: {error}", dir.display()))
        .hint("make it writable, or set XDG_RUNTIME_DIR and XDG_CACHE_HOME")
}
