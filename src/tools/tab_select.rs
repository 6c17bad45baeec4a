//! `tab_select`: which tab tools act on.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tabs::Listed;
use super::{Call, Kind, Tool};
use crate::error::Result;
use crate::wire::TabId;

/// Make a tab the active one: what tools act on unless told otherwise.
#[derive(Deserialize, JsonSchema)]
pub struct TabSelect {
    /// The tab, such as t2.
    tab: TabId,
}

impl Tool for TabSelect {
    const NAME: &'static str = "tab_select";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["tab"];
    const TAKES_TAB: bool = false;
    const EXAMPLES: &'static [&'static str] = &[r#"{"tab":"t2"}"#];
    type Output = Listed;

    async fn run(self, call: &Call) -> Result<Listed> {
        let session = call.session()?;
        session.select(self.tab)?;
        call.use_tab(&session.pick(Some(self.tab))?);
        Ok(Listed::of(call).await)
    }
}
