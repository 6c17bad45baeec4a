//! `tools`: every tool with what it is for and the schema of its arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Call, Kind, TOOLS, Tool};
use crate::error::Result;

/// List every tool with its description and the JSON Schema of its arguments.
///
/// Answered at once, even while a page hangs. Starts no browser.
#[derive(Deserialize, JsonSchema)]
pub struct Tools {}

/// All tools, in the order of the help.
#[derive(Serialize)]
pub struct List {
    tools: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
    description: &'static str,
    /// `daemon`, `see`, `act` or `unblock`.
    kind: &'static str,
    schema: &'static Value,
    examples: Vec<&'static RawValue>,
}

impl Tool for Tools {
    const NAME: &'static str = "tools";
    const KIND: Kind = Kind::Daemon;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = List;

    async fn run(self, _call: &Call) -> Result<List> {
        let item = |entry: &'static super::Entry| Item {
            name: entry.name,
            description: entry.description(),
            kind: match entry.kind {
                Kind::Daemon => "daemon",
                Kind::See => "see",
                Kind::Act => "act",
                Kind::Unblock => "unblock",
            },
            schema: entry.schema(),
            examples: entry
                .examples
                .iter()
                .filter_map(|example| serde_json::from_str(example).ok())
                .collect(),
        };
        Ok(List {
            tools: TOOLS.iter().map(item).collect(),
        })
    }
}
