//! `dialog`: answer a JavaScript dialog.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Acted, Call, Kind, Tool};
use crate::cdp::page::HandleJavaScriptDialog;
use crate::error::{Code, Result, quoted};
use crate::page::Document;
use crate::page::act::{Acting, Before};

/// Answer the confirm or prompt that is open in the tab.
///
/// Alerts are closed by themselves. A question that nobody answers is dismissed after 30 s.
#[derive(Deserialize, JsonSchema)]
pub struct Dialog {
    /// Whether to accept (OK) or dismiss (Cancel) it.
    accept: bool,
    /// What to enter into a prompt; its own suggestion if left out.
    text: Option<String>,
    /// Whether to do it at once, before earlier requests of this connection are done.
    #[serde(default)]
    #[allow(dead_code, reason = "the dispatcher looks at it")]
    now: bool,
}

/// What was answered, and what came of it.
#[derive(Serialize)]
pub struct Answered {
    r#type: String,
    message: String,
    effect: Map<String, Value>,
}

impl Tool for Dialog {
    const NAME: &'static str = "dialog";
    const KIND: Kind = Kind::Unblock;
    const BARE: &'static [&'static str] = &["accept", "text"];
    const TAKES_TAB: bool = true;
    const EXAMPLES: &'static [&'static str] =
        &[r#"{"accept":true}"#, r#"{"accept":true,"text":"Bergen"}"#];
    type Output = Answered;

    async fn run(self, call: &Call) -> Result<Answered> {
        let session = call.session()?;
        let tab = session.pick(call.tab)?;
        call.use_tab(&tab);
        let Some(open) = tab.dialog() else {
            return Err(Code::NoDialog.because(format!("no dialog is open in tab {}", tab.id)));
        };
        let document = Document::new(&call.browser, session, &tab, tab.main_frame());
        let before = Before::new(&document);
        let text = match (&self.text, self.accept) {
            (Some(text), _) => Some(text.clone()),
            (None, true) if !open.default_prompt.is_empty() => Some(open.default_prompt.clone()),
            _ => None,
        };
        let answer = HandleJavaScriptDialog {
            accept: self.accept,
            prompt_text: text,
        };
        call.set_acted(Acted::Unknown);
        let reply = tab.send_to(&open.cdp_session, &answer)?.by(call.deadline()).await;
        match reply {
            Ok(()) => {}
            Err(crate::cdp::CdpError::NoDialog) => {
                return Err(Code::NoDialog.because(format!(
                    "the {} {} has just closed",
                    open.kind.as_str(),
                    quoted(&open.message, 80)
                )));
            }
            Err(error) => return Err(tab.error("answering the dialog", error)),
        }
        call.set_acted(Acted::Yes);
        let closed = |s: &crate::browser::state::TabState| {
            let same = s.dialog.as_ref().is_some_and(|d| d.number == open.number);
            (!same).then_some(())
        };
        tab.until(call.deadline(), closed).await?;
        let done = before.after(call, &Acting::plain()).await?;
        Ok(Answered {
            r#type: open.kind.as_str().to_owned(),
            message: open.message,
            effect: done.effect,
        })
    }
}
