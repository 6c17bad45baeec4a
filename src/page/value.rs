//! What a script gave, in a reply's words: JSON as is, and texts for what JSON cannot hold.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::evaluate::{Run, Stop, argument};
use crate::cdp::Json;
use crate::cdp::dom;
use crate::cdp::runtime::{self, RemoteObject, RemoteObjectSubtype, RemoteObjectType};
use crate::error::{Code, Error, Result};
use crate::surrogates::repair_surrogates;

/// The page's part: from an object to its JSON text.
const SERIALIZE: &str = include_str!("../../js/main/serialize.js");
/// The longest value of a thrown object in an error, in bytes.
pub(super) const MAX_THROWN: usize = 4096;
/// The longest text of a function, in bytes.
const MAX_SOURCE: usize = 2000;
/// `value` as it stands for an element of a document.
const ELEMENT: i64 = 1;

/// A value (contract, `evaluate`).
#[derive(Debug, Default, Serialize)]
pub struct Value {
    /// `undefined`, `null`, `boolean`, `number`, `string`, `bigint`, `symbol`, `function`, `object`, or
    /// what kind of object: `array`, `node`, `date`, `map`, `error` and so on.
    pub r#type: &'static str,
    /// As JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Box<RawValue>>,
    /// What it is where JSON cannot hold it, or the beginning of the JSON that was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The element's ref.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<String>,
    /// The element's role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The element's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Something in the value is told as text because JSON cannot hold it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// It was longer than `max_bytes`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Value {
    /// In a message: its text, or its JSON.
    fn words(&self) -> &str {
        match (&self.text, &self.value) {
            (Some(text), _) => text,
            (None, Some(value)) => value.get(),
            (None, None) => self.r#type,
        }
    }

    fn told(r#type: &'static str, text: impl Into<String>) -> Value {
        Value {
            r#type,
            text: Some(text.into()),
            ..Value::default()
        }
    }
}

