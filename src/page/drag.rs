//! Dragging: the button goes down on one thing and up on another, with moves between.
//!
//! Pages that drag by themselves see a mouse. Where a page lets the browser drag (HTML drag and drop),
//! the browser's drag is intercepted and carried on by drag events with the data that the page gave it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::input::{self, Button, Point};
use super::locate::Locator;
use super::{Again, Document, args, budget_ms, frames, point};
use crate::browser::Tab;
use crate::browser::state::TabState;
use crate::cdp::input::{DispatchDragEvent, DispatchDragEventType, DragData, SetInterceptDrags};
use crate::error::{Code, Result};
use crate::progress::{Acted, Progress};

/// How far the pointer goes in one move, and how many moves there are at least and at most.
const STRIDE: f64 = 25.0;
const MOVES: (f64, f64) = (4.0, 24.0);
/// A first move this long begins a drag everywhere.
const NUDGE: f64 = 6.0;
/// How long the browser may take to say what is dragged, once the page has let it.
const INTERCEPT: Duration = Duration::from_millis(1000);
/// How often a press that the page moved away from is repeated.
const TRIES: usize = 5;

/// One end of a drag: an element, a point of it, or a point of the viewport.
pub enum End {
    /// A point of the tab's viewport.
    At(Point),
    /// An element, and a point from its upper left corner.
    On(Document, Locator, Option<Point>),
}

/// What a drag came to.
pub struct Dragged {
    /// What was dragged, if it is known.
    pub target: Option<Value>,
    /// What it was dragged to, if that was named.
    pub onto: Option<Value>,
    /// Where the button was let go.
    pub at: Point,
    /// For HTML drag and drop: whether something took the drop.
    pub dropped: Option<bool>,
}

#[derive(Deserialize)]
struct Spot {
    x: f64,
    y: f64,
    target: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Dragging {
    native: bool,
    hit: Option<bool>,
    by: Option<Value>,
    dropped: bool,
}

/// Presses on `from`, moves along `points` to `to`, and lets go. `document` is the one that is watched.
pub async fn drag(
    call: &Progress,
    document: &Document,
    from: &End,
    points: &[Point],
    to: &End,
) -> Result<Dragged> {
    let tab = &document.tab;
    for _ in 0..TRIES {
        // Both ends in view, as far as they fit: what cannot be found fails before anything is pressed.
        end_spot(to, call.deadline()).await?;
        let (start, target) = start_spot(document, from, call.deadline()).await?;
        let mut hold = Hold::press(tab, start)?;
        call.set_acted(Acted::Unknown);
        let nudged = nudge(start);
        let begun = hold.go(nudged, call.deadline()).await;
        point::delivered(call, tab, async { begun }).await?;
        let state = dragging(document, call.deadline()).await?;
        if state.hit == Some(false) && matches!(from, End::On(..)) {
            // The page has moved it away between the last look and the press, and heard nothing.
            hold.release(nudged, call.deadline()).await?;
            call.set_acted(Acted::No);
            if call.remaining().is_zero() {
                return Err(Code::Covered
                    .because("what is to be dragged keeps moving away from under the pointer")
                    .fact("by", state.by.unwrap_or(Value::Null))
                    .hint("wait for it to come to rest"));
            }
            continue;
        }
        let (mut at, mut native) = (nudged, false);
        // Where the other end is now: the page may have made room, or shows its drop zones only now.
        let (end, onto) = end_spot(to, call.deadline()).await?;
        for next in points.iter().copied().chain([end]) {
            for step in steps(at, next) {
                if !native && dragging(document, call.deadline()).await?.native {
                    hold.intercepted(at, call.deadline()).await?;
                    native = true;
                }
                hold.go(step, call.deadline()).await?;
                at = step;
            }
        }
        // Once more in the same place: some take up what they are over only when told twice.
        if !native && dragging(document, call.deadline()).await?.native {
            hold.intercepted(at, call.deadline()).await?;
            native = true;
        }
        hold.go(end, call.deadline()).await?;
        let released = hold.release(end, call.deadline()).await;
        point::delivered(call, tab, async { released }).await?;
        let dropped = match native {
            true => Some(was_dropped(document, to, call.deadline()).await),
            false => None,
        };
        return Ok(Dragged {
            target,
            onto,
            at: end,
            dropped,
        });
    }
    Err(Code::NotStable
        .because("what is to be dragged keeps moving away from under the pointer")
        .hint("wait for it to come to rest"))
}

async fn dragging(document: &Document, deadline: Instant) -> Result<Dragging> {
    document
        .ask("dragging", args(json!({})), Again::No, deadline)
        .await
}

/// Whether the page took the drop, in the document of either end. What cannot be asked any more has
/// gone on, which a drop does.
async fn was_dropped(document: &Document, to: &End, deadline: Instant) -> bool {
    let here = dragging(document, deadline).await;
    let here = here.map_or(true, |told| told.dropped);
    match to {
        End::On(other, ..) if !here && other.frame != document.frame => true,
        _ => here,
    }
}

/// Where the drag begins: the pointer is there, and the page's script guards it.
async fn start_spot(
    document: &Document,
    from: &End,
    deadline: Instant,
) -> Result<(Point, Option<Value>)> {
    match from {
        End::At(at) => {
            let target = point::watch_at(document, *at, deadline).await?;
            input::move_to(&document.tab, *at, 0)?
                .done(&document.tab, deadline)
                .await?;
            Ok((*at, target))
        }
        End::On(document, locator, position) => {
            let aimed = point::aim(document, locator, *position, false, false, 0, deadline).await?;
            Ok((aimed.at, Some(aimed.target)))
        }
    }
}

/// Where the drag ends, scrolled into view.
async fn end_spot(to: &End, deadline: Instant) -> Result<(Point, Option<Value>)> {
    match to {
        End::At(at) => Ok((*at, None)),
        End::On(document, locator, position) => {
            let mut wanted = locator.args();
            let position = position.map(|p| json!({"x": p.x, "y": p.y}));
            wanted.extend(args(
                json!({"position": position, "budget_ms": budget_ms(deadline)}),
            ));
            let spot: Spot = document
                .ask("dropSpot", wanted, Again::No, deadline)
                .await?;
            let place = Point {
                x: spot.x,
                y: spot.y,
            };
            let route = frames::route(document, place, deadline).await?;
            Ok((route.at(), Some(spot.target)))
        }
    }
}

/// A first short move, away from the viewport's edges.
fn nudge(at: Point) -> Point {
    let y = if at.y > 2.0 * NUDGE {
        at.y - NUDGE
    } else {
        at.y + NUDGE
    };
    Point { x: at.x + NUDGE, y }
}

/// The moves from one point to another, the last one there.
fn steps(from: Point, to: Point) -> impl Iterator<Item = Point> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let count = (dx.hypot(dy) / STRIDE).ceil().clamp(MOVES.0, MOVES.1);
    (1..=MOVES.1 as u32)
        .map(f64::from)
        .take_while(move |n| *n <= count)
        .map(move |n| match n / count {
            1.0 => to,
            part => Point {
                x: (from.x + dx * part).round(),
                y: (from.y + dy * part).round(),
            },
        })
}

