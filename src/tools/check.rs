//! The one validator: the schema that is published is the schema that is enforced.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::error::{Code, Result, quoted};
use crate::wire::{ill_typed, nearest};

/// The published schema of a tool's arguments: inlined, flat, without `null` alternatives.
pub fn schema_of<T: JsonSchema>(takes_tab: bool) -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|s| {
            s.inline_subschemas = true;
            s.meta_schema = None;
        })
        .into_generator();
    let mut schema = Value::from(generator.into_root_schema_for::<T>());
    simplify(&mut schema);
    let object = schema
        .as_object_mut()
        .expect("a struct's schema is an object");
    object.remove("title");
    object.insert("type".to_owned(), json!("object"));
    object.insert("additionalProperties".to_owned(), json!(false));
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let (true, Some(properties)) = (takes_tab, properties.as_object_mut()) {
        properties.insert(
            "tab".to_owned(),
            json!({"type": "string", "description": "The tab to use, such as t2; the session's active tab if left out."}),
        );
    }
    schema
}

/// Rewrites what schemars makes of `Option`s and enums into what a reader expects.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(object) => {
            // Rust's number types; a property may have that name too.
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|t| t != "null");
                if types.len() == 1 {
                    let only = types.remove(0);
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|v| !v.is_null());
            }
            for key in ["anyOf", "oneOf"] {
                let Some(Value::Array(mut options)) = object.remove(key) else {
                    continue;
                };
                options.retain(|o| o.get("type") != Some(&json!("null")));
                let words: Vec<Value> = options
                    .iter()
                    .filter_map(|o| o.get("const").cloned())
                    .collect();
                if words.len() == options.len() {
                    object.insert("type".to_owned(), json!("string"));
                    object.insert("enum".to_owned(), Value::Array(words));
                } else if let [Value::Object(only)] = options.as_mut_slice() {
                    for (k, v) in std::mem::take(only) {
                        object.entry(k).or_insert(v);
                    }
                } else {
                    object.insert(key.to_owned(), Value::Array(options));
                }
            }
            for (key, inner) in object.iter_mut() {
                match (key.as_str(), inner) {
                    // Names, not keywords: an argument may be called `format`.
                    ("properties" | "$defs", Value::Object(named)) => {
                        named.values_mut().for_each(simplify);
                    }
                    ("default" | "enum" | "const" | "examples", _) => {}
                    (_, inner) => simplify(inner),
                }
            }
        }
        _ => {}
    }
}

/// Checks a call's arguments; returns them without the optional ones that were `null`.
///
/// Fails with `bad_request` naming the argument and, for an unknown one, its nearest neighbour.
pub fn check(tool: &str, schema: &Value, args: Map<String, Value>) -> Result<Map<String, Value>> {
    object(tool, "", schema, args)
}

fn object(
    tool: &str,
    path: &str,
    schema: &Value,
    args: Map<String, Value>,
) -> Result<Map<String, Value>> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let closed = schema["additionalProperties"] != json!(true)
        && !schema["additionalProperties"].is_object();
    let mut checked = Map::new();
    for (key, value) in args {
        let name = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match properties.get(&key) {
            Some(_) if value.is_null() && !required.iter().any(|r| *r == *key) => {}
            Some(schema) => {
                let value = one(tool, &name, schema, value)?;
                checked.insert(key, value);
            }
            None if !closed => {
                checked.insert(key, value);
            }
            None => return Err(unknown(tool, &name, &key, properties)),
        }
    }
    for key in required.iter().filter_map(Value::as_str) {
        if !checked.contains_key(key) {
            let name = if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            };
            return Err(Code::BadRequest
                .because(format!("{tool} needs {name}"))
                .fact("argument", name)
                .hint(format!("see `tabd help {tool}`")));
        }
    }
    Ok(checked)
}

fn unknown(tool: &str, name: &str, key: &str, known: &Map<String, Value>) -> crate::error::Error {
    let error = Code::BadRequest
        .because(format!("{tool} has no argument {}", quoted(name, 80)))
        .fact("argument", name.chars().take(80).collect::<String>());
    match nearest(key, known.keys().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
        None if known.is_empty() => error.hint("it takes none"),
        None => {
            let all: Vec<&str> = known.keys().map(String::as_str).collect();
            error.hint(format!("it takes {}", all.join(", ")))
        }
    }
}

