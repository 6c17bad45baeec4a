//! `tab_new`: one more tab.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::tabs::Listed;
use super::{Acted, Call, Kind, NAVIGATION, Tool};
use crate::browser::Until;
use crate::error::Result;
use crate::page::address::Address;

/// Open a new tab, empty or at a URL, and make it the active one.
#[derive(Deserialize, JsonSchema)]
pub struct TabNew {
    /// Where to go; an empty page if left out.
    url: Option<String>,
}

impl Tool for TabNew {
    const NAME: &'static str = "tab_new";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["url"];
    const TAKES_TAB: bool = false;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"url":"example.com"}"#];
    type Output = Listed;

    fn allowance(&self) -> Duration {
        NAVIGATION
    }

    async fn run(self, call: &Call) -> Result<Listed> {
        let address = self.url.as_deref().map(Address::parse).transpose()?;
        if let Some(address) = &address {
            call.browser.check_scheme(&address.scheme)?;
        }
        let running = call.running_again().await?;
        let session = call.session()?;
        let tab = session
            .open_tab(&call.browser, &running, call.deadline())
            .await?;
        call.use_tab(&tab);
        call.set_acted(Acted::Yes);
        if let Some(address) = address {
            tab.open(&address.url, Until::Load, call.deadline()).await?;
        }
        Ok(Listed::of(call).await)
    }
}
