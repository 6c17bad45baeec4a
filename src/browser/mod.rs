//! The browser: started on demand, its sessions and tabs, brought back when it dies.
//!
//! Knows nothing of tools or clients. `state.rs` says what is known of a tab, `events.rs` keeps it so.

pub mod dialogs;
pub mod downloads;
mod events;
pub mod find;
pub mod launch;
mod listening;
mod navigate;
mod numbers;
pub mod process;
pub mod profile;
mod running;
mod session;
pub mod state;
mod tab;
pub mod trouble;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

pub use launch::LaunchOptions;
pub use listening::Listening;
pub use navigate::{Arrival, Until};
pub use numbers::Numbers;
pub use running::Running;
pub use session::Session;
pub use tab::{Place, Tab, dialog_open};

use crate::cdp::{SessionId, TargetId};
use crate::error::{Code, Result};
use crate::wire::TabId;

/// The isolated world that tabd's own scripts run in, in every frame.
pub const WORLD: &str = "tabd";
/// All of `js/`, put into every document before the page's own scripts.
pub(crate) const PAGE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

/// How long the browser may take to start, apart from the call that needs it.
pub const START: Duration = Duration::from_secs(30);
/// So many deaths within [`DEATHS_WITHIN`] and the browser stays down until somebody insists.
const DEATHS: usize = 3;
const DEATHS_WITHIN: Duration = Duration::from_secs(60);
/// How long the browser may take to tell its tabs' titles before the last ones known must do.
const TITLES_WITHIN: Duration = Duration::from_millis(300);
/// How long a closing browser may take before it is killed.
const STOP_GRACE: Duration = Duration::from_millis(1500);

/// The browser's part of the daemon's options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How to start it. An empty `runtime_dir` is filled in by the daemon.
    pub launch: LaunchOptions,
    /// Schemes that may be opened besides http, https, data, blob and about.
    pub allowed_schemes: Vec<String>,
}

/// The daemon's browser. Starts nothing until asked.
pub struct Browser {
    options: LaunchOptions,
    allowed_schemes: Vec<String>,
    numbers: Numbers,
    /// Held by the task that starts a browser, whoever waits for it.
    starting: Arc<tokio::sync::Mutex<()>>,
    /// Turns true when the daemon ends: a browser that is just starting is not waited for.
    ending: watch::Sender<bool>,
    sink: Arc<dyn Sink>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    running: Option<Arc<Running>>,
    /// Every life of which something is left: a browser that died is still being cleared up after.
    lives: Vec<Arc<Running>>,
    version: Option<String>,
    generation: u64,
    deaths: VecDeque<Instant>,
    deaths_seen: u64,
    sessions: HashMap<Arc<str>, Arc<Session>>,
    tabs: HashMap<TabId, Arc<Tab>>,
    by_target: HashMap<TargetId, Arc<Tab>>,
    by_cdp_session: HashMap<SessionId, Arc<Tab>>,
    next_tab: u32,
    stopped: bool,
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

impl Browser {
    /// A browser that will be started with `options` when first needed; `sink` gets its events.
    pub fn new(options: Options, sink: Arc<dyn Sink>) -> Arc<Browser> {
        let numbers = Numbers::new(options.launch.runtime_dir.join("numbers"));
        Arc::new(Browser {
            options: options.launch,
            allowed_schemes: options.allowed_schemes,
            numbers,
            starting: Arc::default(),
            ending: watch::Sender::new(false),
            sink,
            inner: Mutex::default(),
        })
    }

    /// Whether something goes on in it that no caller waits for: the daemon must not leave.
    pub fn is_busy(&self) -> bool {
        false
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters for refs and frames.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Whether `url`'s scheme may be opened; else `blocked`.
    pub fn check_scheme(&self, scheme: &str) -> Result<()> {
        const OPEN: [&str; 5] = ["http", "https", "data", "blob", "about"];
        let allowed = |s: &&str| s.eq_ignore_ascii_case(scheme);
        if OPEN.iter().any(allowed) || self.allowed_schemes.iter().any(|s| allowed(&s.as_str())) {
            return Ok(());
        }
        Err(Code::Blocked
            .because(format!("{scheme}: URLs are not opened"))
            .fact("scheme", scheme)
            .hint(format!(
                "start the daemon with --allow-scheme {scheme} if you want this"
            )))
    }

    /// The running browser, started if it is not. Waits at most until `until`, or for the 30 s that a
    /// start has; a start that nobody waits for any more goes on for the next caller. After three
    /// deaths in a minute only with `insist`.
    pub async fn running(
        self: &Arc<Self>,
        until: Option<Instant>,
        insist: bool,
    ) -> Result<Arc<Running>> {
        if let Some(running) = self.alive() {
            if insist {
                self.inner().deaths.clear();
            }
            return Ok(running);
        }
        let until = until.unwrap_or_else(|| Instant::now() + START);
        let late = || {
            Code::Timeout
                .because("the browser is still starting")
                .fact("acted", "no")
                .hint("the start goes on; ask again, with a longer timeout_ms")
        };
        let one_at_a_time =
            tokio::time::timeout_at(until, self.starting.clone().lock_owned()).await;
        let Ok(starting) = one_at_a_time else {
            return Err(late());
        };
        if let Some(running) = self.alive() {
            return Ok(running);
        }
        self.check_deaths(insist)?;
        // Its own task, which keeps the lock: a caller that gives up must leave neither half a browser
        // behind nor the way free for a second one.
        let browser = self.clone();
        let started = tokio::spawn(async move {
            let _starting = starting;
            running::start(&browser, Instant::now() + START).await
        });
        match tokio::time::timeout_at(until, started).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => Err(Code::Internal.because(format!("starting the browser: {panic}"))),
            Err(_) => Err(late()),
        }
    }

