//! A caller's script in the page: how it is run, awaited and ended.
//!
//! `Runtime.evaluate` compiles it outside of the page's content security policy; nothing is compiled
//! in the page. What it gives is told by `value.rs`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use super::act::{Acting, Before, Done, Told};
use super::locate::Locator;
use super::value::{Value, remote};
use super::{AHEAD, Again, Document, args, value};
use crate::browser::{Place, Tab};
use crate::cdp::runtime::{self, CallArgument, ExceptionDetails, RemoteObject, RemoteObjectId};
use crate::cdp::{CdpError, Command, Pending, SessionId, dom, page as cdp_page};
use crate::error::{Code, Error, Result};
use crate::progress::{Acted, Progress};

/// The object group of everything a script leaves to be looked at.
const GROUP: &str = "tabd-evaluate";
/// The world for `world:"isolated"`: not tabd's own, which a script could break.
const ISOLATED: &str = "tabd-evaluate";
/// How long after a script a page counts as still watching for what the next one does. It watches
/// longer by itself.
const GOES_ON: Duration = Duration::from_millis(500);
/// How long an idle page may take to say so before a script is ended.
const SIGN: Duration = Duration::from_millis(100);
/// How often a script is ended before its page is left alone.
const STOPS: usize = 100;

/// What is to be run, and where.
pub struct Script {
    /// Its text.
    pub source: String,
    /// In an isolated world, instead of the page's own.
    pub isolated: bool,
    /// The longest value, in bytes of text.
    pub max_bytes: usize,
}

/// What a script gave; no value where a dialog or a navigation came first.
pub struct Evaluated {
    /// Its value.
    pub value: Option<Value>,
    /// What it did.
    pub done: Done,
}

/// Why there is no value.
pub(super) enum Stop {
    /// The script never ran: its document had just been left.
    NotRun,
    /// It began, and its document is gone or held by a dialog.
    Interrupted,
    /// As it says.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match error.code() {
            Code::DialogOpen => Stop::Interrupted,
            _ => Stop::Error(error),
        }
    }
}

/// Runs a script, waits for what it promises, and for the page to settle after it.
///
/// Dropping this future ends the script if it still runs.
pub async fn evaluate(
    call: &Progress,
    document: &Document,
    el: &Locator,
    script: &Script,
    acting: &Acting,
) -> Result<Evaluated> {
    loop {
        let before = Before::new(document);
        let run = Run::prepare(call, document, el, script).await?;
        match run.to_end(script).await {
            Ok((value, told)) => {
                run.release();
                call.set_acted(Acted::Yes);
                let done = match told {
                    Some(told) => before.after_told(call, acting, told).await?,
                    None => before.after(call, acting).await?,
                };
                let value = Some(value);
                return Ok(Evaluated { value, done });
            }
            Err(Stop::Interrupted) => {
                call.set_acted(Acted::Yes);
                let done = before.after(call, acting).await?;
                return Ok(Evaluated { value: None, done });
            }
            Err(Stop::NotRun) => {
                call.set_acted(Acted::No);
                if call.remaining().is_zero() {
                    return Err(call.timed_out("the page keeps being left"));
                }
                document.tab.until_left(&run.place, call.deadline()).await?;
            }
            Err(Stop::Error(error)) => {
                run.release();
                return Err(error);
            }
        }
    }
}

/// One run of a script, in one document.
pub(super) struct Run<'a> {
    call: &'a Progress,
    pub(super) document: &'a Document,
    /// Where it runs; for an isolated world, where its page's own scripts do.
    place: Place,
    world: World,
    el: Option<RemoteObjectId>,
}

enum World {
    /// By unique context id.
    Page(String),
    /// By number.
    Isolated(i64),
}

/// How the source is written out, so that it is an expression or sees `el`.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Plain,
    /// In parentheses: an object or a function, not a block or a declaration.
    Expression,
}

