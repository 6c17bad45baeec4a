//! What is known of a tab, kept up to date from the browser's events. Plain data, no I/O.

use std::collections::{HashMap, VecDeque};

use super::downloads::{DOWNLOADS_KEPT, Download, Stage};
use crate::cdp::dom::BackendNodeId;
use crate::cdp::{Event, FrameId, LoaderId, RequestId, SessionId, input, network, page};

/// HTTP statuses of main documents that are remembered, newest last.
const STATUSES_KEPT: usize = 8;
/// Dialogs that closed by themselves and await the tab's next reply; older ones are dropped.
const DIALOGS_KEPT: usize = 16;

/// How far a document has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// It replaced the document before it.
    #[default]
    Committed,
    /// It was parsed (`DOMContentLoaded`).
    Parsed,
    /// It fired `load`.
    Loaded,
}

/// One frame: main or child, of the tab's own process or another.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame it is in; `None` for the main frame.
    pub parent: Option<FrameId>,
    /// The CDP session that drives it.
    pub cdp_session: SessionId,
    /// The document it holds.
    pub loader: LoaderId,
    /// Its document's URL.
    pub url: String,
    /// How far its document has come.
    pub life: Life,
    /// Whether its document came back from the back/forward cache or is the browser's error page.
    pub error_page: bool,
    /// The page's own world, by unique context id.
    pub main_world: Option<String>,
    /// The isolated world `tabd`, by unique context id.
    pub world: Option<String>,
    /// The page's own world by the number that `DOM.resolveNode` takes.
    pub main_world_id: Option<i64>,
    /// The same of the world `tabd`.
    pub world_id: Option<i64>,
    /// Between `frameStartedLoading` and `frameStoppedLoading`.
    pub loading: bool,
}

impl Frame {
    fn new(parent: Option<FrameId>, cdp_session: SessionId) -> Frame {
        Frame {
            parent,
            cdp_session,
            loader: LoaderId::default(),
            url: String::new(),
            life: Life::Loaded,
            error_page: false,
            main_world: None,
            world: None,
            main_world_id: None,
            world_id: None,
            loading: false,
        }
    }
}

/// An open JavaScript dialog, or one that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: page::DialogType,
    /// What it says.
    pub message: String,
    /// The text a prompt offers.
    pub default_prompt: String,
    /// Counts the tab's dialogs, from 1.
    pub number: u64,
    /// Which CDP session it blocks.
    pub cdp_session: SessionId,
}

/// A file chooser that the page opened, in place of which nothing was shown.
#[derive(Clone, Debug)]
pub struct Chooser {
    /// The frame its input belongs to.
    pub frame: FrameId,
    /// The input.
    pub node: BackendNodeId,
    /// Whether it takes several files.
    pub multiple: bool,
}

/// A request under way.
#[derive(Clone, Debug)]
pub struct Request {
    /// Counts the tab's requests, from 1.
    pub number: u64,
    /// Neither WebSocket nor EventSource nor a ping: one whose end a page waits for.
    pub counts: bool,
}

/// Everything that waiting calls look at. Written only by [`TabState::apply`] and its few setters.
#[derive(Clone, Debug, Default)]
pub struct TabState {
    /// The main frame.
    pub main: FrameId,
    /// All frames, the main one too.
    pub frames: HashMap<FrameId, Frame>,
    /// The last title the browser told.
    pub title: String,
    /// The renderer died and no document has come since.
    pub crashed: bool,
    /// The tab is gone.
    pub closed: bool,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// Dialogs so far.
    pub dialogs_seen: u64,
    /// Dialogs that closed by themselves, not yet reported.
    pub closed_dialogs: VecDeque<Dialog>,
    /// Requests under way.
    pub requests: HashMap<RequestId, Request>,
    /// Requests so far.
    pub requests_seen: u64,
    /// Documents the main frame has had, this one too.
    pub commits: u64,
    /// Same-document navigations of the main frame so far.
    pub moves: u64,
    /// Navigations of the main frame to another document that were begun, so far.
    pub starts: u64,
    /// Navigations to another document that the main frame's scripts or forms have asked for, so far:
    /// told before the script ends, well before they begin.
    pub asked: u64,
    /// Such a navigation is under way: begun, and neither committed nor given up.
    pub pending: Option<LoaderId>,
    /// The session's downloads of late, newest last.
    pub downloads: VecDeque<Download>,
    /// Downloads so far.
    pub downloads_seen: u64,
    /// Windows that its pages have asked for, so far: told well before they come.
    pub windows_asked: u64,
    /// Those that came.
    pub windows_come: u64,
    /// File choosers that the page opened.
    pub choosers: Vec<Chooser>,
    /// What the page has begun to drag, while drags are intercepted.
    pub drag: Option<input::DragData>,
    statuses: VecDeque<(LoaderId, i64)>,
}

