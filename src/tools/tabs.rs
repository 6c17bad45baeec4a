//! `tabs`: the session's tabs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Kind, Tool};
use crate::error::Result;

/// List the session's tabs. Answered at once, even while a page hangs.
#[derive(Deserialize, JsonSchema)]
pub struct Tabs {}

/// The session's tabs, oldest first.
#[derive(Serialize)]
pub struct Listed {
    tabs: Vec<Value>,
}

impl Listed {
    /// The tabs of the call's session, none if it does not exist.
    pub async fn of(call: &Call) -> Listed {
        call.browser.refresh_titles().await;
        let list = call.session.as_ref().map(|s| s.list());
        Listed {
            tabs: list.unwrap_or_default(),
        }
    }
}

impl Tool for Tabs {
    const NAME: &'static str = "tabs";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Listed;

    async fn run(self, call: &Call) -> Result<Listed> {
        Ok(Listed::of(call).await)
    }
}