impl<'a> Run<'a> {
    async fn prepare(
        call: &'a Progress,
        document: &'a Document,
        el: &Locator,
        script: &Script,
    ) -> Result<Run<'a>> {
        let deadline = call.deadline();
        let tab = &document.tab;
        let place = tab.place(&document.frame, true, deadline).await?;
        let (world, number) = match script.isolated {
            false => (World::Page(place.context.clone()), place.number),
            true => {
                let create = cdp_page::CreateIsolatedWorld {
                    frame_id: document.frame.clone(),
                    world_name: Some(ISOLATED.to_owned()),
                    ..Default::default()
                };
                let made = tab.send_to(&place.cdp_session, &create)?.by(deadline).await;
                let made = made.map_err(|e| tab.error("making an isolated world", e))?;
                let number = made.execution_context_id;
                (World::Isolated(number), number)
            }
        };
        let mut run = Run {
            call,
            document,
            place,
            world,
            el: None,
        };
        if let Some(r) = el.r#ref {
            document
                .call("locate", el.args(), super::FEW, Again::No, deadline)
                .await?;
            run.el = Some(run.element(r.number, number).await?);
        }
        Ok(run)
    }

    /// The element of a ref as an object of the script's world.
    async fn element(&self, number: u32, world: i64) -> Result<RemoteObjectId> {
        let deadline = self.call.deadline();
        let tab = &self.document.tab;
        let fail = |e: CdpError| tab.error("the element", e);
        let own = tab.place(&self.document.frame, false, deadline).await?;
        let evaluate = runtime::Evaluate {
            expression: format!("tabd.element({number})"),
            unique_context_id: Some(own.context),
            object_group: Some(GROUP.to_owned()),
            ..Default::default()
        };
        let found = tab.send_to(&own.cdp_session, &evaluate)?.by(deadline);
        let found = found.await.map_err(fail)?;
        let describe = dom::DescribeNode {
            object_id: found.result.object_id,
            ..Default::default()
        };
        let node = tab.send_to(&own.cdp_session, &describe)?.by(deadline);
        let node = node.await.map_err(fail)?.node;
        let resolve = dom::ResolveNode {
            backend_node_id: Some(node.backend_node_id),
            object_group: Some(GROUP.to_owned()),
            execution_context_id: Some(world),
            ..Default::default()
        };
        let object = tab.send_to(&own.cdp_session, &resolve)?.by(deadline);
        let object = object.await.map_err(fail)?.object;
        object
            .object_id
            .ok_or_else(|| Code::Internal.because("an element without an object"))
    }

    /// Its value, and the page's word after it where nothing else had to be waited for.
    async fn to_end(&self, script: &Script) -> Result<(Value, Option<Told>), Stop> {
        let source = script.source.as_str();
        let mut form = match is_expression(source) {
            true => Form::Expression,
            false => Form::Plain,
        };
        let shift = |form| i64::from(self.el.is_some() || matches!(form, Form::Expression));
        let (object, mut told) = loop {
            let (reply, told) = self.run(source, form).await?;
            match reply.exception_details {
                None => break (reply.result, told),
                // It was a block or a declaration after all. Nothing of it has run.
                Some(thrown) if matches!(form, Form::Expression) && is_syntax_error(&thrown) => {
                    form = Form::Plain;
                }
                Some(thrown) => return Err(self.thrown(thrown, shift(form)).await),
            }
        };
        let mut object = object;
        if object.r#type == runtime::RemoteObjectType::Function
            && is_lone_function(source, object.description.as_deref().unwrap_or_default())
        {
            told = None;
            object = self.call_function(&object, shift(form)).await?;
        }
        if object.subtype == Some(runtime::RemoteObjectSubtype::Promise) {
            told = None;
            object = self.settled(object, shift(form)).await?;
        }
        let value = self.value(object, script.max_bytes).await?;
        Ok((value, told))
    }

    /// Starts watching, runs the source and asks what has come of it, in one go. The page's word is
    /// there if it came after the script's end.
    async fn run(
        &self,
        source: &str,
        form: Form,
    ) -> Result<(runtime::EvaluateReply, Option<Told>), Stop> {
        let tab = &self.document.tab;
        let deadline = self.call.deadline();
        let mut expression = match form {
            Form::Plain => source.to_owned(),
            Form::Expression => format!("(\n{source}\n)"),
        };
        if let Some(el) = &self.el {
            // For as long as it takes to get there; a name that nobody else has.
            let name = format!("__{:016x}", RandomState::new().build_hasher().finish());
            let hand_over = runtime::CallFunctionOn {
                function_declaration: "function (name) { globalThis[name] = this; }".to_owned(),
                object_id: Some(el.clone()),
                arguments: Some(vec![argument(&name)]),
                silent: Some(true),
                ..Default::default()
            };
            tab.send_to(&self.place.cdp_session, &hand_over)?.forget();
            let inner = match form {
                Form::Plain => source.to_owned(),
                Form::Expression => format!("({source}\n)"),
            };
            expression = format!(
                "{{ const el = globalThis.{name}; delete globalThis.{name}; {{\n{inner}\n}} }}"
            );
        }
        let limit = self.call.remaining().saturating_sub(AHEAD);
        let (unique_context_id, context_id) = match &self.world {
            World::Page(context) => (Some(context.clone()), None),
            World::Isolated(number) => (None, Some(*number)),
        };
        let evaluate = runtime::Evaluate {
            expression,
            unique_context_id,
            context_id,
            object_group: Some(GROUP.to_owned()),
            silent: Some(true),
            user_gesture: Some(true),
            repl_mode: Some(true),
            timeout: Some(limit.max(Duration::from_millis(1)).as_secs_f64() * 1000.0),
            ..Default::default()
        };
        let own = tab.place_now(&self.document.frame, false);
        let is_watched = own.is_some_and(|own| tab.is_watched(&own.context, GOES_ON));
        if !is_watched {
            let lease = "{\"prefix\":\"n\",\"next\":1,\"end\":1}";
            let watch = self.document.send_script(format!("tabd.watch({lease})"));
            if let Some(Ok(pending)) = watch {
                pending.forget();
            }
        }
        self.call.set_acted(Acted::Unknown);
        let mut guard = Running::new(tab, &self.place.cdp_session);
        let mut evaluated = tab.send_to(&self.place.cdp_session, &evaluate)?;
        let lease = self
            .document
            .browser
            .numbers()
            .lease(self.document.number, 1);
        let settle = args(serde_json::json!({
            "budget_ms": 0, "keep": true, "again": true,
            "prefix": self.document.prefix(), "next": lease.range.start, "end": lease.range.end,
        }));
        let asked = self.document.send_script(format!(
            "tabd.settle({})",
            serde_json::Value::Object(settle)
        ));
        let asked = async {
            match asked {
                Some(Ok(asked)) => {
                    let reply = asked.await.ok()?;
                    let text = reply.result.value?.string()?;
                    if let Some(next) = super::next_of(&text) {
                        self.document.browser.numbers().give_back(&lease, next);
                    }
                    serde_json::from_str::<Told>(&text)
                        .ok()
                        .filter(|told| !told.lost)
                }
                _ => None,
            }
        };
        tokio::pin!(asked);
        let mut early = false;
        let both = async {
            loop {
                tokio::select! {
                    biased;
                    reply = &mut evaluated => {
                        let told = match early {
                            true => None,
                            false => asked.await,
                        };
                        return Ok((reply, told));
                    }
                    _ = &mut asked, if !early => {
                        // The page has answered: what is still running waits.
                        early = true;
                        guard.waits();
                    }
                }
            }
        };
        let raced = tab.unless_dialog(both, deadline).await;
        let (reply, told) = match raced {
            Ok(both) => both,
            Err(error) if error.code() == Code::Timeout => {
                drop(guard);
                return Err(Stop::Error(self.timed_out()));
            }
            Err(error) => {
                guard.over();
                return Err(self.lost(error));
            }
        };
        let reply = self.unless_terminated(reply);
        if !matches!(reply, Err(CdpError::Deadline)) {
            guard.over();
        }
        drop(guard);
        Ok((self.check(reply)?, told))
    }

    /// In REPL mode a script that was ended is an internal error, in Chromium's words.
    fn unless_terminated<T>(&self, reply: Result<T, CdpError>) -> Result<T, CdpError> {
        match reply {
            Err(CdpError::Terminated) => Err(CdpError::Terminated),
            Err(CdpError::Protocol { code: -32603, .. }) if self.call.remaining() <= 2 * AHEAD => {
                Err(CdpError::Terminated)
            }
            other => other,
        }
    }

    /// A reply, or why there is none.
    pub(super) fn check<T>(&self, reply: Result<T, CdpError>) -> Result<T, Stop> {
        let tab = &self.document.tab;
        reply.map_err(|error| match error {
            CdpError::NoContext => Stop::NotRun,
            CdpError::ContextGone | CdpError::Detached | CdpError::TargetCrashed => {
                Stop::Interrupted
            }
            CdpError::Terminated | CdpError::Deadline => Stop::Error(self.timed_out()),
            other => {
                let error = tab.error("the script", other);
                Stop::Error(error.fact("acted", self.call.acted().word()))
            }
        })
    }

    fn lost(&self, error: Error) -> Stop {
        match error.code() {
            // The effect tells.
            Code::TabCrashed | Code::NoTab | Code::DialogOpen => Stop::Interrupted,
            _ => Stop::Error(error.fact("acted", self.call.acted().word())),
        }
    }

    fn timed_out(&self) -> Error {
        self.call
            .timed_out("the script did not end in time, or what it promised did not come")
            .hint("a script that still ran was stopped; give a longer timeout_ms if it needs one")
    }

    /// Sends a command about one of the script's objects, and waits for its reply; what the page
    /// runs for it is ended at the deadline.
    pub(super) async fn ask<C: Command>(&self, command: &C) -> Result<C::Output, Stop> {
        let tab = &self.document.tab;
        let deadline = self.call.deadline();
        let mut guard = Running::new(tab, &self.place.cdp_session);
        let pending: Pending<C> = tab.send_to(&self.place.cdp_session, command)?;
        guard.waits();
        let reply = async { Ok(pending.await) };
        match tab.unless_dialog(reply, deadline).await {
            Ok(reply) => {
                guard.over();
                // What has begun is not begun again.
                match self.check(self.unless_terminated(reply)) {
                    Err(Stop::NotRun) => Err(Stop::Interrupted),
                    checked => checked,
                }
            }
            Err(error) if error.code() == Code::Timeout => Err(Stop::Error(self.timed_out())),
            Err(error) => {
                guard.over();
                Err(self.lost(error))
            }
        }
    }

    /// Calls a function that the script was, with `el`.
    async fn call_function(
        &self,
        function: &RemoteObject,
        shift: i64,
    ) -> Result<RemoteObject, Stop> {
        let el = match &self.el {
            Some(el) => CallArgument {
                object_id: Some(el.clone()),
                ..Default::default()
            },
            None => CallArgument::default(),
        };
        let call = runtime::CallFunctionOn {
            // `this` would be a function's own, were it called as a method.
            function_declaration: "function (el) { return (0, this)(el); }".to_owned(),
            object_id: function.object_id.clone(),
            arguments: Some(vec![el]),
            silent: Some(true),
            user_gesture: Some(true),
            object_group: Some(GROUP.to_owned()),
            ..Default::default()
        };
        let reply = self.ask(&call).await?;
        match reply.exception_details {
            Some(thrown) => Err(self.thrown(thrown, shift).await),
            None => Ok(reply.result),
        }
    }

    /// What a promise comes to.
    async fn settled(&self, promise: RemoteObject, shift: i64) -> Result<RemoteObject, Stop> {
        let Some(promise_object_id) = promise.object_id else {
            return Ok(RemoteObject::default());
        };
        let wait = runtime::AwaitPromise {
            promise_object_id,
            ..Default::default()
        };
        let reply = self.ask(&wait).await?;
        match reply.exception_details {
            Some(thrown) => Err(self.thrown(thrown, shift).await),
            None => Ok(reply.result),
        }
    }

    /// What was thrown, `shift` lines further down than the script has it.
    async fn thrown(&self, thrown: ExceptionDetails, shift: i64) -> Stop {
        let exception = thrown.exception.clone().unwrap_or_default();
        let is_error = exception.subtype == Some(runtime::RemoteObjectSubtype::Error);
        let told = match is_error {
            true => None,
            false => Box::pin(self.value(exception, value::MAX_THROWN))
                .await
                .ok(),
        };
        self.call.set_acted(match is_syntax_error(&thrown) {
            true => Acted::No,
            false => Acted::Yes,
        });
        let acted = self.call.acted().word();
        Stop::Error(remote::error(&thrown, told.as_ref(), shift).fact("acted", acted))
    }

    /// Lets go of the script's objects.
    fn release(&self) {
        let release = runtime::ReleaseObjectGroup {
            object_group: GROUP.to_owned(),
        };
        if let Ok(pending) = self.document.tab.send_to(&self.place.cdp_session, &release) {
            pending.forget();
        }
    }
}