/// How a JSON text looks on the wire: lone surrogates, which strict parsers refuse, are replaced.
fn raw(text: &str) -> Result<Box<RawValue>> {
    let text = match repair_surrogates(text.as_bytes()) {
        Cow::Borrowed(_) => text.to_owned(),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    RawValue::from_string(text)
        .map_err(|e| Code::Internal.because(format!("a value that is no JSON: {e}")))
}

/// At most `max` bytes of a text, whole characters.
fn cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A string of JSON, cut to `max` bytes of text.
fn string(json: &Json, max: usize) -> Result<Value> {
    let of = |value, truncated| Value {
        r#type: "string",
        value: Some(value),
        truncated,
        ..Value::default()
    };
    // Escapes only make it longer.
    if json.text().len() <= max.saturating_add(2) {
        return Ok(of(raw(json.text())?, false));
    }
    let text = json.string().unwrap_or_default();
    if text.len() <= max {
        return Ok(of(raw(json.text())?, false));
    }
    let short = serde_json::Value::from(cut(&text, max)).to_string();
    Ok(of(raw(&short)?, true))
}

impl Run<'_> {
    /// Tells a value. Objects are asked once more; elements get their ref.
    pub(super) async fn value(&self, object: RemoteObject, max: usize) -> Result<Value, Stop> {
        let kind = kind_of(&object);
        let description = object.description.as_deref().unwrap_or_default();
        match object.r#type {
            RemoteObjectType::Undefined => Ok(Value {
                r#type: kind,
                ..Value::default()
            }),
            RemoteObjectType::String => {
                let json = object.value.unwrap_or_default();
                Ok(string(&json, max)?)
            }
            RemoteObjectType::Function => {
                Ok(Value::told(kind, cut(description, max.min(MAX_SOURCE))))
            }
            RemoteObjectType::Symbol => Ok(Value::told(kind, cut(description, max))),
            _ if object.object_id.is_none() => {
                if let Some(text) = &object.unserializable_value {
                    let text = text.as_str();
                    // JSON has a minus before its zero, though many a parser drops it.
                    let value = match text {
                        "-0" => Some(raw("-0")?),
                        _ => None,
                    };
                    return Ok(Value {
                        value,
                        truncated: text.len() > max,
                        ..Value::told(kind, cut(text, max))
                    });
                }
                let json = object.value.unwrap_or_default();
                Ok(Value {
                    r#type: kind,
                    value: Some(raw(json.text())?),
                    ..Value::default()
                })
            }
            _ if kind == "node" => self.node(&object).await,
            _ => self.serialized(kind, &object, max).await,
        }
    }

    async fn serialized(
        &self,
        kind: &'static str,
        object: &RemoteObject,
        max: usize,
    ) -> Result<Value, Stop> {
        let call = runtime::CallFunctionOn {
            function_declaration: SERIALIZE.to_owned(),
            object_id: object.object_id.clone(),
            arguments: Some(vec![argument(&max)]),
            silent: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        let reply = self.ask(&call).await?;
        let told = reply.result.value.as_ref().and_then(Json::string);
        let (mark, json) = match &told {
            Some(told)
                if reply.exception_details.is_none()
                    && told.len() >= 3
                    && told.is_char_boundary(3) =>
            {
                told.split_at(3)
            }
            // The page has broken what everything stands on; the browser's own words are left.
            _ => {
                let words = object.description.as_deref().unwrap_or_default();
                return Ok(Value {
                    lossy: true,
                    ..Value::told(kind, cut(words, max))
                });
            }
        };
        let is_text = mark.starts_with('t');
        if mark.ends_with('c') || json.len() > max {
            return Ok(Value {
                truncated: true,
                ..Value::told(kind, cut(json, max))
            });
        }
        if is_text {
            let text: String = serde_json::from_str(raw(json)?.get()).unwrap_or_default();
            return Ok(Value::told(kind, text));
        }
        Ok(Value {
            r#type: kind,
            value: Some(raw(json)?),
            lossy: mark.contains('l'),
            ..Value::default()
        })
    }

    /// An element with its ref; another node by its name.
    async fn node(&self, object: &RemoteObject) -> Result<Value, Stop> {
        #[derive(Deserialize)]
        struct Described {
            r#ref: Option<String>,
            role: Option<String>,
            name: Option<String>,
        }
        let describe = dom::DescribeNode {
            object_id: object.object_id.clone(),
            ..Default::default()
        };
        let node = self.ask(&describe).await?.node;
        let mut value = Value::told("node", node.node_name.to_lowercase());
        if node.node_type != ELEMENT {
            if !node.node_value.is_empty() {
                value.text = Some(format!(
                    "{} {:?}",
                    node.node_name,
                    cut(&node.node_value, 200)
                ));
            }
            return Ok(value);
        }
        let Some(own) = self.document.tab.place_now(&self.document.frame, false) else {
            return Ok(value);
        };
        let resolve = dom::ResolveNode {
            backend_node_id: Some(node.backend_node_id),
            execution_context_id: Some(own.number),
            ..Default::default()
        };
        // An element of another document has no ref here.
        let Ok(resolved) = self.ask(&resolve).await else {
            return Ok(value);
        };
        let lease = self
            .document
            .browser
            .numbers()
            .lease(self.document.number, 1);
        let lent = serde_json::json!({
            "prefix": self.document.prefix(), "next": lease.range.start, "end": lease.range.end,
        });
        let call = runtime::CallFunctionOn {
            function_declaration: "function (lease) { return tabd.describe(this, lease); }"
                .to_owned(),
            object_id: resolved.object.object_id.clone(),
            arguments: Some(vec![argument(&lent)]),
            silent: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        let reply = self.ask(&call).await?;
        if let Some(object_id) = resolved.object.object_id
            && let Ok(pending) = self
                .document
                .tab
                .send_to(&own.cdp_session, &runtime::ReleaseObject { object_id })
        {
            pending.forget();
        }
        let told = reply.result.value.as_ref().and_then(Json::string);
        let told = told.unwrap_or_default();
        if let Some(next) = super::next_of(&told) {
            self.document.browser.numbers().give_back(&lease, next);
        }
        if let Ok(told) = serde_json::from_str::<Described>(&told) {
            value.r#ref = told.r#ref;
            value.role = told.role;
            value.name = told.name;
        }
        Ok(value)
    }
}

fn kind_of(object: &RemoteObject) -> &'static str {
    match object.subtype {
        Some(RemoteObjectSubtype::Unknown) | None => match object.class_name.as_deref() {
            Some("Window") => "window",
            _ => object.r#type.as_str(),
        },
        Some(subtype) => subtype.as_str(),
    }
}

