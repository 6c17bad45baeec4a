//! Going places: navigation, reload, history, and when a document has arrived.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::dialogs::answers_itself;
use super::downloads::{Download, Stage};
use super::state::{Dialog, Life, TabState};
use super::{Browser, Tab};
use crate::cdp::{CdpError, page, runtime};
use crate::error::{Code, Error, Result, quoted};

/// How long no request may have been under way for a page to be idle.
const IDLE: Duration = Duration::from_millis(500);
/// How long a navigation may show nothing before the old page is asked for a sign of life, and how long
/// it has to give it.
const SUSPECT: Duration = Duration::from_secs(1);
/// How often the old page's script is ended: one that catches every end, or alerts for ever.
const STOPS: usize = 8;

/// What to wait for after a navigation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// The new document has begun.
    Commit,
    /// It was parsed.
    Dom,
    /// It fired `load`.
    #[default]
    Load,
    /// It fired `load`, and no request was under way for 500 ms.
    Idle,
}

/// How a navigation ended.
#[derive(Clone, Debug, Default)]
pub struct Arrival {
    /// The HTTP status of the document, where it came by HTTP.
    pub status: Option<i64>,
    /// Whether what was waited for has come.
    pub loaded: bool,
    /// The dialog that interrupted it.
    pub dialog: Option<Dialog>,
    /// It was no page, but this.
    pub download: Option<Download>,
}

/// What a navigation is measured against.
#[derive(Clone, Copy)]
struct Mark {
    commits: u64,
    moves: u64,
    downloads: u64,
}

/// A navigation under way. Dropped before anything has come of it, it stops it; the page is as it was.
struct Unattended<'a> {
    tab: &'a Tab,
    commits: u64,
    crashed: bool,
    dropped: bool,
}

impl Drop for Unattended<'_> {
    fn drop(&mut self) {
        if self.tab.look(|s| s.commits != self.commits) {
            return;
        }
        if self.dropped {
            self.tab.stop_loading();
        }
        if self.crashed {
            self.tab.change(|s| s.crashed = true);
        }
    }
}

enum Found {
    Arrived,
    Dialog(Dialog),
}

impl Tab {
    /// Opens `url`, which has a scheme.
    ///
    /// Fails with `bad_request` for what does not parse, `nav_failed` with `data.net_error` for what
    /// the network refuses, `timeout` if nothing has come by `deadline` (the navigation is stopped, as
    /// it is when this future is dropped).
    pub async fn open(&self, url: &str, until: Until, deadline: Instant) -> Result<Arrival> {
        self.leaving(self.go_to(url, until, deadline)).await
    }

    async fn go_to(&self, url: &str, until: Until, deadline: Instant) -> Result<Arrival> {
        let mark = self.mark();
        let navigate = page::Navigate {
            url: url.to_owned(),
            ..Default::default()
        };
        let reply = self.send(&navigate)?.by(deadline);
        let reply = match self.unless_asked(reply, deadline).await {
            Ok(reply) => reply,
            Err(CdpError::InvalidUrl) => {
                return Err(Code::BadRequest
                    .because(format!("{} is not a URL", quoted(url, 80)))
                    .fact("argument", "url")
                    .hint("give an absolute URL such as https://example.com/"));
            }
            Err(CdpError::Deadline) => return self.give_up(url, mark, until, deadline).await,
            Err(error) => return Err(self.error("opening the page", error)),
        };
        if let Some(error) = reply.error_text.as_deref().filter(|e| !e.is_empty()) {
            let loader = reply.loader_id.clone().unwrap_or_default();
            let aborted = error == "net::ERR_ABORTED";
            if reply.is_download == Some(true) {
                return self.downloaded(mark, deadline).await;
            }
            if aborted && let Some(status) = self.look(|s| s.status(&loader)) {
                // 204 and 205 leave the page where it is.
                return Ok(Arrival {
                    status: Some(status),
                    ..Arrival::default()
                });
            }
            if !aborted || !self.look(|s| s.commits > mark.commits || s.pending.is_some()) {
                return Err(refused(url, error));
            }
        } else if reply.loader_id.is_none() {
            return Ok(Arrival {
                loaded: true,
                ..Arrival::default()
            });
        }
        self.arrive(mark, until, deadline).await
    }

