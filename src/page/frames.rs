//! Frames within frames: which documents a page is made of, and how they are told apart.

use tokio::time::Instant;

use super::Document;
use super::input::Point;
use crate::error::Result;

/// The documents of all frames below `top`'s, parents before children, each known to its parent's
/// page script by its number.
pub async fn below(_top: &Document, _deadline: Instant) -> Vec<Document> {
    Vec::new()
}

/// Brings closed shadow roots that an answer points at into the document's world. True if there are
/// new ones, so that it is worth to look again.
pub async fn adopt_closed_roots(_document: &Document, _answer: &str, _deadline: Instant) -> bool {
    false
}

/// A point of the document's own viewport as a point of the tab's.
pub async fn to_viewport(_document: &Document, at: Point, _deadline: Instant) -> Result<Point> {
    Ok(at)
}

/// Fails with `covered` if something of an outer document lies over the frame at that point of the
/// tab's viewport.
pub async fn check_on_top(_document: &Document, _at: Point, _deadline: Instant) -> Result<()> {
    Ok(())
}
