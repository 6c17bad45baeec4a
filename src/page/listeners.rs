//! What listens to clicks: told to the page script, which cannot see the page's own listeners.
//!
//! An isolated world sees only listeners of its own; `DOMDebugger.getEventListeners` of a document sees
//! all, those in closed shadow roots too (6 ms for 10,000 elements of which 1,000 listen). Only elements
//! that are new among them are brought into the world: 0.1 ms each, once.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

use super::frames::{group, release};
use super::{Document, frames};
use crate::browser::Place;
use crate::cdp::{Json, Pending, dom, dom_debugger, runtime};

/// Listeners of these make an element clickable; the page script has the same list.
const EVENTS: [&str; 8] = [
    "click",
    "dblclick",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchstart",
    "touchend",
];
/// Elements brought in at once; the clock is looked at in between.
const BATCH: usize = 500;
/// How long elements are brought in at most; the rest follows at the next look.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Tells the page scripts of `documents` what listens to clicks in them. All are of one CDP session,
/// parents before children. What fails is left out: a view without it is still a view.
///
/// The last commands are sent, not awaited: whatever is sent to the documents next finds them done.
pub(super) async fn adopt(documents: &[Document], deadline: Instant) {
    let Some(asked) = ask(documents, deadline).await else {
        return;
    };
    // A frame's listeners are among those of the documents around it.
    let mut inner: HashSet<dom::BackendNodeId> = HashSet::new();
    for (document, place, listeners) in asked.into_iter().rev() {
        let mut seen = HashSet::new();
        let nodes = listeners
            .into_iter()
            .filter(|l| EVENTS.contains(&l.r#type.as_str()))
            .filter_map(|l| l.backend_node_id)
            .filter(|node| seen.insert(*node) && !inner.contains(node))
            .collect();
        if tell(document, &place, nodes, deadline).await.is_none() {
            return;
        }
        if documents.len() > 1 {
            inner.extend(seen);
        }
    }
}

type Asked<'a> = (&'a Document, Place, Vec<dom_debugger::EventListener>);

/// The listeners of each document and of what is in it.
async fn ask(documents: &[Document], deadline: Instant) -> Option<Vec<Asked<'_>>> {
    let mut pending = Vec::new();
    for document in documents {
        let Some(place) = document.tab.place_now(&document.frame, false) else {
            continue;
        };
        let Some(object_id) = object(document, &place, deadline).await else {
            continue;
        };
        let ask = dom_debugger::GetEventListeners {
            object_id,
            depth: Some(-1),
            pierce: Some(true),
        };
        let sent = document.tab.send_to(&place.cdp_session, &ask).ok()?;
        pending.push((document, place, sent));
    }
    let mut asked = Vec::new();
    for (document, place, sent) in pending {
        match sent.by(deadline).await {
            Ok(reply) => asked.push((document, place, reply.listeners)),
            Err(_) => document.tab.listening().forget(&place.context),
        }
    }
    Some(asked)
}

/// The document as an object, asked for once. It is of no object group: then listeners come without
/// their handlers. It is the page's own object: asked by one of an isolated world, Chromium (156)
/// corrupts the renderer's heap, which then dies in one of its next collections.
async fn object(
    document: &Document,
    place: &Place,
    deadline: Instant,
) -> Option<runtime::RemoteObjectId> {
    if let Some(known) = document.tab.listening().document(&place.context) {
        return Some(known);
    }
    let page = document.tab.place_now(&document.frame, true)?;
    let evaluate = runtime::Evaluate {
        expression: "document".to_owned(),
        unique_context_id: Some(page.context),
        silent: Some(true),
        ..Default::default()
    };
    let sent = document.tab.send_to(&place.cdp_session, &evaluate).ok()?;
    let object = sent.by(deadline).await.ok()?.result.object_id?;
    let live = document.tab.look(|s| {
        let worlds = s.frames.values().filter_map(|f| f.world.clone());
        worlds.collect::<HashSet<String>>()
    });
    let mut listening = document.tab.listening();
    listening.retain(|context| live.contains(context));
    listening.begin(&place.context, object.clone());
    Some(object)
}

/// Tells a document's script what changed among the nodes that listen in it.
async fn tell(
    document: &Document,
    place: &Place,
    nodes: Vec<dom::BackendNodeId>,
    deadline: Instant,
) -> Option<()> {
    let tab = &document.tab;
    let (new, gone) = tab.listening().difference(&place.context, &nodes);
    if new.is_empty() && gone.is_empty() {
        return Some(());
    }
    let patience = deadline.min(Instant::now() + PATIENCE);
    let group = group();
    let mut told_gone = gone.clone();
    for batch in new.chunks(BATCH).chain(new.is_empty().then_some(&[][..])) {
        let mut sent: Vec<(dom::BackendNodeId, Pending<dom::ResolveNode>)> = Vec::new();
        for node in batch {
            let ask = frames::resolving(place, *node, &group);
            sent.push((*node, tab.send_to(&place.cdp_session, &ask).ok()?));
        }
        let mut ids = Vec::new();
        let mut arguments = Vec::new();
        for (node, resolved) in sent {
            // A node that left, or of a frame without a world yet.
            let Ok(reply) = resolved.by(deadline).await else {
                continue;
            };
            if reply.object.object_id.is_some() {
                ids.push(node);
                arguments.push(runtime::CallArgument {
                    object_id: reply.object.object_id,
                    ..Default::default()
                });
            }
        }
        let value = |list: &[dom::BackendNodeId]| runtime::CallArgument {
            value: Json::of(list).ok(),
            ..Default::default()
        };
        arguments.splice(..0, [value(&ids), value(&told_gone)]);
        let call = runtime::CallFunctionOn {
            function_declaration:
                "function (ids, gone, ...els) { return tabd.adoptListeners(ids, els, gone); }"
                    .to_owned(),
            object_id: None,
            unique_context_id: Some(place.context.clone()),
            arguments: Some(arguments),
            return_by_value: Some(true),
            silent: Some(true),
            ..Default::default()
        };
        tab.send_to(&place.cdp_session, &call).ok()?.forget();
        tab.listening().note(&place.context, &ids, &told_gone);
        told_gone.clear();
        if Instant::now() > patience {
            break;
        }
    }
    release(document, place, group);
    Some(())
}