    /// Loads the page once more; a crashed one too.
    pub async fn reload(&self, until: Until, deadline: Instant) -> Result<Arrival> {
        if self.is_crashed() {
            return self.open(&self.url(), until, deadline).await;
        }
        self.leaving(self.load_again(until, deadline)).await
    }

    async fn load_again(&self, until: Until, deadline: Instant) -> Result<Arrival> {
        let mark = self.mark();
        let reply = self.send(&page::Reload::default())?.by(deadline);
        match self.unless_asked(reply, deadline).await {
            Ok(()) => self.arrive(mark, until, deadline).await,
            Err(CdpError::Deadline) => self.give_up(&self.url(), mark, until, deadline).await,
            Err(error) => Err(self.error("reloading the page", error)),
        }
    }

    /// Goes `steps` through the history; `no_history` beyond its ends.
    pub async fn travel(&self, steps: i64, until: Until, deadline: Instant) -> Result<Arrival> {
        self.leaving(self.go_steps(steps, until, deadline)).await
    }

    async fn go_steps(&self, steps: i64, until: Until, deadline: Instant) -> Result<Arrival> {
        let history = self
            .cdp(&page::GetNavigationHistory::default(), deadline)
            .await?;
        let wanted = usize::try_from(history.current_index + steps).ok();
        let Some(entry) = wanted.and_then(|at| history.entries.get(at)) else {
            let end = if steps < 0 { "first" } else { "last" };
            return Err(Code::NoHistory.because(format!(
                "this is the {end} page of tab {}'s history",
                self.id
            )));
        };
        let mark = self.mark();
        let go = page::NavigateToHistoryEntry { entry_id: entry.id };
        let reply = self.send(&go)?.by(deadline);
        match self.unless_asked(reply, deadline).await {
            Ok(()) => self.arrive(mark, until, deadline).await,
            Err(CdpError::Deadline) => self.give_up(&entry.url, mark, until, deadline).await,
            Err(error) => Err(self.error("going through the history", error)),
        }
    }

    /// Brings a tab that died with its browser back to where it was, as far as that can be. Fails only
    /// if the time did not suffice, or the browser died once more; what comes of the page otherwise is
    /// for the next tool to find out.
    pub(super) async fn reopen(
        &self,
        browser: &Arc<Browser>,
        url: &str,
        deadline: Instant,
    ) -> Result<()> {
        let (scheme, _) = url.split_once(':').unwrap_or_default();
        if url.is_empty() || url == "about:blank" || browser.check_scheme(scheme).is_err() {
            self.has_returned();
            return Ok(());
        }
        match self.open(url, Until::Load, deadline).await {
            Err(error) if matches!(error.code(), Code::Timeout | Code::BrowserCrashed) => {
                Err(error.fact("acted", "no").context(format!(
                    "tab {} was not back at its page after the browser's death",
                    self.id
                )))
            }
            _ => {
                self.has_returned();
                Ok(())
            }
        }
    }

    /// A navigation, which is stopped if nobody waits for it any more.
    async fn leaving(&self, go: impl Future<Output = Result<Arrival>>) -> Result<Arrival> {
        let commits = self.look(|s| s.commits);
        let mut guard = Unattended {
            tab: self,
            commits,
            crashed: self.is_crashed(),
            dropped: true,
        };
        // It is about to have a process again; another crash from now on is that one's.
        self.change(|s| s.crashed = false);
        self.until_stopped(Instant::now() + SUSPECT).await;
        let mark = self.mark();
        // The empty page that a tab begins with runs nothing.
        if !guard.crashed && commits > 0 {
            self.wake().await;
        }
        let result = tokio::select! {
            biased;
            result = go => result,
            never = self.rouse(mark) => match never {},
        };
        guard.dropped = false;
        drop(guard);
        if self.look(|s| s.commits > commits) {
            self.has_returned();
        }
        result
    }

