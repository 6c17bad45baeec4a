//! An action from its start to its `effect`: what is noted before, and what is awaited and told after.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::read::{ReadArgs, Snapshot, read};
use super::{Again, Document, args, files};
use crate::browser;
use crate::browser::downloads::Stage;
use crate::browser::state::{Chooser, Life, TabState};
use crate::error::{Code, Result};
use crate::progress::{NAVIGATION, Progress};
use crate::wire::TabId;

/// The longest that requests which an action started are waited for.
const REQUESTS: Duration = Duration::from_secs(2);
/// How long after a navigation that came to nothing a download may be told of.
const DOWNLOAD: Duration = Duration::from_millis(150);
/// What naming an element may take once the action is over.
const LAST_LOOK: Duration = Duration::from_millis(500);
/// The longest that windows which an action asked for are waited for.
const WINDOWS: Duration = Duration::from_secs(1);
/// The longest that a changing document is waited for.
const QUIET_MS: u64 = 500;

/// What every acting tool takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Acting {
    /// Whether to wait until the page has settled.
    #[serde(default = "yes")]
    pub settle: bool,
    /// Whether to reply with a snapshot as well; takes all of read's arguments.
    #[serde(default)]
    pub read: bool,
    /// How to read.
    #[serde(flatten)]
    pub how: ReadArgs,
}

impl Acting {
    /// Waits until the page has settled; no snapshot.
    pub fn plain() -> Acting {
        Acting {
            settle: true,
            read: false,
            how: ReadArgs::default(),
        }
    }
}

fn yes() -> bool {
    true
}

/// What the page says about an action (`tabd.settle`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Told {
    /// Something in the document is not as it was.
    pub changed: bool,
    /// Nothing goes on changing.
    pub quiet: bool,
    /// Whether the press reached the element; absent where no press was seen.
    pub hit: Option<bool>,
    /// The press reached it and the click that belongs to it did not, by nobody's doing.
    pub torn: bool,
    /// What it met instead.
    pub by: Option<Value>,
    /// What has the focus now, if that is new.
    pub focus: Option<Value>,
    /// What the element holds.
    pub value: Option<String>,
    /// Whether the element is on.
    pub checked: Option<Value>,
    /// Nothing was watching.
    pub lost: bool,
}

impl Done {
    /// Whether a press got there, but no click came of it, nor anything that the browser tells of: what
    /// was under the pointer was another thing when the button came up.
    pub fn was_torn(&self) -> bool {
        let came = [
            "navigated",
            "opened",
            "closed",
            "dialog",
            "download",
            "chooser",
        ];
        self.told.torn && !came.iter().any(|key| self.effect.contains_key(*key))
    }
}

/// The part of a reply that says what an action did.
#[derive(Debug, Serialize)]
pub struct Done {
    /// Contract, section 5.
    pub effect: Map<String, Value>,
    /// With `read:true`.
    #[serde(flatten)]
    pub snapshot: Option<Snapshot>,
    /// What the page told; for the tool's own fields.
    #[serde(skip)]
    pub told: Told,
}

/// What was so before an action.
pub struct Before {
    document: Document,
    began: Instant,
    tabs: Vec<TabId>,
    commits: u64,
    moves: u64,
    starts: u64,
    asked: u64,
    requests: u64,
    dialogs: u64,
    choosers: usize,
    downloads: u64,
    windows: (u64, u64),
}

#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, taken apart where it comes"
)]
enum Next {
    /// The page is quiet, or has been looked at for long enough.
    Told(Told),
    /// Its document is on the way out or gone.
    Leaving,
    /// A dialog holds it.
    Dialog,
}

