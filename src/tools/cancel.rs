//! `cancel`: end calls that have not been answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Cancel, Kind, Tool, internal};
use crate::error::{Code, Result};
use crate::wire::check_session;

/// End calls that have not been answered: this connection's by their id, or the one that runs in a session.
///
/// Takes hold between gestures, so that no key or button stays down. The cancelled call is answered
/// first, with `cancelled`. Nothing to cancel is not an error.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "Cancel")]
pub struct CancelCalls {
    /// The `id` or `cmd_id` of calls of this connection.
    id: Option<Value>,
    /// The session whose running call is to end, whichever connection made it.
    session: Option<String>,
}

/// How many calls ended.
#[derive(Serialize)]
pub struct Cancelled {
    cancelled: usize,
}

impl Tool for CancelCalls {
    const NAME: &'static str = "cancel";
    const KIND: Kind = Kind::Daemon;
    const BARE: &'static [&'static str] = &["session"];
    const EXAMPLES: &'static [&'static str] = &[r#"{"id":7}"#, r#"{"session":"shop"}"#];
    type Output = Cancelled;

    async fn run(self, call: &Call) -> Result<Cancelled> {
        let which = match (self.id, self.session) {
            (Some(id), None) => Cancel::Id(
                serde_json::value::to_raw_value(&id)
                    .map_err(|e| internal(format!("cancel: the id: {e}")))?,
            ),
            (None, Some(session)) => {
                check_session(&session)?;
                Cancel::Session(session)
            }
            _ => {
                return Err(Code::BadRequest
                    .because("cancel needs id or session, one of them")
                    .hint("id is that of a call of this connection; session ends the call that runs there"));
            }
        };
        Ok(Cancelled {
            cancelled: call.client.cancel(which),
        })
    }
}