pub(super) mod remote {
    //! Errors that scripts throw.

    use super::{Code, Error, Value, cut};
    use crate::cdp::runtime::ExceptionDetails;

    /// The longest message, and the longest stack, in bytes.
    const MAX_MESSAGE: usize = 1000;
    const MAX_STACK: usize = 8000;

    /// `eval_error`. `value` is what was thrown if that was no `Error`; `shift` the lines that stand
    /// before the script's first.
    pub fn error(thrown: &ExceptionDetails, value: Option<&Value>, shift: i64) -> Error {
        let exception = thrown.exception.as_ref();
        let description = exception.and_then(|e| e.description.as_deref());
        let message = match (value, description) {
            (Some(value), _) => format!("the script threw {}", cut(value.words(), MAX_MESSAGE)),
            (None, Some(description)) => {
                let head = description.split("\n    at ").next().unwrap_or(description);
                cut(head, MAX_MESSAGE).to_owned()
            }
            (None, None) => cut(&thrown.text, MAX_MESSAGE).to_owned(),
        };
        let mut error = Code::EvalError.because(message);
        if let Some((line, column)) = place(thrown, description) {
            error = error
                .fact("line", (line - shift).max(1))
                .fact("column", column);
        }
        if let Some(url) = thrown.url.as_deref().filter(|u| !u.is_empty()) {
            error = error.fact("url", cut(url, 500));
        }
        match (value, description) {
            (None, Some(stack)) => {
                error = error.fact("stack", moved_up(cut(stack, MAX_STACK), shift))
            }
            (Some(value), _) => {
                let told = serde_json::to_value(value).unwrap_or_default();
                error = error.fact("thrown", told);
            }
            (None, None) => {}
        }
        error
    }

    /// Line and column, from 1: of the top of the stack; of what does not compile, where it ends to.
    fn place(thrown: &ExceptionDetails, description: Option<&str>) -> Option<(i64, i64)> {
        let top = thrown
            .stack_trace
            .as_ref()
            .and_then(|s| s.call_frames.first());
        if let Some(top) = top {
            return Some((top.line_number + 1, top.column_number + 1));
        }
        if let Some(at) = description.and_then(in_stack) {
            return Some(at);
        }
        let compiles = thrown.script_id.is_none();
        (!compiles).then_some((thrown.line_number + 1, thrown.column_number + 1))
    }

    /// A stack with the script's own lines as it has them.
    fn moved_up(stack: &str, shift: i64) -> String {
        const OWN: &str = "<anonymous>:";
        let mut told = String::with_capacity(stack.len());
        for (i, part) in stack.split(OWN).enumerate() {
            if i == 0 {
                told.push_str(part);
                continue;
            }
            told.push_str(OWN);
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            match part[..digits].parse::<i64>() {
                Ok(line) if line > shift => told.push_str(&(line - shift).to_string()),
                _ => told.push_str(&part[..digits]),
            }
            told.push_str(&part[digits..]);
        }
        told
    }

    /// The first place in a stack's text.
    fn in_stack(stack: &str) -> Option<(i64, i64)> {
        let line = stack.lines().find(|l| l.trim_start().starts_with("at "))?;
        let mut parts = line.trim_end_matches(')').rsplit(':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some((line, column))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_stack_tells_its_place() {
            let stack = "Error: a\n    at f (<anonymous>:2:7)\n    at <anonymous>:9:1";
            assert_eq!(in_stack(stack), Some((2, 7)));
            assert_eq!(in_stack("Error: a:1:2"), None);
            assert_eq!(
                moved_up(stack, 1),
                "Error: a\n    at f (<anonymous>:1:7)\n    at <anonymous>:8:1"
            );
            assert_eq!(moved_up(stack, 0), stack);
        }
    }
}
