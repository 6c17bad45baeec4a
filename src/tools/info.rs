//! `info`: what the daemon, its browser and its memory are doing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Kind, Tool};
use crate::error::Result;

/// Describe the daemon: its browser, version, sessions, memory, counters and limits.
///
/// Answered at once, even while a page hangs. Starts no browser.
#[derive(Deserialize, JsonSchema)]
pub struct Info {}

/// What there is to know.
#[derive(Serialize)]
pub struct About {
    version: &'static str,
    pid: u32,
    uptime_ms: u64,
    browser: Value,
    sessions: Value,
    memory: Memory,
    counters: Value,
    limits: Value,
}

/// Memory of the daemon itself, without the browser.
#[derive(Serialize)]
struct Memory {
    rss_bytes: Option<u64>,
}

impl Tool for Info {
    const NAME: &'static str = "info";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = About;

    async fn run(self, call: &Call) -> Result<About> {
        let mut browser = call.browser.describe();
        let sessions = browser
            .as_object_mut()
            .and_then(|browser| browser.remove("sessions"))
            .unwrap_or_else(|| json!([]));
        let mut daemon = call.daemon.counters();
        Ok(About {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            uptime_ms: u64::try_from(call.daemon.uptime().as_millis()).unwrap_or(u64::MAX),
            browser,
            sessions,
            memory: Memory {
                rss_bytes: resident_bytes(),
            },
            counters: daemon["counters"].take(),
            limits: daemon["limits"].take(),
        })
    }
}

/// The process's resident memory; `None` where /proc is not mounted.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
