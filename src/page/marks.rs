//! Boxes with refs around what can be acted on: where they are, and drawing them on a picture.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use super::input::Point;
use super::{Again, Document, args, budget_ms, frames};
use crate::cdp::Json;
use crate::error::{Code, Result};

/// The most boxes on a picture, and refs that one document of it may give out.
const MAX: u32 = 1000;

/// A box in the viewport of a document.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Bounds {
    /// Its left edge, in CSS pixels, as all.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Bounds {
    /// Clockwise from the upper left one.
    pub fn corners(self) -> [Point; 4] {
        let at = |x, y| Point { x, y };
        [
            at(self.left, self.top),
            at(self.right, self.top),
            at(self.right, self.bottom),
            at(self.left, self.bottom),
        ]
    }

    /// The smallest box that holds them all.
    pub fn around(points: &[Point]) -> Bounds {
        let mut all = Bounds {
            left: f64::INFINITY,
            top: f64::INFINITY,
            right: f64::NEG_INFINITY,
            bottom: f64::NEG_INFINITY,
        };
        for point in points {
            all.left = all.left.min(point.x);
            all.top = all.top.min(point.y);
            all.right = all.right.max(point.x);
            all.bottom = all.bottom.max(point.y);
        }
        all
    }

    fn meets(&self, other: &Bounds) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// An element that can be acted on.
pub struct Mark {
    /// Its ref.
    pub r#ref: String,
    /// Where it is in the tab's viewport.
    pub bounds: Bounds,
}

impl Serialize for Mark {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let b = &self.bounds;
        let tenth = |px: f64| (px * 10.0).round() / 10.0;
        json!({
            "ref": self.r#ref,
            "box": {
                "x": tenth(b.left),
                "y": tenth(b.top),
                "width": tenth(b.right - b.left),
                "height": tenth(b.bottom - b.top),
            },
        })
        .serialize(to)
    }
}

/// What can be acted on in the tab, in all frames; with `whole` also what is outside of the viewport.
pub async fn marks(main: &Document, whole: bool, deadline: Instant) -> Result<Vec<Mark>> {
    let mut all = in_document(main, !whole, deadline).await?;
    for frame in frames::below(main, deadline).await {
        // A frame that cannot be looked into, or has no box, has nothing on the picture.
        if let Ok(inner) = in_document(&frame, true, deadline).await {
            all.extend(inner);
        }
    }
    all.truncate(MAX as usize);
    Ok(all)
}

async fn in_document(document: &Document, in_view: bool, deadline: Instant) -> Result<Vec<Mark>> {
    #[derive(Deserialize)]
    struct Found {
        marks: Vec<(u32, f64, f64, f64, f64)>,
    }
    let wanted = args(json!({
        "viewport_only": in_view,
        "max": MAX,
        "budget_ms": budget_ms(deadline) / 2,
    }));
    let answer = document
        .call("marks", wanted, MAX, Again::No, deadline)
        .await?;
    let found: Found = serde_json::from_str(&answer)
        .map_err(|e| Code::Internal.because(format!("tabd.marks answered nonsense: {e}")))?;
    let bounds = found
        .marks
        .iter()
        .map(|&(_, left, top, right, bottom)| Bounds {
            left,
            top,
            right,
            bottom,
        });
    let corners: Vec<Point> = bounds.flat_map(Bounds::corners).collect();
    let seen = frames::project(document, corners, deadline).await?;
    let prefix = document.prefix();
    let marks = found.marks.iter().zip(seen.chunks_exact(4));
    Ok(marks
        .map(|(mark, corners)| Mark {
            r#ref: format!("{prefix}{}", mark.0),
            bounds: Bounds::around(corners),
        })
        .collect())
}

/// The picture with boxes drawn on it, and which they are. `shows` is the part of the viewport that is
/// in it, all of it if `None`; `media` the media type of the new one, `quality` 1 to 100.
pub async fn draw(
    main: &Document,
    picture: &Json,
    shows: Option<Bounds>,
    mut marks: Vec<Mark>,
    (media, quality): (&str, Option<i64>),
    deadline: Instant,
) -> Result<(Json, Vec<Mark>)> {
    #[derive(Deserialize)]
    struct Drawn {
        image: String,
    }
    if let Some(shows) = &shows {
        marks.retain(|m| m.bounds.meets(shows));
    }
    let boxes: Vec<_> = marks
        .iter()
        .map(|m| {
            (
                &m.r#ref,
                m.bounds.left,
                m.bounds.top,
                m.bounds.right,
                m.bounds.bottom,
            )
        })
        .collect();
    let wanted = args(json!({
        "image": picture.text().trim_matches('"'),
        "type": media,
        "quality": quality.map(|q| q as f64 / 100.0),
        "left": shows.map_or(0.0, |s| s.left),
        "top": shows.map_or(0.0, |s| s.top),
        "width": shows.map(|s| s.right - s.left),
        "marks": boxes,
    }));
    let drawn: Drawn = main.ask("annotate", wanted, Again::No, deadline).await?;
    let image = Json::of(&drawn.image)
        .map_err(|e| Code::Internal.because(format!("a picture that is no JSON: {e}")))?;
    Ok((image, marks))
}
