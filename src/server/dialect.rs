//! Which language a line speaks: tabd's own, or JSON-RPC 2.0 (MCP).

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;

/// A reply has its request's dialect; a bad line is answered in the last good line's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `{"tool":…}`.
    #[default]
    Tabd,
    /// `{"jsonrpc":"2.0",…}`.
    JsonRpc,
}

/// A JSON-RPC message, as far as it must be read to answer it.
pub struct Message {
    /// The raw text of its id; `None` for a notification.
    pub id: Option<Box<str>>,
    /// What it asks for; `None` for a response.
    pub method: Option<String>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<&'a RawValue>,
}

/// The line as a JSON-RPC message, if it says that it is one.
pub fn json_rpc(line: &[u8]) -> Option<Message> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains("jsonrpc") {
        return None;
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    if envelope.jsonrpc?.get() != "\"2.0\"" {
        return None;
    }
    // `null` reads as absent for an Option, yet it is an id.
    let null = || text.contains("\"id\"").then(|| "null".into());
    Some(Message {
        id: envelope.id.map(|id| id.get().into()).or_else(null),
        method: envelope
            .method
            .and_then(|m| serde_json::from_str(m.get()).ok()),
    })
}

/// One JSON-RPC error line.
pub fn rpc_error(id: &str, code: i32, message: &str) -> String {
    let message = Value::from(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}\n"
    )
}

/// What a line that could not be read is told, in `dialect`.
pub fn bad_line(dialect: Dialect, ids: &crate::wire::Ids, error: &Error) -> String {
    match dialect {
        Dialect::Tabd => crate::wire::reply_line(ids, Err(error), false),
        Dialect::JsonRpc => rpc_error("null", -32700, error.message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_so_is_json_rpc() {
        assert!(json_rpc(br#"{"tool":"ping"}"#).is_none());
        assert!(json_rpc(br#"{"tool":"ping","args":{"x":"jsonrpc"}}"#).is_none());
        assert!(json_rpc(br#"{"jsonrpc":"1.0","id":1}"#).is_none());
        let message = json_rpc(br#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#).unwrap();
        assert_eq!(message.id.as_deref(), Some("1.0"));
        assert_eq!(message.method.as_deref(), Some("ping"));
        let message = json_rpc(br#"{"jsonrpc":"2.0","method":"x"}"#).unwrap();
        assert_eq!(message.id, None);
    }
}
