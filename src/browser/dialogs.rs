//! JavaScript dialogs: which are answered without asking, and which wait for a caller.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::state::Dialog;
use super::{Browser, Running, Tab};
use crate::cdp::page::{DialogType, HandleJavaScriptDialog};

/// How long a question stays open before it is dismissed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether tabd answers it at once: an alert has one answer, and leaving a page is what was asked for.
pub(super) fn answers_itself(dialog: &Dialog) -> bool {
    matches!(dialog.kind, DialogType::Alert | DialogType::Beforeunload)
}

/// A dialog in an `effect`, a reply or an error.
pub fn told(dialog: &Dialog) -> Value {
    json!({"type": dialog.kind.as_str(), "message": dialog.message})
}

/// A dialog in an event.
pub(super) fn json(dialog: &Dialog, state: &str) -> Value {
    let mut data = told(dialog);
    data["state"] = state.into();
    if dialog.kind == DialogType::Prompt {
        data["default"] = dialog.default_prompt.as_str().into();
    }
    data
}

/// A dialog opened: answers it if that is ours to do, else gives it half a minute.
pub(super) fn opened(browser: &Arc<Browser>, running: &Arc<Running>, tab: &Arc<Tab>) {
    let Some(dialog) = tab.look(|s| s.dialog.clone()) else {
        return;
    };
    browser.tell("dialog", Some(&tab.session), Some(tab.id), || {
        json(&dialog, "open")
    });
    if answers_itself(&dialog) {
        tab.change(|s| s.remember_dialog(dialog.clone()));
        answer(running, &dialog, true);
        return;
    }
    let (running, tab) = (running.clone(), Arc::downgrade(tab));
    tokio::spawn(async move {
        tokio::time::sleep(PATIENCE).await;
        let Some(tab) = tab.upgrade() else { return };
        let open = tab.look(|s| s.dialog.as_ref().map(|d| d.number));
        if open == Some(dialog.number) {
            tab.change(|s| s.remember_dialog(dialog.clone()));
            answer(&running, &dialog, false);
        }
    });
}

fn answer(running: &Running, dialog: &Dialog, accept: bool) {
    let answer = HandleJavaScriptDialog {
        accept,
        ..Default::default()
    };
    let to = Some(&dialog.cdp_session);
    running.connection.send(to, &answer).forget();
}
