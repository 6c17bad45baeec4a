//! Takes the browser's events in, in the connection's reader: state first, then who is told.

use std::sync::Arc;

use serde_json::json;

use super::state::Change;
use super::{Browser, PAGE_SCRIPT, Running, Tab, WORLD, dialogs, downloads};
use crate::cdp::{Event, FrameId, SessionId, emulation, inspector, network, page, runtime, target};

/// The viewport of a browser without windows, in CSS pixels.
const VIEWPORT: (i64, i64) = (1280, 720);

/// Pages only: workers and the browser's own targets are not ours to stop.
pub(super) fn only_pages() -> target::TargetFilter {
    filter("page")
}

fn filter(kind: &str) -> target::TargetFilter {
    vec![
        target::FilterEntry {
            r#type: Some(kind.to_owned()),
            exclude: Some(false),
        },
        target::FilterEntry {
            r#type: None,
            exclude: Some(true),
        },
    ]
}

/// Takes one event in. Runs in the reader: must not block, and holds no lock while it sends.
pub(super) fn take(
    browser: &Arc<Browser>,
    running: &Arc<Running>,
    cdp_session: Option<&SessionId>,
    event: Event,
) {
    match (&event, cdp_session) {
        (Event::TargetAttachedToTarget(e), None) => page_attached(browser, running, e),
        (Event::TargetAttachedToTarget(e), Some(parent)) => {
            frame_attached(browser, running, parent, e);
        }
        (Event::TargetDetachedFromTarget(e), None) => {
            let tab = browser.inner().by_cdp_session.remove(&e.session_id);
            if let Some(tab) = tab {
                browser.forget_tab(&tab);
            }
        }
        (Event::TargetDetachedFromTarget(e), Some(_)) => {
            let tab = browser.inner().by_cdp_session.remove(&e.session_id);
            if let Some(tab) = tab {
                tab.change(|s| s.drop_session(&e.session_id));
            }
        }
        (Event::TargetTargetDestroyed(e), _) => {
            let tab = browser.inner().by_target.get(&e.target_id).cloned();
            if let Some(tab) = tab {
                browser.forget_tab(&tab);
            }
        }
        (Event::TargetTargetInfoChanged(e), _) => {
            let tab = browser
                .inner()
                .by_target
                .get(&e.target_info.target_id)
                .cloned();
            if let Some(tab) = tab {
                let title = &e.target_info.title;
                tab.change_if(|s| {
                    let other = s.title != *title;
                    s.title.clone_from(title);
                    other
                });
            }
        }
        (Event::BrowserDownloadWillBegin(e), _) => downloads::began(browser, e),
        (Event::BrowserDownloadProgress(e), _) => downloads::went_on(browser, running, e),
        (_, Some(cdp_session)) => {
            let tab = browser.inner().by_cdp_session.get(cdp_session).cloned();
            if let Some(tab) = tab {
                in_tab(browser, running, &tab, cdp_session, &event);
            }
        }
        _ => {}
    }
}

