//! The keys of a US keyboard, and chords such as `Control+Shift+A`. Pure: sends nothing.

use crate::error::{Code, Error, Result, quoted};
use crate::wire::nearest;

/// The bits of modifiers, as the protocol has them.
pub const ALT: i64 = 1;
/// See [`ALT`].
pub const CONTROL: i64 = 2;
/// See [`ALT`].
pub const META: i64 = 4;
/// See [`ALT`].
pub const SHIFT: i64 = 8;

/// A key as its events tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`; empty for what no key of the keyboard gives.
    pub code: &'static str,
    /// `KeyboardEvent.keyCode`.
    pub key_code: i64,
    /// `KeyboardEvent.location`: 1 left, 2 right, 3 numeric keypad.
    pub location: i64,
    /// The text it puts in.
    pub text: Option<String>,
    /// Its bit, if it is a modifier.
    pub modifier: i64,
    /// It is reached with Shift.
    pub shifted: bool,
}

/// A key with the modifiers that are held while it is pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chord {
    /// In the order in which they go down.
    pub held: Vec<Key>,
    /// The key itself.
    pub key: Key,
}

/// Printable keys: code, key code, without and with Shift.
const PRINTABLE: &[(&str, i64, char, char)] = &[
    ("Digit1", 49, '1', '!'),
    ("Digit2", 50, '2', '@'),
    ("Digit3", 51, '3', '#'),
    ("Digit4", 52, '4', '$'),
    ("Digit5", 53, '5', '%'),
    ("Digit6", 54, '6', '^'),
    ("Digit7", 55, '7', '&'),
    ("Digit8", 56, '8', '*'),
    ("Digit9", 57, '9', '('),
    ("Digit0", 48, '0', ')'),
    ("Minus", 189, '-', '_'),
    ("Equal", 187, '=', '+'),
    ("BracketLeft", 219, '[', '{'),
    ("BracketRight", 221, ']', '}'),
    ("Backslash", 220, '\\', '|'),
    ("Semicolon", 186, ';', ':'),
    ("Quote", 222, '\'', '"'),
    ("Backquote", 192, '`', '~'),
    ("Comma", 188, ',', '<'),
    ("Period", 190, '.', '>'),
    ("Slash", 191, '/', '?'),
    ("Space", 32, ' ', ' '),
    ("KeyA", 65, 'a', 'A'),
    ("KeyB", 66, 'b', 'B'),
    ("KeyC", 67, 'c', 'C'),
    ("KeyD", 68, 'd', 'D'),
    ("KeyE", 69, 'e', 'E'),
    ("KeyF", 70, 'f', 'F'),
    ("KeyG", 71, 'g', 'G'),
    ("KeyH", 72, 'h', 'H'),
    ("KeyI", 73, 'i', 'I'),
    ("KeyJ", 74, 'j', 'J'),
    ("KeyK", 75, 'k', 'K'),
    ("KeyL", 76, 'l', 'L'),
    ("KeyM", 77, 'm', 'M'),
    ("KeyN", 78, 'n', 'N'),
    ("KeyO", 79, 'o', 'O'),
    ("KeyP", 80, 'p', 'P'),
    ("KeyQ", 81, 'q', 'Q'),
    ("KeyR", 82, 'r', 'R'),
    ("KeyS", 83, 's', 'S'),
    ("KeyT", 84, 't', 'T'),
    ("KeyU", 85, 'u', 'U'),
    ("KeyV", 86, 'v', 'V'),
    ("KeyW", 87, 'w', 'W'),
    ("KeyX", 88, 'x', 'X'),
    ("KeyY", 89, 'y', 'Y'),
    ("KeyZ", 90, 'z', 'Z'),
];

