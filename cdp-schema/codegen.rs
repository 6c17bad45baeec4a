// protocol.json + used.txt → Rust: the commands and events in use, and every type they reach.
// Pure: text in, text out. Included by build.rs, and by the crate's tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

/// Sent to the browser: derives `Serialize`.
const OUT: u8 = 1;
/// Received from the browser: derives `Deserialize`.
const IN: u8 = 2;

/// Domain and name of an item, as the schema spells them.
type Key = (String, String);

/// The generated source. `used` has a line `Domain.command` or `event Domain.event` for each item
/// in use; empty lines and those that start with `#` are skipped.
///
/// Fails on a line that names nothing in the schema, a dangling `$ref`, and a clash of Rust names.
pub fn generate(protocol: &Value, used: &str) -> Result<String, String> {
    let schema = Schema::index(protocol);
    let mut source = Source::default();
    for line in used
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (table, path) = match line.strip_prefix("event ") {
            Some(path) => (&schema.events, path),
            None => (&schema.commands, line),
        };
        let key = path
            .split_once('.')
            .map(|(domain, name)| (domain.to_owned(), name.to_owned()));
        let Some((key, item)) = key.and_then(|key| table.get(&key).map(|item| (key, *item))) else {
            return Err(format!("used.txt: the schema has no `{line}`"));
        };
        if line == path {
            source.command(&schema, &key, item)?;
        } else {
            source.event(&schema, &key, item)?;
        }
    }
    source.types(&schema)?;
    source.text()
}

/// The schema's items by domain and name.
struct Schema<'a> {
    types: BTreeMap<Key, &'a Value>,
    commands: BTreeMap<Key, &'a Value>,
    events: BTreeMap<Key, &'a Value>,
}

impl<'a> Schema<'a> {
    fn index(protocol: &'a Value) -> Schema<'a> {
        let table = |kind: &str, name: &str| {
            let mut table = BTreeMap::new();
            for domain in list(protocol, "domains") {
                for item in list(domain, kind) {
                    table.insert(
                        (
                            text(domain, "domain").to_owned(),
                            text(item, name).to_owned(),
                        ),
                        item,
                    );
                }
            }
            table
        };
        Schema {
            types: table("types", "id"),
            commands: table("commands", "name"),
            events: table("events", "name"),
        }
    }

    /// The type that `reference` names, seen from `domain`.
    fn target(&self, domain: &str, reference: &str) -> Result<(Key, &'a Value), String> {
        let (domain, name) = reference.split_once('.').unwrap_or((domain, reference));
        let key = (domain.to_owned(), name.to_owned());
        match self.types.get(&key) {
            Some(item) => Ok((key, item)),
            None => Err(format!("no type `{domain}.{name}`")),
        }
    }

    /// True if a value of the struct `from` holds one of `to` in itself, not in a list.
    fn holds(&self, from: &Key, to: &Key, seen: &mut BTreeSet<Key>) -> bool {
        let members = self
            .types
            .get(from)
            .map(|item| list(item, "properties"))
            .unwrap_or_default();
        members.iter().any(|member| {
            let Some(Ok((key, _))) = member["$ref"]
                .as_str()
                .map(|name| self.target(&from.0, name))
            else {
                return false;
            };
            key == *to || (seen.insert(key.clone()) && self.holds(&key, to, seen))
        })
    }
}

/// A Rust type for a schema's item.
struct Rust {
    name: String,
    /// An integer, however it is spelled: numbers may arrive as `1.0`.
    integer: bool,
    /// Text without a meaningful empty value: never made up when it is missing.
    strict: bool,
}

/// What has been written so far, and what types are still to be written.
#[derive(Default)]
struct Source {
    modules: BTreeMap<String, String>,
    names: BTreeSet<Key>,
    /// (method, variant, payload)
    events: Vec<(String, String, String)>,
    wanted: Vec<(Key, u8)>,
    directions: BTreeMap<Key, u8>,
}

impl Source {
    fn command(&mut self, schema: &Schema<'_>, key: &Key, item: &Value) -> Result<(), String> {
        let name = pascal(&key.1);
        self.structure(schema, &key.0, &name, list(item, "parameters"), OUT)?;
        let returns = list(item, "returns");
        let (output, decode) = match returns.is_empty() {
            true => ("()".to_owned(), "Ok(())"),
            false => (format!("{name}Reply"), "crate::cdp::json::decode(result)"),
        };
        if !returns.is_empty() {
            self.structure(schema, &key.0, &output, returns, IN)?;
        }
        let result = if returns.is_empty() { "_" } else { "result" };
        self.write(&key.0, &format!(
            "impl crate::cdp::Command for {name} {{\n    const METHOD: &'static str = \"{}.{}\";\n    \
             type Output = {output};\n    fn decode({result}: &bytes::Bytes) -> serde_json::Result<{output}> {{ {decode} }}\n}}\n",
            key.0, key.1
        ));
        Ok(())
    }

