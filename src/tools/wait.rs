//! `wait`: until something is so.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{ACTION, Call, Kind, Tool};
use crate::browser::state::TabState;
use crate::error::{Code, Error, Result, quoted};
use crate::page::locate::Locator;
use crate::page::{Again, Document, args, budget_ms, frames};

/// The state of an element to wait for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it; docs here would split the schema's enum")]
pub enum State {
    #[default]
    Visible,
    Hidden,
    Attached,
    Detached,
    Enabled,
}

/// Wait until something is so: a text, an element's state, a URL, a script's result, quiet, or just a time.
///
/// Give exactly one condition. It looks again whenever the page changes, across navigations too.
#[derive(Deserialize, JsonSchema)]
pub struct Wait {
    /// Until the visible text of the page, in any frame, holds this.
    text: Option<String>,
    /// Until it no longer does.
    gone: Option<String>,
    #[serde(flatten)]
    target: Locator,
    /// The state of the target to wait for; `visible` if left out.
    state: Option<State>,
    /// Until the URL holds this.
    url: Option<String>,
    /// Until the URL matches this regular expression (JavaScript's).
    url_re: Option<String>,
    /// Until this expression is truthy in the page.
    script: Option<String>,
    /// Until no request has been under way for 500 ms; WebSocket and EventSource do not count.
    #[serde(default)]
    idle: bool,
    /// For so many milliseconds.
    #[schemars(range(min = 0, max = 600_000))]
    ms: Option<u64>,
}

/// How long it took.
#[derive(Serialize)]
pub struct Waited {
    waited_ms: u64,
}

/// What a try has found.
enum Found {
    Met,
    Last(Value),
}

impl Tool for Wait {
    const NAME: &'static str = "wait";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["text"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"text":"Thank you"}"#,
        r#"{"selector":".spinner","state":"hidden"}"#,
        r#"{"url":"/done"}"#,
        r#"{"script":"document.images.length > 3"}"#,
        r#"{"idle":true}"#,
        r#"{"ms":200}"#,
    ];
    type Output = Waited;

    fn allowance(&self) -> Duration {
        ACTION + Duration::from_millis(self.ms.unwrap_or(0))
    }

    async fn run(self, call: &Call) -> Result<Waited> {
        let began = Instant::now();
        self.check()?;
        if let Some(ms) = self.ms {
            let until = began + Duration::from_millis(ms);
            if until > call.deadline() {
                tokio::time::sleep_until(call.deadline()).await;
                return Err(timed_out(call, format!("{ms} ms are longer than the time there is"), Value::Null));
            }
            tokio::time::sleep_until(until).await;
            return Ok(waited(began));
        }
        let document = call.document(&self.target).await?;
        if let Some(part) = &self.url {
            return self.for_url(call, &document, began, |url| Ok(url.contains(part))).await;
        }
        if let Some(pattern) = &self.url_re {
            return self.for_pattern(call, &document, began, pattern).await;
        }
        if self.idle {
            return match document.tab.until_idle(call.deadline()).await? {
                true => Ok(waited(began)),
                false => {
                    let open = document.tab.look(|s| s.requests.len());
                    Err(timed_out(call, format!("{open} requests are still under way"), open.into()))
                }
            };
        }
        match self.in_page(call, &document).await? {
            Found::Met => Ok(waited(began)),
            Found::Last(last) => {
                let what = match &last {
                    Value::String(text) => text.clone(),
                    other => format!("it is {other}"),
                };
                Err(timed_out(call, what, last))
            }
        }
    }
}

fn waited(began: Instant) -> Waited {
    let ms = began.elapsed().as_millis();
    Waited {
        waited_ms: u64::try_from(ms).unwrap_or(u64::MAX),
    }
}

fn timed_out(call: &Call, what: String, last: Value) -> Error {
    call.timed_out(format!("waited in vain: {what}")).fact("last", last)
}

impl Wait {
    fn check(&self) -> Result<()> {
        self.target.check()?;
        let given = [
            self.text.is_some(),
            self.gone.is_some(),
            !self.target.is_empty(),
            self.url.is_some(),
            self.url_re.is_some(),
            self.script.is_some(),
            self.idle,
            self.ms.is_some(),
        ];
        let given = given.into_iter().filter(|g| *g).count();
        if given != 1 {
            return Err(Code::BadRequest
                .because(format!("wait needs exactly one condition, not {given}"))
                .hint("one of text, gone, ref or selector, url, url_re, script, idle, ms"));
        }
        if self.state.is_some() && self.target.is_empty() {
            return Err(Code::BadRequest
                .because("state goes with ref or selector")
                .fact("argument", "state"));
        }
        Ok(())
    }

