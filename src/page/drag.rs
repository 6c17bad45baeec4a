//! Dragging: from a press to a drop, with the mouse or, where the page lets one begin, as a drag of
//! the platform's own.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::act::Told;
use super::input::{self, Button, Point};
use super::{Again, Document, args, point};
use crate::browser::Tab;
use crate::cdp::input::{DispatchDragEvent, DispatchDragEventType, DragData, SetInterceptDrags};
use crate::error::{Code, Result};
use crate::progress::Progress;

/// Steps of a way from point to point, so that what follows the pointer can.
const STEPS: usize = 8;
/// The first step, in CSS pixels: beyond what the browser still takes for a click.
const FIRST_STEP: f64 = 6.0;

/// What is under way. However it ends, no button stays down and no drag goes on.
struct Dragging<'a> {
    tab: &'a Tab,
    at: Point,
    data: Option<DragData>,
    over: bool,
}

impl Drop for Dragging<'_> {
    fn drop(&mut self) {
        if !self.over {
            if let Some(data) = self.data.take() {
                let cancel = drag_event(DispatchDragEventType::DragCancel, self.at, &data);
                let _ = self.tab.send(&cancel);
            }
            let _ = input::release(self.tab, self.at, Button::Left);
        }
        let _ = self.tab.send(&SetInterceptDrags { enabled: false });
    }
}

fn drag_event(r#type: DispatchDragEventType, at: Point, data: &DragData) -> DispatchDragEvent {
    DispatchDragEvent {
        r#type,
        x: at.x,
        y: at.y,
        data: data.clone(),
        modifiers: None,
    }
}

/// Presses at `from`, where the pointer is, and lets go at the end of `way`, whose last point is told
/// only once the button is down.
///
/// `document` is where the press goes. Says whether the page had changed by then.
pub async fn drag(
    call: &Progress,
    document: &Document,
    from: Point,
    between: &[Point],
    end: impl AsyncFnOnce() -> Result<Point>,
) -> Result<(Point, bool)> {
    let tab = &*document.tab;
    let deadline = call.deadline();
    tab.send(&SetInterceptDrags { enabled: true })?.forget();
    let mut dragging = Dragging {
        tab,
        at: from,
        data: None,
        over: false,
    };
    tab.forget_drag();
    let none = || args(json!({}));
    let _: Value = document
        .ask("watchDrag", none(), Again::No, deadline)
        .await?;
    call.set_acted(crate::progress::Acted::Unknown);
    input::hold_button(tab, from, Button::Left)?
        .done(tab, deadline)
        .await?;
    let wanted = args(json!({"budget_ms": 0, "keep": true}));
    let told: Told = document.ask("settle", wanted, Again::No, deadline).await?;
    if told.hit == Some(false) {
        call.set_acted(crate::progress::Acted::No);
        return Err(Code::Covered
            .because("what is to be dragged moved away from under the pointer")
            .fact("by", told.by.unwrap_or(Value::Null))
            .hint("wait for it to come to rest"));
    }
    let to = end().await?;
    let mut way = vec![first_step(from, between.first().copied().unwrap_or(to))];
    let each = (STEPS / (between.len() + 1)).max(1);
    let mut last = way[0];
    for corner in between.iter().chain([&to]) {
        for step in 1..=each {
            let part = step as f64 / each as f64;
            way.push(Point {
                x: last.x + (corner.x - last.x) * part,
                y: last.y + (corner.y - last.y) * part,
            });
        }
        last = *corner;
    }
    let mut looked = false;
    for (i, at) in way.iter().enumerate() {
        dragging.at = *at;
        match &dragging.data {
            Some(data) => {
                send_drag(tab, DispatchDragEventType::DragOver, *at, data, deadline).await?
            }
            None => {
                input::move_held(tab, *at, Button::Left)?
                    .done(tab, deadline)
                    .await?
            }
        }
        // Two steps suffice for a drag to begin.
        if i >= 1 && !looked {
            looked = true;
            let answer: Value = document
                .ask("dragBegan", none(), Again::No, deadline)
                .await?;
            if answer["began"] == true {
                let data = tab.until(deadline, |s| s.drag.clone()).await?;
                let data = data.ok_or_else(|| call.timed_out("the drag did not begin"))?;
                send_drag(tab, DispatchDragEventType::DragEnter, *at, &data, deadline).await?;
                dragging.data = Some(data);
            }
        }
    }
    match &dragging.data {
        Some(data) => {
            // A drop goes to what the last `dragover` was on.
            send_drag(tab, DispatchDragEventType::DragOver, to, data, deadline).await?;
            dragging.over = true;
            let drop = send_drag(tab, DispatchDragEventType::Drop, to, data, deadline);
            point::delivered(call, tab, drop).await?;
        }
        None => {
            dragging.over = true;
            let released = input::release(tab, to, Button::Left)?;
            point::delivered(call, tab, released.done(tab, deadline)).await?;
        }
    }
    Ok((to, told.changed))
}

async fn send_drag(
    tab: &Tab,
    r#type: DispatchDragEventType,
    at: Point,
    data: &DragData,
    deadline: Instant,
) -> Result<()> {
    let event = drag_event(r#type, at, data);
    input::Sent::one(tab, &event)?.done(tab, deadline).await
}

fn first_step(from: Point, towards: Point) -> Point {
    let (dx, dy) = (towards.x - from.x, towards.y - from.y);
    let far = dx.hypot(dy);
    let part = if far > FIRST_STEP {
        FIRST_STEP / far
    } else {
        1.0
    };
    Point {
        x: from.x + dx * part,
        y: from.y + dy * part,
    }
}