    fn event(&mut self, schema: &Schema<'_>, key: &Key, item: &Value) -> Result<(), String> {
        let name = pascal(&key.1) + "Event";
        self.structure(schema, &key.0, &name, list(item, "parameters"), IN)?;
        self.events.push((
            format!("{}.{}", key.0, key.1),
            pascal(&key.0) + &pascal(&key.1),
            format!("{}::{name}", snake(&key.0)),
        ));
        Ok(())
    }

    /// Writes every type that is wanted, and those that they want in turn.
    fn types(&mut self, schema: &Schema<'_>) -> Result<(), String> {
        while let Some((key, direction)) = self.wanted.pop() {
            let known = self.directions.entry(key.clone()).or_default();
            if *known & direction == direction {
                continue;
            }
            *known |= direction;
            let item = schema.types[&key];
            self.wants(schema, &key.0, list(item, "properties"), direction)?;
            self.wants(
                schema,
                &key.0,
                std::slice::from_ref(&item["items"]),
                direction,
            )?;
        }
        for (key, direction) in self.directions.clone() {
            self.declare(schema, &key, direction)?;
        }
        Ok(())
    }

    fn declare(&mut self, schema: &Schema<'_>, key: &Key, direction: u8) -> Result<(), String> {
        let item = schema.types[key];
        let name = pascal(&key.1);
        match text(item, "type") {
            "object" if item["properties"].is_array() => {
                return self.structure(schema, &key.0, &name, list(item, "properties"), direction);
            }
            "string" if item["enum"].is_array() => return self.enumeration(&key.0, &name, item),
            "string" => self.write(&key.0, &format!("string_id!({name});\n")),
            _ => {
                let rust = self.rust(schema, &key.0, &name, item)?;
                self.write(&key.0, &format!("pub type {name} = {};\n", rust.name));
            }
        }
        self.claim(&key.0, &name)
    }

    fn enumeration(&mut self, domain: &str, name: &str, item: &Value) -> Result<(), String> {
        let mut seen = BTreeSet::from(["Unknown".to_owned()]);
        let mut unknown = "";
        let mut variants = String::new();
        for value in list(item, "enum").iter().filter_map(Value::as_str) {
            let variant = variant(value);
            if variant == "Unknown" {
                unknown = value;
            } else if seen.insert(variant.clone()) {
                let _ = write!(variants, " {variant} = {value:?},");
            } else {
                return Err(format!("{domain}.{name}: two values are spelled {variant}"));
            }
        }
        self.write(
            domain,
            &format!("string_enum!({name}, {unknown:?}, {{{variants} }});\n"),
        );
        self.claim(domain, name)
    }

