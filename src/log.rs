//! Few lines to stderr, with the journal's levels when stderr is the journal. Knows nothing else.

use std::fmt;
use std::io::Write;
use std::sync::LazyLock;

static JOURNAL: LazyLock<bool> = LazyLock::new(|| std::env::var_os("JOURNAL_STREAM").is_some());

/// How much a line matters: syslog's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Level {
    /// A fault of tabd itself.
    Error = 3,
    /// Something to look at.
    Warning = 4,
    /// Start, ready, end.
    Info = 6,
    /// For those who look for a fault.
    Debug = 7,
}

/// Writes one line. Control characters are replaced: what is logged may hold a page's text.
pub fn line(level: Level, what: fmt::Arguments<'_>) {
    let text: String = what
        .to_string()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut stderr = std::io::stderr().lock();
    // Nobody to tell when stderr itself is gone.
    let _ = if *JOURNAL {
        writeln!(stderr, "<{}>{text}", level as u8)
    } else {
        writeln!(stderr, "tabd: {text}")
    };
}

/// Logs at [`Level::Error`].
#[macro_export]
macro_rules! log_error {
    ($($arg:tt)*) => { $crate::log::line($crate::log::Level::Error, format_args!($($arg)*)) };
}

/// Logs at [`Level::Warning`].
#[macro_export]
macro_rules! log_warning {
    ($($arg:tt)*) => { $crate::log::line($crate::log::Level::Warning, format_args!($($arg)*)) };
}

/// Logs at [`Level::Info`].
#[macro_export]
macro_rules! log_info {
    ($($arg:tt)*) => { $crate::log::line($crate::log::Level::Info, format_args!($($arg)*)) };
}
