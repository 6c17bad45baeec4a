//! `html`: the page's markup.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, Kind, Tool};
use crate::error::Result;
use crate::page::read::root_of;
use crate::page::{Again, args};

/// The most characters unless asked otherwise.
const MAX_CHARS: u64 = 20_000;

/// Tell the markup of the page or of one element, as it is now and unaltered.
#[derive(Deserialize, JsonSchema)]
pub struct Html {
    /// Only this element: a ref, or a CSS selector.
    root: Option<String>,
    /// With the element's own tags; false: only what is inside them.
    #[serde(default = "yes")]
    outer: bool,
    /// The most characters; 20000 if left out.
    #[schemars(range(min = 1, max = 50_000_000))]
    max_chars: Option<u64>,
    /// How many characters to skip.
    offset: Option<u64>,
}

fn yes() -> bool {
    true
}

/// A part of the markup.
#[derive(Deserialize, Serialize)]
pub struct Told {
    html: String,
    total_chars: u64,
    truncated: bool,
}

impl Tool for Html {
    const NAME: &'static str = "html";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["root"];
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"root":"main","outer":false}"#];
    type Output = Told;

    async fn run(self, call: &Call) -> Result<Told> {
        let root = self.root.as_deref().and_then(|r| r.parse().ok());
        let main = call.main_document_of(root).await?;
        let (document, root) = root_of(&main, self.root.as_deref())?;
        let wanted = args(json!({
            "root": root,
            "outer": self.outer,
            "max_chars": self.max_chars.unwrap_or(MAX_CHARS),
            "offset": self.offset.unwrap_or(0),
        }));
        document
            .ask("html", wanted, Again::Yes, call.deadline())
            .await
    }
}
