//! `press`: a key, or a chord.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ACTION, Acted, Call, Kind, Tool};
use crate::error::Result;
use crate::page::act::{Acting, Before, Done};
use crate::page::keys::Chord;
use crate::page::locate::Locator;
use crate::page::{Again, args, budget_ms, keyboard, point};

/// Press a key or a chord, such as `Enter`, `Control+A` or `Shift+Tab`.
///
/// Goes to the target, which gets the focus, or to what has it. Text is for `type`.
#[derive(Deserialize, JsonSchema)]
pub struct Press {
    /// The key: a character, or a name as in KeyboardEvent; modifiers before it, joined by `+`.
    keys: String,
    #[serde(flatten)]
    target: Locator,
    /// How many times.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1000))]
    count: u32,
    /// How long the key stays down, in milliseconds.
    #[serde(default)]
    #[schemars(range(min = 0, max = 60_000))]
    hold_ms: u64,
    #[serde(flatten)]
    acting: Acting,
}

fn once() -> u32 {
    1
}

/// What it did.
#[derive(Serialize)]
pub struct Pressed {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Value>,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Press {
    const NAME: &'static str = "press";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["keys"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"keys":"Enter"}"#,
        r#"{"keys":"ArrowDown","ref":"n12","count":3}"#,
        r#"{"keys":"ControlOrMeta+Shift+P"}"#,
    ];
    type Output = Pressed;

    fn allowance(&self) -> Duration {
        ACTION + self.hold() * self.count
    }

    async fn run(self, call: &Call) -> Result<Pressed> {
        self.target.check()?;
        let chord = Chord::parse(&self.keys)?;
        let document = call.document(&self.target).await?;
        let mut target = None;
        if self.target.is_empty() {
            point::watch(&document, call.deadline()).await?;
        } else {
            let mut wanted = self.target.args();
            let rest = self.hold() * self.count;
            let by = call.deadline().checked_sub(rest).unwrap_or(call.deadline());
            wanted.extend(args(json!({"budget_ms": budget_ms(by)})));
            let mut focused: Value = document
                .ask("focus", wanted, Again::No, call.deadline())
                .await?;
            target = Some(focused["target"].take());
        }
        let before = Before::new(&document);
        call.set_acted(Acted::Unknown);
        let tab = &document.tab;
        let pressing = keyboard::press(tab, &chord, self.count, self.hold(), call.deadline());
        point::delivered(call, tab, pressing).await?;
        let done = before.after(call, &self.acting).await?;
        Ok(Pressed { target, done })
    }
}

impl Press {
    fn hold(&self) -> Duration {
        Duration::from_millis(self.hold_ms)
    }
}
