//! The contract's envelope as types: requests, replies, events. No I/O.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, quoted};

/// The longest request line, in bytes without its newline.
pub const MAX_LINE: usize = 8 << 20;
/// Requests of one connection that may be unanswered at once; further lines wait unread.
pub const MAX_IN_FLIGHT: usize = 64;
/// The longest and the default session name.
pub const MAX_SESSION: usize = 64;
/// The session of a request that names none.
pub const DEFAULT_SESSION: &str = "default";
/// The longest `timeout_ms`.
pub const MAX_TIMEOUT_MS: u64 = 600_000;

/// What ties a reply to its request: `id` and `cmd_id` as their raw JSON texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// The raw text of `id`, if the request had one.
    pub id: Option<Box<str>>,
    /// The raw text of `cmd_id`, if the request had one.
    pub cmd_id: Option<Box<str>>,
}

/// One request, its envelope checked; its arguments are not, yet.
#[derive(Clone, Debug)]
pub struct Request {
    /// Echoed in the reply.
    pub ids: Ids,
    /// The name of the tool.
    pub tool: String,
    /// The arguments; empty if left out.
    pub args: Map<String, Value>,
    /// The session, `None` if the request names none.
    pub session: Option<String>,
    /// The one deadline, counted from the line's arrival.
    pub timeout: Option<Duration>,
}

/// A request that cannot be run, with what its reply must echo.
#[derive(Debug)]
pub struct Refused {
    /// Empty if the line could not be read that far.
    pub ids: Ids,
    /// What is wrong with it.
    pub error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused {
            ids: Ids::default(),
            error,
        }
    }
}

/// A tab's name on the wire: `t1`. Daemon-wide, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u32);

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl std::str::FromStr for TabId {
    type Err = Error;
    fn from_str(text: &str) -> Result<TabId> {
        number(text.strip_prefix('t')).map(TabId).ok_or_else(|| {
            ill_typed("tab", "a tab such as \"t1\"", &Value::from(text))
                .hint("{\"tool\":\"tabs\"} lists them")
        })
    }
}

/// One element's name on the wire: `n12`, or `f2n7` in any frame but the main frame of the session's
/// first tab. Never used for two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ref {
    /// The number of its frame; `None` for the main frame of the session's first tab.
    pub frame: Option<u32>,
    /// Its number.
    pub number: u32,
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "f{frame}n{}", self.number),
            None => write!(f, "n{}", self.number),
        }
    }
}

impl std::str::FromStr for Ref {
    type Err = Error;
    fn from_str(text: &str) -> Result<Ref> {
        let (frame, rest) = match text.strip_prefix('f').and_then(|t| t.split_once('n')) {
            Some((frame, rest)) => (Some(number(Some(frame))), Some(rest)),
            None => (None, text.strip_prefix('n')),
        };
        match (frame, number(rest)) {
            (None, Some(number)) => Ok(Ref {
                frame: None,
                number,
            }),
            (Some(Some(frame)), Some(number)) => Ok(Ref {
                frame: Some(frame),
                number,
            }),
            _ => Err(ill_typed(
                "ref",
                "a ref such as \"n12\" or \"f2n7\"",
                &Value::from(text),
            )
            .hint("take refs from read or find")),
        }
    }
}

/// A positive decimal number without sign or leading zero.
fn number(digits: Option<&str>) -> Option<u32> {
    let digits = digits?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

macro_rules! on_the_wire_as_string {
    ($($type:ident),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string"})
            }
        }
    )*};
}
on_the_wire_as_string!(TabId, Ref);