/// What an event meant, for those who act on it.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that anybody is told of.
    None,
    /// The main frame has another document, or another URL in the same one.
    Navigated,
    /// A dialog opened.
    DialogOpened,
    /// The dialog closed.
    DialogClosed(Dialog),
    /// The renderer died.
    Crashed,
}

impl TabState {
    /// The state of a tab whose main frame is `main`, driven by `cdp_session`.
    pub fn new(main: FrameId, cdp_session: SessionId, url: String) -> TabState {
        let mut frame = Frame::new(None, cdp_session);
        frame.url = url;
        TabState {
            frames: HashMap::from([(main.clone(), frame)]),
            main,
            ..TabState::default()
        }
    }

    /// The main frame. There always is one.
    pub fn main_frame(&self) -> Option<&Frame> {
        self.frames.get(&self.main)
    }

    /// The main document's URL.
    pub fn url(&self) -> &str {
        self.main_frame().map_or("", |f| &f.url)
    }

    /// The HTTP status that `loader`'s document came with, if it is known.
    pub fn status(&self, loader: &LoaderId) -> Option<i64> {
        let found = self.statuses.iter().rev().find(|(l, _)| l == loader);
        found.map(|(_, status)| *status)
    }

    /// Whether the document that `loader` brings has been asked for over the network.
    pub fn is_asked_for(&self, loader: &LoaderId) -> bool {
        let own = |id: &RequestId| id.as_str() == loader.as_str();
        self.requests.keys().any(own) || self.status(loader).is_some()
    }

    /// Whether a request that began after the first `mark` ones is still under way.
    pub fn busy_since(&self, mark: u64) -> bool {
        self.requests.values().any(|r| r.counts && r.number > mark)
    }

    /// An out-of-process frame is now driven by `cdp_session`.
    pub fn adopt(&mut self, frame: &FrameId, parent: Option<FrameId>, cdp_session: &SessionId) {
        let known = self
            .frames
            .entry(frame.clone())
            .or_insert_with(|| Frame::new(parent, cdp_session.clone()));
        known.cdp_session = cdp_session.clone();
        known.world = None;
        known.main_world = None;
    }

    /// A CDP session ended: its frames are gone, unless the parent takes them back.
    pub fn drop_session(&mut self, cdp_session: &SessionId) {
        let main = self.main.clone();
        self.frames
            .retain(|id, frame| *id == main || frame.cdp_session != *cdp_session);
    }

