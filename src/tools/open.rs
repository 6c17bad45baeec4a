//! `open`: go to a URL.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::{Acted, Call, Kind, NAVIGATION, Tool};
use crate::browser::{Arrival, Until, dialogs, downloads};
use crate::error::{Code, Result};
use crate::page::Document;
use crate::page::address::Address;
use crate::page::read::{Body, ReadArgs, read};

/// What reading may take after the time for the navigation is used up.
const READING: Duration = Duration::from_millis(700);

/// What to wait for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "described where it is used; docs here would split the schema's enum")]
pub enum Wait {
    #[default]
    Load,
    Dom,
    Commit,
    Idle,
}

impl From<Wait> for Until {
    fn from(wait: Wait) -> Until {
        match wait {
            Wait::Load => Until::Load,
            Wait::Dom => Until::Dom,
            Wait::Commit => Until::Commit,
            Wait::Idle => Until::Idle,
        }
    }
}

/// What every tool that goes somewhere takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Going {
    /// What to wait for: the document's start (`commit`), parsed (`dom`), `load`, or `load` and no request for 500 ms (`idle`).
    #[serde(default)]
    pub wait: Wait,
    /// Whether to reply with a snapshot as well; takes all of read's arguments.
    #[serde(default = "yes")]
    pub read: bool,
    /// How to read.
    #[serde(flatten)]
    pub how: ReadArgs,
}

fn yes() -> bool {
    true
}

/// Open a URL in the session's active tab, or in a new one, and tell what is there.
///
/// Without a scheme it is https; http for localhost, loopback addresses and host:port. An HTTP error
/// status is no failure: see `status`.
#[derive(Deserialize, JsonSchema)]
pub struct Open {
    /// Where to go.
    url: String,
    /// Whether to open it in a new tab, which becomes the active one.
    #[serde(default)]
    new_tab: bool,
    #[serde(flatten)]
    going: Going,
}

/// Where the tab is now.
#[derive(Serialize)]
pub struct Opened {
    url: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    loaded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    download: Option<Value>,
    #[serde(flatten)]
    snapshot: Option<Body>,
}

impl Tool for Open {
    const NAME: &'static str = "open";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["url"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"url":"example.com"}"#,
        r#"{"url":"http://localhost:8000/","new_tab":true,"format":"outline"}"#,
        r#"{"url":"example.com","wait":"idle","read":false}"#,
    ];
    type Output = Opened;

    fn allowance(&self) -> Duration {
        NAVIGATION
    }

    async fn run(self, call: &Call) -> Result<Opened> {
        let address = Address::parse(&self.url)?;
        call.browser.check_scheme(&address.scheme)?;
        let session = call.session()?.clone();
        let running = call.running_again().await?;
        let tab = match self.new_tab || (call.tab.is_none() && session.active().is_none()) {
            true => session.open_tab(&call.browser, &running, call.deadline()).await?,
            false => call.tab_to_leave().await?,
        };
        call.use_tab(&tab);
        if let Some(dialog) = tab.dialog() {
            return Err(crate::browser::dialog_open(&dialog));
        }
        call.set_acted(Acted::Unknown);
        let by = self.going.deadline(call);
        let arrival = tab.open(&address.url, self.going.wait.into(), by).await?;
        call.set_acted(Acted::Yes);
        self.going.tell(call, arrival).await
    }
}

impl Going {
    /// When to stop waiting for the page, so that it can still be read.
    pub fn deadline(&self, call: &Call) -> Instant {
        let deadline = call.deadline();
        match self.read && call.remaining() > 3 * READING {
            true => deadline - READING,
            false => deadline,
        }
    }

    /// The reply: where the tab is now, and what is there.
    pub async fn tell(&self, call: &Call, arrival: Arrival) -> Result<Opened> {
        let tab = call.used_tab().ok_or_else(|| super::internal("open without a tab"))?;
        let mut opened = Opened {
            url: tab.url(),
            title: tab.title(),
            status: arrival.status,
            loaded: arrival.loaded,
            dialog: arrival.dialog.as_ref().map(dialogs::told),
            download: arrival.download.as_ref().map(downloads::told),
            snapshot: None,
        };
        if arrival.dialog.is_some() || arrival.download.is_some() {
            return Ok(opened);
        }
        let main = Document::new(&call.browser, call.session()?, &tab, tab.main_frame());
        let snapshot = match self.read {
            true => read(&main, &self.how, call.deadline()).await,
            false => {
                // The title is the page's own word; the browser tells it a moment later.
                if let Ok(title) = main.title(call.deadline()).await {
                    opened.title = title;
                }
                opened.url = tab.url();
                return Ok(opened);
            }
        };
        match snapshot {
            Ok(snapshot) => {
                opened.url = snapshot.url;
                opened.title = snapshot.title;
                opened.snapshot = Some(snapshot.body);
            }
            // A dialog that came up while reading is told instead.
            Err(error) if error.code() == Code::DialogOpen => {
                opened.dialog = tab.dialog().as_ref().map(dialogs::told);
            }
            // A page that never finishes and cannot be read has been opened all the same.
            Err(error) if error.code() == Code::Timeout && !arrival.loaded => {}
            Err(error) => return Err(error),
        }
        Ok(opened)
    }
}
