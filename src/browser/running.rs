//! One life of the browser process: its pipe, its child, its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::launch::{self, Launched};
use super::process::Process;
use super::profile::Profile;
use super::{Browser, downloads, events};
use crate::cdp::Transport;
use crate::cdp::{BrowserContextId, CdpError, Command, Connection, browser, target};
use crate::error::{Code, Error, Result};

/// One life of the browser process.
pub struct Running {
    /// Counts the browser's lives, from 1.
    pub generation: u64,
    /// Its protocol connection.
    pub connection: Connection,
    /// Whether it is a headless shell.
    pub headless_shell: bool,
    /// Whether it shows windows.
    pub headed: bool,
    process: Arc<Process>,
    /// Whether its own context has been used by a `default` session that is closed.
    spent: AtomicBool,
    profile: Mutex<Option<Profile>>,
    /// Turns true once nothing of this life is left.
    over: watch::Sender<bool>,
}

/// Starts the browser and makes it the present one.
pub(super) async fn start(browser: &Arc<Browser>, deadline: Instant) -> Result<Arc<Running>> {
    let launched = tokio::select! {
        biased;
        () = browser.ends() => return Err(shutting_down()),
        launched = launch::launch(&browser.options, deadline.into()) => launched?,
    };
    let Launched {
        to_browser,
        from_browser,
        process,
        profile,
        headless_shell,
    } = launched;
    let transport = Transport::pipe(to_browser, from_browser)
        .map_err(|e| Code::NoBrowser.because(format!("the browser's pipe: {e}")))?;
    // Events need the connection that brings them, and come only after the first command.
    let slot: Arc<OnceLock<Weak<Running>>> = Arc::default();
    let connection = {
        let (browser, slot) = (Arc::downgrade(browser), slot.clone());
        Connection::open(transport, move |cdp_session, event| {
            let running = slot.get().and_then(Weak::upgrade);
            if let (Some(browser), Some(running)) = (browser.upgrade(), running) {
                events::take(&browser, &running, cdp_session, event);
            }
        })
    };
    browser.numbers.restart();
    let running = Arc::new(Running {
        generation: browser.inner().generation + 1,
        connection,
        headless_shell,
        headed: browser.options.headed,
        process: Arc::new(process),
        spent: AtomicBool::new(false),
        profile: Mutex::new(Some(profile)),
        over: watch::Sender::new(false),
    });
    let _ = slot.set(Arc::downgrade(&running));
    let greeted = tokio::select! {
        biased;
        () = browser.ends() => {
            running.stop(Duration::ZERO).await;
            return Err(shutting_down());
        }
        greeted = running.greet(deadline) => greeted,
    };
    let version = match greeted {
        Ok(version) => version,
        Err(error) => {
            let why = running
                .process
                .trouble(&browser.options, deadline.into())
                .await;
            running.stop(Duration::ZERO).await;
            return Err(match error {
                CdpError::Closed | CdpError::Deadline => why,
                other => why.context(other),
            });
        }
    };
    let stopped = {
        let mut inner = browser.inner();
        inner.generation = running.generation;
        inner.version = Some(version.clone());
        if !inner.stopped {
            inner.running = Some(running.clone());
            inner.lives.push(running.clone());
        }
        inner.stopped
    };
    if stopped {
        running.stop(super::STOP_GRACE).await;
        return Err(shutting_down());
    }
    let pid = running.pid();
    browser.tell(
        "browser",
        None,
        None,
        || json!({"running": true, "version": version, "pid": pid}),
    );
    tokio::spawn(watch_over(Arc::downgrade(browser), running.clone()));
    Ok(running)
}

/// Waits for this life's end and clears up after it.
async fn watch_over(browser: Weak<Browser>, running: Arc<Running>) {
    // Either may come first; a helper process can hold the pipe open for a while.
    tokio::select! {
        () = running.connection.closed() => {}
        _ = running.process.wait() => running.connection.close(),
    }
    if let Some(browser) = browser.upgrade() {
        browser.mourn(&running);
    }
    running.stop(Duration::from_millis(200)).await;
    if let Some(browser) = browser.upgrade() {
        let mut inner = browser.inner();
        inner.lives.retain(|r| r.generation != running.generation);
    }
}

pub(super) fn shutting_down() -> Error {
    Code::ShuttingDown.because("the daemon is shutting down")
}

impl Browser {
    /// Waits until the daemon ends.
    async fn ends(&self) {
        // The sender is in `self`.
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }

    /// Takes note of a browser's death: its tabs have to be reopened.
    fn mourn(&self, running: &Arc<Running>) {
        let (expected, tabs) = {
            let mut inner = self.inner();
            let present = inner.running.as_ref();
            let current = present.is_some_and(|r| r.generation == running.generation);
            if !current {
                return;
            }
            inner.running = None;
            if !inner.stopped {
                inner.deaths.push_back(Instant::now());
                inner.deaths_seen += 1;
            }
            inner.by_target.clear();
            inner.by_cdp_session.clear();
            let tabs: Vec<_> = inner.tabs.values().cloned().collect();
            (inner.stopped, tabs)
        };
        for tab in tabs {
            tab.lose();
        }
        for session in self.sessions() {
            session.lose_context();
        }
        if !expected {
            self.tell("crash", None, None, || json!({"what": "browser"}));
        }
        self.tell("browser", None, None, || json!({"running": false}));
    }
}

