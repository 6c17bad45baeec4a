//! `find`: an element by what it says or is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Kind, Tool};
use crate::error::{Code, Result};
use crate::page::read::{Format, Query, Snapshot, find};

/// The most matches unless asked otherwise.
const MAX: u32 = 200;

/// Find elements by their name or role, anywhere on the page, beyond any cap of `read`.
///
/// Upper and lower case are the same. Exact names come first; without any, names that hold the query;
/// without any, names that hold all of its words.
#[derive(Deserialize, JsonSchema)]
pub struct Find {
    /// Words of a name, or a role.
    query: Option<String>,
    /// Only this role.
    role: Option<String>,
    /// Only names that are equal.
    #[serde(default)]
    exact: bool,
    /// The most matches; 200 if left out.
    #[schemars(range(min = 1, max = 20000))]
    max: Option<u32>,
    /// `nodes`: a list of objects. `outline`: a line of text a node.
    #[serde(default)]
    format: Format,
}

impl Tool for Find {
    const NAME: &'static str = "find";
    const KIND: Kind = Kind::See;
    const BARE: &'static [&'static str] = &["query"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"query":"More information"}"#,
        r#"{"query":"save","role":"button"}"#,
        r#"{"role":"heading","format":"outline"}"#,
    ];
    type Output = Snapshot;

    async fn run(self, call: &Call) -> Result<Snapshot> {
        if self.query.is_none() && self.role.is_none() {
            return Err(Code::BadRequest
                .because("find needs query or role")
                .fact("argument", "query"));
        }
        let main = call.main_document().await?;
        let query = Query {
            query: self.query,
            role: self.role,
            exact: self.exact,
        };
        let max = self.max.unwrap_or(MAX);
        find(&main, &query, max, self.format, call.deadline()).await
    }
}
