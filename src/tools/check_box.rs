//! `check`: turn a checkbox, radio button or switch on or off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Kind, Tool};
use crate::error::{Code, Error, Result, quoted};
use crate::page::act::{Acting, Before, Done};
use crate::page::click::{How, click};
use crate::page::locate::Locator;
use crate::page::{Again, Document, point};

/// Turn a checkbox, radio button or switch on, or off with `checked` false.
///
/// Clicks it if it is not so already, and looks afterwards: one that did not change is an error.
#[derive(Deserialize, JsonSchema)]
pub struct Check {
    #[serde(flatten)]
    target: Locator,
    /// How it is to be.
    #[serde(default = "yes")]
    checked: bool,
    #[serde(flatten)]
    acting: Acting,
}

fn yes() -> bool {
    true
}

/// How it is now.
#[derive(Serialize)]
pub struct Checked {
    target: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<Value>,
    #[serde(flatten)]
    done: Done,
}

#[derive(Deserialize)]
struct Located {
    r#ref: Option<String>,
    role: String,
    name: String,
    checked: Option<Value>,
}

impl Located {
    fn target(&self) -> Value {
        json!({"ref": self.r#ref, "role": self.role, "name": self.name})
    }
}

impl Tool for Check {
    const NAME: &'static str = "check";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref", "checked"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n14"}"#,
        r##"{"selector":"#newsletter","checked":false}"##,
    ];
    type Output = Checked;

    async fn run(self, call: &Call) -> Result<Checked> {
        self.target.require()?;
        let document = call.document(&self.target).await?;
        let wanted = Value::Bool(self.checked);
        let was = self.look(call, &document).await;
        if let Ok(found) = &was {
            let Some(state) = &found.checked else {
                return Err(not_checkable(&found.target()));
            };
            if *state == wanted {
                point::watch(&document, call.deadline()).await?;
                let done = Before::new(&document).after(call, &self.acting).await?;
                return Ok(Checked {
                    target: found.target(),
                    checked: found.checked.clone(),
                    done,
                });
            }
            if !self.checked && matches!(found.role.as_str(), "radio" | "menuitemradio") {
                return Err(not_changed(&found.target(), state, "is a radio button"));
            }
        }
        // From "mixed" a click turns it on, and one more off.
        for last in [false, true] {
            let how = How::default();
            let (aimed, done) = click(call, &document, &self.target, how, &self.acting).await?;
            let now = match &done.told.checked {
                // Replaced by another, maybe, when the page drew itself anew.
                None if !done.effect.contains_key("navigated") => {
                    let found = self.look(call, &document).await.ok();
                    found.and_then(|f| f.checked)
                }
                known => known.clone(),
            };
            match &now {
                Some(state) if *state != wanted && self.acting.settle => {
                    let mixed = was
                        .as_ref()
                        .is_ok_and(|f| f.checked == Some("mixed".into()));
                    if last || !mixed {
                        let error = not_changed(&aimed.target, state, "was clicked");
                        return Err(error.fact("acted", "yes"));
                    }
                }
                _ => {
                    return Ok(Checked {
                        target: aimed.target,
                        checked: now,
                        done,
                    });
                }
            }
        }
        Err(super::internal("check: neither on nor off"))
    }
}

impl Check {
    async fn look(&self, call: &Call, document: &Document) -> Result<Located> {
        document
            .ask("locate", self.target.args(), Again::No, call.deadline())
            .await
    }
}

fn words(target: &Value) -> String {
    let word = |key: &str| target[key].as_str().unwrap_or_default();
    match word("name") {
        "" => format!("{} ({})", word("ref"), word("role")),
        name => format!("{} ({} {})", word("ref"), word("role"), quoted(name, 80)),
    }
}

fn not_checkable(target: &Value) -> Error {
    Code::NotEditable
        .because(format!(
            "{} is neither a checkbox nor a radio button nor a switch",
            words(target)
        ))
        .hint("use click")
}

fn not_changed(target: &Value, state: &Value, why: &str) -> Error {
    let state_word = match state {
        Value::Bool(true) => "on",
        Value::Bool(false) => "off",
        _ => "mixed",
    };
    let error = Code::NotEditable
        .because(format!("{} {why} and stays {state_word}", words(target)))
        .fact("checked", state.clone());
    match target["role"].as_str() {
        Some("radio" | "menuitemradio") => error.hint("check another one of its group instead"),
        _ => error.hint("read again: the page may say why"),
    }
}
