//! The keyboard: names and chords → keys of a US keyboard, and the events that pressing them makes.
//!
//! Knows nothing of pages. Values are those of UI Events (`key`, `code`, `location`) and Windows'
//! virtual key codes, which are not character codes: `.` as 46 would be Delete.

use crate::cdp::input::{DispatchKeyEvent, DispatchKeyEventType};
use crate::error::{Code, Error, Result, quoted};
use crate::wire::nearest;

/// The bit of each modifier, as the protocol has them.
const ALT: i64 = 1;
const CONTROL: i64 = 2;
const META: i64 = 4;
const SHIFT: i64 = 8;
/// The most keys of one chord: four modifiers and one more.
const MAX_CHORD: usize = 5;

/// One key of the keyboard.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// `KeyboardEvent.code`.
    pub code: &'static str,
    /// `KeyboardEvent.key` without Shift.
    pub key: &'static str,
    /// `KeyboardEvent.key` with Shift.
    pub shifted: &'static str,
    /// Windows' virtual key code.
    pub vk: i64,
    /// `KeyboardEvent.location`: 1 left, 2 right, 3 keypad.
    pub location: i64,
}

const fn key(code: &'static str, key: &'static str, shifted: &'static str, vk: i64) -> Key {
    at(code, key, shifted, vk, 0)
}

const fn at(
    code: &'static str,
    key: &'static str,
    shifted: &'static str,
    vk: i64,
    location: i64,
) -> Key {
    Key {
        code,
        key,
        shifted,
        vk,
        location,
    }
}

/// Every key. Where two have the same `key`, its name means the first.
pub static KEYS: &[Key] = &[
    key("KeyA", "a", "A", 65),
    key("KeyB", "b", "B", 66),
    key("KeyC", "c", "C", 67),
    key("KeyD", "d", "D", 68),
    key("KeyE", "e", "E", 69),
    key("KeyF", "f", "F", 70),
    key("KeyG", "g", "G", 71),
    key("KeyH", "h", "H", 72),
    key("KeyI", "i", "I", 73),
    key("KeyJ", "j", "J", 74),
    key("KeyK", "k", "K", 75),
    key("KeyL", "l", "L", 76),
    key("KeyM", "m", "M", 77),
    key("KeyN", "n", "N", 78),
    key("KeyO", "o", "O", 79),
    key("KeyP", "p", "P", 80),
    key("KeyQ", "q", "Q", 81),
    key("KeyR", "r", "R", 82),
    key("KeyS", "s", "S", 83),
    key("KeyT", "t", "T", 84),
    key("KeyU", "u", "U", 85),
    key("KeyV", "v", "V", 86),
    key("KeyW", "w", "W", 87),
    key("KeyX", "x", "X", 88),
    key("KeyY", "y", "Y", 89),
    key("KeyZ", "z", "Z", 90),
    key("Digit0", "0", ")", 48),
    key("Digit1", "1", "!", 49),
    key("Digit2", "2", "@", 50),
    key("Digit3", "3", "#", 51),
    key("Digit4", "4", "$", 52),
    key("Digit5", "5", "%", 53),
    key("Digit6", "6", "^", 54),
    key("Digit7", "7", "&", 55),
    key("Digit8", "8", "*", 56),
    key("Digit9", "9", "(", 57),
    key("Semicolon", ";", ":", 186),
    key("Equal", "=", "+", 187),
    key("Comma", ",", "<", 188),
    key("Minus", "-", "_", 189),
    key("Period", ".", ">", 190),
    key("Slash", "/", "?", 191),
    key("Backquote", "`", "~", 192),
    key("BracketLeft", "[", "{", 219),
    key("Backslash", "\\", "|", 220),
    key("BracketRight", "]", "}", 221),
    key("Quote", "'", "\"", 222),
    key("Space", " ", " ", 32),
    key("Enter", "Enter", "Enter", 13),
    key("Tab", "Tab", "Tab", 9),
    key("Escape", "Escape", "Escape", 27),
    key("Backspace", "Backspace", "Backspace", 8),
    key("Delete", "Delete", "Delete", 46),
    key("Insert", "Insert", "Insert", 45),
    key("Home", "Home", "Home", 36),
    key("End", "End", "End", 35),
    key("PageUp", "PageUp", "PageUp", 33),
    key("PageDown", "PageDown", "PageDown", 34),
    key("ArrowLeft", "ArrowLeft", "ArrowLeft", 37),
    key("ArrowUp", "ArrowUp", "ArrowUp", 38),
    key("ArrowRight", "ArrowRight", "ArrowRight", 39),
    key("ArrowDown", "ArrowDown", "ArrowDown", 40),
    at("ShiftLeft", "Shift", "Shift", 16, 1),
    at("ShiftRight", "Shift", "Shift", 16, 2),
    at("ControlLeft", "Control", "Control", 17, 1),
    at("ControlRight", "Control", "Control", 17, 2),
    at("AltLeft", "Alt", "Alt", 18, 1),
    at("AltRight", "Alt", "Alt", 18, 2),
    at("MetaLeft", "Meta", "Meta", 91, 1),
    at("MetaRight", "Meta", "Meta", 92, 2),
    key("CapsLock", "CapsLock", "CapsLock", 20),
    key("NumLock", "NumLock", "NumLock", 144),
    key("ScrollLock", "ScrollLock", "ScrollLock", 145),
    key("Pause", "Pause", "Pause", 19),
    key("PrintScreen", "PrintScreen", "PrintScreen", 44),
    key("ContextMenu", "ContextMenu", "ContextMenu", 93),
    key("F1", "F1", "F1", 112),
    key("F2", "F2", "F2", 113),
    key("F3", "F3", "F3", 114),
    key("F4", "F4", "F4", 115),
    key("F5", "F5", "F5", 116),
    key("F6", "F6", "F6", 117),
    key("F7", "F7", "F7", 118),
    key("F8", "F8", "F8", 119),
    key("F9", "F9", "F9", 120),
    key("F10", "F10", "F10", 121),
    key("F11", "F11", "F11", 122),
    key("F12", "F12", "F12", 123),
    key("F13", "F13", "F13", 124),
    key("F14", "F14", "F14", 125),
    key("F15", "F15", "F15", 126),
    key("F16", "F16", "F16", 127),
    key("F17", "F17", "F17", 128),
    key("F18", "F18", "F18", 129),
    key("F19", "F19", "F19", 130),
    key("F20", "F20", "F20", 131),
    key("F21", "F21", "F21", 132),
    key("F22", "F22", "F22", 133),
    key("F23", "F23", "F23", 134),
    key("F24", "F24", "F24", 135),
    at("Numpad0", "0", "0", 96, 3),
    at("Numpad1", "1", "1", 97, 3),
    at("Numpad2", "2", "2", 98, 3),
    at("Numpad3", "3", "3", 99, 3),
    at("Numpad4", "4", "4", 100, 3),
    at("Numpad5", "5", "5", 101, 3),
    at("Numpad6", "6", "6", 102, 3),
    at("Numpad7", "7", "7", 103, 3),
    at("Numpad8", "8", "8", 104, 3),
    at("Numpad9", "9", "9", 105, 3),
    at("NumpadMultiply", "*", "*", 106, 3),
    at("NumpadAdd", "+", "+", 107, 3),
    at("NumpadSubtract", "-", "-", 109, 3),
    at("NumpadDecimal", ".", ".", 110, 3),
    at("NumpadDivide", "/", "/", 111, 3),
    at("NumpadEnter", "Enter", "Enter", 13, 3),
];