impl Running {
    /// The browser's version, and what has to be said to every new browser.
    async fn greet(&self, deadline: Instant) -> Result<String, CdpError> {
        let attach = target::SetAutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(events::only_pages()),
        };
        let discover = target::SetDiscoverTargets {
            discover: true,
            filter: Some(events::only_pages()),
        };
        let version = self
            .connection
            .send(None, &browser::GetVersion::default())
            .by(deadline);
        let attached = self.connection.send(None, &attach).by(deadline);
        let discovered = self.connection.send(None, &discover).by(deadline);
        let downloads = downloads::behavior(None);
        self.connection.send(None, &permissions(None)).forget();
        let version = version.await?;
        attached.await?;
        discovered.await?;
        self.call(&downloads, deadline).await?;
        Ok(version.product)
    }

    /// A new isolated browser context.
    pub(super) async fn new_context(&self, deadline: Instant) -> Result<BrowserContextId> {
        let create = target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            ..Default::default()
        };
        let reply = self.call(&create, deadline).await;
        let context = reply
            .map_err(|e| lost("making the session", e))?
            .browser_context_id;
        let downloads = downloads::behavior(Some(context.clone()));
        self.connection.send(None, &downloads).forget();
        let denied = permissions(Some(context.clone()));
        self.connection.send(None, &denied).forget();
        Ok(context)
    }

    /// A command to the browser itself.
    pub(super) async fn call<C: Command>(
        &self,
        command: &C,
        deadline: Instant,
    ) -> Result<C::Output, CdpError> {
        self.connection.call(None, command, deadline).await
    }

    /// The browser's own context is not to be used again.
    pub(super) fn spend(&self) {
        self.spent.store(true, Ordering::Relaxed);
    }

    /// Whether it is not.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }

    /// The browser's process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Whether neither the pipe nor the process is known to have ended.
    pub fn is_alive(&self) -> bool {
        !self.connection.is_closed() && self.process.exit_status().is_none()
    }

    /// Ends this life: asks, waits `grace`, kills; returns when no process and no file is left.
    pub async fn stop(&self, grace: Duration) {
        let profile = {
            let mut slot = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
            slot.take()
        };
        let Some(profile) = profile else {
            // Somebody else is at it.
            let mut over = self.over.subscribe();
            let _ = over.wait_for(|over| *over).await;
            return;
        };
        if !grace.is_zero() && self.is_alive() {
            // The reply is the pipe's end.
            self.connection
                .send(None, &browser::Close::default())
                .forget();
        }
        self.process.stop(grace).await;
        self.connection.close();
        profile.remove().await;
        self.over.send_replace(true);
    }
}

/// What pages may do in a browser context without asking; what they would ask for is denied, so that no
/// prompt that nobody sees keeps them waiting.
fn permissions(context: Option<BrowserContextId>) -> browser::GrantPermissions {
    use browser::PermissionType as P;
    browser::GrantPermissions {
        // Those that Chromium grants by itself: naming none of them would deny them.
        permissions: vec![
            P::BackgroundSync,
            P::BackgroundFetch,
            P::ClipboardSanitizedWrite,
            P::PaymentHandler,
            P::Sensors,
            P::SpeakerSelection,
            P::WakeLockScreen,
        ],
        browser_context_id: context,
        ..Default::default()
    }
}

/// What a failed command to the browser means to a caller whose action has not begun.
pub(super) fn lost(what: &str, error: CdpError) -> Error {
    match error {
        CdpError::Closed => Code::BrowserCrashed
            .because(format!("{what}: the browser died"))
            .fact("acted", "no")
            .hint("try again; the browser is started anew"),
        CdpError::TargetCrashed => Code::TabCrashed
            .because(format!("{what}: the page's process died"))
            .fact("acted", "no")
            .hint("open or reload the page"),
        CdpError::Detached | CdpError::NoSession | CdpError::NoTarget => Code::NoTab
            .because(format!("{what}: the tab is gone"))
            .hint("{\"tool\":\"tabs\"} lists the tabs"),
        CdpError::Deadline | CdpError::Terminated => Code::Timeout
            .because(format!("{what}: the page did not answer in time"))
            .fact("acted", "no")
            .hint("the page is busy; reload it, or close the tab"),
        gone if gone.is_gone() => Code::StaleRef
            .because(format!("{what}: the page was left meanwhile"))
            .fact("why", "navigated")
            .hint("read again"),
        other => Code::Internal.because(format!("{what}: {other}")),
    }
}
