//! `read`: what is on the page.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Kind, Tool};
use crate::error::Result;
use crate::page::read::{ReadArgs, Snapshot, read};

/// Tell what is on the page, as a screen reader would: roles, names, states, and refs to act on.
///
/// Frames and shadow roots are read through; what a person cannot perceive is left out.
#[derive(Deserialize, JsonSchema)]
pub struct Read {
    #[serde(flatten)]
    how: ReadArgs,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["root"];
    const EXAMPLES: &'static [&'static str] = &[
        "{}",
        r#"{"format":"outline","interactive":true}"#,
        r#"{"root":"main","max":100}"#,
    ];
    type Output = Snapshot;

    fn allowance(&self) -> Duration {
        super::ACTION
    }

    async fn run(self, call: &Call) -> Result<Snapshot> {
        let main = call.main_document_of(self.how.root_ref()).await?;
        read(&main, &self.how, call.deadline()).await
    }
}
