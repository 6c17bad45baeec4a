//! `press`: press keys of the keyboard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::{ACTION, Acted, Call, Kind, Tool};
use crate::browser::Tab;
use crate::error::{Result, quoted};
use crate::page::act::{Acting, Before, Done};
use crate::page::keys::Chord;
use crate::page::locate::Locator;
use crate::page::{fill, input, point};

/// Press a key or a chord, such as Enter or Control+A, in what has the focus.
///
/// Names are those of KeyboardEvent.key: Enter, Tab, Escape, ArrowDown, F5, a. `Control++` is Control
/// and plus. With a target, that gets the focus first.
#[derive(Deserialize, JsonSchema)]
pub struct Press {
    /// The key, or a chord such as Control+Shift+K.
    keys: String,
    #[serde(flatten)]
    target: Locator,
    /// How many times.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1000))]
    count: u32,
    /// How long to hold it down each time, in ms.
    #[serde(default)]
    #[schemars(range(min = 0, max = 60000))]
    hold_ms: u64,
    #[serde(flatten)]
    acting: Acting,
}

fn once() -> u32 {
    1
}

/// What the keys did, and in what.
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
    const BARE: &'static [&'static str] = &["keys", "ref"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"keys":"Enter"}"#,
        r#"{"keys":"Control+A","ref":"n12"}"#,
        r#"{"keys":"ArrowDown","count":3}"#,
    ];
    type Output = Pressed;

    fn allowance(&self) -> Duration {
        ACTION + Duration::from_millis(self.hold_ms) * self.count
    }

    async fn run(self, call: &Call) -> Result<Pressed> {
        let chord = Chord::parse(&self.keys)?;
        self.target.check()?;
        let mut document = call.document(&self.target).await?;
        let target = match self.target.is_empty() {
            true => {
                document = fill::focused_document(document, call.deadline()).await?;
                point::watch(&document, call.deadline()).await?;
                None
            }
            false => {
                let held = Duration::from_millis(self.hold_ms) * self.count;
                let deadline = call.deadline();
                let by = deadline.checked_sub(held).unwrap_or(deadline);
                Some(fill::focus(&document, &self.target, by, deadline).await?)
            }
        };
        let before = Before::new(&document);
        call.set_acted(Acted::Unknown);
        let whole = AtomicBool::new(false);
        let striking = self.strike(call, &document.tab, &chord, &whole);
        point::delivered(call, &document.tab, striking).await?;
        if !whole.into_inner() && call.remaining().is_zero() {
            return Err(call
                .timed_out(format!(
                    "the time was over before {} was pressed and held as asked",
                    quoted(&self.keys, 40)
                ))
                .hint("give it a longer timeout_ms, or a shorter hold_ms"));
        }
        let done = before.after(call, &self.acting).await?;
        Ok(Pressed { target, done })
    }
}

impl Press {
    /// Presses as often as asked; `whole` is set once the last release is on its way.
    async fn strike(
        &self,
        call: &Call,
        tab: &Tab,
        chord: &Chord,
        whole: &AtomicBool,
    ) -> Result<()> {
        for nth in 1..=self.count {
            let keys = if self.hold_ms == 0 {
                input::strike(tab, [chord])?
            } else {
                let (held, down) = input::hold(tab, chord)?;
                let until = Instant::now() + Duration::from_millis(self.hold_ms);
                down.done(tab, call.deadline()).await?;
                tokio::time::sleep_until(until.min(call.deadline())).await;
                let keys = held.release()?;
                if until > call.deadline() {
                    return Ok(());
                }
                keys
            };
            whole.store(nth == self.count, Ordering::Relaxed);
            keys.done(tab, call.deadline()).await?;
        }
        Ok(())
    }
}
