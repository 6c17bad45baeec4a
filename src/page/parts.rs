//! The parts a view is made of, one a document: all frames are asked at once.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Again, Document, frames, listeners};
use crate::cdp::SessionId;
use crate::error::{Code, Error, Result};

/// How much longer than the top document a frame may take. What does not answer by then is told of by
/// its node.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What a frame's part begins with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub url: String,
    pub title: String,
    pub count: u64,
    pub total: u64,
    pub truncated: Value,
    pub frames: Vec<FrameAt>,
    pub base: Option<String>,
    pub removed: Vec<String>,
    /// With a base: the whole view's length and last ref.
    pub size: u64,
    pub last: String,
    pub class: Option<u8>,
}

/// Where what is in a frame belongs.
#[derive(Debug, Deserialize)]
pub(super) struct FrameAt {
    /// How many of the records come before.
    pub at: usize,
    /// How deep it is.
    pub depth: usize,
    /// The frame's node; empty if it is not among the records.
    pub r#ref: String,
    /// The frame's number, if the page's script was told.
    pub frame: Option<u32>,
    /// Whether the caps were met before it.
    #[serde(default)]
    pub cut: bool,
    /// With a base: whether the frame's node is among what changed.
    #[serde(default)]
    pub sent: bool,
}

/// One frame's part: its header and its records.
pub(super) struct Part {
    pub document: Document,
    pub header: Header,
    text: String,
    body: usize,
}

impl Part {
    fn parse(document: Document, text: String) -> Result<Part> {
        let end = text.find('\n').unwrap_or(text.len());
        let header = serde_json::from_str(&text[..end])
            .map_err(|e| Code::Internal.because(format!("a snapshot's header: {e}")))?;
        let body = (end + 1).min(text.len());
        Ok(Part {
            document,
            header,
            text,
            body,
        })
    }

    pub fn records(&self) -> impl Iterator<Item = &str> {
        self.text[self.body..].split('\n').filter(|l| !l.is_empty())
    }

    pub fn has_records(&self) -> bool {
        self.body < self.text.len()
    }

    /// Leaves the frames in it only.
    pub fn drop_records(&mut self) {
        self.body = self.text.len();
        (self.header.count, self.header.total) = (0, 0);
        self.header.truncated = Value::Bool(false);
        for frame in &mut self.header.frames {
            (frame.at, frame.cut) = (0, false);
        }
    }
}

/// Every part there is, parents before children.
pub(super) struct Parts {
    pub parts: Vec<Part>,
    /// Why a frame has none, by its number.
    pub unreadable: HashMap<u32, String>,
}

impl Parts {
    /// The part of the frame with this number, if it lies behind `at`: no part can hold itself.
    pub fn inside(&self, at: usize, frame: Option<u32>) -> Option<usize> {
        frame?;
        (at + 1..self.parts.len()).find(|i| self.parts[*i].document.number == frame)
    }
}

/// Asks the top document and every frame below it, all at once.
pub(super) async fn parts(
    top: &Document,
    function: &str,
    page_args: Map<String, Value>,
    refs: u32,
    deadline: Instant,
) -> Result<Parts> {
    let mut unreadable = HashMap::new();
    let mut groups: Vec<(SessionId, Vec<(usize, Document)>)> = Vec::new();
    let below = frames::all_below(top, deadline).await;
    let all = std::iter::once((top.clone(), None)).chain(below);
    for (at, (document, why)) in all.enumerate() {
        if let (Some(why), Some(number)) = (why, document.number) {
            unreadable.insert(number, why.to_owned());
            continue;
        }
        let state = |s: &crate::browser::state::TabState| {
            let frame = s.frames.get(&document.frame);
            frame.map(|f| f.cdp_session.clone()).unwrap_or_default()
        };
        let of = document.tab.look(state);
        match groups.iter_mut().find(|(session, _)| *session == of) {
            Some((_, group)) => group.push((at, document)),
            None => groups.push((of, vec![(at, document)])),
        }
    }
    let mut asking = JoinSet::new();
    for (_, group) in groups {
        let (function, page_args) = (function.to_owned(), page_args.clone());
        asking.spawn(ask_session(group, function, page_args, refs, deadline));
    }
    let mut answers: Vec<(usize, Document, Result<Part>)> = Vec::new();
    let mut until = deadline;
    while let Ok(Some(done)) = tokio::time::timeout_at(until, asking.join_next()).await {
        let done = done.map_err(|e| Code::Internal.because(format!("a frame: {e}")))?;
        if done.iter().any(|(at, _, _)| *at == 0) {
            until = deadline.min(Instant::now() + PATIENCE);
        }
        answers.extend(done);
    }
    answers.sort_by_key(|(at, _, _)| *at);
    let mut parts = Vec::new();
    for (at, document, answer) in answers {
        match answer {
            Ok(part) => parts.push(part),
            Err(error) if at == 0 => return Err(error),
            // A frame that cannot be read costs its part only.
            Err(error) => {
                let why = match error.code() {
                    Code::Timeout => "it did not answer in time",
                    Code::TabCrashed => "its process died",
                    _ => frames::NOT_THERE,
                };
                unreadable.extend(document.number.map(|n| (n, why.to_owned())));
            }
        }
    }
    if parts.is_empty() {
        return Err(Code::Timeout
            .because("the page did not answer in time")
            .fact("tab", top.tab.id.to_string())
            .hint("the page is busy; reload it, or close the tab"));
    }
    Ok(Parts { parts, unreadable })
}

/// Asks the documents that one CDP session drives. The first of all, at 0, is the one with the root.
async fn ask_session(
    group: Vec<(usize, Document)>,
    function: String,
    page_args: Map<String, Value>,
    refs: u32,
    deadline: Instant,
) -> Vec<(usize, Document, Result<Part>)> {
    let documents: Vec<Document> = group.iter().map(|(_, d)| d.clone()).collect();
    listeners::adopt(&documents, deadline).await;
    let mut asking = JoinSet::new();
    for (at, document) in group {
        let (function, mut page_args) = (function.clone(), page_args.clone());
        let again = match at == 0 && page_args.contains_key("root") {
            true => Again::No,
            false => Again::Yes,
        };
        if at > 0 {
            page_args.remove("root");
        }
        asking.spawn(async move {
            let answer = ask(&document, &function, page_args, refs, again, deadline).await;
            (at, document, answer)
        });
    }
    asking.join_all().await
}

async fn ask(
    document: &Document,
    function: &str,
    mut page_args: Map<String, Value>,
    refs: u32,
    again: Again,
    deadline: Instant,
) -> Result<Part, Error> {
    let numbers = document.browser.numbers();
    let lease = numbers.lease(document.number, refs);
    page_args.insert("prefix".to_owned(), document.prefix().into());
    page_args.insert("end".to_owned(), lease.range.end.into());
    let mut next = lease.range.start;
    let answer = loop {
        page_args.insert("next".to_owned(), next.into());
        let call = format!("tabd.{function}({})", Value::Object(page_args.clone()));
        let answer = document.script(&call, again, deadline).await?;
        next = super::next_of(&answer).unwrap_or(next);
        // Roots may stand in roots: each look names new ones only, so that this ends.
        if !frames::adopt_closed_roots(document, &answer, deadline).await {
            break answer;
        }
    };
    if let Some(error) = super::failure(&answer) {
        return Err(document.place_error(error));
    }
    numbers.give_back(&lease, next);
    Part::parse(document.clone(), answer)
}
