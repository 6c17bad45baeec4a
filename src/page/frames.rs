//! Frames within frames: which documents a page is made of, and where a point of one is in the others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::input::Point;
use super::quad::Quad;
use super::{Again, Document, args};
use crate::browser::Place;
use crate::cdp::{CdpError, FrameId, dom, runtime};
use crate::error::{Code, Result};

/// How long a frame that has no document yet is waited for before the rest is read without it.
const PATIENCE: Duration = Duration::from_millis(250);
/// Why the part of a frame is missing, as its node says it.
pub(super) const NOT_THERE: &str = "its document is not there yet";
const NOT_LOADED: &str = "it could not be loaded";

/// A name for remote objects of ours in a page that are to be let go together.
pub(super) fn group() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("tabd-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The documents of all frames below `top`'s that can be read, parents before children.
pub async fn below(top: &Document, deadline: Instant) -> Vec<Document> {
    let all = all_below(top, deadline).await.into_iter();
    all.filter(|(_, why)| why.is_none())
        .map(|(document, _)| document)
        .collect()
}

/// The documents of all frames below `top`'s, parents before children, each known to its parent's
/// page script by its number; with what keeps one from being read.
pub(super) async fn all_below(
    top: &Document,
    deadline: Instant,
) -> Vec<(Document, Option<&'static str>)> {
    let tab = &top.tab;
    if tab.look(|s| s.frames.len() < 2) {
        return Vec::new();
    }
    let patience = deadline.min(Instant::now() + PATIENCE);
    let all_there = |s: &crate::browser::state::TabState| {
        s.frames.values().all(|f| f.world.is_some()).then_some(())
    };
    // A frame that does not come is told of by its node.
    let _ = tab.until(patience, all_there).await;
    let mut documents = vec![(top.clone(), None)];
    let mut at = 0;
    while let Some((parent, _)) = documents.get(at).cloned() {
        at += 1;
        for frame in children(&parent) {
            let failed = tab.look(|s| s.frames.get(&frame).is_some_and(|f| f.error_page));
            let why = match tab.place_now(&frame, false) {
                _ if failed => Some(NOT_LOADED),
                None => Some(NOT_THERE),
                Some(_) => None,
            };
            let document = Document::new(&top.browser, &top.session, tab, frame);
            documents.push((document, why));
        }
    }
    documents.remove(0);
    // A process that does not answer must not keep the frames of the others from being told.
    let patience = deadline.min(Instant::now() + 4 * PATIENCE);
    let mut adopting = tokio::task::JoinSet::new();
    for (document, _) in &documents {
        if !is_adopted(document) {
            let document = document.clone();
            adopting.spawn(async move { adopt(&document, patience).await });
        }
    }
    while adopting.join_next().await.is_some() {}
    documents
}

fn children(parent: &Document) -> Vec<FrameId> {
    parent.tab.look(|s| {
        let inside = s
            .frames
            .iter()
            .filter(|(_, f)| f.parent.as_ref() == Some(&parent.frame));
        let mut ids: Vec<FrameId> = inside.map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids
    })
}

/// The parent document's place, and the note that the frame is known there.
fn adopted(document: &Document) -> Option<(Place, String)> {
    let tab = &document.tab;
    let parent = tab.look(|s| s.frames.get(&document.frame)?.parent.clone())?;
    let place = tab.place_now(&parent, false)?;
    let note = format!("{} in {}", document.frame, place.context);
    Some((place, note))
}

fn is_adopted(document: &Document) -> bool {
    adopted(document).is_some_and(|(_, note)| document.tab.is_noted(&note))
}

/// Tells the parent's page script which of its elements holds the frame. Once a parent's document.
async fn adopt(document: &Document, deadline: Instant) -> Option<()> {
    let tab = &document.tab;
    let (place, note) = adopted(document)?;
    if tab.is_noted(&note) {
        return Some(());
    }
    let node = owner(document, &place, deadline).await.ok()?;
    let group = group();
    let object = resolve(document, &place, node, &group, deadline).await?;
    let call = runtime::CallFunctionOn {
        function_declaration: "function (n) { return tabd.adoptFrame(this, n); }".to_owned(),
        object_id: Some(object),
        arguments: Some(vec![runtime::CallArgument {
            value: crate::cdp::Json::of(&document.number).ok(),
            ..Default::default()
        }]),
        return_by_value: Some(true),
        ..Default::default()
    };
    let pending = tab.send_to(&place.cdp_session, &call).ok()?;
    pending.by(deadline).await.ok()?;
    release(document, &place, group);
    tab.note(note);
    Some(())
}

/// The backend node of the element that holds the frame, in its parent's document.
async fn owner(
    document: &Document,
    parent: &Place,
    deadline: Instant,
) -> Result<dom::BackendNodeId> {
    let ask = dom::GetFrameOwner {
        frame_id: document.frame.clone(),
    };
    let reply = document
        .tab
        .send_to(&parent.cdp_session, &ask)?
        .by(deadline);
    match reply.await {
        Ok(reply) => Ok(reply.backend_node_id),
        Err(CdpError::NoFrame | CdpError::NodeGone) => Err(frame_gone(document)),
        Err(error) => Err(document.tab.error("finding the frame", error)),
    }
}

fn frame_gone(document: &Document) -> crate::error::Error {
    let number = document.number.unwrap_or(0);
    Code::StaleRef
        .because(format!("frame f{number} is gone"))
        .fact("why", "frame_gone")
        .hint("read again")
}

/// Asks for a node as an object of the world at `place`.
pub(super) fn resolving(place: &Place, node: dom::BackendNodeId, group: &str) -> dom::ResolveNode {
    dom::ResolveNode {
        backend_node_id: Some(node),
        object_group: Some(group.to_owned()),
        execution_context_id: Some(place.number),
        ..Default::default()
    }
}

/// A node as an object of the world at `place`.
pub(super) async fn resolve(
    document: &Document,
    place: &Place,
    node: dom::BackendNodeId,
    group: &str,
    deadline: Instant,
) -> Option<runtime::RemoteObjectId> {
    let ask = resolving(place, node, group);
    let pending = document.tab.send_to(&place.cdp_session, &ask).ok()?;
    pending.by(deadline).await.ok()?.object.object_id
}

/// Lets the objects of a group go.
pub(super) fn release(document: &Document, place: &Place, group: String) {
    let group = runtime::ReleaseObjectGroup {
        object_group: group,
    };
    if let Ok(pending) = document.tab.send_to(&place.cdp_session, &group) {
        pending.forget();
    }
}

/// Brings closed shadow roots that an answer points at into the document's world. True if there are
/// new ones, so that it is worth to look again.
pub async fn adopt_closed_roots(document: &Document, answer: &str, deadline: Instant) -> bool {
    let header = answer.split('\n').next().unwrap_or_default();
    let Some(at) = header.find("\"hidden_roots\":") else {
        return false;
    };
    if header[at + 15..].starts_with('0') {
        return false;
    }
    let Some(place) = document.tab.place_now(&document.frame, false) else {
        return false;
    };
    let group = group();
    let adopted = adopt_roots_at(document, &place, &group, deadline).await;
    release(document, &place, group);
    adopted.unwrap_or(false)
}

async fn adopt_roots_at(
    document: &Document,
    place: &Place,
    group: &str,
    deadline: Instant,
) -> Option<bool> {
    let tab = &document.tab;
    let candidates = runtime::Evaluate {
        expression: "tabd.closedCandidates()".to_owned(),
        unique_context_id: Some(place.context.clone()),
        object_group: Some(group.to_owned()),
        silent: Some(true),
        ..Default::default()
    };
    let list = tab.send_to(&place.cdp_session, &candidates).ok()?;
    let list = list.by(deadline).await.ok()?.result.object_id?;
    let items = runtime::GetProperties {
        object_id: list,
        own_properties: Some(true),
        ..Default::default()
    };
    let items = tab.send_to(&place.cdp_session, &items).ok()?;
    let items = items.by(deadline).await.ok()?.result;
    let hosts: Vec<_> = items
        .into_iter()
        .filter(|p| p.name.bytes().all(|b| b.is_ascii_digit()))
        .filter_map(|p| p.value?.object_id)
        .collect();
    // All at once: each is one look at a node.
    let mut looks = Vec::new();
    for host in &hosts {
        let look = dom::DescribeNode {
            object_id: Some(host.clone()),
            depth: Some(0),
            pierce: Some(true),
            ..Default::default()
        };
        looks.push(tab.send_to(&place.cdp_session, &look).ok()?);
    }
    let mut found = false;
    for (host, look) in hosts.into_iter().zip(looks) {
        let Ok(reply) = look.by(deadline).await else {
            continue;
        };
        let roots = reply.node.shadow_roots.unwrap_or_default();
        let closed = |t: &dom::ShadowRootType| *t == dom::ShadowRootType::Closed;
        for root in roots {
            if !root.shadow_root_type.as_ref().is_some_and(closed) {
                continue;
            }
            let Some(root) = resolve(document, place, root.backend_node_id, group, deadline).await
            else {
                continue;
            };
            let argument = |object_id| runtime::CallArgument {
                object_id: Some(object_id),
                ..Default::default()
            };
            let call = runtime::CallFunctionOn {
                function_declaration:
                    "function (root) { return tabd.adoptClosedRoot(this, root); }".to_owned(),
                object_id: Some(host.clone()),
                arguments: Some(vec![argument(root)]),
                return_by_value: Some(true),
                ..Default::default()
            };
            let pending = tab.send_to(&place.cdp_session, &call).ok()?;
            found |= pending.by(deadline).await.is_ok();
        }
    }
    Some(found)
}

/// One place on the screen, as every document from the tab's main one down to the target's has it.
pub struct Route(Vec<(Document, Point)>);

impl Route {
    /// The point of the tab's viewport, where input goes.
    pub fn at(&self) -> Point {
        self.0.first().map_or(Point { x: 0.0, y: 0.0 }, |(_, p)| *p)
    }

    /// Fails with `covered` if something of an outer document lies over the frame there.
    pub async fn check_on_top(&self, deadline: Instant) -> Result<()> {
        for pair in self.0.windows(2) {
            let [(outer, at), (inner, _)] = pair else {
                continue;
            };
            let wanted = args(json!({"x": at.x, "y": at.y, "frame": inner.number}));
            let hit: Value = outer.ask("hit", wanted, Again::No, deadline).await?;
            if hit["holds"] == true {
                continue;
            }
            let by = &hit["target"];
            let words = match by.is_null() {
                true => "nothing that can be pressed".to_owned(),
                false => format!(
                    "{} ({} {})",
                    by["ref"].as_str().unwrap_or("?"),
                    by["role"].as_str().unwrap_or("generic"),
                    crate::error::quoted(by["name"].as_str().unwrap_or_default(), 80)
                ),
            };
            return Err(Code::Covered
                .because(format!(
                    "frame f{} is covered there by {words}",
                    inner.number.unwrap_or(0)
                ))
                .fact("by", by.clone())
                .hint("close or scroll away what covers it, or use force"));
        }
        Ok(())
    }
}

/// A frame on the way from the main one to the target's.
struct Hop {
    document: Document,
    /// The size of its viewport in its own pixels.
    view: (f64, f64),
    /// Its viewport's corners, in the viewport of the nearest frame above that has a process of its own.
    quad: Quad,
}

/// Where a point of the document's own viewport is. Scrolls outer documents so that it can be seen.
pub async fn route(document: &Document, at: Point, deadline: Instant) -> Result<Route> {
    if document.is_main() {
        return Ok(Route(vec![(document.clone(), at)]));
    }
    let mut scrolled = false;
    loop {
        let hops = hops(document, deadline).await?;
        let route = locate(document, &hops, at)?;
        let (outer, first) = (&route.0[0].0, route.at());
        let seen = view(outer, deadline).await?;
        let inside = (0.0..seen.0).contains(&first.x) && (0.0..seen.1).contains(&first.y);
        if inside || scrolled {
            return Ok(route);
        }
        scrolled = true;
        for hop in &hops {
            bring_into_view(hop, deadline).await?;
        }
    }
}

/// Where the corners of a box of the document's own viewport are in the tab's. Scrolls outer documents
/// so that its middle can be seen.
pub async fn outward(
    document: &Document,
    corners: [Point; 4],
    deadline: Instant,
) -> Result<Vec<Point>> {
    if document.is_main() {
        return Ok(corners.to_vec());
    }
    let middle = Point {
        x: corners.iter().map(|c| c.x).sum::<f64>() / 4.0,
        y: corners.iter().map(|c| c.y).sum::<f64>() / 4.0,
    };
    route(document, middle, deadline).await?;
    project(document, corners.to_vec(), deadline).await
}

/// Where points of the document's own viewport are in the tab's.
pub async fn project(
    document: &Document,
    mut points: Vec<Point>,
    deadline: Instant,
) -> Result<Vec<Point>> {
    if document.is_main() || points.is_empty() {
        return Ok(points);
    }
    let hops = hops(document, deadline).await?;
    for point in &mut points {
        *point = locate(document, &hops, *point)?.at();
    }
    Ok(points)
}

/// The way from below the main frame down to the document's.
async fn hops(document: &Document, deadline: Instant) -> Result<Vec<Hop>> {
    let tab = &document.tab;
    let mut chain = Vec::new();
    let mut frame = document.frame.clone();
    while let Some(parent) = tab.look(|s| s.frames.get(&frame).and_then(|f| f.parent.clone())) {
        let hop = Document::new(&document.browser, &document.session, tab, frame);
        let place = tab
            .place_now(&parent, false)
            .ok_or_else(|| frame_gone(document))?;
        let node = owner(&hop, &place, deadline).await?;
        adopt(&hop, deadline).await;
        let ask = dom::GetBoxModel {
            backend_node_id: Some(node),
            ..Default::default()
        };
        let model = tab.send_to(&place.cdp_session, &ask)?.by(deadline).await;
        let model = model.map_err(|e| match e {
            CdpError::NoBox => Code::NotVisible
                .because(format!("frame f{} has no box", hop.number.unwrap_or(0)))
                .hint("the frame is hidden; read again"),
            CdpError::NodeGone => frame_gone(&hop),
            other => tab.error("finding the frame", other),
        })?;
        let quad = Quad::new(&model.model.content)
            .ok_or_else(|| super::internal("a frame whose box has no corners"))?;
        let view = view(&hop, deadline).await?;
        chain.push(Hop {
            document: hop,
            view,
            quad,
        });
        frame = parent;
    }
    chain.reverse();
    Ok(chain)
}

/// The size of a document's viewport, in its own CSS pixels.
async fn view(document: &Document, deadline: Instant) -> Result<(f64, f64)> {
    let size = document
        .script("innerWidth + ' ' + innerHeight", Again::No, deadline)
        .await?;
    let mut numbers = size.split(' ').filter_map(|n| n.parse::<f64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(w), Some(h)) if w > 0.0 && h > 0.0 => Ok((w, h)),
        _ => Err(Code::NotVisible
            .because("the frame has no size")
            .hint("the frame is hidden; read again")),
    }
}