/// An argument for a function of ours: any text or number.
pub(super) fn argument<T: serde::Serialize + ?Sized>(value: &T) -> CallArgument {
    CallArgument {
        value: crate::cdp::Json::of(value).ok(),
        ..Default::default()
    }
}

/// A script that may be running. Dropped while it may, it ends it.
struct Running {
    tab: Arc<Tab>,
    cdp_session: SessionId,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// It has not ended, and the page has not answered since.
    Runs,
    /// It waits for something, as far as is known.
    Waits,
    Over,
}

impl Running {
    fn new(tab: &Arc<Tab>, cdp_session: &SessionId) -> Running {
        Running {
            tab: tab.clone(),
            cdp_session: cdp_session.clone(),
            state: State::Runs,
        }
    }

    fn waits(&mut self) {
        self.state = State::Waits;
    }

    fn over(&mut self) {
        self.state = State::Over;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.state == State::Over {
            return;
        }
        let one = runtime::Evaluate {
            expression: "1".to_owned(),
            ..Default::default()
        };
        if self.state == State::Runs {
            self.tab.stop_scripts(&self.cdp_session);
        }
        // The question stands before any later call's script: as long as it has no answer, what runs is
        // ours. A stop may come before the script has begun, and end what is before it instead; one to a
        // page where nothing runs would end the page's next script.
        let (tab, cdp_session) = (self.tab.clone(), self.cdp_session.clone());
        let (Ok(mut sign), Ok(runtime)) = (
            tab.send_to(&cdp_session, &one),
            tokio::runtime::Handle::try_current(),
        ) else {
            return;
        };
        runtime.spawn(async move {
            for _ in 0..STOPS {
                let answered = tokio::time::timeout(SIGN, &mut sign).await.is_ok();
                // A dialog holds everything, and the script ends when it is answered.
                if answered || tab.dialog().is_some() {
                    return;
                }
                tab.stop_scripts(&cdp_session);
            }
        });
    }
}