/// The button, held down. It comes up when this is dropped, a cancelled call's too.
struct Hold<'a> {
    tab: &'a Tab,
    at: Point,
    down: bool,
    /// What the browser drags.
    data: Option<DragData>,
}

impl<'a> Hold<'a> {
    fn press(tab: &'a Tab, at: Point) -> Result<Hold<'a>> {
        tab.end_drag();
        tab.send(&SetInterceptDrags { enabled: true })?.forget();
        let hold = Hold {
            tab,
            at,
            down: true,
            data: None,
        };
        input::button(tab, at, Button::Left, true)?.forget();
        Ok(hold)
    }

    /// Moves on, with the button down or what is dragged.
    async fn go(&mut self, to: Point, deadline: Instant) -> Result<()> {
        self.at = to;
        match &self.data {
            Some(data) => {
                let over = event(DispatchDragEventType::DragOver, to, data);
                self.send(&over, deadline).await
            }
            None => {
                let moved = input::drag_to(self.tab, to, Button::Left)?;
                moved.done(self.tab, deadline).await
            }
        }
    }

    async fn send(&self, event: &DispatchDragEvent, deadline: Instant) -> Result<()> {
        let pending = self.tab.send(event)?;
        let reply = async {
            let reply = pending.by(deadline).await;
            reply.map_err(|e| self.tab.error("dragging", e))
        };
        self.tab.unless_dialog(reply, deadline).await
    }

    /// The page has let the browser drag: from here on by drag events.
    async fn intercepted(&mut self, at: Point, deadline: Instant) -> Result<()> {
        let by = deadline.min(Instant::now() + INTERCEPT);
        let data = self.tab.until(by, |s: &TabState| s.drag.clone()).await?;
        // One that the page ended at once has no data; the mouse goes on then.
        if let Some(data) = data {
            let enter = event(DispatchDragEventType::DragEnter, at, &data);
            self.data = Some(data);
            self.send(&enter, deadline).await?;
        }
        Ok(())
    }

    async fn release(mut self, at: Point, deadline: Instant) -> Result<()> {
        self.at = at;
        match self.data.take() {
            Some(data) => {
                let drop = event(DispatchDragEventType::Drop, at, &data);
                let sent = self.send(&drop, deadline).await;
                self.down = false;
                sent
            }
            None => {
                self.down = false;
                let up = input::button(self.tab, at, Button::Left, false)?;
                up.done(self.tab, deadline).await
            }
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        // A tab that is gone holds nothing down.
        if let Some(data) = self.data.take() {
            let cancel = event(DispatchDragEventType::DragCancel, self.at, &data);
            if let Ok(pending) = self.tab.send(&cancel) {
                pending.forget();
            }
        } else if self.down
            && let Ok(up) = input::button(self.tab, self.at, Button::Left, false)
        {
            up.forget();
        }
        if let Ok(pending) = self.tab.send(&SetInterceptDrags { enabled: false }) {
            pending.forget();
        }
        self.tab.end_drag();
    }
}

fn event(kind: DispatchDragEventType, at: Point, data: &DragData) -> DispatchDragEvent {
    DispatchDragEvent {
        r#type: kind,
        x: at.x,
        y: at.y,
        data: data.clone(),
        modifiers: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drag_ends_where_it_should_in_a_bounded_number_of_moves() {
        let (a, b) = (
            Point { x: 3.5, y: 4.0 },
            Point {
                x: 900.25,
                y: 700.0,
            },
        );
        for (from, to) in [(a, b), (b, a), (a, a)] {
            let all: Vec<Point> = steps(from, to).collect();
            assert!((4..=24).contains(&all.len()), "{}", all.len());
            assert_eq!(all.last(), Some(&to));
        }
    }
}
