//! Snapshots: every frame's part is asked for at once, and put together in reading order.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::locate::Locator;
use super::{Again, Document, args, budget_ms};
use crate::error::{Code, Error, Result};
use crate::wire::Ref;

/// The most refs a snapshot holds unless asked otherwise.
const MAX_REFS: u32 = 2000;
/// The most characters of nodes, and of an outline, unless asked otherwise.
const MAX_CHARS_NODES: u64 = 200_000;
const MAX_CHARS_OUTLINE: u64 = 40_000;

/// How nodes are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "described where it is used; docs here would split the schema's enum"
)]
pub enum Format {
    #[default]
    Nodes,
    Outline,
}

/// What `read` takes, and every tool with `read:true`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ReadArgs {
    /// `nodes`: a list of objects. `outline`: a line of text a node, indented.
    #[serde(default)]
    pub format: Format,
    /// Only what is inside this element: a ref, or a CSS selector.
    pub root: Option<String>,
    /// Only what can be used: no headings, texts and the like.
    #[serde(default)]
    pub interactive: bool,
    /// Only what is in the viewport.
    #[serde(default)]
    pub viewport_only: bool,
    /// Every element with a role or a name, generic ones too.
    #[serde(default)]
    pub full: bool,
    /// The most refs; 2000 if left out. More are counted in `total`.
    #[schemars(range(min = 1, max = 20000))]
    pub max: Option<u32>,
    /// The most characters; 200000 for nodes and 40000 for an outline if left out.
    #[schemars(range(min = 100, max = 20_000_000))]
    pub max_chars: Option<u64>,
    /// Attributes to tell of each node, by name.
    #[schemars(length(max = 32))]
    pub attrs: Option<Vec<String>>,
    /// Only what differs from this snapshot.
    pub since: Option<String>,
    /// Whether to tell what is new on the page.
    pub causal: Option<bool>,
}

/// What `find` looks for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words of a name or a role.
    pub query: Option<String>,
    /// Only this role.
    pub role: Option<String>,
    /// Only names that are equal.
    pub exact: bool,
}

/// A snapshot, in a reply's words.
#[derive(Debug, Serialize)]
pub struct Snapshot {
    /// The main document's URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The rest.
    #[serde(flatten)]
    pub body: Body,
}

/// A snapshot without the page's address and title.
#[derive(Debug, Serialize)]
pub struct Body {
    /// The snapshot's name, for `since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Box<RawValue>>,
    /// The same as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outline: Option<String>,
    /// With `since`: the snapshot that this differs from, `null` if it is a full one.
    #[serde(flatten)]
    pub diff: Map<String, Value>,
    /// Refs in it.
    pub count: u64,
    /// Refs there are.
    pub total: u64,
    /// What cut it short, or `false`.
    pub truncated: Value,
}

/// What a frame's part begins with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Header {
    url: String,
    title: String,
    count: u64,
    total: u64,
    truncated: Value,
    frames: Vec<FrameAt>,
    base: Option<String>,
    removed: Vec<String>,
    class: Option<u8>,
}

#[derive(Debug, Deserialize)]
struct FrameAt {
    line: usize,
    frame: Option<u32>,
}

/// One frame's part: its header and its records.
struct Part {
    document: Document,
    header: Header,
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

    fn records(&self) -> impl Iterator<Item = &str> {
        self.text[self.body..].split('\n').filter(|l| !l.is_empty())
    }
}

/// The snapshot's text as it is put together.
struct Gather {
    format: Format,
    out: String,
    count: u64,
    max: u64,
    max_chars: u64,
    cut: Option<&'static str>,
}

impl Gather {
    fn new(wanted: &ReadArgs) -> Gather {
        let (max, max_chars) = wanted.limits();
        let nodes = wanted.format == Format::Nodes;
        Gather {
            format: wanted.format,
            out: if nodes { "[".to_owned() } else { String::new() },
            count: 0,
            max: max.into(),
            max_chars,
            cut: None,
        }
    }

    /// Adds a record at `base` levels below where its frame put it. False once the caps are met.
    fn add(&mut self, record: &str, base: usize) -> bool {
        if self.cut.is_some() {
            return false;
        }
        let has_ref = match self.format {
            Format::Nodes => record.starts_with("{\"ref\""),
            Format::Outline => record
                .split_once('\t')
                .is_some_and(|(_, line)| line.starts_with('[')),
        };
        if has_ref && self.count >= self.max {
            self.cut = Some("refs");
            return false;
        }
        let before = self.out.len();
        match self.format {
            Format::Nodes => {
                let mut parts = record.splitn(3, '\t');
                let head = parts.next().unwrap_or_default();
                let depth: usize = parts.next().and_then(|d| d.parse().ok()).unwrap_or(0);
                let tail = parts.next().unwrap_or("}");
                if before > 1 {
                    self.out.push(',');
                }
                let _ = write!(self.out, "{head},\"depth\":{}{tail}", depth + base);
            }
            Format::Outline => {
                let (depth, line) = record.split_once('\t').unwrap_or(("0", record));
                let depth = depth.parse().unwrap_or(0) + base;
                self.out.extend(std::iter::repeat_n("  ", depth.min(40)));
                self.out.push_str(line);
                self.out.push('\n');
            }
        }
        // Bytes stand for characters: never more than was asked for.
        if self.out.len() as u64 > self.max_chars {
            self.out.truncate(before);
            self.cut = Some("chars");
            return false;
        }
        self.count += u64::from(has_ref);
        true
    }

