//! `click`: press a mouse button on an element or at a point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Acted, Call, Kind, Tool, point_of};
use crate::error::Result;
use crate::page::act::{Acting, Before, Done};
use crate::page::click::{How, click};
use crate::page::input::{self, Button, Modifier, bits};
use crate::page::locate::Locator;
use crate::page::point::{self, Aimed};

/// Click an element with the mouse, as a person would.
///
/// Scrolls it into view, waits until it is visible, enabled and at rest, and tests what is on top: what
/// cannot be clicked is an error, never a click on something else. `effect` says what the click did.
#[derive(Deserialize, JsonSchema)]
pub struct Click {
    #[serde(flatten)]
    target: Locator,
    /// Instead of a target: pixels from the left of the viewport, with `y`. With a target: from its left edge.
    x: Option<f64>,
    /// Pixels from the top.
    y: Option<f64>,
    /// The mouse button.
    #[serde(default)]
    button: Button,
    /// How many times: 2 is a double click.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 3))]
    count: u32,
    /// Keys held down meanwhile.
    #[serde(default)]
    modifiers: Vec<Modifier>,
    /// Click even if something is on top, or the element is disabled.
    #[serde(default)]
    force: bool,
    #[serde(flatten)]
    acting: Acting,
}

fn once() -> u32 {
    1
}

/// What was clicked, where, and what it did.
#[derive(Serialize)]
pub struct Clicked {
    target: Option<Value>,
    x: f64,
    y: f64,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Click {
    const NAME: &'static str = "click";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n12"}"#,
        r#"{"selector":"button[type=submit]","read":true,"format":"outline"}"#,
        r#"{"x":200,"y":140,"button":"right"}"#,
    ];
    type Output = Clicked;

    async fn run(self, call: &Call) -> Result<Clicked> {
        self.target.check()?;
        let modifiers = bits(&self.modifiers);
        let point = point_of(self.x, self.y)?;
        if point.is_none() {
            self.target.require()?;
        }
        let document = call.document(&self.target).await?;
        let tab = document.tab.clone();
        if let (Some(at), true) = (point, self.target.is_empty()) {
            let target = point::watch_at(&document, at, call.deadline()).await?;
            let before = Before::new(&document);
            call.set_acted(Acted::Unknown);
            let moved = input::move_to(&tab, at, modifiers)?;
            let pressed = input::press(&tab, at, self.button, self.count, modifiers)?;
            point::delivered(call, &tab, async {
                moved.done(&tab, call.deadline()).await?;
                pressed.done(&tab, call.deadline()).await
            })
            .await?;
            let done = before.after(call, &self.acting).await?;
            return Ok(Clicked { target, x: at.x, y: at.y, done });
        }
        let how = How {
            position: point,
            button: self.button,
            count: self.count,
            modifiers,
            force: self.force,
        };
        let (Aimed { at, target }, done) =
            click(call, &document, &self.target, how, &self.acting).await?;
        Ok(Clicked {
            target: Some(target),
            x: at.x,
            y: at.y,
            done,
        })
    }
}
