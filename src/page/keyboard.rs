//! The keyboard: chords and text as trusted key events, each gesture written as a whole.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::input::{Sent, insert};
use super::keys::{Chord, Key};
use crate::browser::Tab;
use crate::cdp::Pending;
use crate::cdp::input::{DispatchKeyEvent, DispatchKeyEventType};
use crate::error::Result;

/// Keys whose events are written together while nobody waits between them: so often is a cancelled
/// call looked at.
const BATCH: usize = 16;

/// Presses a chord `count` times and waits until the page has had it.
///
/// Dropping this future leaves no key down.
pub async fn press(
    tab: &Arc<Tab>,
    chord: &Chord,
    count: u32,
    hold: Duration,
    deadline: Instant,
) -> Result<()> {
    for _ in 0..count {
        if hold.is_zero() {
            let mut sent = down(tab, chord)?;
            sent.extend(up(tab, chord)?);
            Sent::of(sent).done(tab, deadline).await?;
            continue;
        }
        let mut held = Held {
            tab: tab.clone(),
            chord: Some(chord.clone()),
        };
        Sent::of(down(tab, chord)?).done(tab, deadline).await?;
        tokio::time::sleep(hold).await;
        Sent::of(held.release()?).done(tab, deadline).await?;
    }
    Ok(())
}

/// Types a text key by key, with `delay` after each. Characters that no key gives are put in as an
/// input method would; so are line breaks, for which Enter would send what is written so far.
pub async fn write(tab: &Arc<Tab>, text: &str, delay: Duration, deadline: Instant) -> Result<()> {
    let mut sent = Vec::new();
    for (i, character) in text.chars().enumerate() {
        if Key::is_on_keyboard(character) {
            let chord = Chord::of(Key::of(character));
            sent.extend(down(tab, &chord)?);
            sent.extend(up(tab, &chord)?);
        } else {
            Sent::of(std::mem::take(&mut sent))
                .done(tab, deadline)
                .await?;
            insert(tab, character.encode_utf8(&mut [0; 4]))?
                .done(tab, deadline)
                .await?;
        }
        if !delay.is_zero() || i % BATCH == BATCH - 1 {
            Sent::of(std::mem::take(&mut sent))
                .done(tab, deadline)
                .await?;
        }
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }
    Sent::of(sent).done(tab, deadline).await
}

/// Puts a text in as an input method does: at once, between the key events that come with it there.
/// Pages that look at a field whenever a key goes up see it too.
pub async fn compose(tab: &Arc<Tab>, text: &str, deadline: Instant) -> Result<()> {
    // https://w3c.github.io/uievents/#determine-keydown-keyup-keyCode: what an input method takes is 229.
    let process = Key {
        key: "Process".to_owned(),
        code: "",
        key_code: 229,
        location: 0,
        text: None,
        modifier: 0,
        shifted: false,
    };
    let began = Sent::of(vec![tab.send(&event(&process, true, 0))?]);
    let inserted = insert(tab, text)?;
    began.done(tab, deadline).await?;
    inserted.done(tab, deadline).await?;
    let ended = Sent::of(vec![tab.send(&event(&process, false, 0))?]);
    ended.done(tab, deadline).await
}

type Events = Vec<Pending<DispatchKeyEvent>>;

fn down(tab: &Tab, chord: &Chord) -> Result<Events> {
    let mut sent = Vec::new();
    let mut bits = 0;
    for key in &chord.held {
        bits |= key.modifier;
        sent.push(tab.send(&event(key, true, bits))?);
    }
    let bits = chord.modifiers() | chord.key.modifier;
    sent.push(tab.send(&event(&chord.key, true, bits))?);
    Ok(sent)
}

fn up(tab: &Tab, chord: &Chord) -> Result<Events> {
    let mut sent = vec![tab.send(&event(&chord.key, false, chord.modifiers()))?];
    let mut bits = chord.held.iter().fold(0, |bits, key| bits | key.modifier);
    for key in chord.held.iter().rev() {
        bits &= !key.modifier;
        sent.push(tab.send(&event(key, false, bits))?);
    }
    Ok(sent)
}

fn event(key: &Key, down: bool, modifiers: i64) -> DispatchKeyEvent {
    let text = key.text.clone().filter(|_| down);
    DispatchKeyEvent {
        r#type: match (down, &text) {
            (false, _) => DispatchKeyEventType::KeyUp,
            (true, Some(_)) => DispatchKeyEventType::KeyDown,
            // One that gives no text must not be followed by a `char` event.
            (true, None) => DispatchKeyEventType::RawKeyDown,
        },
        modifiers: Some(modifiers),
        unmodified_text: text.clone(),
        text,
        code: Some(key.code.to_owned()),
        key: Some(key.key.clone()),
        windows_virtual_key_code: Some(key.key_code),
        native_virtual_key_code: Some(key.key_code),
        is_keypad: Some(key.location == 3),
        location: Some(if key.location == 3 { 0 } else { key.location }),
        ..Default::default()
    }
}

/// Keys that are down; let go when dropped.
struct Held {
    tab: Arc<Tab>,
    chord: Option<Chord>,
}

impl Held {
    fn release(&mut self) -> Result<Events> {
        match self.chord.take() {
            Some(chord) => up(&self.tab, &chord),
            None => Ok(Vec::new()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for pending in self.release().into_iter().flatten() {
            pending.forget();
        }
    }
}