fn in_tab(
    browser: &Arc<Browser>,
    running: &Arc<Running>,
    tab: &Arc<Tab>,
    cdp_session: &SessionId,
    event: &Event,
) {
    let change = tab.apply(cdp_session, event);
    match change {
        Change::None => {}
        Change::Navigated => browser.tell(
            "navigated",
            Some(&tab.session),
            Some(tab.id),
            || json!({"url": tab.url()}),
        ),
        Change::Crashed => browser.tell(
            "crash",
            Some(&tab.session),
            Some(tab.id),
            || json!({"what": "tab", "url": tab.url()}),
        ),
        Change::DialogOpened => dialogs::opened(browser, running, tab),
        Change::DialogClosed(dialog) => {
            browser.tell("dialog", Some(&tab.session), Some(tab.id), || {
                dialogs::json(&dialog, "closed")
            });
        }
    }
    if let Event::RuntimeConsoleApiCalled(e) = event {
        browser.tell("console", Some(&tab.session), Some(tab.id), || {
            let text: Vec<String> = e
                .args
                .iter()
                .map(|a| match (&a.value, &a.description) {
                    (Some(value), None) => value
                        .parse::<String>()
                        .unwrap_or_else(|_| value.text().to_owned()),
                    (_, Some(description)) => description.clone(),
                    _ => a
                        .unserializable_value
                        .clone()
                        .map_or_else(String::new, |v| v.to_string()),
                })
                .collect();
            json!({"level": e.r#type.as_str(), "text": text.join(" ")})
        });
    }
    network_event(browser, tab, event);
}

fn network_event(browser: &Arc<Browser>, tab: &Arc<Tab>, event: &Event) {
    let (session, id) = (Some(&tab.session), Some(tab.id));
    match event {
        Event::NetworkRequestWillBeSent(e) => browser.tell("network", session, id, || {
            json!({"state": "sent", "request": e.request_id.as_str(), "method": e.request.method, "url": e.request.url})
        }),
        Event::NetworkResponseReceived(e) => browser.tell("network", session, id, || {
            json!({"state": "response", "request": e.request_id.as_str(), "status": e.response.status, "url": e.response.url})
        }),
        Event::NetworkLoadingFailed(e) => browser.tell("network", session, id, || {
            json!({"state": "failed", "request": e.request_id.as_str(), "error": e.error_text})
        }),
        _ => {}
    }
}

/// A new page: one that was asked for, or one that a page opened.
fn page_attached(
    browser: &Arc<Browser>,
    running: &Arc<Running>,
    e: &target::AttachedToTargetEvent,
) {
    let info = &e.target_info;
    let tab = if info.r#type == "page" {
        browser.place_page(running, info, &e.session_id)
    } else {
        None
    };
    match tab {
        Some(tab) => {
            set_up(running, &e.session_id, true);
            browser.tell("tab", Some(&tab.session), Some(tab.id), || {
                tab.summary("opened")
            });
        }
        // The browser's own: not touched, but not held up either.
        None => resume(running, &e.session_id),
    }
}

/// An out-of-process frame of a tab.
fn frame_attached(
    browser: &Arc<Browser>,
    running: &Arc<Running>,
    parent: &SessionId,
    e: &target::AttachedToTargetEvent,
) {
    let tab = browser.inner().by_cdp_session.get(parent).cloned();
    let info = &e.target_info;
    let Some(tab) = tab.filter(|_| info.r#type == "iframe") else {
        resume(running, &e.session_id);
        return;
    };
    browser
        .inner()
        .by_cdp_session
        .insert(e.session_id.clone(), tab.clone());
    let frame = FrameId::from(info.target_id.as_str());
    let parent_frame = info
        .parent_frame_id
        .as_ref()
        .map(|id| FrameId::from(id.as_str()));
    tab.change(|s| s.adopt(&frame, parent_frame, &e.session_id));
    set_up(running, &e.session_id, false);
}

fn resume(running: &Running, cdp_session: &SessionId) {
    let resume = runtime::RunIfWaitingForDebugger::default();
    running.connection.send(Some(cdp_session), &resume).forget();
}

/// Everything a page or frame must be told before its first script runs, then lets it go.
fn set_up(running: &Running, cdp_session: &SessionId, page: bool) {
    let connection = &running.connection;
    let to = Some(cdp_session);
    connection.send(to, &page::Enable::default()).forget();
    let lifecycle = page::SetLifecycleEventsEnabled { enabled: true };
    connection.send(to, &lifecycle).forget();
    let script = page::AddScriptToEvaluateOnNewDocument {
        source: PAGE_SCRIPT.to_owned(),
        world_name: Some(WORLD.to_owned()),
        run_immediately: Some(true),
        ..Default::default()
    };
    connection.send(to, &script).forget();
    connection.send(to, &runtime::Enable::default()).forget();
    connection.send(to, &inspector::Enable::default()).forget();
    connection.send(to, &network::Enable::default()).forget();
    let frames = target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        filter: Some(filter("iframe")),
    };
    connection.send(to, &frames).forget();
    let focus = emulation::SetFocusEmulationEnabled { enabled: true };
    connection.send(to, &focus).forget();
    if page && !running.headed {
        // Without a window there is no size that a person chose.
        let size = emulation::SetDeviceMetricsOverride {
            width: VIEWPORT.0,
            height: VIEWPORT.1,
            device_scale_factor: 0.0,
            mobile: false,
            ..Default::default()
        };
        connection.send(to, &size).forget();
    }
    let choosers = page::SetInterceptFileChooserDialog {
        enabled: true,
        ..Default::default()
    };
    connection.send(to, &choosers).forget();
    resume(running, cdp_session);
}

impl Browser {
    /// Gives a new page its tab: the one that is being opened, or a new one in its opener's session.
    fn place_page(
        &self,
        running: &Arc<Running>,
        info: &target::TargetInfo,
        cdp_session: &SessionId,
    ) -> Option<Arc<Tab>> {
        let known = self.inner().by_target.get(&info.target_id).cloned();
        let tab = match known {
            Some(tab) => tab,
            None => self.new_page(running, info)?,
        };
        tab.go_live(running, &info.target_id, cdp_session, &info.url);
        let mut inner = self.inner();
        inner.by_target.insert(info.target_id.clone(), tab.clone());
        inner
            .by_cdp_session
            .insert(cdp_session.clone(), tab.clone());
        Some(tab)
    }

    /// The tab of a page that nothing is known of yet; `None` if it is not ours.
    fn new_page(&self, running: &Arc<Running>, info: &target::TargetInfo) -> Option<Arc<Tab>> {
        let context = info.browser_context_id.as_ref();
        // Every context but the browser's own was made for a session.
        let own = self
            .sessions()
            .into_iter()
            .find(|s| s.is_context(running.generation, context));
        let is_own = own.is_some();
        let session = own.or_else(|| self.find_session(crate::wire::DEFAULT_SESSION))?;
        if info.opener_id.is_none()
            && let Some(expected) = session.take_expected()
        {
            return Some(expected);
        }
        // A page that was opened without a way back to its opener has none that is told of.
        let opener = match &info.opener_id {
            Some(opener) => self.inner().by_target.get(opener).cloned(),
            None => session
                .tabs()
                .into_iter()
                .find(|t| t.look(|s| s.windows_asked > s.windows_come)),
        };
        let tab = match &opener {
            Some(opener) => {
                let session = self.find_session(&opener.session)?;
                self.new_tab(&session)
            }
            None if is_own || info.opener_id.is_some() => self.new_tab(&session),
            None => return None,
        };
        tab.set_opened_by_page();
        if let Some(opener) = opener {
            opener.change(|s| s.windows_come += 1);
        }
        Some(tab)
    }

    /// A tab is gone, whoever closed it.
    pub(super) fn forget_tab(&self, tab: &Arc<Tab>) {
        if !tab.close() {
            return;
        }
        let session = {
            let mut inner = self.inner();
            inner.tabs.remove(&tab.id);
            inner.by_target.retain(|_, t| t.id != tab.id);
            inner.by_cdp_session.retain(|_, t| t.id != tab.id);
            inner.sessions.get(&tab.session).cloned()
        };
        if let Some(session) = session {
            session.remove(tab.id);
        }
        self.tell("tab", Some(&tab.session), Some(tab.id), || {
            tab.summary("closed")
        });
    }
}
