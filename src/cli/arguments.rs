//! A tool's arguments from words by its schema, and back. Checks no values: that is
//! [`crate::tools::check`]'s.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::options::{Common, following, long, unknown_flag};
use super::value;
use crate::error::{Code, Result, quoted};
use crate::tools::Entry;

/// A tool as the command line sees it.
pub struct Shape<'a> {
    /// Its name on the wire.
    pub name: &'a str,
    /// Its arguments' schema.
    pub schema: &'a Value,
    /// What bare words fill.
    pub bare: &'a [&'a str],
}

impl<'a> From<&'a Entry> for Shape<'a> {
    fn from(entry: &'a Entry) -> Shape<'a> {
        Shape {
            name: entry.name,
            schema: entry.schema(),
            bare: entry.bare,
        }
    }
}

/// Reads a tool's arguments; `None` if its help is wanted.
pub fn arguments<'w>(
    shape: &Shape,
    common: &mut Common,
    rest: &mut (impl Iterator<Item = &'w str> + Clone),
) -> Result<Option<Map<String, Value>>> {
    let none = Map::new();
    let properties = shape.schema["properties"].as_object().unwrap_or(&none);
    let mut args = Map::new();
    let mut bare = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            bare.extend(rest.by_ref());
            break;
        }
        let Some((key, inline)) = long(word) else {
            match word {
                "-h" => return Ok(None),
                _ if word.starts_with('-') && word != "-" && !value::is_negative(word) => {
                    return Err(unknown_flag(word, Some(shape)));
                }
                _ => bare.push(word),
            }
            continue;
        };
        let off = key
            .strip_prefix("no_")
            .filter(|_| !properties.contains_key(&key));
        let switched_off = off.and_then(|k| Some((k, properties.get(k)?)));
        if let Some(schema) = properties.get(&key) {
            let read = match inline {
                Some(text) if value::is_switch(schema) => match text {
                    "1" | "yes" => json!(true),
                    "0" | "no" => json!(false),
                    text => value::parse(text, schema),
                },
                Some(text) => value::parse(text, schema),
                None if value::is_switch(schema) => json!(true),
                None if value::kinds(schema).contains(&"boolean")
                    && rest.clone().next().is_none_or(|next| next.starts_with('-')) =>
                {
                    json!(true)
                }
                None => value::parse(&following(word, None, rest)?, schema),
            };
            put(&mut args, &key, read)?;
        } else if let Some((key, schema)) = switched_off
            && value::kinds(schema).contains(&"boolean")
            && inline.is_none()
        {
            put(&mut args, key, json!(false))?;
        } else if key == "help" && inline.is_none() {
            return Ok(None);
        } else if !common.take(&key, word, inline, rest)? {
            return Err(unknown_flag(word, Some(shape)));
        }
    }
    fill(shape, &mut args, bare)?;
    Ok(Some(args))
}

/// Gives the bare words to the arguments they stand for, in order.
fn fill(shape: &Shape, args: &mut Map<String, Value>, bare: Vec<&str>) -> Result<()> {
    let mut bare = bare.into_iter().peekable();
    // A target is a ref or a selector: with one given, no word is the other.
    let targeted = args.contains_key("selector");
    for name in shape.bare {
        if bare.peek().is_none() {
            break;
        }
        if args.contains_key(*name) || (*name == "ref" && targeted) {
            continue;
        }
        let schema = &shape.schema["properties"][*name];
        let many = value::is_list(schema);
        for word in bare.by_ref() {
            put(args, name, value::parse(word, schema))?;
            if !many {
                break;
            }
        }
    }
    match bare.next() {
        None => Ok(()),
        Some(word) => {
            let error = Code::BadRequest.because(format!(
                "{} takes no further {}",
                shape.name,
                quoted(word, 80)
            ));
            Err(match word {
                "true" | "false" => error.hint("write --flag, --no-flag or --flag=false"),
                _ => error.hint(format!(
                    "see `tabd help {}`; quote text with spaces",
                    shape.name
                )),
            })
        }
    }
}

fn put(args: &mut Map<String, Value>, key: &str, value: Value) -> Result<()> {
    match (args.get_mut(key), value) {
        (None, value) => {
            args.insert(key.to_owned(), value);
        }
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        _ => return Err(Code::BadRequest.because(format!("{key} was given twice"))),
    }
    Ok(())
}

/// Makes the arguments that are paths absolute: the daemon runs elsewhere.
pub fn absolute(mut args: Map<String, Value>, here: &Path) -> Map<String, Value> {
    let fix = |value: &mut Value| {
        if let Value::String(path) = value
            && !path.is_empty()
            && let Some(joined) = here.join(&*path).to_str()
        {
            *path = joined.to_owned();
        }
    };
    for key in ["path", "files", "paths"] {
        match args.get_mut(key) {
            Some(Value::Array(list)) => list.iter_mut().for_each(fix),
            Some(one) => fix(one),
            None => {}
        }
    }
    args
}

/// The words that [`super::words::parse`] reads as these arguments of this tool: `help`'s examples.
pub fn spell(shape: &Shape, args: &Map<String, Value>) -> Vec<String> {
    let mut words = vec![shape.name.replace('_', "-")];
    let mut left = args.clone();
    for name in shape.bare {
        let schema = &shape.schema["properties"][*name];
        let plain = left.get(*name).map(|v| value::words(v, schema));
        match plain {
            Some(plain) if !plain.iter().any(|w| w.starts_with('-')) => {
                words.extend(plain);
                left.shift_remove(*name);
                if value::is_list(schema) {
                    break;
                }
            }
            _ if *name == "ref" && left.contains_key("selector") => {}
            _ => break,
        }
    }
    for (key, value) in &left {
        let schema = &shape.schema["properties"][key.as_str()];
        let flag = key.replace('_', "-");
        match value {
            Value::Bool(true) if value::kinds(schema).contains(&"boolean") => {
                words.push(format!("--{flag}"));
            }
            Value::Bool(false) if value::kinds(schema).contains(&"boolean") => {
                words.push(format!("--no-{flag}"));
            }
            value => {
                for word in value::words(value, schema) {
                    if word.starts_with('-') && !value::is_negative(&word) {
                        words.push(format!("--{flag}={word}"));
                    } else {
                        words.extend([format!("--{flag}"), word]);
                    }
                }
            }
        }
    }
    words
}
