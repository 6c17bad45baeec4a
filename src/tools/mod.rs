//! The table of tools: everything that the socket, the command line and the docs offer comes from [`TOOLS`].
//!
//! A tool is one file with one struct (its arguments; its doc comment is its description) and one row here.

mod call;
mod check;
mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use call::{Call, Cancel, Client, Daemon, Subscription};
pub use check::check;
pub use common::*;
#[cfg(test)]
pub(crate) use probe::{log as probe_log, open as probe_open};

use crate::error::{Code, Error, Result, quoted};
pub use crate::progress::{ACTION, Acted, NAVIGATION};
use crate::wire::nearest;

/// What kind of thing a tool is; order, the dialog rule and the heading in help follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answered at once, outside every lane; needs no session.
    Daemon,
    /// Looks at a page, in its session's lane.
    See,
    /// Acts on a page, in its session's lane.
    Act,
    /// Passes other connections' calls, but waits for earlier requests of its own connection and
    /// session unless `now` is true.
    Unblock,
}

/// One tool. The type is its arguments, after [`check()`] has passed them.
pub trait Tool: DeserializeOwned + JsonSchema + Send + Sized + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// See [`Kind`].
    const KIND: Kind;
    /// Arguments that bare words on the command line fill, in order.
    const BARE: &'static [&'static str] = &[];
    /// Whether the tool takes `tab`.
    const TAKES_TAB: bool = matches!(Self::KIND, Kind::See | Kind::Act);
    /// Argument objects, as JSON, that help shows and tests check.
    const EXAMPLES: &'static [&'static str];
    /// The `result` object.
    type Output: Serialize + Send;

    /// The time the call has if the request names none, from leaving the queue.
    fn allowance(&self) -> Duration {
        ACTION
    }

    /// Does it. Dropping the future cancels the call.
    fn run(self, call: &Call) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// A call's future: resolves to the `result` object's JSON text.
pub type Running = Pin<Box<dyn Future<Output = Result<String>> + Send>>;

/// A tool without its type: one row of [`TOOLS`].
pub struct Entry {
    /// Its name on the wire.
    pub name: &'static str,
    /// See [`Kind`].
    pub kind: Kind,
    /// Arguments that bare words fill, in order.
    pub bare: &'static [&'static str],
    /// Whether it takes `tab`.
    pub takes_tab: bool,
    /// Argument objects as JSON.
    pub examples: &'static [&'static str],
    schema: fn() -> Value,
    prepare: fn(&Value) -> Result<Prepared>,
}

/// A checked call that has not begun.
pub struct Prepared {
    /// The time it has if the request names none.
    pub allowance: Duration,
    start: Box<dyn FnOnce(Arc<Call>) -> Running + Send>,
}

impl Prepared {
    /// Begins the call. A panic inside becomes one `internal`, in the dispatcher.
    pub fn start(self, call: Arc<Call>) -> Running {
        (self.start)(call)
    }
}

const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        kind: T::KIND,
        bare: T::BARE,
        takes_tab: T::TAKES_TAB,
        examples: T::EXAMPLES,
        schema: || check::schema_of::<T>(T::TAKES_TAB),
        prepare: |args| {
            let tool = T::deserialize(args).map_err(|e| {
                Code::BadRequest
                    .because(format!("{}: {e}", T::NAME))
                    .hint(format!("see `tabd help {}`", T::NAME))
            })?;
            Ok(Prepared {
                allowance: tool.allowance(),
                start: Box::new(move |call| {
                    Box::pin(async move {
                        let output = tool.run(&call).await;
                        let output = output.map_err(|error| about_tab(&call, error))?;
                        let text = serde_json::to_string(&output)
                            .map_err(|e| internal(format!("{}: reply: {e}", T::NAME)))?;
                        Ok(with_tab(&call, text))
                    })
                }),
            })
        },
    }
}

/// Adds to a reply's object what every reply about a tab holds: `tab`, and the dialogs that closed
/// by themselves.
fn with_tab(call: &Call, mut object: String) -> String {
    let Some(tab) = call.used_tab() else {
        return object;
    };
    let dialogs = told_dialogs(&tab);
    if object.pop() == Some('}') {
        if !object.ends_with('{') {
            object.push(',');
        }
        object.push_str(&format!("\"tab\":\"{}\"", tab.id));
        if !dialogs.is_empty() {
            object.push_str(&format!(",\"dialogs\":{}", Value::Array(dialogs)));
        }
        object.push('}');
    }
    object
}

/// The same for an error, in its `data`; and, where it matters, whether the call has acted.
fn about_tab(call: &Call, error: Error) -> Error {
    let error = with_acted(call, error);
    let Some(tab) = call.used_tab() else {
        return error;
    };
    let error = error.fact("tab", tab.id.to_string());
    match told_dialogs(&tab) {
        none if none.is_empty() => error,
        dialogs => error.fact("dialogs", dialogs),
    }
}

