//! What differs from an earlier view of the same frames.

use serde_json::{Map, Value, json};

use super::args;
use super::gather::{fields, reached};
use super::parts::Parts;
use super::read::ReadArgs;
use crate::cdp::FrameId;

/// The frames that are in a view.
pub(super) fn frames_of(read: &Parts) -> Vec<FrameId> {
    let mut frames: Vec<FrameId> = reached(read)
        .into_iter()
        .map(|at| read.parts[at].document.frame.clone())
        .collect();
    frames.sort();
    frames
}

/// Whether the parts' differences make the difference of the whole: each has its own, the frames are
/// the same, and none of their nodes has changed: what is in a frame has to stay where it is.
pub(super) fn holds(read: &Parts, base: &[FrameId], wanted: &ReadArgs) -> bool {
    let (max, max_chars) = wanted.limits();
    let all = reached(read);
    let headers = || all.iter().map(|at| &read.parts[*at].header);
    let is_cut = |h: &super::parts::Header| h.truncated == "refs" || h.truncated == "chars";
    headers().all(|h| h.base.is_some() && h.frames.iter().all(|f| !f.sent))
        && frames_of(read) == base
        && (all.len() == 1
            || headers().all(|h| !is_cut(h))
                && headers().map(|h| h.count).sum::<u64>() <= max.into()
                && headers().map(|h| h.size).sum::<u64>() <= max_chars)
}

/// What was added, changed and removed since, in all frames.
pub(super) fn differences(read: &Parts, since: Option<&str>) -> Map<String, Value> {
    let mut delta = Delta::default();
    delta.add(read, 0, 0, "");
    args(json!({
        "base": since,
        "added": delta.added,
        "changed": delta.changed,
        "removed": delta.removed,
    }))
}

#[derive(Default)]
struct Delta {
    added: Vec<Value>,
    changed: Vec<Value>,
    removed: Vec<Value>,
}

impl Delta {
    /// Adds a part's difference, `base` levels deep, behind the node of its frame. Returns the last
    /// ref of all that is in the part, or `before`.
    fn add(&mut self, read: &Parts, at: usize, base: usize, before: &str) -> String {
        let part = &read.parts[at];
        let removed = part.header.removed.iter();
        self.removed.extend(removed.cloned().map(Value::from));
        // What follows a frame's node follows what is in the frame.
        let mut lasts: Vec<(&str, String)> = Vec::new();
        for frame in &part.header.frames {
            if let Some(inner) = read.inside(at, frame.frame) {
                let last = self.add(read, inner, base + frame.depth, &frame.r#ref);
                lasts.push((&frame.r#ref, last));
            }
        }
        let behind = |r: &str| {
            let last = lasts.iter().find(|(frame, _)| *frame == r);
            last.map_or_else(|| r.to_owned(), |(_, last)| last.clone())
        };
        for record in part.records() {
            let mut parts = record.splitn(3, '\t');
            let kind = parts.next();
            let after = match parts.next().unwrap_or_default() {
                "" => before.to_owned(),
                r => behind(r),
            };
            let (head, depth, tail) = fields(parts.next().unwrap_or_default());
            let node = format!("{head},\"depth\":{}{tail}", depth + base);
            let Ok(Value::Object(mut node)) = serde_json::from_str(&node) else {
                continue;
            };
            let after = match after.is_empty() {
                true => Value::Null,
                false => after.into(),
            };
            node.insert("after".to_owned(), after);
            match kind {
                Some("A") => self.added.push(Value::Object(node)),
                _ => self.changed.push(Value::Object(node)),
            }
        }
        match part.header.last.as_str() {
            "" => before.to_owned(),
            last => behind(last),
        }
    }
}
