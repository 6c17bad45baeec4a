//! The options that every tool has, and how an option is spelled: shared by all readers of words.

use serde_json::{Map, Value};

use super::arguments::Shape;
use super::words::Route;
use super::{flags, value};
use crate::error::{Code, Error, Result, quoted};
use crate::wire::{self, nearest};

/// Options that stand for every tool.
pub const COMMON: &[(&str, &str, &str)] = &[
    (
        "session",
        "NAME",
        "The session to run in (default: default)",
    ),
    (
        "timeout",
        "TIME",
        "The one deadline: 5s, 500ms or milliseconds",
    ),
    ("json", "", "Print the reply line even on a terminal"),
    ("socket", "PATH", "The daemon's socket (TABD_SOCKET)"),
    (
        "oneshot",
        "",
        "Use a daemon and a browser of its own; takes the daemon's flags too",
    ),
    ("help", "", "Show the tool's help"),
];

/// The options of [`COMMON`] as far as they have been read.
pub struct Common {
    /// `--socket` and `--oneshot`.
    pub route: Route,
    /// `--session`.
    pub session: Option<String>,
    /// `--timeout`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `--json`.
    pub json: bool,
}

impl Common {
    /// None read yet; looks ahead for `--oneshot`, which makes the daemon's flags known.
    pub fn new(words: &[String]) -> Common {
        let mut before = words.iter().take_while(|w| *w != "--");
        let oneshot = before.any(|w| w == "--oneshot");
        Common {
            route: Route {
                socket: None,
                oneshot: oneshot.then(Vec::new),
            },
            session: None,
            timeout_ms: None,
            json: false,
        }
    }

    /// Takes one option; says whether it is one of these.
    pub fn take<'w>(
        &mut self,
        key: &str,
        word: &str,
        inline: Option<&str>,
        rest: &mut (impl Iterator<Item = &'w str> + Clone),
    ) -> Result<bool> {
        let switch = |on: &mut bool| match inline {
            Some(_) => Err(Code::BadRequest.because(format!("--{key} takes no value"))),
            None => {
                *on = true;
                Ok(true)
            }
        };
        match key {
            "json" => switch(&mut self.json),
            "oneshot" => switch(&mut false),
            "session" => {
                let name = following(word, inline, rest)?;
                wire::check_session(&name)?;
                once(key, &mut self.session, name)
            }
            "socket" if self.route.oneshot.is_some() => Err(Code::BadRequest
                .because("--oneshot has a socket of its own")
                .hint("leave out --socket")),
            "socket" => {
                let path = following(word, inline, rest)?;
                once(key, &mut self.route.socket, path)
            }
            "timeout" => {
                let text = following(word, inline, rest)?;
                let ms =
                    value::milliseconds(&text).filter(|ms| (1..=wire::MAX_TIMEOUT_MS).contains(ms));
                let ms = ms.ok_or_else(|| {
                    wire::ill_typed("timeout", "a time from 1ms to 600s", &Value::from(text))
                        .hint("write 5s, 500ms or milliseconds")
                })?;
                once(key, &mut self.timeout_ms, ms)
            }
            _ => {
                let Some(oneshot) = &mut self.route.oneshot else {
                    return Ok(false);
                };
                let Some(takes_value) = flags::takes_value(&key.replace('_', "-")) else {
                    return Ok(false);
                };
                oneshot.push(word.to_owned());
                if takes_value && inline.is_none() {
                    let next = rest.next();
                    oneshot.push(next.ok_or_else(|| needs_value(word))?.to_owned());
                }
                Ok(true)
            }
        }
    }
}

/// `--some-name=value` → (`some_name`, value).
pub fn long(word: &str) -> Option<(String, Option<&str>)> {
    let word = word.strip_prefix("--").filter(|w| !w.is_empty())?;
    let (name, inline) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    Some((name.replace('-', "_"), inline))
}

/// The value of an option: behind its `=` or the next word.
pub fn following<'w>(
    word: &str,
    inline: Option<&str>,
    rest: &mut (impl Iterator<Item = &'w str> + Clone),
) -> Result<String> {
    if let Some(text) = inline {
        return Ok(text.to_owned());
    }
    let is_value = |w: &&str| !w.starts_with('-') || *w == "-" || value::is_negative(w);
    match rest.clone().next().filter(is_value) {
        Some(_) => Ok(rest.next().unwrap_or_default().to_owned()),
        None => Err(needs_value(word)),
    }
}

fn needs_value(word: &str) -> Error {
    Code::BadRequest
        .because(format!("{word} needs a value"))
        .hint(format!("one that begins with - is written {word}=-…"))
}

fn once<T>(key: &str, slot: &mut Option<T>, value: T) -> Result<bool> {
    if slot.replace(value).is_some() {
        return Err(Code::BadRequest.because(format!("--{key} was given twice")));
    }
    Ok(true)
}

/// What is said of an option that neither the tool (if one was named) nor everybody has.
pub fn unknown_flag(word: &str, shape: Option<&Shape>) -> Error {
    let name = word.split('=').next().unwrap_or(word);
    let of = shape.map_or(String::new(), |s| format!(" of {}", s.name));
    let error = Code::BadRequest.because(format!("unknown option {}{of}", quoted(name, 80)));
    let wanted = name.trim_start_matches('-').replace('_', "-");
    let properties = shape.and_then(|s| s.schema["properties"].as_object());
    let mut known: Vec<String> = properties
        .into_iter()
        .flat_map(Map::keys)
        .cloned()
        .collect();
    known.extend(COMMON.iter().map(|(name, ..)| (*name).to_owned()));
    let known: Vec<String> = known.iter().map(|k| k.replace('_', "-")).collect();
    let tool = shape.map_or(String::new(), |s| format!(" {}", s.name));
    if flags::takes_value(&wanted).is_some() {
        return error.hint(format!(
            "--{wanted} is the daemon's: `tabd daemon --{wanted}`, or add --oneshot"
        ));
    }
    match nearest(&wanted, known.iter().map(String::as_str)) {
        Some(near) if name.starts_with("--") => error.hint(format!("did you mean --{near}?")),
        _ => error.hint(format!(
            "see `tabd help{tool}`; a word that begins with - goes after --"
        )),
    }
}
