//! `drag`: press on one thing, move, and let go on another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Kind, Ref, Tool, point_of};
use crate::error::{Code, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::drag::{self, End};
use crate::page::input::Point;
use crate::page::locate::Locator;
use crate::page::Document;

/// Drag with the mouse from one element or point to another.
///
/// Works with HTML drag and drop (what the page puts into the drag arrives), with lists and sliders that
/// follow the mouse, and on drawing areas. x and y alone are a point of the viewport; with a target,
/// from its upper left corner.
#[derive(Deserialize, JsonSchema)]
pub struct Drag {
    /// Where to press.
    from: Place,
    /// Where to let go.
    to: Place,
    /// Points of the viewport to move through, in order.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    points: Vec<Through>,
    #[serde(flatten)]
    acting: Acting,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Place {
    /// The element, by its ref.
    r#ref: Option<Ref>,
    /// The element, by CSS selector.
    selector: Option<String>,
    /// Which match of the selector.
    nth: Option<i32>,
    /// The frame to look for the selector in, such as f2.
    frame: Option<String>,
    /// Pixels from the left.
    x: Option<f64>,
    /// Pixels from the top.
    y: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
struct Through {
    /// Pixels from the left.
    x: f64,
    /// Pixels from the top.
    y: f64,
}

/// What was dragged, where to, and what that did.
#[derive(Serialize)]
pub struct Dragged {
    target: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    onto: Option<Value>,
    x: f64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<bool>,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Drag {
    const NAME: &'static str = "drag";
    const KIND: Kind = Kind::Act;
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"from":{"ref":"n12"},"to":{"ref":"n20"}}"#,
        r##"{"from":{"selector":"#handle"},"to":{"x":400,"y":120}}"##,
        r#"{"from":{"x":40,"y":40},"points":[{"x":90,"y":200}],"to":{"x":300,"y":60}}"#,
    ];
    type Output = Dragged;

    async fn run(self, call: &Call) -> Result<Dragged> {
        let (from, to) = (self.from.check("from")?, self.to.check("to")?);
        // A ref fixes the tab for both ends; points alone are of the tab the call is for.
        let named = [&from, &to].into_iter().map(|(l, _)| l).find(|l| l.r#ref.is_some());
        let any = named.cloned().unwrap_or_default();
        let tab = call.main_document_of(any.r#ref).await?;
        let from = end(call, &tab, from).await?;
        let to = end(call, &tab, to).await?;
        let document = match (&from, &to) {
            (End::On(document, ..), _) => document.clone(),
            _ => tab,
        };
        let points: Vec<Point> =
            self.points.iter().map(|p| Point { x: p.x, y: p.y }).collect();
        let before = Before::new(&document);
        let dragged = drag::drag(call, &document, &from, &points, &to).await?;
        let done = before.after(call, &self.acting).await?;
        Ok(Dragged {
            target: dragged.target,
            onto: dragged.onto,
            x: dragged.at.x,
            y: dragged.at.y,
            dropped: dragged.dropped,
            done,
        })
    }
}

impl Place {
    fn check(&self, argument: &str) -> Result<(Locator, Option<Point>)> {
        let locator = Locator {
            r#ref: self.r#ref,
            selector: self.selector.clone(),
            nth: self.nth,
            frame: self.frame.clone(),
        };
        locator.check().map_err(|e| e.context(argument))?;
        let point = point_of(self.x, self.y).map_err(|e| e.context(argument))?;
        if locator.is_empty() && point.is_none() {
            return Err(Code::BadRequest
                .because(format!("{argument} names nothing"))
                .fact("argument", argument)
                .hint("give a ref from read or find, a selector, or x and y"));
        }
        Ok((locator, point))
    }
}

async fn end(
    call: &Call,
    tab: &Document,
    (locator, point): (Locator, Option<Point>),
) -> Result<End> {
    if locator.is_empty() {
        let at = point.ok_or_else(|| super::internal("a place without a point"))?;
        return Ok(End::At(at));
    }
    let document = match locator.r#ref.is_some() {
        true => call.document(&locator).await?,
        false => locator.document(&call.browser, call.session()?, &tab.tab)?,
    };
    if document.tab.id != tab.tab.id {
        return Err(Code::BadRequest
            .because("from and to are in different tabs")
            .fact("argument", "to"));
    }
    Ok(End::On(document, locator, point))
}
