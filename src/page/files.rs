//! Files for a page: the inputs that take them, and the choosers that pages open.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::evaluate::argument;
use super::locate::Locator;
use super::{Again, Document, frames};
use crate::cdp::{CdpError, Json, dom, runtime};
use crate::error::{Code, Result};

/// Where an upload goes (`tabd.fileInput`).
#[derive(Deserialize)]
pub struct FileInput {
    /// What was named: ref, role, name.
    pub target: Value,
    /// The file input's number, if there is one.
    pub input: Option<u32>,
    /// Whether it takes several files.
    #[serde(default)]
    pub multiple: bool,
    /// Whether it takes a directory.
    #[serde(default)]
    pub directory: bool,
}

/// The file input that `locator` means, and the beginning of an action on it.
pub async fn input(document: &Document, locator: &Locator, deadline: Instant) -> Result<FileInput> {
    document
        .ask("fileInput", locator.args(), Again::No, deadline)
        .await
}

/// Gives files to the input of that number, as its chooser would.
pub async fn set(
    document: &Document,
    input: u32,
    files: &[String],
    deadline: Instant,
) -> Result<()> {
    let tab = &document.tab;
    let gone = || {
        Code::StaleRef
            .because("the file input is no longer in the page")
            .fact("why", "removed")
            .hint("read again")
    };
    let place = tab.place(&document.frame, false, deadline).await?;
    let group = frames::group();
    let evaluate = runtime::Evaluate {
        expression: format!("tabd.element({input})"),
        unique_context_id: Some(place.context.clone()),
        object_group: Some(group.clone()),
        silent: Some(true),
        ..Default::default()
    };
    let found = tab.send_to(&place.cdp_session, &evaluate)?.by(deadline);
    let found = found.await.map_err(|e| tab.error("the file input", e))?;
    let object_id = found.result.object_id.ok_or_else(gone)?;
    let give = dom::SetFileInputFiles {
        files: files.to_vec(),
        object_id: Some(object_id),
        ..Default::default()
    };
    let given = tab.send_to(&place.cdp_session, &give)?;
    let given = async {
        match given.by(deadline).await {
            Ok(()) => Ok(()),
            Err(CdpError::NodeGone) => Err(gone()),
            Err(error) => Err(tab.error("giving the files", error)),
        }
    };
    let outcome = tab.unless_dialog(given, deadline).await;
    frames::release(document, &place, group);
    outcome
}

/// How replies name the input that a chooser was opened for: ref, role and name. `None` if its
/// document is gone.
pub async fn opened_for(
    document: &Document,
    node: dom::BackendNodeId,
    deadline: Instant,
) -> Option<Value> {
    let tab = &document.tab;
    let place = tab.place_now(&document.frame, false)?;
    let group = frames::group();
    let object = frames::resolve(document, &place, node, &group, deadline).await?;
    let lease = document.browser.numbers().lease(document.number, 1);
    let lent = json!({
        "prefix": document.prefix(), "next": lease.range.start, "end": lease.range.end,
    });
    let call = runtime::CallFunctionOn {
        function_declaration: "function (lease) { return tabd.chooser(this, lease); }".to_owned(),
        object_id: Some(object),
        arguments: Some(vec![argument(&lent)]),
        silent: Some(true),
        return_by_value: Some(true),
        ..Default::default()
    };
    let reply = tab.send_to(&place.cdp_session, &call).ok()?.by(deadline);
    let reply = reply.await.ok()?;
    frames::release(document, &place, group);
    let told = reply.result.value.as_ref().and_then(Json::string)?;
    if let Some(next) = super::next_of(&told) {
        document.browser.numbers().give_back(&lease, next);
    }
    serde_json::from_str(&told).ok()
}