/// The fields of a JSON object in their order, values as raw text.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    fields.push((key, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl Request {
    /// Reads one line (without its newline).
    ///
    /// Fails with `bad_json` and the byte offset for what is not a JSON object in UTF-8, with
    /// `bad_request` for a field that is unknown or of the wrong type.
    pub fn parse(line: &[u8]) -> Result<Request, Refused> {
        let text = std::str::from_utf8(line).map_err(|e| {
            bad_json(e.valid_up_to(), "the line is not UTF-8").hint("send UTF-8 without a BOM")
        })?;
        let Fields(fields) = serde_json::from_str(text).map_err(|e| {
            let offset = e.column().saturating_sub(1).min(line.len());
            bad_json(offset, "the line is not one JSON object").hint(
                "send one object a line, such as {\"id\":1,\"tool\":\"ping\"}; newlines inside strings are \\n",
            )
        })?;
        let mut ids = Ids::default();
        for (key, value) in &fields {
            match &**key {
                "id" => ids.id = Some(value.get().into()),
                "cmd_id" => ids.cmd_id = Some(value.get().into()),
                _ => {}
            }
        }
        match Request::from_fields(&fields, &ids) {
            Ok(request) => Ok(request),
            Err(error) => Err(Refused { ids, error }),
        }
    }

    fn from_fields(fields: &[(Cow<'_, str>, &RawValue)], ids: &Ids) -> Result<Request> {
        let (mut tool, mut args, mut session, mut timeout) = (None, Map::new(), None, None);
        for (key, raw) in fields {
            match &**key {
                "id" | "cmd_id" => {}
                "tool" => match value(key, raw)? {
                    Value::String(name) => tool = Some(name),
                    other => return Err(ill_typed("tool", "a string", &other)),
                },
                "args" => match value(key, raw)? {
                    Value::Object(map) => args = map,
                    Value::Null => {}
                    other => return Err(ill_typed("args", "an object", &other)),
                },
                "session" => match value(key, raw)? {
                    Value::String(name) => {
                        check_session(&name)?;
                        session = Some(name);
                    }
                    Value::Null => {}
                    other => return Err(ill_typed("session", "a string", &other)),
                },
                "timeout_ms" => match value(key, raw)? {
                    Value::Null => {}
                    other => match other.as_u64() {
                        Some(ms @ 1..=MAX_TIMEOUT_MS) => timeout = Some(Duration::from_millis(ms)),
                        _ => {
                            let want = format!("a whole number from 1 to {MAX_TIMEOUT_MS}");
                            return Err(ill_typed("timeout_ms", &want, &other));
                        }
                    },
                },
                _ if ids.cmd_id.is_some() => {}
                unknown => {
                    const KNOWN: [&str; 6] =
                        ["id", "tool", "args", "session", "timeout_ms", "cmd_id"];
                    let error = Code::BadRequest
                        .because(format!("unknown field {}", quoted(unknown, 80)))
                        .fact("field", unknown.chars().take(80).collect::<String>());
                    return Err(match nearest(unknown, KNOWN) {
                        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
                        None => error.hint(
                            "a request has id, tool, args, session and timeout_ms; arguments go into args",
                        ),
                    });
                }
            }
        }
        let tool = tool.ok_or_else(|| {
            Code::BadRequest
                .because("the request names no tool")
                .hint("add \"tool\"; {\"tool\":\"tools\"} lists them")
        })?;
        Ok(Request {
            ids: ids.clone(),
            tool,
            args,
            session,
            timeout,
        })
    }
}

fn bad_json(offset: usize, what: &str) -> Error {
    Code::BadJson
        .because(format!("{what} (byte {offset})"))
        .fact("offset", offset)
}

/// Parses a field's raw text. Lone surrogates, legal JSON that no UTF-8 string can hold, become U+FFFD.
fn value(key: &str, raw: &RawValue) -> Result<Value> {
    let text = raw.get();
    serde_json::from_str(text)
        .or_else(|first| {
            let repaired = crate::surrogates::repair_surrogates(text.as_bytes());
            match repaired {
                Cow::Borrowed(_) => Err(first),
                Cow::Owned(bytes) => serde_json::from_slice(&bytes),
            }
        })
        .map_err(|e| Code::BadRequest.because(format!("{key} cannot be read: {e}")))
}

/// Says that `name` is not `want`.
pub fn ill_typed(name: &str, want: &str, got: &Value) -> Error {
    Code::BadRequest
        .because(format!("{name} must be {want}, not {}", quoted_value(got)))
        .fact("argument", name)
}

/// A JSON value for a message: at most 80 characters.
fn quoted_value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text, 80),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

/// A session's name: 1 to 64 of `[A-Za-z0-9._-]`.
pub fn check_session(name: &str) -> Result<()> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if (1..=MAX_SESSION).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(());
    }
    Err(Code::BadRequest
        .because(format!("{} is not a session name", quoted(name, 80)))
        .fact("argument", "session")
        .hint("1 to 64 characters of A-Z a-z 0-9 . _ -"))
}

