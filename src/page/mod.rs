//! The typed front of `js/`: one Rust function for what a page function does.
//!
//! Every call runs in the isolated world `tabd` of one document and answers with one string.

pub mod act;
pub mod address;
pub mod click;
mod delta;
pub mod drag;
pub mod evaluate;
pub mod files;
pub mod fill;
pub mod frames;
mod gather;
pub mod input;
pub mod keys;
mod listeners;
pub mod locate;
pub mod marks;
pub mod owed;
pub mod paper;
mod parts;
pub mod picture;
pub mod point;
mod quad;
pub mod read;
mod running;
mod script;
pub mod value;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::browser::{Browser, PAGE_SCRIPT, Place, Session, Tab};
use crate::cdp::{CdpError, FrameId, Pending, runtime};
use crate::error::{Code, Error, Result};
use crate::wire::Ref;

/// Refs that a call which names a few elements may give out.
pub const FEW: u32 = 16;
/// What a script's own time limit is ahead of the call's deadline, so that its answer still arrives.
const AHEAD: Duration = Duration::from_millis(20);
/// How much later than the deadline an answer may come: what the page found in its way says more than
/// `timeout`, and on a busy machine it is late.
const LATE: Duration = Duration::from_millis(100);

/// A frame as tools see it: where refs of its document are written `prefix` and a number.
#[derive(Clone)]
pub struct Document {
    /// The browser.
    pub browser: Arc<Browser>,
    /// The session.
    pub session: Arc<Session>,
    /// The tab it is in.
    pub tab: Arc<Tab>,
    /// The frame.
    pub frame: FrameId,
    /// Its number; `None` for the main frame of the session's first tab.
    pub number: Option<u32>,
}

/// Whether a call may be made again in the next document if its own is left under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It looks at whatever is there: made again.
    Yes,
    /// It is about this document: `stale_ref`, `navigated`.
    No,
}

impl Document {
    /// The document of one of a tab's frames.
    pub fn new(
        browser: &Arc<Browser>,
        session: &Arc<Session>,
        tab: &Arc<Tab>,
        frame: FrameId,
    ) -> Document {
        Document {
            number: session.frame_number(browser, tab, &frame),
            browser: browser.clone(),
            session: session.clone(),
            tab: tab.clone(),
            frame,
        }
    }

    /// What stands before the number in its refs.
    pub fn prefix(&self) -> String {
        match self.number {
            Some(frame) => format!("f{frame}n"),
            None => "n".to_owned(),
        }
    }

    /// Whether the frame is its tab's main frame.
    pub fn is_main(&self) -> bool {
        self.frame == self.tab.main_frame()
    }

    /// Calls `tabd.NAME(args)` with a lease of `refs` numbers, and gives its answer.
    ///
    /// What the page says is wrong comes as the error it is.
    pub async fn call(
        &self,
        name: &str,
        mut args: Map<String, Value>,
        refs: u32,
        again: Again,
        deadline: Instant,
    ) -> Result<String> {
        let lease = self.browser.numbers().lease(self.number, refs);
        args.insert("prefix".to_owned(), self.prefix().into());
        args.insert("next".to_owned(), lease.range.start.into());
        args.insert("end".to_owned(), lease.range.end.into());
        let expression = format!("tabd.{name}({})", Value::Object(args));
        let answer = self.script(&expression, again, deadline).await?;
        if let Some(next) = next_of(&answer) {
            self.browser.numbers().give_back(&lease, next);
        }
        match failure(&answer) {
            Some(error) => Err(self.place_error(error)),
            None => Ok(answer),
        }
    }

