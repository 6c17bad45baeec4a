//! `scroll`: bring something into view, or scroll the page or a part of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Acted, Call, Kind, Ref, Tool};
use crate::error::{Code, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::locate::Locator;
use crate::page::{Again, args};

/// Scroll an element into view, or the page by some pixels, or to its top or bottom.
///
/// The reply says where the page, or the part of it that scrolls, is now, and whether it is at its end.
#[derive(Deserialize, JsonSchema)]
pub struct Scroll {
    #[serde(flatten)]
    target: Locator,
    /// Pixels to the right; negative to the left.
    dx: Option<f64>,
    /// Pixels down; negative up.
    dy: Option<f64>,
    /// To the very top or bottom.
    to: Option<To>,
    /// What is to scroll, in place of the page: the element or the nearest part around it that scrolls.
    within: Option<Within>,
    #[serde(flatten)]
    acting: Acting,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum To {
    Top,
    Bottom,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct Within {
    /// The element, by its ref.
    r#ref: Option<Ref>,
    /// The element, by CSS selector.
    selector: Option<String>,
    /// Which match of the selector.
    nth: Option<i32>,
    /// The frame to look for the selector in, such as f2.
    frame: Option<String>,
}

impl From<&Within> for Locator {
    fn from(within: &Within) -> Locator {
        Locator {
            r#ref: within.r#ref,
            selector: within.selector.clone(),
            nth: within.nth,
            frame: within.frame.clone(),
        }
    }
}

/// Where it is scrolled to now.
#[derive(Serialize)]
pub struct Scrolled {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Value>,
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    done: Done,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Place {
    x: i64,
    y: i64,
    max_x: i64,
    max_y: i64,
    at_end: bool,
}

#[derive(Deserialize)]
struct Told {
    target: Option<Value>,
    #[serde(flatten)]
    place: Place,
}

impl Tool for Scroll {
    const NAME: &'static str = "scroll";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n40"}"#,
        r#"{"dy":600}"#,
        r#"{"to":"bottom","within":{"ref":"n8"},"read":true}"#,
    ];
    type Output = Scrolled;

    async fn run(self, call: &Call) -> Result<Scrolled> {
        self.target.check()?;
        let by = self.dx.is_some() || self.dy.is_some();
        let ways = [!self.target.is_empty(), by, self.to.is_some()];
        if ways.iter().filter(|way| **way).count() != 1 {
            return Err(Code::BadRequest
                .because("scroll takes one of a target, dx and dy, or to")
                .fact("argument", if self.to.is_some() { "to" } else { "dy" })
                .hint(r#"such as {"dy":600} or {"to":"bottom"}"#));
        }
        let within = self.within.as_ref().map(Locator::from);
        if let Some(within) = &within {
            within.require()?;
        }
        let scroller = match (&within, self.target.is_empty()) {
            (Some(within), true) => within,
            _ => &self.target,
        };
        let document = call.document(scroller).await?;
        let mut wanted = self.target.args();
        let within = within.as_ref().map(Locator::args);
        wanted.extend(args(json!({
            "dx": self.dx,
            "dy": self.dy,
            "to": self.to,
            "within": within,
        })));
        let before = Before::new(&document);
        call.set_acted(Acted::Unknown);
        let deadline = call.deadline();
        let told: Told = document.ask("scroll", wanted, Again::No, deadline).await?;
        call.set_acted(Acted::Yes);
        let done = before.after(call, &self.acting).await?;
        let mut place = told.place;
        // What came with the scrolling moves the end on.
        if done.told.changed && !done.effect.contains_key("navigated") {
            let within = match self.target.is_empty() {
                true => within,
                false => Some(self.target.args()),
            };
            let mut look = Map::new();
            look.extend(args(json!({"dx": 0, "within": within})));
            if let Ok(now) = document
                .ask::<Told>("scroll", look, Again::No, deadline)
                .await
            {
                place = now.place;
            }
            let _ = document.script("tabd.release()", Again::No, deadline).await;
        }
        Ok(Scrolled {
            target: told.target,
            place,
            done,
        })
    }
}
