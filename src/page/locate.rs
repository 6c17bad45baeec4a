//! Targets: which element a tool means, and in which document to look for it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Document, args};
use crate::browser::{Browser, Session, Tab};
use crate::error::{Code, Result};
use crate::wire::Ref;

/// One element: by `ref`, or by `selector`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Locator {
    /// The element, by the ref that read or find gave it.
    pub r#ref: Option<Ref>,
    /// The element, by CSS selector through open shadow roots. Several matches are `ambiguous`.
    pub selector: Option<String>,
    /// Which match of the selector: 0 is the first, -1 the last.
    pub nth: Option<i32>,
    /// The frame to look for the selector in, such as f2; the main frame if left out.
    pub frame: Option<String>,
}

impl Locator {
    /// Whether it names anything.
    pub fn is_empty(&self) -> bool {
        self.r#ref.is_none() && self.selector.is_none()
    }

    /// `bad_request` for both a ref and a selector, and for parts that go with neither.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str, argument: &str| {
            Err(Code::BadRequest.because(what).fact("argument", argument))
        };
        match (self.r#ref, &self.selector) {
            (Some(_), Some(_)) => wrong("give ref or selector, not both", "selector"),
            (_, None) if self.nth.is_some() => wrong("nth goes with selector", "nth"),
            (_, None) if self.frame.is_some() => wrong("frame goes with selector", "frame"),
            _ => Ok(()),
        }
    }

    /// `bad_request` unless it names something.
    pub fn require(&self) -> Result<()> {
        self.check()?;
        if self.is_empty() {
            return Err(Code::BadRequest
                .because("a target is needed")
                .fact("argument", "ref")
                .hint("give a ref from read or find, or a selector"));
        }
        Ok(())
    }

    /// The arguments by which page functions know it.
    pub fn args(&self) -> Map<String, Value> {
        args(json!({
            "ref": self.r#ref.map(|r| r.number),
            "selector": self.selector,
            "nth": self.nth,
        }))
    }

    /// The document it is in; the tab's main one where it names nothing.
    pub fn document(
        &self,
        browser: &Arc<Browser>,
        session: &Arc<Session>,
        tab: &Arc<Tab>,
    ) -> Result<Document> {
        let frame = match (self.r#ref, &self.frame) {
            (Some(r), _) => session.place_of(browser, r, Some(tab.id))?.1,
            (None, Some(name)) => {
                let number = name.strip_prefix('f').and_then(|n| n.parse().ok());
                let number: u32 = number.ok_or_else(|| {
                    crate::wire::ill_typed("frame", "a frame such as \"f2\"", &name.as_str().into())
                })?;
                let any = Ref {
                    frame: Some(number),
                    number: 1,
                };
                session.place_of(browser, any, Some(tab.id))?.1
            }
            (None, None) => tab.main_frame(),
        };
        Ok(Document::new(browser, session, tab, frame))
    }
}