    /// The process of out-of-process frames died: their documents are gone, and all below them.
    fn lose_frames(&mut self, cdp_session: &SessionId) {
        if self
            .dialog
            .as_ref()
            .is_some_and(|d| d.cdp_session == *cdp_session)
        {
            self.dialog = None;
        }
        let dead = |f: &Frame| f.cdp_session == *cdp_session;
        let lost: Vec<_> = self
            .frames
            .iter()
            .filter(|(_, f)| dead(f))
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            self.remove_frame(&id);
        }
    }

    /// Takes in one event of one of the tab's CDP sessions.
    pub fn apply(&mut self, cdp_session: &SessionId, event: &Event) -> Change {
        match event {
            Event::PageFrameAttached(e) => {
                let parent = Some(e.parent_frame_id.clone());
                self.frames
                    .insert(e.frame_id.clone(), Frame::new(parent, cdp_session.clone()));
            }
            Event::PageFrameDetached(e)
                // A swapped frame lives on in another process; its target is attached next.
                if e.reason != page::FrameDetachedEventReason::Swap => {
                    self.remove_frame(&e.frame_id);
                }
            Event::PageFrameNavigated(e) => return self.navigated(cdp_session, e),
            Event::PageNavigatedWithinDocument(e) => {
                if let Some(frame) = self.frames.get_mut(&e.frame_id) {
                    frame.url.clone_from(&e.url);
                }
                if e.frame_id == self.main {
                    self.moves += 1;
                    return Change::Navigated;
                }
            }
            Event::PageFrameStartedNavigating(e) => {
                let same_document = matches!(
                    e.navigation_type,
                    page::FrameStartedNavigatingEventNavigationType::SameDocument
                        | page::FrameStartedNavigatingEventNavigationType::HistorySameDocument
                );
                if e.frame_id == self.main && !same_document {
                    self.starts += 1;
                    self.pending = Some(e.loader_id.clone());
                }
            }
            Event::PageFrameRequestedNavigation(e)
                if e.frame_id == self.main => {
                    self.asked += 1;
                }
            Event::PageFrameStartedLoading(e) => {
                if let Some(frame) = self.frames.get_mut(&e.frame_id) {
                    frame.loading = true;
                }
            }
            Event::PageFrameStoppedLoading(e) => {
                if let Some(frame) = self.frames.get_mut(&e.frame_id) {
                    frame.loading = false;
                }
                if e.frame_id == self.main {
                    self.pending = None;
                }
            }
            Event::PageLifecycleEvent(e) => self.lived(e),
            Event::RuntimeExecutionContextCreated(e) => self.context_created(e),
            Event::RuntimeExecutionContextDestroyed(e) => {
                let gone = Some(&e.execution_context_unique_id);
                for frame in self.frames.values_mut() {
                    if frame.world.as_ref() == gone {
                        frame.world = None;
                    }
                    if frame.main_world.as_ref() == gone {
                        frame.main_world = None;
                    }
                }
            }
            Event::RuntimeExecutionContextsCleared(_) => {
                for frame in self.frames.values_mut() {
                    if frame.cdp_session == *cdp_session {
                        frame.world = None;
                        frame.main_world = None;
                    }
                }
            }
            Event::PageJavascriptDialogOpening(e) => {
                self.dialogs_seen += 1;
                self.dialog = Some(Dialog {
                    kind: e.r#type,
                    message: e.message.clone(),
                    default_prompt: e.default_prompt.clone().unwrap_or_default(),
                    number: self.dialogs_seen,
                    cdp_session: cdp_session.clone(),
                });
                return Change::DialogOpened;
            }
            Event::PageJavascriptDialogClosed(_) => {
                if let Some(dialog) = self.dialog.take() {
                    return Change::DialogClosed(dialog);
                }
            }
            Event::PageWindowOpen(_) => self.windows_asked += 1,
            Event::PageFileChooserOpened(e) => {
                if let Some(node) = e.backend_node_id {
                    self.choosers.push(Chooser {
                        frame: e.frame_id.clone(),
                        node,
                        multiple: e.mode == page::FileChooserOpenedEventMode::SelectMultiple,
                    });
                }
            }
            Event::InputDragIntercepted(e) => self.drag = Some(e.data.clone()),
            Event::InspectorTargetCrashed(_) => {
                if self.main_frame().is_some_and(|f| f.cdp_session != *cdp_session) {
                    self.lose_frames(cdp_session);
                    return Change::None;
                }
                self.crashed = true;
                self.dialog = None;
                self.pending = None;
                self.requests.clear();
                for frame in self.frames.values_mut() {
                    frame.world = None;
                    frame.main_world = None;
                }
                return Change::Crashed;
            }
            Event::NetworkRequestWillBeSent(e)
                // A redirect comes with the same id.
                if !self.requests.contains_key(&e.request_id) => {
                    self.requests_seen += 1;
                    let counts = !matches!(
                        e.r#type,
                        Some(
                            network::ResourceType::WebSocket
                                | network::ResourceType::EventSource
                                | network::ResourceType::Ping
                        )
                    );
                    let number = self.requests_seen;
                    self.requests
                        .insert(e.request_id.clone(), Request { number, counts });
                }
            Event::NetworkResponseReceived(e)
                if e.r#type == network::ResourceType::Document
                    && e.frame_id.as_ref() == Some(&self.main)
                => {
                    if self.statuses.len() == STATUSES_KEPT {
                        self.statuses.pop_front();
                    }
                    self.statuses
                        .push_back((e.loader_id.clone(), e.response.status));
                }
            Event::NetworkLoadingFinished(e) => {
                self.requests.remove(&e.request_id);
            }
            Event::NetworkLoadingFailed(e) => {
                self.requests.remove(&e.request_id);
            }
            _ => {}
        }
        Change::None
    }

    /// Notes that a download began.
    pub(super) fn add_download(&mut self, mut download: Download) {
        self.downloads_seen += 1;
        download.number = self.downloads_seen;
        if self.downloads.len() == DOWNLOADS_KEPT {
            self.downloads.pop_front();
        }
        self.downloads.push_back(download);
    }

    /// Notes how far it has come. False if nothing is different that anybody waits for.
    pub(super) fn update_download(&mut self, now: &Download) -> bool {
        let known = self.downloads.iter_mut().find(|d| d.guid == now.guid);
        let Some(known) = known.filter(|d| d.stage == Stage::Running) else {
            return false;
        };
        known.bytes = now.bytes;
        known.stage = now.stage;
        now.stage != Stage::Running
    }

    /// The downloads that began after the first `mark` ones.
    pub fn downloads_since(&self, mark: u64) -> impl Iterator<Item = &Download> {
        self.downloads.iter().filter(move |d| d.number > mark)
    }

    /// Notes a dialog that nobody answered, for the tab's next reply.
    pub fn remember_dialog(&mut self, dialog: Dialog) {
        if self.closed_dialogs.len() == DIALOGS_KEPT {
            self.closed_dialogs.pop_front();
        }
        self.closed_dialogs.push_back(dialog);
    }

    fn navigated(&mut self, cdp_session: &SessionId, e: &page::FrameNavigatedEvent) -> Change {
        let is_main = e.frame.parent_id.is_none() && e.frame.id == self.main;
        let frame = self
            .frames
            .entry(e.frame.id.clone())
            .or_insert_with(|| Frame::new(e.frame.parent_id.clone(), cdp_session.clone()));
        let restored = e.r#type == page::NavigationType::BackForwardCacheRestore;
        frame.cdp_session = cdp_session.clone();
        frame.loader = e.frame.loader_id.clone();
        frame.url = format!(
            "{}{}",
            e.frame.url,
            e.frame.url_fragment.as_deref().unwrap_or_default()
        );
        frame.error_page = e.frame.unreachable_url.is_some();
        // From the back/forward cache a document comes back as loaded as it was; no event tells.
        frame.life = if restored {
            Life::Loaded
        } else {
            Life::Committed
        };
        if let Some(url) = &e.frame.unreachable_url {
            frame.url.clone_from(url);
        }
        // Children of the document before are gone; those of a restored one are told of again.
        let mut gone: Vec<FrameId> = Vec::new();
        for (id, child) in &self.frames {
            if child.parent.as_ref() == Some(&e.frame.id) {
                gone.push(id.clone());
            }
        }
        if !restored {
            for id in gone {
                self.remove_frame(&id);
            }
        }
        if !is_main {
            return Change::None;
        }
        self.crashed = false;
        self.commits += 1;
        self.choosers.clear();
        if self.pending.as_ref() == Some(&e.frame.loader_id) || restored {
            self.pending = None;
        }
        // Requests of the document before are cancelled without a word each.
        let keep = e.frame.loader_id.as_str();
        self.requests.retain(|id, _| id.as_str() == keep);
        Change::Navigated
    }

    fn lived(&mut self, e: &page::LifecycleEventEvent) {
        let Some(frame) = self.frames.get_mut(&e.frame_id) else {
            return;
        };
        if frame.loader.as_str().is_empty() {
            frame.loader = e.loader_id.clone();
        }
        if frame.loader != e.loader_id {
            return;
        }
        match e.name.as_str() {
            "DOMContentLoaded" => frame.life = frame.life.max(Life::Parsed),
            "load" => frame.life = Life::Loaded,
            _ => {}
        }
    }

    fn context_created(&mut self, e: &crate::cdp::runtime::ExecutionContextCreatedEvent) {
        let Some(aux) = &e.context.aux_data else {
            return;
        };
        let Ok(aux) = serde_json::from_str::<Aux<'_>>(aux.text()) else {
            return;
        };
        let Some(frame) = self.frames.get_mut(aux.frame_id) else {
            return;
        };
        let id = Some(e.context.unique_id.clone());
        if aux.is_default {
            frame.main_world = id;
            frame.main_world_id = Some(e.context.id);
        } else if e.context.name == super::WORLD {
            frame.world = id;
            frame.world_id = Some(e.context.id);
        }
    }

    fn remove_frame(&mut self, id: &FrameId) {
        if *id == self.main {
            return;
        }
        let mut gone = vec![id.clone()];
        while let Some(id) = gone.pop() {
            self.frames.remove(&id);
            for (child, frame) in &self.frames {
                if frame.parent.as_ref() == Some(&id) {
                    gone.push(child.clone());
                }
            }
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Aux<'a> {
    #[serde(default)]
    is_default: bool,
    frame_id: &'a str,
}
