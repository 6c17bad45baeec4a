//! Pointing: from a target to a point of the tab's viewport that truly is the target's.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::input::{self, Point};
use super::locate::Locator;
use super::{Again, Document, args, budget_ms, frames};
use crate::browser::Tab;
use crate::error::{Code, Result};
use crate::progress::{Acted, Progress};

/// How often the pointer follows an element that jumps when pointed at.
const CHASES: usize = 8;

/// How long to leave a cover over a frame before looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A point under which the target is, with the pointer on it.
pub struct Aimed {
    /// The point.
    pub at: Point,
    /// The target: ref, role, name.
    pub target: Value,
}

#[derive(Deserialize)]
struct Spot {
    x: f64,
    y: f64,
    #[serde(default)]
    target: Value,
}

#[derive(Deserialize)]
struct Recheck {
    ok: bool,
    x: f64,
    y: f64,
}

/// Brings the target into view, waits until it can be pressed, moves the pointer there and looks again.
///
/// From then on the page's script guards the target, until the effect is asked for. Fails with what is
/// in the way when `deadline` comes.
pub async fn aim(
    document: &Document,
    locator: &Locator,
    position: Option<Point>,
    force: bool,
    hover: bool,
    modifiers: i64,
    deadline: Instant,
) -> Result<Aimed> {
    loop {
        let aimed = aim_once(
            document, locator, position, force, hover, modifiers, deadline,
        )
        .await;
        match aimed {
            // It left the viewport when pointed at: brought back into view once more.
            Err(error) if error.code() == Code::NotVisible && budget_ms(deadline) > 0 => {
                tokio::time::sleep(LOOK_AGAIN.min(deadline - Instant::now())).await;
            }
            outcome => return outcome,
        }
    }
}

async fn aim_once(
    document: &Document,
    locator: &Locator,
    position: Option<Point>,
    force: bool,
    hover: bool,
    modifiers: i64,
    deadline: Instant,
) -> Result<Aimed> {
    let mut wanted = locator.args();
    let position = position.map(|p| json!({"x": p.x, "y": p.y}));
    wanted.extend(args(json!({
        "position": position,
        "force": force,
        "hover": hover,
        "budget_ms": budget_ms(deadline),
    })));
    let spot: Spot = document.ask("aim", wanted, Again::No, deadline).await?;
    let mut place = Point {
        x: spot.x,
        y: spot.y,
    };
    for _ in 0..CHASES {
        let route = frames::route(document, place, deadline).await?;
        let at = route.at();
        if !force {
            on_top(&route, deadline).await?;
        }
        let moved = input::move_to(&document.tab, at, modifiers)?;
        let wanted = args(json!({"position": position, "budget_ms": budget_ms(deadline)}));
        moved.done(&document.tab, deadline).await?;
        if force {
            return Ok(Aimed {
                at,
                target: spot.target,
            });
        }
        let again: Recheck = document.ask("recheck", wanted, Again::No, deadline).await?;
        if again.ok {
            return Ok(Aimed {
                at,
                target: spot.target,
            });
        }
        place = Point {
            x: again.x,
            y: again.y,
        };
    }
    Err(Code::NotStable
        .because(format!(
            "{} keeps moving away from the pointer",
            spot.target["ref"].as_str().unwrap_or("the element")
        ))
        .hint("wait for it to come to rest, or use force"))
}

/// As [`aim`], without moving the pointer or asking what is on top: where something is to be let go.
pub async fn spot(
    document: &Document,
    locator: &Locator,
    position: Option<Point>,
    deadline: Instant,
) -> Result<Aimed> {
    let mut wanted = locator.args();
    wanted.extend(args(json!({
        "position": position.map(|p| json!({"x": p.x, "y": p.y})),
        "force": true,
        "hover": true,
        "budget_ms": budget_ms(deadline),
    })));
    let spot: Spot = document.ask("aim", wanted, Again::No, deadline).await?;
    let place = Point {
        x: spot.x,
        y: spot.y,
    };
    let route = frames::route(document, place, deadline).await?;
    Ok(Aimed {
        at: route.at(),
        target: spot.target,
    })
}

/// Waits until nothing of an outer document lies over the frame there, at most until `deadline`.
async fn on_top(route: &frames::Route, deadline: Instant) -> Result<()> {
    loop {
        match route.check_on_top(deadline).await {
            Err(error) if error.code() == Code::Covered && budget_ms(deadline) > 0 => {
                // Nothing tells when a cover goes: a banner, a panel that slides away.
                tokio::time::sleep(LOOK_AGAIN.min(deadline - Instant::now())).await;
            }
            outcome => return outcome,
        }
    }
}

/// Begins an action at a point of the viewport; says what is on top there.
pub async fn watch_at(document: &Document, at: Point, deadline: Instant) -> Result<Option<Value>> {
    let wanted = args(json!({"x": at.x, "y": at.y}));
    let mut answer: Value = document.ask("watch", wanted, Again::No, deadline).await?;
    Ok(Some(answer["target"].take()).filter(|t| !t.is_null()))
}

/// Begins an action that has no point: a key, a script.
pub async fn watch(document: &Document, deadline: Instant) -> Result<()> {
    let _: Value = document
        .ask("watch", args(json!({})), Again::No, deadline)
        .await?;
    Ok(())
}

/// Waits for input to be delivered and notes that it was. A dialog, a crash or a closed tab that it
/// caused is no failure of the input: the effect tells.
pub async fn delivered(
    call: &Progress,
    tab: &Tab,
    input: impl Future<Output = Result<()>>,
) -> Result<()> {
    match input.await {
        Ok(()) => {}
        Err(error) => match error.code() {
            Code::DialogOpen | Code::NoTab => {}
            // The page is busy with it; the effect is asked for until the deadline.
            Code::Timeout => {}
            Code::TabCrashed => {
                return Err(Code::TabCrashed
                    .because(format!("the process of tab {} died of it", tab.id))
                    .fact("acted", "yes")
                    .hint("reload the tab or open a page"));
            }
            _ => return Err(error.fact("acted", call.acted().word())),
        },
    }
    call.set_acted(Acted::Yes);
    Ok(())
}
