//! The table of tools for readers: terminal help, Markdown, a man page, shell completions.
//!
//! All of it comes from [`TOOLS`] and the daemon's flags; nothing is described twice.

mod complete;
mod man;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cli::arguments::{self, Shape};
use crate::cli::options::COMMON;
use crate::cli::words;
use crate::cli::{first_sentence, flags};
use crate::error::{Code, Result, quoted};
use crate::tools::{Entry, Kind, TOOLS};

/// The kinds of tools in the order of the help, with their headings.
const KINDS: &[(Kind, &str)] = &[
    (Kind::See, "Seeing"),
    (Kind::Act, "Acting"),
    (Kind::Unblock, "Past a wait or a dialog"),
    (Kind::Daemon, "The daemon"),
];

const FORMS: &[(&str, &str)] = &[
    (
        "tabd TOOL [WORD…] [--name value…]",
        "Make one call; starts a daemon if none runs",
    ),
    (
        "tabd -",
        "Copy JSON lines from stdin to the daemon and back",
    ),
    ("tabd daemon [flags]", "Be the daemon, in the foreground"),
    ("tabd help [TOOL]", "Show this, or what a tool takes"),
    (
        "tabd help --markdown | --man | --completions SHELL",
        "The same for other readers",
    ),
    ("tabd --version", "Show the version"),
];

/// The page that `tabd help WORDS…` asks for.
pub fn page(topic: &[String]) -> Result<String> {
    let topic: Vec<&str> = topic.iter().map(String::as_str).collect();
    match topic.as_slice() {
        [] | ["help" | "--help" | "-h"] => Ok(overview()),
        ["--markdown"] => Ok(markdown()),
        ["--man"] => Ok(man::page()),
        ["--completions", shell] => complete::script(shell),
        ["daemon"] => Ok(flags::command().render_long_help().to_string()),
        [option, ..] if option.starts_with('-') => Err(Code::BadRequest
            .because(format!("help has no {}", quoted(&topic.join(" "), 80)))
            .hint("--markdown, --man or --completions bash|zsh|fish")),
        [name] => Ok(of_tool(words::tool(name)?)),
        [_, word, ..] => {
            Err(Code::BadRequest
                .because(format!("help takes one tool, not {} too", quoted(word, 80))))
        }
    }
}

/// All tools by kind, a line each.
pub fn overview() -> String {
    let mut text =
        String::from("tabd: hands on the web for agents, scripts and daemons\n\nUsage:\n");
    for (form, what) in FORMS {
        let _ = writeln!(text, "  {form}\n      {what}");
    }
    for (kind, heading) in KINDS {
        let mut tools = TOOLS.iter().filter(|t| t.kind == *kind).peekable();
        if tools.peek().is_some() {
            let _ = writeln!(text, "\n{heading}:");
        }
        for tool in tools {
            let what = first_sentence(tool.description());
            let _ = writeln!(text, "  {:<15} {}", tool.name, what);
        }
    }
    text.push_str("\nOptions of every tool:\n");
    for (name, value, what) in COMMON {
        let _ = writeln!(text, "  {:<17} {what}", option(name, value));
    }
    text.push_str("\nExit status: 0 done, 1 refused or no answer, 2 usage.\n");
    text
}

/// Everything about one tool.
pub fn of_tool(entry: &Entry) -> String {
    let mut text = format!("{}\n\nUsage: {}\n", entry.description(), usage(entry));
    let arguments = arguments(entry);
    if !arguments.is_empty() {
        text.push_str("\nArguments:\n");
    }
    for argument in arguments {
        let _ = writeln!(text, "  {}", argument.option());
        let _ = writeln!(text, "      {}", argument.sentence());
    }
    text.push_str("\nExamples:\n");
    for (json, command) in examples(entry) {
        let _ = writeln!(text, "  {command}\n      {json}");
    }
    let _ = writeln!(text, "\nOptions of every tool: `tabd help`.");
    text
}

/// The table of tools for the README.
pub fn markdown() -> String {
    let mut text = String::from("| tool | arguments | what it does |\n|---|---|---|\n");
    for entry in TOOLS {
        let names: Vec<String> = arguments(entry)
            .iter()
            .map(|a| format!("`{}`{}", a.name, if a.required { "*" } else { "" }))
            .collect();
        let what = first_sentence(entry.description())
            .replace('|', "\\|")
            .replace('\n', " ");
        let _ = writeln!(text, "| `{}` | {} | {what} |", entry.name, names.join(" "));
    }
    text
}

