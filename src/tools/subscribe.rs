//! `subscribe`: events on this connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Subscription, TabId, Tool};
use crate::error::{Code, Error, Result, quoted};
use crate::wire::{check_session, nearest};

/// The kinds of events there are.
const KINDS: [&str; 9] = [
    "browser",
    "session",
    "tab",
    "navigated",
    "console",
    "network",
    "dialog",
    "download",
    "crash",
];
/// Kinds that this version does not send yet.
const LATER: [&str; 3] = ["reflex", "element", "canvas"];

/// Send events on this connection from now on, the present state first.
///
/// A second call replaces the first. Starts no browser. A client that falls behind gets
/// `{"event":"lagged","data":{"missed":N}}` in place of the events it missed.
#[derive(Deserialize, JsonSchema)]
pub struct Subscribe {
    /// The kinds: browser, session, tab, navigated, console, network, dialog, download, crash.
    #[schemars(length(min = 1))]
    events: Vec<String>,
    /// Only events of this session; of all sessions if left out.
    session: Option<String>,
    /// Only events of this tab; of all tabs if left out.
    tab: Option<TabId>,
}

/// What is subscribed to.
#[derive(Serialize)]
pub struct Subscribed {
    events: Vec<String>,
}

impl Tool for Subscribe {
    const NAME: &'static str = "subscribe";
    const KIND: Kind = Kind::Daemon;
    const BARE: &'static [&'static str] = &["events"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"events":["tab","dialog"]}"#,
        r#"{"events":["console"],"session":"shop"}"#,
    ];
    type Output = Subscribed;

    async fn run(self, call: &Call) -> Result<Subscribed> {
        let mut events: Vec<String> = Vec::new();
        for event in self.events {
            check_kind(&event)?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        if let Some(session) = &self.session {
            check_session(session)?;
        }
        call.client.subscribe(Subscription {
            events: events.clone(),
            session: self.session,
            tab: self.tab,
        })?;
        Ok(Subscribed { events })
    }
}

fn check_kind(event: &str) -> Result<()> {
    if KINDS.contains(&event) {
        return Ok(());
    }
    if LATER.contains(&event) {
        return Err(refused(format!(
            "this version sends no \"{event}\" events yet"
        )));
    }
    let error = refused(format!("there are no {} events", quoted(event, 80)));
    Err(match nearest(event, KINDS) {
        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
        None => error,
    })
}

fn refused(message: String) -> Error {
    Code::BadRequest
        .because(message)
        .fact("argument", "events")
        .hint(format!("there are {}", KINDS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_gets_its_neighbour_and_a_later_one_is_named() {
        assert!(check_kind("crash").is_ok());
        let error = check_kind("dialgo").unwrap_err();
        assert_eq!(error.next_step(), Some("did you mean \"dialog\"?"));
        assert!(
            check_kind("canvas")
                .unwrap_err()
                .message()
                .contains("this version")
        );
    }
}