/// Whether a script that starts like a block or a declaration may be meant as an object or a function.
fn is_expression(source: &str) -> bool {
    let source = uncommented(source);
    let word = |word: &str| {
        source.strip_prefix(word).is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        })
    };
    (source.starts_with('{') && trimmed(source).ends_with('}'))
        || word("function")
        || (word("async") && source["async".len()..].trim_start().starts_with("function"))
}

/// Whether the function is the whole script: what its source is, but for parentheses around it.
fn is_lone_function(script: &str, function: &str) -> bool {
    if function.starts_with("class") {
        return false;
    }
    let mut script = trimmed(uncommented(script));
    loop {
        if script == function {
            return true;
        }
        let inner = script.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
        match inner {
            Some(inner) => script = trimmed(uncommented(inner)),
            None => return false,
        }
    }
}

/// Without blank space and comments in front.
fn uncommented(mut source: &str) -> &str {
    loop {
        source = source.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        source = if let Some(rest) = source.strip_prefix("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if let Some(rest) = source.strip_prefix("/*") {
            rest.find("*/").map_or("", |end| &rest[end + 2..])
        } else {
            return source;
        };
    }
}

/// Without blank space and semicolons behind.
fn trimmed(source: &str) -> &str {
    source.trim_end_matches(|c: char| c.is_whitespace() || c == ';')
}