fn one(tool: &str, name: &str, schema: &Value, value: Value) -> Result<Value> {
    let options = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    if let Some(options) = options {
        let fits = options
            .iter()
            .find_map(|o| one(tool, name, o, value.clone()).ok());
        return fits.ok_or_else(|| {
            let want: Vec<String> = options.iter().map(wanted).collect();
            ill_typed(name, &want.join(" or "), &value)
        });
    }
    let allowed = |kind: &str| match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(types) => types.iter().any(|t| t == kind),
        _ => true,
    };
    let value = match value {
        // 5.0 is an integer, by JSON Schema.
        Value::Number(n) if !allowed("number") && allowed("integer") => match n.as_f64() {
            Some(f) if n.is_f64() && f.fract() == 0.0 && f.abs() < 9e15 => Value::from(f as i64),
            _ => Value::Number(n),
        },
        other => other,
    };
    let fits = match &value {
        Value::String(_) => allowed("string"),
        Value::Bool(_) => allowed("boolean"),
        Value::Number(n) => allowed("number") || (allowed("integer") && !n.is_f64()),
        Value::Array(_) => allowed("array"),
        Value::Object(_) => allowed("object"),
        Value::Null => allowed("null"),
    };
    if !fits {
        return Err(ill_typed(name, &wanted(schema), &value));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(&value)
    {
        let error = ill_typed(name, &wanted(schema), &value);
        let near = value
            .as_str()
            .and_then(|v| nearest(v, words.iter().filter_map(Value::as_str)));
        return Err(match near {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None => error,
        });
    }
    if let Some(n) = value.as_f64() {
        let below = schema["minimum"].as_f64().is_some_and(|min| n < min);
        let above = schema["maximum"].as_f64().is_some_and(|max| n > max);
        if below || above {
            return Err(ill_typed(name, &wanted(schema), &value));
        }
    }
    match value {
        Value::Array(items) => {
            let too_many = schema["maxItems"]
                .as_u64()
                .is_some_and(|max| items.len() as u64 > max);
            let too_few = schema["minItems"]
                .as_u64()
                .is_some_and(|min| (items.len() as u64) < min);
            if too_many || too_few {
                return Err(Code::BadRequest
                    .because(format!(
                        "{name} must be {}, not {} of them",
                        wanted(schema),
                        items.len()
                    ))
                    .fact("argument", name));
            }
            if !schema["items"].is_object() {
                return Ok(Value::Array(items));
            }
            let checked: Result<Vec<Value>> = items
                .into_iter()
                .enumerate()
                .map(|(i, item)| one(tool, &format!("{name}[{i}]"), &schema["items"], item))
                .collect();
            Ok(Value::Array(checked?))
        }
        Value::Object(map) if schema["properties"].is_object() => {
            Ok(Value::Object(object(tool, name, schema, map)?))
        }
        other => Ok(other),
    }
}

/// A schema in words: `a string`, `a whole number from 1 to 3`, `"load" or "dom"`.
fn wanted(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return words.join(" or ");
    }
    let range = match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" of at least {min}"),
        (None, Some(max)) => format!(" of at most {max}"),
        (None, None) => String::new(),
    };
    let word = |kind: &str| match kind {
        "string" => "a string".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => format!("a whole number{range}"),
        "number" => format!("a number{range}"),
        "array" => match schema["maxItems"].as_u64() {
            Some(max) => format!("an array of at most {max}"),
            None => "an array".to_owned(),
        },
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(kind) => word(kind),
        Value::Array(kinds) => {
            let words: Vec<String> = kinds.iter().filter_map(Value::as_str).map(word).collect();
            words.join(" or ")
        }
        _ => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({"type":"object","additionalProperties":false,"required":["url"],"properties":{
            "url":{"type":"string"},
            "count":{"type":"integer","minimum":1,"maximum":3},
            "wait":{"type":"string","enum":["load","dom"]},
            "list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}}}})
    }

    fn refused(args: Value) -> crate::error::Error {
        let Value::Object(args) = args else {
            panic!("an object")
        };
        check("open", &schema(), args).expect_err("must be refused")
    }

    #[test]
    fn names_what_is_wrong() {
        assert_eq!(refused(json!({})).message(), "open needs url");
        assert_eq!(
            refused(json!({"url": 1})).message(),
            "url must be a string, not 1"
        );
        let error = refused(json!({"url": "a", "cuont": 1}));
        assert_eq!(error.next_step(), Some("did you mean \"count\"?"));
        assert!(
            refused(json!({"url":"a","count":4}))
                .message()
                .contains("from 1 to 3")
        );
        assert!(
            refused(json!({"url":"a","wait":"lod"}))
                .message()
                .contains("\"load\" or \"dom\"")
        );
        assert_eq!(
            refused(json!({"url":"a","list":[{"x":"1"}]})).message(),
            "list[0].x must be a number, not \"1\""
        );
    }

    #[test]
    fn an_argument_may_have_a_keywords_name() {
        let inner = json!({"type":["string","null"],"format":"uri","default":null});
        let mut schema =
            json!({"type":"object","properties":{"format":inner,"default":inner,"enum":inner}});
        simplify(&mut schema);
        let inner = json!({"type":"string"});
        assert_eq!(
            schema["properties"],
            json!({"format":inner,"default":inner,"enum":inner})
        );
    }

    #[test]
    fn null_is_absent_and_whole_floats_are_integers() {
        let Value::Object(args) = json!({"url":"a","count":2.0,"wait":null}) else {
            panic!("an object")
        };
        let checked = check("open", &schema(), args).unwrap();
        assert_eq!(Value::Object(checked), json!({"url":"a","count":2}));
    }
}
