//! `select`: choose options of a select.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Acted, Call, Kind, Tool};
use crate::error::{Code, Result};
use crate::page::act::{Acting, Before, Done};
use crate::page::locate::Locator;
use crate::page::{Again, args, budget_ms};

/// Choose options of a select element by their labels or values.
///
/// Exactly these are chosen then; a list that takes several may be emptied with none. What only looks
/// like a select is `not_editable`: click it, then click the option.
#[derive(Deserialize, JsonSchema)]
pub struct Select {
    #[serde(flatten)]
    target: Locator,
    /// Labels, or values where no label is the same.
    #[schemars(length(max = 1000))]
    values: Vec<String>,
    #[serde(flatten)]
    acting: Acting,
}

/// What is chosen now, by its labels.
#[derive(Serialize)]
pub struct Selected {
    target: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<Vec<String>>,
    #[serde(flatten)]
    done: Done,
}

#[derive(Default, Deserialize)]
struct Chosen {
    target: Value,
    selected: Option<Vec<String>>,
}

impl Tool for Select {
    const NAME: &'static str = "select";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref", "values"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n9","values":["Norway"]}"#,
        r##"{"selector":"#sizes","values":["S","M"],"read":true}"##,
    ];
    type Output = Selected;

    async fn run(self, call: &Call) -> Result<Selected> {
        self.target.require()?;
        let document = call.document(&self.target).await?;
        let mut before = Before::new(&document);
        let deadline = call.deadline();
        let mut wanted = self.target.args();
        wanted.extend(args(json!({
            "values": self.values,
            "budget_ms": budget_ms(deadline),
        })));
        call.set_acted(Acted::Unknown);
        let chosen = document.ask("choose", wanted, Again::No, deadline).await;
        let chosen: Chosen = match chosen {
            // The page asks something because of it: the effect tells.
            Err(error) if error.code() == Code::DialogOpen => Chosen::default(),
            chosen => chosen?,
        };
        before.begin();
        call.set_acted(Acted::Yes);
        let done = before.after(call, &self.acting).await?;
        Ok(Selected {
            target: chosen.target,
            selected: chosen.selected,
            done,
        })
    }
}
