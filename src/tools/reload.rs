//! `reload`: the page once more.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{Going, Opened};
use super::{Acted, Call, Kind, NAVIGATION, Tool};
use crate::error::Result;

/// Load the tab's page once more. Brings back a tab whose process died, or whose page is stuck.
#[derive(Deserialize, JsonSchema)]
pub struct Reload {
    #[serde(flatten)]
    going: Going,
}

impl Tool for Reload {
    const NAME: &'static str = "reload";
    const KIND: Kind = Kind::Act;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Opened;

    fn allowance(&self) -> Duration {
        NAVIGATION
    }

    async fn run(self, call: &Call) -> Result<Opened> {
        let tab = call.tab_at_rest().await?;
        call.set_acted(Acted::Unknown);
        let by = self.going.deadline(call);
        let arrival = tab.reload(self.going.wait.into(), by).await?;
        call.set_acted(Acted::Yes);
        self.going.tell(call, arrival).await
    }
}
