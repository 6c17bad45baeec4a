//! A tool for tests of order and time: acts when the test lets it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{Acted, Call, Kind, Tool};
use crate::error::{Code, Result};

/// What happened, in order, by the gate's name.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
static GATES: Mutex<Option<HashMap<String, Arc<Semaphore>>>> = Mutex::new(None);

fn gate(name: &str) -> Arc<Semaphore> {
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    gates
        .get_or_insert_default()
        .entry(name.to_owned())
        .or_insert_with(|| Arc::new(Semaphore::new(0)))
        .clone()
}

/// Lets one call that waits at the gate go on.
pub fn open(name: &str) {
    gate(name).add_permits(1);
}

/// What the calls whose gates' names begin so have done: `+gate` begun, `-gate` ended, `!gate` dropped.
pub fn log(prefix: &str) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log.iter()
        .filter(|l| l[1..].starts_with(prefix))
        .cloned()
        .collect()
}

pub(super) fn note(what: String) {
    LOG.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(what);
}

/// Wait at a gate.
#[derive(Deserialize, JsonSchema)]
pub struct Probe {
    gate: Option<String>,
    acted: Option<bool>,
    panic: Option<bool>,
    fill: Option<usize>,
}

#[derive(Serialize)]
pub struct Done {
    gate: String,
    fill: String,
}

struct Dropped(Option<String>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(gate) = self.0.take() {
            note(format!("!{gate}"));
        }
    }
}

impl Tool for Probe {
    const NAME: &'static str = "probe";
    const KIND: Kind = Kind::Act;
    const EXAMPLES: &'static [&'static str] = &["{}"];
    type Output = Done;

    fn allowance(&self) -> Duration {
        Duration::from_secs(60)
    }

    async fn run(self, call: &Call) -> Result<Done> {
        let name = self.gate.unwrap_or_default();
        note(format!("+{name}"));
        let mut dropped = Dropped(Some(name.clone()));
        if self.acted == Some(true) {
            call.set_acted(Acted::Unknown);
        }
        assert!(self.panic != Some(true), "asked to panic");
        if !name.is_empty() {
            let pass = gate(&name);
            let pass = pass.acquire().await;
            pass.map_err(|_| Code::Internal.because("the gate is closed"))?
                .forget();
        }
        dropped.0 = None;
        note(format!("-{name}"));
        Ok(Done {
            gate: name,
            fill: "x".repeat(self.fill.unwrap_or(0)),
        })
    }
}