    /// Adds a part, and at its frame nodes the parts of those frames. False once the caps are met.
    fn add_part(&mut self, parts: &[Part], at: usize, base: usize) -> bool {
        let part = &parts[at];
        for (line, record) in part.records().enumerate() {
            if !self.add(record, base) {
                return false;
            }
            let frame = part.header.frames.iter().find(|f| f.line == line);
            let Some(number) = frame.and_then(|f| f.frame) else {
                continue;
            };
            // Parents come before their children: no part can hold itself.
            let inner = (at + 1..parts.len()).find(|i| parts[*i].document.number == Some(number));
            if let Some(inner) = inner {
                let depth = depth_of(record, self.format) + base;
                if !self.add_part(parts, inner, depth + 1) {
                    return false;
                }
            }
        }
        true
    }
}

fn depth_of(record: &str, format: Format) -> usize {
    let field = match format {
        Format::Nodes => record.split('\t').nth(1),
        Format::Outline => record.split('\t').next(),
    };
    field.and_then(|d| d.parse().ok()).unwrap_or(0)
}

impl ReadArgs {
    /// The ref that `root` is, if it is one.
    pub fn root_ref(&self) -> Option<Ref> {
        self.root.as_deref()?.parse().ok()
    }

    fn limits(&self) -> (u32, u64) {
        let chars = match self.format {
            Format::Nodes => MAX_CHARS_NODES,
            Format::Outline => MAX_CHARS_OUTLINE,
        };
        (
            self.max.unwrap_or(MAX_REFS),
            self.max_chars.unwrap_or(chars),
        )
    }

    fn page_args(&self, root: Option<Value>, deadline: Instant) -> Map<String, Value> {
        let (max, max_chars) = self.limits();
        let format = match self.format {
            Format::Nodes => "nodes",
            Format::Outline => "outline",
        };
        args(json!({
            "format": format,
            "root": root,
            "interactive": self.interactive,
            "viewport_only": self.viewport_only,
            "full": self.full,
            "max": max,
            "max_chars": max_chars,
            "attrs": self.attrs.clone().unwrap_or_default(),
            "since": self.since,
            "causal": self.causal.unwrap_or(true),
            "window_ms": 4000,
            "budget_ms": budget_ms(deadline).min(10_000),
        }))
    }
}

/// The document a `root` is in, and the argument by which its page function knows it.
pub fn root_of(main: &Document, root: Option<&str>) -> Result<(Document, Option<Value>)> {
    let Some(root) = root else {
        return Ok((main.clone(), None));
    };
    match root.parse::<Ref>() {
        Ok(r) => {
            let locator = Locator {
                r#ref: Some(r),
                ..Locator::default()
            };
            let document = locator.document(&main.browser, &main.session, &main.tab)?;
            Ok((document, Some(json!({"ref": r.number}))))
        }
        Err(_) => Ok((main.clone(), Some(json!({"selector": root})))),
    }
}

/// Reads the page, from `root` or whole, with all the frames in it.
pub async fn read(main: &Document, wanted: &ReadArgs, deadline: Instant) -> Result<Snapshot> {
    let (top, root) = root_of(main, wanted.root.as_deref())?;
    let snapshot = main.tab.next_snapshot();
    let mut page_args = wanted.page_args(root, deadline);
    page_args.insert("snapshot".to_owned(), snapshot.as_str().into());
    let parts = parts(&top, "read", page_args, wanted.limits().0, deadline).await?;
    assemble(main, wanted, Some(snapshot), &parts)
}

/// Looks through the whole page, and all the frames in it.
pub async fn find(
    main: &Document,
    query: &Query,
    max: u32,
    format: Format,
    deadline: Instant,
) -> Result<Snapshot> {
    let wanted = ReadArgs {
        format,
        max: Some(max),
        ..ReadArgs::default()
    };
    let mut page_args = wanted.page_args(None, deadline);
    page_args.extend(args(json!({
        "query": query.query,
        "role": query.role,
        "exact": query.exact,
    })));
    let mut parts = parts(main, "find", page_args, max, deadline).await?;
    // Exact names first, then substrings, then all words: only the best that any frame has.
    let (url, title) = address(main, &parts);
    let with_matches = parts.iter().filter(|p| p.header.total > 0);
    let best = with_matches.filter_map(|p| p.header.class).min();
    parts.retain(|p| best.is_none() || p.header.class == best);
    for part in &mut parts {
        part.header.frames.clear();
    }
    let mut snapshot = assemble(main, &wanted, None, &parts)?;
    (snapshot.url, snapshot.title) = (url, title);
    Ok(snapshot)
}

