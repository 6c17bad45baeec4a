//! `sessions`: who has tabs here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::error::Result;

/// List the sessions. Answered at once, even while a page hangs.
#[derive(Deserialize, JsonSchema)]
pub struct Sessions {}

/// The sessions, by name.
#[derive(Serialize)]
pub struct Listed {
    sessions: Vec<One>,
}

#[derive(Serialize)]
struct One {
    session: String,
    tabs: usize,
    idle_ms: u64,
}

impl Tool for Sessions {
    const NAME: &'static str = "sessions";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Listed;

    async fn run(self, call: &Call) -> Result<Listed> {
        let one = |s: &std::sync::Arc<crate::browser::Session>| One {
            session: s.name.to_string(),
            tabs: s.tabs().len(),
            idle_ms: u64::try_from(s.idle().as_millis()).unwrap_or(u64::MAX),
        };
        Ok(Listed {
            sessions: call.browser.sessions().iter().map(one).collect(),
        })
    }
}
