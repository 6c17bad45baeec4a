//! `drag`: press on one thing, and let go on another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Kind, Ref, Tool, point_of};
use crate::error::{Code, Error, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::input::Point;
use crate::page::locate::Locator;
use crate::page::{drag, point};

/// Drag an element, or from a point, onto another one.
///
/// Works with what follows the mouse, sliders and maps, and with what the browser itself drags. With
/// `points` the pointer goes by these on its way.
#[derive(Deserialize, JsonSchema)]
pub struct Drag {
    /// What to drag: a ref or selector, or a point.
    from: End,
    /// Where to let go.
    to: End,
    /// Points of the viewport to go by.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    points: Vec<At>,
    #[serde(flatten)]
    acting: Acting,
}

/// One end of the way.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct End {
    /// The element, by its ref.
    r#ref: Option<Ref>,
    /// The element, by CSS selector.
    selector: Option<String>,
    /// Which match of the selector.
    nth: Option<i32>,
    /// The frame to look for the selector in, such as f2.
    frame: Option<String>,
    /// Pixels from the left of the viewport, or of the element.
    x: Option<f64>,
    /// Pixels from the top.
    y: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
struct At {
    /// Pixels from the left.
    x: f64,
    /// Pixels from the top.
    y: f64,
}

impl End {
    fn locator(&self) -> Locator {
        Locator {
            r#ref: self.r#ref,
            selector: self.selector.clone(),
            nth: self.nth,
            frame: self.frame.clone(),
        }
    }

    fn check(&self, name: &str) -> Result<(Locator, Option<Point>)> {
        let about = |error: Error| error.fact("argument", name.to_owned());
        let locator = self.locator();
        locator.check().map_err(about)?;
        let at = point_of(self.x, self.y).map_err(about)?;
        if at.is_none() && locator.is_empty() {
            return Err(about(
                Code::BadRequest
                    .because(format!("{name} names neither an element nor a point"))
                    .hint("give it a ref, a selector, or x and y"),
            ));
        }
        Ok((locator, at))
    }
}

/// What was dragged, where it was let go, and what that did.
#[derive(Serialize)]
pub struct Dragged {
    target: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Value>,
    x: f64,
    y: f64,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Drag {
    const NAME: &'static str = "drag";
    const KIND: Kind = Kind::Act;
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"from":{"ref":"n5"},"to":{"ref":"n9"}}"#,
        r#"{"from":{"x":40,"y":200},"to":{"x":300,"y":200},"points":[{"x":120,"y":90}]}"#,
    ];
    type Output = Dragged;

    async fn run(self, call: &Call) -> Result<Dragged> {
        let (from, from_at) = self.from.check("from")?;
        let (to, to_at) = self.to.check("to")?;
        let document = call.document(&from).await?;
        let end = match to.is_empty() {
            true => document.clone(),
            false => call.document(&to).await?,
        };
        if end.tab.id != document.tab.id {
            return Err(Code::BadRequest
                .because("from and to are in different tabs")
                .fact("argument", "to"));
        }
        let deadline = call.deadline();
        let tab = document.tab.clone();
        let (at, target) = match from_at {
            Some(at) if from.is_empty() => {
                let target = point::watch_at(&document, at, deadline).await?;
                let moved = crate::page::input::move_to(&tab, at, 0)?;
                moved.done(&tab, deadline).await?;
                (at, target)
            }
            position => {
                let aiming = point::aim(&document, &from, position, false, false, 0, deadline);
                let aimed = aiming.await?;
                (aimed.at, Some(aimed.target))
            }
        };
        let before = Before::new(&end);
        let between: Vec<Point> = self
            .points
            .iter()
            .map(|p| Point { x: p.x, y: p.y })
            .collect();
        let mut onto = None;
        let place = async || match to_at {
            Some(at) if to.is_empty() => Ok(at),
            position => {
                let spot = point::spot(&end, &to, position, deadline).await?;
                onto = Some(spot.target);
                Ok(spot.at)
            }
        };
        let (at, changed) = drag::drag(call, &document, at, &between, place).await?;
        let mut done = before.after(call, &self.acting).await?;
        if changed {
            done.effect.insert("changed".to_owned(), true.into());
        }
        Ok(Dragged {
            target,
            to: onto,
            x: at.x,
            y: at.y,
            done,
        })
    }
}