/// Other names of keys, in lower case.
const ALIASES: &[(&str, &str)] = &[
    ("esc", "Escape"),
    ("return", "Enter"),
    ("space", " "),
    ("spacebar", " "),
    ("del", "Delete"),
    ("ins", "Insert"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("pgup", "PageUp"),
    ("pgdn", "PageDown"),
    ("pgdown", "PageDown"),
    ("ctrl", "Control"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("super", "Meta"),
    ("win", "Meta"),
    ("option", "Alt"),
    ("controlormeta", "Control"),
    ("plus", "+"),
    ("apps", "ContextMenu"),
];

impl Key {
    /// Its bit, if it is a modifier.
    fn bit(&self) -> i64 {
        match self.key {
            "Alt" => ALT,
            "Control" => CONTROL,
            "Meta" => META,
            "Shift" => SHIFT,
            _ => 0,
        }
    }

    /// What it writes, if it writes.
    fn text(&self, shift: bool) -> Option<&'static str> {
        let key = if shift { self.shifted } else { self.key };
        match key {
            "Enter" => Some("\r"),
            key if key.len() == 1 => Some(key),
            _ => None,
        }
    }
}

/// A key as it is pressed: with the modifiers that are down, its own bit too.
#[derive(Clone, Copy, Debug)]
struct Press {
    key: &'static Key,
    modifiers: i64,
}

impl Press {
    fn event(self, down: bool) -> DispatchKeyEvent {
        let Press { key, modifiers } = self;
        let shift = modifiers & SHIFT != 0;
        // Of Control, Alt and Meta chords nothing is written.
        let text = match modifiers & (CONTROL | ALT | META) {
            0 => key.text(shift),
            _ => None,
        };
        DispatchKeyEvent {
            r#type: match (down, text) {
                (true, Some(_)) => DispatchKeyEventType::KeyDown,
                (true, None) => DispatchKeyEventType::RawKeyDown,
                (false, _) => DispatchKeyEventType::KeyUp,
            },
            modifiers: Some(modifiers),
            text: text.filter(|_| down).map(str::to_owned),
            unmodified_text: text.filter(|_| down).map(str::to_owned),
            code: Some(key.code.to_owned()),
            key: Some(if shift { key.shifted } else { key.key }.to_owned()),
            windows_virtual_key_code: Some(key.vk),
            is_keypad: (key.location == 3).then_some(true),
            location: Some(key.location),
            ..Default::default()
        }
    }
}

