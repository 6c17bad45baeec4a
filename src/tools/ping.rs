//! `ping`: is the daemon there?

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::error::Result;

/// Say that the daemon is there, which version it is and how long it runs.
///
/// Answered at once, even while a page hangs. Starts no browser.
#[derive(Deserialize, JsonSchema)]
pub struct Ping {}

/// `pong` and who answered.
#[derive(Serialize)]
pub struct Pong {
    pong: bool,
    version: &'static str,
    pid: u32,
    uptime_ms: u64,
}

impl Tool for Ping {
    const NAME: &'static str = "ping";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Pong;

    fn allowance(&self) -> Duration {
        super::ACTION
    }

    async fn run(self, call: &Call) -> Result<Pong> {
        Ok(Pong {
            pong: true,
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            uptime_ms: u64::try_from(call.daemon.uptime().as_millis()).unwrap_or(u64::MAX),
        })
    }
}
