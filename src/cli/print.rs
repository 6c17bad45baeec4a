//! Replies for people: outlines and texts as they are, the rest as `key: value`. Knows no sockets.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::error::Error;

/// A result as text for a terminal, ending in a newline, and what to remark on stderr.
pub struct Readable {
    /// For stdout.
    pub text: String,
    /// For stderr: what the text does not show.
    pub remark: Option<String>,
}

/// Renders the `result` of `tool`.
pub fn result(tool: &str, result: &Value) -> Readable {
    let none = Map::new();
    let fields = result.as_object().unwrap_or(&none);
    let long = ["outline", "text", "html"]
        .into_iter()
        .find_map(|key| Some((key, fields.get(key)?.as_str()?)));
    let mut text = String::new();
    let mut remark = None;
    match (tool, long) {
        ("tools", _) if fields.get("tools").is_some_and(Value::is_array) => {
            for tool in fields["tools"].as_array().into_iter().flatten() {
                let say = |key: &str| tool[key].as_str().unwrap_or_default();
                let what = first_sentence(say("description"));
                let _ = writeln!(text, "{:<14} {what}", say("name"));
            }
        }
        ("read" | "find" | "text" | "html", Some((_, long))) => {
            text.push_str(long);
            remark = cut(fields);
        }
        (_, Some((key, long))) => {
            let rest = fields.iter().filter(|(k, _)| *k != key);
            lines(&mut text, rest, 0);
            text.push('\n');
            text.push_str(long);
        }
        (_, None) => lines(&mut text, fields.iter(), 0),
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Readable {
        text: printable(&text),
        remark,
    }
}

/// Says that a text is not all there is.
fn cut(fields: &Map<String, Value>) -> Option<String> {
    let total = match (fields.get("total_chars"), fields.get("total")) {
        (Some(n), _) => format!("{n} characters"),
        (None, Some(n)) => format!("{n} elements"),
        _ => "more".to_owned(),
    };
    match fields.get("truncated")? {
        Value::Bool(false) | Value::Null => None,
        _ => Some(format!("cut: there are {total} in all")),
    }
}

/// An error as lines for stderr.
pub fn error(error: &Error) -> String {
    failure(error.code().word(), error.message(), error.next_step())
}

/// The error of a reply as lines for stderr.
pub fn refusal(error: &Value) -> String {
    failure(
        error["code"].as_str().unwrap_or("internal"),
        error["message"].as_str().unwrap_or_default(),
        error["hint"].as_str(),
    )
}

fn failure(code: &str, message: &str, hint: Option<&str>) -> String {
    let mut text = format!("tabd: {code}: {message}\n");
    if let Some(hint) = hint {
        let _ = writeln!(text, "hint: {hint}");
    }
    printable(&text)
}

fn lines<'a>(
    out: &mut String,
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
    depth: usize,
) {
    for (key, value) in fields {
        let _ = write!(out, "{:1$}{key}:", "", depth * 2);
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                lines(out, inner.iter(), depth + 1);
            }
            Value::Array(list) if list.iter().any(|v| v.is_object() || v.is_array()) => {
                out.push('\n');
                for item in list {
                    let _ = writeln!(out, "{:1$}- {2}", "", depth * 2 + 2, inline(item));
                }
            }
            Value::String(text) if text.contains('\n') => {
                out.push('\n');
                for line in text.lines() {
                    let _ = writeln!(out, "{:1$}{line}", "", depth * 2 + 2);
                }
            }
            value => {
                let _ = writeln!(out, " {}", inline(value));
            }
        }
    }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.replace('\n', " "),
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(inline).collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) if !fields.is_empty() => {
            let pair = |(k, v): (&String, &Value)| match v {
                Value::Object(_) | Value::Array(_) => format!("{k} {v}"),
                v => format!("{k} {}", inline(v)),
            };
            fields.iter().map(pair).collect::<Vec<_>>().join("  ")
        }
        other => other.to_string(),
    }
}

/// The first sentence of a description.
pub fn first_sentence(text: &str) -> &str {
    let end = text.find("\n\n").unwrap_or(text.len());
    let text = &text[..end];
    text.find(". ").map_or(text, |dot| &text[..=dot]).trim()
}

/// Page text that a terminal shows and does not obey: no escape, no control character but tab and
/// newline, no reordering of the line.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            '\u{fffd}'
        }
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_outline_is_printed_as_it_is() {
        let reply = json!({"url":"u","outline":"[n1] button \"Save\"\n","count":1,"total":9,"truncated":"refs"});
        let readable = result("read", &reply);
        assert_eq!(readable.text, "[n1] button \"Save\"\n");
        assert_eq!(
            readable.remark.as_deref(),
            Some("cut: there are 9 elements in all")
        );
        let readable = result("open", &reply);
        assert!(
            readable.text.starts_with("url: u\n")
                && readable.text.ends_with("\n\n[n1] button \"Save\"\n")
        );
    }

    #[test]
    fn other_results_are_keys_and_values() {
        let reply = json!({"target":{"ref":"n1","name":"Save"},"x":1,"tabs":[{"tab":"t1","url":"u"}],"list":["a","b"]});
        let want = "target:\n  ref: n1\n  name: Save\nx: 1\ntabs:\n  - tab t1  url u\nlist: a, b\n";
        assert_eq!(result("click", &reply).text, want);
        assert_eq!(result("shutdown", &json!({})).text, "");
    }

    #[test]
    fn a_page_cannot_drive_the_terminal() {
        let reply = json!({"text":"a\u{1b}[31mb\u{9b}0m\r\u{202e}c\t\n"});
        assert_eq!(
            result("text", &reply).text,
            "a\u{fffd}[31mb\u{fffd}0m\u{fffd}\u{fffd}c\t\n"
        );
        let refused = refusal(&json!({"code":"covered","message":"by \u{1b}]0;x\u{7}","hint":"h"}));
        assert_eq!(refused, "tabd: covered: by \u{fffd}]0;x\u{fffd}\nhint: h\n");
    }
}
