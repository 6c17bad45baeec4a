//! Downloads: into a directory of ours, followed to their end, then under the name that was suggested.
//!
//! The browser writes each under a name it makes up. What the page suggests is only ever a file's last
//! name, made safe, after a name of ours.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Browser, Running, Tab};
use crate::cdp::browser::{
    DownloadProgressEvent, DownloadProgressEventState, DownloadWillBeginEvent, SetDownloadBehavior,
    SetDownloadBehaviorBehavior,
};
use crate::cdp::{BrowserContextId, FrameId};
use crate::files;

/// Downloads of a session that its tabs know of; the oldest are forgotten beyond.
pub(super) const DOWNLOADS_KEPT: usize = 64;

/// How long closing an empty tab may take.
const CLOSING: Duration = Duration::from_secs(2);

/// How far a download has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Bytes are coming.
    Running,
    /// All of it is in its file.
    Done,
    /// It was given up: there is no file.
    Failed,
}

/// One download.
#[derive(Clone, Debug)]
pub struct Download {
    /// Counts the downloads that its session's tabs were told of, from 1, tab by tab.
    pub number: u64,
    /// The browser's name for it.
    pub guid: String,
    /// Where it comes from.
    pub url: String,
    /// Where it is, once done.
    pub path: PathBuf,
    /// Bytes so far.
    pub bytes: u64,
    /// How far it has come.
    pub stage: Stage,
}

/// A download in an `effect`, a reply or an event.
pub fn told(download: &Download) -> Value {
    let mut told = json!({
        "path": download.path.display().to_string(),
        "bytes": download.bytes,
        "done": download.stage == Stage::Done,
    });
    if download.stage == Stage::Failed {
        told["path"] = Value::Null;
        told["failed"] = true.into();
    }
    told
}

/// What a browser context is told about downloads: into our own directory; none at all without one.
pub(super) fn behavior(context: Option<BrowserContextId>) -> SetDownloadBehavior {
    let dir = files::incoming();
    SetDownloadBehavior {
        behavior: match dir {
            Some(_) => SetDownloadBehaviorBehavior::AllowAndName,
            None => SetDownloadBehaviorBehavior::Deny,
        },
        download_path: dir.map(|dir| dir.display().to_string()),
        browser_context_id: context,
        events_enabled: Some(true),
    }
}

/// A download began. Runs in the reader.
pub(super) fn began(browser: &Arc<Browser>, e: &DownloadWillBeginEvent) {
    let Some(tab) = browser.tab_of_frame(&e.frame_id) else {
        return;
    };
    let download = Download {
        number: 0,
        guid: e.guid.clone(),
        url: e.url.clone(),
        path: files::name_for_download(&e.suggested_filename),
        bytes: 0,
        stage: Stage::Running,
    };
    // All of the session know: the reply to what began it may be another tab's.
    for tab in browser.tabs_of(&tab) {
        tab.change(|s| s.add_download(download.clone()));
    }
    tell(browser, &tab, "began", &download);
    // A tab that was opened only for it, and is empty, goes as a person's would.
    let empty = tab.was_opened_by_page() && tab.look(|s| s.commits == 0);
    if empty {
        let browser = browser.clone();
        tokio::spawn(async move {
            let by = Instant::now() + CLOSING;
            browser.close_tab(&tab, by).await;
        });
    }
}

/// A download went on. Runs in the reader: files are seen to apart.
pub(super) fn went_on(browser: &Arc<Browser>, running: &Arc<Running>, e: &DownloadProgressEvent) {
    let tabs = browser.all_tabs();
    let known = tabs.iter().find_map(|tab| {
        let download = tab.look(|s| s.downloads.iter().find(|d| d.guid == e.guid).cloned())?;
        Some((tab.clone(), download))
    });
    let Some((tab, mut download)) = known else {
        return;
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of bytes; the cast saturates"
    )]
    let bytes = e.received_bytes as u64;
    download.bytes = bytes;
    let update = move |tabs: &[Arc<Tab>], download: &Download| {
        for tab in tabs {
            tab.change_if(|s| s.update_download(download));
        }
    };
    match e.state {
        DownloadProgressEventState::Completed => {
            let browser = browser.clone();
            let _alive = running.clone();
            tokio::task::spawn_blocking(move || {
                download.stage = match files::keep_download(&download.guid, &download.path) {
                    Ok(bytes) => {
                        download.bytes = bytes;
                        Stage::Done
                    }
                    Err(_) => Stage::Failed,
                };
                update(&tabs, &download);
                tell(&browser, &tab, "ended", &download);
            });
        }
        DownloadProgressEventState::Canceled => {
            download.stage = Stage::Failed;
            update(&tabs, &download);
            tell(browser, &tab, "ended", &download);
        }
        _ => update(&tabs, &download),
    }
}

fn tell(browser: &Browser, tab: &Tab, state: &str, download: &Download) {
    browser.tell("download", Some(&tab.session), Some(tab.id), || {
        let mut data = told(download);
        data["state"] = state.into();
        data["url"] = download.url.as_str().into();
        data
    });
}

impl Browser {
    fn all_tabs(&self) -> Vec<Arc<Tab>> {
        self.inner().tabs.values().cloned().collect()
    }

    fn tab_of_frame(&self, frame: &FrameId) -> Option<Arc<Tab>> {
        self.all_tabs().into_iter().find(|tab| tab.has_frame(frame))
    }

    /// The tabs of the same session.
    fn tabs_of(&self, tab: &Tab) -> Vec<Arc<Tab>> {
        let mut tabs = self.all_tabs();
        tabs.retain(|other| other.session == tab.session);
        tabs
    }
}
