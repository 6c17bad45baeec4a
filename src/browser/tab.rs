//! A tab: what is known of it, and the way to its page.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::listening::Listening;
use super::running::lost;
use super::state::{Change, Dialog, Frame, TabState};
use super::{Browser, Running};
use crate::cdp::{CdpError, Command, Connection, FrameId, Pending, SessionId, TargetId, target};
use crate::cdp::{page as cdp_page, runtime};
use crate::error::{Code, Error, Result, quoted};
use crate::wire::TabId;

/// Notes kept before all are forgotten: what they save is done once more.
const NOTES_KEPT: usize = 4096;
/// Snapshots that a difference can be told against; the page's script keeps as many.
const VIEWS_KEPT: usize = 8;

/// A tab. Outlives its page: after the browser's death it is opened again when first used.
pub struct Tab {
    /// Its name on the wire.
    pub id: TabId,
    /// The session it belongs to.
    pub session: Arc<str>,
    /// Whether it is its session's first: its main frame's refs have no frame number.
    pub is_first: bool,
    live: Mutex<Option<Live>>,
    /// Where it was when its page died with a browser, until it is there again.
    lost: Mutex<Option<Lost>>,
    /// The end of a navigation that was given up, until the browser has confirmed it: it might end the
    /// next one.
    stopping: Mutex<Option<Pending<cdp_page::StopLoading>>>,
    state: watch::Sender<TabState>,
    snapshots: AtomicU32,
    notes: Mutex<HashSet<String>>,
    watched: Mutex<Option<(String, Instant)>>,
    opened_by_page: AtomicBool,
    /// The last snapshots and the frames each was made of.
    views: Mutex<VecDeque<(String, Vec<FrameId>)>>,
    listening: Mutex<Listening>,
}

/// What a page that died with its browser was.
#[derive(Clone)]
struct Lost {
    url: String,
    title: String,
}

#[derive(Clone)]
struct Live {
    generation: u64,
    connection: Connection,
    target: TargetId,
    cdp_session: SessionId,
}

/// Where a script runs: one document of one frame.
#[derive(Clone, Debug)]
pub struct Place {
    /// The frame.
    pub frame: FrameId,
    /// The CDP session that drives it.
    pub cdp_session: SessionId,
    /// The execution context, which is gone when the document is.
    pub context: String,
    /// The same by the number that `DOM.resolveNode` takes; another document may get it again.
    pub number: i64,
}