    /// As [`Document::call`], with the answer decoded.
    pub async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        args: Map<String, Value>,
        again: Again,
        deadline: Instant,
    ) -> Result<T> {
        let answer = self.call(name, args, FEW, again, deadline).await?;
        serde_json::from_str(&answer)
            .map_err(|e| Code::Internal.because(format!("tabd.{name} answered nonsense: {e}")))
    }

    /// Evaluates an expression of ours, whose value is a string, in the `tabd` world.
    pub async fn script(
        &self,
        expression: &str,
        again: Again,
        deadline: Instant,
    ) -> Result<String> {
        loop {
            let place = self.tab.place(&self.frame, false, deadline).await?;
            match self.evaluate_at(&place, expression, deadline).await {
                Err(Gone::Document) if again == Again::Yes => {
                    self.tab.until_left(&place, deadline).await?;
                }
                Err(Gone::Document) => {
                    return Err(Code::StaleRef
                        .because("the page was left before it could be acted on")
                        .fact("why", "navigated")
                        .hint("read again"));
                }
                Err(Gone::Script) => self.put_script_in(&place, deadline).await?,
                Err(Gone::Other(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
    }

    /// Sends an expression of ours to the `tabd` world as it is now; the answer is awaited apart, or
    /// forgotten. `None` if there is no such world.
    pub(crate) fn send_script(
        &self,
        expression: String,
    ) -> Option<Result<Pending<runtime::Evaluate>>> {
        let place = self.tab.place_now(&self.frame, false)?;
        self.tab.set_watched(None);
        let evaluate = runtime::Evaluate {
            expression,
            unique_context_id: Some(place.context),
            return_by_value: Some(true),
            await_promise: Some(true),
            silent: Some(true),
            ..Default::default()
        };
        Some(self.tab.send_to(&place.cdp_session, &evaluate))
    }

    /// Puts our scripts into a document where they did not come to their end: whatever was to end
    /// another script just then may have ended them. Does nothing in a document that was left.
    async fn put_script_in(&self, place: &Place, deadline: Instant) -> Result<()> {
        let put = runtime::Evaluate {
            expression: PAGE_SCRIPT.to_owned(),
            unique_context_id: Some(place.context.clone()),
            silent: Some(true),
            ..Default::default()
        };
        let reply = self
            .tab
            .send_to(&place.cdp_session, &put)?
            .by(deadline)
            .await;
        match reply {
            Err(error @ (CdpError::Deadline | CdpError::Closed | CdpError::TargetCrashed)) => {
                Err(self.tab.error("looking at the page", error))
            }
            _ if Instant::now() >= deadline => {
                Err(self.tab.error("looking at the page", CdpError::Deadline))
            }
            _ => Ok(()),
        }
    }

    async fn evaluate_at(
        &self,
        place: &Place,
        expression: &str,
        deadline: Instant,
    ) -> Result<String, Gone> {
        // It may begin or end an action.
        self.tab.set_watched(None);
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = left.saturating_sub(AHEAD).max(Duration::from_millis(1));
        let evaluate = runtime::Evaluate {
            expression: expression.to_owned(),
            unique_context_id: Some(place.context.clone()),
            return_by_value: Some(true),
            await_promise: Some(true),
            silent: Some(true),
            timeout: Some(limit.as_secs_f64() * 1000.0),
            ..Default::default()
        };
        let pending = self
            .tab
            .send_to(&place.cdp_session, &evaluate)
            .map_err(Gone::Other)?;
        let late = deadline + LATE;
        let reply = async {
            match pending.by(late).await {
                Ok(reply) => Ok(Ok(reply)),
                Err(
                    CdpError::ContextGone
                    | CdpError::NoContext
                    | CdpError::NoSession
                    | CdpError::Detached,
                ) => Ok(Err(Gone::Document)),
                // With hardly any time a script may be refused before it began.
                Err(CdpError::Protocol { code: -32603, .. })
                    if Instant::now() + 2 * AHEAD >= deadline =>
                {
                    Err(self.tab.error("looking at the page", CdpError::Deadline))
                }
                Err(CdpError::Terminated) => {
                    Err(self.tab.error("looking at the page", CdpError::Deadline))
                }
                Err(error) => Err(self.tab.error("looking at the page", error)),
            }
        };
        let reply = self
            .tab
            .unless_dialog(reply, late)
            .await
            .map_err(Gone::Other)??;
        if let Some(thrown) = reply.exception_details {
            let what = thrown.exception.and_then(|e| e.description);
            let text = what.unwrap_or(thrown.text);
            if text.contains("tabd is not defined") {
                return Err(Gone::Script);
            }
            let error = Code::Internal.because(format!("a script of tabd failed: {text}"));
            return Err(Gone::Other(error));
        }
        let value = reply.result.value.unwrap_or_default();
        value.parse::<String>().map_err(|e| {
            Gone::Other(Code::Internal.because(format!("a script of tabd answered no string: {e}")))
        })
    }

    /// Whether an expression is truthy in the page's own world; `eval_error` if it throws.
    pub async fn truthy(&self, script: &str, deadline: Instant) -> Result<bool> {
        let place = self.tab.place(&self.frame, true, deadline).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        let evaluate = runtime::Evaluate {
            expression: format!("!!({script}\n)"),
            unique_context_id: Some(place.context.clone()),
            return_by_value: Some(true),
            silent: Some(true),
            timeout: Some(left.saturating_sub(AHEAD).as_secs_f64() * 1000.0 + 1.0),
            ..Default::default()
        };
        let pending = self.tab.send_to(&place.cdp_session, &evaluate)?;
        let reply = async {
            match pending.by(deadline).await {
                Ok(reply) => Ok(Some(reply)),
                Err(
                    CdpError::ContextGone
                    | CdpError::NoContext
                    | CdpError::NoSession
                    | CdpError::Detached,
                ) => Ok(None),
                Err(error) => Err(self.tab.error("the script", error)),
            }
        };
        let Some(reply) = self.tab.unless_dialog(reply, deadline).await? else {
            return Ok(false);
        };
        match reply.exception_details {
            Some(thrown) => {
                let what = thrown.exception.and_then(|e| e.description);
                let text = what.unwrap_or(thrown.text);
                let first = text.lines().next().unwrap_or_default();
                Err(Code::EvalError.because(format!(
                    "the script threw: {}",
                    crate::error::quoted(first, 80)
                )))
            }
            None => Ok(reply.result.value.is_some_and(|v| v.text() == "true")),
        }
    }

    /// The document's title.
    pub async fn title(&self, deadline: Instant) -> Result<String> {
        self.script("document.title", Again::Yes, deadline).await
    }

    /// Adds what only the daemon knows to a failure the page told.
    pub(crate) fn place_error(&self, error: Error) -> Error {
        let error = error.fact("tab", self.tab.id.to_string());
        if error.code() != Code::StaleRef || error.facts().get("why") != Some(&"navigated".into()) {
            return error;
        }
        let number = error
            .message()
            .split_once(" is not in this document")
            .and_then(|(r, _)| r.parse::<Ref>().ok())
            .map(|r| r.number);
        let given = |n: &u32| self.browser.numbers().was_given(self.number, *n);
        match number {
            Some(n) if !given(&n) => Code::StaleRef
                .because(format!("{}{n} was never given out", self.prefix()))
                .fact("why", "navigated")
                .fact("tab", self.tab.id.to_string())
                .hint("take refs from read or find"),
            Some(n) if self.browser.numbers().is_from_before(self.number, n) => {
                error.fact("why", "restarted")
            }
            _ => error,
        }
    }
}

impl Tab {
    /// Waits until the frame's `tabd` world is another than `place`'s, or is gone.
    async fn until_left(&self, place: &Place, deadline: Instant) -> Result<()> {
        let left = self
            .until(deadline, |s| {
                let world = s.frames.get(&place.frame).and_then(|f| f.world.as_ref());
                (world != Some(&place.context)).then_some(())
            })
            .await?;
        match left {
            Some(()) => Ok(()),
            None => Err(self.error("looking at the page", CdpError::Deadline)),
        }
    }
}

enum Gone {
    Document,
    /// The document is there, our scripts are not.
    Script,
    Other(Error),
}

/// A failure that a page function told as its value.
pub(crate) fn failure(answer: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Failure {
        error: String,
        message: String,
        hint: Option<String>,
        data: Option<Map<String, Value>>,
    }
    if !answer.starts_with("{\"error\":") {
        return None;
    }
    let failure: Failure = match serde_json::from_str(answer) {
        Ok(failure) => failure,
        Err(e) => return Some(Code::Internal.because(format!("a script of tabd failed: {e}"))),
    };
    let code = Code::from_word(&failure.error).unwrap_or(Code::Internal);
    let mut error = code.because(failure.message);
    if let Some(hint) = failure.hint {
        error = error.hint(hint);
    }
    for (key, value) in failure.data.into_iter().flatten() {
        error = error.fact(&key, value);
    }
    Some(error)
}

/// The lease's first unused number, from the first line of an answer.
pub(crate) fn next_of(answer: &str) -> Option<u32> {
    let line = answer.split('\n').next()?;
    let at = line.rfind("\"next\":")? + 7;
    let digits = line[at..].bytes().take_while(u8::is_ascii_digit).count();
    line[at..at + digits].parse().ok()
}

/// A fault of tabd's own.
pub(crate) fn internal(what: &str) -> Error {
    Code::Internal.because(what)
}

/// An object of arguments for a page function, without what is `null`.
pub(crate) fn args(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(mut map) => {
            map.retain(|_, v| !v.is_null());
            map
        }
        _ => Map::new(),
    }
}

/// The milliseconds a page function may take so that its answer arrives by `deadline`.
pub(crate) fn budget_ms(deadline: Instant) -> u64 {
    let left = deadline.saturating_duration_since(Instant::now());
    u64::try_from(left.saturating_sub(2 * AHEAD).as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_told_failure_becomes_its_error() {
        let error = failure(
            r#"{"error":"covered","message":"n1 is covered","hint":"wait","data":{"by":{"ref":"n2"}},"next":9}"#,
        )
        .unwrap();
        assert_eq!(error.code(), Code::Covered);
        assert_eq!(error.facts()["by"]["ref"], "n2");
        assert!(failure("{\"x\":1}").is_none());
    }

    #[test]
    fn the_unused_part_of_a_lease_is_found() {
        assert_eq!(next_of("{\"a\":1,\"next\":17}\nrest"), Some(17));
        assert_eq!(next_of("{\"next\":3,\"frames\":[]}\n\"next\":4"), Some(3));
        assert_eq!(next_of("{}"), None);
    }
}
