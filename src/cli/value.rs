//! One word of the command line ↔ one JSON value, as a schema wants it. Checks nothing: that is
//! [`crate::tools::check`]'s.

use serde_json::Value;

/// The JSON types a schema allows, through its alternatives.
pub fn kinds(schema: &Value) -> Vec<&str> {
    let mut found = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for key in ["anyOf", "oneOf"] {
        for option in schema[key].as_array().into_iter().flatten() {
            found.extend(kinds(option));
        }
    }
    found.dedup();
    found
}

/// Whether the schema is met by true and false alone: a flag that takes no value.
pub fn is_switch(schema: &Value) -> bool {
    kinds(schema) == ["boolean"]
}

/// Whether the schema takes a list, so that its flag may be repeated.
pub fn is_list(schema: &Value) -> bool {
    kinds(schema).contains(&"array")
}

/// The schema of a list's items.
fn items(schema: &Value) -> &Value {
    if schema["items"].is_object() {
        return &schema["items"];
    }
    ["anyOf", "oneOf"]
        .iter()
        .filter_map(|key| schema[*key].as_array())
        .flatten()
        .find(|option| option["items"].is_object())
        .map_or(&Value::Null, |option| &option["items"])
}

/// What `word` means under `schema`. What fits nothing stays a string, for the validator to name.
pub fn parse(word: &str, schema: &Value) -> Value {
    let kinds = kinds(schema);
    let text = kinds.contains(&"string");
    let json = || serde_json::from_str::<Value>(word).ok();
    // Anything goes: JSON where it is JSON.
    if kinds.is_empty() {
        return json().unwrap_or_else(|| Value::from(word));
    }
    if kinds.contains(&"array") {
        return match json() {
            Some(list @ Value::Array(_)) => list,
            Some(Value::Bool(yes)) if kinds.contains(&"boolean") && !text => Value::Bool(yes),
            _ => Value::Array(vec![parse(word, items(schema))]),
        };
    }
    match json() {
        Some(object @ Value::Object(_)) if kinds.contains(&"object") => object,
        Some(value) if !text => value,
        // `+5`, `.5` and `007` are numbers to a person, if not to JSON.
        None if !text && (kinds.contains(&"integer") || kinds.contains(&"number")) => {
            match word.parse::<f64>() {
                Ok(n) if n.is_finite() => Value::from(n),
                _ => Value::from(word),
            }
        }
        _ => Value::from(word),
    }
}

/// The words that [`parse`] reads as `value` again: several for a list.
pub fn words(value: &Value, schema: &Value) -> Vec<String> {
    let plain = |item: &Value| -> Option<String> {
        let word = word(item);
        (parse(&word, items(schema)) == *item && !word.starts_with('[')).then_some(word)
    };
    match value {
        Value::Array(list) if is_list(schema) && !list.is_empty() => list
            .iter()
            .map(plain)
            .collect::<Option<Vec<_>>>()
            .unwrap_or_else(|| vec![value.to_string()]),
        Value::String(text) if parse(text, schema) != *value => vec![value.to_string()],
        other => vec![word(other)],
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether a word that begins with `-` is a negative number.
pub fn is_negative(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.parse::<f64>().is_ok()
    })
}

/// A duration in milliseconds: `5s`, `500ms`, `1.5s`, `2m` or plain milliseconds.
pub fn milliseconds(word: &str) -> Option<u64> {
    let (digits, unit) = if let Some(digits) = word.strip_suffix("ms") {
        (digits, 1.0)
    } else if let Some(digits) = word.strip_suffix('s') {
        (digits, 1000.0)
    } else if let Some(digits) = word.strip_suffix('m') {
        (digits, 60_000.0)
    } else {
        (word, 1.0)
    };
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let ms = digits.parse::<f64>().ok()? * unit;
    (ms.is_finite() && ms < 1e12).then_some(ms.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_word_takes_the_type_its_schema_wants() {
        let string = json!({"type":"string"});
        let number = json!({"type":"number"});
        let list = json!({"type":"array","items":{"type":"string"}});
        let either =
            json!({"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]});
        for (word, schema, want) in [
            ("12", &string, json!("12")),
            ("{\"a\":1}", &string, json!("{\"a\":1}")),
            ("-12.5", &number, json!(-12.5)),
            ("+5", &number, json!(5.0)),
            ("x", &number, json!("x")),
            ("a", &list, json!(["a"])),
            ("[\"a\",\"b\"]", &list, json!(["a", "b"])),
            ("7", &list, json!(["7"])),
            ("true", &either, json!(true)),
            ("dark", &either, json!(["dark"])),
            ("7", &json!({}), json!(7)),
            ("\"7\"", &json!({}), json!("7")),
            ("seven", &json!({}), json!("seven")),
        ] {
            assert_eq!(parse(word, schema), want, "{word}");
        }
        let object = json!({"type":"object"});
        assert_eq!(parse("{\"width\":1}", &object), json!({"width":1}));
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(milliseconds("5s"), Some(5000));
        assert_eq!(milliseconds("500ms"), Some(500));
        assert_eq!(milliseconds("5000"), Some(5000));
        assert_eq!(milliseconds("1.5s"), Some(1500));
        assert_eq!(milliseconds("2m"), Some(120_000));
        for bad in ["", "s", "-5s", "5h", "1e9", "inf", "five"] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_may_be_negative() {
        assert!(is_negative("-3") && is_negative("-.5") && is_negative("-1e3"));
        assert!(
            !is_negative("-x") && !is_negative("-") && !is_negative("-inf") && !is_negative("3")
        );
    }
}
