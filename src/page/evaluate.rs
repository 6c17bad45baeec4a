//! A caller's script in the page: how it is run, awaited and ended.
//!
//! `Runtime.evaluate` compiles it outside of the page's content security policy; nothing is compiled
//! in the page. What it gives is told by `value.rs`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::act::{Acting, Before, Done, Told};
use super::locate::Locator;
use super::running::Running;
use super::script::{is_expression, is_lone_function, needs_repl, only_looks};
use super::value::{Value, remote};
use super::{AHEAD, Again, Document, args, value};
use crate::browser::Place;
use crate::cdp::runtime::{self, CallArgument, ExceptionDetails, RemoteObject, RemoteObjectId};
use crate::cdp::{CdpError, Command, Pending, dom, page as cdp_page};
use crate::error::{Code, Error, Result};
use crate::progress::{Acted, Progress};

/// The object group of everything a script leaves to be looked at.
const GROUP: &str = "tabd-evaluate";
/// The world for `world:"isolated"`: not tabd's own, which a script could break.
const ISOLATED: &str = "tabd-evaluate";
/// How long after a script a page counts as still watching for what the next one does. It watches
/// longer by itself.
const GOES_ON: Duration = Duration::from_millis(500);

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

/// What is known of the page after the script.
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, for as long as a call"
)]
enum After {
    /// The page's own word, right after it.
    Told(Box<Told>),
    /// Nothing can have come of it but what the browser tells.
    Looked,
    /// It took its time: the page is to be asked.
    Unknown,
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
            Ok((value, after)) => {
                run.release();
                call.set_acted(Acted::Yes);
                let done = match after {
                    After::Told(told) => before.after_told(call, acting, *told).await?,
                    After::Looked => before.after_look(call, acting).await?,
                    After::Unknown => before.after(call, acting).await?,
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
    /// Objects of the script are held.
    holds: AtomicBool,
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
            holds: AtomicBool::new(script.isolated || el.r#ref.is_some()),
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

    /// Its value, and what is known of the page after it.
    async fn to_end(&self, script: &Script) -> Result<(Value, After), Stop> {
        let source = script.source.as_str();
        let mut form = match is_expression(source) {
            true => Form::Expression,
            false => Form::Plain,
        };
        let shift = |form| i64::from(self.el.is_some() || matches!(form, Form::Expression));
        let looks = only_looks(source);
        let (object, mut after) = loop {
            let (reply, after) = self.run(source, form, looks).await?;
            match reply.exception_details {
                None => break (reply.result, after),
                // It was a block or a declaration after all. Nothing of it has run.
                Some(thrown) if matches!(form, Form::Expression) && is_syntax_error(&thrown) => {
                    form = Form::Plain;
                }
                Some(thrown) => return Err(self.thrown(thrown, shift(form)).await),
            }
        };
        let mut object = object;
        if object.object_id.is_some() {
            self.holds.store(true, Ordering::Relaxed);
        }
        if object.r#type == runtime::RemoteObjectType::Function
            && is_lone_function(source, object.description.as_deref().unwrap_or_default())
        {
            after = if looks { After::Looked } else { After::Unknown };
            object = self.call_function(&object, shift(form)).await?;
        }
        if object.subtype == Some(runtime::RemoteObjectSubtype::Promise) {
            after = if looks { After::Looked } else { After::Unknown };
            object = self.settled(object, shift(form)).await?;
        }
        let value = self.value(object, script.max_bytes).await?;
        Ok((value, after))
    }

    /// Starts watching, runs the source and asks what has come of it, in one go; the page's word counts
    /// if it came after the script's end. A script that only `looks` is just run: every message costs
    /// the renderer as much as the script.
    async fn run(
        &self,
        source: &str,
        form: Form,
        looks: bool,
    ) -> Result<(runtime::EvaluateReply, After), Stop> {
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
            user_gesture: Some(!looks),
            repl_mode: Some(needs_repl(source)),
            timeout: Some(limit.max(Duration::from_millis(1)).as_secs_f64() * 1000.0),
            ..Default::default()
        };
        let asks = !looks;
        if asks && !self.is_watched() {
            let lease = "{\"prefix\":\"n\",\"next\":1,\"end\":1}";
            let watch = self.document.send_script(format!("tabd.watch({lease})"));
            if let Some(Ok(pending)) = watch {
                pending.forget();
            }
        }
        self.call.set_acted(Acted::Unknown);
        let mut guard = Running::new(tab, &self.place.cdp_session);
        let mut evaluated = tab.send_to(&self.place.cdp_session, &evaluate)?;
        let asked = self.ask_page(asks);
        tokio::pin!(asked);
        let mut early = false;
        let both = async {
            loop {
                tokio::select! {
                    biased;
                    reply = &mut evaluated => {
                        let after = match (looks, early) {
                            (true, _) => After::Looked,
                            (false, true) => After::Unknown,
                            (false, false) => {
                                // The script has ended; a page that is stuck since is only not settled.
                                let by = deadline - 2 * AHEAD;
                                match tokio::time::timeout_at(by, asked).await {
                                    Ok(Some(told)) => After::Told(Box::new(told)),
                                    _ => After::Unknown,
                                }
                            }
                        };
                        return Ok((reply, after));
                    }
                    _ = &mut asked, if asks && !early => {
                        // The page has answered: what is still running waits.
                        early = true;
                        guard.waits();
                    }
                }
            }
        };
        let raced = tab.unless_dialog(both, deadline).await;
        let (reply, after) = match raced {
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
        Ok((self.check(reply)?, after))
    }

    /// Whether the page still watches from the script before.
    fn is_watched(&self) -> bool {
        let tab = &self.document.tab;
        let own = tab.place_now(&self.document.frame, false);
        own.is_some_and(|own| tab.is_watched(&own.context, GOES_ON))
    }

    /// Asks the page how it is, unless not `asks`. The question is on its way when this returns.
    fn ask_page(&self, asks: bool) -> impl Future<Output = Option<Told>> + use<> {
        let numbers = self.document.browser.clone();
        let lease = numbers
            .numbers()
            .lease(self.document.number, u32::from(asks));
        let settle = args(serde_json::json!({
            "budget_ms": 0, "keep": true, "again": true,
            "prefix": self.document.prefix(), "next": lease.range.start, "end": lease.range.end,
        }));
        let settle = format!("tabd.settle({})", serde_json::Value::Object(settle));
        let asked = asks.then(|| self.document.send_script(settle)).flatten();
        async move {
            let reply = asked?.ok()?.await.ok()?;
            let text = reply.result.value?.string()?;
            if let Some(next) = super::next_of(&text) {
                numbers.numbers().give_back(&lease, next);
            }
            let told = serde_json::from_str::<Told>(&text).ok()?;
            (!told.lost).then_some(told)
        }
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
        self.holds.store(true, Ordering::Relaxed);
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
        if !self.holds.load(Ordering::Relaxed) {
            return;
        }
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

/// Whether a script did not compile, as opposed to one that threw a `SyntaxError`.
fn is_syntax_error(thrown: &ExceptionDetails) -> bool {
    let class = thrown
        .exception
        .as_ref()
        .and_then(|e| e.class_name.as_deref());
    class == Some("SyntaxError") && thrown.stack_trace.is_none()
}