impl Tab {
    pub(super) fn new(id: TabId, session: Arc<str>, is_first: bool) -> Tab {
        Tab {
            id,
            session,
            is_first,
            live: Mutex::new(None),
            lost: Mutex::new(None),
            stopping: Mutex::new(None),
            state: watch::Sender::new(TabState::default()),
            snapshots: AtomicU32::new(0),
            notes: Mutex::default(),
            opened_by_page: AtomicBool::new(false),
            watched: Mutex::default(),
            views: Mutex::default(),
            listening: Mutex::default(),
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&self) -> MutexGuard<'_, Option<Lost>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // What is known.

    /// Looks at the state. The closure must not wait or send.
    pub fn look<T>(&self, at: impl FnOnce(&TabState) -> T) -> T {
        at(&self.state.borrow())
    }

    /// The main document's URL; of a tab that has to be opened again, the last one.
    pub fn url(&self) -> String {
        match &*self.lost() {
            Some(lost) => lost.url.clone(),
            None => self.look(|s| s.url().to_owned()),
        }
    }

    /// The last title the browser told.
    pub fn title(&self) -> String {
        match &*self.lost() {
            Some(lost) => lost.title.clone(),
            None => self.look(|s| s.title.clone()),
        }
    }

    /// Whether a page opened it, not a caller.
    pub fn was_opened_by_page(&self) -> bool {
        self.opened_by_page.load(Ordering::Relaxed)
    }

    pub(super) fn set_opened_by_page(&self) {
        self.opened_by_page.store(true, Ordering::Relaxed);
    }

    /// Whether its renderer died.
    pub fn is_crashed(&self) -> bool {
        self.look(|s| s.crashed)
    }

    /// A name for the next snapshot of this tab: `s1`, `s2`, …
    pub fn next_snapshot(&self) -> String {
        format!("s{}", self.snapshots.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Notes that the document of that execution context goes on watching for the next action's
    /// effects; `None`, that it may not.
    pub fn set_watched(&self, context: Option<&str>) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        *watched = context.map(|context| (context.to_owned(), Instant::now()));
    }

    /// Whether it has gone on so since less than `within` ago.
    pub fn is_watched(&self, context: &str, within: Duration) -> bool {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched
            .as_ref()
            .is_some_and(|(of, since)| of == context && since.elapsed() < within)
    }

    /// Keeps the name of a snapshot and the frames it was made of.
    pub fn keep_view(&self, snapshot: String, frames: Vec<FrameId>) {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() == VIEWS_KEPT {
            views.pop_front();
        }
        views.push_back((snapshot, frames));
    }

    /// The frames that one of the last snapshots was made of.
    pub fn frames_of_view(&self, snapshot: &str) -> Option<Vec<FrameId>> {
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let found = views.iter().find(|(name, _)| name == snapshot);
        found.map(|(_, frames)| frames.clone())
    }

    /// What the scripts of its documents have been told of listeners. Not to be held over an await.
    pub fn listening(&self) -> MutexGuard<'_, Listening> {
        self.listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether [`Tab::note`] was told this.
    pub fn is_noted(&self, what: &str) -> bool {
        self.notes().contains(what)
    }

    /// Remembers that something about the present documents has been done.
    pub fn note(&self, what: String) {
        let mut notes = self.notes();
        if notes.len() >= NOTES_KEPT {
            notes.clear();
        }
        notes.insert(what);
    }

    fn notes(&self) -> MutexGuard<'_, HashSet<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The main frame's id.
    pub fn main_frame(&self) -> FrameId {
        self.look(|s| s.main.clone())
    }

    /// Whether the frame is in the tab.
    pub fn has_frame(&self, frame: &FrameId) -> bool {
        self.look(|s| s.frames.contains_key(frame))
    }

    /// Whether its page died with a browser.
    pub fn is_lost(&self) -> bool {
        self.live().is_none()
    }

    /// The dialog that waits for an answer; those that tabd answers by itself do not count.
    pub fn dialog(&self) -> Option<Dialog> {
        self.look(|s| s.dialog.clone())
            .filter(|d| !super::dialogs::answers_itself(d))
    }

    /// For `tab` events.
    pub(super) fn summary(&self, state: &str) -> Value {
        json!({"state": state, "url": self.url(), "title": self.title()})
    }

    /// Fails with what keeps the page from being used: `tab_crashed`, `dialog_open`.
    pub fn check_usable(&self) -> Result<()> {
        if self.is_crashed() {
            return Err(Code::TabCrashed
                .because(format!("the process of tab {} died", self.id))
                .fact("acted", "no")
                .hint("reload it or open a page"));
        }
        match self.dialog() {
            Some(dialog) => Err(dialog_open(&dialog)),
            None => Ok(()),
        }
    }

    // Who writes the state: the connection's reader, and the few setters here.

    pub(super) fn apply(&self, cdp_session: &SessionId, event: &crate::cdp::Event) -> Change {
        let mut change = Change::None;
        self.state
            .send_modify(|s| change = s.apply(cdp_session, event));
        change
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut TabState)) {
        self.state.send_modify(change);
    }

    pub(super) fn change_if(&self, change: impl FnOnce(&mut TabState) -> bool) {
        self.state.send_if_modified(change);
    }

    /// The dialogs that closed by themselves since the last reply about this tab.
    pub fn take_closed_dialogs(&self) -> Vec<Dialog> {
        let mut taken = Vec::new();
        self.state.send_if_modified(|s| {
            taken.extend(s.closed_dialogs.drain(..));
            false
        });
        taken
    }

    /// Forgets what was dragged.
    pub fn end_drag(&self) {
        self.change_if(|s| {
            s.drag = None;
            false
        });
    }

    pub(super) fn go_live(&self, running: &Arc<Running>, to: &TargetId, s: &SessionId, url: &str) {
        let main = FrameId::from(to.as_str());
        *self.live() = Some(Live {
            generation: running.generation,
            connection: running.connection.clone(),
            target: to.clone(),
            cdp_session: s.clone(),
        });
        self.state.send_modify(|state| {
            let kept = std::mem::take(&mut state.closed_dialogs);
            *state = TabState::new(main, s.clone(), url.to_owned());
            state.closed_dialogs = kept;
        });
    }

    /// Its page died with the browser. One that was not there again yet stays where it was before.
    pub(super) fn lose(&self) {
        let (url, title) = self.look(|s| (s.url().to_owned(), s.title.clone()));
        self.lost().get_or_insert(Lost { url, title });
        *self.live() = None;
        self.state.send_modify(|s| {
            *s = TabState::new(s.main.clone(), SessionId::default(), s.url().to_owned());
        });
    }

    /// Gives up the navigation that is under way.
    pub(super) fn stop_loading(&self) {
        if let Ok(pending) = self.send(&cdp_page::StopLoading::default()) {
            *self.stopping() = Some(pending);
        }
    }

    /// Waits until what was given up is over, at most until `by`.
    pub(super) async fn until_stopped(&self, by: Instant) {
        let pending = self.stopping().take();
        let Some(pending) = pending else { return };
        let _ = pending.by(by).await;
        let over = |s: &TabState| s.pending.is_none().then_some(());
        let _ = self.until(by, over).await;
    }

    fn stopping(&self) -> MutexGuard<'_, Option<Pending<cdp_page::StopLoading>>> {
        self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it still has to be brought back to.
    pub(super) fn to_return_to(&self) -> Option<String> {
        self.lost().as_ref().map(|lost| lost.url.clone())
    }

    /// It is where it was, or goes elsewhere.
    pub(super) fn has_returned(&self) {
        *self.lost() = None;
    }

    /// Marks it closed; false if it was.
    pub(super) fn close(&self) -> bool {
        *self.live() = None;
        self.state
            .send_if_modified(|s| !std::mem::replace(&mut s.closed, true))
    }

    // Waiting.

    /// Waits until `found` finds something in the state; `None` at the deadline. Fails as soon as
    /// the tab is closed, crashes, or dies with its browser.
    pub async fn until<T>(
        &self,
        deadline: Instant,
        mut found: impl FnMut(&TabState) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut state = self.state.subscribe();
        loop {
            {
                let now = state.borrow_and_update();
                if let Some(found) = found(&now) {
                    return Ok(Some(found));
                }
                if now.closed {
                    return Err(self.error("waiting", CdpError::Detached));
                }
                if now.crashed {
                    return Err(self.error("waiting", CdpError::TargetCrashed));
                }
            }
            if self.is_lost() {
                return Err(self.error("waiting", CdpError::Closed));
            }
            match tokio::time::timeout_at(deadline, state.changed()).await {
                Ok(Ok(())) => {}
                // The sender is in `self`.
                Ok(Err(_)) | Err(_) => return Ok(None),
            }
        }
    }

    pub(super) fn is_live(&self, generation: u64) -> bool {
        matches!(&*self.live(), Some(live) if live.generation == generation)
    }

    pub(super) async fn until_live(&self, generation: u64, by: Instant) -> Result<()> {
        let mut state = self.state.subscribe();
        while !self.is_live(generation) {
            match tokio::time::timeout_at(by, state.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => {
                    return Err(Code::Timeout
                        .because("the new tab did not appear")
                        .fact("acted", "no"));
                }
            }
        }
        Ok(())
    }

    // The way to the page.

    /// Sends a command to the tab's own CDP session; the reply is awaited apart.
    pub fn send<C: Command>(&self, command: &C) -> Result<Pending<C>> {
        let live = self.now_live()?;
        Ok(live.connection.send(Some(&live.cdp_session), command))
    }

    /// As [`Tab::send`], to the CDP session of one of its frames.
    pub fn send_to<C: Command>(&self, cdp_session: &SessionId, command: &C) -> Result<Pending<C>> {
        let live = self.now_live()?;
        Ok(live.connection.send(Some(cdp_session), command))
    }

    /// A command to the tab's own CDP session, and its reply.
    pub async fn cdp<C: Command>(&self, command: &C, deadline: Instant) -> Result<C::Output> {
        let reply = self.send(command)?.by(deadline).await;
        reply.map_err(|e| self.error(C::METHOD, e))
    }

    fn now_live(&self) -> Result<Live> {
        let live = self.live().clone();
        live.ok_or_else(|| {
            let closed = self.look(|s| s.closed);
            let why = if closed {
                CdpError::Detached
            } else {
                CdpError::Closed
            };
            self.error("the tab", why)
        })
    }

    /// A failed command as the client sees it.
    pub fn error(&self, what: &str, error: CdpError) -> Error {
        lost(what, error).fact("tab", self.id.to_string())
    }

    /// Waits for the frame's `tabd` world, or the page's own with `main`, and says where it is.
    pub async fn place(&self, frame: &FrameId, main: bool, deadline: Instant) -> Result<Place> {
        let found = self
            .until(deadline, |s| match s.frames.get(frame) {
                Some(f) => place_in(frame, f, main).map(Some),
                None => Some(None),
            })
            .await?;
        match found {
            Some(Some(place)) => Ok(place),
            Some(None) => Err(Code::StaleRef
                .because("the frame is gone")
                .fact("why", "frame_gone")
                .hint("read again")),
            None => Err(Code::Timeout
                .because(format!(
                    "tab {} has no document that can be read yet ({})",
                    self.id,
                    quoted(&self.url(), 80)
                ))
                .fact("acted", "no")),
        }
    }

    /// As [`Tab::place`], if it is there now.
    pub fn place_now(&self, frame: &FrameId, main: bool) -> Option<Place> {
        self.look(|s| place_in(frame, s.frames.get(frame)?, main))
    }

    /// Waits for `reply`, but not while a dialog that needs an answer holds the page: `dialog_open`.
    pub async fn unless_dialog<T>(
        &self,
        reply: impl Future<Output = Result<T>>,
        deadline: Instant,
    ) -> Result<T> {
        let dialog = self.until(deadline, |s| {
            let open = s.dialog.as_ref()?;
            (!super::dialogs::answers_itself(open)).then(|| open.clone())
        });
        tokio::select! {
            biased;
            reply = reply => reply,
            dialog = dialog => match dialog? {
                Some(dialog) => Err(dialog_open(&dialog)),
                None => Err(self.error("the page", CdpError::Deadline)),
            },
        }
    }

    /// Ends whatever script runs in the page now.
    pub fn stop_scripts(&self, cdp_session: &SessionId) {
        if let Ok(pending) = self.send_to(cdp_session, &runtime::TerminateExecution::default()) {
            pending.forget();
        }
    }

    /// Closes its page, without asking it.
    pub(super) async fn close_page(&self, running: &Running, by: Instant) {
        let target_id = match &*self.live() {
            Some(live) => live.target.clone(),
            None => return,
        };
        let close = target::CloseTarget { target_id };
        let _ = running.call(&close, by).await;
    }

    /// Brings the tab to the front within its window; screenshots and focus follow.
    pub fn bring_to_front(&self) {
        if let Ok(pending) = self.send(&cdp_page::BringToFront::default()) {
            pending.forget();
        }
    }
}

impl Browser {
    /// Closes a tab. Its page is not asked.
    pub async fn close_tab(&self, tab: &Arc<Tab>, by: Instant) {
        if let Some(running) = self.alive() {
            tab.close_page(&running, by).await;
        }
        self.forget_tab(tab);
    }
}

fn place_in(id: &FrameId, frame: &Frame, main: bool) -> Option<Place> {
    let (context, number) = match main {
        true => (&frame.main_world, frame.main_world_id),
        false => (&frame.world, frame.world_id),
    };
    Some(Place {
        frame: id.clone(),
        cdp_session: frame.cdp_session.clone(),
        context: context.clone()?,
        number: number?,
    })
}

/// The error of a tool that needs a page which a dialog holds.
pub fn dialog_open(dialog: &Dialog) -> Error {
    let kind = dialog.kind.as_str();
    Code::DialogOpen
        .because(format!("a {kind} is open: {}", quoted(&dialog.message, 80)))
        .fact("acted", "no")
        .fact("dialog", super::dialogs::told(dialog))
        .hint("answer it with {\"tool\":\"dialog\",\"args\":{\"accept\":true}}")
}
