//! `unsubscribe`: no more events on this connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::error::Result;

/// Send no more events on this connection.
#[derive(Deserialize, JsonSchema)]
pub struct Unsubscribe {}

/// Whether there was a subscription.
#[derive(Serialize)]
pub struct Unsubscribed {
    was_subscribed: bool,
}

impl Tool for Unsubscribe {
    const NAME: &'static str = "unsubscribe";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Unsubscribed;

    async fn run(self, call: &Call) -> Result<Unsubscribed> {
        Ok(Unsubscribed {
            was_subscribed: call.client.unsubscribe(),
        })
    }
}
