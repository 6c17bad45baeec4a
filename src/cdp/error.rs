//! Why a command failed: the one place where Chromium's texts are recognised.

use std::fmt;

/// Why a command has no reply, or one that says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CdpError {
    /// The browser is gone, or the connection was closed: whether it acted is unknown.
    Closed,
    /// The target's renderer died; a navigation may revive it.
    TargetCrashed,
    /// The CDP session ended while the command waited: its target is gone.
    Detached,
    /// The deadline passed; whether the browser acts on it later is unknown.
    Deadline,
    /// There is no such CDP session (any more): the target is gone.
    NoSession,
    /// There is no such target.
    NoTarget,
    /// There is no such browser context.
    NoBrowserContext,
    /// There is no such frame.
    NoFrame,
    /// The execution context is gone: its document was left while, or before, the command ran.
    ContextGone,
    /// There is no such execution context (any more): nothing ran.
    NoContext,
    /// The node or object is gone, or belongs to another document.
    NodeGone,
    /// The node has no box: not rendered, or detached.
    NoBox,
    /// There is no such entry in the history.
    NoEntry,
    /// No JavaScript dialog is open.
    NoDialog,
    /// The URL does not parse.
    InvalidUrl,
    /// The script was stopped by its time limit or by `Runtime.terminateExecution`.
    Terminated,
    /// The value cannot be told as JSON: a cycle, too deep, or nothing JSON has.
    NotJson,
    /// The page has fewer pages on paper than were asked for.
    NoSuchPage,
    /// The margins leave nothing of the paper.
    NoPaper,
    /// The request is no longer paused, or its body no longer kept: its page has given it up.
    NoRequest,
    /// Any other refusal, in Chromium's words.
    Protocol {
        /// JSON-RPC's number: -32602 for bad parameters, -32000 for most others.
        code: i64,
        /// What Chromium says, `message` and `data`.
        message: String,
    },
    /// The command or its reply is not of the form that the schema tells.
    Decode(String),
}

/// What Chromium's texts begin with or hold, and what they mean.
const TEXTS: &[(&str, CdpError)] = &[
    ("Session with given id not found", CdpError::NoSession),
    ("No session with given id", CdpError::NoSession),
    ("No target with given id", CdpError::NoTarget),
    ("Failed to find browser context", CdpError::NoBrowserContext),
    ("Failed to find context with id", CdpError::NoBrowserContext),
    ("No target found for targetId", CdpError::NoTarget),
    ("No entry with passed id", CdpError::NoEntry),
    ("No resource with given identifier", CdpError::NoRequest),
    (
        "No data found for resource with given identifier",
        CdpError::NoRequest,
    ),
    ("uniqueContextId not found", CdpError::NoContext),
    ("Cannot find context with specified id", CdpError::NoContext),
    (
        "Cannot find default execution context",
        CdpError::ContextGone,
    ),
    ("Execution context was destroyed", CdpError::ContextGone),
    (
        "Execution context is not available in detached frame",
        CdpError::ContextGone,
    ),
    (
        "Inspected target navigated or closed",
        CdpError::ContextGone,
    ),
    ("Not attached to an active page", CdpError::ContextGone),
    ("Promise was collected", CdpError::ContextGone),
    ("No frame for given id found", CdpError::NoFrame),
    ("No frame with given id found", CdpError::NoFrame),
    ("Frame with the given id was not found", CdpError::NoFrame),
    (
        "Frame with the given frameId is not found",
        CdpError::NoFrame,
    ),
    ("Could not find node with given id", CdpError::NodeGone),
    ("No node with given id found", CdpError::NodeGone),
    ("No node found for given backend id", CdpError::NodeGone),
    (
        "Node with given id does not belong to the document",
        CdpError::NodeGone,
    ),
    ("Could not find object with given id", CdpError::NodeGone),
    ("Invalid remote object id", CdpError::NodeGone),
    (
        "Cannot find context with given id for remote object",
        CdpError::NodeGone,
    ),
    ("Node is detached from document", CdpError::NoBox),
    ("Node does not have a layout object", CdpError::NoBox),
    ("Could not compute content quads", CdpError::NoBox),
    ("Could not compute box model", CdpError::NoBox),
    ("No dialog is showing", CdpError::NoDialog),
    ("Cannot navigate to invalid URL", CdpError::InvalidUrl),
    ("Execution was terminated", CdpError::Terminated),
    ("Object reference chain is too long", CdpError::NotJson),
    ("Object couldn't be returned by value", CdpError::NotJson),
    ("CBOR: stack limit exceeded", CdpError::NotJson),
    ("Invalid InterceptionId", CdpError::NoRequest),
    ("Page range exceeds page count", CdpError::NoSuchPage),
    ("content area is empty", CdpError::NoPaper),
    ("Target crashed", CdpError::TargetCrashed),
];

impl CdpError {
    /// What a refusal means.
    pub(super) fn refusal(code: i64, message: &str, data: Option<&str>) -> CdpError {
        if let Some((_, error)) = TEXTS.iter().find(|(text, _)| message.contains(text)) {
            return error.clone();
        }
        let message = match data {
            Some(data) => format!("{message}: {data}"),
            None => message.to_owned(),
        };
        CdpError::Protocol { code, message }
    }

    /// True if the command found nothing to act on, because its document, frame, target or node
    /// is gone: looking again may help.
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            CdpError::NoSession
                | CdpError::NoTarget
                | CdpError::NoFrame
                | CdpError::ContextGone
                | CdpError::NoContext
                | CdpError::NodeGone
                | CdpError::Detached
        )
    }
}

impl fmt::Display for CdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CdpError::Closed => "the browser is gone",
            CdpError::TargetCrashed => "the page's process died",
            CdpError::Detached => "the page went away during the command",
            CdpError::Deadline => "the browser did not answer in time",
            CdpError::NoSession => "the page is gone",
            CdpError::NoTarget => "there is no such target",
            CdpError::NoBrowserContext => "there is no such browser context",
            CdpError::NoFrame => "there is no such frame",
            CdpError::ContextGone | CdpError::NoContext => "the document is gone",
            CdpError::NodeGone => "the element is gone",
            CdpError::NoBox => "the element has no box",
            CdpError::NoEntry => "there is no such entry in the history",
            CdpError::NoDialog => "no dialog is open",
            CdpError::InvalidUrl => "the URL does not parse",
            CdpError::Terminated => "the script was stopped",
            CdpError::NotJson => "the value cannot be told as JSON",
            CdpError::NoSuchPage => "there are no such pages",
            CdpError::NoPaper => "the margins leave nothing of the paper",
            CdpError::NoRequest => "the request is no longer there",
            CdpError::Protocol { code, message } => {
                return write!(f, "the browser refused: {message} ({code})");
            }
            CdpError::Decode(why) => {
                return write!(f, "the browser's message makes no sense: {why}");
            }
        })
    }
}

impl std::error::Error for CdpError {}