    fn structure(
        &mut self,
        schema: &Schema<'_>,
        domain: &str,
        name: &str,
        members: &[Value],
        direction: u8,
    ) -> Result<(), String> {
        self.claim(domain, name)?;
        self.wants(schema, domain, members, direction)?;
        let mut derive = "Clone, Debug, Default".to_owned();
        derive += if direction & OUT != 0 {
            ", serde::Serialize"
        } else {
            ""
        };
        derive += if direction & IN != 0 {
            ", serde::Deserialize"
        } else {
            ""
        };
        let mut body = String::new();
        let key = (domain.to_owned(), name.to_owned());
        for member in members {
            let wire = text(member, "name");
            let field = snake(wire);
            let rust = self.rust(schema, domain, &format!("{name}{}", pascal(wire)), member)?;
            let optional = member["optional"].as_bool() == Some(true);
            let mut serde = Vec::new();
            if camel(&field) != wire {
                serde.push(format!("rename = {wire:?}"));
            }
            if direction & OUT != 0 && optional {
                serde.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            }
            if direction & IN != 0 && (optional || !rust.strict) {
                serde.push("default".to_owned());
            }
            if direction & IN != 0 && rust.integer {
                let with = if optional { "optional_int" } else { "int" };
                serde.push(format!("deserialize_with = \"crate::cdp::scalar::{with}\""));
            }
            let target = member["$ref"]
                .as_str()
                .map(|name| schema.target(domain, name))
                .transpose()?;
            let own = schema
                .types
                .keys()
                .find(|id| id.0 == key.0 && pascal(&id.1) == key.1);
            let boxed = match (target, own) {
                (Some((target, _)), Some(own)) => {
                    target == *own || schema.holds(&target, own, &mut BTreeSet::new())
                }
                _ => false,
            };
            let mut kind = rust.name;
            kind = if boxed { format!("Box<{kind}>") } else { kind };
            kind = if optional {
                format!("Option<{kind}>")
            } else {
                kind
            };
            if !serde.is_empty() {
                let _ = writeln!(body, "    #[serde({})]", serde.join(", "));
            }
            let _ = writeln!(body, "    pub {}: {kind},", raw(&field));
        }
        self.write(domain, &format!(
            "#[derive({derive})]\n#[serde(rename_all = \"camelCase\")]\npub struct {name} {{\n{body}}}\n"
        ));
        Ok(())
    }

    /// The Rust type of a member or of a list's items; `name` is for an enum that has none.
    fn rust(
        &mut self,
        schema: &Schema<'_>,
        domain: &str,
        name: &str,
        item: &Value,
    ) -> Result<Rust, String> {
        let plain = |name: &str, integer| {
            Ok(Rust {
                name: name.to_owned(),
                integer,
                strict: false,
            })
        };
        if let Some(reference) = item["$ref"].as_str() {
            let (key, target) = schema.target(domain, reference)?;
            let kind = text(target, "type");
            let mut name = pascal(&key.1);
            if key.0 != domain {
                name = format!("super::{}::{name}", snake(&key.0));
            }
            let list = target["properties"].is_array();
            let strict = list || (kind == "string" && !target["enum"].is_array());
            return Ok(Rust {
                name,
                integer: kind == "integer",
                strict,
            });
        }
        match text(item, "type") {
            "boolean" => plain("bool", false),
            "integer" => plain("i64", true),
            "number" => plain("f64", false),
            "array" => {
                let inner = self.rust(schema, domain, name, &item["items"])?;
                plain(&format!("Vec<{}>", inner.name), false)
            }
            "string" if item["enum"].is_array() => {
                self.enumeration(domain, name, item)?;
                plain(name, false)
            }
            "string" => plain("String", false),
            // A binary is base64, maybe megabytes of it: it shares the memory of its message.
            "any" | "object" | "binary" => plain("crate::cdp::Json", false),
            other => Err(format!("{domain}.{name}: no such type `{other}`")),
        }
    }

    /// Notes the types that these members name.
    fn wants(
        &mut self,
        schema: &Schema<'_>,
        domain: &str,
        members: &[Value],
        direction: u8,
    ) -> Result<(), String> {
        for member in members.iter().flat_map(|member| [member, &member["items"]]) {
            if let Some(reference) = member["$ref"].as_str() {
                self.wanted
                    .push((schema.target(domain, reference)?.0, direction));
            }
        }
        Ok(())
    }