/// Keys with a name: name (on the wire, any case), `key`, code, key code, location, text.
const NAMED: &[(&str, &str, &str, i64, i64, &str)] = &[
    ("Enter", "Enter", "Enter", 13, 0, "\r"),
    ("Tab", "Tab", "Tab", 9, 0, ""),
    ("Escape", "Escape", "Escape", 27, 0, ""),
    ("Backspace", "Backspace", "Backspace", 8, 0, ""),
    ("Delete", "Delete", "Delete", 46, 0, ""),
    ("Insert", "Insert", "Insert", 45, 0, ""),
    ("Home", "Home", "Home", 36, 0, ""),
    ("End", "End", "End", 35, 0, ""),
    ("PageUp", "PageUp", "PageUp", 33, 0, ""),
    ("PageDown", "PageDown", "PageDown", 34, 0, ""),
    ("ArrowLeft", "ArrowLeft", "ArrowLeft", 37, 0, ""),
    ("ArrowUp", "ArrowUp", "ArrowUp", 38, 0, ""),
    ("ArrowRight", "ArrowRight", "ArrowRight", 39, 0, ""),
    ("ArrowDown", "ArrowDown", "ArrowDown", 40, 0, ""),
    ("CapsLock", "CapsLock", "CapsLock", 20, 0, ""),
    ("NumLock", "NumLock", "NumLock", 144, 0, ""),
    ("ScrollLock", "ScrollLock", "ScrollLock", 145, 0, ""),
    ("Pause", "Pause", "Pause", 19, 0, ""),
    ("PrintScreen", "PrintScreen", "PrintScreen", 44, 0, ""),
    ("ContextMenu", "ContextMenu", "ContextMenu", 93, 0, ""),
    ("F1", "F1", "F1", 112, 0, ""),
    ("F2", "F2", "F2", 113, 0, ""),
    ("F3", "F3", "F3", 114, 0, ""),
    ("F4", "F4", "F4", 115, 0, ""),
    ("F5", "F5", "F5", 116, 0, ""),
    ("F6", "F6", "F6", 117, 0, ""),
    ("F7", "F7", "F7", 118, 0, ""),
    ("F8", "F8", "F8", 119, 0, ""),
    ("F9", "F9", "F9", 120, 0, ""),
    ("F10", "F10", "F10", 121, 0, ""),
    ("F11", "F11", "F11", 122, 0, ""),
    ("F12", "F12", "F12", 123, 0, ""),
    ("Numpad0", "0", "Numpad0", 96, 3, "0"),
    ("Numpad1", "1", "Numpad1", 97, 3, "1"),
    ("Numpad2", "2", "Numpad2", 98, 3, "2"),
    ("Numpad3", "3", "Numpad3", 99, 3, "3"),
    ("Numpad4", "4", "Numpad4", 100, 3, "4"),
    ("Numpad5", "5", "Numpad5", 101, 3, "5"),
    ("Numpad6", "6", "Numpad6", 102, 3, "6"),
    ("Numpad7", "7", "Numpad7", 103, 3, "7"),
    ("Numpad8", "8", "Numpad8", 104, 3, "8"),
    ("Numpad9", "9", "Numpad9", 105, 3, "9"),
    ("NumpadMultiply", "*", "NumpadMultiply", 106, 3, "*"),
    ("NumpadAdd", "+", "NumpadAdd", 107, 3, "+"),
    ("NumpadSubtract", "-", "NumpadSubtract", 109, 3, "-"),
    ("NumpadDecimal", ".", "NumpadDecimal", 110, 3, "."),
    ("NumpadDivide", "/", "NumpadDivide", 111, 3, "/"),
    ("NumpadEnter", "Enter", "NumpadEnter", 13, 3, "\r"),
    (
        "AudioVolumeMute",
        "AudioVolumeMute",
        "AudioVolumeMute",
        173,
        0,
        "",
    ),
    (
        "AudioVolumeDown",
        "AudioVolumeDown",
        "AudioVolumeDown",
        174,
        0,
        "",
    ),
    (
        "AudioVolumeUp",
        "AudioVolumeUp",
        "AudioVolumeUp",
        175,
        0,
        "",
    ),
    (
        "MediaTrackNext",
        "MediaTrackNext",
        "MediaTrackNext",
        176,
        0,
        "",
    ),
    (
        "MediaTrackPrevious",
        "MediaTrackPrevious",
        "MediaTrackPrevious",
        177,
        0,
        "",
    ),
    ("MediaStop", "MediaStop", "MediaStop", 178, 0, ""),
    (
        "MediaPlayPause",
        "MediaPlayPause",
        "MediaPlayPause",
        179,
        0,
        "",
    ),
];

/// Modifiers: name, `key`, code, key code, location, bit.
const MODIFIERS: &[(&str, &str, &str, i64, i64, i64)] = &[
    ("Control", "Control", "ControlLeft", 17, 1, CONTROL),
    ("Shift", "Shift", "ShiftLeft", 16, 1, SHIFT),
    ("Alt", "Alt", "AltLeft", 18, 1, ALT),
    ("Meta", "Meta", "MetaLeft", 91, 1, META),
    // Chromium runs on Linux here: what is Command elsewhere is Control.
    ("ControlOrMeta", "Control", "ControlLeft", 17, 1, CONTROL),
    ("ControlLeft", "Control", "ControlLeft", 17, 1, CONTROL),
    ("ControlRight", "Control", "ControlRight", 17, 2, CONTROL),
    ("ShiftLeft", "Shift", "ShiftLeft", 16, 1, SHIFT),
    ("ShiftRight", "Shift", "ShiftRight", 16, 2, SHIFT),
    ("AltLeft", "Alt", "AltLeft", 18, 1, ALT),
    ("AltRight", "Alt", "AltRight", 18, 2, ALT),
    ("MetaLeft", "Meta", "MetaLeft", 91, 1, META),
    ("MetaRight", "Meta", "MetaRight", 92, 2, META),
];

