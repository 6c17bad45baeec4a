//! `type`: text into a field.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ACTION, Acted, Call, Kind, Tool};
use crate::error::{Code, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::keys::Chord;
use crate::page::locate::Locator;
use crate::page::{Again, Document, args, budget_ms, keyboard, point};

/// Write text into a field, in place of what it holds.
///
/// Fields of every type: dates are written YYYY-MM-DD, times HH:MM, colours #rrggbb. `value` is what the
/// field holds afterwards; where that is not what was asked for, `differs` is true.
#[derive(Deserialize, JsonSchema)]
pub struct Type {
    #[serde(flatten)]
    target: Locator,
    /// The text; empty clears the field.
    text: String,
    /// Whether to press Enter afterwards.
    #[serde(default)]
    submit: bool,
    /// Whether to add to what is there.
    #[serde(default)]
    append: bool,
    /// Whether to press a key for each character, for pages that listen to keys.
    #[serde(default)]
    by_key: bool,
    /// Milliseconds after each key; implies by_key.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    delay_ms: u64,
    #[serde(flatten)]
    acting: Acting,
}

/// What the field holds now.
#[derive(Serialize)]
pub struct Typed {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    differs: bool,
    #[serde(flatten)]
    done: Done,
}

/// What `tabd.prepareText` answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Prepared {
    mode: String,
    keys_before: Vec<String>,
    target: Value,
    r#type: Option<String>,
    kind: String,
    value: String,
}

impl Tool for Type {
    const NAME: &'static str = "type";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref", "text"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n7","text":"kim@example.org"}"#,
        r#"{"selector":"input[name=q]","text":"tides","submit":true}"#,
        r#"{"text":" and more","append":true}"#,
    ];
    type Output = Typed;

    fn allowance(&self) -> Duration {
        ACTION + self.typing()
    }

    async fn run(self, call: &Call) -> Result<Typed> {
        self.target.check()?;
        let document = call.document(&self.target).await?;
        let before = Before::new(&document);
        let prepared = match self.prepare(call, &document).await {
            Ok(prepared) => prepared,
            // A value that was set has made the page ask something.
            Err(error) if error.code() == Code::DialogOpen => {
                call.set_acted(Acted::Yes);
                let done = before.after(call, &self.acting).await?;
                return Ok(Typed {
                    target: None,
                    value: None,
                    differs: false,
                    done,
                });
            }
            Err(error) => return Err(error),
        };
        call.set_acted(Acted::Unknown);
        point::delivered(call, &document.tab, self.write(call, &document, &prepared)).await?;
        let mut value = None;
        if self.submit && document.tab.dialog().is_none() {
            value = self.value(call, &document, &prepared).await;
            let enter = Chord::parse("Enter")?;
            let tab = &document.tab;
            let pressing = keyboard::press(tab, &enter, 1, Duration::ZERO, call.deadline());
            point::delivered(call, tab, pressing).await?;
        }
        let mut done = before.after(call, &self.acting).await?;
        let value = value.or_else(|| done.told.value.take());
        Ok(Typed {
            differs: value.as_deref().is_some_and(|v| self.differs(&prepared, v)),
            target: Some(prepared.target),
            value,
            done,
        })
    }
}

impl Type {
    /// The time that is spent between keys.
    fn typing(&self) -> Duration {
        let keys = u32::try_from(self.text.chars().count()).unwrap_or(u32::MAX);
        self.delay().saturating_mul(keys)
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    async fn prepare(&self, call: &Call, document: &Document) -> Result<Prepared> {
        let by = call.deadline().checked_sub(self.typing());
        let by = by.unwrap_or(call.deadline());
        let mut wanted = self.target.args();
        wanted.extend(args(json!({
            "text": self.text,
            "append": self.append,
            "budget_ms": budget_ms(by),
        })));
        document
            .ask("prepareText", wanted, Again::No, call.deadline())
            .await
    }

    async fn write(&self, call: &Call, document: &Document, prepared: &Prepared) -> Result<()> {
        let tab = &document.tab;
        let deadline = call.deadline();
        for chord in &prepared.keys_before {
            let chord = Chord::parse(chord)?;
            keyboard::press(tab, &chord, 1, Duration::ZERO, deadline).await?;
        }
        let by_key = self.by_key || self.delay_ms > 0;
        match prepared.mode.as_str() {
            "insert" if !by_key => keyboard::compose(tab, &self.text, deadline).await,
            "insert" | "keys" => keyboard::write(tab, &self.text, self.delay(), deadline).await,
            "empty" => {
                let delete = Chord::parse("Delete")?;
                keyboard::press(tab, &delete, 1, Duration::ZERO, deadline).await
            }
            _ => Ok(()),
        }
    }

    /// What the field holds before it may be gone.
    async fn value(&self, call: &Call, document: &Document, prepared: &Prepared) -> Option<String> {
        #[derive(Deserialize)]
        struct Held {
            value: String,
        }
        let target = prepared.target["ref"].as_str()?.parse().ok()?;
        let field = Locator {
            r#ref: Some(target),
            ..Locator::default()
        };
        let held = document.ask::<Held>("textValue", field.args(), Again::No, call.deadline());
        held.await.ok().map(|held| held.value)
    }

    /// Whether the field holds something else than it was given. A password is not told.
    fn differs(&self, prepared: &Prepared, value: &str) -> bool {
        if prepared.r#type.as_deref() == Some("password") || prepared.mode == "keys" {
            return false;
        }
        let wanted = match self.append {
            true => format!("{}{}", prepared.value, self.text),
            false => self.text.clone(),
        };
        // An editor has blank space of its own; a field of one line has no line breaks.
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        match prepared.kind.as_str() {
            "area" => value != wanted.replace("\r\n", "\n").replace('\r', "\n"),
            "rich" => spaced(value) != spaced(&wanted),
            "native" => value != wanted.trim(),
            _ => value != wanted,
        }
    }
}
