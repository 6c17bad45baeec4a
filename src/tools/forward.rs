//! `forward`: through the tab's history.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::open::{Going, Opened};
use super::{Acted, Call, Kind, NAVIGATION, Tool};
use crate::error::Result;

/// Go forward in the tab's history.
///
/// At the last page it fails with `no_history`.
#[derive(Deserialize, JsonSchema)]
pub struct Forward {
    #[serde(flatten)]
    going: Going,
}

impl Tool for Forward {
    const NAME: &'static str = "forward";
    const KIND: Kind = Kind::Act;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"read":false}"#];
    type Output = Opened;

    fn allowance(&self) -> Duration {
        NAVIGATION
    }

    async fn run(self, call: &Call) -> Result<Opened> {
        let tab = call.tab().await?;
        call.set_acted(Acted::Unknown);
        let by = self.going.deadline(call);
        let arrival = tab.travel(1, self.going.wait.into(), by).await?;
        call.set_acted(Acted::Yes);
        self.going.tell(call, arrival).await
    }
}