/// Other names of keys.
const ALIASES: &[(&str, &str)] = &[
    ("Return", "Enter"),
    ("Esc", "Escape"),
    ("Del", "Delete"),
    ("Ins", "Insert"),
    ("Bksp", "Backspace"),
    ("PgUp", "PageUp"),
    ("PgDn", "PageDown"),
    ("Left", "ArrowLeft"),
    ("Up", "ArrowUp"),
    ("Right", "ArrowRight"),
    ("Down", "ArrowDown"),
    ("Spacebar", "Space"),
    ("Plus", "+"),
    ("Ctrl", "Control"),
    ("Cmd", "Meta"),
    ("Command", "Meta"),
    ("Super", "Meta"),
    ("Win", "Meta"),
    ("Option", "Alt"),
    ("CommandOrControl", "ControlOrMeta"),
    ("CmdOrCtrl", "ControlOrMeta"),
];

impl Key {
    /// The key that types a character: one of the keyboard, or for others a key without a code.
    pub fn of(character: char) -> Key {
        let known = PRINTABLE
            .iter()
            .find(|(.., plain, shifted)| *plain == character || *shifted == character);
        match known {
            Some((code, key_code, plain, _)) => Key {
                key: character.to_string(),
                code,
                key_code: *key_code,
                location: 0,
                text: Some(character.to_string()),
                modifier: 0,
                shifted: *plain != character,
            },
            None => Key {
                key: character.to_string(),
                code: "",
                key_code: 0,
                location: 0,
                text: Some(character.to_string()),
                modifier: 0,
                shifted: false,
            },
        }
    }

    /// Whether some key of the keyboard types the character.
    pub fn is_on_keyboard(character: char) -> bool {
        PRINTABLE
            .iter()
            .any(|(.., plain, shifted)| *plain == character || *shifted == character)
    }

    fn named(name: &str) -> Option<Key> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((_, real)) = ALIASES.iter().find(|(alias, _)| is(alias)) {
            return Key::find(real);
        }
        if let Some((_, key, code, key_code, location, bit)) =
            MODIFIERS.iter().find(|(name, ..)| is(name))
        {
            return Some(Key {
                key: (*key).to_owned(),
                code,
                key_code: *key_code,
                location: *location,
                text: None,
                modifier: *bit,
                shifted: false,
            });
        }
        if let Some((_, key, code, key_code, location, text)) =
            NAMED.iter().find(|(name, ..)| is(name))
        {
            return Some(Key {
                key: (*key).to_owned(),
                code,
                key_code: *key_code,
                location: *location,
                text: (!text.is_empty()).then(|| (*text).to_owned()),
                modifier: 0,
                shifted: false,
            });
        }
        let coded = PRINTABLE.iter().find(|(code, ..)| is(code));
        coded.map(|(_, _, plain, _)| Key::of(*plain))
    }

    fn find(name: &str) -> Option<Key> {
        let mut characters = name.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => Some(match only {
                '\n' | '\r' => Key::named("Enter")?,
                '\t' => Key::named("Tab")?,
                other => Key::of(other),
            }),
            _ => Key::named(name),
        }
    }
}

impl Chord {
    /// A chord from its text: keys joined by `+`, all but the last of them modifiers.
    ///
    /// `bad_request` for what is no key, with the nearest name.
    pub fn parse(text: &str) -> Result<Chord> {
        let mut held = Vec::new();
        let mut rest = text;
        // A plus at the end is a key itself.
        while let Some(at) = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '+')
            .map(|(at, _)| at)
            && at + 1 < rest.len()
        {
            let name = &rest[..at];
            let key = Key::find(name).ok_or_else(|| unknown(name, text))?;
            if key.modifier == 0 {
                return Err(Code::BadRequest
                    .because(format!(
                        "{} in {} is no modifier",
                        quoted(name, 80),
                        quoted(text, 80)
                    ))
                    .fact("argument", "keys")
                    .hint("press one key after another with several calls"));
            }
            held.push(key);
            rest = &rest[at + 1..];
        }
        let key = Key::find(rest).ok_or_else(|| unknown(rest, text))?;
        Ok(Chord { held, key }.as_pressed())
    }

    /// A key alone.
    pub fn of(key: Key) -> Chord {
        let held = Vec::new();
        Chord { held, key }.as_pressed()
    }

    /// The bits of what is held.
    pub fn modifiers(&self) -> i64 {
        let held = self.held.iter().fold(0, |bits, key| bits | key.modifier);
        held | if self.key.shifted { SHIFT } else { 0 }
    }

    /// What the key gives with these modifiers: `Shift+a` is `A`, `Control+A` is `a` and no text.
    fn as_pressed(mut self) -> Chord {
        let held = self.held.iter().fold(0, |bits, key| bits | key.modifier);
        let row = PRINTABLE.iter().find(|(code, ..)| *code == self.key.code);
        if let Some((_, _, plain, shifted)) = row {
            let character = match held {
                _ if held & SHIFT != 0 => *shifted,
                // A capital letter names the key; other characters need their Shift.
                _ if held & (CONTROL | ALT | META) != 0 && plain.is_ascii_lowercase() => *plain,
                _ if self.key.shifted => *shifted,
                _ => *plain,
            };
            self.key.shifted = character != *plain;
            self.key.key = character.to_string();
            self.key.text = Some(character.to_string());
        }
        if held & (CONTROL | ALT | META) != 0 {
            self.key.text = None;
        }
        self
    }
}

