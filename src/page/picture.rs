//! Pictures of the page: which part of it, and how large it came out.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::time::Instant;

use super::locate::Locator;
use super::marks::{Bounds, Mark, draw, marks};
use super::owed::Owed;
use super::{Again, Document, args, budget_ms, frames};
use crate::browser::Tab;
use crate::cdp::page::{CaptureScreenshot, CaptureScreenshotFormat, GetLayoutMetrics, Viewport};
use crate::cdp::{CdpError, Json};
use crate::error::{Code, Result};

/// The longest side of a picture, in pixels: what a GPU's textures can hold.
const MAX_SIDE: f64 = 16_384.0;
/// The same of WebP, which has 14 bits for it.
const MAX_WEBP_SIDE: f64 = 16_383.0;
/// The browser's own quality of JPEG and WebP unless asked otherwise.
const QUALITY: i64 = 80;
/// How long the next document is waited for before the page is looked at again.
const PATIENCE: Duration = Duration::from_millis(250);

/// How to take it.
pub struct Shot {
    /// The format.
    pub format: CaptureScreenshotFormat,
    /// For JPEG and WebP, 1 to 100.
    pub quality: Option<i64>,
    /// The whole page instead of what is in view.
    pub full_page: bool,
    /// Whether a file that is larger by a third or more will do, if it is there in half the time.
    pub hurry: bool,
    /// Whether to draw boxes with refs around what can be acted on.
    pub annotate: bool,
}

/// A picture as the browser gave it.
pub struct Picture {
    /// The file's content as a JSON string of base64.
    pub data: Json,
    /// The boxes drawn on it.
    pub marks: Option<Vec<Mark>>,
    /// Width and height of what should have been in it, in CSS pixels, if that was too much.
    pub cut_from: Option<(f64, f64)>,
}

/// A picture's file.
pub struct Decoded {
    /// What it holds.
    pub content: Vec<u8>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// The part of the page that a picture shows.
struct Part {
    clip: Viewport,
    /// The same in the viewport.
    shows: Bounds,
    /// Whether some of it is outside of the viewport.
    beyond: bool,
    cut_from: Option<(f64, f64)>,
}

/// Takes a picture of what is in view, of one element, or of the whole page. An element is waited
/// for until it is shown and scrolled into view first.
pub async fn take(
    document: &Document,
    locator: &Locator,
    shot: &Shot,
    deadline: Instant,
) -> Result<Picture> {
    let tab = &document.tab;
    loop {
        let commits = tab.look(|s| s.commits);
        let part = match (locator.is_empty(), shot.full_page) {
            (false, _) => {
                let mut wanted = locator.args();
                wanted.extend(args(json!({"budget_ms": budget_ms(deadline)})));
                let own: Bounds = document.ask("box", wanted, Again::No, deadline).await?;
                let seen = frames::outward(document, own.corners(), deadline).await?;
                Some(part(tab, Some(Bounds::around(&seen)), shot.format, deadline).await?)
            }
            (true, true) => Some(part(tab, None, shot.format, deadline).await?),
            (true, false) => {
                // Whether the page answers at all: see [`Owed`].
                document.script("''", Again::Yes, deadline).await?;
                None
            }
        };
        let boxes = match shot.annotate {
            true => {
                let main =
                    Document::new(&document.browser, &document.session, tab, tab.main_frame());
                let boxes = marks(&main, shot.full_page, deadline).await?;
                Some((main, boxes))
            }
            false => None,
        };
        if let Some(data) = capture(tab, shot, part.as_ref(), deadline).await? {
            let cut_from = part.as_ref().and_then(|p| p.cut_from);
            let (data, marks) = match boxes {
                Some((main, boxes)) => {
                    let shows = part.map(|p| p.shows);
                    let as_what = (media(shot.format), shot.quality.or(Some(QUALITY)));
                    let (data, boxes) = draw(&main, &data, shows, boxes, as_what, deadline).await?;
                    (data, Some(boxes))
                }
                None => (data, None),
            };
            return Ok(Picture {
                data,
                marks,
                cut_from,
            });
        }
        if locator.r#ref.is_some() {
            return Err(Code::StaleRef
                .because("the page was left while its picture was taken")
                .fact("why", "navigated")
                .hint("read again"));
        }
        let next = deadline.min(Instant::now() + PATIENCE);
        tab.until(next, |s| (s.commits != commits).then_some(()))
            .await?;
    }
}

