//! `session_close`: a session and all that is in it goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acted, Call, Kind, Tool};
use crate::error::Result;

/// Close the session: its tabs, cookies and storage go. Its name may be used anew.
///
/// `default` keeps its storage if the daemon runs with a profile that stays.
#[derive(Deserialize, JsonSchema)]
pub struct SessionClose {
    /// Whether to do it at once, before earlier requests of this connection are done.
    #[serde(default)]
    #[allow(dead_code, reason = "the dispatcher looks at it")]
    now: bool,
}

/// Whether there was such a session.
#[derive(Serialize)]
pub struct Closed {
    session: String,
    closed: bool,
}

impl Tool for SessionClose {
    const NAME: &'static str = "session_close";
    const KIND: Kind = Kind::Unblock;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"now":true}"#];
    type Output = Closed;

    async fn run(self, call: &Call) -> Result<Closed> {
        call.set_acted(Acted::Unknown);
        let name = &call.session_name;
        let closed = call.browser.end_session(name, call.deadline()).await;
        call.set_acted(Acted::Yes);
        Ok(Closed {
            session: name.clone(),
            closed,
        })
    }
}