    /// The running browser, if it is known to live.
    pub fn alive(&self) -> Option<Arc<Running>> {
        let running = self.inner().running.clone()?;
        running.is_alive().then_some(running)
    }

    fn check_deaths(&self, insist: bool) -> Result<()> {
        let mut inner = self.inner();
        if inner.stopped {
            return Err(running::shutting_down());
        }
        if insist {
            inner.deaths.clear();
        }
        while inner
            .deaths
            .front()
            .is_some_and(|d| d.elapsed() > DEATHS_WITHIN)
        {
            inner.deaths.pop_front();
        }
        if inner.deaths.len() < DEATHS {
            return Ok(());
        }
        Err(Code::BrowserCrashed
            .because(format!(
                "the browser died {DEATHS} times within a minute and stays down"
            ))
            .fact("acted", "no")
            .hint("open a page to start it once more"))
    }

    /// The session of that name, made if there is none; says if it was.
    pub fn session(&self, name: &str) -> (Arc<Session>, bool) {
        let mut inner = self.inner();
        if let Some(session) = inner.sessions.get(name) {
            session.touch();
            return (session.clone(), false);
        }
        let session = Arc::new(Session::new(name.into()));
        inner.sessions.insert(name.into(), session.clone());
        drop(inner);
        self.tell(
            "session",
            Some(&session.name),
            None,
            || json!({"state": "created"}),
        );
        (session, true)
    }

    /// The session of that name, if it exists.
    pub fn find_session(&self, name: &str) -> Option<Arc<Session>> {
        self.inner().sessions.get(name).cloned()
    }

    /// All sessions, by name.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<_> = self.inner().sessions.values().cloned().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Whether daemons before this one gave out refs: a caller may remember what is gone.
    pub fn is_successor(&self) -> bool {
        self.numbers.had_predecessor()
    }

    /// Asks the browser for the titles of all tabs. It knows them without asking the pages, but does
    /// not tell of each change.
    pub async fn refresh_titles(&self) {
        let Some(running) = self.alive() else {
            return;
        };
        let ask = crate::cdp::target::GetTargets {
            filter: Some(events::only_pages()),
        };
        let by = Instant::now() + TITLES_WITHIN;
        let Ok(reply) = running.connection.call(None, &ask, by).await else {
            return;
        };
        for info in reply.target_infos {
            let tab = self.inner().by_target.get(&info.target_id).cloned();
            if let Some(tab) = tab {
                tab.change_if(|s| {
                    let other = s.title != info.title;
                    s.title = info.title;
                    other
                });
            }
        }
    }

    /// For `info`: what runs, as a JSON object.
    pub fn describe(&self) -> Value {
        let inner = self.inner();
        let alive = inner.running.as_ref().filter(|r| r.is_alive());
        json!({
            "running": alive.is_some(),
            "version": inner.version,
            "pid": alive.map(|r| r.pid()),
            "starts": inner.generation,
            "deaths": inner.deaths_seen,
            "sessions": inner.sessions.len(),
            "tabs": inner.tabs.len(),
        })
    }

    /// The present state as events, for a new subscriber. Starts nothing.
    pub fn present(&self, kinds: &[String]) -> Vec<Event> {
        let wants = |kind: &str| kinds.iter().any(|k| k == kind);
        let mut events = Vec::new();
        let (alive, version, tabs) = {
            let inner = self.inner();
            let alive = inner.running.as_ref().is_some_and(|r| r.is_alive());
            let mut tabs: Vec<_> = inner.tabs.values().cloned().collect();
            tabs.sort_by_key(|t| t.id);
            (alive, inner.version.clone(), tabs)
        };
        if wants("browser") {
            let data = json!({"running": alive, "version": version});
            events.push(event("browser", None, None, &data));
        }
        for session in self.sessions() {
            if wants("session") {
                let data = json!({"state": "open"});
                events.push(event("session", Some(&session.name), None, &data));
            }
        }
        for tab in tabs {
            if wants("tab") {
                let data = tab.summary("open");
                events.push(event("tab", Some(&tab.session), Some(tab.id), &data));
            }
            if let (true, Some(dialog)) = (wants("dialog"), tab.dialog()) {
                let data = dialogs::json(&dialog, "open");
                events.push(event("dialog", Some(&tab.session), Some(tab.id), &data));
            }
        }
        events
    }

    fn tell(
        &self,
        kind: &'static str,
        session: Option<&Arc<str>>,
        tab: Option<TabId>,
        data: impl FnOnce() -> Value,
    ) {
        if self.sink.wants(kind) {
            self.sink.send(event(kind, session, tab, &data()));
        }
    }

    /// Closes the browser and removes what it left, for good. Idempotent.
    pub async fn stop(&self) {
        let lives = {
            let mut inner = self.inner();
            inner.stopped = true;
            inner.running = None;
            std::mem::take(&mut inner.lives)
        };
        self.ending.send_replace(true);
        for running in lives {
            running.stop(STOP_GRACE).await;
        }
        // A browser that is just starting belongs to its starter, which ends it now.
        drop(self.starting.lock().await);
        self.numbers.close();
    }
}

fn event(
    kind: &'static str,
    session: Option<&Arc<str>>,
    tab: Option<TabId>,
    data: &Value,
) -> Event {
    Event {
        kind,
        session: session.cloned(),
        tab,
        data: data.to_string(),
    }
}