fn locate(document: &Document, hops: &[Hop], at: Point) -> Result<Route> {
    let flat = || super::internal("a frame that is turned away from the viewer");
    let session = |d: &Document| {
        d.tab
            .look(|s| s.frames.get(&d.frame).map(|f| f.cdp_session.clone()))
    };
    let mut route = vec![(document.clone(), at)];
    let mut point = at;
    for (i, hop) in hops.iter().enumerate().rev() {
        let outer = hop.quad.map(point, hop.view);
        // In the parent's own pixels, unless the parent is where the quad is measured from already.
        point = match i.checked_sub(1).map(|i| &hops[i]) {
            Some(parent) => {
                let above = match i.checked_sub(2).map(|i| &hops[i]) {
                    Some(above) => session(&above.document),
                    None => document
                        .tab
                        .look(|s| s.main_frame().map(|f| f.cdp_session.clone())),
                };
                match session(&parent.document) == above {
                    true => parent.quad.unmap(outer, parent.view).ok_or_else(flat)?,
                    false => outer,
                }
            }
            None => outer,
        };
        let parent = match i.checked_sub(1) {
            Some(i) => hops[i].document.clone(),
            None => Document::new(
                &document.browser,
                &document.session,
                &document.tab,
                document.tab.main_frame(),
            ),
        };
        route.push((parent, point));
    }
    route.reverse();
    Ok(Route(route))
}

async fn bring_into_view(hop: &Hop, deadline: Instant) -> Result<()> {
    let tab = &hop.document.tab;
    let parent = tab.look(|s| {
        s.frames
            .get(&hop.document.frame)
            .and_then(|f| f.parent.clone())
    });
    let Some(place) = parent.and_then(|p| tab.place_now(&p, false)) else {
        return Ok(());
    };
    let node = owner(&hop.document, &place, deadline).await?;
    let scroll = dom::ScrollIntoViewIfNeeded {
        backend_node_id: Some(node),
        ..Default::default()
    };
    let done = tab.send_to(&place.cdp_session, &scroll)?.by(deadline).await;
    match done {
        Ok(()) | Err(CdpError::NoBox) => Ok(()),
        Err(error) => Err(tab.error("scrolling to the frame", error)),
    }
}