/// The one of `known` that somebody who wrote `word` most likely meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(64).collect();
    known
        .into_iter()
        .map(|k| (distance(&word, k), k))
        .min_by_key(|(d, _)| *d)
        .filter(|(d, k)| *d <= 2.max(k.len() / 3) && *d < k.len().max(word.len()))
        .map(|(_, k)| k)
}

/// Levenshtein distance.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, cb) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, ca) in a.iter().enumerate() {
            let next = (diagonal + usize::from(*ca != cb)).min(row[j].min(row[j + 1]) + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[a.len()]
}

/// One reply line, newline included. `result` is a JSON object's text.
pub fn reply_line(ids: &Ids, outcome: Result<&str, &Error>, session_created: bool) -> String {
    let size = outcome.map_or(256, str::len) + 64;
    let mut line = String::with_capacity(size);
    line.push('{');
    for (key, text) in [("id", &ids.id), ("cmd_id", &ids.cmd_id)] {
        if let Some(text) = text {
            let _ = write!(line, "\"{key}\":{text},");
        }
    }
    match outcome {
        Ok(result) => {
            line.push_str("\"ok\":true,\"result\":");
            line.push_str(result);
        }
        Err(error) => {
            line.push_str("\"ok\":false,\"error\":");
            line.push_str(&error_json(error));
        }
    }
    if session_created {
        line.push_str(",\"session_created\":true");
    }
    line.push_str("}\n");
    line
}

/// An error as its JSON object's text.
pub fn error_json(error: &Error) -> String {
    let mut out = format!(
        "{{\"code\":\"{}\",\"message\":{}",
        error.code().word(),
        Value::from(error.message())
    );
    if let Some(hint) = error.next_step() {
        let _ = write!(out, ",\"hint\":{}", Value::from(hint));
    }
    if !error.facts().is_empty() {
        let facts = serde_json::to_string(error.facts()).unwrap_or_else(|_| "{}".to_owned());
        let _ = write!(out, ",\"data\":{facts}");
    }
    out.push('}');
    out
}

/// One event line, newline included. `data` is a JSON object's text.
pub fn event_line(event: &str, session: Option<&str>, tab: Option<&str>, data: &str) -> String {
    let mut line = format!("{{\"event\":\"{event}\"");
    if let Some(session) = session {
        let _ = write!(line, ",\"session\":\"{session}\"");
    }
    if let Some(tab) = tab {
        let _ = write!(line, ",\"tab\":\"{tab}\"");
    }
    let _ = writeln!(line, ",\"data\":{data}}}");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Error {
        Request::parse(line.as_bytes())
            .expect_err("must be refused")
            .error
    }

    #[test]
    fn an_id_comes_back_as_it_was_sent() {
        let request =
            Request::parse(br#"{"id": 1.0, "cmd_id":"x", "tool":"ping","extra":1}"#).unwrap();
        assert_eq!(
            reply_line(&request.ids, Ok("{}"), false),
            "{\"id\":1.0,\"cmd_id\":\"x\",\"ok\":true,\"result\":{}}\n"
        );
    }

    #[test]
    fn broken_json_names_its_offset() {
        let error = refused(r#"{"tool":"ping",}"#);
        assert_eq!(error.code(), Code::BadJson);
        assert_eq!(error.facts()["offset"], 15);
        assert_eq!(refused("[1]").code(), Code::BadJson);
        let error = Request::parse(b"{\"a\xff\"}").expect_err("not UTF-8").error;
        assert_eq!(error.facts()["offset"], 3);
    }

    #[test]
    fn an_unknown_field_is_named_with_its_neighbour() {
        let error = refused(r#"{"tool":"ping","arg":{}}"#);
        assert_eq!(error.code(), Code::BadRequest);
        assert_eq!(error.next_step(), Some("did you mean \"args\"?"));
    }

    #[test]
    fn a_lone_surrogate_in_an_argument_is_replaced() {
        let request = Request::parse(br#"{"tool":"type","args":{"text":"a\ud83c!"}}"#).unwrap();
        assert_eq!(request.args["text"], "a\u{fffd}!");
    }

    #[test]
    fn session_names_are_checked() {
        for bad in ["", "a/b", "é", &"x".repeat(65)] {
            assert!(check_session(bad).is_err(), "{bad}");
        }
        assert!(check_session("A.b_c-1").is_ok());
    }
}