fn unknown(name: &str, whole: &str) -> Error {
    let names = NAMED.iter().map(|n| n.0);
    let names = names.chain(MODIFIERS.iter().map(|m| m.0));
    let names = names.chain(PRINTABLE.iter().map(|p| p.0));
    let names = names.chain(ALIASES.iter().map(|a| a.0));
    let what = match name == whole {
        true => format!("there is no key {}", quoted(name, 80)),
        false => format!(
            "there is no key {} (in {})",
            quoted(name, 80),
            quoted(whole, 80)
        ),
    };
    let error = Code::BadRequest.because(what).fact("argument", "keys");
    match nearest(name, names) {
        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
        None => error.hint("a character, a name such as Enter or ArrowDown, or a chord such as Control+Shift+A; type writes text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(text: &str) -> (String, &'static str, i64, Option<String>, i64) {
        let chord = Chord::parse(text).unwrap();
        let modifiers = chord.modifiers();
        let key = chord.key;
        (key.key, key.code, key.key_code, key.text, modifiers)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn characters_are_keys() {
        assert_eq!(pressed("a"), ("a".into(), "KeyA", 65, some("a"), 0));
        assert_eq!(pressed("A"), ("A".into(), "KeyA", 65, some("A"), SHIFT));
        assert_eq!(pressed("."), (".".into(), "Period", 190, some("."), 0));
        assert_eq!(pressed("%"), ("%".into(), "Digit5", 53, some("%"), SHIFT));
        assert_eq!(pressed("+"), ("+".into(), "Equal", 187, some("+"), SHIFT));
        assert_eq!(pressed(" "), (" ".into(), "Space", 32, some(" "), 0));
        assert_eq!(pressed("é"), ("é".into(), "", 0, some("é"), 0));
    }

    #[test]
    fn names_and_their_other_names() {
        assert_eq!(
            pressed("Enter"),
            ("Enter".into(), "Enter", 13, some("\r"), 0)
        );
        assert_eq!(pressed("esc").1, "Escape");
        assert_eq!(pressed("Down").1, "ArrowDown");
        assert_eq!(
            pressed("Numpad5"),
            ("5".into(), "Numpad5", 101, some("5"), 0)
        );
        assert_eq!(pressed("KeyQ").0, "q");
        assert_eq!(pressed("Shift").0, "Shift");
    }

    #[test]
    fn chords_hold_modifiers_in_order() {
        let chord = Chord::parse("Control+Shift+A").unwrap();
        let held: Vec<_> = chord.held.iter().map(|k| k.code).collect();
        assert_eq!(held, ["ControlLeft", "ShiftLeft"]);
        assert_eq!((chord.key.key.as_str(), &chord.key.text), ("A", &None));
        assert_eq!(
            pressed("Control+A"),
            ("a".into(), "KeyA", 65, None, CONTROL)
        );
        assert_eq!(
            pressed("Shift+a"),
            ("A".into(), "KeyA", 65, some("A"), SHIFT)
        );
        assert_eq!(pressed("Shift+1").0, "!");
        assert_eq!(pressed("Control++").1, "Equal");
        assert_eq!(pressed("ControlOrMeta+c").4, CONTROL);
        assert_eq!(pressed("Cmd+K").4, META);
        assert_eq!(pressed("Shift+Tab"), ("Tab".into(), "Tab", 9, None, SHIFT));
    }

    #[test]
    fn what_is_no_key_is_told_with_the_nearest() {
        let error = Chord::parse("Entr").unwrap_err();
        assert_eq!(error.next_step(), Some("did you mean \"Enter\"?"));
        assert_eq!(error.code(), Code::BadRequest);
        for text in ["", "a+b", "Control+", "hello world", "Controll+A", "++a"] {
            assert!(Chord::parse(text).is_err(), "{text}");
        }
    }
}
