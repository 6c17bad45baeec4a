//! `type`: write a text into a field.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ACTION, Acted, Call, Kind, Tool};
use crate::error::Result;
use crate::page::act::{Acting, Before, Done};
use crate::page::fill::{self, ByKey, Field, Mode};
use crate::page::locate::Locator;
use crate::page::point;

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
        let keys = u32::try_from(self.text.chars().count()).unwrap_or(u32::MAX);
        let each = Duration::from_millis(self.delay_ms);
        let each = if self.by_key() { each + PER_KEY } else { each };
        ACTION + each.saturating_mul(keys)
    }

    async fn run(self, call: &Call) -> Result<Typed> {
        self.target.check()?;
        let text = self.text.replace("\r\n", "\n").replace('\r', "\n");
        let document = call.document(&self.target).await?;
        let tab = document.tab.clone();
        let mut before = Before::new(&document);
        let deadline = call.deadline();
        let field = fill::prepare(&document, &self.target, &text, self.append, deadline).await?;
        match field.mode {
            Mode::Native => before.begin(),
            _ => before = Before::new(&document),
        }
        call.set_acted(Acted::Unknown);
        let by_key = self.by_key().then(|| ByKey {
            delay: Duration::from_millis(self.delay_ms),
        });
        let writing = fill::write(&document, &field, by_key, self.submit, deadline);
        point::delivered(call, &tab, writing).await?;
        if !field.is_sent() && call.remaining().is_zero() {
            return Err(call
                .timed_out("the time was over before all of the text was typed")
                .hint("give it a longer timeout_ms, or a shorter delay_ms"));
        }
        let done = before.after(call, &self.acting).await?;
        let value = done.told.value.clone();
        let note = match (&value, field.is_sent()) {
            (_, false) => Some("a dialog came up before all of it was typed"),
            (Some(value), true) => self.note(&text, &field, value),
            (None, true) => None,
        };
        Ok(Typed {
            target: field.target,
            value,
            differs: note.is_some(),
            note,
            done,
        })
    }
}

impl Type {
    fn by_key(&self) -> bool {
        self.by_key || self.delay_ms > 0
    }

    /// What to say where the field does not hold what was asked for.
    fn note(&self, text: &str, field: &Field, value: &str) -> Option<&'static str> {
        // A form sent off is often emptied; boxes of a code hold one character each; a password is
        // not told.
        if self.submit || field.mode == Mode::Keys || field.r#type == "password" {
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
