//! `shutdown`: end the daemon.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::error::Result;

/// End the daemon and its browser.
///
/// Waits for this connection's earlier requests; those of other connections are cancelled. This call is
/// still answered.
#[derive(Deserialize, JsonSchema)]
pub struct ShutDown {
    /// Do not wait for this connection's earlier requests.
    #[serde(rename = "now")]
    _now: Option<bool>,
}

/// It is going.
#[derive(Serialize)]
pub struct Going {
    stopping: bool,
}

impl Tool for ShutDown {
    const NAME: &'static str = "shutdown";
    const KIND: Kind = Kind::Unblock;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"now":true}"#];
    type Output = Going;

    async fn run(self, call: &Call) -> Result<Going> {
        call.daemon.shut_down();
        Ok(Going { stopping: true })
    }
}
