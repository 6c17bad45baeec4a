//! `type`: write a text into a field.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ACTION, Acted, Call, Kind, Tool};
use crate::error::{Code, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::fill::{self, ByKey, Field, Mode};
use crate::page::keys::Chord;
use crate::page::locate::Locator;
use crate::page::{input, point};

/// What a key pressed by itself may take, for the default time.
const PER_KEY: Duration = Duration::from_millis(5);

/// Type text into a field, in place of what it holds.
///
/// Works in inputs of every type (a date as 2031-04-09, a time as 17:45), text areas and whatever is
/// edited in place. A newline never sends a form off; `submit` does. `value` is what the field holds
/// afterwards.
#[derive(Deserialize, JsonSchema)]
pub struct Type {
    #[serde(flatten)]
    target: Locator,
    /// The text. Empty clears the field.
    text: String,
    /// Whether to press Enter afterwards.
    #[serde(default)]
    submit: bool,
    /// Whether to add to what is there instead of replacing it.
    #[serde(default)]
    append: bool,
    /// Whether to press a key for each character, for pages that listen to keys.
    #[serde(default)]
    by_key: bool,
    /// The pause between two keys, in ms; goes with by_key, also unsaid.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    delay_ms: u64,
    #[serde(flatten)]
    acting: Acting,
}

/// What the field holds now, and what typing did.
#[derive(Serialize)]
pub struct Typed {
    target: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    differs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Type {
    const NAME: &'static str = "type";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref", "text"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n7","text":"tide tables","submit":true}"#,
        r##"{"selector":"#due","text":"2031-04-09"}"##,
        r#"{"text":", please","append":true,"by_key":true}"#,
    ];
    type Output = Typed;

    fn allowance(&self) -> Duration {
        ACTION + self.typing()
    }

    async fn run(self, call: &Call) -> Result<Typed> {
        self.target.check()?;
        let text = self.text.replace("\r\n", "\n").replace('\r', "\n");
        let mut document = call.document(&self.target).await?;
        let deadline = call.deadline();
        if self.target.is_empty() {
            document = fill::focused_document(document, deadline).await?;
        }
        let tab = &document.tab;
        let mut before = Before::new(&document);
        let by = deadline.checked_sub(self.typing()).unwrap_or(deadline);
        let preparing = fill::prepare(&document, &self.target, &text, self.append, by, deadline);
        let field = match preparing.await {
            Ok(field) => field,
            // A date that was set has made the page ask something.
            Err(error) if error.code() == Code::DialogOpen => {
                call.set_acted(Acted::Yes);
                let done = before.after(call, &self.acting).await?;
                return Ok(Typed::unfinished(Value::Null, done));
            }
            Err(error) => return Err(error),
        };
        match field.mode {
            Mode::Native => before.begin(),
            _ => before = Before::new(&document),
        }
        call.set_acted(Acted::Unknown);
        let by_key = self.by_key().then(|| ByKey {
            delay: Duration::from_millis(self.delay_ms),
        });
        let writing = fill::write(&document, &field, by_key, deadline);
        point::delivered(call, tab, writing).await?;
        if !field.is_sent() && call.remaining().is_zero() {
            return Err(call
                .timed_out("the time was over before all of the text was typed")
                .hint("give it a longer timeout_ms, or a shorter delay_ms"));
        }
        if !field.is_sent() || (self.submit && tab.dialog().is_some()) {
            let done = before.after(call, &self.acting).await?;
            return Ok(Typed::unfinished(field.target, done));
        }
        // A form sent off is often emptied, or gone: what it held is looked at before.
        let mut value = None;
        if self.submit {
            value = fill::value(&document, &field, deadline).await;
            let enter = input::strike(tab, &[Chord::parse("Enter")?])?;
            point::delivered(call, tab, enter.done(tab, deadline)).await?;
        }
        let done = before.after(call, &self.acting).await?;
        let written = value.as_ref().or(done.told.value.as_ref());
        let note = written.and_then(|v| self.note(&text, &field, v));
        Ok(Typed {
            value: done.told.value.clone().or(value),
            target: field.target,
            differs: note.is_some(),
            note,
            done,
        })
    }
}

impl Typed {
    fn unfinished(target: Value, done: Done) -> Typed {
        Typed {
            target,
            value: done.told.value.clone(),
            differs: true,
            note: Some("a dialog came up before all of it was done"),
            done,
        }
    }
}

impl Type {
    /// What pressing keys takes by itself.
    fn typing(&self) -> Duration {
        if !self.by_key() {
            return Duration::ZERO;
        }
        let keys = u32::try_from(self.text.chars().count()).unwrap_or(u32::MAX);
        (Duration::from_millis(self.delay_ms) + PER_KEY).saturating_mul(keys)
    }

    fn by_key(&self) -> bool {
        self.by_key || self.delay_ms > 0
    }

    /// What to say where the field does not hold what was asked for.
    fn note(&self, text: &str, field: &Field, value: &str) -> Option<&'static str> {
        // Boxes of a code hold one character each; a password is not told.
        if field.mode == Mode::Keys || field.r#type == "password" {
            return None;
        }
        let wanted = match (field.mode, self.append) {
            (Mode::Native, _) => field.value.clone(),
            (_, true) => format!("{}{text}", field.value),
            _ => text.to_owned(),
        };
        let (wanted, value) = (plain(&wanted, &field.kind), plain(value, &field.kind));
        if wanted == value {
            let single = field.kind == "text" && text.contains('\n');
            return single.then_some("it has one line: newlines became blanks");
        }
        Some(if value.is_empty() {
            "the field took none of it"
        } else if wanted.starts_with(&value) {
            "the field cut it off"
        } else {
            "the page made something else of it"
        })
    }
}

/// A value as two are compared: in a single line newlines are blanks, in edited text all blanks are alike.
fn plain(text: &str, kind: &str) -> String {
    match kind {
        "text" => text.replace('\n', " "),
        "rich" => text.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => text.to_owned(),
    }
}
