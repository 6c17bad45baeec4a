//! Snapshots: every frame's part is asked for at once, and put together in reading order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::delta::{self, differences};
use super::gather::Gather;
use super::locate::Locator;
use super::parts::{Parts, parts};
use super::{Document, args, budget_ms};
use crate::error::{Code, Result};
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

impl ReadArgs {
    /// The ref that `root` is, if it is one.
    pub fn root_ref(&self) -> Option<Ref> {
        self.root.as_deref()?.parse().ok()
    }

    pub(super) fn limits(&self) -> (u32, u64) {
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
    let base = wanted.since.as_deref();
    let base = base.and_then(|since| main.tab.frames_of_view(since));
    if base.is_none() {
        page_args.remove("since");
    }
    let (max, _) = wanted.limits();
    let mut read = parts(&top, "read", page_args.clone(), max, deadline).await?;
    let is_diff = base.is_some_and(|base| delta::holds(&read, &base, wanted));
    if !is_diff && read.parts.iter().any(|p| p.header.base.is_some()) {
        // No frame's difference will do, so each has to be asked for the whole.
        page_args.remove("since");
        read = parts(&top, "read", page_args, max, deadline).await?;
    }
    assemble(main, wanted, Some(snapshot), &read, is_diff)
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
    let mut found = parts(main, "find", page_args, max, deadline).await?;
    // Exact names first, then substrings, then all words: only the best that any frame has.
    let matches = found
        .parts
        .iter()
        .filter(|p| p.header.total > 0 || p.has_records());
    let best = matches.filter_map(|p| p.header.class).min();
    for part in &mut found.parts {
        if part.header.class != best {
            part.drop_records();
        }
    }
    assemble(main, &wanted, None, &found, false)
}

/// The page's URL and title: its own word, where it was asked.
fn address(main: &Document, read: &Parts) -> (String, String) {
    match read.parts.first() {
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
    read: &Parts,
    is_diff: bool,
) -> Result<Snapshot> {
    let mut gather = Gather::new(wanted, read);
    let mut diff = Map::new();
    if is_diff {
        diff = differences(read, wanted.since.as_deref());
        gather.skim();
    } else {
        if wanted.since.is_some() {
            diff.insert("base".to_owned(), Value::Null);
        }
        gather.gather();
    }
    let total = gather.total;
    let truncated = gather.truncated();
    // What was cut here is not what the pages' scripts keep as the view.
    if let Some(snapshot) = &snapshot
        && !gather.is_cut_short()
    {
        main.tab.keep_view(snapshot.clone(), delta::frames_of(read));
    }
    let (url, title) = address(main, read);
    let count = gather.count;
    let (nodes, outline) = match wanted.format {
        _ if is_diff => (None, None),
        Format::Nodes => {
            let nodes = RawValue::from_string(gather.into_text())
                .map_err(|e| Code::Internal.because(format!("a snapshot that is no JSON: {e}")))?;
            (Some(nodes), None)
        }
        Format::Outline => (None, Some(gather.into_text())),
    };
    Ok(Snapshot {
        url,
        title,
        body: Body {
            snapshot,
            nodes,
            outline,
            diff,
            count,
            total: total.max(count),
            truncated,
        },
    })
}
