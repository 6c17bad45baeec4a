//! argv → what to do: the daemon, help, the pump, or one call with its arguments by schema. No I/O.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::arguments::{Shape, absolute, arguments};
use super::options::{Common, long, unknown_flag};
use crate::error::{Code, Result, quoted};
use crate::tools::{self, Entry};
use crate::wire::nearest;

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// `tabd daemon …`: the words after it.
    Daemon(Vec<String>),
    /// `tabd help …`: the words after it.
    Help(Vec<String>),
    /// `tabd --version`.
    Version,
    /// `tabd -`: copy lines both ways.
    Pump(Route),
    /// `tabd TOOL …`.
    Call(Box<Invocation>),
}

/// Which daemon to talk to.
#[derive(Debug, Default)]
pub struct Route {
    /// `--socket`.
    pub socket: Option<String>,
    /// `--oneshot`: a daemon and browser of its own, with these flags.
    pub oneshot: Option<Vec<String>>,
}

/// One call.
#[derive(Debug)]
pub struct Invocation {
    /// Which daemon.
    pub route: Route,
    /// The tool's name on the wire.
    pub tool: &'static str,
    /// Its arguments, not yet checked.
    pub args: Map<String, Value>,
    /// `--session`.
    pub session: Option<String>,
    /// `--timeout`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// `--json`.
    pub json: bool,
}

impl Invocation {
    /// The request line, newline included.
    pub fn line(&self) -> String {
        let mut line = format!("{{\"tool\":{}", json!(self.tool));
        if !self.args.is_empty() {
            let _ = write!(line, ",\"args\":{}", json!(self.args));
        }
        if let Some(session) = &self.session {
            let _ = write!(line, ",\"session\":{}", json!(session));
        }
        if let Some(ms) = self.timeout_ms {
            let _ = write!(line, ",\"timeout_ms\":{ms}");
        }
        line.push_str("}\n");
        line
    }
}

/// Reads the words after `tabd`. Relative paths are taken from `here`.
///
/// Fails with `bad_request` for anything it does not understand.
pub fn parse(words: &[String], here: &Path) -> Result<Command> {
    let mut common = Common::new(words);
    let mut rest = words.iter().map(String::as_str);
    let name = loop {
        let Some(word) = rest.next() else {
            return Ok(Command::Help(Vec::new()));
        };
        match word {
            "-h" | "--help" => return Ok(Command::Help(Vec::new())),
            "-V" | "--version" => return Ok(Command::Version),
            "-" => break word,
            _ => {}
        }
        let Some((key, inline)) = long(word) else {
            if word.starts_with('-') {
                return Err(unknown_flag(word, None));
            }
            break word;
        };
        if !common.take(&key, word, inline, &mut rest)? {
            return Err(unknown_flag(word, None));
        }
    };
    match name {
        "daemon" => {
            let socket = common.route.socket.map(|path| format!("--socket={path}"));
            return Ok(Command::Daemon(
                socket.into_iter().chain(rest.map(str::to_owned)).collect(),
            ));
        }
        "help" => return Ok(Command::Help(rest.map(str::to_owned).collect())),
        "mcp" => {
            return Err(Code::BadRequest.because("tabd mcp is not supported yet"));
        }
        "-" => {
            if let Some(word) = rest.next() {
                return Err(Code::BadRequest
                    .because(format!("tabd - takes no {}", quoted(word, 80)))
                    .hint("write options before the -"));
            }
            return Ok(Command::Pump(common.route));
        }
        _ => {}
    }
    let entry = tool(name)?;
    let shape = Shape::from(entry);
    match arguments(&shape, &mut common, &mut rest)? {
        Some(args) => {
            let args = absolute(args, here);
            entry.check(args.clone())?;
            Ok(Command::Call(Box::new(Invocation {
                route: common.route,
                tool: entry.name,
                args,
                session: common.session,
                timeout_ms: common.timeout_ms,
                json: common.json,
            })))
        }
        None => Ok(Command::Help(vec![entry.name.to_owned()])),
    }
}

/// The tool that `name` names, `-` for `_` allowed.
pub fn tool(name: &str) -> Result<&'static Entry> {
    Entry::find(&name.replace('-', "_")).map_err(|error| {
        let words = tools::TOOLS.iter().map(|t| t.name);
        let near = nearest(name, words.chain(["daemon", "help"]));
        match near {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None => error.hint("`tabd help` lists them all"),
        }
    })
}

#[cfg(test)]
mod tests;
