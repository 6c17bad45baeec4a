//! One call on its way: whose it is, which tab it is for, how long it has, and whether it has acted.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::browser::{Browser, Running, START, Session, Tab};
use crate::error::{Code, Error, Result};
use crate::page::Document;
use crate::page::locate::Locator;
use crate::progress::{NAVIGATION, Progress};

use crate::wire::{Ref, TabId};

/// Which events a connection wants.
#[derive(Clone, Debug, Default)]
pub struct Subscription {
    /// The kinds, by their words.
    pub events: Vec<String>,
    /// Only of this session.
    pub session: Option<String>,
    /// Only of this tab.
    pub tab: Option<TabId>,
}

/// Which calls to cancel.
#[derive(Clone, Debug)]
pub enum Cancel {
    /// This connection's calls with that raw `id` or `cmd_id`.
    Id(Box<RawValue>),
    /// The session's running call, whoever made it.
    Session(String),
}

/// What a tool may ask of the connection its call came from.
pub trait Client: Send + Sync {
    /// Replaces the connection's subscription; the present state is sent first.
    fn subscribe(&self, subscription: Subscription) -> Result<()>;
    /// Ends the subscription; says whether there was one.
    fn unsubscribe(&self) -> bool;
    /// Cancels calls and says how many.
    fn cancel(&self, which: Cancel) -> usize;
}

/// What a tool may ask of the daemon as a whole.
pub trait Daemon: Send + Sync {
    /// How long the daemon runs.
    fn uptime(&self) -> Duration;
    /// Counters and limits for `info`, as a JSON object.
    fn counters(&self) -> serde_json::Value;
    /// Begins the orderly end; replies already owed are still written.
    fn shut_down(&self);
}

/// What a running tool holds.
pub struct Call {
    /// The browser, started on demand.
    pub browser: Arc<Browser>,
    /// The session's name.
    pub session_name: String,
    /// The session; for [`super::Kind::Daemon`] tools `None` if it does not exist.
    pub session: Option<Arc<Session>>,
    /// The connection.
    pub client: Arc<dyn Client>,
    /// The daemon.
    pub daemon: Arc<dyn Daemon>,
    /// The `tab` argument.
    pub tab: Option<TabId>,
    progress: Progress,
    used: Mutex<Option<Arc<Tab>>>,
}

impl Deref for Call {
    type Target = Progress;
    fn deref(&self) -> &Progress {
        &self.progress
    }
}

impl Call {
    /// A call with an explicit timeout (`Ok`, the one deadline) or the tool's own allowance.
    pub fn new(
        browser: Arc<Browser>,
        session_name: String,
        session: Option<Arc<Session>>,
        client: Arc<dyn Client>,
        daemon: Arc<dyn Daemon>,
        tab: Option<TabId>,
        deadline: Result<Instant, Duration>,
    ) -> Call {
        Call {
            browser,
            session_name,
            session,
            client,
            daemon,
            tab,
            progress: Progress::new(deadline),
            used: Mutex::new(None),
        }
    }

    /// Notes which tab the reply is about.
    pub fn use_tab(&self, tab: &Arc<Tab>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = Some(tab.clone());
    }