/// Keys held together: modifiers first, the key that they modify last.
#[derive(Clone, Debug)]
pub struct Chord(Vec<Press>);

impl Chord {
    /// From its spelling: `Enter`, `a`, `Control+Shift+K`, `Control++`. Names are those of
    /// `KeyboardEvent.key` or `.code`, in any case; a single character means the key that writes it.
    ///
    /// With Control, Alt or Meta a letter means its key, whatever its case: `Control+A` is without
    /// Shift. Fails with `bad_request` naming the nearest key.
    pub fn parse(text: &str) -> Result<Chord> {
        let wrong = |why: &str| {
            Code::BadRequest
                .because(format!("{} is no key: {why}", quoted(text, 80)))
                .fact("argument", "keys")
                .hint("write one key, such as Enter, or a chord, such as Control+Shift+K")
        };
        let mut names: Vec<&str> = match text.strip_suffix('+') {
            Some("") => vec!["+"],
            Some(rest) => match rest.strip_suffix('+') {
                Some(rest) => rest.split('+').chain(["+"]).collect(),
                None => return Err(wrong("nothing comes after the last +")),
            },
            None => text.split('+').collect(),
        };
        if names.len() > MAX_CHORD {
            return Err(wrong("it is more than five keys"));
        }
        let Some(last) = names.pop().filter(|n| !n.is_empty()) else {
            return Err(wrong("it is empty"));
        };
        let mut presses = Vec::new();
        let mut modifiers = 0;
        for name in names {
            let (key, _) = find(name)?;
            if key.bit() == 0 {
                return Err(wrong(&format!(
                    "{} is held, but is no modifier",
                    quoted(name, 20)
                )));
            }
            if modifiers & key.bit() != 0 {
                return Err(wrong(&format!("{} is in it twice", quoted(name, 20))));
            }
            modifiers |= key.bit();
            presses.push(Press { key, modifiers });
        }
        let (key, shift) = find(last)?;
        if modifiers & key.bit() != 0 {
            return Err(wrong(&format!("{} is in it twice", quoted(last, 20))));
        }
        let letter = key.code.starts_with("Key");
        if shift && !(letter && modifiers & (CONTROL | ALT | META) != 0) {
            modifiers |= SHIFT;
        }
        modifiers |= key.bit();
        presses.push(Press { key, modifiers });
        Ok(Chord(presses))
    }

    /// The key that writes a character, if one does. A newline is Enter with Shift: the key of a
    /// new line that sends nothing off.
    pub fn of_char(c: char) -> Option<Chord> {
        let (key, modifiers) = match c {
            '\n' => (find("Enter").ok()?.0, SHIFT),
            '\t' => return None,
            _ => {
                let (key, shift) = writing(c)?;
                (key, if shift { SHIFT } else { 0 })
            }
        };
        Some(Chord(vec![Press { key, modifiers }]))
    }

    /// Its keys going down, in order.
    pub fn down(&self) -> Vec<DispatchKeyEvent> {
        self.0.iter().map(|press| press.event(true)).collect()
    }

    /// The same keys coming up, last first.
    pub fn up(&self) -> Vec<DispatchKeyEvent> {
        let up = |press: &Press| {
            let key = press.key;
            let modifiers = press.modifiers & !key.bit();
            Press { key, modifiers }.event(false)
        };
        self.0.iter().rev().map(up).collect()
    }
}

/// The key that writes `c`, and whether it takes Shift.
fn writing(c: char) -> Option<(&'static Key, bool)> {
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    KEYS.iter().find_map(|k| match text {
        t if t == k.key => Some((k, false)),
        t if t == k.shifted => Some((k, true)),
        _ => None,
    })
}

/// The key that a name means, and whether it takes Shift.
fn find(name: &str) -> Result<(&'static Key, bool)> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return writing(c).ok_or_else(|| unknown(name));
    }
    let lower = name.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == lower);
    let name = alias.map_or(name, |(_, key)| key);
    let named = |word: &str| word.len() > 1 && word.eq_ignore_ascii_case(name);
    let found = KEYS.iter().find(|k| named(k.key));
    match found.or_else(|| KEYS.iter().find(|k| named(k.code))) {
        Some(key) => Ok((key, false)),
        None if name.len() == 1 => find(name),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Error {
    let error = Code::BadRequest
        .because(format!("there is no key {}", quoted(name, 40)))
        .fact("argument", "keys");
    if name.chars().count() == 1 {
        return error.hint("no key of a US keyboard writes it: use type");
    }
    let known = KEYS.iter().flat_map(|k| [k.key, k.code]);
    let known = known.filter(|word| word.len() > 1);
    match nearest(name, known) {
        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
        None => error.hint("names are those of KeyboardEvent.key; to write text use type"),
    }
}

#[cfg(test)]
#[path = "keys/tests.rs"]
mod tests;
