//! `evaluate`: run a script in the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Kind, Ref, Tool};
use crate::error::Result;
use crate::page::act::{Acting, Done};
use crate::page::evaluate::{Script, evaluate};
use crate::page::locate::Locator;
use crate::page::value::Value;

/// Run JavaScript in the page and get its value.
///
/// An expression, statements with top-level await, or a lone function, which is called. Promises are
/// awaited; an element comes back as its ref. What the script throws is `eval_error`.
#[derive(Deserialize, JsonSchema)]
pub struct Evaluate {
    /// The script.
    script: String,
    /// An element that the script sees as `el`, and a function gets; runs in its frame.
    r#ref: Option<Ref>,
    /// The page's own world, or one that shares only the document with it.
    #[serde(default)]
    world: World,
    /// The longest value, in bytes; what is longer is cut and `truncated`.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 1))]
    max_bytes: usize,
    #[serde(flatten)]
    acting: Acting,
}

fn max_bytes() -> usize {
    65536
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum World {
    #[default]
    Page,
    Isolated,
}

/// What the script gave and did.
#[derive(Serialize)]
pub struct Evaluated {
    #[serde(flatten)]
    value: Option<Value>,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Evaluate {
    const NAME: &'static str = "evaluate";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["script"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"script":"document.title"}"#,
        r#"{"ref":"n12","script":"el => el.getBoundingClientRect()"}"#,
        r#"{"script":"const r = await fetch('/api/me'); await r.json()"}"#,
    ];
    type Output = Evaluated;

    async fn run(self, call: &Call) -> Result<Evaluated> {
        let el = Locator {
            r#ref: self.r#ref,
            ..Locator::default()
        };
        let document = call.document(&el).await?;
        let script = Script {
            source: self.script,
            isolated: self.world == World::Isolated,
            max_bytes: self.max_bytes,
        };
        let evaluated = evaluate(call, &document, &el, &script, &self.acting).await?;
        Ok(Evaluated {
            value: evaluated.value,
            done: evaluated.done,
        })
    }
}