    /// Follows the download that a navigation turned out to be, to its end or the deadline.
    async fn downloaded(&self, mark: Mark, deadline: Instant) -> Result<Arrival> {
        let began = |s: &TabState| s.downloads_since(mark.downloads).next().map(drop);
        self.until(deadline, began).await?;
        self.until_downloaded(mark.downloads, deadline).await?;
        let download = self.look(|s| s.downloads_since(mark.downloads).last().cloned());
        match download {
            Some(download) if download.stage == Stage::Failed => Err(Code::NavFailed
                .because(format!(
                    "the download of {} failed",
                    quoted(&download.url, 80)
                ))
                .fact("net_error", "net::ERR_ABORTED")),
            Some(_) => Ok(Arrival {
                download,
                ..Arrival::default()
            }),
            None => Err(Code::Timeout
                .because("a download that did not begin")
                .fact("acted", "unknown")),
        }
    }

    /// Waits until no download that began after the first `mark` ones is under way, at most until the
    /// deadline.
    pub async fn until_downloaded(&self, mark: u64, deadline: Instant) -> Result<()> {
        let over = |s: &TabState| {
            let over = s.downloads_since(mark).all(|d| d.stage != Stage::Running);
            over.then_some(())
        };
        self.until(deadline, over).await.map(drop)
    }

    fn mark(&self) -> Mark {
        self.look(|s| Mark {
            commits: s.commits,
            moves: s.moves,
            downloads: s.downloads_seen,
        })
    }

    /// Waits until the document that replaced the marked one, or the one that replaced that, is there.
    async fn arrive(&self, mark: Mark, until: Until, deadline: Instant) -> Result<Arrival> {
        let found = self.until(deadline, |s| arrived(s, mark, until)).await?;
        let arrival = |loaded, dialog| {
            let status = self.look(|s| s.main_frame().and_then(|f| s.status(&f.loader)));
            Arrival {
                status,
                loaded,
                dialog,
                download: None,
            }
        };
        match found {
            Some(Found::Arrived) if until == Until::Idle => {
                let idle = self.until_idle(deadline).await?;
                Ok(arrival(idle, None))
            }
            Some(Found::Arrived) => Ok(arrival(true, None)),
            Some(Found::Dialog(dialog)) => Ok(arrival(false, Some(dialog))),
            None if self.look(|s| s.commits > mark.commits) => Ok(arrival(false, None)),
            None => {
                self.stop_loading();
                Err(Code::Timeout
                    .because(format!("nothing came of the navigation of tab {}", self.id))
                    .fact("acted", "unknown")
                    .hint("the navigation was stopped; try a longer timeout_ms"))
            }
        }
    }

    /// The browser has not answered by the deadline. A page may have come all the same.
    async fn give_up(
        &self,
        url: &str,
        mark: Mark,
        until: Until,
        deadline: Instant,
    ) -> Result<Arrival> {
        if self.look(|s| s.commits > mark.commits || s.dialog.is_some()) {
            return self.arrive(mark, until, deadline).await;
        }
        self.stop_loading();
        Err(Code::Timeout
            .because(format!("{} did not answer in time", quoted(url, 80)))
            .fact("acted", "unknown")
            .hint("the navigation was stopped; try a longer timeout_ms"))
    }

    /// Ends the script that the page is stuck in, if it is: where the next document lives in the same
    /// process it would never come, and once the navigation has begun nothing reaches the script.
    async fn wake(&self) {
        let Ok(sign) = self.send(&one()) else { return };
        let mut sign = std::pin::pin!(sign);
        let mut patience = SUSPECT;
        for _ in 0..STOPS {
            if timeout(patience, sign.as_mut()).await.is_ok() {
                return;
            }
            self.end_script();
            patience = SUSPECT / 4;
        }
    }