impl Before {
    /// Notes how things are. To be called before the first input is sent.
    pub fn new(document: &Document) -> Before {
        let tabs = document.session.tabs().iter().map(|t| t.id).collect();
        document.tab.look(|s| Before {
            document: document.clone(),
            began: Instant::now(),
            tabs,
            commits: s.commits,
            moves: s.moves,
            starts: s.starts,
            asked: s.asked,
            requests: s.requests_seen,
            dialogs: s.dialogs_seen,
            choosers: s.choosers.len(),
            downloads: s.downloads_seen,
            windows: (s.windows_asked, s.windows_come),
        })
    }

    /// The action begins only now: what was before was waiting for its element.
    pub fn begin(&mut self) {
        self.began = Instant::now();
    }

    fn left(&self, s: &TabState) -> bool {
        s.commits > self.commits || (s.starts > self.starts && s.pending.is_some())
    }

    fn dialog_holds(s: &TabState) -> bool {
        use crate::cdp::page::DialogType::{Alert, Beforeunload};
        s.dialog
            .as_ref()
            .is_some_and(|d| !matches!(d.kind, Alert | Beforeunload))
    }

    /// Waits until the page has settled, and tells what happened.
    ///
    /// Never fails for what the page does: a tab that closed or crashed is told in the effect or as
    /// the error that says so, with `acted:"yes"`.
    pub async fn after(self, call: &Progress, acting: &Acting) -> Result<Done> {
        let mut told = Told::default();
        let mut settled = true;
        if acting.settle {
            (told, settled) = self.settle(call).await;
            settled &= self.follow_downloads(call).await;
        } else if let Next::Told(now) = self.ask(call, 0, false).await {
            told = now;
            settled = told.quiet;
        }
        self.finish(call, acting, told, settled).await
    }

    /// As [`Before::after`], once the page has told (with `keep` and `again`) how it is right after the action:
    /// if that did nothing yet, nothing is waited for.
    pub async fn after_told(self, call: &Progress, acting: &Acting, told: Told) -> Result<Done> {
        if told.changed || self.has_effect() {
            return self.after(call, acting).await;
        }
        // The page goes on watching: scripts mostly come one after another.
        if let Some(place) = self.document.tab.place_now(&self.document.frame, false) {
            self.document.tab.set_watched(Some(&place.context));
        }
        self.finish(call, acting, told, true).await
    }

    /// As [`Before::after`], for what changes nothing by itself: the page is asked only if the browser
    /// tells that something came of it.
    pub async fn after_look(self, call: &Progress, acting: &Acting) -> Result<Done> {
        if self.has_effect() {
            return self.after(call, acting).await;
        }
        self.finish(call, acting, Told::default(), true).await
    }

    /// Whether the browser has told of anything since.
    fn has_effect(&self) -> bool {
        let now = self.document.session.tabs();
        let same_tabs = now.iter().map(|t| t.id).eq(self.tabs.iter().copied());
        !same_tabs
            || self.document.tab.look(|s| {
                s.commits != self.commits
                    || s.moves != self.moves
                    || s.starts != self.starts
                    || s.asked != self.asked
                    || s.requests_seen != self.requests
                    || s.dialogs_seen != self.dialogs
                    || s.choosers.len() != self.choosers
                    || s.downloads_seen != self.downloads
                    || s.windows_asked != self.windows.0
                    || s.closed
                    || s.crashed
            })
    }

    async fn finish(
        self,
        call: &Progress,
        acting: &Acting,
        told: Told,
        settled: bool,
    ) -> Result<Done> {
        let tab = &self.document.tab;
        if tab.is_crashed() {
            return Err(Code::TabCrashed
                .because(format!("the process of tab {} died of it", tab.id))
                .fact("acted", call.acted().word())
                .hint("reload the tab or open a page"));
        }
        self.windows_come(call).await;
        if tab.is_lost() && !tab.look(|s| s.closed) {
            return Err(Code::BrowserCrashed
                .because("the browser died after the action")
                .fact("acted", call.acted().word())
                .hint("look before you repeat it"));
        }
        let mut effect = self.effect(&told, settled);
        if let Some(chooser) = tab.look(|s| s.choosers.get(self.choosers).cloned()) {
            effect.insert("chooser".into(), self.chooser(&chooser).await);
        }
        let snapshot = match acting.read && !tab.look(|s| s.closed || Self::dialog_holds(s)) {
            true => {
                let main = Document::new(
                    &self.document.browser,
                    &self.document.session,
                    tab,
                    tab.main_frame(),
                );
                let by = call.deadline().max(Instant::now() + Duration::from_secs(1));
                Some(read(&main, &acting.how, by).await?)
            }
            false => None,
        };
        Ok(Done {
            effect,
            snapshot,
            told,
        })
    }

