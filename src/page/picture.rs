//! Pictures of the page: which part of it, and how large it came out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;
use tokio::time::Instant;

use super::input::Point;
use super::locate::Locator;
use super::{Again, Document, args, budget_ms, frames};
use crate::browser::Tab;
use crate::cdp::page::{CaptureScreenshot, CaptureScreenshotFormat, GetLayoutMetrics, Viewport};
use crate::error::{Code, Result};

/// The longest side of a picture, in pixels: what a GPU's textures, and the WebP format, can hold.
const MAX_SIDE: f64 = 16_383.0;

/// How to take it.
pub struct Shot {
    /// The format.
    pub format: CaptureScreenshotFormat,
    /// For JPEG and WebP, 0 to 100.
    pub quality: Option<i64>,
    /// The whole page instead of what is in view.
    pub full_page: bool,
}

/// A picture.
pub struct Picture {
    /// The file's content.
    pub content: Vec<u8>,
    /// The same as it came, in base64.
    pub base64: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// The page was longer or wider than a picture can be.
    pub truncated: bool,
    /// The element in it: ref, role, name.
    pub target: Option<Value>,
}

#[derive(Deserialize)]
struct Box {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    #[serde(default)]
    target: Value,
}

/// Takes a picture of what is in view, of one element, or of the whole page.
pub async fn take(
    document: &Document,
    locator: &Locator,
    shot: &Shot,
    deadline: Instant,
) -> Result<Picture> {
    let tab = &document.tab;
    let mut target = None;
    let mut clip = None;
    let mut beyond = false;
    if !locator.is_empty() {
        let mut wanted = locator.args();
        wanted.extend(args(json!({"budget_ms": budget_ms(deadline)})));
        let found: Box = document.ask("box", wanted, Again::No, deadline).await?;
        let (top, bottom) = corners(document, &found, deadline).await?;
        let metrics = tab.cdp(&GetLayoutMetrics::default(), deadline).await?;
        let view = &metrics.css_layout_viewport;
        beyond = top.x < 0.0
            || top.y < 0.0
            || bottom.x > view.client_width as f64
            || bottom.y > view.client_height as f64;
        clip = Some((
            top.x + view.page_x as f64,
            top.y + view.page_y as f64,
            bottom.x - top.x,
            bottom.y - top.y,
        ));
        target = Some(found.target);
    } else if shot.full_page {
        let metrics = tab.cdp(&GetLayoutMetrics::default(), deadline).await?;
        let size = &metrics.css_content_size;
        clip = Some((0.0, 0.0, size.width, size.height));
        beyond = true;
    }
    let mut truncated = false;
    let clip = clip.map(|(x, y, width, height)| {
        let scale = scale_of(tab);
        let side = (MAX_SIDE / scale).floor();
        truncated = width > side || height > side;
        // Whole pixels: half of one at an edge would be a seam of the page's background.
        let (left, top) = (x.floor(), y.floor());
        Viewport {
            x: left,
            y: top,
            width: ((x + width).ceil() - left).clamp(1.0, side),
            height: ((y + height).ceil() - top).clamp(1.0, side),
            scale: 1.0,
        }
    });
    let capture = CaptureScreenshot {
        format: Some(shot.format),
        quality: shot.quality,
        clip,
        capture_beyond_viewport: Some(beyond),
        ..Default::default()
    };
    let pending = tab.send(&capture)?;
    let reply = async {
        let reply = pending.by(deadline).await;
        reply.map_err(|e| tab.error("taking the picture", e))
    };
    let base64 = tab.unless_dialog(reply, deadline).await?.data;
    let content = STANDARD
        .decode(&base64)
        .map_err(|e| Code::Internal.because(format!("a picture that is no base64: {e}")))?;
    let (width, height) =
        size_of(&content).ok_or_else(|| Code::Internal.because("a picture of no known format"))?;
    Ok(Picture {
        content,
        base64,
        width,
        height,
        truncated,
        target,
    })
}

/// The element's corners in the tab's viewport.
async fn corners(document: &Document, found: &Box, deadline: Instant) -> Result<(Point, Point)> {
    let top = Point {
        x: found.x,
        y: found.y,
    };
    let bottom = Point {
        x: found.x + found.width,
        y: found.y + found.height,
    };
    Ok((
        frames::route(document, top, deadline).await?.at(),
        frames::route(document, bottom, deadline).await?.at(),
    ))
}

/// Pixels of the picture for one of the page.
fn scale_of(_tab: &Tab) -> f64 {
    1.0
}

/// Width and height of a PNG, JPEG or WebP file.
fn size_of(file: &[u8]) -> Option<(u32, u32)> {
    let at = |i: usize| file.get(i).copied().map(u32::from);
    let big = |i: usize| Some(at(i)? << 8 | at(i + 1)?);
    if file.starts_with(b"\x89PNG") {
        return Some((big(16)? << 16 | big(18)?, big(20)? << 16 | big(22)?));
    }
    if file.starts_with(b"\xff\xd8") {
        let mut i = 2;
        loop {
            match (at(i)?, at(i + 1)?) {
                // The frame headers are SOF0 to SOF15, but for three that are tables.
                (0xff, 0xc0..=0xcf) if !matches!(at(i + 1)?, 0xc4 | 0xc8 | 0xcc) => {
                    return Some((big(i + 7)?, big(i + 5)?));
                }
                (0xff, 0xff) => i += 1,
                (0xff, _) => i += 2 + big(i + 2)? as usize,
                _ => return None,
            }
        }
    }
    if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP") {
        let little = |i: usize| Some(at(i)? | at(i + 1)? << 8);
        return match file.get(12..16)? {
            b"VP8 " => Some((little(26)? & 0x3fff, little(28)? & 0x3fff)),
            b"VP8L" => {
                let bits = little(21)? | little(23)? << 16;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            b"VP8X" => {
                let three = |i: usize| Some(little(i)? | at(i + 2)? << 16);
                Some((three(24)? + 1, three(27)? + 1))
            }
            _ => None,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_file() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\x01\x02\x58";
        assert_eq!(size_of(png), Some((800, 66136)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\x02\x58\x03\x20\x03";
        assert_eq!(size_of(jpeg), Some((800, 600)));
        let webp = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x20\x03\x58\x02";
        assert_eq!(size_of(webp), Some((800, 600)));
        assert_eq!(size_of(b"\xff\xd8\xff"), None);
        assert_eq!(size_of(b"<svg>"), None);
    }
}