    /// Waits for `reply`, but not past a dialog that waits for an answer: whoever asks sees it in the
    /// state.
    async fn unless_asked<T>(
        &self,
        reply: impl Future<Output = Result<T, CdpError>>,
        deadline: Instant,
    ) -> Result<T, CdpError> {
        let dialog = async {
            let open = |s: &TabState| is_asked(s).then_some(());
            match self.until(deadline, open).await {
                Ok(Some(())) => CdpError::Deadline,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            reply = reply => reply,
            error = dialog => Err(error),
        }
    }

    /// Until the next document is asked for: whenever the old page is stuck in a script, of
    /// `beforeunload` for one, ends the script. Later it might be the new page's. Never returns.
    async fn rouse(&self, mark: Mark) -> std::convert::Infallible {
        let waits = |s: &TabState| {
            let asked = s.pending.as_ref().is_some_and(|l| s.is_asked_for(l));
            s.commits == mark.commits && !asked && !s.closed && !s.crashed
        };
        while self.look(waits) {
            sleep_until(Instant::now() + SUSPECT).await;
            if !self.look(waits) {
                break;
            }
            let Ok(sign) = self.send(&one()) else { break };
            let silent = timeout_at(Instant::now() + SUSPECT, sign).await.is_err();
            // A page that a dialog holds is silent, too.
            if silent && self.look(|s| waits(s) && !is_asked(s)) {
                self.end_script();
            }
        }
        std::future::pending().await
    }

    fn end_script(&self) {
        if let Ok(ended) = self.send(&runtime::TerminateExecution::default()) {
            ended.forget();
        }
    }

    /// Waits until no request has been under way for 500 ms. False at the deadline.
    pub async fn until_idle(&self, deadline: Instant) -> Result<bool> {
        loop {
            let quiet = |s: &TabState| (!s.busy_since(0)).then_some(s.requests_seen);
            let Some(seen) = self.until(deadline, quiet).await? else {
                return Ok(false);
            };
            let calm = (Instant::now() + IDLE).min(deadline);
            let more = |s: &TabState| (s.requests_seen != seen || s.busy_since(0)).then_some(());
            if self.until(calm, more).await?.is_none() {
                return Ok(calm < deadline || Instant::now() < deadline);
            }
        }
    }
}

/// What any page answers that runs no script just then.
fn one() -> runtime::Evaluate {
    runtime::Evaluate {
        expression: "1".to_owned(),
        ..Default::default()
    }
}

fn arrived(s: &TabState, mark: Mark, until: Until) -> Option<Found> {
    if let Some(dialog) = s.dialog.as_ref().filter(|d| !answers_itself(d)) {
        return Some(Found::Dialog(dialog.clone()));
    }
    let frame = s.main_frame()?;
    let far = match until {
        Until::Commit => Life::Committed,
        Until::Dom => Life::Parsed,
        Until::Load | Until::Idle => Life::Loaded,
    };
    let replaced = s.commits > mark.commits && frame.life >= far;
    // Within the document: a fragment, or the history API.
    let moved = s.moves > mark.moves && s.commits == mark.commits && s.pending.is_none();
    (replaced || moved).then_some(Found::Arrived)
}

/// Whether a dialog waits for a caller's answer.
fn is_asked(s: &TabState) -> bool {
    s.dialog.as_ref().is_some_and(|d| !answers_itself(d))
}

fn refused(url: &str, error: &str) -> Error {
    let code = match error {
        "net::ERR_BLOCKED_BY_CLIENT"
        | "net::ERR_UNSAFE_REDIRECT"
        | "net::ERR_BLOCKED_BY_ADMINISTRATOR" => Code::Blocked,
        _ => Code::NavFailed,
    };
    code.because(format!("{} could not be opened: {error}", quoted(url, 80)))
        .fact("net_error", error)
        .fact("url", quoted(url, 500).trim_matches('"'))
}
