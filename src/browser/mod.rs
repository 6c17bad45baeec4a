//! The browser: started on demand, its sessions and tabs, brought back when it dies.

use std::sync::Arc;

use tokio::time::Instant;

use crate::error::{Code, Result};
use crate::wire::TabId;

/// The daemon's browser. Starts nothing until asked.
pub struct Browser {}

/// How the browser is to be run.
#[derive(Clone, Debug, Default)]
pub struct Options {}

/// One life of the browser process.
pub struct Running {}

/// A session: an isolated browser context and its tabs.
pub struct Session {}

/// A tab.
pub struct Tab {}

impl Browser {
    /// A browser that is not started yet; its events go to `sink`.
    pub fn new(_options: Options, _sink: Arc<dyn Sink>) -> Browser {
        Browser {}
    }

    /// The present state as events of these kinds (`browser`, `session`, `tab`); starts nothing.
    pub fn present(&self, _kinds: &[String]) -> Vec<Event> {
        Vec::new()
    }

    /// For `info`: `running`, `version`, `sessions` and the like, as a JSON object; starts nothing.
    pub fn describe(&self) -> serde_json::Value {
        serde_json::json!({"running": false, "sessions": []})
    }

    /// Whether something runs by itself that keeps the daemon from its idle exit: a rule in a page.
    pub fn is_busy(&self) -> bool {
        false
    }

    /// The running browser, started if it is not, by `until` or within 30 s. After three deaths in a
    /// minute only with `insist`.
    pub async fn running(&self, _until: Option<Instant>, _insist: bool) -> Result<Arc<Running>> {
        Err(Code::NoBrowser.because("not yet"))
    }

    /// The session of that name, made if there is none; says if it was.
    pub fn session(&self, _name: &str) -> (Arc<Session>, bool) {
        (Arc::new(Session {}), true)
    }

    /// The session of that name, if it exists.
    pub fn find_session(&self, _name: &str) -> Option<Arc<Session>> {
        None
    }

    /// Closes the browser and removes what it left. Idempotent.
    pub async fn stop(&self) {}
}

impl Session {
    /// The tab that `tab` names, or the active one.
    pub fn pick(&self, _tab: Option<TabId>) -> Result<Arc<Tab>> {
        Err(Code::NoTab.because("not yet"))
    }

    /// Makes sure the tab exists in this browser.
    pub async fn revive(&self, _running: &Running, _tab: &Tab, _by: Instant) -> Result<()> {
        Ok(())
    }
}

impl Tab {
    /// Fails with what keeps the tab from being used.
    pub fn check_usable(&self) -> Result<()> {
        Ok(())
    }
}

/// An event for subscribers.
pub struct Event {
    /// Its kind, a word of the contract.
    pub kind: &'static str,
    /// The session it belongs to.
    pub session: Option<Arc<str>>,
    /// The tab it belongs to.
    pub tab: Option<TabId>,
    /// A JSON object's text.
    pub data: String,
}

/// Who gets the events. Called by the browser's reader, in order, before any later reply.
pub trait Sink: Send + Sync {
    /// Whether anybody wants this kind, so that nothing is built for nobody.
    fn wants(&self, kind: &str) -> bool;
    /// Takes one event; must not block.
    fn send(&self, event: Event);
}
