//! The pointer and the keyboard: gestures as batches of trusted input.
//!
//! What belongs together is written together: a cancelled call leaves no button and no key down.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::keys::Chord;
use crate::browser::Tab;
use crate::cdp::{Command, Pending, input};
use crate::error::Result;

/// A mouse button.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "the words say it; docs here would split the schema's enum"
)]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

/// A key held down during a gesture.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the words say it; docs here would split the schema's enum"
)]
pub enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
    ControlOrMeta,
}

/// The modifiers' bits, as the protocol has them.
pub fn bits(modifiers: &[Modifier]) -> i64 {
    let bit = |m: &Modifier| match m {
        Modifier::Alt => 1,
        Modifier::Control | Modifier::ControlOrMeta => 2,
        Modifier::Meta => 4,
        Modifier::Shift => 8,
    };
    modifiers.iter().fold(0, |all, m| all | bit(m))
}

impl Button {
    fn word(self) -> input::MouseButton {
        match self {
            Button::Left => input::MouseButton::Left,
            Button::Middle => input::MouseButton::Middle,
            Button::Right => input::MouseButton::Right,
        }
    }

    fn held(self) -> i64 {
        match self {
            Button::Left => 1,
            Button::Right => 2,
            Button::Middle => 4,
        }
    }
}

/// A point of the tab's viewport, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Input that is under way: written, not yet confirmed.
pub struct Sent<C: Command>(Vec<Pending<C>>);

impl<C: Command> Sent<C> {
    /// One command.
    pub(super) fn one(tab: &Tab, command: &C) -> Result<Sent<C>> {
        Ok(Sent(vec![tab.send(command)?]))
    }

    /// Lets it go its way.
    pub fn forget(self) {
        for pending in self.0 {
            pending.forget();
        }
    }

    /// Waits until the browser has handed all of it to the page.
    pub async fn done(self, tab: &Tab, deadline: Instant) -> Result<()> {
        for pending in self.0 {
            let reply = async {
                let reply = pending.by(deadline).await;
                reply.map(drop).map_err(|e| tab.error("the input", e))
            };
            tab.unless_dialog(reply, deadline).await?;
        }
        Ok(())
    }
}

/// Moves the pointer.
pub fn move_to(tab: &Tab, at: Point, modifiers: i64) -> Result<Sent<input::DispatchMouseEvent>> {
    let event = input::DispatchMouseEvent {
        r#type: input::DispatchMouseEventType::MouseMoved,
        x: at.x,
        y: at.y,
        modifiers: Some(modifiers),
        ..Default::default()
    };
    Ok(Sent(vec![tab.send(&event)?]))
}

/// Moves the pointer with `button` down.
pub fn drag_to(tab: &Tab, at: Point, button: Button) -> Result<Sent<input::DispatchMouseEvent>> {
    let event = input::DispatchMouseEvent {
        r#type: input::DispatchMouseEventType::MouseMoved,
        x: at.x,
        y: at.y,
        button: Some(button.word()),
        buttons: Some(button.held()),
        ..Default::default()
    };
    Ok(Sent(vec![tab.send(&event)?]))
}

/// Presses a button or lets it go.
pub fn button(
    tab: &Tab,
    at: Point,
    button: Button,
    down: bool,
) -> Result<Sent<input::DispatchMouseEvent>> {
    let event = input::DispatchMouseEvent {
        r#type: match down {
            true => input::DispatchMouseEventType::MousePressed,
            false => input::DispatchMouseEventType::MouseReleased,
        },
        x: at.x,
        y: at.y,
        button: Some(button.word()),
        buttons: Some(if down { button.held() } else { 0 }),
        click_count: Some(1),
        ..Default::default()
    };
    Ok(Sent(vec![tab.send(&event)?]))
}

/// Presses and releases `button` `count` times at one point.
pub fn press(
    tab: &Tab,
    at: Point,
    button: Button,
    count: u32,
    modifiers: i64,
) -> Result<Sent<input::DispatchMouseEvent>> {
    let mut sent = Vec::new();
    for click in 1..=count {
        for down in [true, false] {
            let event = input::DispatchMouseEvent {
                r#type: if down {
                    input::DispatchMouseEventType::MousePressed
                } else {
                    input::DispatchMouseEventType::MouseReleased
                },
                x: at.x,
                y: at.y,
                modifiers: Some(modifiers),
                button: Some(button.word()),
                buttons: Some(if down { button.held() } else { 0 }),
                click_count: Some(click.into()),
                ..Default::default()
            };
            sent.push(tab.send(&event)?);
        }
    }
    Ok(Sent(sent))
}

/// Presses a button and leaves it down.
pub fn hold_button(
    tab: &Tab,
    at: Point,
    button: Button,
) -> Result<Sent<input::DispatchMouseEvent>> {
    Sent::one(
        tab,
        &held(input::DispatchMouseEventType::MousePressed, at, button, 1),
    )
}

/// Moves the pointer with a button down.
pub fn move_held(tab: &Tab, at: Point, button: Button) -> Result<Sent<input::DispatchMouseEvent>> {
    Sent::one(
        tab,
        &held(input::DispatchMouseEventType::MouseMoved, at, button, 0),
    )
}

/// Lets a button go.
pub fn release(tab: &Tab, at: Point, button: Button) -> Result<Sent<input::DispatchMouseEvent>> {
    let event = input::DispatchMouseEvent {
        buttons: Some(0),
        ..held(input::DispatchMouseEventType::MouseReleased, at, button, 1)
    };
    Sent::one(tab, &event)
}

fn held(
    r#type: input::DispatchMouseEventType,
    at: Point,
    button: Button,
    clicks: i64,
) -> input::DispatchMouseEvent {
    input::DispatchMouseEvent {
        r#type,
        x: at.x,
        y: at.y,
        button: Some(button.word()),
        buttons: Some(button.held()),
        click_count: Some(clicks),
        ..Default::default()
    }
}

/// Puts text where the caret is, as an input method would.
pub fn insert(tab: &Tab, text: &str) -> Result<Sent<input::InsertText>> {
    let event = input::InsertText {
        text: text.to_owned(),
    };
    Ok(Sent(vec![tab.send(&event)?]))
}

/// Keys under way: written, not yet confirmed.
pub type Keys = Sent<input::DispatchKeyEvent>;

fn send_all(tab: &Tab, events: &[input::DispatchKeyEvent]) -> Result<Keys> {
    let sent: Result<Vec<_>> = events.iter().map(|event| tab.send(event)).collect();
    Ok(Sent(sent?))
}

/// Presses and releases chords, one after the other.
pub fn strike<'a>(tab: &Tab, chords: impl IntoIterator<Item = &'a Chord>) -> Result<Keys> {
    let mut events = Vec::new();
    for chord in chords {
        events.extend(chord.down());
        events.extend(chord.up());
    }
    send_all(tab, &events)
}

/// Keys that are down; they come up when this is dropped, a cancelled call's too.
pub struct Held<'a> {
    tab: &'a Tab,
    up: Vec<input::DispatchKeyEvent>,
}

/// Presses a chord and keeps it down.
pub fn hold<'a>(tab: &'a Tab, chord: &Chord) -> Result<(Held<'a>, Keys)> {
    let held = Held {
        tab,
        up: chord.up(),
    };
    let down = send_all(tab, &chord.down())?;
    Ok((held, down))
}

impl Held<'_> {
    /// Lets go of the keys.
    pub fn release(mut self) -> Result<Keys> {
        send_all(self.tab, &std::mem::take(&mut self.up))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // A tab that is gone holds nothing down.
        let _ = send_all(self.tab, &self.up);
    }
}
