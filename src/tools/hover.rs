//! `hover`: rest the pointer on an element or at a point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Acted, Call, Kind, Tool, point_of};
use crate::error::Result;
use crate::page::act::{Acting, Before, Done};
use crate::page::input::{self, Modifier, bits};
use crate::page::locate::Locator;
use crate::page::point;

/// Move the pointer onto an element and leave it there, so that menus and hints open.
///
/// What opens on hover stays open until the pointer is moved again.
#[derive(Deserialize, JsonSchema)]
pub struct Hover {
    #[serde(flatten)]
    target: Locator,
    /// Instead of a target: pixels from the left of the viewport, with `y`. With a target: from its left edge.
    x: Option<f64>,
    /// Pixels from the top.
    y: Option<f64>,
    /// Keys held down meanwhile.
    #[serde(default)]
    modifiers: Vec<Modifier>,
    /// Whether to go there even if something is on top.
    #[serde(default)]
    force: bool,
    #[serde(flatten)]
    acting: Acting,
}

/// Where the pointer is, and what that did.
#[derive(Serialize)]
pub struct Hovered {
    target: Option<Value>,
    x: f64,
    y: f64,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Hover {
    const NAME: &'static str = "hover";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n12"}"#,
        r#"{"selector":"nav li","nth":2,"read":true}"#,
        r#"{"x":200,"y":140}"#,
    ];
    type Output = Hovered;

    async fn run(self, call: &Call) -> Result<Hovered> {
        self.target.check()?;
        let modifiers = bits(&self.modifiers);
        let point = point_of(self.x, self.y)?;
        if point.is_none() {
            self.target.require()?;
        }
        let document = call.document(&self.target).await?;
        let tab = &document.tab;
        let mut before = Before::new(&document);
        let (at, target) = match point {
            Some(at) if self.target.is_empty() => {
                let target = point::watch_at(&document, at, call.deadline()).await?;
                call.set_acted(Acted::Unknown);
                let moved = input::move_to(tab, at, modifiers)?;
                point::delivered(call, tab, moved.done(tab, call.deadline())).await?;
                (at, target)
            }
            position => {
                let aimed = point::aim(
                    &document,
                    &self.target,
                    position,
                    self.force,
                    true,
                    modifiers,
                    call.deadline(),
                )
                .await?;
                before.begin();
                call.set_acted(Acted::Yes);
                (aimed.at, Some(aimed.target))
            }
        };
        let done = before.after(call, &self.acting).await?;
        Ok(Hovered {
            target,
            x: at.x,
            y: at.y,
            done,
        })
    }
}