/// Whether a script did not compile, as opposed to one that threw a `SyntaxError`.
fn is_syntax_error(thrown: &ExceptionDetails) -> bool {
    let class = thrown
        .exception
        .as_ref()
        .and_then(|e| e.class_name.as_deref());
    class == Some("SyntaxError") && thrown.stack_trace.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_an_expression_is_tried_as_one() {
        for source in [
            "{a: 1}",
            "function () {}",
            "async function f() {}",
            "// why\n{ b };",
            "function(){}",
        ] {
            assert!(is_expression(source), "{source}");
        }
        for source in ["1", "({a: 1})", "functional()", "async () => 1", "{a: 1}.a"] {
            assert!(!is_expression(source), "{source}");
        }
    }

    #[test]
    fn a_function_is_called_only_if_it_is_the_whole_script() {
        assert!(is_lone_function(" () => 1;\n", "() => 1"));
        assert!(is_lone_function("/* a */ ((x) => x)", "(x) => x"));
        assert!(is_lone_function("(function f() {})", "function f() {}"));
        assert!(!is_lone_function(
            "document.write",
            "function write() { [native code] }"
        ));
        assert!(!is_lone_function("const f = () => 1; f", "() => 1"));
        assert!(!is_lone_function("class A {}", "class A {}"));
    }
}
