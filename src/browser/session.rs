//! A session: a browser context of its own, and the tabs in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::running::lost;
use super::{Browser, Running, Tab};
use crate::cdp::{BrowserContextId, FrameId, page, storage, target};
use crate::error::{Code, Error, Result};
use crate::wire::{DEFAULT_SESSION, Ref, TabId};

/// Frames whose numbers a session remembers; the oldest go first.
const FRAMES_KEPT: usize = 20_000;

/// A session. The one called `default` is the browser's own context.
pub struct Session {
    /// Its name.
    pub name: Arc<str>,
    inner: Mutex<Inner>,
    /// One page is made at a time, so that its first event finds its tab.
    making: tokio::sync::Mutex<()>,
}

struct Inner {
    /// Its context and the generation of the browser it is in.
    context: Option<(u64, Option<BrowserContextId>)>,
    tabs: Vec<Arc<Tab>>,
    active: Option<TabId>,
    /// The tab whose page is being made.
    expected: Option<Arc<Tab>>,
    frames: HashMap<u32, (TabId, Option<FrameId>)>,
    had_tabs: bool,
    last_used: Instant,
}

impl Session {
    pub(super) fn new(name: Arc<str>) -> Session {
        Session {
            name,
            inner: Mutex::new(Inner {
                context: None,
                tabs: Vec::new(),
                active: None,
                expected: None,
                frames: HashMap::new(),
                had_tabs: false,
                last_used: Instant::now(),
            }),
            making: tokio::sync::Mutex::new(()),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that somebody uses the session.
    pub fn touch(&self) {
        self.inner().last_used = Instant::now();
    }

    /// How long nobody has used it.
    pub fn idle(&self) -> Duration {
        self.inner().last_used.elapsed()
    }

    /// Whether it is the browser's own context.
    pub fn is_default(&self) -> bool {
        &*self.name == DEFAULT_SESSION
    }

    /// Its tabs, oldest first.
    pub fn tabs(&self) -> Vec<Arc<Tab>> {
        self.inner().tabs.clone()
    }

    /// The tab that tools act on unless told otherwise.
    pub fn active(&self) -> Option<TabId> {
        self.inner().active
    }

    /// For `tabs` and `data.tabs`.
    pub fn list(&self) -> Vec<Value> {
        let (tabs, active) = {
            let inner = self.inner();
            (inner.tabs.clone(), inner.active)
        };
        let one = |tab: &Arc<Tab>| {
            json!({
                "tab": tab.id,
                "url": tab.url(),
                "title": tab.title(),
                "active": active == Some(tab.id),
                "crashed": tab.is_crashed(),
            })
        };
        tabs.iter().map(one).collect()
    }

    /// The tab that `tab` names, or the active one; `no_tab` with `data.tabs` if there is none.
    pub fn pick(&self, tab: Option<TabId>) -> Result<Arc<Tab>> {
        let found = {
            let inner = self.inner();
            let wanted = tab.or(inner.active);
            inner.tabs.iter().find(|t| Some(t.id) == wanted).cloned()
        };
        found.ok_or_else(|| match tab {
            Some(tab) => self.no_tab(format!("there is no tab {tab} in session {}", self.name)),
            None if self.tabs().is_empty() => self
                .no_tab(format!("session {} has no tab", self.name))
                .hint("open a page first"),
            None => self
                .no_tab(format!("no tab of session {} is active", self.name))
                .hint("select one with tab_select, or open a page"),
        })
    }

    fn no_tab(&self, message: String) -> Error {
        Code::NoTab.because(message).fact("tabs", self.list())
    }

    /// Makes `tab` the active one.
    pub fn select(&self, tab: TabId) -> Result<()> {
        self.pick(Some(tab))?;
        self.inner().active = Some(tab);
        Ok(())
    }

    /// The tab and frame in which `r` was given out. `stale_ref` if either is gone.
    pub fn place_of(
        &self,
        browser: &Browser,
        r: Ref,
        tab: Option<TabId>,
    ) -> Result<(Arc<Tab>, FrameId)> {
        let stale = |why: &str, what: &str| {
            Code::StaleRef
                .because(format!("{r} is no longer there: {what}"))
                .fact("ref", r.to_string())
                .fact("why", why)
                .hint("read again")
        };
        let (place, frame) = {
            let inner = self.inner();
            match r.frame {
                None => (inner.tabs.iter().find(|t| t.is_first).cloned(), None),
                Some(number) => {
                    let known = inner.frames.get(&number);
                    let (of, frame) = known.ok_or_else(|| {
                        stale(
                            "frame_gone",
                            &format!("there is no frame f{number} in session {}", self.name),
                        )
                    })?;
                    (
                        inner.tabs.iter().find(|t| t.id == *of).cloned(),
                        frame.clone(),
                    )
                }
            }
        };
        let place = place.ok_or_else(|| {
            if r.frame.is_none() && !self.inner().had_tabs {
                return self
                    .no_tab(format!(
                        "session {} has no tab, so there is no {r}",
                        self.name
                    ))
                    .hint("open a page first");
            }
            stale("tab_closed", "its tab was closed")
        })?;
        if tab.is_some_and(|tab| tab != place.id) {
            return Err(Code::BadRequest
                .because(format!("{r} is in tab {}, not in the tab given", place.id))
                .fact("argument", "tab")
                .hint("leave tab out: a ref alone fixes it"));
        }
        let restarted = r
            .frame
            .is_some_and(|f| browser.numbers().is_frame_from_before(f));
        let frame = match frame {
            None => place.main_frame(),
            Some(frame) if place.has_frame(&frame) => frame,
            Some(_) if place.is_lost() || restarted => {
                return Err(stale("restarted", "the browser was restarted"));
            }
            Some(_) => return Err(stale("frame_gone", "its frame is gone")),
        };
        Ok((place, frame))
    }

    /// The number of a frame, given when first asked for; `None` for the main frame of the first tab.
    pub fn frame_number(&self, browser: &Browser, tab: &Tab, frame: &FrameId) -> Option<u32> {
        let main = *frame == tab.main_frame();
        if main && tab.is_first {
            return None;
        }
        let place = (tab.id, (!main).then(|| frame.clone()));
        let mut inner = self.inner();
        let known = inner.frames.iter().find(|(_, p)| **p == place);
        if let Some((number, _)) = known {
            return Some(*number);
        }
        if inner.frames.len() >= FRAMES_KEPT
            && let Some(oldest) = inner.frames.keys().min().copied()
        {
            inner.frames.remove(&oldest);
            browser.numbers().forget(oldest);
        }
        let number = browser.numbers().frame();
        inner.frames.insert(number, place);
        Some(number)
    }

    pub(super) fn is_context(&self, generation: u64, context: Option<&BrowserContextId>) -> bool {
        match &self.inner().context {
            Some((of, Some(own))) => *of == generation && Some(own) == context,
            _ => false,
        }
    }

    pub(super) fn take_expected(&self) -> Option<Arc<Tab>> {
        self.inner().expected.take()
    }

    pub(super) fn add(&self, tab: Arc<Tab>) {
        let mut inner = self.inner();
        inner.had_tabs = true;
        inner.tabs.push(tab);
    }

    /// Whether it never had a tab.
    pub fn is_unused(&self) -> bool {
        !self.inner().had_tabs
    }

    pub(super) fn remove(&self, tab: TabId) {
        let mut inner = self.inner();
        inner.tabs.retain(|t| t.id != tab);
        if inner.active == Some(tab) {
            inner.active = None;
        }
    }

    pub(super) fn lose_context(&self) {
        self.inner().context = None;
    }

    /// Its context in this browser, made if there is none.
    async fn context(&self, running: &Running, by: Instant) -> Result<Option<BrowserContextId>> {
        if let Some((generation, context)) = &self.inner().context
            && *generation == running.generation
        {
            return Ok(context.clone());
        }
        let context = if self.is_default() && !running.is_spent() {
            None
        } else {
            Some(running.new_context(by).await?)
        };
        self.inner().context = Some((running.generation, context.clone()));
        Ok(context)
    }

    /// Opens an empty tab and makes it the active one.
    pub async fn open_tab(
        &self,
        browser: &Browser,
        running: &Running,
        by: Instant,
    ) -> Result<Arc<Tab>> {
        let tab = browser.new_tab(self);
        match self.make_page(running, &tab, by).await {
            Ok(()) => {
                self.inner().active = Some(tab.id);
                Ok(tab)
            }
            Err(error) => {
                browser.forget_tab(&tab);
                Err(error)
            }
        }
    }

    /// Makes sure the tab has a page in this browser: one that died with the last browser gets an
    /// empty one, and with `bring_back` its last URL. Cut short, the next call goes on with it.
    pub async fn revive(
        &self,
        browser: &Arc<Browser>,
        running: &Running,
        tab: &Arc<Tab>,
        bring_back: bool,
        by: Instant,
    ) -> Result<()> {
        if !tab.is_live(running.generation) {
            self.make_page(running, tab, by).await?;
        }
        match tab.to_return_to() {
            Some(url) if bring_back => tab.reopen(browser, &url, by).await,
            _ => Ok(()),
        }
    }

    async fn make_page(&self, running: &Running, tab: &Arc<Tab>, by: Instant) -> Result<()> {
        let making = tokio::time::timeout_at(by, self.making.lock()).await;
        let _making = making.map_err(|_| {
            Code::Timeout
                .because("another tab is still being opened")
                .fact("acted", "no")
        })?;
        if tab.is_live(running.generation) {
            return Ok(());
        }
        let context = self.context(running, by).await?;
        self.inner().expected = Some(tab.clone());
        let create = target::CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: context,
            ..Default::default()
        };
        let made = running.call(&create, by).await;
        let live = match made {
            Ok(_) => tab.until_live(running.generation, by).await,
            Err(error) => Err(lost("opening a tab", error)),
        };
        self.inner().expected = None;
        live?;
        // A navigation that begins before the page has heard what it must tell would go untold.
        tab.cdp(&page::GetFrameTree::default(), by).await.map(drop)
    }

    /// Closes its tabs and disposes of its context; `default`'s storage is cleared unless the
    /// profile is one that stays.
    pub(super) async fn end(&self, browser: &Browser, keep_storage: bool, by: Instant) {
        let running = browser.alive();
        let frames = std::mem::take(&mut self.inner().frames);
        frames.keys().for_each(|f| browser.numbers().forget(*f));
        for tab in self.tabs() {
            if let Some(running) = &running {
                tab.close_page(running, by).await;
            }
            browser.forget_tab(&tab);
        }
        let context = self.inner().context.take();
        let (Some(running), Some((generation, context))) = (running, context) else {
            return;
        };
        if generation != running.generation {
            return;
        }
        match context {
            Some(browser_context_id) => {
                let dispose = target::DisposeBrowserContext { browser_context_id };
                let _ = running.call(&dispose, by).await;
            }
            None if !keep_storage => {
                let cookies = storage::ClearCookies::default();
                let _ = running.call(&cookies, by).await;
                // No command clears what all origins have stored. So nobody comes back to it: the next
                // session of that name gets a context like any other's.
                running.spend();
            }
            None => {}
        }
    }
}

impl Browser {
    /// A tab without a page yet.
    pub(super) fn new_tab(&self, session: &Session) -> Arc<Tab> {
        let tab = {
            let mut inner = self.inner();
            inner.next_tab += 1;
            let id = TabId(inner.next_tab);
            let tab = Arc::new(Tab::new(id, session.name.clone(), session.is_unused()));
            inner.tabs.insert(id, tab.clone());
            tab
        };
        session.add(tab.clone());
        tab
    }

    /// Ends a session. False if there is none of that name.
    pub async fn end_session(&self, name: &str, by: Instant) -> bool {
        let session = self.inner().sessions.remove(name);
        let Some(session) = session else {
            return false;
        };
        session.end(self, self.options.profile.is_some(), by).await;
        self.tell(
            "session",
            Some(&session.name),
            None,
            || json!({"state": "closed"}),
        );
        true
    }
}
