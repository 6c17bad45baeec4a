//! `pdf`: the page as it prints.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Tool};
use crate::cdp::page::{PrintToPdf, PrintToPdfTransferMode};
use crate::cdp::{CdpError, Json};
use crate::error::{Code, Error, Result, quoted};
use crate::files::{Place, blocking};
use crate::page::Again;
use crate::page::locate::Locator;
use crate::page::owed::Owed;
use crate::page::paper::{Paper, inches, pages_of};

/// A margin unless asked otherwise, in CSS pixels: 1 cm.
const MARGIN: f64 = 38.0;

/// Print the page to a PDF file, with its print styles.
#[derive(Deserialize, JsonSchema)]
pub struct Pdf {
    /// Where to write it: an absolute path. Left out, a new file in the daemon's cache directory.
    path: Option<String>,
    /// Whether to replace a file that is there.
    #[serde(default)]
    overwrite: bool,
    /// `letter`, `legal`, `tabloid`, `ledger`, `a0` to `a6`, or a size such as `210x297mm`. Left out, what the page's own styles say, else letter.
    paper: Option<String>,
    /// Whether the paper lies on its side.
    #[serde(default)]
    landscape: bool,
    /// Space left at each edge, in CSS pixels, of which an inch has 96; 38 if left out.
    #[schemars(range(min = 0, max = 2000))]
    margin: Option<f64>,
    /// How large: 1 is the page's own size.
    #[schemars(range(min = 0.1, max = 2))]
    scale: Option<f64>,
    /// Whether to print backgrounds.
    #[serde(default)]
    background: bool,
    /// Only these pages, such as `1-3,5`.
    pages: Option<String>,
}

/// The file.
#[derive(Serialize)]
pub struct Printed {
    path: String,
    bytes: usize,
    pages: u64,
}

impl Tool for Pdf {
    const NAME: &'static str = "pdf";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["path"];
    const EXAMPLES: &'static [&'static str] = &[
        "{}",
        r#"{"path":"/tmp/page.pdf","overwrite":true,"paper":"a4","background":true}"#,
    ];
    type Output = Printed;

    async fn run(self, call: &Call) -> Result<Printed> {
        let print = self.command()?;
        let place = Place::of(self.path.as_deref(), self.overwrite, "pdf", "pdf")?;
        place.check()?;
        let document = call.document(&Locator::default()).await?;
        let (tab, deadline) = (&document.tab, call.deadline());
        // Whether the page answers at all: a stuck one must not owe a print as well.
        document.script("''", Again::Yes, deadline).await?;
        let owed = Owed::by(tab);
        let pending = tab.send(&print)?;
        let reply = async {
            let reply = pending.by(deadline).await;
            reply.map_err(|e| match e {
                CdpError::NoSuchPage => {
                    let pages = quoted(self.pages.as_deref().unwrap_or_default(), 80);
                    wrong("pages", format!("the page has no such pages: {pages}"))
                }
                CdpError::NoPaper => wrong(
                    "margin",
                    "the margins leave nothing of the paper".to_owned(),
                ),
                other => tab.error("printing the page", other),
            })
        };
        let printed = tab.unless_dialog(reply, deadline).await;
        match &printed {
            Err(error) if error.code() != Code::BadRequest => drop(owed),
            _ => owed.settle(),
        }
        let data = printed?.data;
        blocking(move || {
            let content = decode(&data)?;
            let pages = pages_of(&content)
                .ok_or_else(|| Code::Internal.because("a PDF whose pages cannot be counted"))?;
            let path = place.write(&content)?;
            Ok(Printed {
                path: path.display().to_string(),
                bytes: content.len(),
                pages,
            })
        })
        .await
    }
}

fn decode(data: &Json) -> Result<Vec<u8>> {
    // Base64 has no character that JSON escapes.
    STANDARD
        .decode(data.text().trim_matches('"'))
        .map_err(|e| Code::Internal.because(format!("a PDF that is no base64: {e}")))
}

impl Pdf {
    fn command(&self) -> Result<PrintToPdf> {
        let paper = self.paper.as_deref().map(Paper::parse).transpose()?;
        let margin = inches(self.margin.unwrap_or(MARGIN));
        if let Some(pages) = &self.pages {
            check_pages(pages)?;
        }
        Ok(PrintToPdf {
            landscape: Some(self.landscape),
            print_background: Some(self.background),
            scale: self.scale,
            paper_width: paper.map(|p| p.width),
            paper_height: paper.map(|p| p.height),
            margin_top: Some(margin),
            margin_bottom: Some(margin),
            margin_left: Some(margin),
            margin_right: Some(margin),
            page_ranges: self.pages.clone(),
            prefer_css_page_size: Some(paper.is_none()),
            transfer_mode: Some(PrintToPdfTransferMode::ReturnAsBase64),
            ..Default::default()
        })
    }
}

fn wrong(argument: &str, what: String) -> Error {
    Code::BadRequest.because(what).fact("argument", argument)
}

/// `bad_request` unless it is like `1-3,5,8-`.
fn check_pages(pages: &str) -> Result<()> {
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text if text.len() < 7 && text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().ok().map(Some)
        }
        _ => None,
    };
    let is_range = |range: &str| match range.split_once('-') {
        None => matches!(number(range), Some(Some(1..))),
        Some((from, to)) => match (number(from), number(to)) {
            (Some(None), Some(None)) => false,
            (Some(from), Some(to)) => {
                let from: u32 = from.unwrap_or(1);
                from > 0 && to.is_none_or(|to: u32| to >= from)
            }
            _ => false,
        },
    };
    match pages.split(',').all(is_range) {
        true => Ok(()),
        false => Err(wrong(
            "pages",
            format!("pages must be like 1-3,5, not {}", quoted(pages, 80)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::check_pages;

    #[test]
    fn page_ranges_are_checked() {
        for good in ["1", "1-3", "1-3, 5", "2-", "-4", "7-7"] {
            assert!(check_pages(good).is_ok(), "{good}");
        }
        for bad in ["", "0", "-", "3-1", "a", "1,,2", "1-2-3", "99999999"] {
            assert!(check_pages(bad).is_err(), "{bad}");
        }
    }
}
