//! `tab_close`: a tab goes, whatever state it is in.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tabs::Listed;
use super::{Acted, Call, Kind, Tool};
use crate::error::Result;

/// Close a tab, the active one if none is named. Its page is not asked; a stuck one goes too.
#[derive(Deserialize, JsonSchema)]
pub struct TabClose {
    /// Whether to do it at once, before earlier requests of this connection are done.
    #[serde(default)]
    #[allow(dead_code, reason = "the dispatcher looks at it")]
    now: bool,
}

impl Tool for TabClose {
    const NAME: &'static str = "tab_close";
    const KIND: Kind = Kind::Unblock;
    const BARE: &'static [&'static str] = &["tab"];
    const TAKES_TAB: bool = true;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"tab":"t2","now":true}"#];
    type Output = Listed;

    async fn run(self, call: &Call) -> Result<Listed> {
        let tab = call.session()?.pick(call.tab)?;
        call.use_tab(&tab);
        call.set_acted(Acted::Unknown);
        call.browser.close_tab(&tab, call.deadline()).await;
        call.set_acted(Acted::Yes);
        Ok(Listed::of(call).await)
    }
}
