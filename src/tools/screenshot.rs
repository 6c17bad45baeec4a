//! `screenshot`: a picture of the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::cdp::Json;
use crate::cdp::page::CaptureScreenshotFormat;
use crate::error::{Code, Result};
use crate::files::{Place, blocking};
use crate::page::locate::Locator;
use crate::page::marks::Mark;
use crate::page::picture::{Shot, decode, take};

/// A picture's format.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "the words say it; docs here would split the schema's enum"
)]
pub enum Format {
    #[default]
    Png,
    Jpeg,
    Webp,
}

/// Take a picture of what is in view, of one element, or of the whole page.
///
/// It is written to a file, and the reply says where. A side has at most 16384 pixels: of what is longer
/// the upper left part is shown, with `truncated` and the size it should have had in `full`.
#[derive(Deserialize, JsonSchema)]
pub struct Screenshot {
    #[serde(flatten)]
    target: Locator,
    /// All of the page, not only what is in view.
    #[serde(default)]
    full_page: bool,
    /// The file's format: `png`, `jpeg` or `webp`.
    #[serde(default)]
    format: Format,
    /// For jpeg and webp: from 1, the smallest file, to 100.
    #[schemars(range(min = 1, max = 100))]
    quality: Option<i64>,
    /// Whether to draw boxes with refs around what can be acted on; `marks` tells where they are in the viewport.
    #[serde(default)]
    annotate: bool,
    /// Where to write it: an absolute path. Left out, a new file in the daemon's cache directory.
    path: Option<String>,
    /// Whether to replace a file that is there.
    #[serde(default)]
    overwrite: bool,
    /// Whether to reply with the picture as well: `data`, in base64.
    #[serde(default)]
    inline: bool,
}

/// The picture.
#[derive(Serialize)]
pub struct Taken {
    path: String,
    width: u32,
    height: u32,
    bytes: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<Full>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Vec<Mark>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Json>,
}

/// The size that a truncated picture should have had, in CSS pixels.
#[derive(Serialize)]
struct Full {
    width: f64,
    height: f64,
}

impl Tool for Screenshot {
    const NAME: &'static str = "screenshot";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["path"];
    const EXAMPLES: &'static [&'static str] = &[
        "{}",
        r#"{"ref":"n12"}"#,
        r#"{"annotate":true}"#,
        r#"{"full_page":true,"format":"jpeg","quality":70,"path":"/tmp/page.jpg","overwrite":true}"#,
    ];
    type Output = Taken;

    async fn run(self, call: &Call) -> Result<Taken> {
        self.check()?;
        let (format, extension) = match self.format {
            Format::Png => (CaptureScreenshotFormat::Png, "png"),
            Format::Jpeg => (CaptureScreenshotFormat::Jpeg, "jpg"),
            Format::Webp => (CaptureScreenshotFormat::Webp, "webp"),
        };
        let place = Place::of(
            self.path.as_deref(),
            self.overwrite,
            "screenshot",
            extension,
        )?;
        place.check()?;
        let document = call.document(&self.target).await?;
        let shot = Shot {
            format,
            quality: self.quality,
            full_page: self.full_page,
            // A file costs nobody anything for being larger, a reply does.
            hurry: !self.inline,
            annotate: self.annotate,
        };
        let mut picture = take(&document, &self.target, &shot, call.deadline()).await?;
        let (marks, cut_from) = (picture.marks.take(), picture.cut_from);
        let data = self.inline.then(|| picture.data.clone());
        let (path, decoded) = blocking(move || {
            let decoded = decode(&picture.data)?;
            Ok((place.write(&decoded.content)?, decoded))
        })
        .await?;
        Ok(Taken {
            path: path.display().to_string(),
            width: decoded.width,
            height: decoded.height,
            bytes: decoded.content.len(),
            truncated: cut_from.is_some(),
            full: cut_from.map(|(width, height)| Full { width, height }),
            marks,
            data,
        })
    }
}

impl Screenshot {
    fn check(&self) -> Result<()> {
        let wrong = |what: &str, argument: &str| {
            Err(Code::BadRequest.because(what).fact("argument", argument))
        };
        self.target.check()?;
        if self.full_page && !self.target.is_empty() {
            return wrong("full_page goes without a target", "full_page");
        }
        if self.quality.is_some() && self.format == Format::Png {
            return wrong("quality goes with jpeg or webp, png has none", "quality");
        }
        Ok(())
    }
}
