//! A click on an element, until it truly got it.

use serde_json::Value;

use super::Document;
use super::act::{Acting, Before, Done};
use super::input::{self, Button, Point};
use super::locate::Locator;
use super::point::{self, Aimed};
use crate::error::{Code, Result};
use crate::progress::{Acted, Progress};

/// How often a press is repeated of which no click came.
const TORN: u32 = 2;

/// How to click.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Where, from the element's upper left corner; any point of it if left out.
    pub position: Option<Point>,
    /// The button.
    pub button: Button,
    /// How many times.
    pub count: u32,
    /// Modifiers' bits.
    pub modifiers: i64,
    /// Whatever is on top.
    pub force: bool,
}

impl Default for How {
    fn default() -> How {
        How {
            position: None,
            button: Button::Left,
            count: 1,
            modifiers: 0,
            force: false,
        }
    }
}

/// Clicks the element that `locator` means, and waits for the effect.
pub async fn click(
    call: &Progress,
    document: &Document,
    locator: &Locator,
    how: How,
    acting: &Acting,
) -> Result<(Aimed, Done)> {
    let tab = &document.tab;
    let mut torn = 0;
    loop {
        let aimed = point::aim(
            document,
            locator,
            how.position,
            how.force,
            false,
            how.modifiers,
            call.deadline(),
        )
        .await?;
        let before = Before::new(document);
        call.set_acted(Acted::Unknown);
        let pressed = input::press(tab, aimed.at, how.button, how.count, how.modifiers)?;
        point::delivered(call, tab, pressed.done(tab, call.deadline())).await?;
        let done = before.after(call, acting).await?;
        if how.force || how.button != Button::Left || how.count > 1 {
            torn = TORN;
        }
        if done.told.hit == Some(true) && done.was_torn() && torn < TORN {
            torn += 1;
            continue;
        }
        if done.told.hit != Some(false) || how.force {
            return Ok((aimed, done));
        }
        // The page moved the element between the last look and the press, and has not heard of it.
        call.set_acted(Acted::No);
        if call.remaining().is_zero() {
            return Err(Code::Covered
                .because(format!(
                    "{} keeps moving away from under the pointer",
                    aimed.target["ref"].as_str().unwrap_or("the element")
                ))
                .fact("by", done.told.by.unwrap_or(Value::Null))
                .hint("wait for it to come to rest, or use force"));
        }
    }
}