    /// Waits for the windows that the action asked for: they come from another process than the word
    /// of them.
    async fn windows_come(&self, call: &Progress) {
        let tab = &self.document.tab;
        let come = |s: &TabState| {
            let asked = s.windows_asked.saturating_sub(self.windows.0);
            (s.windows_come >= self.windows.1 + asked).then_some(())
        };
        let until = call.deadline().min(Instant::now() + WINDOWS);
        // A tab that closed meanwhile tells by itself.
        let _ = tab.until(until, come).await;
    }

    async fn settle(&self, call: &Progress) -> (Told, bool) {
        let tab = &self.document.tab;
        let mut told = match self.ask(call, QUIET_MS, true).await {
            Next::Told(told) => told,
            Next::Leaving => return (Told::default(), self.arrive(call).await),
            Next::Dialog => return (Told::default(), false),
        };
        // Requests that the action started: at most two seconds from its start.
        let until = call.deadline().min(self.began + REQUESTS);
        let over = |s: &TabState| {
            let over = self.left(s) || Self::dialog_holds(s) || !s.busy_since(self.requests);
            over.then_some(())
        };
        let busy = tab.look(|s| s.busy_since(self.requests));
        let mut quiet = told.quiet;
        if busy {
            quiet = matches!(tab.until(until, over).await, Ok(Some(())));
        }
        if tab.look(|s| self.left(s)) {
            return (told, self.arrive(call).await);
        }
        // Once more: what came with the answers, and the end of watching.
        match self.ask(call, if busy { QUIET_MS } else { 0 }, false).await {
            Next::Told(last) => {
                quiet &= last.quiet || !busy;
                told = last;
            }
            Next::Leaving => return (told, self.arrive(call).await),
            Next::Dialog => return (told, false),
        }
        (told, quiet)
    }

    /// Asks the page what the action did to it, unless it is leaving or held.
    async fn ask(&self, call: &Progress, budget_ms: u64, keep: bool) -> Next {
        let tab = &self.document.tab;
        let wanted = args(json!({"budget_ms": budget_ms, "keep": keep}));
        // A page that runs for long after an action costs the call its deadline, not its reply.
        let deadline = call.deadline();
        let told = self
            .document
            .ask::<Told>("settle", wanted, Again::No, deadline);
        let gone = |s: &TabState| {
            if self.left(s) {
                return Some(Next::Leaving);
            }
            Self::dialog_holds(s).then_some(Next::Dialog)
        };
        tokio::select! {
            biased;
            gone = tab.until(deadline, gone) => match gone {
                Ok(Some(next)) => next,
                _ => Next::Told(Told { changed: true, ..Told::default() }),
            },
            told = told => match told {
                Ok(told) => Next::Told(told),
                Err(error) if error.code() == Code::DialogOpen => Next::Dialog,
                Err(_) if tab.look(|s| s.commits > self.commits) => Next::Leaving,
                Err(error) if error.code() == Code::StaleRef => Next::Leaving,
                Err(_) => Next::Told(Told::default()),
            },
        }
    }