/// Asks the top document and every frame below it, all at once; parents come before children.
async fn parts(
    top: &Document,
    function: &str,
    page_args: Map<String, Value>,
    refs: u32,
    deadline: Instant,
) -> Result<Vec<Part>> {
    let mut asked = tokio::task::JoinSet::new();
    for (at, document) in super::frames::below(top, deadline)
        .await
        .into_iter()
        .enumerate()
    {
        let (function, mut page_args) = (function.to_owned(), page_args.clone());
        page_args.remove("root");
        asked.spawn(async move {
            let part = ask(&document, &function, page_args, refs, Again::Yes, deadline).await;
            (at, part)
        });
    }
    let again = match page_args.contains_key("root") {
        true => Again::No,
        false => Again::Yes,
    };
    let mut all = vec![ask(top, function, page_args, refs, again, deadline).await?];
    let mut rest = Vec::new();
    while let Some(done) = asked.join_next().await {
        // A frame that cannot be read costs its part only.
        if let Ok((at, Ok(part))) = done {
            rest.push((at, part));
        }
    }
    rest.sort_by_key(|(at, _)| *at);
    all.extend(rest.into_iter().map(|(_, part)| part));
    Ok(all)
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
    page_args.insert("next".to_owned(), lease.range.start.into());
    page_args.insert("end".to_owned(), lease.range.end.into());
    let call = format!(
        "tabd.{function}({}, getEventListeners)",
        Value::Object(page_args)
    );
    let mut answer = document.script(&call, again, deadline).await?;
    if super::frames::adopt_closed_roots(document, &answer, deadline).await {
        answer = document.script(&call, again, deadline).await?;
    }
    if let Some(error) = super::failure(&answer) {
        return Err(document.place_error(error));
    }
    if let Some(next) = super::next_of(&answer) {
        numbers.give_back(&lease, next);
    }
    Part::parse(document.clone(), answer)
}

/// The page's URL and title: its own word, where it was asked.
fn address(main: &Document, parts: &[Part]) -> (String, String) {
    match parts.first() {
        Some(part) if part.document.is_main() => {
            (part.header.url.clone(), part.header.title.clone())
        }
        _ => (main.tab.url(), main.tab.title()),
    }
}

fn assemble(
    main: &Document,
    wanted: &ReadArgs,
    snapshot: Option<String>,
    parts: &[Part],
) -> Result<Snapshot> {
    let mut gather = Gather::new(wanted);
    let is_diff = !parts.is_empty() && parts.iter().all(|p| p.header.base.is_some());
    let mut diff = Map::new();
    if is_diff {
        diff = differences(parts, wanted.since.as_deref());
        gather.count = parts.iter().map(|p| p.header.count).sum();
    } else {
        if wanted.since.is_some() {
            diff.insert("base".to_owned(), Value::Null);
        }
        // Without frame nodes, as in what find answers, one part follows another.
        let flat = parts.iter().all(|p| p.header.frames.is_empty());
        for at in 0..if flat { parts.len() } else { 1 } {
            if !gather.add_part(parts, at, 0) {
                break;
            }
        }
    }
    let total = parts.iter().map(|p| p.header.total).sum::<u64>();
    let told = |word: &str| parts.iter().any(|p| p.header.truncated == word);
    let truncated = match gather.cut {
        Some(cut) => cut.into(),
        None if told("budget") => "budget".into(),
        None if told("refs") => "refs".into(),
        None if told("chars") => "chars".into(),
        None => Value::Bool(false),
    };
    let (url, title) = address(main, parts);
    let (nodes, outline) = match wanted.format {
        _ if is_diff => (None, None),
        Format::Nodes => {
            gather.out.push(']');
            let nodes = RawValue::from_string(gather.out)
                .map_err(|e| Code::Internal.because(format!("a snapshot that is no JSON: {e}")))?;
            (Some(nodes), None)
        }
        Format::Outline => (None, Some(gather.out)),
    };
    Ok(Snapshot {
        url,
        title,
        body: Body {
            snapshot,
            nodes,
            outline,
            diff,
            count: gather.count,
            total: total.max(gather.count),
            truncated,
        },
    })
}

/// With a base in every frame: what was added, changed and removed since.
fn differences(parts: &[Part], since: Option<&str>) -> Map<String, Value> {
    let (mut added, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        removed.extend(part.header.removed.iter().cloned().map(Value::from));
        for record in part.records() {
            let mut fields = record.splitn(5, '\t');
            let kind = fields.next();
            let after = fields.next().unwrap_or_default();
            let head = fields.next().unwrap_or_default();
            let depth = fields.next().unwrap_or("0");
            let tail = fields.next().unwrap_or("}");
            let node = format!("{head},\"depth\":{depth}{tail}");
            let Ok(Value::Object(mut node)) = serde_json::from_str(&node) else {
                continue;
            };
            let after = match after {
                "" => Value::Null,
                after => after.into(),
            };
            node.insert("after".to_owned(), after);
            match kind {
                Some("A") => added.push(Value::Object(node)),
                _ => changed.push(Value::Object(node)),
            }
        }
    }
    args(json!({"base": since, "added": added, "changed": changed, "removed": removed}))
}