/// Whatever failed knows only its own part: what the whole call had done by then counts (contract,
/// "Did it happen?").
fn with_acted(call: &Call, error: Error) -> Error {
    let open_ended = matches!(
        error.code(),
        Code::Timeout
            | Code::Cancelled
            | Code::BrowserCrashed
            | Code::TabCrashed
            | Code::DialogOpen
    );
    let told = error.facts().get("acted").and_then(Value::as_str);
    match (told, call.acted()) {
        (Some("yes"), _) | (Some("unknown"), Acted::No) => error,
        (_, acted) if open_ended => error.fact("acted", acted.word()),
        _ => error,
    }
}

fn told_dialogs(tab: &crate::browser::Tab) -> Vec<Value> {
    let closed = tab.take_closed_dialogs();
    closed.iter().map(crate::browser::dialogs::told).collect()
}

// Each is made when it is first asked for: the command line needs one of them a call.
static SCHEMAS: LazyLock<Vec<OnceLock<Value>>> =
    LazyLock::new(|| TOOLS.iter().map(|_| OnceLock::new()).collect());

impl Entry {
    /// The tool that `name` names, or a `bad_request` with the nearest name.
    pub fn find(name: &str) -> Result<&'static Entry> {
        TOOLS.iter().find(|e| e.name == name).ok_or_else(|| {
            let error = Code::BadRequest
                .because(format!("there is no tool {}", quoted(name, 80)))
                .fact("tool", name.chars().take(80).collect::<String>());
            match nearest(name, TOOLS.iter().map(|e| e.name)) {
                Some(near) => error.hint(format!("did you mean \"{near}\"?")),
                None => error.hint("{\"tool\":\"tools\"} lists them all"),
            }
        })
    }

    /// The arguments' JSON Schema: a flat object with descriptions.
    pub fn schema(&self) -> &'static Value {
        let at = TOOLS.iter().position(|e| e.name == self.name);
        SCHEMAS[at.expect("an Entry stands in TOOLS")].get_or_init(self.schema)
    }

    /// What the tool is for, from its doc comment.
    pub fn description(&self) -> &'static str {
        self.schema()["description"].as_str().unwrap_or_default()
    }

    /// Checks `args` against the schema and takes `tab` out of them.
    pub fn check(&self, args: Map<String, Value>) -> Result<Checked> {
        let mut args = check(self.name, self.schema(), args)?;
        let now = args.get("now").and_then(Value::as_bool) == Some(true);
        let tab = match args.get("tab") {
            Some(Value::String(_)) if self.takes_tab => match args.remove("tab") {
                Some(Value::String(tab)) => Some(tab.parse()?),
                _ => None,
            },
            _ => None,
        };
        let args = Value::Object(args);
        Ok(Checked {
            tab,
            now,
            prepared: (self.prepare)(&args)?,
            args,
        })
    }

    /// Prepares a call once more, from arguments that passed: for one that the browser's death kept
    /// from beginning.
    pub fn prepare(&self, args: &Value) -> Result<Prepared> {
        (self.prepare)(args)
    }
}

/// Arguments that passed.
pub struct Checked {
    /// The common argument `tab`, if the tool takes it and it was given.
    pub tab: Option<TabId>,
    /// Whether `now:true` was given ([`Kind::Unblock`]).
    pub now: bool,
    /// The call itself.
    pub prepared: Prepared,
    /// The arguments, for [`Entry::prepare`].
    pub args: Value,
}

macro_rules! table {
    ($($(#[$m:meta])* $file:ident :: $tool:ident,)*) => {
        $($(#[$m])* mod $file;)*
        /// Every tool, in the order of the help.
        pub static TOOLS: &[Entry] = &[$($(#[$m])* entry::<$file::$tool>(),)*];
    };
}

table! {
    open::Open,
    back::Back,
    forward::Forward,
    reload::Reload,
    tabs::Tabs,
    tab_new::TabNew,
    tab_select::TabSelect,
    tab_close::TabClose,
    sessions::Sessions,
    session_close::SessionClose,
    read::Read,
    find::Find,
    text::Text,
    html::Html,
    screenshot::Screenshot,
    pdf::Pdf,
    wait::Wait,
    click::Click,
    hover::Hover,
    type_text::Type,
    press::Press,
    select::Select,
    check_box::Check,
    scroll::Scroll,
    drag::Drag,
    upload::Upload,
    evaluate::Evaluate,
    dialog::Dialog,
    ping::Ping,
    tools::Tools,
    info::Info,
    subscribe::Subscribe,
    unsubscribe::Unsubscribe,
    cancel::CancelCalls,
    shutdown::ShutDown,
    #[cfg(test)]
    probe::Probe,
    #[cfg(test)]
    probe_unblock::ProbeUnblock,
}

/// Wraps up a tool's failure that is not the client's.
pub(crate) fn internal(what: impl std::fmt::Display) -> Error {
    Code::Internal.because(what.to_string())
}