    fn claim(&mut self, domain: &str, name: &str) -> Result<(), String> {
        match self.names.insert((domain.to_owned(), name.to_owned())) {
            true => Ok(()),
            false => Err(format!("{domain}: two items are spelled {name}")),
        }
    }

    fn write(&mut self, domain: &str, text: &str) {
        self.modules
            .entry(snake(domain))
            .or_default()
            .push_str(text);
    }

    fn text(self) -> Result<String, String> {
        let mut text = String::new();
        for (module, body) in &self.modules {
            let _ = write!(text, "pub mod {module} {{\n{body}}}\n");
        }
        text.push_str("/// An event in use, with its parameters.\n#[derive(Clone, Debug)]\npub enum Event {\n");
        for (_, variant, payload) in &self.events {
            let _ = writeln!(text, "    {variant}({payload}),");
        }
        text.push_str(
            "}\nimpl Event {\n    \
             /// The event of that name, decoded; `None`, at the cost of a look at the name, if it is not in use.\n    \
             pub fn decode(method: &str, params: &bytes::Bytes) -> Option<serde_json::Result<Event>> {\n        \
             Some(match method {\n",
        );
        for (method, variant, _) in &self.events {
            let _ = writeln!(
                text,
                "            {method:?} => crate::cdp::json::decode(params).map(Event::{variant}),"
            );
        }
        text.push_str("            _ => return None,\n        })\n    }\n}\n");
        Ok(text)
    }
}

fn list<'a>(item: &'a Value, key: &str) -> &'a [Value] {
    item[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or_default()
}

/// The words of a schema's name: `setBlockedURLs` → set, blocked, urls; `DOMDebugger` → dom, debugger.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let upper = |at: usize| letters.get(at).is_some_and(char::is_ascii_uppercase);
    let lower = |at: usize| letters.get(at).is_some_and(char::is_ascii_lowercase);
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        // An acronym's last capital starts the next word, unless only a plural `s` follows.
        let plural = letters.get(at + 1) == Some(&'s') && !lower(at + 2);
        let starts = upper(at) && at > 0 && (!upper(at - 1) || (lower(at + 1) && !plural));
        if (starts || !letter.is_ascii_alphanumeric())
            && words.last().is_some_and(|word| !word.is_empty())
        {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}

fn pascal(name: &str) -> String {
    words(name).iter().map(|word| capital(word)).collect()
}

fn snake(name: &str) -> String {
    words(name).join("_")
}

/// What serde's `camelCase` makes of a field.
fn camel(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capital(word))
}

/// An enum value's variant: a letter in front, so that `3g` and `-0` are names too.
fn variant(value: &str) -> String {
    let sign = if value.starts_with('-') { "Minus" } else { "" };
    let name = format!("{sign}{}", pascal(value));
    match name.as_str() {
        "Self" => "Self_".to_owned(),
        _ if name.starts_with(|first: char| !first.is_ascii_alphabetic()) => format!("N{name}"),
        _ => name,
    }
}

