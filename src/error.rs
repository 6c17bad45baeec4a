//! What can go wrong, in the words of the wire contract. Knows nothing of sockets or browsers.

use std::fmt;

use serde_json::{Map, Value};

/// The result of everything that can fail towards a client.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The closed list of error codes (contract, section 2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in the contract's order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as it stands on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Code::$name => $word,)* }
            }

            /// The code that `word` names, if it is one.
            pub fn from_word(word: &str) -> Option<Code> {
                match word { $($word => Some(Code::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// A line that is not one JSON object in UTF-8.
    BadJson = "bad_json",
    /// An unknown tool, field or argument, a missing or an ill-typed one.
    BadRequest = "bad_request",
    /// A line longer than the limit.
    TooLarge = "too_large",
    /// A peer or a tool that is not allowed.
    Forbidden = "forbidden",
    /// A limit on things held at once was met.
    Busy = "busy",
    /// The deadline passed.
    Timeout = "timeout",
    /// The caller, or another connection, cancelled the call.
    Cancelled = "cancelled",
    /// No browser could be found or started.
    NoBrowser = "no_browser",
    /// The browser died during the call.
    BrowserCrashed = "browser_crashed",
    /// The tab's renderer died.
    TabCrashed = "tab_crashed",
    /// The session has no active tab, or there is no such tab.
    NoTab = "no_tab",
    /// The network or the server refused the navigation.
    NavFailed = "nav_failed",
    /// A scheme, host or path that policy forbids.
    Blocked = "blocked",
    /// There is no entry in that direction of the history.
    NoHistory = "no_history",
    /// The ref's element is no longer there.
    StaleRef = "stale_ref",
    /// Nothing matches the selector.
    NotFound = "not_found",
    /// More than one element matches.
    Ambiguous = "ambiguous",
    /// The element has no visible box.
    NotVisible = "not_visible",
    /// The element keeps moving.
    NotStable = "not_stable",
    /// Something else is on top of the element.
    Covered = "covered",
    /// The element is disabled.
    Disabled = "disabled",
    /// The element takes no text.
    NotEditable = "not_editable",
    /// The script threw.
    EvalError = "eval_error",
    /// A JavaScript dialog is open in the tab.
    DialogOpen = "dialog_open",
    /// No JavaScript dialog is open.
    NoDialog = "no_dialog",
    /// A file could not be read or written.
    Io = "io",
    /// The daemon is going away.
    ShuttingDown = "shutting_down",
    /// A fault of tabd itself.
    Internal = "internal",
}

impl Code {
    /// An error of this code that says what happened.
    #[cold]
    #[inline(never)]
    pub fn because(self, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            code: self,
            message: message.into(),
            hint: None,
            data: Map::new(),
        }))
    }
}

/// A failure as a client sees it: a code, what happened, what to do next, and the facts.
///
/// One word wide. Context may be added on the way up; the code never changes.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    message: String,
    hint: Option<String>,
    data: Map<String, Value>,
}

impl Error {
    /// The code, which decides what a client can do about it.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened, to what.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The next step, if there is one.
    pub fn next_step(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The facts, in the order they were added.
    pub fn facts(&self) -> &Map<String, Value> {
        &self.0.data
    }

    /// Says what to do next; an earlier hint gives way.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds one fact to `data`.
    #[must_use]
    pub fn fact(mut self, key: &str, value: impl Into<Value>) -> Error {
        self.0.data.insert(key.to_owned(), value.into());
        self
    }

    /// Puts what was being done in front of the message: `context: message`.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Error {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

/// At most `max` characters of untrusted text for a message, JSON-quoted, cut with `…`.
pub fn quoted(text: &str, max: usize) -> String {
    let mut cut: String = text.chars().take(max).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    Value::from(cut).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_its_code() {
        for &code in Code::ALL {
            assert_eq!(Code::from_word(code.word()), Some(code));
        }
    }

    #[test]
    fn quoted_text_is_cut_and_escaped() {
        assert_eq!(quoted("a\"b\nc", 80), r#""a\"b\nc""#);
        assert_eq!(quoted("abcd", 2), "\"ab…\"");
    }
}
