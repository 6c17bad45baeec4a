use super::*;

fn last(text: &str) -> DispatchKeyEvent {
    Chord::parse(text).expect(text).down().pop().unwrap()
}

fn refused(text: &str) -> Error {
    Chord::parse(text)
        .err()
        .unwrap_or_else(|| panic!("{text:?} passed"))
}

#[test]
fn every_key_is_found_by_its_code() {
    for key in KEYS {
        let event = last(key.code);
        assert_eq!(event.code.as_deref(), Some(key.code));
        assert_eq!(event.key.as_deref(), Some(key.key));
        assert_eq!(event.windows_virtual_key_code, Some(key.vk));
        assert_eq!(event.location, Some(key.location));
        assert_eq!(
            last(&key.code.to_lowercase()).code.as_deref(),
            Some(key.code)
        );
    }
}

#[test]
fn every_key_is_found_by_what_it_is_called() {
    for key in KEYS {
        assert_eq!(last(key.key).key.as_deref(), Some(key.key));
        assert_eq!(last(key.shifted).key.as_deref(), Some(key.shifted));
    }
}

#[test]
fn no_code_stands_twice() {
    for (i, key) in KEYS.iter().enumerate() {
        assert!(KEYS[..i].iter().all(|k| k.code != key.code), "{}", key.code);
    }
}

#[test]
fn every_printable_ascii_character_has_its_key() {
    for c in ' '..='~' {
        let chord = Chord::of_char(c).unwrap_or_else(|| panic!("{c:?}"));
        let down = chord.down().pop().unwrap();
        assert_eq!(down.text, Some(c.to_string()));
        assert_eq!(down.r#type, DispatchKeyEventType::KeyDown);
        assert_eq!(last(&c.to_string()).text, Some(c.to_string()));
        // Character codes are those of letters, digits and the blank only.
        let same = down.windows_virtual_key_code == Some(i64::from(u32::from(c)));
        let plain = matches!(c, 'A'..='Z' | '0'..='9' | ' ');
        assert_eq!(same, plain, "{c:?}");
    }
    assert!(Chord::of_char('é').is_none());
    assert!(Chord::of_char('\t').is_none());
}

#[test]
fn aliases_lead_to_keys() {
    for (alias, key) in ALIASES {
        assert_eq!(last(alias).key.as_deref(), Some(*key), "{alias}");
    }
    assert_eq!(last("Esc").code.as_deref(), Some("Escape"));
    assert_eq!(last("Space").text.as_deref(), Some(" "));
}

#[test]
fn a_chord_goes_down_in_order_and_up_again() {
    let chord = Chord::parse("Control+Shift+a").unwrap();
    let told = |events: Vec<DispatchKeyEvent>| -> Vec<(String, i64)> {
        let told = |e: DispatchKeyEvent| (e.key.unwrap(), e.modifiers.unwrap());
        events.into_iter().map(told).collect()
    };
    let of = |list: &[(&str, i64)]| -> Vec<(String, i64)> {
        list.iter().map(|(k, m)| ((*k).to_owned(), *m)).collect()
    };
    assert_eq!(
        told(chord.down()),
        of(&[("Control", 2), ("Shift", 10), ("A", 10)])
    );
    assert_eq!(
        told(chord.up()),
        of(&[("A", 10), ("Shift", 2), ("Control", 0)])
    );
}

#[test]
fn text_is_written_unless_a_modifier_holds_it_back() {
    assert_eq!(last("a").text.as_deref(), Some("a"));
    assert_eq!(last("A").text.as_deref(), Some("A"));
    assert_eq!(last("A").modifiers, Some(SHIFT));
    assert_eq!(last("Shift+1").text.as_deref(), Some("!"));
    assert_eq!(last("Enter").text.as_deref(), Some("\r"));
    assert_eq!(last("NumpadEnter").text.as_deref(), Some("\r"));
    for chord in ["Control+a", "Alt+a", "Meta+a", "Control+Enter", "Tab", "F5"] {
        let down = last(chord);
        assert_eq!(down.text, None, "{chord}");
        assert_eq!(down.r#type, DispatchKeyEventType::RawKeyDown, "{chord}");
    }
}

#[test]
fn a_letter_of_a_chord_means_its_key() {
    for chord in ["Control+a", "Control+A", "ctrl+a", "ControlOrMeta+A"] {
        let down = last(chord);
        assert_eq!(down.key.as_deref(), Some("a"), "{chord}");
        assert_eq!(down.modifiers, Some(CONTROL), "{chord}");
    }
    assert_eq!(last("Control+?").modifiers, Some(CONTROL | SHIFT));
}

#[test]
fn plus_is_a_key() {
    for (chord, modifiers) in [
        ("+", SHIFT),
        ("Control++", CONTROL | SHIFT),
        ("Plus", SHIFT),
    ] {
        let down = last(chord);
        assert_eq!(down.key.as_deref(), Some("+"), "{chord}");
        assert_eq!(down.modifiers, Some(modifiers), "{chord}");
    }
}

#[test]
fn what_is_no_chord_is_refused() {
    for text in [
        "",
        "Control+",
        "+a",
        "a+b",
        "Control+Control",
        "Control+Control+a",
        "é",
        "Control+é",
        "Entre",
        "++",
        "Shift+Alt+Control+Meta+Shift+a",
        "Enter Enter",
        "\u{0}",
        "Control++a",
    ] {
        let error = refused(text);
        assert_eq!(error.code(), Code::BadRequest, "{text:?}");
        assert!(error.next_step().is_some(), "{text:?}");
    }
    assert!(refused("Entre").next_step().unwrap().contains("\"Enter\""));
    assert!(
        refused("ArowDown")
            .next_step()
            .unwrap()
            .contains("\"ArrowDown\"")
    );
}
