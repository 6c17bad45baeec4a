//! `screenshot`: a picture of the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Kind, Tool};
use crate::cdp::page::CaptureScreenshotFormat;
use crate::error::{Code, Result};
use crate::files::Place;
use crate::page::locate::Locator;
use crate::page::picture::{Shot, take};

/// A picture's format.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it; docs here would split the schema's enum")]
pub enum Format {
    #[default]
    Png,
    Jpeg,
    Webp,
}

/// Take a picture of what is in view, of one element, or of the whole page.
///
/// It is written to a file whose path is in the reply. Sides end at 16383 pixels: `truncated`.
#[derive(Deserialize, JsonSchema)]
pub struct Screenshot {
    #[serde(flatten)]
    target: Locator,
    /// All of the page, not only what is in view.
    #[serde(default)]
    full_page: bool,
    /// `png`, `jpeg` or `webp`.
    #[serde(default)]
    format: Format,
    /// For jpeg and webp: from 0 to 100, where 100 is the largest file.
    #[schemars(range(min = 0, max = 100))]
    quality: Option<i64>,
    /// Not yet: number what can be clicked.
    #[serde(default)]
    annotate: bool,
    /// Where to write it: an absolute path. Left out, a new file in tabd's cache directory.
    path: Option<String>,
    /// Whether to replace a file that is there.
    #[serde(default)]
    overwrite: bool,
    /// Reply with the picture as well, in base64.
    #[serde(default)]
    inline: bool,
}

/// The picture.
#[derive(Serialize)]
pub struct Taken {
    path: String,
    width: u32,
    height: u32,
    bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl Tool for Screenshot {
    const NAME: &'static str = "screenshot";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["path"];
    const EXAMPLES: &'static [&'static str] = &[
        "{}",
        r#"{"ref":"n12"}"#,
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
        let place = Place::of(self.path.as_deref(), self.overwrite, "screenshot", extension)?;
        place.check()?;
        let document = call.document(&self.target).await?;
        let shot = Shot {
            format,
            quality: self.quality,
            full_page: self.full_page,
        };
        let picture = take(&document, &self.target, &shot, call.deadline()).await?;
        let (path, bytes) = place.save(picture.content).await?;
        Ok(Taken {
            path: path.display().to_string(),
            width: picture.width,
            height: picture.height,
            bytes,
            truncated: picture.truncated,
            target: picture.target,
            data: self.inline.then_some(picture.base64),
        })
    }
}

impl Screenshot {
    fn check(&self) -> Result<()> {
        let wrong = |what: &str, argument: &str| {
            Err(Code::BadRequest.because(what).fact("argument", argument))
        };
        self.target.check()?;
        if self.annotate {
            return wrong("annotate comes later", "annotate");
        }
        if self.full_page && !self.target.is_empty() {
            return wrong("full_page goes without a target", "full_page");
        }
        if self.quality.is_some() && self.format == Format::Png {
            return wrong("quality goes with jpeg or webp", "quality");
        }
        Ok(())
    }
}