    async fn for_url(
        &self,
        call: &Call,
        document: &Document,
        began: Instant,
        fits: impl Fn(&str) -> Result<bool>,
    ) -> Result<Waited> {
        let look = |s: &TabState| fits(s.url()).map(|fits| fits.then_some(())).transpose();
        match document.tab.until(call.deadline(), look).await? {
            Some(found) => found.map(|()| waited(began)),
            None => {
                let url = document.tab.url();
                Err(timed_out(call, format!("the URL is {}", quoted(&url, 80)), url.into()))
            }
        }
    }

    async fn for_pattern(
        &self,
        call: &Call,
        document: &Document,
        began: Instant,
        pattern: &str,
    ) -> Result<Waited> {
        loop {
            let (url, commits, moves) =
                document.tab.look(|s| (s.url().to_owned(), s.commits, s.moves));
            let wanted = args(json!({"pattern": pattern, "url": url}));
            let answer: Value = document
                .ask("urlMatches", wanted, Again::Yes, call.deadline())
                .await?;
            if answer["matches"] == true {
                return Ok(waited(began));
            }
            let moved = |s: &TabState| (s.commits != commits || s.moves != moves).then_some(());
            if document.tab.until(call.deadline(), moved).await?.is_none() {
                return Err(timed_out(call, format!("the URL is {}", quoted(&url, 80)), url.into()));
            }
        }
    }

    /// Conditions that the page itself can tell: asked in every frame that counts, and again in the
    /// next document when one is left.
    async fn in_page(&self, call: &Call, document: &Document) -> Result<Found> {
        let deadline = call.deadline();
        let mut last = Value::Null;
        loop {
            if budget_ms(deadline) == 0 {
                return Ok(Found::Last(last));
            }
            let commits = document.tab.look(|s| s.commits);
            let found = match &self.script {
                Some(script) => self.script_once(call, document, script).await,
                None => self.anywhere(document, deadline).await,
            };
            match found {
                Ok(Found::Met) => return Ok(Found::Met),
                Ok(Found::Last(now)) => last = now,
                // The document was left: the next one is asked, unless a ref was of the old one.
                Err(error) if error.code() == Code::StaleRef && self.target.r#ref.is_some() => {
                    return match self.state {
                        Some(State::Hidden | State::Detached) => Ok(Found::Met),
                        _ => Err(error),
                    };
                }
                Err(error) if error.code() == Code::StaleRef => {}
                Err(error) => return Err(error),
            }
            if self.script.is_none() && document.tab.look(|s| s.commits) == commits && budget_ms(deadline) < 50 {
                return Ok(Found::Last(last));
            }
        }
    }

    /// One round over the frames: the first in which it is so ends it.
    async fn anywhere(&self, document: &Document, deadline: Instant) -> Result<Found> {
        let mut wanted = self.target.args();
        wanted.extend(args(json!({
            "text": self.text,
            "gone": self.gone,
            "state": self.state,
            "budget_ms": budget_ms(deadline),
        })));
        let inner = match self.text.is_some() {
            true => frames::below(document, deadline).await,
            false => Vec::new(),
        };
        if !inner.is_empty() {
            // Frames come and go: look again a few times a second as long as there are any.
            wanted.insert("budget_ms".to_owned(), budget_ms(deadline).min(250).into());
        }
        let mut asked = tokio::task::JoinSet::new();
        for document in std::iter::once(document.clone()).chain(inner) {
            let wanted = wanted.clone();
            asked.spawn(async move {
                document.ask::<Value>("wait", wanted, Again::No, deadline).await
            });
        }
        let mut last = Ok(Found::Last(Value::Null));
        while let Some(done) = asked.join_next().await {
            match done {
                Ok(Ok(answer)) if answer["met"] == true => return Ok(Found::Met),
                Ok(Ok(answer)) => last = Ok(Found::Last(answer["last"].clone())),
                Ok(Err(error)) if asked.is_empty() && !matches!(last, Ok(Found::Last(Value::String(_)))) => {
                    last = Err(error);
                }
                _ => {}
            }
        }
        last
    }

    async fn script_once(&self, call: &Call, document: &Document, script: &str) -> Result<Found> {
        let deadline = call.deadline();
        let truthy = document.truthy(script, deadline).await?;
        if truthy {
            return Ok(Found::Met);
        }
        let wanted = args(json!({"budget_ms": budget_ms(deadline), "idle_frames": 6}));
        let changed = document.ask::<Value>("nextChange", wanted, Again::No, deadline).await;
        match changed {
            // The script has told all the same.
            Err(error) if error.code() == Code::Timeout => {}
            other => drop(other?),
        }
        Ok(Found::Last(Value::Bool(false)))
    }
}