    /// The tab that the reply is about.
    pub fn used_tab(&self) -> Option<Arc<Tab>> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.clone()
    }

    /// The session this call runs in.
    pub fn session(&self) -> Result<&Arc<Session>> {
        self.session.as_ref().ok_or_else(|| {
            Code::NoTab
                .because(format!("there is no session {}", self.session_name))
                .fact("tabs", Vec::<String>::new())
                .hint("open a page first")
        })
    }

    /// The running browser, started if it is not. Its start does not count against the call's own
    /// time unless the request set the deadline.
    pub async fn running(&self) -> Result<Arc<Running>> {
        self.start_browser(false).await
    }

    /// As [`Call::running`], also after the browser has been given up (`open` and `tab_new`).
    pub async fn running_again(&self) -> Result<Arc<Running>> {
        self.start_browser(true).await
    }

    async fn start_browser(&self, insist: bool) -> Result<Arc<Running>> {
        let until = self.explicit_deadline();
        self.apart(START, self.browser.running(until, insist)).await
    }

    /// The tab this call is for, alive, without an open dialog, at its last URL if it had to be
    /// reopened. Fails with `no_tab`, `dialog_open`, `tab_crashed` or what kept the browser away.
    pub async fn tab(&self) -> Result<Arc<Tab>> {
        self.usable(self.tab).await
    }

    async fn usable(&self, tab: Option<TabId>) -> Result<Arc<Tab>> {
        let tab = self.revived(tab, true).await?;
        tab.check_usable()?;
        Ok(tab)
    }

    /// A tab that is about to go elsewhere: alive, but wherever it is. A dialog that waits for an answer
    /// is in the way all the same.
    pub async fn tab_to_leave(&self) -> Result<Arc<Tab>> {
        let tab = self.revived(self.tab, false).await?;
        match tab.dialog() {
            Some(dialog) => Err(crate::browser::dialog_open(&dialog)),
            None => Ok(tab),
        }
    }

    /// As [`Call::tab`], but crashed and dialog-bound tabs are fine too.
    pub async fn any_tab(&self) -> Result<Arc<Tab>> {
        self.revived(self.tab, true).await
    }

    async fn revived(&self, tab: Option<TabId>, bring_back: bool) -> Result<Arc<Tab>> {
        let session = self.session()?;
        let tab = session.pick(tab).map_err(|e| self.with_restart(e))?;
        self.use_tab(&tab);
        let running = self.running().await?;
        // Bringing a page back is a navigation of its own, and not what the caller's time is for.
        let began = Instant::now();
        let by = self.explicit_deadline().unwrap_or(began + NAVIGATION);
        let revived = session.revive(&self.browser, &running, &tab, bring_back, by);
        self.apart(NAVIGATION, revived).await?;
        Ok(tab)
    }

    /// Says of a missing tab that it may be one of a daemon before this one.
    fn with_restart(&self, error: Error) -> Error {
        let earlier = self.session.as_ref().is_some_and(|s| s.is_unused());
        match earlier && self.browser.is_successor() {
            true => error
                .fact("restarted", true)
                .hint("the daemon was started again since; open the page anew"),
            false => error,
        }
    }

    /// The document that a target is in, in a tab that can be used.
    pub async fn document(&self, target: &Locator) -> Result<Document> {
        let session = self.session()?;
        let tab = match target.r#ref {
            Some(r) => {
                let place = session.place_of(&self.browser, r, self.tab);
                Some(place.map_err(|e| self.with_restart(e))?.0.id)
            }
            None => self.tab,
        };
        let tab = self.usable(tab).await?;
        target.document(&self.browser, session, &tab)
    }

    /// The tab this call is for, alive, but crashed and stuck ones too: for what brings them back. A
    /// dialog that waits for an answer is in the way all the same.
    pub async fn tab_at_rest(&self) -> Result<Arc<Tab>> {
        let tab = self.any_tab().await?;
        match tab.dialog() {
            Some(dialog) => Err(crate::browser::dialog_open(&dialog)),
            None => Ok(tab),
        }
    }

    /// The main document of the tab that a ref fixes, else of the tab this call is for.
    pub async fn main_document_of(&self, r: Option<Ref>) -> Result<Document> {
        let locator = Locator {
            r#ref: r,
            ..Locator::default()
        };
        let tab = self.document(&locator).await?.tab;
        let main = tab.main_frame();
        Ok(Document::new(&self.browser, self.session()?, &tab, main))
    }

    /// The main document of the tab this call is for.
    pub async fn main_document(&self) -> Result<Document> {
        let tab = self.tab().await?;
        let main = tab.main_frame();
        Ok(Document::new(&self.browser, self.session()?, &tab, main))
    }
}
