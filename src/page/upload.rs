//! File inputs: files as a person would choose them.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::locate::Locator;
use super::{Again, Document, args, budget_ms};
use crate::cdp::{CdpError, Json, dom, runtime};
use crate::error::{Code, Result};
use crate::wire::Ref;

/// Waits for the file input that `locator` means, until `by`; says what it is and watches it.
pub async fn find(
    document: &Document,
    locator: &Locator,
    files: usize,
    deadline: Instant,
) -> Result<Value> {
    let mut wanted = locator.args();
    wanted.extend(args(
        json!({"files": files, "budget_ms": budget_ms(deadline)}),
    ));
    let mut answer: Value = document
        .ask("fileInput", wanted, Again::No, deadline)
        .await?;
    Ok(answer["target"].take())
}

/// Gives the files to the input that `find` found.
pub async fn set(
    document: &Document,
    input: &Value,
    files: &[String],
    deadline: Instant,
) -> Result<()> {
    let tab = &document.tab;
    let fail = |e: CdpError| tab.error("the file input", e);
    let number = input["ref"].as_str().and_then(|r| r.parse::<Ref>().ok());
    let number = number.map_or(0, |r| r.number);
    let place = tab.place(&document.frame, false, deadline).await?;
    let evaluate = runtime::Evaluate {
        expression: format!("tabd.element({number})"),
        unique_context_id: Some(place.context),
        ..Default::default()
    };
    let found = tab.send_to(&place.cdp_session, &evaluate)?.by(deadline);
    let object = found.await.map_err(fail)?.result.object_id;
    let Some(object_id) = object else {
        return Err(Code::StaleRef
            .because("the file input is no longer in the page")
            .fact("why", "removed")
            .hint("read again"));
    };
    let set = dom::SetFileInputFiles {
        files: files.to_vec(),
        object_id: Some(object_id.clone()),
        ..Default::default()
    };
    let reply = tab.send_to(&place.cdp_session, &set)?;
    let reply = async { reply.by(deadline).await.map_err(fail) };
    tab.unless_dialog(reply, deadline).await?;
    let release = runtime::ReleaseObject { object_id };
    tab.send_to(&place.cdp_session, &release)?.forget();
    Ok(())
}

/// The ref of an element that the browser told of by its backend node id; `None` where it is not in
/// this document.
pub async fn ref_of(
    document: &Document,
    node: dom::BackendNodeId,
    deadline: Instant,
) -> Option<String> {
    #[derive(Deserialize)]
    struct Described {
        r#ref: Option<String>,
    }
    let tab = &document.tab;
    let place = tab.place_now(&document.frame, false)?;
    let resolve = dom::ResolveNode {
        backend_node_id: Some(node),
        execution_context_id: Some(place.number),
        ..Default::default()
    };
    let resolved = tab.send_to(&place.cdp_session, &resolve).ok()?.by(deadline);
    let object_id = resolved.await.ok()?.object.object_id?;
    let numbers = document.browser.numbers();
    let lease = numbers.lease(document.number, 1);
    let lent = json!({
        "prefix": document.prefix(), "next": lease.range.start, "end": lease.range.end,
    });
    let call = runtime::CallFunctionOn {
        function_declaration: "function (lease) { return tabd.describe(this, lease); }".to_owned(),
        object_id: Some(object_id.clone()),
        arguments: Some(vec![runtime::CallArgument {
            value: Json::of(&lent).ok(),
            ..Default::default()
        }]),
        return_by_value: Some(true),
        silent: Some(true),
        ..Default::default()
    };
    let reply = tab.send_to(&place.cdp_session, &call).ok()?.by(deadline);
    let told = reply
        .await
        .ok()?
        .result
        .value
        .as_ref()
        .and_then(Json::string)?;
    if let Some(next) = super::next_of(&told) {
        numbers.give_back(&lease, next);
    }
    let release = runtime::ReleaseObject { object_id };
    tab.send_to(&place.cdp_session, &release).ok()?.forget();
    serde_json::from_str::<Described>(&told).ok()?.r#ref
}