fn media(format: CaptureScreenshotFormat) -> &'static str {
    match format {
        CaptureScreenshotFormat::Jpeg => "image/jpeg",
        CaptureScreenshotFormat::Webp => "image/webp",
        _ => "image/png",
    }
}

/// The picture in base64, `None` if the document was left meanwhile.
async fn capture(
    tab: &Arc<Tab>,
    shot: &Shot,
    part: Option<&Part>,
    deadline: Instant,
) -> Result<Option<Json>> {
    // What is drawn on is written anew: it only has to be exact and soon there.
    let (format, quality) = match shot.annotate {
        true => (CaptureScreenshotFormat::Png, None),
        false => (shot.format, shot.quality),
    };
    let command = CaptureScreenshot {
        format: Some(format),
        quality,
        clip: part.map(|p| p.clip.clone()),
        capture_beyond_viewport: Some(part.is_some_and(|p| p.beyond)),
        optimize_for_speed: Some(shot.hurry || shot.annotate),
        ..Default::default()
    };
    let pending = tab.send(&command)?;
    let owed = Owed::by(tab);
    let reply = async {
        match pending.by(deadline).await {
            Ok(reply) => Ok(Some(reply.data)),
            Err(CdpError::ContextGone | CdpError::NoContext) if Instant::now() < deadline => {
                Ok(None)
            }
            Err(error) => Err(tab.error("taking the picture", error)),
        }
    };
    let data = tab.unless_dialog(reply, deadline).await?;
    owed.settle();
    Ok(data)
}

/// The clip for a box of the viewport, or for the whole page, within what a picture can hold.
async fn part(
    tab: &Tab,
    bounds: Option<Bounds>,
    format: CaptureScreenshotFormat,
    deadline: Instant,
) -> Result<Part> {
    let ask = tab.send(&GetLayoutMetrics::default())?;
    let metrics = async {
        let reply = ask.by(deadline).await;
        reply.map_err(|e| tab.error("measuring the page", e))
    };
    let metrics = tab.unless_dialog(metrics, deadline).await?;
    let (view, seen) = (&metrics.css_layout_viewport, &metrics.css_visual_viewport);
    let (width, height) = (view.client_width as f64, view.client_height as f64);
    // How far the page is scrolled: the layout viewport tells it in whole pixels only.
    let (x, y) = (seen.page_x - seen.offset_x, seen.page_y - seen.offset_y);
    // Whole pixels: half of one at an edge would be a seam of the page's background.
    let (left, top, right, bottom, beyond) = match bounds {
        Some(b) => (
            (b.left + x).floor(),
            (b.top + y).floor(),
            (b.right + x).ceil(),
            (b.bottom + y).ceil(),
            b.left < 0.0 || b.top < 0.0 || b.right > width || b.bottom > height,
        ),
        None => {
            let page = &metrics.css_content_size;
            let beyond = page.width > width || page.height > height;
            (0.0, 0.0, page.width.ceil(), page.height.ceil(), beyond)
        }
    };
    let (left, top) = (left.max(0.0), top.max(0.0));
    let (wide, high) = ((right - left).max(1.0), (bottom - top).max(1.0));
    // Device pixels for one of CSS.
    let scale = match metrics.layout_viewport.client_width as f64 / width {
        scale if scale.is_finite() && scale > 0.0 => scale,
        _ => 1.0,
    };
    let max = match format {
        CaptureScreenshotFormat::Webp => MAX_WEBP_SIDE,
        _ => MAX_SIDE,
    };
    let side = (max / scale).floor();
    let (width, height) = (wide.min(side), high.min(side));
    Ok(Part {
        clip: Viewport {
            x: left,
            y: top,
            width,
            height,
            scale: 1.0,
        },
        shows: Bounds {
            left: left - x,
            top: top - y,
            right: left - x + width,
            bottom: top - y + height,
        },
        beyond,
        cut_from: (wide > side || high > side).then_some((wide, high)),
    })
}

/// The picture's file from its base64. Takes about a millisecond for a megabyte.
pub fn decode(data: &Json) -> Result<Decoded> {
    // Base64 has no character that JSON escapes.
    let text = data.text().trim_matches('"');
    let content = STANDARD
        .decode(text)
        .map_err(|e| Code::Internal.because(format!("a picture that is no base64: {e}")))?;
    let (width, height) =
        size_of(&content).ok_or_else(|| super::internal("a picture of no known format"))?;
    Ok(Decoded {
        content,
        width,
        height,
    })
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
