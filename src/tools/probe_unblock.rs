//! As `probe`, but of the kind that passes the lane.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Kind, Tool, probe};
use crate::error::Result;

/// Note that it ran.
#[derive(Deserialize, JsonSchema)]
pub struct ProbeUnblock {
    gate: String,
    #[serde(rename = "now")]
    _now: Option<bool>,
}

impl Tool for ProbeUnblock {
    const NAME: &'static str = "probe_unblock";
    const KIND: Kind = Kind::Unblock;
    const EXAMPLES: &'static [&'static str] = &[r#"{"gate":"x"}"#];
    type Output = serde_json::Value;

    async fn run(self, _call: &Call) -> Result<serde_json::Value> {
        probe::note(format!("+{}", self.gate));
        Ok(serde_json::json!({}))
    }
}