    /// Waits for the end of what the action began to download. False if that has not come.
    async fn follow_downloads(&self, call: &Progress) -> bool {
        let tab = &self.document.tab;
        // A navigation that came to nothing may be a download, of which the browser tells a moment later.
        let vanished = tab.look(|s| {
            let asked = s.starts > self.starts || s.asked > self.asked;
            asked && s.commits == self.commits && s.pending.is_none() && !Self::dialog_holds(s)
        });
        let begun = |s: &TabState| (s.downloads_seen > self.downloads).then_some(());
        if vanished {
            let by = call.deadline().min(Instant::now() + DOWNLOAD);
            let _ = tab.until(by, begun).await;
        }
        if tab.look(begun).is_none() {
            return true;
        }
        call.extend(NAVIGATION);
        let _ = tab.until_downloaded(self.downloads, call.deadline()).await;
        tab.look(|s| {
            s.downloads_since(self.downloads)
                .all(|d| d.stage != Stage::Running)
        })
    }

    /// Waits for the document that the action led to. True if it has loaded.
    async fn arrive(&self, call: &Progress) -> bool {
        let tab = &self.document.tab;
        let come = |s: &TabState| {
            let over = s.commits > self.commits
                || Self::dialog_holds(s)
                || (s.starts > self.starts && s.pending.is_none());
            over.then_some(())
        };
        // A navigation that has begun has a navigation's time.
        call.extend(NAVIGATION);
        if !matches!(tab.until(call.deadline(), come).await, Ok(Some(()))) {
            return false;
        }
        if tab.look(|s| s.commits == self.commits) {
            return !tab.look(Self::dialog_holds);
        }
        call.extend(NAVIGATION);
        let loaded = |s: &TabState| {
            if Self::dialog_holds(s) {
                return Some(false);
            }
            let loaded = s.main_frame().is_some_and(|f| f.life == Life::Loaded);
            loaded.then_some(true)
        };
        matches!(tab.until(call.deadline(), loaded).await, Ok(Some(true)))
    }

    fn effect(&self, told: &Told, settled: bool) -> Map<String, Value> {
        let tab = &self.document.tab;
        let now = self.document.session.tabs();
        let opened: Vec<_> = now
            .iter()
            .filter(|t| !self.tabs.contains(&t.id))
            .map(|t| t.id.to_string())
            .collect();
        let closed: Vec<_> = self
            .tabs
            .iter()
            .filter(|id| now.iter().all(|t| t.id != **id))
            .map(ToString::to_string)
            .collect();
        let downloads: Vec<Value> = tab.look(|s| {
            let new = s.downloads_since(self.downloads);
            new.map(browser::downloads::told).collect()
        });
        let (navigated, dialog) = tab.look(|s| {
            let navigated = s.commits > self.commits || s.moves > self.moves;
            let open = s.dialog.as_ref().or(s.closed_dialogs.back());
            let dialog = open.filter(|d| d.number > self.dialogs);
            (
                navigated.then(|| s.url().to_owned()),
                dialog.map(browser::dialogs::told),
            )
        });
        let changed = told.changed
            || navigated.is_some()
            || dialog.is_some()
            || !opened.is_empty()
            || !closed.is_empty();
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let list = |tabs: Vec<String>| (!tabs.is_empty()).then_some(tabs);
        args(json!({
            "changed": changed,
            "settled": settled,
            "ms": ms,
            "navigated": navigated,
            "opened": list(opened),
            "closed": list(closed),
            "dialog": dialog,
            "download": downloads.last(),
            "downloads": (downloads.len() > 1).then_some(&downloads),
            "focus": told.focus,
        }))
    }

    /// A chooser with the ref that `upload` takes.
    async fn chooser(&self, chooser: &Chooser) -> Value {
        let of = &self.document;
        let frame = chooser.frame.clone();
        let document = Document::new(&of.browser, &of.session, &of.tab, frame);
        let by = Instant::now() + LAST_LOOK;
        let input = files::opened_for(&document, chooser.node, by).await;
        let input = input.unwrap_or_default();
        let mut told = args(json!({"ref": input["ref"], "multiple": chooser.multiple}));
        told.extend(args(json!({"name": input["name"]})));
        Value::Object(told)
    }
}
