//! `text`: what the page says, as a person would copy it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, Kind, Tool};
use crate::error::Result;
use crate::page::read::root_of;
use crate::page::{Again, args, budget_ms};

/// The most characters unless asked otherwise.
const MAX_CHARS: u64 = 20_000;

/// How text is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "described where it is used; docs here would split the schema's enum")]
pub enum TextFormat {
    #[default]
    Text,
    Markdown,
}

/// Tell the visible text of the page, as a person would copy it.
#[derive(Deserialize, JsonSchema)]
pub struct Text {
    /// Only what is inside this element: a ref, or a CSS selector.
    root: Option<String>,
    /// `text`, or `markdown` with headings, links, lists and tables.
    #[serde(default)]
    format: TextFormat,
    /// Only the article, without navigation, adverts and footers.
    #[serde(default)]
    main: bool,
    /// The most characters; 20000 if left out.
    #[schemars(range(min = 1, max = 50_000_000))]
    max_chars: Option<u64>,
    /// How many characters to skip.
    offset: Option<u64>,
}

/// A part of the page's text.
#[derive(Deserialize, Serialize)]
pub struct Told {
    text: String,
    total_chars: u64,
    truncated: bool,
}

impl Tool for Text {
    const NAME: &'static str = "text";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["root"];
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"root":"main","max_chars":500}"#];
    type Output = Told;

    async fn run(self, call: &Call) -> Result<Told> {
        let root = self.root.as_deref().and_then(|r| r.parse().ok());
        let main = call.main_document_of(root).await?;
        let (document, root) = root_of(&main, self.root.as_deref())?;
        let wanted = args(json!({
            "root": root,
            "format": self.format,
            "main": self.main,
            "max_chars": self.max_chars.unwrap_or(MAX_CHARS),
            "offset": self.offset.unwrap_or(0),
            "budget_ms": budget_ms(call.deadline()),
        }));
        document.ask("text", wanted, Again::Yes, call.deadline()).await
    }
}