/// `tabd click [REF] [--name value…]`.
fn usage(entry: &Entry) -> String {
    let required = entry.schema()["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|r| r.iter().any(|n| n == name));
    let mut line = format!("tabd {}", entry.name.replace('_', "-"));
    for name in entry.bare {
        let many = crate::cli::takes_list(&entry.schema()["properties"][*name]);
        let word = format!("{}{}", name.to_uppercase(), if many { "…" } else { "" });
        let _ = match is_required(name) {
            true => write!(line, " {word}"),
            false => write!(line, " [{word}]"),
        };
    }
    if arguments(entry).len() > entry.bare.len() {
        line.push_str(" [options]");
    }
    line
}

/// One argument as help shows it.
struct Argument<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
    tool: &'a Entry,
}

/// A tool's arguments: those of bare words first, then as the schema has them.
fn arguments(entry: &Entry) -> Vec<Argument<'_>> {
    let schema = entry.schema();
    let required = schema["required"].as_array();
    let mut found: Vec<Argument> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| Argument {
            name,
            schema,
            required: required.is_some_and(|r| r.iter().any(|n| n == name)),
            tool: entry,
        })
        .collect();
    let place = |name: &str| entry.bare.iter().position(|b| *b == name);
    found.sort_by_key(|a| place(a.name).unwrap_or(usize::MAX));
    found
}

impl Argument<'_> {
    /// `--count N`.
    fn option(&self) -> String {
        option(self.name, &placeholder(self.schema))
    }

    /// What it is for, then whether it must be there, its type, range and default.
    fn sentence(&self) -> String {
        let what = self.schema["description"].as_str().unwrap_or_default();
        let mut facts = Vec::new();
        if self.required {
            facts.push("required".to_owned());
        }
        facts.push(type_of(self.schema));
        match &self.schema["default"] {
            Value::Null => {}
            default => facts.push(format!("default {default}")),
        }
        if self.tool.bare.contains(&self.name) {
            facts.push("or a bare word".to_owned());
        }
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        let gap = if what.is_empty() { "" } else { " " };
        format!("{what}{gap}({})", facts.join(", "))
    }
}

/// `--name VALUE`, with `-` for `_`.
fn option(name: &str, value: &str) -> String {
    let name = name.replace('_', "-");
    match value {
        "" => format!("--{name}"),
        value => format!("--{name} {value}"),
    }
}

/// What stands for an argument's value: `N`, `TEXT`, `load|dom`, nothing for a switch.
fn placeholder(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join("|");
    }
    let word = |kind: &&str| match *kind {
        "boolean" => "",
        "integer" | "number" => "N",
        "array" => "ITEM…",
        "object" => "JSON",
        _ => "TEXT",
    };
    let mut words: Vec<&str> = crate::cli::kinds(schema).iter().map(word).collect();
    words.dedup();
    words.retain(|w| !w.is_empty());
    words.join("|")
}

/// A schema in a few words: `whole number 1..3`, `true or false`, `list of text`.
fn type_of(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join(" or ");
    }
    let range = match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(min), Some(max)) => format!(" {min}..{max}"),
        (Some(min), None) => format!(" ≥ {min}"),
        (None, Some(max)) => format!(" ≤ {max}"),
        (None, None) => String::new(),
    };
    let word = |kind: &&str| match *kind {
        "boolean" => "true or false".to_owned(),
        "integer" => format!("whole number{range}"),
        "number" => format!("number{range}"),
        "array" if schema["items"].is_object() => format!("list of {}", type_of(&schema["items"])),
        "array" => "list".to_owned(),
        "object" => "JSON object".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    let kinds = crate::cli::kinds(schema);
    if kinds.is_empty() {
        return "anything".to_owned();
    }
    kinds.iter().map(word).collect::<Vec<_>>().join(" or ")
}

/// Each example as a line for the socket and one for the shell.
fn examples(entry: &Entry) -> Vec<(String, String)> {
    let spelled = |args: &&str| {
        let args: Map<String, Value> = serde_json::from_str(args).ok()?;
        let words = arguments::spell(&Shape::from(entry), &args);
        let quoted: Vec<String> = words.iter().map(|w| shell_quoted(w)).collect();
        let args = match args.is_empty() {
            true => String::new(),
            false => format!(",\"args\":{}", Value::Object(args)),
        };
        Some((
            format!("{{\"tool\":\"{}\"{args}}}", entry.name),
            format!("tabd {}", quoted.join(" ")),
        ))
    };
    entry.examples.iter().filter_map(spelled).collect()
}

/// A word as a shell reads it back.
fn shell_quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b);
    match word.bytes().all(plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests;