/// A field's name, as a raw identifier where it is a keyword.
fn raw(field: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "box", "break", "const", "continue", "do", "dyn", "else",
        "enum", "extern", "final", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod",
        "move", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "try",
        "type", "unsafe", "use", "virtual", "where", "while", "yield",
    ];
    if KEYWORDS.contains(&field) {
        format!("r#{field}")
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(used: &str) -> Result<String, String> {
        let protocol = serde_json::json!({"domains": [
            {"domain": "DOM", "types": [
                {"id": "NodeId", "type": "integer"},
                {"id": "Node", "type": "object", "properties": [
                    {"name": "nodeId", "$ref": "NodeId"},
                    {"name": "documentURL", "type": "string", "optional": true},
                    {"name": "children", "type": "array", "items": {"$ref": "Node"}},
                    {"name": "content", "$ref": "Node", "optional": true},
                    {"name": "frameId", "$ref": "Page.FrameID", "optional": true},
                ]},
                {"id": "Unreached", "type": "string"},
            ], "commands": [
                {"name": "getNode", "parameters": [{"name": "nodeId", "$ref": "NodeId", "optional": true}],
                 "returns": [{"name": "node", "$ref": "Node"}]},
                {"name": "getHTML", "parameters": [{"name": "type", "type": "string", "enum": ["inner", "3d", "-0", "unknown"]}]},
                {"name": "dangling", "parameters": [{"name": "x", "$ref": "Nowhere"}]},
            ]},
            {"domain": "Page", "types": [{"id": "FrameID", "type": "string"}], "events": [
                {"name": "loadEvent", "parameters": [{"name": "timestamp", "type": "number"}]},
            ]},
        ]});
        generate(&protocol, used)
    }

    #[track_caller]
    fn has(text: &str, part: &str) {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            plain(text).contains(&plain(part)),
            "no `{part}` in:\n{text}"
        );
    }

    #[test]
    fn what_is_used_and_reached_is_generated_and_no_more() {
        let text = generated("# comment\n\nDOM.getNode\nevent Page.loadEvent\n").unwrap();
        has(
            &text,
            "pub struct GetNode { #[serde(skip_serializing_if = \"Option::is_none\")] pub node_id: Option<NodeId>, }",
        );
        has(&text, "pub struct GetNodeReply { pub node: Node, }");
        has(
            &text,
            "const METHOD: &'static str = \"DOM.getNode\"; type Output = GetNodeReply;",
        );
        has(&text, "pub type NodeId = i64;");
        has(&text, "pub children: Vec<Node>,");
        has(&text, "pub content: Option<Box<Node>>,");
        has(&text, "pub frame_id: Option<super::page::FrameId>,");
        has(
            &text,
            "#[serde(rename = \"documentURL\", default)] pub document_url: Option<String>,",
        );
        has(&text, "string_id!(FrameId);");
        has(
            &text,
            "pub enum Event { PageLoadEvent(page::LoadEventEvent), }",
        );
        has(
            &text,
            "\"Page.loadEvent\" => crate::cdp::json::decode(params).map(Event::PageLoadEvent),",
        );
        assert!(
            !text.contains("Unreached") && !text.contains("GetHtml"),
            "{text}"
        );
    }

    #[test]
    fn enums_without_a_name_get_one() {
        let text = generated("DOM.getHTML").unwrap();
        has(&text, "pub r#type: GetHtmlType,");
        has(
            &text,
            "string_enum!(GetHtmlType, \"unknown\", { Inner = \"inner\", N3d = \"3d\", Minus0 = \"-0\", });",
        );
        has(&text, "type Output = ();");
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            generated("DOM.getNod").unwrap_err(),
            "used.txt: the schema has no `DOM.getNod`"
        );
        assert_eq!(
            generated("event DOM.getNode").unwrap_err(),
            "used.txt: the schema has no `event DOM.getNode`"
        );
        assert_eq!(
            generated("DOM.dangling").unwrap_err(),
            "no type `DOM.Nowhere`"
        );
        assert!(
            generated("DOM.getNode\nDOM.getNode")
                .unwrap_err()
                .contains("two items")
        );
    }

    #[test]
    fn names_are_cut_into_words() {
        for (name, snake_case) in [
            ("setBlockedURLs", "set_blocked_urls"),
            ("setExtraHTTPHeaders", "set_extra_http_headers"),
            ("backendDOMNodeId", "backend_dom_node_id"),
            ("DOMDebugger", "dom_debugger"),
            ("printToPDF", "print_to_pdf"),
            ("TargetID", "target_id"),
            ("no-referrer", "no_referrer"),
            ("AXNode", "ax_node"),
            ("url", "url"),
        ] {
            assert_eq!(snake(name), snake_case);
        }
    }
}
